package exec

import (
	"context"
	"slices"
	"weak"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/tensorexpr"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Gradient is a graph that has been differentiated. Positions count inputs or outputs of the graphs from zero.
type Gradient struct {
	// F computes what the graph did, its first FRealOutputs outputs, and what DF needs besides.
	F            *ir.Graph
	FRealOutputs int
	// DF gives a tuple of the gradients of those inputs of F that DFOutputVJPs lists. Its inputs are, in this order, the gradients of the
	// outputs of F that DFInputVJPs lists, the inputs of F that DFInputCapturedInputs lists and the outputs that DFInputCapturedOutputs lists.
	DF                     *ir.Graph
	DFInputVJPs            []int
	DFInputCapturedInputs  []int
	DFInputCapturedOutputs []int
	DFOutputVJPs           []int
}

// differentiableGraph is how a prim::DifferentiableGraph runs where a gradient is wanted: its graph runs as a function that gives what the gradients
// need besides, and is one node of the tape, whose derivative is a second function. Both are noted and specialized like others.
type differentiableGraph struct {
	gradient          *Gradient
	forward, backward *Function
	body              *interp.Code // records operator by operator; made when it is first needed
	engine            *Engine
	parts             bool // nodes give parts of tensors, whose gradients are joined: all have to be there
}

// differentiated makes the differentiable graphs of a job run by their gradients, as far as these are known.
func (j *job) differentiated(nodes []*ir.Node) {
	differentiate := j.engine.options.Differentiate
	if differentiate == nil {
		return
	}
	for _, n := range nodes {
		g, err := differentiate(n.GraphAttr("Subgraph"))
		if err != nil || !givesTensors(g) {
			continue // its operators are recorded one by one
		}
		d := &differentiableGraph{gradient: g, engine: j.engine}
		d.forward = j.engine.Function(functionOf("forward", g.F.Copy()))
		d.backward = j.engine.Function(functionOf("backward", g.DF))
		d.backward.ofGradients = true
		d.parts = slices.ContainsFunc(g.F.Block().Nodes(), func(n *ir.Node) bool { return n.Kind() == passes.PartsKind })
		n.SetAttr("Subgraph", g.F)
		if j.gradients == nil {
			j.gradients = map[*ir.Node]*differentiableGraph{}
		}
		j.gradients[n] = d
	}
}

// givesTensors reports whether the results of a graph are tensors, and its inputs no lists of them: the tape knows neither.
func givesTensors(g *Gradient) bool {
	other := func(v *ir.Value) bool { return v.Type().Kind() != types.KindTensor }
	list := func(v *ir.Value) bool {
		l, ok := v.Type().(*types.List)
		return ok && l.Elem.Kind() == types.KindTensor
	}
	return !slices.ContainsFunc(g.F.Outputs()[:g.FRealOutputs], other) && !slices.ContainsFunc(g.F.Inputs(), list)
}

// Differentiable returns the functions that the differentiable graphs of the last call run, and those that compute their gradients, in the order of
// the graph.
func (f *Function) Differentiable() (forward, backward []*ir.Function) {
	p := f.last.Load()
	if p == nil {
		return nil, nil
	}
	p.Graph.Block().Walk(func(n *ir.Node) {
		if d := p.gradients[n]; d != nil {
			forward, backward = append(forward, d.forward.function), append(backward, d.backward.function)
		}
	})
	return forward, backward
}

// LastGradient returns the function of gradients that ran last since a call was noted; nil where none did, or it is gone.
func (e *Engine) LastGradient() *Function {
	if last := e.lastGradient.Load(); last != nil {
		return last.Value()
	}
	return nil
}

// NoteCall says that a function has been called from outside.
func (e *Engine) NoteCall() {
	if e.lastGradient.Load() != nil {
		e.lastGradient.Store(nil)
	}
}

// Specialized returns a copy of the graph that calls run which are made for what was met, with the graphs that its differentiable graphs run in the
// places of these; nil where there is none yet.
func (f *Function) Specialized() *ir.Graph {
	f.mu.Lock()
	p := f.profiles.specialized
	f.mu.Unlock()
	if p == nil {
		return nil
	}
	shown := p.Optimized.Twin()
	f.showDifferentiable(shown)
	return shown
}

// showDifferentiable has the differentiable graphs of a copy of the shown graph have the graphs that they run.
func (f *Function) showDifferentiable(shown *ir.Graph) {
	p := f.profiles.specialized
	var made []*differentiableGraph
	p.Graph.Block().Walk(func(n *ir.Node) {
		if n.Kind() == passes.DifferentiableKind {
			made = append(made, p.gradients[n])
		}
	})
	shown.Block().Walk(func(n *ir.Node) {
		if n.Kind() != passes.DifferentiableKind || len(made) == 0 {
			return
		}
		d := made[0]
		made = made[1:]
		if d == nil {
			return
		}
		if body := d.forward.Specialized(); body != nil {
			n.SetAttr("Subgraph", body)
		}
	})
}

// functionOf makes a function of a graph.
func functionOf(name string, g *ir.Graph) *ir.Function {
	s := &schema.FunctionSchema{Name: name}
	for _, in := range g.Inputs() {
		s.Arguments = append(s.Arguments, schema.Argument{Name: in.Name(), Type: in.Type()})
	}
	for _, out := range g.Outputs() {
		s.Returns = append(s.Returns, schema.Argument{Type: out.Type()})
	}
	return ir.NewFunction(name, s, g)
}

// attempt makes the operation of a differentiable graph, and the graph whose operators are recorded one by one where that cannot do it.
func (j *job) attempt(n *ir.Node) (*ir.Graph, interp.FastPath) {
	d := j.gradients[n]
	if d == nil {
		return n.GraphAttr("Subgraph"), nil
	}
	body := d.gradient.F.Copy()
	for len(body.Outputs()) > d.gradient.FRealOutputs {
		body.Block().EraseOutput(len(body.Outputs()) - 1)
	}
	passes.DCE(body)
	if !j.isGrouped() {
		fuse.Fuse(body)
	}
	return body, d.run
}

// run computes the graph and puts one node on the tape. It reports false where its operators have to be recorded one by one, or one fails.
func (d *differentiableGraph) run(m *autograd.Mode, args, out []value.Value) bool {
	if anyComplex(args) {
		return false // gradients of real numbers are simpler
	}
	for _, v := range args {
		if v.IsTensor() {
			if _, ok := m.Groups(v.Tensor()); !ok || m.IsCasting() {
				return false
			}
		}
	}
	span := m.BeginEvent("<forward op>")
	defer span.End()
	p, err := d.forward.Next(false, nil)
	if err != nil {
		return false
	}
	given := make([]value.Value, len(args))
	for i, v := range args {
		if given[i] = v; v.IsTensor() {
			given[i] = value.OfTensor(v.Tensor().Detach())
		}
	}
	results := make([]value.Value, p.Code.NumOutputs())
	if p.Code.RunUntraced(withoutRecording(m), given, results) != nil || anyComplex(results) {
		return false
	}
	for i, v := range results[:d.gradient.FRealOutputs] {
		if v.Tensor().Base() != nil { // of what the run made: its gradients come from the node of the run
			results[i] = value.OfTensor(v.Tensor().Detach())
		}
	}
	copy(out, results)
	return d.record(m, args, results) == nil
}

// anyComplex reports whether there is a tensor of complex numbers among values.
func anyComplex(vs []value.Value) bool {
	return slices.ContainsFunc(vs, func(v value.Value) bool { return v.IsTensor() && v.Tensor().DType().IsComplex() })
}

// withoutRecording is a context whose programs record nothing and are otherwise in the mode.
func withoutRecording(m *autograd.Mode) context.Context {
	inner := *m
	inner.SetGradEnabled(false)
	return autograd.WithMode(context.Background(), &inner)
}

// record puts the node of a run on the tape.
func (d *differentiableGraph) record(m *autograd.Mode, args, results []value.Value) error {
	c := autograd.Custom{Name: "DifferentiableGraphBackward", Written: make([]bool, d.gradient.FRealOutputs)}
	places := make([]int, len(args)) // of the inputs of the node
	for i, v := range args {
		places[i] = -1
		if v.IsTensor() {
			places[i] = len(c.Inputs)
			c.Inputs = append(c.Inputs, v.Tensor())
		}
	}
	r := &recordedRun{graph: d, places: places}
	for _, v := range results[:d.gradient.FRealOutputs] {
		t := v.Tensor()
		c.Outputs = append(c.Outputs, t)
		if d.parts {
			r.outputs = append(r.outputs, outputOf{slices.Clone(t.Shape()), t.DType()})
		}
	}
	for _, i := range d.gradient.DFInputCapturedInputs {
		r.save(args[i])
	}
	for _, i := range d.gradient.DFInputCapturedOutputs {
		r.save(results[i])
	}
	r.args = slices.Clone(args)
	c.Backward = r.differentiate
	return m.Record(c)
}

// recordedRun is what the node of a run keeps.
type recordedRun struct {
	graph    *differentiableGraph
	args     []value.Value
	captured []value.Value
	versions []int      // of the captured tensors
	outputs  []outputOf // as whose gradients zeros count where there are none
	places   []int      // of the arguments among the node's inputs, -1 for those that are no tensors
}

func (r *recordedRun) save(v value.Value) {
	version := 0
	if v.IsTensor() {
		v.Tensor().Retain()
		version = v.Tensor().Version()
	}
	r.captured, r.versions = append(r.captured, v), append(r.versions, version)
}

// outputOf is what an output of a node was.
type outputOf struct {
	shape []int
	dtype tensor.DType
}

// zeros is a gradient that is zero everywhere.
func (o outputOf) zeros() (*tensor.Tensor, error) {
	t, err := tensor.Empty(o.shape, o.dtype)
	if err == nil {
		tensor.Fill(t, tensor.Int(0))
	}
	return t, err
}

// fill puts zeros in the places of gradients that are missing, where the graph joins gradients of parts.
func (r *recordedRun) fill(grads []*tensor.Tensor) (err error) {
	for i, o := range r.outputs {
		if grads[i] == nil && err == nil {
			grads[i], err = o.zeros()
		}
	}
	return err
}

// differentiate computes the gradients of the node's inputs.
func (r *recordedRun) differentiate(m *autograd.Mode, _ *autograd.Node, grads []*tensor.Tensor) ([]*tensor.Tensor, error) {
	for i, v := range r.captured {
		if v.IsTensor() {
			if err := autograd.CheckVersion(v.Tensor(), r.versions[i]); err != nil {
				return nil, err
			}
		}
	}
	if m.GradEnabled() {
		return r.recorded(m, grads)
	}
	span := m.BeginEvent("<backward op>")
	defer span.End()
	g := r.graph.gradient
	grads = slices.Clone(grads)
	if err := r.fill(grads); err != nil {
		return nil, err
	}
	args := make([]value.Value, 0, len(g.DF.Inputs()))
	for _, at := range g.DFInputVJPs {
		args = append(args, optional(grads[at]))
	}
	args = append(args, r.captured...)
	p, err := r.graph.backward.Next(false, nil)
	if err != nil {
		return nil, err
	}
	if p.notes != nil {
		p.notes.learnMissing(args)
	}
	out := make([]value.Value, 1)
	if err := p.Code.RunUntraced(withoutRecording(m), args, out); err != nil {
		return nil, err
	}
	last := weak.Make(r.graph.backward)
	r.graph.engine.lastGradient.Store(&last)
	given := make([]*tensor.Tensor, r.inputs())
	for i, v := range out[0].Tuple().Items {
		if at := r.places[g.DFOutputVJPs[i]]; at >= 0 && v.IsTensor() {
			given[at] = v.Tensor()
		}
	}
	return given, nil
}

func optional(t *tensor.Tensor) value.Value {
	if t == nil {
		return value.None
	}
	return value.OfTensor(t)
}

// inputs counts the node's inputs.
func (r *recordedRun) inputs() (n int) {
	for _, at := range r.places {
		n = max(n, at+1)
	}
	return n
}

// recorded computes the gradients where these are recorded themselves: the operators run again, one by one.
func (r *recordedRun) recorded(m *autograd.Mode, grads []*tensor.Tensor) ([]*tensor.Tensor, error) {
	code, err := r.graph.recording()
	if err != nil {
		return nil, err
	}
	args := slices.Clone(r.args)
	var wanted []*tensor.Tensor
	var places []int
	for i, at := range r.places {
		if at < 0 {
			continue
		}
		alias := make([]value.Value, 1)
		if err := m.Run(aliasOperator(), args[i:i+1], alias); err != nil {
			return nil, err
		}
		if args[i] = alias[0]; args[i].Tensor().RequiresGrad() {
			wanted, places = append(wanted, args[i].Tensor()), append(places, at)
		}
	}
	results := make([]value.Value, code.NumOutputs())
	if err := code.RunUntraced(autograd.WithMode(context.Background(), m), args, results); err != nil {
		return nil, err
	}
	var outputs, seeds []*tensor.Tensor
	for i, v := range results {
		if grads[i] != nil && v.Tensor().RequiresGrad() {
			outputs, seeds = append(outputs, v.Tensor()), append(seeds, grads[i])
		}
	}
	given := make([]*tensor.Tensor, r.inputs())
	found, err := m.Gradients(outputs, wanted, seeds, autograd.Options{RetainGraph: true, CreateGraph: true, AllowUnused: true})
	if err != nil {
		return nil, err
	}
	for i, at := range places {
		given[at] = found[i]
	}
	return given, nil
}

// recording returns the code that records operator by operator.
func (d *differentiableGraph) recording() (*interp.Code, error) {
	d.forward.mu.Lock()
	defer d.forward.mu.Unlock()
	if d.body != nil {
		return d.body, nil
	}
	j := &job{engine: d.engine, gradients: map[*ir.Node]*differentiableGraph{nil: d}}
	body, _ := j.attempt(nil)
	var err error
	d.body, err = interp.Lower("forward", body, &d.engine.optimized)
	return d.body, err
}

// aliasOperator gives a tensor that is its argument with a node of its own.
func aliasOperator() *ops.Operator { return ops.Find(aten.Alias) }

// learnMissing notes which gradients and sizes a call of a gradient's graph got none of.
func (p *notes) learnMissing(args []value.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.calls == 0
	p.calls++
	for i, v := range args {
		switch {
		case first:
			p.missing = append(p.missing, v.IsNone())
		case p.missing[i] != v.IsNone():
			p.varies = true
		}
	}
}

// guardGradients makes of the graph of a gradient, which is specialized, a choice: where the same gradients and sizes are missing as were in the
// calls so far, nodes run that count on that, else all.
//
//	%all = aten::all(..)
//	%g : (Tensor) = prim::If(%all)
//	  block0(): .. -> (%t)
//	  block1(): %f = prim::FallbackGraph(%0, %1, ..) -> (%f)
func (j *job) guardGradients(general *ir.Graph) {
	p := j.notes
	p.mu.Lock()
	missing, varies := p.missing, p.varies
	p.mu.Unlock()
	if varies || len(missing) != len(j.graph.Inputs()) {
		return
	}
	g := j.graph
	f := &folding{missing: missing, absent: map[*ir.Value]bool{}}
	f.fold(g)
	nodes, result := g.Block().Nodes(), g.Outputs()[0]
	old := g.SetInsertPoint(orReturn(g.Block().First(), g.Block()))
	defer g.SetInsertPoint(old)
	ok := f.condition(g)
	choice := g.InsertNode(g.Create(prim.If, []*ir.Value{ok}, 1))
	choice.Output().SetType(result.Type())
	yes, no := choice.AddBlock(), choice.AddBlock()
	for _, n := range nodes {
		if n.Kind() == prim.Constant {
			n.MoveBefore(g.Block().First())
		} else {
			n.MoveBefore(yes.ReturnNode())
		}
	}
	yes.AddOutput(result)
	fallback := no.Append(g.Create(tensorexpr.FallbackKind, slices.Clone(g.Inputs()), 1).SetAttr("Subgraph", general))
	no.AddOutput(fallback.Output().SetType(result.Type()))
	g.Block().EraseOutput(0)
	g.AddOutput(choice.Output())
}

// folding simplifies the graph of a gradient by what is known of its inputs.
type folding struct {
	missing []bool             // of the inputs
	absent  map[*ir.Value]bool // values that are None then
}

// condition adds nodes that tell whether what was counted on holds.
func (f *folding) condition(g *ir.Graph) *ir.Value {
	var conditions, given, absent []*ir.Value
	ask := func(kind string, inputs ...*ir.Value) *ir.Value {
		return g.InsertNode(g.Create(kind, inputs, 1)).Output().SetType(types.Bool)
	}
	var none *ir.Value
	for i, in := range g.Inputs() {
		switch {
		case in.Type().Kind() == types.KindTensor && f.missing[i]:
			absent = append(absent, in)
		case in.Type().Kind() == types.KindTensor:
			given = append(given, in)
		case in.Type().Kind() == types.KindOptional:
			if none == nil {
				none = g.Constant(value.None, source.Range{})
			}
			kind := aten.Isnot
			if f.missing[i] {
				kind = aten.Is
			}
			conditions = append(conditions, ask(kind, in, none))
		}
	}
	conditions = append(conditions, ask(prim.AutogradAllNonZero, given...), ask(prim.AutogradAllZero, absent...))
	list := g.InsertNode(g.Create(prim.ListConstruct, conditions, 1))
	list.Output().SetType(types.NewList(types.Bool))
	return ask(aten.All, list.Output())
}

// fold removes from a graph what is decided by what is known.
func (f *folding) fold(g *ir.Graph) {
	for i, in := range g.Inputs() {
		f.absent[in] = f.missing[i]
	}
	for f.block(g.Block()) {
	}
	passes.ConstantPooling(g)
	passes.DCE(g)
}

// block decides a branch of a block and reports whether there was one to decide; sums to sizes that are missing are what they sum.
func (f *folding) block(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		switch n.Kind() {
		case prim.AutogradZero:
			f.absent[n.Output()] = true
		case aten.GradSumToSize:
			if f.absent[n.Input(1)] || n.Input(1).MustBeNone() {
				n.Output().ReplaceAllUsesWith(n.Input(0))
			}
		case prim.If:
			taken, known := f.outcome(n.Input(0).Node())
			if !known {
				continue
			}
			chosen := n.Blocks()[0]
			if !taken {
				chosen = n.Blocks()[1]
			}
			for _, m := range chosen.Nodes() {
				m.MoveBefore(n)
			}
			for i, out := range n.Outputs() {
				out.ReplaceAllUsesWith(chosen.Outputs()[i])
			}
			n.Destroy()
			return true
		}
	}
	return false
}

// outcome tells what a question about missing gradients has for an answer.
func (f *folding) outcome(n *ir.Node) (answer, known bool) {
	some, all := false, true
	for _, v := range n.Inputs() {
		some, all = some || !f.absent[v], all && !f.absent[v]
	}
	switch n.Kind() {
	case prim.AutogradAnyNonZero:
		return some, true
	case prim.AutogradAllNonZero:
		return all, true
	case prim.AutogradAllZero:
		return !some, true
	}
	return false, false
}

// orReturn returns a node, or the end of a block that has none.
func orReturn(n *ir.Node, b *ir.Block) *ir.Node {
	if n == nil {
		return b.ReturnNode()
	}
	return n
}
