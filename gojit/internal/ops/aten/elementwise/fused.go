package elementwise

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Fused is elementwise operators that run as one kernel, or as one for each shape that results have. Each element goes
// through the same operations as it would through the operators one by one, and gets the same bits.
type Fused struct {
	Steps   []fusedStep
	Inputs  []tensor.DType
	kinds   []shapeKind // of the values, inputs first and then the steps' results
	results []int       // which values are given
	whole   *Part       // all steps
	mu      sync.Mutex
	parts   map[uint32]*Part // by the set of steps
}

// fusedStep is an elementwise operator whose operands are values of the Fused or numbers, or where op is nil the sum of its
// operand to the shape of the value like.
type fusedStep struct {
	op       *Operator
	like     int
	operands []fusedOperand
	extras   []fusedNumber
	common   tensor.DType
	out      tensor.DType
	reach    uint32 // the inputs that it is computed from
}

// fusedOperand is a value by its number, or where that is -1 a number.
type fusedOperand struct {
	value  int
	number fusedNumber
	dtype  tensor.DType // of a number that was a tensor
}

// fusedNumber is a constant, or where index is not -1 one of the numbers that a run is given.
type fusedNumber struct {
	constant tensor.Scalar
	index    int
}

// MostFused is how many tensors a Fused can read and write together.
const MostFused = tensor.MaxOperands

// MostSteps is how many operators a Fused can have.
const MostSteps = 32

var ErrNotFused = source.Errorf(source.RuntimeError, source.Range{}, "the operators cannot run as one kernel")

// Fuse returns the recorded operators as one that gives some of the results. Operands that are numbers[i] are
// given at each run. other is a recording of the same operators with other numbers: what differs in it otherwise has
// been computed from them. It fails on types and operations that are done one by one.
func (r *Recorder) Fuse(inputs int, results []*tensor.Tensor, numbers []tensor.Scalar, other *Recorder, others []tensor.Scalar) (
	*Fused, error) {
	if len(r.steps) > MostSteps {
		return nil, ErrNotFused
	}
	f, err := r.Steps(inputs, numbers, other, others)
	if err != nil {
		return nil, err
	}
	for _, t := range results {
		f.results = append(f.results, r.known[t])
	}
	f.whole, err = f.part(f.all())
	return f, err
}

// Steps is Fuse for those who choose later what is computed of what: see Schedule.
func (r *Recorder) Steps(inputs int, numbers []tensor.Scalar, other *Recorder, others []tensor.Scalar) (*Fused, error) {
	if len(r.steps) != len(other.steps) || inputs+len(r.steps) != len(r.known) {
		return nil, ErrNotFused
	}
	f, stood := &Fused{Inputs: make([]tensor.DType, inputs), parts: map[uint32]*Part{}}, make([]*tensor.Tensor, len(r.known))
	for t, i := range r.known {
		if stood[i] = t; i < inputs {
			f.Inputs[i] = t.DType()
		}
	}
	if slices.ContainsFunc(f.Inputs, func(d tensor.DType) bool { return !fusible(d) }) {
		return nil, ErrNotFused
	}
	n := numbering{numbers, others}
	for i := range r.steps {
		s, ok := n.step(&r.steps[i], &other.steps[i])
		if !ok {
			return nil, ErrNotFused
		}
		for _, o := range s.operands {
			s.reach |= f.reach(o.value)
		}
		f.Steps = append(f.Steps, s)
	}
	f.findKinds(stood)
	return f, nil
}

// all is the set of all steps.
func (f *Fused) all() uint32 { return 1<<len(f.Steps) - 1 }

// reach returns the inputs that a value is computed from.
func (f *Fused) reach(value int) uint32 {
	switch {
	case value < 0:
		return 0
	case value < len(f.Inputs):
		return 1 << value
	}
	return f.Steps[value-len(f.Inputs)].reach
}

// Dtype returns the element type of a value.
func (f *Fused) Dtype(value int) tensor.DType {
	if value < len(f.Inputs) {
		return f.Inputs[value]
	}
	return f.Steps[value-len(f.Inputs)].out
}

// fusible reports whether elements of a type are computed with as they are stored.
func fusible(d tensor.DType) bool {
	return IsElement(d) && !d.IsComplex() && kernel.ComputeType(d) == d
}

// numbering finds the numbers of a run in two recordings.
type numbering struct{ numbers, others []tensor.Scalar }

