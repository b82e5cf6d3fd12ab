package elementwise

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// conversions keeps the kernels that change the type of elements.
var conversions launch.Cache

// IsElement reports whether kernels read and write a type.
func IsElement(d tensor.DType) bool {
	switch d {
	case tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64,
		tensor.Complex64, tensor.Complex128:
		return true
	}
	return false
}

// Assign copies the elements of src, which broadcasts to dst, into dst and changes their type. It fails
// where tensor.Copy does.
func Assign(dst, src *tensor.Tensor) {
	from, into := src.DType(), dst.DType()
	if from == into && inShortRows(dst, src) {
		from, _ = rowWord(from.Size())
		into = from
	} else if from == into || !IsElement(from) || !IsElement(into) || define.IsAway(src) || define.IsAway(dst) || src.SharesStorage(dst) ||
		!tensor.SameShape(src.Shape(), dst.Shape()) || hasInternalOverlap(dst) {
		source.Throw(tensor.Copy(dst, src))
		return
	}
	key := launch.Key(0).With(from).With(into)
	p := conversions.Get(key)
	if p == nil {
		p = source.Must(conversions.Make(key, func() (*launch.Program, error) {
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
	if last < 1 || define.IsAway(t) || t.DType().IsQuantized() {
		return false
	}
	_, ok := rowWord(t.DType().Size())
	n := t.Shape()[last]
	return ok && n > 1 && n <= longestCopiedRow && t.Strides()[last] == 1
}

// Contiguous returns t where its elements lie side by side in order, else a copy whose do.
func Contiguous(t *tensor.Tensor) *tensor.Tensor {
	if t.IsContiguous() || t.IsHollow() || !hasShortRows(t) {
		return source.Must(t.Contiguous())
	}
	out := define.Empty(t.Shape(), t.DType())
	Assign(out, t)
	return out
}

// AsWork returns t contiguous and of a type: t itself or something that nobody else has (see ForgetMade).
func AsWork(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	typed := To(t, d)
	out := Contiguous(typed)
	if out != typed {
		define.ForgetMade(t, typed)
	}
	return out
}

// To returns t where it has the element type, else a converted copy.
func To(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if t.DType() == d || define.IsAway(t) || t.IsHollow() || !IsElement(t.DType()) || !IsElement(d) {
		return source.Must(t.To(d))
	}
	out := source.Must(tensor.EmptyFormat(t, d, tensor.PreserveFormat))
	Assign(out, t)
	return out
}

// StoreOut puts a result into a tensor of out=, which gets its shape.
func StoreOut(dst, result *tensor.Tensor) {
	CheckCast(result.DType(), dst.DType())
	CopyOut(dst, result)
}

// CopyOut is StoreOut whatever the conversion loses.
func CopyOut(dst, result *tensor.Tensor) {
	if !tensor.SameShape(dst.Shape(), result.Shape()) {
		if dst.Numel() > 0 {
			define.Warn("An output with one or more elements was resized since it had shape %s, which does not match the required output shape %s. "+
				"This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. "+
				"You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).", define.ShapeText(dst.Shape()), define.ShapeText(result.Shape()))
		}
		source.Throw(dst.Resize(result.Shape()))
	}
	CopyElements(dst, result)
}

// CopyElements copies elements. In quantized tensors numbers become the integers that stand for them, and integers keep what they stand for.
func CopyElements(dst, src *tensor.Tensor) {
	q := dst.Quantizer()
	if q == nil && src.Quantizer() == nil {
		source.Throw(tensor.Copy(dst, src))
		return
	}
	source.Check(q != nil, "Copying from quantized Tensor to non-quantized Tensor is not allowed, please use dequantize to get a float Tensor from a quantized Tensor")
	if from := src.Quantizer(); from != nil {
		source.Check(q.Scheme() == from.Scheme(), "Quantized Copy only works with same qscheme")
		source.Check(dst.DType() == src.DType(), "Expected self.scalar_type() == src.scalar_type() to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
		source.Throw(tensor.Copy(dst.IntegersView(), src.IntegersView()))
		dst.SetQuantizer(from)
		return
	}
	source.Check(src.DType() == tensor.Float32 || src.Dim() == 0, "Quantized copy only works with kFloat as source Tensor")
	source.Check(dst.IsContiguous() || dst.IsContiguousFormat(tensor.ChannelsLast), "Quantized copy only works with contiguous and NHWC Tensors")
	source.Throw(tensor.Copy(dst, src))
}

// OwnTransposed is the transpose of a tensor that nobody else uses; the result is a view of nothing.
func OwnTransposed(t *tensor.Tensor, a, b int) *tensor.Tensor {
	if a == b {
		return t
	}
	defer t.ReleaseMemory()
	out := source.Must(t.Transpose(a, b))
	out.SetBase(nil)
	return out
}

// OwnContiguous is contiguous of a tensor that nobody else uses.
func OwnContiguous(t *tensor.Tensor) *tensor.Tensor {
	out := Contiguous(t)
	if out != t {
		t.Release()
	}
	return out
}

// OwnTo is to of a tensor that nobody else uses.
func OwnTo(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	out := To(t, d)
	if out != t {
		t.Release()
	}
	return out
}

// Store writes a functional result into the tensor that an in-place operator writes.
func Store(self, result *tensor.Tensor) {
	if self == result {
		return
	}
	source.Check(tensor.SameShape(self.Shape(), result.Shape()), "output with shape %s doesn't match the broadcast shape %s",
		define.ShapeText(self.Shape()), define.ShapeText(result.Shape()))
	CheckCast(result.DType(), self.DType())
	if hasInternalOverlap(self) {
		source.Raise(source.RuntimeError, "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.")
	}
	source.Throw(tensor.Copy(self, result))
}

// Conjugate returns the conjugates of complex numbers, which are conjugated now and not when somebody reads them.
func Conjugate(t *tensor.Tensor) *tensor.Tensor {
	if t.DType().IsComplex() {
		return conjOp.On(t)
	}
	return t
}

var conjOp = New("conj", ops.SameType, UnaryOp(kernel.Conj))

// BroadcastTensors expands tensors to their common shape.
func BroadcastTensors(ts []*tensor.Tensor) []*tensor.Tensor {
	shapes := make([][]int, len(ts))
	for i, t := range ts {
		shapes[i] = t.Shape()
	}
	shape := source.Must(tensor.BroadcastAll(shapes...))
	out := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		out[i] = t // itself where it has the shape
		if !tensor.SameShape(t.Shape(), shape) {
			out[i] = source.Must(t.Expand(shape...))
		}
	}
	return out
}

// AtLeast shows a tensor with at least n dimensions.
func AtLeast(t *tensor.Tensor, n int) *tensor.Tensor {
	switch {
	case t.Dim() >= n:
		return t
	case t.Dim() == 0:
		shape := []int{1, 1, 1}
		return source.Must(t.Reshape(shape[:n]...))
	case t.Dim() == 1 && n == 2:
		return source.Must(t.Unsqueeze(0))
	case t.Dim() == 1:
		return source.Must(source.Must(t.Unsqueeze(0)).Unsqueeze(-1))
	}
	return source.Must(t.Unsqueeze(-1))
}

// IntegersOf returns the elements of an integer tensor.
func IntegersOf(t *tensor.Tensor) []int {
	data := tensor.Data[int64](Contiguous(To(t, tensor.Int64)))
	out := define.Table[int](len(data))
	for lo, hi := range parallel.Stretches(len(data)) {
		for i := lo; i < hi; i++ {
			out[i] = int(data[i])
		}
	}
	return out
}
