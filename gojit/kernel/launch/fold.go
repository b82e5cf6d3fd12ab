package launch

import (
	"unsafe"

	"torchjit/gojit/kernel"
	"torchjit/gojit/tensor"
)

// number is what the lanes of a vector hold.
type number interface {
	int32 | int64 | float32 | float64
}

// foldsOf returns the functions that combine the lanes of a vector, the upper half with the lower
// until one is left, and two results, as bits. Masks have all bits set or none.
func foldsOf(op kernel.ReduceOp, t tensor.DType, mask bool) (fold func(unsafe.Pointer, int) uint64, join func(a, b uint64) uint64) {
	switch {
	case mask && (op == kernel.ReduceSum || op == kernel.ReduceMax):
		return foldsBy(func(a, b int32) int32 { return a | b })
	case mask:
		return foldsBy(func(a, b int32) int32 { return a & b })
	case t == tensor.Float32 && op == kernel.ReduceSum:
		_, join = foldsFor[float32](op)
		return foldSum, join
	}
	switch t {
	case tensor.Float32:
		return foldsFor[float32](op)
	case tensor.Float64:
		return foldsFor[float64](op)
	case tensor.Int64:
		return foldsFor[int64](op)
	}
	return foldsFor[int32](op)
}

func foldsFor[T number](op kernel.ReduceOp) (func(unsafe.Pointer, int) uint64, func(a, b uint64) uint64) {
	switch op {
	case kernel.ReduceSum:
		return foldsBy(func(a, b T) T { return a + b })
	case kernel.ReduceProduct:
		return foldsBy(func(a, b T) T { return a * b })
	case kernel.ReduceMin:
		return foldsBy(func(a, b T) T { return min(a, b) })
	}
	return foldsBy(func(a, b T) T { return max(a, b) })
}

func foldsBy[T number](f func(a, b T) T) (func(unsafe.Pointer, int) uint64, func(a, b uint64) uint64) {
	fold := func(lanes unsafe.Pointer, n int) uint64 {
		v := unsafe.Slice((*T)(lanes), n)
		for half := n / 2; half > 0; half /= 2 {
			for i := range half {
				v[i] = f(v[i], v[half+i])
			}
		}
		var bits uint64
		*(*T)(unsafe.Pointer(&bits)) = v[0]
		return bits
	}
	join := func(a, b uint64) uint64 {
		var bits uint64
		*(*T)(unsafe.Pointer(&bits)) = f(*(*T)(unsafe.Pointer(&a)), *(*T)(unsafe.Pointer(&b)))
		return bits
	}
	return fold, join
}

// foldSum is the commonest fold without calls.
func foldSum(lanes unsafe.Pointer, n int) uint64 {
	v := unsafe.Slice((*float32)(lanes), n)
	for half := n / 2; half > 0; half /= 2 {
		for i := range half {
			v[i] += v[half+i]
		}
	}
	return uint64(*(*uint32)(lanes))
}
