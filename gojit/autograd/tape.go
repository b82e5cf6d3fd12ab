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
	"sync"
	"sync/atomic"

	"torchjit/gojit/ops"
	"torchjit/gojit/schema"
	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
	"torchjit/gojit/types"
	"torchjit/gojit/value"
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
	released  bool
	// conjugates says that the derivative is one of real numbers and that there are complex ones.
	conjugates bool
	hooks      *hooks
	packed     map[slot]packed
	origin     *origin // while anomalies are looked for
	// Context is what belongs to the node of a custom function, Metadata what its user keeps with any node.
	Context, Metadata any
}

// input is a tensor argument of a node.
type input struct {
	argument, element int // element is -1 where the argument is no list
	version           int
	edge              edge
	shape             []int
	dtype             tensor.DType
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
	tangent     tangent
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
	historyOf(t).grad = grad
	return nil
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

// plan is how an operator is recorded.
type plan struct {
	passes    bool // it is not recorded
	writes    bool // its first argument
	likened   bool // only its first argument has a gradient
	saves     bool // the gradient of one argument needs another
	hasOut    bool
	views     bool // a result is a view of an argument, as its schema says
	backward  derivative
	decompose decomposition
	// conjugates says that complex gradients are conjugated before and after backward.
	conjugates bool
}

var plans sync.Map // of *plan by *ops.Operator

// unrecordedNames are operators that give tensors without a gradient or change what the tape knows.
var unrecordedNames = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`detach detach_ requires_grad_ set_ resize_ resize_as_ data zeros_like ones_like empty_like
		full_like rand_like randn_like randint_like new_zeros new_ones new_full new_empty bernoulli multinomial result_type
		is_leaf output_nr retain_grad backward grad _backward argmax argmin argsort nonzero isnan isinf isfinite
		allclose equal lift lift_fresh normal special_airy_ai special_spherical_bessel_j0 special_modified_bessel_k0 special_modified_bessel_k1
		special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 new_empty_strided empty_strided bucketize searchsorted histc`) {
		unrecordedNames["aten::"+name] = true
	}
	for _, name := range strings.Fields(`chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h
		hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p`) {
		unrecordedNames["aten::special_"+name] = true
		unrecordedNames["aten::special_shifted_"+name] = true
	}
	unrecordedNames["prim::data"] = true
	unrecordedNames["autograd::grad"] = true
}

// products are operators that save one argument for the gradient of another.
var products = map[string]bool{}

func init() {
	for _, name := range strings.Fields("mul.Tensor div.Tensor pow.Tensor_Tensor mm bmm matmul mv dot linear addmm baddbmm conv1d conv2d conv3d") {
		products[name] = true
	}
}

// likened names operators whose arguments after the first only give a shape or a type.
var likened = map[string]bool{
	"aten::view_as": true, "aten::reshape_as": true, "aten::expand_as": true, "aten::type_as": true, "aten::to.other": true,
}

func planOf(op *ops.Operator) *plan {
	if p, ok := plans.Load(op); ok {
		return p.(*plan)
	}
	s := op.Schema()
	p := &plan{likened: likened[s.Name]}
	takes, gives := false, false
	for i := range s.Arguments {
		a := &s.Arguments[i]
		takes = takes || mentionsTensor(a.Type)
		p.hasOut = p.hasOut || a.IsOut()
		p.writes = p.writes || i == 0 && !a.KwargOnly && a.Alias != nil && a.Alias.IsWrite
	}
	for i := range s.Returns {
		gives = gives || mentionsTensor(s.Returns[i].Type)
		p.views = p.views || s.Returns[i].Alias != nil
	}
	p.passes = !takes || !gives || unrecordedNames[s.Name]
	name := functionalName(s, p.writes)
	p.backward, p.decompose = derivatives[name], decompositions[name]
	p.saves = products[name]
	p.conjugates = !asWritten[name]
	if p.backward != nil {
		p.decompose = nil
	}
	plans.Store(op, p)
	return p
}

func mentionsTensor(t types.Type) bool {
	return t.Kind() == types.KindTensor || slices.ContainsFunc(types.Contained(t), mentionsTensor)
}

// functionalNames are those that do not follow from the name of the overload that writes.
var functionalNames = map[string]string{
	"pow_.Scalar": "pow.Tensor_Scalar", "pow_.Tensor": "pow.Tensor_Tensor",
	"float_power_.Scalar": "float_power.Tensor_Scalar", "float_power_.Tensor": "float_power.Tensor_Tensor",
	"xlogy_.Scalar_Other": "xlogy.Scalar_Other", "transpose_.": "transpose.int", "squeeze_.dim": "squeeze.dim",
}

