package elementwise

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Gradients of real numbers L by complex ones x are dL/dRe(x) + i*dL/dIm(x), as in PyTorch. For a function that has a
// complex derivative f' this is the gradient of the result times conj(f'): the conjugate of what the formula for real
// numbersIn gives for the conjugate of the result's gradient. So one formula serves both, and the engine conjugates
// (visit). The derivatives of other functions are written with the conjugates that they need; they are listed here.

// Adjoint transposes matrices and conjugates them.
func Adjoint(c define.Gradient, t define.Tensors) define.Tensors { return c.Conj(c.Turn(t)) }

// Rotate multiplies by i.
func Rotate(c define.Gradient, t define.Tensors) define.Tensors {
	return c.Do("mul.Scalar", t, value.Complex(1i))
}

func OfSelfWith(f func(c define.Gradient, g define.Tensors) define.Tensors) define.Derivative {
	return func(c define.Gradient) { c.Give(0, f(c, c.G())) }
}

// ConjugateGrad is the derivative of a conjugate.
func ConjugateGrad(g define.Grad) { g.Give(0, g.Conj(g.Grad(0))) }

var AdjointGrad = OfSelfWith(func(c define.Gradient, g define.Tensors) define.Tensors {
	if g.Dim() == 0 {
		return c.Conj(g)
	}
	return Adjoint(c, g)
})

// signGrad is the derivative of x/|x|: what of g turns x, over |x|.
func signGrad(c define.Gradient, g, y define.Tensors) define.Tensors {
	if !y.DType().IsComplex() {
		return c.Zeros(g)
	}
	x := c.In(0)
	along := c.Mul(y, c.Do("real", c.Mul(g, c.Conj(y))))
	turned := c.Div(c.Sub(g, along), c.Do("abs", x))
	return c.Do("masked_fill.Scalar", turned, c.Do("eq.Scalar", x, 0.0), 0.0)
}

// FourierGrad transforms the gradient and cuts or pads it to the argument's size.
func FourierGrad(c define.Gradient, name string) {
	dim := define.Wrap(c.Int(2), len(c.Shape(0)))
	c.Give(0, Resize(c, c.Do(name, c.G(), value.None, dim, c.Arg(3)), dim, c.Shape(0)[dim]))
}

// Resize cuts a dimension, or pads it with zeros at the end.
func Resize(c define.Gradient, t define.Tensors, dim, n int) define.Tensors {
	size := t.Size(dim)
	if size >= n {
		return c.Do("narrow", t, dim, 0, n)
	}
	amounts := make([]int, 2*(t.Dim()-dim))
	amounts[len(amounts)-1] = n - size
	return c.Do("constant_pad_nd", t, amounts, 0.0)
}

// InverseRealGrad: all but the first point, and the last where n is even, stand for two of the full spectrum.
func InverseRealGrad(c define.Gradient) {
	g, dim := c.G(), define.Wrap(c.Int(2), len(c.Shape(0)))
	n := g.Size(dim)
	norm := "forward" // the same scale in the other direction
	switch v := c.Arg(3); {
	case v.IsNone():
	case v.Str() == "forward":
		norm = "backward"
	case v.Str() == "ortho":
		norm = "ortho"
	}
	half := c.Do("fft_rfft", g, value.None, dim, norm)
	weights := define.FullBeside(half, []int{half.Size(dim)}, tensor.Int(2), half.DType().ToReal())
	tensor.Fill(source.Must(weights.Narrow(0, 0, 1)), tensor.Int(1))
	if n%2 == 0 {
		tensor.Fill(source.Must(weights.Narrow(0, n/2, 1)), tensor.Int(1))
	}
	shape := slices.Repeat([]int{1}, half.Dim()-dim)
	shape[0] = -1
	c.Give(0, Resize(c, c.Mul(half, c.Do("reshape", weights, shape)), dim, c.Shape(0)[dim]))
}

func angleGrad(c define.Gradient) {
	x := c.In(0)
	if !x.DType().IsComplex() {
		c.Give(0, c.Zeros(c.G()))
		return
	}
	slope := c.Div(Rotate(c, x), c.Square(c.Do("abs", x)))
	c.Give(0, c.Mul(c.G(), c.Do("masked_fill.Scalar", slope, c.Do("eq.Scalar", x, 0.0), 0.0)))
}

// absoluteGrad is the derivative of the absolute value.
var absoluteGrad = define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Mul(dy, g.Do("sgn", x)) })
