package bind

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/draw"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// graphMembers are the methods of graphs and blocks.
var graphMembers = []function{
	{schema: "Graph.__new_graph() -> Graph", doc: "An empty graph.", run: bind(ir.NewGraph)},
	{schema: "Graph.str(Graph self, bool print_source_ranges=True) -> str", doc: "The text form, with source places unless print_source_ranges is false.", run: bind((*ir.Graph).Text)},
	{schema: "Graph._repr_svg_(Graph self) -> str?", doc: "The graph as a picture; None where it has too many nodes for one.", run: bind(func(g *ir.Graph) *string { return pictureOf(draw.Graph(g)) })},
	{schema: "Graph._repr_html_(Graph self) -> str", doc: "The graph as a picture and as text, for notebooks.", run: bind(func(g *ir.Graph) string { return notebookText(draw.Graph(g), g.String()) })},
	{schema: "Graph.dot(Graph self) -> str", doc: "The graph in the language of Graphviz.", run: bind(func(g *ir.Graph) string { return draw.Graph(g).DOT() })},
	{schema: "Graph.inputs(Graph self) -> Iterator", doc: "The parameters.", run: bind((*ir.Graph).Inputs)},
	{schema: "Graph.outputs(Graph self) -> Iterator", doc: "The results.", run: bind((*ir.Graph).Outputs)},
	{schema: "Graph.nodes(Graph self) -> Iterator", doc: "The nodes of the top-level block, as they are now.", run: bind(func(g *ir.Graph) []*ir.Node { return g.Block().Nodes() })},
	{schema: "Graph.findNode(Graph self, str kind, bool recurse=True) -> Node?", doc: "The first node of a kind, None where there is none; recurse looks into blocks as well.", run: bind(func(g *ir.Graph, kind string, recurse bool) (*ir.Node, error) {
		return findNode(g.Block(), kind, recurse)
	})},
	{schema: "Graph.findAllNodes(Graph self, str kind, bool recurse=True) -> list", doc: "All nodes of a kind; recurse looks into blocks as well.", run: bind(func(g *ir.Graph, kind string, recurse bool) ([]*ir.Node, error) {
		return findNodes(g.Block(), kind, recurse)
	})},
	{schema: "Graph.addInput(Graph self) -> Value", doc: "Adds a parameter of type Tensor.", run: bind(func(g *ir.Graph) *ir.Value { return g.AddInput("") })},
	{schema: "Graph.eraseInput(Graph self, int i) -> None", doc: "Removes a parameter that has no uses.", run: bind(func(g *ir.Graph, i int) error { return eraseOutput(g.Block().ParamNode(), i) })},
	{schema: "Graph.registerOutput(Graph self, Value v) -> int", doc: "Adds a result and returns its position.", run: bind((*ir.Graph).AddOutput)},
	{schema: "Graph.eraseOutput(Graph self, int i) -> None", doc: "Removes a result.", run: bind(func(g *ir.Graph, i int) error { return removeInput(g.Block().ReturnNode(), i) })},
	{schema: "Graph.permuteInputs(Graph self, list order) -> None", doc: "Puts parameter order[i] at position i.", run: bind(permuteInputs)},
	{schema: "Graph.createFusionGroup(Graph self) -> Node", doc: "A new node prim::FusionGroup with an empty Subgraph, which is in no block yet.", run: bind(createFusionGroup)},
	{schema: "Graph.create(Graph self, str kind, any inputs=None, int num_outputs=1) -> Node", doc: "A new node that is in no block yet: create(kind), create(kind, num_outputs), create(kind, inputs) or create(kind, inputs, num_outputs).", run: bind(createNode)},
	{schema: "Graph.createClone(Graph self, Node node, object value_map) -> Node", doc: "A copy of a node, of this or another graph, that is in no block yet; value_map gives the input for each of its inputs.", run: bindAcross(createClone)},
	{schema: "Graph.appendNode(Graph self, Node n) -> Node", doc: "Puts a node at the end.", run: bind(func(g *ir.Graph, n *ir.Node) (*ir.Node, error) { return insertBefore(n, g.Block().ReturnNode()) })},
	{schema: "Graph.prependNode(Graph self, Node n) -> Node", doc: "Puts a node at the beginning.", run: bind(func(g *ir.Graph, n *ir.Node) (*ir.Node, error) { return insertAfter(n, g.Block().ParamNode()) })},
	{schema: "Graph.insertNode(Graph self, Node n) -> Node", doc: "Puts a node at the insertion point.", run: bind(func(g *ir.Graph, n *ir.Node) (*ir.Node, error) { return insertBefore(n, g.InsertPoint()) })},
	{schema: "Graph.insertPoint(Graph self) -> Node", doc: "The node before which new nodes are inserted.", run: bind((*ir.Graph).InsertPoint)},
	{schema: "Graph.setInsertPoint(Graph self, any at) -> None", doc: "Moves the insertion point before a node or to the end of a block.", run: bind(setInsertPoint)},
	{schema: "Graph.insertConstant(Graph self, any value) -> Value", doc: "Inserts a constant.", run: bind(insertConstant)},
	{schema: "Graph.insertGraph(Graph self, Graph callee, list inputs) -> list", doc: "Inserts a copy of another graph's body with inputs for its parameters; returns the copies of its results.", run: bindAcross(insertGraph)},
	{schema: "Graph.insert(Graph self, str op, list args) -> Value", doc: "Inserts a call of an operator, whose overload the arguments choose.", run: bind(insertCall)},
	{schema: "Graph.makeMultiOutputIntoTuple(Graph self) -> None", doc: "Makes the results one tuple, of one where there is one.", run: bind(tupleOutputs)},
	{schema: "Graph.param_node(Graph self) -> Node", doc: "The node whose outputs are the parameters.", run: bind(func(g *ir.Graph) *ir.Node { return g.Block().ParamNode() })},
	{schema: "Graph.return_node(Graph self) -> Node", doc: "The node whose inputs are the results.", run: bind(func(g *ir.Graph) *ir.Node { return g.Block().ReturnNode() })},
	{schema: "Graph.block(Graph self) -> Block", doc: "The top-level block.", run: bind((*ir.Graph).Block)},
	{schema: "Graph.copy(Graph self) -> Graph", doc: "A copy with values numbered anew.", run: bind((*ir.Graph).Copy)},
	{schema: "Graph.lint(Graph self) -> None", doc: "Checks the graph's invariants and fails with the first one that does not hold.", run: bind(lint)},

	{schema: "Block.nodes(Block self) -> Iterator", doc: "The nodes, as they are now.", run: bind((*ir.Block).Nodes)},
	{schema: "Block.findNode(Block self, str kind, bool recurse=True) -> Node?", doc: "The first node of a kind, None where there is none.", run: bind(findNode)},
	{schema: "Block.findAllNodes(Block self, str kind, bool recurse=True) -> list", doc: "All nodes of a kind.", run: bind(findNodes)},
	{schema: "Block.inputs(Block self) -> Iterator", doc: "The parameters.", run: bind((*ir.Block).Inputs)},
	{schema: "Block.outputs(Block self) -> Iterator", doc: "The results.", run: bind((*ir.Block).Outputs)},
	{schema: "Block.returnNode(Block self) -> Node", doc: "The node whose inputs are the results.", run: bind((*ir.Block).ReturnNode)},
	{schema: "Block.paramNode(Block self) -> Node", doc: "The node whose outputs are the parameters.", run: bind((*ir.Block).ParamNode)},
	{schema: "Block.owningNode(Block self) -> Node?", doc: "The node that holds the block, None for the top-level block.", run: bind((*ir.Block).Owner)},
	{schema: "Block.addNode(Block self, str kind, list inputs) -> Node", doc: "Appends a new node with one output.", run: bind(addNode)},
	{schema: "Block.addInputToBlock(Block self) -> Value", doc: "Adds a parameter of type Tensor.", run: bind(func(b *ir.Block) *ir.Value { return b.AddInput("") })},
	{schema: "Block.registerOutput(Block self, Value v) -> int", doc: "Adds a result and returns its position.", run: bind((*ir.Block).AddOutput)},

	{schema: "_C.parse_ir(str input, bool parse_tensor_constants=False) -> Graph", doc: "The graph of a text as graphs are printed. parse_tensor_constants gives constants whose elements are not shown the value of a tensor of their type.", run: bind(parseIR)},
}

