package archive

import (
	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sparse writes a tensor in the layout sparse_coo or sparse_csr: its layout, its size, whether it requires a gradient, and its parts.
func (p *pickler) sparse(t *tensor.Tensor) error {
	s := t.Sparse()
	parts := []*tensor.Tensor{s.Indices, s.Plain, s.Values}
	switch s.Layout {
	case tensor.SparseCOO:
		parts = []*tensor.Tensor{s.Indices, s.Values}
	case tensor.SparseCSR:
	default:
		return archiveError("Cannot serialize a tensor in the layout %s: archives have sparse_coo and sparse_csr", s.Layout)
	}
	p.e.Global("torch._utils", "_rebuild_sparse_tensor")
	p.e.Mark()
	p.e.Int(int64(s.Layout))
	p.ints(t.Shape())
	p.e.Bool(t.RequiresGrad())
	for _, part := range parts {
		if err := p.tensor(part); err != nil {
			return err
		}
	}
	p.endTensor()
	return nil
}

// maker is the operator that makes a sparse tensor of a layout, and how many parts it takes: the first arguments.
func maker(layout int64) (name string, parts int) {
	if layout == int64(tensor.SparseCOO) {
		return "aten::sparse_coo_tensor.indices_size", 2
	}
	return "aten::sparse_csr_tensor.crow_col_value_size", 3
}

// sparse reads what the pickler's writes. It fails where the indices do not fit the size.
func (u *unpickler) sparse(args []any) (value.Value, error) {
	layout, ok := args[0].(int64)
	if !ok || layout != int64(tensor.SparseCOO) && layout != int64(tensor.SparseCSR) {
		return value.None, archiveError("A sparse tensor has the layout %v, expected %d (sparse_coo) or %d (sparse_csr)", args[0], tensor.SparseCOO, tensor.SparseCSR)
	}
	shape, err := ints(args[1])
	if err != nil {
		return value.None, err
	}
	requiresGrad, ok := args[2].(bool)
	if !ok {
		return value.None, archiveError("A sparse tensor does not say whether it requires a gradient")
	}
	name, n := maker(layout)
	if len(args) < 3+n {
		return value.None, archiveError("A sparse tensor has %d parts, expected %d", len(args)-3, n)
	}
	var call []value.Value
	for _, x := range args[3 : 3+n] {
		v, err := u.value(x)
		if err != nil {
			return value.None, err
		}
		if !v.IsTensor() || v.Tensor().RequiresGrad() || v.Tensor().DType().IsQuantized() {
			return value.None, archiveError("A part of a sparse tensor is no tensor of numbers")
		}
		call = append(call, v)
	}
	if layout == int64(tensor.SparseCOO) && call[0].Tensor().DType() != tensor.Int64 {
		return value.None, archiveError("The indices of a sparse tensor are of the type %s, expected int64", call[0].Tensor().DType())
	}
	call = append(call, value.OfList(value.Ints(shape)), value.None, value.None, value.None, value.None)
	var out [1]value.Value
	if err := ops.Find(name).Run(call, out[:]); err != nil {
		return value.None, err
	}
	if requiresGrad {
		if err := out[0].Tensor().SetRequiresGrad(true); err != nil {
			return value.None, err
		}
	}
	return out[0], nil
}

// sparse describes the parts of a sparse tensor.
func (in *inspector) sparse(args []any, path string, depth int) {
	layout, _ := args[0].(int64)
	name, n := maker(layout)
	parts := ops.Find(name).Schema().Arguments[:n]
	for i, x := range args[3:] {
		if c, ok := x.(*pickle.Call); ok && i < n {
			in.call(c, path+"."+parts[i].Name, depth+1)
		}
	}
}
