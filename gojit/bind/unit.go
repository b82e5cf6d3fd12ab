package bind

import (
	"context"
	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/autodiff"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// unitMembers make functions of graphs and run graphs.
var unitMembers = []function{
	{schema: "_C._create_function_from_graph(str name, Graph graph) -> ScriptFunction", doc: "A compiled function whose body is a copy of a graph.", run: bind(createFunction)},
	{schema: "_C._jit_interpret_graph(Graph graph, tuple inputs) -> any", doc: "The result of a graph for inputs.", run: bind(interpretGraph)},
	{schema: "_C._operator_upgrades() -> tuple", doc: "What operators have changed what they mean, from which versions of archives on, what PyTorch calls that, and the schemas before.", run: bind(operatorUpgrades)},
	{schema: "_C._module_type(Module module) -> Type", doc: "The class of a module or an object.", run: bind(func(o *value.Object) types.Type { return o.Class })},
	{schema: "_C._find_function(str name) -> ScriptFunction", doc: "The function of a qualified name in the program, None where there is none.", run: findFunction},
}

func operatorUpgrades() (operators []string, versions []int, names, schemas []string) {
	for _, u := range code.Upgrades {
		operators, versions = append(operators, u.Operator), append(versions, u.Version)
		names, schemas = append(names, u.Name), append(schemas, u.OldSchema)
	}
	return operators, versions, names, schemas
}

func createFunction(name string, g *ir.Graph) (*scriptFunction, error) {
	if err := wellFormed(g); err != nil {
		return nil, err
	}
	body := g.Copy()
	autodiff.Lower(body)
	return &scriptFunction{function: ir.NewFunction(name, body.Schema(lastPart(name)), body)}, nil
}

func interpretGraph(c *call, g *ir.Graph, inputs *Word) (value.Value, error) {
	f, err := createFunction("graph", g)
	if err != nil {
		return value.None, err
	}
	code, err := engine.Code(f.function, nil)
	if err != nil {
		return value.None, err
	}
	args := make([]value.Value, 0, len(f.function.Schema.Arguments))
	if inputs.isSequence() {
		for x := range inputs.items {
			if len(args) == cap(args) {
				return value.None, runtimeErrorf("the graph has %d inputs, but %d were given", cap(args), inputs.count())
			}
			v, err := toArgument(x, f.function.Schema, len(args))
			if err != nil {
				return value.None, err
			}
			args = append(args, v)
		}
	}
	if len(args) < cap(args) {
		return value.None, runtimeErrorf("the graph has %d inputs, but %d were given", cap(args), len(args))
	}
	out := make([]value.Value, code.NumOutputs())
	memory := interp.NewMemory()
	err = c.withoutGIL(func() error {
		return newInterruptible().run(func(ctx context.Context) error { return code.RunIn(ctx, memory, c.thread.mode, args, out) })
	})
	if err != nil {
		return value.None, err
	}
	if len(out) == 0 {
		return value.None, nil
	}
	return packed(out), nil
}

func findFunction(c *call) error {
	f := program.Function(c.argText(0))
	if f == nil {
		c.none()
		return nil
	}
	c.scriptFunction(&scriptFunction{function: f})
	return nil
}