func (n *numbering) step(s, other *step) (f fusedStep, ok bool) {
	alike := s.op == other.op && s.like == other.like && s.out == other.out && s.common == other.common && len(s.extras) == len(other.extras)
	if !alike || !fusible(s.out) || !fusible(s.common) {
		return f, false
	}
	f = fusedStep{op: s.op, like: s.like, common: s.common, out: s.out}
	for i, o := range s.operands {
		operand := fusedOperand{value: o.index, dtype: o.dtype}
		if o.index != other.operands[i].index {
			return f, false
		}
		if o.index < 0 {
			if operand.number, ok = n.number(o.number, other.operands[i].number); !ok {
				return f, false
			}
		}
		f.operands = append(f.operands, operand)
	}
	for i, extra := range s.extras {
		number, ok := n.number(extra, other.extras[i])
		if !ok {
			return f, false
		}
		f.extras = append(f.extras, number)
	}
	return f, true
}

// number is a constant where both recordings have the same, one of those that runs are given where they have these.
func (n *numbering) number(x, other tensor.Scalar) (fusedNumber, bool) {
	if x == other {
		return fusedNumber{constant: x, index: -1}, true
	}
	for i := range n.numbers {
		if x == n.numbers[i] && other == n.others[i] {
			return fusedNumber{index: i}, true
		}
	}
	return fusedNumber{}, false
}

// Run computes the results from tensors with data, of the types that were recorded, and from the numbers. ok is false,
// and nothing has been done, where the operators run one by one: their shapes or layouts are of more than a few kinds.
func (f *Fused) Run(inputs []*tensor.Tensor, numbers []tensor.Scalar, results []*tensor.Tensor) (ok bool) {
	shape, err := BroadcastAll(inputs)
	if err != nil {
		return false
	}
	small := f.Small(inputs, shape)
	if small == 0 {
		var room [MostFused]*tensor.Tensor
		operands := room[:len(f.results)+len(inputs)]
		for i, v := range f.whole.Reads {
			operands[len(f.results)+i] = inputs[v]
		}
		if !f.whole.run(f, operands, shape, numbers) {
			return false
		}
		for i, v := range f.results {
			results[i] = operands[slices.Index(f.whole.Gives, v)]
		}
		return true
	}
	return f.runParts(small, inputs, shape, numbers, results)
}

// Small returns the steps whose results are smaller than a shape.
func (f *Fused) Small(inputs []*tensor.Tensor, shape []int) (small uint32) {
	full := uint32(0)
	for i, t := range inputs {
		if tensor.SameShape(t.Shape(), shape) {
			full |= 1 << i
		}
	}
	if full == 1<<len(inputs)-1 {
		return 0
	}
	for i := range f.Steps {
		if reach := f.Steps[i].reach; reach&full == 0 && !reaches(inputs, reach, shape) {
			small |= 1 << i
		}
	}
	return small
}

// runParts runs the steps with smaller results as a kernel of their own, before the others.
func (f *Fused) runParts(small uint32, inputs []*tensor.Tensor, shape []int, numbers []tensor.Scalar, results []*tensor.Tensor) bool {
	first, err := f.part(small)
	if err != nil {
		return false
	}
	second, err := f.part(f.all() &^ small)
	if err != nil {
		return false
	}
	var room [MostFused + MostSteps]*tensor.Tensor
	values := room[:len(f.Inputs)+len(f.Steps)]
	copy(values, inputs)
	within, err := BroadcastAll(first.operands(values)[len(first.Gives):])
	if err != nil || !f.alike(small, inputs, within) || !first.runOn(f, values, within, numbers) || !second.runOn(f, values, shape, numbers) {
		return false
	}
	for i, v := range f.results {
		results[i] = values[v]
	}
	return true
}

// alike reports whether all steps of a set give results of one shape.
func (f *Fused) alike(steps uint32, inputs []*tensor.Tensor, shape []int) bool {
	for ; steps != 0; steps &= steps - 1 {
		if !reaches(inputs, f.Steps[bits.TrailingZeros32(steps)].reach, shape) {
			return false
		}
	}
	return true
}

// BroadcastAll returns the shape that tensors have together.
func BroadcastAll(ts []*tensor.Tensor) ([]int, error) {
	shape := ts[0].Shape()
	for _, t := range ts[1:] {
		if tensor.SameShape(t.Shape(), shape) {
			continue
		}
		wide, err := tensor.Broadcast(shape, t.Shape())
		if err != nil {
			return nil, err
		}
		shape = wide
	}
	return shape, nil
}

// reaches reports whether a set of inputs has a shape together.
func reaches(inputs []*tensor.Tensor, from uint32, shape []int) bool {
	var wide []int
	for i, t := range inputs {
		if from>>i&1 == 0 {
			continue
		}
		var err error
		if wide, err = tensor.Broadcast(wide, t.Shape()); err != nil {
			return false
		}
	}
	return tensor.SameShape(wide, shape)
}
