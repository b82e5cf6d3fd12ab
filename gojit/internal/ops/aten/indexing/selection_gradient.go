package indexing

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// SelectionGradientFamily are the gradients of operators that select elements: zeros with the gradient of each selected element
// where that came from.
var SelectionGradientFamily = []define.Definition{
	viewGradient("select_backward", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Select(c.Int(1), c.Int(2)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("select.int", c.G(), c.Arg(2), c.Arg(3))) }), Tags: ops.AsWritten}),
	viewGradient("slice_backward", SliceView).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Do("slice.Tensor", c.G(), c.Arg(2), c.Arg(3), c.Arg(4), c.Arg(5)))
	}), Tags: ops.AsWritten}),
	viewGradient("diagonal_backward", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Diagonal(c.Int(1), c.Int(2), c.Int(3))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("diagonal", c.G(), c.Arg(2), c.Arg(3), c.Arg(4))) }), Tags: ops.AsWritten}),
	define.Giving("embedding_dense_backward", func(c define.Call) *tensor.Tensor {
		return embeddingGradient(c.Tensor(0), c.Tensor(1), c.Int(2), c.Int(3), c.Bool(4))
	}).With(ops.Def{Grad: define.Concrete(embeddingDenseGrad)}),
	pooledGradient("max_pool2d_with_indices_backward", 2).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { pooledAgain(c, 7, 2) })}), pooledGradient("max_pool3d_with_indices_backward", 3).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { pooledAgain(c, 7, 3) })}),
	pooledGradient("adaptive_max_pool2d_backward", 2).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { pooledAgain(c, 2, 2) })}), pooledGradient("adaptive_max_pool3d_backward", 3).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { pooledAgain(c, 2, 3) })}),
	pooledGradient("fractional_max_pool2d_backward", 2).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { pooledAgain(c, 4, 2) })}), pooledGradient("fractional_max_pool3d_backward", 3).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { pooledAgain(c, 4, 3) })}),
}

// viewGradient defines the gradient of a view of a tensor of sizes that are the second argument; those of the view follow.
func viewGradient(name string, view func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error)) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		g := c.Tensor(0)
		out := define.Zeros(c.Ints(1), g.DType())
		part := source.Must(view(define.Call{Args: append([]value.Value{value.OfTensor(out)}, c.Args[2:]...)}, out))
		if !tensor.SameShape(part.Shape(), g.Shape()) {
			g = source.Must(g.Expand(part.Shape()...))
		}
		elementwise.Assign(part, g)
		return out
	})
}

// pooledGradient defines the gradient of a pooling that takes maxima of planes of n dimensions: the last argument says where they are.
func pooledGradient(name string, n int) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		g, x, at := c.Tensor(0), c.Tensor(1), c.Tensor(len(c.Args)-1)
		source.Check(at.DType() == tensor.Int64, "%s(): expected indices of type Long, got %s", name, at.DType().CppName())
		source.Check(x.Dim() == n+1 || x.Dim() == n+2, "%s(): expected an input of %d or %d dimensions, got one of size %s", name, n+1, n+2, define.ShapeText(x.Shape()))
		source.Check(tensor.SameShape(g.Shape(), at.Shape()), "%s(): expected a gradient of the size of the indices, %s, got %s", name, define.ShapeText(at.Shape()), define.ShapeText(g.Shape()))
		lead := x.Dim() - n
		source.Check(g.Dim() == x.Dim() && tensor.SameShape(g.Shape()[:lead], x.Shape()[:lead]), "%s(): expected a gradient of the planes of %s, got one of size %s", name, define.ShapeText(x.Shape()), define.ShapeText(g.Shape()))
		out := define.Zeros(x.Shape(), g.DType())
		if g.Numel() == 0 {
			return out
		}
		var made define.Scratch
		defer made.Release()
		switch planes := define.NumelOf(x.Shape()[:lead]); {
		case g.OnDevice():
			flat := func(t *tensor.Tensor) *tensor.Tensor { return source.Must(t.Reshape(planes, -1)) }
			out = define.EmptyBeside(g, x.Shape(), g.DType())
			tensor.Fill(out, tensor.Int(0))
			ScatterInto(flat(out), 1, flat(at), flat(g), AddTo)
		case g.DType() == tensor.Float32:
			addInPlanes[float32](out, made.Copied(elementwise.Contiguous(g), g), made.Copied(elementwise.Contiguous(at), at), planes)
		case g.DType() == tensor.Float64:
			addInPlanes[float64](out, made.Copied(elementwise.Contiguous(g), g), made.Copied(elementwise.Contiguous(at), at), planes)
		default:
			flat := func(t *tensor.Tensor) *tensor.Tensor { return source.Must(t.Reshape(planes, -1)) }
			ScatterInto(flat(out), 1, flat(at), flat(g), AddTo)
		}
		return out
	})
}