// checkKind fails where a name cannot be a node's kind.
func checkKind(kind string) error {
	if namespace, name, ok := strings.Cut(kind, "::"); !ok || namespace == "" || name == "" {
		return runtimeErrorf("all symbols must have a namespace, <namespace>::<string>, but found: %s", kind)
	}
	return nil
}

func findNode(b *ir.Block, kind string, recurse bool) (*ir.Node, error) {
	found, err := findNodes(b, kind, recurse)
	if len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func findNodes(b *ir.Block, kind string, recurse bool) ([]*ir.Node, error) {
	if err := checkKind(kind); err != nil {
		return nil, err
	}
	var found []*ir.Node
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() == kind {
			found = append(found, n)
		}
		if recurse {
			for _, inner := range n.Blocks() {
				more, _ := findNodes(inner, kind, true)
				found = append(found, more...)
			}
		}
	}
	return found, nil
}

// checkPermutation fails where order is no permutation of n numbers.
func checkPermutation(order []int, n int) error {
	seen := make([]bool, n)
	for _, i := range order {
		if i < 0 || i >= n || seen[i] {
			return runtimeErrorf("%v is no permutation of %d positions", order, n)
		}
		seen[i] = true
	}
	if len(order) != n {
		return runtimeErrorf("%v is no permutation of %d positions", order, n)
	}
	return nil
}

