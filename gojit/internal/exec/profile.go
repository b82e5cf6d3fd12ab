package exec

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/tensorexpr"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// profileKind is the kind of a node that notes what its input is, and gives it on.
const profileKind = prim.Profile

// profiles are the plans of a function in the way of PyTorch's profiling executor: its first calls note the tensors that they meet, the later ones
// run a graph made for these, with a guard that leads back to the general form. Nothing needs them to be fast; they are for programs that look at
// such graphs.
type profiles struct {
	runs        int // that have noted what they met
	noting      *Plan
	specialized *Plan
}

// nextProfiled returns what the next call runs.
func (f *Function) nextProfiled(s Settings, args []value.Value) (*Plan, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &f.profiles
	if p.specialized != nil {
		return p.specialized, nil
	}
	if f.depth(s) == 0 {
		return f.plan(optimized, args)
	}
	if p.noting == nil {
		g, err := f.definition()
		if err != nil {
			return nil, err
		}
		if usesProfile(g) {
			return f.plan(defined, args)
		}
		j := &job{way: profiled, function: f.function, graph: g.Copy()}
		if p.noting, err = f.engine.build(j); err != nil {
			return nil, err
		}
	}
	if p.runs < s.ProfiledRuns {
		p.runs++
		return p.noting, nil
	}
	j := &job{way: specialized, function: f.function, graph: p.noting.Graph.Copy(), notes: p.noting.notes, settings: s, depth: f.depth(s), ofGradients: f.ofGradients}
	var err error
	p.specialized, err = f.engine.build(j)
	return p.specialized, err
}

// notes are what calls of a graph have met.
type notes struct {
	mu       sync.Mutex
	seen     []*types.TensorInfo // by prim::profile, in the order of the graph; what all calls had in common
	seenNone []bool

	missing []bool // of the inputs of a gradient's graph: what calls got none of
	calls   int
	varies  bool // not all calls missed the same
	at      map[*ir.Node]int
}

// addNotes puts a prim::profile before every use of a tensor that tells something: by or of an operator that may be grouped or differentiated, or that
// asks for shapes, and of what blocks give.
func (j *job) addNotes() error {
	instrument(j.graph, j.graph.Block())
	last := j.graph.Create(profileKind, nil, 0).InsertBefore(j.graph.Block().ReturnNode())
	j.notes = &notes{at: map[*ir.Node]int{}}
	eachNote(j.graph, func(i int, n *ir.Node) { j.notes.at[n] = i })
	j.notes.at[last] = -1
	j.notes.seen, j.notes.seenNone = make([]*types.TensorInfo, len(j.notes.at)), make([]bool, len(j.notes.at))
	return nil
}

// eachNote visits the notes of a graph in order.
func eachNote(g *ir.Graph, visit func(i int, n *ir.Node)) {
	i := 0
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == profileKind && len(n.Inputs()) > 0 {
			visit(i, n)
			i++
		}
	})
}

func instrument(g *ir.Graph, b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() == profileKind {
			continue
		}
		for i, v := range n.Inputs() {
			if isNoted(n) || isNoted(v.Node()) && !n.Is(prim.TupleUnpack) {
				note(g, v, n, i)
			}
		}
		for _, inner := range n.Blocks() {
			instrument(g, inner)
		}
	}
	for i, v := range b.ReturnNode().Inputs() {
		note(g, v, b.ReturnNode(), i)
	}
}

// isNoted reports whether the tensors of a node are worth knowing.
func isNoted(n *ir.Node) bool {
	switch n.Kind() {
	case prim.ListConstruct, passes.PartsKind, prim.Dtype, prim.Device, prim.IsCuda:
		return true
	}
	o := n.Operator()
	return o != nil && !o.Schema().IsMutable() && (o.Has(ops.Profiled) || o.Def().IsElementwise() || o.Def().Has(ops.Grouped) || o.Has(ops.Symbolic) || tensorexpr.IsGrouped(o))
}

// note has n read its i-th input, where that is a tensor, through a prim::profile.
func note(g *ir.Graph, v *ir.Value, n *ir.Node, i int) {
	t := v.Type()
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if t.Kind() != types.KindTensor {
		return
	}
	p := g.Create(profileKind, []*ir.Value{v}, 1).SetAttr("profiled_type", types.Tensor).SetAttr("seen_none", int64(0)).InsertBefore(n)
	p.Output().SetType(v.Type())
	n.ReplaceInput(i, p.Output())
}

// describe writes into the notes of a graph what calls have met so far.
func (p *notes) describe(g *ir.Graph) {
	p.mu.Lock()
	defer p.mu.Unlock()
	eachNote(g, func(i int, n *ir.Node) {
		if t := p.seen[i]; t != nil {
			n.SetAttr("profiled_type", types.Type(t))
		}
		if p.seenNone[i] {
			n.SetAttr("seen_none", int64(1))
		}
	})
}

// runner makes the operation of a prim::profile.
func (p *notes) runner(n *ir.Node) (autograd.Operation, error) {
	i := p.at[n]
	if i < 0 {
		return func(*autograd.Mode, []value.Value, []value.Value) error { return nil }, nil
	}
	return func(m *autograd.Mode, args, out []value.Value) error {
		out[0] = args[0]
		p.learn(i, args[0], m.GradEnabled())
		return nil
	}, nil
}

// learn notes what the i-th note meets.
func (p *notes) learn(i int, v value.Value, gradients bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !v.IsTensor() {
		p.seenNone[i] = true
		return
	}
	t := value.CompleteType(v.Tensor()).(*types.TensorInfo)
	requires := gradients && *t.RequiresGrad
	t.RequiresGrad = &requires
	if before := p.seen[i]; before != nil {
		t = before.Common(t)
	}
	p.seen[i] = t
}
