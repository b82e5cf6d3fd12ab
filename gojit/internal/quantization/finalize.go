package quantization

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/quantized"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Finalize returns a frozen copy of what Quantize has returned, in which operators between roundings compute with integers and packed
// weights are attributes. preserved are attributes and methods that stay. It fails where a method cannot be compiled.
//
//	%a = aten::dequantize(%q)
//	%w.dequant = aten::dequantize(%w.quant)            %p = prim::GetAttr[name="quantized_forward._jit_pass_packed_weight_0"](%self)
//	%y = aten::linear(%a, %w.dequant, %b)          ->  %y.quant = quantized::linear(%q, %p, %s, %z)
//	%y.quant = aten::quantize_per_tensor(%y, %s, %z, %t)
func Finalize(module *value.Object, preserved []string, o Options) (*value.Object, error) {
	for _, name := range module.Class.MethodNames() {
		f, err := method(module, name)
		if err != nil {
			return nil, err
		}
		passes.EraseShapeInformation(f.Graph())
	}
	f, err := method(module, "forward")
	if err != nil {
		return nil, err
	}
	InsertPacking(f.Graph())
	Fuse(f.Graph(), o.Mode)
	frozen, err := freeze.Freeze(module, freeze.FreezeOptions{Preserved: preserved, Mangle: o.Mangle})
	if err != nil {
		return nil, err
	}
	return frozen, foldPacking(frozen)
}

// packed are the operators of packed weights, with the parameters of their packing beside weight and bias.
var packed = []struct{ operator, prefix, parameters, pack string }{
	{aten.Linear, quantized.Linear, "", ""},
	{aten.Conv1d, quantized.Conv1d, ", %stride, %padding, %dilation, %groups", ", %stride, %padding, %dilation, %groups"},
	{aten.Conv2d, quantized.Conv2d, ", %stride, %padding, %dilation, %groups", ", %stride, %padding, %dilation, %groups"},
	{aten.Conv3d, quantized.Conv3d, ", %stride, %padding, %dilation, %groups", ", %stride, %padding, %dilation, %groups"},
	{aten.ConvTranspose1d, quantized.ConvTranspose1d, ", %stride, %padding, %output_padding, %groups, %dilation",
		", %stride, %padding, %output_padding, %dilation, %groups"},
	{aten.ConvTranspose2d, quantized.ConvTranspose2d, ", %stride, %padding, %output_padding, %groups, %dilation",
		", %stride, %padding, %output_padding, %dilation, %groups"},
}

// InsertPacking packs the rounded weights of layers, which then use what is unpacked.
func InsertPacking(g *ir.Graph) {
	for _, p := range packed {
		rewrite(g, fmt.Sprintf(`graph(%%x, %%w, %%b%s):
  %%d = aten::dequantize(%%w)
  %%r = %s(%%x, %%d, %%b%s)
  return (%%r)`, p.parameters, p.operator, p.parameters), fmt.Sprintf(`graph(%%x, %%w, %%b%s):
  %%p = %s_prepack(%%w, %%b%s)
  %%u : Tensor, %%c : Tensor? = %s_unpack(%%p)
  %%d = aten::dequantize(%%u)
  %%r = %s(%%x, %%d, %%c%s)
  return (%%r)`, p.parameters, p.prefix, p.pack, p.prefix, p.operator, p.parameters))
	}
	rewrite(g, `graph(%x, %w, %b):
  %h = aten::_saturate_weight_to_fp16(%w)
  %r = aten::linear(%x, %h, %b)
  return (%r)`, `graph(%x, %w, %b):
  %p = quantized::linear_prepack_fp16(%w, %b)
  %u : Tensor, %c : Tensor? = quantized::linear_unpack_fp16(%p)
  %r = aten::linear(%x, %u, %c)
  return (%r)`)
	g.Block().Walk(func(n *ir.Node) {
		if isPacking(n) || n.Kind() == quantized.LinearPrepackFp16 {
			n.Output().SetType(ops.Find(n.Kind()).Schema().Returns[0].Type)
		}
	})
}

func isPacking(n *ir.Node) bool {
	for _, p := range packed {
		if n.Kind() == p.prefix+"_prepack" {
			return true
		}
	}
	return false
}

// rewrite replaces what looks like the first graph by the second.
func rewrite(g *ir.Graph, pattern, replacement string) {
	from, err := ir.Parse(pattern)
	to, err2 := ir.ParseWith(replacement, ir.ParseOptions{Renumber: true})
	p, ok := ir.NewPattern(from)
	if err != nil || err2 != nil || !ok {
		panic(fmt.Sprintf("quantization: %v %v\n%s\n%s", err, err2, pattern, replacement))
	}
	p.ReplaceAll(g, to)
}

// foldPacking runs the packing of constant weights in the methods of a module and keeps the results as its attributes.
func foldPacking(module *value.Object) error {
	count := 0
	for _, name := range module.Class.MethodNames() {
		f, err := method(module, name)
		if err != nil {
			return err
		}
		g := f.Graph()
		for _, n := range passes.NodesOf(g) {
			if !isPacking(n) {
				continue
			}
			// What cannot be packed fails when the method runs.
			attribute := fmt.Sprintf("quantized_%s._jit_pass_packed_weight_%d", name, count)
			if folded, err := freeze.FoldPack(module, g, n, attribute); folded && err == nil {
				count++
			}
		}
	}
	return nil
}
