package aten

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// answering defines an overload that gives a value that is no tensor.
func answering(name string, f func(c call) value.Value) definition {
	return define(name, func(c call) { c.out[0] = f(c) })
}

func yes(name string, f func(t *tensor.Tensor) bool) definition {
	return answering(name, func(c call) value.Value { return value.Bool(f(c.tensor(0))) })
}

func number(name string, f func(t *tensor.Tensor) int) definition {
	return answering(name, func(c call) value.Value { return value.Int(int64(f(c.tensor(0)))) })
}

func never(*tensor.Tensor) bool { return false }

var propertyFamily = []definition{
	answering("can_cast", func(c call) value.Value {
		return value.Bool(tensor.CanCast(c.dtypeOr(0, tensor.NoDType), c.dtypeOr(1, tensor.NoDType)))
	}),
	answering("promote_types", func(c call) value.Value {
		return dtypeValue(tensor.Promote(c.dtypeOr(0, tensor.NoDType), c.dtypeOr(1, tensor.NoDType)))
	}),
	answering("result_type.Tensor", resultTypeOf),
	answering("result_type.Scalar", resultTypeOf),
	answering("result_type.Scalar_Tensor", resultTypeOf),
	answering("result_type.Scalar_Scalar", resultTypeOf),
	answering("size", func(c call) value.Value { return value.OfList(value.Ints(c.tensor(0).Shape())) }),
	answering("size.int", func(c call) value.Value { return value.Int(int64(sizeAt(c.tensor(0), c.int(1)))) }),
	answering("stride", func(c call) value.Value { return value.OfList(value.Ints(c.tensor(0).Strides())) }),
	answering("stride.int", func(c call) value.Value {
		t := c.tensor(0)
		check(t.Dim() > 0, "Dimension specified as %d but tensor has no dimensions", c.int(1))
		return value.Int(int64(t.Strides()[wrapDim(c.int(1), t)]))
	}),
	number("numel", (*tensor.Tensor).Numel),
	number("dim", (*tensor.Tensor).Dim),
	number("storage_offset", (*tensor.Tensor).Offset),
	number("element_size", func(t *tensor.Tensor) int { return t.DType().Size() }),
	number("len.Tensor", func(t *tensor.Tensor) int {
		if t.Dim() == 0 {
			raise(source.TypeError, "len() of a 0-d tensor")
		}
		return t.Size(0)
	}),
	number("get_device", func(t *tensor.Tensor) int { return t.Device().Index() }),
	number("_version", (*tensor.Tensor).Version),
	number("output_nr", func(*tensor.Tensor) int { return 0 }),
	yes("is_contiguous", (*tensor.Tensor).IsContiguous),
	answering("is_contiguous.memory_format", func(c call) value.Value {
		return value.Bool(c.tensor(0).IsContiguousFormat(c.formatOr(1, tensor.ContiguousFormat)))
	}),
	yes("is_floating_point", func(t *tensor.Tensor) bool { return t.DType().IsFloating() }),
	yes("is_complex", func(t *tensor.Tensor) bool { return t.DType().IsComplex() }),
	yes("is_signed", func(t *tensor.Tensor) bool {
		return t.DType() != tensor.Bool && t.DType() != tensor.Uint8 && t.DType() != tensor.QUInt8
	}),
	yes("is_inference", (*tensor.Tensor).IsInference),
	yes("is_conj", never),
	yes("is_neg", never),
	yes("is_leaf", (*tensor.Tensor).IsLeaf),
	yes("is_nonzero", isNonzero).onZeros(),
	define("_assert_async", func(c call) {
		hasElements := c.tensor(0).Device().Type != tensor.Meta // without them there is nothing to assert
		check(!hasElements || isNonzero(c.tensor(0)), "Expected Tensor with single nonzero value, but got zero")
	}).with(ops.Def{Sample: "(x.sum() > -1000)"}),
	answering("is_same_size", func(c call) value.Value {
		return value.Bool(tensor.SameShape(c.tensor(0).Shape(), c.tensor(1).Shape()))
	}),
	answering("is_set_to", func(c call) value.Value {
		a, b := c.tensor(0), c.tensor(1)
		return value.Bool(a.SharesStorage(b) && a.Offset() == b.Offset() && tensor.SameShape(a.Shape(), b.Shape()) && tensor.SameShape(a.Strides(), b.Strides()))
	}),
	answering("equal", func(c call) value.Value { return value.Bool(equal(c.tensor(0), c.tensor(1))) }).onZeros().quantized(unquantized),
	answering("eq.Tensor_list", func(c call) value.Value { return value.Bool(equalLists(c.args[0].List(), c.args[1].List())) }),
	answering("ne.Tensor_list", func(c call) value.Value { return value.Bool(!equalLists(c.args[0].List(), c.args[1].List())) }),
	answering("count.Tensor", func(c call) value.Value {
		n := 0
		for _, item := range c.args[0].List().Items {
			if isEqualTo(item, c.args[1]) {
				n++
			}
		}
		return value.Int(int64(n))
	}),
	answering("index.list_Tensor", func(c call) value.Value {
		i := slices.IndexFunc(c.args[0].List().Items, func(item value.Value) bool { return isEqualTo(item, c.args[1]) })
		check(i >= 0, "'%s' is not in list", c.tensor(1).CppString())
		return value.Int(int64(i))
	}),
	define("remove.Tensor", func(c call) {
		l := c.args[0].List()
		i := slices.IndexFunc(l.Items, func(item value.Value) bool { return isEqualTo(item, c.args[1]) })
		check(i >= 0, "list.remove(x): x not in list")
		l.Items = slices.Delete(l.Items, i, i+1)
	}),
	giving("isclose", func(c call) *tensor.Tensor {
		return isClose(c.tensor(0), c.tensor(1), c.float(2), c.float(3), c.bool(4))
	}).onZeros(),
	answering("allclose", func(c call) value.Value {
		near := isClose(c.tensor(0), c.tensor(1), c.float(2), c.float(3), c.bool(4))
		defer near.Release()
		return value.Bool(truth(near, nil, false, true).At().Bool())
	}).onZeros(),
	answering("prim::dtype", func(c call) value.Value { return value.Int(int64(c.tensor(0).DType())) }),
	answering("prim::device", func(c call) value.Value { return value.OfDevice(c.tensor(0).Device()) }),
	answering("prim::layout", func(c call) value.Value { return value.Int(int64(tensor.Strided)) }),
	answering("prim::name", func(c call) value.Value { return value.None }),
	yes("prim::requires_grad", (*tensor.Tensor).RequiresGrad),
	yes("prim::is_cpu", func(t *tensor.Tensor) bool { return t.Device().Type == tensor.CPU }),
	yes("prim::is_cuda", func(t *tensor.Tensor) bool { return t.Device().Type == tensor.CUDA }),
	yes("prim::is_meta", isMeta),
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
	giving("prim::data", func(c call) *tensor.Tensor { return c.tensor(0).Apart() }),
	yes("is_distributed", never), yes("is_pinned", never),
	answering("sym_size", func(c call) value.Value { return value.OfList(value.Ints(c.tensor(0).Shape())) }),
	answering("sym_size.int", func(c call) value.Value { return value.Int(int64(sizeAt(c.tensor(0), c.int(1)))) }),
	number("sym_numel", (*tensor.Tensor).Numel),
	answering("sym_stride", func(c call) value.Value { return value.OfList(value.Ints(c.tensor(0).Strides())) }),
}

