package bind

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
)

// nodeMembers are the methods of nodes but for their attributes.
var nodeMembers = []function{
	{schema: "Node.__repr__(any self) -> str", doc: "The node's line and its blocks.", run: bind(nodeText)},
	{schema: "Node.kind(Node self) -> str", doc: "The operator's name without its overload.", run: bind((*ir.Node).Kind)},
	{schema: "Node.schema(Node self) -> str", doc: "The schema of the overload that the inputs choose, (no schema) where there is none.", run: bind(nodeSchema)},
	{schema: "Node.matches(Node self, str schema) -> bool", doc: "Whether the node applies the operator of a schema.", run: bind(nodeMatches)},
	{schema: "Node.sourceRange(Node self) -> str", doc: "Where in the source the node is from, with the lines around it.", run: bind(nodeSource)},
	{schema: "Node.scopeName(Node self) -> str", doc: "The scope in which a trace recorded the node.", run: bind(func(n *ir.Node) string { return n.Scope })},
	{schema: "Node.getModuleHierarchy(Node self) -> str", doc: "The submodules that an inlined node is from.", run: bind(func(*ir.Node) string { return "" })},
	{schema: "Node.inputs(Node self) -> Iterator", doc: "The inputs.", run: bind((*ir.Node).Inputs)},
	{schema: "Node.outputs(Node self) -> Iterator", doc: "The outputs.", run: bind((*ir.Node).Outputs)},
	{schema: "Node.inputsSize(Node self) -> int", doc: "The number of inputs.", run: bind(func(n *ir.Node) int { return len(n.Inputs()) })},
	{schema: "Node.outputsSize(Node self) -> int", doc: "The number of outputs.", run: bind(func(n *ir.Node) int { return len(n.Outputs()) })},
	{schema: "Node.inputsAt(Node self, int i) -> Value", doc: "An input.", run: bind(func(n *ir.Node, i int) (*ir.Value, error) { return at(n.Inputs(), i) })},
	{schema: "Node.outputsAt(Node self, int i) -> Value", doc: "An output.", run: bind(func(n *ir.Node, i int) (*ir.Value, error) { return at(n.Outputs(), i) })},
	{schema: "Node.input(Node self) -> Value", doc: "The only input.", run: bind(func(n *ir.Node) (*ir.Value, error) { return only(n, "input", n.Inputs()) })},
	{schema: "Node.output(Node self) -> Value", doc: "The only output.", run: bind(func(n *ir.Node) (*ir.Value, error) { return only(n, "output", n.Outputs()) })},
	{schema: "Node.namedInput(Node self, str name) -> Value", doc: "The input for an argument of the schema.", run: bind(namedInput)},
	{schema: "Node.hasMultipleOutputs(Node self) -> bool", doc: "Whether there are two outputs or more.", run: bind(func(n *ir.Node) bool { return len(n.Outputs()) > 1 })},
	{schema: "Node.hasUses(Node self) -> bool", doc: "Whether any output is used.", run: bind(nodeHasUses)},
	{schema: "Node.isNondeterministic(Node self) -> bool", doc: "Whether equal inputs may give different outputs.", run: bind((*ir.Node).IsNondeterministic)},
	{schema: "Node.mustBeNone(Node self) -> bool", doc: "Whether the node is a constant None.", run: bind(func(n *ir.Node) bool { return len(n.Outputs()) == 1 && n.Output().MustBeNone() })},
	{schema: "Node.addInput(Node self, Value v) -> Value", doc: "Appends an input.", run: bind((*ir.Node).AddInput)},
	{schema: "Node.replaceInput(Node self, int i, Value v) -> Value", doc: "Replaces an input and returns the former one.", run: bind(replaceInput)},
	{schema: "Node.replaceInputWith(Node self, Value from_value, Value to) -> None", doc: "Replaces every input that is from_value.", run: bind((*ir.Node).ReplaceInputWith)},
	{schema: "Node.removeInput(Node self, int i) -> None", doc: "Removes an input.", run: bind(removeInput)},
	{schema: "Node.removeAllInputs(Node self) -> None", doc: "Removes the inputs.", run: bind((*ir.Node).RemoveAllInputs)},
	{schema: "Node.addOutput(Node self) -> Value", doc: "Appends an output of type Tensor.", run: bind((*ir.Node).AddOutput)},
	{schema: "Node.eraseOutput(Node self, int i) -> None", doc: "Removes an output that has no uses.", run: bind(eraseOutput)},
	{schema: "Node.replaceAllUsesWith(Node self, Node other) -> None", doc: "Makes every use of an output one of the other node's output at its position.", run: bind(replaceNodeUses)},
	{schema: "Node.copyMetadata(Node self, Node other) -> Node", doc: "Takes over the source place and the scope of another node.", run: bindAcross(copyMetadata)},
	{schema: "Node.insertBefore(Node self, Node other) -> Node", doc: "Puts the node, which is in no block, before another.", run: bind(insertBefore)},
	{schema: "Node.insertAfter(Node self, Node other) -> Node", doc: "Puts the node, which is in no block, behind another.", run: bind(insertAfter)},
	{schema: "Node.moveBefore(Node self, Node other) -> None", doc: "Moves the node before another.", run: bind(moveBefore)},
	{schema: "Node.moveAfter(Node self, Node other) -> None", doc: "Moves the node behind another.", run: bind(moveAfter)},
	{schema: "Node.isBefore(Node self, Node other) -> bool", doc: "Whether the node stands before another in the text.", run: bind(func(n, other *ir.Node) (bool, error) { return isBefore(n, other) })},
	{schema: "Node.isAfter(Node self, Node other) -> bool", doc: "Whether the node stands behind another in the text.", run: bind(func(n, other *ir.Node) (bool, error) { return isBefore(other, n) })},
	{schema: "Node.prev(Node self) -> Node?", doc: "The preceding node of the block; that of the parameters before the first.", run: bind(func(n *ir.Node) *ir.Node {
		if n.Prev() == nil && n.Block() != nil && n != n.Block().ParamNode() {
			return n.Block().ParamNode()
		}
		return n.Prev()
	})},
	{schema: "Node.next(Node self) -> Node?", doc: "The following node of the block; that of the results behind the last.", run: bind(func(n *ir.Node) *ir.Node {
		if n.Next() == nil && n.Block() != nil && n != n.Block().ReturnNode() {
			return n.Block().ReturnNode()
		}
		return n.Next()
	})},
	{schema: "Node.owningBlock(Node self) -> Block?", doc: "The block that the node is in.", run: bind((*ir.Node).Block)},
	{schema: "Node.owningGraph(Node self) -> Graph", doc: "The graph that the node belongs to.", run: bind((*ir.Node).Graph)},
	{schema: "Node.blocks(Node self) -> Iterator", doc: "The blocks that the node holds.", run: bind((*ir.Node).Blocks)},
	{schema: "Node.addBlock(Node self) -> Block", doc: "Appends an empty block.", run: bind((*ir.Node).AddBlock)},
	{schema: "Node.findNode(Node self, str kind, bool recurse=True) -> Node?", doc: "The first node of a kind in the node's blocks, None where there is none.", run: bind(func(n *ir.Node, kind string, recurse bool) (*ir.Node, error) {
		found, err := findInBlocks(n, kind, recurse)
		if len(found) == 0 {
			return nil, err
		}
		return found[0], nil
	})},
	{schema: "Node.findAllNodes(Node self, str kind, bool recurse=True) -> list", doc: "All nodes of a kind in the node's blocks.", run: bind(findInBlocks)},
	{schema: "Node.destroy(Node self) -> None", doc: "Removes the node, whose outputs have no uses.", run: bind(destroyNode)},
	{schema: "Node.pyname(Node self) -> str", doc: "The name of the Python function that a prim::PythonOp calls.", run: bind(pythonName)},
	{schema: "Node.pyobj(Node self) -> any", doc: "The Python function that a prim::PythonOp calls.", run: bind(func(n *ir.Node) error { _, err := pythonName(n); return err })},
	{schema: "Node.cconv(Node self) -> str", doc: "For each argument of a prim::PythonOp, d where it is an input and c where it is a Python object.", run: bind(pythonConvention)},
	{schema: "Node.scalar_args(Node self) -> list", doc: "The Python objects among the arguments of a prim::PythonOp.", run: bind(func(n *ir.Node) ([]string, error) { _, err := pythonName(n); return nil, err })},
}

