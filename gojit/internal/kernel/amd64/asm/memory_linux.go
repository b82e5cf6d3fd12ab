package asm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// newRegion maps executable memory for at least size bytes. No address is ever writable and
// executable at once: the pages are mapped twice, or, where the system refuses that, a function has
// pages of its own that change their protection.
func newRegion(size int) (*region, error) {
	if r, err := mapTwice(pages(max(size, regionSize))); err == nil {
		return r, nil
	}
	return mapProtected(pages(size))
}

func pages(size int) int {
	page := unix.Getpagesize()
	return (size + page - 1) &^ (page - 1)
}

func mapTwice(size int) (*region, error) {
	file, err := unix.MemfdCreate("gojit", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(file)
	if err := unix.Ftruncate(file, int64(size)); err != nil {
		return nil, err
	}
	writable, err := unix.Mmap(file, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	runnable, err := unix.Mmap(file, 0, size, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_SHARED)
	if err != nil {
		unix.Munmap(writable)
		return nil, err
	}
	write := func(offset int, code []byte) error {
		copy(writable[offset:], code)
		return nil
	}
	return &region{base: uintptr(unsafe.Pointer(&runnable[0])), size: size, write: write}, nil
}

// mapProtected maps pages that are writable while a function is put into them and executable after.
func mapProtected(size int) (*region, error) {
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	write := func(offset int, code []byte) error {
		if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return err
		}
		copy(memory[offset:], code)
		return unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC)
	}
	return &region{base: uintptr(unsafe.Pointer(&memory[0])), size: size, write: write, whole: true}, nil
}
