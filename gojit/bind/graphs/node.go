package graphs

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
)

// nodeMembers are the methods of nodes but for their attributes.
var nodeMembers = []abi.Function{
	{Schema: "Node.__repr__(any self) -> str", Doc: "The node's line and its blocks.", Run: abi.Bind(nodeText)},
	{Schema: "Node.kind(Node self) -> str", Doc: "The operator's name without its overload.", Run: abi.Bind((*ir.Node).Kind)},
	{Schema: "Node.schema(Node self) -> str", Doc: "The schema of the overload that the inputs choose, (no schema) where there is none.", Run: abi.Bind(nodeSchema)},
	{Schema: "Node.matches(Node self, str schema) -> bool", Doc: "Whether the node applies the operator of a schema.", Run: abi.Bind(nodeMatches)},
	{Schema: "Node.sourceRange(Node self) -> str", Doc: "Where in the source the node is from, with the lines around it.", Run: abi.Bind(nodeSource)},
	{Schema: "Node.scopeName(Node self) -> str", Doc: "The scope in which a trace recorded the node.", Run: abi.Bind(func(n *ir.Node) string { return n.Scope })},
	{Schema: "Node.getModuleHierarchy(Node self) -> str", Doc: "The submodules that an inlined node is from.", Run: abi.Bind(func(*ir.Node) string { return "" })},
	{Schema: "Node.inputs(Node self) -> Iterator", Doc: "The inputs.", Run: abi.Bind((*ir.Node).Inputs)},
	{Schema: "Node.outputs(Node self) -> Iterator", Doc: "The outputs.", Run: abi.Bind((*ir.Node).Outputs)},
	{Schema: "Node.inputsSize(Node self) -> int", Doc: "The number of inputs.", Run: abi.Bind(func(n *ir.Node) int { return len(n.Inputs()) })},
	{Schema: "Node.outputsSize(Node self) -> int", Doc: "The number of outputs.", Run: abi.Bind(func(n *ir.Node) int { return len(n.Outputs()) })},
	{Schema: "Node.inputsAt(Node self, int i) -> Value", Doc: "An input.", Run: abi.Bind(func(n *ir.Node, i int) (*ir.Value, error) { return at(n.Inputs(), i) })},
	{Schema: "Node.outputsAt(Node self, int i) -> Value", Doc: "An output.", Run: abi.Bind(func(n *ir.Node, i int) (*ir.Value, error) { return at(n.Outputs(), i) })},
	{Schema: "Node.input(Node self) -> Value", Doc: "The only input.", Run: abi.Bind(func(n *ir.Node) (*ir.Value, error) { return only(n, "input", n.Inputs()) })},
	{Schema: "Node.output(Node self) -> Value", Doc: "The only output.", Run: abi.Bind(func(n *ir.Node) (*ir.Value, error) { return only(n, "output", n.Outputs()) })},
	{Schema: "Node.namedInput(Node self, str name) -> Value", Doc: "The input for an argument of the schema.", Run: abi.Bind(namedInput)},
	{Schema: "Node.hasMultipleOutputs(Node self) -> bool", Doc: "Whether there are two outputs or more.", Run: abi.Bind(func(n *ir.Node) bool { return len(n.Outputs()) > 1 })},
	{Schema: "Node.hasUses(Node self) -> bool", Doc: "Whether any output is used.", Run: abi.Bind(nodeHasUses)},
	{Schema: "Node.isNondeterministic(Node self) -> bool", Doc: "Whether equal inputs may give different outputs.", Run: abi.Bind((*ir.Node).IsNondeterministic)},
	{Schema: "Node.mustBeNone(Node self) -> bool", Doc: "Whether the node is a constant None.", Run: abi.Bind(func(n *ir.Node) bool { return len(n.Outputs()) == 1 && n.Output().MustBeNone() })},
	{Schema: "Node.addInput(Node self, Value v) -> Value", Doc: "Appends an input.", Run: abi.Bind((*ir.Node).AddInput)},
	{Schema: "Node.replaceInput(Node self, int i, Value v) -> Value", Doc: "Replaces an input and returns the former one.", Run: abi.Bind(replaceInput)},
	{Schema: "Node.replaceInputWith(Node self, Value from_value, Value to) -> None", Doc: "Replaces every input that is from_value.", Run: abi.Bind((*ir.Node).ReplaceInputWith)},
	{Schema: "Node.removeInput(Node self, int i) -> None", Doc: "Removes an input.", Run: abi.Bind(removeInput)},
	{Schema: "Node.removeAllInputs(Node self) -> None", Doc: "Removes the inputs.", Run: abi.Bind((*ir.Node).RemoveAllInputs)},
	{Schema: "Node.addOutput(Node self) -> Value", Doc: "Appends an output of type Tensor.", Run: abi.Bind((*ir.Node).AddOutput)},
	{Schema: "Node.eraseOutput(Node self, int i) -> None", Doc: "Removes an output that has no uses.", Run: abi.Bind(eraseOutput)},
	{Schema: "Node.replaceAllUsesWith(Node self, Node other) -> None", Doc: "Makes every use of an output one of the other node's output at its position.", Run: abi.Bind(replaceNodeUses)},
	{Schema: "Node.copyMetadata(Node self, Node other) -> Node", Doc: "Takes over the source place and the scope of another node.", Run: abi.BindAcross(copyMetadata)},
	{Schema: "Node.insertBefore(Node self, Node other) -> Node", Doc: "Puts the node, which is in no block, before another.", Run: abi.Bind(insertBefore)},
	{Schema: "Node.insertAfter(Node self, Node other) -> Node", Doc: "Puts the node, which is in no block, behind another.", Run: abi.Bind(insertAfter)},
	{Schema: "Node.moveBefore(Node self, Node other) -> None", Doc: "Moves the node before another.", Run: abi.Bind(moveBefore)},
	{Schema: "Node.moveAfter(Node self, Node other) -> None", Doc: "Moves the node behind another.", Run: abi.Bind(moveAfter)},
	{Schema: "Node.isBefore(Node self, Node other) -> bool", Doc: "Whether the node stands before another in the text.", Run: abi.Bind(func(n, other *ir.Node) (bool, error) { return isBefore(n, other) })},
	{Schema: "Node.isAfter(Node self, Node other) -> bool", Doc: "Whether the node stands behind another in the text.", Run: abi.Bind(func(n, other *ir.Node) (bool, error) { return isBefore(other, n) })},
	{Schema: "Node.prev(Node self) -> Node?", Doc: "The preceding node of the block; that of the parameters before the first.", Run: abi.Bind(func(n *ir.Node) *ir.Node {
		if n.Prev() == nil && n.Block() != nil && n != n.Block().ParamNode() {
			return n.Block().ParamNode()
		}
		return n.Prev()
	})},
	{Schema: "Node.next(Node self) -> Node?", Doc: "The following node of the block; that of the results behind the last.", Run: abi.Bind(func(n *ir.Node) *ir.Node {
		if n.Next() == nil && n.Block() != nil && n != n.Block().ReturnNode() {
			return n.Block().ReturnNode()
		}
		return n.Next()
	})},
	{Schema: "Node.owningBlock(Node self) -> Block?", Doc: "The block that the node is in.", Run: abi.Bind((*ir.Node).Block)},
	{Schema: "Node.owningGraph(Node self) -> Graph", Doc: "The graph that the node belongs to.", Run: abi.Bind((*ir.Node).Graph)},
	{Schema: "Node.blocks(Node self) -> Iterator", Doc: "The blocks that the node holds.", Run: abi.Bind((*ir.Node).Blocks)},
	{Schema: "Node.addBlock(Node self) -> Block", Doc: "Appends an empty block.", Run: abi.Bind((*ir.Node).AddBlock)},
	{Schema: "Node.findNode(Node self, str kind, bool recurse=True) -> Node?", Doc: "The first node of a kind in the node's blocks, None where there is none.", Run: abi.Bind(func(n *ir.Node, kind string, recurse bool) (*ir.Node, error) {
		found, err := findInBlocks(n, kind, recurse)
		if len(found) == 0 {
			return nil, err
		}
		return found[0], nil
	})},
	{Schema: "Node.findAllNodes(Node self, str kind, bool recurse=True) -> list", Doc: "All nodes of a kind in the node's blocks.", Run: abi.Bind(findInBlocks)},
	{Schema: "Node.destroy(Node self) -> None", Doc: "Removes the node, whose outputs have no uses.", Run: abi.Bind(destroyNode)},
	{Schema: "Node.pyname(Node self) -> str", Doc: "The name of the Python function that a prim::PythonOp calls.", Run: abi.Bind(pythonName)},
	{Schema: "Node.pyobj(Node self) -> any", Doc: "The Python function that a prim::PythonOp calls.", Run: abi.Bind(func(n *ir.Node) error { _, err := pythonName(n); return err })},
	{Schema: "Node.cconv(Node self) -> str", Doc: "For each argument of a prim::PythonOp, d where it is an input and c where it is a Python object.", Run: abi.Bind(pythonConvention)},
	{Schema: "Node.scalar_args(Node self) -> list", Doc: "The Python objects among the arguments of a prim::PythonOp.", Run: abi.Bind(func(n *ir.Node) ([]string, error) { _, err := pythonName(n); return nil, err })},
}

