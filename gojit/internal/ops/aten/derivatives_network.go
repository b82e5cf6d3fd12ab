package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func squareErrorGrad(c gradient) {
	x, y := c.in(0), c.in(1)
	if !tensor.SameShape(x.Shape(), y.Shape()) {
		shape := must(tensor.Broadcast(x.Shape(), y.Shape()))
		x, y = c.do("expand", x, shape), c.do("expand", y, shape)
	}
	d := c.do("mse_loss_backward", c.g(), x, y, c.arg(2))
	c.give(0, d)
	if c.needs(1) {
		c.give(1, c.neg(d))
	}
}

func embeddingGrad(c gradient) {
	c.give(0, c.do("embedding_dense_backward", c.g(), c.in(1), c.shape(0)[0], c.int(2), c.bool(3)))
}

// embeddingDenseGrad reads the rows of the gradient that those of the result went to.
func embeddingDenseGrad(c gradient) {
	indices := c.in(1)
	g := c.do("embedding", c.g(), indices)
	if c.bool(4) {
		counts := c.do("bincount", c.do("reshape", indices, []int{-1}), value.None, c.int(2))
		counts = c.do("index_select", counts, 0, c.do("reshape", indices, []int{-1}))
		g = c.div(g, c.do("unsqueeze", c.do("reshape", counts, indices.Shape()), -1))
	}
	if padding := c.int(3); padding >= 0 {
		g = c.do("masked_fill.Scalar", g, c.do("unsqueeze", c.do("eq.Scalar", indices, padding), -1), 0.0)
	}
	c.give(0, g)
}

// unpooledGrad reads the gradient where the elements went.
func unpooledGrad(c gradient, n int) { c.give(0, fromPlanes(c, c.g(), c.in(1), n)) }

// fromPlanes reads the elements of planes of n dimensions that the places name.
func fromPlanes(c gradient, t, places tensors, n int) tensors {
	shape := places.Shape()
	lead := append([]int(nil), shape[:len(shape)-n]...)
	flat := func(t tensors) tensors { return c.do("reshape", t, append(lead[:len(lead):len(lead)], -1)) }
	return c.do("reshape", c.do("gather", flat(t), len(lead), flat(places)), shape)
}

func embeddingBagPaddedGrad(c gradient) {
	if c.isNone(8) {
		embeddingBagGrad(c, -1)
	} else {
		embeddingBagGrad(c, c.int(8))
	}
}

// embeddingBagGrad sends the gradient of every bag to its rows.
func embeddingBagGrad(c gradient, padding int) {
	const sum, mean, largest = 0, 1, 2
	indices, g, mode := c.in(1), c.g(), c.int(4)
	flat := c.do("to.dtype", c.do("reshape", indices, []int{-1}), tensor.Int64)
	bags := bagsOf(c, indices, flat.Numel(), g.Size(0))
	var counted, sizes tensors
	if padding >= 0 || mode != sum {
		counted = c.do("ones_like", c.do("to.dtype", flat, g.DType()))
		if padding >= 0 {
			counted = c.do("masked_fill.Scalar", counted, c.do("eq.Scalar", flat, padding), 0.0)
		}
		sizes = c.into("index_add", c.zerosAs([]int{g.Size(0)}, g.DType()), 0, bags, counted)
	}
	switch mode {
	case largest:
		empty := c.do("unsqueeze", c.do("eq.Scalar", sizes, 0.0), 1)
		c.give(0, c.into("scatter_add", c.zerosOf(0), 0, c.out(3), c.do("masked_fill.Scalar", g, empty, 0.0)))
		return
	case mean:
		g = c.div(g, c.do("unsqueeze", c.do("clamp_min", sizes, 1.0), 1))
	}
	rows := c.do("index_select", g, 0, bags)
	if padding >= 0 {
		rows = c.mul(rows, c.do("unsqueeze", counted, 1))
	}
	if weights := c.in(6); weights != nil {
		if c.needs(6) {
			products := c.mul(rows, c.do("index_select", c.in(0), 0, flat))
			c.give(6, c.do("reshape", c.do("sum.dim_IntList", products, []int{1}, false), weights.Shape()))
		}
		rows = c.mul(rows, c.do("reshape", weights, []int{-1, 1}))
	}
	c.give(0, c.into("index_add", c.zerosOf(0), 0, flat, rows))
}

