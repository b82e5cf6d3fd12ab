package plan

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// linear makes a step of a product with a matrix of weights, which are packed, and of what is done to its result. It reports whether node i is one.
func (b *builder) linear(i int) bool {
	n := &b.nodes[i]
	in, weight, bias, transposed := n.refs[0], n.refs[1], -1, false
	switch n.op.BaseName() {
	case aten.Linear:
		bias = n.refs[2]
	case aten.Matmul, aten.Mm:
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
		norm: [4]int{-1, -1, -1, -1}, geometry: conv.Convolution{Batch: 1, InChannels: channels, OutChannels: filters, In: places, Out: places,
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
func (m *matrices) matrix(data []float32, at int) gemm.Matrix[float32] {
	return gemm.Matrix[float32]{Data: data[at:], Stride: m.stride, Transposed: m.transposed}
}

// multiplyStep is a batch of products of matrices.
type multiplyStep struct {
	left, right, result matrices
	bias                int      // a row that is added to all rows, -1: none
	batch               []int    // sizes of the dimensions in front
	steps               [3][]int // along them
	out                 int
	name                string
}

// multiply makes a step of a product of two values. It reports whether node i is one.
func (b *builder) multiply(i int) bool {
	n := &b.nodes[i]
	s := &multiplyStep{name: "matmul", out: n.out, bias: -1}
	switch arguments := n.op.Schema().Arguments; {
	case n.op.BaseName() == aten.Linear:
		if !b.plainLinear(s, n) {
			return false
		}
		b.place(i, s)
		return true
	case len(arguments) != 2: // something is added
		return false
	}
	if !b.rowsTimes(s, n) && !b.pair(s, n.refs[0], n.refs[1], n.out) {
		return false
	}
	b.place(i, s)
	return true
}

// rowsTimes gives a step the matrices of a product of more than two dimensions with one matrix: all rows are those of one. It reports whether it is
// such a product.
func (b *builder) rowsTimes(s *multiplyStep, n *node) (ok bool) {
	left, right := n.refs[0], n.refs[1]
	if left < 0 || right < 0 || !b.isFloat(left) || !b.isFloat(right) || b.facts[left].logical.Dim() < 3 || b.facts[right].logical.Dim() != 2 || !b.facts[n.out].physical.IsContiguous() {
		return false
	}
	if s.right, ok = b.asMatrices(right); !ok {
		return false
	}
	b.flatten(s, left, n.out)
	return true
}

// flatten gives a step, whose right matrix is there, all rows of a value on the left.
func (b *builder) flatten(s *multiplyStep, left, out int) {
	inner, columns := s.right.rows, s.right.cols
	rows := b.facts[left].logical.Numel() / inner
	s.left = matrices{value: b.asContiguous(left), rows: rows, cols: inner, stride: inner}
	s.result = matrices{value: out, rows: rows, cols: columns, stride: columns}
}

// plainLinear gives a step the matrices of a linear layer whose weight is another one in every call. It reports whether they are such.
func (b *builder) plainLinear(s *multiplyStep, n *node) (ok bool) {
	in, weight, bias := n.refs[0], n.refs[1], n.refs[2]
	if in < 0 || weight < 0 || !b.isFloat(in) || !b.isFloat(weight) || b.facts[weight].logical.Dim() != 2 || bias >= 0 && (!b.isFloat(bias) || b.facts[bias].logical.Dim() != 1) {
		return false
	}
	if s.right, ok = b.asMatrices(weight); !ok {
		return false
	}
	s.right.rows, s.right.cols, s.right.transposed = s.right.cols, s.right.rows, !s.right.transposed
	b.flatten(s, in, n.out)
	if s.name = "linear of weights that change"; bias >= 0 {
		s.bias = b.asContiguous(bias)
	}
	return b.facts[n.out].physical.IsContiguous()
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
func (s *multiplyStep) text() string { return s.name }

func (s *multiplyStep) reads() []int {
	if s.bias >= 0 {
		return []int{s.left.value, s.right.value, s.bias}
	}
	return []int{s.left.value, s.right.value}
}

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
		if s.bias >= 0 {
			p.Bias = x.floats(s.bias)
		}
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

func (s *multiplyStep) product(left, right, out []float32, i int) gemm.Product[float32] {
	at := s.starts(i)
	return gemm.Product[float32]{M: s.left.rows, N: s.right.cols, K: s.left.cols, A: s.left.matrix(left, at[0]), B: s.right.matrix(right, at[1]), C: s.result.matrix(out, at[2])}
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
	case aten.Mul:
		return factor, len(n.args) == 2
	case aten.Div:
		return 1 / factor, len(n.args) == 2 && factor != 0
	}
	return 0, false
}
