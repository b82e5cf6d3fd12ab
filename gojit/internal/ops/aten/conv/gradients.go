package conv

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// unpooledGrad reads the gradient where the elements went.
func unpooledGrad(c define.Gradient, n int) { c.Give(0, indexing.FromPlanes(c, c.G(), c.In(1), n)) }

// convGrad, transposedConvGrad and generalConvGrad are for the operators that convolve, which have their arguments at different places.
var (
	convGrad           = define.Concrete(func(c define.Gradient) { convolutionGrad(c, false, 3, 4, 5, -1, 6) })
	transposedConvGrad = define.Concrete(func(c define.Gradient) { convolutionGrad(c, true, 3, 4, 7, 5, 6) })
	generalConvGrad    = define.Concrete(func(c define.Gradient) { convolutionGrad(c, c.Bool(6), 3, 4, 5, 7, 8) })
)

// convolutionGrad reads the geometry from the arguments of the given numbers.
func convolutionGrad(c define.Gradient, transposedGrad bool, stride, padding, dilation, extra, groups int) {
	single := len(c.Shape(0)) == len(c.Shape(1))-1
	n := len(c.Shape(1)) - 2
	w := convolutionWindow{c.Each(stride, n), c.Each(padding, n), c.Each(dilation, n), transposedGrad, make([]int, n), c.Int(groups)}
	if transposedGrad {
		w.extra = c.Each(extra, n)
	}
	x, g := c.In(0), c.G()
	if single {
		x, g = c.Do("unsqueeze", x, 0), c.Do("unsqueeze", g, 0)
	}
	found := w.backward(c, g, x, c.In(1), c.Needs(0), c.Needs(1), c.Needs(2))
	if single && found[0] != nil {
		found[0] = c.Do("squeeze.dim", found[0], 0)
	}
	for i, d := range found {
		if d != nil {
			c.Give(i, d)
		}
	}
}

// composeSlowConv: the size of the kernel is that of the weight.
func composeSlowConv(e ops.Emitter, a []value.Value) []value.Value {
	return e.Emit("conv2d", a[0], a[1], a[3], a[4], a[5])
}

func slowConvGrad(g define.Grad) {
	define.GiveMasked(g, []int{0, 1, 3}, "convolution_backward", g.Grad(0), g.In(0), g.In(1), g.ListOf(g.Size(1, 0)), g.Arg(4), g.Arg(5), []int{1, 1}, false, []int{0, 0}, 1)
}

// convolutionWindow is the geometry of a convolution.
type convolutionWindow struct {
	stride, padding, dilation []int
	isTransposed              bool
	extra                     []int
	groups                    int
}

// forward is the convolution itself.
func (w convolutionWindow) forward(c define.Gradient, x, weight define.Tensors) define.Tensors {
	return c.Do("convolution", x, weight, value.None, w.stride, w.padding, w.dilation, w.isTransposed, w.extra, w.groups)
}

// backward returns the gradients that are asked for: of the input, the weight and the bias.
func (w convolutionWindow) backward(c define.Gradient, g, x, weight define.Tensors, ofInput, ofWeight, ofBias bool) (found [3]define.Tensors) {
	mask := value.OfList(value.NewList(types.Bool, value.Bool(ofInput), value.Bool(ofWeight), value.Bool(ofBias)))
	for i, v := range ops.DoAll(c.Tape, "convolution_backward", g, x, weight, []int{g.Size(1)}, w.stride, w.padding, w.dilation, w.isTransposed, w.extra, w.groups, mask) {
		if v.IsTensor() {
			found[i] = v.Tensor()
		}
	}
	return found
}

// convolutionAgain is the derivative of the gradient of a convolution: the gradient of the input is bilinear in that of the result and the
// weight, and so on.
func convolutionAgain(c define.Gradient) {
	w := convolutionWindow{c.Ints(4), c.Ints(5), c.Ints(6), c.Bool(7), c.Ints(8), c.Int(9)}
	g, x, weight := c.In(0), c.In(1), c.In(2)
	var of [3]define.Tensors
	given := 0
	for i, wanted := range c.Arg(10).List().Items { // what was not asked for is no output
		if wanted.Bool() {
			of[i] = c.Grads()[given]
			given++
		}
	}
	ofInput, ofWeight, ofBias := of[0], of[1], of[2]
	if c.Needs(0) {
		sum := c.ZerosOf(0)
		if ofInput != nil {
			sum = c.Add(sum, w.forward(c, ofInput, weight))
		}
		if ofWeight != nil {
			sum = c.Add(sum, w.forward(c, x, ofWeight))
		}
		if ofBias != nil {
			shape := slices.Repeat([]int{1}, g.Dim())
			shape[1] = -1
			sum = c.Add(sum, c.Do("reshape", ofBias, shape))
		}
		c.Give(0, sum)
	}
	if c.Needs(1) && ofWeight != nil {
		c.Give(1, w.backward(c, g, x, ofWeight, true, false, false)[0])
	}
	if c.Needs(2) && ofInput != nil {
		c.Give(2, w.backward(c, g, ofInput, weight, false, true, false)[1])
	}
}

