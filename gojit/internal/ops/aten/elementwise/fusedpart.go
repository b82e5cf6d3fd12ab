package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// part is some steps of a Fused as one kernel; program is nil where they have none.
type part struct {
	program *launch.Program
	reads   []int // values
	gives   []int // values
	params  []int // which of the numbers of a run is each number of the kernel
}

// part returns a set of steps as one kernel. It fails where they cannot run as one.
func (f *Fused) part(steps uint32) (*part, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.parts[steps]
	if !ok {
		p = f.makePart(steps)
		f.parts[steps] = p
	}
	if p.program == nil {
		return nil, errNotFused
	}
	return p, nil
}

func (f *Fused) makePart(steps uint32) *part {
	b := f.builder()
	for i := range f.steps {
		if steps>>i&1 != 0 {
			b.step(i, f.isWanted(len(f.inputs)+i, steps))
		}
	}
	return b.finish()
}

func (f *Fused) builder() *partBuilder {
	return &partBuilder{f: f, b: kernel.NewBuilder(), part: &part{}, values: map[int]kernel.Value{}, params: map[paramKey]kernel.Value{}}
}

// finish compiles the kernel.
func (p *partBuilder) finish() *part {
	k := p.b.Kernel()
	if len(p.part.reads)+len(p.part.gives) > MostFused || mayFail(k) {
		return &part{}
	}
	program, err := launch.ProgramOf(k)
	// Where there is machine code at all, the operators that have some are better off alone.
	if err != nil || !program.IsCompiled() && launch.Compiles() {
		return &part{}
	}
	p.part.program = program
	return p.part
}

// mayFail reports whether a kernel may fail: it divides integers.
func mayFail(k *kernel.Kernel) bool {
	return slices.ContainsFunc(k.Instrs, func(in kernel.Instr) bool {
		switch in.Op {
		case kernel.Div, kernel.Rem, kernel.Mod, kernel.FloorDiv, kernel.Pow:
			return !in.Type.IsFloating()
		}
		return false
	})
}

// partBuilder is the state of one makePart.
type partBuilder struct {
	f      *Fused
	b      *kernel.Builder
	part   *part
	values map[int]kernel.Value
	params map[paramKey]kernel.Value
}

type paramKey struct {
	number int
	dtype  tensor.DType
}

// step adds step i, whose result is stored where it is wanted.
func (p *partBuilder) step(i int, wanted bool) {
	s := &p.f.steps[i]
	computed := s.common
	if s.op.rule == ops.LogicType {
		computed = tensor.Bool
	}
	var x []kernel.Value
	for _, o := range s.operands {
		if o.value < 0 {
			d := computed
			if s.op.rule == ops.OwnTypes {
				d = kernel.ComputeType(o.dtype)
			}
			x = append(x, p.number(o.number, d))
			continue
		}
		v := p.value(o.value)
		if s.op.rule != ops.OwnTypes {
			v = p.b.Convert(v, computed)
		}
		x = append(x, v)
	}
	extraType := computed
	if s.op.givesReal() {
		extraType = computed.ToReal()
	}
	for _, n := range s.extras {
		x = append(x, p.number(n, extraType))
	}
	made, value := p.b.Convert(s.op.expr(p.b, x...), s.out), len(p.f.inputs)+i
	p.values[value] = made
	if wanted {
		p.b.Output(made, s.out)
		p.part.gives = append(p.part.gives, value)
	}
}

// isWanted reports whether a value is a result, or read by a step that is not in a set.
func (f *Fused) isWanted(value int, steps uint32) bool {
	if slices.Contains(f.results, value) {
		return true
	}
	for i := range f.steps {
		if steps>>i&1 == 0 && slices.ContainsFunc(f.steps[i].operands, func(o fusedOperand) bool { return o.value == value }) {
			return true
		}
	}
	return false
}

