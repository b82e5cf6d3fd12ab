package quantization

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// propagateQuantization inlines what a method calls and moves roundings to where they are of use: behind operators that keep elements or
// their scale, one before each user, into branches, and away from users that compute with floats anyway.
func propagateQuantization(g *ir.Graph, debug bool) error {
	passes.Inline(g)
	passes.ConstantPropagation(g)
	chooseParametersPerUse(g)
	removeRedundantRounding(g)
	quantizeInBranches(g)
	dequantizePerUse(g)
	limitsPerUse(g)
	if err := propagateIn(g.Block(), debug); err != nil {
		return err
	}
	removeRedundantDequantize(g)
	return nil
}

// chooseParametersPerUse gives each use of a tensor that is rounded by its own range a rounding of its own, right before it.
func chooseParametersPerUse(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		quant, choose := chosen(n)
		if choose == nil || len(n.Output().Uses()) < 2 {
			return
		}
		v := quant.Input(0)
		for _, u := range slices.Clone(n.Output().Uses()) {
			old := g.SetInsertPoint(u.User)
			reduced := g.InsertNode(g.Clone(choose.Input(1).Node(), nil)).Output()
			quantized := insertChosen(g, v, reduced, quant.Input(3), v.Name())
			u.User.ReplaceInput(u.Index, insertDequantize(g, quantized, v, v.Name(), 0))
			g.SetInsertPoint(old)
		}
		reduced := choose.Input(1).Node()
		for _, m := range []*ir.Node{n, quant, choose, reduced} {
			if !slices.ContainsFunc(m.Outputs(), (*ir.Value).HasUses) {
				m.Destroy()
			}
		}
	})
}

// insertChosen inserts the rounding of a value by its own range and returns its result. name begins the names.
func insertChosen(g *ir.Graph, v, reduced, dtype *ir.Value, name string) *ir.Value {
	choose := g.InsertNode(g.Create(aten.ChooseQparamsPerTensor, []*ir.Value{v, reduced}, 2))
	scale := choose.Outputs()[0].SetType(types.Float).SetName(name + ".scale")
	zero := choose.Outputs()[1].SetType(types.Int).SetName(name + ".zero_point")
	quant := g.InsertNode(g.Create(aten.QuantizePerTensor, []*ir.Value{v, scale, zero, dtype}, 1))
	return quant.Output().SetName(name + ".quant")
}

// chosen returns the nodes before an aten::dequantize that round its input by the range of each call; nil for other nodes.
func chosen(n *ir.Node) (quant, choose *ir.Node) {
	if n.Kind() != aten.Dequantize || n.Input(0).Node().Kind() != aten.QuantizePerTensor {
		return nil, nil
	}
	quant = n.Input(0).Node()
	if choose = quant.Input(1).Node(); choose.Kind() != aten.ChooseQparamsPerTensor {
		return nil, nil
	}
	return quant, choose
}

// removeRedundantRounding removes roundings by the range of each call whose only user computes with floats.
func removeRedundantRounding(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		quant, choose := chosen(n)
		if choose == nil || len(n.Output().Uses()) != 1 || dynamic.has(n.Output().Uses()[0].User) {
			return
		}
		n.Output().ReplaceAllUsesWith(quant.Input(0))
		for _, m := range []*ir.Node{n, quant, choose} {
			if !slices.ContainsFunc(m.Outputs(), (*ir.Value).HasUses) {
				m.Destroy()
			}
		}
	})
}

func isQuantize(n *ir.Node) bool {
	return n.Is(aten.QuantizePerTensor, aten.QuantizePerChannel)
}

// quantizeInBranches rounds in both branches what was rounded behind a prim::If, so that what each of them computes can do so with
// integers.
func quantizeInBranches(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if !isQuantize(n) || n.Input(0).Node().Kind() != prim.If || len(n.Input(0).Node().Outputs()) != 1 {
			return
		}
		branch := n.Input(0).Node()
		for _, v := range n.Inputs()[1:] {
			if branch.IsBefore(v.Node()) {
				v.Node().MoveBefore(branch)
			}
		}
		n.Output().ReplaceAllUsesWith(branch.Output())
		for _, b := range branch.Blocks() {
			result := b.Outputs()[0]
			inputs := append([]*ir.Value{result}, n.Inputs()[1:]...)
			quant := g.Create(n.Kind(), inputs, 1).InsertBefore(b.ReturnNode())
			b.ReplaceOutput(0, quant.Output())
			quant.Output().CopyMetadata(result)
		}
		n.Destroy()
	})
}

