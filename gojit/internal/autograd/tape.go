// Package autograd records operators and differentiates what was recorded.
//
// Central types: Node, one recorded run of an operator; history, what a tensor knows of the node
// that made it; gradient, one call of a derivative; Mode, what a thread does with operators. Mode.Run is the one place that
// operators go through, from Python and from the interpreter. A derivative is written once for each operator, in the derivatives files,
// against the operators of an Emitter; decompositions are operators that are recorded as others.
//
// Invariant: an operator without a derivative is recorded too, and its node fails when a gradient
// reaches it, so that no gradient is silently missing.
package autograd

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Node is one recorded run of an operator, or the place where the gradient of a leaf is added up.
type Node struct {
	sequence  uint64 // nodes are differentiated in falling order
	name      string
	op        string // the operator's name, for messages
	backward  derivative
	args, out []value.Value // as they were; out without the nodes' own references
	inputs    []input
	outputs   []geometry
	leaf      *tensor.Tensor // of an accumulator
	reads     ops.Slots      // by the derivative
	spared    ops.Slots      // that the node does not hold: they are not read, and have nodes that made them
	released  bool
	holds     bool // args and out but for those that are spared, which their owners may have given up
	unread    bool // the derivative did without the elements of args and out, whose memory is given back
	// conjugates says that the derivative is one of real numbers and that there are complex ones.
	conjugates bool
	hooks      *hooks
	rare       *rare
	group      *GroupNode // that this is the node of
}

// rare is what few nodes have.
type rare struct {
	packed            []packed // in the order in which hooks got them
	origin            *origin  // while anomalies are looked for
	context, metadata any
}

// rarely returns what few nodes have, of a node that shall have some of it.
func (n *Node) rarely() *rare {
	if n.rare == nil {
		n.rare = &rare{}
	}
	return n.rare
}

// Context returns what belongs to the node of a custom function, nil for other nodes.
func (n *Node) Context() any {
	if n.rare == nil {
		return nil
	}
	return n.rare.context
}

// Metadata returns what the user keeps with the node; at first that is fresh.
func (n *Node) Metadata(fresh any) any {
	r := n.rarely()
	if r.metadata == nil {
		r.metadata = fresh
	}
	return r.metadata
}

// input is a tensor argument of a node.
type input struct {
	argument, element int // element is -1 where the argument is no list
	version           int
	edge              edge
	shape             []int
	dtype             tensor.DType
	isPlaced          bool // on the device; else nobody knows where it is, and it is where its gradient is
	device            tensor.Device
}

// edge leads to the node that made a tensor; the zero edge leads nowhere.
type edge struct {
	node  *Node
	index int // of the output
}

// geometry describes an output.
type geometry struct {
	shape   []int
	dtype   tensor.DType
	version int
}

// history is what the tape keeps about a tensor.
type history struct {
	edge
	accumulator atomic.Pointer[Node] // of a leaf
	grad        *tensor.Tensor
	tangent     *tangent
	creation    creation
}

// creation says how a view was made, where that forbids to write it.
type creation int

const (
	plainView  creation = iota
	oneOfViews          // by an operator that gives several
	customView          // by a custom function
)

// IsLeaf reports whether no node made the tensor.
func (h *history) IsLeaf() bool { return h.node == nil }

var sequence atomic.Uint64

// Name returns the node's name, such as "AddBackward0".
func (n *Node) Name() string { return n.name }

// FullName is Name, with PyTorch's namespace for nodes that are no derivatives of operators.
func (n *Node) FullName() string {
	switch n.name {
	case "AccumulateGrad":
		return "torch::autograd::AccumulateGrad"
	case "CopyBackwards":
		return "torch::autograd::CopyBackwards"
	case "CopySlices":
		return "torch::autograd::CopySlices"
	}
	return n.name
}

// NodeOf returns the node that made t, nil for a leaf.
func NodeOf(t *tensor.Tensor) *Node {
	if !t.RequiresGrad() || t.IsLeaf() {
		return nil
	}
	return edgeOf(t).node
}

// OutputNumber returns which output of its node t is, 0 for a leaf.
func OutputNumber(t *tensor.Tensor) int {
	if NodeOf(t) == nil {
		return 0
	}
	return edgeOf(t).index
}

