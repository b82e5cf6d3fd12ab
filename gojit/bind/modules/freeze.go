package modules

import (
	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/graphs"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// freezeMembers freeze modules; torchjit/jit/_freeze.py is their Python side.
var freezeMembers = []abi.Function{
	{Schema: "_C._freeze_module(Module module, list? preservedAttrs=None, bool freezeInterfaces=True, bool preserveParameters=False) -> Module", Doc: "A copy of a module in eval mode whose attributes are constants of its methods' graphs.", Run: abi.Bind(freezeModule)},
	{Schema: "_C._jit_pass_optimize_frozen_graph(Graph graph, bool optimize_numerics=True) -> None", Doc: "Removes dropouts of a frozen graph and, with optimize_numerics, folds what follows convolutions into their weights.", Run: abi.Bind(optimizeFrozen)},
	{Schema: "_C._jit_pass_fold_frozen_conv_bn(Graph graph) -> bool", Doc: "Folds normalizations behind convolutions with constant weights into the weights.", Run: graphs.Pass(freeze.FoldFrozenConvBatchNorm)},
	{Schema: "_C._jit_pass_fold_frozen_conv_add_or_sub(Graph graph) -> bool", Doc: "Folds additions behind convolutions with constant weights into the biases.", Run: graphs.Pass(freeze.FoldFrozenConvAddOrSub)},
	{Schema: "_C._jit_pass_fold_convbn(Module module) -> Module", Doc: "A copy of a module whose convolutions have taken in the normalizations behind them.", Run: abi.Bind(foldConvBatchNorm)},
	{Schema: "_C._insert_prepacked_ops(Graph graph) -> None", Doc: "Replaces linear layers and convolutions by the packing of their weights and the application of these.", Run: graphs.Pass(graphs.Quiet(freeze.InsertPrepackedOps))},
	{Schema: "_C._fuse_clamp_w_prepacked(Graph graph) -> None", Doc: "Has packed layers limit their results where a relu or hardtanh does so next.", Run: graphs.Pass(graphs.Quiet(freeze.FuseClampWithPrepacked))},
	{Schema: "_C._jit_pass_fold_prepacking_ops(Module module) -> None", Doc: "Runs the packing of constant weights; the methods read the results as attributes.", Run: abi.Bind(foldPrepacking)},
	{Schema: "_C._note_attribute(Module module, str name, bool value) -> None", Doc: "Adds an attribute to a module whose class no other has.", Run: abi.Bind(noteAttribute)},
	{Schema: "_C._add_attribute(Module module, str name, Type type, any value) -> None", Doc: "Adds an attribute to a module and its class.", Run: abi.Bind(addAttribute)},
	{Schema: "_C._class_members(Type class_type) -> list", Doc: "The names, kinds and types of a class's attributes.", Run: abi.Bind(classMembers)},
	{Schema: "_C._jit_pass_replicate_dequantize(Graph graph) -> None", Doc: "Gives each use of a dequantized tensor a dequantization of its own.", Run: graphs.Pass(graphs.Quiet(freeze.ReplicateDequantize))},
	{Schema: "_C._swap_functional_linear(Graph graph) -> None", Doc: "Replaces calls of functions called linear by aten::linear.", Run: graphs.Pass(graphs.Quiet(freeze.SwapFunctionalLinear))},
	{Schema: "_C._jit_pass_fold_frozen_conv_mul_or_div(Graph graph) -> bool", Doc: "Folds factors behind convolutions with constant weights into the weights.", Run: graphs.Pass(freeze.FoldFrozenConvMulOrDiv)},
}

func freezeModule(module *value.Object, preserved []string, interfaces, parameters bool) (*value.Object, error) {
	gojit.LinkOperators()
	return freeze.Freeze(module, freeze.FreezeOptions{
		Preserved: preserved, PreserveParameters: parameters, RefuseInterfaces: !interfaces,
		Mangle: func(name string) string { return abi.Program.Mangle(name) },
	})
}

func foldConvBatchNorm(module *value.Object) (*value.Object, error) {
	gojit.LinkOperators()
	return freeze.FoldConvBatchNorm(module, func(name string) string { return abi.Program.Mangle(name) })
}

func optimizeFrozen(g *ir.Graph, numerics bool) error {
	err := graphs.Prepared(g)
	if err == nil {
		freeze.OptimizeFrozenGraph(g, numerics)
	}
	return err
}

func foldPrepacking(module *value.Object) error {
	gojit.LinkOperators()
	return freeze.FoldPrepackingOps(module)
}

func noteAttribute(module *value.Object, name string, v bool) error {
	if module.Class.AttributeIndex(name) >= 0 {
		return abi.RuntimeErrorf("attribute '%s' already exists", name)
	}
	module.Class.AddAttribute(types.Attribute{Name: name, Type: types.Bool})
	module.SetAttr(name, value.Bool(v))
	return nil
}

func addAttribute(module *value.Object, name string, t types.Type, given *abi.Word) error {
	if module.Class.AttributeIndex(name) >= 0 || module.Class.FindMethod(name) != nil {
		return abi.RuntimeErrorf("'%s' has a member '%s' already", module.Class.Name, name)
	}
	a := types.Attribute{Name: name, Type: t}
	v, err := slotValue(given, &a)
	if err != nil {
		return err
	}
	module.Complete()
	module.Class.AddAttribute(a)
	module.Slots = append(module.Slots, v)
	return nil
}

func classMembers(t types.Type) ([]value.Value, error) {
	class, ok := t.(*types.Class)
	if !ok {
		return nil, abi.TypeErrorf("expected a class, not the type %s", t)
	}
	var members []value.Value
	for i := range class.Attributes {
		a := &class.Attributes[i]
		kind := slotKind(a, value.None)
		if inner, ok := a.Type.(*types.Class); ok && inner.IsModule {
			kind = "module"
		}
		members = append(members, value.OfTuple(value.NewTuple(value.Str(a.Name), value.Str(kind), value.Str(a.Type.String()))))
	}
	return members, nil
}