func permuteInputs(g *ir.Graph, order []int) error {
	if err := checkPermutation(order, len(g.Inputs())); err != nil {
		return err
	}
	g.Block().ParamNode().PermuteOutputs(order)
	return nil
}

// maxOutputs is the largest number of outputs that a node is created with.
const maxOutputs = 1 << 16

func createFusionGroup(g *ir.Graph) *ir.Node {
	return g.Create("prim::FusionGroup", nil, 0).SetAttr("Subgraph", ir.NewGraph())
}

func createNode(g *ir.Graph, kind string, inputs *Word, outputs int) (*ir.Node, error) {
	if err := checkKind(kind); err != nil {
		return nil, err
	}
	var values []*ir.Value
	switch {
	case inputs.kind() == kindInt:
		outputs = int(inputs.int())
	case inputs.isSequence():
		for x := range inputs.items {
			v, ok := x.content().(*ir.Value)
			if !ok {
				return nil, typeErrorf("create(): incompatible function arguments: the inputs must be Values, not %s", x.kindName())
			}
			if err := destroyed(v); err != nil {
				return nil, err
			}
			values = append(values, v)
		}
	case inputs.kind() != kindNone:
		return nil, typeErrorf("create(): incompatible function arguments: expected a list of Values or a number of outputs, not %s", inputs.kindName())
	}
	if outputs < 0 || outputs > maxOutputs {
		return nil, runtimeErrorf("a node cannot have %d outputs", outputs)
	}
	if err := ofGraph(g, values); err != nil {
		return nil, err
	}
	return g.Create(kind, values, outputs), nil
}

// ofGraph fails where one of the values belongs to another graph.
func ofGraph(g *ir.Graph, values []*ir.Value) error {
	for _, v := range values {
		if v.Node().Graph() != g {
			return runtimeErrorf("the value %%%s belongs to another graph", v.Name())
		}
	}
	return nil
}

func createClone(c *call, g *ir.Graph, n *ir.Node, _ *Word) (*ir.Node, error) {
	if n.IsDestroyed() {
		return nil, destroyed(n)
	}
	valueMap := c.argObject(2)
	var failure error
	lookup := func(v *ir.Value) *ir.Value {
		mapped := v
		err := valueMap.invoke("", 1, func(w *writer) { w.handle(handleIRValue, v) }, func(w *Word) error {
			found, ok := w.content().(*ir.Value)
			if !ok {
				return typeErrorf("createClone(): value_map must return a Value, not %s", w.kindName())
			}
			mapped = found
			return nil
		})
		if err == nil {
			err = ofGraph(g, []*ir.Value{mapped})
		}
		if err != nil && failure == nil {
			failure = err
		}
		return mapped
	}
	clone := g.Clone(n, lookup)
	if failure != nil {
		clone.Destroy()
		return nil, failure
	}
	return clone, nil
}