func nodeText(w *Word) (string, error) {
	n, ok := w.content().(*ir.Node)
	if !ok {
		return "", typeErrorf("expected a Node, not a %s", w.kindName())
	}
	if err := destroyed(n); err != nil {
		return "", err
	}
	return n.String(), nil
}

func at(vs []*ir.Value, i int) (*ir.Value, error) {
	if i < 0 || i >= len(vs) {
		return nil, runtimeErrorf("ArrayRef: invalid index Index = %d; Length = %d", i, len(vs))
	}
	return vs[i], nil
}

func only(n *ir.Node, what string, vs []*ir.Value) (*ir.Value, error) {
	if len(vs) != 1 {
		return nil, runtimeErrorf("the node %s has %d %ss, not one; use %ssAt(i)", n.Kind(), len(vs), what, what)
	}
	return vs[0], nil
}

// checkIndex fails where i is no index of n things.
func checkIndex(i, n int, what string) error {
	if i < 0 || i >= n {
		return runtimeErrorf("there is no %s %d, there are %d", what, i, n)
	}
	return nil
}

func nodeSchema(n *ir.Node) string {
	if o := n.Operator(); o != nil {
		return o.Schema().String()
	}
	return "(no schema)"
}

// nodeMatches reports whether a node applies the operator that a schema's text names.
func nodeMatches(n *ir.Node, text string) (bool, error) {
	s, err := schema.Parse(text)
	if err != nil {
		return false, runtimeErrorf("%s", err)
	}
	wanted := withoutOverload(s)
	if !slices.ContainsFunc(ops.Overloads(s.Name), func(o *ops.Operator) bool { return withoutOverload(o.Schema()) == wanted }) {
		return false, runtimeErrorf("Couldn't find an operator for %s. Do you have to update a set of hardcoded JIT ops?", text)
	}
	o := n.Operator()
	return o != nil && withoutOverload(o.Schema()) == wanted, nil
}

