package amd64

import (
	"math"
	"math/bits"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// machine is an instruction with its registers.
type machine struct {
	Kind   kind
	op     asm.Op
	w      asm.Width
	imm    uint8
	size   uint8
	half   half
	Index  int16
	D, V   asm.Reg
	s      asm.Operand
	chosen asm.Operand // of pickWhere, where the comparison holds
	other  asm.Reg     // of pickWhere, elsewhere
}

// firstAccumulator is the number from which registers name accumulators, of which each round of an
// unrolled loop has its own.
const firstAccumulator asm.Reg = 64

// allocator assigns registers in one walk over straight-line code. Where registers run out, the value
// whose next use is farthest away waits in scratch memory.
type allocator struct {
	l         *Lowerer
	free      uint32
	where     []int16 // of each virtual register: its register, or -1
	spilled   []int16 // its place in scratch memory, or -1
	last      []int32 // its last use
	owner     [32]operand
	pinned    uint32  // registers that the current instruction uses
	temporary uint32  // those of them that hold a uniform for it
	Fixed     []int16 // of each uniform: the register it stays in, or -1
	Scratch   int     // vectors of scratch memory in use
	out       []machine
	at        int
	slots     []operand // values in the order in which they got places in scratch memory
	entered   []atBranch
	// Of a round of a pipeline: the registers of values that live from round to round, by value; all of them, which nothing else keeps; where the
	// next round's value is made, by register.
	home     []int16
	reserved uint32
	madeAt   []int32
}

// endOfRound is the last use of what the next round reads.
const endOfRound = math.MaxInt32

// base registers of memory that kernels use.
const (
	argsReg    = asm.RDI
	PoolReg    = asm.RDX
	countReg   = asm.RCX
	indexReg   = asm.RAX
	ScratchReg = asm.R15
	tempReg    = asm.R14
)

// maskReg is the vector register that holds the mask of a tail where there are no mask registers.
const maskReg asm.Reg = 15

// newAllocator returns an allocator of all registers, for code that is written so many times with registers of its own.
func newAllocator(l *Lowerer, copies int) *allocator {
	return allocatorIn(l, uint32(1<<l.ISA.Registers()-1), copies)
}

// NewAllocatorIn returns an allocator of some of the registers.
func NewAllocatorIn(l *Lowerer, registers uint32) *allocator { return allocatorIn(l, registers, 1) }

func allocatorIn(l *Lowerer, registers uint32, copies int) *allocator {
	a := allocatorOf(l, registers)
	a.hoist(copies)
	return a
}

// allocatorOf returns an allocator that keeps no uniforms in registers yet.
func allocatorOf(l *Lowerer, registers uint32) *allocator {
	inRegisters, inMemory := l.accumulatorVectors()
	a := &allocator{l: l, free: registers, Scratch: l.Expanded() + inMemory}
	if l.ISA != asm.AVX512 {
		a.free &^= 1 << maskReg
	}
	for r := range a.owner {
		a.owner[r] = none
	}
	places := make([]int16, 2*int(l.next))
	for i := range places {
		places[i] = -1
	}
	a.where, a.spilled, a.last = places[:l.next], places[l.next:], make([]int32, l.next)
	for range inRegisters {
		a.free &^= 1 << (bits.Len32(a.free) - 1)
	}
	for i := range l.code {
		for _, o := range l.code[i].args {
			switch {
			case o == none:
			case o.isUniform():
				l.uniforms[^o].uses++
			default:
				a.last[o] = int32(i)
			}
		}
	}
	for i, acc := range l.accs {
		if acc.reg != none {
			a.where[acc.reg], a.last[acc.reg] = int16(firstAccumulator)+int16(i), math.MaxInt32
		}
	}
	return a
}

// pressure returns the largest number of virtual registers that live at once.
func (a *allocator) pressure() int {
	live, most := 0, 0
	for i := range a.l.code {
		in := &a.l.code[i]
		if in.d != none && a.last[in.d] != math.MaxInt32 {
			live++
		}
		most = max(most, live)
		for j, o := range in.args {
			if o != none && !o.isUniform() && a.last[o] == int32(i) && firstUse(in, o) == j && a.homeOf(o) < 0 {
				live--
			}
		}
	}
	return most
}

// homeOf returns the register of a value that lives from round to round, -1 for others.
func (a *allocator) homeOf(o operand) int16 {
	if a.home == nil {
		return -1
	}
	return a.home[o]
}

// firstUse returns the first place of an operand among the arguments.
func firstUse(in *instruction, o operand) int {
	for j, x := range in.args {
		if x == o {
			return j
		}
	}
	return -1
}

// spareRegisters are for uniforms that an instruction needs in a register.
const spareRegisters = 3

// hoist keeps the most used uniforms in registers that so many copies of the code do not need.
func (a *allocator) hoist(copies int) {
	a.Fixed = make([]int16, len(a.l.uniforms))
	for i := range a.Fixed {
		a.Fixed[i] = -1
	}
	for room := bits.OnesCount32(a.free) - copies*(a.pressure()+spareRegisters); room > 0; room-- {
		best := -1
		for i := range a.l.uniforms {
			if uses := a.l.uniforms[i].uses; a.Fixed[i] < 0 && uses > 0 && (best < 0 || uses > a.l.uniforms[best].uses) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		r := bits.Len32(a.free) - 1
		a.free &^= 1 << r
		a.Fixed[best] = int16(r)
	}
}

// take returns a free register, making one free where there is none.
func (a *allocator) take() asm.Reg {
	if a.free == 0 {
		a.spill()
	}
	r := bits.TrailingZeros32(a.free)
	a.free &^= 1 << r
	a.owner[r] = none
	return asm.Reg(r)
}

// spill moves the value whose next use is farthest away to scratch memory.
func (a *allocator) spill() {
	victim, farthest := -1, -1
	for r, o := range a.owner {
		if o == none || (a.pinned|a.free|a.reserved)>>r&1 != 0 {
			continue
		}
		if next := a.nextUse(o); next > farthest {
			victim, farthest = r, next
		}
	}
	if victim < 0 {
		a.l.Fail("an instruction needs more registers than there are")
	}
	o := a.owner[victim]
	if a.spilled[o] < 0 {
		a.spilled[o] = int16(a.Scratch)
		a.slots = append(a.slots, o)
		a.Scratch++
		a.out = append(a.out, machine{op: asm.MOVUPSstore, w: a.l.ISA.Width(), D: asm.Reg(victim), s: asm.M(a.slot(o))})
	}
	a.where[o] = -1
	a.owner[victim] = none
	a.free |= 1 << victim
}

// slot returns where a spilled value lies.
func (a *allocator) slot(o operand) asm.Mem {
	return asm.At(ScratchReg, int32(int(a.spilled[o])*a.l.ISA.Width().Bytes()))
}

func (a *allocator) nextUse(o operand) int {
	for i := a.at; i < len(a.l.code); i++ {
		if firstUse(&a.l.code[i], o) >= 0 {
			return i
		}
	}
	return math.MaxInt32
}

// reg returns the register of an operand, loading it where it lies in memory, and pins it.
func (a *allocator) reg(o operand) asm.Reg {
	if o.isUniform() {
		if r := a.Fixed[^o]; r >= 0 {
			return asm.Reg(r)
		}
		r := a.take()
		a.pinned |= 1 << r
		a.temporary |= 1 << r
		a.out = append(a.out, a.l.ReadUniform(r, int(^o)))
		return r
	}
	r := a.where[o]
	if r >= int16(firstAccumulator) {
		return asm.Reg(r)
	}
	if r < 0 {
		t := a.take()
		a.out = append(a.out, machine{op: asm.MOVUPS, w: a.l.ISA.Width(), D: t, s: asm.M(a.slot(o))})
		a.where[o], a.owner[t], r = int16(t), o, int16(t)
	}
	a.pinned |= 1 << r
	return asm.Reg(r)
}

// source returns an operand as the last one of an instruction, which may lie in memory.
func (a *allocator) source(o operand, op asm.Op) asm.Operand {
	if o.isUniform() && a.Fixed[^o] < 0 {
		if m, ok := a.l.fold(int(^o), op); ok {
			return m
		}
	}
	return asm.R(a.reg(o))
}

// dies reports whether the current instruction is the last to use a value that is in a register of its own.
func (a *allocator) dies(o operand) bool {
	return o != none && !o.isUniform() && a.last[o] == int32(a.at) && a.where[o] >= 0 && a.where[o] < int16(firstAccumulator)
}

// finish frees what the current instruction used last.
func (a *allocator) finish(in *instruction) {
	for _, o := range in.args {
		if a.dies(o) {
			r := a.where[o]
			if a.owner[r] == o {
				a.free |= 1 << r &^ a.reserved
				a.owner[r] = none
			}
			a.where[o] = -1
		}
	}
	a.free |= a.temporary
	a.temporary, a.pinned = 0, 0
}

// define gives the result of an instruction a register, after its arguments are free.
func (a *allocator) define(in *instruction) asm.Reg {
	a.finish(in)
	return a.bind(in.d, none)
}

// bind makes a register that of a value; the register is r, or a free one.
func (a *allocator) bind(o operand, r operand) asm.Reg {
	if acc := a.where[o]; acc >= int16(firstAccumulator) {
		return asm.Reg(acc)
	}
	if home := a.homeOf(o); home >= 0 {
		a.where[o] = home
		return asm.Reg(home)
	}
	if r == none {
		r = operand(a.take())
	}
	a.where[o], a.owner[r] = int16(r), o
	return asm.Reg(r)
}

// over returns a register that holds in.args[place] and becomes the result: the argument's own where
// nobody needs it any more, or a copy.
func (a *allocator) over(in *instruction, place int, from asm.Reg) asm.Reg {
	o := in.args[place]
	if home := a.homeOf(in.d); home >= 0 {
		a.out = append(a.out, machine{op: asm.MOVAPS, w: in.w, D: asm.Reg(home), s: asm.R(from)})
		a.finish(in)
		return a.bind(in.d, none)
	}
	once := true
	for j, x := range in.args {
		once = once && (j == place || x != o)
	}
	switch {
	case o.isUniform() && a.temporary>>from&1 != 0 && from < 32 && once:
		a.temporary &^= 1 << from
		a.finish(in)
		return a.bind(in.d, operand(from))
	case once && a.dies(o) && (a.reserved>>from&1 == 0 || a.last[in.d] < a.madeAt[from]):
		a.where[o] = -1
		a.owner[from] = none
		a.finish(in)
		return a.bind(in.d, operand(from))
	}
	d := a.bind(in.d, none)
	a.out = append(a.out, machine{op: asm.MOVAPS, w: in.w, D: d, s: asm.R(from)})
	a.finish(in)
	return d
}
