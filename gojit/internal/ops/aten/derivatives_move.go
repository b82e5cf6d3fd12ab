package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// unpadded takes the padding away again.
func unpadded(c gradient) {
	back := c.ints(1)
	for i := range back {
		back[i] = -back[i]
	}
	c.give(0, c.do("constant_pad_nd", c.g(), back, 0.0))
}

func (c gradient) moved(name string) { c.movedWith(name, slices.Clone(c.args())) }

// movedWith runs the operator on the numbers of the elements, counted from 1, to learn where each one went.
func (c gradient) movedWith(name string, args []value.Value) {
	c.run.Reading()
	n := numel(c.shape(0))
	args[0] = value.OfTensor(c.do("reshape", c.do("to.dtype", c.do("arange.start", 1, n+1), tensor.Float64), c.shape(0)))
	from := c.do("to.dtype", c.run.Emit(name, args...)[0].Tensor(), tensor.Int64)
	g := c.g()
	sums := c.into("index_add", c.zerosAs([]int{n + 1}, g.DType()), 0, c.do("reshape", from, []int{-1}), c.do("reshape", g, []int{-1}))
	c.give(0, c.do("reshape", c.do("slice.Tensor", sums, 0, 1, n+1), c.shape(0)))
}
