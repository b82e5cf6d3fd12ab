package autograd

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// BackwardPlan is a tape of operators of one result each that run on tensors without elements. From it a Group is made, which says how the
// operators are recorded where they run at once, and the gradients of the Group's parts are derived on it, by the derivatives that
// the operators have on the tape.
//
// Values are numbered: the inputs first, then the results of the steps.
type BackwardPlan struct {
	emitter BackwardEmitter
	inputs  int
	values  []*tensor.Tensor
	needs   []bool // of values: they require gradients
	steps   []sketchStep
}

// BackwardEmitter runs the operators of derivatives on the tensors of a BackwardPlan.
type BackwardEmitter interface {
	Emitter
	// SumTo gives what stands for the sum of g to the shape of like, which was broadcast.
	SumTo(g, like *tensor.Tensor) *tensor.Tensor
}

// sketchStep is an operator that has run.
type sketchStep struct {
	op       *ops.Operator
	name     string // of a node
	backward derivative
	args     []value.Value
	refs     []int // the values that the arguments are, -1 for those that are no tensors
	numbers  []int // which of the numbers of a call the arguments are, -1 for others
	recorded bool
}

// NewBackwardPlan begins a tape over inputs, of which some require gradients.
func NewBackwardPlan(e BackwardEmitter, inputs []*tensor.Tensor, needs []bool) *BackwardPlan {
	return &BackwardPlan{emitter: e, inputs: len(inputs), values: slices.Clone(inputs), needs: slices.Clone(needs)}
}

// Add records an operator that has run; numbers says which of the numbers of a call the arguments are, -1 for others. It fails where the
// operator's node is none that computes the gradients of the arguments from that of the result.
func (s *BackwardPlan) Add(op *ops.Operator, args []value.Value, numbers []int, out *tensor.Tensor) error {
	p := planOf(op)
	step := sketchStep{op: op, backward: p.backward, args: slices.Clone(args), numbers: numbers}
	for _, v := range args {
		ref := -1
		if v.IsTensor() {
			ref = slices.Index(s.values, v.Tensor())
		}
		step.refs = append(step.refs, ref)
		step.recorded = step.recorded || ref >= 0 && s.needs[ref]
	}
	step.recorded = step.recorded && !p.notDifferentiable
	if step.recorded && (p.backward == nil || p.writes || p.hasOut || p.shapeOnly || slices.Contains(s.values, out)) {
		return source.Errorf(source.RuntimeError, source.Range{}, "the gradient of %s is not computed in a kernel", op.Name)
	}
	if step.recorded {
		step.name = p.nodeName(args)
	}
	s.steps = append(s.steps, step)
	s.values = append(s.values, out)
	s.needs = append(s.needs, step.recorded && out.DType().IsDifferentiable())
	return nil
}

// node is what would have been recorded for a step.
func (s *BackwardPlan) node(i int) *Node {
	step := &s.steps[i]
	out := s.values[s.inputs+i]
	n := &Node{name: step.name, op: step.op.Name, backward: step.backward, args: step.args}
	n.out, n.outputs = []value.Value{value.OfTensor(out)}, []geometry{geometryOf(out)}
	for at, ref := range step.refs {
		if ref < 0 {
			continue
		}
		in := input{argument: at, element: -1, shape: s.values[ref].Shape(), dtype: s.values[ref].DType()}
		if s.needs[ref] {
			in.edge.node = n // anything
		}
		n.inputs = append(n.inputs, in)
	}
	return n
}

// Gradients derives the gradients of values from those of others, by number, through some steps. read is called with the values whose
// elements the derivative of a step reads.
func (s *BackwardPlan) Gradients(steps []int, grads []*tensor.Tensor, read func(step, value int)) (err error) {
	defer source.Catch(&err)
	for _, i := range slices.Backward(steps) {
		g := grads[s.inputs+i]
		if g == nil || !s.steps[i].recorded {
			continue
		}
		c := &gradient{Emitter: s.emitter, node: s.node(i), grads: []*tensor.Tensor{g}, read: map[slot]bool{}}
		c.run()
		for at, elements := range c.read {
			if !elements {
				continue
			}
			if at.output {
				read(i, s.inputs+i)
			} else {
				read(i, s.steps[i].refs[at.argument])
			}
		}
		accumulate(s.emitter, c, s.steps[i].refs, grads)
	}
	return nil
}

// accumulate adds what a derivative gave to the gradients of its arguments' values.
func accumulate(e Emitter, c *gradient, refs []int, grads []*tensor.Tensor) {
	for i, given := range c.given {
		if given == nil || given[0] == nil {
			continue
		}
		v := refs[c.node.inputs[i].argument]
		if before := grads[v]; before != nil {
			grads[v] = do(e, "add.Tensor", before, given[0])
		} else {
			grads[v] = given[0]
		}
	}
}