// withoutOverload is the text of a schema without the name of its overload.
func withoutOverload(s *schema.FunctionSchema) string {
	plain := *s
	plain.Overload = ""
	return plain.String()
}

func nodeSource(n *ir.Node) string {
	if !n.Range.IsValid() {
		return ""
	}
	return n.Range.Highlight()
}

func namedInput(n *ir.Node, name string) (*ir.Value, error) {
	o := n.Operator()
	if o == nil {
		return nil, runtimeErrorf("the node %s has no schema, so its inputs have no names", n.Kind())
	}
	i := o.Schema().ArgumentIndex(name)
	if i < 0 {
		return nil, runtimeErrorf("Couldn't find an argument called %s", name)
	}
	return at(n.Inputs(), i)
}

func nodeHasUses(n *ir.Node) bool {
	for _, out := range n.Outputs() {
		if out.HasUses() {
			return true
		}
	}
	return false
}

func replaceInput(n *ir.Node, i int, v *ir.Value) (*ir.Value, error) {
	if err := checkIndex(i, len(n.Inputs()), "input"); err != nil {
		return nil, err
	}
	return n.ReplaceInput(i, v), nil
}

func removeInput(n *ir.Node, i int) error {
	err := checkIndex(i, len(n.Inputs()), "input")
	if err == nil {
		n.RemoveInput(i)
	}
	return err
}

func eraseOutput(n *ir.Node, i int) error {
	if err := checkIndex(i, len(n.Outputs()), "output"); err != nil {
		return err
	}
	if v := n.Outputs()[i]; v.HasUses() {
		return runtimeErrorf("%%%s cannot be removed: it has %d uses, the first in %s", v.Name(), len(v.Uses()), firstUser(v))
	}
	n.EraseOutput(i)
	return nil
}

func firstUser(v *ir.Value) string {
	user := v.Uses()[0].User
	if user.Kind() == "prim::Return" {
		return "the results"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(user.String()), "\n")
	return line
}

func replaceNodeUses(n, other *ir.Node) error {
	if len(n.Outputs()) != len(other.Outputs()) {
		return runtimeErrorf("%s has %d outputs and %s has %d", n.Kind(), len(n.Outputs()), other.Kind(), len(other.Outputs()))
	}
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(other.Outputs()[i])
	}
	return nil
}

// isHidden reports whether n is the node of a block's parameters or results.
func isHidden(n *ir.Node) bool {
	return n.Block() != nil && (n == n.Block().ParamNode() || n == n.Block().ReturnNode())
}

