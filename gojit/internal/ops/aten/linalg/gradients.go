package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// asMatrix gives a batch of numbers two more dimensions.
func (c gradient) asMatrix(t tensors) tensors {
	return c.do("unsqueeze", c.do("unsqueeze", t, -1), -1)
}

// solveGrad is for A X = B, or X A = B where the third argument is false.
func solveGrad(c gradient) {
	a, b, x, g, left := c.in(0), c.in(1), c.out(0), c.g(), c.bool(2)
	vector := b.Dim() == 1 || a.Dim()-1 == b.Dim() && tensor.SameShape(b.Shape(), a.Shape()[:a.Dim()-1])
	if vector {
		x, g = c.do("unsqueeze", x, -1), c.do("unsqueeze", g, -1)
	}
	ofB := c.do("linalg_solve", c.turn(a), g, left)
	if c.needs(0) {
		if left {
			c.give(0, c.neg(c.matmul(ofB, c.turn(x))))
		} else {
			c.give(0, c.neg(c.matmul(c.turn(x), ofB)))
		}
	}
	if vector {
		ofB = c.do("squeeze.dim", ofB, -1)
	}
	c.give(1, ofB)
}

// slogdetGrad: the logarithm's differential is the real part of trace(A⁻¹dA), the sign turns by its imaginary part.
func slogdetGrad(c gradient) {
	g := c.gradOf(1)
	if sign := c.out(0); sign.DType().IsComplex() && c.grads()[0] != nil {
		turn := c.neg(c.do("imag", c.mul(c.conj(c.grads()[0]), sign)))
		g = c.do("complex", g, turn)
	}
	c.give(0, c.mul(c.adjoint(c.do("linalg_inv", c.in(0))), c.asMatrix(g)))
}

// pinvGrad is for matrices whose rank does not change.
func pinvGrad(c gradient) {
	a, p, g := c.in(0), c.out(0), c.g()
	pt, gt := c.adjoint(p), c.adjoint(g)
	d := c.neg(c.matmul(pt, c.matmul(g, pt)))
	left := c.matmul(gt, c.matmul(p, pt))
	d = c.add(d, c.sub(left, c.matmul(a, c.matmul(p, left))))
	right := c.matmul(pt, c.matmul(p, gt))
	d = c.add(d, c.sub(right, c.matmul(c.matmul(right, p), a)))
	c.give(0, d)
}

// choleskyGrad is for L with L L' = A; for the upper factor everything is transposed.
func choleskyGrad(c gradient) {
	l, g := c.out(0), c.g()
	if c.bool(1) {
		l, g = c.adjoint(l), c.adjoint(g)
	}
	phi := c.do("tril", c.matmul(c.adjoint(l), g), 0)
	phi = c.sub(phi, c.scale(c.onDiagonal(phi), 0.5))
	phi = c.scale(c.add(phi, c.adjoint(phi)), 0.5)
	inner := c.do("linalg_solve", c.adjoint(l), phi, true)
	c.give(0, c.do("linalg_solve", l, inner, false))
}

// onDiagonal keeps the diagonals of matrices and makes the rest zero.
func (c gradient) onDiagonal(t tensors) tensors {
	return c.do("diag_embed", c.do("diagonal", t, 0, -2, -1))
}

