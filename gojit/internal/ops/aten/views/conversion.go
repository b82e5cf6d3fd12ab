package views

import (
	"errors"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// convertTo gives a tensor in another type, on a device and in a memory format, itself where nothing changes. later says that nobody waits for a device's copy.
func convertTo(t *tensor.Tensor, d tensor.DType, device tensor.Device, later, copy bool, format tensor.MemoryFormat) *tensor.Tensor {
	device = Found(device)
	if device.Type == tensor.Meta && !define.IsMeta(t) {
		return source.Must(tensor.EmptyMetaFormat(t, d, format))
	}
	if define.IsMeta(t) && device.Type != tensor.Meta {
		source.Raise(source.NotImplementedError, "Cannot copy out of meta tensor; no data!")
	}
	if device != t.Device() && !define.IsMeta(t) {
		if later {
			t = movedLater(t, d, device, format)
		} else {
			t = source.Must(t.ToDevice(device))
		}
		copy = false
	}
	same := format == tensor.PreserveFormat || t.SuggestedFormat() == format
	if d == t.DType() && !copy && same {
		return t
	}
	if define.IsMeta(t) {
		return elementwise.NoteConversion(source.Must(tensor.EmptyMetaFormat(t, d, format)), t)
	}
	define.WarnOfReal(t.DType(), d)
	if t.Quantizer() != nil {
		checkStaysQuantized(t.DType(), d)
		return source.Must(t.Clone(format))
	}
	out := source.Must(tensor.EmptyFormat(t, d, format))
	elementwise.Assign(out, t)
	return out
}

// checkStaysQuantized refuses to convert integers that stand for numbers: dequantize says what these are.
func checkStaysQuantized(from, to tensor.DType) {
	source.Check(to.IsQuantized(), "Creation of quantized tensor requires quantized dtype like torch.quint8")
	source.Check(from == to, "a quantized tensor of %s cannot become one of %s: dequantize it and quantize its numbers", from.CppName(), to.CppName())
}

// movedLater copies a tensor to another device without waiting. What comes to the processor is in pinned memory, and nothing else may be done to it.
func movedLater(t *tensor.Tensor, d tensor.DType, device tensor.Device, format tensor.MemoryFormat) *tensor.Tensor {
	if device.Type == tensor.CPU && (d != t.DType() || format != tensor.PreserveFormat || !t.OnDevice() || t.DType().IsQuantized()) || t.DType().IsQuantized() {
		return source.Must(t.ToDevice(device))
	}
	var made *tensor.Tensor
	if device.Type == tensor.CPU {
		like := source.Must(tensor.EmptyMetaFormat(t, t.DType(), tensor.PreserveFormat))
		made = source.Must(tensor.EmptyPinned(t.Shape(), like.Strides(), t.DType()))
	} else {
		made = source.Must(tensor.EmptyFormatOn(device, t, t.DType(), tensor.PreserveFormat))
	}
	source.Throw(tensor.CopyLater(made, t))
	return made
}

// Found returns the device that tensors are on which are asked for on d. It fails where they cannot be on it.
func Found(d tensor.Device) tensor.Device {
	if d.Type == tensor.CPU {
		return tensor.Device{}
	}
	there, err := tensor.FindDevice(d)
	if none := (*tensor.NoDevicesError)(nil); !errors.As(err, &none) {
		source.Throw(err)
		return there
	}
	source.Check(d.Type == tensor.CUDA, "Could not run 'aten::empty.memory_format' with arguments from the '%s' backend.", d)
	refused := source.Errorf(source.RuntimeError, source.Range{}, "PyTorch is not linked with support for cuda devices")
	refused.Advice = append(refused.Advice, err.Error())
	panic(refused)
}

// MakeLike says what a new tensor is made as: type, device.
type MakeLike struct {
	Dtype  tensor.DType
	device tensor.Device
	pinned bool // in memory of the processor that stays where it is
}

// Options reads dtype, layout, device and pin_memory, which start at argument i.
func Options(c define.Call, i int, dtype tensor.DType, device tensor.Device) MakeLike {
	o := MakeLike{Dtype: c.DtypeOr(i, dtype), device: c.DeviceOr(i+2, device)}
	if i+3 < len(c.Args) && c.Args[i+3].Kind() == value.KindBool && c.Args[i+3].Bool() {
		source.Check(o.device.Type == tensor.CPU, "Only dense CPU tensors can be pinned, not one on the device %s", o.device)
		o.pinned = true
	}
	if wantsSparse(c, i) {
		source.Raise(source.RuntimeError, "the operator makes no tensors in the layout %s", LayoutOf(c, i, tensor.Strided))
	}
	o.device = Found(o.device)
	return o
}

// Empty makes a tensor with arbitrary elements.
func (o MakeLike) Empty(shape []int) *tensor.Tensor {
	if o.device.Type != tensor.CPU {
		return source.Must(tensor.EmptyOn(o.device, shape, o.Dtype))
	}
	t := define.Empty(shape, o.Dtype)
	if o.pinned {
		return source.Must(tensor.EmptyPinned(shape, t.Strides(), o.Dtype))
	}
	return t
}

// full makes a tensor filled with a number.
func (o MakeLike) full(shape []int, s tensor.Scalar) *tensor.Tensor {
	elementwise.MustFit(s, o.Dtype)
	t := o.Empty(shape)
	tensor.Fill(t, s)
	return t
}

// fromData makes a tensor of a number or of nested lists of numbers or tensors.
func fromData(data value.Value, dtype tensor.DType, device tensor.Device) *tensor.Tensor {
	device = Found(device)
	if data.IsTensor() {
		t := data.Tensor()
		if !dtype.Valid() {
			dtype = t.DType()
		}
		return convertTo(t, dtype, device, false, true, tensor.PreserveFormat)
	}
	shape := shapeOfData(data, nil)
	if !dtype.Valid() {
		dtype = dtypeOfData(data)
		if !dtype.Valid() {
			dtype = tensor.DefaultDType()
		}
	}
	if device.Type == tensor.Meta {
		return source.Must(tensor.EmptyMeta(shape, dtype))
	}
	t := define.Empty(shape, dtype)
	storeData(t, data)
	return source.Must(t.ToDevice(device))
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
		source.Check(v.Tensor().Numel() == 1, "Can't convert nested list of tensors of shape %s to a tensor", define.ShapeText(v.Tensor().Shape()))
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
	return define.ScalarOf(v).ResultDType()
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
	source.Check(v.Kind() != value.KindList, "Input must be of ints, floats, or bools, got %s", types.Repr(t))
	return dtypeOfData(v)
}

func storeData(t *tensor.Tensor, v value.Value) {
	if t.Dim() == 0 {
		tensor.Fill(t, define.ScalarOf(v))
		return
	}
	source.Check(v.Kind() == value.KindList || v.Kind() == value.KindTuple, "Expected sequence of length %d at dim 1 (got a number)", t.Size(0))
	items := itemsOf(v)
	if len(items) != t.Size(0) {
		source.Raise(source.ValueError, "Expected sequence of length %d at dim %d (got %d)", t.Size(0), 1, len(items))
	}
	for i, item := range items {
		storeData(source.Must(t.Select(0, i)), item)
	}
}

func tensorOfData(c define.Call) *tensor.Tensor {
	data, dtype := c.Args[0], c.DtypeOr(1, tensor.NoDType)
	if data.Kind() == value.KindList {
		source.Check(len(data.List().Items) > 0 || data.List().Elem.Kind() != types.KindTensor, "Input must be of ints, floats, or bools, got Tensor\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for Python 2)")
	}
	if !dtype.Valid() {
		dtype = dtypeOfElements(data)
	}
	t := fromData(data, dtype, c.DeviceOr(2, tensor.Device{}))
	if c.Bool(3) {
		source.Throw(t.SetRequiresGrad(true))
	}
	return t
}

// pinMemory gives a tensor in pinned memory. A device beside it must be one of CUDA.
func pinMemory(c define.Call) *tensor.Tensor {
	if d := c.DeviceOr(1, tensor.NewDevice(tensor.CUDA, -1)); d.Type != tensor.CUDA {
		source.Raise(source.RuntimeError, "memory is pinned for CUDA devices, not for %s", d)
	}
	return source.Must(c.Tensor(0).PinMemory())
}

func asTensor(c define.Call) *tensor.Tensor {
	if t := c.Args[0]; t.IsTensor() {
		return convertTo(t.Tensor(), c.DtypeOr(1, t.Tensor().DType()), c.DeviceOr(2, t.Tensor().Device()), false, false, tensor.PreserveFormat)
	}
	return fromData(c.Args[0], c.DtypeOr(1, tensor.NoDType), c.DeviceOr(2, tensor.Device{}))
}

// item returns the only element of the first argument.
func item(c define.Call) tensor.Scalar {
	t := c.Tensor(0)
	source.Check(t.Numel() == 1, "a Tensor with %d elements cannot be converted to Scalar", t.Numel())
	return source.Must(t.Item())
}

// implicit checks that a tensor may stand where a number is expected.
func implicit(c define.Call) tensor.Scalar {
	t := c.Tensor(0)
	source.Check(!t.RequiresGrad(), "Cannot input a tensor that requires grad as a scalar argument")
	source.Check(t.Dim() == 0, "Cannot input a tensor of dimension other than 0 as a scalar argument")
	return source.Must(t.Item())
}

// whole is a tensor's number as an int: it has no imaginary part and lies in the range of ints.
func whole(s tensor.Scalar) int64 {
	s = realPart(s, "int64_t")
	if !s.IsIntegral() {
		source.Check(s.Float64() >= math.MinInt64 && s.Float64() < -math.MinInt64, "value cannot be converted to type int64_t without overflow")
	}
	return s.Int64()
}

// realPart is a number that is converted to a real one, which must have no imaginary part.
func realPart(s tensor.Scalar, as string) tensor.Scalar {
	source.Check(imag(s.Complex128()) == 0, "value cannot be converted to type %s without overflow", as)
	return s
}

func complexOf(c define.Call) value.Value {
	return value.Complex(complex(define.FloatOf(c.Args[0]), define.FloatOf(c.Args[1])))
}

var ConversionFamily = append(casts(), []define.Definition{
	define.Giving("fill.Scalar", func(c define.Call) *tensor.Tensor {
		t := emptyLike(c.Tensor(0))
		fill(t, c.Scalar(1))
		return t
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf, Tags: ops.IgnoresSelf}).OnZeros(),
	define.Giving("fill.Tensor", func(c define.Call) *tensor.Tensor {
		source.Check(c.Tensor(1).Dim() == 0, "fill only supports 0-dimension value tensor but got tensor with %d dimensions.", c.Tensor(1).Dim())
		t := emptyLike(c.Tensor(0))
		if t.Quantizer() != nil {
			fill(t, c.Tensor(1).At())
		} else {
			elementwise.Assign(t, c.Tensor(1))
		}
		return t
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Zeros(c.G())); c.Give(1, c.Do("sum", c.G())) }), Tags: ops.IgnoresSelf}).OnZeros(),
	define.Giving("zero", func(c define.Call) *tensor.Tensor {
		t := source.Must(tensor.EmptyFormat(c.Tensor(0), c.Tensor(0).DType(), tensor.PreserveFormat))
		tensor.Fill(t, tensor.Int(0))
		return t
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf, Tags: ops.IgnoresSelf}).OnZeros(),
	define.Giving("to.device", func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		return convertTo(t, c.DtypeOr(2, t.DType()), c.DeviceOr(1, t.Device()), c.Bool(3), c.Bool(4), c.FormatOr(5, tensor.PreserveFormat))
	}).With(ops.Def{Groups: ops.Groups, Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.MovesDevice | ops.AsWritten}),
	define.Giving("to.dtype", func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		return convertTo(t, c.DtypeOr(1, t.DType()), t.Device(), false, c.Bool(3), c.FormatOr(4, tensor.PreserveFormat))
	}).With(ops.Def{Groups: ops.Groups, Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.AsWritten}),
	define.Giving("to.dtype_layout", func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		o := Options(c, 1, t.DType(), t.Device())
		return convertTo(t, o.Dtype, o.device, c.Bool(5), c.Bool(6), c.FormatOr(7, tensor.PreserveFormat))
	}).With(ops.Def{Groups: ops.Groups, Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.MovesDevice | ops.AsWritten}),
	define.Giving("to.other", func(c define.Call) *tensor.Tensor {
		t, other := c.Tensor(0), c.Tensor(1)
		return convertTo(t, other.DType(), other.Device(), c.Bool(2), c.Bool(3), c.FormatOr(4, tensor.PreserveFormat))
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.MovesDevice | ops.AsWritten | ops.ShapeOnly}),
	define.Giving("to.prim_Device", func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		return convertTo(t, c.DtypeOr(2, t.DType()), c.DeviceOr(1, t.Device()), c.Bool(3), c.Bool(4), tensor.PreserveFormat)
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.MovesDevice}),
	define.Giving("to.prim_dtype", func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		return convertTo(t, c.DtypeOr(1, t.DType()), t.Device(), false, c.Bool(3), tensor.PreserveFormat)
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn}),
	define.Giving("to.prim_other", func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		return convertTo(t, t.DType(), t.Device(), false, c.Bool(2), tensor.PreserveFormat)
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.MovesDevice}),
	define.Giving("_to_copy", func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		o := Options(c, 1, t.DType(), t.Device())
		return convertTo(t, o.Dtype, o.device, c.Bool(5), true, c.FormatOr(6, tensor.PreserveFormat))
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.MovesDevice | ops.AsWritten}),
	define.Giving("type_as", func(c define.Call) *tensor.Tensor {
		return convertTo(c.Tensor(0), c.Tensor(1).DType(), c.Tensor(1).Device(), false, false, tensor.PreserveFormat)
	}).With(ops.Def{Groups: ops.Groups, Grad: typeAsGrad, Tags: ops.MovesDevice | ops.Grouped | ops.AsWritten | ops.ShapeOnly}),
	define.Giving("cpu", func(c define.Call) *tensor.Tensor {
		return convertTo(c.Tensor(0), c.Tensor(0).DType(), tensor.Device{}, false, false, tensor.PreserveFormat)
	}).With(ops.Def{Tags: ops.MovesDevice}),
	define.Giving("cuda", func(c define.Call) *tensor.Tensor {
		return convertTo(c.Tensor(0), c.Tensor(0).DType(), tensor.NewDevice(tensor.CUDA, -1), false, false, tensor.PreserveFormat)
	}).With(ops.Def{Tags: ops.MovesDevice}),
	define.Giving("pin_memory", pinMemory).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.MovesDevice}),
	define.Giving("_pin_memory", pinMemory).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.MovesDevice}),
	define.Giving("tensor", tensorOfData).With(ops.Def{Tags: ops.MovesDevice}),
	define.Giving("tensor.float", tensorOfData),
	define.Giving("tensor.int", tensorOfData),
	define.Giving("tensor.bool", tensorOfData),
	define.Giving("tensor.complex", tensorOfData),
	define.Giving("as_tensor", asTensor).With(ops.Def{Tags: ops.MovesDevice}),
	define.Giving("as_tensor.list", asTensor),
	define.Giving("as_tensor.float", asTensor),
	define.Giving("as_tensor.int", asTensor),
	define.Giving("as_tensor.bool", asTensor),
	define.Giving("as_tensor.complex", asTensor),
	define.Giving("scalar_tensor", func(c define.Call) *tensor.Tensor {
		return Options(c, 1, tensor.DefaultDType(), tensor.Device{}).full(nil, c.Scalar(0))
	}),
	define.Giving("prim::NumToTensor.Scalar", func(c define.Call) *tensor.Tensor { return NumToTensor(c.Scalar(0)) }),
	define.Giving("prim::NumToTensor.bool", func(c define.Call) *tensor.Tensor { return NumToTensor(c.Scalar(0)) }),
	Answering("item", func(c define.Call) value.Value { return value.OfScalar(item(c)) }).With(ops.Def{Parts: define.Emitting("_local_scalar_dense")}).OnZeros(),
	Answering("_local_scalar_dense", func(c define.Call) value.Value { return value.OfScalar(item(c)) }).OnZeros(),
	Answering("Int.Tensor", func(c define.Call) value.Value { return value.Int(whole(item(c))) }).OnZeros(),
	Answering("Float.Tensor", func(c define.Call) value.Value { return value.Float(realPart(item(c), "double").Float64()) }).OnZeros(),
	Answering("Bool.Tensor", func(c define.Call) value.Value {
		t := c.Tensor(0)
		source.Check(t.Numel() > 0, "Boolean value of Tensor with no values is ambiguous")
		return value.Bool(truthOf(t))
	}).OnZeros(),
	Answering("IntImplicit", func(c define.Call) value.Value {
		s, d := implicit(c), c.Tensor(0).DType()
		source.Check(d.IsIntegral(), "Cannot input a tensor of type %s as an integral argument", d.CppName())
		return value.Int(s.Int64())
	}).OnZeros(),
	Answering("FloatImplicit", func(c define.Call) value.Value { return value.Float(realPart(implicit(c), "double").Float64()) }).OnZeros(),
	Answering("ComplexImplicit", func(c define.Call) value.Value { return value.Complex(implicit(c).Complex128()) }).OnZeros(),
	Answering("ScalarImplicit", func(c define.Call) value.Value { return value.OfScalar(implicit(c)) }).OnZeros(),
	Answering("Complex.Tensor_Tensor", complexOf),
	Answering("Complex.Tensor_float", complexOf),
	Answering("Complex.float_Tensor", complexOf),
	Answering("Complex.Tensor_int", complexOf),
	Answering("Complex.int_Tensor", complexOf),
	Answering("Complex.Tensor_bool", complexOf),
	Answering("Complex.bool_Tensor", complexOf),
	define.Giving("clone", func(c define.Call) *tensor.Tensor {
		return source.Must(c.Tensor(0).Clone(c.FormatOr(1, tensor.PreserveFormat)))
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.AsWritten}),
	define.Giving("contiguous", func(c define.Call) *tensor.Tensor {
		t, format := c.Tensor(0), c.FormatOr(1, tensor.ContiguousFormat)
		if t.IsContiguousFormat(format) {
			return t
		}
		return source.Must(t.Clone(format))
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.Grouped | ops.AsWritten}),
	define.Operator("copy_", func(c define.Call) {
		if c.Tensor(1).Dim() > 0 { // else it fills
			elementwise.CheckShifted(c.Tensor(0), c.Args[1:2])
		}
		define.WarnOfReal(c.Tensor(1).DType(), c.Tensor(0).DType())
		if c.Bool(2) && define.FirstQuantized(c.Args) == nil {
			source.Throw(tensor.CopyLater(c.Tensor(0), c.Tensor(1)))
		} else {
			elementwise.CopyElements(c.Tensor(0), c.Tensor(1))
		}
		c.GiveSelf()
	}).With(ops.Def{Tags: ops.MovesDevice}),
	define.Operator("copy_.Tensor", func(c define.Call) {
		elementwise.CopyElements(c.Tensor(0), c.Tensor(1))
		c.GiveSelf()
	}).With(ops.Def{Tags: ops.MovesDevice}),
	define.Operator("copy_.int", fillSelf),
	define.Operator("copy_.float", fillSelf),
	define.Giving("copy", func(c define.Call) *tensor.Tensor {
		t := source.Must(c.Tensor(0).Clone(tensor.PreserveFormat))
		elementwise.CopyElements(t, c.Tensor(1))
		return t
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Zeros(c.G())); c.Give(1, c.G()) }), Tags: ops.IgnoresSelf | ops.AsWritten | ops.MovesDevice}),
	define.Operator("fill_.Scalar", fillSelf),
	define.Operator("fill_.Tensor", func(c define.Call) {
		source.Check(c.Tensor(1).Dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.", c.Tensor(1).Dim())
		if c.Tensor(0).Quantizer() != nil {
			fill(c.Tensor(0), c.Tensor(1).At())
		} else {
			source.Throw(tensor.Copy(c.Tensor(0), c.Tensor(1)))
		}
		c.GiveSelf()
	}),
	define.Operator("zero_", func(c define.Call) {
		tensor.Fill(c.Tensor(0), tensor.Int(0))
		c.GiveSelf()
	}),
	define.Operator("set_.source_Tensor", func(c define.Call) {
		c.Tensor(0).Set(c.Tensor(1))
		c.GiveSelf()
	}),
	define.Operator("resize_", func(c define.Call) {
		checkResize(c.Tensor(0))
		source.Throw(c.Tensor(0).Resize(c.Ints(1)))
		c.Out[0] = c.Args[0]
	}),
	define.Operator("resize_as_", func(c define.Call) {
		checkResize(c.Tensor(0))
		source.Throw(c.Tensor(0).Resize(c.Tensor(1).Shape()))
		c.Out[0] = c.Args[0]
	}),
	define.Operator("requires_grad_", func(c define.Call) {
		source.Throw(c.Tensor(0).SetRequiresGrad(c.Bool(1)))
		c.Out[0] = c.Args[0]
	}),
	define.Operator("detach_", func(c define.Call) {
		t := c.Tensor(0)
		source.Check(t.Base() == nil, "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.")
		t.SetHistory(nil)
		t.SetBase(nil)
		source.Throw(t.SetRequiresGrad(false))
		c.Out[0] = c.Args[0]
	}),
}...)

