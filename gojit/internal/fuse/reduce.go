package fuse

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// isReduction reports whether n is a reduction that a kernel of elementwise nodes may end with: what it does besides them is known.
func isReduction(n *ir.Node) bool {
	o := n.Operator()
	if o == nil || o.Run == nil || len(n.Outputs()) != 1 || !aten.IsReduction(o.BaseName()) {
		return false
	}
	for i, a := range o.Schema().Arguments {
		if i == 0 {
			continue
		}
		known, ok := constant(n.Input(i))
		switch a.Name {
		case "dim", "keepdim":
			if !ok || a.Type.Kind() == types.KindInt { // max.dim gives places too
				return false
			}
		case "dtype":
			if !ok || !known.IsNone() {
				return false
			}
		default:
			return false
		}
	}
	return n.Input(0).Type().Kind() == types.KindTensor
}

// constant returns what a value always is: lists of constant ints are made by nodes, for one user, so that nobody writes them.
func constant(v *ir.Value) (value.Value, bool) {
	if c, ok := v.Constant(); ok {
		return c, true
	}
	if v.Node().Kind() != "prim::ListConstruct" || len(v.Uses()) != 1 {
		return value.None, false
	}
	var ints []int
	for _, in := range v.Node().Inputs() {
		c, ok := in.Constant()
		if !ok || !c.IsInt() {
			return value.None, false
		}
		ints = append(ints, int(c.Int()))
	}
	return value.OfList(value.Ints(ints)), true
}

// reduce puts n, which reduces the result of a node of an open group and is the only one to read that, into the group, which ends. It
// reports whether it did; lists of constant ints that n reads are constants behind it.
func (f *fusion) reduce(n *ir.Node) bool {
	v := n.Input(0)
	g := f.of[v.Node()]
	if g == nil || len(v.Uses()) != 1 {
		return false
	}
	for i, in := range n.Inputs() {
		if list := in.Node(); list.Kind() == "prim::ListConstruct" {
			ints, _ := constant(in)
			old := f.g.SetInsertPoint(n)
			n.ReplaceInput(i, f.g.Constant(ints, list.Range))
			f.g.SetInsertPoint(old)
			if !in.HasUses() {
				list.Destroy()
			}
		}
	}
	if !g.takes(n) {
		return false
	}
	g.add(n)
	at := n.Next()
	if at == nil {
		at = n.Block().ReturnNode()
	}
	f.close(g, at)
	return true
}

// reducer runs a group that ends with a reduction: as one kernel, or the elementwise nodes as one and the reduction behind it.
type reducer struct {
	*runner // of the elementwise nodes; its last result is what is reduced
	how     aten.Reduction
	op      *ops.Operator
	operate autograd.Operation
	args    []value.Value              // of the reduction, but the first
	places  []int                      // which of the group's outputs the results are, the reduction's last
	reduced kept[uint64, aten.Reduced] // by types
}

func newReducer(r *runner, n *ir.Node) *reducer {
	d := &reducer{runner: r, op: n.Operator(), operate: autograd.OperationOf(n.Operator())}
	r.reducer = d
	d.how.Name = n.Operator().BaseName()
	for i, a := range n.Operator().Schema().Arguments[1:] {
		c, _ := constant(n.Input(i + 1))
		d.args = append(d.args, c)
		switch {
		case a.Name == "keepdim":
			d.how.Keep = c.Bool()
		case a.Name == "dim" && !c.IsNone():
			for _, x := range c.List().Items {
				d.how.Dims = append(d.how.Dims, int(x.Int()))
			}
		}
	}
	var results []*ir.Value
	for i, v := range r.results {
		if v != n.Output() {
			results, d.places = append(results, v), append(d.places, i)
		}
	}
	d.places = append(d.places, slices.Index(r.results, n.Output()))
	r.nodes, r.results = r.nodes[:len(r.nodes)-1], append(results, n.Input(0))
	return d
}

