package freeze

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/kinds/quantized"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// rewriting says what becomes of what looks like a graph. where, unless it is nil, is asked with what finds values by their names in it.
type rewriting struct {
	from, to string
	where    func(named func(string) *ir.Value) bool
}

// rewriteAll replaces what looks like the first text of a pair, a graph with one result, by the graph of the second. It
// reports whether there was any.
func rewriteAll(g *ir.Graph, pairs [][2]string) bool {
	var rewritings []rewriting
	for _, texts := range pairs {
		rewritings = append(rewritings, rewriting{from: texts[0], to: texts[1]})
	}
	return rewriteWhere(g, rewritings)
}

func rewriteWhere(g *ir.Graph, rewritings []rewriting) bool {
	count := 0
	for _, r := range rewritings {
		pattern, err := ir.Parse(r.from)
		replacement, err2 := ir.ParseWith(r.to, ir.ParseOptions{Renumber: true})
		if p, ok := ir.NewPattern(pattern); err == nil && err2 == nil && ok {
			p.Where = r.where
			count += p.ReplaceAll(g, replacement)
		}
	}
	return count > 0
}

// addReluPattern is a sum, in place where its suffix is "_", and relu of it. The result is in place as the sum is.
func addReluPattern(sum, relu string) [2]string {
	add, relu, fused := aten.Add+sum, aten.Relu+relu, aten.AddRelu+sum
	return [2]string{`graph(%x, %y, %alpha):
  %s = ` + add + `(%x, %y, %alpha)
  %r = ` + relu + `(%s)
  return (%r)`, `graph(%x, %y, %alpha):
  %r = ` + fused + `(%x, %y, %alpha)
  return (%r)`}
}

// FuseAddRelu replaces aten::relu of a sum by aten::_add_relu, which writes once.
//
//	%s = aten::add(%x, %y, %alpha)
//	%r = aten::relu(%s)           -- becomes aten::_add_relu(%x, %y, %alpha)
func FuseAddRelu(g *ir.Graph) bool {
	return rewriteAll(g, [][2]string{addReluPattern("", ""), addReluPattern("", "_"), addReluPattern("_", "_")})
}

// quantizedAddRelu is a sum of integers with a scale and relu of it. With out, the operator that writes a tensor is meant.
func quantizedAddRelu(kind, out, arguments string) [2]string {
	return [2]string{`graph(` + arguments + `):
  %s = ` + kind + out + `(` + arguments + `)
  %r = ` + aten.Relu + `(%s)
  return (%r)`, `graph(` + arguments + `):
  %r = ` + kind + `_relu` + out + `(` + arguments + `)
  return (%r)`}
}

// FuseQuantizedAddRelu replaces aten::relu of a sum of integers with a scale by the operator that gives both.
//
//	%s = quantized::add(%x, %y, %scale, %zero)
//	%r = aten::relu(%s)           -- becomes quantized::add_relu(%x, %y, %scale, %zero)
func FuseQuantizedAddRelu(g *ir.Graph) bool {
	scalar := quantized.Add + "_scalar"
	return rewriteAll(g, [][2]string{
		quantizedAddRelu(quantized.Add, "", "%x, %y, %scale, %zero"), quantizedAddRelu(quantized.Add, "_out", "%x, %y, %out"),
		quantizedAddRelu(scalar, "", "%x, %y"), quantizedAddRelu(scalar, "_out", "%x, %y, %out"),
	})
}

// Conv1dToConv2d replaces convolutions over one dimension by those over two, of which the first has size one, for back
// ends that have no others.
func Conv1dToConv2d(g *ir.Graph) bool {
	changed := passes.ConstantPropagationWithResults(g)
	return rewriteAll(g, [][2]string{{`graph(%input, %weight, %bias, %stride, %padding, %dilation, %groups):
  %r = aten::conv1d(%input, %weight, %bias, %stride, %padding, %dilation, %groups)
  return (%r)`, `graph(%input, %weight, %bias, %stride : int[], %padding : int[], %dilation : int[], %groups):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %s : int = prim::ListUnpack(%stride)
  %strides : int[] = prim::ListConstruct(%one, %s)
  %p : int = prim::ListUnpack(%padding)
  %paddings : int[] = prim::ListConstruct(%zero, %p)
  %d : int = prim::ListUnpack(%dilation)
  %dilations : int[] = prim::ListConstruct(%one, %d)
  %dim : int = prim::Constant[value=2]()
  %x : Tensor = aten::unsqueeze(%input, %dim)
  %w : Tensor = aten::unsqueeze(%weight, %dim)
  %y : Tensor = aten::conv2d(%x, %w, %bias, %strides, %paddings, %dilations, %groups)
  %r : Tensor = aten::squeeze(%y, %dim)
  return (%r)`}}) || changed
}

// RefineTupleTypes gives tuples that are constructed, and have no names, the types of their elements.
func RefineTupleTypes(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == prim.TupleConstruct {
			before := n.Output().Type().String()
			RefineTuple(n)
			changed = changed || n.Output().Type().String() != before
		}
	})
	return changed
}

func RefineTuple(n *ir.Node) {
	t, ok := n.Output().Type().(*types.Tuple)
	if !ok || t.Name != "" {
		return
	}
	elems := make([]types.Type, len(n.Inputs()))
	for i, v := range n.Inputs() {
		elems[i] = v.Type()
	}
	n.Output().SetType(types.NewTuple(elems...))
}
