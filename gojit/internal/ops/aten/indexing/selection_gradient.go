package aten

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// selectionGradientFamily are the gradients of operators that select elements: zeros with the gradient of each selected element
// where that came from.
var selectionGradientFamily = []definition{
	viewGradient("select_backward", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Select(c.int(1), c.int(2)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("select.int", c.g(), c.arg(2), c.arg(3))) }), Tags: ops.AsWritten}),
	viewGradient("slice_backward", sliceView).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("slice.Tensor", c.g(), c.arg(2), c.arg(3), c.arg(4), c.arg(5))) }), Tags: ops.AsWritten}),
	viewGradient("diagonal_backward", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Diagonal(c.int(1), c.int(2), c.int(3))
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("diagonal", c.g(), c.arg(2), c.arg(3), c.arg(4))) }), Tags: ops.AsWritten}),
	giving("embedding_dense_backward", func(c call) *tensor.Tensor {
		return embeddingGradient(c.tensor(0), c.tensor(1), c.int(2), c.int(3), c.bool(4))
	}).with(ops.Def{Grad: concrete(embeddingDenseGrad)}),
	pooledGradient("max_pool2d_with_indices_backward", 2).with(ops.Def{Grad: concrete(func(c gradient) { pooledAgain(c, 7, 2) })}), pooledGradient("max_pool3d_with_indices_backward", 3).with(ops.Def{Grad: concrete(func(c gradient) { pooledAgain(c, 7, 3) })}),
	pooledGradient("adaptive_max_pool2d_backward", 2).with(ops.Def{Grad: concrete(func(c gradient) { pooledAgain(c, 2, 2) })}), pooledGradient("adaptive_max_pool3d_backward", 3).with(ops.Def{Grad: concrete(func(c gradient) { pooledAgain(c, 2, 3) })}),
	pooledGradient("fractional_max_pool2d_backward", 2).with(ops.Def{Grad: concrete(func(c gradient) { pooledAgain(c, 4, 2) })}), pooledGradient("fractional_max_pool3d_backward", 3).with(ops.Def{Grad: concrete(func(c gradient) { pooledAgain(c, 4, 3) })}),
}

// viewGradient defines the gradient of a view of a tensor of sizes that are the second argument; those of the view follow.
func viewGradient(name string, view func(c call, t *tensor.Tensor) (*tensor.Tensor, error)) definition {
	return giving(name, func(c call) *tensor.Tensor {
		g := c.tensor(0)
		out := zeros(c.ints(1), g.DType())
		part := must(view(call{args: append([]value.Value{value.OfTensor(out)}, c.args[2:]...)}, out))
		if !tensor.SameShape(part.Shape(), g.Shape()) {
			g = must(g.Expand(part.Shape()...))
		}
		assign(part, g)
		return out
	})
}

// pooledGradient defines the gradient of a pooling that takes maxima of planes of n dimensions: the last argument says where they are.
func pooledGradient(name string, n int) definition {
	return giving(name, func(c call) *tensor.Tensor {
		g, x, at := c.tensor(0), c.tensor(1), c.tensor(len(c.args)-1)
		check(at.DType() == tensor.Int64, "%s(): expected indices of type Long, got %s", name, at.DType().CppName())
		check(x.Dim() == n+1 || x.Dim() == n+2, "%s(): expected an input of %d or %d dimensions, got one of size %s", name, n+1, n+2, shapeText(x.Shape()))
		check(tensor.SameShape(g.Shape(), at.Shape()), "%s(): expected a gradient of the size of the indices, %s, got %s", name, shapeText(at.Shape()), shapeText(g.Shape()))
		lead := x.Dim() - n
		check(g.Dim() == x.Dim() && tensor.SameShape(g.Shape()[:lead], x.Shape()[:lead]), "%s(): expected a gradient of the planes of %s, got one of size %s", name, shapeText(x.Shape()), shapeText(g.Shape()))
		out := zeros(x.Shape(), g.DType())
		if g.Numel() == 0 {
			return out
		}
		var made scratch
		defer made.release()
		switch planes := numelOf(x.Shape()[:lead]); {
		case g.OnDevice():
			flat := func(t *tensor.Tensor) *tensor.Tensor { return must(t.Reshape(planes, -1)) }
			out = emptyBeside(g, x.Shape(), g.DType())
			tensor.Fill(out, tensor.Int(0))
			scatterInto(flat(out), 1, flat(at), flat(g), addTo)
		case g.DType() == tensor.Float32:
			addInPlanes[float32](out, made.copied(contiguous(g), g), made.copied(contiguous(at), at), planes)
		case g.DType() == tensor.Float64:
			addInPlanes[float64](out, made.copied(contiguous(g), g), made.copied(contiguous(at), at), planes)
		default:
			flat := func(t *tensor.Tensor) *tensor.Tensor { return must(t.Reshape(planes, -1)) }
			scatterInto(flat(out), 1, flat(at), flat(g), addTo)
		}
		return out
	})
}

