package tensor

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// A sparse tensor has indices and values in place of elements. The library knows it, as it knows one of a class of the host
// without elements, as a tensor on meta that shows another device: what reads it by mistake finds no memory to read.

// Layout says how the elements are arranged. Layouts are numbered as PyTorch numbers them.
type Layout uint8

// The layouts.
const (
	Strided   Layout = 0
	SparseCOO Layout = 1
	SparseCSR Layout = 2
	MKLDNN    Layout = 3 // opaque: a tensor in it has the elements of another one, which only some operators know
	SparseCSC Layout = 4
	SparseBSR Layout = 5
	SparseBSC Layout = 6
)

var layoutNames = map[Layout]string{
	Strided: "strided", SparseCOO: "sparse_coo", SparseCSR: "sparse_csr", MKLDNN: "_mkldnn", SparseCSC: "sparse_csc", SparseBSR: "sparse_bsr", SparseBSC: "sparse_bsc",
}

// String returns the name without the module.
func (l Layout) String() string { return layoutNames[l] }

// Valid reports whether l is a layout that tensors can have.
func (l Layout) Valid() bool { return layoutNames[l] != "" }

// Compressed reports whether l is one of those that compress the indices of rows or columns.
func (l Layout) Compressed() bool { return l >= SparseCSR && l != MKLDNN }

// ByRows reports whether a compressed layout compresses the indices of rows.
func (l Layout) ByRows() bool { return l == SparseCSR || l == SparseBSR }

// Blocked reports whether the values of a compressed layout are blocks.
func (l Layout) Blocked() bool { return l == SparseBSR || l == SparseBSC }

// Sparse is what a sparse tensor has in place of elements. It is not changed once a tensor has it.
type Sparse struct {
	Layout Layout
	// Indices has, for SparseCOO, a row for each sparse dimension and a column for each value; else it is where the values of each row, or
	// column, begin.
	Indices *Tensor
	Plain   *Tensor // the columns, or rows, of the values in a compressed layout
	Values  *Tensor // for MKLDNN, all elements
	// Coalesced says of SparseCOO that no place occurs twice, and that the places are in order.
	Coalesced bool
}

// NNZ returns the number of values.
func (s *Sparse) NNZ() int {
	if s.Layout == SparseCOO {
		return s.Indices.Size(1)
	}
	return s.Plain.Size(s.Plain.Dim() - 1)
}

// awayInUse has a bit for each kind of tensors without elements in the memory of the processor, set for good when the first one is made.
var awayInUse atomic.Uint32

const (
	sparseInUse uint32 = 1 << iota
	deviceInUse
	bitsInUse
)

// SparseInUse reports whether there ever was a sparse tensor.
func SparseInUse() bool { return awayInUse.Load()&sparseInUse != 0 }

// AwayInUse reports whether there ever was a sparse tensor, one in the memory of a device, or a view of conjugates or negatives.
func AwayInUse() bool { return awayInUse.Load() != 0 }

// DevicesInUse reports whether tensors on devices were made.
func DevicesInUse() bool { return awayInUse.Load()&deviceInUse != 0 }

// NewSparse returns a sparse tensor of a shape, whose device and type are those of the values. Its parts are left to the collector. Nothing
// is checked but the shape.
func NewSparse(shape []int, parts Sparse) (*Tensor, error) {
	numel, err := SparseNumel(shape)
	if err != nil {
		return nil, err
	}
	for _, part := range []*Tensor{parts.Indices, parts.Plain, parts.Values} {
		if part != nil && part.borrowed {
			return nil, source.Errorf(source.RuntimeError, source.Range{}, "a sparse tensor cannot have parts that are borrowed")
		}
		if part != nil && part.OnDevice() {
			return nil, source.Errorf(source.NotImplementedError, source.Range{}, "sparse tensors on the device %s are not implemented", part.Device())
		}
	}
	awayInUse.Or(sparseInUse)
	t := &Tensor{storage: &Storage{device: NewDevice(Meta, -1)}, numel: numel, dtype: parts.Values.dtype, device: NewDevice(Meta, -1)}
	t.storage.refs.Store(1)
	t.setShape(shape)
	fillContiguousStrides(t.strides, t.shape)
	t.becomes(&parts)
	return t, nil
}

