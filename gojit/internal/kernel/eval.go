package kernel

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ErrTooManyOperands is returned for a kernel with more operands than a walk takes.
var ErrTooManyOperands = source.Errorf(source.RuntimeError, source.Range{}, "a kernel has more than %d inputs and outputs", maxOperands)

// tileSize is how many elements an instruction is applied to at once; a tile of the widest type
// fits the first-level cache together with a few others.
const tileSize = 512

// tileBytes is the room of a register: a tile of the widest type.
const tileBytes = tileSize * 16

// parallelGrain is the number of elements from which another goroutine helps.
const parallelGrain = 1 << 15

// maxOperands bounds outputs and inputs of a kernel together.
const maxOperands = tensor.MaxOperands

// Program is a kernel prepared for the evaluator. It may run in many goroutines at once.
type Program struct {
	kernel    *Kernel
	outputs   int
	operands  int // outputs and inputs
	dtype     [maxOperands]tensor.DType
	size      [maxOperands]int
	convert   [maxOperands]tensor.Converter // input: memory to computed; output: computed to memory; nil: same type
	broadcast [maxOperands]tensor.Converter // input: the conversion, which is a plain copy where types agree
	load      [maxOperands]int              // register of each input, -1: not used
	loadSize  [maxOperands]int              // bytes of an element in that register
	steps     []step
	constants []Instr // Const and Param instructions, one for each entry of constReg
	constReg  []int
	registers int
	direct    int // output that the last step writes into memory, -1: none
	simple    bool
	reduce    [maxOperands]*reduction // of each output, nil: none
	reduces   bool
	block     int  // elements after which reductions join their lanes
	ordered   bool // elements are counted in the order of the shape
}

// step is one instruction with its registers.
type step struct {
	loop       tileLoop
	iota       tensor.DType     // for Iota
	convert    tensor.Converter // for Convert
	from, to   int              // element sizes of a conversion
	d, a, b, c int
}

// errMean says that the processor was to run a kernel with means.
var errMean = errors.New("kernel: means are computed by devices alone")

// NewProgram prepares a kernel. It fails where Verify does and on too many operands.
func NewProgram(k *Kernel) (*Program, error) {
	if err := k.Verify(); err != nil {
		return nil, err
	}
	for _, o := range k.Outputs {
		if o.Mean {
			return nil, errMean
		}
	}
	p := &Program{kernel: k, outputs: len(k.Outputs), operands: len(k.Outputs) + len(k.Inputs), direct: -1, block: k.ReduceBlock()}
	if p.operands > maxOperands {
		return nil, ErrTooManyOperands
	}
	registers := make([]int, len(k.Instrs))
	for i := range p.load {
		p.load[i] = -1
	}
	for i := range k.Instrs {
		in := &k.Instrs[i]
		registers[i] = p.registers
		p.registers++
		p.addInstr(in, registers, i)
	}
	for i, o := range k.Outputs {
		p.setOperand(i, o.DType)
		from := k.TypeOf(o.Value)
		p.loadSize[i] = from.Size()
		p.load[i] = registers[o.Value]
		if from != o.DType {
			p.convert[i] = tensor.ConverterOf(from, o.DType)
		} else if n := len(p.steps); o.Reduce == NoReduce && n > 0 && p.steps[n-1].d == p.load[i] {
			p.direct = i
		}
		p.broadcast[i] = tensor.ConverterOf(from, o.DType)
		if o.Reduce != NoReduce {
			p.reduce[i] = newReduction(o.Reduce, from)
			p.reduces = true
		}
	}
	p.reuseRegisters()
	return p, nil
}

func (p *Program) setOperand(i int, d tensor.DType) { p.dtype[i], p.size[i] = d, d.Size() }

