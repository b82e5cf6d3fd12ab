package main

import (
	"torchjit/gojit/ir"
	"torchjit/gojit/passes"
	"torchjit/gojit/value"
)

// freezeMembers freeze modules; torchjit/jit/_freeze.py is their Python side.
var freezeMembers = []function{
	{schema: "_C._freeze_module(Module module, list? preservedAttrs=None, bool freezeInterfaces=True, bool preserveParameters=False) -> Module", doc: "A copy of a module in eval mode whose attributes are constants of its methods' graphs.", run: bind(freezeModule)},
	{schema: "_C._jit_pass_optimize_frozen_graph(Graph graph, bool optimize_numerics=True) -> None", doc: "Removes dropouts of a frozen graph and, with optimize_numerics, folds what follows convolutions into their weights.", run: bind(optimizeFrozen)},
	{schema: "_C._jit_pass_fold_frozen_conv_bn(Graph graph) -> bool", doc: "Folds normalizations behind convolutions with constant weights into the weights.", run: pass(passes.FoldFrozenConvBatchNorm)},
	{schema: "_C._jit_pass_fold_frozen_conv_add_or_sub(Graph graph) -> bool", doc: "Folds additions behind convolutions with constant weights into the biases.", run: pass(passes.FoldFrozenConvAddOrSub)},
	{schema: "_C._jit_pass_fold_frozen_conv_mul_or_div(Graph graph) -> bool", doc: "Folds factors behind convolutions with constant weights into the weights.", run: pass(passes.FoldFrozenConvMulOrDiv)},
}

func freezeModule(module *value.Object, preserved []string, interfaces, parameters bool) (*value.Object, error) {
	linkOperators()
	return passes.Freeze(module, passes.FreezeOptions{
		Preserved: preserved, PreserveParameters: parameters, KeepInterfaces: !interfaces,
		Mangle: func(name string) string { return program.Mangle(name) },
	})
}

func optimizeFrozen(g *ir.Graph, numerics bool) error {
	err := prepared(g)
	if err == nil {
		passes.OptimizeFrozenGraph(g, numerics)
	}
	return err
}
