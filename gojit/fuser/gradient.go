package fuser

import (
	"slices"
	"sync"
	"sync/atomic"

	"torchjit/gojit/autograd"
	"torchjit/gojit/ir"
	"torchjit/gojit/ops"
	"torchjit/gojit/ops/aten"
	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// recorded runs a group whose run is recorded, for given types, needs of gradients and kinds of shapes.
type recorded struct {
	*runner
	key    recordedKey
	group  *autograd.Group
	stages *aten.Stages
	values int
	output []int // which values the group gives
	memory []int // values that are in memory after a run, besides the inputs
	small  []int // inputs that have the shape of the smaller results
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
	shape, err := aten.BroadcastAll(tensors)
	if err != nil {
		return false
	}
	if tensor.InferenceInUse() && slices.ContainsFunc(tensors, (*tensor.Tensor).IsInference) {
		r.tell("an inference tensor is among them")
		return false
	}
	key := recordedKey{kinds: k}
	for i, t := range tensors {
		if tensor.SameShape(t.Shape(), shape) {
			key.whole |= 1 << i
		}
	}
	d, ok := r.findRecorded(key)
	if !ok {
		d = r.makeRecorded(key, tensors, numbers)
	}
	return d != nil && d.run(m, shape, tensors, numbers, out)
}

func (r *runner) findRecorded(key recordedKey) (*recorded, bool) {
	if known := r.recorded.Load(); known != nil {
		for _, d := range *known {
			if d.key == key {
				if d.stages == nil {
					return nil, true
				}
				return d, true
			}
		}
	}
	return nil, false
}

// makeRecorded finds out whether the group is differentiated in kernels, and keeps the answer.
func (r *runner) makeRecorded(key recordedKey, tensors []*tensor.Tensor, numbers []tensor.Scalar) *recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d, ok := r.findRecorded(key); ok {
		return d
	}
	var all []*recorded
	if known := r.recorded.Load(); known != nil {
		all = append(all, *known...)
	}
	if len(all) == mostKinds {
		logf("%s: more than %d combinations of types with gradients", r.node.Range, mostKinds)
		return nil
	}
	d := &recorded{runner: r, key: key}
	if err := d.prepare(tensors, numbers); err != nil {
		r.tell("gradients: " + err.Error())
		d.stages = nil
	}
	all = append(all, d)
	r.recorded.Store(&all)
	if d.stages == nil {
		return nil
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
func (d *recorded) plan(forward *aten.Fused, tensors []*tensor.Tensor, numbers []tensor.Scalar, dear int) error {
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
	d.stages, err = forward.Stages(d.memory, known)
	return err
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
func (d *recorded) choose(forward *aten.Fused, level *autograd.Level, inputs, dear int) {
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

// cost is about how many instructions it takes to compute a value again from what is read whenever the gradients of some outs are wanted: nobody
// may have written that since.
func (d *recorded) cost(forward *aten.Fused, level *autograd.Level, v int, users uint64, inputs int) int {
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
	shapes := aten.Shapes{Whole: shape}
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

// program computes the gradients of a level. It has kernels for each set of outs whose gradients were met.
type program struct {
	*recorded
	level    *autograd.Level
	tensors  []*tensor.Tensor // without elements, like those of the first run
	numbers  []tensor.Scalar
	mu       sync.Mutex
	variants atomic.Pointer[[]*variant]
}

// variant is the kernels for one set of outs. Its values are the inputs of the group, the gradients of the outs, the results of the group's steps and
// those of the derivatives.
type variant struct {
	present uint64
	err     error // why there are none
	stages  *aten.Stages
	values  int
	saved   []int // places of Saved, -1 for what is not needed
	grads   []int // places of the outs' gradients, -1 for those that are not given
	wanted  []int // places of the gradients of Ins, -1 for zero
}

func (p *program) find(present uint64) *variant {
	if known := p.variants.Load(); known != nil {
		for _, v := range *known {
			if v.present == present {
				return v
			}
		}
	}
	return nil
}

// variant returns the kernels for a set of outs.
func (p *program) variant(present uint64) *variant {
	if v := p.find(present); v != nil {
		return v
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.find(present); v != nil {
		return v
	}
	v, err := p.make(present)
	if err != nil {
		v = &variant{present: present, err: err}
	}
	all := []*variant{v}
	if known := p.variants.Load(); known != nil {
		all = append(all, *known...)
	}
	p.variants.Store(&all)
	return v
}

func (p *program) make(present uint64) (*variant, error) {
	var given []int
	for i, v := range p.level.Outs {
		if present>>i&1 != 0 {
			given = append(given, v)
		}
	}
	var found [2]*sketch
	var grads [2][]*tensor.Tensor
	for i, numbers := range [2][]tensor.Scalar{likeNumbers(p.numbers, 1000003, 7), likeNumbers(p.numbers, 2000029, 11)} {
		s, err := p.sketch(p.tensors, numbers, given)
		defer s.close()
		if err != nil {
			return nil, err
		}
		grads[i] = make([]*tensor.Tensor, len(s.values))
		for k, v := range given {
			grads[i][v] = s.grads[k]
		}
		if err := s.tape.Gradients(p.level.Reaches(present), grads[i], func(int, int) {}); err != nil {
			return nil, err
		}
		found[i] = s
	}
	inputs, n := len(p.tensors), len(given)
	place := func(v int) int {
		if v >= inputs {
			v += n
		}
		return v
	}
	s := found[0]
	f, err := s.rec.Steps(inputs+n, s.numbers, found[1].rec, found[1].numbers)
	if err != nil {
		return nil, err
	}
	v := &variant{present: present, values: f.Values()}
	if v.values > mostValues {
		return nil, errTooLarge
	}
	known := make([]bool, v.values)
	reads := p.level.Reads(present)
	for _, saved := range p.level.Saved {
		at := -1
		if slices.Contains(reads, saved) || saved >= inputs && !p.group.IsOutput(saved) {
			at = place(saved)
			known[at] = true
		}
		v.saved = append(v.saved, at)
	}
	at := inputs
	for i := range p.level.Outs {
		if present>>i&1 == 0 {
			v.grads = append(v.grads, -1)
			continue
		}
		v.grads = append(v.grads, at)
		known[at] = true
		at++
	}
	var wanted []int
	for _, in := range p.level.Ins {
		at := -1
		if g := grads[0][in]; g != nil {
			var ok bool
			if at, ok = s.rec.Number(g); !ok {
				return nil, errTooLarge
			}
			if !slices.Contains(wanted, at) && !known[at] {
				wanted = append(wanted, at)
			}
		}
		v.wanted = append(v.wanted, at)
	}
	v.stages, err = f.Stages(wanted, known)
	return v, err
}

// differentiate computes the gradients of one node.
func (p *program) differentiate(n *autograd.GroupNode, present uint64, grads, given []*tensor.Tensor) (bool, error) {
	v := p.variant(present)
	if v.err != nil {
		p.tell("gradients: " + v.err.Error())
		return false, nil
	}
	var room [mostValues]*tensor.Tensor
	values := room[:v.values]
	for i, at := range v.saved {
		if at >= 0 {
			values[at] = n.SavedValue(i)
		}
	}
	for i, at := range v.grads {
		if at >= 0 {
			values[at] = grads[i]
		}
	}
	shapes := aten.Shapes{Whole: n.Whole, Small: n.Small}
	for i, in := range p.level.Ins {
		if in < len(p.tensors) {
			shapes.Inputs[in] = n.InputShape(i)
		}
	}
	if ok, err := v.stages.Run(values, &shapes, n.Numbers); !ok || err != nil {
		p.tell("gradients: their layouts differ")
		return false, err
	}
	for i, at := range v.wanted {
		if at >= 0 {
			given[i] = values[at]
		}
	}
	return true, nil
}

// sketch is the nodes of a group run on tensors without elements.
type sketch struct {
	rec     *aten.Recorder
	tape    *autograd.Sketch
	values  []*tensor.Tensor // the inputs, then the results of the nodes
	grads   []*tensor.Tensor // further inputs of the recording
	numbers []tensor.Scalar
	outputs []int // which values the group gives
}

func (s *sketch) close() {
	if s != nil {
		s.rec.Close()
	}
}

// sketch runs the nodes; given are values whose gradients become inputs.
func (d *recorded) sketch(tensors []*tensor.Tensor, numbers []tensor.Scalar, given []int) (*sketch, error) {
	s := &sketch{rec: aten.NewRecorder(), numbers: numbers}
	var needs []bool
	for i, t := range tensors {
		shape := []int{1}
		switch {
		case t.Dim() == 0:
			shape = nil
		case d.key.whole>>i&1 != 0:
			shape = []int{2}
		}
		in, err := s.rec.InputOf(t.DType(), shape)
		if err != nil {
			return s, err
		}
		s.values, needs = append(s.values, in), append(needs, d.key.needs>>i&1 != 0)
	}
	for _, v := range given {
		like := d.group.Like(v)
		g, err := s.rec.InputOf(like.DType(), like.Shape())
		if err != nil {
			return s, err
		}
		s.grads = append(s.grads, g)
	}
	s.tape = autograd.NewSketch(emitter{s.rec}, s.values, needs)
	return s, d.sketchNodes(s)
}

// sketchNodes runs the nodes of the group and puts them on the tape.
func (d *recorded) sketchNodes(s *sketch) error {
	env := d.environment(s.values, s.numbers)
	places, numbers := map[*ir.Value]int{}, map[*ir.Value]int{}
	for i, v := range d.node.Inputs() {
		if !d.runner.tensors[i] {
			numbers[v] = len(numbers)
		}
	}
	for _, n := range d.nodes {
		args, given := arguments(env, n), make([]int, len(n.Inputs()))
		for i, v := range n.Inputs() {
			k, ok := numbers[v]
			if !ok {
				k = -1
			}
			given[i] = k
		}
		t, err := s.rec.Apply(n.Operator(), args)
		if err != nil {
			return err
		}
		if err := s.tape.Add(n.Operator(), args, given, t); err != nil {
			return err
		}
		env[n.Output()], places[n.Output()] = value.OfTensor(t), len(s.values)
		s.values = append(s.values, t)
	}
	for _, v := range d.results {
		s.outputs = append(s.outputs, places[v])
	}
	return nil
}

// emitter runs the operators of derivatives in a recording.
type emitter struct{ rec *aten.Recorder }

// Emit implements autograd.Emitter.
func (e emitter) Emit(name string, args ...value.Value) []value.Value {
	op := ops.Find("aten::" + name)
	if op == nil || op.Run == nil || len(op.Schema().Returns) != 1 {
		source.Raise(source.RuntimeError, "aten::%s is not computed in a kernel", name)
	}
	s := op.Schema()
	for i := len(args); i < len(s.Arguments); i++ {
		args = append(args, s.Arguments[i].Default)
	}
	var out [1]value.Value
	source.Throw(op.Run(args, out[:]))
	if !out[0].IsTensor() {
		source.Raise(source.RuntimeError, "aten::%s is not computed in a kernel", name)
	}
	if _, ok := e.rec.Number(out[0].Tensor()); !ok {
		source.Raise(source.RuntimeError, "aten::%s is not computed in a kernel", name)
	}
	return out[:]
}

// SumTo implements autograd.SketchEmitter.
func (e emitter) SumTo(g, like *tensor.Tensor) *tensor.Tensor {
	return source.Must(e.rec.Sum(g, like))
}
