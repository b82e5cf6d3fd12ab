package amd64

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tailMode is how a copy of the body treats memory.
type tailMode uint8

const (
	allLanes tailMode = iota // whole vectors
	masked                   // the lanes that are left
	single                   // one element
)

// Mask registers: tailMask chooses the lanes of a tail, restMask the others, testMask is for comparisons.
const (
	tailMask Reg = 1
	testMask Reg = 2
	restMask Reg = 3
	// lowerMask and upperMask are the tailMask of the two vectors that complex elements fill.
	lowerMask Reg = 4
	upperMask Reg = 5
)

// home returns where a uniform lies.
func (l *lowerer) home(i int) Mem {
	u := &l.uniforms[i]
	switch {
	case u.slot < 0:
		return At(poolReg, l.places[i])
	case l.isa == AVX512:
		return At(argsReg, offUniform+8*int32(u.slot))
	}
	return l.expandedPlace(i)
}

// readUniform loads a uniform into a register.
func (l *lowerer) readUniform(r Reg, i int) machine {
	u := &l.uniforms[i]
	op := MOVUPS
	if l.isa == AVX512 && u.vector == nil {
		op = pair(u.size == 8, BROADCASTSS, BROADCASTSD)
	}
	return machine{op: op, w: l.isa.Width(), d: r, s: M(l.home(i))}
}

// fold returns a uniform as a memory operand, where the instruction can read it so.
func (l *lowerer) fold(i int, op Op) (Operand, bool) {
	u, o := &l.uniforms[i], &ops[op]
	if o.form == vmi {
		return Operand{}, false
	}
	if l.isa != AVX512 {
		return M(l.home(i)), true
	}
	switch {
	case u.vector != nil:
		return M(l.home(i)), o.mem == full32 || o.mem == full64 || o.mem == fullMem
	case o.mem == full32 && u.size == 4, o.mem == full64 && u.size == 8:
		return Splat(l.home(i)), true
	}
	return Operand{}, false
}

// masksTail reports whether the elements that do not fill a vector are read and written under a mask.
func (g *generator) masksTail() bool {
	if g.isa != AVX2 {
		return g.isa == AVX512
	}
	for i := range g.code {
		if in := &g.code[i]; (in.kind == loadInput || in.kind == storeOut) && in.size < 4 {
			return false
		}
	}
	return true
}

func (g *generator) prologue() {
	a := &g.asm
	g.pool = a.NewLabel()
	a.LeaLabel(poolReg, g.pool)
	a.Load(countReg, At(argsReg, offCount))
	a.Xor(indexReg, indexReg)
	if g.scratch > 0 {
		a.Load(scratchReg, At(argsReg, offScratch))
	}
	for i := range g.pointers {
		a.Load(pointerRegs[i], At(argsReg, offPtr+8*int32(i)))
	}
	forAll := func(u *uniform) bool { return !g.isSingle(u) }
	if g.isa != AVX512 {
		g.expandUniforms(forAll)
	}
	g.readFixed(forAll)
}

// isSingle reports whether a uniform is an input's number, which may differ from row to row.
func (g *generator) isSingle(u *uniform) bool { return u.slot >= 0 && int(u.slot) >= g.params }

// readFixed loads the uniforms that stay in registers.
func (g *generator) readFixed(which func(u *uniform) bool) {
	for i, r := range g.fixed {
		if r >= 0 && which(&g.uniforms[i]) {
			g.instruction(g.readUniform(Reg(r), i), 0, allLanes)
		}
	}
}

// startRow spreads the numbers of the row and gives the accumulators their identities.
func (g *generator) startRow() {
	if g.isa != AVX512 {
		g.expandUniforms(g.isSingle)
	}
	g.readFixed(g.isSingle)
	for i, acc := range g.accs {
		for _, r := range g.accReg[i] {
			g.instruction(g.readUniform(r, int(^acc.identity)), 0, allLanes)
		}
	}
}

// nextSingles reads the numbers of the next row. Their addresses are not kept: a pointer behind the last one would name another
// object to the collector.
func (g *generator) nextSingles() {
	a := &g.asm
	for i, single := range g.singles {
		at := 8 * int32(i)
		a.Load(indexReg, At(argsReg, offSingleAt+at))
		a.AddMem(indexReg, At(argsReg, offSingleSkip+at))
		a.Store(At(argsReg, offSingleAt+at), indexReg)
		a.Load(tempReg, At(argsReg, offSingle+at))
		a.Add(tempReg, indexReg)
		switch single.size {
		case 4:
			a.Load32(indexReg, At(tempReg, 0))
		case 8:
			a.Load(indexReg, At(tempReg, 0))
		default:
			continue
		}
		a.Store(At(argsReg, offUniform+8*int32(single.slot)), indexReg)
	}
}