func sizeAt(t *tensor.Tensor, dim int) int {
	if t.Dim() == 0 {
		raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", dim)
	}
	return t.Size(wrapDim(dim, t))
}

// isNonzero reports whether the only element is true. It fails where there are none or several.
func isNonzero(t *tensor.Tensor) bool {
	check(t.Numel() > 0, "Boolean value of Tensor with no values is ambiguous")
	return truthOf(t)
}

// truthOf returns the only element as a truth value. It fails where there are several.
func truthOf(t *tensor.Tensor) bool {
	check(t.Numel() <= 1, "Boolean value of Tensor with more than one value is ambiguous")
	if t.Numel() == 0 {
		return false
	}
	return must(t.Item()).Bool()
}

// isEqualTo reports whether two tensors are equal as elements of a list: what bool(a == b) is.
func isEqualTo(a, b value.Value) bool { return truthOf(eq.on(a.Tensor(), b.Tensor())) }

// equalLists reports whether two lists of tensors have equal elements.
func equalLists(a, b *value.List) bool { return slices.EqualFunc(a.Items, b.Items, isEqualTo) }

func equal(a, b *tensor.Tensor) bool {
	if !tensor.SameShape(a.Shape(), b.Shape()) {
		return false
	}
	check(a.DType() == b.DType(), "Expected object of data type %s but got data type %s for argument 'other' in call to equal", cppTypeName(a.DType()), cppTypeName(b.DType()))
	n := a.Numel()
	if n == 0 {
		return true
	}
	if n <= equalAtOnce || a.OnDevice() {
		return must(truth(eq.on(a, b), nil, false, true).Item()).Bool()
	}
	a, b = must(contiguous(a).View(-1)), must(contiguous(b).View(-1))
	for from := 0; from < n; from += equalAtOnce {
		to := min(from+equalAtOnce, n)
		same := eq.on(must(a.Slice(0, from, to, 1)), must(b.Slice(0, from, to, 1)))
		if bytes.IndexByte(unsafe.Slice((*byte)(same.DataPtr()), to-from), 0) >= 0 {
			return false
		}
		same.Release()
	}
	return true
}

