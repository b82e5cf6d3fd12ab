package interp

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

func (l *lowering) tuple(n *ir.Node, dead []*ir.Value) error {
	t, _ := n.Output().Type().(*types.Tuple)
	l.call(opTuple, &site{tuple: t, gives: isHandedOn(n.Output())}, n, n.Inputs(), dead)
	return nil
}

func (l *lowering) tupleUnpack(n *ir.Node, dead []*ir.Value) error {
	l.call(opTupleUnpack, &site{gives: areTakenApart(n.Outputs())}, n, n.Inputs(), dead)
	return nil
}

func (l *lowering) tupleIndex(n *ir.Node, dead []*ir.Value) error {
	l.simple(opTupleIndex, n, n.Inputs(), dead)
	return nil
}

func (l *lowering) tupleSlice(n *ir.Node, dead []*ir.Value) error {
	begin, _ := n.Attr("beg")
	end, _ := n.Attr("end")
	from, okFrom := begin.(int64)
	to, okTo := end.(int64)
	t, okType := n.Input(0).Type().(*types.Tuple)
	if !okFrom || !okTo || !okType || from < 0 || from > to || int(to) > len(t.Elems) {
		return source.Errorf(source.RuntimeError, n.Range, "prim::TupleSlice takes no part of a %s", n.Input(0).Type())
	}
	run := func(args, out []value.Value) error {
		items := args[0].Tuple().Items
		if int(to) > len(items) {
			return source.Errorf(source.RuntimeError, source.Range{}, "tuple slice [%d:%d] of %d items", from, to, len(items))
		}
		out[0] = value.OfTuple(value.NewTuple(items[from:to:to]...))
		return nil
	}
	l.call(opCall, &site{run: run}, n, n.Inputs(), dead)
	return nil
}

func (l *lowering) list(n *ir.Node, dead []*ir.Value) error {
	t, ok := n.Output().Type().(*types.List)
	if !ok {
		return source.Errorf(source.RuntimeError, n.Range, "prim::ListConstruct makes no %s", n.Output().Type())
	}
	s := &site{list: t.Elem}
	s.lends = mayHoldTensor(t.Elem) && l.isGathered(n.Output())
	s.gives = s.lends
	l.call(opList, s, n, n.Inputs(), dead)
	if s.lends {
		for _, in := range s.inputs {
			l.gathered[n.Output()] = append(l.gathered[n.Output()], in.move)
		}
	}
	return nil
}

func (l *lowering) listUnpack(n *ir.Node, dead []*ir.Value) error {
	l.call(opListUnpack, &site{}, n, n.Inputs(), dead)
	return nil
}

func (l *lowering) dict(n *ir.Node, dead []*ir.Value) error {
	t, ok := n.Output().Type().(*types.Dict)
	if !ok || len(n.Inputs())%2 != 0 {
		return source.Errorf(source.RuntimeError, n.Range, "prim::DictConstruct makes no %s of %d inputs", n.Output().Type(), len(n.Inputs()))
	}
	l.call(opDict, &site{key: t.Key, list: t.Value}, n, n.Inputs(), dead)
	return nil
}

// sort lowers the sorting of lists that hold objects, whose methods compare them.
func (l *lowering) sort(n *ir.Node, dead []*ir.Value) error {
	t, ok := n.Input(0).Type().(*types.List)
	if !ok || !holdsObjects(t.Elem) {
		return l.operator(n, dead)
	}
	l.call(opSort, &site{name: "__lt__", options: l.options}, n, n.Inputs(), dead)
	return nil
}

func holdsObjects(t types.Type) bool {
	switch t := t.(type) {
	case *types.Class:
		return true
	case *types.Tuple:
		return slices.ContainsFunc(t.Elems, holdsObjects)
	case *types.List:
		return holdsObjects(t.Elem)
	}
	return false
}

// warn lowers a warning, which says where in the program it is.
func (l *lowering) warn(n *ir.Node, dead []*ir.Value) error {
	l.call(opWarn, &site{at: n.Range}, n, n.Inputs(), dead)
	return nil
}

// slotOf returns a site that names the attribute of an object.
func (l *lowering) slotOf(n *ir.Node, object *ir.Value) (int32, error) {
	name := n.StringAttr("name")
	class, ok := object.Type().(*types.Class)
	if !ok || class.AttributeIndex(name) < 0 {
		return 0, source.Errorf(source.RuntimeError, n.Range, "%s has no attribute '%s'", object.Type(), name)
	}
	return l.site(&site{name: name, slot: class.AttributeIndex(name)}), nil
}