// Grad returns the gradient of a leaf, nil where there is none.
func Grad(t *tensor.Tensor) *tensor.Tensor {
	if h, ok := t.History().(*history); ok {
		return h.grad
	}
	return nil
}

// SetGrad replaces the gradient; nil removes it. It fails where it cannot be one of t.
func SetGrad(t, grad *tensor.Tensor) error {
	if grad != nil {
		if !tensor.SameShape(grad.Shape(), t.Shape()) {
			return errorf("assigned grad has data of a different size")
		}
		if grad.DType() != t.DType() {
			return errorf("assigned grad has data of a different type")
		}
	}
	historyOf(t).setGrad(grad)
	return nil
}

// setGrad replaces the gradient, which the history holds.
func (h *history) setGrad(grad *tensor.Tensor) {
	before := h.grad
	if grad != nil {
		grad.Hold()
	}
	if h.grad = grad; before != nil {
		before.LetGo()
	}
}

func errorf(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, format, args...)
}

func historyOf(t *tensor.Tensor) *history {
	if h, ok := t.History().(*history); ok {
		return h
	}
	return t.OfferHistory(&history{}).(*history)
}

// edgeOf returns where the gradient of t goes.
func edgeOf(t *tensor.Tensor) edge {
	if !t.RequiresGrad() {
		return edge{}
	}
	if t.IsStale() {
		refresh(t)
	}
	h := historyOf(t)
	if h.node != nil {
		return h.edge
	}
	return edge{h.accumulate(t), 0}
}

// accumulate returns the node that adds to the gradient of the leaf t, whose history h is. Goroutines
// share the parameters of a module; the first one's node stays.
func (h *history) accumulate(t *tensor.Tensor) *Node {
	if n := h.accumulator.Load(); n != nil {
		return n
	}
	n := &Node{name: "AccumulateGrad", leaf: t, outputs: []geometry{geometryOf(t)}}
	if !h.accumulator.CompareAndSwap(nil, n) {
		return h.accumulator.Load()
	}
	return n
}

func geometryOf(t *tensor.Tensor) geometry {
	return geometry{slices.Clone(t.Shape()), t.DType(), t.Version()}
}

func anyRequiresGrad(args []value.Value) bool {
	for _, v := range args {
		switch v.Kind() {
		case value.KindTensor:
			if v.Tensor().RequiresGrad() {
				return true
			}
		case value.KindList:
			for _, x := range v.List().Items {
				if !x.IsTensor() && !x.IsNone() {
					break
				}
				if x.IsTensor() && x.Tensor().RequiresGrad() {
					return true
				}
			}
		}
	}
	return false
}

// writesWithoutGradient reports whether what an operator writes into the tensors given to it could have no gradient: truth values or integers.
func writesWithoutGradient(op *ops.Operator, args []value.Value) bool {
	if _, compares := op.Fact("compares"); compares {
		return true
	}
	for i := range op.Schema().Arguments {
		if op.Schema().Arguments[i].IsOut() && args[i].IsTensor() {
			if d := args[i].Tensor().DType(); d.IsFloating() || d.IsComplex() {
				return false
			}
		}
	}
	return true
}

