package graphs

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/draw"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// graphMembers are the methods of graphs and blocks.
var graphMembers = []abi.Function{
	{Schema: "Graph.__new_graph() -> Graph", Doc: "An empty graph.", Run: abi.Bind(ir.NewGraph)},
	{Schema: "Graph.str(Graph self, bool print_source_ranges=True) -> str", Doc: "The text form, with source places unless print_source_ranges is false.", Run: abi.Bind((*ir.Graph).Text)},
	{Schema: "Graph._repr_svg_(Graph self) -> str?", Doc: "The graph as a picture; None where it has too many nodes for one.", Run: abi.Bind(func(g *ir.Graph) *string { return pictureOf(draw.Graph(g)) })},
	{Schema: "Graph._repr_html_(Graph self) -> str", Doc: "The graph as a picture and as text, for notebooks.", Run: abi.Bind(func(g *ir.Graph) string { return notebookText(draw.Graph(g), g.String()) })},
	{Schema: "Graph.dot(Graph self) -> str", Doc: "The graph in the language of Graphviz.", Run: abi.Bind(func(g *ir.Graph) string { return draw.Graph(g).DOT() })},
	{Schema: "Graph.inputs(Graph self) -> Iterator", Doc: "The parameters.", Run: abi.Bind((*ir.Graph).Inputs)},
	{Schema: "Graph.outputs(Graph self) -> Iterator", Doc: "The results.", Run: abi.Bind((*ir.Graph).Outputs)},
	{Schema: "Graph.nodes(Graph self) -> Iterator", Doc: "The nodes of the top-level block, as they are now.", Run: abi.Bind(func(g *ir.Graph) []*ir.Node { return g.Block().Nodes() })},
	{Schema: "Graph.findNode(Graph self, str kind, bool recurse=True) -> Node?", Doc: "The first node of a kind, None where there is none; recurse looks into blocks as well.", Run: abi.Bind(func(g *ir.Graph, kind string, recurse bool) (*ir.Node, error) {
		return findNode(g.Block(), kind, recurse)
	})},
	{Schema: "Graph.findAllNodes(Graph self, str kind, bool recurse=True) -> list", Doc: "All nodes of a kind; recurse looks into blocks as well.", Run: abi.Bind(func(g *ir.Graph, kind string, recurse bool) ([]*ir.Node, error) {
		return findNodes(g.Block(), kind, recurse)
	})},
	{Schema: "Graph.addInput(Graph self) -> Value", Doc: "Adds a parameter of type Tensor.", Run: abi.Bind(func(g *ir.Graph) *ir.Value { return g.AddInput("") })},
	{Schema: "Graph.eraseInput(Graph self, int i) -> None", Doc: "Removes a parameter that has no uses.", Run: abi.Bind(func(g *ir.Graph, i int) error { return eraseOutput(g.Block().ParamNode(), i) })},
	{Schema: "Graph.registerOutput(Graph self, Value v) -> int", Doc: "Adds a result and returns its position.", Run: abi.Bind((*ir.Graph).AddOutput)},
	{Schema: "Graph.eraseOutput(Graph self, int i) -> None", Doc: "Removes a result.", Run: abi.Bind(func(g *ir.Graph, i int) error { return removeInput(g.Block().ReturnNode(), i) })},
	{Schema: "Graph.permuteInputs(Graph self, list order) -> None", Doc: "Puts parameter order[i] at position i.", Run: abi.Bind(permuteInputs)},
	{Schema: "Graph.createFusionGroup(Graph self) -> Node", Doc: "A new node prim::FusionGroup with an empty Subgraph, which is in no block yet.", Run: abi.Bind(createFusionGroup)},
	{Schema: "Graph.create(Graph self, str kind, any inputs=None, int num_outputs=1) -> Node", Doc: "A new node that is in no block yet: create(kind), create(kind, num_outputs), create(kind, inputs) or create(kind, inputs, num_outputs).", Run: abi.Bind(createNode)},
	{Schema: "Graph.createClone(Graph self, Node node, object value_map) -> Node", Doc: "A copy of a node, of this or another graph, that is in no block yet; value_map gives the input for each of its inputs.", Run: abi.BindAcross(createClone)},
	{Schema: "Graph.appendNode(Graph self, Node n) -> Node", Doc: "Puts a node at the end.", Run: abi.Bind(func(g *ir.Graph, n *ir.Node) (*ir.Node, error) { return insertBefore(n, g.Block().ReturnNode()) })},
	{Schema: "Graph.prependNode(Graph self, Node n) -> Node", Doc: "Puts a node at the beginning.", Run: abi.Bind(func(g *ir.Graph, n *ir.Node) (*ir.Node, error) { return insertAfter(n, g.Block().ParamNode()) })},
	{Schema: "Graph.insertNode(Graph self, Node n) -> Node", Doc: "Puts a node at the insertion point.", Run: abi.Bind(func(g *ir.Graph, n *ir.Node) (*ir.Node, error) { return insertBefore(n, g.InsertPoint()) })},
	{Schema: "Graph.insertPoint(Graph self) -> Node", Doc: "The node before which new nodes are inserted.", Run: abi.Bind((*ir.Graph).InsertPoint)},
	{Schema: "Graph.setInsertPoint(Graph self, any at) -> None", Doc: "Moves the insertion point before a node or to the end of a block.", Run: abi.Bind(setInsertPoint)},
	{Schema: "Graph.insertConstant(Graph self, any value) -> Value", Doc: "Inserts a constant.", Run: abi.Bind(insertConstant)},
	{Schema: "Graph.insertGraph(Graph self, Graph callee, list inputs) -> list", Doc: "Inserts a copy of another graph's body with inputs for its parameters; returns the copies of its results.", Run: abi.BindAcross(insertGraph)},
	{Schema: "Graph.insert(Graph self, str op, list args) -> Value", Doc: "Inserts a call of an operator, whose overload the arguments choose.", Run: abi.Bind(insertCall)},
	{Schema: "Graph.makeMultiOutputIntoTuple(Graph self) -> None", Doc: "Makes the results one tuple, of one where there is one.", Run: abi.Bind(tupleOutputs)},
	{Schema: "Graph.param_node(Graph self) -> Node", Doc: "The node whose outputs are the parameters.", Run: abi.Bind(func(g *ir.Graph) *ir.Node { return g.Block().ParamNode() })},
	{Schema: "Graph.return_node(Graph self) -> Node", Doc: "The node whose inputs are the results.", Run: abi.Bind(func(g *ir.Graph) *ir.Node { return g.Block().ReturnNode() })},
	{Schema: "Graph.block(Graph self) -> Block", Doc: "The top-level block.", Run: abi.Bind((*ir.Graph).Block)},
	{Schema: "Graph.copy(Graph self) -> Graph", Doc: "A copy with values numbered anew.", Run: abi.Bind((*ir.Graph).Copy)},
	{Schema: "Graph.lint(Graph self) -> None", Doc: "Checks the graph's invariants and fails with the first one that does not hold.", Run: abi.Bind(lint)},

	{Schema: "Block.nodes(Block self) -> Iterator", Doc: "The nodes, as they are now.", Run: abi.Bind((*ir.Block).Nodes)},
	{Schema: "Block.findNode(Block self, str kind, bool recurse=True) -> Node?", Doc: "The first node of a kind, None where there is none.", Run: abi.Bind(findNode)},
	{Schema: "Block.findAllNodes(Block self, str kind, bool recurse=True) -> list", Doc: "All nodes of a kind.", Run: abi.Bind(findNodes)},
	{Schema: "Block.inputs(Block self) -> Iterator", Doc: "The parameters.", Run: abi.Bind((*ir.Block).Inputs)},
	{Schema: "Block.outputs(Block self) -> Iterator", Doc: "The results.", Run: abi.Bind((*ir.Block).Outputs)},
	{Schema: "Block.returnNode(Block self) -> Node", Doc: "The node whose inputs are the results.", Run: abi.Bind((*ir.Block).ReturnNode)},
	{Schema: "Block.paramNode(Block self) -> Node", Doc: "The node whose outputs are the parameters.", Run: abi.Bind((*ir.Block).ParamNode)},
	{Schema: "Block.owningNode(Block self) -> Node?", Doc: "The node that holds the block, None for the top-level block.", Run: abi.Bind((*ir.Block).Owner)},
	{Schema: "Block.addNode(Block self, str kind, list inputs) -> Node", Doc: "Appends a new node with one output.", Run: abi.Bind(addNode)},
	{Schema: "Block.addInputToBlock(Block self) -> Value", Doc: "Adds a parameter of type Tensor.", Run: abi.Bind(func(b *ir.Block) *ir.Value { return b.AddInput("") })},
	{Schema: "Block.registerOutput(Block self, Value v) -> int", Doc: "Adds a result and returns its position.", Run: abi.Bind((*ir.Block).AddOutput)},

	{Schema: "_C.parse_ir(str input, bool parse_tensor_constants=False) -> Graph", Doc: "The graph of a text as graphs are printed. parse_tensor_constants gives constants whose elements are not shown the value of a tensor of their type.", Run: abi.Bind(parseIR)},
}

