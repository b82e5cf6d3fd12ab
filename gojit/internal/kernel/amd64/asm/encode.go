package asm

import (
	"encoding/binary"
	"fmt"
)

// opInfo describes the encodings of a vector instruction.
type opInfo struct {
	name     string
	evexName string // where AVX-512 names it differently
	opmap    byte
	prefix   byte
	code     byte
	Form     opForm
	Mem      memForm
	w        wBit
	sets     opSet
	ext      byte // digit in place of a register, of shifts
	flags    opFlags
}

// Opcode maps and prefixes as VEX and EVEX number them.
const (
	m0F = 1
	m38 = 2
	m3A = 3

	np  = 0
	p66 = 1
	pF3 = 2
	pF2 = 3
)

// opForm says which operands there are: r is ModRM.reg, v the extra source, m register or memory,
// i an immediate byte.
type opForm uint8

const (
	rvm  opForm = iota // d = v op s
	rm                 // d = op s
	mr                 // s = d
	rvmi               // d = v op s, imm
	rmi                // d = op s, imm
	mri                // s = d, imm
	Vmi                // d = op s, imm; the digit ext is in ModRM.reg
	rvmr               // d = v op s, fourth register in the immediate
	mvr                // s = d where v
)

// memForm tells the size of the memory operand, which EVEX scales its short offsets by.
type memForm uint8

const (
	Full32 memForm = iota // a vector, or one element of four bytes for every lane
	Full64
	FullMem // a vector
	half32  // half a vector, or one element of four bytes
	halfMem
	quarterMem
	elem4
	elem8
	mem16
)

// wBit is the W bit of EVEX and of VEX.
type wBit uint8

const (
	w0  wBit = iota
	w1e      // set in EVEX only
	w1       // set in both
)

type opSet uint8

const (
	legacy opSet = 1 << iota
	vex
	evex
)

type opFlags uint16

const (
	toMask     opFlags = 1 << iota // EVEX form writes a mask register
	fromMask                       // reads a mask register
	memOnly                        // the last operand must be memory
	scalar                         // one element
	fromScalar                     // a register source is an XMM
	narrow                         // the result is half as wide
	wide                           // at least 256 bits
	only256
)

// Assembler appends encoded instructions to Code. Its methods panic on operands that an instruction
// does not have: that is a mistake in a generator.
type Assembler struct {
	Code   []byte
	ISA    ISA
	labels []labelState
	fixups []fixup
}

// Reset empties the assembler and keeps its memory.
func (a *Assembler) Reset(isa ISA) {
	a.Code, a.labels, a.fixups, a.ISA = a.Code[:0], a.labels[:0], a.fixups[:0], isa
}

// V emits d = v op s. Instructions of one source ignore v; stores write d to s.
func (a *Assembler) V(op Op, w Width, d, v Reg, s Operand) { a.vector(op, w, d, v, s, 0, false, 0) }

// VImm is V for instructions with an immediate byte, or with a fourth register.
func (a *Assembler) VImm(op Op, w Width, d, v Reg, s Operand, imm uint8) {
	a.vector(op, w, d, v, s, 0, false, imm)
}

// VMask is V for the lanes chosen by mask register k; the others keep their value or, where zero is
// set, become zero. AVX-512 only. Memory behind masked lanes is not touched.
func (a *Assembler) VMask(op Op, w Width, d, v Reg, s Operand, k Reg, zero bool) {
	a.vector(op, w, d, v, s, k, zero, 0)
}

// VMaskImm is VMask with an immediate byte.
func (a *Assembler) VMaskImm(op Op, w Width, d, v Reg, s Operand, k Reg, zero bool, imm uint8) {
	a.vector(op, w, d, v, s, k, zero, imm)
}

func (a *Assembler) vector(op Op, w Width, d, v Reg, s Operand, k Reg, zero bool, imm uint8) {
	o := &Ops[op]
	switch {
	case a.ISA == AVX512 && o.sets&evex != 0:
		a.evexForm(o, w, d, v, s, k, zero)
	case a.ISA >= AVX2 && o.sets&vex != 0 && k == 0 && s.Kind != isSplat:
		a.vexForm(o, w, d, v, s)
	case a.ISA == Baseline && o.sets&legacy != 0 && k == 0 && s.Kind != isSplat && w == W128:
		a.legacyForm(o, d, v, s)
	default:
		panic(fmt.Sprintf("amd64: %s is not encodable for %s", o.name, a.ISA))
	}
	switch o.Form {
	case rvmi, rmi, mri, Vmi:
		a.Code = append(a.Code, imm)
	case rvmr:
		a.Code = append(a.Code, imm<<4)
	}
}

// fields returns what goes into ModRM.reg and into the extra source.
func (o *opInfo) fields(d, v Reg) (reg, extra Reg) {
	switch o.Form {
	case rvm, rvmi, rvmr, mvr:
		return d, v
	case Vmi:
		return Reg(o.ext), d
	}
	return d, 0
}

// memBytes returns the size of the memory operand at a width.
func (o *opInfo) memBytes(w Width, splat bool) int32 {
	if splat {
		if o.Mem == Full64 {
			return 8
		}
		return 4
	}
	n := int32(w.Bytes())
	switch o.Mem {
	case half32, halfMem:
		return n / 2
	case quarterMem:
		return n / 4
	case elem4:
		return 4
	case elem8:
		return 8
	case mem16:
		return 16
	}
	return n
}

