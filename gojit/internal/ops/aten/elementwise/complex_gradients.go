package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Gradients of real numbers L by complex ones x are dL/dRe(x) + i*dL/dIm(x), as in PyTorch. For a function that has a
// complex derivative f' this is the gradient of the result times conj(f'): the conjugate of what the formula for real
// numbersIn gives for the conjugate of the result's gradient. So one formula serves both, and the engine conjugates
// (visit). The derivatives of other functions are written with the conjugates that they need; they are listed here.

// adjoint transposes matrices and conjugates them.
func (c gradient) adjoint(t tensors) tensors { return c.conj(c.turn(t)) }

// rotate multiplies by i.
func (c gradient) rotate(t tensors) tensors { return c.do("mul.Scalar", t, value.Complex(1i)) }

func ofSelfWith(f func(c gradient, g tensors) tensors) derivative {
	return func(c gradient) { c.give(0, f(c, c.g())) }
}

func conjugateGrad(g grad) { g.Give(0, g.Conj(g.Grad(0))) }

var adjointGrad = ofSelfWith(func(c gradient, g tensors) tensors {
	if g.Dim() == 0 {
		return c.conj(g)
	}
	return c.adjoint(g)
})

// signGrad is the derivative of x/|x|: what of g turns x, over |x|.
func signGrad(c gradient, g, y tensors) tensors {
	if !y.DType().IsComplex() {
		return c.zeros(g)
	}
	x := c.in(0)
	along := c.mul(y, c.do("real", c.mul(g, c.conj(y))))
	turned := c.div(c.sub(g, along), c.do("abs", x))
	return c.do("masked_fill.Scalar", turned, c.do("eq.Scalar", x, 0.0), 0.0)
}

// fourierGrad transforms the gradient and cuts or pads it to the argument's size.
func (c gradient) fourierGrad(name string) {
	dim := wrap(c.int(2), len(c.shape(0)))
	c.give(0, c.resize(c.do(name, c.g(), value.None, dim, c.arg(3)), dim, c.shape(0)[dim]))
}

// resize cuts a dimension, or pads it with zeros at the end.
func (c gradient) resize(t tensors, dim, n int) tensors {
	size := t.Size(dim)
	if size >= n {
		return c.do("narrow", t, dim, 0, n)
	}
	amounts := make([]int, 2*(t.Dim()-dim))
	amounts[len(amounts)-1] = n - size
	return c.do("constant_pad_nd", t, amounts, 0.0)
}

// inverseRealGrad: all but the first point, and the last where n is even, stand for two of the full spectrum.
func inverseRealGrad(c gradient) {
	g, dim := c.g(), wrap(c.int(2), len(c.shape(0)))
	n := g.Size(dim)
	norm := "forward" // the same scale in the other direction
	switch v := c.arg(3); {
	case v.IsNone():
	case v.Str() == "forward":
		norm = "backward"
	case v.Str() == "ortho":
		norm = "ortho"
	}
	half := c.do("fft_rfft", g, value.None, dim, norm)
	weights := must(tensor.Full([]int{half.Size(dim)}, tensor.Int(2), half.DType().ToReal()))
	tensor.Fill(must(weights.Narrow(0, 0, 1)), tensor.Int(1))
	if n%2 == 0 {
		tensor.Fill(must(weights.Narrow(0, n/2, 1)), tensor.Int(1))
	}
	shape := slices.Repeat([]int{1}, half.Dim()-dim)
	shape[0] = -1
	c.give(0, c.resize(c.mul(half, c.do("reshape", weights, shape)), dim, c.shape(0)[dim]))
}

func angleGrad(c gradient) {
	x := c.in(0)
	if !x.DType().IsComplex() {
		c.give(0, c.zeros(c.g()))
		return
	}
	slope := c.div(c.rotate(x), c.square(c.do("abs", x)))
	c.give(0, c.mul(c.g(), c.do("masked_fill.Scalar", slope, c.do("eq.Scalar", x, 0.0), 0.0)))
}
