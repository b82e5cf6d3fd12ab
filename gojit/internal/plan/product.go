package plan

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// linear makes a step of a product with a matrix of weights, which are packed, and of what is done to its result. It reports whether node i is one.
func (b *builder) linear(i int) bool {
	n := &b.nodes[i]
	in, weight, bias, transposed := n.refs[0], n.refs[1], -1, false
	switch n.op.BaseName() {
	case "aten::linear":
		bias = n.refs[2]
	case "aten::matmul", "aten::mm":
		transposed = true
	default:
		return false
	}
	if weight < 0 || in < 0 || !b.program.isWeight(b.facts[weight].root) || !b.isFloat(in) || !b.isFloat(weight) || bias >= 0 && !b.isFloat(bias) {
		return false
	}
	w, x := b.facts[weight].logical, b.facts[in].logical
	if w.Dim() != 2 || x.Dim() < 1 || w.Numel() == 0 || bias >= 0 && b.facts[bias].logical.Dim() != 1 {
		return false
	}
	channels, filters := w.Size(1), w.Size(0)
	if transposed {
		channels, filters = filters, channels
	}
	rows := x.Numel() / channels
	one := [3]int{1, 1, 1}
	places := [3]int{1, 1, rows}
	s := &convStep{name: "linear", isProduct: true, transposed: transposed, exact: true, in: b.asContiguous(in), weight: weight, bias: bias, like: -1, out: n.out,
		norm: [4]int{-1, -1, -1, -1}, geometry: dense.Convolution{Batch: 1, InChannels: channels, OutChannels: filters, In: places, Out: places,
			Kernel: one, Stride: one, Dilation: one, Groups: 1}}
	b.finish(s, i)
	return true
}

// isFloat reports whether a value is a tensor of float32.
func (b *builder) isFloat(v int) bool {
	t := b.facts[v].logical
	return t != nil && t.DType() == tensor.Float32
}

// matrices is a batch of matrices in a value: its last two dimensions.
type matrices struct {
	value      int
	rows, cols int
	stride     int // elements from row to row, or from column to column where transposed
	transposed bool
}

// matricesOf shows a value as matrices whose rows, or columns, have no gaps between their elements. ok is false where it has none.
func (b *builder) matricesOf(v int) (m matrices, ok bool) {
	t := b.facts[v].physical
	n := t.Dim()
	if n < 2 || !b.isFloat(v) {
		return m, false
	}
	m = matrices{value: v, rows: t.Size(n - 2), cols: t.Size(n - 1)}
	row, column := t.Strides()[n-2], t.Strides()[n-1]
	switch {
	case (column == 1 || m.cols == 1) && (row >= m.cols || m.rows == 1):
		m.stride = max(row, m.cols)
		return m, true
	case (row == 1 || m.rows == 1) && column >= m.rows:
		m.stride, m.transposed = column, true
		return m, true
	}
	return m, false
}

// asMatrices is matricesOf for a value that is copied where it has none.
func (b *builder) asMatrices(v int) (matrices, bool) {
	if m, ok := b.matricesOf(v); ok {
		return m, true
	}
	if b.facts[v].logical.Dim() < 2 || !b.isFloat(v) {
		return matrices{}, false
	}
	return b.matricesOf(b.asContiguous(v))
}

// matrix returns one of the matrices, which begins an element behind the first of the value.
func (m *matrices) matrix(data []float32, at int) dense.Matrix[float32] {
	return dense.Matrix[float32]{Data: data[at:], Stride: m.stride, Transposed: m.transposed}
}

// multiplyStep is a batch of products of matrices.
type multiplyStep struct {
	left, right, result matrices
	batch               []int    // sizes of the dimensions in front
	steps               [3][]int // along them
	out                 int
	name                string
}

// multiply makes a step of a product of two values. It reports whether node i is one.
func (b *builder) multiply(i int) bool {
	n := &b.nodes[i]
	switch n.op.BaseName() {
	case "aten::matmul", "aten::mm", "aten::bmm":
	default:
		return false
	}
	s := &multiplyStep{name: "matmul", out: n.out}
	if !b.pair(s, n.refs[0], n.refs[1], n.out) {
		return false
	}
	b.place(i, s)
	return true
}

