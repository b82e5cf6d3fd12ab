package abi

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
		p := Attached.GrowTensors(len(shownTensors), room)
		shownTensors = unsafe.Slice((*uintptr)(p), room)
	}
	shownTensors[slot] = uintptr(unsafe.Pointer(t))
}

// Layout returns where the fields of tensors are.
func Layout() tensor.Fields { return tensor.FieldsOfTensors() }