// pooledMaximum sends the gradient to the places that the second result names, by an operator that takes these arguments besides.
func pooledMaximum(name string, arguments ...int) func(g define.Grad) {
	return func(g define.Grad) {
		args := []any{g.Grad(0), g.StandIn(0)}
		for _, i := range arguments {
			args = append(args, g.Arg(i))
		}
		g.Give(0, g.Do(name, append(args, g.Out(1))...))
	}
}

// pooledRows is pooledMaximum for planes of one row.
func pooledRows(g define.Grad) {
	d := g.Do("adaptive_max_pool2d_backward", planeOf(g, g.Grad(0)), planeOf(g, g.StandIn(0)), planeOf(g, g.Out(1)))
	g.Give(0, g.Do("squeeze.dim", d, -2))
}

// planeOf makes a plane of one row of a row.
func planeOf(g define.Grad, row define.Ref) define.Ref { return g.Do("unsqueeze", row, -2) }

// pooledBy is a derivative that an operator computes of the gradient, the argument and these other arguments.
func pooledBy(name string, arguments ...int) func(g define.Grad) {
	return func(g define.Grad) {
		args := []any{g.Grad(0), g.StandIn(0)}
		for _, i := range arguments {
			args = append(args, g.Arg(i))
		}
		g.Give(0, g.Do(name, args...))
	}
}

func adaptiveRowsGrad(g define.Grad) {
	d := g.Do("_adaptive_avg_pool2d_backward", planeOf(g, g.Grad(0)), planeOf(g, g.StandIn(0)))
	g.Give(0, g.Do("squeeze.dim", d, -2))
}

// separable is the derivative of an operator that multiplies each of the last n dimensions by a
// matrix; row makes the matrix, (inputs, outputs), of a dimension from a unit matrix.
func separable(x define.Composer, g define.Tensors, shape []int, n int, row func(unit define.Tensors, d int) define.Tensors) define.Tensors {
	for d := range n {
		at := len(shape) - n + d
		unit := x.Do("unsqueeze", x.Do("eye", shape[at], g.DType(), nil, value.OfDevice(g.Device())), 0)
		m := x.Do("squeeze.dim", row(unit, d), 0)
		g = x.Do("transpose.int", x.Do("matmul", x.Do("transpose.int", g, at, -1), x.Do("t", m)), at, -1)
	}
	return g
}

// checkPlanes fails where a gradient and an input are not as many planes of n dimensions.
func checkPlanes(what string, g, input define.Tensors, n int) {
	lead := input.Dim() - n
	source.Check(lead >= 0 && g.Dim() == input.Dim() && slices.Equal(g.Shape()[:lead], input.Shape()[:lead]),
		"%s takes a gradient and an input that differ in the last %d sizes alone, but got %s and %s", what, n, define.ShapeText(g.Shape()), define.ShapeText(input.Shape()))
}

// averagePoolBackward takes the gradient, the argument and what the pooling of n dimensions takes besides.
func averagePoolBackward(n int) ops.Decomposition {
	return define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		checkPlanes("the gradient of avg_pool", a[0].Tensor(), a[1].Tensor(), n)
		size := define.NumbersOfValue(a[2], n)
		stride := define.NumbersOfValue(a[3], n)
		if len(stride) == 0 {
			stride = size
		}
		padding := define.NumbersOfValue(a[4], n)
		source.Check(len(size) == n && len(stride) == n && len(padding) == n,
			"the gradient of avg_pool takes %d sizes of a kernel, %d strides and %d paddings, or one of each, but got %s, %s and %s", n, n, n, define.ShapeText(size), define.ShapeText(stride), define.ShapeText(padding))
		override := len(a) > 7 && !a[7].IsNone()
		g := separable(x, a[0].Tensor(), a[1].Tensor().Shape(), n, func(unit define.Tensors, d int) define.Tensors {
			m := x.Do("avg_pool1d", unit, size[d:d+1], stride[d:d+1], padding[d:d+1], a[5], a[6])
			if override {
				m = x.Do("to.dtype", x.Do("gt.Scalar", m, 0.0), unit.DType())
			}
			return m
		})
		if override {
			g = x.Do("mul.Scalar", g, 1/define.NumberOfValue(a[7]))
		}
		return g
	})
}

// adaptivePoolBackward takes the gradient and the argument. What has one row before and after is as it was.
func adaptivePoolBackward(n int) ops.Decomposition {
	return define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		checkPlanes("the gradient of adaptive_avg_pool", a[0].Tensor(), a[1].Tensor(), n)
		g, shape := a[0].Tensor(), a[1].Tensor().Shape()
		n := n
		for n > 1 && shape[len(shape)-n] == 1 && g.Size(g.Dim()-n) == 1 {
			n--
		}
		to := g.Shape()[g.Dim()-n:]
		return separable(x, g, shape, n, func(unit define.Tensors, d int) define.Tensors { return x.Do("adaptive_avg_pool1d", unit, to[d:d+1]) })
	})
}

// averageRowsGrad is for rows, for which there is no operator.
func averageRowsGrad(c define.Gradient) {
	args := append([]value.Value{value.OfTensor(c.G()), value.OfTensor(define.TensorOf(c.StandIn(0)))}, c.Args()[1:]...)
	c.Give(0, averagePoolBackward(1)(c.Tape, args)[0].Tensor())
}
