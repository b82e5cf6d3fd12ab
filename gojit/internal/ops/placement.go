package ops

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Placement is where a view lies in the memory of its root, which is dense and does not overlap.
type Placement struct {
	rootShape, rootStrides, shape, strides []int
	offset                                 int
	ofParts                                bool        // the view shows real parts, imaginary parts or both: the root counts as pairs of numbers
	bits                                   tensor.Bits // of the view
}

// PlacementIn describes t as a view of root.
func PlacementIn(root, t *tensor.Tensor) Placement {
	v := Placement{rootShape: slices.Clone(root.Shape()), rootStrides: slices.Clone(root.Strides()), shape: slices.Clone(t.Shape()), strides: slices.Clone(t.Strides()),
		offset: t.Offset() - root.Offset(), bits: t.Bits() ^ root.Bits()}
	if v.ofParts = root.DType().IsComplex() && !t.DType().IsComplex(); v.ofParts {
		for i := range v.rootStrides {
			v.rootStrides[i] *= 2
		}
		v.rootShape, v.rootStrides = append(v.rootShape, 2), append(v.rootStrides, 1)
		v.offset = t.Offset() - 2*root.Offset()
	}
	return v
}

// shown gives what the view shows of a gradient that lies as the root, or the other way round.
func (v Placement) shown(c Concrete, g *tensor.Tensor) *tensor.Tensor {
	if v.bits&tensor.ConjugateBit != 0 {
		g = Do(c, "conj_physical", g)
	}
	if v.bits&tensor.NegativeBit != 0 {
		g = Do(c, "neg", g)
	}
	return g
}

// whole gives a gradient that counts as the root does the type of the root's.
func (v Placement) whole(c Concrete, g *tensor.Tensor) *tensor.Tensor {
	if v.ofParts {
		return Do(c, "view_as_complex", g)
	}
	return g
}

// order returns the root's dimensions in the order of memory, and the permutation that undoes it. It fails on a root
// with gaps or overlap.
func (v Placement) order() (order, back []int) {
	for d := range v.rootShape {
		order = append(order, d)
	}
	slices.SortStableFunc(order, func(a, b int) int { return v.rootStrides[b] - v.rootStrides[a] })
	slices.SortStableFunc(order, func(a, b int) int { return btoi(v.rootShape[b] == 1) - btoi(v.rootShape[a] == 1) })
	back = make([]int, len(order))
	next := 1
	for i, d := range slices.Backward(order) {
		back[d] = i
		if n := v.rootShape[d]; n != 1 {
			if v.rootStrides[d] != next && numel(v.rootShape) > 0 {
				source.Raise(source.RuntimeError, "the derivative of a view of a tensor with gaps or overlap is not implemented")
			}
			next *= n
		}
	}
	return order, back
}

// NewPlacement describes the view of root with a shape, strides and an offset in the memory of the root.
func NewPlacement(root *tensor.Tensor, shape, strides []int, offset int) Placement {
	v := PlacementIn(root, root)
	v.shape, v.strides, v.offset = shape, strides, offset
	return v
}

func numel(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flatten gives a gradient of the root the root's order of elements, one behind the other.
func (v Placement) flatten(c Concrete, g *tensor.Tensor) *tensor.Tensor {
	order, _ := v.order()
	return Do(c, "contiguous", Do(c, "reshape", Do(c, "permute", g, order), []int{-1}), int(tensor.ContiguousFormat))
}

// unflatten makes elements in the root's order a gradient of the root.
func (v Placement) unflatten(c Concrete, flat *tensor.Tensor) *tensor.Tensor {
	order, back := v.order()
	shape := make([]int, len(order))
	for i, d := range order {
		shape[i] = v.rootShape[d]
	}
	return Do(c, "permute", Do(c, "reshape", flat, shape), back)
}

// Scatter adds a gradient g of the view into zeros laid out as the root.
func (v Placement) Scatter(c Concrete, g *tensor.Tensor) *tensor.Tensor {
	n := numel(v.rootShape)
	places := Do(c, "as_strided", Do(c, "arange", n), v.shape, v.strides, v.offset)
	g = v.shown(c, g)
	return v.whole(c, v.unflatten(c, Into(c, "index_add", c.Zeros([]int{n}, g.DType()), 0, Do(c, "reshape", places, []int{-1}), Do(c, "reshape", g, []int{-1}))))
}

// Split returns the part of a gradient of the root that the view shows, and the gradient with zeros there.
func (v Placement) Split(c Concrete, g *tensor.Tensor) (part, rest *tensor.Tensor) {
	if v.ofParts {
		g = Do(c, "view_as_real", Do(c, "resolve_conj", g))
	}
	part, rest = v.split(c, g)
	return v.shown(c, part), v.whole(c, rest)
}

// split is Split of a gradient that counts as the root does.
func (v Placement) split(c Concrete, g *tensor.Tensor) (part, rest *tensor.Tensor) {
	if c.WritesAlone(g) && v.rootIsContiguous() {
		if !c.IsOwn(g) || !g.IsContiguous() {
			g = Do(c, "clone", g, int(tensor.ContiguousFormat))
		}
		there := source.Must(g.AsStrided(v.shape, v.strides, v.offset+g.Offset()))
		part = Do(c, "clone", there, int(tensor.ContiguousFormat))
		tensor.Fill(there, tensor.Int(0))
		there.Release()
		return part, g
	}
	flat := v.flatten(c, g)
	nothing := c.Zeros(v.shape, flat.DType())
	rest = Do(c, "as_strided_scatter", flat, nothing, v.shape, v.strides, v.offset)
	return Do(c, "as_strided", flat, v.shape, v.strides, v.offset+flat.Offset()), v.unflatten(c, rest)
}

// rootIsContiguous reports whether the elements of the root lie in their order.
func (v Placement) rootIsContiguous() bool {
	next := 1
	for d := len(v.rootShape) - 1; d >= 0; d-- {
		if v.rootShape[d] != 1 && v.rootStrides[d] != next {
			return false
		}
		next *= v.rootShape[d]
	}
	return true
}
