package main

// #include "torchjit.h"
// const char *tj_format(int n);
// static const char *const formats[] = {"B", "b", "h", "i", "q", "e", "f", "d", NULL, "Zf", "Zd", "?"};
// const char *tj_format(int n) { return n >= 0 && n < 12 ? formats[n] : NULL; }
import "C"

import (
	"github.com/torchjit/torchjit/gojit/tensor"
)

// detached returns a tensor without a history over the memory of t.
func detached(t *tensor.Tensor) *tensor.Tensor { return t.Detach() }

// loans are the storages whose memory Python looks at, by the numbers of their loans; freeLoans are unused numbers. The GIL guards them.
var (
	loans     []*tensor.Storage
	freeLoans []int64
)

func beginLoan(s *tensor.Storage) int64 {
	s.Lend()
	if n := len(freeLoans); n > 0 {
		i := freeLoans[n-1]
		freeLoans = freeLoans[:n-1]
		loans[i] = s
		return i
	}
	loans = append(loans, s)
	return int64(len(loans) - 1)
}

func endLoan(i int64) {
	loans[i].Return()
	loans[i] = nil
	freeLoans = append(freeLoans, i)
}

// lend describes the memory of t for the buffer protocol, until its loan is ended. It fails for element types that the
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
	if t.Dim() > len(array.shape) {
		return runtimeErrorf("a tensor of %d dimensions cannot be lent, which needs %d at most", t.Dim(), len(array.shape))
	}
	size := t.DType().Size()
	array.data = t.DataPtr()
	array.ndim, array.itemsize, array.bytes = C.int64_t(t.Dim()), C.int64_t(size), C.int64_t(t.Numel()*size)
	array.format = format
	for i, n := range t.Shape() {
		array.shape[i], array.strides[i] = C.int64_t(n), C.int64_t(t.Strides()[i]*size)
	}
	array.loan = C.int64_t(beginLoan(t.Storage()))
	return nil
}
