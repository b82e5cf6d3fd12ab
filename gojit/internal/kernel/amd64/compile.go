package amd64

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// MaxUniforms is how many numbers a function receives at most: the kernel's parameters and the
// inputs that are the same for all elements.
const MaxUniforms = 16

// MaxPointers is how many outputs and inputs a function walks at most.
const MaxPointers = 8

// Args is what a compiled kernel receives.
type Args struct {
	Count   int64 // elements
	First   int64 // number of the first element, for Iota
	index   int64
	Scratch unsafe.Pointer              // Function.Scratch bytes, aligned to 64
	Ptr     [MaxPointers]unsafe.Pointer // first element of each output, then of each input that has one for every element
	Uniform [MaxUniforms]uint64         // parameters, then inputs that are the same for all elements, as bits of the type computed with
	// Rows, where it is more than 1, is how often Count elements are handled: Skip is from one time to the next, in bytes.
	// The call counts Rows down.
	Rows int64
	Skip [MaxPointers]int64
	// Single points to the first row's number of each input that has one for all elements, SingleSkip is from row to row, in bytes. Numbers
	// of the first row are in Uniform; those of later rows are read as they lie, and complex ones stay.
	Single     [MaxPointers]unsafe.Pointer
	SingleSkip [MaxPointers]int64
	singleAt   [MaxPointers]int64
	// Failed is not zero after a call in which an integer was divided by zero. The caller clears it.
	Failed uint64
	lanes  [10]uint64 // of dividends and divisors, and two registers
	rest   int64      // elements of a row behind those that come before whole vectors; 0 before and after
	tail   [16]byte   // small elements that do not fill a vector, as one
}

// StartRows is called before each call with several rows.
func (a *Args) StartRows() { a.singleAt = [MaxPointers]int64{} }

var (
	offCount   = int32(unsafe.Offsetof(Args{}.Count))
	offFirst   = int32(unsafe.Offsetof(Args{}.First))
	offIndex   = int32(unsafe.Offsetof(Args{}.index))
	offScratch = int32(unsafe.Offsetof(Args{}.Scratch))
	offPtr     = int32(unsafe.Offsetof(Args{}.Ptr))
	offUniform = int32(unsafe.Offsetof(Args{}.Uniform))
	offRows    = int32(unsafe.Offsetof(Args{}.Rows))
	offSkip    = int32(unsafe.Offsetof(Args{}.Skip))

	offFailed     = int32(unsafe.Offsetof(Args{}.Failed))
	offLanes      = int32(unsafe.Offsetof(Args{}.lanes))
	offRest       = int32(unsafe.Offsetof(Args{}.rest))
	offSingle     = int32(unsafe.Offsetof(Args{}.Single))
	offSingleSkip = int32(unsafe.Offsetof(Args{}.SingleSkip))
	offSingleAt   = int32(unsafe.Offsetof(Args{}.singleAt))
	offTail       = int32(unsafe.Offsetof(Args{}.tail))
)

// LaneBits returns the bits of a number of a type, which kernel.NumberBits gives, as a lane of a vector
// and Args.Uniform hold them: true is all ones, and small integers fill 32 bits.
func LaneBits(t tensor.DType, bits uint64) uint64 {
	switch t {
	case tensor.Bool:
		return -(bits & 1)
	case tensor.Int8:
		return uint64(int8(bits))
	case tensor.Uint8:
		return uint64(uint8(bits))
	case tensor.Int16:
		return uint64(int16(bits))
	}
	return bits
}

// Function is a kernel as machine code. It may run in many goroutines at once.
//
// An output that reduces receives one result for each row, in 8 bytes or, where lanes are smaller, in 4: a truth value is all ones.
type Function struct {
	Code     *asm.Code
	Scratch  int   // bytes of scratch memory
	Pointers []int // for each entry of Args.Ptr: the output, or the number of outputs and the input
}

// pointerRegs hold the addresses of operands. Where scratch memory is needed there is one less.
var pointerRegs = [...]asm.Reg{asm.RSI, asm.RBX, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13}

// Compile makes machine code of a kernel without operations that expand.Expand replaces. Bit i of
// uniform says that input i has one element for all. The error is ErrUnsupported where the instruction
// set cannot do what the kernel asks for.
func Compile(k *kernel.Kernel, uniform uint32, isa asm.ISA) (*Function, error) {
	return compile(k, uniform, isa, dearSide, false)
}

// StreamFrom is the number of bytes of outputs from which they go past the caches, which would not hold them: to store into a cache
// reads the memory first. Half as many bytes take as long either way, and who reads them next finds them in a cache.
const StreamFrom = 32 << 20

// StreamAlignment is what the addresses of outputs are multiples of where a function that CompileStreaming made runs.
const StreamAlignment = 64

