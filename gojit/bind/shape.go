package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/shapes"
)

// shapeMembers are functions of sizes and what they make of graphs; torchjit/_graph_results.py has the classes around them.
var shapeMembers = []function{
	{schema: "_C._jit_shape_compute_graph_for_node(Node node) -> Graph?", doc: "A graph that computes the sizes of a node's results from those of its tensors, None where none is known.", run: bind(shapeGraph)},
	{schema: "_C._jit_register_shape_compute_graph_for_node(Node node, Graph graph) -> None", doc: "Has a graph tell the sizes of the results of a node's operator from now on.", run: bindAcross(registerShapeGraph)},
	{schema: "_C._jit_pass_propagate_shapes_on_graph(Graph graph) -> None", doc: "Gives tensors the sizes that follow from those of the parameters.", run: bind(analyzeShapes)},
	{schema: "_C._compute_shapes(Graph graph, Node? first=None, Node? last=None) -> tuple", doc: "Gives tensors the types that follow from those of the parameters; replies a graph that computes the sizes that are symbols, and the symbols.", run: bind(computeShapes)},
	{schema: "_C._shape_functions() -> tuple", doc: "The functions of sizes as a program, the operators that have one, and the names of their functions.", run: bind(func() (string, []string, []string) {
		operators, names := shapes.Operators()
		return shapes.Text(), operators, names
	})},
}

func shapeGraph(n *ir.Node) (*ir.Graph, error) {
	linkOperators()
	return shapes.Graph(n)
}

func registerShapeGraph(n *ir.Node, g *ir.Graph) error {
	if err := prepared(g); err != nil {
		return err
	}
	if err := shapes.Register(n, g); err != nil {
		return runtimeErrorf("%s", err)
	}
	return nil
}

func analyzeShapes(g *ir.Graph) error {
	if err := prepared(g); err != nil {
		return err
	}
	return shapes.Analyze(g)
}

func computeShapes(g *ir.Graph, first, last *ir.Node) (*ir.Graph, []int, error) {
	if err := prepared(g); err != nil {
		return nil, nil, err
	}
	c, err := shapes.Propagate(g, first, last)
	if err != nil {
		return nil, nil, err
	}
	return c.Graph, c.Symbols, nil
}