// nextRow goes back to the loops where there are more rows. The elements of a row that is reduced are counted from the same
// number as those of the first.
func (g *generator) nextRow(row Label) {
	a := &g.asm
	last := a.NewLabel()
	a.Load(tempReg, At(argsReg, offRows))
	a.SubImm(tempReg, 1)
	a.JumpIf(LessEqual, last)
	a.Store(At(argsReg, offRows), tempReg)
	for i := range g.pointers {
		a.Load(tempReg, At(argsReg, offSkip+8*int32(i)))
		a.Add(pointerRegs[i], tempReg)
	}
	g.nextSingles()
	a.Load(countReg, At(argsReg, offCount))
	if len(g.accs) == 0 {
		a.Load(tempReg, At(argsReg, offFirst))
		a.Add(tempReg, countReg)
		a.Store(At(argsReg, offFirst), tempReg)
	}
	a.Xor(indexReg, indexReg)
	a.Jump(row)
	a.Bind(last)
}

// expandUniforms spreads the numbers among the arguments over vectors in scratch memory.
func (g *generator) expandUniforms(which func(u *uniform) bool) {
	w := g.isa.Width()
	for i := range g.uniforms {
		u := &g.uniforms[i]
		if u.slot < 0 || !which(u) {
			continue
		}
		from := M(At(argsReg, offUniform+8*int32(u.slot)))
		g.broadcast(w, 0, from, u.size == 8)
		g.asm.V(MOVUPSstore, w, 0, 0, M(g.expandedPlace(i)))
	}
}

// broadcast emits d = one number in every lane.
func (g *generator) broadcast(w Width, d Reg, from Operand, wide bool) {
	if g.isa != Baseline {
		g.asm.V(pair(wide, BROADCASTSS, BROADCASTSD), w, d, 0, from)
		return
	}
	g.asm.V(pair(wide, MOVSS, MOVSD), w, d, 0, from)
	g.asm.VImm(pair(wide, SHUFPS, SHUFPD), w, d, d, R(d), 0)
}

// physical returns the register of an operand in round u.
func (g *generator) physical(r Reg, u int) Reg {
	if r < firstAccumulator {
		return r
	}
	rounds := g.accReg[r-firstAccumulator]
	return rounds[u%len(rounds)]
}

func (g *generator) instruction(m machine, u int, mode tailMode) {
	a := &g.asm
	m.d, m.v = g.physical(m.d, u), g.physical(m.v, u)
	if m.s.kind == isReg {
		m.s.reg = g.physical(m.s.reg, u)
	}
	switch m.kind {
	case plain:
		a.VImm(m.op, m.w, m.d, m.v, m.s, m.imm)
	case fusedMul:
		a.V(m.op, m.w, m.d, m.v, m.s)
	case move:
		if m.d != m.s.reg {
			a.V(MOVAPS, m.w, m.d, 0, m.s)
		}
		if m.index > 0 && mode == masked {
			g.clearRest(&m)
		}
	case loadInput:
		g.load(&m, u, mode)
	case storeOut:
		g.write(&m, u, mode)
	case compareTo:
		a.VImm(m.op, m.w, testMask, m.v, m.s, m.imm)
		a.V(pair(m.op == CMPPD || m.op == PCMPQ, PMOVM2D, PMOVM2Q), m.w, m.d, 0, R(testMask))
	case pickWhere:
		a.VImm(m.op, m.w, testMask, m.v, m.s, m.imm)
		a.VMask(blendOf(m.op), m.w, m.d, m.other, m.chosen, testMask, false)
	case keepNaN:
		a.VImm(m.op, m.w, testMask, m.v, R(m.v), cmpUnordered)
		a.VMask(pair(m.op == CMPPD, MOVAPS, MOVAPD), m.w, m.d, 0, R(m.v), testMask, false)
	case checkNone:
		g.checkNone(&m, mode)
	case divideLanes:
		g.divideLanes(&m)
	case skipSide:
		g.skip(&m)
	case endSide:
		last := len(g.skips) - 1
		a.Bind(g.skips[last])
		g.skips = g.skips[:last]
	case index:
		a.Load(tempReg, At(argsReg, offFirst))
		a.Add(tempReg, indexReg)
		a.AddImm(tempReg, int32(u*g.lanes))
		a.Store(At(argsReg, offIndex), tempReg)
		g.broadcast(m.w, m.d, M(At(argsReg, offIndex)), m.op == PBROADCASTQ)
	}
}

