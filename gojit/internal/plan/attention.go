package plan

import (
	"math"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/nn"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// attentionStep is distribution(factor * left rightᵀ + mask) values, over some rows of left at a time: the whole of the scores is never there.
type attentionStep struct {
	scores, sums multiplyStep // left and right give scores, these and the values sums
	mask         int          // -1: none; added, or of bools, false where the score is minus infinity
	isBool       bool
	maskSteps    []int // elements from a matrix of it to the next, along the dimensions of the batch
	maskRow      int   // from row to row
	tile         int   // rows at a time
	before       *launch.Program
	distribution nn.SoftmaxOfRows
}

// tileBytes is what the scores of some rows take at most, where they are more than fewestTileRows: they stay in the cache of the second level.
const (
	tileBytes      = 256 << 10
	fewestTileRows = 16
)

// attention makes a step of a product, the distribution of its rows, and its product with values. It reports whether node i is the first of these.
func (b *builder) attention(i int) bool {
	n := &b.nodes[i]
	s := &attentionStep{mask: -1, scores: multiplyStep{bias: -1}, sums: multiplyStep{bias: -1}}
	switch n.op.BaseName() {
	case aten.Matmul, aten.Bmm:
	default:
		return false
	}
	nodes := []int{i}
	next := func() *node {
		u := b.onlyUser(b.nodes[nodes[len(nodes)-1]].out)
		if u < 0 {
			return nil
		}
		nodes = append(nodes, u)
		return &b.nodes[u]
	}
	m := next()
	factor, isScaled := 1.0, false
	if m != nil {
		if factor, isScaled = isNumberOp(m); isScaled {
			m = next()
		} else {
			factor = 1
		}
	}
	if m != nil && b.isMask(m, b.nodes[nodes[len(nodes)-2]].out, s, n.out) {
		m = next()
	}
	dims := b.facts[n.out].logical.Dim()
	if m == nil || m.kind != rowDistribution || !isAlongLast(m, dims) || dims < 3 {
		return false
	}
	weights := m.out
	if m = next(); m == nil || m.kind != product || m.refs[0] != weights || m.op.BaseName() != n.op.BaseName() {
		return false
	}
	if !b.isSamePair(n.refs[0], n.refs[1], n.out) || !b.isSamePair(-1, m.refs[1], m.out) {
		return false
	}
	if !b.pair(&s.scores, n.refs[0], n.refs[1], n.out) || !b.pair(&s.sums, weights, m.refs[1], m.out) {
		return false
	}
	if !s.complete(m.out, factor, isScaled) {
		return false
	}
	for _, u := range nodes {
		b.done[u] = true
	}
	b.place(nodes[len(nodes)-1], s)
	return true
}

// attend makes a step of an operator that does all of it. It reports whether the step can do what node i does.
func (b *builder) attend(i int) bool {
	n := &b.nodes[i]
	s := &attentionStep{mask: -1, scores: multiplyStep{bias: -1}, sums: multiplyStep{bias: -1}}
	queries, keys, values, mask := n.refs[0], n.refs[1], n.refs[2], n.refs[3]
	if !b.isSamePair(queries, keys, n.out) || !b.isSamePair(-1, values, n.out) || !b.pair(&s.scores, queries, keys, n.out) || !b.pair(&s.sums, queries, values, n.out) {
		return false
	}
	right := &s.scores.right // as they are multiplied
	right.rows, right.cols, right.transposed = right.cols, right.rows, !right.transposed
	shape := slices.Concat(s.scores.batch, []int{s.scores.left.rows, right.cols})
	if mask >= 0 && !b.takeMask(s, mask, shape) || mask < 0 && !n.args[3].IsNone() {
		return false
	}
	factor := 1 / math.Sqrt(float64(s.scores.left.cols))
	if i := n.op.Schema().ArgumentIndex("scale"); i >= 0 && n.args[i].IsFloat() {
		factor = n.args[i].Float()
	}
	if !s.complete(n.out, factor, true) {
		return false
	}
	b.place(i, s)
	return true
}

// complete finds what follows from matrices and mask. It reports whether there is a kernel for the scores.
func (s *attentionStep) complete(out int, factor float64, isScaled bool) bool {
	s.tile = min(s.scores.left.rows, max(fewestTileRows, tileBytes/4/s.stride()))
	s.sums.out = out
	s.distribution = nn.NewSoftmaxOfRows()
	if isScaled && s.mask < 0 && float32(factor) > 0 && !math.IsInf(factor, 1) {
		s.distribution, isScaled = s.distribution.Times(factor), false
	}
	var err error
	s.before, err = s.scaledScores(factor, isScaled)
	return err == nil
}

// isSamePair reports whether the operands of a product have all dimensions of its result in front.
func (b *builder) isSamePair(left, right, out int) bool {
	dims := b.facts[out].logical.Dim()
	for _, v := range []int{left, right} {
		if v >= 0 && (!b.isFloat(v) || b.facts[v].logical.Dim() != dims) {
			return false
		}
	}
	return right >= 0
}

// isMask reports whether a node adds to scores what broadcasts to them, and notes that.
func (b *builder) isMask(n *node, scores int, s *attentionStep, out int) bool {
	if n.kind != pointwise || n.op.Name != "aten::add.Tensor" || !n.args[2].IsInt() || n.args[2].Int() != 1 {
		return false
	}
	mask := n.refs[0]
	if mask == scores {
		mask = n.refs[1]
	} else if n.refs[1] != scores {
		return false
	}
	shape := b.facts[out].logical.Shape()
	if mask < 0 || mask == scores || !b.isFloat(mask) || b.dependsOn(mask, out) || !tensor.SameShape(b.facts[n.out].logical.Shape(), shape) {
		return false
	}
	return b.takeMask(s, mask, shape)
}

// takeMask gives a step a mask for scores of a shape. It reports whether that has an element for each column, and no gaps between them.
func (b *builder) takeMask(s *attentionStep, mask int, shape []int) bool {
	t := b.facts[mask].physical
	if t == nil || t.DType() != tensor.Float32 && t.DType() != tensor.Bool {
		return false
	}
	dims := t.Dim()
	if dims < 1 || dims > len(shape) || t.Size(dims-1) != shape[len(shape)-1] || t.Strides()[dims-1] != 1 && t.Size(dims-1) > 1 {
		return false
	}
	for d := range dims { // it does not make the scores larger
		if n := t.Size(d); n != 1 && n != shape[len(shape)-dims+d] {
			return false
		}
	}
	s.mask, s.isBool, s.maskSteps = mask, t.DType() == tensor.Bool, b.stepsAlong(mask, shape[:len(shape)-2])
	if dims > 1 && t.Size(dims-2) > 1 {
		s.maskRow = t.Strides()[dims-2]
	}
	return true
}

// scaledScores makes the kernel that multiplies scores with a factor and masks them; nil where there is nothing to do.
func (s *attentionStep) scaledScores(factor float64, isScaled bool) (*launch.Program, error) {
	if !isScaled && s.mask < 0 {
		return nil, nil
	}
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	if isScaled {
		x = b.Mul(x, b.Number(x, factor))
	}
	switch {
	case s.isBool:
		x = b.Select(b.Input(tensor.Bool, tensor.Bool), x, b.Number(x, math.Inf(-1)))
	case s.mask >= 0:
		x = b.Add(x, b.Input(tensor.Float32, tensor.Float32))
	}
	b.Output(x, tensor.Float32)
	return launch.ProgramOf(b.Kernel())
}

func (s *attentionStep) gives() int { return s.sums.out }

func (s *attentionStep) reads() []int {
	found := []int{s.scores.left.value, s.scores.right.value, s.sums.right.value}
	if s.mask >= 0 {
		found = append(found, s.mask)
	}
	return found
}

func (s *attentionStep) text() string {
	if s.mask >= 0 {
		return "masked attention"
	}
	return "attention"
}

// stride returns the elements from a row of scores to the next: rows begin on cache lines.
func (s *attentionStep) stride() int {
	const line = lineBytes / 4
	return (s.scores.right.cols + line - 1) / line * line
}

// scoreBytes returns the bytes of the scores of a tile.
func (s *attentionStep) scoreBytes() int { return s.tile * s.stride() * 4 }

// bytes returns what each of the threads has for scores.
func (s *attentionStep) bytes() int { return s.scoreBytes() * s.parts() }

// mostAttending bounds the threads that have memory for scores of their own.
const mostAttending = 16

// parts returns into how many parts the work is cut that run at the same time, whatever the number of threads is.
func (s *attentionStep) parts() int { return min(mostAttending, s.tiles()) }

// tiles returns how many tiles there are.
func (s *attentionStep) tiles() int {
	return count(s.scores.batch) * ((s.scores.left.rows + s.tile - 1) / s.tile)
}

func (s *attentionStep) run(x *frame) error {
	tiles, parts, room := s.tiles(), s.parts(), x.room()
	if parallel.NumThreads() == 1 {
		s.some(x, room, 0, tiles)
		return nil
	}
	parallel.For(parts, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s.some(x, unsafe.Add(room, i*s.scoreBytes()), tiles*i/parts, tiles*(i+1)/parts)
		}
	})
	return nil
}

