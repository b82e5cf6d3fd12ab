package amd64

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tailMode is how a copy of the body treats memory.
type tailMode uint8

const (
	AllLanes tailMode = iota // whole vectors
	masked                   // the lanes that are left
	single                   // one element
)

// Mask registers: tailMask chooses the lanes of a tail, restMask the others, testMask is for comparisons.
const (
	tailMask asm.Reg = 1
	testMask asm.Reg = 2
	restMask asm.Reg = 3
	// lowerMask and upperMask are the tailMask of the two vectors that complex elements fill.
	lowerMask asm.Reg = 4
	upperMask asm.Reg = 5
)

// home returns where a uniform lies.
func (l *Lowerer) home(i int) asm.Mem {
	u := &l.uniforms[i]
	switch {
	case u.slot < 0:
		return asm.At(PoolReg, l.places[i])
	case l.ISA == asm.AVX512:
		return asm.At(argsReg, offUniform+8*int32(u.slot))
	}
	return l.expandedPlace(i)
}

// ReadUniform loads a uniform into a register.
func (l *Lowerer) ReadUniform(r asm.Reg, i int) machine {
	u := &l.uniforms[i]
	op := asm.MOVUPS
	if l.ISA == asm.AVX512 && u.vector == nil {
		op = pair(u.size == 8, asm.BROADCASTSS, asm.BROADCASTSD)
	}
	return machine{op: op, w: l.ISA.Width(), D: r, s: asm.M(l.home(i))}
}

// fold returns a uniform as a memory operand, where the instruction can read it so.
func (l *Lowerer) fold(i int, op asm.Op) (asm.Operand, bool) {
	u, o := &l.uniforms[i], &asm.Ops[op]
	if o.Form == asm.Vmi {
		return asm.Operand{}, false
	}
	if l.ISA != asm.AVX512 {
		return asm.M(l.home(i)), true
	}
	switch {
	case u.vector != nil:
		return asm.M(l.home(i)), o.Mem == asm.Full32 || o.Mem == asm.Full64 || o.Mem == asm.FullMem
	case o.Mem == asm.Full32 && u.size == 4, o.Mem == asm.Full64 && u.size == 8:
		return asm.Splat(l.home(i)), true
	}
	return asm.Operand{}, false
}

// masksTail reports whether the elements that do not fill a vector are handled together: read and written under a mask, or where they
// are smaller than those that masks are for, one after another. The lanes of a reduction are always together.
func (g *Generator) masksTail() bool {
	if g.ISA != asm.AVX2 || len(g.accs) > 0 {
		return g.ISA != asm.Baseline
	}
	for i := range g.code {
		if in := &g.code[i]; (in.kind == LoadInput || in.kind == StoreOut) && in.size < 4 {
			return false
		}
	}
	return true
}

func (g *Generator) prologue() {
	a := &g.Asm
	g.Pool = a.NewLabel()
	a.LeaLabel(PoolReg, g.Pool)
	a.Load(countReg, asm.At(argsReg, offCount))
	a.Xor(indexReg, indexReg)
	if g.Scratch > 0 {
		a.Load(ScratchReg, asm.At(argsReg, offScratch))
	}
	for i := range g.pointers {
		a.Load(pointerRegs[i], asm.At(argsReg, offPtr+8*int32(i)))
	}
	forAll := func(u *Uniform) bool { return !g.isSingle(u) }
	if g.ISA != asm.AVX512 {
		g.ExpandUniforms(forAll)
	}
	g.readFixed(forAll)
}

// isSingle reports whether a uniform is an input's number, which may differ from row to row.
func (g *Generator) isSingle(u *Uniform) bool { return u.slot >= 0 && int(u.slot) >= g.params }

// readFixed loads the uniforms that stay in registers.
func (g *Generator) readFixed(which func(u *Uniform) bool) {
	for i, r := range g.Fixed {
		if r >= 0 && which(&g.uniforms[i]) {
			g.Instruction(g.ReadUniform(asm.Reg(r), i), 0, AllLanes)
		}
	}
}

