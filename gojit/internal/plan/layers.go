package plan

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/nn"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// layerKind is the operator that is a whole layer of a transformer.
const layerKind = aten.TransformerEncoderLayerFwd

// DecomposeLayers replaces a whole layer of a transformer, which archives of PyTorch call as one operator, by the operators that it consists of, for plans.
// Layers with masks stay, and so do calls with nested tensors, and calls where gradients are recorded or an autocast is on: the operator has no derivative,
// and is not cast.
//
//	%y = aten::_transformer_encoder_layer_fwd(%x, ...)   ->   %n = prim::is_nested(%x) ...
//	                                                          %y = prim::If(%n)
//	                                                            block0(): %u = aten::_transformer_encoder_layer_fwd(%x, ...) -> (%u)
//	                                                            block1(): %qkv = aten::linear(%x, ...) ... -> (%v)
func DecomposeLayers(g *ir.Graph) bool {
	var layers []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == layerKind && isDecomposable(n) {
			layers = append(layers, n)
		}
	})
	for _, n := range layers {
		decompose(n)
	}
	return len(layers) > 0
}

// isDecomposable reports whether it is known what a layer consists of.
func isDecomposable(n *ir.Node) bool {
	if len(n.Inputs()) != 20 {
		return false
	}
	_, known := n.Input(7).Constant()
	_, knownOrder := n.Input(8).Constant()
	return known && knownOrder && n.Input(18).MustBeNone()
}

// decompose is DecomposeLayers for a layer.
func decompose(n *ir.Node) {
	g := n.Graph()
	or := func(a *ir.Value, kind string) *ir.Value { return ask(n, aten.Or, a, ask(n, kind)) }
	asOne := or(ask(n, prim.IsNested, n.Input(0)), aten.IsGradEnabled)
	asOne = or(or(asOne, aten.IsAutocastEnabled), aten.IsAutocastCpuEnabled)
	choice := g.Create(prim.If, []*ir.Value{asOne}, 1).InsertBefore(n).SetRange(n.Range)
	whole, parts := choice.AddBlock(), choice.AddBlock()
	n.Output().ReplaceAllUsesWith(choice.Output().CopyMetadata(n.Output()))
	n.MoveBefore(whole.ReturnNode())
	whole.AddOutput(n.Output())
	old := g.SetInsertEnd(parts)
	e := &nodes{graph: g, of: map[*tensor.Tensor]*ir.Value{}}
	args := make([]value.Value, len(n.Inputs()))
	for i, in := range n.Inputs() {
		if v, ok := in.Constant(); ok && !v.IsTensor() {
			args[i] = v
		} else {
			args[i] = e.handle(in)
		}
	}
	args[18] = value.None
	parts.AddOutput(e.valueOf(nn.EncoderLayer(e, args)[0]))
	g.SetInsertPoint(old)
}

// nodes adds the operators that another one is made of to a graph. A tensor stands for each value that is not known, and nothing else is known of it.
type nodes struct {
	graph *ir.Graph
	of    map[*tensor.Tensor]*ir.Value
}

// handle returns what stands for a value.
func (e *nodes) handle(v *ir.Value) value.Value {
	t := source.Must(tensor.Empty([]int{0}, tensor.Float32))
	e.of[t] = v
	return value.OfTensor(t)
}

// valueOf returns the value that a handle, a list with handles or a number is in the graph.
func (e *nodes) valueOf(v value.Value) *ir.Value {
	switch {
	case v.IsTensor():
		return e.of[v.Tensor()]
	case v.Kind() == value.KindList:
		list := v.List()
		items := make([]*ir.Value, len(list.Items))
		for i, item := range list.Items {
			items[i] = e.valueOf(item)
		}
		return e.graph.InsertNode(e.graph.CreateList(list.Elem, items)).Output()
	}
	return e.graph.Constant(v, source.Range{})
}

// Emit implements ops.Emitter.
func (e *nodes) Emit(name string, args ...value.Value) []value.Value {
	inputs := make([]ir.Argument, len(args))
	for i, a := range args {
		inputs[i] = ir.Arg(e.valueOf(a))
	}
	made := source.Must(e.graph.Insert(ops.BaseName("aten::"+name), inputs...)).Node()
	if made.Kind() != prim.TupleConstruct {
		return e.handles(made.Outputs())
	}
	results := e.handles(made.Inputs())
	made.Destroy()
	return results
}

func (e *nodes) handles(vs []*ir.Value) []value.Value {
	out := make([]value.Value, len(vs))
	for i, v := range vs {
		out[i] = e.handle(v)
	}
	return out
}

// Size implements ops.Sizer.
func (e *nodes) Size(t *tensor.Tensor, dim int) value.Value {
	return e.handle(source.Must(e.graph.Insert(aten.Size, ir.Arg(e.of[t]), ir.Arg(e.graph.Constant(value.Int(int64(dim)), source.Range{})))))
}

// FixedSize implements ops.Sizer. No size is known here.
func (e *nodes) FixedSize(t *tensor.Tensor, dim int) int {
	source.Raise(source.NotImplementedError, "size %d of %%%s is not known", dim, e.of[t].Name())
	return 0
}