func (p *Program) addInstr(in *Instr, registers []int, i int) {
	k := p.kernel
	switch in.Op {
	case Load:
		operand := p.outputs + int(in.Imm)
		memory := k.Inputs[in.Imm]
		p.setOperand(operand, memory)
		p.load[operand], p.loadSize[operand] = registers[i], in.Type.Size()
		p.broadcast[operand] = tensor.ConverterOf(memory, in.Type)
		if memory != in.Type {
			p.convert[operand] = p.broadcast[operand]
		}
	case Const, Param:
		p.constants = append(p.constants, *in)
		p.constReg = append(p.constReg, registers[i])
	case Iota:
		p.ordered = true
		p.steps = append(p.steps, step{iota: in.Type, d: registers[i], a: -1, b: -1, c: -1})
	default:
		first := k.TypeOf(in.Args[0])
		s := step{d: registers[i], a: registers[in.Args[0]]}
		s.b, s.c = s.a, s.a
		if n := in.Op.Operands(); n > 1 {
			s.b, s.c = registers[in.Args[1]], registers[in.Args[1]]
			if n > 2 {
				s.c = registers[in.Args[2]]
			}
		}
		switch in.Op {
		case Convert:
			s.convert, s.from, s.to = tensor.ConverterOf(first, in.Type), first.Size(), in.Type.Size()
		case Select:
			s.loop = Loops[Select][in.Type]
		case Lookup:
			table := k.Tables[in.Imm]
			s.loop = unary(func(i int32) float32 { return table[i&15] })
		default:
			s.loop = Loops[in.Op][first]
		}
		p.steps = append(p.steps, s)
	}
}

// reuseRegisters lets results take registers whose values are not used again. Loads, constants and
// stored values keep theirs, since the first two are made once for many tiles and the last are
// read at the end. A step may write over its own operands: loops work element by element, but a
// comparison changes the element size, so only a register dead before the step is taken.
func (p *Program) reuseRegisters() {
	fixed := map[int]bool{-1: true}
	for i := range p.operands {
		fixed[p.load[i]] = true
	}
	for _, r := range p.constReg {
		fixed[r] = true
	}
	last := map[int]int{}
	for i, s := range p.steps {
		last[s.a], last[s.b], last[s.c] = i, i, i
	}
	renamed := map[int]int{}
	var free []int
	rename := func(r int) int {
		if n, ok := renamed[r]; ok {
			return n
		}
		return r
	}
	for i := range p.steps {
		s := &p.steps[i]
		made := s.d
		if !fixed[made] && len(free) > 0 {
			renamed[made] = free[len(free)-1]
			free = free[:len(free)-1]
		}
		old := [3]int{s.a, s.b, s.c}
		s.d, s.a, s.b, s.c = rename(s.d), rename(s.a), rename(s.b), rename(s.c)
		for j, r := range old {
			if !fixed[r] && last[r] == i && (j == 0 || r != old[0]) && (j < 2 || r != old[1]) {
				free = append(free, rename(r))
			}
		}
	}
	p.compactRegisters()
}

// compactRegisters renumbers the registers so that there are no gaps.
func (p *Program) compactRegisters() {
	number := map[int]int{}
	get := func(r int) int {
		if r < 0 {
			return r
		}
		n, ok := number[r]
		if !ok {
			n = len(number)
			number[r] = n
		}
		return n
	}
	for i := range p.operands {
		p.load[i] = get(p.load[i])
	}
	for i := range p.constReg {
		p.constReg[i] = get(p.constReg[i])
	}
	for i := range p.steps {
		s := &p.steps[i]
		s.a, s.b, s.c, s.d = get(s.a), get(s.b), get(s.c), get(s.d)
	}
	p.registers = len(number)
	p.simple = p.outputs == 1 && len(p.steps) == 1 && p.direct == 0 && len(p.constants) == 0 && p.steps[0].loop != nil
	for i := p.outputs; i < p.operands; i++ {
		p.simple = p.simple && p.convert[i] == nil && p.load[i] >= 0
	}
}

