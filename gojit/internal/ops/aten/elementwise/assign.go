package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// conversions keeps the kernels that change the type of elements.
var conversions launch.Cache

// isElement reports whether kernels read and write a type.
func isElement(d tensor.DType) bool {
	switch d {
	case tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64,
		tensor.Complex64, tensor.Complex128:
		return true
	}
	return false
}

// assign copies the elements of src, which broadcasts to dst, into dst and changes their type. It fails
// where tensor.Copy does.
func assign(dst, src *tensor.Tensor) {
	from, into := src.DType(), dst.DType()
	if from == into && inShortRows(dst, src) {
		from, _ = rowWord(from.Size())
		into = from
	} else if from == into || !isElement(from) || !isElement(into) || isAway(src) || isAway(dst) || src.SharesStorage(dst) ||
		!tensor.SameShape(src.Shape(), dst.Shape()) || hasInternalOverlap(dst) {
		succeed(tensor.Copy(dst, src))
		return
	}
	key := launch.Key(0).With(from).With(into)
	p := conversions.Get(key)
	if p == nil {
		p = must(conversions.Make(key, func() (*launch.Program, error) {
			b := kernel.NewBuilder()
			b.Output(b.Input(from, kernel.ComputeType(into)), into)
			return launch.ProgramOf(b.Kernel())
		}))
	}
	operands := [...]*tensor.Tensor{dst, src}
	p.Run(operands[:], nil)
}

// rowWord is the type as which elements of a size are copied; ok is false where there is none.
func rowWord(size int) (word tensor.DType, ok bool) {
	switch size {
	case 1:
		return tensor.Uint8, true
	case 2:
		return tensor.Int16, true
	case 4:
		return tensor.Int32, true
	case 8:
		return tensor.Int64, true
	}
	return tensor.NoDType, false
}

// longestCopiedRow is the most elements of rows that a kernel copies: longer ones are copied one by one as fast.
const longestCopiedRow = 256

// inShortRows reports whether a copy is one of short rows, of which a kernel handles many at a time.
func inShortRows(dst, src *tensor.Tensor) bool {
	return hasShortRows(dst) && hasShortRows(src) && tensor.SameShape(dst.Shape(), src.Shape()) && !(dst.IsContiguous() && src.IsContiguous()) &&
		!src.SharesStorage(dst) && !hasInternalOverlap(dst)
}

func hasShortRows(t *tensor.Tensor) bool {
	last := t.Dim() - 1
	if last < 1 || isAway(t) || t.DType().IsQuantized() {
		return false
	}
	_, ok := rowWord(t.DType().Size())
	n := t.Shape()[last]
	return ok && n > 1 && n <= longestCopiedRow && t.Strides()[last] == 1
}
