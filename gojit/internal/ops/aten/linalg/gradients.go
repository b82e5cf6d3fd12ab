package linalg

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// asMatrix gives a batch of numbers two more dimensions.
func asMatrix(c define.Gradient, t define.Tensors) define.Tensors {
	return c.Do("unsqueeze", c.Do("unsqueeze", t, -1), -1)
}

// solveGrad is for A X = B, or X A = B where the third argument is false.
func solveGrad(c define.Gradient) {
	a, b, x, g, left := c.In(0), c.In(1), c.Out(0), c.G(), c.Bool(2)
	vector := b.Dim() == 1 || a.Dim()-1 == b.Dim() && tensor.SameShape(b.Shape(), a.Shape()[:a.Dim()-1])
	if vector {
		x, g = c.Do("unsqueeze", x, -1), c.Do("unsqueeze", g, -1)
	}
	ofB := c.Do("linalg_solve", c.Turn(a), g, left)
	if c.Needs(0) {
		if left {
			c.Give(0, c.Neg(c.Matmul(ofB, c.Turn(x))))
		} else {
			c.Give(0, c.Neg(c.Matmul(c.Turn(x), ofB)))
		}
	}
	if vector {
		ofB = c.Do("squeeze.dim", ofB, -1)
	}
	c.Give(1, ofB)
}

// slogdetGrad: the logarithm's differential is the real part of trace(A⁻¹dA), the sign turns by its imaginary part.
func slogdetGrad(c define.Gradient) {
	g := c.GradOf(1)
	if sign := c.Out(0); sign.DType().IsComplex() && c.Grads()[0] != nil {
		turn := c.Neg(c.Do("imag", c.Mul(c.Conj(c.Grads()[0]), sign)))
		g = c.Do("complex", g, turn)
	}
	c.Give(0, c.Mul(elementwise.Adjoint(c, c.Do("linalg_inv_ex", c.In(0), false)), asMatrix(c, g)))
}

// pinvGrad is for matrices whose rank does not change.
func pinvGrad(c define.Gradient) {
	a, p, g := c.In(0), c.Out(0), c.G()
	pt, gt := elementwise.Adjoint(c, p), elementwise.Adjoint(c, g)
	d := c.Neg(c.Matmul(pt, c.Matmul(g, pt)))
	left := c.Matmul(gt, c.Matmul(p, pt))
	d = c.Add(d, c.Sub(left, c.Matmul(a, c.Matmul(p, left))))
	right := c.Matmul(pt, c.Matmul(p, gt))
	d = c.Add(d, c.Sub(right, c.Matmul(c.Matmul(right, p), a)))
	c.Give(0, d)
}

// choleskyGrad is for L with L L' = A; for the upper factor everything is transposed.
func choleskyGrad(c define.Gradient) {
	l, g := c.Out(0), c.G()
	if c.Bool(1) {
		l, g = elementwise.Adjoint(c, l), elementwise.Adjoint(c, g)
	}
	phi := c.Do("tril", c.Matmul(elementwise.Adjoint(c, l), g), 0)
	phi = c.Sub(phi, c.Scale(onDiagonal(c, phi), 0.5))
	phi = c.Scale(c.Add(phi, elementwise.Adjoint(c, phi)), 0.5)
	inner := c.Do("linalg_solve", elementwise.Adjoint(c, l), phi, true)
	c.Give(0, c.Do("linalg_solve", l, inner, false))
}

// onDiagonal keeps the diagonals of matrices and makes the rest zero.
func onDiagonal(c define.Gradient, t define.Tensors) define.Tensors {
	return c.Do("diag_embed", c.Do("diagonal", t, 0, -2, -1))
}

