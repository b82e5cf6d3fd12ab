package parity

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// PropagateShapes gives tensors the types that follow from those of the graph's parameters: each operator whose
// tensors have known sizes is run on tensors without elements. Where an element type is not known, only sizes are given. What depends on
// the elements themselves, or on random numbers, stays unknown.
//
//	graph(%x : Float(2, 3), ...)
//	  %y : Tensor = aten::t(%x)   ->   %y : Float(3, 2, strides=[1, 3], device=cpu) = aten::t(%x)
//
// Sizes that are not known are symbols, see propagateSymbols.
func PropagateShapes(g *ir.Graph) bool {
	before := g.Text(false)
	if !hasSymbols(g) || !propagateSymbols(g) {
		propagateKnown(g, false)
	}
	return g.Text(false) != before
}

// propagateKnown is PropagateShapes for known sizes, which may be numbers that stand for symbols.
func propagateKnown(g *ir.Graph, symbols bool) {
	p := &shapes{symbols: symbols, memory: alias.Analyze(g, alias.Options{}), known: map[*ir.Value]value.Value{}, untyped: map[*ir.Value]bool{}}
	p.parameters(g.Inputs())
	p.block(g.Block())
}

// mostElements bounds the zeros that an operator may have to be run on.
const mostElements = 1 << 26

// shapes is the state of one PropagateShapes.
type shapes struct {
	memory  *alias.Db
	known   map[*ir.Value]value.Value // tensors without elements for those of known sizes, and what numbers and lists are
	untyped map[*ir.Value]bool        // tensors of an unknown element type
	symbols bool                      // sizes may be numbersOfSymbols
	detail  *detail                   // of CompleteShapes
}

// parameters makes tensors without elements for the parameters whose types say enough.
func (p *shapes) parameters(vs []*ir.Value) {
	for _, v := range vs {
		if t, ok := v.Type().(*types.TensorInfo); ok {
			p.standFor(v, t)
		}
	}
}

func (p *shapes) standFor(v *ir.Value, t *types.TensorInfo) {
	if t.Sizes == nil || slices.ContainsFunc(t.Sizes, func(n int) bool { return n < 0 }) {
		return
	}
	if n, err := tensor.Numel(t.Sizes); err != nil || n > mostElements {
		return
	}
	d := tensor.Float32
	if t.DType != "" {
		named, ok := tensor.ParseDType(t.DType)
		if !ok {
			return
		}
		d = named
	}
	is, err := tensor.EmptyMeta(t.Sizes, d)
	if err == nil && len(t.Strides) == len(t.Sizes) && !slices.Contains(t.Strides, -1) {
		err = is.SetGeometry(0, t.Sizes, t.Strides)
	}
	if err != nil {
		return
	}
	p.known[v] = value.OfTensor(is)
	if t.DType == "" {
		p.untyped[v] = true
	}
}

func (p *shapes) block(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		switch n.Kind() {
		case prim.If:
			p.branches(n)
		case prim.Loop:
			p.loop(n)
		case prim.TupleConstruct:
			p.run(n)
			freeze.RefineTuple(n)
		default:
			for _, inner := range n.Blocks() {
				p.block(inner)
			}
			p.run(n)
		}
	}
}

// run runs a node on what its inputs are.
func (p *shapes) run(n *ir.Node) {
	if !passes.IsPropagated(n) || n.HasSideEffects() {
		return
	}
	args, tensors, typed, ok := p.arguments(n)
	if !ok || tensors && p.dependsOnElements(n) {
		switch {
		case p.detail == nil:
		case ok:
			p.describeUnknown(n)
		default:
			p.describePartly(n)
		}
		return
	}
	if n.IsNondeterministic() {
		if drawsLikeInput(n) {
			p.learn(n.Output(), args[0], typed)
		}
		return
	}
	outs, ok := p.results(n, args)
	if !ok && p.symbols {
		_, isProduct := n.Fact("product")
		outs, ok = agreeing(args, !isProduct, func(args []value.Value) ([]value.Value, bool) { return p.results(n, args) })
	}
	if !ok {
		if p.detail != nil {
			p.describeRank(n)
		}
		return
	}
	for i, out := range outs {
		p.learn(n.Outputs()[i], out, typed)
	}
}

