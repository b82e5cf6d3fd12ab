package asm

import "encoding/binary"

// This file encodes what code over single numbers needs beside general.go.

// Or emits d |= s.
func (a *Assembler) Or(d, s Reg) { a.general(0x09, s, R(d)) }

// Test compares d & s with zero.
func (a *Assembler) Test(d, s Reg) { a.general(0x85, s, R(d)) }

// OrImm emits d |= v.
func (a *Assembler) OrImm(d Reg, v int32) { a.immediate(1, d, v) }

// MulImm emits d = s * v.
func (a *Assembler) MulImm(d, s Reg, v int32) {
	if v >= -128 && v <= 127 {
		a.general(0x6b, d, R(s))
		a.Code = append(a.Code, byte(v))
		return
	}
	a.general(0x69, d, R(s))
	a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(v))
}

// Negate emits d = -d.
func (a *Assembler) Negate(d Reg) { a.general(0xf7, 3, R(d)) }

// Invert emits d = ^d.
func (a *Assembler) Invert(d Reg) { a.general(0xf7, 2, R(d)) }

// Divide emits RAX, RDX = quotient and remainder of RDX:RAX by s, towards zero. It faults where s is
// zero or the quotient does not fit.
func (a *Assembler) Divide(s Reg) { a.general(0xf7, 7, R(s)) }

// ExtendSign emits RDX = the sign of RAX in all bits.
func (a *Assembler) ExtendSign() { a.Code = append(a.Code, 0x48, 0x99) }

// ShiftArithmetic emits d >>= n, filling with the sign.
func (a *Assembler) ShiftArithmetic(d Reg, n uint8) { a.shift(7, d, n) }

// ShiftLeftBy emits d <<= RCX modulo 64.
func (a *Assembler) ShiftLeftBy(d Reg) { a.general(0xd3, 4, R(d)) }

// ShiftArithmeticBy emits d >>= RCX modulo 64, filling with the sign.
func (a *Assembler) ShiftArithmeticBy(d Reg) { a.general(0xd3, 7, R(d)) }

// SetIf emits d = 1 where the condition holds, else 0. It keeps the flags.
func (a *Assembler) SetIf(c Cond, d Reg) {
	a.Code = append(a.Code, 0x40|byte(d>>3), 0x0f, 0x90|byte(c), 0xc0|byte(d&7))
	a.Code = append(a.Code, 0x40|byte(d>>3)<<2|byte(d>>3), 0x0f, 0xb6, 0xc0|byte(d&7)<<3|byte(d&7))
}

// MoveIf emits d = s where the condition holds.
func (a *Assembler) MoveIf(c Cond, d, s Reg) {
	a.rex(1, d, R(s))
	a.Code = append(a.Code, 0x0f, 0x40|byte(c))
	a.operand(d, R(s), 1)
}

// JumpTo goes to the address in s.
func (a *Assembler) JumpTo(s Reg) {
	a.rex(0, 0, R(s))
	a.Code = append(a.Code, 0xff, 0xe0|byte(s&7))
}

// IntToDouble emits the low lane of d = the integer s; d is cleared before.
func (a *Assembler) IntToDouble(d, s Reg) {
	a.V(XORPS, W128, d, d, R(d))
	a.convertDouble(0x2a, d, d, R(s))
}

// DoubleToInt emits d = the low lane of s towards zero, the smallest integer where it does not fit.
func (a *Assembler) DoubleToInt(d, s Reg) { a.convertDouble(0x2c, d, 0, R(s)) }

func (a *Assembler) convertDouble(code byte, r, extra Reg, s Operand) {
	if a.ISA >= AVX2 {
		a.vexGeneral(m0F, 1, pF2, code, r, extra, s)
		return
	}
	a.Code = append(a.Code, 0xf2)
	a.rex(1, r, s)
	a.Code = append(a.Code, 0x0f, code)
	a.operand(r, s, 1)
}
