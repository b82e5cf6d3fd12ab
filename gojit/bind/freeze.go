package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// freezeMembers freeze modules; torchjit/jit/_freeze.py is their Python side.
var freezeMembers = []function{
	{schema: "_C._freeze_module(Module module, list? preservedAttrs=None, bool freezeInterfaces=True, bool preserveParameters=False) -> Module", doc: "A copy of a module in eval mode whose attributes are constants of its methods' graphs.", run: bind(freezeModule)},
	{schema: "_C._jit_pass_optimize_frozen_graph(Graph graph, bool optimize_numerics=True) -> None", doc: "Removes dropouts of a frozen graph and, with optimize_numerics, folds what follows convolutions into their weights.", run: bind(optimizeFrozen)},
	{schema: "_C._jit_pass_fold_frozen_conv_bn(Graph graph) -> bool", doc: "Folds normalizations behind convolutions with constant weights into the weights.", run: pass(freeze.FoldFrozenConvBatchNorm)},
	{schema: "_C._jit_pass_fold_frozen_conv_add_or_sub(Graph graph) -> bool", doc: "Folds additions behind convolutions with constant weights into the biases.", run: pass(freeze.FoldFrozenConvAddOrSub)},
	{schema: "_C._jit_pass_fold_convbn(Module module) -> Module", doc: "A copy of a module whose convolutions have taken in the normalizations behind them.", run: bind(foldConvBatchNorm)},
	{schema: "_C._insert_prepacked_ops(Graph graph) -> None", doc: "Replaces linear layers and convolutions by the packing of their weights and the application of these.", run: pass(quiet(freeze.InsertPrepackedOps))},
	{schema: "_C._fuse_clamp_w_prepacked(Graph graph) -> None", doc: "Has packed layers limit their results where a relu or hardtanh does so next.", run: pass(quiet(freeze.FuseClampWithPrepacked))},
	{schema: "_C._jit_pass_fold_prepacking_ops(Module module) -> None", doc: "Runs the packing of constant weights; the methods read the results as attributes.", run: bind(foldPrepacking)},
	{schema: "_C._note_attribute(Module module, str name, bool value) -> None", doc: "Adds an attribute to a module whose class no other has.", run: bind(noteAttribute)},
	{schema: "_C._add_attribute(Module module, str name, Type type, any value) -> None", doc: "Adds an attribute to a module and its class.", run: bind(addAttribute)},
	{schema: "_C._class_members(Type class_type) -> list", doc: "The names, kinds and types of a class's attributes.", run: bind(classMembers)},
	{schema: "_C._jit_pass_replicate_dequantize(Graph graph) -> None", doc: "Gives each use of a dequantized tensor a dequantization of its own.", run: pass(quiet(freeze.ReplicateDequantize))},
	{schema: "_C._swap_functional_linear(Graph graph) -> None", doc: "Replaces calls of functions called linear by aten::linear.", run: pass(quiet(freeze.SwapFunctionalLinear))},
	{schema: "_C._jit_pass_fold_frozen_conv_mul_or_div(Graph graph) -> bool", doc: "Folds factors behind convolutions with constant weights into the weights.", run: pass(freeze.FoldFrozenConvMulOrDiv)},
}

func freezeModule(module *value.Object, preserved []string, interfaces, parameters bool) (*value.Object, error) {
	linkOperators()
	return freeze.Freeze(module, freeze.FreezeOptions{
		Preserved: preserved, PreserveParameters: parameters, RefuseInterfaces: !interfaces,
		Mangle: func(name string) string { return program.Mangle(name) },
	})
}

func foldConvBatchNorm(module *value.Object) (*value.Object, error) {
	linkOperators()
	return freeze.FoldConvBatchNorm(module, func(name string) string { return program.Mangle(name) })
}

func optimizeFrozen(g *ir.Graph, numerics bool) error {
	err := prepared(g)
	if err == nil {
		freeze.OptimizeFrozenGraph(g, numerics)
	}
	return err
}

func foldPrepacking(module *value.Object) error {
	linkOperators()
	return freeze.FoldPrepackingOps(module)
}

func noteAttribute(module *value.Object, name string, v bool) error {
	if module.Class.AttributeIndex(name) >= 0 {
		return runtimeErrorf("attribute '%s' already exists", name)
	}
	module.Class.AddAttribute(types.Attribute{Name: name, Type: types.Bool})
	module.SetAttr(name, value.Bool(v))
	return nil
}

func addAttribute(module *value.Object, name string, t types.Type, given *Word) error {
	if module.Class.AttributeIndex(name) >= 0 || module.Class.FindMethod(name) != nil {
		return runtimeErrorf("'%s' has a member '%s' already", module.Class.Name, name)
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
		return nil, typeErrorf("expected a class, not the type %s", t)
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