// drawsLikeInput reports whether random numbers are drawn into a tensor like the first input: nothing else is to be learned by drawing.
func drawsLikeInput(n *ir.Node) bool {
	_, ok := n.Fact("draws_like_input")
	return ok
}

// dependsOnElements reports whether the results' shapes or numbers follow from elements: a gather by positions is one of
// them only with masks.
func (p *shapes) dependsOnElements(n *ir.Node) bool {
	switch {
	case ops.DependsOnElements(n.Kind()), n.Is(aten.OneHot, aten.RepeatInterleave):
		return true
	case n.Is(aten.Where):
		return len(n.Inputs()) == 1
	case n.Is(aten.Index):
		indices, ok := p.value(n.Input(1))
		return !ok || slices.ContainsFunc(indices.List().Items, func(v value.Value) bool {
			return v.IsTensor() && (v.Tensor().DType() == tensor.Bool || v.Tensor().DType() == tensor.Uint8)
		})
	}
	return false
}

// value returns what a value is, if that is known.
func (p *shapes) value(v *ir.Value) (value.Value, bool) {
	if known, ok := p.known[v]; ok {
		return known, true
	}
	return v.Constant()
}

func (p *shapes) arguments(n *ir.Node) (args []value.Value, tensors, typed, ok bool) {
	typed = true
	number, isNumber := fuse.SecondNumber(n)
	for i, v := range n.Inputs() {
		arg, ok := p.value(v)
		if isNumber && i == 1 {
			arg = number
		}
		if !ok {
			return nil, false, false, false
		}
		args = append(args, arg)
		typed = typed && !p.untyped[v]
		tensors = tensors || arg.IsTensor() || arg.Kind() == value.KindList
	}
	if slices.ContainsFunc(args, hasNoElements) {
		for i := range args {
			args[i] = withoutElements(args[i])
		}
	}
	return args, tensors, typed, true
}

// hasNoElements reports whether a value is a tensor without elements, or a list with one.
func hasNoElements(v value.Value) bool {
	if v.Kind() == value.KindList {
		return slices.ContainsFunc(v.List().Items, hasNoElements)
	}
	return v.IsTensor() && v.Tensor().Device().Type == tensor.Meta
}

// withoutElements is a value whose tensors have no elements.
func withoutElements(v value.Value) value.Value {
	switch {
	case v.Kind() == value.KindList:
		items := make([]value.Value, len(v.List().Items))
		for i, item := range v.List().Items {
			items[i] = withoutElements(item)
		}
		return value.OfList(value.NewList(v.List().Elem, items...))
	case v.IsTensor() && v.Tensor().Device().Type != tensor.Meta:
		t := v.Tensor()
		if meta, err := tensor.EmptyMeta(t.Shape(), t.DType()); err == nil && meta.SetGeometry(0, t.Shape(), t.Strides()) == nil {
			return value.OfTensor(meta)
		}
	}
	return v
}

// results runs a node that makes a container or applies an operator.
func (p *shapes) results(n *ir.Node, args []value.Value) ([]value.Value, bool) {
	switch n.Kind() {
	case prim.ListConstruct:
		return []value.Value{value.OfList(value.NewList(n.Output().Type().(*types.List).Elem, args...))}, true
	case prim.TupleConstruct:
		return []value.Value{value.OfTuple(&value.Tuple{Type: n.Output().Type().(*types.Tuple), Items: args})}, true
	case prim.TupleUnpack:
		return args[0].Tuple().Items, true
	case prim.ListUnpack:
		items := args[0].List().Items
		return items, len(items) == len(n.Outputs())
	case prim.UncheckedCast, prim.UncheckedUnwrapOptional, aten.UnwrapOptional:
		return args, true
	}
	o := n.Operator()
	if o == nil || o.Run == nil || o.Schema().IsVararg || o.Schema().IsVarret {
		return nil, false
	}
	return passes.RunOperator(o, args, len(n.Outputs()))
}

