package plan

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// fewestProducts is how many convolutions and products pay for what a call of a plan costs.
const fewestProducts = 2

// IsRegion reports whether a node is a group of this package.
func IsRegion(n *ir.Node) bool {
	_, ok := n.Attr(interp.PlannedAttr)
	return ok && n.Kind() == interp.GroupKind
}

// Regions puts operators that follow each other, convolutions and products among them, into groups. The nodes of a group run where its last one
// stood; nothing between reads their results or could write what they read. Checks of arguments may stand between. Views, lists and numbers made of
// sizes are in a group where its nodes read them, and outside of it, in copies, where others do.
//
//	%y = aten::conv2d(%x, %w, %b, ...)      %p = prim::TensorExprGroup[region=1](%x, %w, %b, %v)
//	%z = aten::relu(%y)                ->     block0():
//	%p = aten::conv2d(%z, %v, ...)              %y = aten::conv2d(%x, %w, %b, ...)
//	                                            ...
//	                                            -> (%p)
func Regions(g *ir.Graph) bool {
	f := &finder{g: g, steady: map[*ir.Value]bool{}}
	f.block(g.Block())
	return f.changed
}

// finder finds the regions of a graph.
type finder struct {
	g       *ir.Graph
	nodes   []*ir.Node            // of the open region, in order
	made    map[*ir.Value]bool    // by them
	light   []*ir.Node            // nodes behind them that read what they made, and that are copied into the region where it reads them
	lightly map[*ir.Value]bool    // their outputs
	inside  map[*ir.Node]*ir.Node // the copies
	steady  map[*ir.Value]bool    // see isSteady
	changed bool
}

func (f *finder) begin() {
	f.nodes, f.light = nil, nil
	f.made, f.lightly, f.inside = map[*ir.Value]bool{}, map[*ir.Value]bool{}, map[*ir.Node]*ir.Node{}
}

func (f *finder) block(b *ir.Block) {
	f.begin()
	for n := b.First(); n != nil; {
		next := n.Next()
		switch {
		case n.Kind() == prim.Constant:
		case n.Kind() == interp.GroupKind:
			f.close(n)
		case f.isLight(n):
			f.light = append(f.light, n)
			for _, v := range n.Outputs() {
				f.lightly[v] = true
			}
		case f.joins(n):
			f.add(n)
		case f.isCheck(n):
		case len(n.Blocks()) > 0:
			f.close(n)
			inner := &finder{g: f.g, steady: f.steady}
			for _, c := range n.Blocks() {
				inner.block(c)
			}
			f.changed = f.changed || inner.changed
		case fuse.IsBarrier(n) || f.reads(n):
			f.close(n)
		}
		n = next
	}
	f.close(b.ReturnNode())
}

// reads reports whether n reads what the open region makes.
func (f *finder) reads(n *ir.Node) bool {
	return slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return f.made[v] || f.lightly[v] })
}

// isCheck reports whether n raises or chooses between numbers, does nothing else, and reads nothing that the open region makes: it may run before that.
func (f *finder) isCheck(n *ir.Node) bool {
	if n.Kind() != prim.If || slices.ContainsFunc(n.Outputs(), func(v *ir.Value) bool { return !isPlain(v.Type()) }) || f.reads(n) {
		return false
	}
	only := true
	for _, b := range n.Blocks() {
		b.Walk(func(inner *ir.Node) {
			switch inner.Kind() {
			case prim.RaiseException, prim.Constant, prim.If, prim.TupleConstruct, prim.ListConstruct, prim.UncheckedCast:
			default:
				only = only && isPure(inner)
			}
			only = only && !f.reads(inner)
		})
	}
	return only
}

// isLight reports whether n costs nothing in a plan, and reads what the open region makes: a view, a list, a number that follows from sizes.
func (f *finder) isLight(n *ir.Node) bool {
	if !f.reads(n) || !f.knowsArguments(n) {
		return false
	}
	switch n.Kind() {
	case prim.ListConstruct:
		return isNeverWritten(n.Output())
	case prim.ListUnpack:
		return true
	}
	return isView(n) || isParts(n) || n.AsksSize() || isPure(n) && !slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return !f.isNumber(v) })
}

// isNumber reports whether a plan knows what a value is from the sizes of tensors.
func (f *finder) isNumber(v *ir.Value) bool {
	if f.lightly[v] {
		n := v.Node()
		return !isView(n) && !isListOfTensors(v) && !(n.Kind() == prim.ListUnpack && isTensor(v))
	}
	return f.isSteady(v)
}

// isPure reports whether n is an operator that gives the same for the same arguments, and does nothing else.
func isPure(n *ir.Node) bool {
	o := n.Operator()
	return o != nil && o.Run != nil && !o.Schema().IsMutable() && !o.HasSideEffects() && !o.IsNondeterministic()
}