// addInPlanes adds numbers to the elements of each plane that the indices name, in order.
func addInPlanes[T float32 | float64](out, values, index *tensor.Tensor, planes int) {
	to, from, at := unsafe.Slice((*T)(out.DataPtr()), out.Numel()), unsafe.Slice((*T)(values.DataPtr()), values.Numel()), tensor.Data[int64](index)
	size, n := len(to)/planes, len(from)/planes
	tensor.Parallel(planes, rowGrain/n+1, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			part := at[p*n : (p+1)*n]
			if bad := addRow(unsafe.Pointer(unsafe.SliceData(to[p*size:])), part, from[p*n:], 0, 1, size); bad >= 0 {
				raise(source.RuntimeError, "index %d is out of bounds for a plane of %d elements", part[bad], size)
			}
		}
	})
}

// embeddingGradient adds each row of the gradient to the row of a table of n that its index names. Those of the padding are left out; byFrequency
// divides each by how many rows have its index.
func embeddingGradient(g, indices *tensor.Tensor, n, padding int, byFrequency bool) *tensor.Tensor {
	check(indices.DType() == tensor.Int64 || indices.DType() == tensor.Int32,
		"Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got torch.%s instead (while checking arguments for embedding_backward)", indices.DType().TensorClass())
	check(g.Dim() == indices.Dim()+1 && tensor.SameShape(g.Shape()[:indices.Dim()], indices.Shape()), "embedding_backward: expected a row of gradients for each index of %s, got a gradient of size %s", shapeText(indices.Shape()), shapeText(g.Shape()))
	list, width := rowList(indices, n), g.Size(g.Dim()-1)
	out := zeros([]int{n, width}, g.DType())
	if g.Numel() == 0 {
		return out
	}
	if byFrequency {
		counts := must(occurrences(list, n).Reshape(append(indices.Shape()[:indices.Dim():indices.Dim()], 1)...))
		g = to(div.on(g, to(counts, g.DType())), g.DType())
	}
	rows, size := contiguous(g), width*g.DType().Size()
	defer forgetMade(g, rows)
	offsets, inner := make([]int, len(list)), offsetsOf([]int{width}, []int{1})
	var watch tensor.Watch
	for i, at := range list {
		watch.Did(1)
		offsets[i] = at * width
	}
	parts := min(tensor.NumThreads(), g.Numel()/rowGrain+1) // each looks at all indices
	tensor.Parallel(n, (n+parts-1)/parts, func(lo, hi int) {
		taken := func(i int) bool { return list[i] >= lo && list[i] < hi && list[i] != padding }
		var watch tensor.Watch
		for i := 0; i < len(list); {
			watch.Did(1)
			first := i
			for i < len(list) && taken(i) {
				i++
			}
			if i > first {
				accumulateTo(out, unsafe.Add(rows.DataPtr(), first*size), offsets[first:i], inner, addTo)
			}
			i++
		}
	})
	return out
}

// occurrences says of each index below n how often it is in a list.
func occurrences(list []int, n int) *tensor.Tensor {
	counts, found := make([]int64, n), make([]int64, len(list))
	for _, i := range list {
		counts[i]++
	}
	for k, i := range list {
		found[k] = counts[i]
	}
	return must(tensor.FromSlice(found, len(found)))
}
