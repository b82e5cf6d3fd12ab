//go:build unix

package serialize

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is a file in memory. It is unmapped when nothing refers to it any more.
type mapping struct {
	data   []byte
	mapped bool // by the system, not memory of the caller
}

// forget gives back the memory of a part that was read and not written: it is read from the file again when
// it is used.
func (m *mapping) forget(part []byte) {
	if m == nil || !m.mapped {
		return
	}
	page := uintptr(os.Getpagesize())
	start := uintptr(unsafe.Pointer(unsafe.SliceData(part)))
	skip := (page - start%page) % page
	if uintptr(len(part)) < skip+page {
		return
	}
	n := (uintptr(len(part)) - skip) / page * page
	_ = unix.Madvise(part[skip:skip+n], unix.MADV_DONTNEED) // a hint
}

// mapFile maps a file. Writes to the memory stay in the process.
func mapFile(path string) (*mapping, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, archiveError("%s is no regular file", path)
	}
	if info.Size() == 0 {
		return &mapping{}, nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	m := &mapping{data, true}
	runtime.AddCleanup(m, func(data []byte) { syscall.Munmap(data) }, data)
	return m, nil
}