func (l *lowering) getAttr(n *ir.Node, dead []*ir.Value) error {
	slot, err := l.slotOf(n, n.Input(0))
	if err != nil {
		return err
	}
	object := l.reg(n.Input(0))
	l.emit(opGetAttr, l.registers.define(n.Output(), l.hint(n.Output())), object, slot)
	l.finish(dead, nil, nil)
	return nil
}

func (l *lowering) setAttr(n *ir.Node, dead []*ir.Value) error {
	slot, err := l.slotOf(n, n.Input(0))
	if err != nil {
		return err
	}
	l.checkedObject(n.Input(0))
	l.emit(opSetAttr, l.reg(n.Input(0)), l.reg(n.Input(1)), slot)
	l.finish(dead, nil, nil)
	return nil
}

func (l *lowering) createObject(n *ir.Node, dead []*ir.Value) error {
	class, ok := n.Output().Type().(*types.Class)
	if !ok {
		return source.Errorf(source.RuntimeError, n.Range, "prim::CreateObject makes no %s", n.Output().Type())
	}
	s := l.site(&site{name: class.Name, class: class})
	l.emit(opCreateObject, l.registers.define(n.Output(), l.hint(n.Output())), s, 0)
	l.finish(dead, nil, nil)
	return nil
}

func (l *lowering) callFunction(n *ir.Node, dead []*ir.Value) error {
	t, _ := n.Input(0).Type().(*types.Function)
	if t == nil {
		return source.Errorf(source.RuntimeError, n.Range, "prim::CallFunction calls no %s", n.Input(0).Type())
	}
	f, ok := t.Target.(*ir.Function)
	if !ok {
		return source.Errorf(source.RuntimeError, n.Range, "the function %s is not known", t.Name)
	}
	l.call(opCallFunction, &site{name: f.Name, options: l.options, callee: f, changes: isFallback(n.Input(0)), gives: areTakenApart(n.Outputs())}, n, n.Inputs()[1:], dead)
	return nil
}

// isFallback reports whether a value is a function that runs where a guard fails: what runs for it changes from call to call.
func isFallback(v *ir.Value) bool {
	_, is := v.Node().Attr("fallback")
	return is
}

// subgraph lowers a node that is a call of its Subgraph.
func (l *lowering) subgraph(n *ir.Node, dead []*ir.Value) error {
	return l.callGraph(n, n.GraphAttr("Subgraph"), dead)
}

// callGraph lowers a node that is a call of a graph.
func (l *lowering) callGraph(n *ir.Node, g *ir.Graph, dead []*ir.Value) error {
	if g == nil || len(g.Outputs()) != len(n.Outputs()) || len(g.Inputs()) != len(n.Inputs()) {
		return source.Errorf(source.RuntimeError, n.Range, "%s has no body that fits its inputs and outputs", n.Kind())
	}
	isGroup := n.Kind() == GroupKind
	body, err := lowerAs(l.code.name, g, l.options, isGroup)
	if err != nil {
		return err
	}
	l.code.steps = append(l.code.steps, body.steps...)
	s := &site{name: l.code.name, options: l.options}
	if isGroup {
		s.event = fusedName(g.Block())
	}
	s.code.Store(body)
	l.call(opCallFunction, s, n, n.Inputs(), dead)
	return nil
}

// planEvent is what profiles call the run of a group by a plan, whose steps are events of their own.
const planEvent = "plan"

// groupName is what profiles call the run of a group.
func groupName(n *ir.Node) string {
	if _, planned := n.Attr(PlannedAttr); planned {
		return planEvent
	}
	return fusedName(n.Blocks()[0])
}

// fusedName is what profiles call the run of operators as one kernel: "fused" and the operators in order.
func fusedName(b *ir.Block) string {
	name := "fused"
	b.Walk(func(n *ir.Node) {
		if _, base, _ := strings.Cut(n.Kind(), "::"); !n.Is(prim.Constant, prim.ListConstruct, GroupKind) {
			name += "_" + base
		}
	})
	return name
}

