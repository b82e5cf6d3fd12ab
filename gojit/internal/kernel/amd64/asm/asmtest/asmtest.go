//go:build unix

// Package asmtest is what tests of machine code share: memory beside pages that cannot be touched, and a test that is
// left out where there is no machine code.
package asmtest

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// MachineOnly leaves a test out where there is no machine code.
func MachineOnly(t testing.TB) {
	t.Helper()
	if asm.Target() == asm.None {
		t.Skip("no machine code here")
	}
}

// Guarded returns n elements that end, or where front start, at a page that cannot be touched.
func Guarded[T any](t *testing.T, n int, front bool) []T {
	t.Helper()
	page := unix.Getpagesize()
	var zero T
	size := n * int(unsafe.Sizeof(zero))
	inner := (size + page - 1) &^ (page - 1)
	m, err := unix.Mmap(-1, 0, inner+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	if unix.Mprotect(m[:page], unix.PROT_NONE) != nil || unix.Mprotect(m[page+inner:], unix.PROT_NONE) != nil {
		t.Fatal("mprotect")
	}
	start := page
	if !front {
		start += inner - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m[start])), n)
}