// functionalName returns the name without its namespace of the overload that computes the same without writing.
func functionalName(s *schema.FunctionSchema, writes bool) string {
	name := strings.TrimPrefix(s.Name, "aten::")
	if functional, ok := functionalNames[name+"."+s.Overload]; ok {
		return functional
	}
	if writes {
		name = strings.TrimSuffix(name, "_")
	}
	if s.Overload != "" {
		name += "." + s.Overload
	}
	return name
}

// Modal reports whether the mode matters to an operator: the others need not go through OperationOf.
func Modal(op *ops.Operator) bool {
	return modal[op.Name] != nil || !planOf(op).passes || slices.ContainsFunc(op.Schema().Returns, func(r schema.Argument) bool { return mentionsTensor(r.Type) })
}

// Kind tells how the gradient of an operator is found: "d" by a derivative of its own, "c" from what it is
// made of, "" not at all.
func Kind(op *ops.Operator) string {
	switch p := planOf(op); {
	case p.passes:
		return ""
	case p.backward != nil:
		return "d"
	case p.decompose != nil:
		return "c"
	}
	return ""
}

var errUnrecordedView = errorf("A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).")

// isUnrecordedView reports whether v shows a tensor that requires a gradient but does not itself.
func isUnrecordedView(v value.Value) bool {
	if !v.IsTensor() {
		return false
	}
	t := v.Tensor()
	return t.Base() != nil && t.Base().RequiresGrad() && !t.RequiresGrad() && t.DType().IsDifferentiable()
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

func record(m *Mode, op *ops.Operator, args, out []value.Value) (err error) {
	p := planOf(op)
	switch {
	case p.passes || p.likened && !anyRequiresGrad(args[:1]):
		return op.Run(args, out)
	case p.hasOut:
		return errorf("%s(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.", strings.TrimPrefix(op.BaseName(), "aten::"))
	case p.decompose != nil && p.writes:
		return writeDecomposed(m, p, args, out)
	case p.decompose != nil:
		defer source.Catch(&err)
		copy(out, p.decompose(&emitter{m}, args))
		return nil
	}
	n := &Node{op: op.Name, backward: p.backward, args: slices.Clone(args)}
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
		n.args[0] = value.OfTensor(copyOf(written, edgeOf(written)))
	}
	n.saveInputs(args, written != nil)
	if err := op.Run(args, out); err != nil {
		return err
	}
	n.sequence = sequence.Add(1)
	n.name = nodeName(op, args)
	if written != nil {
		n.out = slices.Clone(out)
		n.outputs = []geometry{geometryOf(written)}
		n.rebase(written, base)
	} else {
		n.attach(args, out, p.views)
	}
	n.conjugates = p.conjugates && n.isComplexNode()
	n.remember(m)
	if h := m.SavedHooks(); h != nil {
		return n.pack(m, h)
	}
	return nil
}

// writeDecomposed copies what the functional form gives into the first argument.
func writeDecomposed(m *Mode, p *plan, args, out []value.Value) (err error) {
	defer source.Catch(&err)
	e := &emitter{m}
	out[0] = args[0]
	if !args[0].IsTensor() {
		fail("the operator writes no tensor")
	}
	if err := checkWrite(args[0].Tensor()); err != nil {
		return err
	}
	given := slices.Clone(args)
	given[0] = value.OfTensor(copyOf(args[0].Tensor(), edgeOf(args[0].Tensor())))
	do(e, "copy_", args[0], p.decompose(e, given)[0])
	return nil
}

// copyOf returns a copy that was made by the same node.
func copyOf(t *tensor.Tensor, made edge) *tensor.Tensor {
	old := must(t.Clone(tensor.PreserveFormat))
	old.SetHistory(&history{edge: made})
	if v := Tangent(t); v != nil {
		SetTangent(old, do(&emitter{&Mode{primal: true}}, "clone", v))
	}
	if made.node != nil {
		_ = old.SetRequiresGrad(true) // the type is that of a tensor that does
	}
	return old
}

// checkWrite fails where a tensor must not be written while recording.
func checkWrite(t *tensor.Tensor) error {
	if h, ok := t.History().(*history); ok && h.creation != plainView && h.node != nil {
		return h.errForbidden()
	}
	if t.RequiresGrad() && t.IsLeaf() {
		return errorf("a leaf Variable that requires grad is being used in an in-place operation.")
	}
	if b := t.Base(); b != nil && b.RequiresGrad() && b.IsLeaf() {
		return errorf("a view of a leaf Variable that requires grad is being used in an in-place operation.")
	}
	return nil
}

