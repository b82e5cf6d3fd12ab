package autograd

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// oneByOne differentiates the steps as the nodes that they would have had, which it makes.
func (n *GroupNode) oneByOne(e *emitter, grads []*tensor.Tensor, present uint64, given []*tensor.Tensor) {
	g := n.of
	u := &unfolding{GroupNode: n, nodes: make([]*Node, len(g.steps)), values: make([]*tensor.Tensor, len(g.dtypes))}
	for i, v := range n.level.Saved {
		u.values[v] = n.SavedValue(i)
	}
	steps := n.level.Reaches(present)
	for _, i := range steps {
		u.nodes[i] = u.node(i, e.mode.records())
	}
	found := make([]*tensor.Tensor, len(g.dtypes))
	for i, v := range n.level.Outs {
		found[v] = grads[i]
	}
	for _, i := range slices.Backward(steps) {
		c := &gradient{Emitter: e, node: u.nodes[i], grads: []*tensor.Tensor{found[g.inputs+i]}}
		c.run()
		c.node.checkNaN(c.given)
		accumulate(e, c, g.steps[i].refs, found)
	}
	for i, v := range n.level.Ins {
		given[i] = found[v]
	}
}

// unfolding makes the nodes of steps.
type unfolding struct {
	*GroupNode
	nodes  []*Node // by step
	values []*tensor.Tensor
}

// node is what would have been recorded for a step. recorded says that its derivative is recorded: it holds what it keeps, and reads
// tensors with their histories.
func (u *unfolding) node(i int, recorded bool) *Node {
	g := u.of
	step, v := &g.steps[i], g.inputs+i
	reads := u.level.reads[slices.Index(u.level.Steps, i)]
	n := &Node{name: step.name, op: step.op.Name, backward: step.backward, args: slices.Clone(step.args),
		outputs: []geometry{{shape: u.shapeOf(v), dtype: g.dtypes[v]}}, sequence: sequence.Add(1)}
	u.nodes[i] = n
	for at, ref := range step.refs {
		if ref < 0 {
			if k := step.numbers[at]; k >= 0 {
				n.args[at] = value.OfScalar(u.Numbers[k])
			}
			continue
		}
		n.args[at] = value.OfTensor(u.tensor(ref, slices.Contains(reads, ref), recorded))
		in := input{argument: at, element: -1, dtype: g.dtypes[ref]}
		if ref >= g.inputs {
			in.shape = u.shapeOf(ref)
		}
		in.edge = u.edge(ref)
		if k := slices.Index(u.level.Ins, ref); k >= 0 {
			in.shape = u.inputs[k].shape
		}
		in.version = n.args[at].Tensor().Version()
		n.inputs = append(n.inputs, in)
	}
	out := u.tensor(v, slices.Contains(reads, v), recorded)
	n.out = []value.Value{value.OfTensor(out)}
	n.outputs[0].version = out.Version()
	if recorded {
		n.holds = true
		n.eachHeldArgument(hold)
		n.eachHeldResult(hold)
	}
	return n
}

// edge returns where the gradient of a value goes.
func (u *unfolding) edge(v int) edge {
	if k := slices.Index(u.level.Ins, v); k >= 0 {
		return u.inputs[k].edge
	}
	if v >= u.of.inputs && u.nodes[v-u.of.inputs] != nil {
		return edge{u.nodes[v-u.of.inputs], 0}
	}
	return edge{}
}

// tensor returns a value, without elements where these are not read. Where it is recorded it has a history.
func (u *unfolding) tensor(v int, read, recorded bool) *tensor.Tensor {
	if !read {
		var shape []int
		if v >= u.of.inputs {
			shape = u.shapeOf(v)
		}
		return must(tensor.EmptyMeta(shape, u.of.dtypes[v]))
	}
	t := u.compute(v)
	if !recorded || v < u.of.inputs || u.of.outputs[v] && slices.Contains(u.level.Saved, v) {
		return t
	}
	if e := u.edge(v); e.node != nil {
		t = t.Detach()
		t.SetHistory(&history{edge: e})
		_ = t.SetRequiresGrad(true) // as in the BackwardPlan
	}
	return t
}

// compute returns a value that is saved or computed from such.
func (u *unfolding) compute(v int) *tensor.Tensor {
	if u.values[v] == nil {
		step := &u.of.steps[v-u.of.inputs]
		args := slices.Clone(step.args)
		for at, ref := range step.refs {
			switch {
			case ref >= 0:
				args[at] = value.OfTensor(u.compute(ref))
			case step.numbers[at] >= 0:
				args[at] = value.OfScalar(u.Numbers[step.numbers[at]])
			}
		}
		var out [1]value.Value
		succeed(step.op.Run(args, out[:]))
		out[0].Tensor().Retain()
		u.values[v] = out[0].Tensor()
	}
	return u.values[v]
}