func (d *reducer) run(m *autograd.Mode, args, out []value.Value) bool {
	var tensorRoom [aten.MostFused]*tensor.Tensor
	var numberRoom [mostNumbers]tensor.Scalar
	if disabled.Load() {
		return false
	}
	tensors, numbers, k, ok := d.sorted(m, args, tensorRoom[:0], numberRoom[:0])
	switch {
	case !ok:
		return false
	case k.needs == 0 && d.atOnce(k, tensors, numbers, out):
		return true
	}
	var room [aten.MostFused]value.Value
	results := room[:len(d.results)]
	if !d.sumRecorded(m, k, tensors, numbers, results) {
		if !d.runOn(m, k, tensors, numbers, results) {
			return false
		}
		last := len(results) - 1
		if results[last], ok = d.finish(m, results[last].Tensor()); !ok {
			return false
		}
	}
	for i, at := range d.places {
		out[at] = results[i]
	}
	return true
}

// sums reports whether the reduction is a sum or a mean, whose gradient needs no elements.
func (d *reducer) sums() bool {
	return d.op.BaseName() == "aten::sum" || d.op.BaseName() == "aten::mean"
}

// given are the arguments of the reduction of t.
func (d *reducer) given(t *tensor.Tensor) []value.Value {
	return append([]value.Value{value.OfTensor(t)}, d.args...)
}

// sumRecorded runs the whole group as one kernel where gradients go through it.
func (d *reducer) sumRecorded(m *autograd.Mode, k kinds, tensors []*tensor.Tensor, numbers []tensor.Scalar, out []value.Value) bool {
	shape, err := aten.BroadcastAll(tensors)
	if err != nil || k.needs == 0 || !d.sums() {
		return false
	}
	r := d.recordedFor(k, shape, tensors, numbers)
	return r != nil && r.runSum(m, shape, tensors, numbers, out)
}

// finish runs the reduction of t alone. It reports false where that fails: the node itself tells why.
func (d *reducer) finish(m *autograd.Mode, t *tensor.Tensor) (reduced value.Value, ok bool) {
	out := make([]value.Value, 1)
	t.MarkTemporary()
	if d.operate(m, d.given(t), out) != nil {
		return value.None, false
	}
	switch {
	case out[0].Tensor() == t || !t.IsTemporary():
		t.UnmarkTemporary()
	default:
		autograd.Drop(t)
	}
	return out[0], true
}

// atOnce runs the whole group as one kernel.
func (d *reducer) atOnce(k kinds, tensors []*tensor.Tensor, numbers []tensor.Scalar, out []value.Value) bool {
	reduced, ok := d.reduced.find(k.types)
	if !ok {
		reduced = d.makeReduced(k.types, tensors, numbers)
	}
	var results [aten.MostFused]*tensor.Tensor
	if reduced == nil {
		return false
	}
	if !reduced.Run(tensors, numbers, results[:len(d.places)]) {
		d.tell("the reduction runs alone: the operands are no rows that lie side by side")
		return false
	}
	for i, at := range d.places {
		out[at] = value.OfTensor(results[i])
	}
	return true
}

// makeReduced finds out whether the group is one kernel for given types, and keeps the answer.
func (d *reducer) makeReduced(key uint64, tensors []*tensor.Tensor, numbers []tensor.Scalar) *aten.Reduced {
	reduced, _ := d.reduced.add(key, func() (reduced *aten.Reduced) {
		err := d.recordTwice(tensors, numbers, func(a, b recording) error {
			f, err := a.Steps(len(tensors), a.numbers, b.Recorder, b.numbers)
			if err != nil {
				return err
			}
			var values []int
			for _, t := range a.results {
				v, ok := a.Number(t)
				if !ok || v < len(tensors) {
					return source.Errorf(source.RuntimeError, d.node.Range, "a result is not computed")
				}
				values = append(values, v)
			}
			last := len(values) - 1
			reduced, err = f.Reduces(values[:last], values[last], d.how)
			return err
		})
		if err != nil {
			d.tell("the reduction runs alone: " + err.Error())
			return nil
		}
		return reduced
	})
	return reduced
}
