package tensors

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// dlpackFunctions take tensors from other libraries; the capsules that are given out are made in C.
var dlpackFunctions = []abi.Function{
	{Schema: "tensor_from_dlpack(object capsule) -> Tensor", Run: tensorFromDLPack},
}

// dlpackDTypes are the element types by DLPack's code and number of bits.
var dlpackDTypes = map[[2]uint8]tensor.DType{
	{abi.DLBool, 8}: tensor.Bool, {abi.DLUint, 8}: tensor.Uint8, {abi.DLInt, 8}: tensor.Int8, {abi.DLInt, 16}: tensor.Int16,
	{abi.DLInt, 32}: tensor.Int32, {abi.DLInt, 64}: tensor.Int64, {abi.DLFloat, 16}: tensor.Float16,
	{abi.DLFloat, 32}: tensor.Float32, {abi.DLFloat, 64}: tensor.Float64, {abi.DLBFloat, 16}: tensor.BFloat16,
	{abi.DLComplex, 64}: tensor.Complex64, {abi.DLComplex, 128}: tensor.Complex128,
}

// tensorFromDLPack replies a tensor over the memory of a capsule, which it uses up.
func tensorFromDLPack(c *abi.Call) error {
	capsule := c.ArgObject(0)
	defer capsule.Drop()
	managed := abi.Attached.OpenCapsule(capsule.Pointer)
	if managed == nil {
		return abi.ValueErrorf("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have already constructed a tensor from it once.")
	}
	t, err := dlpackTensor(managed)
	if err != nil {
		abi.Attached.DeleteDLPack(managed)
		return err
	}
	c.Tensor(t)
	return nil
}

func dlpackTensor(m *abi.DLManaged) (*tensor.Tensor, error) {
	d := &m.Tensor
	dtype, ok := dlpackDTypes[[2]uint8{d.Code, d.Bits}]
	if !ok || d.Lanes != 1 {
		return nil, abi.RuntimeErrorf("from_dlpack: elements of code %d with %d bits and %d lanes are not supported", d.Code, d.Bits, d.Lanes)
	}
	if d.DeviceType != abi.DLCPU {
		return nil, abi.RuntimeErrorf("from_dlpack: the tensor is on a device of type %d, only the CPU is supported", d.DeviceType)
	}
	n := int(d.Dim)
	if n < 0 || n > 0 && d.Shape == nil {
		return nil, abi.RuntimeErrorf("from_dlpack: a tensor of %d dimensions, or without sizes", n)
	}
	shape, strides := make([]int, n), make([]int, n)
	for i, s := range unsafe.Slice(d.Shape, n) {
		shape[i] = int(s)
	}
	step := 1
	for i := n - 1; i >= 0; i-- {
		strides[i] = step
		if d.Strides != nil {
			strides[i] = int(unsafe.Slice(d.Strides, n)[i])
		}
		if strides[i] < 0 {
			return nil, abi.ValueErrorf("from_dlpack: tensors with negative strides are not supported")
		}
		step *= shape[i]
	}
	extent, err := tensor.Span(shape, strides)
	if err != nil {
		return nil, err
	}
	var memory []byte
	if extent != 0 && d.Data != nil {
		memory = unsafe.Slice((*byte)(unsafe.Add(d.Data, int(d.ByteOffset))), extent*dtype.Size())
	}
	storage := tensor.ForeignStorage(memory, func() { abi.Discard(func() { abi.Attached.DeleteDLPack(m) }) })
	return tensor.FromStorage(storage, 0, shape, strides, dtype)
}
