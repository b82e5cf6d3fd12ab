package passes

import (
	"context"
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ConstantPropagationImmutableTypes runs the nodes whose inputs are constants and whose values
// cannot be changed, and simplifies the control flow whose outcome is known then. Running it again
// changes nothing.
//
//	%x : int = aten::add(%2, %3)   -- becomes prim::Constant[value=5]()
func ConstantPropagationImmutableTypes(g *ir.Graph) bool {
	p := &constantPropagation{g: g}
	p.block(g.Block())
	if p.changed {
		DCEWithWrites(g)
	}
	return p.changed
}

// ConstantPropagation is ConstantPropagationImmutableTypes also for tensors and containers that
// nothing writes and that are not seen outside the graph.
func ConstantPropagation(g *ir.Graph) bool {
	p := &constantPropagation{g: g, memory: alias.Analyze(g, alias.Options{})}
	p.block(g.Block())
	if p.changed {
		DCEWithWrites(g)
	}
	return p.changed
}

// ConstantPropagationInAnyMode is ConstantPropagation for code that runs in any mode: tensors whose elements, or whose type, an autocast or the
// default type decides are left to be computed.
func ConstantPropagationInAnyMode(g *ir.Graph) bool {
	p := &constantPropagation{g: g, memory: alias.Analyze(g, alias.Options{}), anyMode: true}
	p.block(g.Block())
	if p.changed {
		DCEWithWrites(g)
	}
	return p.changed
}

// ConstantPropagationWithResults is ConstantPropagation also for tensors and containers that are seen outside the graph, as PyTorch's pass has it:
// a function whose graph is changed so gives the same tensor in every call. Only programs that ask for the pass get it.
func ConstantPropagationWithResults(g *ir.Graph) bool {
	p := &constantPropagation{g: g, memory: alias.Analyze(g, alias.Options{}), results: true}
	p.block(g.Block())
	if p.changed {
		DCEWithWrites(g)
	}
	return p.changed
}

type constantPropagation struct {
	g       *ir.Graph
	memory  *alias.Db // nil: only nodes of immutable values run
	anyMode bool      // results must not depend on the mode
	results bool      // what is seen outside may be constant
	changed bool
}

func (p *constantPropagation) block(b *ir.Block) {
	for n := b.First(); n != nil; {
		next := n.Next()
		p.node(n)
		n = next
	}
}

func (p *constantPropagation) blocks(n *ir.Node) {
	for _, b := range n.Blocks() {
		p.block(b)
	}
}

func (p *constantPropagation) node(n *ir.Node) {
	constant := constantInputs(n)
	switch {
	case n.Kind() == prim.If:
		if constant {
			p.inlineIf(n)
			return
		}
		p.blocks(n)
		p.removeExtraIfOutputs(n)
	case n.Kind() == prim.Loop:
		if loopNeverRuns(n) {
			for i, out := range n.Outputs() {
				out.ReplaceAllUsesWith(n.Input(i + 2))
			}
			n.Destroy()
			p.changed = true
			return
		}
		p.blocks(n)
		p.removeExtraLoopOutputs(n)
	case constant && p.supported(n):
		p.run(n)
	default:
		p.blocks(n)
	}
}

func constantInputs(n *ir.Node) bool {
	for _, in := range n.Inputs() {
		if in.Node().Kind() != prim.Constant {
			return false
		}
	}
	return true
}

func loopNeverRuns(n *ir.Node) bool {
	if trips, ok := n.Input(0).Constant(); ok && trips.Int() <= 0 {
		return true
	}
	start, ok := n.Input(1).Constant()
	return ok && !start.Bool()
}

// IsPropagated reports whether constant propagation may run a node for its kind. It may not run dequantize: integers are smaller, and operators
// over them are found by it.
func IsPropagated(n *ir.Node) bool {
	switch n.Kind() {
	case prim.If, prim.Loop, prim.Closure, prim.Constant, prim.Awaitable, prim.Enter, prim.Exit: // they are no operators
		return false
	}
	_, left := ops.FactOf(n.Kind(), "unpropagated")
	return !left && !n.Has(ops.AsksMode)
}

func (p *constantPropagation) supported(n *ir.Node) bool {
	if !IsPropagated(n) || len(n.Blocks()) > 0 || n.HasSideEffects() || n.IsNondeterministic() {
		return false
	}
	return p.unwritten(n.Inputs(), false) && p.unwritten(n.Outputs(), !isElement(n))
}

// isElement reports whether a node gives what is in a container: as a constant that is seen where the container is.
func isElement(n *ir.Node) bool {
	if n.Kind() != aten.Getitem {
		return n.Is(prim.TupleIndex, prim.TupleUnpack, prim.ListUnpack)
	}
	k := n.Input(0).Type().Kind()
	return k == types.KindList || k == types.KindDict
}

// unwritten reports whether nothing can change the values; outputs must not be seen outside either.
func (p *constantPropagation) unwritten(vs []*ir.Value, outputs bool) bool {
	for _, v := range vs {
		if !types.IsMutable(v.Type()) {
			continue
		}
		if p.memory == nil || p.memory.HasContentWriters(v) || outputs && !p.results && p.memory.Escapes(v) {
			return false
		}
	}
	return true
}

// RunConstantNode runs a node whose inputs are all constants and returns its outputs. ok is false
// where it cannot be run now or fails: then it fails when the program runs.
func RunConstantNode(n *ir.Node) (out []value.Value, ok bool) {
	args := make([]value.Value, len(n.Inputs()))
	for i, in := range n.Inputs() {
		if args[i], ok = in.Constant(); !ok {
			return nil, false
		}
	}
	switch n.Kind() {
	case prim.ListConstruct, prim.DictConstruct:
		v, ok := EvaluateConstant(n.Output())
		return []value.Value{v}, ok
	case prim.TupleConstruct:
		t := n.Output().Type().(*types.Tuple)
		return []value.Value{value.OfTuple(&value.Tuple{Type: t, Items: args})}, true
	case prim.TupleIndex:
		items, i := args[0].Tuple().Items, int(args[1].Int())
		if i < 0 {
			i += len(items)
		}
		if i < 0 || i >= len(items) {
			return nil, false
		}
		return []value.Value{items[i]}, true
	case prim.TupleUnpack:
		return args[0].Tuple().Items, true
	case prim.ListUnpack:
		items := args[0].List().Items
		return items, len(items) == len(n.Outputs())
	case prim.UncheckedCast:
		return args, true
	case prim.Isinstance:
		for _, t := range n.TypesAttr("types") {
			if value.Conforms(args[0], t) {
				return []value.Value{value.Bool(true)}, true
			}
		}
		return []value.Value{value.Bool(false)}, true
	case prim.EnumName:
		return []value.Value{value.Str(args[0].Enum().Name())}, true
	case prim.EnumValue:
		return []value.Value{args[0].Enum().Value()}, true
	}
	o := n.Operator()
	if o == nil || o.Run == nil || o.Schema().IsVararg || o.Schema().IsVarret {
		return nil, false
	}
	return RunOperator(o, args, len(n.Outputs()))
}

// The computation of a constant may make so many bytes, and so many times the bytes of the tensors that it is made of: a short program
// could ask for gigabytes, which are better made when they are wanted.
const (
	foldedBytes = 64 << 20
	foldedRate  = 8
)

func RunOperator(o *ops.Operator, args []value.Value, outputs int) (out []value.Value, ok bool) {
	out = make([]value.Value, outputs)
	bytes := foldedBytes
	for _, v := range args {
		if v.IsTensor() && v.Tensor() != nil {
			bytes += foldedRate * v.Tensor().Numel() * v.Tensor().DType().Size()
		}
	}
	var err error
	tensor.NewAllowance(bytes).Run(context.Background(), func(context.Context) { err = o.Run(args, out) })
	if err != nil && source.ClassOf(err) == source.KeyboardInterrupt {
		source.Throw(err)
	}
	return out, err == nil
}

// EvaluateConstant returns the value of v where everything that it is computed from is constant:
// also lists, dictionaries and tensors, which belong to the caller alone.
func EvaluateConstant(v *ir.Value) (c value.Value, ok bool) {
	if c, ok = v.Constant(); ok {
		return c, true
	}
	n := v.Node()
	args := make([]value.Value, len(n.Inputs()))
	for i, in := range n.Inputs() {
		if args[i], ok = EvaluateConstant(in); !ok {
			return value.None, false
		}
	}
	switch n.Kind() {
	case prim.ListConstruct, prim.EmptyListLiteral:
		return value.OfList(value.NewList(v.Type().(*types.List).Elem, args...)), true
	case prim.TupleConstruct:
		return value.OfTuple(&value.Tuple{Type: v.Type().(*types.Tuple), Items: args}), true
	case prim.DictConstruct:
		t := v.Type().(*types.Dict)
		d := value.NewDict(t.Key, t.Value)
		for i := 0; i+1 < len(args); i += 2 {
			d.Set(args[i], args[i+1])
		}
		return value.OfDict(d), true
	case prim.UncheckedCast:
		return args[0], true
	}
	o := n.Operator()
	if o == nil || o.Run == nil || n.HasSideEffects() {
		return value.None, false
	}
	out, ok := RunOperator(o, args, len(n.Outputs()))
	if !ok {
		return value.None, false
	}
	return out[v.Offset()], true
}

func (p *constantPropagation) run(n *ir.Node) {
	outputs, ok := RunConstantNode(n)
	if !ok || p.anyMode && dependsOnMode(n, outputs) {
		return
	}
	old := p.g.SetInsertPoint(n)
	defer p.g.SetInsertPoint(old)
	for i, c := range outputs {
		if !ir.IsConstantable(c) || c.Kind() == value.KindCapsule {
			continue
		}
		out := n.Outputs()[i]
		v := p.g.Constant(c, source.Range{})
		if c.IsNone() {
			v.SetType(out.Type())
		}
		if p.memory != nil {
			p.memory.Forget(out, v)
		}
		out.ReplaceAllUsesWith(v)
		p.changed = true
	}
}

// dependsOnMode reports whether a mode, or the default type, may give the results of a node of constants other elements or another type: an autocast
// casts what it reads, or there are floating-point tensors and neither an argument says so nor a tensor that it reads.
func dependsOnMode(n *ir.Node, outputs []value.Value) bool {
	floats := slices.ContainsFunc(outputs, isFloatTensor)
	if !floats {
		return false
	}
	if o := n.Operator(); o == nil || autograd.Casts(o) {
		return o != nil
	}
	for i, in := range n.Inputs() {
		c, _ := in.Constant()
		if isFloatTensor(c) || !c.IsNone() && i < len(n.Operator().Schema().Arguments) && n.Operator().Schema().Arguments[i].Name == "dtype" {
			return false
		}
	}
	return true
}

func isFloatTensor(v value.Value) bool {
	return v.IsTensor() && (v.Tensor().DType().IsFloating() || v.Tensor().DType().IsComplex())
}

func (p *constantPropagation) inlineIf(n *ir.Node) {
	c, ok := n.Input(0).Constant()
	if !ok {
		p.blocks(n)
		return
	}
	b := n.Blocks()[1]
	if c.Bool() {
		b = n.Blocks()[0]
	}
	p.block(b)
	for _, m := range b.Nodes() {
		m.MoveBefore(n)
	}
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(b.Outputs()[i])
	}
	n.Destroy()
	p.changed = true
}