// addInPlanes adds numbers to the elements of each plane that the indices name, in order.
func addInPlanes[T float32 | float64](out, values, index *tensor.Tensor, planes int) {
	to, from, at := unsafe.Slice((*T)(out.DataPtr()), out.Numel()), unsafe.Slice((*T)(values.DataPtr()), values.Numel()), tensor.Data[int64](index)
	size, n := len(to)/planes, len(from)/planes
	parallel.For(planes, define.RowGrain/n+1, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			part := at[p*n : (p+1)*n]
			if bad := addRow(unsafe.Pointer(unsafe.SliceData(to[p*size:])), part, from[p*n:], 0, 1, size); bad >= 0 {
				source.Raise(source.RuntimeError, "index %d is out of bounds for a plane of %d elements", part[bad], size)
			}
		}
	})
}

// embeddingGradient adds each row of the gradient to the row of a table of n that its index names. Those of the padding are left out; byFrequency
// divides each by how many rows have its index.
func embeddingGradient(g, indices *tensor.Tensor, n, padding int, byFrequency bool) *tensor.Tensor {
	source.Check(indices.DType() == tensor.Int64 || indices.DType() == tensor.Int32,
		"Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got torch.%s instead (while checking arguments for embedding_backward)", indices.DType().TensorClass())
	source.Check(g.Dim() == indices.Dim()+1 && tensor.SameShape(g.Shape()[:indices.Dim()], indices.Shape()), "embedding_backward: expected a row of gradients for each index of %s, got a gradient of size %s", define.ShapeText(indices.Shape()), define.ShapeText(g.Shape()))
	list, width := rowList(indices, n), g.Size(g.Dim()-1)
	out := define.Zeros([]int{n, width}, g.DType())
	if g.Numel() == 0 {
		return out
	}
	if byFrequency {
		counts := source.Must(occurrences(list, n).Reshape(append(indices.Shape()[:indices.Dim():indices.Dim()], 1)...))
		g = elementwise.To(elementwise.Div.On(g, elementwise.To(counts, g.DType())), g.DType())
	}
	rows, size := elementwise.Contiguous(g), width*g.DType().Size()
	defer define.ForgetMade(g, rows)
	offsets, inner := make([]int, len(list)), offsetsOf([]int{width}, []int{1})
	var watch parallel.Watch
	for i, at := range list {
		watch.Did(1)
		offsets[i] = at * width
	}
	parts := min(parallel.NumThreads(), g.Numel()/define.RowGrain+1) // each looks at all indices
	parallel.For(n, (n+parts-1)/parts, func(lo, hi int) {
		taken := func(i int) bool { return list[i] >= lo && list[i] < hi && list[i] != padding }
		var watch parallel.Watch
		for i := 0; i < len(list); {
			watch.Did(1)
			first := i
			for i < len(list) && taken(i) {
				i++
			}
			if i > first {
				accumulateTo(out, unsafe.Add(rows.DataPtr(), first*size), offsets[first:i], inner, AddTo)
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
	return source.Must(tensor.FromSlice(found, len(found)))
}
