package memory

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

// hugePage is the size of the pages that adviseHuge asks for.
const hugePage = 2 << 20

// adviseHuge asks the system to map the huge pages that a block touches as such. It only matters for pages that nobody has used yet.
func adviseHuge(block []byte) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(block)))
	end := (start + uintptr(len(block)) + hugePage - 1) &^ (hugePage - 1)
	start &^= hugePage - 1
	syscall.Syscall(syscall.SYS_MADVISE, start, end-start, syscall.MADV_HUGEPAGE) // a hint
}