// errForbidden says why a view must not be written.
func (h *history) errForbidden() error {
	const start = "Output %d of %s is a view and is being modified inplace. "
	if h.creation == customView {
		return errorf(start+"This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.", h.index, h.node.name)
	}
	return errorf(start+"This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.", h.index, h.node.name)
}

// saveInputs keeps what the node needs of its arguments. The first one may be a copy of what is written.
func (n *Node) saveInputs(args []value.Value, copied bool) {
	for i, v := range args {
		switch v.Kind() {
		case value.KindTensor:
			in := newInput(v.Tensor(), i, -1)
			if copied && i == 0 {
				in.version = n.args[0].Tensor().Version()
			}
			n.inputs = append(n.inputs, in)
			n.args[i].Tensor().Retain()
		case value.KindList:
			items := v.List().Items
			n.args[i] = value.OfList(value.NewList(v.List().Elem, slices.Clone(items)...))
			for j, x := range items {
				if x.IsTensor() {
					n.inputs = append(n.inputs, newInput(x.Tensor(), i, j))
					x.Tensor().Retain()
				}
			}
		}
	}
}

func newInput(t *tensor.Tensor, argument, element int) input {
	return input{argument: argument, element: element, version: t.Version(), edge: edgeOf(t), shape: slices.Clone(t.Shape()), dtype: t.DType()}
}

// attach makes the node the history of its results.
func (n *Node) attach(args, out []value.Value, views bool) {
	var results []*tensor.Tensor
	kind := plainView
	if views && len(out) == 1 && out[0].Kind() == value.KindList {
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
	for i, t := range results {
		n.outputs = append(n.outputs, geometryOf(t))
		t.Retain()
		if !t.DType().IsDifferentiable() || isArgument(args, t) || n.op == "aten::linalg_lu" && i == 0 { // a permutation
			continue
		}
		t.SetBase(viewed(args, t))
		h := &history{edge: edge{n, i}}
		if t.Base() != nil {
			h.creation = kind
		}
		t.SetHistory(h)
		_ = t.SetRequiresGrad(true) // the type was checked
	}
	n.out = slices.Clone(out)
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
		if x.SharesStorage(t) {
			base = x
		}
		return base == nil
	})
	return base
}

// rebase makes the node the history of a tensor that it wrote, and of what that is a view of.
func (n *Node) rebase(t *tensor.Tensor, old edge) {
	h := historyOf(t)
	h.edge, h.creation = edge{n, 0}, plainView
	_ = t.SetRequiresGrad(true)
	root := t.Base()
	if root == nil {
		t.Rewrite()
		return
	}
	v := viewIn(root, t)
	whole := &Node{sequence: sequence.Add(1), name: "CopySlices", op: "CopySlices", outputs: []geometry{geometryOf(root)}}
	whole.inputs = []input{
		{argument: 0, element: -1, edge: old, shape: whole.outputs[0].shape, dtype: root.DType()},
		{argument: 1, element: -1, edge: edge{n, 0}, shape: n.outputs[0].shape, dtype: t.DType()},
	}
	whole.backward = func(c *gradient) {
		part, rest := v.split(c, c.g())
		c.give(0, rest)
		c.give(1, part)
	}
	historyOf(root).edge = edge{whole, 0}
	_ = root.SetRequiresGrad(true)
	root.Rewrite()
	t.Refresh()
}

// refresh makes the history of a view anew after its base was written.
func refresh(t *tensor.Tensor) {
	root := t.Base()
	v := viewIn(root, t)
	n := &Node{name: "AsStridedBackward0", op: "aten::as_strided", outputs: []geometry{geometryOf(t)}}
	n.inputs = []input{{argument: 0, element: -1, edge: edgeOf(root), shape: v.rootShape, dtype: root.DType()}}
	n.backward = func(c *gradient) { c.give(0, v.scatter(c)) }
	n.sequence = sequence.Add(1)
	historyOf(t).edge = edge{n, 0}
	t.Refresh()
	if t.DType().IsDifferentiable() {
		_ = t.SetRequiresGrad(true)
	}
}

func fail(format string, args ...any) { source.Raise(source.RuntimeError, format, args...) }

func succeed(err error) { source.Throw(err) }

func must[T any](v T, err error) T { return source.Must(v, err) }
