package plan

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Plan is the steps of a region, for all sizes of images for which they are the same. It may run in many goroutines at once.
type Plan struct {
	program *program
	steps   []step
	free    [][]int // after each step, the values that nothing reads any more
}

// step computes a value.
type step interface {
	run(x *execution) error
	reads() []int
	gives() int
	text() string
}

// builder makes a plan.
type builder struct {
	*program
	plan   *Plan
	shapes [][]int // of values
	done   []bool  // nodes that are part of a step
	exact  bool
	at     []placed
}

// placed is a step and the node at whose place it runs.
type placed struct {
	node int
	step step
}

// build makes the steps of a program for values of some shapes.
func (p *program) build(shapes [][]int, exact bool) *Plan {
	b := &builder{program: p, plan: &Plan{program: p}, shapes: shapes, done: make([]bool, len(p.nodes)), exact: exact}
	for i := range p.nodes {
		switch n := &p.nodes[i]; {
		case b.done[i]:
		case n.kind == convolution:
			b.convolution(i)
		default:
			b.at = append(b.at, placed{i, &callStep{node: n}})
		}
	}
	slices.SortStableFunc(b.at, func(a, c placed) int { return a.node - c.node })
	for _, s := range b.at {
		b.plan.steps = append(b.plan.steps, s.step)
	}
	b.plan.findLastReads()
	return b.plan
}

// findLastReads fills free.
func (p *Plan) findLastReads() {
	last := map[int]int{}
	for i, s := range p.steps {
		last[s.gives()] = i
		for _, v := range s.reads() {
			last[v] = i
		}
	}
	p.free = make([][]int, len(p.steps))
	for v, i := range last {
		if v >= p.program.inputs+len(p.program.constants) && !p.program.isOutput(v) {
			p.free[i] = append(p.free[i], v)
		}
	}
	for _, values := range p.free {
		slices.Sort(values)
	}
}

// users returns the nodes that read a value.
func (p *program) users(v int) []int {
	var found []int
	for i := range p.nodes {
		if slices.Contains(p.nodes[i].refs, v) {
			found = append(found, i)
		}
	}
	return found
}

// onlyUser returns the node that alone reads a value, which is no result of the region; -1 where there is none.
func (b *builder) onlyUser(v int) int {
	users := b.users(v)
	if len(users) != 1 || b.isOutput(v) || b.done[users[0]] {
		return -1
	}
	return users[0]
}

// convolution makes a step of a convolution, the normalization of its result and what is computed of that element by element.
func (b *builder) convolution(i int) {
	n := &b.nodes[i]
	s := &convStep{node: n, exact: b.exact, in: n.refs[0], weight: n.refs[1], bias: n.refs[2], like: -1, out: n.out, norm: [4]int{-1, -1, -1, -1}}
	s.read()
	b.done[i] = true
	place := i
	if u := b.onlyUser(s.out); u >= 0 && b.nodes[u].kind == normalization && b.nodes[u].refs[0] == s.out {
		m := &b.nodes[u]
		copy(s.norm[:], m.refs[1:5])
		s.normalized, s.epsilon, s.out, place = true, m.args[7].Float(), m.out, u
		b.done[u] = true
	}
	if chain := b.chain(s); len(chain) > 0 {
		alone := s.out
		s.from = s.out
		for _, u := range chain {
			s.after = append(s.after, &b.nodes[u])
			s.out = b.nodes[u].out
		}
		if s.finish() {
			for _, u := range chain {
				b.done[u] = true
			}
			place = chain[len(chain)-1]
		} else {
			s.after, s.like, s.out = nil, -1, alone
		}
	}
	b.at = append(b.at, placed{place, s})
}

// mostAfter is how many operators are done with the result of a convolution before it is stored.
const mostAfter = 16

