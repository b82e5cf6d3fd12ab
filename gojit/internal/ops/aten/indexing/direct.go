package indexing

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// RunDirect runs an overload that way, and reports whether there is one.
func RunDirect(direct define.DirectOut, inputs []value.Value, out *tensor.Tensor) bool {
	return direct != nil && elementwise.IsElement(out.DType()) && !define.IsAway(out) && !out.IsHollow() && direct(define.Call{Args: inputs}, out)
}

// FilledOut writes a number into all of out=, and reports whether that could be done without a tensor between.
func FilledOut(c define.Call, out *tensor.Tensor, v tensor.Scalar) bool {
	if !tensor.SameShape(out.Shape(), c.Ints(0)) {
		return false
	}
	tensor.Fill(out, v)
	return true
}

// IdentityOut is that for an identity matrix.
func IdentityOut(out *tensor.Tensor, rows, columns int) bool {
	if !tensor.SameShape(out.Shape(), []int{rows, columns}) {
		return false
	}
	tensor.Fill(out, tensor.Int(0))
	diagonal := source.Must(out.Diagonal(0, 0, 1))
	tensor.Fill(diagonal, tensor.Int(1))
	diagonal.Release()
	return true
}

// JoinedOut is that for cat.
func JoinedOut(c define.Call, out *tensor.Tensor) bool {
	return define.FirstQuantized(c.Args) == nil && into(elementwise.JoiningOf(c.Tensors(0), c.Int(1)), out, c.Args)
}

// StackedOut is that for stack.
func StackedOut(c define.Call, out *tensor.Tensor) bool {
	j := elementwise.StackOf(c.Tensors(0), c.Int(1))
	defer j.Release()
	return into(j, out, c.Args)
}

// into joins the tensors in out.
func into(j *elementwise.Joining, out *tensor.Tensor, inputs []value.Value) bool {
	if len(j.Tensors) == 0 || j.Format != tensor.ContiguousFormat || define.IsAway(j.Tensors[0]) || j.Dtype != out.DType() || !out.IsContiguous() ||
		!tensor.SameShape(out.Shape(), j.Shape) || !define.IsFresh(out, inputs) {
		return false
	}
	for _, t := range j.Tensors {
		if t.IsHollow() || define.IsAway(t) {
			return false
		}
	}
	elementwise.Join(out, j.Tensors, j.Dim)
	return true
}

func selectedOut(c define.Call, out *tensor.Tensor) bool {
	t, index := c.Tensor(0), c.Tensor(2)
	dim, shape := selection(t, c.Int(1), index)
	if t.DType() != out.DType() || !t.IsContiguous() || !out.IsContiguous() || !tensor.SameShape(out.Shape(), shape) || !define.IsFresh(out, c.Args) ||
		t.IsHollow() || define.IsAway(t) || define.IsAway(index) || t.Dim() == 0 || firstOutside(indicesOf(index), 0, t.Size(dim)) >= 0 {
		return false
	}
	pickSlices(out, t, dim, indicesOf(index), 0)
	return true
}