// differentiable lowers prim::DifferentiableGraph: the attempt to run it as one node of the tape, and behind it a call of its graph.
func (l *lowering) differentiable(n *ir.Node, dead []*ir.Value) error {
	if l.options.Differentiable == nil {
		return l.subgraph(n, dead)
	}
	g, attempt := l.options.Differentiable(n)
	if attempt == nil {
		return l.callGraph(n, g, dead)
	}
	s := &site{name: n.Kind(), inputs: l.inputs(n.Inputs(), nil), group: &groupSite{attempt: attempt}}
	for _, v := range n.Inputs() {
		s.group.dying = append(s.group.dying, slices.Contains(dead, v) && holdsMemory(v.Type()) && !l.registers.fixed[l.reg(v)])
	}
	jump := l.emit(opGroup, 0, l.site(s), 0)
	l.code.numArguments = max(l.code.numArguments, len(s.inputs)+len(n.Outputs()))
	steps := len(l.code.steps)
	if err := l.callGraph(n, g, dead); err != nil {
		return err
	}
	l.code.steps = l.code.steps[:steps] // a function of its own runs them
	at := l.code.sites[len(l.code.sites)-1].output
	for i := range n.Outputs() {
		s.group.outputs = append(s.group.outputs, at+int32(i))
	}
	l.jumpTo(jump)
	return nil
}

// typeCheck lowers prim::TypeCheck: its inputs, and whether they are of the types that the attribute says.
func (l *lowering) typeCheck(n *ir.Node, dead []*ir.Value) error {
	expected := n.TypesAttr("types")
	if len(expected) != len(n.Inputs()) || len(n.Outputs()) != len(expected)+1 {
		return source.Errorf(source.RuntimeError, n.Range, "prim::TypeCheck has %d types for %d inputs and %d outputs", len(expected), len(n.Inputs()), len(n.Outputs()))
	}
	run := func(m *autograd.Mode, args, out []value.Value) error {
		all := true
		for i, v := range args {
			out[i] = v
			all = all && v.IsTensor() && isOfType(v, expected[i], m.GradEnabled())
		}
		out[len(args)] = value.Bool(all)
		return nil
	}
	l.call(opCallIn, &site{runIn: run}, n, n.Inputs(), dead)
	return nil
}

// gradientCheck lowers prim::RequiresGradCheck: its inputs, and whether they require gradients as the types that the attribute has say.
func (l *lowering) gradientCheck(n *ir.Node, dead []*ir.Value) error {
	expected := n.TypesAttr("types")
	if len(expected) != len(n.Inputs()) || len(n.Outputs()) != len(expected)+1 {
		return source.Errorf(source.RuntimeError, n.Range, "prim::RequiresGradCheck has %d types for %d inputs and %d outputs", len(expected), len(n.Inputs()), len(n.Outputs()))
	}
	run := func(m *autograd.Mode, args, out []value.Value) error {
		all := true
		for i, v := range args {
			out[i] = v
			t, ok := expected[i].(*types.TensorInfo)
			requires := v.IsTensor() && v.Tensor().RequiresGrad() && m.GradEnabled()
			all = all && ok && (t.RequiresGrad == nil || *t.RequiresGrad == requires)
		}
		out[len(args)] = value.Bool(all)
		return nil
	}
	l.call(opCallIn, &site{runIn: run}, n, n.Inputs(), dead)
	return nil
}

