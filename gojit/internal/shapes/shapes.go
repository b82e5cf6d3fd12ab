// Package shapes knows how the sizes of tensors follow from each other as programs: functions of lists of sizes, in the language itself
// (functions.py), and the graphs that they make for the operators of a graph.
//
// Package passes finds out what sizes are by running operators on zeros; here they are computed, so that the result can be looked at and
// run.
package shapes

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/composite"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

//go:embed functions.py
var text string

// Text returns the functions as a program.
func Text() string { return text }

var functions = sync.OnceValue(func() map[string]*ir.Function { return composite.Definitions("_shape_functions.py", text) })

// byOperator has the functions that tell the sizes of the results of operators, by overload.
var byOperator = sync.OnceValue(func() map[string]string {
	found := map[string]string{}
	for o, function := range ops.WithFact("shape") {
		found[o.Name] = function
	}
	return found
})

// registered are graphs that programs have given for operators, and those that were made of functions, which operators share.
var registered struct {
	sync.Mutex
	ofOperators, ofFunctions map[string]*ir.Graph
}

// Register has a graph tell the sizes of the results of a node's operator from now on. It fails where the graph takes or gives something else
// than such a function, which gives new lists.
func Register(n *ir.Node, g *ir.Graph) error {
	o := n.Operator()
	if o == nil {
		return fmt.Errorf("the node %s has no schema", n.Kind())
	}
	c := g.Copy()
	if err := checkFunction(c, o.Schema()); err != nil {
		return err
	}
	registered.Lock()
	defer registered.Unlock()
	if registered.ofOperators == nil {
		registered.ofOperators = map[string]*ir.Graph{}
	}
	registered.ofOperators[o.Schema().QualifiedName()] = c
	return nil
}

// checkFunction fails unless a graph can tell the sizes of what an operator gives.
func checkFunction(g *ir.Graph, s *schema.FunctionSchema) error {
	inputs := g.Inputs()
	if len(inputs) > len(s.Arguments) {
		return fmt.Errorf("Shape function must have fewer arguments than schema. Got %d graph arguments and %d schema arguments of schema: %s", len(inputs), len(s.Arguments), s)
	}
	for i, v := range inputs {
		if want := inLists(s.Arguments[i].Type); !types.IsSubtype(want, v.Type()) {
			return fmt.Errorf("For schema type: %s Expected supertype of %s but got graph_type %s at index %d of schema: %s", s.Arguments[i].Type, want, v.Type(), i, s)
		}
	}
	outputs := slices.Clone(g.Outputs())
	if len(s.Returns) > 1 {
		if len(outputs) != 1 || outputs[0].Type().Kind() != types.KindTuple {
			return fmt.Errorf("a shape function of several results must give a tuple, of schema: %s", s)
		}
		outputs = g.UnpackTuple(outputs[0])
	}
	for i, v := range outputs {
		if at := slices.Index(inputs, v); at >= 0 {
			return fmt.Errorf("For schema: %s input index %d is returned as output index %d. Shape functions must return new unaliased lists", s, at, i)
		}
	}
	for i, v := range outputs {
		if i >= len(s.Returns) {
			return fmt.Errorf("Shape function gives %d results of schema: %s", len(outputs), s)
		}
		if want := inLists(s.Returns[i].Type); !types.IsSubtype(want, v.Type()) {
			return fmt.Errorf("For schema type: %s Expected supertype of %s but got graph_type %s at output index %d of schema: %s", s.Returns[i].Type, want, v.Type(), i, s)
		}
	}
	return nil
}

// inLists is the type by which functions of sizes know one: lists of sizes for tensors.
func inLists(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.TensorInfo:
		return types.NewList(types.Int)
	case *types.List:
		return types.NewList(inLists(t.Elem))
	case *types.Optional:
		return types.NewOptional(inLists(t.Elem))
	}
	return t
}

// Graph returns a graph that computes the sizes of a node's results from those of its tensors, nil where none is known. Its parameters
// stand for the first inputs of the node. Operators of one function share it.
func Graph(n *ir.Node) (*ir.Graph, error) {
	o := n.Operator()
	if o == nil {
		return nil, nil
	}
	key := o.Schema().QualifiedName()
	name := byOperator()[key]
	registered.Lock()
	defer registered.Unlock()
	if known := registered.ofOperators[key]; known != nil {
		return known, nil
	}
	if known := registered.ofFunctions[name]; known != nil {
		return known, nil
	}
	f := functions()[name]
	if f == nil {
		return nil, nil
	}
	if err := f.EnsureDefined(); err != nil {
		return nil, err
	}
	g := f.Graph().Copy()
	passes.Inline(g)
	passes.Peephole(g)
	passes.ConstantPropagationImmutableTypes(g)
	passes.ConstantPooling(g)
	passes.DCE(g)
	if registered.ofFunctions == nil {
		registered.ofFunctions = map[string]*ir.Graph{}
	}
	registered.ofFunctions[name] = g
	return g, nil
}

// isList reports whether t is a list of ints, optional or not.
func isList(t types.Type) bool {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	l, ok := t.(*types.List)
	return ok && l.Elem.Kind() == types.KindInt
}

// Operators returns the names of the operators whose sizes are known as programs, and those of the functions.
func Operators() (operators, names []string) {
	table := byOperator()
	for _, name := range slices.Sorted(maps.Keys(table)) {
		operators, names = append(operators, name), append(names, table[name])
	}
	return operators, names
}

// Check fails where an operator of the table does not exist, or where its function does not compile or takes more than the operator does.
func Check(operator string) error {
	o := ops.Find(operator)
	if o == nil {
		return fmt.Errorf("there is no such operator")
	}
	f := functions()[byOperator()[operator]]
	if f == nil {
		return fmt.Errorf("there is no such function")
	}
	if err := f.EnsureDefined(); err != nil {
		return err
	}
	if len(f.Schema.Arguments) > len(o.Schema().Arguments) {
		return fmt.Errorf("the function takes %d arguments, the operator %d", len(f.Schema.Arguments), len(o.Schema().Arguments))
	}
	return nil
}
