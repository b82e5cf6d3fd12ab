package memory

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The functions of changes write those of n elements, whole vectors of them, that differ from the one before, which src[-1] is for the first, and
// return how many; they write over as much as n elements of dst.

//go:noescape
func changesFloat32(dst, src unsafe.Pointer, n int) int

//go:noescape
func changesFloat64(dst, src unsafe.Pointer, n int) int

//go:noescape
func changesInt32(dst, src unsafe.Pointer, n int) int

//go:noescape
func changesInt64(dst, src unsafe.Pointer, n int) int

var findsChanges = cpu.X86.HasAVX512F && cpu.X86.HasPOPCNT

// Changes writes to dst the elements behind src[0] that differ from the one before, of the first done elements. It tells how many it wrote; it may
// write over more, but no further than done elements reach. size is 4 or 8.
func Changes(dst, src unsafe.Pointer, size, n int, floats bool) (done, wrote int) {
	lanes := 64 / size
	done = (n - 1) / lanes * lanes
	if !findsChanges || done <= 0 {
		return 0, 0
	}
	switch src = unsafe.Add(src, size); {
	case size == 4 && floats:
		return done, changesFloat32(dst, src, done)
	case size == 4:
		return done, changesInt32(dst, src, done)
	case floats:
		return done, changesFloat64(dst, src, done)
	}
	return done, changesInt64(dst, src, done)
}
