package asm

import "encoding/binary"

// This file encodes what works on general and mask registers. Registers are 64 bits wide.

// Cond is the condition of a jump, as the processor numbers it.
type Cond uint8

// Conditions after a comparison; Below and Above are for unsigned numbers.
const (
	Below        Cond = 2
	AboveEqual   Cond = 3
	Equal        Cond = 4
	NotEqual     Cond = 5
	BelowEqual   Cond = 6
	Above        Cond = 7
	Sign         Cond = 8
	NotSign      Cond = 9
	Parity       Cond = 10 // after a comparison of floats: one is NaN
	NotParity    Cond = 11
	Less         Cond = 12
	GreaterEqual Cond = 13
	LessEqual    Cond = 14
	Greater      Cond = 15
)

// rex writes the prefix of an instruction with the registers r (ModRM.reg) and those of s.
func (a *Assembler) rex(w byte, r Reg, s Operand) {
	p := 0x40 | w<<3 | byte(r>>3)<<2
	base := s.Reg
	if s.Kind == isMem {
		base = s.mem.Base
		if s.mem.Scale != 0 {
			p |= byte(s.mem.Index>>3) << 1
		}
	}
	if p |= byte(base >> 3); p != 0x40 {
		a.Code = append(a.Code, p)
	}
}

func (a *Assembler) general(code byte, r Reg, s Operand) {
	a.rex(1, r, s)
	a.Code = append(a.Code, code)
	a.operand(r, s, 1)
}

// Load emits d = memory.
func (a *Assembler) Load(d Reg, m Mem) { a.general(0x8b, d, M(m)) }

// Load32 emits d = the 4 bytes of m, the upper half zero.
func (a *Assembler) Load32(d Reg, m Mem) {
	a.rex(0, d, M(m))
	a.Code = append(a.Code, 0x8b)
	a.operand(d, M(m), 1)
}

// Store emits memory = s.
func (a *Assembler) Store(m Mem, s Reg) { a.general(0x89, s, M(m)) }

// Lea emits d = address of m.
func (a *Assembler) Lea(d Reg, m Mem) { a.general(0x8d, d, M(m)) }

// Move emits d = s.
func (a *Assembler) Move(d, s Reg) { a.general(0x89, s, R(d)) }

// Add emits d += s.
func (a *Assembler) Add(d, s Reg) { a.general(0x01, s, R(d)) }

// Sub emits d -= s.
func (a *Assembler) Sub(d, s Reg) { a.general(0x29, s, R(d)) }

// And emits d &= s.
func (a *Assembler) And(d, s Reg) { a.general(0x21, s, R(d)) }

// Xor emits d ^= s.
func (a *Assembler) Xor(d, s Reg) { a.general(0x31, s, R(d)) }

// Cmp compares d with s.
func (a *Assembler) Cmp(d, s Reg) { a.general(0x39, s, R(d)) }

// AddMem emits d += memory.
func (a *Assembler) AddMem(d Reg, m Mem) { a.general(0x03, d, M(m)) }

// SubMem emits d -= memory.
func (a *Assembler) SubMem(d Reg, m Mem) { a.general(0x2b, d, M(m)) }

// CmpMem compares d with memory.
func (a *Assembler) CmpMem(d Reg, m Mem) { a.general(0x3b, d, M(m)) }

// Mul emits d *= s.
func (a *Assembler) Mul(d, s Reg) {
	a.rex(1, d, R(s))
	a.Code = append(a.Code, 0x0f, 0xaf)
	a.operand(d, R(s), 1)
}

// immediate emits one of the operations that ModRM.reg numbers, with a number that it sign-extends.
func (a *Assembler) immediate(digit Reg, d Reg, v int32) {
	a.rex(1, 0, R(d))
	if v >= -128 && v <= 127 {
		a.Code = append(a.Code, 0x83, 0xc0|byte(digit)<<3|byte(d&7), byte(v))
		return
	}
	a.Code = append(a.Code, 0x81, 0xc0|byte(digit)<<3|byte(d&7))
	a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(v))
}

// AddImm emits d += v, nothing for zero.
func (a *Assembler) AddImm(d Reg, v int32) {
	if v != 0 {
		a.immediate(0, d, v)
	}
}

// SubImm emits d -= v.
func (a *Assembler) SubImm(d Reg, v int32) { a.immediate(5, d, v) }

// AndImm emits d &= v.
func (a *Assembler) AndImm(d Reg, v int32) { a.immediate(4, d, v) }

// XorImm emits d ^= v.
func (a *Assembler) XorImm(d Reg, v int32) { a.immediate(6, d, v) }

// CmpImm compares d with v.
func (a *Assembler) CmpImm(d Reg, v int32) { a.immediate(7, d, v) }

