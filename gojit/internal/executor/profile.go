package executor

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// profileKind is the kind of a node that notes what its input is, and gives it on.
const profileKind = "prim::profile"

// profile is a function's optimized graph with notes of the tensors that calls meet.
type profile struct {
	graph *ir.Graph
	code  *interp.Code

	mu   sync.Mutex
	seen map[*ir.Node]*types.TensorInfo // by prim::profile; what all calls had in common
}

// newProfile makes the graph and its code. It fails where the function's graph cannot be run.
func newProfile(f *ir.Function, base *interp.Machine) (*profile, error) {
	g := f.Graph().Copy()
	passes.Optimize(g)
	p := &profile{graph: g, seen: map[*ir.Node]*types.TensorInfo{}}
	p.instrument(g.Block())
	lowering.Store(g, p)
	defer lowering.Delete(g)
	var err error
	p.code, err = machinesFor(base).profiling.Lower(f.ShortName(), g)
	return p, err
}

// lowering has the profiles, by their graphs, that are just being made ready to run.
var lowering sync.Map

// instrument puts a prim::profile behind every tensor that is defined in a block.
func (p *profile) instrument(b *ir.Block) {
	first := b.First()
	for _, in := range b.Inputs() {
		if in.Type().Kind() == types.KindTensor {
			p.note(in, func(n *ir.Node) { n.InsertBefore(orReturn(first, b)) })
		}
	}
	for n := first; n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			p.instrument(inner)
		}
		if n.Kind() == profileKind || n.Kind() == "prim::Constant" {
			continue
		}
		at := n
		for _, out := range n.Outputs() {
			if out.Type().Kind() == types.KindTensor && out.HasUses() {
				p.note(out, func(n *ir.Node) { at = n.InsertAfter(at) })
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
func (p *profile) note(v *ir.Value, insert func(*ir.Node)) {
	n := p.graph.Create(profileKind, nil, 1)
	n.Output().SetType(v.Type())
	v.ReplaceAllUsesWith(n.Output())
	n.AddInput(v)
	insert(n)
}

// runNote makes the operation of a prim::profile.
func runNote(n *ir.Node) (autograd.Operation, error) {
	found, ok := lowering.Load(n.Graph())
	if !ok {
		return nil, source.Errorf(source.RuntimeError, n.Range, "%s stands outside of a profile", profileKind)
	}
	p := found.(*profile)
	return func(m *autograd.Mode, args, out []value.Value) error {
		out[0] = args[0]
		if args[0].IsTensor() {
			p.learn(n, value.CompleteType(args[0].Tensor()).(*types.TensorInfo))
		}
		return nil
	}, nil
}

func (p *profile) learn(n *ir.Node, t *types.TensorInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.seen[n]; before != nil {
		t = before.Common(t)
	}
	p.seen[n] = t
}

// specialize returns the graph for what the calls have met. Where a tensor required a gradient, what is differentiable
// is grouped and guarded.
func (p *profile) specialize(inlining bool) *ir.Graph {
	p.mu.Lock()
	defer p.mu.Unlock()
	met := map[*ir.Value]*types.TensorInfo{}
	p.graph.Block().Walk(func(n *ir.Node) {
		if n.Kind() != profileKind {
			return
		}
		if t := p.seen[n]; t != nil {
			met[n.Input(0)] = t
		}
		n.Output().ReplaceAllUsesWith(n.Input(0))
		n.Destroy()
	})
	for _, t := range met {
		if t.RequiresGrad != nil && *t.RequiresGrad {
			differentiate(p.graph, met, inlining)
			break
		}
	}
	return p.graph
}