func record(m *Mode, op *ops.Operator, args, out []value.Value) (err error) {
	p := planOf(op)
	switch {
	case p.notDifferentiable || p.shapeOnly && !anyRequiresGrad(args[:1]) || p.hasOut && writesWithoutGradient(op, args):
		return m.compute(op, args, out)
	case p.hasOut:
		if made := args[len(args)-1]; p.makes && made.IsTensor() {
			if err := checkWrite(made.Tensor()); err != nil {
				return err
			}
		}
		return errorf("%s(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.", strings.TrimPrefix(op.BaseName(), "aten::"))
	case p.decompose != nil && p.writes:
		return writeDecomposed(m, op, args, out)
	case p.decompose != nil && !p.whole:
		defer source.Catch(&err)
		e := m.tracking()
		copy(out, p.decompose(e, args))
		e.giveUp(out)
		return nil
	}
	n := &Node{op: op.Name, backward: p.backward, reads: p.reads, args: slices.Clone(args)}
	var written *tensor.Tensor
	var base edge
	if p.writes && args[0].IsTensor() {
		written = args[0].Tensor()
		if isUnrecordedView(args[0]) {
			return errUnrecordedView
		}
		if err := checkWrite(written); err != nil {
			return err
		}
		if b := written.Base(); b != nil {
			base = edgeOf(b)
		}
		defer source.Catch(&err)
		if p.needsNoCopy(args) {
			n.args[0] = value.OfTensor(must(tensor.EmptyMeta(written.Shape(), written.DType())))
		} else {
			n.args[0] = value.OfTensor(copyOf(written, edgeOf(written)))
		}
	}
	n.saveInputs(args, written != nil)
	if err := m.compute(op, args, out); err != nil {
		n.letGo()
		return err
	}
	if p.whole {
		n.backward = through(p.decompose, out)
	}
	n.sequence = sequence.Add(1)
	if n.name = p.nodeName(args); m.wrapsNumbers && p.wrapped != "" {
		n.name = p.wrapped
	}
	if written != nil {
		n.holdResults(out)
		n.outputs = []geometry{geometryOf(written)}
		n.rebase(written, base)
	} else if !n.attach(args, out, p) {
		n.letGo()
		return nil
	}
	n.conjugates = p.conjugates && n.isComplexNode()
	n.remember(m)
	if h := m.SavedHooks(); h != nil {
		return n.packHeld(m, h)
	}
	return nil
}

// saveInputs keeps what the node needs of its arguments. The first one may be a copy of what is written.
func (n *Node) saveInputs(args []value.Value, copied bool) {
	n.inputs = make([]input, 0, countTensors(args))
	for i, v := range args {
		switch v.Kind() {
		case value.KindTensor:
			in := newInput(v.Tensor(), i, -1)
			if copied && i == 0 {
				in.version = n.args[0].Tensor().Version()
			}
			n.inputs = append(n.inputs, in)
			if kept := n.args[i].Tensor(); n.reads.Spares(i) && !(copied && i == 0) && in.isSparable(kept) {
				n.spared = n.spared.And(i)
			} else {
				kept.Hold()
			}
		case value.KindList:
			items := v.List().Items
			n.args[i] = value.OfList(value.NewList(v.List().Elem, slices.Clone(items)...))
			spares := n.reads.Spares(i)
			for j, x := range items {
				if x.IsTensor() {
					in := newInput(x.Tensor(), i, j)
					spares = spares && in.isSparable(x.Tensor())
					n.inputs = append(n.inputs, in)
				}
			}
			if spares {
				n.spared = n.spared.And(i)
			} else {
				eachTensor(n.args[i:i+1], hold)
			}
		}
	}
	n.holds = true
	if copied {
		n.args[0].Tensor().GiveUp() // nobody else has the copy
	}
}

// countTensors returns how many tensors there are among arguments and in their lists.
func countTensors(args []value.Value) (count int) {
	eachTensor(args, func(*tensor.Tensor) bool { count++; return true })
	return count
}

// isSparable reports whether nobody asks the tape for an argument itself, as for a leaf: a node made it.
func (in *input) isSparable(t *tensor.Tensor) bool {
	return in.edge.node != nil && in.edge.node.leaf == nil && !t.Dispatches()
}

func hold(t *tensor.Tensor) bool { t.Hold(); return true }

func letGo(t *tensor.Tensor) bool { t.LetGo(); return true }

// eachHeldArgument visits the tensors that the node holds among its arguments, or has to hold.
func (n *Node) eachHeldArgument(visit func(t *tensor.Tensor) bool) {
	for i := range n.args {
		if n.spared == 0 || n.spared.Spares(i) {
			eachTensor(n.args[i:i+1], visit)
		}
	}
}

// eachHeldResult is eachHeldArgument for results.
func (n *Node) eachHeldResult(visit func(t *tensor.Tensor) bool) {
	for i := range n.out {
		if n.spared == 0 || n.spared.SparesResult(i) {
			eachTensor(n.out[i:i+1], visit)
		}
	}
}