// CompileStreaming is Compile for outputs that the caches do not hold: whole vectors go past them to the memory, which is then not read
// before it is written. Outputs lie at multiples of StreamAlignment, Rows is at most 1.
func CompileStreaming(k *kernel.Kernel, uniform uint32, isa asm.ISA) (*Function, error) {
	return compile(k, uniform, isa, dearSide, true)
}

// compile is Compile with branches around sides of choices that cost at least the given number.
func compile(k *kernel.Kernel, uniform uint32, isa asm.ISA, least int, streams bool) (f *Function, err error) {
	defer CatchUnsupported(&err)
	if isa == asm.None {
		return nil, ErrUnsupported
	}
	g := &Generator{Lowerer: Lowerer{ISA: isa, Kernel: k, least: least}, streams: streams}
	code := g.generate(uniform)
	f = &Function{Scratch: g.Scratch * isa.Width().Bytes(), Pointers: g.pointers}
	f.Code, err = asm.Place(code)
	return f, err
}

// CatchUnsupported, deferred, returns what Lowerer.Fail panics with as an error.
func CatchUnsupported(err *error) {
	if r := recover(); r != nil {
		u, ok := r.(unsupported)
		if !ok {
			panic(r)
		}
		*err = u.error
	}
}

// PrimitivesOf returns which of the instructions that not every target needs an instruction set has.
func PrimitivesOf(isa asm.ISA) expand.Primitives {
	return expand.Primitives{Scale: isa == asm.AVX512, Mantissa: isa == asm.AVX512}
}

// IsUnsupported reports whether an error of Compile says that the kernel is to be evaluated.
func IsUnsupported(err error) bool { return errors.Is(err, ErrUnsupported) }

// Generator writes the loop around the instructions of a kernel.
type Generator struct {
	Lowerer
	Asm      asm.Assembler
	Body     []machine
	Fixed    []int16
	Scratch  int
	Unroll   int
	stride   asm.Reg // of the registers of one vector of a round to those of the next, 0 where all use the same
	shared   asm.Reg // for what all vectors of a round read in memory; 0 where there is none left
	streams  bool    // whole vectors of outputs go past the caches
	pointers []int
	regOf    map[int]asm.Reg // of outputs and inputs, counted as in pointers
	Pool     asm.Label
	PoolData []byte
	masks    int32       // end of the ones of the mask table in the pool
	accReg   [][]asm.Reg // of each accumulator in registers, and round
	pipeline *pipeline   // nil where the body is none
	skips    []asm.Label // ends of the sides that are being emitted
}

func (g *Generator) generate(uniform uint32) []byte {
	g.Lower(uniform)
	g.assignPointers(uniform)
	g.chooseUnroll()
	g.order()
	g.LayOutPool()
	g.assignRegisters()
	for g.Unroll > 1 && g.stride == 0 && g.isLong() {
		g.Unroll /= 2
		g.assignRegisters()
	}
	g.makePipeline()
	g.Asm.ISA = g.ISA
	g.Asm.Code = make([]byte, 0, 1024)
	g.prologue()
	row := g.Asm.Here()
	g.startRow()
	g.loops()
	g.storeResults()
	g.nextRow(row)
	g.epilogue()
	return g.Asm.Code
}

// assignRegisters gives the body's values registers.
func (g *Generator) assignRegisters() {
	copies := 1
	if g.isLong() {
		copies = g.Unroll
	}
	a := newAllocator(&g.Lowerer, copies)
	g.Fixed = a.Fixed
	g.Body = a.Assign()
	g.Scratch = a.Scratch
	g.setStride(len(a.slots) > 0)
}

// assignPointers gives each operand that is walked a register.
func (g *Generator) assignPointers(uniform uint32) {
	g.regOf = map[int]asm.Reg{}
	k := g.Kernel
	add := func(i int) {
		if len(g.pointers) == len(pointerRegs) {
			g.Fail("more than %d operands", len(pointerRegs))
		}
		g.regOf[i] = pointerRegs[len(g.pointers)]
		g.pointers = append(g.pointers, i)
	}
	for i := range k.Outputs {
		add(i)
	}
	for i := range k.Inputs {
		if uniform>>i&1 == 0 {
			add(len(k.Outputs) + i)
		}
	}
}

// rounds returns how many accumulators a reduction has side by side. Truth values need no more than what hides latency where registers
// are few.
func (l *Lowerer) rounds(acc accumulator) int {
	t := l.Kernel.TypeOf(l.Kernel.Outputs[acc.output].Value)
	if t == tensor.Bool && l.ISA == asm.AVX2 {
		return 2
	}
	return max(1, tensorLanes(t)/l.Lanes)
}

