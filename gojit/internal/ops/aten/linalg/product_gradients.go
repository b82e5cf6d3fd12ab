package linalg

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// mmGrad is the derivative of the product of two matrices.
func mmGrad(g define.Grad) { gradsOfMatrices(g, 0, 1, g.Grad(0)) }

// bmmGrad is the derivative of the products of two batches of matrices.
func bmmGrad(g define.Grad) { gradsOfBatches(g, 0, 1, g.Grad(0)) }

func transposedMatrix(g define.Grad, a define.Ref) define.Ref {
	return g.Do("transpose.int", a, -2, -1)
}

// gradsOfMatrices gives the gradients of two matrices from that of their product.
func gradsOfMatrices(g define.Grad, a, b int, dy define.Ref) {
	gradsOfProduct(g, a, b, dy, "mm", func(m define.Ref) define.Ref { return g.Do("t", m) })
}

// gradsOfBatches is gradsOfMatrices for each two matrices of two batches.
func gradsOfBatches(g define.Grad, a, b int, dy define.Ref) {
	gradsOfProduct(g, a, b, dy, "bmm", func(m define.Ref) define.Ref { return g.Do("transpose.int", m, 1, 2) })
}

// gradsOfProduct gives the gradients of two factors from that of their product.
func gradsOfProduct(g define.Grad, a, b int, dy define.Ref, product string, turned func(define.Ref) define.Ref) {
	if g.Needs(a) {
		g.Give(a, g.Do(product, dy, turned(g.In(b))))
	}
	if g.Needs(b) {
		g.Give(b, g.Do(product, turned(g.In(a)), dy))
	}
}

// matmulGrad is the derivative of a product of vectors, matrices or batches of them.
func matmulGrad(g define.Grad) {
	isRow, isColumn := g.IsNumber(g.Rank(0), 1), g.IsNumber(g.Rank(1), 1)
	if isRow == true && isColumn == true {
		dotGrad(g)
		return
	}
	itself := func(t define.Ref) func() define.Ref { return func() define.Ref { return t } }
	dim := func(how string, t define.Ref, dim int) func() define.Ref {
		return func() define.Ref { return g.Do(how, t, dim) }
	}
	dy := g.Grad(0)
	dy = g.Choose(isColumn, dim("unsqueeze", dy, -1), itself(dy))
	dy = g.Choose(isRow, dim("unsqueeze", dy, -2), itself(dy))
	if g.Needs(0) {
		b := g.Choose(isColumn, dim("unsqueeze", g.In(1), 1), itself(g.In(1)))
		d := g.Do("matmul", dy, transposedMatrix(g, b))
		g.Give(0, g.Unbroadcast(g.Choose(isRow, dim("squeeze.dim", d, -2), itself(d)), 0))
	}
	if g.Needs(1) {
		a := g.Choose(isRow, dim("unsqueeze", g.In(0), 0), itself(g.In(0)))
		d := g.Do("matmul", transposedMatrix(g, a), dy)
		g.Give(1, g.Unbroadcast(g.Choose(isColumn, dim("squeeze.dim", d, -1), itself(d)), 1))
	}
}

func dotGrad(g define.Grad) {
	g.Give(0, g.Mul(g.Grad(0), g.In(1)))
	g.Give(1, g.Mul(g.Grad(0), g.In(0)))
}

// mvGrad is the derivative of a matrix times a vector.
func mvGrad(g define.Grad) {
	if g.Needs(0) {
		g.Give(0, g.Do("ger", g.Grad(0), g.In(1)))
	}
	if g.Needs(1) {
		g.Give(1, g.Do("mv", g.Do("t", g.In(0)), g.Grad(0)))
	}
}

// scaledSumGrad is the derivative of beta*self + alpha*(a product).
func scaledSumGrad(product func(g define.Grad, dy define.Ref)) func(g define.Grad) {
	return func(g define.Grad) {
		g.Give(0, g.ScaledBy(g.Grad(0), 3))
		product(g, g.ScaledBy(g.Grad(0), 4))
	}
}

