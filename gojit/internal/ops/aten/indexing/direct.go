package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// directOut writes the result of a functional overload straight into a tensor of out=. It does nothing and gives false where that has another
// shape, type or layout than the result, or shares memory with the inputs.
type directOut func(c call, out *tensor.Tensor) bool

// runDirect runs an overload that way, and reports whether there is one.
func runDirect(direct directOut, inputs []value.Value, out *tensor.Tensor) bool {
	return direct != nil && isElement(out.DType()) && !isAway(out) && !out.IsHollow() && direct(call{args: inputs}, out)
}

func filledOut(c call, out *tensor.Tensor, v tensor.Scalar) bool {
	if !tensor.SameShape(out.Shape(), c.ints(0)) {
		return false
	}
	tensor.Fill(out, v)
	return true
}

func identityOut(out *tensor.Tensor, rows, columns int) bool {
	if !tensor.SameShape(out.Shape(), []int{rows, columns}) {
		return false
	}
	tensor.Fill(out, tensor.Int(0))
	diagonal := must(out.Diagonal(0, 0, 1))
	tensor.Fill(diagonal, tensor.Int(1))
	diagonal.Release()
	return true
}

func joinedOut(c call, out *tensor.Tensor) bool {
	return firstQuantized(c.args) == nil && joiningOf(c.tensors(0), c.int(1)).into(out, c.args)
}

func stackedOut(c call, out *tensor.Tensor) bool {
	j := stackOf(c.tensors(0), c.int(1))
	defer j.release()
	return j.into(out, c.args)
}

// into joins the tensors in out.
func (j *joining) into(out *tensor.Tensor, inputs []value.Value) bool {
	if len(j.tensors) == 0 || j.isLast() || isAway(j.tensors[0]) || j.dtype != out.DType() || !out.IsContiguous() ||
		!tensor.SameShape(out.Shape(), j.shape) || !isFresh(out, inputs) {
		return false
	}
	for _, t := range j.tensors {
		if t.IsHollow() || isAway(t) {
			return false
		}
	}
	join(out, j.tensors, j.dim)
	return true
}

func selectedOut(c call, out *tensor.Tensor) bool {
	t, index := c.tensor(0), c.tensor(2)
	dim, shape := selection(t, c.int(1), index)
	if t.DType() != out.DType() || !t.IsContiguous() || !out.IsContiguous() || !tensor.SameShape(out.Shape(), shape) || !isFresh(out, c.args) ||
		t.IsHollow() || isAway(t) || isAway(index) || t.Dim() == 0 || firstOutside(indicesOf(index), 0, t.Size(dim)) >= 0 {
		return false
	}
	pickSlices(out, t, dim, indicesOf(index), 0)
	return true
}
