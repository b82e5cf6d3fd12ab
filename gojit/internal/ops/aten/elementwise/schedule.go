package elementwise

import (
	"maps"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// shapeKind says which shape a value of a recording stands for: the shape of the tensor that stood for it tells.
type shapeKind int

const (
	wholeShape  shapeKind = iota // [2]: that which all inputs broadcast to
	singleShape                  // []
	smallShape                   // [1]: that of the input with the number behind this one, and of what is computed from it
)

// findKinds says which shapes the values have, given what stood for them.
func (f *Fused) findKinds(stood []*tensor.Tensor) {
	f.kinds = make([]shapeKind, len(stood))
	for v, t := range stood {
		switch {
		case t.Dim() == 0:
			f.kinds[v] = singleShape
		case t.Numel() > 1:
			f.kinds[v] = wholeShape
		case v < len(f.Inputs):
			f.kinds[v] = smallShape + shapeKind(v)
		default:
			f.kinds[v] = f.smallKind(f.stepOf(v))
		}
	}
}

// smallKind is the kind of a step whose result is small. What it is computed from has one shape.
func (f *Fused) smallKind(s *fusedStep) shapeKind {
	if s.op == nil || len(s.operands) == 0 {
		return f.kinds[s.like]
	}
	kind := shapeKind(-1)
	for _, o := range s.operands {
		if o.value < 0 || f.kinds[o.value] < smallShape {
			continue
		}
		other := f.kinds[o.value]
		for v := range f.kinds {
			if kind >= 0 && f.kinds[v] == kind {
				f.kinds[v] = other
			}
		}
		kind = other
	}
	return kind
}

// Schedule compute some values of a Fused from others: kernels, each of which gives results of one shape, and sums, in order.
type Schedule struct {
	f    *Fused
	work []stage
	made []int // values that are neither known nor wanted
}

// stage is a kernel, or where that is nil the sum that step is.
type stage struct {
	kernel *Part
	step   int
}

// Shapes are those of a run: what all inputs broadcast to, that of other results with dimensions, and those of inputs that sums go to.
type Shapes struct {
	Whole, Small []int
	Inputs       [2 * MostFused][]int
}

func (s *Shapes) of(kind shapeKind) []int {
	switch kind {
	case wholeShape:
		return s.Whole
	case singleShape:
		return nil
	}
	return s.Small
}

// Schedule plans how wanted values are computed from known ones. It fails where they cannot be.
func (f *Fused) Schedule(wanted []int, known []bool) (*Schedule, error) {
	n := len(f.kinds)
	p := &planner{f: f, known: slices.Clone(known), rank: make([]int, n), needed: make([]bool, n), stored: make([]bool, n)}
	for _, v := range wanted {
		if !p.need(v) {
			return nil, ErrNotFused
		}
		p.stored[v] = !known[v]
	}
	p.store()
	s := &Schedule{f: f}
	for rank := 0; rank <= p.last; rank++ {
		for kind := wholeShape; kind <= smallShape+shapeKind(len(f.Inputs)); kind++ {
			if !p.kernels(s, rank, kind) {
				return nil, ErrNotFused
			}
		}
		for i := range f.Steps {
			if v := p.value(i); p.needed[v] && f.Steps[i].op == nil && p.rank[v] == rank {
				s.work = append(s.work, stage{step: i})
				p.known[v] = true
			}
		}
	}
	for _, v := range wanted {
		if !p.known[v] {
			return nil, ErrNotFused
		}
	}
	for v, made := range p.known {
		if made && !known[v] && !slices.Contains(wanted, v) {
			s.made = append(s.made, v)
		}
	}
	return s, nil
}

// Values returns how many values there are.
func (f *Fused) Values() int { return len(f.kinds) }

// planner is the state of one Schedule.
type planner struct {
	f      *Fused
	known  []bool // values that are in memory
	needed []bool
	stored []bool // needed ones that have to be in memory
	rank   []int  // after how many changes of the shape a value is known
	last   int
}

func (p *planner) value(step int) int { return len(p.f.Inputs) + step }

// stepOf returns the step that makes a value that is no input.
func (f *Fused) stepOf(v int) *fusedStep { return &f.Steps[v-len(f.Inputs)] }

// need notes that a value is computed from known ones, and reports whether it can be.
func (p *planner) need(v int) bool {
	if p.known[v] || p.needed[v] {
		return true
	}
	if v < len(p.f.Inputs) {
		return false
	}
	p.needed[v] = true
	for _, o := range p.f.stepOf(v).operands {
		if o.value < 0 {
			continue
		}
		if !p.need(o.value) {
			return false
		}
		if !p.known[o.value] {
			rank := p.rank[o.value]
			if from := p.f.stepOf(o.value); p.f.stepOf(v).op != nil && (from.op == nil || p.f.kinds[o.value] != p.f.kinds[v]) {
				rank++
			}
			p.rank[v] = max(p.rank[v], rank)
		}
	}
	p.last = max(p.last, p.rank[v])
	return true
}

// store finds the values that others than those of their kernel read, and those that are stored because what is computed of them would read too much
// without that.
func (p *planner) store() {
	for v := len(p.f.Inputs); v < len(p.f.kinds); v++ {
		if !p.needed[v] {
			continue
		}
		s := p.f.stepOf(v)
		for _, o := range s.operands {
			if o.value >= 0 && !p.known[o.value] && (s.op == nil || !p.together(v, o.value)) {
				p.stored[o.value] = true
			}
		}
	}
	reads := make([]map[int]bool, len(p.f.kinds)) // of a kernel that stores the value alone
	for v := len(p.f.Inputs); v < len(p.f.kinds); v++ {
		for p.needed[v] && p.f.stepOf(v).op != nil {
			var most int
			if reads[v], most = p.reads(v, reads); len(reads[v]) < MostFused || most < 0 {
				break
			}
			p.stored[most] = true
		}
	}
}

// reads returns the values in memory that a value is computed from, and that of its operands out of memory which reads most, -1 where there is none.
func (p *planner) reads(v int, by []map[int]bool) (found map[int]bool, most int) {
	found, most = map[int]bool{}, -1
	for _, o := range p.f.stepOf(v).operands {
		switch {
		case o.value < 0:
		case p.known[o.value] || p.stored[o.value]:
			found[o.value] = true
		default:
			maps.Copy(found, by[o.value])
			if most < 0 || len(by[o.value]) > len(by[most]) {
				most = o.value
			}
		}
	}
	return found, most
}

// together reports whether two needed values are of kernels at one time over one shape.
func (p *planner) together(v, u int) bool {
	return p.rank[v] == p.rank[u] && p.f.kinds[v] == p.f.kinds[u]
}

// kernels plans those of one time and kind of shape: each stores as many values as it can.
func (p *planner) kernels(s *Schedule, rank int, kind shapeKind) bool {
	var group []int
	for v := len(p.f.Inputs); v <= len(p.f.kinds); v++ {
		end := v == len(p.f.kinds)
		if !end && !(p.stored[v] && p.f.stepOf(v).op != nil && p.rank[v] == rank && p.f.kinds[v] == kind) {
			continue
		}
		if !end && (len(group) == 0 || p.fits(append(slices.Clip(group), v))) {
			group = append(group, v)
			continue
		}
		if len(group) > 0 {
			kernel := p.kernel(group)
			if kernel.Program == nil {
				return false
			}
			s.work = append(s.work, stage{kernel: kernel})
			for _, made := range group {
				p.known[made] = true
			}
			group = nil
		}
		if !end {
			group = []int{v}
		}
	}
	return true
}

// fits reports whether a kernel that stores some values reads and writes few enough tensors.
func (p *planner) fits(gives []int) bool {
	reads := map[int]bool{}
	for v := range p.steps(gives) {
		for _, o := range p.f.stepOf(v).operands {
			if o.value >= 0 && p.known[o.value] {
				reads[o.value] = true
			}
		}
	}
	return len(reads)+len(gives) <= MostFused
}

// steps returns the values that a kernel computes for those that it stores.
func (p *planner) steps(gives []int) map[int]bool {
	found := map[int]bool{}
	var add func(v int)
	add = func(v int) {
		if p.known[v] || found[v] {
			return
		}
		found[v] = true
		for _, o := range p.f.stepOf(v).operands {
			if o.value >= 0 {
				add(o.value)
			}
		}
	}
	for _, v := range gives {
		add(v)
	}
	return found
}

func (p *planner) kernel(gives []int) *Part {
	steps, b := p.steps(gives), p.f.Builder()
	for i := range p.f.Steps {
		if v := p.value(i); steps[v] {
			b.Step(i, slices.Contains(gives, v))
		}
	}
	return b.Finish()
}

// Cost is about how many instructions it takes to compute a step from its operands.
func (f *Fused) Cost(step int) int {
	b := f.Builder()
	b.Step(step, true)
	cost := 0
	for _, in := range launch.Expand(b.B.Kernel()).Instrs {
		cost += costOf(in)
	}
	return cost
}

func costOf(in kernel.Instr) int {
	switch in.Op {
	case kernel.Load, kernel.Const, kernel.Param:
		return 0
	case kernel.Div, kernel.Sqrt:
		return 8
	}
	return 1
}

// Run computes the wanted values from the known ones: values holds those by number, and gets the others. It reports false, and leaves
// room in the places of the others, where a kernel's operands do not lie alike.
func (s *Schedule) Run(values []*tensor.Tensor, shapes *Shapes, numbers []tensor.Scalar) (ok bool, err error) {
	for i := range s.work {
		w := &s.work[i]
		if w.kernel == nil {
			v := len(s.f.Inputs) + w.step
			from := &s.f.Steps[w.step]
			values[v], err = sumTo(values[from.operands[0].value], s.f.shapeOf(from.like, shapes))
			ok = err == nil
		} else {
			ok = w.kernel.compute(s.f, values, shapes, numbers)
		}
		if !ok {
			return false, err
		}
	}
	for _, v := range s.made {
		values[v].Release()
		values[v] = nil
	}
	return true, nil
}

// shapeOf returns the shape of a value in a run.
func (f *Fused) shapeOf(v int, shapes *Shapes) []int {
	if v < len(f.Inputs) {
		return shapes.Inputs[v]
	}
	return shapes.of(f.kinds[v])
}

// compute runs the kernel over values.
func (p *Part) compute(f *Fused, values []*tensor.Tensor, shapes *Shapes, numbers []tensor.Scalar) bool {
	var room [MostFused]*tensor.Tensor
	operands, kind := room[:len(p.Gives)+len(p.Reads)], f.kinds[p.Gives[0]]
	shape := shapes.of(kind)
	for i, v := range p.Reads {
		operands[len(p.Gives)+i] = unspread(values[v])
		if kind >= smallShape && f.kinds[v] == kind {
			shape = values[v].Shape()
		}
	}
	if !p.run(f, operands, shape, numbers) {
		return false
	}
	for i, v := range p.Gives {
		values[v] = operands[i]
	}
	return true
}

// unspread shows a tensor without the repetition of elements along dimensions.
func unspread(t *tensor.Tensor) *tensor.Tensor {
	spread := false
	for i, stride := range t.Strides() {
		spread = spread || stride == 0 && t.Size(i) > 1
	}
	if !spread {
		return t
	}
	shape := slices.Clone(t.Shape())
	for i, stride := range t.Strides() {
		if stride == 0 {
			shape[i] = 1
		}
	}
	v, err := t.AsStrided(shape, t.Strides(), t.Offset())
	if err != nil {
		return t
	}
	return v
}

// sumTo sums t over the dimensions along which a shape was broadcast.
func sumTo(t *tensor.Tensor, shape []int) (*tensor.Tensor, error) {
	var dims []int
	lead := t.Dim() - len(shape)
	for d := range t.Dim() {
		if d < lead || shape[d-lead] == 1 && t.Size(d) != 1 {
			dims = append(dims, d)
		}
	}
	args := [4]value.Value{value.OfTensor(t), value.OfList(value.Ints(dims)), value.Bool(true), value.None}
	var out [1]value.Value
	if err := ops.Find("aten::sum.dim_IntList").Run(args[:], out[:]); err != nil {
		return nil, err
	}
	sum := out[0].Tensor()
	if lead == 0 {
		return sum, nil
	}
	shaped, err := sum.View(shape...)
	if err == nil {
		shaped.SetBase(nil)
	}
	sum.Release()
	return shaped, err
}