// dequantizePerUse gives each use of a dequantized tensor a dequantization of its own, right before it.
func dequantizePerUse(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != aten.Dequantize || len(n.Output().Uses()) < 2 {
			return
		}
		dequantizeBeforeUses(g, n.Input(0), n.Output())
		n.Destroy()
	})
}

// dequantizeBeforeUses has each use of a value be one of a dequantization of another, right before the user.
func dequantizeBeforeUses(g *ir.Graph, quantized, v *ir.Value) {
	uses := slices.Clone(v.Uses())
	for i, u := range uses {
		if u.User.Kind() == aten.Dequantize && quantized == v {
			continue
		}
		old := g.SetInsertPoint(u.User)
		u.User.ReplaceInput(u.Index, insertDequantize(g, quantized, v, v.Name(), i))
		g.SetInsertPoint(old)
	}
}

// limitsPerUse gives each use of a constant that is a limit of an operator one of its own, so that rounding it changes no other.
func limitsPerUse(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if !limited.has(n) {
			return
		}
		for i := 1; i < 3; i++ {
			v := n.Input(i)
			if v.Node().Kind() != prim.Constant || len(v.Uses()) < 2 {
				continue
			}
			for _, u := range slices.Clone(v.Uses()) {
				own := g.Clone(v.Node(), nil).InsertBefore(u.User)
				u.User.ReplaceInput(u.Index, own.Output())
			}
			v.Node().Destroy()
		}
	})
}

// propagateIn moves roundings behind the operators of a block, in their order.
func propagateIn(b *ir.Block, debug bool) error {
	var warn error
	for _, n := range b.Nodes() {
		if n.IsDestroyed() {
			continue
		}
		if n.Kind() == prim.If {
			for _, inner := range n.Blocks() {
				if err := propagateIn(inner, debug); err != nil {
					return err
				}
			}
			if len(n.Outputs()) != 1 {
				continue
			}
		}
		switch {
		case n.Kind() == prim.CallFunction:
		case keepsScale(n), fixedParameters(n) != nil:
			quantizeLike(n)
			if withScalar(n) && debug {
				warn = source.WarnOnce(scalarWarning)
			}
		default:
			moveDequantize(n)
		}
		if warn != nil {
			return warn
		}
	}
	return nil
}

const scalarWarning = "debug option for add_scalar and mul_scalar is not supported, please don't use debug option for models that uses these ops."

// quint8Number is the number of quint8 among PyTorch's element types.
const quint8Number = 13

// areDequantized reports whether all of some values are made by aten::dequantize.
func areDequantized(vs []*ir.Value) bool {
	for _, v := range vs {
		if v.Node().Kind() != aten.Dequantize {
			return false
		}
	}
	return true
}

// moveDequantize has a node that gives elements of its inputs take them as integers, and its users dequantize them.
//
//	%d = aten::dequantize(%q)          %f = aten::flatten(%q, %1, %2)
//	%f = aten::flatten(%d, %1, %2) ->  %f.dequant.0 = aten::dequantize(%f)
//	%r = aten::linear(%f, %w, %b)      %r = aten::linear(%f.dequant.0, %w, %b)
func moveDequantize(n *ir.Node) {
	var from, made []*ir.Value
	for _, v := range n.Outputs() {
		if in := passedThrough(v); len(in) > 0 && areDequantized(in) {
			from, made = append(from, in...), append(made, v)
		}
	}
	for _, in := range from {
		if dequant := in.Node(); !dequant.IsDestroyed() {
			in.ReplaceAllUsesWith(dequant.Input(0))
			dequant.Destroy()
		}
	}
	for _, v := range made {
		dequantizeBeforeUses(n.Graph(), v, v)
	}
}

// fixedParameters are scale, zero point and element type of operators whose results are always in the same range.
func fixedParameters(n *ir.Node) []value.Value {
	switch {
	case unitRange.has(n):
		return []value.Value{value.Float(1.0 / 256), value.Int(0), value.Int(quint8Number)}
	case signedRange.has(n):
		return []value.Value{value.Float(2.0 / 256), value.Int(128), value.Int(quint8Number)}
	}
	return nil
}

