package bind

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// dlpackFunctions take tensors from other libraries; the capsules that are given out are made in C.
var dlpackFunctions = []function{
	{schema: "tensor_from_dlpack(object capsule) -> Tensor", run: tensorFromDLPack},
}

// dlpackDTypes are the element types by DLPack's code and number of bits.
var dlpackDTypes = map[[2]uint8]tensor.DType{
	{dlBool, 8}: tensor.Bool, {dlUint, 8}: tensor.Uint8, {dlInt, 8}: tensor.Int8, {dlInt, 16}: tensor.Int16,
	{dlInt, 32}: tensor.Int32, {dlInt, 64}: tensor.Int64, {dlFloat, 16}: tensor.Float16,
	{dlFloat, 32}: tensor.Float32, {dlFloat, 64}: tensor.Float64, {dlBFloat, 16}: tensor.BFloat16,
	{dlComplex, 64}: tensor.Complex64, {dlComplex, 128}: tensor.Complex128,
}

// tensorFromDLPack replies a tensor over the memory of a capsule, which it uses up.
func tensorFromDLPack(c *call) error {
	capsule := c.argObject(0)
	defer capsule.drop()
	managed := embedder.OpenCapsule(capsule.pointer)
	if managed == nil {
		return valueErrorf("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have already constructed a tensor from it once.")
	}
	t, err := dlpackTensor(managed)
	if err != nil {
		embedder.DeleteDLPack(managed)
		return err
	}
	c.tensor(t)
	return nil
}

func dlpackTensor(m *DLManaged) (*tensor.Tensor, error) {
	d := &m.Tensor
	dtype, ok := dlpackDTypes[[2]uint8{d.Code, d.Bits}]
	if !ok || d.Lanes != 1 {
		return nil, runtimeErrorf("from_dlpack: elements of code %d with %d bits and %d lanes are not supported", d.Code, d.Bits, d.Lanes)
	}
	if d.DeviceType != dlCPU {
		return nil, runtimeErrorf("from_dlpack: the tensor is on a device of type %d, only the CPU is supported", d.DeviceType)
	}
	n := int(d.Dim)
	if n < 0 || n > 0 && d.Shape == nil {
		return nil, runtimeErrorf("from_dlpack: a tensor of %d dimensions, or without sizes", n)
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
			return nil, valueErrorf("from_dlpack: tensors with negative strides are not supported")
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
	storage := tensor.ForeignStorage(memory, func() { discard(func() { embedder.DeleteDLPack(m) }) })
	return tensor.FromStorage(storage, 0, shape, strides, dtype)
}