// holds reports whether other is in a block of n.
func holds(n, other *ir.Node) bool {
	for b := other.Block(); b != nil; b = b.Owner().Block() {
		if b.Owner() == n {
			return true
		}
		if b.Owner() == nil {
			return false
		}
	}
	return false
}

// insertable fails where n cannot be put beside other.
func insertable(n, other *ir.Node) error {
	switch {
	case n.Block() != nil:
		return runtimeErrorf("the node %s is in a block already; use moveBefore or moveAfter", n.Kind())
	case other.Block() == nil:
		return runtimeErrorf("the node %s is in no block", other.Kind())
	case holds(n, other):
		return runtimeErrorf("the node %s cannot be put into a block of its own", n.Kind())
	}
	return nil
}

func insertBefore(n, other *ir.Node) (*ir.Node, error) {
	if err := insertable(n, other); err != nil {
		return nil, err
	}
	if other == other.Block().ParamNode() {
		return nil, runtimeErrorf("no node can stand before the parameters")
	}
	return n.InsertBefore(other), nil
}

func insertAfter(n, other *ir.Node) (*ir.Node, error) {
	if err := insertable(n, other); err != nil {
		return nil, err
	}
	if other == other.Block().ReturnNode() {
		return nil, runtimeErrorf("no node can stand behind the results")
	}
	return n.InsertAfter(other), nil
}

// movable fails where n cannot be moved to other.
func movable(n, other *ir.Node) error {
	switch {
	case n.Block() == nil:
		return runtimeErrorf("the node %s is in no block yet; use insertBefore or insertAfter", n.Kind())
	case other.Block() == nil:
		return runtimeErrorf("the node %s is in no block", other.Kind())
	case isHidden(n):
		return runtimeErrorf("the node %s belongs to its block", n.Kind())
	case holds(n, other):
		return runtimeErrorf("the node %s cannot be moved into a block of its own", n.Kind())
	}
	return nil
}

func moveBefore(n, other *ir.Node) error {
	if err := movable(n, other); err != nil || n == other {
		return err
	}
	if other == other.Block().ParamNode() {
		return runtimeErrorf("no node can stand before the parameters")
	}
	n.MoveBefore(other)
	return nil
}

func moveAfter(n, other *ir.Node) error {
	if err := movable(n, other); err != nil || n == other {
		return err
	}
	if other == other.Block().ReturnNode() {
		return runtimeErrorf("no node can stand behind the results")
	}
	n.MoveAfter(other)
	return nil
}

func isBefore(n, other *ir.Node) (bool, error) {
	if n.Block() == nil || other.Block() == nil {
		return false, runtimeErrorf("a node that is in no block has no place in the text")
	}
	return n.IsBefore(other), nil
}

func findInBlocks(n *ir.Node, kind string, recurse bool) ([]*ir.Node, error) {
	if err := checkKind(kind); err != nil {
		return nil, err
	}
	var found []*ir.Node
	for _, b := range n.Blocks() {
		more, _ := findNodes(b, kind, recurse)
		found = append(found, more...)
	}
	return found, nil
}

func destroyNode(n *ir.Node) error {
	if isHidden(n) {
		return runtimeErrorf("the node %s belongs to its block and cannot be destroyed", n.Kind())
	}
	for _, out := range n.Outputs() {
		if out.HasUses() {
			return runtimeErrorf("the node %s cannot be destroyed: its output %%%s has %d uses, the first in %s", n.Kind(), out.Name(), len(out.Uses()), firstUser(out))
		}
	}
	n.Destroy()
	return nil
}

// copyMetadata gives n the source place and the scope of another node.
func copyMetadata(n, other *ir.Node) *ir.Node {
	n.Scope = other.Scope
	return n.SetRange(other.Range)
}

func pythonName(n *ir.Node) (string, error) {
	if n.Kind() != "prim::PythonOp" {
		return "", runtimeErrorf("expected a prim::PythonOp but found a %s", n.Kind())
	}
	return n.StringAttr("name"), nil
}

func pythonConvention(n *ir.Node) (string, error) {
	_, err := pythonName(n)
	if convention, ok := n.Attr("cconv"); ok {
		return convention.(string), err
	}
	return strings.Repeat("d", len(n.Inputs())), err
}
