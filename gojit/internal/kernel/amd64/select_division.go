package amd64

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Quotients of integers come from quotients of floats. Those of 8 and 16 bits are exact in float32, those of 32 bits in float64: a
// quotient that is not whole is farther from the next integer than it is off by rounding. Those of 64 bits take two steps and a
// correction; without AVX-512 they are divided one by one. A divisor of zero is noted in Args.Failed.

// IsDivision reports whether an instruction divides integers.
func IsDivision(in *kernel.Instr) bool {
	switch in.Op {
	case kernel.Div, kernel.FloorDiv, kernel.Rem, kernel.Mod:
		return in.Type.IsIntegral() && in.Type != tensor.Bool
	}
	return false
}

// divide selects the instructions of a division.
func (l *Lowerer) divide(in *kernel.Instr, x, y operand) operand {
	l.checkDivisor(wideType(in.Type), y)
	if wideType(in.Type) && l.ISA == asm.AVX512 {
		return l.divideWide(in.Op, x, y)
	}
	if wideType(in.Type) {
		return l.emit(instruction{kind: divideLanes, w: l.width(true), d: none, imm: uint8(in.Op), args: [4]operand{x, l.nonzero(y), none, none}})
	}
	var q operand
	t, w := in.Type, l.width(false)
	if t.Size() == 4 {
		q = l.toInt32(l.two(asm.DIVPD, l.width(true), l.toFloat64(x, t), l.toFloat64(y, t)), tensor.Float64)
	} else {
		q = l.toInt32(l.two(asm.DIVPS, w, l.toFloat32(x, t), l.toFloat32(y, t)), tensor.Float32)
	}
	if in.Op == kernel.Div {
		return l.wrap(t, q)
	}
	r := l.two(asm.PSUBD, w, x, l.multiply(false, q, y))
	if in.Op == kernel.Rem {
		return r
	}
	apart := l.and(false, l.notZero(false, r), l.negative(false, l.xor(false, r, y)))
	if in.Op == kernel.Mod {
		return l.two(asm.PADDD, w, r, l.and(false, apart, y))
	}
	return l.wrap(t, l.two(asm.PADDD, w, q, apart)) // a mask is -1
}

// divideWide is a quotient or remainder of 64 bits. The first quotient is off by a part in 2**51; what is left is divided once more, and
// the sum is off by one at most. No difference on the way has more than 63 digits: quotients by more than 2**61 are right at once.
func (l *Lowerer) divideWide(op kernel.Op, x, y operand) operand {
	w := l.width(true)
	one := func(op asm.Op, x operand) operand { return l.one(op, w, x) }
	two := func(op asm.Op, x, y operand) operand { return l.two(op, w, x, y) }
	divisor := one(asm.CVTQQ2PD, y)
	q := one(asm.CVTTPD2QQ, two(asm.DIVPD, one(asm.CVTQQ2PD, x), divisor))
	left := two(asm.PSUBQ, x, two(asm.PMULLQ, q, y))
	more := one(asm.CVTTPD2QQ, l.oneImm(asm.ROUNDPD, w, two(asm.DIVPD, one(asm.CVTQQ2PD, left), divisor), roundDown))
	q = two(asm.PADDQ, q, more)
	r := two(asm.PSUBQ, left, two(asm.PMULLQ, more, y))
	// Towards minus infinity: the remainder has the divisor's sign and is nearer to zero.
	below := l.and(true, l.notZero(true, r), l.negative(true, l.xor(true, r, y)))
	q, r = two(asm.PADDQ, q, below), two(asm.PADDQ, r, l.and(true, below, y))
	next := two(asm.PSUBQ, r, y)
	same := l.or(true, l.compareIntegers(true, cmpEqual, next, l.number(0, true)), l.compareIntegers(true, cmpLessEqual, l.number(0, true), l.xor(true, next, y)))
	above := l.and(true, l.notZero(true, r), same)
	q, r = two(asm.PSUBQ, q, above), two(asm.PSUBQ, r, l.and(true, above, y))
	switch op {
	case kernel.FloorDiv:
		return q
	case kernel.Mod:
		return r
	}
	up := l.and(true, l.notZero(true, r), l.negative(true, l.xor(true, x, y))) // towards zero
	if op == kernel.Div {
		return two(asm.PSUBQ, q, up)
	}
	return two(asm.PSUBQ, r, l.and(true, up, y))
}

func (l *Lowerer) notZero(wide bool, x operand) operand {
	return l.compareIntegers(wide, cmpNotEqual, x, l.number(0, wide))
}

func (l *Lowerer) negative(wide bool, x operand) operand {
	return l.compareIntegers(wide, cmpLess, x, l.number(0, wide))
}

// nonzero puts ones in place of zeros of 64 bits: their division would fault.
func (l *Lowerer) nonzero(y operand) operand {
	return l.two(asm.PSUBQ, l.width(true), y, l.compareIntegers(true, cmpEqual, y, l.number(0, true)))
}

