package views

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Answering defines an overload that gives a value that is no tensor.
func Answering(name string, f func(c define.Call) value.Value) define.Definition {
	return define.Operator(name, func(c define.Call) { c.Out[0] = f(c) })
}

func yes(name string, f func(t *tensor.Tensor) bool) define.Definition {
	return Answering(name, func(c define.Call) value.Value { return value.Bool(f(c.Tensor(0))) })
}

func number(name string, f func(t *tensor.Tensor) int) define.Definition {
	return Answering(name, func(c define.Call) value.Value { return value.Int(int64(f(c.Tensor(0)))) })
}

func never(*tensor.Tensor) bool { return false }

var PropertyFamily = []define.Definition{
	Answering("can_cast", func(c define.Call) value.Value {
		return value.Bool(tensor.CanCast(c.DtypeOr(0, tensor.NoDType), c.DtypeOr(1, tensor.NoDType)))
	}),
	Answering("promote_types", func(c define.Call) value.Value {
		return dtypeValue(tensor.Promote(c.DtypeOr(0, tensor.NoDType), c.DtypeOr(1, tensor.NoDType)))
	}),
	Answering("result_type.Tensor", resultTypeOf),
	Answering("result_type.Scalar", resultTypeOf),
	Answering("result_type.Scalar_Tensor", resultTypeOf),
	Answering("result_type.Scalar_Scalar", resultTypeOf),
	Answering("size", func(c define.Call) value.Value { return value.OfList(value.Ints(c.Tensor(0).Shape())) }),
	Answering("size.int", func(c define.Call) value.Value { return value.Int(int64(SizeAt(c.Tensor(0), c.Int(1)))) }),
	Answering("stride", func(c define.Call) value.Value { return value.OfList(value.Ints(c.Tensor(0).Strides())) }),
	Answering("stride.int", func(c define.Call) value.Value {
		t := c.Tensor(0)
		source.Check(t.Dim() > 0, "Dimension specified as %d but tensor has no dimensions", c.Int(1))
		return value.Int(int64(t.Strides()[define.WrapDim(c.Int(1), t)]))
	}),
	number("numel", (*tensor.Tensor).Numel),
	number("dim", (*tensor.Tensor).Dim),
	number("storage_offset", (*tensor.Tensor).Offset),
	number("element_size", func(t *tensor.Tensor) int { return t.DType().Size() }),
	number("prim::itemsize", func(t *tensor.Tensor) int { return t.DType().Size() }).OfSchema("prim::itemsize(Tensor a) -> int # property"),
	number("prim::nbytes", func(t *tensor.Tensor) int { return t.Numel() * t.DType().Size() }).OfSchema("prim::nbytes(Tensor a) -> int # property"),
	number("len.Tensor", func(t *tensor.Tensor) int {
		if t.Dim() == 0 {
			source.Raise(source.TypeError, "len() of a 0-d tensor")
		}
		return t.Size(0)
	}),
	number("get_device", func(t *tensor.Tensor) int { return t.ShownDevice().Index() }),
	number("_version", (*tensor.Tensor).Version),
	number("output_nr", func(*tensor.Tensor) int { return 0 }),
	yes("is_contiguous", (*tensor.Tensor).IsContiguous),
	Answering("is_contiguous.memory_format", func(c define.Call) value.Value {
		return value.Bool(c.Tensor(0).IsContiguousFormat(c.FormatOr(1, tensor.ContiguousFormat)))
	}),
	yes("is_floating_point", func(t *tensor.Tensor) bool { return t.DType().IsFloating() }),
	yes("is_complex", func(t *tensor.Tensor) bool { return t.DType().IsComplex() }),
	yes("is_signed", func(t *tensor.Tensor) bool {
		return t.DType() != tensor.Bool && t.DType() != tensor.Uint8 && t.DType() != tensor.QUInt8
	}),
	yes("is_inference", (*tensor.Tensor).IsInference),
	yes("is_conj", (*tensor.Tensor).IsConj),
	yes("is_neg", (*tensor.Tensor).IsNeg),
	yes("is_leaf", (*tensor.Tensor).IsLeaf),
	yes("is_nonzero", isNonzero).OnZeros(),
	define.Operator("_assert_async", func(c define.Call) {
		hasElements := c.Tensor(0).Device().Type != tensor.Meta // without them there is nothing to assert
		source.Check(!hasElements || isNonzero(c.Tensor(0)), "Expected Tensor with single nonzero value, but got zero")
	}).With(ops.Def{Sample: "(x.sum() > -1000)"}),
	Answering("is_same_size", func(c define.Call) value.Value {
		return value.Bool(tensor.SameShape(c.Tensor(0).Shape(), c.Tensor(1).Shape()))
	}),
	Answering("is_set_to", func(c define.Call) value.Value {
		a, b := c.Tensor(0), c.Tensor(1)
		return value.Bool(a.SharesStorage(b) && a.Offset() == b.Offset() && tensor.SameShape(a.Shape(), b.Shape()) && tensor.SameShape(a.Strides(), b.Strides()))
	}),
	Answering("equal", func(c define.Call) value.Value { return value.Bool(Equal(c.Tensor(0), c.Tensor(1))) }).OnZeros().Quantized(define.Unquantized),
	Answering("eq.Tensor_list", func(c define.Call) value.Value { return value.Bool(equalLists(c.Args[0].List(), c.Args[1].List())) }),
	Answering("ne.Tensor_list", func(c define.Call) value.Value { return value.Bool(!equalLists(c.Args[0].List(), c.Args[1].List())) }),
	Answering("count.Tensor", func(c define.Call) value.Value {
		n := 0
		for _, item := range c.Args[0].List().Items {
			if isEqualTo(item, c.Args[1]) {
				n++
			}
		}
		return value.Int(int64(n))
	}),
	Answering("index.list_Tensor", func(c define.Call) value.Value {
		i := slices.IndexFunc(c.Args[0].List().Items, func(item value.Value) bool { return isEqualTo(item, c.Args[1]) })
		source.Check(i >= 0, "'%s' is not in list", c.Tensor(1).CppString())
		return value.Int(int64(i))
	}),
	define.Operator("remove.Tensor", func(c define.Call) {
		l := c.Args[0].List()
		i := slices.IndexFunc(l.Items, func(item value.Value) bool { return isEqualTo(item, c.Args[1]) })
		source.Check(i >= 0, "list.remove(x): x not in list")
		l.Items = slices.Delete(l.Items, i, i+1)
	}),
	define.Giving("isclose", func(c define.Call) *tensor.Tensor {
		return isClose(c.Tensor(0), c.Tensor(1), c.Float(2), c.Float(3), c.Bool(4))
	}).OnZeros(),
	Answering("allclose", func(c define.Call) value.Value {
		near := isClose(c.Tensor(0), c.Tensor(1), c.Float(2), c.Float(3), c.Bool(4))
		defer near.Release()
		return value.Bool(reduce.Truth(near, nil, false, true).At().Bool())
	}).OnZeros(),
	Answering("prim::dtype", func(c define.Call) value.Value { return value.Int(int64(c.Tensor(0).DType())) }),
	Answering("prim::device", func(c define.Call) value.Value { return value.OfDevice(c.Tensor(0).ShownDevice()) }),
	Answering("prim::layout", func(c define.Call) value.Value { return value.Int(int64(tensor.Strided)) }),
	Answering("prim::name", func(c define.Call) value.Value { return value.None }),
	yes("prim::requires_grad", (*tensor.Tensor).RequiresGrad),
	yes("prim::is_cpu", func(t *tensor.Tensor) bool { return t.ShownDevice().Type == tensor.CPU }),
	yes("prim::is_cuda", func(t *tensor.Tensor) bool { return t.Device().Type == tensor.CUDA }),
	yes("prim::is_meta", func(t *tensor.Tensor) bool { return t.ShownDevice().Type == tensor.Meta }),
	yes("prim::is_quantized", func(t *tensor.Tensor) bool { return t.DType().IsQuantized() }),
	yes("prim::is_mkldnn", never),
	yes("prim::is_sparse", never),
	yes("prim::is_sparse_csr", never),
	yes("prim::is_nested", func(t *tensor.Tensor) bool { return t.Lengths() != nil }),
	yes("prim::is_xpu", never),
	yes("prim::is_mps", never),
	yes("prim::is_ipu", never),
	yes("prim::is_ort", never),
	yes("prim::is_vulkan", never),
	define.Giving("prim::data", func(c define.Call) *tensor.Tensor { return c.Tensor(0).Apart() }),
	yes("is_distributed", never), yes("is_pinned", (*tensor.Tensor).IsPinned),
	Answering("sym_size", func(c define.Call) value.Value { return value.OfList(value.Ints(c.Tensor(0).Shape())) }),
	Answering("sym_size.int", func(c define.Call) value.Value { return value.Int(int64(SizeAt(c.Tensor(0), c.Int(1)))) }),
	number("sym_numel", (*tensor.Tensor).Numel),
	Answering("sym_stride", func(c define.Call) value.Value { return value.OfList(value.Ints(c.Tensor(0).Strides())) }),
}