// skip emits a branch to the matching endSide.
func (g *generator) skip(m *machine) {
	a, wide := &g.asm, m.op == MOVMSKPD || m.op == CMPPD || m.op == PCMPQ
	lanes := m.w.Bytes() / 4
	if wide {
		lanes = m.w.Bytes() / 8
	}
	all, end := m.index != 0, a.NewLabel()
	g.skips = append(g.skips, end)
	if g.isa == AVX512 {
		a.VImm(m.op, m.w, testMask, m.v, m.s, m.imm)
		a.KTest(testMask, lanes)
		if all {
			a.JumpIf(Below, end)
		} else {
			a.JumpIf(Equal, end)
		}
		return
	}
	a.MoveMask(tempReg, m.w, m.v, wide)
	if lanes > g.lanes {
		a.AndImm(tempReg, 1<<g.lanes-1)
	}
	if all {
		a.CmpImm(tempReg, 1<<g.lanes-1)
	} else {
		a.Test(tempReg, tempReg)
	}
	a.JumpIf(Equal, end)
}

// clearRest replaces the lanes behind the end by the identity of their reduction.
func (g *generator) clearRest(m *machine) {
	a := &g.asm
	i := int(^g.accs[m.index-1].identity)
	u := &g.uniforms[i]
	wide := u.size == 8
	if g.isa == AVX512 {
		a.VMask(pair(wide, BROADCASTSS, BROADCASTSD), m.w, m.d, 0, M(g.home(i)), restMask, false)
		return
	}
	g.loadMask(m.w, u.size)
	a.V(ANDPS, m.w, m.d, m.d, R(maskReg))
	if u.bits != 0 {
		a.V(ANDNPS, m.w, maskReg, maskReg, M(g.home(i)))
		a.V(ORPS, m.w, m.d, m.d, R(maskReg))
	}
}

// element returns the memory of the elements of an operand that vector u of a round handles.
func (g *generator) element(m *machine, u int) Mem {
	return Indexed(g.regOf[int(m.index)], indexReg, m.size, int32(u*g.lanes*int(m.size)))
}

func (g *generator) load(m *machine, u int, mode tailMode) {
	if m.half != whole {
		g.movePairs(m, u, mode)
		return
	}
	a, at := &g.asm, g.element(m, u)
	switch {
	case mode == allLanes:
		a.V(m.op, m.w, m.d, 0, M(at))
	case mode == masked && g.isa == AVX512:
		a.VMask(m.op, m.w, m.d, 0, M(at), tailMask, true)
	case mode == masked:
		g.loadMask(m.w, m.size)
		a.V(pair(m.size == 8, MASKMOVPS, MASKMOVPD), m.w, m.d, maskReg, M(at))
	case m.size >= 4:
		a.V(pair(m.size == 8, MOVSS, MOVSD), W128, m.d, 0, M(at))
	default:
		if m.size == 1 {
			a.LoadByte(tempReg, at)
		} else {
			a.LoadShort(tempReg, at)
		}
		a.MoveToVector(m.d, tempReg, 4)
		a.V(m.op, W128, m.d, 0, R(m.d))
	}
}

func (g *generator) write(m *machine, u int, mode tailMode) {
	if m.half != whole {
		g.movePairs(m, u, mode)
		return
	}
	a, at := &g.asm, g.element(m, u)
	switch {
	case mode == allLanes && g.streams && (m.op == MOVUPSstore || m.op == MOVUPDstore):
		a.V(pair(m.op == MOVUPDstore, MOVNTPS, MOVNTPD), m.w, m.v, 0, M(at))
	case mode == allLanes:
		a.VImm(m.op, m.w, m.v, 0, M(at), m.imm)
	case mode == masked && g.isa == AVX512:
		a.VMaskImm(m.op, m.w, m.v, 0, M(at), tailMask, false, m.imm)
	case mode == masked:
		g.loadMask(m.w, m.size)
		a.V(pair(m.size == 8, MASKMOVPSstore, MASKMOVPDstore), m.w, m.v, maskReg, M(at))
	case m.size >= 4:
		a.V(pair(m.size == 8, MOVSSstore, MOVSDstore), W128, m.v, 0, M(at))
	default:
		from := m.v
		if m.op == CVTPS2PHstore {
			a.VImm(m.op, W128, from, 0, R(maskReg), m.imm)
			from = maskReg
		}
		a.MoveFromVector(tempReg, from, 4)
		if m.size == 1 {
			a.StoreByte(at, tempReg)
		} else {
			a.StoreShort(at, tempReg)
		}
	}
}