func nodeText(w *abi.Word) (string, error) {
	n, ok := w.Content().(*ir.Node)
	if !ok {
		return "", abi.TypeErrorf("expected a Node, not a %s", w.KindName())
	}
	if err := abi.Destroyed(n); err != nil {
		return "", err
	}
	return n.String(), nil
}

func at(vs []*ir.Value, i int) (*ir.Value, error) {
	if i < 0 || i >= len(vs) {
		return nil, abi.RuntimeErrorf("ArrayRef: invalid index Index = %d; Length = %d", i, len(vs))
	}
	return vs[i], nil
}

func only(n *ir.Node, what string, vs []*ir.Value) (*ir.Value, error) {
	if len(vs) != 1 {
		return nil, abi.RuntimeErrorf("the node %s has %d %ss, not one; use %ssAt(i)", n.Kind(), len(vs), what, what)
	}
	return vs[0], nil
}

// checkIndex fails where i is no index of n things.
func checkIndex(i, n int, what string) error {
	if i < 0 || i >= n {
		return abi.RuntimeErrorf("there is no %s %d, there are %d", what, i, n)
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
		return false, abi.RuntimeErrorf("%s", err)
	}
	wanted := withoutOverload(s)
	if !slices.ContainsFunc(ops.Overloads(s.Name), func(o *ops.Operator) bool { return withoutOverload(o.Schema()) == wanted }) {
		return false, abi.RuntimeErrorf("Couldn't find an operator for %s. Do you have to update a set of hardcoded JIT ops?", text)
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
		return nil, abi.RuntimeErrorf("the node %s has no schema, so its inputs have no names", n.Kind())
	}
	i := o.Schema().ArgumentIndex(name)
	if i < 0 {
		return nil, abi.RuntimeErrorf("Couldn't find an argument called %s", name)
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
		return abi.RuntimeErrorf("%%%s cannot be removed: it has %d uses, the first in %s", v.Name(), len(v.Uses()), firstUser(v))
	}
	n.EraseOutput(i)
	return nil
}

