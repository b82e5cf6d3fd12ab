package asm

// Reg is a general register, or the number of a vector or mask register.
type Reg uint8

// The general registers. Kernels leave RSP and RBP alone.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// Width is the length of a vector register.
type Width uint8

// The vector lengths: XMM, YMM and ZMM registers.
const (
	W128 Width = iota
	W256
	W512
)

// Bytes returns the size of a vector.
func (w Width) Bytes() int { return 16 << w }

// Mem is the memory at Base + Index*Scale + Disp; Scale 0 means that there is no index.
type Mem struct {
	Base, Index Reg
	Scale       uint8
	Disp        int32
}

// At returns the memory at an offset from a register.
func At(base Reg, disp int32) Mem { return Mem{Base: base, Disp: disp} }

// Indexed returns the memory at base + index*scale + disp.
func Indexed(base, index Reg, scale uint8, disp int32) Mem {
	return Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

// Operand is the last source of a vector instruction, or where a store goes.
type Operand struct {
	mem  Mem
	Reg  Reg
	Kind operandKind
}

type operandKind uint8

const (
	IsReg operandKind = iota
	isMem
	isSplat
)

// R is a register as an operand.
func R(r Reg) Operand { return Operand{Reg: r} }

// M is memory as an operand.
func M(m Mem) Operand { return Operand{mem: m, Kind: isMem} }

// Splat is one element in memory that every lane receives; AVX-512 only.
func Splat(m Mem) Operand { return Operand{mem: m, Kind: isSplat} }

// InMemory returns an operand's place in memory, and reports whether it is there and whether every lane receives one element.
func (o Operand) InMemory() (m Mem, isSplatted, ok bool) {
	return o.mem, o.Kind == isSplat, o.Kind != IsReg
}

// ISA is a set of instructions that code is made for.
type ISA uint8

// The instruction sets, each a superset of those before it.
const (
	None ISA = iota // no machine code
	Baseline
	AVX2
	AVX512
)

var isaNames = [...]string{"eval", "baseline", "avx2", "avx512"}

// String returns the name that GOJIT_TARGET knows the set by.
func (i ISA) String() string { return isaNames[i] }

// Registers returns how many vector registers there are.
func (i ISA) Registers() int {
	if i == AVX512 {
		return 32
	}
	return 16
}

// Width returns the widest vector.
func (i ISA) Width() Width {
	switch i {
	case AVX512:
		return W512
	case AVX2:
		return W256
	}
	return W128
}
