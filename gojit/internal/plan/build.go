package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Plan is the steps of a region for arguments of some sizes. It may run in many goroutines at once.
type Plan struct {
	program *program
	steps   []step
	facts   []fact
	memory  layout
	results []result
	weights int         // how many steps, and parts of steps, have weights
	packing []*convStep // those whose weights a call brings, and which are packed before the first step runs
	room    framePool
}

// step computes a value.
type step interface {
	run(x *frame) error
	reads() []int
	gives() int
	text() string
}

// inPlace is a step that may write its result over what it reads where nothing else does.
type inPlace interface{ overwrites() []int }

// givesMore is a step of several results.
type givesMore interface{ alsoGives() []int }

// needsRoom is a step that needs some bytes while it runs.
type needsRoom interface{ bytes() int }

// builder makes a plan.
type builder struct {
	*program
	nodes []node // with what is known of their arguments
	facts []fact
	done  []bool // nodes that are part of a step
	exact bool
	last  bool // images come with their channels together, and go so
	cache *weightCache
	at    []placed
	// laid are values that are others in another layout, by their names.
	laid map[string]int
	same map[int]int // values that are others
	// readers are the nodes that read each value.
	readers [][]int
}

// placed is a step and the node at whose place it runs.
type placed struct {
	node int
	step step
}