// bagsOf returns the bag of each of n indices.
func bagsOf(c gradient, indices tensors, n, bags int) tensors {
	list := make([]int64, n)
	if indices.Dim() == 2 {
		for i := range list {
			list[i] = int64(i / indices.Size(1))
		}
		return must(tensor.FromSlice(list, n))
	}
	starts := tensor.Data[int64](must(c.do("to.dtype", c.in(2), tensor.Int64).Contiguous()))
	for b := range bags {
		end := n
		if b+1 < len(starts) {
			end = int(starts[b+1])
		}
		for i := int(starts[b]); i < end; i++ {
			list[i] = int64(b)
		}
	}
	return must(tensor.FromSlice(list, n))
}

// each returns an argument for n dimensions, of which one number stands for all.
func (c gradient) each(i, n int) []int {
	xs := c.ints(i)
	for len(xs) < n {
		xs = append(xs, xs[0])
	}
	return xs
}

// convGrad, transposedConvGrad and generalConvGrad are for the operators that convolve, which have their arguments at different places.
var (
	convGrad           = concrete(func(c gradient) { convolutionGrad(c, false, 3, 4, 5, -1, 6) })
	transposedConvGrad = concrete(func(c gradient) { convolutionGrad(c, true, 3, 4, 7, 5, 6) })
	generalConvGrad    = concrete(func(c gradient) { convolutionGrad(c, c.bool(6), 3, 4, 5, 7, 8) })
)

// convolutionGrad reads the geometry from the arguments of the given numbers.
func convolutionGrad(c gradient, transposedGrad bool, stride, padding, dilation, extra, groups int) {
	single := len(c.shape(0)) == len(c.shape(1))-1
	n := len(c.shape(1)) - 2
	w := convolutionWindow{c.each(stride, n), c.each(padding, n), c.each(dilation, n), transposedGrad, make([]int, n), c.int(groups)}
	if transposedGrad {
		w.extra = c.each(extra, n)
	}
	x, g := c.in(0), c.g()
	if single {
		x, g = c.do("unsqueeze", x, 0), c.do("unsqueeze", g, 0)
	}
	found := w.backward(c, g, x, c.in(1), c.needs(0), c.needs(1), c.needs(2))
	if single && found[0] != nil {
		found[0] = c.do("squeeze.dim", found[0], 0)
	}
	for i, d := range found {
		if d != nil {
			c.give(i, d)
		}
	}
}

// convolutionWindow is the geometry of a convolution.
type convolutionWindow struct {
	stride, padding, dilation []int
	isTransposed              bool
	extra                     []int
	groups                    int
}

// forward is the convolution itself.
func (w convolutionWindow) forward(c gradient, x, weight tensors) tensors {
	return c.do("convolution", x, weight, value.None, w.stride, w.padding, w.dilation, w.isTransposed, w.extra, w.groups)
}

// backward returns the gradients that are asked for: of the input, the weight and the bias.
func (w convolutionWindow) backward(c gradient, g, x, weight tensors, ofInput, ofWeight, ofBias bool) (found [3]tensors) {
	mask := value.OfList(value.NewList(types.Bool, value.Bool(ofInput), value.Bool(ofWeight), value.Bool(ofBias)))
	for i, v := range ops.DoAll(c.run, "convolution_backward", g, x, weight, []int{g.Size(1)}, w.stride, w.padding, w.dilation, w.isTransposed, w.extra, w.groups, mask) {
		if v.IsTensor() {
			found[i] = v.Tensor()
		}
	}
	return found
}

