package aten

import (
	"github.com/torchjit/torchjit/gojit/tensor"
)

// reshaped gives the gradient the shape of the argument.
func reshaped(g grad) { g.Give(0, g.Do("reshape", g.Grad(0), g.Sizes(0))) }

func wrap(dim, n int) int {
	if dim < 0 {
		dim += max(n, 1)
	}
	return dim
}

func transposedGrad(g grad) { g.Give(0, g.Do("transpose.int", g.Grad(0), g.Arg(1), g.Arg(2))) }

// joined gives the concatenated gradients of parts along a dimension; parts without one are zero.
func joined(c gradient) {
	dim := 0
	if last := len(c.args()) - 1; last >= 2 {
		dim = c.int(last)
	}
	parts := make([]tensors, len(c.grads()))
	for i := range parts {
		parts[i] = c.gradOf(i)
	}
	c.give(0, c.do("cat", parts, dim))
}

func catGrad(c gradient) {
	n := c.g().Dim()
	dim := wrap(c.int(1), n)
	start := 0
	for j := range c.arg(0).List().Items {
		shape, d := c.run.Geometry(0, j)
		if len(shape) == 1 && shape[0] == 0 && n != 1 {
			c.giveAt(0, j, c.zerosAs(shape, d))
			continue
		}
		c.giveAt(0, j, c.do("slice.Tensor", c.g(), dim, start, start+shape[dim], 1))
		start += shape[dim]
	}
}

func stackGrad(c gradient) {
	for j := range c.arg(0).List().Items {
		c.giveAt(0, j, c.do("select.int", c.g(), wrap(c.int(1), c.g().Dim()), j))
	}
}

func indexGrad(c gradient) {
	c.give(0, c.into("index_put", c.zerosOf(0), optionalTensors(c.list(1)), c.g(), true))
}

func indexPutGrad(c gradient) {
	indices := optionalTensors(c.list(1))
	g := c.g()
	if !c.bool(3) {
		c.give(0, c.do("index_put", g, indices, must(tensor.Zeros(nil, g.DType())), false))
	} else {
		c.give(0, g)
	}
	c.give(2, c.do("index.Tensor", g, indices))
}

func numel(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

func gatherGrad(c gradient) {
	c.give(0, c.into("scatter_add", c.zerosOf(0), c.int(1), c.in(2), c.g()))
}

// typeAsGrad leaves complex gradients to whoever wants real ones of them.
func typeAsGrad(g grad) {
	dy := g.Grad(0)
	if !g.IsComplex(dy) {
		dy = g.Do("type_as", dy, g.Arg(0))
	}
	g.Give(0, dy)
}
