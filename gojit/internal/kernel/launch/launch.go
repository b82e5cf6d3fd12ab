// Package launch runs kernels over tensors.
//
// Central type: Program, a kernel with the functions made of it. A run walks the operands together,
// gives contiguous stretches of them to machine code (package kernel/amd64), and falls back to the
// evaluator of package kernel where the target lacks what the kernel needs; GOJIT_LOG=kernels tells
// which. Elements that do not lie side by side are gathered into tiles first.
//
// Invariant: a result does not depend on the number of threads, nor on how a run is cut.
package launch

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// chunk is how many elements threads share at once, and one call of machine code handles: the collector waits for it. A call of few
// instructions, which waits for memory, handles chunksTogether.
const (
	chunk           = 1 << 14
	chunksTogether  = waitingRows
	fewInstructions = 16
)

// maxOperands bounds outputs and inputs of a kernel together.
const maxOperands = tensor.MaxOperands

// Program is a kernel prepared for running. It may run in many goroutines at once.
type Program struct {
	kernel   *kernel.Kernel
	expanded *kernel.Kernel
	small    *kernel.Kernel // for numbers for which functions are simpler, nil where that saves nothing
	outputs  int
	operands int
	memory   [maxOperands]tensor.DType
	size     [maxOperands]int
	computed [maxOperands]tensor.DType // type that an input is loaded as
	params   []tensor.DType
	numbers  int  // among the arguments of a function, of which those of the inputs come after
	ordered  bool // elements are counted in the order of the shape
	reduces  []reduction
	block    int // elements after which reductions join their lanes

	functions []atomic.Pointer[function] // by the set of inputs that are the same for all elements
	mu        sync.Mutex
	evaluator atomic.Pointer[kernel.Program]
}

// function is the machine code for one set of uniform inputs; Function is nil where there is none.
type function struct {
	*amd64.Function
	most      int                      // elements in a call
	small     *amd64.Function          // for small numbers, or nil
	streaming atomic.Pointer[function] // for large outputs, made when there are some
	halfLines atomic.Pointer[function] // for rows that begin in the middle of cache lines, made when there are some
}

// NewProgram prepares a kernel. It fails where Verify does and on too many operands.
func NewProgram(k *kernel.Kernel) (*Program, error) {
	if err := k.Verify(); err != nil {
		return nil, err
	}
	p := &Program{kernel: k, outputs: len(k.Outputs), operands: len(k.Outputs) + len(k.Inputs), params: make([]tensor.DType, k.Params), block: k.ReduceBlock()}
	if p.operands > maxOperands {
		return nil, kernel.ErrTooManyOperands
	}
	for i, o := range k.Outputs {
		p.memory[i] = o.DType
	}
	for i, d := range k.Inputs {
		p.memory[p.outputs+i], p.computed[p.outputs+i] = d, d
	}
	for i := range k.Instrs {
		switch in := &k.Instrs[i]; in.Op {
		case kernel.Load:
			p.computed[p.outputs+int(in.Imm)] = in.Type
		case kernel.Param:
			p.params[in.Imm] = in.Type
		case kernel.Iota:
			p.ordered = true
		}
	}
	for i := range p.operands {
		p.size[i] = p.memory[i].Size()
	}
	for _, t := range p.params {
		p.numbers += amd64.Slots(t)
	}
	p.reduces = p.reductions()
	if len(p.reduces) > maxReductions {
		return nil, kernel.ErrTooManyOperands
	}
	p.functions = make([]atomic.Pointer[function], 1<<len(k.Inputs))
	return p, nil
}

// function returns the machine code for a set of uniform inputs, nil where there is none.
func (p *Program) function(uniform uint32) *function {
	made := p.functions[uniform].Load()
	if made == nil {
		made = p.compile(uniform)
	}
	if made.Function == nil {
		return nil
	}
	return made
}

// IsCompiled reports whether machine code runs the kernel.
func (p *Program) IsCompiled() bool { return p.function(0) != nil }

