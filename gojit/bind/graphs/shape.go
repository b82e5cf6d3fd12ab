package graphs

import (
	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/shapes"
)

// shapeMembers are functions of sizes and what they make of graphs; torchjit/_graph_results.py has the classes around them.
var shapeMembers = []abi.Function{
	{Schema: "_C._jit_shape_compute_graph_for_node(Node node) -> Graph?", Doc: "A graph that computes the sizes of a node's results from those of its tensors, None where none is known.", Run: abi.Bind(shapeGraph)},
	{Schema: "_C._jit_register_shape_compute_graph_for_node(Node node, Graph graph) -> None", Doc: "Has a graph tell the sizes of the results of a node's operator from now on.", Run: abi.BindAcross(registerShapeGraph)},
	{Schema: "_C._jit_pass_propagate_shapes_on_graph(Graph graph) -> None", Doc: "Gives tensors the sizes that follow from those of the parameters.", Run: abi.Bind(analyzeShapes)},
	{Schema: "_C._compute_shapes(Graph graph, Node? first=None, Node? last=None) -> tuple", Doc: "Gives tensors the types that follow from those of the parameters; replies a graph that computes the sizes that are symbols, and the symbols.", Run: abi.Bind(computeShapes)},
	{Schema: "_C._shape_functions() -> tuple", Doc: "The functions of sizes as a program, the operators that have one, and the names of their functions.", Run: abi.Bind(func() (string, []string, []string) {
		operators, names := shapes.Operators()
		return shapes.Text(), operators, names
	})},
}

func shapeGraph(n *ir.Node) (*ir.Graph, error) {
	gojit.LinkOperators()
	return shapes.Graph(n)
}

func registerShapeGraph(n *ir.Node, g *ir.Graph) error {
	if err := Prepared(g); err != nil {
		return err
	}
	if err := shapes.Register(n, g); err != nil {
		return abi.RuntimeErrorf("%s", err)
	}
	return nil
}

func analyzeShapes(g *ir.Graph) error {
	if err := Prepared(g); err != nil {
		return err
	}
	return shapes.Analyze(g)
}

func computeShapes(g *ir.Graph, first, last *ir.Node) (*ir.Graph, []int, error) {
	if err := Prepared(g); err != nil {
		return nil, nil, err
	}
	c, err := shapes.Propagate(g, first, last)
	if err != nil {
		return nil, nil, err
	}
	return c.Graph, c.Symbols, nil
}
