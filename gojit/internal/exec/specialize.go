package exec

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/tensorexpr"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// specialize makes the graph one for what the calls have met: the notes go, and where a tensor required a gradient, what is differentiable is
// grouped and guarded; else what is elementwise is, where groups are asked for. Where a guard fails, a function runs that is noted and specialized
// in its turn.
func (j *job) specialize() error {
	j.notes.describe(j.graph)
	if passes.UnrollLoops(j.graph) {
		passes.RemoveListMutation(j.graph)
		fold(j.graph)
		passes.DCE(j.graph)
	}
	passes.ConstantPooling(j.graph)
	general := j.graph.Copy()
	removeNoteNodes(general)
	met, needed := j.removeNotes()
	if j.ofGradients {
		j.guardGradients(general)
	}
	switch {
	case needed:
		j.differentiated(differentiate(j.graph, met, j.settings.Inlining))
	case j.settings.Grouping:
		j.group(j.graph, met)
		passes.ConstantPooling(j.graph)
	}
	j.engine.callFallbacks(j.graph, j.depth-1)
	return j.checkStrict()
}

// removeNotes takes the notes out of the graph. It returns what they say of values, and whether one requires a gradient.
func (j *job) removeNotes() (met map[*ir.Value]*types.TensorInfo, needed bool) {
	met = map[*ir.Value]*types.TensorInfo{}
	var made []*ir.Node
	eachNote(j.graph, func(_ int, n *ir.Node) { made = append(made, n) })
	for _, n := range made {
		v := n.Input(0)
		a, _ := n.Attr("profiled_type")
		if t, ok := a.(*types.TensorInfo); ok && t != types.Tensor && v.Type().Kind() == types.KindTensor {
			met[v] = t
			needed = needed || t.RequiresGrad != nil && *t.RequiresGrad
		}
	}
	removeNoteNodes(j.graph)
	return met, needed
}

// removeNoteNodes has what reads notes read what these note.
func removeNoteNodes(g *ir.Graph) {
	var made []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == profileKind {
			made = append(made, n)
		}
	})
	for _, n := range made {
		if len(n.Inputs()) > 0 {
			n.Output().ReplaceAllUsesWith(n.Input(0))
		}
		n.Destroy()
	}
}

// group makes groups of what is elementwise, for tensors as they were met.
func (j *job) group(g *ir.Graph, met map[*ir.Value]*types.TensorInfo) {
	for v, t := range met {
		v.SetType(t)
	}
	o := tensorexpr.Exprs{Least: 1, Reductions: j.settings.Reductions, Dynamic: j.settings.isDynamic(j.depth)}
	if j.settings.GroupInlining {
		o.Least = 2
	}
	tensorexpr.FuseExprs(g, o)
	tensorexpr.EraseOuterShapes(g)
}

// depthOf is how many graphs the strategy makes of a function, one where the guards of the one before fail.
func (s *Settings) depthOf() (depth int) {
	for _, part := range s.Strategy {
		depth += part.Count
	}
	return depth
}

// isDynamic reports whether the graph that is made when so many are left, itself included, is for all sizes.
func (s *Settings) isDynamic(left int) bool {
	made := s.depthOf() - left
	for _, part := range s.Strategy {
		if made < part.Count {
			return part.Dynamic
		}
		made -= part.Count
	}
	return false
}

// depth is how many graphs may be made of the function.
func (f *Function) depth(s Settings) int {
	if f.left >= 0 {
		return f.left
	}
	return s.depthOf()
}

// callFallbacks has what runs where guards fail be functions, of which so many graphs may be made.
func (e *Engine) callFallbacks(g *ir.Graph, left int) {
	var found []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		switch body := n.GraphAttr("Subgraph"); {
		case n.Kind() == tensorexpr.FallbackKind:
			found = append(found, n)
		case body != nil && n.Kind() != interp.GroupKind:
			e.callFallbacks(body, left)
		}
	})
	for _, n := range found {
		f := fallbackOf(n)
		e.Function(f).left = max(left, 0)
		outs := callFallback(n, f)
		for i, out := range n.Outputs() {
			out.ReplaceAllUsesWith(outs[i].CopyMetadata(out))
		}
		n.Destroy()
	}
}

// fallbackOf returns the body of a node as a function that gives a tuple.
func fallbackOf(n *ir.Node) *ir.Function {
	g := n.GraphAttr("Subgraph").Copy()
	passes.EraseShapeInformation(g)
	outs := append([]*ir.Value(nil), g.Outputs()...)
	for range outs {
		g.Block().EraseOutput(0)
	}
	elems := make([]types.Type, len(outs))
	for i, v := range outs {
		elems[i] = v.Type()
	}
	result := types.NewTuple(elems...)
	tuple := g.Create(prim.TupleConstruct, outs, 1).InsertBefore(g.Block().ReturnNode())
	g.AddOutput(tuple.Output().SetType(result))
	s := &schema.FunctionSchema{Name: "fallback_function", Returns: []schema.Argument{{Type: result}}}
	for _, in := range g.Inputs() {
		s.Arguments = append(s.Arguments, schema.Argument{Name: in.Name(), Type: in.Type()})
	}
	return ir.NewFunction("fallback_function", s, g)
}

// callFallback puts a call of the function on the inputs of n before n, and returns its results.
func callFallback(n *ir.Node, f *ir.Function) []*ir.Value {
	g := n.Graph()
	old := g.SetInsertPoint(n)
	defer g.SetInsertPoint(old)
	constant := g.InsertNode(g.Create(prim.Constant, nil, 1).SetAttr("name", f.Name).SetAttr("fallback", value.Int(1)))
	constant.Output().SetType(&types.Function{Name: f.Name, Target: f})
	call := g.InsertNode(g.Create(prim.CallFunction, append([]*ir.Value{constant.Output()}, n.Inputs()...), 1))
	call.Output().SetType(f.Schema.Returns[0].Type)
	return g.InsertNode(g.CreateTupleUnpack(call.Output())).Outputs()
}

// InlineFallbacks puts what fallback functions run in the places of their calls, where they have been specialized.
func (e *Engine) InlineFallbacks(g *ir.Graph) {
	var calls []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == prim.CallFunction {
			calls = append(calls, n)
		}
	})
	for _, n := range calls {
		t, _ := n.Input(0).Type().(*types.Function)
		f, _ := t.Target.(*ir.Function)
		if f == nil {
			continue
		}
		body := e.Function(f).specializedGraph()
		if body == nil {
			continue
		}
		e.InlineFallbacks(body)
		old := g.SetInsertPoint(n)
		outs := g.InsertGraph(body, slices.Clone(n.Inputs()[1:]))
		g.SetInsertPoint(old)
		for i, out := range n.Outputs() {
			out.ReplaceAllUsesWith(outs[i])
		}
		n.Destroy()
	}
}

// specializedGraph returns a copy of the graph that a fallback runs now, nil where it is none or has not been specialized.
func (f *Function) specializedGraph() *ir.Graph {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left < 0 || f.profiles.specialized == nil {
		return nil
	}
	return f.profiles.specialized.Optimized.Twin()
}
