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

// logitGrad is the derivative of binary_cross_entropy_with_logits by the logits and the targets.
func logitGrad(g grad) {
	for i, name := range []string{"weight", "pos_weight"} {
		if g.Needs(i + 2) {
			fail("The function 'binary_cross_entropy_with_logits' is not differentiable with respect to argument '%s'. This input cannot have requires_grad True.", name)
		}
	}
	x, target, weight, positive := g.In(0), g.In(1), g.In(2), g.In(3)
	whole := func(d ref) ref {
		if weight != nil {
			d = g.Mul(d, weight)
		}
		return g.Choose(g.IsNumber(g.Arg(4), reduceMean), func() any { return g.Do("div.Scalar", d, g.ReducedCount(0, []int(nil))) }, func() any { return d })
	}
	probability := g.Do("sigmoid", x)
	if positive == nil {
		g.Give(0, whole(g.Mul(g.Minus(probability, target), g.Grad(0))))
	} else {
		found := g.Mul(positive, target)
		g.Give(0, whole(g.Mul(g.Minus(g.Mul(g.Minus(g.Shift(found, 1), target), probability), found), g.Grad(0))))
	}
	switch {
	case !g.Needs(1):
	case positive == nil:
		g.Give(1, whole(g.Mul(x, g.Neg(g.Grad(0)))))
	default:
		less := g.Mul(positive, g.Do("log_sigmoid", x))
		g.Give(1, whole(g.Mul(g.Minus(g.Do("log_sigmoid", g.Neg(x)), less), g.Grad(0))))
	}
}

func embeddingGrad(g grad) {
	if c := g.Concrete(); c != nil && c.Arguments()[4].Bool() {
		embeddingSparseGrad(gradient{g, c})
		return
	}
	g.Give(0, g.Do("embedding_dense_backward", g.Grad(0), g.In(1), g.Size(0, 0), g.Arg(2), g.Arg(3)))
}

