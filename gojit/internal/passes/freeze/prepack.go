package freeze

import (
	"fmt"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// prepackedLayers are layers with how the operators prepacked::* are called for them: the parameters of both, those of the
// packing, and the name of the operators.
var prepackedLayers = []struct{ operator, parameters, packed, prefix string }{
	{aten.Linear, "%input, %weight, %bias", "%weight, %bias", "linear_clamp"},
	{aten.Conv2d, "%input, %weight, %bias, %stride : int[], %padding : int[], %dilation : int[], %groups : int",
		"%weight, %bias, %stride, %padding, %dilation, %groups", "conv2d_clamp"},
	{aten.ConvTranspose2d, "%input, %weight, %bias, %stride : int[], %padding : int[], %output_padding : int[], %groups : int, %dilation : int[]",
		"%weight, %bias, %stride, %padding, %output_padding, %dilation, %groups", "conv2d_transpose_clamp"},
}

// namesOf leaves the types out of a list of parameters.
func namesOf(parameters string) string {
	var names []string
	for _, p := range strings.Split(parameters, ", ") {
		name, _, _ := strings.Cut(p, " :")
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// InsertPrepackedOps replaces linear layers and convolutions over planes by what packs their weights and what applies the packed
// weights, which mobile devices do once and often.
//
//	%y = aten::linear(%x, %w, %b)   ->   %p = prepacked::linear_clamp_prepack(%w, %b, None, None)
//	                                     %y = prepacked::linear_clamp_run(%x, %p)
func InsertPrepackedOps(g *ir.Graph) bool {
	changed := passes.ConstantPropagation(g)
	changed = PlainConvolutions(g) || changed
	changed = FuseLinear(g) || changed
	var pairs [][2]string
	for _, l := range prepackedLayers {
		pairs = append(pairs, [2]string{
			fmt.Sprintf("graph(%s):\n  %%r = %s(%s)\n  return (%%r)", l.parameters, l.operator, namesOf(l.parameters)),
			fmt.Sprintf("graph(%s):\n  %%none : NoneType = prim::Constant()\n  %%packed = prepacked::%s_prepack(%s, %%none, %%none)\n"+
				"  %%r = prepacked::%s_run(%%input, %%packed)\n  return (%%r)", l.parameters, l.prefix, l.packed, l.prefix),
		})
	}
	if rewriteAll(g, pairs) {
		changed = true
		typePrepacked(g)
	}
	return changed
}

// typePrepacked gives packed weights their class.
func typePrepacked(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if o := n.Operator(); o != nil && strings.HasPrefix(n.Kind(), "prepacked::") && strings.HasSuffix(n.Kind(), "_prepack") {
			n.Output().SetType(o.Schema().Returns[0].Type)
		}
	})
}

// PlainConvolutions replaces the convolutions of traces by those of programs where the arguments say which.
func PlainConvolutions(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != aten.Convolution {
			return
		}
		stride, ok := n.Input(3).Constant()
		transposed, ok2 := n.Input(6).Constant()
		if !ok || !ok2 || stride.Kind() != value.KindList || len(stride.List().Items) < 1 || len(stride.List().Items) > 3 {
			return
		}
		in := n.Inputs()
		kind, inputs := "conv", []*ir.Value{in[0], in[1], in[2], in[3], in[4], in[5], in[8]}
		if transposed.Bool() {
			kind, inputs = "conv_transpose", []*ir.Value{in[0], in[1], in[2], in[3], in[4], in[7], in[8], in[5]}
		}
		kind = fmt.Sprintf("aten::%s%dd", kind, len(stride.List().Items))
		made := g.Create(kind, inputs, 1).SetRange(n.Range).InsertBefore(n)
		n.Output().ReplaceAllUsesWith(made.Output().CopyMetadata(n.Output()))
		n.Destroy()
		changed = true
	})
	return changed
}