func (p *Program) compile(uniform uint32) *function {
	p.mu.Lock()
	defer p.mu.Unlock()
	if made := p.functions[uniform].Load(); made != nil {
		return made
	}
	if p.expanded == nil {
		p.expanded = Expand(p.kernel)
		for i := range p.expanded.Instrs {
			if in := &p.expanded.Instrs[i]; in.Op == kernel.Load {
				p.computed[p.outputs+int(in.Imm)] = in.Type
			}
		}
		if p.operands < maxOperands && len(p.reduces) == 0 {
			p.small = expand.Small(p.kernel, amd64.PrimitivesOf(asm.Target()))
		}
	}
	made := &function{most: chunk}
	if waitsForMemory(p.expanded) {
		made.most *= chunksTogether
	}
	f, err := amd64.Compile(p.expanded, uniform, asm.Target())
	if err == nil {
		made.Function = f
		p.compileSmall(made, uniform)
	}
	logCompiled(p.kernel, made.Function, err)
	p.functions[uniform].Store(made)
	return made
}

// waitsForMemory reports whether a kernel has few instructions and none that divides integers.
func waitsForMemory(k *kernel.Kernel) bool {
	return len(k.Instrs) <= fewInstructions && !slices.ContainsFunc(k.Instrs, func(in kernel.Instr) bool {
		return in.Type.IsIntegral() && slices.Contains([]kernel.Op{kernel.Div, kernel.FloorDiv, kernel.Rem, kernel.Mod, kernel.Pow}, in.Op)
	})
}

// Compiles reports whether there is machine code for this processor at all.
func Compiles() bool { return asm.Target() != asm.None }

// Expand rewrites the functions of a kernel into the instructions that the target has.
func Expand(k *kernel.Kernel) *kernel.Kernel {
	return expand.For(k, amd64.PrimitivesOf(asm.Target()))
}

// evaluate runs the kernel without machine code.
func (p *Program) evaluate(tensors []*tensor.Tensor, params []tensor.Scalar) {
	p.evaluated().Run(tensors, params)
}

// evaluated returns the kernel prepared for the evaluator.
func (p *Program) evaluated() *kernel.Program {
	e := p.evaluator.Load()
	if e == nil {
		made, err := kernel.NewProgram(p.kernel)
		if err != nil {
			panic(err)
		}
		p.evaluator.Store(made)
		e = made
	}
	return e
}

// Run computes the outputs from the inputs. tensors holds the outputs, then the inputs; the
// outputs have the shape that all inputs broadcast to, and params are the kernel's numbers. An
// output may be the same tensor as an input. Integer division by zero panics with DivisionByZero.
func (p *Program) Run(tensors []*tensor.Tensor, params []tensor.Scalar) {
	n := tensors[0].Numel()
	if n == 0 {
		return
	}
	uniform, dense := p.classify(tensors, n)
	if !dense {
		p.runStrided(tensors, params, n)
		return
	}
	f := p.function(uniform)
	if f == nil {
		p.evaluate(tensors, params)
		return
	}
	var args amd64.Args
	for i, operand := range f.Pointers {
		args.Ptr[i] = tensors[operand].DataPtr()
	}
	p.setParams(&args, params)
	if uniform != 0 {
		at := p.numbers
		for i := p.outputs; i < p.operands; i++ {
			if uniform>>(i-p.outputs)&1 != 0 {
				at = p.setNumber(&args, at, i, tensors[i].DataPtr())
			}
		}
	}
	if large := p.streaming(f, uniform, &args, n); large != f {
		f = large
	} else {
		f = p.forStreams(f, uniform, n)
	}
	if f.Scratch == 0 && (n <= chunk || parallel.NumThreads() == 1) {
		p.call(f, &args, 0, n)
		return
	}
	p.runChunks(f, args, n)
}

// runChunks runs a function over contiguous operands, several chunks at once.
func (p *Program) runChunks(f *function, args amd64.Args, n int) {
	parallel.For(n, chunk, func(lo, hi int) {
		s := takeScratch(f.Scratch)
		s.args.Uniform = args.Uniform
		for i, operand := range f.Pointers {
			s.args.Ptr[i] = unsafe.Add(args.Ptr[i], lo*p.size[operand])
		}
		p.call(f, &s.args, lo, hi-lo)
		s.release()
	})
}