// Dec emits d -= 1 and sets the zero flag.
func (a *Assembler) Dec(d Reg) { a.immediate(5, d, 1) }

// MoveImm emits d = v.
func (a *Assembler) MoveImm(d Reg, v int64) {
	switch {
	case v >= 0 && v <= 1<<32-1:
		a.rex(0, 0, R(d))
		a.Code = append(a.Code, 0xb8|byte(d&7))
		a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(v))
	case v >= -1<<31 && v < 0:
		a.rex(1, 0, R(d))
		a.Code = append(a.Code, 0xc7, 0xc0|byte(d&7))
		a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(v))
	default:
		a.rex(1, 0, R(d))
		a.Code = append(a.Code, 0xb8|byte(d&7))
		a.Code = binary.LittleEndian.AppendUint64(a.Code, uint64(v))
	}
}

// ShiftLeft emits d <<= n.
func (a *Assembler) ShiftLeft(d Reg, n uint8) { a.shift(4, d, n) }

// ShiftRight emits d >>= n, filling with zeros.
func (a *Assembler) ShiftRight(d Reg, n uint8) { a.shift(5, d, n) }

func (a *Assembler) shift(digit, d Reg, n uint8) {
	a.rex(1, 0, R(d))
	a.Code = append(a.Code, 0xc1, 0xc0|byte(digit)<<3|byte(d&7), n)
}

// LowBits emits d = s with the bits from number n on cleared. It is a BMI2 instruction.
func (a *Assembler) LowBits(d, s, n Reg) { a.vexGeneral(2, 1, 0, 0xf5, d, n, R(s)) }

// vexGeneral writes an instruction on general or mask registers in VEX form.
func (a *Assembler) vexGeneral(opmap, w, prefix, code byte, d, v Reg, s Operand) {
	a.vexEncoding(opmap, w, 0, prefix, code, d, v, s)
}

// KMove emits k = the low 32 bits of s.
func (a *Assembler) KMove(k, s Reg) { a.vexGeneral(m0F, 0, pF2, 0x92, k, 0, R(s)) }

// KLoad emits k = 16 bits of memory.
func (a *Assembler) KLoad(k Reg, m Mem) { a.vexGeneral(m0F, 0, np, 0x90, k, 0, M(m)) }

// KTest compares mask register k with none and all of its lanes, 8 or 16: Equal holds where none is set, Below where all are.
func (a *Assembler) KTest(k Reg, lanes int) {
	prefix := byte(np)
	if lanes == 8 {
		prefix = p66
	}
	a.vexGeneral(m0F, 0, prefix, 0x98, k, 0, R(k))
}

// MoveMask emits d = the highest bits of the lanes of v, which are doubles where wide is set.
func (a *Assembler) MoveMask(d Reg, w Width, v Reg, wide bool) {
	prefix := byte(np)
	if wide {
		prefix = p66
	}
	if a.ISA >= AVX2 {
		a.vexEncoding(m0F, 0, byte(w), prefix, 0x50, d, 0, R(v))
		return
	}
	if wide {
		a.Code = append(a.Code, 0x66)
	}
	a.rex(0, d, R(v))
	a.Code = append(a.Code, 0x0f, 0x50)
	a.operand(d, R(v), 1)
}

// Hint is where a prefetch puts a line.
type Hint uint8

// The levels of cache a prefetch may name; PrefetchWrite asks for the right to write.
const (
	PrefetchNearest Hint = iota
	PrefetchSecond
	PrefetchThird
	PrefetchWrite
)

// Prefetch asks for the cache line of m.
func (a *Assembler) Prefetch(h Hint, m Mem) {
	a.rex(0, 0, M(m))
	if h == PrefetchWrite {
		a.Code = append(a.Code, 0x0f, 0x0d)
		a.operand(1, M(m), 1)
		return
	}
	a.Code = append(a.Code, 0x0f, 0x18)
	a.operand(Reg(h)+1, M(m), 1)
}

// StoreFence makes what MOVNTPS and MOVNTPD have stored seen by all before what is stored later.
func (a *Assembler) StoreFence() { a.Code = append(a.Code, 0x0f, 0xae, 0xf8) }

// MoveToVector emits the low lane of d = s and clears the rest; size is 4 or 8 bytes.
func (a *Assembler) MoveToVector(d, s Reg, size int) { a.transfer(0x6e, d, s, size) }

// MoveFromVector emits d = the low lane of s; size is 4 or 8 bytes.
func (a *Assembler) MoveFromVector(d, s Reg, size int) { a.transfer(0x7e, s, d, size) }

