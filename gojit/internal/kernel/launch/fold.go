package launch

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// number is what the lanes of a vector hold.
type number interface {
	int32 | int64 | float32 | float64
}

// joinOf returns the function that combines two results, as bits. Masks have all bits set or none.
func joinOf(op kernel.ReduceOp, t tensor.DType, mask bool) func(a, b uint64) uint64 {
	switch {
	case mask && (op == kernel.ReduceSum || op == kernel.ReduceMax):
		return func(a, b uint64) uint64 { return a | b }
	case mask:
		return func(a, b uint64) uint64 { return a & b }
	}
	switch t {
	case tensor.Float32:
		return joinFor[float32](op)
	case tensor.Float64:
		return joinFor[float64](op)
	case tensor.Int64:
		return joinFor[int64](op)
	}
	return joinFor[int32](op)
}

func joinFor[T number](op kernel.ReduceOp) func(a, b uint64) uint64 {
	switch op {
	case kernel.ReduceSum:
		return joinBy(func(a, b T) T { return a + b })
	case kernel.ReduceProduct:
		return joinBy(func(a, b T) T { return a * b })
	case kernel.ReduceMin:
		return joinBy(func(a, b T) T { return min(a, b) })
	}
	return joinBy(func(a, b T) T { return max(a, b) })
}

func joinBy[T number](f func(a, b T) T) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		var bits uint64
		*(*T)(unsafe.Pointer(&bits)) = f(*(*T)(unsafe.Pointer(&a)), *(*T)(unsafe.Pointer(&b)))
		return bits
	}
}
