package aten

import (
	"slices"

	"torchjit/gojit/kernel"
	"torchjit/gojit/kernel/launch"
	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
)

// Fused is elementwise operators that run as one kernel. Each element goes through the same operations as it would
// through the operators one by one, and gets the same bits.
type Fused struct {
	program *launch.Program
	inputs  int
	outputs []tensor.DType
	reach   []uint32 // the sets of inputs from which steps are computed
	params  []int    // which of the numbers that a run is given is each number of the kernel
}

// MostFused is how many tensors a Fused can read and write together.
const MostFused = tensor.MaxOperands

var errNotFused = source.Errorf(source.RuntimeError, source.Range{}, "the operators cannot run as one kernel")

// Fuse returns the recorded operators as one kernel that gives some of the results. Operands that are numbers[i] are
// given at each run. other is a recording of the same operators with other numbers: what differs in it otherwise has
// been computed from them. It fails on types and operations that are done one by one.
func (r *Recorder) Fuse(inputs int, results []*tensor.Tensor, numbers []tensor.Scalar, other *Recorder, others []tensor.Scalar) (*Fused, error) {
	f := &fusing{b: kernel.NewBuilder(), fused: &Fused{inputs: inputs}, params: map[paramKey]kernel.Value{}, numbers: numbers, others: others}
	if len(r.steps) != len(other.steps) || inputs+len(r.steps) != len(r.known) {
		return nil, errNotFused
	}
	stands := make([]tensor.DType, inputs)
	for t, i := range r.known {
		if i < inputs {
			stands[i] = t.DType()
		}
	}
	for i, d := range stands {
		if !fusible(d) {
			return nil, errNotFused
		}
		f.values = append(f.values, f.b.Input(d, kernel.ComputeType(d)))
		f.from = append(f.from, 1<<i)
	}
	for i := range r.steps {
		if err := f.step(&r.steps[i], &other.steps[i]); err != nil {
			return nil, err
		}
	}
	for _, t := range results {
		f.b.Output(f.values[r.known[t]], t.DType())
		f.fused.outputs = append(f.fused.outputs, t.DType())
	}
	k := f.b.Kernel()
	if dividesIntegers(k) {
		return nil, errNotFused
	}
	program, err := launch.ProgramOf(k)
	if err != nil {
		return nil, err
	}
	if !program.IsCompiled() && launch.Compiles() { // the operators that can be compiled are better off alone
		return nil, errNotFused
	}
	f.fused.program = program
	return f.fused, nil
}

// fusible reports whether elements of a type are computed with as they are stored.
func fusible(d tensor.DType) bool {
	return isElement(d) && !d.IsComplex() && kernel.ComputeType(d) == d
}

// dividesIntegers reports whether a kernel may fail.
func dividesIntegers(k *kernel.Kernel) bool {
	return slices.ContainsFunc(k.Instrs, func(in kernel.Instr) bool {
		switch in.Op {
		case kernel.Div, kernel.Rem, kernel.Mod, kernel.FloorDiv, kernel.Pow:
			return !in.Type.IsFloating()
		}
		return false
	})
}

// fusing is the state of one Fuse.
type fusing struct {
	b               *kernel.Builder
	fused           *Fused
	values          []kernel.Value // of inputs and results by number
	from            []uint32       // the inputs that they are computed from
	params          map[paramKey]kernel.Value
	numbers, others []tensor.Scalar
}

type paramKey struct {
	number int
	dtype  tensor.DType
}

