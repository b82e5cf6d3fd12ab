package autograd

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Gradients of real numbers L by complex ones x are dL/dRe(x) + i*dL/dIm(x), as in PyTorch. For a function that has a
// complex derivative f' this is the gradient of the result times conj(f'): the conjugate of what the formula for real
// numbers gives for the conjugate of the result's gradient. So one formula serves both, and the engine conjugates
// (visit). The derivatives of other functions are written with the conjugates that they need; they are listed here.

// asWritten are the derivatives that get and give gradients as they are: those of functions without a complex
// derivative, and those whose factors are real, where conjugating twice would be for nothing.
var asWritten = func() map[string]bool {
	names := map[string]bool{}
	for _, family := range []map[string]derivative{complexDerivatives, viewDerivatives, moveDerivatives, hermitianDerivatives, copyDerivatives()} {
		for name := range family {
			names[name] = true
		}
	}
	for _, name := range strings.Fields(`sum sum.dim_IntList mean mean.dim var var.dim var.correction std std.dim std.correction norm.Scalar
		norm.ScalarOpt_dim linalg_vector_norm frobenius_norm.dim abs sgn cumsum trace neg clone where.self copy contiguous alias
		to.dtype to.dtype_layout to.device to.other type_as _to_copy`) {
		names[name] = true
	}
	delete(names, "index_add") // its factor may be complex
	return names
}()

// isComplexNode reports whether a complex tensor goes into n or comes out of it.
func (n *Node) isComplexNode() bool {
	return slices.ContainsFunc(n.inputs, func(in input) bool { return in.dtype.IsComplex() }) ||
		slices.ContainsFunc(n.outputs, func(o geometry) bool { return o.dtype.IsComplex() })
}

// conj conjugates complex numbers and gives others as they are.
func (c *gradient) conj(t tensors) tensors {
	if t == nil || !t.DType().IsComplex() {
		return t
	}
	return c.do("conj_physical", t)
}

// adjoint transposes matrices and conjugates them.
func (c *gradient) adjoint(t tensors) tensors { return c.conj(c.turn(t)) }

// real returns the real part.
func (c *gradient) real(t tensors) tensors {
	if !t.DType().IsComplex() {
		return t
	}
	return c.do("real", t)
}

// rotate multiplies by i.
func (c *gradient) rotate(t tensors) tensors { return c.do("mul.Scalar", t, value.Complex(1i)) }

func ofSelfWith(f func(c *gradient, g tensors) tensors) derivative {
	return func(c *gradient) { c.give(0, f(c, c.g())) }
}

var conjugateGrad = ofSelfWith((*gradient).conj)

// complexDerivatives are those of the operators that are about complex numbers.
var complexDerivatives = map[string]derivative{
	"conj": conjugateGrad, "_conj": conjugateGrad, "conj_physical": conjugateGrad, "_conj_physical": conjugateGrad,
	"real":            ofSelfWith(func(c *gradient, g tensors) tensors { return g }),
	"imag":            ofSelfWith((*gradient).rotate),
	"view_as_real":    ofSelfWith(func(c *gradient, g tensors) tensors { return c.do("view_as_complex", c.do("contiguous", g)) }),
	"view_as_complex": ofSelfWith(func(c *gradient, g tensors) tensors { return c.do("view_as_real", g) }),
	"complex": func(c *gradient) {
		c.give(0, c.do("real", c.g()))
		c.give(1, c.do("imag", c.g()))
	},
	"polar": func(c *gradient) {
		direction := c.do("polar", c.do("ones_like", c.in(0)), c.in(1))
		c.give(0, c.do("real", c.mul(c.g(), c.conj(direction))))
		c.give(1, c.do("real", c.mul(c.g(), c.conj(c.rotate(c.mul(direction, c.in(0)))))))
	},
	"angle": func(c *gradient) {
		x := c.in(0)
		if !x.DType().IsComplex() {
			c.give(0, c.zeros(c.g()))
			return
		}
		slope := c.div(c.rotate(x), c.square(c.do("abs", x)))
		c.give(0, c.mul(c.g(), c.do("masked_fill.Scalar", slope, c.do("eq.Scalar", x, 0.0), 0.0)))
	},
	"vdot": func(c *gradient) {
		c.give(0, c.mul(c.conj(c.g()), c.in(1)))
		c.give(1, c.mul(c.g(), c.in(0)))
	},
	"mH": adjointGrad, "mH.a": adjointGrad, "adjoint": adjointGrad, "matrix_H.a": adjointGrad, "matrix_H": adjointGrad,
	"fft_irfft": inverseRealGrad,
}

var adjointGrad = ofSelfWith(func(c *gradient, g tensors) tensors {
	if g.Dim() == 0 {
		return c.conj(g)
	}
	return c.adjoint(g)
})

// signGrad is the derivative of x/|x|: what of g turns x, over |x|.
func signGrad(c *gradient, g, y tensors) tensors {
	if !y.DType().IsComplex() {
		return c.zeros(g)
	}
	x := c.in(0)
	along := c.mul(y, c.do("real", c.mul(g, c.conj(y))))
	turned := c.div(c.sub(g, along), c.do("abs", x))
	return c.do("masked_fill.Scalar", turned, c.do("eq.Scalar", x, 0.0), 0.0)
}

// fourierDerivatives are those of the one-dimensional transforms. Their matrices are symmetric, so that the
// transposed transform is the transform itself.
var fourierDerivatives = map[string]derivative{
	"fft_fft":  func(c *gradient) { c.fourierGrad("fft_fft") },
	"fft_ifft": func(c *gradient) { c.fourierGrad("fft_ifft") },
	"fft_rfft": func(c *gradient) {
		g, dim := c.g(), wrap(c.int(2), len(c.shape(0)))
		n := c.shape(0)[dim]
		if !c.isNone(1) {
			n = c.int(1)
		}
		full := c.do("fft_fft", c.resize(g, dim, n), value.None, dim, c.arg(3))
		c.give(0, c.do("real", c.resize(full, dim, c.shape(0)[dim])))
	},
}

// fourierGrad transforms the gradient and cuts or pads it to the argument's size.
func (c *gradient) fourierGrad(name string) {
	dim := wrap(c.int(2), len(c.shape(0)))
	c.give(0, c.resize(c.do(name, c.g(), value.None, dim, c.arg(3)), dim, c.shape(0)[dim]))
}

// resize cuts a dimension, or pads it with zeros at the end.
func (c *gradient) resize(t tensors, dim, n int) tensors {
	size := t.Size(dim)
	if size >= n {
		return c.do("narrow", t, dim, 0, n)
	}
	amounts := make([]int, 2*(t.Dim()-dim))
	amounts[len(amounts)-1] = n - size
	return c.do("constant_pad_nd", t, amounts, 0.0)
}

// inverseRealGrad: all but the first point, and the last where n is even, stand for two of the full spectrum.
func inverseRealGrad(c *gradient) {
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