// isView reports whether n gives, of a tensor, a view, or the tensor itself, or at times a copy.
func isView(n *ir.Node) bool {
	o := n.Operator()
	if o == nil || o.Run == nil || len(n.Outputs()) != 1 || !isTensor(n.Output()) {
		return false
	}
	fact, _ := o.Fact("plan")
	return fact == "view" && o.Schema().Arguments[0].Type.Kind() == types.KindTensor && !slices.ContainsFunc(n.Inputs()[1:], isTensor)
}

// isParts reports whether n gives views of a tensor, as a list that is only taken apart.
func isParts(n *ir.Node) bool {
	o := n.Operator()
	if o == nil || o.Run == nil || len(n.Outputs()) != 1 || !isListOfTensors(n.Output()) {
		return false
	}
	fact, _ := o.Fact("plan")
	return fact == "parts" && !slices.ContainsFunc(n.Output().Uses(), func(u ir.Use) bool { return u.User.Kind() != prim.ListUnpack })
}

func isListOfTensors(v *ir.Value) bool {
	l, ok := v.Type().(*types.List)
	return ok && l.Elem.Kind() == types.KindTensor
}

// isSteady reports whether a value that is no tensor follows from constants, attributes of modules and sizes of tensors: plans are made for it.
func (f *finder) isSteady(v *ir.Value) bool {
	if known, ok := f.steady[v]; ok {
		return known
	}
	f.steady[v] = false // as long as that is found out
	n := v.Node()
	all := func() bool {
		return !slices.ContainsFunc(n.Inputs(), func(in *ir.Value) bool { return !f.isSteady(in) })
	}
	is := false
	switch _, isConstant := v.Constant(); {
	case isConstant:
		is = true
	case n.Kind() == prim.GetAttr:
		is = isPlain(v.Type())
	case n.AsksSize():
		is = true
	case n.Kind() == prim.ListConstruct:
		is = isNeverWritten(v) && all()
	case n.Kind() == prim.ListUnpack, n.Kind() == prim.NumToTensor:
		is = all()
	case len(n.Inputs()) > 0 && isPure(n):
		is = all()
	}
	f.steady[v] = is
	return is
}

// isPlain reports whether values of a type are numbers.
func isPlain(t types.Type) bool {
	switch t.Kind() {
	case types.KindInt, types.KindFloat, types.KindBool:
		return true
	}
	return false
}

// knowsArguments reports whether all inputs of n are tensors, or known where a plan is made.
func (f *finder) knowsArguments(n *ir.Node) bool {
	for _, v := range n.Inputs() {
		if _, known := constant(v); known || isTensor(v) || isOptionalTensor(v) || f.lightly[v] {
			continue
		}
		if f.isSteady(v) && (isPlain(v.Type()) || v.Node().Kind() == prim.ListConstruct) {
			continue
		}
		if isListOfTensors(v) && (v.Node().Kind() == prim.ListConstruct && isNeverWritten(v) || kindOf(n) == recurrence && v.Node().Kind() == prim.GetAttr) {
			continue
		}
		return false
	}
	return true
}

// isNeverWritten reports whether only operators that write no list read a list.
func isNeverWritten(v *ir.Value) bool {
	for _, u := range v.Uses() {
		if o := u.User.Operator(); o == nil || o.Schema().IsMutable() || o.HasSideEffects() {
			return false
		}
	}
	return true
}

// joins reports whether n belongs to the open region: it is a convolution or a product, which may begin one, or reads what the region makes.
func (f *finder) joins(n *ir.Node) bool {
	kind := kindOf(n)
	if n.Operator() == nil || n.Operator().Run == nil || len(n.Outputs()) != 1 && kind != recurrence && kind != attending || !f.knowsArguments(n) {
		return false
	}
	switch {
	case kind == notPlanned:
		return false
	case kind == convolution || kind == recurrence || kind == product && readsWeight(n):
		return true
	}
	if writes(n) { // what the region was given stays as it is for others
		return f.made[n.Input(0)] && !isViewedBefore(n.Input(0), n)
	}
	return f.reads(n)
}

// readsWeight reports whether a product has a matrix that is the same in all calls, or a product with a bias, as layers have it.
func readsWeight(n *ir.Node) bool {
	return n.Kind() == aten.Linear || slices.ContainsFunc(n.Inputs(), isWeight)
}

// isWeight reports whether a value is likely to be the same tensor in all calls, or the same part of it.
func isWeight(v *ir.Value) bool {
	n := v.Node()
	if _, isConstant := v.Constant(); isTensor(v) && (isConstant || n.Kind() == prim.GetAttr) {
		return true
	}
	if n.Kind() == prim.ListUnpack {
		n = n.Input(0).Node()
	}
	return isPart(n) && isWeight(n.Input(0))
}