// FuseClampWithPrepacked has packed linear layers and convolutions limit their results where a relu or a hardtanh with constant limits does
// so next.
//
//	%p = prepacked::linear_clamp_prepack(%w, %b, None, None)       %p = prepacked::linear_clamp_prepack(%w, %b, 0., None)
//	%y = prepacked::linear_clamp_run(%x, %p)                  ->   %z = prepacked::linear_clamp_run(%x, %p)
//	%z = aten::relu(%y)
func FuseClampWithPrepacked(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		low, high, ok := limits(n)
		if !ok {
			return
		}
		run := n.Input(0).Node()
		if !isPrepacked(run, "_run") || run.Is("prepacked::conv2d_transpose_clamp_run") || len(run.Output().Uses()) != 1 {
			return
		}
		pack := run.Input(1).Node()
		last := len(pack.Inputs()) - 1
		if !isPrepacked(pack, "_prepack") || len(pack.Output().Uses()) != 1 || !pack.Input(last).MustBeNone() || !pack.Input(last-1).MustBeNone() {
			return
		}
		old := g.SetInsertPoint(pack)
		if low == nil {
			low = g.Constant(value.Float(0), n.Range)
		}
		g.SetInsertPoint(old)
		pack.ReplaceInput(last-1, low)
		if high != nil {
			pack.ReplaceInput(last, high)
			for _, v := range []*ir.Value{low, high} {
				if !v.Node().IsBefore(pack) {
					v.Node().MoveBefore(pack)
				}
			}
		}
		n.Output().ReplaceAllUsesWith(run.Output().CopyMetadata(n.Output()))
		n.Destroy()
		changed = true
	})
	return changed
}

// limits returns the limits that n puts on a tensor: low is nil for zero, high for none.
func limits(n *ir.Node) (low, high *ir.Value, ok bool) {
	switch n.Kind() {
	case aten.Relu, aten.Relu_:
		return nil, nil, true
	case aten.Hardtanh, aten.Hardtanh_:
		_, lowKnown := n.Input(1).Constant()
		_, highKnown := n.Input(2).Constant()
		return n.Input(1), n.Input(2), lowKnown && highKnown
	}
	return nil, nil, false
}

func isPrepacked(n *ir.Node, suffix string) bool {
	return strings.HasPrefix(n.Kind(), "prepacked::") && strings.HasSuffix(n.Kind(), suffix)
}

// FoldPrepackingOps runs the packing of constant weights in the methods of a module and keeps the results as its attributes, which the
// methods read. It fails where weights cannot be packed.
func FoldPrepackingOps(module *value.Object) error {
	count := 0
	for _, name := range module.Class.MethodNames() {
		f, ok := module.Class.FindMethod(name).(*ir.Function)
		if !ok {
			continue
		}
		if err := f.EnsureDefined(); err != nil {
			return err
		}
		g := f.Expose()
		if len(g.Inputs()) == 0 {
			continue
		}
		var packs []*ir.Node
		g.Block().Walk(func(n *ir.Node) {
			if isPrepacked(n, "_prepack") {
				packs = append(packs, n)
			}
		})
		for _, n := range packs {
			folded, err := FoldPack(module, g, n, fmt.Sprintf("prepack_folding_%s._jit_pass_packed_weight_%d", name, count))
			if err != nil {
				return err
			}
			if folded {
				count++
			}
		}
		passes.DCE(g)
	}
	return nil
}

// FoldPack keeps what a node makes of constants as an attribute of a module.
func FoldPack(module *value.Object, g *ir.Graph, n *ir.Node, name string) (bool, error) {
	args := make([]value.Value, len(n.Inputs()))
	for i, v := range n.Inputs() {
		c, ok := v.Constant()
		if !ok {
			return false, nil
		}
		args[i] = c
	}
	o := n.Operator()
	if o == nil || ops.Find(o.Name) == nil || o.Run == nil {
		return false, nil
	}
	out := make([]value.Value, 1)
	if err := o.Run(args, out); err != nil {
		return false, err
	}
	module.Class.AddAttribute(types.Attribute{Name: name, Type: n.Output().Type()})
	module.SetAttr(name, out[0])
	get := g.CreateGetAttr(g.Inputs()[0], name).SetRange(n.Range).InsertBefore(n)
	get.Output().SetType(n.Output().Type()).SetName(name)
	n.Output().ReplaceAllUsesWith(get.Output())
	n.Destroy()
	return true, nil
}