// some computes the tiles from lo to hi.
func (s *attentionStep) some(x *frame, room unsafe.Pointer, lo, hi int) {
	left, right, values, out := x.floats(s.scores.left.value), x.floats(s.scores.right.value), x.floats(s.sums.right.value), x.floats(s.sums.out)
	rows, columns, stride := s.scores.left.rows, s.scores.right.cols, s.stride()
	each := (rows + s.tile - 1) / s.tile
	scores := gemm.Matrix[float32]{Data: unsafe.Slice((*float32)(room), s.tile*stride), Stride: stride}
	for i := lo; i < hi; i++ {
		at, sums := s.scores.starts(i/each), s.sums.starts(i/each)
		first := i % each * s.tile
		n := min(s.tile, rows-first)
		p := gemm.Product[float32]{M: n, N: columns, K: s.scores.left.cols, A: s.scores.left.row(left, at[0], first), B: s.scores.right.matrix(right, at[1]), C: scores}
		p.Run()
		row := launch.Row{Ptr: room, Step: stride * 4}
		if s.before != nil {
			s.scale(x, row, i/each, first, n)
		}
		s.distribution.Run(row, row, n, columns)
		p = gemm.Product[float32]{M: n, N: s.sums.right.cols, K: columns, A: scores, B: s.sums.right.matrix(values, sums[1]), C: s.sums.result.row(out, sums[2], first)}
		p.Run()
	}
}

// scale multiplies scores with the factor and adds the mask.
func (s *attentionStep) scale(x *frame, row launch.Row, batch, first, n int) {
	operands := [3]launch.Row{row, row}
	used := operands[:2]
	if s.mask >= 0 {
		at := first * s.maskRow
		for d := len(s.maskSteps) - 1; d >= 0; d-- {
			at += batch % s.scores.batch[d] * s.maskSteps[d]
			batch /= s.scores.batch[d]
		}
		t := x.values[s.mask]
		size := t.DType().Size()
		used = append(used, launch.Row{Ptr: unsafe.Add(t.DataPtr(), at*size), Step: s.maskRow * size})
	}
	s.before.Rows(n, s.scores.right.cols, used, nil)
}

// row returns the matrix from a row on.
func (m *matrices) row(data []float32, at, first int) gemm.Matrix[float32] {
	if m.transposed {
		return m.matrix(data, at+first)
	}
	return m.matrix(data, at+first*m.stride)
}
