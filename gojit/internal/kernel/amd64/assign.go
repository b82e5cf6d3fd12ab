package amd64

import "github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"

// Assign gives every instruction its registers.
func (a *allocator) Assign() []machine {
	a.out = make([]machine, 0, 2*len(a.l.code))
	for i := range a.l.code {
		a.at = i
		a.instruction(&a.l.code[i])
	}
	return a.out
}

func (a *allocator) instruction(in *instruction) {
	m := machine{Kind: in.kind, op: in.op, w: in.w, imm: in.imm, size: in.size, half: in.half, Index: in.index}
	switch in.kind {
	case plain:
		a.plain(in, m)
		return
	case fusedMul:
		a.fused(in, m)
		return
	case move:
		a.copyValue(in, m)
		return
	case skipSide:
		a.enterSide(in, m)
		return
	case endSide:
		a.leaveSide(in)
		return
	case StoreOut, keepPartial:
		m.V = a.reg(in.args[0])
		a.finish(in)
	case LoadInput, index, readPartial:
		m.D = a.bind(in.d, none)
		a.finish(in)
	case checkNone:
		m.V = a.reg(in.args[0])
		if in.args[1] != none {
			m.s = a.source(in.args[1], in.op)
		}
		a.finish(in)
	case divideLanes:
		m.V = a.reg(in.args[0])
		m.s = asm.R(a.reg(in.args[1]))
		m.D = a.define(in)
	case compareTo:
		m.V = a.reg(in.args[0])
		m.s = a.source(in.args[1], in.op)
		m.D = a.define(in)
	case pickWhere:
		blend := blendOf(in.op)
		m.V = a.reg(in.args[0])
		m.s = a.source(in.args[1], in.op)
		m.other = a.reg(in.args[3])
		m.chosen = a.source(in.args[2], blend)
		m.D = a.define(in)
	case keepNaN:
		least := a.reg(in.args[0])
		m.V = a.reg(in.args[1])
		m.D = a.over(in, 0, least)
	}
	a.out = append(a.out, m)
}

// blendOf returns the blend for the lanes that a comparison is made for.
func blendOf(compare asm.Op) asm.Op {
	if compare == asm.CMPPD || compare == asm.PCMPQ {
		return asm.BLENDMPD
	}
	return asm.BLENDMPS
}

func (a *allocator) plain(in *instruction, m machine) {
	x, y, z := in.args[0], in.args[1], in.args[2]
	switch {
	case in.op == asm.PMOVQDstore: // its source comes first
		m.D = a.reg(x)
		m.s = asm.R(a.define(in))
	case y == none && in.tied:
		m.D = a.over(in, 0, a.reg(x))
		m.s = asm.R(m.D)
	case y == none:
		m.s = a.source(x, in.op)
		m.D = a.define(in)
	case z == none:
		if commutes(in.op) && (x.isUniform() && a.Fixed[^x] < 0 || in.tied && !a.dies(x) && a.dies(y)) {
			in.args[0], in.args[1] = y, x
			x, y = y, x
		}
		m.V = a.reg(x)
		m.s = a.source(y, in.op)
		if in.tied {
			m.D = a.over(in, 0, m.V)
			m.V = m.D
		} else {
			m.D = a.define(in)
		}
	case in.tied: // three operands, the first of which is written over
		first := a.reg(x)
		m.V = a.reg(y)
		m.s = a.source(z, in.op)
		m.D = a.over(in, 0, first)
	default: // a blend whose mask is the fourth register
		m.V = a.reg(x)
		m.s = a.source(y, in.op)
		m.imm = uint8(a.reg(z))
		m.D = a.define(in)
	}
	a.out = append(a.out, m)
}

// commutes reports whether the sources of an instruction may change places.
func commutes(op asm.Op) bool {
	switch op {
	case asm.ADDPS, asm.ADDPD, asm.MULPS, asm.MULPD, asm.ANDPS, asm.ANDPD, asm.ORPS, asm.ORPD, asm.XORPS, asm.XORPD,
		asm.PADDD, asm.PADDQ, asm.PMULLD, asm.PMULLQ, asm.PMULUDQ, asm.PMINSD, asm.PMAXSD, asm.PMINSQ, asm.PMAXSQ, asm.PCMPEQD, asm.PCMPEQQ:
		return true
	}
	return false
}

// The other forms of a multiplication with addition lie before the one that adds to its result.
func form132(op asm.Op) asm.Op {
	if op == asm.FMADD231PD {
		return asm.FMADD132PD
	}
	return asm.FMADD132PS
}

func form213(op asm.Op) asm.Op {
	if op == asm.FMADD231PD {
		return asm.FMADD213PD
	}
	return asm.FMADD213PS
}

// fused picks the form of args[0]*args[1] + args[2] that writes over a dying operand and reads a
// uniform from memory.
func (a *allocator) fused(in *instruction, m machine) {
	if in.args[0].isUniform() || !a.dies(in.args[0]) && a.dies(in.args[1]) {
		in.args[0], in.args[1] = in.args[1], in.args[0]
	}
	x, y, z := in.args[0], in.args[1], in.args[2]
	inMemory := func(o operand) bool { return o.isUniform() && a.Fixed[^o] < 0 }
	switch {
	case a.dies(z) && z != x && z != y, !inMemory(z) && !(a.dies(x) && x != y && x != z):
		// z += x*y, in a copy of z where it lives on
		to := a.reg(z)
		m.V = a.reg(x)
		m.s = a.source(y, in.op)
		m.D = a.over(in, 2, to)
	case inMemory(y) && !inMemory(z):
		m.op = form132(in.op) // x = x*y + z
		to := a.reg(x)
		m.V = a.reg(z)
		m.s = a.source(y, in.op)
		m.D = a.over(in, 0, to)
	default:
		m.op = form213(in.op) // x = y*x + z
		to := a.reg(x)
		m.V = a.reg(y)
		m.s = a.source(z, in.op)
		m.D = a.over(in, 0, to)
	}
	a.out = append(a.out, m)
}

// copyValue moves a value. One that dies keeps its register.
func (a *allocator) copyValue(in *instruction, m machine) {
	from := a.reg(in.args[0])
	if acc := a.where[in.d]; acc >= int16(firstAccumulator) {
		a.finish(in)
		m.D, m.s = asm.Reg(acc), asm.R(from)
		a.out = append(a.out, m)
		return
	}
	m.D = a.over(in, 0, from)
	m.s = asm.R(m.D)
	if in.index != 0 {
		a.out = append(a.out, m)
	}
}