// pair gives a step its matrices. It reports whether they are such.
func (b *builder) pair(s *multiplyStep, left, right, out int) (ok bool) {
	if left < 0 || right < 0 {
		return false
	}
	shape := b.facts[out].logical.Shape()
	if len(shape) < 2 {
		return false
	}
	if s.left, ok = b.asMatrices(left); !ok {
		return false
	}
	if s.right, ok = b.asMatrices(right); !ok {
		return false
	}
	if s.result, ok = b.matricesOf(out); !ok || s.result.transposed {
		return false
	}
	s.batch = shape[:len(shape)-2]
	for k, v := range []int{s.left.value, s.right.value, out} {
		s.steps[k] = b.stepsAlong(v, s.batch)
	}
	return true
}

// stepsAlong returns the elements from one matrix of a value to the next along dimensions in front, 0 where it has only one.
func (b *builder) stepsAlong(v int, batch []int) []int {
	t := b.facts[v].physical
	steps := make([]int, len(batch))
	for d := range batch {
		if own := t.Dim() - 2 - len(batch) + d; own >= 0 && t.Size(own) > 1 {
			steps[d] = t.Strides()[own]
		}
	}
	return steps
}

func (s *multiplyStep) gives() int   { return s.out }
func (s *multiplyStep) reads() []int { return []int{s.left.value, s.right.value} }
func (s *multiplyStep) text() string { return s.name }

// starts returns where the matrices of a product of the batch begin.
func (s *multiplyStep) starts(i int) (at [3]int) {
	for d := len(s.batch) - 1; d >= 0; d-- {
		for k := range at {
			at[k] += i % s.batch[d] * s.steps[k][d]
		}
		i /= s.batch[d]
	}
	return at
}

// count returns the products of the batch.
func count(sizes []int) int {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	return n
}

func (s *multiplyStep) run(x *frame) error {
	left, right, out := x.floats(s.left.value), x.floats(s.right.value), x.floats(s.out)
	n := count(s.batch)
	if inner, ok := s.evenly(); ok {
		p := s.product(left, right, out, 0)
		p.Batch, p.StepA, p.StepB, p.StepC = n, inner[0], inner[1], inner[2]
		p.Run()
		return nil
	}
	for i := range n {
		p := s.product(left, right, out, i)
		p.Run()
	}
	return nil
}

// evenly returns the steps between the matrices of a batch where these are the same everywhere.
func (s *multiplyStep) evenly() (steps [3]int, ok bool) {
	for k := range steps {
		size := 1
		for d := len(s.batch) - 1; d >= 0; d-- {
			if s.batch[d] == 1 {
				continue
			}
			if size == 1 {
				steps[k] = s.steps[k][d]
			} else if s.steps[k][d] != steps[k]*size {
				return steps, false
			}
			size *= s.batch[d]
		}
	}
	return steps, true
}

func (s *multiplyStep) product(left, right, out []float32, i int) dense.Product[float32] {
	at := s.starts(i)
	return dense.Product[float32]{M: s.left.rows, N: s.right.cols, K: s.left.cols, A: s.left.matrix(left, at[0]), B: s.right.matrix(right, at[1]), C: s.result.matrix(out, at[2])}
}

// isNumberOp returns the number that an operator multiplies its first argument with, or divides it by; ok is false where it does neither.
func isNumberOp(n *node) (factor float64, ok bool) {
	if n.kind != pointwise || len(n.args) < 2 || slices.Contains(n.refs[1:], n.refs[0]) || n.refs[1] >= 0 {
		return 0, false
	}
	switch {
	case n.args[1].IsFloat():
		factor = n.args[1].Float()
	case n.args[1].IsInt():
		factor = float64(n.args[1].Int())
	default:
		return 0, false
	}
	switch n.op.BaseName() {
	case "aten::mul":
		return factor, len(n.args) == 2
	case "aten::div":
		return 1 / factor, len(n.args) == 2 && factor != 0
	}
	return 0, false
}
