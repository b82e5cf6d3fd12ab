package autograd

import (
	"math/bits"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Group says how operators that run at once are recorded: as few nodes. Results that others of the group's results are computed from
// have nodes of their own, so that gradients arrive at them as they would without the group.
type Group struct {
	inputs  int
	steps   []sketchStep // args without tensors
	needs   []bool       // of values, as in the BackwardPlan
	dtypes  []tensor.DType
	shapes  []valueShape
	likes   []*tensor.Tensor // what stood for the values in the BackwardPlan
	outputs []bool           // of values: results of the group
	Levels  []*Level
}

// valueShape says which of a call's shapes a value has.
type valueShape uint8

const (
	wholeShape valueShape = iota
	smallShape
	singleShape
)

// Level is the steps of one node.
type Level struct {
	Steps, Ins, Outs []int // values: where gradients go to, where they come from
	Saved            []int // the values that a node keeps; chosen by who runs the group
	// Differentiate computes the gradients of Ins from those of Outs, nil for zero, where it can.
	Differentiate func(n *GroupNode, present uint64, grads, given []*tensor.Tensor) (ok bool, err error)

	reach []uint64 // of Steps: the Outs that are computed from their results
	reads [][]int  // of Steps: the values whose elements their derivatives read
}

// MostOuts bounds the results of a level.
const MostOuts = 64

// Group finds out how the steps are recorded whose results with some numbers are given to others. grad makes what stands for the
// gradient of a value.
func (s *BackwardPlan) Group(outputs []int, grad func(like *tensor.Tensor) (*tensor.Tensor, error)) (*Group, error) {
	g := &Group{inputs: s.inputs, needs: s.needs, likes: s.values, outputs: make([]bool, len(s.values))}
	for _, v := range outputs {
		g.outputs[v] = true
	}
	for _, t := range s.values {
		shape := wholeShape
		switch {
		case t.Dim() == 0:
			shape = singleShape
		case t.Numel() == 1:
			shape = smallShape
		}
		g.dtypes, g.shapes = append(g.dtypes, t.DType()), append(g.shapes, shape)
	}
	level := s.levels(g.outputs)
	for i := range s.steps {
		step := s.steps[i]
		step.args = slices.Clone(step.args)
		for at, ref := range step.refs {
			if ref >= 0 {
				step.args[at] = value.None
			}
		}
		g.steps = append(g.steps, step)
		if l := level[s.inputs+i]; l >= 0 {
			for len(g.Levels) <= l {
				g.Levels = append(g.Levels, &Level{})
			}
			g.Levels[l].Steps = append(g.Levels[l].Steps, i)
		}
	}
	for l, at := range g.Levels {
		g.bound(at, l, level)
		if len(at.Outs) > MostOuts {
			return nil, source.Errorf(source.RuntimeError, source.Range{}, "more than %d results", MostOuts)
		}
		if err := s.explore(at, grad); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// levels numbers the nodes by values: each value's is behind those of the results that it is computed from; -1 where it has none.
func (s *BackwardPlan) levels(outputs []bool) []int {
	level := make([]int, len(s.values))
	for v := range level {
		level[v] = -1
		if v < s.inputs || !s.needs[v] {
			continue
		}
		level[v] = 0
		for _, ref := range s.steps[v-s.inputs].refs {
			if ref < s.inputs || !s.needs[ref] {
				continue
			}
			before := level[ref]
			if outputs[ref] {
				before++
			}
			level[v] = max(level[v], before)
		}
	}
	return level
}

// bound finds the values that gradients of a level's steps come from and go to.
func (g *Group) bound(at *Level, l int, level []int) {
	for _, i := range at.Steps {
		for _, ref := range g.steps[i].refs {
			if ref >= 0 && g.needs[ref] && (ref < g.inputs || level[ref] != l) && !slices.Contains(at.Ins, ref) {
				at.Ins = append(at.Ins, ref)
			}
		}
		v := g.inputs + i
		crosses := false
		for j := range g.steps {
			if g.steps[j].recorded && level[g.inputs+j] > l && slices.Contains(g.steps[j].refs, v) {
				crosses = true
			}
		}
		if g.outputs[v] || crosses {
			at.Outs = append(at.Outs, v)
		}
	}
	at.reach, at.reads = make([]uint64, len(at.Steps)), make([][]int, len(at.Steps))
	for k, i := range slices.Backward(at.Steps) {
		if out := slices.Index(at.Outs, g.inputs+i); out >= 0 {
			at.reach[k] |= 1 << out
		}
		for _, ref := range g.steps[i].refs {
			if j := slices.Index(at.Steps, ref-g.inputs); j >= 0 {
				at.reach[j] |= at.reach[k]
			}
		}
	}
}

// explore finds out what the derivatives of a level's steps read.
func (s *BackwardPlan) explore(at *Level, grad func(like *tensor.Tensor) (*tensor.Tensor, error)) error {
	grads := make([]*tensor.Tensor, len(s.values))
	for _, v := range at.Outs {
		g, err := grad(s.values[v])
		if err != nil {
			return err
		}
		grads[v] = g
	}
	return s.Gradients(at.Steps, grads, func(step, v int) {
		k := slices.Index(at.Steps, step)
		if !slices.Contains(at.reads[k], v) {
			at.reads[k] = append(at.reads[k], v)
		}
	})
}

// Refs returns the values that a step is computed from.
func (g *Group) Refs(step int) []int { return g.steps[step].refs }

// IsOutput reports whether a value is a result of the group.
func (g *Group) IsOutput(v int) bool { return g.outputs[v] }

// Like returns what stood for a value in the BackwardPlan.
func (g *Group) Like(v int) *tensor.Tensor { return g.likes[v] }

// IsSmall reports whether a value has not the shape that all inputs broadcast to.
func (g *Group) IsSmall(v int) bool { return g.shapes[v] != wholeShape }

// Readers returns the outs whose gradients have the elements of a value read; each of the masks is of one step.
func (l *Level) Readers(v int) (masks []uint64) {
	for k, reads := range l.reads {
		if slices.Contains(reads, v) {
			masks = append(masks, l.reach[k])
		}
	}
	return masks
}

// Reads returns the values that are read where the gradients of some outs are given.
func (l *Level) Reads(present uint64) (values []int) {
	for k, reads := range l.reads {
		if l.reach[k]&present == 0 {
			continue
		}
		for _, v := range reads {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	slices.Sort(values)
	return values
}

// Reaches returns the steps that the gradients of some outs pass through.
func (l *Level) Reaches(present uint64) (steps []int) {
	for k, i := range l.Steps {
		if l.reach[k]&present != 0 {
			steps = append(steps, i)
		}
	}
	return steps
}

// GroupNode is the record of one run of a level.
type GroupNode struct {
	Node
	level        *Level
	of           *Group
	Numbers      []tensor.Scalar
	Whole, Small []int // shapes: what all inputs broadcast to, and that of smaller results
	versions     []int // of what is saved
	spent        uint64
}

// RecordGroup makes the nodes of a run of a group, each of which is called what that of its last step would be. values has the inputs
// and, of the steps' results, those in memory, by number. What is neither input nor result is the nodes' from now on.
func (m *Mode) RecordGroup(g *Group, values []*tensor.Tensor, numbers []tensor.Scalar, whole, small []int) []*GroupNode {
	shared := GroupNode{Numbers: append([]tensor.Scalar(nil), numbers...)}
	shared.Whole, shared.Small = append([]int(nil), whole...), append([]int(nil), small...)
	var before []*GroupNode
	for _, l := range g.Levels {
		n := &GroupNode{level: l, of: g, Numbers: shared.Numbers, Whole: shared.Whole, Small: shared.Small}
		n.group, n.backward, n.name = n, differentiateGroup, g.steps[l.Steps[len(l.Steps)-1]].name
		n.inputs = make([]input, len(l.Ins))
		for i, v := range l.Ins {
			n.inputs[i] = n.input(i, v, values[v], before)
		}
		n.save(values)
		n.sequence = sequence.Add(1)
		n.outputs = make([]geometry, len(l.Outs))
		for i, v := range l.Outs {
			n.outputs[i] = geometry{shape: n.shapeOf(v), dtype: g.dtypes[v]}
			if g.outputs[v] && values[v] != nil {
				values[v].SetHistory(&history{edge: edge{&n.Node, i}})
				_ = values[v].SetRequiresGrad(true) // the type was checked
			}
		}
		before = append(before, n)
	}
	for v := g.inputs; v < len(values); v++ {
		if values[v] != nil && !g.outputs[v] {
			values[v].GiveUp()
		}
	}
	return before
}

// RecordSum records that out is the sum over some dimensions, none meaning all, of a result of a group that is not in memory, or the mean.
// nodes are those of the group's run.
func (g *Group) RecordSum(nodes []*GroupNode, v int, op *ops.Operator, args []value.Value, dims []int, keep bool, out *tensor.Tensor) {
	for _, from := range nodes {
		at := slices.Index(from.level.Outs, v)
		if at < 0 {
			continue
		}
		n := &Node{op: op.Name, args: args, outputs: []geometry{geometryOf(out)}, sequence: sequence.Add(1), name: planOf(op).nodeName(args)}
		n.inputs = []input{{argument: 0, element: -1, edge: edge{&from.Node, at}, shape: from.shapeOf(v), dtype: g.dtypes[v]}}
		n.backward = func(c *gradient) {
			shape := c.node.inputs[0].shape
			spread := c.g()
			if !keep && len(shape) > 0 {
				spread = c.do("reshape", spread, ops.KeptSizes(shape, dims))
			}
			if op.BaseName() == aten.Mean {
				spread = c.do("div.Scalar", spread, ops.ReducedCount(shape, dims))
			}
			c.Give(0, c.do("expand", spread, shape))
		}
		out.SetHistory(&history{edge: edge{n, 0}})
		_ = out.SetRequiresGrad(true) // as the result does
	}
}

// input is the i-th of a node's: t where the value is in memory for others, else a result of a node before.
func (n *GroupNode) input(i, v int, t *tensor.Tensor, before []*GroupNode) input {
	if v < n.of.inputs || n.of.outputs[v] {
		return newInput(t, i, -1)
	}
	for _, b := range before {
		if at := slices.Index(b.level.Outs, v); at >= 0 {
			return input{argument: i, element: -1, edge: edge{&b.Node, at}, shape: n.shapeOf(v), dtype: n.of.dtypes[v]}
		}
	}
	panic("autograd: a value of a group has no node")
}

// shapeOf returns the shape of what a step gives.
func (n *GroupNode) shapeOf(v int) []int {
	switch n.of.shapes[v] {
	case wholeShape:
		return n.Whole
	case smallShape:
		return n.Small
	}
	return nil
}

// InputShape returns the shape of the i-th value that gradients go to.
func (n *GroupNode) InputShape(i int) []int { return n.inputs[i].shape }

// SavedValue returns the i-th value that is saved.
func (n *GroupNode) SavedValue(i int) *tensor.Tensor { return n.args[i].Tensor() }

// save keeps what the level saves.
func (n *GroupNode) save(values []*tensor.Tensor) {
	n.args, n.versions = make([]value.Value, len(n.level.Saved)), make([]int, len(n.level.Saved))
	for i, v := range n.level.Saved {
		n.args[i], n.versions[i] = value.OfTensor(values[v]), values[v].Version()
	}
	n.holds = true
	n.eachHeldArgument(hold)
}

func differentiateGroup(c *gradient) { c.node.group.differentiate(c) }

func (n *GroupNode) differentiate(c *gradient) {
	present := presentOf(c.grads)
	n.check(present)
	given := make([]*tensor.Tensor, len(n.inputs))
	e := c.Emitter.(*emitter)
	if !n.atOnce(e, c.grads, present, given) {
		n.oneByOne(e, c.grads, present, given)
	}
	c.given = make([][]*tensor.Tensor, len(given))
	for i, g := range given {
		if g != nil {
			c.given[i] = given[i : i+1]
		}
	}
}

func presentOf(grads []*tensor.Tensor) (present uint64) {
	for i, g := range grads {
		if g != nil {
			present |= 1 << i
		}
	}
	return present
}

// check fails where what is read for some gradients was let go or written.
func (n *GroupNode) check(present uint64) {
	for k, reads := range n.level.reads {
		if n.level.reach[k]&present == 0 {
			continue
		}
		if n.level.reach[k]&n.spent != 0 && len(reads) > 0 {
			succeed(errReleased)
		}
		for _, v := range reads {
			if i := slices.Index(n.level.Saved, v); i >= 0 {
				made := edgeOfMaker(n.SavedValue(i))
				if at := slices.Index(n.level.Outs, v); at >= 0 {
					made = edge{&n.Node, at}
				}
				checkSaved(n.SavedValue(i), n.versions[i], made)
			}
		}
	}
}

// spend says that what is read for some gradients is not needed any more.
func (n *GroupNode) spend(grads []*tensor.Tensor) {
	n.spent |= presentOf(grads)
	for k, reads := range n.level.reads {
		if len(reads) > 0 && n.level.reach[k]&n.spent == 0 {
			return
		}
	}
	n.letGo()
	n.args = nil
}

// atOnce runs the kernels of the level's gradient. It reports false, and does nothing, where the steps are differentiated one by one: the
// derivatives are recorded, or are not those of plain tensors.
func (n *GroupNode) atOnce(e *emitter, grads []*tensor.Tensor, present uint64, given []*tensor.Tensor) bool {
	m := e.mode
	if m.records() || m.IsCasting() || anomaly.Load() != nil || n.level.Differentiate == nil || bits.OnesCount64(present) == 0 {
		return false
	}
	for i, g := range grads {
		if g != nil && (g.Device().Type != tensor.CPU || !m.OnlyComputes(g) || g.DType() != n.outputs[i].dtype) {
			return false
		}
	}
	ok, err := n.level.Differentiate(n, present, grads, given)
	succeed(err)
	if ok && e.made != nil {
		for _, g := range given {
			if g != nil && !slices.Contains(grads, g) {
				e.made[g] = true
			}
		}
	}
	return ok
}