// value returns a value, which is read where no step of the part makes it.
func (p *partBuilder) value(value int) kernel.Value {
	v, ok := p.values[value]
	if !ok {
		d := p.f.dtype(value)
		v = p.b.Input(d, kernel.ComputeType(d))
		p.values[value] = v
		p.part.reads = append(p.part.reads, value)
	}
	return v
}

func (p *partBuilder) number(n fusedNumber, d tensor.DType) kernel.Value {
	if n.index < 0 {
		return p.b.Const(d, n.constant)
	}
	key := paramKey{n.index, d}
	v, ok := p.params[key]
	if !ok {
		v = p.b.Param(d)
		p.params[key] = v
		p.part.params = append(p.part.params, n.index)
	}
	return v
}

// operands returns room for what the part gives, and behind that what it reads.
func (p *part) operands(values []*tensor.Tensor) []*tensor.Tensor {
	operands := make([]*tensor.Tensor, len(p.gives), len(p.gives)+len(p.reads))
	for _, v := range p.reads {
		operands = append(operands, values[v])
	}
	return operands
}

func (p *part) runOn(f *Fused, values []*tensor.Tensor, shape []int, numbers []tensor.Scalar) bool {
	operands := p.operands(values)
	if !p.run(f, operands, shape, numbers) {
		return false
	}
	for i, v := range p.gives {
		values[v] = operands[i]
	}
	return true
}

// run runs the kernel: operands are room for what it gives and then what it reads. It reports false, and does nothing,
// where what it reads does not lie alike.
func (p *part) run(f *Fused, operands []*tensor.Tensor, shape []int, numbers []tensor.Scalar) bool {
	reads := operands[len(p.gives):]
	like, ok := layout(reads, shape)
	if !ok {
		return false
	}
	on := tensor.Device{}
	if len(reads) > 0 {
		on = reads[0].Device()
	}
	for i, v := range p.gives {
		t, err := newLike(like, shape, f.dtype(v), on)
		if err != nil {
			return false
		}
		operands[i] = t
	}
	var room [8]tensor.Scalar
	given := room[:0]
	for _, i := range p.params {
		given = append(given, numbers[i])
	}
	if operands[0].OnDevice() {
		return runThere(p.program, operands, given) == nil // what the operators one by one fail with, too
	}
	p.program.Run(operands, given)
	return true
}

func newLike(like *tensor.Tensor, shape []int, d tensor.DType, on tensor.Device) (*tensor.Tensor, error) {
	switch {
	case like == nil && on.Type == tensor.CPU:
		return tensor.Empty(shape, d)
	case like == nil:
		return tensor.EmptyOn(on, shape, d)
	case on.Type == tensor.CPU:
		return tensor.EmptyFormat(like, d, tensor.PreserveFormat)
	}
	return tensor.EmptyFormatOn(on, like, d, tensor.PreserveFormat)
}

// layout returns the tensor that results lie like, nil where they are contiguous. ok is false where the tensors of the
// whole shape do not lie alike, or there is none and others are not contiguous.
func layout(reads []*tensor.Tensor, shape []int) (like *tensor.Tensor, ok bool) {
	full := 0
	for _, t := range reads {
		if !tensor.SameShape(t.Shape(), shape) {
			if t.Numel() == 1 {
				full++ // lies like any
			}
			continue
		}
		full++
		if like == nil && !t.IsContiguous() && !inOrder(t) {
			like = t
		}
	}
	if like == nil {
		return nil, true
	}
	for _, t := range reads {
		if tensor.SameShape(t.Shape(), shape) && !slices.Equal(t.Strides(), like.Strides()) {
			return nil, false
		}
	}
	return like, full == len(reads) && like.IsNonOverlappingAndDense()
}

// inOrder reports whether the elements of t lie in the order of its dimensions, maybe with gaps: results like it are
// contiguous.
func inOrder(t *tensor.Tensor) bool {
	last := 0
	for i := t.Dim() - 1; i >= 0; i-- {
		stride := t.Strides()[i]
		if stride == 0 || stride < last {
			return false
		}
		last = stride
	}
	return true
}