// quantizeLike rounds the result of a node whose input is rounded: with the parameters that are always its own, else with the input's.
//
//	%d = aten::dequantize(%q)           %d = aten::dequantize(%q)
//	%y = aten::mean(%d, %1, %2, %3) ->  %y = aten::mean(%d, %1, %2, %3)
//	                                    %s = aten::q_scale(%q)
//	                                    %z = aten::q_zero_point(%q)
//	                                    %t = prim::dtype(%q)
//	                                    %y.quant = aten::quantize_per_tensor(%y, %s, %z, %t)
func quantizeLike(n *ir.Node) {
	if !areDequantized(n.Inputs()[:1]) {
		return
	}
	from := n.Input(0).Node().Input(0)
	insertRounding(n.Output(), from, fixedParameters(n), n)
	if limited.has(n) {
		for i := 1; i < 3; i++ {
			roundLimit(n, i, from)
		}
	}
}

// insertRounding rounds v, which its users get rounded, as from is or with given parameters, behind a node.
func insertRounding(v, from *ir.Value, parameters []value.Value, behind *ir.Node) {
	g := behind.Graph()
	after := behind.Next()
	if after == nil {
		after = behind.Block().ReturnNode()
	}
	uses := slices.Clone(v.Uses())
	old := g.SetInsertPoint(after)
	defer g.SetInsertPoint(old)
	inputs := []*ir.Value{v}
	if parameters == nil {
		for _, q := range []struct {
			kind, name string
			t          types.Type
		}{{aten.QScale, ".q_scale", types.Float}, {aten.QZeroPoint, ".q_zero_point", types.Int}, {prim.Dtype, ".dtype", types.Int}} {
			out := g.InsertNode(g.Create(q.kind, []*ir.Value{from}, 1)).Output().SetType(q.t)
			inputs = append(inputs, out.SetName(from.Name()+q.name))
		}
	}
	for i, p := range parameters {
		name := []string{".scale", ".zero_point", ".scalar_type"}[i]
		inputs = append(inputs, g.Constant(p, source.Range{}).SetName(from.Name()+name))
	}
	quantized := g.InsertNode(g.Create(aten.QuantizePerTensor, inputs, 1)).Output().SetName(v.Name() + ".quant")
	for i, u := range uses {
		g.SetInsertPoint(u.User)
		u.User.ReplaceInput(u.Index, insertDequantize(g, quantized, v, quantized.Name(), i))
	}
}

// roundLimit has a node that limits elements take a limit that is rounded as its input is.
func roundLimit(n *ir.Node, i int, from *ir.Value) {
	limit := n.Input(i)
	if limit.Node().Kind() != prim.Constant || limit.MustBeNone() {
		return
	}
	g := n.Graph()
	old := g.SetInsertPoint(limit.Node().Next())
	defer g.SetInsertPoint(old)
	dtype, none := g.Constant(value.Int(float32Number), source.Range{}), g.Constant(value.None, source.Range{})
	number := g.InsertNode(g.Create(aten.ScalarTensor, []*ir.Value{limit, dtype, none, none, none}, 1)).Output()
	number.SetName(limit.Name() + ".tensor")
	g.SetInsertPoint(n)
	item := g.InsertNode(g.Create(aten.Item, []*ir.Value{number}, 1))
	behind := from.Node()
	if behind.IsBefore(number.Node()) {
		behind = number.Node()
	}
	insertRounding(number, from, nil, behind)
	item.Output().SetType(types.Float).SetName(item.Input(0).Name() + ".scalar")
	n.ReplaceInput(i, item.Output())
}

const float32Number = 6

// informing are operators that ask for no element of a tensor.
var informing = kinds{fact: "int8_informing"}

// removeRedundantDequantize has operators that ask for no element take tensors of integers.
func removeRedundantDequantize(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == aten.Dequantize && len(n.Output().Uses()) == 1 && informing.has(n.Output().Uses()[0].User) {
			n.Output().ReplaceAllUsesWith(n.Input(0))
			n.Destroy()
		}
	})
}