// startRow spreads the numbers of the row and gives the accumulators their identities.
func (g *Generator) startRow() {
	if g.ISA != asm.AVX512 {
		g.ExpandUniforms(g.isSingle)
	}
	g.readFixed(g.isSingle)
	for i, acc := range g.accs {
		identity := func(r asm.Reg) { g.Instruction(g.ReadUniform(r, int(^acc.identity)), 0, AllLanes) }
		for _, r := range g.accReg[i] {
			identity(r)
		}
		if acc.reg == none {
			identity(0)
			for u := range g.rounds(acc) {
				g.keepPartial(acc, u, 0)
			}
		}
	}
}

// partial returns where the partial result of vector u of a round lies.
func (g *Generator) partial(acc accumulator, u int) asm.Operand {
	return asm.M(asm.At(ScratchReg, int32((g.Expanded()+acc.place+u%g.rounds(acc))*g.ISA.Width().Bytes())))
}

func (g *Generator) readPartial(acc accumulator, u int, d asm.Reg) {
	g.Asm.V(asm.MOVUPS, acc.w, d, 0, g.partial(acc, u))
}

func (g *Generator) keepPartial(acc accumulator, u int, r asm.Reg) {
	g.Asm.V(asm.MOVUPSstore, acc.w, r, 0, g.partial(acc, u))
}

// nextSingles reads the numbers of the next row. Their addresses are not kept: a pointer behind the last one would name another
// object to the collector.
func (g *Generator) nextSingles() {
	a := &g.Asm
	for i, single := range g.singles {
		at := 8 * int32(i)
		a.Load(indexReg, asm.At(argsReg, offSingleAt+at))
		a.AddMem(indexReg, asm.At(argsReg, offSingleSkip+at))
		a.Store(asm.At(argsReg, offSingleAt+at), indexReg)
		a.Load(tempReg, asm.At(argsReg, offSingle+at))
		a.Add(tempReg, indexReg)
		switch single.size {
		case 4:
			a.Load32(indexReg, asm.At(tempReg, 0))
		case 8:
			a.Load(indexReg, asm.At(tempReg, 0))
		default:
			continue
		}
		a.Store(asm.At(argsReg, offUniform+8*int32(single.slot)), indexReg)
	}
}

// nextRow goes back to the loops where there are more rows. The elements of a row that is reduced are counted from the same
// number as those of the first.
func (g *Generator) nextRow(row asm.Label) {
	a := &g.Asm
	last := a.NewLabel()
	a.Load(tempReg, asm.At(argsReg, offRows))
	a.SubImm(tempReg, 1)
	a.JumpIf(asm.LessEqual, last)
	a.Store(asm.At(argsReg, offRows), tempReg)
	for i := range g.pointers {
		a.Load(tempReg, asm.At(argsReg, offSkip+8*int32(i)))
		a.Add(pointerRegs[i], tempReg)
	}
	g.nextSingles()
	a.Load(countReg, asm.At(argsReg, offCount))
	if len(g.accs) == 0 {
		a.Load(tempReg, asm.At(argsReg, offFirst))
		a.Add(tempReg, countReg)
		a.Store(asm.At(argsReg, offFirst), tempReg)
	}
	a.Xor(indexReg, indexReg)
	a.Jump(row)
	a.Bind(last)
}

// ExpandUniforms spreads the numbers among the arguments over vectors in scratch memory.
func (g *Generator) ExpandUniforms(which func(u *Uniform) bool) {
	w := g.ISA.Width()
	for i := range g.uniforms {
		u := &g.uniforms[i]
		if u.slot < 0 || !which(u) {
			continue
		}
		from := asm.M(asm.At(argsReg, offUniform+8*int32(u.slot)))
		g.broadcast(w, 0, from, u.size == 8)
		g.Asm.V(asm.MOVUPSstore, w, 0, 0, asm.M(g.expandedPlace(i)))
	}
}