func fillSelf(c define.Call) {
	elementwise.MustFit(c.Scalar(1), c.Tensor(0).DType())
	fill(c.Tensor(0), c.Scalar(1))
	c.GiveSelf()
}

// emptyLike is a tensor of the sizes, type and quantizer of another one, whose elements may be anything.
func emptyLike(t *tensor.Tensor) *tensor.Tensor {
	made := source.Must(tensor.EmptyFormat(t, t.DType(), tensor.PreserveFormat))
	if q := t.Quantizer(); q != nil {
		made.SetQuantizer(q)
	}
	return made
}

// fill writes a number to every element: to quantized ones the integer that stands for it.
func fill(t *tensor.Tensor, v tensor.Scalar) {
	if t.Quantizer() == nil {
		tensor.Fill(t, v)
		return
	}
	elementwise.CopyElements(t, source.Must(tensor.Full(nil, v, tensor.Float32)))
}

// NumToTensor makes a tensor without dimensions of a number's own type: 64 bits for integers and floats.
func NumToTensor(s tensor.Scalar) *tensor.Tensor {
	d := map[tensor.ScalarKind]tensor.DType{tensor.BoolScalar: tensor.Bool, tensor.IntScalar: tensor.Int64,
		tensor.FloatScalar: tensor.Float64, tensor.ComplexScalar: tensor.Complex128}[s.Kind]
	return tensor.FromScalar(s, d)
}

// casts defines _cast_Byte and its kin.
func casts() []define.Definition {
	var defs []define.Definition
	for d := tensor.Uint8; d <= tensor.Float64; d++ {
		defs = append(defs, define.Giving("_cast_"+d.CppName(), func(c define.Call) *tensor.Tensor {
			if c.Tensor(0).Quantizer() != nil {
				checkStaysQuantized(c.Tensor(0).DType(), d)
			}
			return elementwise.To(c.Tensor(0), d)
		}))
	}
	return defs
}

// checkResize fails for a tensor whose gradient would be of another shape.
func checkResize(t *tensor.Tensor) {
	source.Check(!t.RequiresGrad(), "cannot resize variables that require grad")
}
