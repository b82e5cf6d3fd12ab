package amd64

// assign gives every instruction its registers.
func (a *allocator) assign() []machine {
	a.out = make([]machine, 0, 2*len(a.l.code))
	for i := range a.l.code {
		a.at = i
		a.instruction(&a.l.code[i])
	}
	return a.out
}

func (a *allocator) instruction(in *instruction) {
	m := machine{kind: in.kind, op: in.op, w: in.w, imm: in.imm, size: in.size, half: in.half, index: in.index}
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
	case storeOut:
		m.v = a.reg(in.args[0])
		a.finish(in)
	case loadInput, index:
		m.d = a.bind(in.d, none)
		a.finish(in)
	case checkNone:
		m.v = a.reg(in.args[0])
		if in.args[1] != none {
			m.s = a.source(in.args[1], in.op)
		}
		a.finish(in)
	case divideLanes:
		m.v = a.reg(in.args[0])
		m.s = R(a.reg(in.args[1]))
		m.d = a.define(in)
	case compareTo:
		m.v = a.reg(in.args[0])
		m.s = a.source(in.args[1], in.op)
		m.d = a.define(in)
	case pickWhere:
		blend := blendOf(in.op)
		m.v = a.reg(in.args[0])
		m.s = a.source(in.args[1], in.op)
		m.other = a.reg(in.args[3])
		m.chosen = a.source(in.args[2], blend)
		m.d = a.define(in)
	case keepNaN:
		least := a.reg(in.args[0])
		m.v = a.reg(in.args[1])
		m.d = a.over(in, 0, least)
	}
	a.out = append(a.out, m)
}

// blendOf returns the blend for the lanes that a comparison is made for.
func blendOf(compare Op) Op {
	if compare == CMPPD || compare == PCMPQ {
		return BLENDMPD
	}
	return BLENDMPS
}

func (a *allocator) plain(in *instruction, m machine) {
	x, y, z := in.args[0], in.args[1], in.args[2]
	switch {
	case in.op == PMOVQDstore: // its source comes first
		m.d = a.reg(x)
		m.s = R(a.define(in))
	case y == none && in.tied:
		m.d = a.over(in, 0, a.reg(x))
		m.s = R(m.d)
	case y == none:
		m.s = a.source(x, in.op)
		m.d = a.define(in)
	case z == none:
		if commutes(in.op) && (x.isUniform() && a.fixed[^x] < 0 || in.tied && !a.dies(x) && a.dies(y)) {
			in.args[0], in.args[1] = y, x
			x, y = y, x
		}
		m.v = a.reg(x)
		m.s = a.source(y, in.op)
		if in.tied {
			m.d = a.over(in, 0, m.v)
			m.v = m.d
		} else {
			m.d = a.define(in)
		}
	case in.tied: // three operands, the first of which is written over
		first := a.reg(x)
		m.v = a.reg(y)
		m.s = a.source(z, in.op)
		m.d = a.over(in, 0, first)
	default: // a blend whose mask is the fourth register
		m.v = a.reg(x)
		m.s = a.source(y, in.op)
		m.imm = uint8(a.reg(z))
		m.d = a.define(in)
	}
	a.out = append(a.out, m)
}

// commutes reports whether the sources of an instruction may change places.
func commutes(op Op) bool {
	switch op {
	case ADDPS, ADDPD, MULPS, MULPD, ANDPS, ANDPD, ORPS, ORPD, XORPS, XORPD,
		PADDD, PADDQ, PMULLD, PMULLQ, PMULUDQ, PMINSD, PMAXSD, PMINSQ, PMAXSQ, PCMPEQD, PCMPEQQ:
		return true
	}
	return false
}

// The other forms of a multiplication with addition lie before the one that adds to its result.
func form132(op Op) Op {
	if op == FMADD231PD {
		return FMADD132PD
	}
	return FMADD132PS
}

func form213(op Op) Op {
	if op == FMADD231PD {
		return FMADD213PD
	}
	return FMADD213PS
}

// fused picks the form of args[0]*args[1] + args[2] that writes over a dying operand and reads a
// uniform from memory.
func (a *allocator) fused(in *instruction, m machine) {
	if in.args[0].isUniform() || !a.dies(in.args[0]) && a.dies(in.args[1]) {
		in.args[0], in.args[1] = in.args[1], in.args[0]
	}
	x, y, z := in.args[0], in.args[1], in.args[2]
	inMemory := func(o operand) bool { return o.isUniform() && a.fixed[^o] < 0 }
	switch {
	case a.dies(z) && z != x && z != y, !inMemory(z) && !(a.dies(x) && x != y && x != z):
		// z += x*y, in a copy of z where it lives on
		to := a.reg(z)
		m.v = a.reg(x)
		m.s = a.source(y, in.op)
		m.d = a.over(in, 2, to)
	case inMemory(y) && !inMemory(z):
		m.op = form132(in.op) // x = x*y + z
		to := a.reg(x)
		m.v = a.reg(z)
		m.s = a.source(y, in.op)
		m.d = a.over(in, 0, to)
	default:
		m.op = form213(in.op) // x = y*x + z
		to := a.reg(x)
		m.v = a.reg(y)
		m.s = a.source(z, in.op)
		m.d = a.over(in, 0, to)
	}
	a.out = append(a.out, m)
}

// copyValue moves a value. One that dies keeps its register.
func (a *allocator) copyValue(in *instruction, m machine) {
	from := a.reg(in.args[0])
	if acc := a.where[in.d]; acc >= int16(firstAccumulator) {
		a.finish(in)
		m.d, m.s = Reg(acc), R(from)
		a.out = append(a.out, m)
		return
	}
	m.d = a.over(in, 0, from)
	m.s = R(m.d)
	if in.index != 0 {
		a.out = append(a.out, m)
	}
}
