package memory

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Limit returns the bytes a single allocation may ask for: memory and swap of the machine, the limit of the
// control group that the process is in, or GOMEMLIMIT.
var Limit = sync.OnceValue(func() int {
	limit := 1 << 46
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) == nil {
		limit = int((uint64(info.Totalram) + uint64(info.Totalswap)) * uint64(info.Unit))
	}
	return min(limit, groupLimit("/proc/self/cgroup", "/sys/fs/cgroup"), int(debug.SetMemoryLimit(-1)))
})

// groupLimit returns the least memory limit of the control groups that a process is in, of version 1 or 2; a huge number where there is none.
func groupLimit(groups, mounted string) int {
	limit := math.MaxInt
	text, _ := os.ReadFile(groups)
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		name, root := "memory.max", mounted
		switch {
		case fields[1] == "memory":
			name, root = "memory.limit_in_bytes", filepath.Join(mounted, "memory")
		case fields[1] != "":
			continue
		}
		// Inside a container the group's own path may not be visible, and its files lie at the root.
		for path := fields[2]; ; path = filepath.Dir(path) {
			if text, err := os.ReadFile(filepath.Join(root, path, name)); err == nil {
				if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n > 0 {
					limit = min(limit, n)
				}
			}
			if path == "/" || path == "." {
				break
			}
		}
	}
	return limit
}

// IsMappable reports whether the system would give the process n more bytes of addresses: RLIMIT_AS and the kernel's accounting allow it.
// The margin is for what Go asks for around a block, and for threads: where that is refused, the process ends.
func IsMappable(n int) bool {
	const margin = 256 << 20
	p, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 0, uintptr(n+margin), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE, ^uintptr(0), 0)
	if errno != 0 {
		return false
	}
	syscall.Syscall(syscall.SYS_MUNMAP, p, uintptr(n+margin), 0)
	return true
}

// isAddressSpaceLimited reports whether the process may have only so many bytes of addresses (RLIMIT_AS).
func isAddressSpaceLimited() bool {
	var limit syscall.Rlimit
	return syscall.Getrlimit(syscall.RLIMIT_AS, &limit) == nil && limit.Cur < 1<<47
}

// freeAddresses returns how many bytes of addresses the process may still take.
func freeAddresses() int {
	var limit syscall.Rlimit
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil || syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil {
		return 1 << 46
	}
	size, _, _ := strings.Cut(string(text), " ")
	pages, _ := strconv.Atoi(size)
	return int(min(limit.Cur, 1<<47)) - pages*os.Getpagesize()
}

const (
	// hugePage is the size of the pages that adviseHuge asks for.
	hugePage = 2 << 20
	// slowHuge is how long the system may take for one. The small pages in its place take about two thirds of that.
	slowHuge = time.Millisecond
	// countedFrom is the size of blocks for which the free ones are counted, which takes as long as a few of them.
	countedFrom = 32 << 20
)

// adviseHuge asks the system to map the huge pages that a block touches as such. It only matters for pages that nobody has used yet. Where
// memory is in pieces the system moves pages of others about for each huge one, which may take milliseconds: it is asked for small ones where
// it has not enough huge ones free, or the first two of the block took that long.
func adviseHuge(block []byte) {
	first := uintptr(unsafe.Pointer(unsafe.SliceData(block)))
	start, end := first&^(hugePage-1), (first+uintptr(len(block))+hugePage-1)&^(hugePage-1)
	if len(block) >= countedFrom && freeHugePages() < len(block)/hugePage {
		syscall.Syscall(syscall.SYS_MADVISE, start, end-start, syscall.MADV_NOHUGEPAGE)
		return
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, start, end-start, syscall.MADV_HUGEPAGE); errno != 0 {
		return // it was a hint
	}
	at := int(-first & (hugePage - 1)) // of the first page that is the block's alone
	for range 2 {
		if at+hugePage > len(block) || timeToMap(&block[at]) < slowHuge {
			return
		}
		at += hugePage
	}
	syscall.Syscall(syscall.SYS_MADVISE, start, end-start, syscall.MADV_NOHUGEPAGE)
}

// freeHugePages returns how many huge pages the system has free, a large number where it does not tell.
func freeHugePages() int {
	text, err := os.ReadFile("/proc/buddyinfo")
	if err != nil || os.Getpagesize() != 4<<10 {
		return math.MaxInt
	}
	return hugePagesIn(string(text))
}

// hugePagesIn adds up the huge pages of a table that has, for each zone, how many free blocks there are of each power of two of small pages.
func hugePagesIn(table string) (pages int) {
	const orderOfHuge = 9
	for line := range strings.Lines(table) {
		_, counts, _ := strings.Cut(line, "zone")
		for order, count := range strings.Fields(counts) {
			if order--; order >= orderOfHuge { // the name of the zone comes first
				n, _ := strconv.Atoi(count)
				pages += n << (order - orderOfHuge)
			}
		}
	}
	return pages
}

// timeToMap returns how long the processor takes to write to a byte, which is the first of a page, what is in it.
func timeToMap(first *byte) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	atomic.AddUint64((*uint64)(unsafe.Pointer(first)), 0)
	return threadTime() - before
}

// threadTime returns the processor time that the thread has used.
func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}