// SizeAt is size of a dimension.
func SizeAt(t *tensor.Tensor, dim int) int {
	if t.Dim() == 0 {
		source.Raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", dim)
	}
	return t.Size(define.WrapDim(dim, t))
}

// isNonzero reports whether the only element is true. It fails where there are none or several.
func isNonzero(t *tensor.Tensor) bool {
	source.Check(t.Numel() > 0, "Boolean value of Tensor with no values is ambiguous")
	return truthOf(t)
}

// truthOf returns the only element as a truth value. It fails where there are several.
func truthOf(t *tensor.Tensor) bool {
	source.Check(t.Numel() <= 1, "Boolean value of Tensor with more than one value is ambiguous")
	if t.Numel() == 0 {
		return false
	}
	return source.Must(t.Item()).Bool()
}

// isEqualTo reports whether two tensors are equal as elements of a list: what bool(a == b) is.
func isEqualTo(a, b value.Value) bool { return truthOf(elementwise.Eq.On(a.Tensor(), b.Tensor())) }

// equalLists reports whether two lists of tensors have equal elements.
func equalLists(a, b *value.List) bool { return slices.EqualFunc(a.Items, b.Items, isEqualTo) }

// Equal is equal.
func Equal(a, b *tensor.Tensor) bool {
	if !tensor.SameShape(a.Shape(), b.Shape()) {
		return false
	}
	source.Check(a.DType() == b.DType(), "Expected object of data type %s but got data type %s for argument 'other' in call to equal", elementwise.CppTypeName(a.DType()), elementwise.CppTypeName(b.DType()))
	n := a.Numel()
	if n == 0 {
		return true
	}
	if n <= equalAtOnce || a.OnDevice() {
		return source.Must(reduce.Truth(elementwise.Eq.On(a, b), nil, false, true).Item()).Bool()
	}
	a, b = source.Must(elementwise.Contiguous(a).View(-1)), source.Must(elementwise.Contiguous(b).View(-1))
	for from, some := 0, equalAtFirst; from < n; some = min(2*some, equalAtOnce) {
		to := min(from+some, n)
		same := elementwise.Eq.On(source.Must(a.Slice(0, from, to, 1)), source.Must(b.Slice(0, from, to, 1)))
		if bytes.IndexByte(unsafe.Slice((*byte)(same.DataPtr()), to-from), 0) >= 0 {
			return false
		}
		same.Release()
		from = to
	}
	return true
}

