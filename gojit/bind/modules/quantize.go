package modules

import (
	"context"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/graphs"
	"github.com/torchjit/torchjit/gojit/bind/scripts"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/quantization"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// quantizationMembers quantize modules; torchjit/ao/quantization/quantize_jit.py is their Python side.
var quantizationMembers = []abi.Function{
	{Schema: "_C._insert_observers(Module module, str method_name, list names, list observers, list unset, bool inplace, int quant_type) -> Module", Doc: "A copy of a module with observers; each of the names has two of them, one for activations and one for weights, and those that are unset none.", Run: abi.Bind(insertObservers)},
	{Schema: "_C._jit_pass_insert_quant_dequant(Module module, str method_name, bool inplace, bool debug, int quant_type_int=1) -> Module", Doc: "A copy of a module in which observers are replaced by roundings to integers and back.", Run: abi.Bind(insertQuantDequant)},
	{Schema: "_C._jit_pass_quant_finalize(Module module, int quant_type_int=1, list? preserved_attrs=None) -> Module", Doc: "A frozen copy of a module whose operators between roundings compute with integers.", Run: abi.Bind(finalizeQuantized)},
	{Schema: "_C._insert_prepack_unpack(Graph graph) -> None", Doc: "Packs the rounded weights of layers, which then use what is unpacked.", Run: graphs.Pass(quantization.InsertPacking)},
	{Schema: "_C._jit_pass_quant_fusion(Graph graph) -> None", Doc: "Replaces operators between roundings by those that compute with integers.", Run: graphs.Pass(fuseQuantized)},
}

// quantizationOptions are the options of a call from Python.
func quantizationOptions(inPlace bool, mode int) quantization.Options {
	gojit.LinkOperators()
	return quantization.Options{
		Mode: quantization.Mode(mode), InPlace: inPlace, Mangle: func(name string) string { return abi.Program.Mangle(name) },
		Call: func(f *ir.Function, args ...value.Value) (value.Value, error) {
			return scripts.Facade.Run(context.Background(), f, args...)
		},
	}
}

func insertObservers(
	module *value.Object, method string, names []string, observers []*value.Object, unset []string, inPlace bool, mode int,
) (*value.Object, error) {
	if len(observers) != 2*len(names) {
		return nil, abi.RuntimeErrorf("there are %d observers for %d configurations, expected two for each", len(observers), len(names))
	}
	configs := map[string]*quantization.Config{}
	for i, name := range names {
		configs[name] = &quantization.Config{Activation: observers[2*i], Weight: observers[2*i+1]}
	}
	for _, name := range unset {
		configs[name] = nil
	}
	return quantization.Observe(module, method, configs, quantizationOptions(inPlace, mode))
}

func insertQuantDequant(module *value.Object, method string, inPlace, debug bool, mode int) (*value.Object, error) {
	o := quantizationOptions(inPlace, mode)
	o.Debug = debug
	return quantization.Quantize(module, method, o)
}

func finalizeQuantized(module *value.Object, mode int, preserved []string) (*value.Object, error) {
	return quantization.Finalize(module, preserved, quantizationOptions(true, mode))
}

func fuseQuantized(g *ir.Graph) { quantization.Fuse(g, quantization.Static) }