// holdResults keeps what the node gave.
func (n *Node) holdResults(out []value.Value) {
	n.out = slices.Clone(out)
	n.eachHeldResult(hold)
}

// letGo gives up the elements of what the node keeps.
func (n *Node) letGo() {
	if n.holds {
		n.holds = false
		n.eachHeldArgument(letGo)
		n.eachHeldResult(letGo)
	}
}

func newInput(t *tensor.Tensor, argument, element int) input {
	return input{argument: argument, element: element, version: t.Version(), edge: edgeOf(t), shape: slices.Clone(t.Shape()), dtype: t.DType(), isPlaced: !t.IsHollow(), device: placeOf(t)}
}

// placeOf is the device of t: of a view of conjugates or negatives the one where its numbers lie.
func placeOf(t *tensor.Tensor) tensor.Device {
	if t.Bits() != 0 {
		return t.ShownDevice()
	}
	return t.Device()
}

// attach makes the node the history of its results, and reports whether any of them has one.
func (n *Node) attach(args, out []value.Value, p *plan) (used bool) {
	results := make([]*tensor.Tensor, 0, 4) // few operators have more
	kind := plainView
	if p.views && len(out) == 1 && out[0].Kind() == value.KindList {
		kind = oneOfViews
	}
	for _, v := range out {
		switch v.Kind() {
		case value.KindTensor:
			results = append(results, v.Tensor())
		case value.KindList:
			for _, x := range v.List().Items {
				if x.IsTensor() {
					results = append(results, x.Tensor())
				}
			}
		}
	}
	n.outputs = make([]geometry, 0, len(results))
	for i, t := range results {
		n.outputs = append(n.outputs, geometryOf(t))
		if !t.DType().IsDifferentiable() || isArgument(args, t) || p.isConstant(i) {
			continue
		}
		if base := viewed(args, t); base != nil || !t.Dispatches() {
			t.SetBase(base)
		}
		h := &history{edge: edge{n, i}}
		if t.Base() != nil {
			h.creation = kind
		}
		t.SetHistory(h)
		_ = t.SetRequiresGrad(true) // the type was checked
		used = true
	}
	for i, v := range out {
		if n.reads.SparesResult(i) && n.hasMade(v) {
			n.spared = n.spared.AndResult(i)
		}
	}
	n.holdResults(out)
	return used
}

// hasMade reports whether a tensor, or all tensors of a list, have the node as their history.
func (n *Node) hasMade(v value.Value) bool {
	if v.IsTensor() {
		h, ok := v.Tensor().History().(*history)
		return ok && h.node == n && !v.Tensor().Dispatches()
	}
	return v.Kind() == value.KindList && !slices.ContainsFunc(v.List().Items, func(x value.Value) bool { return !x.IsTensor() || !n.hasMade(x) })
}

// isConstant reports whether an output has no gradient: the permutation of a decomposition, the statistics of a normalization, what is computed
// of integers.
func (p *plan) isConstant(output int) bool {
	return p.ofIntegers || len(p.withoutGrad) > 0 && slices.Contains(p.withoutGrad, output)
}

func eachTensor(args []value.Value, visit func(t *tensor.Tensor) bool) {
	for _, v := range args {
		switch v.Kind() {
		case value.KindTensor:
			if !visit(v.Tensor()) {
				return
			}
		case value.KindList:
			for _, x := range v.List().Items {
				if x.IsTensor() && !visit(x.Tensor()) {
					return
				}
			}
		}
	}
}

func isArgument(args []value.Value, t *tensor.Tensor) (found bool) {
	eachTensor(args, func(x *tensor.Tensor) bool { found = found || x == t; return !found })
	return found
}

// viewed returns the argument whose memory t shows, nil where it has its own.
func viewed(args []value.Value, t *tensor.Tensor) (base *tensor.Tensor) {
	eachTensor(args, func(x *tensor.Tensor) bool {
		if x.CountsWith(t) {
			base = x
		}
		return base == nil
	})
	return base
}

func fail(format string, args ...any) { source.Raise(source.RuntimeError, format, args...) }

func succeed(err error) { source.Throw(err) }

func must[T any](v T, err error) T { return source.Must(v, err) }