// broadcast emits d = one number in every lane.
func (g *Generator) broadcast(w asm.Width, d asm.Reg, from asm.Operand, wide bool) {
	if g.ISA != asm.Baseline {
		g.Asm.V(pair(wide, asm.BROADCASTSS, asm.BROADCASTSD), w, d, 0, from)
		return
	}
	g.Asm.V(pair(wide, asm.MOVSS, asm.MOVSD), w, d, 0, from)
	g.Asm.VImm(pair(wide, asm.SHUFPS, asm.SHUFPD), w, d, d, asm.R(d), 0)
}

// physical returns the register of an operand in round u.
func (g *Generator) physical(r asm.Reg, u int) asm.Reg {
	if r < firstAccumulator {
		return r
	}
	rounds := g.accReg[r-firstAccumulator]
	return rounds[u%len(rounds)]
}

func (g *Generator) Instruction(m machine, u int, mode tailMode) {
	a := &g.Asm
	m.D, m.V = g.physical(m.D, u), g.physical(m.V, u)
	if m.s.Kind == asm.IsReg {
		m.s.Reg = g.physical(m.s.Reg, u)
	}
	switch m.Kind {
	case plain:
		a.VImm(m.op, m.w, m.D, m.V, m.s, m.imm)
	case fusedMul:
		a.V(m.op, m.w, m.D, m.V, m.s)
	case move:
		if m.D != m.s.Reg {
			a.V(asm.MOVAPS, m.w, m.D, 0, m.s)
		}
		if m.Index > 0 && mode == masked {
			g.clearRest(&m)
		}
	case LoadInput:
		g.load(&m, u, mode)
	case StoreOut:
		g.write(&m, u, mode)
	case readPartial:
		g.readPartial(g.accs[m.Index-1], u, m.D)
	case keepPartial:
		g.keepPartial(g.accs[m.Index-1], u, m.V)
	case compareTo:
		a.VImm(m.op, m.w, testMask, m.V, m.s, m.imm)
		a.V(pair(m.op == asm.CMPPD || m.op == asm.PCMPQ, asm.PMOVM2D, asm.PMOVM2Q), m.w, m.D, 0, asm.R(testMask))
	case pickWhere:
		a.VImm(m.op, m.w, testMask, m.V, m.s, m.imm)
		a.VMask(blendOf(m.op), m.w, m.D, m.other, m.chosen, testMask, false)
	case keepNaN:
		a.VImm(m.op, m.w, testMask, m.V, asm.R(m.V), cmpUnordered)
		a.VMask(pair(m.op == asm.CMPPD, asm.MOVAPS, asm.MOVAPD), m.w, m.D, 0, asm.R(m.V), testMask, false)
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
		a.Load(tempReg, asm.At(argsReg, offFirst))
		a.Add(tempReg, indexReg)
		a.AddImm(tempReg, int32(u*g.Lanes))
		a.Store(asm.At(argsReg, offIndex), tempReg)
		g.broadcast(m.w, m.D, asm.M(asm.At(argsReg, offIndex)), m.op == asm.PBROADCASTQ)
	}
}

// skip emits a branch to the matching endSide.
func (g *Generator) skip(m *machine) {
	a, wide := &g.Asm, m.op == asm.MOVMSKPD || m.op == asm.CMPPD || m.op == asm.PCMPQ
	lanes := m.w.Bytes() / 4
	if wide {
		lanes = m.w.Bytes() / 8
	}
	all, end := m.Index != 0, a.NewLabel()
	g.skips = append(g.skips, end)
	if g.ISA == asm.AVX512 {
		a.VImm(m.op, m.w, testMask, m.V, m.s, m.imm)
		a.KTest(testMask, lanes)
		if all {
			a.JumpIf(asm.Below, end)
		} else {
			a.JumpIf(asm.Equal, end)
		}
		return
	}
	a.MoveMask(tempReg, m.w, m.V, wide)
	if lanes > g.Lanes {
		a.AndImm(tempReg, 1<<g.Lanes-1)
	}
	if all {
		a.CmpImm(tempReg, 1<<g.Lanes-1)
	} else {
		a.Test(tempReg, tempReg)
	}
	a.JumpIf(asm.Equal, end)
}

