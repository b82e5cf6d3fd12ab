package main

// #include "services.h"
import "C"

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// The shim reads what a tensor is (sizes, type, elements of small ones) where Go keeps it, without a call: tj_tensors has the
// address of each slot's tensor. The collector moves nothing, and the slot keeps the tensor alive.

// shownTensors is tj_tensors: by slot the address of the tensor, 0 for other objects. The memory is C's.
var shownTensors []uintptr

// show tells the shim which tensor a slot holds, nil for none.
func show(slot int64, t *tensor.Tensor) {
	if int(slot) >= len(shownTensors) {
		room := max(1024, 2*int(slot))
		p := C.tj_grow_tensors(C.int64_t(len(shownTensors)), C.int64_t(room))
		shownTensors = unsafe.Slice((*uintptr)(unsafe.Pointer(p)), room)
	}
	shownTensors[slot] = uintptr(unsafe.Pointer(t))
}

// TJLayout tells the shim where the fields of tensors are.
//
//export TJLayout
func TJLayout(layout *C.tj_layout) {
	l := tensor.FieldsOfTensors()
	*layout = C.tj_layout{
		numel: C.int64_t(l.Numel), shape: C.int64_t(l.Shape), strides: C.int64_t(l.Strides), offset: C.int64_t(l.Offset), dtype: C.int64_t(l.DType),
		device: C.int64_t(l.Device), requires_grad: C.int64_t(l.RequiresGrad), base: C.int64_t(l.Base), storage: C.int64_t(l.Storage), data: C.int64_t(l.Data),
		foreign: C.int64_t(l.Foreign),
	}
}
