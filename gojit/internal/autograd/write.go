package autograd

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var errUnrecordedView = errorf("A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).")

// isUnrecordedView reports whether v shows a tensor that requires a gradient but does not itself.
func isUnrecordedView(v value.Value) bool {
	if !v.IsTensor() {
		return false
	}
	t := v.Tensor()
	return t.Base() != nil && t.Base().RequiresGrad() && !t.RequiresGrad() && t.DType().IsDifferentiable()
}

// writeDecomposed copies what the functional form gives into the first argument. Functions of elements refuse to where that would lose what they compute.
func writeDecomposed(m *Mode, op *ops.Operator, args, out []value.Value) (err error) {
	p := planOf(op)
	defer source.Catch(&err)
	e := &emitter{mode: m}
	out[0] = args[0]
	if !args[0].IsTensor() {
		fail("the operator writes no tensor")
	}
	if err := checkWrite(args[0].Tensor()); err != nil {
		return err
	}
	given := slices.Clone(args)
	given[0] = value.OfTensor(copyOf(args[0].Tensor(), edgeOf(args[0].Tensor())))
	var result value.Value
	if p.whole {
		result = e.Emit(p.functional, given...)[0]
	} else {
		result = p.decompose(e, given)[0]
	}
	if from, to := result.Tensor().DType(), args[0].Tensor().DType(); op.Def().Scalar != nil && !tensor.CanCast(from, to) {
		fail("result type %s can't be cast to the desired output type %s", from.CppName(), to.CppName())
	}
	do(e, "copy_", args[0], result)
	return nil
}

// copyOf returns a copy that was made by the same node.
func copyOf(t *tensor.Tensor, made edge) *tensor.Tensor {
	old := must(t.Clone(tensor.PreserveFormat))
	old.SetHistory(&history{edge: made})
	if v := Tangent(t); v != nil {
		SetTangent(old, do(&emitter{mode: &Mode{noTangent: true}}, "clone", v))
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

// copySlices is the name of nodes of tensors of which a view was written.
const copySlices = "CopySlices"

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
	v := ops.PlacementIn(root, t)
	whole := &Node{sequence: sequence.Add(1), name: copySlices, op: copySlices, outputs: []geometry{geometryOf(root)}}
	whole.inputs = []input{
		{argument: 0, element: -1, edge: old, shape: whole.outputs[0].shape, dtype: root.DType()},
		{argument: 1, element: -1, edge: edge{n, 0}, shape: n.outputs[0].shape, dtype: t.DType()},
	}
	whole.backward = func(c *gradient) {
		part, rest := v.Split(c, c.g())
		c.Give(0, rest)
		c.Give(1, part)
	}
	historyOf(root).edge = edge{whole, 0}
	_ = root.SetRequiresGrad(true)
	root.Rewrite() // t has the history of a view of it when it is asked for
}

// refresh makes the history of a view anew after its base was written.
func refresh(t *tensor.Tensor) {
	root := t.Base()
	v := ops.PlacementIn(root, t)
	n := &Node{name: "AsStridedBackward0", op: aten.AsStrided, outputs: []geometry{geometryOf(t)}}
	n.inputs = []input{{argument: 0, element: -1, edge: edgeOf(root), shape: slices.Clone(root.Shape()), dtype: root.DType()}}
	n.backward = func(c *gradient) { c.Give(0, v.Scatter(c, c.g())) }
	n.sequence = sequence.Add(1)
	historyOf(t).edge = edge{n, 0}
	t.Refresh()
	if t.DType().IsDifferentiable() {
		_ = t.SetRequiresGrad(true)
	}
}
