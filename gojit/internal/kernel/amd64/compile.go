package amd64

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
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
	Code     *Code
	Scratch  int   // bytes of scratch memory
	Pointers []int // for each entry of Args.Ptr: the output, or the number of outputs and the input
}

// pointerRegs hold the addresses of operands. Where scratch memory is needed there is one less.
var pointerRegs = [...]Reg{RSI, RBX, R8, R9, R10, R11, R12, R13}

// Compile makes machine code of a kernel without operations that kernel.Expand replaces. Bit i of
// uniform says that input i has one element for all. The error is ErrUnsupported where the instruction
// set cannot do what the kernel asks for.
func Compile(k *kernel.Kernel, uniform uint32, isa ISA) (*Function, error) {
	return compile(k, uniform, isa, dearSide, false)
}

// StreamFrom is the number of bytes of outputs from which they go past the caches, which would not hold them: to store into a cache
// reads the memory first. Half as many bytes take as long either way, and who reads them next finds them in a cache.
const StreamFrom = 32 << 20

// StreamAlignment is what the addresses of outputs are multiples of where a function that CompileStreaming made runs.
const StreamAlignment = 64

// CompileStreaming is Compile for outputs that the caches do not hold: whole vectors go past them to the memory, which is then not read
// before it is written. Outputs lie at multiples of StreamAlignment, Rows is at most 1.
func CompileStreaming(k *kernel.Kernel, uniform uint32, isa ISA) (*Function, error) {
	return compile(k, uniform, isa, dearSide, true)
}

// compile is Compile with branches around sides of choices that cost at least the given number.
func compile(k *kernel.Kernel, uniform uint32, isa ISA, least int, streams bool) (f *Function, err error) {
	defer catchUnsupported(&err)
	if isa == None {
		return nil, ErrUnsupported
	}
	g := &generator{lowerer: lowerer{isa: isa, kernel: k, least: least}, streams: streams}
	code := g.generate(uniform)
	f = &Function{Scratch: g.scratch * isa.Width().Bytes(), Pointers: g.pointers}
	f.Code, err = Place(code)
	return f, err
}

// catchUnsupported, deferred, returns what lowerer.fail panics with as an error.
func catchUnsupported(err *error) {
	if r := recover(); r != nil {
		u, ok := r.(unsupported)
		if !ok {
			panic(r)
		}
		*err = u.error
	}
}

// Primitives returns which of the instructions that not every target needs this one has.
func (i ISA) Primitives() kernel.Primitives {
	return kernel.Primitives{Scale: i == AVX512, Mantissa: i == AVX512}
}

// IsUnsupported reports whether an error of Compile says that the kernel is to be evaluated.
func IsUnsupported(err error) bool { return errors.Is(err, ErrUnsupported) }

// generator writes the loop around the instructions of a kernel.
type generator struct {
	lowerer
	asm      Assembler
	body     []machine
	fixed    []int16
	scratch  int
	unroll   int
	stride   Reg  // of the registers of one vector of a round to those of the next, 0 where all use the same
	streams  bool // whole vectors of outputs go past the caches
	pointers []int
	regOf    map[int]Reg // of outputs and inputs, counted as in pointers
	pool     Label
	poolData []byte
	masks    int32   // end of the ones of the mask table in the pool
	accReg   [][]Reg // of each accumulator and round
	skips    []Label // ends of the sides that are being emitted
}

func (g *generator) generate(uniform uint32) []byte {
	g.lower(uniform)
	g.assignPointers(uniform)
	g.chooseUnroll()
	g.layOutPool()
	a := newAllocator(&g.lowerer)
	g.fixed = a.fixed
	g.body = a.assign()
	g.scratch = a.scratch
	g.setStride(len(a.slots) > 0)
	g.asm.ISA = g.isa
	g.asm.Code = make([]byte, 0, 1024)
	g.prologue()
	row := g.asm.Here()
	g.startRow()
	g.loops()
	g.storeResults()
	g.nextRow(row)
	g.epilogue()
	return g.asm.Code
}