// tensorLanes returns the partial results that a reduction over a type keeps. Those of Bool do not
// depend on their number.
func tensorLanes(t tensor.DType) int {
	if t.Size() < 4 {
		t = tensor.Int32
	}
	return kernel.ReduceLanes(t)
}

// accumulatorVectors returns how many registers, and how many vectors of scratch memory, reductions occupy.
func (l *Lowerer) accumulatorVectors() (inRegisters, inMemory int) {
	for _, acc := range l.accs {
		if acc.reg == none {
			inMemory += l.rounds(acc)
		} else {
			inRegisters += l.rounds(acc)
		}
	}
	return inRegisters, inMemory
}

// mostAccumulators is how many registers reductions occupy at most: the others are for what is reduced.
func (l *Lowerer) mostAccumulators() int {
	if l.ISA == asm.AVX512 {
		return 24
	}
	return 8
}

// A body of more than shortBody instructions is long: where there are registers for that, its instructions are written for several vectors in turn. Each
// waits for the one before it, and the more of them wait, the fewer of the vectors behind them the processor sees. Two vectors do for bodies up to twoVectors
// (gelu by long polynomials on Zen 5: 20 cycles a vector, so 16), longer ones have four (a hundred operators: 68 cycles by twos, 36 by fours).
const (
	shortBody  = 12
	twoVectors = 48
)

// isLong reports whether the body is long.
func (g *Generator) isLong() bool { return len(g.code) > shortBody && len(g.accs) == 0 }

// chooseUnroll picks how many vectors a round of the loop takes: as many as a reduction has
// accumulators, and several where the body is too short to hide latency, or there are registers for several.
func (g *Generator) chooseUnroll() {
	switch n := len(g.code); {
	case n <= 6:
		g.Unroll = 4
	case n <= shortBody:
		g.Unroll = 2
	case g.ISA == asm.AVX512 && n > twoVectors:
		g.Unroll = 4
	case g.ISA == asm.AVX512:
		g.Unroll = 2
	default:
		g.Unroll = 1
	}
	if len(g.accs) == 0 {
		return
	}
	g.Unroll = 1
	for _, acc := range g.accs {
		g.Unroll = max(g.Unroll, g.rounds(acc))
	}
	r := asm.Reg(g.ISA.Registers() - 1)
	if g.ISA != asm.AVX512 {
		r--
	}
	for _, acc := range g.accs {
		var regs []asm.Reg
		if acc.reg != none {
			for range g.rounds(acc) {
				regs = append(regs, r)
				r--
			}
		}
		g.accReg = append(g.accReg, regs)
	}
}

// LayOutPool places the constants behind the code.
func (g *Generator) LayOutPool() {
	vector := g.ISA.Width().Bytes()
	g.places = make([]int32, len(g.uniforms))
	for pass := range 2 { // vectors first, which are aligned
		for i := range g.uniforms {
			u := &g.uniforms[i]
			if u.slot >= 0 || (u.vector == nil) == (pass == 0) {
				continue
			}
			g.places[i] = int32(len(g.PoolData))
			switch {
			case u.vector != nil:
				g.PoolData = append(g.PoolData, u.vector...)
				for len(g.PoolData)%vector != 0 {
					g.PoolData = append(g.PoolData, 0)
				}
			case g.ISA == asm.AVX512:
				g.PoolData = appendNumber(g.PoolData, u)
			default:
				for range vector / int(u.size) {
					g.PoolData = appendNumber(g.PoolData, u)
				}
			}
		}
	}
	if g.ISA == asm.AVX2 && g.masksTail() {
		ones := g.Unroll * g.Lanes * 4 // masks of the elements of a whole round count from their end
		if g.mixed {
			ones *= 2
		}
		if g.hasPairs() {
			ones *= 2
		}
		for range ones {
			g.PoolData = append(g.PoolData, 0xff)
		}
		g.masks = int32(len(g.PoolData))
		g.PoolData = append(g.PoolData, make([]byte, 64)...)
	}
}

func appendNumber(b []byte, u *Uniform) []byte {
	if u.size == 8 {
		return binary.LittleEndian.AppendUint64(b, u.bits)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(u.bits))
}

// Expanded returns how many numbers among the arguments are spread over vectors in scratch memory:
// without embedded broadcasts, all.
func (l *Lowerer) Expanded() int {
	n := 0
	if l.ISA != asm.AVX512 {
		for i := range l.uniforms {
			if l.uniforms[i].slot >= 0 {
				n++
			}
		}
	}
	return n
}

// expandedPlace returns where the number i of the arguments is spread.
func (l *Lowerer) expandedPlace(i int) asm.Mem {
	n := 0
	for j := range i {
		if l.uniforms[j].slot >= 0 {
			n++
		}
	}
	return asm.At(ScratchReg, int32(n*l.ISA.Width().Bytes()))
}