// linearGrad: the weight is a matrix, or a vector.
func linearGrad(g define.Grad) {
	dy := g.Grad(0)
	isVector := g.IsNumber(g.Rank(1), 1)
	if g.Needs(0) {
		g.Give(0, g.Choose(isVector, func() define.Ref { return g.Mul(g.Do("unsqueeze", dy, -1), g.In(1)) },
			func() define.Ref { return g.Do("matmul", dy, g.In(1)) }))
	}
	if g.Needs(1) {
		factors := func() (of, in define.Ref) {
			return g.Do("reshape", dy, g.ListOf(-1, g.Size(1, 0))), g.Do("reshape", g.In(0), g.ListOf(-1, g.Size(1, 1)))
		}
		if c := g.Concrete(); c != nil && isVector == false {
			of, in := dy, g.In(0)
			if g.IsNumber(g.Rank(0), 2) != true {
				of, in = factors()
			}
			c.GiveProduct(1, of, in)
		} else {
			g.Give(1, g.Choose(isVector, func() define.Ref { return g.Unbroadcast(g.Mul(g.Do("unsqueeze", dy, -1), g.In(0)), 1) }, func() define.Ref {
				of, in := factors()
				return g.Do("matmul", g.Do("t", of), in)
			}))
		}
	}
	if g.Needs(2) {
		g.Give(2, g.Unbroadcast(dy, 2))
	}
}

// einsumGrad gives each operand the equation with its term and the result exchanged.
func einsumGrad(c define.Gradient) {
	e := equationOf(c)
	operands := c.List(1)
	for i, term := range e.terms {
		from, with := e.result, []define.Tensors{c.G()}
		for j, other := range e.terms {
			if j != i {
				from, with = from+","+other, append(with, operands[j])
			}
		}
		shape, to := c.ElementShape(1, i), ""
		for d, label := range term {
			switch {
			case strings.ContainsRune(to, label): // of a diagonal: zero beside it
				second := e.unused()
				from, with = from+","+string(label)+second, append(with, c.Do("eye", shape[d], c.G().DType()))
				to += second
				continue
			case !strings.ContainsRune(from, label): // that only this operand has was summed: it comes from ones
				from, with = from+","+string(label), append(with, define.FullBeside(c.G(), []int{shape[d]}, tensor.Int(1), c.G().DType()))
			}
			to += string(label)
		}
		c.GiveAt(1, i, c.Do("einsum", from+"->"+to, with))
	}
}

// equation is one of einsum with a label for every dimension.
type equation struct {
	terms  []string
	result string
	taken  string // the labels in use
}

// equationOf returns the equation of a call of einsum.
func equationOf(c define.Gradient) *equation {
	left, right, explicit := strings.Cut(strings.ReplaceAll(c.Arg(0).Str(), " ", ""), "->")
	e := &equation{terms: strings.Split(left, ","), result: right, taken: left + right}
	if !explicit {
		e.result = "..." + lonelyLabels(strings.ReplaceAll(left, "...", ""))
	}
	dims := func(i int) int { return len(c.ElementShape(1, i)) - len(e.terms[i]) + len("...") } // that the ellipsis stands for
	most := 0
	for i, term := range e.terms {
		if strings.Contains(term, "...") {
			most = max(most, dims(i))
		}
	}
	labels := ""
	for range most {
		labels += e.unused()
	}
	e.result = strings.Replace(e.result, "...", labels, 1)
	for i, term := range e.terms {
		if strings.Contains(term, "...") {
			e.terms[i] = strings.Replace(term, "...", labels[most-dims(i):], 1)
		}
	}
	return e
}

// unused returns a label that the equation does not have yet.
func (e *equation) unused() string {
	for l := 'a'; l <= 'z'; l++ {
		for _, label := range []string{string(l), strings.ToUpper(string(l))} {
			if !strings.Contains(e.taken, label) {
				e.taken += label
				return label
			}
		}
	}
	define.Fail("derivative for aten::einsum: the equation has more dimensions than there are letters")
	return ""
}

// lonelyLabels returns the labels that occur once, in the order of einsum's own result.
func lonelyLabels(left string) string {
	var labels []rune
	for _, l := range left {
		if l != ',' && strings.Count(left, string(l)) == 1 {
			labels = append(labels, l)
		}
	}
	slices.Sort(labels)
	return string(labels)
}
