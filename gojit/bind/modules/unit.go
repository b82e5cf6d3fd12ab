package modules

import (
	"context"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/graphs"
	"github.com/torchjit/torchjit/gojit/bind/scripts"
	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/autodiff"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// unitMembers make functions of graphs and run graphs.
var unitMembers = []abi.Function{
	{Schema: "_C._create_function_from_graph(str name, Graph graph) -> ScriptFunction", Doc: "A compiled function whose body is a copy of a graph.", Run: abi.Bind(createFunction)},
	{Schema: "_C._jit_interpret_graph(Graph graph, tuple inputs) -> any", Doc: "The result of a graph for inputs.", Run: abi.Bind(interpretGraph)},
	{Schema: "_C._operator_upgrades() -> tuple", Doc: "What operators have changed what they mean, from which versions of archives on, what PyTorch calls that, and the schemas before.", Run: abi.Bind(operatorUpgrades)},
	{Schema: "_C._module_type(Module module) -> Type", Doc: "The class of a module or an object.", Run: abi.Bind(func(o *value.Object) types.Type { return o.Class })},
	{Schema: "_C._find_function(str name) -> ScriptFunction", Doc: "The function of a qualified name in the program, None where there is none.", Run: findFunction},
}

func operatorUpgrades() (operators []string, versions []int, names, schemas []string) {
	for _, u := range code.Upgrades {
		operators, versions = append(operators, u.Operator), append(versions, u.Version)
		names, schemas = append(names, u.Name), append(schemas, u.OldSchema)
	}
	return operators, versions, names, schemas
}

func createFunction(name string, g *ir.Graph) (*scripts.Function, error) {
	if err := graphs.WellFormed(g); err != nil {
		return nil, err
	}
	body := g.Copy()
	autodiff.Lower(body)
	return &scripts.Function{Function: ir.NewFunction(name, body.Schema(graphs.LastPart(name)), body)}, nil
}

func interpretGraph(c *abi.Call, g *ir.Graph, inputs *abi.Word) (value.Value, error) {
	f, err := createFunction("graph", g)
	if err != nil {
		return value.None, err
	}
	code, err := scripts.Engine.Code(f.Function, nil)
	if err != nil {
		return value.None, err
	}
	args := make([]value.Value, 0, len(f.Function.Schema.Arguments))
	if inputs.IsSequence() {
		for x := range inputs.Items {
			if len(args) == cap(args) {
				return value.None, abi.RuntimeErrorf("the graph has %d inputs, but %d were given", cap(args), inputs.Count())
			}
			v, err := scripts.ToArgument(x, f.Function.Schema, len(args))
			if err != nil {
				return value.None, err
			}
			args = append(args, v)
		}
	}
	if len(args) < cap(args) {
		return value.None, abi.RuntimeErrorf("the graph has %d inputs, but %d were given", cap(args), len(args))
	}
	out := make([]value.Value, code.NumOutputs())
	memory := interp.NewMemory()
	err = c.WithoutGIL(func() error {
		return abi.NewInterruptible().Run(func(ctx context.Context) error { return code.RunIn(ctx, memory, c.Thread.Mode, args, out) })
	})
	if err != nil {
		return value.None, err
	}
	if len(out) == 0 {
		return value.None, nil
	}
	return scripts.Packed(out), nil
}

func findFunction(c *abi.Call) error {
	f := abi.Program.Function(c.ArgText(0))
	if f == nil {
		c.None()
		return nil
	}
	c.ScriptFunction(&scripts.Function{Function: f})
	return nil
}
