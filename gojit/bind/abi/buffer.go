package abi

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// formats are the characters of element types in the struct module, each ended by a zero; the types that it lacks have none.
var formats = [...]string{"B\x00", "b\x00", "h\x00", "i\x00", "q\x00", "e\x00", "f\x00", "d\x00", "", "Zf\x00", "Zd\x00", "?\x00"}

// formatOf returns the address of an element type's characters, which lie outside of the collector's heap, nil for one without.
func formatOf(d tensor.DType) *byte {
	if int(d) >= len(formats) || formats[d] == "" {
		return nil
	}
	return unsafe.StringData(formats[d])
}

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
func lend(t *tensor.Tensor, array *Array) error {
	format := formatOf(t.DType())
	if format == nil {
		return TypeErrorf("Got unsupported ScalarType %s", t.DType().CppName())
	}
	if t.Layout() == tensor.MKLDNN {
		return TypeErrorf("can't convert Mkldnn layout tensor to numpy. Use Tensor.dense() first.")
	}
	if t.IsSparse() {
		return RuntimeErrorf("a tensor in the layout %s has no memory to lend. Use Tensor.to_dense() first.", t.Layout())
	}
	switch {
	case t.IsConj():
		return RuntimeErrorf("Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead.")
	case t.IsNeg():
		return RuntimeErrorf("Can't call numpy() on Tensor that has negative bit set. Use tensor.resolve_neg().numpy() instead.")
	}
	if t.Device().Type != tensor.CPU {
		return TypeErrorf("can't convert %s device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.", t.Device())
	}
	if t.RequiresGrad() {
		return RuntimeErrorf("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
	}
	if t.Dim() > len(array.Shape) {
		return RuntimeErrorf("a tensor of %d dimensions cannot be lent, which needs %d at most", t.Dim(), len(array.Shape))
	}
	size := t.DType().Size()
	array.Data = addressOf(t.DataPtr())
	array.Dim, array.ItemSize, array.Bytes = int64(t.Dim()), int64(size), int64(t.Numel()*size)
	array.Format = addressOf(unsafe.Pointer(format))
	for i, n := range t.Shape() {
		array.Shape[i], array.Strides[i] = int64(n), int64(t.Strides()[i]*size)
	}
	array.Loan = beginLoan(t.Storage())
	return nil
}

// FormatText returns the characters up to a zero.
func FormatText(format Address) string {
	p, n := format.Pointer(), 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return unsafe.String((*byte)(p), n)
}