// checkKind fails where a name cannot be a node's kind.
func checkKind(kind string) error {
	if namespace, name, ok := strings.Cut(kind, "::"); !ok || namespace == "" || name == "" {
		return abi.RuntimeErrorf("all symbols must have a namespace, <namespace>::<string>, but found: %s", kind)
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
			return abi.RuntimeErrorf("%v is no permutation of %d positions", order, n)
		}
		seen[i] = true
	}
	if len(order) != n {
		return abi.RuntimeErrorf("%v is no permutation of %d positions", order, n)
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
	return g.Create(prim.FusionGroup, nil, 0).SetAttr("Subgraph", ir.NewGraph())
}

func createNode(g *ir.Graph, kind string, inputs *abi.Word, outputs int) (*ir.Node, error) {
	if err := checkKind(kind); err != nil {
		return nil, err
	}
	var values []*ir.Value
	switch {
	case inputs.Kind() == abi.KindInt:
		outputs = int(inputs.Int())
	case inputs.IsSequence():
		for x := range inputs.Items {
			if x.Kind() == abi.KindNone {
				return nil, abi.ValueErrorf("cannot pass None in inputs")
			}
			v, ok := x.Content().(*ir.Value)
			if !ok {
				return nil, abi.TypeErrorf("create(): incompatible function arguments: the inputs must be Values, not %s", x.KindName())
			}
			if err := abi.Destroyed(v); err != nil {
				return nil, err
			}
			values = append(values, v)
		}
	case inputs.Kind() != abi.KindNone:
		return nil, abi.TypeErrorf("create(): incompatible function arguments: expected a list of Values or a number of outputs, not %s", inputs.KindName())
	}
	if outputs < 0 || outputs > maxOutputs {
		return nil, abi.RuntimeErrorf("a node cannot have %d outputs", outputs)
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
			return abi.RuntimeErrorf("the value %%%s belongs to another graph", v.Name())
		}
	}
	return nil
}

