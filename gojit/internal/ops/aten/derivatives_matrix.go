package aten

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// turn transposes matrices.
func (c gradient) turn(a tensors) tensors { return c.do("transpose.int", a, -2, -1) }

func (c gradient) matmul(a, b tensors) tensors { return c.do("matmul", a, b) }

func productGrad(g grad) { gradsOfProduct(g, 0, 1, g.Grad(0)) }

func transposedMatrix(g grad, a ref) ref { return g.Do("transpose.int", a, -2, -1) }

// gradsOfProduct gives the gradients of two matrices from that of their product.
func gradsOfProduct(g grad, a, b int, dy ref) {
	if g.Needs(a) {
		g.Give(a, g.Do("matmul", dy, transposedMatrix(g, g.In(b))))
	}
	if g.Needs(b) {
		g.Give(b, g.Do("matmul", transposedMatrix(g, g.In(a)), dy))
	}
}

// matmulGrad makes matrices of vectors first.
func matmulGrad(c gradient) {
	a, b, g := c.in(0), c.in(1), c.g()
	if a.Dim() == 1 && b.Dim() == 1 {
		c.give(0, c.mul(g, b))
		c.give(1, c.mul(g, a))
		return
	}
	if a.Dim() == 1 {
		a, g = c.do("unsqueeze", a, 0), c.do("unsqueeze", g, -2)
	}
	if b.Dim() == 1 {
		b, g = c.do("unsqueeze", b, 1), c.do("unsqueeze", g, -1)
	}
	if c.needs(0) {
		d := c.matmul(g, c.turn(b))
		if len(c.shape(0)) == 1 {
			d = c.do("squeeze.dim", d, -2)
		}
		c.give(0, d)
	}
	if c.needs(1) {
		d := c.matmul(c.turn(a), g)
		if len(c.shape(1)) == 1 {
			d = c.do("squeeze.dim", d, -1)
		}
		c.give(1, d)
	}
}

// scaledSumGrad is the derivative of beta*self + alpha*(a product).
func scaledSumGrad(product func(g grad, dy ref)) func(g grad) {
	return func(g grad) {
		g.Give(0, g.ScaledBy(g.Grad(0), 3))
		product(g, g.ScaledBy(g.Grad(0), 4))
	}
}

func linearGrad(c gradient) {
	g := c.g()
	if c.needs(0) {
		c.give(0, c.matmul(g, c.in(1)))
	}
	if c.needs(1) {
		shape, w := c.shape(0), c.shape(1)
		if len(w) == 1 {
			c.give(1, c.mul(c.do("unsqueeze", g, -1), c.in(0)))
		} else {
			rows := c.do("reshape", g, []int{-1, w[0]})
			c.give(1, c.matmul(c.do("t", rows), c.do("reshape", c.in(0), []int{-1, shape[len(shape)-1]})))
		}
	}
	c.give(2, g)
}

// einsumGrad gives each operand the equation with its term and the result exchanged.
func einsumGrad(c gradient) {
	e := equationOf(c)
	operands := c.list(1)
	for i, term := range e.terms {
		from, with := e.result, []tensors{c.g()}
		for j, other := range e.terms {
			if j != i {
				from, with = from+","+other, append(with, operands[j])
			}
		}
		shape, to := c.elementShape(1, i), ""
		for d, label := range term {
			switch {
			case strings.ContainsRune(to, label): // of a diagonal: zero beside it
				second := e.unused()
				from, with = from+","+string(label)+second, append(with, c.do("eye", shape[d], c.g().DType()))
				to += second
				continue
			case !strings.ContainsRune(from, label): // that only this operand has was summed: it comes from ones
				from, with = from+","+string(label), append(with, must(tensor.Full([]int{shape[d]}, tensor.Int(1), c.g().DType())))
			}
			to += string(label)
		}
		c.giveAt(1, i, c.do("einsum", from+"->"+to, with))
	}
}

// equation is one of einsum with a label for every dimension.
type equation struct {
	terms  []string
	result string
	taken  string // the labels in use
}

// equationOf returns the equation of a call of einsum.
func equationOf(c gradient) *equation {
	left, right, explicit := strings.Cut(strings.ReplaceAll(c.arg(0).Str(), " ", ""), "->")
	e := &equation{terms: strings.Split(left, ","), result: right, taken: left + right}
	if !explicit {
		e.result = "..." + lonelyLabels(strings.ReplaceAll(left, "...", ""))
	}
	dims := func(i int) int { return len(c.elementShape(1, i)) - len(e.terms[i]) + len("...") } // that the ellipsis stands for
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
	fail("derivative for aten::einsum: the equation has more dimensions than there are letters")
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