// call runs a function over n elements, of which the first is number first. The pointers move.
func (p *Program) call(f *function, args *amd64.Args, first, n int) {
	var watch parallel.Watch
	small, most := f.small != nil && !p.inPlace(f, args), f.most
	for {
		m := min(n, most)
		args.Count, args.First = int64(m), int64(first)
		if !small || !p.callSmall(f, args) {
			run(f.Function, args)
		}
		if n -= m; n == 0 {
			return // a pointer past the last element would name another object to the collector
		}
		watch.Look()
		first += m
		for i, operand := range f.Pointers {
			args.Ptr[i] = unsafe.Add(args.Ptr[i], m*p.size[operand])
		}
	}
}

// classify reports whether the operands can be walked as they lie in memory, and which of them have
// one element for all.
func (p *Program) classify(tensors []*tensor.Tensor, n int) (uniform uint32, dense bool) {
	out := tensors[0]
	contiguous := out.IsContiguous()
	if !contiguous && (p.ordered || !out.IsNonOverlappingAndDense()) {
		return 0, false
	}
	for i, t := range tensors[1:] {
		switch {
		case t.Numel() == 1 && n > 1:
			if i+1 < p.outputs {
				return 0, false
			}
			uniform |= 1 << (i + 1 - p.outputs)
		case t.Numel() != n:
			return 0, false
		case contiguous && t.IsContiguous() && (n == 1 || slices.Equal(t.Shape(), out.Shape())):
		case slices.Equal(t.Strides(), out.Strides()) && slices.Equal(t.Shape(), out.Shape()):
		default:
			return 0, false
		}
	}
	return uniform, true
}

// setParams puts the parameters among the arguments.
func (p *Program) setParams(args *amd64.Args, params []tensor.Scalar) {
	at := 0
	for i, t := range p.params {
		re, im := kernel.NumberBits(t, params[i])
		if t.IsComplex() {
			args.Uniform[at], args.Uniform[at+1] = re, im
			at += 2
			continue
		}
		args.Uniform[at] = amd64.LaneBits(t, re)
		at++
	}
}

// setNumber puts the element of an input among the arguments and returns the place behind it.
func (p *Program) setNumber(args *amd64.Args, place, operand int, at unsafe.Pointer) int {
	switch p.computed[operand] {
	case tensor.Complex64:
		parts := (*[2]uint32)(at)
		args.Uniform[place], args.Uniform[place+1] = uint64(parts[0]), uint64(parts[1])
		return place + 2
	case tensor.Complex128:
		parts := (*[2]uint64)(at)
		args.Uniform[place], args.Uniform[place+1] = parts[0], parts[1]
		return place + 2
	}
	args.Uniform[place] = p.element(operand, at)
	return place + 1
}

// element returns the element of an input, which is not complex, as a number among the arguments.
func (p *Program) element(operand int, at unsafe.Pointer) uint64 {
	t := p.computed[operand]
	if t == p.memory[operand] {
		switch t {
		case tensor.Float32, tensor.Int32:
			return uint64(*(*uint32)(at))
		case tensor.Float64, tensor.Int64:
			return *(*uint64)(at)
		}
	}
	var bits uint64
	tensor.ConverterOf(p.memory[operand], t)(unsafe.Pointer(&bits), 8, at, 0, 1)
	return amd64.LaneBits(t, bits)
}

// scratch is what one run over rows or parts needs besides its operands.
type scratch struct {
	args    amd64.Args
	waiting [maxReductions][waitingRows]uint64
	results [maxReductions]uint64
	memory  []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// takeScratch returns a scratch whose arguments point to n bytes aligned to a cache line.
func takeScratch(n int) *scratch {
	s := scratches.Get().(*scratch)
	if n > 0 {
		if len(s.memory) < n+tensor.Alignment {
			s.memory = make([]byte, n+tensor.Alignment)
		}
		base := unsafe.Pointer(&s.memory[0])
		s.args.Scratch = unsafe.Add(base, int(-uintptr(base)%tensor.Alignment))
	}
	return s
}

// release gives the scratch back, without pointers to the operands.
func (s *scratch) release() {
	s.args.Scratch, s.args.Ptr = nil, [amd64.MaxPointers]unsafe.Pointer{}
	scratches.Put(s)
}

// run calls a function and panics with DivisionByZero where it divided an integer by zero.
func run(f *amd64.Function, args *amd64.Args) {
	f.Code.Call(unsafe.Pointer(args))
	if args.Failed != 0 {
		args.Failed = 0
		panic(kernel.DivisionByZero)
	}
}
