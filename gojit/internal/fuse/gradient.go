package fuse

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// recorded runs a group whose run is recorded, for given types, needs of gradients and kinds of shapes.
type recorded struct {
	*runner
	key     recordedKey
	group   *autograd.Group
	stages  *elementwise.Schedule
	values  int
	output  []int           // which values the group gives
	memory  []int           // values that are in memory after a run, besides the inputs
	small   []int           // inputs that have the shape of the smaller results
	reduced *reduce.Reduced // with the sum of the last result instead of that; nil where there is none
	stored  []int           // the values that it stores besides
}

// recordedKey is the combination that a recorded is for: whole are the tensors that have the shape which all have together.
type recordedKey struct {
	kinds
	whole uint32
}

// cheap is how many instructions a value may take that is computed again for the gradient instead of kept: beyond that, memory is faster.
const cheap = 20

// mostValues bounds the values of a group and of its gradient.
const mostValues = 160

var errTwoShapes = source.Errorf(source.RuntimeError, source.Range{}, "no operand has the shape of the result")

// runRecorded is runOn where results are recorded.
func (r *runner) runRecorded(m *autograd.Mode, k kinds, tensors []*tensor.Tensor, numbers []tensor.Scalar, out []value.Value) bool {
	shape, err := elementwise.BroadcastAll(tensors)
	if err != nil {
		return false
	}
	d := r.recordedFor(k, shape, tensors, numbers)
	return d != nil && d.run(m, shape, tensors, numbers, out)
}

// recordedFor returns what runs the group for given operands, nil where nothing does.
func (r *runner) recordedFor(k kinds, shape []int, tensors []*tensor.Tensor, numbers []tensor.Scalar) *recorded {
	if tensor.InferenceInUse() && slices.ContainsFunc(tensors, (*tensor.Tensor).IsInference) {
		r.tell("an inference tensor is among them")
		return nil
	}
	key := recordedKey{kinds: k}
	for i, t := range tensors {
		if tensor.SameShape(t.Shape(), shape) {
			key.whole |= 1 << i
		}
	}
	d, ok := r.recorded.find(key)
	if !ok {
		d = r.makeRecorded(key, tensors, numbers)
	}
	return d
}

// makeRecorded finds out whether the group is differentiated in kernels, and keeps the answer.
func (r *runner) makeRecorded(key recordedKey, tensors []*tensor.Tensor, numbers []tensor.Scalar) *recorded {
	d, full := r.recorded.add(key, func() *recorded {
		d := &recorded{runner: r, key: key}
		if err := d.prepare(tensors, numbers); err != nil {
			r.tell("gradients: " + err.Error())
			return nil
		}
		return d
	})
	if full {
		r.tell("there are too many combinations of types with gradients")
	}
	return d
}

// prepare plans the kernels of the group and of its gradients.
func (d *recorded) prepare(tensors []*tensor.Tensor, numbers []tensor.Scalar) error {
	if d.key.whole == 0 {
		return errTwoShapes
	}
	s, err := d.sketch(tensors, likeNumbers(numbers, 1000003, 7), nil)
	defer s.close()
	if err != nil {
		return err
	}
	other, err := d.sketch(tensors, likeNumbers(numbers, 2000029, 11), nil)
	defer other.close()
	if err != nil {
		return err
	}
	forward, err := s.rec.Steps(len(tensors), s.numbers, other.rec, other.numbers)
	if err != nil {
		return err
	}
	grad := func(like *tensor.Tensor) (*tensor.Tensor, error) { return s.rec.InputOf(like.DType(), like.Shape()) }
	if d.group, err = s.tape.Group(s.outputs, grad); err != nil {
		return err
	}
	d.values, d.output = len(s.values), s.outputs
	if d.values > mostValues {
		return errTooLarge
	}
	for step := range d.values - len(tensors) {
		for _, v := range d.group.Refs(step) {
			if v >= 0 && v < len(tensors) && d.group.IsSmall(len(tensors)+step) && tensors[v].Dim() > 0 && !slices.Contains(d.small, v) {
				d.small = append(d.small, v)
			}
		}
	}
	if err = d.plan(forward, tensors, numbers, cheap); err != nil {
		err = d.plan(forward, tensors, numbers, tooDear-1)
	}
	return err
}

// plan plans the kernels where values that take fewer instructions than dear are computed again.
func (d *recorded) plan(forward *elementwise.Fused, tensors []*tensor.Tensor, numbers []tensor.Scalar, dear int) error {
	d.memory = slices.Clone(d.output)
	for _, level := range d.group.Levels {
		d.choose(forward, level, len(tensors), dear)
	}
	slices.Sort(d.memory)
	d.memory = slices.Compact(d.memory)
	for _, level := range d.group.Levels {
		p := &program{recorded: d, level: level, tensors: metaLike(tensors), numbers: append([]tensor.Scalar(nil), numbers...)}
		if v := p.variant(1<<len(level.Outs) - 1); v.err != nil {
			return v.err
		}
		level.Differentiate = p.differentiate
	}
	known := make([]bool, d.values)
	for i := range tensors {
		known[i] = true
	}
	var err error
	d.stages, err = forward.Schedule(d.memory, known)
	if err == nil && d.reducer != nil {
		d.planSum(forward)
	}
	return err
}