// clearRest replaces the lanes behind the end by the identity of their reduction.
func (g *Generator) clearRest(m *machine) {
	a := &g.Asm
	i := int(^g.accs[m.Index-1].identity)
	u := &g.uniforms[i]
	wide := u.size == 8
	if g.ISA == asm.AVX512 {
		a.VMask(pair(wide, asm.BROADCASTSS, asm.BROADCASTSD), m.w, m.D, 0, asm.M(g.home(i)), restMask, false)
		return
	}
	g.loadMask(m.w, u.size)
	a.V(asm.ANDPS, m.w, m.D, m.D, asm.R(maskReg))
	if u.bits != 0 {
		a.V(asm.ANDNPS, m.w, maskReg, maskReg, asm.M(g.home(i)))
		a.V(asm.ORPS, m.w, m.D, m.D, asm.R(maskReg))
	}
}

// element returns the memory of the elements of an operand that vector u of a round handles.
func (g *Generator) element(m *machine, u int) asm.Mem {
	return asm.Indexed(g.regOf[int(m.Index)], indexReg, m.size, int32(u*g.Lanes*int(m.size)))
}

func (g *Generator) load(m *machine, u int, mode tailMode) {
	if m.half != whole {
		g.movePairs(m, u, mode)
		return
	}
	a, at := &g.Asm, g.element(m, u)
	switch {
	case mode == AllLanes:
		a.V(m.op, m.w, m.D, 0, asm.M(at))
	case mode == masked && g.ISA == asm.AVX512:
		a.VMask(m.op, m.w, m.D, 0, asm.M(at), tailMask, true)
	case mode == masked && m.size < 4:
		some, end := a.NewLabel(), a.NewLabel()
		a.CmpImm(countReg, int32(g.Lanes))
		a.JumpIf(asm.Less, some)
		a.V(m.op, m.w, m.D, 0, asm.M(at))
		a.Jump(end)
		a.Bind(some)
		g.gatherTail(m, at)
		a.V(m.op, m.w, m.D, 0, asm.M(asm.At(argsReg, offTail)))
		a.Bind(end)
	case mode == masked:
		g.loadMask(m.w, m.size)
		a.V(pair(m.size == 8, asm.MASKMOVPS, asm.MASKMOVPD), m.w, m.D, maskReg, asm.M(at))
	case m.size >= 4:
		a.V(pair(m.size == 8, asm.MOVSS, asm.MOVSD), asm.W128, m.D, 0, asm.M(at))
	default:
		if m.size == 1 {
			a.LoadByte(tempReg, at)
		} else {
			a.LoadShort(tempReg, at)
		}
		a.MoveToVector(m.D, tempReg, 4)
		a.V(m.op, asm.W128, m.D, 0, asm.R(m.D))
	}
}

// gatherTail brings the elements that are left among the arguments, zeros behind them.
func (g *Generator) gatherTail(m *machine, at asm.Mem) {
	a := &g.Asm
	a.Xor(tempReg, tempReg)
	a.Store(asm.At(argsReg, offTail), tempReg)
	a.Store(asm.At(argsReg, offTail+8), tempReg)
	g.eachOfTail(m, at, asm.At(argsReg, offTail))
}

// eachOfTail copies the elements that are left, at most a vector of them.
func (g *Generator) eachOfTail(m *machine, from, to asm.Mem) {
	a := &g.Asm
	done := a.NewLabel()
	for i := range int32(g.Lanes) {
		if i > 0 { // there is one
			a.CmpImm(countReg, i)
			a.JumpIf(asm.LessEqual, done)
		}
		if m.size == 1 {
			a.LoadByte(tempReg, from)
			a.StoreByte(to, tempReg)
		} else {
			a.LoadShort(tempReg, from)
			a.StoreShort(to, tempReg)
		}
		from.Disp += int32(m.size)
		to.Disp += int32(m.size)
	}
	a.Bind(done)
}