func (f *fusing) step(s, other *step) error {
	if s.op != other.op || s.out != other.out || s.common != other.common || len(s.extras) != len(other.extras) || !fusible(s.out) || !fusible(s.common) {
		return errNotFused
	}
	computed := s.common
	if s.op.rule == logicType {
		computed = tensor.Bool
	}
	var x []kernel.Value
	var from uint32
	for i, o := range s.operands {
		switch {
		case o.index != other.operands[i].index:
			return errNotFused
		case o.index < 0:
			v, ok := f.number(o.number, other.operands[i].number, computed)
			if !ok {
				return errNotFused
			}
			x = append(x, v)
			continue
		}
		v := f.values[o.index]
		if s.op.rule != ownTypes {
			v = f.b.Convert(v, computed)
		}
		x, from = append(x, v), from|f.from[o.index]
	}
	extraType := computed
	if s.op.rule == realResult {
		extraType = computed.ToReal()
	}
	for i, extra := range s.extras {
		v, ok := f.number(extra, other.extras[i], extraType)
		if !ok {
			return errNotFused
		}
		x = append(x, v)
	}
	f.values = append(f.values, f.b.Convert(s.op.expr(f.b, x...), s.out))
	f.from = append(f.from, from)
	if !slices.Contains(f.fused.reach, from) {
		f.fused.reach = append(f.fused.reach, from)
	}
	return nil
}

// number makes a number: a constant where both recordings have the same, one of those that runs are given where they
// have these.
func (f *fusing) number(n, other tensor.Scalar, d tensor.DType) (kernel.Value, bool) {
	if n == other {
		return f.b.Const(d, n), true
	}
	for i := range f.numbers {
		if n != f.numbers[i] || other != f.others[i] {
			continue
		}
		key := paramKey{i, d}
		v, ok := f.params[key]
		if !ok {
			v = f.b.Param(d)
			f.params[key] = v
			f.fused.params = append(f.fused.params, i)
		}
		return v, true
	}
	return 0, false
}

// Run computes the results from tensors with data, of the types that were recorded, and from the numbers. ok is false,
// and nothing has been done, where a result would not have the shape and the layout of all: then the operators run
// one by one.
func (f *Fused) Run(inputs []*tensor.Tensor, numbers []tensor.Scalar, results []*tensor.Tensor) (ok bool) {
	shape, like, ok := f.layout(inputs)
	if !ok {
		return false
	}
	var room [MostFused]*tensor.Tensor
	tensors := room[:len(f.outputs)+len(inputs)]
	for i, d := range f.outputs {
		t, err := newLike(like, shape, d)
		if err != nil {
			return false
		}
		tensors[i], results[i] = t, t
	}
	copy(tensors[len(f.outputs):], inputs)
	var params [8]tensor.Scalar
	given := params[:0]
	for _, i := range f.params {
		given = append(given, numbers[i])
	}
	f.program.Run(tensors, given)
	return true
}

func newLike(like *tensor.Tensor, shape []int, d tensor.DType) (*tensor.Tensor, error) {
	if like == nil {
		return tensor.Empty(shape, d)
	}
	return tensor.EmptyFormat(like, d, tensor.PreserveFormat)
}

// layout returns the shape of all results, and the tensor that they lie like where that is not contiguous.
func (f *Fused) layout(inputs []*tensor.Tensor) (shape []int, like *tensor.Tensor, ok bool) {
	shape = inputs[0].Shape()
	same := true
	for _, t := range inputs[1:] {
		if tensor.SameShape(t.Shape(), shape) {
			continue
		}
		same = false
		wide, err := tensor.Broadcast(shape, t.Shape())
		if err != nil {
			return nil, nil, false
		}
		shape = wide
	}
	full := uint32(0)
	for i, t := range inputs {
		if !same && !tensor.SameShape(t.Shape(), shape) {
			continue
		}
		full |= 1 << i
		if !t.IsContiguous() && like == nil {
			like = t
		}
	}
	if like != nil && !layAlike(inputs, full, like) {
		return nil, nil, false
	}
	for _, from := range f.reach {
		if from&full != 0 {
			continue
		}
		if like != nil || !reaches(inputs, from, shape) {
			return nil, nil, false
		}
	}
	return shape, like, true
}

// layAlike reports whether the inputs of full shape lie like one of them, without gaps.
func layAlike(inputs []*tensor.Tensor, full uint32, like *tensor.Tensor) bool {
	for i, t := range inputs {
		if full>>i&1 != 0 && !slices.Equal(t.Strides(), like.Strides()) {
			return false
		}
	}
	return like.IsNonOverlappingAndDense()
}

// reaches reports whether a set of inputs, none of which has the whole shape, makes it together.
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
