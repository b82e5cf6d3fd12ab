package autograd

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// view is where a view lies in the memory of its root, which is dense and does not overlap.
type view struct {
	rootShape, rootStrides, shape, strides []int
	offset                                 int
}

// viewIn describes t as a view of root.
func viewIn(root, t *tensor.Tensor) view {
	return view{slices.Clone(root.Shape()), slices.Clone(root.Strides()), slices.Clone(t.Shape()), slices.Clone(t.Strides()), t.Offset() - root.Offset()}
}

// order returns the root's dimensions in the order of memory, and the permutation that undoes it. It fails on a root
// with gaps or overlap.
func (v view) order() (order, back []int) {
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
				fail("the derivative of a view of a tensor with gaps or overlap is not implemented")
			}
			next *= n
		}
	}
	return order, back
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flatten gives a gradient of the root the root's order of elements, one behind the other.
func (v view) flatten(c *gradient, g tensors) tensors {
	order, _ := v.order()
	return c.do("contiguous", c.do("reshape", c.do("permute", g, order), []int{-1}), int(tensor.ContiguousFormat))
}

// unflatten makes elements in the root's order a gradient of the root.
func (v view) unflatten(c *gradient, flat tensors) tensors {
	order, back := v.order()
	shape := make([]int, len(order))
	for i, d := range order {
		shape[i] = v.rootShape[d]
	}
	return c.do("permute", c.do("reshape", flat, shape), back)
}

// scatter adds a gradient of the view into zeros laid out as the root.
func (v view) scatter(c *gradient) *tensor.Tensor {
	g, n := c.g(), numel(v.rootShape)
	places := must(c.do("arange", n).AsStrided(v.shape, v.strides, v.offset))
	return v.unflatten(c, c.into("index_add", c.zerosAs([]int{n}, g.DType()), 0, c.do("reshape", places, []int{-1}), c.do("reshape", g, []int{-1})))
}

// strided is the view of root that the arguments of as_strided from number first on describe.
func (c *gradient) strided(root *tensor.Tensor, first int) view {
	v := viewIn(root, root)
	v.shape, v.strides = c.ints(first), c.ints(first+1)
	if !c.isNone(first + 2) {
		v.offset = c.int(first+2) - root.Offset()
	}
	return v
}

func asStridedGrad(c *gradient) { c.give(0, c.strided(c.arg(0).Tensor(), 1).scatter(c)) }

// asStridedScatterGrad: the strides are those of the result's memory.
func asStridedScatterGrad(c *gradient) {
	v := c.strided(c.node.out[0].Tensor(), 2)
	part, rest := v.split(c, c.g())
	c.give(0, rest)
	c.give(1, part)
}

// split returns the part of a gradient of the root that the view shows, and the gradient with zeros there.
func (v view) split(c *gradient, g tensors) (part, rest tensors) {
	if c.writesAlone(g) && v.rootIsContiguous() {
		if !c.isOwn(g) || !g.IsContiguous() {
			g = c.do("clone", g, int(tensor.ContiguousFormat))
		}
		there := must(g.AsStrided(v.shape, v.strides, v.offset+g.Offset()))
		part = c.do("clone", there, int(tensor.ContiguousFormat))
		tensor.Fill(there, tensor.Int(0))
		there.Release()
		return part, g
	}
	flat := v.flatten(c, g)
	nothing := must(tensor.Zeros(v.shape, flat.DType()))
	rest = c.do("as_strided_scatter", flat, nothing, v.shape, v.strides, v.offset)
	return c.do("as_strided", flat, v.shape, v.strides, v.offset+flat.Offset()), v.unflatten(c, rest)
}

// rootIsContiguous reports whether the elements of the root lie in their order.
func (v view) rootIsContiguous() bool {
	next := 1
	for d := len(v.rootShape) - 1; d >= 0; d-- {
		if v.rootShape[d] != 1 && v.rootStrides[d] != next {
			return false
		}
		next *= v.rootShape[d]
	}
	return true
}