func (g *Generator) write(m *machine, u int, mode tailMode) {
	if m.half != whole {
		g.movePairs(m, u, mode)
		return
	}
	a, at := &g.Asm, g.element(m, u)
	switch {
	case mode == AllLanes && g.streams && (m.op == asm.MOVUPSstore || m.op == asm.MOVUPDstore):
		a.V(pair(m.op == asm.MOVUPDstore, asm.MOVNTPS, asm.MOVNTPD), m.w, m.V, 0, asm.M(at))
	case mode == AllLanes:
		a.VImm(m.op, m.w, m.V, 0, asm.M(at), m.imm)
	case mode == masked && g.ISA == asm.AVX512:
		a.VMaskImm(m.op, m.w, m.V, 0, asm.M(at), tailMask, false, m.imm)
	case mode == masked && m.size < 4:
		a.VImm(m.op, m.w, m.V, 0, asm.M(asm.At(argsReg, offTail)), m.imm)
		g.eachOfTail(m, asm.At(argsReg, offTail), at)
	case mode == masked:
		g.loadMask(m.w, m.size)
		a.V(pair(m.size == 8, asm.MASKMOVPSstore, asm.MASKMOVPDstore), m.w, m.V, maskReg, asm.M(at))
	case m.size >= 4:
		a.V(pair(m.size == 8, asm.MOVSSstore, asm.MOVSDstore), asm.W128, m.V, 0, asm.M(at))
	default:
		from := m.V
		if m.op == asm.CVTPS2PHstore {
			a.VImm(m.op, asm.W128, from, 0, asm.R(maskReg), m.imm)
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
func (g *Generator) epilogue() {
	a := &g.Asm
	if g.streams {
		a.StoreFence()
	}
	a.ZeroUpper()
	a.Ret()
	a.Align(64)
	a.Bind(g.Pool)
	a.Code = append(a.Code, g.PoolData...)
}

// storeResults stores what the reductions give for a row.
func (g *Generator) storeResults() {
	for i, acc := range g.accs {
		o, regs := g.Kernel.Outputs[acc.output], g.accReg[i]
		if acc.reg == none {
			regs = []asm.Reg{0, 1}
			g.foldPartials(acc, o, regs[0], regs[1])
		}
		for half := len(g.accReg[i]) / 2; half > 0; half /= 2 {
			for r := range half {
				g.join(acc, o, regs[r], regs[r+half])
			}
		}
		g.foldLanes(acc, o, regs[0], regs[1])
		store := asm.MOVSSstore
		if acc.wide {
			store = asm.MOVSDstore
		}
		g.Asm.V(store, asm.W128, regs[0], 0, asm.M(asm.At(g.regOf[acc.output], 0)))
	}
}

// foldPartials combines the vectors of an accumulator in memory, the upper half with the lower until one is left, in r. The register t is free.
func (g *Generator) foldPartials(acc accumulator, o kernel.Output, r, t asm.Reg) {
	for half := g.rounds(acc) / 2; half > 0; half /= 2 {
		for u := half - 1; u >= 0; u-- { // the first one stays in r
			g.readPartial(acc, u, r)
			g.readPartial(acc, u+half, t)
			g.join(acc, o, r, t)
			g.keepPartial(acc, u, r)
		}
	}
}

// foldLanes combines the upper half of the lanes with the lower until one is left. The register t is free.
func (g *Generator) foldLanes(acc accumulator, o kernel.Output, r, t asm.Reg) {
	a := &g.Asm
	step := func() { g.join(acc, o, r, t) }
	if acc.w == asm.W512 {
		a.VImm(asm.SHUFF32X4, asm.W512, t, r, asm.R(r), 0x0e)
		step()
		acc.w = asm.W256
	}
	if acc.w == asm.W256 {
		a.VImm(asm.PERMQ, asm.W256, t, 0, asm.R(r), 0x0e)
		step()
		acc.w = asm.W128
	}
	a.VImm(asm.PSHUFD, asm.W128, t, 0, asm.R(r), 0x0e)
	step()
	if !acc.wide {
		a.VImm(asm.PSHUFD, asm.W128, t, 0, asm.R(r), 0x01)
		step()
	}
}

// join emits d = d combined with s, when the loop is over and registers below the accumulators' are free.
func (g *Generator) join(acc accumulator, o kernel.Output, d, s asm.Reg) {
	a, t := &g.Asm, g.Kernel.TypeOf(o.Value)
	wide := acc.wide
	if t.IsFloating() && (o.Reduce == kernel.ReduceMin || o.Reduce == kernel.ReduceMax) {
		op := pair(wide, asm.MINPS, asm.MINPD)
		if o.Reduce == kernel.ReduceMax {
			op = pair(wide, asm.MAXPS, asm.MAXPD)
		}
		compare := pair(wide, asm.CMPPS, asm.CMPPD)
		if g.ISA == asm.AVX512 {
			a.VImm(compare, acc.w, testMask, s, asm.R(s), cmpUnordered)
			a.V(op, acc.w, d, s, asm.R(d))
			a.VMask(pair(wide, asm.MOVAPS, asm.MOVAPD), acc.w, d, 0, asm.R(s), testMask, false)
			return
		}
		a.VImm(compare, acc.w, maskReg, s, asm.R(s), cmpUnordered)
		a.V(op, acc.w, d, s, asm.R(d))
		a.V(pair(wide, asm.ORPS, asm.ORPD), acc.w, d, d, asm.R(maskReg))
		return
	}
	if wide && g.ISA != asm.AVX512 && t != tensor.Bool && !t.IsFloating() && o.Reduce != kernel.ReduceSum {
		g.joinLong(acc.w, o.Reduce, d, s)
		return
	}
	a.V(g.joinOp(o, wide), acc.w, d, d, asm.R(s))
}

// joinLong is join for products and extremes of int64, which AVX2 has no instruction for. It changes s.
func (g *Generator) joinLong(w asm.Width, op kernel.ReduceOp, d, s asm.Reg) {
	a := &g.Asm
	switch op {
	case kernel.ReduceMax:
		a.V(asm.PCMPGTQ, w, maskReg, d, asm.R(s))
		a.VImm(asm.BLENDVPD, w, d, s, asm.R(d), uint8(maskReg))
	case kernel.ReduceMin:
		a.V(asm.PCMPGTQ, w, maskReg, d, asm.R(s))
		a.VImm(asm.BLENDVPD, w, d, d, asm.R(s), uint8(maskReg))
	default: // low*low + (low*high << 32) + (high*low << 32)
		a.VImm(asm.PSHUFD, w, maskReg, 0, asm.R(s), 0xb1)
		a.V(asm.PMULLD, w, maskReg, maskReg, asm.R(d))
		a.V(asm.PMULUDQ, w, d, d, asm.R(s))
		a.VImm(asm.PSLLQ, w, s, 0, asm.R(maskReg), 32)
		a.V(asm.PADDQ, w, d, d, asm.R(s))
		a.VImm(asm.PSRLQ, w, s, 0, asm.R(maskReg), 32)
		a.VImm(asm.PSLLQ, w, s, 0, asm.R(s), 32)
		a.V(asm.PADDQ, w, d, d, asm.R(s))
	}
}

// joinOp returns the instruction of a reduction that needs just one.
func (g *Generator) joinOp(o kernel.Output, wide bool) asm.Op {
	t := g.Kernel.TypeOf(o.Value)
	switch {
	case t.IsFloating() && o.Reduce == kernel.ReduceSum:
		return pair(wide, asm.ADDPS, asm.ADDPD)
	case t.IsFloating():
		return pair(wide, asm.MULPS, asm.MULPD)
	case t == tensor.Bool:
		if o.Reduce == kernel.ReduceSum || o.Reduce == kernel.ReduceMax {
			return asm.ORPS
		}
		return asm.ANDPS
	}
	switch o.Reduce {
	case kernel.ReduceSum:
		return pair(wide, asm.PADDD, asm.PADDQ)
	case kernel.ReduceProduct:
		return pair(wide, asm.PMULLD, asm.PMULLQ)
	case kernel.ReduceMin:
		return pair(wide, asm.PMINSD, asm.PMINSQ)
	}
	return pair(wide, asm.PMAXSD, asm.PMAXSQ)
}