// Run computes the outputs from the inputs. tensors holds the outputs, then the inputs; the
// outputs have the shape that all inputs broadcast to, and params are the kernel's numbers. An
// output may be the same tensor as an input. Integer division by zero panics with DivisionByZero.
//
// Where outputs reduce, the last dimension of the inputs is the run: such an output has size one there.
func (p *Program) Run(tensors []*tensor.Tensor, params []tensor.Scalar) {
	if p.reduces {
		p.runRows(tensors, params)
		return
	}
	out := tensors[0]
	n := out.Numel()
	if n == 0 {
		return
	}
	dense, exact := true, true
	for i, t := range tensors {
		if t.Numel() != n {
			exact = false
			if t.Numel() != 1 {
				dense = false
				break
			}
		} else if !t.IsContiguous() || i > 0 && !tensor.SameShape(t.Shape(), out.Shape()) && n > 1 {
			dense = false
			break
		}
	}
	if dense && exact && p.simple && n < parallelGrain {
		p.runSimple(tensors, n)
		return
	}
	if dense || !p.ordered && sameDenseStrides(tensors) {
		p.runDense(tensors, params, n)
		return
	}
	p.runStrided(tensors, params, n)
}

// sameDenseStrides reports whether all tensors have one shape and one gapless layout.
func sameDenseStrides(tensors []*tensor.Tensor) bool {
	first := tensors[0]
	if !first.IsNonOverlappingAndDense() {
		return false
	}
	for _, t := range tensors[1:] {
		if !tensor.SameShape(t.Shape(), first.Shape()) || !tensor.SameShape(t.Strides(), first.Strides()) {
			return false
		}
	}
	return true
}

// runSimple runs a kernel of one instruction on tensors that need no preparation.
func (p *Program) runSimple(tensors []*tensor.Tensor, n int) {
	var at [maxOperands + 1]unsafe.Pointer
	for i, t := range tensors {
		if i > 0 {
			at[p.load[i]] = t.DataPtr()
		}
	}
	s := &p.steps[0]
	s.loop(tensors[0].DataPtr(), at[s.a], at[s.b], at[s.c], n)
}

func (p *Program) runDense(tensors []*tensor.Tensor, params []tensor.Scalar, n int) {
	if n < 2*parallelGrain {
		p.denseRange(tensors, params, n, 0, n)
		return
	}
	p.parallelDense(tensors, params, n)
}

func (p *Program) parallelDense(tensors []*tensor.Tensor, params []tensor.Scalar, n int) {
	ts, ps := slices.Clone(tensors), slices.Clone(params) // the caller's may be on its stack
	parallel.For(n, parallelGrain, func(lo, hi int) { p.denseRange(ts, ps, n, lo, hi) })
}

func (p *Program) denseRange(tensors []*tensor.Tensor, params []tensor.Scalar, n, lo, hi int) {
	s := p.takeScratch()
	defer scratches.Put(s)
	var at [maxOperands]unsafe.Pointer
	var steps [maxOperands]int
	for i, t := range tensors {
		at[i] = t.DataPtr()
		if t.Numel() == n {
			steps[i] = p.size[i]
			at[i] = unsafe.Add(at[i], lo*p.size[i])
		}
	}
	p.prepare(s, params, min(hi-lo, tileSize))
	p.runTiles(s, &at, &steps, lo, hi-lo)
}

func (p *Program) runStrided(tensors []*tensor.Tensor, params []tensor.Scalar, n int) {
	if n < 2*parallelGrain {
		p.stridedRange(tensors, params, 0, n)
		return
	}
	p.parallelStrided(tensors, params, n)
}

func (p *Program) parallelStrided(tensors []*tensor.Tensor, params []tensor.Scalar, n int) {
	ts, ps := slices.Clone(tensors), slices.Clone(params) // the caller's may be on its stack
	parallel.For(n, parallelGrain, func(lo, hi int) { p.stridedRange(ts, ps, lo, hi) })
}

func (p *Program) stridedRange(tensors []*tensor.Tensor, params []tensor.Scalar, lo, hi int) {
	s := p.takeScratch()
	defer scratches.Put(s)
	p.prepare(s, params, min(hi-lo, tileSize))
	var l tensor.Loop
	l.Init(tensors[0].Shape(), p.ordered, tensors...)
	l.Seek(lo, hi)
	for l.Next() {
		clear(s.filled[:])
		p.runTiles(s, &l.Ptr, &l.Step, lo, l.N)
		lo += l.N
	}
}
