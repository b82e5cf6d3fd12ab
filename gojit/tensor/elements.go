package tensor

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Elements returns a copy of the elements in row-major order, whatever the strides are. It fails where the tensor's elements are no T, and
// for tensors without elements of their own: on the device meta, sparse.
func Elements[T Element](t *Tensor) ([]T, error) {
	if want := DTypeOf[T](); t.dtype != want {
		return nil, source.Errorf(source.TypeError, source.Range{}, "the tensor has elements of type %s, not %s: convert it with To", t.dtype, want)
	}
	t, err := t.onHost()
	if err != nil {
		return nil, err
	}
	if t.device.Type == Meta || t.IsSparse() {
		return nil, source.Errorf(source.TypeError, source.Range{}, "the tensor has no elements in rows: it is on the device meta, or sparse")
	}
	if t.IsContiguous() {
		return append(make([]T, 0, t.numel), Data[T](t)...), nil
	}
	c, err := t.Contiguous()
	if err != nil {
		return nil, err
	}
	return Data[T](c), nil
}

// Float64s returns the elements in row-major order as numbers, whatever their real type is. It fails for complex elements, and as Elements does.
func (t *Tensor) Float64s() ([]float64, error) {
	if t.dtype.IsComplex() {
		return nil, source.Errorf(source.TypeError, source.Range{}, "the tensor has elements of type %s, which are no real numbers", t.dtype)
	}
	if t.dtype.IsQuantized() {
		real, err := Dequantize(t)
		if err != nil {
			return nil, err
		}
		t = real
	}
	real, err := t.To(Float64)
	if err != nil {
		return nil, err
	}
	return Elements[float64](real)
}

// Bytes returns the elements in row-major order as they lie in memory: a copy.
func (t *Tensor) Bytes() ([]byte, error) {
	c, err := t.onHost()
	if err != nil {
		return nil, err
	}
	if c.device.Type == Meta || c.IsSparse() {
		return nil, source.Errorf(source.TypeError, source.Range{}, "the tensor has no elements in rows: it is on the device meta, or sparse")
	}
	if c, err = c.Contiguous(); err != nil {
		return nil, err
	}
	if c.DataPtr() == nil {
		return nil, nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(c.DataPtr()), c.numel*c.dtype.Size())...), nil
}

// FromBytes returns a contiguous tensor with a copy of elements as they lie in memory. It fails where their number is another than the shape's.
func FromBytes(data []byte, shape []int, dtype DType) (*Tensor, error) {
	t, err := Empty(shape, dtype)
	if err != nil {
		return nil, err
	}
	if want := t.numel * dtype.Size(); want != len(data) {
		return nil, source.Errorf(source.ValueError, source.Range{}, "%d bytes are no tensor of shape %s and type %s, which has %d", len(data), FormatShape(shape), dtype, want)
	}
	if len(data) > 0 {
		copy(unsafe.Slice((*byte)(t.DataPtr()), len(data)), data)
	}
	if dtype == Bool {
		for i, b := range data {
			if b > 1 {
				return nil, source.Errorf(source.ValueError, source.Range{}, "element %d of type bool is the byte %d: expected 0 or 1", i, b)
			}
		}
	}
	return t, nil
}

// StoreAll gives a contiguous tensor its elements, as many as it has, in row-major order. Each must be a number of the tensor's element type.
func StoreAll(t *Tensor, elements []Scalar) {
	size := t.dtype.Size()
	for i, s := range elements[:t.numel] {
		storeScalar(unsafe.Add(t.DataPtr(), i*size), t.dtype, s)
	}
}

// Raw returns the memory of a contiguous tensor's elements, which is shared and not copied. It returns nil for other tensors.
func Raw(t *Tensor) []byte {
	if !t.IsContiguous() || t.device.Type != CPU || t.IsSparse() || t.DataPtr() == nil {
		return nil
	}
	return unsafe.Slice((*byte)(t.DataPtr()), t.numel*t.dtype.Size())
}
