package plan

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// layerKind is the operator that is a whole layer of a transformer.
const layerKind = "aten::_transformer_encoder_layer_fwd"

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
	isGelu, _ := n.Input(7).Constant()
	isNormFirst, _ := n.Input(8).Constant()
	layer := source.Must(ir.ParseWith(layerText(isGelu.Bool(), isNormFirst.Bool()), ir.ParseOptions{Renumber: true}))
	g := n.Graph()
	or := func(a *ir.Value, kind string) *ir.Value { return ask(n, "aten::__or__", a, ask(n, kind)) }
	asOne := or(ask(n, "prim::is_nested", n.Input(0)), "aten::is_grad_enabled")
	asOne = or(or(asOne, "aten::is_autocast_enabled"), "aten::is_autocast_cpu_enabled")
	choice := g.Create("prim::If", []*ir.Value{asOne}, 1).InsertBefore(n).SetRange(n.Range)
	whole, parts := choice.AddBlock(), choice.AddBlock()
	n.Output().ReplaceAllUsesWith(choice.Output().CopyMetadata(n.Output()))
	n.MoveBefore(whole.ReturnNode())
	whole.AddOutput(n.Output())
	old := g.SetInsertEnd(parts)
	parts.AddOutput(g.InsertGraph(layer, n.Inputs())[0])
	g.SetInsertPoint(old)
}

// layerText is the graph of a layer in evaluation, over the arguments of the operator. Attention comes first, then two linear layers; each is added to what
// it reads, and a normalization stands behind the sum, or before.
func layerText(isGelu, isNormFirst bool) string {
	activation := "aten::relu(%h)"
	if isGelu {
		activation = "aten::gelu(%h, %exact)"
	}
	norm := func(out, in, weight string) string {
		return fmt.Sprintf("  %%%s : Tensor = aten::layer_norm(%%%s, %%width, %%norm_weight_%s, %%norm_bias_%[3]s, %%eps, %%yes)\n", out, in, weight)
	}
	first, attended, second, result := "", norm("a", "sum", "1"), "", norm("y", "last", "2")
	read, fed, returned := "src", "a", "y"
	if isNormFirst {
		first, attended, second, result = norm("n", "src", "1"), "", norm("m", "sum", "2"), ""
		read, fed, returned = "n", "m", "last"
	}
	residual := fed
	if isNormFirst {
		residual = "sum"
	}
	return `graph(%src : Tensor, %embed_dim : int, %num_heads : int, %qkv_weight : Tensor, %qkv_bias : Tensor, %weight : Tensor, %bias : Tensor,
  %use_gelu : bool, %norm_first : bool, %eps : float, %norm_weight_1 : Tensor, %norm_bias_1 : Tensor, %norm_weight_2 : Tensor, %norm_bias_2 : Tensor,
  %weight_1 : Tensor, %bias_1 : Tensor, %weight_2 : Tensor, %bias_2 : Tensor, %mask : Tensor?, %mask_type : int?):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %three : int = prim::Constant[value=3]()
  %end : int = prim::Constant[value=-1]()
  %no : bool = prim::Constant[value=0]()
  %yes : bool = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %never : float = prim::Constant[value=0.]()
  %exact : str = prim::Constant[value="none"]()
  %width : int[] = prim::ListConstruct(%embed_dim)
  %batch : int = aten::size(%src, %zero)
  %time : int = aten::size(%src, %one)
  %head : int = aten::floordiv(%embed_dim, %num_heads)
  %heads : int[] = prim::ListConstruct(%batch, %time, %num_heads, %head)
  %rows : int[] = prim::ListConstruct(%batch, %time, %embed_dim)
` + first + `  %qkv : Tensor = aten::linear(%` + read + `, %qkv_weight, %qkv_bias)
  %parts : Tensor[] = aten::chunk(%qkv, %three, %end)
  %q0 : Tensor, %k0 : Tensor, %v0 : Tensor = prim::ListUnpack(%parts)
  %q1 : Tensor = aten::view(%q0, %heads)
  %k1 : Tensor = aten::view(%k0, %heads)
  %v1 : Tensor = aten::view(%v0, %heads)
  %q : Tensor = aten::transpose(%q1, %one, %two)
  %k : Tensor = aten::transpose(%k1, %one, %two)
  %v : Tensor = aten::transpose(%v1, %one, %two)
  %of_heads : Tensor, %weights : Tensor = aten::_scaled_dot_product_attention(%q, %k, %v, %none, %never, %no, %no)
  %in_time : Tensor = aten::transpose(%of_heads, %one, %two)
  %joined : Tensor = aten::reshape(%in_time, %rows)
  %attention : Tensor = aten::linear(%joined, %weight, %bias)
  %sum : Tensor = aten::add(%src, %attention, %one)
` + attended + second + `  %h : Tensor = aten::linear(%` + fed + `, %weight_1, %bias_1)
  %active : Tensor = ` + activation + `
  %fed : Tensor = aten::linear(%active, %weight_2, %bias_2)
  %last : Tensor = aten::add(%` + residual + `, %fed, %one)
` + result + `  return (%` + returned + `)`
}
