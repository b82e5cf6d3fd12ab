package main

// #include <stdlib.h>
// #include "services.h"
import "C"

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
	{C.DL_BOOL, 8}: tensor.Bool, {C.DL_UINT, 8}: tensor.Uint8, {C.DL_INT, 8}: tensor.Int8, {C.DL_INT, 16}: tensor.Int16,
	{C.DL_INT, 32}: tensor.Int32, {C.DL_INT, 64}: tensor.Int64, {C.DL_FLOAT, 16}: tensor.Float16,
	{C.DL_FLOAT, 32}: tensor.Float32, {C.DL_FLOAT, 64}: tensor.Float64, {C.DL_BFLOAT, 16}: tensor.BFloat16,
	{C.DL_COMPLEX, 64}: tensor.Complex64, {C.DL_COMPLEX, 128}: tensor.Complex128,
}

// tensorFromDLPack replies a tensor over the memory of a capsule, which it uses up.
func tensorFromDLPack(c *call) error {
	capsule := c.argObject(0)
	defer capsule.drop()
	name, used := C.CString("dltensor"), staticUsedName
	defer C.free(unsafe.Pointer(name))
	p := C.tj_open_capsule(capsule.pointer, name, used)
	if p == nil {
		return valueErrorf("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have already constructed a tensor from it once.")
	}
	managed := (*C.dl_managed)(p)
	t, err := dlpackTensor(managed)
	if err != nil {
		C.tj_delete_dlpack(managed)
		return err
	}
	c.tensor(t)
	return nil
}

// staticUsedName is the name of capsules that have been taken over; capsules keep the pointer.
var staticUsedName = C.CString("used_dltensor")

func dlpackTensor(m *C.dl_managed) (*tensor.Tensor, error) {
	d := &m.tensor
	dtype, ok := dlpackDTypes[[2]uint8{uint8(d.code), uint8(d.bits)}]
	if !ok || d.lanes != 1 {
		return nil, runtimeErrorf("from_dlpack: elements of code %d with %d bits and %d lanes are not supported", d.code, d.bits, d.lanes)
	}
	if d.device_type != C.DL_CPU {
		return nil, runtimeErrorf("from_dlpack: the tensor is on a device of type %d, only the CPU is supported", d.device_type)
	}
	n := int(d.ndim)
	if n < 0 || n > 0 && d.shape == nil {
		return nil, runtimeErrorf("from_dlpack: a tensor of %d dimensions, or without sizes", n)
	}
	shape, strides := make([]int, n), make([]int, n)
	for i, s := range unsafe.Slice((*int64)(d.shape), n) {
		shape[i] = int(s)
	}
	step := 1
	for i := n - 1; i >= 0; i-- {
		strides[i] = step
		if d.strides != nil {
			strides[i] = int(unsafe.Slice((*int64)(d.strides), n)[i])
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
	if extent != 0 && d.data != nil {
		memory = unsafe.Slice((*byte)(unsafe.Add(d.data, int(d.byte_offset))), extent*dtype.Size())
	}
	storage := tensor.ForeignStorage(memory, func() { discard(func() { C.tj_delete_dlpack(m) }) })
	return tensor.FromStorage(storage, 0, shape, strides, dtype)
}