// productsOfSide lowers prim::MMBatchSide: the products of the first input, which is the factor on the side that the attribute says, with the others.
func (l *lowering) productsOfSide(n *ir.Node, dead []*ir.Value) error {
	a, _ := n.Attr("side")
	side, ok := a.(int64)
	if !ok || side < 0 || side > 1 || len(n.Inputs()) != len(n.Outputs())+1 {
		return source.Errorf(source.RuntimeError, n.Range, "prim::MMBatchSide needs a factor, one more for each output, and the attribute side, 0 or 1")
	}
	operate := autograd.OperationOf(ops.Find(aten.Mm))
	run := func(m *autograd.Mode, args, out []value.Value) error {
		for i, other := range args[1:] {
			factors := []value.Value{args[0], other}
			if side == 1 {
				factors = []value.Value{other, args[0]}
			}
			if err := operate(m, factors, out[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	l.call(opCallIn, &site{runIn: run}, n, n.Inputs(), dead)
	return nil
}

// parts lowers prim::ConstantChunk: it is aten::chunk, whose list is taken apart.
func (l *lowering) parts(n *ir.Node, dead []*ir.Value) error {
	chunks, okChunks := n.Attr("chunks")
	dim, okDim := n.Attr("dim")
	count, isCount := chunks.(int64)
	along, isDim := dim.(int64)
	if !okChunks || !okDim || !isCount || !isDim || len(n.Inputs()) != 1 {
		return source.Errorf(source.RuntimeError, n.Range, "prim::ConstantChunk needs a tensor and the attributes chunks and dim")
	}
	operate := autograd.OperationOf(ops.Find(aten.Chunk))
	run := func(m *autograd.Mode, args, out []value.Value) error {
		var list [1]value.Value
		if err := operate(m, []value.Value{args[0], value.Int(count), value.Int(along)}, list[:]); err != nil {
			return err
		}
		items := list[0].List().Items
		switch {
		case len(items) < len(out):
			return errorf("Expected chunk to return at least %d outputs, but got only %d", len(out), len(items))
		case len(items) > len(out):
			return errorf("Expected chunk to return exactly %d outputs, but got %d", len(out), len(items))
		}
		copy(out, items)
		return nil
	}
	l.call(opCallIn, &site{runIn: run}, n, n.Inputs(), dead)
	return nil
}

// isOfType reports whether a tensor is all that a type says.
func isOfType(v value.Value, t types.Type, gradients bool) bool {
	want, ok := t.(*types.TensorInfo)
	if !ok {
		return false
	}
	is := value.CompleteType(v.Tensor()).(*types.TensorInfo)
	requires := gradients && v.Tensor().RequiresGrad()
	return (want.DType == "" || want.DType == is.DType) && (want.Device == "" || want.Device == is.Device) &&
		(want.Sizes == nil || slices.Equal(want.Sizes, is.Sizes)) && (want.Strides == nil || slices.Equal(want.Strides, is.Strides)) &&
		(want.RequiresGrad == nil || *want.RequiresGrad == requires)
}

func (l *lowering) callMethod(n *ir.Node, dead []*ir.Value) error {
	l.call(opCallMethod, &site{name: n.StringAttr("name"), options: l.options, gives: areTakenApart(n.Outputs())}, n, n.Inputs(), dead)
	return nil
}

func (l *lowering) isInstance(n *ir.Node, dead []*ir.Value) error {
	v := l.reg(n.Input(0))
	s := l.site(&site{name: "isinstance", types: n.TypesAttr("types")})
	l.emit(opIsInstance, l.registers.define(n.Output(), l.hint(n.Output())), v, s)
	l.finish(dead, nil, nil)
	return nil
}

// cast lowers prim::unchecked_cast. What is cast is checked nevertheless: programs come from files.
func (l *lowering) cast(n *ir.Node, dead []*ir.Value) error {
	v, out := l.reg(n.Input(0)), n.Output()
	s := l.site(&site{name: out.Type().String(), types: []types.Type{out.Type()}})
	l.emit(opCast, l.registers.define(out, l.hint(out)), v, s)
	l.finish(dead, nil, nil)
	return nil
}

func (l *lowering) unwrap(n *ir.Node, dead []*ir.Value) error {
	if err := l.cast(n, nil); err != nil {
		return err
	}
	l.code.instructions[len(l.code.instructions)-1].Op = opUnwrap
	l.finish(dead, nil, nil)
	return nil
}

func (l *lowering) raise(n *ir.Node, dead []*ir.Value) error {
	l.call(opRaise, &site{}, n, n.Inputs(), dead)
	return nil
}

func (l *lowering) uninitialized(n *ir.Node, dead []*ir.Value) error {
	r := l.registers.define(n.Output(), l.hint(n.Output()))
	if l.registers.classes[r] == classAny {
		l.emit(opUninitialized, r, 0, 0)
	}
	l.finish(dead, nil, nil)
	return nil
}

func (l *lowering) enter(n *ir.Node, dead []*ir.Value) error {
	v := l.reg(n.Input(0))
	s := &site{name: "__enter__", options: l.options}
	l.emit(opEnter, l.registers.define(n.Output(), l.hint(n.Output())), v, l.site(s))
	l.finish(dead, nil, nil)
	return nil
}

func (l *lowering) exit(n *ir.Node, dead []*ir.Value) error {
	l.emit(opExit, l.reg(n.Input(0)), l.site(&site{name: "__exit__", options: l.options}), 0)
	if len(n.Outputs()) == 1 {
		l.emit(opCopy, l.registers.define(n.Output(), -1), l.registers.constant(value.None), 0)
	}
	l.finish(dead, nil, nil)
	return nil
}

// fork lowers prim::fork and prim::awaitable: the body is a graph of its own.
func (l *lowering) fork(n *ir.Node, dead []*ir.Value) error {
	g := n.GraphAttr("Subgraph")
	future, ok := n.Output().Type().(*types.Future)
	if g == nil || !ok || len(g.Outputs()) != 1 || len(g.Inputs()) != len(n.Inputs()) {
		return source.Errorf(source.RuntimeError, n.Range, "%s has no body that fits its inputs and its future", n.Kind())
	}
	body, err := Lower(l.code.name, g, l.options)
	if err != nil {
		return err
	}
	l.code.steps = append(l.code.steps, body.steps...)
	l.call(opFork, &site{body: body, list: future.Elem, lazy: future.Lazy, options: l.options, at: n.Range}, n, n.Inputs(), dead)
	return nil
}