// checkDivisor notes whether a divisor is zero.
func (l *Lowerer) checkDivisor(wide bool, y operand) {
	if y.isUniform() && l.uniforms[^y].slot < 0 && l.uniforms[^y].bits != 0 {
		return
	}
	in := instruction{kind: checkNone, op: pair(wide, asm.PCMPD, asm.PCMPQ), w: l.width(wide), d: none, imm: cmpEqual, args: [4]operand{y, l.number(0, wide), none, none}}
	if l.ISA != asm.AVX512 {
		in.op, in.args = pair(wide, asm.MOVMSKPS, asm.MOVMSKPD), [4]operand{l.compareIntegers(wide, cmpEqual, y, l.number(0, wide)), none, none, none}
	}
	l.code = append(l.code, in)
}

// checkNone emits the test of a mask: Args.Failed becomes nonzero where a lane that is in use is set.
func (g *Generator) checkNone(m *machine, mode tailMode) {
	a, wide, fine := &g.Asm, m.op == asm.MOVMSKPD || m.op == asm.PCMPQ, g.Asm.NewLabel()
	if g.ISA == asm.AVX512 {
		if mode == masked {
			a.VMaskImm(m.op, m.w, testMask, m.V, m.s, tailMask, false, m.imm)
		} else {
			a.VImm(m.op, m.w, testMask, m.V, m.s, m.imm)
		}
		a.KTest(testMask, 16)
	} else {
		mask := m.V
		if mode == masked {
			size := uint8(4)
			if wide {
				size = 8
			}
			g.loadMask(m.w, size)
			a.V(asm.ANDPS, m.w, maskReg, maskReg, asm.R(mask))
			mask = maskReg
		}
		lanes := g.Lanes
		if mode == single {
			lanes = 1
		}
		a.MoveMask(tempReg, m.w, mask, wide)
		a.AndImm(tempReg, 1<<lanes-1)
	}
	a.JumpIf(asm.Equal, fine)
	a.Store(asm.At(argsReg, offFailed), argsReg)
	a.Bind(fine)
}

// divideLanes divides v by s, of 64 bits, lane by lane. No lane of s is zero. The instruction uses RAX and RDX, which are indexReg and
// PoolReg.
func (g *Generator) divideLanes(m *machine) {
	a := &g.Asm
	dividends, divisors, saved := offLanes, offLanes+32, offLanes+64
	a.V(asm.MOVUPSstore, m.w, m.V, 0, asm.M(asm.At(argsReg, dividends)))
	a.V(asm.MOVUPSstore, m.w, m.s.Reg, 0, asm.M(asm.At(argsReg, divisors)))
	a.Store(asm.At(argsReg, saved), asm.RAX)
	a.Store(asm.At(argsReg, saved+8), asm.RDX)
	for i := range m.w.Bytes() / 8 {
		a.Load(asm.RAX, asm.At(argsReg, dividends+8*int32(i)))
		a.Load(tempReg, asm.At(argsReg, divisors+8*int32(i)))
		result := g.divideOne(kernel.Op(m.imm))
		switch {
		case m.w == asm.W256:
			a.Store(asm.At(argsReg, dividends+8*int32(i)), result)
		case i == 0:
			a.MoveToVector(m.D, result, 8)
		default: // a vector that is read after its halves are written has to wait
			a.MoveToVector(maskReg, result, 8)
			a.V(asm.UNPCKLPD, asm.W128, m.D, m.D, asm.R(maskReg))
		}
	}
	if m.w == asm.W256 {
		a.V(asm.MOVUPS, m.w, m.D, 0, asm.M(asm.At(argsReg, dividends)))
	}
	a.Load(asm.RAX, asm.At(argsReg, saved))
	a.Load(asm.RDX, asm.At(argsReg, saved+8))
}

// divideOne divides RAX by tempReg and returns which of RAX and RDX has the result.
func (g *Generator) divideOne(op kernel.Op) asm.Reg {
	a := &g.Asm
	minus, end := a.NewLabel(), a.NewLabel()
	a.CmpImm(tempReg, -1)
	a.JumpIf(asm.Equal, minus) // the smallest number has no opposite
	a.ExtendSign()
	a.Divide(tempReg)
	result := asm.Reg(asm.RAX)
	switch op {
	case kernel.Rem:
		result = asm.RDX
	case kernel.FloorDiv:
		a.Test(asm.RDX, asm.RDX)
		a.JumpIf(asm.Equal, end)
		a.Xor(asm.RDX, tempReg)
		a.JumpIf(asm.NotSign, end)
		a.SubImm(asm.RAX, 1)
	case kernel.Mod:
		result = asm.RDX
		a.Test(asm.RDX, asm.RDX)
		a.JumpIf(asm.Equal, end)
		a.Move(asm.RAX, asm.RDX)
		a.Xor(asm.RAX, tempReg)
		a.JumpIf(asm.NotSign, end)
		a.Add(asm.RDX, tempReg)
	}
	a.Jump(end)
	a.Bind(minus)
	a.Negate(asm.RAX)
	a.Xor(asm.RDX, asm.RDX)
	a.Bind(end)
	return result
}
