package exec

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// profileKind is the kind of a node that notes what its input is, and gives it on.
const profileKind = "prim::profile"

// profiles are the plans of a function in the way of PyTorch's profiling executor: its first calls note the tensors that they meet, the later ones
// run a graph made for these, with a guard that leads back to the general form. Nothing needs them to be fast; they are for programs that look at
// such graphs.
type profiles struct {
	runs        int // that have noted what they met
	notes       *notes
	noting      *Plan
	specialized *Plan
}

// nextProfiled returns what the next call runs.
func (f *Function) nextProfiled(s Settings) (*Plan, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &f.profiles
	if p.specialized != nil {
		return p.specialized, nil
	}
	if p.noting == nil {
		g, err := f.definition()
		if err != nil {
			return nil, err
		}
		j := &job{way: profiled, function: f.function, graph: g.Copy()}
		if p.noting, err = f.engine.build(j); err != nil {
			return nil, err
		}
		p.notes = j.notes
	}
	if p.runs < s.ProfiledRuns {
		p.runs++
		return p.noting, nil
	}
	j := &job{way: specialized, function: f.function, graph: p.noting.Graph.Copy(), notes: p.notes, inlining: s.Inlining}
	var err error
	p.specialized, err = f.engine.build(j)
	return p.specialized, err
}

// notes are what calls of a graph have met.
type notes struct {
	mu   sync.Mutex
	seen []*types.TensorInfo // by prim::profile, in the order of the graph; what all calls had in common
	at   map[*ir.Node]int
}

// addNotes puts a prim::profile behind every tensor that is defined in the graph.
func (j *job) addNotes() error {
	instrument(j.graph, j.graph.Block())
	j.notes = &notes{at: map[*ir.Node]int{}}
	eachNote(j.graph, func(i int, n *ir.Node) { j.notes.at[n] = i })
	j.notes.seen = make([]*types.TensorInfo, len(j.notes.at))
	return nil
}

// eachNote visits the notes of a graph in order.
func eachNote(g *ir.Graph, visit func(i int, n *ir.Node)) {
	i := 0
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == profileKind {
			visit(i, n)
			i++
		}
	})
}

func instrument(g *ir.Graph, b *ir.Block) {
	first := b.First()
	for _, in := range b.Inputs() {
		if in.Type().Kind() == types.KindTensor {
			note(g, in, func(n *ir.Node) { n.InsertBefore(orReturn(first, b)) })
		}
	}
	for n := first; n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			instrument(g, inner)
		}
		if n.Kind() == profileKind || n.Kind() == "prim::Constant" {
			continue
		}
		at := n
		for _, out := range n.Outputs() {
			if out.Type().Kind() == types.KindTensor && out.HasUses() {
				note(g, out, func(n *ir.Node) { at = n.InsertAfter(at) })
			}
		}
		n = at
	}
}

func orReturn(n *ir.Node, b *ir.Block) *ir.Node {
	if n == nil {
		return b.ReturnNode()
	}
	return n
}

// note makes the node for v, which insert places, and has everything else use its output.
func note(g *ir.Graph, v *ir.Value, insert func(*ir.Node)) {
	n := g.Create(profileKind, nil, 1)
	n.Output().SetType(v.Type())
	v.ReplaceAllUsesWith(n.Output())
	n.AddInput(v)
	insert(n)
}

// runner makes the operation of a prim::profile.
func (p *notes) runner(n *ir.Node) (autograd.Operation, error) {
	i := p.at[n]
	return func(m *autograd.Mode, args, out []value.Value) error {
		out[0] = args[0]
		if args[0].IsTensor() {
			p.learn(i, value.CompleteType(args[0].Tensor()).(*types.TensorInfo))
		}
		return nil
	}, nil
}

func (p *notes) learn(i int, t *types.TensorInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.seen[i]; before != nil {
		t = before.Common(t)
	}
	p.seen[i] = t
}

// specialize makes the graph one for what the calls have met: the notes go, and where a tensor required a gradient, what is differentiable is
// grouped and guarded.
func (j *job) specialize() error {
	met := map[*ir.Value]*types.TensorInfo{}
	var made []*ir.Node
	eachNote(j.graph, func(i int, n *ir.Node) { made = append(made, n) })
	j.notes.mu.Lock()
	for i, n := range made {
		if t := j.notes.seen[i]; t != nil {
			met[n.Input(0)] = t
		}
		n.Output().ReplaceAllUsesWith(n.Input(0))
		n.Destroy()
	}
	j.notes.mu.Unlock()
	for _, t := range met {
		if t.RequiresGrad != nil && *t.RequiresGrad {
			differentiate(j.graph, met, j.inlining)
			break
		}
	}
	return nil
}
