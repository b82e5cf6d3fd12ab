package amd64

import (
	"errors"
	"fmt"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ErrUnsupported is what Compile's error wraps where an instruction set lacks what a kernel needs.
var ErrUnsupported = errors.New("not supported by the machine code target")

// operand of an instruction before registers are assigned: a virtual register, or the complement of
// the number of a uniform.
type operand int32

// none marks an operand that is not there.
const none operand = math.MaxInt32

func (o operand) isUniform() bool { return o < 0 }

// Uniform is a number that is the same for all elements, or a vector constant.
type Uniform struct {
	bits   uint64
	size   uint8  // 4 or 8: bytes of the number
	slot   int16  // place among the arguments; -1: a constant
	vector []byte // instead of a number: one constant for each lane
	uses   int
}

type kind uint8

const (
	plain       kind = iota // d = op(args); the last argument may be memory
	move                    // d = args[0]
	LoadInput               // d = elements of input `index`
	StoreOut                // elements of output `index` = args[0]
	fusedMul                // d = args[0]*args[1] + args[2]; op is the 231 form
	compareTo               // d = lanes of ones where args compare; AVX-512
	pickWhere               // d = args[2] where args[0] compares with args[1], args[3] elsewhere; AVX-512
	keepNaN                 // d = args[0], but args[1] where that is NaN; AVX-512
	index                   // d = number of the first element of the vector, in every lane
	skipSide                // goes to the matching endSide where no lane of a mask is set or, with an index, where all are
	checkNone               // Args.Failed is set where a lane of a mask is
	divideLanes             // d = args[0] / args[1] of 64 bits
	endSide                 // d = args[0], or anything where the code before it was skipped
	readPartial             // d = the partial result of accumulator `index`-1, which lies in scratch memory
	keepPartial             // that result = args[0]
)

// instruction works on virtual registers. Each virtual register is written once, but accumulators,
// which are written once in every round of the loop.
type instruction struct {
	kind  kind
	op    asm.Op
	w     asm.Width
	imm   uint8
	size  uint8 // bytes of an element in memory, of loads and stores
	half  half  // of complex elements in memory
	tied  bool  // d is written over args[0]
	index int16
	d     operand
	args  [4]operand
}

// Lowerer selects instructions for a kernel.
type Lowerer struct {
	ISA      asm.ISA
	Kernel   *kernel.Kernel
	uniforms []Uniform
	code     []instruction
	values   []operand // of each kernel value
	boolWide []bool    // masks that have lanes of 64 bits
	next     operand   // virtual register
	mixed    bool      // there are values of 64 bits
	Lanes    int
	accs     []accumulator
	places   []int32                       // of each constant in the pool
	indices  map[operand][]operand         // what lookups with an index have in common
	params   int                           // numbers of the parameters among the arguments
	singles  []rowNumber                   // inputs with one number for all elements
	pairs    map[kernel.Value]*pairedParts // of each complex value
	least    int                           // cost from which a side of a choice has a branch; 0: there are no branches
	sides    sides
	side     int32  // the side being written, 0 outside
	numberAt []int  // places of the parameters among the arguments
	inputAt  []int  // and of the inputs that are the same for all elements
	uniform  uint32 // the set of these inputs
}

// rowNumber is where an input's number is among the arguments. Its size is zero where later rows have no other.
type rowNumber struct{ slot, size int }

// accumulator is the partial result of an output that reduces, in a register that lasts through the loop or in scratch memory.
type accumulator struct {
	reg      operand // none where it is in memory
	place    int     // in memory, among the vectors of all that are
	identity operand
	w        asm.Width
	wide     bool // lanes have 64 bits
	output   int
}

type unsupported struct{ error }

func (l *Lowerer) Fail(format string, args ...any) {
	panic(unsupported{fmt.Errorf("%w (%s): %s", ErrUnsupported, l.ISA, fmt.Sprintf(format, args...))})
}

// Lower selects instructions for every value and output of the kernel.
func (l *Lowerer) Lower(uniformInputs uint32) {
	k := l.Kernel
	used := k.Used() // of inputs, those whose elements matter
	for i := range k.Instrs {
		if in := &k.Instrs[i]; used[i] {
			l.mixed = l.mixed || wideType(in.Type) || in.Op == kernel.Load && wideType(k.Inputs[in.Imm]) || in.Type == tensor.Int32 && IsDivision(in)
		}
	}
	for _, o := range k.Outputs {
		l.mixed = l.mixed || wideType(o.DType) && o.Reduce == kernel.NoReduce
	}
	l.Lanes = l.ISA.Width().Bytes() / 4
	if l.mixed {
		l.Lanes /= 2
	}
	l.values = make([]operand, len(k.Instrs))
	l.boolWide = make([]bool, len(k.Instrs))
	l.uniform = uniformInputs
	l.numberAt, l.inputAt = l.placeNumbers(uniformInputs)
	if l.least > 0 {
		l.findSides(l.least)
	}
	for i := range k.Instrs {
		if used[i] && !l.waits(i) {
			l.instruction(i)
		}
	}
	for i, o := range k.Outputs {
		if o.Reduce != kernel.NoReduce {
			l.accumulate(i, o)
			continue
		}
		l.store(i, o)
	}
	l.joinExact()
	l.prune()
}

// instruction selects what one instruction of the kernel needs.
func (l *Lowerer) instruction(i int) {
	in := &l.Kernel.Instrs[i]
	uniform := in.Op == kernel.Load && l.uniform>>in.Imm&1 != 0
	switch {
	case in.Type.IsComplex():
		slot := 0
		if in.Op == kernel.Param {
			slot = l.numberAt[in.Imm]
		} else if in.Op == kernel.Load {
			slot = l.inputAt[in.Imm]
		}
		l.complexValue(kernel.Value(i), in, slot, uniform)
	case uniform:
		l.values[i] = l.slot(in.Type, l.inputAt[in.Imm])
	case in.Op == kernel.Param:
		l.values[i] = l.slot(in.Type, l.numberAt[in.Imm])
	default:
		l.values[i] = l.value(kernel.Value(i), in)
	}
}

// placeNumbers returns the places of the parameters, and of the inputs that are the same for all elements, among the arguments.
func (l *Lowerer) placeNumbers(uniformInputs uint32) (params, inputs []int) {
	k := l.Kernel
	paramTypes, inputTypes := make([]tensor.DType, k.Params), make([]tensor.DType, len(k.Inputs))
	for i := range k.Instrs {
		switch in := &k.Instrs[i]; in.Op {
		case kernel.Param:
			paramTypes[in.Imm] = in.Type
		case kernel.Load:
			inputTypes[in.Imm] = in.Type
		}
	}
	next := 0
	place := func(t tensor.DType, taken bool) int {
		at := next
		if taken {
			next += Slots(t)
		}
		return at
	}
	for _, t := range paramTypes {
		params = append(params, place(t, true))
	}
	l.params = next
	for i, t := range inputTypes {
		taken := uniformInputs>>i&1 != 0
		if taken {
			l.singles = append(l.singles, rowNumber{slot: next, size: t.Size()})
			if t.IsComplex() || t.Size() < 4 {
				l.singles[len(l.singles)-1].size = 0
			}
		}
		inputs = append(inputs, place(t, taken))
	}
	if next > MaxUniforms {
		l.Fail("%d numbers", next)
	}
	return params, inputs
}

// width returns the vector that holds all lanes of a type.
func (l *Lowerer) width(wide bool) asm.Width {
	if wide || !l.mixed || l.ISA == asm.Baseline {
		return l.ISA.Width()
	}
	return l.ISA.Width() - 1
}

// isWide reports whether the lanes of a value have 64 bits.
func (l *Lowerer) isWide(v kernel.Value) bool {
	if t := l.Kernel.TypeOf(v); t != tensor.Bool {
		return wideType(t)
	}
	return l.boolWide[v]
}

func (l *Lowerer) fresh() operand {
	l.next++
	return l.next - 1
}

func (l *Lowerer) emit(in instruction) operand {
	if in.d == none {
		in.d = l.fresh()
	}
	l.code = append(l.code, in)
	return in.d
}

// one emits d = op(x).
func (l *Lowerer) one(op asm.Op, w asm.Width, x operand) operand {
	return l.emit(instruction{op: op, w: w, d: none, args: [4]operand{x, none, none, none}})
}

// two emits d = op(x, y).
func (l *Lowerer) two(op asm.Op, w asm.Width, x, y operand) operand {
	return l.emit(instruction{op: op, w: w, d: none, tied: l.ISA == asm.Baseline, args: [4]operand{x, y, none, none}})
}

func (l *Lowerer) twoImm(op asm.Op, w asm.Width, x, y operand, imm uint8) operand {
	return l.emit(instruction{op: op, w: w, d: none, imm: imm, tied: l.ISA == asm.Baseline, args: [4]operand{x, y, none, none}})
}

func (l *Lowerer) oneImm(op asm.Op, w asm.Width, x operand, imm uint8) operand {
	tied := l.ISA == asm.Baseline && asm.Ops[op].Form == asm.Vmi
	return l.emit(instruction{op: op, w: w, d: none, imm: imm, tied: tied, args: [4]operand{x, none, none, none}})
}

// number makes a constant of 4 or 8 bytes.
func (l *Lowerer) number(bits uint64, wide bool) operand {
	size := uint8(4)
	if wide {
		size = 8
	}
	for i := range l.uniforms {
		if u := &l.uniforms[i]; u.slot < 0 && u.vector == nil && u.bits == bits && u.size == size {
			return ^operand(i)
		}
	}
	l.uniforms = append(l.uniforms, Uniform{bits: bits, size: size, slot: -1})
	return ^operand(len(l.uniforms) - 1)
}

// vector makes a constant with a value of its own for each lane.
func (l *Lowerer) vector(data []byte) operand {
	for i := range l.uniforms {
		if string(l.uniforms[i].vector) == string(data) {
			return ^operand(i)
		}
	}
	l.uniforms = append(l.uniforms, Uniform{vector: data, slot: -1})
	return ^operand(len(l.uniforms) - 1)
}

// slot makes a number that is among the arguments.
func (l *Lowerer) slot(t tensor.DType, at int) operand {
	size := uint8(4)
	if wideType(t) {
		size = 8
	}
	l.uniforms = append(l.uniforms, Uniform{size: size, slot: int16(at)})
	return ^operand(len(l.uniforms) - 1)
}

func (l *Lowerer) ones(wide bool) operand {
	if wide {
		return l.number(math.MaxUint64, true)
	}
	return l.number(math.MaxUint32, false)
}

// pair picks the operation for lanes of 32 or 64 bits.
func pair(wide bool, narrow, double asm.Op) asm.Op {
	if wide {
		return double
	}
	return narrow
}

func (l *Lowerer) and(wide bool, x, y operand) operand {
	return l.two(pair(wide, asm.ANDPS, asm.ANDPD), l.width(wide), x, y)
}

func (l *Lowerer) or(wide bool, x, y operand) operand {
	return l.two(pair(wide, asm.ORPS, asm.ORPD), l.width(wide), x, y)
}

func (l *Lowerer) xor(wide bool, x, y operand) operand {
	return l.two(pair(wide, asm.XORPS, asm.XORPD), l.width(wide), x, y)
}

// andNot is y without the bits of x.
func (l *Lowerer) andNot(wide bool, x, y operand) operand {
	return l.two(pair(wide, asm.ANDNPS, asm.ANDNPD), l.width(wide), x, y)
}

// choose takes x where the mask has ones and y elsewhere.
func (l *Lowerer) choose(wide bool, mask, x, y operand) operand {
	w := l.width(wide)
	switch l.ISA {
	case asm.AVX512:
		return l.emit(instruction{op: pair(wide, asm.PTERNLOGD, asm.PTERNLOGQ), w: w, d: none, imm: 0xca, tied: true, args: [4]operand{mask, x, y, none}})
	case asm.AVX2:
		return l.emit(instruction{op: pair(wide, asm.BLENDVPS, asm.BLENDVPD), w: w, d: none, args: [4]operand{y, x, mask, none}})
	}
	return l.or(wide, l.and(wide, mask, x), l.andNot(wide, mask, y))
}

// Predicates of floating comparisons; those of integers agree where both exist.
const (
	cmpEqual     = 0
	cmpLess      = 1
	cmpLessEqual = 2
	cmpUnordered = 3
	cmpNotEqual  = 4
)

// compareFloats makes a mask.
func (l *Lowerer) compareFloats(wide bool, predicate uint8, x, y operand) operand {
	op, w := pair(wide, asm.CMPPS, asm.CMPPD), l.width(wide)
	if l.ISA == asm.AVX512 {
		return l.emit(instruction{kind: compareTo, op: op, w: w, d: none, imm: predicate, args: [4]operand{x, y, none, none}})
	}
	return l.twoImm(op, w, x, y, predicate)
}

// compareIntegers makes a mask.
func (l *Lowerer) compareIntegers(wide bool, predicate uint8, x, y operand) operand {
	w := l.width(wide)
	if l.ISA == asm.AVX512 {
		return l.emit(instruction{kind: compareTo, op: pair(wide, asm.PCMPD, asm.PCMPQ), w: w, d: none, imm: predicate, args: [4]operand{x, y, none, none}})
	}
	switch predicate {
	case cmpEqual:
		return l.two(pair(wide, asm.PCMPEQD, asm.PCMPEQQ), w, x, y)
	case cmpNotEqual:
		return l.xor(wide, l.two(pair(wide, asm.PCMPEQD, asm.PCMPEQQ), w, x, y), l.ones(wide))
	case cmpLess:
		return l.two(pair(wide, asm.PCMPGTD, asm.PCMPGTQ), w, y, x)
	}
	return l.xor(wide, l.two(pair(wide, asm.PCMPGTD, asm.PCMPGTQ), w, x, y), l.ones(wide))
}

// maskAs changes the lanes of a mask.
func (l *Lowerer) maskAs(m operand, from, to bool) operand {
	if from == to {
		return m
	}
	if to {
		return l.one(asm.PMOVSXDQ, l.width(true), m)
	}
	return l.narrow(m)
}

// narrow takes the low halves of 64-bit lanes.
func (l *Lowerer) narrow(x operand) operand {
	switch l.ISA {
	case asm.AVX512:
		return l.one(asm.PMOVQDstore, asm.W512, x)
	case asm.AVX2:
		return l.two(asm.PERMD, asm.W256, l.vector(int32Bytes(0, 2, 4, 6, 0, 2, 4, 6)), x)
	}
	return l.oneImm(asm.PSHUFD, asm.W128, x, 0x08)
}

func int32Bytes(v ...int32) []byte {
	var b []byte
	for _, x := range v {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return b
}