func (a *Assembler) evexForm(o *opInfo, w Width, d, v Reg, s Operand, k Reg, zero bool) {
	reg, extra := o.fields(d, v)
	p0 := o.opmap | 0xf0
	if reg&8 != 0 {
		p0 &^= 0x80
	}
	if reg&16 != 0 {
		p0 &^= 0x10
	}
	if s.Kind == IsReg {
		if s.Reg&16 != 0 {
			p0 &^= 0x40
		}
		if s.Reg&8 != 0 {
			p0 &^= 0x20
		}
	} else {
		if s.mem.Scale != 0 && s.mem.Index&8 != 0 {
			p0 &^= 0x40
		}
		if s.mem.Base&8 != 0 {
			p0 &^= 0x20
		}
	}
	p1 := byte(^extra&15)<<3 | 4 | o.prefix
	if o.w != w0 {
		p1 |= 0x80
	}
	p2 := byte(w)<<5 | byte(k)
	if extra&16 == 0 {
		p2 |= 8
	}
	if s.Kind == isSplat {
		p2 |= 0x10
	}
	if zero {
		p2 |= 0x80
	}
	a.Code = append(a.Code, 0x62, p0, p1, p2, o.code)
	a.operand(reg, s, o.memBytes(w, s.Kind == isSplat))
}

func (a *Assembler) vexForm(o *opInfo, w Width, d, v Reg, s Operand) {
	reg, extra := o.fields(d, v)
	wide := byte(0)
	if o.w == w1 {
		wide = 1
	}
	a.vexEncoding(o.opmap, wide, byte(w&1), o.prefix, o.code, reg, extra, s)
}

// vexEncoding writes an instruction in VEX form, with the shorter prefix where it says all.
func (a *Assembler) vexEncoding(opmap, w, long, prefix, code byte, reg, extra Reg, s Operand) {
	p0 := opmap | 0xe0
	if reg&8 != 0 {
		p0 &^= 0x80
	}
	base := s.Reg
	if s.Kind == isMem {
		base = s.mem.Base
		if s.mem.Scale != 0 && s.mem.Index&8 != 0 {
			p0 &^= 0x40
		}
	}
	if base&8 != 0 {
		p0 &^= 0x20
	}
	p1 := w<<7 | byte(^extra&15)<<3 | long<<2 | prefix
	if p0&0x7f == 0x61 && w == 0 {
		a.Code = append(a.Code, 0xc5, p0&0x80|p1, code)
	} else {
		a.Code = append(a.Code, 0xc4, p0, p1, code)
	}
	a.operand(reg, s, 1)
}

// legacyForm encodes an SSE instruction, whose first source is its result.
func (a *Assembler) legacyForm(o *opInfo, d, v Reg, s Operand) {
	reg, _ := o.fields(d, v)
	switch o.Form {
	case rvm, rvmi:
		if d != v {
			panic("amd64: " + o.name + " has two operands only")
		}
	case Vmi:
		if s.Kind != IsReg || s.Reg != d {
			panic("amd64: " + o.name + " has one operand only")
		}
	}
	if o.prefix != np {
		a.Code = append(a.Code, [...]byte{0, 0x66, 0xf3, 0xf2}[o.prefix])
	}
	rex := byte(0)
	if reg&8 != 0 {
		rex |= 4
	}
	base := s.Reg
	if s.Kind == isMem {
		base = s.mem.Base
		if s.mem.Scale != 0 && s.mem.Index&8 != 0 {
			rex |= 2
		}
	}
	if base&8 != 0 {
		rex |= 1
	}
	if rex != 0 {
		a.Code = append(a.Code, 0x40|rex)
	}
	a.Code = append(a.Code, 0x0f)
	switch o.opmap {
	case m38:
		a.Code = append(a.Code, 0x38)
	case m3A:
		a.Code = append(a.Code, 0x3a)
	}
	a.Code = append(a.Code, o.code)
	a.operand(reg, s, 1)
}

// operand writes ModRM, SIB and displacement; short displacements count in units.
func (a *Assembler) operand(reg Reg, s Operand, unit int32) {
	reg &= 7
	if s.Kind == IsReg {
		a.Code = append(a.Code, 0xc0|byte(reg)<<3|byte(s.Reg&7))
		return
	}
	m := &s.mem
	base := m.Base & 7
	mod, short := byte(2), false
	if m.Disp == 0 && base != 5 {
		mod = 0
	} else if m.Disp%unit == 0 && m.Disp/unit >= -128 && m.Disp/unit <= 127 {
		mod, short = 1, true
	}
	switch {
	case m.Scale != 0:
		scale := byte(0)
		for 1<<scale < m.Scale {
			scale++
		}
		a.Code = append(a.Code, mod<<6|byte(reg)<<3|4, scale<<6|byte(m.Index&7)<<3|byte(base))
	case base == 4:
		a.Code = append(a.Code, mod<<6|byte(reg)<<3|4, 0x24)
	default:
		a.Code = append(a.Code, mod<<6|byte(reg)<<3|byte(base))
	}
	switch {
	case short:
		a.Code = append(a.Code, byte(m.Disp/unit))
	case mod == 2:
		a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(m.Disp))
	}
}

// ZeroUpper ends the use of wide registers; every kernel for AVX2 and up does it before Ret.
func (a *Assembler) ZeroUpper() {
	if a.ISA >= AVX2 {
		a.Code = append(a.Code, 0xc5, 0xf8, 0x77)
	}
}
