package aten

import (
	"errors"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// convertTo gives a tensor in another type, on a device and in a memory format, itself where nothing changes.
func convertTo(t *tensor.Tensor, d tensor.DType, device tensor.Device, copy bool, format tensor.MemoryFormat) *tensor.Tensor {
	device = found(device)
	if device.Type == tensor.Meta && !isMeta(t) {
		return must(tensor.EmptyMetaFormat(t, d, format))
	}
	if isMeta(t) && device.Type != tensor.Meta {
		raise(source.NotImplementedError, "Cannot copy out of meta tensor; no data!")
	}
	if device != t.Device() && !isMeta(t) {
		t, copy = must(t.ToDevice(device)), false
	}
	same := format == tensor.PreserveFormat || t.SuggestedFormat() == format
	if d == t.DType() && !copy && same {
		return t
	}
	if isMeta(t) {
		return noteConversion(must(tensor.EmptyMetaFormat(t, d, format)), t)
	}
	warnOfReal(t.DType(), d)
	out := must(tensor.EmptyFormat(t, d, format))
	assign(out, t)
	return out
}

// found returns the device that tensors are on which are asked for on d. It fails where they cannot be on it.
func found(d tensor.Device) tensor.Device {
	if d.Type == tensor.CPU {
		return tensor.Device{}
	}
	there, err := tensor.FindDevice(d)
	if none := (*tensor.NoDevicesError)(nil); !errors.As(err, &none) {
		succeed(err)
		return there
	}
	check(d.Type == tensor.CUDA, "Could not run 'aten::empty.memory_format' with arguments from the '%s' backend.", d)
	refused := source.Errorf(source.RuntimeError, source.Range{}, "PyTorch is not linked with support for cuda devices")
	refused.Advice = append(refused.Advice, err.Error())
	panic(refused)
}

// makeLike says what a new tensor is made as: type, device.
type makeLike struct {
	dtype  tensor.DType
	device tensor.Device
}

// options reads dtype, layout, device and pin_memory, which start at argument i.
func (c call) options(i int, dtype tensor.DType, device tensor.Device) makeLike {
	o := makeLike{c.dtypeOr(i, dtype), c.deviceOr(i+2, device)}
	check(!c.wantsSparse(i), "the operator makes no tensors in the layout %s", c.layoutOf(i, tensor.Strided))
	o.device = found(o.device)
	return o
}

// onHost has the tensor be made by the processor; placed copies it to the device of o then.
func (o makeLike) onHost() makeLike {
	if o.device.Type != tensor.Meta {
		o.device = tensor.Device{}
	}
	return o
}

// empty makes a tensor with arbitrary elements.
func (o makeLike) empty(shape []int) *tensor.Tensor {
	if o.device.Type != tensor.CPU {
		return must(tensor.EmptyOn(o.device, shape, o.dtype))
	}
	return empty(shape, o.dtype)
}

// full makes a tensor filled with a number.
func (o makeLike) full(shape []int, s tensor.Scalar) *tensor.Tensor {
	mustFit(s, o.dtype)
	t := o.empty(shape)
	tensor.Fill(t, s)
	return t
}

// fromData makes a tensor of a number or of nested lists of numbers or tensors.
func fromData(data value.Value, dtype tensor.DType, device tensor.Device) *tensor.Tensor {
	device = found(device)
	if data.IsTensor() {
		t := data.Tensor()
		if !dtype.Valid() {
			dtype = t.DType()
		}
		return convertTo(t, dtype, device, true, tensor.PreserveFormat)
	}
	shape := shapeOfData(data, nil)
	if !dtype.Valid() {
		dtype = dtypeOfData(data)
		if !dtype.Valid() {
			dtype = tensor.DefaultDType()
		}
	}
	if device.Type == tensor.Meta {
		return must(tensor.EmptyMeta(shape, dtype))
	}
	t := empty(shape, dtype)
	storeData(t, data)
	return must(t.ToDevice(device))
}

func shapeOfData(v value.Value, shape []int) []int {
	for v.Kind() == value.KindList || v.Kind() == value.KindTuple {
		items := itemsOf(v)
		shape = append(shape, len(items))
		if len(items) == 0 {
			return shape
		}
		v = items[0]
	}
	if v.IsTensor() {
		check(v.Tensor().Numel() == 1, "Can't convert nested list of tensors of shape %s to a tensor", shapeText(v.Tensor().Shape()))
	}
	return shape
}

func itemsOf(v value.Value) []value.Value {
	if v.Kind() == value.KindTuple {
		return v.Tuple().Items
	}
	return v.List().Items
}

func dtypeOfData(v value.Value) tensor.DType {
	if v.Kind() == value.KindList || v.Kind() == value.KindTuple {
		d := tensor.NoDType
		for _, item := range itemsOf(v) {
			d = tensor.Promote(d, dtypeOfData(item))
		}
		return d
	}
	if v.IsTensor() {
		return v.Tensor().DType()
	}
	return scalarOf(v).ResultDType()
}

// dtypeOfElements is the type of the elements that nested lists have by their static type, which counts where they are empty.
func dtypeOfElements(v value.Value) tensor.DType {
	t := value.TypeOf(v)
	for {
		list, ok := t.(*types.List)
		if !ok {
			break
		}
		t = list.Elem
	}
	switch t.Kind() {
	case types.KindInt:
		return tensor.Int64
	case types.KindBool:
		return tensor.Bool
	case types.KindFloat, types.KindComplex, types.KindTensor:
		return dtypeOfData(v)
	}
	check(v.Kind() != value.KindList, "Input must be of ints, floats, or bools, got %s", types.Repr(t))
	return dtypeOfData(v)
}

func storeData(t *tensor.Tensor, v value.Value) {
	if t.Dim() == 0 {
		tensor.Fill(t, scalarOf(v))
		return
	}
	check(v.Kind() == value.KindList || v.Kind() == value.KindTuple, "Expected sequence of length %d at dim 1 (got a number)", t.Size(0))
	items := itemsOf(v)
	if len(items) != t.Size(0) {
		raise(source.ValueError, "Expected sequence of length %d at dim %d (got %d)", t.Size(0), 1, len(items))
	}
	for i, item := range items {
		storeData(must(t.Select(0, i)), item)
	}
}

func tensorOfData(c call) *tensor.Tensor {
	data, dtype := c.args[0], c.dtypeOr(1, tensor.NoDType)
	if data.Kind() == value.KindList {
		check(len(data.List().Items) > 0 || data.List().Elem.Kind() != types.KindTensor, "Empty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for Python 2)")
	}
	if !dtype.Valid() {
		dtype = dtypeOfElements(data)
	}
	t := fromData(data, dtype, c.deviceOr(2, tensor.Device{}))
	if c.bool(3) {
		succeed(t.SetRequiresGrad(true))
	}
	return t
}

func asTensor(c call) *tensor.Tensor {
	if t := c.args[0]; t.IsTensor() {
		return convertTo(t.Tensor(), c.dtypeOr(1, t.Tensor().DType()), c.deviceOr(2, t.Tensor().Device()), false, tensor.PreserveFormat)
	}
	return fromData(c.args[0], c.dtypeOr(1, tensor.NoDType), c.deviceOr(2, tensor.Device{}))
}

// item returns the only element of the first argument.
func item(c call) tensor.Scalar {
	t := c.tensor(0)
	check(t.Numel() == 1, "a Tensor with %d elements cannot be converted to Scalar", t.Numel())
	return must(t.Item())
}

// implicit checks that a tensor may stand where a number is expected.
func implicit(c call) tensor.Scalar {
	t := c.tensor(0)
	check(!t.RequiresGrad(), "Cannot input a tensor that requires grad as a scalar argument")
	check(t.Dim() == 0, "Cannot input a tensor of dimension other than 0 as a scalar argument")
	return must(t.Item())
}

// whole is a tensor's number as an int: it has no imaginary part and lies in the range of ints.
func whole(s tensor.Scalar) int64 {
	s = realPart(s, "int64_t")
	if !s.IsIntegral() {
		check(s.Float64() >= math.MinInt64 && s.Float64() < -math.MinInt64, "value cannot be converted to type int64_t without overflow")
	}
	return s.Int64()
}

// realPart is a number that is converted to a real one, which must have no imaginary part.
func realPart(s tensor.Scalar, as string) tensor.Scalar {
	check(imag(s.Complex128()) == 0, "value cannot be converted to type %s without overflow", as)
	return s
}

func complexOf(c call) value.Value {
	return value.Complex(complex(floatOf(c.args[0]), floatOf(c.args[1])))
}

var conversionFamily = append(casts(), []definition{
	giving("fill.Scalar", func(c call) *tensor.Tensor {
		t := must(tensor.EmptyFormat(c.tensor(0), c.tensor(0).DType(), tensor.PreserveFormat))
		tensor.Fill(t, c.scalar(1))
		return t
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: zeroOfSelf, Tags: ops.IgnoresSelf}).onZeros(),
	giving("fill.Tensor", func(c call) *tensor.Tensor {
		check(c.tensor(1).Dim() == 0, "fill only supports 0-dimension value tensor but got tensor with %d dimensions.", c.tensor(1).Dim())
		t := must(tensor.EmptyFormat(c.tensor(0), c.tensor(0).DType(), tensor.PreserveFormat))
		assign(t, c.tensor(1))
		return t
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.zeros(c.g())); c.give(1, c.do("sum", c.g())) }), Tags: ops.IgnoresSelf}).onZeros(),
	giving("zero", func(c call) *tensor.Tensor {
		t := must(tensor.EmptyFormat(c.tensor(0), c.tensor(0).DType(), tensor.PreserveFormat))
		tensor.Fill(t, tensor.Int(0))
		return t
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: zeroOfSelf, Tags: ops.IgnoresSelf}).onZeros(),
	giving("to.device", func(c call) *tensor.Tensor {
		t := c.tensor(0)
		return convertTo(t, c.dtypeOr(2, t.DType()), c.deviceOr(1, t.Device()), c.bool(4), c.formatOr(5, tensor.PreserveFormat))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.MovesDevice | ops.AsWritten | ops.InGroups}),
	giving("to.dtype", func(c call) *tensor.Tensor {
		t := c.tensor(0)
		return convertTo(t, c.dtypeOr(1, t.DType()), t.Device(), c.bool(3), c.formatOr(4, tensor.PreserveFormat))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.AsWritten | ops.InGroups, Node: "ToCopyBackward0"}),
	giving("to.dtype_layout", func(c call) *tensor.Tensor {
		t := c.tensor(0)
		o := c.options(1, t.DType(), t.Device())
		return convertTo(t, o.dtype, o.device, c.bool(6), c.formatOr(7, tensor.PreserveFormat))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.MovesDevice | ops.AsWritten | ops.InGroups}),
	giving("to.other", func(c call) *tensor.Tensor {
		t, other := c.tensor(0), c.tensor(1)
		return convertTo(t, other.DType(), other.Device(), c.bool(3), c.formatOr(4, tensor.PreserveFormat))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.MovesDevice | ops.AsWritten | ops.ShapeOnly}),
	giving("to.prim_Device", func(c call) *tensor.Tensor {
		t := c.tensor(0)
		return convertTo(t, c.dtypeOr(2, t.DType()), c.deviceOr(1, t.Device()), c.bool(4), tensor.PreserveFormat)
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.MovesDevice}),
	giving("to.prim_dtype", func(c call) *tensor.Tensor {
		t := c.tensor(0)
		return convertTo(t, c.dtypeOr(1, t.DType()), t.Device(), c.bool(3), tensor.PreserveFormat)
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn}),
	giving("to.prim_other", func(c call) *tensor.Tensor {
		t := c.tensor(0)
		return convertTo(t, t.DType(), t.Device(), c.bool(2), tensor.PreserveFormat)
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.MovesDevice}),
	giving("_to_copy", func(c call) *tensor.Tensor {
		t := c.tensor(0)
		o := c.options(1, t.DType(), t.Device())
		return convertTo(t, o.dtype, o.device, true, c.formatOr(6, tensor.PreserveFormat))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.MovesDevice | ops.AsWritten, Node: "ToCopyBackward0"}),
	giving("type_as", func(c call) *tensor.Tensor {
		return convertTo(c.tensor(0), c.tensor(1).DType(), c.tensor(1).Device(), false, tensor.PreserveFormat)
	}).with(ops.Def{Grad: typeAsGrad, Tags: ops.MovesDevice | ops.Grouped | ops.AsWritten | ops.ShapeOnly | ops.InGroups}),
	giving("cpu", func(c call) *tensor.Tensor {
		return convertTo(c.tensor(0), c.tensor(0).DType(), tensor.Device{}, false, tensor.PreserveFormat)
	}).with(ops.Def{Tags: ops.MovesDevice}),
	giving("cuda", func(c call) *tensor.Tensor {
		return convertTo(c.tensor(0), c.tensor(0).DType(), tensor.NewDevice(tensor.CUDA, -1), false, tensor.PreserveFormat)
	}).with(ops.Def{Tags: ops.MovesDevice}),
	giving("tensor", tensorOfData).with(ops.Def{Tags: ops.MovesDevice}),
	giving("tensor.float", tensorOfData),
	giving("tensor.int", tensorOfData),
	giving("tensor.bool", tensorOfData),
	giving("tensor.complex", tensorOfData),
	giving("as_tensor", asTensor).with(ops.Def{Tags: ops.MovesDevice}),
	giving("as_tensor.list", asTensor),
	giving("as_tensor.float", asTensor),
	giving("as_tensor.int", asTensor),
	giving("as_tensor.bool", asTensor),
	giving("as_tensor.complex", asTensor),
	giving("scalar_tensor", func(c call) *tensor.Tensor {
		return c.options(1, tensor.DefaultDType(), tensor.Device{}).full(nil, c.scalar(0))
	}),
	giving("prim::NumToTensor.Scalar", func(c call) *tensor.Tensor { return numToTensor(c.scalar(0)) }),
	giving("prim::NumToTensor.bool", func(c call) *tensor.Tensor { return numToTensor(c.scalar(0)) }),
	answering("item", func(c call) value.Value { return value.OfScalar(item(c)) }).onZeros(),
	answering("_local_scalar_dense", func(c call) value.Value { return value.OfScalar(item(c)) }).onZeros(),
	answering("Int.Tensor", func(c call) value.Value { return value.Int(whole(item(c))) }).onZeros(),
	answering("Float.Tensor", func(c call) value.Value { return value.Float(realPart(item(c), "double").Float64()) }).onZeros(),
	answering("Bool.Tensor", func(c call) value.Value {
		t := c.tensor(0)
		check(t.Numel() > 0, "Boolean value of Tensor with no values is ambiguous")
		return value.Bool(truthOf(t))
	}).onZeros(),
	answering("IntImplicit", func(c call) value.Value {
		s, d := implicit(c), c.tensor(0).DType()
		check(d.IsIntegral(), "Cannot input a tensor of type %s as an integral argument", d.CppName())
		return value.Int(s.Int64())
	}).onZeros(),
	answering("FloatImplicit", func(c call) value.Value { return value.Float(realPart(implicit(c), "double").Float64()) }).onZeros(),
	answering("ComplexImplicit", func(c call) value.Value { return value.Complex(implicit(c).Complex128()) }).onZeros(),
	answering("ScalarImplicit", func(c call) value.Value { return value.OfScalar(implicit(c)) }).onZeros(),
	answering("Complex.Tensor_Tensor", complexOf),
	answering("Complex.Tensor_float", complexOf),
	answering("Complex.float_Tensor", complexOf),
	answering("Complex.Tensor_int", complexOf),
	answering("Complex.int_Tensor", complexOf),
	answering("Complex.Tensor_bool", complexOf),
	answering("Complex.bool_Tensor", complexOf),
	giving("clone", func(c call) *tensor.Tensor {
		return must(c.tensor(0).Clone(c.formatOr(1, tensor.PreserveFormat)))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.AsWritten}),
	giving("contiguous", func(c call) *tensor.Tensor {
		t, format := c.tensor(0), c.formatOr(1, tensor.ContiguousFormat)
		if t.IsContiguousFormat(format) {
			return t
		}
		return must(t.Clone(format))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.Grouped | ops.AsWritten, Node: "CloneBackward0"}),
	define("copy_", func(c call) {
		if c.tensor(1).Dim() > 0 { // else it fills
			checkShifted(c.tensor(0), c.args[1:2])
		}
		warnOfReal(c.tensor(1).DType(), c.tensor(0).DType())
		succeed(tensor.Copy(c.tensor(0), c.tensor(1)))
		c.giveSelf()
	}).with(ops.Def{Tags: ops.MovesDevice}),
	define("copy_.Tensor", func(c call) {
		succeed(tensor.Copy(c.tensor(0), c.tensor(1)))
		c.giveSelf()
	}).with(ops.Def{Tags: ops.MovesDevice}),
	define("copy_.int", fillSelf),
	define("copy_.float", fillSelf),
	giving("copy", func(c call) *tensor.Tensor {
		t := must(c.tensor(0).Clone(tensor.PreserveFormat))
		succeed(tensor.Copy(t, c.tensor(1)))
		return t
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.zeros(c.g())); c.give(1, c.g()) }), Tags: ops.IgnoresSelf | ops.AsWritten | ops.MovesDevice, Node: "CopyBackwards"}),
	define("fill_.Scalar", fillSelf),
	define("fill_.Tensor", func(c call) {
		check(c.tensor(1).Dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.", c.tensor(1).Dim())
		succeed(tensor.Copy(c.tensor(0), c.tensor(1)))
		c.giveSelf()
	}),
	define("zero_", func(c call) {
		tensor.Fill(c.tensor(0), tensor.Int(0))
		c.giveSelf()
	}),
	define("set_.source_Tensor", func(c call) {
		c.tensor(0).Set(c.tensor(1))
		c.giveSelf()
	}),
	define("resize_", func(c call) {
		succeed(c.tensor(0).Resize(c.ints(1)))
		c.out[0] = c.args[0]
	}),
	define("resize_as_", func(c call) {
		succeed(c.tensor(0).Resize(c.tensor(1).Shape()))
		c.out[0] = c.args[0]
	}),
	define("requires_grad_", func(c call) {
		succeed(c.tensor(0).SetRequiresGrad(c.bool(1)))
		c.out[0] = c.args[0]
	}),
	define("detach_", func(c call) {
		t := c.tensor(0)
		check(t.Base() == nil, "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.")
		t.SetHistory(nil)
		t.SetBase(nil)
		succeed(t.SetRequiresGrad(false))
		c.out[0] = c.args[0]
	}),
}...)

func fillSelf(c call) {
	mustFit(c.scalar(1), c.tensor(0).DType())
	tensor.Fill(c.tensor(0), c.scalar(1))
	c.giveSelf()
}

// numToTensor makes a tensor without dimensions of a number's own type: 64 bits for integers and floats.
func numToTensor(s tensor.Scalar) *tensor.Tensor {
	d := map[tensor.ScalarKind]tensor.DType{tensor.BoolScalar: tensor.Bool, tensor.IntScalar: tensor.Int64,
		tensor.FloatScalar: tensor.Float64, tensor.ComplexScalar: tensor.Complex128}[s.Kind]
	return tensor.FromScalar(s, d)
}

// casts defines _cast_Byte and its kin.
func casts() []definition {
	var defs []definition
	for d := tensor.Uint8; d <= tensor.Float64; d++ {
		defs = append(defs, giving("_cast_"+d.CppName(), func(c call) *tensor.Tensor { return to(c.tensor(0), d) }))
	}
	return defs
}
