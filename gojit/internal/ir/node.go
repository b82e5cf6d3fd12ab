package ir

import (
	"fmt"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// InlinedCall is a call in whose place the callee's nodes stand.
type InlinedCall struct {
	Callee string
	// Receiver is the class whose method was called, nil for a function, and Instance how the caller names the object: the attributes that lead
	// to it, joined by dots, "SELF" for the caller's own, "" where neither is so.
	Receiver *types.Class
	Instance string
	Range    source.Range // of the call
	Outer    *InlinedCall // through which that call got here
}

// Node applies an operator: it takes inputs, holds attributes and blocks, and defines outputs.
type Node struct {
	// Range is where in the source the node comes from.
	Range source.Range
	// Scope names the modules in whose forward a trace recorded the node, outermost first:
	// "__module.body/__module.body.0".
	Scope string
	// Calls are those through which the node got here where they have been inlined, the innermost first.
	Calls      *InlinedCall
	graph      *Graph // nil once destroyed
	block      *Block // nil while in none
	kind       string
	inputs     []*Value
	outputs    []*Value
	blocks     []*Block
	attrs      []Attribute
	prev, next *Node
	position   int64 // grows along the block
	operator   *ops.Operator
	mark       uint32 // the set of marked nodes that it is in

	// ReadsNoFloat32 says that the static types of the inputs, before they were erased, excluded float32.
	ReadsNoFloat32 bool
}

// Marks is a set of nodes of one graph. A graph has one at a time: a new one ends the last.
type Marks struct{ set uint32 }

// NewMarks returns an empty set.
func (g *Graph) NewMarks() Marks {
	g.marks++
	return Marks{g.marks}
}

// Add puts n into the set and reports whether it was not in it.
func (m Marks) Add(n *Node) bool {
	if n.mark == m.set {
		return false
	}
	n.mark = m.set
	return true
}

// Has reports whether n is in the set.
func (m Marks) Has(n *Node) bool { return n.mark == m.set }

// Positions of a block's nodes lie between minPosition (the hidden first) and maxPosition (the hidden last).
const (
	minPosition  = -math.MaxInt64
	maxPosition  = math.MaxInt64
	positionStep = 1 << 30
)

// Kind returns the operator's name without its overload: "aten::add".
func (n *Node) Kind() string { return n.kind }

// Graph returns the graph that the node belongs to, nil once it is destroyed.
func (n *Node) Graph() *Graph { return n.graph }

// IsDestroyed reports whether the node, or the block that it was in, has been destroyed.
func (n *Node) IsDestroyed() bool { return n.graph == nil }

// Block returns the block that the node is in, nil where it is in none.
func (n *Node) Block() *Block { return n.block }

// Inputs returns the inputs. The slice must not be changed.
func (n *Node) Inputs() []*Value { return n.inputs }

// Outputs returns the outputs. The slice must not be changed.
func (n *Node) Outputs() []*Value { return n.outputs }

// Blocks returns the blocks that the node holds. The slice must not be changed.
func (n *Node) Blocks() []*Block { return n.blocks }

// Input returns an input by position.
func (n *Node) Input(i int) *Value { return n.inputs[i] }

// Output returns the only output.
func (n *Node) Output() *Value {
	if len(n.outputs) != 1 {
		panic(fmt.Sprintf("%s has %d outputs, not one", n.kind, len(n.outputs)))
	}
	return n.outputs[0]
}

// Next returns the following node of the block, nil at the end.
func (n *Node) Next() *Node {
	if n.next == nil || n.next == n.block.ret {
		return nil
	}
	return n.next
}

// Prev returns the preceding node of the block, nil at the beginning.
func (n *Node) Prev() *Node {
	if n.prev == nil || n.prev == n.block.param {
		return nil
	}
	return n.prev
}

// SetRange sets the source range and returns the node.
func (n *Node) SetRange(r source.Range) *Node {
	n.Range = r
	return n
}

// AddInput appends an input.
func (n *Node) AddInput(v *Value) *Value {
	if v == nil {
		panic("nil input of " + n.kind)
	}
	v.uses = append(v.uses, Use{n, len(n.inputs)})
	if len(n.inputs) == cap(n.inputs) {
		n.inputs = append(n.graph.slabs.refs.many(max(2, 2*len(n.inputs))), n.inputs...)
	}
	n.inputs = append(n.inputs, v)
	n.operator = nil
	return v
}

// InsertInput adds an input at a position.
func (n *Node) InsertInput(i int, v *Value) {
	n.operator = nil
	for k := len(n.inputs) - 1; k >= i; k-- {
		n.inputs[k].moveUse(n, k, k+1)
	}
	n.inputs = append(n.inputs, nil)
	copy(n.inputs[i+1:], n.inputs[i:])
	n.inputs[i] = v
	v.uses = append(v.uses, Use{n, i})
}

// ReplaceInput replaces an input and returns the former one.
func (n *Node) ReplaceInput(i int, v *Value) *Value {
	n.operator = nil
	old := n.inputs[i]
	old.dropUse(n, i)
	n.inputs[i] = v
	v.uses = append(v.uses, Use{n, i})
	return old
}

// ReplaceInputWith replaces every input that is from by to.
func (n *Node) ReplaceInputWith(from, to *Value) {
	for i, v := range n.inputs {
		if v == from {
			n.ReplaceInput(i, to)
		}
	}
}

// RemoveInput removes an input.
func (n *Node) RemoveInput(i int) {
	n.operator = nil
	n.inputs[i].dropUse(n, i)
	for k := i + 1; k < len(n.inputs); k++ {
		n.inputs[k].moveUse(n, k, k-1)
	}
	n.inputs = append(n.inputs[:i], n.inputs[i+1:]...)
}

// RemoveAllInputs removes the inputs.
func (n *Node) RemoveAllInputs() {
	n.operator = nil
	for i := len(n.inputs) - 1; i >= 0; i-- { // a value that is used many times loses its uses from the last on
		n.inputs[i].dropUse(n, i)
	}
	n.inputs = nil
}

// PermuteInputs puts input order[i] at position i.
func (n *Node) PermuteInputs(order []int) {
	inputs := append([]*Value(nil), n.inputs...)
	n.RemoveAllInputs()
	for _, from := range order {
		n.AddInput(inputs[from])
	}
}

// PermuteOutputs puts output order[i] at position i.
func (n *Node) PermuteOutputs(order []int) {
	outputs := make([]*Value, len(order))
	for i, from := range order {
		outputs[i] = n.outputs[from]
		outputs[i].offset = i
	}
	n.outputs = outputs
}

// AddOutput appends an output of type Tensor.
func (n *Node) AddOutput() *Value {
	v := n.graph.newValue(n, len(n.outputs))
	n.outputs = append(n.outputs, v)
	n.operator = nil
	return v
}

// AddTransientOutput is AddOutput for a node that is gone before the graph is shown: the output takes no number from the values that stay.
func (n *Node) AddTransientOutput() *Value {
	v := n.AddOutput()
	n.graph.nextID--
	v.id = -1
	return v
}

// InsertOutput adds an output of type Tensor at a position.
func (n *Node) InsertOutput(i int) *Value {
	n.operator = nil
	v := n.graph.newValue(n, i)
	n.outputs = append(n.outputs, nil)
	copy(n.outputs[i+1:], n.outputs[i:])
	n.outputs[i] = v
	for k := i + 1; k < len(n.outputs); k++ {
		n.outputs[k].offset = k
	}
	return v
}

// EraseOutput removes an output, which has no uses.
func (n *Node) EraseOutput(i int) {
	if len(n.outputs[i].uses) > 0 {
		panic(fmt.Sprintf("output %d of %s is in use", i, n.kind))
	}
	n.operator = nil
	n.graph.freeValue(n.outputs[i])
	n.graph.spare.erased(n.outputs[i])
	n.outputs = append(n.outputs[:i], n.outputs[i+1:]...)
	for k := i; k < len(n.outputs); k++ {
		n.outputs[k].offset = k
	}
}

// AddBlock appends an empty block.
func (n *Node) AddBlock() *Block {
	b := n.graph.newBlock(n)
	n.blocks = append(n.blocks, b)
	return b
}

// EraseBlock destroys a block.
func (n *Node) EraseBlock(i int) {
	n.blocks[i].destroy()
	n.blocks = append(n.blocks[:i], n.blocks[i+1:]...)
}

// InsertBefore puts n, which is in no block, before m and returns n.
func (n *Node) InsertBefore(m *Node) *Node { return n.InsertAfter(m.prev) }

// InsertAfter puts n, which is in no block, behind m and returns n.
func (n *Node) InsertAfter(m *Node) *Node {
	if n.block != nil {
		panic(n.kind + " is in a block already")
	}
	n.block = m.block
	n.prev, n.next = m, m.next
	m.next.prev, m.next = n, n
	n.place()
	return n
}

// place gives n a position between its neighbours.
func (n *Node) place() {
	switch before, after := n.prev.position, n.next.position; {
	case before == minPosition && after == maxPosition:
		n.position = 0
		return
	case after == maxPosition:
		if before < maxPosition-2*positionStep {
			n.position = before + positionStep
			return
		}
	case before == minPosition: // many constants are put first, one after the other
		if after > minPosition+2*positionStep {
			n.position = after - positionStep
			return
		}
	case after-before > 1:
		n.position = before + (after-before)/2
		return
	}
	position := int64(0)
	for m := n.block.param.next; m != n.block.ret; m = m.next {
		position += positionStep
		m.position = position
	}
}

// MoveBefore takes n out of its place and puts it before m.
func (n *Node) MoveBefore(m *Node) {
	n.unlink()
	n.InsertBefore(m)
}

// MoveAfter takes n out of its place and puts it behind m.
func (n *Node) MoveAfter(m *Node) {
	n.unlink()
	n.InsertAfter(m)
}

func (n *Node) unlink() {
	if n.block == nil {
		return
	}
	if n.graph.insertPoint == n {
		n.graph.insertPoint = n.next
	}
	n.prev.next, n.next.prev = n.next, n.prev
	n.prev, n.next, n.block = nil, nil, nil
}

// Destroy removes n, whose outputs have no uses, with its blocks.
func (n *Node) Destroy() {
	for i := len(n.outputs) - 1; i >= 0; i-- {
		n.EraseOutput(i)
	}
	for len(n.blocks) > 0 {
		n.EraseBlock(len(n.blocks) - 1)
	}
	n.RemoveAllInputs()
	n.unlink()
	n.graph.spare.destroyed(n)
	n.graph = nil
}

// IsBefore reports whether n stands before m in the text. A node is before those in its blocks.
func (n *Node) IsBefore(m *Node) bool {
	if n == m {
		return false
	}
	if n.block == m.block {
		return n.position < m.position
	}
	a, b := n, m
	depthA, depthB := a.depth(), b.depth()
	for ; depthA > depthB; depthA-- {
		if a = a.block.owner; a == m {
			return false
		}
	}
	for ; depthB > depthA; depthB-- {
		if b = b.block.owner; b == n {
			return true
		}
	}
	for a.block != b.block {
		if a.block.owner == b.block.owner {
			return a.block.index() < b.block.index()
		}
		a, b = a.block.owner, b.block.owner
	}
	return a.position < b.position
}

// depth returns the number of nodes that n is nested in.
func (n *Node) depth() int {
	d := 0
	for at := n.block.owner; at != nil; at = at.block.owner {
		d++
	}
	return d
}

// Is reports whether n applies one of the named operators.
func (n *Node) Is(kinds ...string) bool {
	for _, k := range kinds {
		if n.kind == k {
			return true
		}
	}
	return false
}

// Operator returns the overload that the types of the inputs choose, nil where none fits or the
// kind has no schema.
func (n *Node) Operator() *ops.Operator {
	if n.operator == nil {
		n.operator = findOverload(n)
	}
	return n.operator
}

// Has reports whether the operator has one of some tags.
func (n *Node) Has(tags ops.Tags) bool { return n.Operator().Has(tags) }

func findOverload(n *Node) *ops.Operator {
	switch n.kind { // most nodes are these, which have no schema
	case prim.Constant, prim.If, prim.Loop, prim.Load, prim.ListConstruct, prim.TupleConstruct, prim.GetAttr:
		return nil
	}
	for _, o := range ops.Overloads(n.kind) {
		if n.matches(o) {
			return o
		}
	}
	return nil
}

// matches reports whether the inputs are what the operator's schema asks for.
func (n *Node) matches(o *ops.Operator) bool {
	s := o.Schema()
	if len(n.inputs) < len(s.Arguments) || len(n.inputs) > len(s.Arguments) && !s.IsVararg {
		return false
	}
	vars := types.Bindings{}
	for i := range s.Arguments {
		formal := s.Arguments[i].Type
		if types.HasVars(formal) {
			if t, _ := vars.Match(formal, n.inputs[i].typ); t == nil {
				return false
			}
			formal = vars.Apply(formal)
		}
		if !types.IsSubtype(n.inputs[i].typ, formal) {
			return false
		}
	}
	return s.IsVarret || len(n.outputs) == len(s.Returns)
}

// Fact returns what stands behind the schema of the operator by a key, as ops.Operator.Fact does; ok is false where there is none.
func (n *Node) Fact(key string) (fact string, ok bool) {
	if o := n.Operator(); o != nil {
		return o.Fact(key)
	}
	return "", false
}

// AsksSize reports whether n asks for sizes of a tensor.
func (n *Node) AsksSize() bool {
	_, ok := n.Fact("asks_size")
	return ok
}

// HasSideEffects reports whether n does something besides computing its outputs and writing its
// inputs.
func (n *Node) HasSideEffects() bool {
	switch n.kind {
	case prim.Print, prim.RaiseException, prim.SetAttr, prim.Enter, prim.Exit, prim.CallFunction, prim.CallMethod, prim.PythonOp,
		prim.RpcAsync, prim.RpcSync, prim.BailoutTemplate, prim.IgnoredPythonOp, prim.LoopContinuation,
		prim.BreakStmt, prim.ContinueStmt, prim.ReturnStmt, prim.Store:
		return true
	}
	o := n.Operator()
	if o == nil {
		return false
	}
	// An operator without results can only be called for what it does.
	return o.HasSideEffects() || len(o.Schema().Returns) == 0 && !o.Schema().IsVarret
}

// IsNondeterministic reports whether equal inputs may give different outputs.
func (n *Node) IsNondeterministic() bool {
	o := n.Operator()
	return o != nil && o.IsNondeterministic()
}