// qrGrad is for A = Q R. Of a wide matrix the square part X = Q U is factored, and the rest Y gives V = Q'Y.
func qrGrad(c define.Gradient) {
	shape, mode := c.Shape(0), c.Arg(1).Str()
	rows, columns := shape[len(shape)-2], shape[len(shape)-1]
	switch {
	case mode == "r":
		define.Fail("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
	case mode == "complete" && rows > columns:
		define.Fail("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
	}
	q, r, gq, gr := c.Out(0), c.Out(1), c.GradOf(0), c.GradOf(1)
	if rows >= columns {
		c.Give(0, tallQRGrad(c, q, r, gq, gr))
		return
	}
	part := func(t define.Tensors, first, n int) define.Tensors { return c.Do("narrow", t, -1, first, n) }
	gv := part(gr, rows, columns-rows)
	gq = c.Add(gq, c.Matmul(part(c.In(0), rows, columns-rows), elementwise.Adjoint(c, gv)))
	c.Give(0, c.Do("cat", []define.Tensors{tallQRGrad(c, q, part(r, 0, rows), gq, part(gr, 0, rows)), c.Matmul(q, gv)}, -1))
}

// tallQRGrad is for matrices with at least as many rows as columns.
func tallQRGrad(c define.Gradient, q, r, gq, gr define.Tensors) define.Tensors {
	m := c.Sub(c.Matmul(r, elementwise.Adjoint(c, gr)), c.Matmul(elementwise.Adjoint(c, gq), q))
	low := c.Do("tril", m, -1)
	m = c.Add(c.Add(low, elementwise.Adjoint(c, low)), onDiagonal(c, c.Real(m)))
	return c.Do("linalg_solve", elementwise.Adjoint(c, r), c.Add(gq, c.Matmul(q, m)), false)
}

// luGrad is for A = P L U. Of a matrix that is not square, the square part is factored and the rest is solved for.
func luGrad(c define.Gradient) {
	p, l, u, gl, gu := c.Out(0), c.Out(1), c.Out(2), c.GradOf(1), c.GradOf(2)
	shape := c.Shape(0)
	m, n := shape[len(shape)-2], shape[len(shape)-1]
	k := min(m, n)
	l1, gl1 := c.Do("narrow", l, -2, 0, k), c.Do("narrow", gl, -2, 0, k)
	u1, gu1 := c.Do("narrow", u, -1, 0, k), c.Do("narrow", gu, -1, 0, k)
	lower, upper := c.Matmul(elementwise.Adjoint(c, l1), gl1), c.Matmul(gu1, elementwise.Adjoint(c, u1))
	var d define.Tensors
	switch {
	case m > n:
		l2, gl2 := c.Do("narrow", l, -2, k, m-k), c.Do("narrow", gl, -2, k, m-k)
		upper = c.Sub(upper, c.Matmul(elementwise.Adjoint(c, l2), gl2))
		d = c.Do("cat", []define.Tensors{luCore(c, l1, lower, upper), gl2}, -2)
		d = c.Do("linalg_solve_triangular", elementwise.Adjoint(c, u), d, false, false)
	default:
		u2, gu2 := c.Do("narrow", u, -1, k, n-k), c.Do("narrow", gu, -1, k, n-k)
		if n > m {
			lower = c.Sub(lower, c.Matmul(gu2, elementwise.Adjoint(c, u2)))
		}
		d = c.Do("linalg_solve_triangular", elementwise.Adjoint(c, u1), luCore(c, l1, lower, upper), false, false)
		if n > m {
			d = c.Do("cat", []define.Tensors{d, c.Do("linalg_solve_triangular", elementwise.Adjoint(c, l1), gu2, true)}, -1)
		}
	}
	c.Give(0, c.Matmul(p, d))
}

// luCore is what L carries over to the strictly lower part and U to the upper one, before U is divided by.
func luCore(c define.Gradient, l, lower, upper define.Tensors) define.Tensors {
	inner := c.Add(c.Do("tril", lower, -1), c.Do("triu", upper, 0))
	return c.Do("linalg_solve_triangular", elementwise.Adjoint(c, l), inner, true)
}

// between returns the differences a_j - a_i of the last dimension, with ones on the diagonal.
func between(c define.Gradient, a define.Tensors) define.Tensors {
	d := c.Sub(c.Do("unsqueeze", a, -2), c.Do("unsqueeze", a, -1))
	n := a.Size(a.Dim() - 1)
	return c.Add(d, c.Do("eye", n, a.DType()))
}

// offDiagonal divides by differences and makes the diagonal zero.
func offDiagonal(c define.Gradient, t, differences define.Tensors) define.Tensors {
	q := c.Div(t, differences)
	return c.Sub(q, onDiagonal(c, q))
}

func svdGrad(c define.Gradient) {
	u, s, vh := c.Out(0), c.Out(1), c.Out(2)
	k := s.Size(s.Dim() - 1)
	u, v := c.Do("narrow", u, -1, 0, k), elementwise.Adjoint(c, c.Do("narrow", vh, -2, 0, k))
	middle := as(c, u, c.Do("diag_embed", c.GradOf(1)))
	squares := between(c, c.Square(s))
	row := c.Do("unsqueeze", s, -2)
	var total define.Tensors
	if c.Grads()[0] != nil {
		gu := c.Do("narrow", c.Grads()[0], -1, 0, k)
		skew := c.Matmul(elementwise.Adjoint(c, u), gu)
		skew = c.Sub(skew, elementwise.Adjoint(c, skew))
		middle = c.Add(middle, c.Mul(offDiagonal(c, skew, squares), row))
		if u.DType().IsComplex() {
			middle = c.Add(middle, c.Div(onDiagonal(c, skew), c.Scale(row, 2)))
		}
		if u.Size(u.Dim()-2) > k {
			rest := c.Sub(gu, c.Matmul(u, c.Matmul(elementwise.Adjoint(c, u), gu)))
			total = c.Matmul(c.Div(rest, row), elementwise.Adjoint(c, v))
		}
	}
	if c.Grads()[2] != nil {
		gv := elementwise.Adjoint(c, c.Do("narrow", c.Grads()[2], -2, 0, k))
		skew := c.Matmul(elementwise.Adjoint(c, v), gv)
		middle = c.Add(middle, c.Mul(c.Do("unsqueeze", s, -1), offDiagonal(c, c.Sub(skew, elementwise.Adjoint(c, skew)), squares)))
		if v.Size(v.Dim()-2) > k {
			rest := c.Sub(gv, c.Matmul(v, c.Matmul(elementwise.Adjoint(c, v), gv)))
			more := c.Matmul(u, elementwise.Adjoint(c, c.Div(rest, row)))
			if total == nil {
				total = more
			} else {
				total = c.Add(total, more)
			}
		}
	}
	d := c.Matmul(u, c.Matmul(middle, elementwise.Adjoint(c, v)))
	if total != nil {
		d = c.Add(d, total)
	}
	c.Give(0, d)
}

func eighGrad(c define.Gradient) {
	values, v := c.Out(0), c.Out(1)
	middle := as(c, v, c.Do("diag_embed", c.GradOf(0)))
	if c.Grads()[1] != nil {
		middle = c.Add(middle, offDiagonal(c, c.Matmul(elementwise.Adjoint(c, v), c.Grads()[1]), between(c, values)))
	}
	c.Give(0, c.Matmul(v, c.Matmul(middle, elementwise.Adjoint(c, v))))
}

// eigGrad is for A = V L V⁻¹ with vectors of length one, whose phase must not matter.
func eigGrad(c define.Gradient) {
	values, v := c.Out(0), c.Out(1)
	vh := elementwise.Adjoint(c, v)
	middle := as(c, v, c.Do("diag_embed", c.GradOf(0)))
	if c.Grads()[1] != nil {
		turned := c.Matmul(vh, c.Grads()[1])
		lengths := c.Matmul(c.Matmul(vh, v), as(c, v, onDiagonal(c, c.Real(turned))))
		middle = c.Add(middle, offDiagonal(c, c.Sub(turned, lengths), c.Conj(between(c, values))))
	}
	c.Give(0, c.Do("linalg_solve", vh, c.Matmul(middle, vh), true))
}

// as gives a the type of like: products are of one type.
func as(c define.Gradient, like, a define.Tensors) define.Tensors {
	if a.DType() == like.DType() {
		return a
	}
	return c.Do("to.dtype", a, like.DType())
}

func matrixExpGrad(c define.Gradient) {
	c.Give(0, composedExpBackward(define.Composer{Emitter: c.Tape}, c.Turn(c.In(0)), c.G()))
}

// composedExpBackward reads the gradient of the exponential of a matrix, whose adjoint is given, from the exponential of a block matrix.
func composedExpBackward(x define.Composer, adjoint, g define.Tensors) define.Tensors {
	n := adjoint.Size(adjoint.Dim() - 1)
	top := x.Do("cat", []define.Tensors{adjoint, g}, -1)
	bottom := x.Do("cat", []define.Tensors{x.Do("zeros_like", adjoint), adjoint}, -1)
	whole := x.Do("linalg_matrix_exp", x.Do("cat", []define.Tensors{top, bottom}, -2))
	return x.Do("narrow", x.Do("narrow", whole, -2, 0, n), -1, n, n)
}

// composedExpBackward is aten::matrix_exp_backward.
var matrixExpBackward = define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
	return composedExpBackward(x, x.Do("mH", a[0]), a[1].Tensor())
})
