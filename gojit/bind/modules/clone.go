package modules

import (
	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/graphs"
	"github.com/torchjit/torchjit/gojit/internal/archive/bytecode"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/passes/parity"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// cloneMembers copy modules with their classes, and submodules for each call.
var cloneMembers = []abi.Function{
	{Schema: "_C._hack_do_not_use_clone_module_with_class(Module module, list ignored_methods, list ignored_properties) -> Module", Doc: "A copy of a module with a class of its own, which lacks some methods and attributes. RuntimeError where a method that stays uses one of them.", Run: abi.Bind(cloneWithout)},
	{Schema: "_C._compile_graph_to_code_table(str name, Graph graph) -> any", Doc: "The code of a graph for the lite interpreter: its instructions, operators, constants, types and the number of registers, as pairs.", Run: abi.Bind(compileToTable)},
	{Schema: "_C._jit_pass_dedup_module_uses(Module module) -> None", Doc: "Gives each call of a submodule in a module's methods a submodule of its own.", Run: abi.Bind(dedupModuleUses)},
}

func cloneWithout(module *value.Object, methods, attributes []string) (*value.Object, error) {
	gojit.LinkOperators()
	mangle := func(name string) string { return abi.Program.Mangle(name) }
	c, err := freeze.CloneModuleWith(module, freeze.CloneOptions{Mangle: mangle, Left: freeze.Left{Methods: methods, Attributes: attributes}})
	if err != nil {
		return nil, err
	}
	return deepCopy(c.Root)
}

// compileToTable replies the code of a graph.
func compileToTable(c *abi.Call, name string, g *ir.Graph) error {
	t, err := bytecode.CodeTableOf(name, g)
	if err != nil {
		return err
	}
	entry := func(name string, n int) {
		c.Open(abi.KindTuple, 2)
		c.String(name)
		c.Open(abi.KindTuple, n)
	}
	c.Open(abi.KindTuple, 5)
	entry("instructions", len(t.Instructions))
	for _, in := range t.Instructions {
		c.Open(abi.KindTuple, 3)
		c.String(in.Name)
		c.Int(in.X)
		c.Int(in.N)
	}
	entry("operators", len(t.Operators))
	for _, o := range t.Operators {
		c.Open(abi.KindTuple, 3)
		c.String(o.Name)
		c.String(o.Overload)
		c.Int(o.Arguments)
	}
	entry("constants", len(t.Constants))
	for _, x := range t.Constants {
		if err := c.KeptValue(x); err != nil {
			return err
		}
	}
	entry("types", len(t.Types))
	for _, name := range t.Types {
		c.String(name)
	}
	c.Open(abi.KindTuple, 2)
	c.String("register_size")
	c.Int(t.Registers)
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
	var all []*ir.Graph
	err := graphs.EachMethod(module, func(f *ir.Function) error {
		all = append(all, f.Expose())
		return nil
	})
	if err != nil {
		return err
	}
	return parity.DedupModuleUses(module, all, deepCopy)
}
