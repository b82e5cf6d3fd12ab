package define

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// RowGrain is the number of elements worth another goroutine in row operations.
const RowGrain = 1 << 14

// NumelOf returns how many elements a shape has. It fails where that is no number.
func NumelOf(shape []int) int { return source.Must(tensor.Numel(shape)) }

// BytesOf are the elements of a contiguous tensor.
func BytesOf(t *tensor.Tensor) []byte {
	return unsafe.Slice((*byte)(t.DataPtr()), t.Numel()*t.DType().Size())
}

// ShownAs is tensor.IntoShape where the shape is known to fit.
func ShownAs(t *tensor.Tensor, shape ...int) *tensor.Tensor {
	return source.Must(t.IntoShape(shape...))
}

// ForgetMade gives back what was made of t, a copy or a view that nobody else has, unless it is t itself. A view that stays would keep the memory that it
// shows: that of a copy, of which it is one, too.
func ForgetMade(t, made *tensor.Tensor) {
	if made != t {
		made.Release()
	}
}

// Btoi returns 1 for true and 0 for false.
func Btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// LookEvery is how many elements of a long row are walked over between two looks.
const LookEvery = 1 << 17

// BlockEnd is the end of the block of a row of n elements that begins at lo, a multiple of LookEvery. Who walks over a row block by
// block ends between two of them where it is to end.
func BlockEnd(lo, n int) int {
	if lo > 0 {
		parallel.Look()
	}
	return min(lo+LookEvery, n)
}

// Pair returns a list of two tensors.
func Pair(a, b *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{a, b} }