// convolutionAgain is the derivative of the gradient of a convolution: the gradient of the input is bilinear in that of the result and the
// weight, and so on.
func convolutionAgain(c gradient) {
	w := convolutionWindow{c.ints(4), c.ints(5), c.ints(6), c.bool(7), c.ints(8), c.int(9)}
	g, x, weight := c.in(0), c.in(1), c.in(2)
	var of [3]tensors
	given := 0
	for i, wanted := range c.arg(10).List().Items { // what was not asked for is no output
		if wanted.Bool() {
			of[i] = c.grads()[given]
			given++
		}
	}
	ofInput, ofWeight, ofBias := of[0], of[1], of[2]
	if c.needs(0) {
		sum := c.zerosOf(0)
		if ofInput != nil {
			sum = c.add(sum, w.forward(c, ofInput, weight))
		}
		if ofWeight != nil {
			sum = c.add(sum, w.forward(c, x, ofWeight))
		}
		if ofBias != nil {
			shape := slices.Repeat([]int{1}, g.Dim())
			shape[1] = -1
			sum = c.add(sum, c.do("reshape", ofBias, shape))
		}
		c.give(0, sum)
	}
	if c.needs(1) && ofWeight != nil {
		c.give(1, w.backward(c, g, x, ofWeight, true, false, false)[0])
	}
	if c.needs(2) && ofInput != nil {
		c.give(2, w.backward(c, g, ofInput, weight, false, true, false)[1])
	}
}

// pooledMaximum sends the gradient to the places that the second result names, by an operator that takes these arguments besides.
func pooledMaximum(c gradient, name string, arguments ...int) {
	args := []any{c.g(), c.standIn(c.shape(0))}
	for _, i := range arguments {
		args = append(args, c.arg(i))
	}
	c.give(0, c.do(name, append(args, c.out(1))...))
}

// pooledRows is pooledMaximum for planes of one row.
func pooledRows(c gradient) {
	shape := c.shape(0)
	last := len(shape) - 1
	planes := append(append([]int{}, shape[:last]...), 1, shape[last])
	d := c.do("adaptive_max_pool2d_backward", c.do("unsqueeze", c.g(), -2), c.standIn(planes), c.do("unsqueeze", c.out(1), -2))
	c.give(0, c.do("squeeze.dim", d, -2))
}

// standIn is a tensor that only has the shape of another one.
func (c gradient) standIn(shape []int) tensors {
	return must(must(tensor.Zeros(nil, c.g().DType())).Expand(shape...))
}

// pooledAgain is the derivative of the gradient of a pooling that takes maxima.
func pooledAgain(c gradient, indices, n int) {
	c.give(0, fromPlanes(c, c.g(), c.in(indices), n))
	if c.needs(1) {
		c.give(1, c.zerosOf(1))
	}
}

// separable is the derivative of an operator that multiplies each of the last n dimensions by a
// matrix; row makes the matrix, (inputs, outputs), of a dimension from a unit matrix.
func separable(c gradient, n int, row func(unit tensors, d int) tensors) tensors {
	g, shape := c.g(), c.shape(0)
	for d := range n {
		at := len(shape) - n + d
		unit := c.do("unsqueeze", c.do("eye", shape[at], g.DType()), 0)
		m := c.do("squeeze.dim", row(unit, d), 0)
		g = c.do("transpose.int", c.matmul(c.do("transpose.int", g, at, -1), c.do("t", m)), at, -1)
	}
	return g
}

func averagePoolGrad(c gradient, n int) {
	size := c.each(1, n)
	stride := c.ints(2)
	if len(stride) == 0 {
		stride = size
	} else {
		stride = c.each(2, n)
	}
	padding := c.each(3, n)
	override := n > 1 && !c.isNone(6)
	g := separable(c, n, func(unit tensors, d int) tensors {
		m := c.do("avg_pool1d", unit, size[d:d+1], stride[d:d+1], padding[d:d+1], c.bool(4), c.bool(5))
		if override {
			m = c.do("to.dtype", c.do("gt.Scalar", m, 0.0), unit.DType())
		}
		return m
	})
	if override {
		g = c.scale(g, 1/c.float(6))
	}
	c.give(0, g)
}

func adaptivePoolGrad(c gradient, n int) {
	c.give(0, separable(c, n, func(unit tensors, d int) tensors {
		return c.do("adaptive_avg_pool1d", unit, []int{c.g().Size(c.g().Dim() - n + d)})
	}))
}