func (p *constantPropagation) removeExtraIfOutputs(n *ir.Node) {
	yes, no := n.Blocks()[0], n.Blocks()[1]
	old := p.g.SetInsertPoint(n)
	defer p.g.SetInsertPoint(old)
	for i := 0; i < len(yes.Outputs()); {
		t, f := yes.Outputs()[i], no.Outputs()[i]
		replacement := t
		if t != f {
			c, ok := t.Constant()
			if !ok || !sameConstant(t.Node(), f.Node()) {
				i++
				continue
			}
			replacement = p.g.Constant(c, source.Range{})
		}
		n.Outputs()[i].ReplaceAllUsesWith(replacement)
		eraseIfOutput(n, i)
		p.changed = true
	}
}

func (p *constantPropagation) removeExtraLoopOutputs(n *ir.Node) {
	body := n.Blocks()[0]
	for i := len(n.Outputs()) - 1; i >= 0; i-- {
		if body.Inputs()[i+1] != body.Outputs()[i+1] {
			continue
		}
		in := n.Input(i + 2)
		n.Outputs()[i].ReplaceAllUsesWith(in)
		body.Inputs()[i+1].ReplaceAllUsesWith(in)
		eraseCarried(n, i)
		p.changed = true
	}
}

// sameConstant reports whether two nodes are constants of one type and value.
func sameConstant(a, b *ir.Node) bool {
	if a.Kind() != prim.Constant || b.Kind() != prim.Constant {
		return false
	}
	return types.Equal(a.Output().Type(), b.Output().Type()) && equalAttributes(a, b)
}