// transfer encodes movd and movq between the register files; vector registers below 16 only.
func (a *Assembler) transfer(code byte, vector, general Reg, size int) {
	w := byte(size / 8)
	if a.ISA >= AVX2 {
		a.vexGeneral(m0F, w, p66, code, vector, 0, R(general))
		return
	}
	a.Code = append(a.Code, 0x66)
	a.rex(w, vector, R(general))
	a.Code = append(a.Code, 0x0f, code)
	a.operand(vector, R(general), 1)
}

// LoadByte and LoadShort emit d = one zero-extended element of memory.
func (a *Assembler) LoadByte(d Reg, m Mem) { a.extend(0xb6, d, m) }

// LoadShort emits d = two zero-extended bytes of memory.
func (a *Assembler) LoadShort(d Reg, m Mem) { a.extend(0xb7, d, m) }

func (a *Assembler) extend(code byte, d Reg, m Mem) {
	a.rex(0, d, M(m))
	a.Code = append(a.Code, 0x0f, code)
	a.operand(d, M(m), 1)
}

// StoreByte emits memory = the low byte of s, which is one of RAX, RCX, RDX, RBX or R8 to R15.
func (a *Assembler) StoreByte(m Mem, s Reg) {
	a.rex(0, s, M(m))
	a.Code = append(a.Code, 0x88)
	a.operand(s, M(m), 1)
}

// StoreShort emits memory = the low two bytes of s.
func (a *Assembler) StoreShort(m Mem, s Reg) {
	a.Code = append(a.Code, 0x66)
	a.rex(0, s, M(m))
	a.Code = append(a.Code, 0x89)
	a.operand(s, M(m), 1)
}

// Ret returns to Go.
func (a *Assembler) Ret() { a.Code = append(a.Code, 0xc3) }

// Label is a place in the code that jumps go to.
type Label int

type labelState struct{ at int } // -1: not bound yet

// fixup is a jump to a label that was not bound: four bytes to fill in.
type fixup struct {
	label Label
	at    int
}

// NewLabel returns a label that is not bound yet.
func (a *Assembler) NewLabel() Label {
	a.labels = append(a.labels, labelState{-1})
	return Label(len(a.labels) - 1)
}

// Here returns a label bound to the current place.
func (a *Assembler) Here() Label {
	l := a.NewLabel()
	a.Bind(l)
	return l
}

// Bind makes the label name the current place.
func (a *Assembler) Bind(l Label) {
	a.labels[l].at = len(a.Code)
	kept := a.fixups[:0]
	for _, f := range a.fixups {
		if f.label != l {
			kept = append(kept, f)
			continue
		}
		binary.LittleEndian.PutUint32(a.Code[f.at:], uint32(len(a.Code)-f.at-4))
	}
	a.fixups = kept
}

// Jump goes to a label.
func (a *Assembler) Jump(l Label) { a.jump(l, []byte{0xeb}, []byte{0xe9}) }

// JumpIf goes to a label where the condition holds.
func (a *Assembler) JumpIf(c Cond, l Label) {
	a.jump(l, []byte{0x70 | byte(c)}, []byte{0x0f, 0x80 | byte(c)})
}

func (a *Assembler) jump(l Label, short, long []byte) {
	if to := a.labels[l].at; to >= 0 {
		if d := to - len(a.Code) - len(short) - 1; d >= -128 {
			a.Code = append(append(a.Code, short...), byte(d))
			return
		}
		a.Code = append(a.Code, long...)
		a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(to-len(a.Code)-4))
		return
	}
	a.Code = append(a.Code, long...)
	a.fixups = append(a.fixups, fixup{l, len(a.Code)})
	a.Code = append(a.Code, 0, 0, 0, 0)
}

// noOps are the recommended fillings of 1 to 8 bytes.
var noOps = [...]string{"", "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00", "\x66\x0f\x1f\x44\x00\x00", "\x0f\x1f\x80\x00\x00\x00\x00", "\x0f\x1f\x84\x00\x00\x00\x00\x00"}

// Align fills up to a multiple of n, a power of two, with instructions that do nothing.
func (a *Assembler) Align(n int) {
	for rest := -len(a.Code) & (n - 1); rest > 0; {
		size := min(rest, 8)
		a.Code = append(a.Code, noOps[size]...)
		rest -= size
	}
}

// LeaLabel emits d = the address of a label.
func (a *Assembler) LeaLabel(d Reg, l Label) {
	a.Code = append(a.Code, 0x48|byte(d>>3)<<2, 0x8d, byte(d&7)<<3|5)
	if to := a.labels[l].at; to >= 0 {
		a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(to-len(a.Code)-4))
		return
	}
	a.fixups = append(a.fixups, fixup{l, len(a.Code)})
	a.Code = append(a.Code, 0, 0, 0, 0)
}