// qrGrad is for A = Q R. Of a wide matrix the square part X = Q U is factored, and the rest Y gives V = Q'Y.
func qrGrad(c gradient) {
	shape, mode := c.shape(0), c.arg(1).Str()
	rows, columns := shape[len(shape)-2], shape[len(shape)-1]
	switch {
	case mode == "r":
		fail("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
	case mode == "complete" && rows > columns:
		fail("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
	}
	q, r, gq, gr := c.out(0), c.out(1), c.gradOf(0), c.gradOf(1)
	if rows >= columns {
		c.give(0, c.tallQRGrad(q, r, gq, gr))
		return
	}
	part := func(t tensors, first, n int) tensors { return c.do("narrow", t, -1, first, n) }
	gv := part(gr, rows, columns-rows)
	gq = c.add(gq, c.matmul(part(c.in(0), rows, columns-rows), c.adjoint(gv)))
	c.give(0, c.do("cat", []tensors{c.tallQRGrad(q, part(r, 0, rows), gq, part(gr, 0, rows)), c.matmul(q, gv)}, -1))
}

// tallQRGrad is for matrices with at least as many rows as columns.
func (c gradient) tallQRGrad(q, r, gq, gr tensors) tensors {
	m := c.sub(c.matmul(r, c.adjoint(gr)), c.matmul(c.adjoint(gq), q))
	low := c.do("tril", m, -1)
	m = c.add(c.add(low, c.adjoint(low)), c.onDiagonal(c.real(m)))
	return c.do("linalg_solve", c.adjoint(r), c.add(gq, c.matmul(q, m)), false)
}

// luGrad is for A = P L U. Of a matrix that is not square, the square part is factored and the rest is solved for.
func luGrad(c gradient) {
	p, l, u, gl, gu := c.out(0), c.out(1), c.out(2), c.gradOf(1), c.gradOf(2)
	shape := c.shape(0)
	m, n := shape[len(shape)-2], shape[len(shape)-1]
	k := min(m, n)
	l1, gl1 := c.do("narrow", l, -2, 0, k), c.do("narrow", gl, -2, 0, k)
	u1, gu1 := c.do("narrow", u, -1, 0, k), c.do("narrow", gu, -1, 0, k)
	lower, upper := c.matmul(c.adjoint(l1), gl1), c.matmul(gu1, c.adjoint(u1))
	var d tensors
	switch {
	case m > n:
		l2, gl2 := c.do("narrow", l, -2, k, m-k), c.do("narrow", gl, -2, k, m-k)
		upper = c.sub(upper, c.matmul(c.adjoint(l2), gl2))
		d = c.do("cat", []tensors{c.luCore(l1, lower, upper), gl2}, -2)
		d = c.do("linalg_solve_triangular", c.adjoint(u), d, false, false)
	default:
		u2, gu2 := c.do("narrow", u, -1, k, n-k), c.do("narrow", gu, -1, k, n-k)
		if n > m {
			lower = c.sub(lower, c.matmul(gu2, c.adjoint(u2)))
		}
		d = c.do("linalg_solve_triangular", c.adjoint(u1), c.luCore(l1, lower, upper), false, false)
		if n > m {
			d = c.do("cat", []tensors{d, c.do("linalg_solve_triangular", c.adjoint(l1), gu2, true)}, -1)
		}
	}
	c.give(0, c.matmul(p, d))
}

// luCore is what L carries over to the strictly lower part and U to the upper one, before U is divided by.
func (c gradient) luCore(l, lower, upper tensors) tensors {
	inner := c.add(c.do("tril", lower, -1), c.do("triu", upper, 0))
	return c.do("linalg_solve_triangular", c.adjoint(l), inner, true)
}

// between returns the differences a_j - a_i of the last dimension, with ones on the diagonal.
func (c gradient) between(a tensors) tensors {
	d := c.sub(c.do("unsqueeze", a, -2), c.do("unsqueeze", a, -1))
	n := a.Size(a.Dim() - 1)
	return c.add(d, c.do("eye", n, a.DType()))
}

// offDiagonal divides by differences and makes the diagonal zero.
func (c gradient) offDiagonal(t, differences tensors) tensors {
	q := c.div(t, differences)
	return c.sub(q, c.onDiagonal(q))
}

func svdGrad(c gradient) {
	u, s, vh := c.out(0), c.out(1), c.out(2)
	k := s.Size(s.Dim() - 1)
	u, v := c.do("narrow", u, -1, 0, k), c.adjoint(c.do("narrow", vh, -2, 0, k))
	middle := c.as(u, c.do("diag_embed", c.gradOf(1)))
	squares := c.between(c.square(s))
	row := c.do("unsqueeze", s, -2)
	var total tensors
	if c.grads()[0] != nil {
		gu := c.do("narrow", c.grads()[0], -1, 0, k)
		skew := c.matmul(c.adjoint(u), gu)
		skew = c.sub(skew, c.adjoint(skew))
		middle = c.add(middle, c.mul(c.offDiagonal(skew, squares), row))
		if u.DType().IsComplex() {
			middle = c.add(middle, c.div(c.onDiagonal(skew), c.scale(row, 2)))
		}
		if u.Size(u.Dim()-2) > k {
			rest := c.sub(gu, c.matmul(u, c.matmul(c.adjoint(u), gu)))
			total = c.matmul(c.div(rest, row), c.adjoint(v))
		}
	}
	if c.grads()[2] != nil {
		gv := c.adjoint(c.do("narrow", c.grads()[2], -2, 0, k))
		skew := c.matmul(c.adjoint(v), gv)
		middle = c.add(middle, c.mul(c.do("unsqueeze", s, -1), c.offDiagonal(c.sub(skew, c.adjoint(skew)), squares)))
		if v.Size(v.Dim()-2) > k {
			rest := c.sub(gv, c.matmul(v, c.matmul(c.adjoint(v), gv)))
			more := c.matmul(u, c.adjoint(c.div(rest, row)))
			if total == nil {
				total = more
			} else {
				total = c.add(total, more)
			}
		}
	}
	d := c.matmul(u, c.matmul(middle, c.adjoint(v)))
	if total != nil {
		d = c.add(d, total)
	}
	c.give(0, d)
}

func eighGrad(c gradient) {
	values, v := c.out(0), c.out(1)
	middle := c.as(v, c.do("diag_embed", c.gradOf(0)))
	if c.grads()[1] != nil {
		middle = c.add(middle, c.offDiagonal(c.matmul(c.adjoint(v), c.grads()[1]), c.between(values)))
	}
	c.give(0, c.matmul(v, c.matmul(middle, c.adjoint(v))))
}

// eigGrad is for A = V L V⁻¹ with vectors of length one, whose phase must not matter.
func eigGrad(c gradient) {
	values, v := c.out(0), c.out(1)
	vh := c.adjoint(v)
	middle := c.as(v, c.do("diag_embed", c.gradOf(0)))
	if c.grads()[1] != nil {
		turned := c.matmul(vh, c.grads()[1])
		lengths := c.matmul(c.matmul(vh, v), c.as(v, c.onDiagonal(c.real(turned))))
		middle = c.add(middle, c.offDiagonal(c.sub(turned, lengths), c.conj(c.between(values))))
	}
	c.give(0, c.do("linalg_solve", vh, c.matmul(middle, vh), true))
}

// as gives a the type of like: products are of one type.
func (c gradient) as(like, a tensors) tensors {
	if a.DType() == like.DType() {
		return a
	}
	return c.do("to.dtype", a, like.DType())
}

func matrixExpGrad(c gradient) {
	c.give(0, composer{c.run}.matrixExpBackward(c.turn(c.in(0)), c.g()))
}

// matrixExpBackward reads the gradient of the exponential of a matrix, whose adjoint is given, from the exponential of a block matrix.
func (x composer) matrixExpBackward(adjoint, g tensors) tensors {
	n := adjoint.Size(adjoint.Dim() - 1)
	top := x.do("cat", []tensors{adjoint, g}, -1)
	bottom := x.do("cat", []tensors{x.do("zeros_like", adjoint), adjoint}, -1)
	whole := x.do("linalg_matrix_exp", x.do("cat", []tensors{top, bottom}, -2))
	return x.do("narrow", x.do("narrow", whole, -2, 0, n), -1, n, n)
}

// matrixExpBackward is aten::matrix_exp_backward.
var matrixExpBackward = composing(func(x composer, a []value.Value) tensors {
	return x.matrixExpBackward(x.do("mH", a[0]), a[1].Tensor())
})
