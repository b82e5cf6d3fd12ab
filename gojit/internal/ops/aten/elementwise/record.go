package elementwise

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Recorder finds out what elementwise operators do to elements of given types, by running them on tensors without
// data: the operators choose their expressions, and it notes which.
type Recorder struct {
	known map[*tensor.Tensor]int // inputs and results, by number
	steps []step
}

// step is an elementwise operator that has run: its operands are inputs, results of steps before or numbers. One without an
// operator is a sum to the shape of the value like, which one without operands has too.
type step struct {
	op       *Operator
	like     int
	operands []recorded
	extras   []tensor.Scalar
	common   tensor.DType
	out      tensor.DType
}

// recorded is an operand: the number of an input or result, or -1 and a number.
type recorded struct {
	index  int
	dtype  tensor.DType
	number tensor.Scalar
}

// recorders finds the Recorder of a tensor; recording says how many there are.
var (
	recorders sync.Map // *Recorder by *tensor.Tensor
	recording atomic.Int32
)

// NewRecorder returns one without inputs. Close must be called.
func NewRecorder() *Recorder {
	recording.Add(1)
	return &Recorder{known: map[*tensor.Tensor]int{}}
}

// Close ends the recording.
func (r *Recorder) Close() {
	for t := range r.known {
		recorders.Delete(t)
	}
	recording.Add(-1)
}

// Input returns what stands for a tensor of an element type, or for a single element.
func (r *Recorder) Input(d tensor.DType, single bool) (*tensor.Tensor, error) {
	shape := []int{1}
	if single {
		shape = nil
	}
	return r.InputOf(d, shape)
}

// InputOf is Input with a shape: see kindOf.
func (r *Recorder) InputOf(d tensor.DType, shape []int) (*tensor.Tensor, error) {
	t, err := tensor.EmptyMeta(shape, d)
	if err == nil {
		r.learn(t)
	}
	return t, err
}

// Number returns the number of an input or of what a step gave.
func (r *Recorder) Number(t *tensor.Tensor) (int, bool) {
	i, ok := r.known[t]
	return i, ok
}

// Sum records that a value is summed to the shape of another one.
func (r *Recorder) Sum(t, like *tensor.Tensor) (*tensor.Tensor, error) {
	at, known := r.known[t]
	as, alsoKnown := r.known[like]
	if !known || !alsoKnown {
		return nil, ErrNotFused
	}
	out, err := tensor.EmptyMeta(like.Shape(), t.DType())
	if err != nil {
		return nil, err
	}
	r.steps = append(r.steps, step{like: as, operands: []recorded{{index: at, dtype: t.DType()}}, common: t.DType(), out: t.DType()})
	r.learn(out)
	return out, nil
}

// NoteFill records that out, which has the shape of like, is filled with a number.
func NoteFill(out, like *tensor.Tensor, s tensor.Scalar) {
	if r := recorderOf(like); r != nil {
		r.steps = append(r.steps, step{op: filledWith, like: r.known[like], extras: []tensor.Scalar{s}, common: out.DType(), out: out.DType()})
		r.learn(out)
	}
}

// NoteConversion records that out is t with elements of another type.
func NoteConversion(out, t *tensor.Tensor) *tensor.Tensor {
	if r := recorderOf(t); r != nil {
		from := []recorded{{index: r.known[t], dtype: t.DType()}}
		r.steps = append(r.steps, step{op: converted, operands: from, common: t.DType(), out: out.DType()})
		r.learn(out)
	}
	return out
}

// recorderOf returns the Recorder that knows a tensor without data, nil where there is none.
func recorderOf(t *tensor.Tensor) *Recorder {
	if recording.Load() == 0 {
		return nil
	}
	if found, ok := recorders.Load(t); ok {
		return found.(*Recorder)
	}
	return nil
}

// What fills and converts is recorded as.
var (
	filledWith = New("fill", ops.SameType, func(_ Builder, x ...Element) Element { return x[0] })
	converted  = New("to", ops.OwnTypes, func(_ Builder, x ...Element) Element { return x[0] })
)

func (r *Recorder) learn(t *tensor.Tensor) {
	r.known[t] = len(r.known)
	recorders.Store(t, r)
}

// Apply runs an operator of one result. It fails where the operator does, and where it does more than apply one
// expression to each element.
func (r *Recorder) Apply(op *ops.Operator, args []value.Value) (*tensor.Tensor, error) {
	before := len(r.steps)
	var out [1]value.Value
	if err := op.Run(args, out[:]); err != nil {
		return nil, err
	}
	if out[0].IsTensor() && len(r.steps) == before+1 {
		if _, ok := r.known[out[0].Tensor()]; ok {
			return out[0].Tensor(), nil
		}
	}
	return nil, source.Errorf(source.RuntimeError, source.Range{}, "%s is no elementwise operator of its arguments", op.Name)
}

// note records an operator that runs on tensors without data, if they are those of a Recorder.
func (p *Operator) note(out *tensor.Tensor, operands []Operand, extras []tensor.Scalar, common tensor.DType) {
	if recording.Load() == 0 {
		return
	}
	var r *Recorder
	for i := range operands {
		if found, ok := recorders.Load(operands[i].Tensor); ok {
			r = found.(*Recorder)
		}
	}
	if r == nil {
		return
	}
	s := step{op: p, extras: slices.Clone(extras), common: common, out: out.DType()}
	for i := range operands {
		o := recorded{index: -1, number: operands[i].Number}
		if t := operands[i].Tensor; t != nil {
			index, ok := r.known[t]
			o.index, o.dtype = index, t.DType()
			if !ok {
				number, err := numberOf(t)
				if err != nil || p.rule != ops.OwnTypes {
					return // something else was done to an operand
				}
				o.index, o.number = -1, number
			}
		}
		s.operands = append(s.operands, o)
	}
	r.steps = append(r.steps, s)
	r.learn(out)
}

// numberOf returns the only element of a tensor with data and without dimensions.
func numberOf(t *tensor.Tensor) (tensor.Scalar, error) {
	if define.IsMeta(t) || t.Dim() != 0 {
		return tensor.Scalar{}, ErrNotFused
	}
	return t.Item()
}