// equalAtOnce is how many elements are compared before the outcome is looked at.
const equalAtOnce = 1 << 15

// isClose tells where |a-b| <= atol + rtol*|b|.
func isClose(a, b *tensor.Tensor, rtol, atol float64, equalNaN bool) *tensor.Tensor {
	check(a.DType() == b.DType(), "%s did not match %s", a.DType().CppName(), b.DType().CppName())
	check(rtol >= 0, "rtol must be greater than or equal to zero, but got %v", rtol)
	check(atol >= 0, "atol must be greater than or equal to zero, but got %v", atol)
	if rtol == 0 && atol == 0 && !equalNaN {
		return eq.on(a, b)
	}
	if d := a.DType(); !d.IsComplex() && (!d.IsFloating() || d.Size() >= 4) && (rtol != 0 || atol != 0) {
		if !d.IsFloating() {
			a, b = to(a, tensor.DefaultDType()), to(b, tensor.DefaultDType())
		}
		near := isNear
		if equalNaN {
			near = isNearOrNaN
		}
		return near.run(nil, []operand{ofTensor(a), ofTensor(b)}, tensor.Float(rtol), tensor.Float(atol))
	}
	near := eq.on(a, b)
	if equalNaN && (a.DType().IsFloating() || a.DType().IsComplex()) {
		near = logicalOr.on(near, logicalAnd.on(isNaN.on(a), isNaN.on(b)))
	}
	if rtol == 0 && atol == 0 {
		return near
	}
	allowed := addNumber(scaleBy(absolute.on(b), rtol), atol)
	gap := absolute.on(sub.on(a, b))
	finite := lt.run(nil, []operand{ofTensor(gap), ofScalar(tensor.Float(inf))})
	return logicalOr.on(near, logicalAnd.on(finite, le.on(gap, allowed)))
}

// isNear is isclose for real numbers where the relative and the absolute tolerance are the third and the fourth operand.
// isNearOrNaN takes NaN for equal.
var (
	isNear      = elementwise("isclose", ops.BoolResult, nearness)
	isNearOrNaN = elementwise("isclose", ops.BoolResult, func(b builder, x ...element) element {
		return b.Binary(kernel.Or, nearness(b, x...), b.Binary(kernel.And, b.Unary(kernel.IsNaN, x[0]), b.Unary(kernel.IsNaN, x[1])))
	})
)

func nearness(b builder, x ...element) element {
	gap, allowed := b.Unary(kernel.Abs, b.Sub(x[0], x[1])), b.Add(x[3], b.Unary(kernel.Abs, b.Mul(x[2], x[1])))
	within := b.Binary(kernel.And, b.Binary(kernel.Lt, gap, b.Number(gap, inf)), b.Binary(kernel.Le, gap, allowed))
	return b.Binary(kernel.Or, b.Binary(kernel.Eq, x[0], x[1]), within)
}

func dtypeValue(d tensor.DType) value.Value { return value.Int(int64(d)) }

func resultTypeOf(c call) value.Value {
	r := tensor.NewResultType()
	for i := range 2 {
		if o := c.operand(i); o.tensor != nil {
			r.Tensor(o.tensor)
		} else {
			r.Scalar(o.number)
		}
	}
	return dtypeValue(r.DType())
}