// becomes gives t its parts.
func (t *Tensor) becomes(s *Sparse) {
	for _, part := range []**Tensor{&s.Indices, &s.Plain, &s.Values} {
		if *part != nil {
			*part = (*part).Apart()
			(*part).Retain()
		}
	}
	f := t.foreignly()
	f.sparse, f.device = s, s.Values.device
}

// Sparse returns what a sparse tensor has in place of elements, nil for others.
func (t *Tensor) Sparse() *Sparse {
	if t.foreign == nil {
		return nil
	}
	return t.foreign.sparse
}

// IsSparse reports whether t has indices and values in place of elements.
func (t *Tensor) IsSparse() bool { return t.foreign != nil && t.foreign.sparse != nil }

// Layout returns how the elements are arranged.
func (t *Tensor) Layout() Layout {
	if s := t.Sparse(); s != nil {
		return s.Layout
	}
	return Strided
}

// Become makes a sparse tensor what another one is, shape, type and parts.
func (t *Tensor) Become(u *Tensor) {
	s := *u.Sparse()
	t.numel, t.dtype = u.numel, u.dtype
	t.setShape(append([]int(nil), u.shape...))
	copy(t.strides, u.strides)
	t.becomes(&s)
}

// convertSparse returns a sparse tensor with copies of the parts, the values in another type.
func (t *Tensor) convertSparse(dtype DType) (*Tensor, error) {
	s := *t.Sparse()
	for _, part := range []**Tensor{&s.Indices, &s.Plain, &s.Values} {
		if *part == nil {
			continue
		}
		to := (*part).dtype
		if *part == s.Values {
			to = dtype
		}
		copied, err := (*part).convertTo(to, ContiguousFormat)
		if err != nil {
			return nil, err
		}
		*part = copied
	}
	return NewSparse(t.shape, s)
}

// ToSparseCopy returns a sparse tensor with copies of the parts, the values in another type.
func (t *Tensor) ToSparseCopy(dtype DType) (*Tensor, error) { return t.convertSparse(dtype) }

// typeName is what Tensor.type() gives in Python.
func (t *Tensor) typeName() string {
	switch {
	case t.Layout() == MKLDNN:
		return "torch._mkldnn." + t.dtype.TensorClass()
	case t.IsSparse():
		return "torch.sparse." + t.dtype.TensorClass()
	}
	return "torch." + t.dtype.TensorClass()
}

// sparseItem is Item of a sparse tensor with one element: the sum of the values.
func (t *Tensor) sparseItem() (Scalar, error) {
	values := t.Sparse().Values
	flat, err := values.Reshape(values.numel)
	if err != nil {
		return Scalar{}, err
	}
	sum := FromScalar(Int(0), t.dtype)
	for i := range flat.numel {
		x := flat.At(i)
		switch {
		case i == 0:
			storeScalar(sum.DataPtr(), t.dtype, x)
		case t.dtype.IsComplex():
			storeScalar(sum.DataPtr(), t.dtype, Complex(sum.At().Complex128()+x.Complex128()))
		case t.dtype.IsFloating():
			storeScalar(sum.DataPtr(), t.dtype, Float(sum.At().Float64()+x.Float64()))
		case t.dtype == Bool:
			storeScalar(sum.DataPtr(), t.dtype, Boolean(sum.At().Bool() || x.Bool()))
		default:
			storeScalar(sum.DataPtr(), t.dtype, Int(sum.At().Int64()+x.Int64()))
		}
	}
	return sum.At(), nil
}