// learn notes what a value is. typed says that the element types are right.
func (p *shapes) learn(v *ir.Value, is value.Value, typed bool) {
	if v.Type().Kind() != types.KindTensor && types.IsMutable(v.Type()) && p.memory.HasContentWriters(v) {
		return // a list that changes
	}
	if is.IsTensor() && v.Type().Kind() == types.KindTensor {
		t := is.Tensor()
		if t.Numel() > mostElements {
			return
		}
		info := value.CompleteType(t).(*types.TensorInfo)
		info.Device = "cpu"
		shaped := &types.TensorInfo{DType: info.DType, Device: info.Device, Dims: info.Dims, Sizes: info.Sizes, Strides: info.Strides}
		if !typed {
			shaped = &types.TensorInfo{Dims: info.Dims, Sizes: info.Sizes}
			p.untyped[v] = true
		}
		if p.detail != nil {
			shaped = p.describe(v, shaped)
		}
		v.SetType(shaped)
	} else if !typed {
		p.untyped[v] = true
	}
	p.known[v] = is
}

// branches goes into both blocks; the outputs are what both give.
func (p *shapes) branches(n *ir.Node) {
	yes, no := n.Blocks()[0], n.Blocks()[1]
	p.block(yes)
	p.block(no)
	for i, out := range n.Outputs() {
		a, aIs := yes.Outputs()[i].Type().(*types.TensorInfo)
		b, bIs := no.Outputs()[i].Type().(*types.TensorInfo)
		if aIs && bIs && out.Type().Kind() == types.KindTensor {
			both := p.merge(a, b)
			out.SetType(both)
			p.standFor(out, both)
		}
	}
}

// loop goes into the body until what it carries stays.
func (p *shapes) loop(n *ir.Node) {
	body := n.Blocks()[0]
	carried := body.Inputs()[1:]
	for i, v := range carried {
		if t, ok := n.Input(i + 2).Type().(*types.TensorInfo); ok && v.Type().Kind() == types.KindTensor {
			v.SetType(p.merge(t, t))
		}
	}
	for again := true; again; {
		p.forget(body)
		p.parameters(carried)
		p.block(body)
		again = false
		for i, v := range carried {
			before, ok := v.Type().(*types.TensorInfo)
			after, given := body.Outputs()[i+1].Type().(*types.TensorInfo)
			if !ok || !given {
				continue
			}
			both := p.merge(before, after)
			if both.String() != before.String() {
				v.SetType(both)
				again = true
			}
		}
	}
	for i, out := range n.Outputs() {
		if t, ok := carried[i].Type().(*types.TensorInfo); ok && out.Type().Kind() == types.KindTensor {
			out.SetType(t)
			p.standFor(out, t)
		}
	}
}

// forget drops what is known of the values of a block.
func (p *shapes) forget(b *ir.Block) {
	drop := func(vs []*ir.Value) {
		for _, v := range vs {
			delete(p.known, v)
			delete(p.untyped, v)
			if v.Type().Kind() == types.KindTensor && v.Node() != b.ParamNode() {
				v.SetType(types.Tensor)
			}
		}
	}
	drop(b.Inputs())
	b.Walk(func(n *ir.Node) {
		if n.Kind() != prim.Constant {
			drop(n.Outputs())
		}
	})
}

// merge is what two types say alike, apart from gradients but for CompleteShapes.
func (p *shapes) merge(a, b *types.TensorInfo) *types.TensorInfo {
	both := a.Common(b)
	if p.detail == nil {
		both.RequiresGrad = nil
	}
	return both
}