func createClone(c *abi.Call, g *ir.Graph, n *ir.Node, _ *abi.Word) (*ir.Node, error) {
	if n.IsDestroyed() {
		return nil, abi.Destroyed(n)
	}
	valueMap := c.ArgObject(2)
	var failure error
	lookup := func(v *ir.Value) *ir.Value {
		mapped := v
		err := valueMap.Invoke("", 1, func(w *abi.Writer) { w.Handle(abi.HandleIRValue, v) }, func(w *abi.Word) error {
			found, ok := w.Content().(*ir.Value)
			if !ok {
				return abi.TypeErrorf("createClone(): value_map must return a Value, not %s", w.KindName())
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

func setInsertPoint(g *ir.Graph, at *abi.Word) error {
	switch x := at.Content().(type) {
	case *ir.Node:
		if err := abi.Destroyed(x); err != nil {
			return err
		}
		if x.Graph() != g || x.Block() == nil || x == x.Block().ParamNode() {
			return abi.RuntimeErrorf("the insertion point must be a node in a block of the graph")
		}
		g.SetInsertPoint(x)
	case *ir.Block:
		if x.Graph() != g {
			return abi.RuntimeErrorf("the insertion point must be a block of the graph")
		}
		g.SetInsertEnd(x)
	default:
		return abi.TypeErrorf("setInsertPoint(): incompatible function arguments: expected a Node or a Block, not %s", at.KindName())
	}
	return nil
}

func insertConstant(g *ir.Graph, v value.Value) (*ir.Value, error) {
	if !ir.IsConstantable(v) {
		return nil, abi.RuntimeErrorf("a %s cannot be a constant of a graph", v.Kind())
	}
	return g.Constant(v, source.Range{}), nil
}

func insertGraph(g, callee *ir.Graph, inputs []*ir.Value) ([]*ir.Value, error) {
	if len(inputs) != len(callee.Inputs()) {
		return nil, abi.RuntimeErrorf("the graph has %d inputs, but %d were given", len(callee.Inputs()), len(inputs))
	}
	if err := ofGraph(g, inputs); err != nil {
		return nil, err
	}
	return g.InsertGraph(callee, inputs), nil
}

func insertCall(g *ir.Graph, op string, args *abi.Word) (*ir.Value, error) {
	if err := checkKind(op); err != nil {
		return nil, err
	}
	var actual []ir.Argument
	for x := range args.Items {
		if v, ok := x.Content().(*ir.Value); ok {
			if err := abi.Destroyed(v); err != nil {
				return nil, err
			}
			if err := ofGraph(g, []*ir.Value{v}); err != nil {
				return nil, err
			}
			actual = append(actual, ir.Arg(v))
			continue
		}
		v, err := abi.PlainValue(x)
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
		return abi.RuntimeErrorf("the graph is not well formed: %s", err)
	}
	return nil
}

// WellFormed fails where something that looks into the graph's nodes could not rely on what it
// finds.
func WellFormed(g *ir.Graph) error {
	if err := lint(g); err != nil {
		return err
	}
	if err := ir.VerifyKinds(g); err != nil {
		return abi.RuntimeErrorf("the graph is not well formed: %s", err)
	}
	return nil
}

func addNode(b *ir.Block, kind string, inputs []*ir.Value) (*ir.Node, error) {
	if err := checkKind(kind); err != nil {
		return nil, err
	}
	for _, v := range inputs {
		if v == nil {
			return nil, abi.TypeErrorf("addNode(): incompatible function arguments: the inputs must be Values, not NoneType")
		}
		if err := abi.Destroyed(v); err != nil {
			return nil, err
		}
	}
	return b.Append(b.Graph().Create(kind, inputs, 1)), nil
}

func parseIR(text string, tensorConstants bool) (*ir.Graph, error) {
	return ir.ParseWith(text, ir.ParseOptions{TensorConstants: tensorConstants, Renumber: true, Named: namedType, Places: true})
}

// namedType returns the type of a qualified name in the text of a graph, nil where there is none.
func namedType(name string) types.Type {
	if t := abi.Program.Type(name); t != nil {
		return t
	}
	if strings.HasPrefix(name, types.NativePrefix) {
		return types.NativeClass(name)
	}
	return nil
}
