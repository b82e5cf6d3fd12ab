package autograd

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// moveDerivatives are those of operators whose results are elements of their first argument, each
// anywhere and any number of times, and zeros or constants.
var moveDerivatives = func() map[string]derivative {
	family := map[string]derivative{}
	for _, name := range strings.Fields(`movedim.int movedim.intlist moveaxis.int moveaxis.intlist atleast_1d atleast_2d atleast_3d diag
		repeat_interleave.self_int repeat_interleave.self_Tensor pixel_shuffle pixel_unshuffle channel_shuffle take_along_dim
		rot90 fliplr flipud tile _pack_padded_sequence reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d
		replication_pad3d`) {
		family[name] = func(c *gradient) { c.moved(name) }
	}
	family["pad"] = func(c *gradient) {
		rest := slices.Clone(c.node.args)
		if mode := rest[2]; mode.Str() == "constant" {
			unpadded(c)
			return
		}
		c.movedWith("pad", rest)
	}
	family["_pad_packed_sequence"] = func(c *gradient) {
		rest := slices.Clone(c.node.args)
		rest[3] = value.Float(0)
		c.movedWith("_pad_packed_sequence", rest)
	}
	family["constant_pad_nd"] = unpadded
	family["im2col"] = func(c *gradient) {
		shape := c.shape(0)
		c.give(0, c.do("col2im", c.g(), shape[len(shape)-2:], c.arg(1), c.arg(2), c.arg(3), c.arg(4)))
	}
	family["take"] = func(c *gradient) { c.give(0, c.into("put", c.zerosOf(0), c.in(1), c.g(), true)) }
	family["diag_embed"] = func(c *gradient) { c.moved("diag_embed") }
	return family
}()

// unpadded takes the padding away again.
func unpadded(c *gradient) {
	back := c.ints(1)
	for i := range back {
		back[i] = -back[i]
	}
	c.give(0, c.do("constant_pad_nd", c.g(), back, 0.0))
}

func (c *gradient) moved(name string) { c.movedWith(name, slices.Clone(c.node.args)) }

// movedWith runs the operator on the numbers of the elements, counted from 1, to learn where each one went.
func (c *gradient) movedWith(name string, args []value.Value) {
	c.reading()
	n := numel(c.shape(0))
	args[0] = value.OfTensor(c.do("reshape", c.do("to.dtype", c.do("arange.start", 1, n+1), tensor.Float64), c.shape(0)))
	from := c.do("to.dtype", c.Emit(name, args...)[0].Tensor(), tensor.Int64)
	g := c.g()
	sums := c.into("index_add", c.zerosAs([]int{n + 1}, g.DType()), 0, c.do("reshape", from, []int{-1}), c.do("reshape", g, []int{-1}))
	c.give(0, c.do("reshape", c.do("slice.Tensor", sums, 0, 1, n+1), c.shape(0)))
}
