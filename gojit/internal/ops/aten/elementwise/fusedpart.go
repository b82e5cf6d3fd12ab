package elementwise

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Part is some steps of a Fused as one kernel; program is nil where they have none.
type Part struct {
	Program *launch.Program
	Reads   []int // values
	Gives   []int // values
	Params  []int // which of the numbers of a run is each number of the kernel
}

// part returns a set of steps as one kernel. It fails where they cannot run as one.
func (f *Fused) part(steps uint32) (*Part, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.parts[steps]
	if !ok {
		p = f.makePart(steps)
		f.parts[steps] = p
	}
	if p.Program == nil {
		return nil, ErrNotFused
	}
	return p, nil
}

func (f *Fused) makePart(steps uint32) *Part {
	b := f.Builder()
	for i := range f.Steps {
		if steps>>i&1 != 0 {
			b.Step(i, f.isWanted(len(f.Inputs)+i, steps))
		}
	}
	return b.Finish()
}

// Builder returns what makes a kernel of steps of f.
func (f *Fused) Builder() *partBuilder {
	return &partBuilder{f: f, B: kernel.NewBuilder(), Part: &Part{}, values: map[int]kernel.Value{}, params: map[paramKey]kernel.Value{}}
}

// Finish compiles the kernel.
func (p *partBuilder) Finish() *Part {
	k := p.B.Kernel()
	if len(p.Part.Reads)+len(p.Part.Gives) > MostFused || mayFail(k) {
		return &Part{}
	}
	program, err := launch.ProgramOf(k)
	// Where there is machine code at all, the operators that have some are better off alone.
	if err != nil || !program.IsCompiled() && launch.Compiles() {
		return &Part{}
	}
	p.Part.Program = program
	return p.Part
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
	B      *kernel.Builder
	Part   *Part
	values map[int]kernel.Value
	params map[paramKey]kernel.Value
}

type paramKey struct {
	number int
	dtype  tensor.DType
}

// Step adds step i, whose result is stored where it is wanted.
func (p *partBuilder) Step(i int, wanted bool) {
	s := &p.f.Steps[i]
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
		v := p.Value(o.value)
		if s.op.rule != ops.OwnTypes {
			v = p.B.Convert(v, computed)
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
	made, value := p.B.Convert(s.op.expr(p.B, x...), s.out), len(p.f.Inputs)+i
	p.values[value] = made
	if wanted {
		p.B.Output(made, s.out)
		p.Part.Gives = append(p.Part.Gives, value)
	}
}

// isWanted reports whether a value is a result, or read by a step that is not in a set.
func (f *Fused) isWanted(value int, steps uint32) bool {
	if slices.Contains(f.results, value) {
		return true
	}
	for i := range f.Steps {
		if steps>>i&1 == 0 && slices.ContainsFunc(f.Steps[i].operands, func(o fusedOperand) bool { return o.value == value }) {
			return true
		}
	}
	return false
}

// Value returns a value, which is read where no step of the part makes it.
func (p *partBuilder) Value(value int) kernel.Value {
	v, ok := p.values[value]
	if !ok {
		d := p.f.Dtype(value)
		v = p.B.Input(d, kernel.ComputeType(d))
		p.values[value] = v
		p.Part.Reads = append(p.Part.Reads, value)
	}
	return v
}

func (p *partBuilder) number(n fusedNumber, d tensor.DType) kernel.Value {
	if n.index < 0 {
		return p.B.Const(d, n.constant)
	}
	key := paramKey{n.index, d}
	v, ok := p.params[key]
	if !ok {
		v = p.B.Param(d)
		p.params[key] = v
		p.Part.Params = append(p.Part.Params, n.index)
	}
	return v
}

// operands returns room for what the part gives, and behind that what it reads.
func (p *Part) operands(values []*tensor.Tensor) []*tensor.Tensor {
	operands := make([]*tensor.Tensor, len(p.Gives), len(p.Gives)+len(p.Reads))
	for _, v := range p.Reads {
		operands = append(operands, values[v])
	}
	return operands
}

func (p *Part) runOn(f *Fused, values []*tensor.Tensor, shape []int, numbers []tensor.Scalar) bool {
	operands := p.operands(values)
	if !p.run(f, operands, shape, numbers) {
		return false
	}
	for i, v := range p.Gives {
		values[v] = operands[i]
	}
	return true
}

// run runs the kernel: operands are room for what it gives and then what it reads. It reports false, and does nothing,
// where what it reads does not lie alike.
func (p *Part) run(f *Fused, operands []*tensor.Tensor, shape []int, numbers []tensor.Scalar) bool {
	reads := operands[len(p.Gives):]
	like, ok := layout(reads, shape)
	if !ok {
		return false
	}
	on := tensor.Device{}
	if len(reads) > 0 {
		on = reads[0].Device()
	}
	for i, v := range p.Gives {
		t, err := newLike(like, shape, f.Dtype(v), on)
		if err != nil {
			return false
		}
		operands[i] = t
	}
	var room [8]tensor.Scalar
	given := room[:0]
	for _, i := range p.Params {
		given = append(given, numbers[i])
	}
	if operands[0].OnDevice() {
		// What the operators one by one fail with, too. A device keeps what it is given: copies leave the room on the stack.
		return RunThere(p.Program, slices.Clone(operands), slices.Clone(given)) == nil
	}
	p.Program.Run(operands, given)
	return true
}

func newLike(like *tensor.Tensor, shape []int, d tensor.DType, on tensor.Device) (*tensor.Tensor, error) {
	if like == nil {
		return tensor.EmptyOn(on, shape, d)
	}
	return tensor.EmptyFormat(like, d, tensor.PreserveFormat)
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
