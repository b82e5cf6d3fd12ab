package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/archive/bytecode"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/passes/parity"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// cloneMembers copy modules with their classes, and submodules for each call.
var cloneMembers = []function{
	{schema: "_C._hack_do_not_use_clone_module_with_class(Module module, list ignored_methods, list ignored_properties) -> Module", doc: "A copy of a module with a class of its own, which lacks some methods and attributes. RuntimeError where a method that stays uses one of them.", run: bind(cloneWithout)},
	{schema: "_C._compile_graph_to_code_table(str name, Graph graph) -> any", doc: "The code of a graph for the lite interpreter: its instructions, operators, constants, types and the number of registers, as pairs.", run: bind(compileToTable)},
	{schema: "_C._jit_pass_dedup_module_uses(Module module) -> None", doc: "Gives each call of a submodule in a module's methods a submodule of its own.", run: bind(dedupModuleUses)},
}

func cloneWithout(module *value.Object, methods, attributes []string) (*value.Object, error) {
	linkOperators()
	mangle := func(name string) string { return program.Mangle(name) }
	c, err := freeze.CloneModuleWith(module, freeze.CloneOptions{Mangle: mangle, Left: freeze.Left{Methods: methods, Attributes: attributes}})
	if err != nil {
		return nil, err
	}
	return deepCopy(c.Root)
}

// compileToTable replies the code of a graph.
func compileToTable(c *call, name string, g *ir.Graph) error {
	t, err := bytecode.CodeTableOf(name, g)
	if err != nil {
		return err
	}
	entry := func(name string, n int) {
		c.open(kindTuple, 2)
		c.string(name)
		c.open(kindTuple, n)
	}
	c.open(kindTuple, 5)
	entry("instructions", len(t.Instructions))
	for _, in := range t.Instructions {
		c.open(kindTuple, 3)
		c.string(in.Name)
		c.int(in.X)
		c.int(in.N)
	}
	entry("operators", len(t.Operators))
	for _, o := range t.Operators {
		c.open(kindTuple, 3)
		c.string(o.Name)
		c.string(o.Overload)
		c.int(o.Arguments)
	}
	entry("constants", len(t.Constants))
	for _, x := range t.Constants {
		if err := c.keptValue(x); err != nil {
			return err
		}
	}
	entry("types", len(t.Types))
	for _, name := range t.Types {
		c.string(name)
	}
	c.open(kindTuple, 2)
	c.string("register_size")
	c.int(t.Registers)
	return nil
}

func deepCopy(o *value.Object) (*value.Object, error) {
	v, err := copyObject(o, true, map[any]value.Value{})
	if err != nil {
		return nil, err
	}
	return v.Object(), nil
}

func dedupModuleUses(module *value.Object) error {
	var graphs []*ir.Graph
	err := eachMethod(module, func(f *ir.Function) error {
		graphs = append(graphs, f.Expose())
		return nil
	})
	if err != nil {
		return err
	}
	return parity.DedupModuleUses(module, graphs, deepCopy)
}
