package tensor

import "unsafe"

// Fields tells where the fields of a Tensor lie, in bytes, for readers that are not written in Go. Sizes and strides are
// found at the pointer that the field begins with; its second word is their number.
type Fields struct {
	Numel, Shape, Strides, Offset, DType, Device, RequiresGrad, Base, Storage, Foreign int64
	// Data lies in a Storage: the pointer to its first byte, then the number of bytes.
	Data int64
}

// FieldsOfTensors returns where they lie.
func FieldsOfTensors() Fields {
	var t Tensor
	var s Storage
	return Fields{
		Numel: int64(unsafe.Offsetof(t.numel)), Shape: int64(unsafe.Offsetof(t.shape)), Strides: int64(unsafe.Offsetof(t.strides)),
		Offset: int64(unsafe.Offsetof(t.offset)), DType: int64(unsafe.Offsetof(t.dtype)), Device: int64(unsafe.Offsetof(t.device)),
		RequiresGrad: int64(unsafe.Offsetof(t.requiresGrad)), Base: int64(unsafe.Offsetof(t.base)), Storage: int64(unsafe.Offsetof(t.storage)),
		Data: int64(unsafe.Offsetof(s.data)), Foreign: int64(unsafe.Offsetof(t.foreign)),
	}
}