// equalAtOnce is how many elements are compared before the outcome is looked at, equalAtFirst how many of the first.
const equalAtOnce, equalAtFirst = 1 << 15, 1 << 10

// isClose tells where |a-b| <= atol + rtol*|b|.
func isClose(a, b *tensor.Tensor, rtol, atol float64, equalNaN bool) *tensor.Tensor {
	source.Check(a.DType() == b.DType(), "%s did not match %s", a.DType().CppName(), b.DType().CppName())
	source.Check(rtol >= 0, "rtol must be greater than or equal to zero, but got %v", rtol)
	source.Check(atol >= 0, "atol must be greater than or equal to zero, but got %v", atol)
	if rtol == 0 && atol == 0 && !equalNaN {
		return elementwise.Eq.On(a, b)
	}
	if d := a.DType(); !d.IsComplex() && (!d.IsFloating() || d.Size() >= 4) && (rtol != 0 || atol != 0) {
		if !d.IsFloating() {
			a, b = elementwise.To(a, tensor.DefaultDType()), elementwise.To(b, tensor.DefaultDType())
		}
		near := isNear
		if equalNaN {
			near = isNearOrNaN
		}
		return near.Run(nil, []elementwise.Operand{elementwise.OfTensor(a), elementwise.OfTensor(b)}, tensor.Float(rtol), tensor.Float(atol))
	}
	near := elementwise.Eq.On(a, b)
	if equalNaN && (a.DType().IsFloating() || a.DType().IsComplex()) {
		near = elementwise.LogicalOr.On(near, elementwise.LogicalAnd.On(elementwise.IsNaN.On(a), elementwise.IsNaN.On(b)))
	}
	if rtol == 0 && atol == 0 {
		return near
	}
	allowed := elementwise.AddNumber(elementwise.ScaleBy(elementwise.Absolute.On(b), rtol), atol)
	gap := elementwise.Absolute.On(elementwise.Sub.On(a, b))
	finite := elementwise.Lt.Run(nil, []elementwise.Operand{elementwise.OfTensor(gap), elementwise.OfScalar(tensor.Float(elementwise.Inf))})
	return elementwise.LogicalOr.On(near, elementwise.LogicalAnd.On(finite, elementwise.Le.On(gap, allowed)))
}

// isNear is isclose for real numbers where the relative and the absolute tolerance are the third and the fourth operand.
// isNearOrNaN takes NaN for equal.
var (
	isNear      = elementwise.New("isclose", ops.BoolResult, nearness)
	isNearOrNaN = elementwise.New("isclose", ops.BoolResult, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Binary(kernel.Or, nearness(b, x...), b.Binary(kernel.And, b.Unary(kernel.IsNaN, x[0]), b.Unary(kernel.IsNaN, x[1])))
	})
)

func nearness(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	gap, allowed := b.Unary(kernel.Abs, b.Sub(x[0], x[1])), b.Add(x[3], b.Unary(kernel.Abs, b.Mul(x[2], x[1])))
	within := b.Binary(kernel.And, b.Binary(kernel.Lt, gap, b.Number(gap, elementwise.Inf)), b.Binary(kernel.Le, gap, allowed))
	return b.Binary(kernel.Or, b.Binary(kernel.Eq, x[0], x[1]), within)
}

func dtypeValue(d tensor.DType) value.Value { return value.Int(int64(d)) }

func resultTypeOf(c define.Call) value.Value {
	r := tensor.NewResultType()
	for i := range 2 {
		if o := elementwise.OperandOf(c, i); o.Tensor != nil {
			r.Tensor(o.Tensor)
		} else {
			r.Scalar(o.Number)
		}
	}
	return dtypeValue(r.DType())
}
