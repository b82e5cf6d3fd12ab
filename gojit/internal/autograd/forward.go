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

// Forward mode carries the derivative of a tensor along some direction, its tangent, through every operator. It needs
// no formulas of its own: a derivative is linear in the gradients of the results, so that its own derivative by them, for
// the tangents of the arguments as gradients, gives the tangents of the results. A view has a view of the tangent.

// level is the number of the level that is open, 0 for none; tangents of other levels do not count. As in PyTorch it is that of
// all threads.
var level, lastLevel atomic.Uint64

// tangent is what history holds of a level.
type tangent struct {
	level uint64
	value *tensor.Tensor
}

// EnterForward opens a level of forward mode. It fails where one is open.
func EnterForward() error {
	if !level.CompareAndSwap(0, lastLevel.Add(1)) {
		return errorf("Nested forward mode AD is not supported at the moment")
	}
	return nil
}

// ExitForward closes the level: its tangents are gone. It fails where none is open.
func ExitForward() error {
	if level.Swap(0) == 0 {
		return errorf("Dual level must be a positive number.")
	}
	return nil
}

// InForward reports whether a level is open.
func InForward() bool { return level.Load() != 0 }

// Tangent returns the tangent of t, nil where it has none.
func Tangent(t *tensor.Tensor) *tensor.Tensor {
	now := level.Load()
	if now == 0 {
		return nil
	}
	if h, ok := t.History().(*history); ok && h.tangent != nil && h.tangent.level == now {
		return h.tangent.value
	}
	if root := t.Base(); root != nil && Tangent(root) != nil {
		return tangentOfView(root, t)
	}
	return nil
}

// SetTangent gives t a tangent for the level that is open.
func SetTangent(t, v *tensor.Tensor) {
	tensor.Track()
	historyOf(t).tangent = &tangent{level.Load(), v}
}