// isPart reports whether n gives parts of a tensor, or views of it, that constants tell. What gives the tensor itself or a copy gives another one in each call.
func isPart(n *ir.Node) bool {
	o := n.Operator()
	if o == nil || o.Run == nil || len(n.Inputs()) == 0 || !isTensor(n.Input(0)) {
		return false
	}
	s := o.Schema()
	_, mayCopy := o.Fact("gives_argument")
	return s.Arguments[0].Alias != nil && !mayCopy && !s.IsMutable() && !slices.ContainsFunc(n.Inputs()[1:], func(v *ir.Value) bool {
		_, known := constant(v)
		return !known
	})
}

// isViewedBefore reports whether there is, where n stands, a view of a value, or a list that has it.
func isViewedBefore(v *ir.Value, n *ir.Node) bool {
	return slices.ContainsFunc(v.Uses(), func(u ir.Use) bool {
		return (u.User.Kind() == prim.ListConstruct || isView(u.User) || isParts(u.User)) && u.User.Block() == n.Block() && u.User.IsBefore(n)
	})
}

func isTensor(v *ir.Value) bool { return v.Type().Kind() == types.KindTensor }

func isOptionalTensor(v *ir.Value) bool {
	o, ok := v.Type().(*types.Optional)
	return ok && o.Elem.Kind() == types.KindTensor
}

// add puts n into the open region, with copies of the light nodes that it reads.
func (f *finder) add(n *ir.Node) {
	for i, v := range n.Inputs() {
		if in := f.copied(v, n); in != v {
			n.ReplaceInput(i, in)
		}
	}
	f.nodes = append(f.nodes, n)
	for _, v := range n.Outputs() {
		f.made[v] = true
	}
}

// copied returns what v is inside of the region: lists, and what is light, are made there, before a node.
func (f *finder) copied(v *ir.Value, before *ir.Node) *ir.Value {
	n := v.Node()
	if _, isConstant := constant(v); isConstant || !f.lightly[v] && n.Kind() != prim.ListConstruct {
		return v
	}
	c := f.inside[n]
	if c == nil {
		c = f.g.Clone(n, func(in *ir.Value) *ir.Value { return f.copied(in, before) }).InsertBefore(before)
		f.inside[n] = c
		f.nodes = append(f.nodes, c)
		for _, out := range c.Outputs() {
			f.made[out] = true
		}
	}
	return c.Outputs()[slices.Index(n.Outputs(), v)]
}

// close ends the open region before at: where it has enough products its nodes become one.
func (f *finder) close(at *ir.Node) {
	nodes, light, copies := f.nodes, f.light, f.inside
	f.begin()
	products := 0
	for _, n := range nodes {
		products += kindOf(n).products()
	}
	dead := unread(light)
	inputs, outputs := rim(nodes, dead)
	if products < fewestProducts || len(outputs) == 0 {
		dropCopies(copies)
		return
	}
	f.changed = true
	fuse.Join(f.g, nodes, inputs, outputs, at).SetAttr(interp.PlannedAttr, int64(1))
	for _, n := range light { // what reads the results stands behind them
		n.MoveBefore(at)
	}
	for _, n := range slices.Backward(light) {
		if dead[n] {
			n.Destroy()
		}
	}
}

// dropCopies has the readers of copies read the nodes themselves.
func dropCopies(copies map[*ir.Node]*ir.Node) {
	for n, c := range copies {
		for i, v := range c.Outputs() {
			v.ReplaceAllUsesWith(n.Outputs()[i])
		}
	}
	for _, c := range copies {
		c.Destroy()
	}
}

// unread returns those of some nodes, which are in order, that only such nodes read.
func unread(nodes []*ir.Node) map[*ir.Node]bool {
	dead := map[*ir.Node]bool{}
	for _, n := range slices.Backward(nodes) {
		dead[n] = !slices.ContainsFunc(n.Outputs(), func(v *ir.Value) bool {
			return slices.ContainsFunc(v.Uses(), func(u ir.Use) bool { return !dead[u.User] })
		})
	}
	return dead
}

// rim returns what nodes read from outside, constants aside, and what others read of theirs, but for those that are dead.
func rim(nodes []*ir.Node, dead map[*ir.Node]bool) (inputs, outputs []*ir.Value) {
	inside := map[*ir.Node]bool{}
	for _, n := range nodes {
		inside[n] = true
	}
	seen := map[*ir.Value]bool{}
	for _, n := range nodes {
		for _, v := range n.Inputs() {
			if _, known := constant(v); !known && !inside[v.Node()] && !seen[v] {
				seen[v] = true
				inputs = append(inputs, v)
			}
		}
		for _, v := range n.Outputs() {
			if slices.ContainsFunc(v.Uses(), func(u ir.Use) bool { return !inside[u.User] && !dead[u.User] }) {
				outputs = append(outputs, v)
			}
		}
	}
	return inputs, outputs
}
