package main

import (
	"torchjit/gojit/ir"
	"torchjit/gojit/passes"
)

// passMembers are the transformations of graphs under their names in Python.
var passMembers = []function{
	{schema: "_C._jit_pass_inline(Graph graph) -> None", doc: "Replaces calls of functions and methods by their bodies.", run: bind(passes.Inline)},
	{schema: "_C._jit_pass_dce(Graph graph) -> None", doc: "Removes nodes that have no effect.", run: bind(quiet(passes.DCE))},
	{schema: "_C._jit_pass_constant_pooling(Graph graph) -> None", doc: "Keeps one of equal constants.", run: bind(passes.ConstantPooling)},
	{schema: "_C._jit_pass_constant_propagation(Graph graph) -> bool", doc: "Runs the nodes whose inputs are constants; returns whether anything changed.", run: bind(linked(passes.ConstantPropagation))},
	{schema: "_C._jit_pass_constant_propagation_immutable_types(Graph graph) -> bool", doc: "Runs the nodes whose inputs and outputs are constants that cannot be changed in place; returns whether anything changed.", run: bind(linked(passes.ConstantPropagationImmutableTypes))},
	{schema: "_C._jit_pass_lint(Graph graph) -> None", doc: "Checks the graph's invariants.", run: bind(lint)},
}

func quiet(run func(*ir.Graph) bool) func(*ir.Graph) {
	return func(g *ir.Graph) { run(g) }
}

// linked makes the operators known before a pass runs some of them.
func linked(run func(*ir.Graph) bool) func(*ir.Graph) bool {
	return func(g *ir.Graph) bool {
		linkOperators()
		return run(g)
	}
}
