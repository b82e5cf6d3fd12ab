//go:build unix

package serialize

import (
	"os"
	"runtime"
	"syscall"
)

// mapping is a file in memory. It is unmapped when nothing refers to it any more.
type mapping struct{ data []byte }

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
	m := &mapping{data}
	runtime.AddCleanup(m, func(data []byte) { syscall.Munmap(data) }, data)
	return m, nil
}