// assignPointers gives each operand that is walked a register.
func (g *generator) assignPointers(uniform uint32) {
	g.regOf = map[int]Reg{}
	k := g.kernel
	add := func(i int) {
		if len(g.pointers) == len(pointerRegs) {
			g.fail("more than %d operands", len(pointerRegs))
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

// rounds returns how many accumulators a reduction has side by side.
func (l *lowerer) rounds(acc accumulator) int {
	bytes := tensorLanes(l.kernel.TypeOf(l.kernel.Outputs[acc.output].Value))
	return max(1, bytes/l.lanes)
}

// tensorLanes returns the partial results that a reduction over a type keeps. Those of Bool do not
// depend on their number.
func tensorLanes(t tensor.DType) int {
	if t.Size() < 4 {
		t = tensor.Int32
	}
	return kernel.ReduceLanes(t)
}

// accumulatorRegisters returns how many registers reductions occupy.
func (l *lowerer) accumulatorRegisters() int {
	n := 0
	for _, acc := range l.accs {
		n += l.rounds(acc)
	}
	return n
}

// chooseUnroll picks how many vectors a round of the loop takes: as many as a reduction has
// accumulators, and several where the body is too short to hide latency.
func (g *generator) chooseUnroll() {
	switch n := len(g.code); {
	case n <= 6:
		g.unroll = 4
	case n <= 12:
		g.unroll = 2
	default:
		g.unroll = 1
	}
	if len(g.accs) == 0 {
		return
	}
	g.unroll = 1
	for _, acc := range g.accs {
		g.unroll = max(g.unroll, g.rounds(acc))
	}
	r := Reg(g.isa.Registers() - 1)
	if g.isa != AVX512 {
		r--
	}
	for _, acc := range g.accs {
		var regs []Reg
		for range g.rounds(acc) {
			regs = append(regs, r)
			r--
			if r > 200 {
				g.fail("%d reductions at once", len(g.accs))
			}
		}
		g.accReg = append(g.accReg, regs)
	}
}

// layOutPool places the constants behind the code.
func (g *generator) layOutPool() {
	vector := g.isa.Width().Bytes()
	g.places = make([]int32, len(g.uniforms))
	for pass := range 2 { // vectors first, which are aligned
		for i := range g.uniforms {
			u := &g.uniforms[i]
			if u.slot >= 0 || (u.vector == nil) == (pass == 0) {
				continue
			}
			g.places[i] = int32(len(g.poolData))
			switch {
			case u.vector != nil:
				g.poolData = append(g.poolData, u.vector...)
				for len(g.poolData)%vector != 0 {
					g.poolData = append(g.poolData, 0)
				}
			case g.isa == AVX512:
				g.poolData = appendNumber(g.poolData, u)
			default:
				for range vector / int(u.size) {
					g.poolData = appendNumber(g.poolData, u)
				}
			}
		}
	}
	if g.isa == AVX2 && g.masksTail() {
		ones := 256 // as many bytes as the accumulators of a reduction, from whose end masks of several rounds count
		if g.hasPairs() {
			ones *= 2
		}
		for range ones {
			g.poolData = append(g.poolData, 0xff)
		}
		g.masks = int32(len(g.poolData))
		g.poolData = append(g.poolData, make([]byte, 64)...)
	}
}

func appendNumber(b []byte, u *uniform) []byte {
	if u.size == 8 {
		return binary.LittleEndian.AppendUint64(b, u.bits)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(u.bits))
}

// expanded returns how many numbers among the arguments are spread over vectors in scratch memory:
// without embedded broadcasts, all.
func (l *lowerer) expanded() int {
	n := 0
	if l.isa != AVX512 {
		for i := range l.uniforms {
			if l.uniforms[i].slot >= 0 {
				n++
			}
		}
	}
	return n
}

// expandedPlace returns where the number i of the arguments is spread.
func (l *lowerer) expandedPlace(i int) Mem {
	n := 0
	for j := range i {
		if l.uniforms[j].slot >= 0 {
			n++
		}
	}
	return At(scratchReg, int32(n*l.isa.Width().Bytes()))
}
