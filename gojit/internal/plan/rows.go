package plan

import (
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/nn"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// distributedRows makes a step of exponentials over their sum along the last dimension. It reports whether node i is one.
func (b *builder) distributedRows(i int) bool {
	n := &b.nodes[i]
	in := n.refs[0]
	if in < 0 || !b.isFloat(in) {
		return false
	}
	x := b.facts[in].logical
	if !isAlongLast(n, x.Dim()) {
		return false
	}
	b.place(i, &distributionStep{name: nameOf(n), in: b.asContiguous(in), out: n.out, n: x.Size(x.Dim() - 1), rows: nn.NewSoftmaxOfRows()})
	return true
}

// nameOf is what explanations call the step of a node.
func nameOf(n *node) string { return strings.TrimPrefix(n.op.BaseName(), "aten::") }

// normalRows makes a step of a normalization along the last dimensions. It reports whether node i is one.
func (b *builder) normalRows(i int) bool {
	n := &b.nodes[i]
	in := n.refs[0]
	if in < 0 || !b.isFloat(in) {
		return false
	}
	shape, ok := intsOf(n.args[1])
	s := &normalStep{name: nameOf(n), in: in, weight: n.refs[2], bias: n.refs[3], out: n.out, n: count(shape), eps: n.args[4].Float()}
	if !ok || s.weight < 0 && s.bias >= 0 {
		return false
	}
	for _, v := range []*int{&s.weight, &s.bias} {
		if *v >= 0 {
			if !b.isFloat(*v) {
				return false
			}
			*v = b.asContiguous(*v)
		}
	}
	s.in = b.asContiguous(in)
	s.normal = nn.NewNormalOfRows(s.weight >= 0, s.bias >= 0)
	b.place(i, s)
	return true
}

// isAlongLast reports whether a distribution is one along the last of some dimensions, in the type of its argument.
func isAlongLast(n *node, dims int) bool {
	return dims > 0 && (n.args[1].Int() == -1 || int(n.args[1].Int()) == dims-1) && n.args[2].IsNone()
}

// distributionStep makes the elements along the last dimension exponentials over their sum.
type distributionStep struct {
	name       string
	in, out, n int
	rows       nn.SoftmaxOfRows
}

func (s *distributionStep) gives() int        { return s.out }
func (s *distributionStep) reads() []int      { return []int{s.in} }
func (s *distributionStep) overwrites() []int { return []int{s.in} }
func (s *distributionStep) text() string      { return s.name }

func (s *distributionStep) run(x *frame) error {
	in, out := x.values[s.in], x.values[s.out]
	from, to := launch.RowOf(in, s.n), launch.RowOf(out, s.n)
	rows := out.Numel() / s.n
	if parallel.NumThreads() == 1 {
		s.rows.Run(to, from, rows, s.n)
		return nil
	}
	parallel.For(rows, nn.MostRows(s.n), func(lo, hi int) { s.rows.Run(to.From(lo), from.From(lo), hi-lo, s.n) })
	return nil
}

// normalStep normalizes what lies along the last dimensions.
type normalStep struct {
	name                     string
	in, weight, bias, out, n int
	eps                      float64
	normal                   nn.NormalOfRows
}

func (s *normalStep) gives() int        { return s.out }
func (s *normalStep) overwrites() []int { return []int{s.in} }
func (s *normalStep) text() string      { return s.name }

func (s *normalStep) reads() []int {
	found := []int{s.in}
	for _, v := range []int{s.weight, s.bias} {
		if v >= 0 {
			found = append(found, v)
		}
	}
	return found
}

func (s *normalStep) run(x *frame) error {
	in, out := x.values[s.in], x.values[s.out]
	from, to := launch.RowOf(in, s.n), launch.RowOf(out, s.n)
	rows := out.Numel() / s.n
	var weight, bias unsafe.Pointer
	if s.weight >= 0 {
		weight = x.values[s.weight].DataPtr()
	}
	if s.bias >= 0 {
		bias = x.values[s.bias].DataPtr()
	}
	if parallel.NumThreads() == 1 {
		s.normal.Run(to, from, weight, bias, rows, s.n, s.eps)
		return nil
	}
	parallel.For(rows, nn.MostRows(s.n), func(lo, hi int) {
		s.normal.Run(to.From(lo), from.From(lo), weight, bias, hi-lo, s.n, s.eps)
	})
	return nil
}

// lookUpStep copies rows of a table.
type lookUpStep struct{ table, at, out int }

// lookUp makes the step of aten::embedding. It reports whether node i has a table of float32 and numbers of int64.
func (b *builder) lookUp(i int) bool {
	n := &b.nodes[i]
	if n.refs[0] < 0 || n.refs[1] < 0 || !b.isFloat(n.refs[0]) || b.facts[n.refs[1]].logical.DType() != tensor.Int64 {
		return false
	}
	b.place(i, &lookUpStep{b.asContiguous(n.refs[0]), b.asContiguous(n.refs[1]), n.out})
	return true
}

func (s *lookUpStep) gives() int   { return s.out }
func (s *lookUpStep) reads() []int { return []int{s.table, s.at} }
func (s *lookUpStep) text() string { return "embedding" }

func (s *lookUpStep) run(x *frame) error {
	table, out, n := x.floats(s.table), x.floats(s.out), x.values[s.table].Size(1)
	rows := int64(x.values[s.table].Size(0))
	for i, at := range tensor.Data[int64](x.values[s.at]) {
		if at < 0 || at >= rows {
			return source.Errorf(source.IndexError, source.Range{}, "index out of range in self")
		}
		copy(out[i*n:(i+1)*n], table[int(at)*n:])
	}
	return nil
}