func equalAttributes(a, b *ir.Node) bool {
	x, y := a.Attributes(), b.Attributes()
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].Name != y[i].Name || !equalAttribute(x[i].Value, y[i].Value) {
			return false
		}
	}
	return true
}

func equalAttribute(x, y any) bool {
	switch x := x.(type) {
	case value.Value:
		w, ok := y.(value.Value)
		return ok && value.EqualConstants(x, w)
	case types.Type:
		t, ok := y.(types.Type)
		return ok && types.Equal(x, t)
	case []types.Type:
		ts, ok := y.([]types.Type)
		return ok && slices.EqualFunc(x, ts, types.Equal)
	case []int64:
		ys, ok := y.([]int64)
		return ok && slices.Equal(x, ys)
	case []float64:
		ys, ok := y.([]float64)
		return ok && slices.Equal(x, ys)
	case []string:
		ys, ok := y.([]string)
		return ok && slices.Equal(x, ys)
	case []*ir.Graph:
		ys, ok := y.([]*ir.Graph)
		return ok && slices.Equal(x, ys)
	}
	return x == y
}

// ConstantPooling moves the constants to the beginning of the graph, the last first, and keeps one
// of each.
func ConstantPooling(g *ir.Graph) {
	p := pool{g: g, known: map[constantKey][]*ir.Node{}}
	p.block(g.Block())
}