// chain returns the operators that are computed element by element of what a convolution gives, and of one other image (like): as many as
// leave one value for others to read.
func (b *builder) chain(s *convStep) []int {
	inside := []int{s.out}
	var nodes, best []int
	like, bestLike := -1, -1
	for i := range b.nodes {
		n := &b.nodes[i]
		if b.done[i] || n.kind != pointwise || len(nodes) == mostAfter {
			continue
		}
		other, joins := like, false
		for _, v := range n.refs {
			switch {
			case v < 0:
			case slices.Contains(inside, v):
				joins = true
			case other < 0 || other == v:
				other = v
			default:
				other = -2
			}
		}
		if !joins {
			continue
		}
		if other == -2 || other >= 0 && (b.dependsOn(other, s.out) || !tensor.SameShape(b.shapes[other], b.shapes[s.out])) {
			break // what comes behind reads what is not inside
		}
		nodes, inside, like = append(nodes, i), append(inside, n.out), other
		if b.isOnlyWayOut(inside, nodes) {
			best, bestLike = slices.Clone(nodes), like
		}
	}
	s.like = bestLike
	return best
}

// isOnlyWayOut reports whether of some values only the last one is read by nodes that are not among those given, or is a result.
func (b *builder) isOnlyWayOut(values, nodes []int) bool {
	for _, v := range values[:len(values)-1] {
		if b.isOutput(v) || slices.ContainsFunc(b.users(v), func(u int) bool { return !slices.Contains(nodes, u) }) {
			return false
		}
	}
	return true
}

// dependsOn reports whether a value is computed from another one.
func (b *builder) dependsOn(v, from int) bool {
	if v == from {
		return true
	}
	for i := range b.nodes {
		if b.nodes[i].out == v {
			return slices.ContainsFunc(b.nodes[i].refs, func(r int) bool { return r >= 0 && b.dependsOn(r, from) })
		}
	}
	return false
}

// read takes the constants of the convolution's arguments.
func (s *convStep) read() {
	n := s.node
	g := &s.geometry
	one := [3]int{1, 1, 1}
	*g = dense.Convolution{Stride: one, Dilation: one, Kernel: one, In: one, Out: one, Groups: 1}
	two := func(i int) [3]int { return pairOf(n.args[i]) }
	g.Stride, g.Padding, g.Dilation = two(3), two(4), two(5)
	g.Padding[0] = 0
	groups := 6
	if n.op.BaseName() == "aten::_convolution" {
		groups = 8
	}
	g.Groups = int(n.args[groups].Int())
}

// pairOf returns a number or two as those of height and width, behind 1.
func pairOf(v value.Value) [3]int {
	xs, _ := intsOf(v)
	if len(xs) == 1 {
		return [3]int{1, xs[0], xs[0]}
	}
	return [3]int{1, xs[0], xs[1]}
}

// shapesOf finds the shapes of all values of a program, from tensors for its inputs and constants, by running its operators on tensors
// without elements. It fails where one refuses its arguments, and where a value is no image.
func (p *program) shapesOf(values []*tensor.Tensor) ([][]int, error) {
	metas, shapes := make([]*tensor.Tensor, p.values), make([][]int, p.values)
	for v, t := range values[:p.inputs+len(p.constants)] {
		if t == nil {
			continue
		}
		var err error
		if metas[v], err = tensor.EmptyMeta(t.Shape(), t.DType()); err != nil {
			return nil, err
		}
		shapes[v] = t.Shape()
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.kind == normalization {
			metas[n.out], shapes[n.out] = metas[n.refs[0]], shapes[n.refs[0]]
			continue
		}
		args := slices.Clone(n.args)
		for k, v := range n.refs {
			if v >= 0 && metas[v] != nil {
				args[k] = value.OfTensor(metas[v])
			}
		}
		var out [1]value.Value
		if err := n.op.Run(args, out[:]); err != nil {
			return nil, err
		}
		t := out[0].Tensor()
		if t.Dim() != 4 || t.DType() != tensor.Float32 || t.Numel() == 0 {
			return nil, errUnplanned
		}
		metas[n.out], shapes[n.out] = t, t.Shape()
	}
	return shapes, nil
}
