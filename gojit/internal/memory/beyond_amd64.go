package memory

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The functions of beyond tell the place of the first of n elements, twice as many as a vector has or a multiple of these, that is above or below a
// bound, n where none is. A NaN is beyond every bound, and every number beyond one that is NaN.

//go:noescape
func aboveFloat32(row unsafe.Pointer, n int, bound float32) int

//go:noescape
func belowFloat32(row unsafe.Pointer, n int, bound float32) int

//go:noescape
func aboveFloat64(row unsafe.Pointer, n int, bound float64) int

//go:noescape
func belowFloat64(row unsafe.Pointer, n int, bound float64) int

//go:noescape
func aboveInt32(row unsafe.Pointer, n int, bound int32) int

//go:noescape
func belowInt32(row unsafe.Pointer, n int, bound int32) int

//go:noescape
func aboveInt64(row unsafe.Pointer, n int, bound int64) int

//go:noescape
func belowInt64(row unsafe.Pointer, n int, bound int64) int

var findsBeyond = cpu.X86.HasAVX512F

// NotBeyond counts elements at the front of a row that are not above a bound, or not below it: all of them before the first that is beyond, or fewer
// where the processor has no instructions for the type. NaNs are beyond every bound.
func NotBeyond[T int8 | int16 | int32 | int64 | uint8 | float32 | float64](row []T, bound T, above bool) int {
	size := int(unsafe.Sizeof(bound))
	n := len(row) &^ (128/size - 1)
	if !findsBeyond || n == 0 {
		return 0
	}
	first := unsafe.Pointer(&row[0])
	switch bound := any(bound).(type) {
	case float32:
		if above {
			return aboveFloat32(first, n, bound)
		}
		return belowFloat32(first, n, bound)
	case float64:
		if above {
			return aboveFloat64(first, n, bound)
		}
		return belowFloat64(first, n, bound)
	case int32:
		if above {
			return aboveInt32(first, n, bound)
		}
		return belowInt32(first, n, bound)
	case int64:
		if above {
			return aboveInt64(first, n, bound)
		}
		return belowInt64(first, n, bound)
	}
	return 0
}