// pool has the constants of a graph that were met.
type pool struct {
	g     *ir.Graph
	known map[constantKey][]*ir.Node
	db    *alias.Db // made where it is asked for
}

func (p *pool) block(b *ir.Block) {
	for n := b.First(); n != nil; {
		next := n.Next()
		if len(n.Blocks()) > 0 {
			for _, inner := range n.Blocks() {
				p.block(inner)
			}
		} else if n.Kind() == prim.Constant {
			p.constant(n)
		}
		n = next
	}
}

func (p *pool) constant(n *ir.Node) {
	key := keyOf(n.Output())
	for _, same := range p.known[key] {
		if sameConstant(n, same) && p.mayShare(n, same) {
			n.Output().ReplaceAllUsesWith(same.Output())
			n.Destroy()
			return
		}
	}
	p.known[key] = append(p.known[key], n)
	if first := p.g.Block().First(); n != first {
		n.MoveBefore(first)
	}
}

// constantKey is equal for constants that may be the same.
type constantKey struct {
	kind   types.Kind
	number float64
	text   string
}

func keyOf(v *ir.Value) constantKey {
	key := constantKey{kind: v.Type().Kind()}
	switch c, ok := v.Constant(); {
	case !ok:
	case c.IsInt():
		key.number = float64(c.Int())
	case c.IsFloat() && !math.IsNaN(c.Float()): // a NaN would not be found again
		key.number = c.Float()
	case c.Kind() == value.KindString:
		key.text = c.Str()
	}
	return key
}

// mayShare reports whether one constant may stand for both: always where it cannot be changed, and
// else where the graph does not return both and writes neither, nor what is in them.
func (p *pool) mayShare(a, b *ir.Node) bool {
	if !types.IsMutable(a.Output().Type()) {
		return true
	}
	if isReturned(p.g, a) && isReturned(p.g, b) {
		return false
	}
	if x, _ := a.Output().Constant(); x.Kind() == value.KindTensor {
		if y, _ := b.Output().Constant(); x == y {
			return true // they are one tensor
		}
	}
	if p.db == nil {
		p.db = alias.Analyze(p.g, alias.Options{})
	}
	return !p.db.HasContentWriters(a.Output()) && !p.db.HasContentWriters(b.Output())
}

func isReturned(g *ir.Graph, n *ir.Node) bool {
	for _, u := range n.Output().Uses() {
		if u.User == g.Block().ReturnNode() {
			return true
		}
	}
	return false
}
