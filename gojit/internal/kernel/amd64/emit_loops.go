package amd64

import "math/bits"

// loops emits the body for several vectors, for one, and for what is left.
func (g *generator) loops() {
	a := &g.asm
	done, tail := a.NewLabel(), a.NewLabel()
	if g.alignsStores() {
		g.startBeforeVectors(tail)
	}
	vectors := a.Here()
	if g.unroll > 1 {
		g.loop(g.unroll)
	}
	if len(g.accs) > 0 {
		g.maskedRounds(done)
		a.Bind(done)
		return
	}
	g.loop(1)
	a.CmpImm(countReg, 0)
	a.JumpIf(Equal, done)
	if g.masksTail() {
		a.Bind(tail)
		g.setTailMask()
		g.copy(0, masked)
		if g.alignsStores() {
			g.goOnWithVectors(vectors, done)
		}
	} else {
		top := a.Here()
		g.copy(0, single)
		a.AddImm(indexReg, 1)
		a.Dec(countReg)
		a.JumpIf(NotEqual, top)
	}
	a.Bind(done)
}

// vectorsWorthAlignment is how many vectors a row has at least whose stores are aligned.
const vectorsWorthAlignment = 8

// alignsStores reports whether the elements before the first whole aligned vector of the first output are handled under a mask, so that
// no vector of it lies in two cache lines. Masks of other instruction sets are too dear.
func (g *generator) alignsStores() bool {
	return g.isa == AVX512 && len(g.accs) == 0 && !g.streams && !g.hasPairs()
}

// startBeforeVectors goes to the tail with the elements before the first aligned vector, where there are some and the row is long.
func (g *generator) startBeforeVectors(tail Label) {
	a, size := &g.asm, g.kernel.Outputs[0].DType.Size()
	vector := g.lanes * size
	start := a.NewLabel()
	a.CmpImm(countReg, int32(vectorsWorthAlignment*g.lanes))
	a.JumpIf(Less, start)
	a.Move(tempReg, g.regOf[0])
	a.Negate(tempReg)
	a.AndImm(tempReg, int32(vector-1))
	a.ShiftRight(tempReg, uint8(bits.TrailingZeros(uint(size))))
	a.JumpIf(Equal, start)
	a.Sub(countReg, tempReg)
	a.Store(At(argsReg, offRest), countReg)
	a.Move(countReg, tempReg)
	a.Jump(tail)
	a.Bind(start)
}

// goOnWithVectors goes back from the tail where it was the elements before the first vector.
func (g *generator) goOnWithVectors(vectors, done Label) {
	a := &g.asm
	a.Load(tempReg, At(argsReg, offRest))
	a.Test(tempReg, tempReg)
	a.JumpIf(Equal, done)
	a.Add(indexReg, countReg)
	a.Move(countReg, tempReg)
	a.Xor(tempReg, tempReg)
	a.Store(At(argsReg, offRest), tempReg)
	a.Jump(vectors)
}

// loop emits rounds of a number of vectors, as long as there are so many elements.
func (g *generator) loop(vectors int) {
	a := &g.asm
	step := int32(vectors * g.lanes)
	end := a.NewLabel()
	a.CmpImm(countReg, step)
	a.JumpIf(Less, end)
	a.Align(16)
	top := a.Here()
	if vectors > 1 && g.stride > 0 {
		g.together(vectors)
	} else {
		for u := range vectors {
			g.copy(u, allLanes)
		}
	}
	a.AddImm(indexReg, step)
	a.SubImm(countReg, step)
	a.CmpImm(countReg, step)
	a.JumpIf(GreaterEqual, top)
	a.Bind(end)
}

// maskedRounds emits the last round of a reduction, in which each vector goes to its accumulator.
func (g *generator) maskedRounds(done Label) {
	if !g.masksTail() {
		g.fail("a reduction of elements smaller than 4 bytes")
	}
	for u := range g.unroll {
		if u > 0 {
			g.asm.SubImm(countReg, int32(g.lanes))
		} else {
			g.asm.CmpImm(countReg, 0)
		}
		g.asm.JumpIf(LessEqual, done)
		g.setTailMask()
		g.copy(u, masked)
	}
}

// setTailMask prepares the masks for the elements that are left, at most a vector of them.
func (g *generator) setTailMask() {
	a := &g.asm
	if g.isa != AVX512 {
		return // masks are read from a table when they are used
	}
	a.MoveImm(tempReg, -1)
	a.LowBits(tempReg, tempReg, countReg)
	a.KMove(tailMask, tempReg)
	if g.hasPairs() {
		defer g.setPairMasks()
	}
	if len(g.accs) > 0 {
		a.XorImm(tempReg, -1)
		a.KMove(restMask, tempReg)
	}
}

// loadMask reads the mask of a tail for lanes of a size into maskReg.
func (g *generator) loadMask(w Width, size uint8) {
	a := &g.asm
	a.Xor(tempReg, tempReg)
	a.Sub(tempReg, countReg)
	a.V(MOVUPS, w, maskReg, 0, M(Indexed(poolReg, tempReg, size, g.masks)))
}

// copy emits the body once, for vector u of a round.
func (g *generator) copy(u int, mode tailMode) {
	for i := range g.body {
		g.instruction(g.body[i], u, mode)
	}
}

// together emits the body for several vectors at once: each instruction for all of them. So all loads come before all stores, which
// between the loads keep the processor from fetching ahead.
func (g *generator) together(vectors int) {
	for i := range g.body {
		for u := range vectors {
			m := g.body[i]
			m.d, m.v, m.other = g.ofVector(m.d, u), g.ofVector(m.v, u), g.ofVector(m.other, u)
			m.s.reg, m.chosen.reg = g.ofVector(m.s.reg, u), g.ofVector(m.chosen.reg, u)
			if m.blends() {
				m.imm = uint8(g.ofVector(Reg(m.imm), u))
			}
			g.instruction(m, u, allLanes)
		}
	}
}

// ofVector returns the register that stands for one of the body's in the instructions for vector u. Registers that stay the same for
// all vectors lie above.
func (g *generator) ofVector(r Reg, u int) Reg {
	if r < g.stride {
		r += Reg(u) * g.stride
	}
	return r
}

// blends reports whether imm is a register.
func (m *machine) blends() bool { return m.op == BLENDVPS || m.op == BLENDVPD }

// setStride gives each vector of a round registers of its own, where the body has no branches, no accumulators and no values in
// scratch memory, and there are enough.
func (g *generator) setStride(spills bool) {
	if spills || g.unroll == 1 || len(g.accs) > 0 {
		return
	}
	limit := Reg(maskReg)
	if g.isa == AVX512 {
		limit = Reg(g.isa.Registers())
	}
	for _, r := range g.fixed {
		if r >= 0 {
			limit = min(limit, Reg(r))
		}
	}
	stride := Reg(0)
	for i := range g.body {
		m := &g.body[i]
		switch m.kind {
		case plain, fusedMul, move, loadInput, storeOut, compareTo, pickWhere, keepNaN:
		default:
			return
		}
		for _, r := range [...]Reg{m.d, m.v, m.s.reg, m.chosen.reg, m.other} {
			if r < limit {
				stride = max(stride, r+1)
			}
		}
		if m.blends() {
			stride = max(stride, Reg(m.imm)+1)
		}
	}
	if stride*Reg(g.unroll) <= limit {
		g.stride = stride
	}
}