// epilogue returns, and appends the constants.
func (g *generator) epilogue() {
	a := &g.asm
	if g.streams {
		a.StoreFence()
	}
	a.ZeroUpper()
	a.Ret()
	a.Align(64)
	a.Bind(g.pool)
	a.Code = append(a.Code, g.poolData...)
}

// storeResults stores what the reductions give for a row.
func (g *generator) storeResults() {
	for i, acc := range g.accs {
		o, regs := g.kernel.Outputs[acc.output], g.accReg[i]
		for half := len(regs) / 2; half > 0; half /= 2 {
			for r := range half {
				g.join(acc, o, regs[r], regs[r+half])
			}
		}
		g.foldLanes(acc, o, regs[0], regs[1])
		store := MOVSSstore
		if acc.wide {
			store = MOVSDstore
		}
		g.asm.V(store, W128, regs[0], 0, M(At(g.regOf[acc.output], 0)))
	}
}

// foldLanes combines the upper half of the lanes with the lower until one is left. The register t is free.
func (g *generator) foldLanes(acc accumulator, o kernel.Output, r, t Reg) {
	a := &g.asm
	step := func() { g.join(acc, o, r, t) }
	if acc.w == W512 {
		a.VImm(SHUFF32X4, W512, t, r, R(r), 0x0e)
		step()
		acc.w = W256
	}
	if acc.w == W256 {
		a.VImm(PERMQ, W256, t, 0, R(r), 0x0e)
		step()
		acc.w = W128
	}
	a.VImm(PSHUFD, W128, t, 0, R(r), 0x0e)
	step()
	if !acc.wide {
		a.VImm(PSHUFD, W128, t, 0, R(r), 0x01)
		step()
	}
}

// join emits d = d combined with s, when the loop is over and other registers are free.
func (g *generator) join(acc accumulator, o kernel.Output, d, s Reg) {
	a, t := &g.asm, g.kernel.TypeOf(o.Value)
	wide := acc.wide
	if t.IsFloating() && (o.Reduce == kernel.ReduceMin || o.Reduce == kernel.ReduceMax) {
		op := pair(wide, MINPS, MINPD)
		if o.Reduce == kernel.ReduceMax {
			op = pair(wide, MAXPS, MAXPD)
		}
		compare := pair(wide, CMPPS, CMPPD)
		if g.isa == AVX512 {
			a.VImm(compare, acc.w, testMask, s, R(s), cmpUnordered)
			a.V(op, acc.w, d, s, R(d))
			a.VMask(pair(wide, MOVAPS, MOVAPD), acc.w, d, 0, R(s), testMask, false)
			return
		}
		a.VImm(compare, acc.w, maskReg, s, R(s), cmpUnordered)
		a.V(op, acc.w, d, s, R(d))
		a.V(pair(wide, ORPS, ORPD), acc.w, d, d, R(maskReg))
		return
	}
	a.V(g.joinOp(o, wide), acc.w, d, d, R(s))
}

// joinOp returns the instruction of a reduction that needs just one.
func (g *generator) joinOp(o kernel.Output, wide bool) Op {
	t := g.kernel.TypeOf(o.Value)
	switch {
	case t.IsFloating() && o.Reduce == kernel.ReduceSum:
		return pair(wide, ADDPS, ADDPD)
	case t.IsFloating():
		return pair(wide, MULPS, MULPD)
	case t == tensor.Bool:
		if o.Reduce == kernel.ReduceSum || o.Reduce == kernel.ReduceMax {
			return ORPS
		}
		return ANDPS
	case wide && g.isa != AVX512 && o.Reduce != kernel.ReduceSum:
		g.fail("%s of int64", o.Reduce)
	}
	switch o.Reduce {
	case kernel.ReduceSum:
		return pair(wide, PADDD, PADDQ)
	case kernel.ReduceProduct:
		return pair(wide, PMULLD, PMULLQ)
	case kernel.ReduceMin:
		return pair(wide, PMINSD, PMINSQ)
	}
	return pair(wide, PMAXSD, PMAXSQ)
}