// plan makes the steps of a program for arguments.
func (p *program) plan(in given, exact bool, cache *weightCache) (*Plan, error) {
	b := &builder{program: p, nodes: make([]node, len(p.nodes)), done: make([]bool, len(p.nodes)), exact: exact, cache: cache, laid: map[string]int{}, same: map[int]int{}}
	for i, n := range p.nodes {
		n.refs = slices.Clone(n.refs)
		b.nodes[i] = n
	}
	b.findReaders()
	if err := b.infer(in); err != nil {
		return nil, err
	}
	b.findReaders()
	for i := range b.nodes {
		if f := &b.facts[b.nodes[i].out]; b.done[i] || f.isNumber || f.list != nil || f.parts != nil {
			continue
		}
		if err := b.step(i); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(b.at, func(a, c placed) int { return a.node - c.node })
	made := &Plan{program: p, facts: b.facts}
	read := map[int]bool{}
	for _, s := range slices.Backward(b.at) {
		c, isCopy := s.step.(*copyStep)
		if isCopy && !read[c.to] && !p.isOutput(c.to) { // made for a step that came to nothing
			continue
		}
		for _, v := range s.step.reads() {
			read[v], read[b.facts[v].root] = true, true
		}
		made.steps = append(made.steps, s.step)
	}
	slices.Reverse(made.steps)
	made.joinExpansions()
	for _, s := range made.steps {
		for _, c := range convolutionsOf(s) {
			c.slot = made.weights
			made.weights++
			if c.weightsAreGiven(p) {
				made.packing = append(made.packing, c)
			}
		}
	}
	if err := made.findResults(b.last); err != nil {
		return nil, err
	}
	made.layOut()
	return made, nil
}

// step makes the step of a node, and of nodes behind it that belong to it.
func (b *builder) step(i int) error {
	n := &b.nodes[i]
	b.done[i] = true
	switch {
	case n.kind == convolution:
		return b.convolution(i)
	case n.kind == recurrence:
		b.recurrent(i)
		return nil
	case n.kind == attending && b.attend(i), n.kind == product && b.attention(i), n.kind == product && b.linear(i), n.kind == product && b.multiply(i):
		return nil
	case n.kind == rowNormalization && b.normalRows(i), n.kind == rowDistribution && b.distributedRows(i), n.kind == windowed && b.window(i), n.kind == joined && b.join(i), n.kind == lookup && b.lookUp(i):
		return nil
	case n.kind == pointwise && b.elementwise(i):
		return nil
	case n.kind == notPlanned:
		b.view(i)
		return nil
	}
	b.place(i, &callStep{node: n, list: b.listOf(n)})
	return nil
}

// place puts a step at the place of a node.
func (b *builder) place(i int, s step) { b.at = append(b.at, placed{i, s}) }

// listOf returns the values of the list that a node reads, nil where it reads none.
func (b *builder) listOf(n *node) []int {
	for _, v := range n.refs {
		if v >= 0 && b.facts[v].list != nil {
			return b.facts[v].list
		}
	}
	return nil
}

// view makes what there is to do for a view: nothing, but where it became a copy.
func (b *builder) view(i int) {
	n := &b.nodes[i]
	if b.facts[n.out].root == n.out {
		b.place(i, &copyStep{from: n.refs[0], to: n.out, what: strings.TrimPrefix(n.op.BaseName(), "aten::")})
	}
}

// asImage returns a value as an image: itself, or a copy of it whose channels lie together.
func (b *builder) asImage(v int) int {
	f := &b.facts[v]
	if f.isImage || f.physical.IsContiguousFormat(tensor.ChannelsLast) {
		return v
	}
	return b.laidOut(v, "channels last", lastStrides(f.logical.Shape()))
}

// asContiguous returns a value as its elements follow each other: itself, or a copy.
func (b *builder) asContiguous(v int) int {
	if b.facts[v].physical.IsContiguous() {
		return v
	}
	return b.laidOut(v, "contiguous", nil)
}

// laidOut returns a copy of a value with other strides, nil for those of a contiguous one.
func (b *builder) laidOut(v int, what string, strides []int) int {
	name := fmt.Sprintf("%d %s", v, what)
	if known, ok := b.laid[name]; ok {
		return known
	}
	f := b.facts[v]
	made := len(b.facts)
	physical, err := metaOf(f.logical.Shape(), strides, f.logical.DType())
	if err != nil {
		panic(err) // the value has this shape already
	}
	b.facts = append(b.facts, fact{logical: f.logical, physical: physical, isImage: strides != nil, root: made, at: f.at})
	b.place(f.at, &copyStep{from: v, to: made, what: what})
	b.laid[name] = made
	return made
}

// findReaders fills readers: a list reads what is in it.
func (b *builder) findReaders() {
	b.readers = make([][]int, b.values)
	for i := range b.nodes {
		if b.done[i] { // it gives its argument itself
			continue
		}
		refs := b.nodes[i].refs
		for k, v := range refs {
			if v >= 0 && !slices.Contains(refs[:k], v) {
				b.readers[v] = append(b.readers[v], i)
			}
		}
	}
}

// users returns the nodes that read a value, in order.
func (b *builder) users(v int) []int {
	if v >= len(b.readers) {
		return nil
	}
	return b.readers[v]
}

// onlyUser returns the node that alone reads a value, which is no result of the region; -1 where there is none.
func (b *builder) onlyUser(v int) int {
	users := b.users(v)
	if len(users) != 1 || b.isOutput(v) || b.done[users[0]] {
		return -1
	}
	return users[0]
}

// mostAfter is how many operators are done with the result of a product before it is stored.
const mostAfter = 16

// chain returns the operators that are computed element by element of a value, and of one other value like it: as many as leave one value for
// others to read.
func (b *builder) chain(from int) (chain []int, like int) {
	inside := []int{from}
	var nodes, best []int
	like, bestLike := -1, -1
	shape := b.facts[from].logical.Shape()
	for i := b.nextReader(inside, -1); i >= 0; i = b.nextReader(inside, i) {
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
		if other == -2 || other >= 0 && (b.dependsOn(other, from) || !b.isLike(other, from)) || !tensor.SameShape(b.facts[n.out].logical.Shape(), shape) {
			break // what comes behind reads what is not inside
		}
		nodes, inside, like = append(nodes, i), append(inside, n.out), other
		if b.isOnlyWayOut(inside, nodes) {
			best, bestLike = slices.Clone(nodes), like
		}
	}
	return best, bestLike
}

// nextReader returns the first node behind another one that reads some of the values, -1 where there is none.
func (b *builder) nextReader(values []int, behind int) int {
	next := -1
	for _, v := range values {
		readers := b.users(v)
		if at, _ := slices.BinarySearch(readers, behind+1); at < len(readers) && (next < 0 || readers[at] < next) {
			next = readers[at]
		}
	}
	return next
}

// isLike reports whether two values have elements of float32 at the same places.
func (b *builder) isLike(v, w int) bool {
	f, g := &b.facts[v], &b.facts[w]
	return f.logical != nil && f.logical.DType() == tensor.Float32 && tensor.SameShape(f.logical.Shape(), g.logical.Shape())
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
func (b *builder) dependsOn(v, from int) bool { return b.reaches(v, from, map[int]bool{}) }

// reaches is dependsOn where some values are known not to be.
func (b *builder) reaches(v, from int, not map[int]bool) bool {
	if v == from {
		return true
	}
	if not[v] || b.isGiven(v) || b.facts[v].at < b.facts[from].at {
		return false
	}
	not[v] = true
	return slices.ContainsFunc(b.nodes[b.facts[v].at].refs, func(r int) bool { return r >= 0 && b.reaches(r, from, not) })
}

// result is what a region gives: a value, and how that is to lie.
type result struct {
	value          int
	shape, strides []int
	dtype          tensor.DType
	isCopied       bool // from how the plan lays it out
}

// findResults finds how results lie.
func (p *Plan) findResults(last bool) error {
	for _, v := range p.program.outputs {
		f := &p.facts[v]
		if f.isNumber || f.list != nil || f.root != v {
			return unplanned(sharedResult)
		}
		r := result{value: v, shape: f.logical.Shape(), strides: f.logical.Strides(), dtype: f.logical.DType()}
		same := tensor.SameShape(r.strides, f.physical.Strides())
		r.isCopied = !same && !(f.logical.IsContiguous() && f.physical.IsContiguous())
		p.results = append(p.results, r)
	}
	return nil
}