// MakeDual returns a view of t with a tangent. It fails where no level is open, and on tensors that cannot have one.
func (m *Mode) MakeDual(t, v *tensor.Tensor) (dual *tensor.Tensor, err error) {
	defer source.Catch(&err)
	switch {
	case !InForward():
		fail("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
	case Tangent(t) != nil:
		fail("Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported.")
	case Tangent(v) != nil:
		fail("Setting a forward grad that itself has a forward gradient at the same level0 is not supported.")
	case !tensor.SameShape(t.Shape(), v.Shape()):
		fail("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of size %s while the given forward gradient is of size %s.", tensor.FormatShape(t.Shape()), tensor.FormatShape(v.Shape()))
	}
	dual = do(&emitter{mode: m}, "alias", t)
	SetTangent(dual, v)
	return dual, nil
}

// Primal returns a view of t without its tangent.
func (m *Mode) Primal(t *tensor.Tensor) (primal *tensor.Tensor, err error) {
	defer source.Catch(&err)
	primal = do(&emitter{mode: m.withoutTangents()}, "alias", t)
	primal.SetBase(nil) // views have the tangents of their base
	return primal, nil
}

// withoutTangents is the mode without tangents.
func (m *Mode) withoutTangents() *Mode {
	p := *m
	p.noTangent = true
	return &p
}

// runForward runs an operator while a level is open: what stands below it computes without tangents.
func runForward(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) (err error) {
	if !anyDual(args) {
		err := m.withoutTangents().next(rest, op, args, out)
		if err == nil {
			rememberViews(args, out)
		}
		return err
	}
	defer source.Catch(&err)
	p := planOf(op)
	switch {
	case p.notDifferentiable:
		return m.withoutTangents().next(rest, op, args, out)
	case p.hasOut:
		raise(source.NotImplementedError, "Trying to use forward AD with %s that does not support it because it is an out= function", strings.ReplaceAll(strings.TrimPrefix(op.Name, "aten::"), ".", "_"))
	case p.decompose != nil && p.writes:
		return writeDecomposed(m, op, args, out)
	case p.decompose != nil:
		copy(out, p.decompose(&emitter{mode: m}, args))
		return nil
	}
	d := newDual(m, op, p, args)
	if err := m.withoutTangents().next(rest, op, args, out); err != nil {
		return err
	}
	d.finish(out)
	return nil
}

func raise(class source.Class, format string, args ...any) { source.Raise(class, format, args...) }

func anyDual(args []value.Value) (found bool) {
	eachTensor(args, func(t *tensor.Tensor) bool { found = Tangent(t) != nil; return !found })
	return found
}

// rememberViews says of results that show the memory of an argument that they are views: one of them may get a tangent.
func rememberViews(args, out []value.Value) {
	eachTensor(out, func(t *tensor.Tensor) bool {
		if root := viewed(args, t); root != nil && root != t && t.Base() == nil {
			t.SetBase(root)
		}
		return true
	})
}

// dual is one run of an operator on tensors of which some have tangents.
type dual struct {
	mode     *Mode
	plan     *plan
	args     []value.Value // as they were
	node     *Node
	tangents []*tensor.Tensor // of the node's inputs, nil: none
}

// newDual keeps what the operator will write.
func newDual(m *Mode, op *ops.Operator, p *plan, args []value.Value) *dual {
	d := &dual{mode: m, plan: p, args: args, node: &Node{op: op.Name, backward: p.backward}}
	d.node.args = append(d.node.args, args...)
	marker := &Node{}
	add := func(t *tensor.Tensor, argument, element int) value.Value {
		in := input{argument: argument, element: element, version: t.Version(), shape: slices.Clone(t.Shape()), dtype: t.DType()}
		v := Tangent(t)
		if v != nil {
			in.edge.node = marker
		}
		d.node.inputs, d.tangents = append(d.node.inputs, in), append(d.tangents, v)
		return value.OfTensor(d.plain(t))
	}
	for i, v := range args {
		switch {
		case v.IsTensor():
			d.node.args[i] = add(v.Tensor(), i, -1)
		case v.Kind() == value.KindList:
			l := value.NewList(v.List().Elem, v.List().Items...)
			for j, x := range l.Items {
				if x.IsTensor() {
					l.Items[j] = add(x.Tensor(), i, j)
				}
			}
			d.node.args[i] = value.OfList(l)
		}
	}
	if p.writes && args[0].IsTensor() {
		written := args[0].Tensor()
		old := copyOf(d.plain(written), d.made(written))
		d.node.args[0] = value.OfTensor(old)
		d.node.inputs[0].version = old.Version()
		if d.tangents[0] != nil {
			d.tangents[0] = do(&emitter{mode: m.withoutTangents()}, "clone", d.tangents[0])
		}
	}
	return d
}

// made is where gradients of the derivatives by t go: nowhere unless that is recorded.
func (d *dual) made(t *tensor.Tensor) edge {
	if !d.mode.records() {
		return edge{}
	}
	return edgeOf(t)
}

// plain shows t without its tangent.
func (d *dual) plain(t *tensor.Tensor) *tensor.Tensor {
	s := t.Detach()
	if e := d.made(t); e.node != nil {
		s.SetHistory(&history{edge: e})
		_ = s.SetRequiresGrad(true) // the type is that of a tensor that does
	}
	return s
}

// finish gives the results their tangents.
func (d *dual) finish(out []value.Value) {
	var results []*tensor.Tensor
	eachTensor(out, func(t *tensor.Tensor) bool { results = append(results, t); return true })
	if d.plan.writes {
		results = results[:1]
	}
	if d.finishView(results) {
		return
	}
	moved := d.move(results)
	for i, v := range moved {
		switch {
		case v == nil:
		case d.plan.writes:
			d.write(results[i], v)
		default:
			SetTangent(results[i], v)
		}
	}
}

// finishView runs an operator whose results are views of its first argument on the tangent of that.
func (d *dual) finishView(results []*tensor.Tensor) bool {
	if d.plan.writes || len(results) == 0 || !d.args[0].IsTensor() || !results[0].SharesStorage(d.args[0].Tensor()) {
		return false
	}
	root := d.args[0].Tensor()
	rememberViews(d.args[:1], asValues(results))
	if Tangent(root) == nil {
		return true
	}
	op, args := ops.Find(d.node.op), append([]value.Value(nil), d.args...)
	args[0] = value.OfTensor(inLayout(root, Tangent(root)))
	out := make([]value.Value, len(op.Schema().Returns))
	succeed(d.mode.withoutTangents().Run(op, args, out))
	i := 0
	eachTensor(out, func(t *tensor.Tensor) bool {
		SetTangent(results[i], t)
		i++
		return true
	})
	return true
}

func asValues(ts []*tensor.Tensor) []value.Value {
	vs := make([]value.Value, len(ts))
	for i, t := range ts {
		vs[i] = value.OfTensor(t)
	}
	return vs
}

// move differentiates the derivative, which is linear in the gradients u of the results, by u.
func (d *dual) move(results []*tensor.Tensor) []*tensor.Tensor {
	n := d.node
	if len(results) == 0 {
		return nil // the parts of nothing
	}
	var seeds []*tensor.Tensor
	for _, t := range results {
		n.outputs = append(n.outputs, geometryOf(t))
		n.out = append(n.out, value.OfTensor(d.plain(t)))
		var u *tensor.Tensor
		if t.DType().IsDifferentiable() {
			u = must(tensor.Zeros(t.Shape(), t.DType()))
			succeed(u.SetRequiresGrad(true))
		}
		seeds = append(seeds, u)
	}
	if n.backward == nil {
		if hasSome(seeds) {
			raise(source.NotImplementedError, "Trying to use forward AD with %s that does not support it because it has not been implemented yet.", strings.TrimPrefix(n.op, "aten::"))
		}
		return seeds
	}
	n.conjugates = d.plan.conjugates && n.isComplexNode()
	inner := &Mode{noTangent: true}
	c := &gradient{Emitter: &emitter{mode: inner}, node: n, grads: append([]*tensor.Tensor(nil), seeds...)}
	c.run()
	return d.transpose(inner, c.given, seeds)
}

func hasSome(ts []*tensor.Tensor) bool {
	for _, t := range ts {
		if t != nil {
			return true
		}
	}
	return false
}

// transpose returns the derivatives of what was given by the seeds, along the tangents.
func (d *dual) transpose(inner *Mode, given [][]*tensor.Tensor, seeds []*tensor.Tensor) []*tensor.Tensor {
	var outputs, along, inputs []*tensor.Tensor
	for i, g := range given {
		if g == nil || g[0] == nil || d.tangents[i] == nil || !g[0].RequiresGrad() {
			continue
		}
		v := d.tangents[i]
		if v.DType() != g[0].DType() {
			v = do(&emitter{mode: inner}, "to.dtype", v, g[0].DType())
		}
		outputs, along = append(outputs, g[0]), append(along, v)
	}
	for _, u := range seeds {
		if u != nil {
			inputs = append(inputs, u)
		}
	}
	moved := make([]*tensor.Tensor, len(inputs))
	if len(outputs) > 0 && len(inputs) > 0 {
		moved = must(inner.Gradients(outputs, inputs, along, Options{AllowUnused: true, RetainGraph: true, CreateGraph: d.mode.records()}))
	}
	found := make([]*tensor.Tensor, len(seeds))
	k := 0
	for i, u := range seeds {
		if u == nil {
			continue
		}
		if found[i] = moved[k]; found[i] == nil {
			found[i] = must(tensor.Zeros(u.Shape(), u.DType()))
		}
		k++
	}
	return found
}

// write gives a tensor that was written its new tangent, in the memory of the old one: it may be seen by views.
func (d *dual) write(t, v *tensor.Tensor) {
	e := &emitter{mode: d.mode.withoutTangents()}
	old := Tangent(t)
	if old == nil && t.Base() != nil {
		root := t.Base()
		SetTangent(root, must(zerosLike(root)))
		old = tangentOfView(root, t)
	}
	if old == nil || !tensor.SameShape(old.Shape(), v.Shape()) || old.RequiresGrad() && old.IsLeaf() {
		SetTangent(t, v)
		return
	}
	do(e, "copy_", old, v)
}

func zerosLike(t *tensor.Tensor) (*tensor.Tensor, error) {
	z, err := tensor.EmptyStrided(t.Shape(), t.Strides(), t.DType())
	if err == nil {
		tensor.Fill(z, tensor.Int(0))
	}
	return z, err
}

// inLayout returns the tangent of t in t's own layout.
func inLayout(t, v *tensor.Tensor) *tensor.Tensor {
	for d := range t.Dim() {
		if t.Size(d) > 1 && t.Strides()[d] != v.Strides()[d] {
			made := must(zerosLike(t))
			v = do(&emitter{mode: &Mode{noTangent: true}}, "copy_", made, v)
			SetTangent(t, v)
			return v
		}
	}
	return v
}

// tangentOfView returns the part of a root's tangent that a view of it shows.
func tangentOfView(root, t *tensor.Tensor) *tensor.Tensor {
	v := inLayout(root, Tangent(root))
	part := do(&emitter{mode: &Mode{noTangent: true}}, "as_strided", v, t.Shape(), t.Strides(), t.Offset()-root.Offset()+v.Offset())
	SetTangent(t, part)
	return part
}
