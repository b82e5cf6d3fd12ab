package vision

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// squaresFloat32 writes the sums of four inputs each at n places, a multiple of four and not 0, of a plane of rows of width elements: the one that is
// first, its right neighbour and those below.
//
//go:noescape
func squaresFloat32(dst, plane unsafe.Pointer, first *int, weights *[4]float64, n, width int)

// squaresFloat64 is squaresFloat32 for float64.
//
//go:noescape
func squaresFloat64(dst, plane unsafe.Pointer, first *int, weights *[4]float64, n, width int)

var hasSquares = cpu.X86.HasAVX2

// combineSquares writes what the first places of a block make of a plane, as if they were inside, and returns how many that were.
func combineSquares[T float32 | float64](b *gridBlock, dst, plane []T, width int) int {
	n := len(b.corners) / 4 * 4
	if !hasSquares || n == 0 {
		return 0
	}
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(plane))
	if unsafe.Sizeof(dst[0]) == 4 {
		squaresFloat32(to, from, &b.corners[0], &b.shares[0], n, width)
	} else {
		squaresFloat64(to, from, &b.corners[0], &b.shares[0], n, width)
	}
	return n
}