// planSum plans the kernel that sums the last result and does not store it, where no derivative reads that.
func (d *recorded) planSum(forward *elementwise.Fused) {
	last := d.output[len(d.output)-1]
	for _, level := range d.group.Levels {
		if slices.Contains(level.Saved, last) {
			return
		}
	}
	if d.reducer.sums() {
		d.stored = slices.DeleteFunc(slices.Clone(d.memory), func(v int) bool { return v == last })
		d.reduced, _ = reduce.NewReduced(forward, d.stored, last, d.reducer.how) // else it is stored
	}
}

var errTooLarge = source.Errorf(source.RuntimeError, source.Range{}, "too many operators")

// metaLike returns tensors without elements like others.
func metaLike(ts []*tensor.Tensor) (like []*tensor.Tensor) {
	for _, t := range ts {
		m, _ := tensor.EmptyMeta(t.Shape(), t.DType())
		like = append(like, m)
	}
	return like
}

// choose decides what a level's nodes keep of the values that derivatives read: what they would keep without the group, and of
// what only the kernels see that which is not computed again.
func (d *recorded) choose(forward *elementwise.Fused, level *autograd.Level, inputs, dear int) {
	level.Saved = nil
	for _, v := range level.Reads(1<<len(level.Outs) - 1) {
		if v < inputs || d.group.IsOutput(v) {
			level.Saved = append(level.Saved, v)
			continue
		}
		var users uint64
		for _, mask := range level.Readers(v) {
			users |= mask
		}
		if d.group.IsSmall(v) || d.cost(forward, level, v, users, inputs) > dear {
			level.Saved = append(level.Saved, v)
			d.memory = append(d.memory, v)
		}
	}
}

// tooDear is the cost of what cannot be computed.
const tooDear = 1 << 20

// cost is about how many instructions it takes to compute a value again from what is read whenever the gradients of some outs are
// wanted: nobody may have written that since.
func (d *recorded) cost(forward *elementwise.Fused, level *autograd.Level, v int, users uint64, inputs int) int {
	switch visible := v < inputs || d.group.IsOutput(v); {
	case visible && slices.ContainsFunc(level.Readers(v), func(mask uint64) bool { return users&^mask == 0 }):
		return 0
	case v < inputs:
		return tooDear
	case !visible && slices.Contains(level.Saved, v):
		return 0
	case d.group.IsSmall(v):
		return tooDear
	}
	total := forward.Cost(v - inputs)
	for _, u := range d.group.Refs(v - inputs) {
		if u >= 0 {
			total += d.cost(forward, level, u, users, inputs)
		}
	}
	return min(total, tooDear)
}

// run runs the kernels and records that.
func (d *recorded) run(m *autograd.Mode, shape []int, tensors []*tensor.Tensor, numbers []tensor.Scalar, out []value.Value) bool {
	var room [mostValues]*tensor.Tensor
	values := room[:d.values]
	copy(values, tensors)
	shapes := elementwise.Shapes{Whole: shape}
	for i, v := range d.small {
		if i == 0 {
			shapes.Small = tensors[v].Shape()
		} else if !tensor.SameShape(tensors[v].Shape(), shapes.Small) {
			d.tell("their shapes are of more than two kinds")
			return false
		}
	}
	if ok, err := d.stages.Run(values, &shapes, numbers); !ok || err != nil {
		d.tell("their shapes or layouts are of more than two kinds")
		return false
	}
	m.RecordGroup(d.group, values, numbers, shapes.Whole, shapes.Small)
	for i, v := range d.output {
		out[i] = value.OfTensor(values[v])
	}
	return true
}

// runSum runs the kernel that sums the last result, and records that. It reports false where there is none for the operands.
func (d *recorded) runSum(m *autograd.Mode, shape []int, tensors []*tensor.Tensor, numbers []tensor.Scalar, out []value.Value) bool {
	var made [elementwise.MostFused]*tensor.Tensor
	if d.reduced == nil || !d.reduced.Run(tensors, numbers, made[:len(d.stored)+1]) {
		return false
	}
	var room [mostValues]*tensor.Tensor
	values := room[:d.values]
	copy(values, tensors)
	for i, v := range d.stored {
		values[v] = made[i]
	}
	nodes, last := m.RecordGroup(d.group, values, numbers, shape, nil), len(d.output)-1
	for i, v := range d.output[:last] {
		out[i] = value.OfTensor(values[v])
	}
	sum, by := made[len(d.stored)], d.reducer
	d.group.RecordSum(nodes, d.output[last], by.op, by.given(d.group.Like(d.output[last])), by.how.Dims, by.how.Keep, sum)
	out[last] = value.OfTensor(sum)
	return true
}