func setInsertPoint(g *ir.Graph, at *Word) error {
	switch x := at.content().(type) {
	case *ir.Node:
		if err := destroyed(x); err != nil {
			return err
		}
		if x.Graph() != g || x.Block() == nil || x == x.Block().ParamNode() {
			return runtimeErrorf("the insertion point must be a node in a block of the graph")
		}
		g.SetInsertPoint(x)
	case *ir.Block:
		if x.Graph() != g {
			return runtimeErrorf("the insertion point must be a block of the graph")
		}
		g.SetInsertEnd(x)
	default:
		return typeErrorf("setInsertPoint(): incompatible function arguments: expected a Node or a Block, not %s", at.kindName())
	}
	return nil
}

func insertConstant(g *ir.Graph, v value.Value) (*ir.Value, error) {
	if !ir.IsConstantable(v) {
		return nil, runtimeErrorf("a %s cannot be a constant of a graph", v.Kind())
	}
	return g.Constant(v, source.Range{}), nil
}

func insertGraph(g, callee *ir.Graph, inputs []*ir.Value) ([]*ir.Value, error) {
	if len(inputs) != len(callee.Inputs()) {
		return nil, runtimeErrorf("the graph has %d inputs, but %d were given", len(callee.Inputs()), len(inputs))
	}
	if err := ofGraph(g, inputs); err != nil {
		return nil, err
	}
	return g.InsertGraph(callee, inputs), nil
}

func insertCall(g *ir.Graph, op string, args *Word) (*ir.Value, error) {
	if err := checkKind(op); err != nil {
		return nil, err
	}
	var actual []ir.Argument
	for x := range args.items {
		if v, ok := x.content().(*ir.Value); ok {
			if err := destroyed(v); err != nil {
				return nil, err
			}
			if err := ofGraph(g, []*ir.Value{v}); err != nil {
				return nil, err
			}
			actual = append(actual, ir.Arg(v))
			continue
		}
		v, err := plainValue(x)
		if err != nil {
			return nil, err
		}
		actual = append(actual, ir.ConstArg(v))
	}
	return g.Insert(op, actual...)
}

func tupleOutputs(g *ir.Graph) {
	tuple := g.Block().Append(g.CreateTuple(append([]*ir.Value(nil), g.Outputs()...), nil))
	for i := len(g.Outputs()) - 1; i >= 0; i-- {
		g.Block().EraseOutput(i)
	}
	g.AddOutput(tuple.Output())
}

func lint(g *ir.Graph) error {
	if err := ir.Verify(g); err != nil {
		return runtimeErrorf("the graph is not well formed: %s", err)
	}
	return nil
}

// wellFormed fails where something that looks into the graph's nodes could not rely on what it
// finds.
func wellFormed(g *ir.Graph) error {
	if err := lint(g); err != nil {
		return err
	}
	if err := ir.VerifyKinds(g); err != nil {
		return runtimeErrorf("the graph is not well formed: %s", err)
	}
	return nil
}

func addNode(b *ir.Block, kind string, inputs []*ir.Value) (*ir.Node, error) {
	if err := checkKind(kind); err != nil {
		return nil, err
	}
	for _, v := range inputs {
		if v == nil {
			return nil, typeErrorf("addNode(): incompatible function arguments: the inputs must be Values, not NoneType")
		}
		if err := destroyed(v); err != nil {
			return nil, err
		}
	}
	return b.Append(b.Graph().Create(kind, inputs, 1)), nil
}

func parseIR(text string, tensorConstants bool) (*ir.Graph, error) {
	return ir.ParseWith(text, ir.ParseOptions{TensorConstants: tensorConstants, Renumber: true, Named: namedType})
}

// namedType returns the type of a qualified name in the text of a graph, nil where there is none.
func namedType(name string) types.Type {
	if t := program.Type(name); t != nil {
		return t
	}
	if strings.HasPrefix(name, types.NativePrefix) {
		return types.NativeClass(name)
	}
	return nil
}