// nativeDropoutGrad: what was kept was scaled, unless nothing was dropped or everything.
func nativeDropoutGrad(g grad) {
	p := g.Arg(1)
	trained := func() any {
		return g.Choose(g.IsNumber(p, 1), func() any { return 0.0 }, func() any { return g.DivNumbers(1.0, g.SubNumbers(1.0, p)) })
	}
	scale := g.Choose(g.IsNone(2), trained, func() any {
		return g.Choose(g.Arg(2), trained, func() any { return 1.0 })
	})
	g.Give(0, g.Do("native_dropout_backward", g.Grad(0), g.Out(1), scale))
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

// composeSlowConv: the size of the kernel is that of the weight.
func composeSlowConv(e ops.Emitter, a []value.Value) []value.Value {
	return e.Emit("conv2d", a[0], a[1], a[3], a[4], a[5])
}

func slowConvGrad(g grad) {
	giveMasked(g, []int{0, 1, 3}, "convolution_backward", g.Grad(0), g.In(0), g.In(1), g.ListOf(g.Size(1, 0)), g.Arg(4), g.Arg(5), []int{1, 1}, false, []int{0, 0}, 1)
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
func pooledMaximum(name string, arguments ...int) func(g grad) {
	return func(g grad) {
		args := []any{g.Grad(0), g.StandIn(0)}
		for _, i := range arguments {
			args = append(args, g.Arg(i))
		}
		g.Give(0, g.Do(name, append(args, g.Out(1))...))
	}
}

// pooledRows is pooledMaximum for planes of one row.
func pooledRows(g grad) {
	d := g.Do("adaptive_max_pool2d_backward", planeOf(g, g.Grad(0)), planeOf(g, g.StandIn(0)), planeOf(g, g.Out(1)))
	g.Give(0, g.Do("squeeze.dim", d, -2))
}

// planeOf makes a plane of one row of a row.
func planeOf(g grad, row ref) ref { return g.Do("unsqueeze", row, -2) }

// pooledBy is a derivative that an operator computes of the gradient, the argument and these other arguments.
func pooledBy(name string, arguments ...int) func(g grad) {
	return func(g grad) {
		args := []any{g.Grad(0), g.StandIn(0)}
		for _, i := range arguments {
			args = append(args, g.Arg(i))
		}
		g.Give(0, g.Do(name, args...))
	}
}

func adaptiveRowsGrad(g grad) {
	d := g.Do("_adaptive_avg_pool2d_backward", planeOf(g, g.Grad(0)), planeOf(g, g.StandIn(0)))
	g.Give(0, g.Do("squeeze.dim", d, -2))
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
func (x composer) separable(g tensors, shape []int, n int, row func(unit tensors, d int) tensors) tensors {
	for d := range n {
		at := len(shape) - n + d
		unit := x.do("unsqueeze", x.do("eye", shape[at], g.DType(), nil, value.OfDevice(g.Device())), 0)
		m := x.do("squeeze.dim", row(unit, d), 0)
		g = x.do("transpose.int", x.do("matmul", x.do("transpose.int", g, at, -1), x.do("t", m)), at, -1)
	}
	return g
}

// checkPlanes fails where a gradient and an input are not as many planes of n dimensions.
func checkPlanes(what string, g, input tensors, n int) {
	lead := input.Dim() - n
	check(lead >= 0 && g.Dim() == input.Dim() && slices.Equal(g.Shape()[:lead], input.Shape()[:lead]),
		"%s takes a gradient and an input that differ in the last %d sizes alone, but got %s and %s", what, n, shapeText(g.Shape()), shapeText(input.Shape()))
}

// averagePoolBackward takes the gradient, the argument and what the pooling of n dimensions takes besides.
func averagePoolBackward(n int) ops.Decomposition {
	return composing(func(x composer, a []value.Value) tensors {
		checkPlanes("the gradient of avg_pool", a[0].Tensor(), a[1].Tensor(), n)
		size := numbersOfValue(a[2], n)
		stride := numbersOfValue(a[3], n)
		if len(stride) == 0 {
			stride = size
		}
		padding := numbersOfValue(a[4], n)
		check(len(size) == n && len(stride) == n && len(padding) == n,
			"the gradient of avg_pool takes %d sizes of a kernel, %d strides and %d paddings, or one of each, but got %s, %s and %s", n, n, n, shapeText(size), shapeText(stride), shapeText(padding))
		override := len(a) > 7 && !a[7].IsNone()
		g := x.separable(a[0].Tensor(), a[1].Tensor().Shape(), n, func(unit tensors, d int) tensors {
			m := x.do("avg_pool1d", unit, size[d:d+1], stride[d:d+1], padding[d:d+1], a[5], a[6])
			if override {
				m = x.do("to.dtype", x.do("gt.Scalar", m, 0.0), unit.DType())
			}
			return m
		})
		if override {
			g = x.do("mul.Scalar", g, 1/numberOfValue(a[7]))
		}
		return g
	})
}

// adaptivePoolBackward takes the gradient and the argument. What has one row before and after is as it was.
func adaptivePoolBackward(n int) ops.Decomposition {
	return composing(func(x composer, a []value.Value) tensors {
		checkPlanes("the gradient of adaptive_avg_pool", a[0].Tensor(), a[1].Tensor(), n)
		g, shape := a[0].Tensor(), a[1].Tensor().Shape()
		n := n
		for n > 1 && shape[len(shape)-n] == 1 && g.Size(g.Dim()-n) == 1 {
			n--
		}
		to := g.Shape()[g.Dim()-n:]
		return x.separable(g, shape, n, func(unit tensors, d int) tensors { return x.do("adaptive_avg_pool1d", unit, to[d:d+1]) })
	})
}

// averageRowsGrad is for rows, for which there is no operator.
func averageRowsGrad(c gradient) {
	args := append([]value.Value{value.OfTensor(c.g()), value.OfTensor(tensorOf(c.StandIn(0)))}, c.args()[1:]...)
	c.give(0, averagePoolBackward(1)(c.run, args)[0].Tensor())
}