func firstUser(v *ir.Value) string {
	user := v.Uses()[0].User
	if user.Kind() == prim.Return {
		return "the results"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(user.String()), "\n")
	return line
}

func replaceNodeUses(n, other *ir.Node) error {
	if len(n.Outputs()) != len(other.Outputs()) {
		return abi.RuntimeErrorf("%s has %d outputs and %s has %d", n.Kind(), len(n.Outputs()), other.Kind(), len(other.Outputs()))
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
		return abi.RuntimeErrorf("the node %s is in a block already; use moveBefore or moveAfter", n.Kind())
	case other.Block() == nil:
		return abi.RuntimeErrorf("the node %s is in no block", other.Kind())
	case holds(n, other):
		return abi.RuntimeErrorf("the node %s cannot be put into a block of its own", n.Kind())
	}
	return nil
}

func insertBefore(n, other *ir.Node) (*ir.Node, error) {
	if err := insertable(n, other); err != nil {
		return nil, err
	}
	if other == other.Block().ParamNode() {
		return nil, abi.RuntimeErrorf("no node can stand before the parameters")
	}
	return n.InsertBefore(other), nil
}

func insertAfter(n, other *ir.Node) (*ir.Node, error) {
	if err := insertable(n, other); err != nil {
		return nil, err
	}
	if other == other.Block().ReturnNode() {
		return nil, abi.RuntimeErrorf("no node can stand behind the results")
	}
	return n.InsertAfter(other), nil
}

// movable fails where n cannot be moved to other.
func movable(n, other *ir.Node) error {
	switch {
	case n.Block() == nil:
		return abi.RuntimeErrorf("the node %s is in no block yet; use insertBefore or insertAfter", n.Kind())
	case other.Block() == nil:
		return abi.RuntimeErrorf("the node %s is in no block", other.Kind())
	case isHidden(n):
		return abi.RuntimeErrorf("the node %s belongs to its block", n.Kind())
	case holds(n, other):
		return abi.RuntimeErrorf("the node %s cannot be moved into a block of its own", n.Kind())
	}
	return nil
}

func moveBefore(n, other *ir.Node) error {
	if err := movable(n, other); err != nil || n == other {
		return err
	}
	if other == other.Block().ParamNode() {
		return abi.RuntimeErrorf("no node can stand before the parameters")
	}
	n.MoveBefore(other)
	return nil
}

func moveAfter(n, other *ir.Node) error {
	if err := movable(n, other); err != nil || n == other {
		return err
	}
	if other == other.Block().ReturnNode() {
		return abi.RuntimeErrorf("no node can stand behind the results")
	}
	n.MoveAfter(other)
	return nil
}

func isBefore(n, other *ir.Node) (bool, error) {
	if n.Block() == nil || other.Block() == nil {
		return false, abi.RuntimeErrorf("a node that is in no block has no place in the text")
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
		return abi.RuntimeErrorf("the node %s belongs to its block and cannot be destroyed", n.Kind())
	}
	for _, out := range n.Outputs() {
		if out.HasUses() {
			return abi.RuntimeErrorf("the node %s cannot be destroyed: its output %%%s has %d uses, the first in %s", n.Kind(), out.Name(), len(out.Uses()), firstUser(out))
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
	if n.Kind() != prim.PythonOp {
		return "", abi.RuntimeErrorf("expected a prim::PythonOp but found a %s", n.Kind())
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
