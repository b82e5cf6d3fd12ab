package main

// #include "torchjit.h"
// const char *tj_format(int n);
// static const char *const formats[] = {"B", "b", "h", "i", "q", "e", "f", "d", NULL, "Zf", "Zd", "?"};
// const char *tj_format(int n) { return n >= 0 && n < 12 ? formats[n] : NULL; }
import "C"

import (
	"torchjit/gojit/tensor"
)

// detached returns a tensor without a history over the memory of t.
func detached(t *tensor.Tensor) *tensor.Tensor { return t.Detach() }

// lend describes the memory of t for the buffer protocol. It fails for element types that the
// protocol has no format for.
func lend(t *tensor.Tensor, array *C.tj_array) error {
	format := C.tj_format(C.int(t.DType()))
	if format == nil {
		return typeErrorf("Got unsupported ScalarType %s", t.DType().CppName())
	}
	if t.IsSparse() {
		return runtimeErrorf("a tensor in the layout %s has no memory to lend. Use Tensor.to_dense() first.", t.Layout())
	}
	if t.Device().Type == tensor.Meta {
		return typeErrorf("can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
	}
	if t.RequiresGrad() {
		return runtimeErrorf("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
	}
	size := t.DType().Size()
	array.data = t.DataPtr()
	array.ndim, array.itemsize, array.bytes = C.int64_t(t.Dim()), C.int64_t(size), C.int64_t(t.Numel()*size)
	array.format = format
	for i, n := range t.Shape() {
		array.shape[i], array.strides[i] = C.int64_t(n), C.int64_t(t.Strides()[i]*size)
	}
	return nil
}
