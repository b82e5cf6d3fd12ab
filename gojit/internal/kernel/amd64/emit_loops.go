package amd64

import (
	"math/bits"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// loops emits the body for several vectors, for one, and for what is left.
func (g *Generator) loops() {
	a := &g.Asm
	done, tail := a.NewLabel(), a.NewLabel()
	if g.alignsStores() {
		g.startBeforeVectors(tail)
	}
	vectors := a.Here()
	g.pipelineLoop()
	if g.Unroll > 1 {
		g.loop(g.Unroll)
	}
	if g.Unroll == 4 && g.stride > 0 && g.isLong() {
		g.loop(2) // one after another they would take as long as four together
	}
	if len(g.accs) > 0 {
		g.maskedRounds(done)
		a.Bind(done)
		return
	}
	g.loop(1)
	a.CmpImm(countReg, 0)
	a.JumpIf(asm.Equal, done)
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
		a.JumpIf(asm.NotEqual, top)
	}
	a.Bind(done)
}

// vectorsWorthAlignment is how many vectors a row has at least whose stores are aligned.
const vectorsWorthAlignment = 8

// alignsStores reports whether the elements before the first whole aligned vector of the first output are handled under a mask, so that
// no vector of it lies in two cache lines. Masks of other instruction sets are too dear.
func (g *Generator) alignsStores() bool {
	return g.ISA == asm.AVX512 && len(g.accs) == 0 && !g.streams && !g.hasPairs()
}

// startBeforeVectors goes to the tail with the elements before the first aligned vector, where there are some and the row is long.
func (g *Generator) startBeforeVectors(tail asm.Label) {
	a, size := &g.Asm, g.Kernel.Outputs[0].DType.Size()
	vector := g.Lanes * size
	start := a.NewLabel()
	a.CmpImm(countReg, int32(vectorsWorthAlignment*g.Lanes))
	a.JumpIf(asm.Less, start)
	a.Move(tempReg, g.regOf[0])
	a.Negate(tempReg)
	a.AndImm(tempReg, int32(vector-1))
	a.ShiftRight(tempReg, uint8(bits.TrailingZeros(uint(size))))
	a.JumpIf(asm.Equal, start)
	a.Sub(countReg, tempReg)
	a.Store(asm.At(argsReg, offRest), countReg)
	a.Move(countReg, tempReg)
	a.Jump(tail)
	a.Bind(start)
}

// goOnWithVectors goes back from the tail where it was the elements before the first vector.
func (g *Generator) goOnWithVectors(vectors, done asm.Label) {
	a := &g.Asm
	a.Load(tempReg, asm.At(argsReg, offRest))
	a.Test(tempReg, tempReg)
	a.JumpIf(asm.Equal, done)
	a.Add(indexReg, countReg)
	a.Move(countReg, tempReg)
	a.Xor(tempReg, tempReg)
	a.Store(asm.At(argsReg, offRest), tempReg)
	a.Jump(vectors)
}

// loop emits rounds of a number of vectors, as long as there are so many elements.
func (g *Generator) loop(vectors int) {
	a := &g.Asm
	step := int32(vectors * g.Lanes)
	end := a.NewLabel()
	a.CmpImm(countReg, step)
	a.JumpIf(asm.Less, end)
	a.Align(16)
	top := a.Here()
	if vectors > 1 && g.stride > 0 {
		g.together(vectors)
	} else {
		for u := range vectors {
			g.copy(u, AllLanes)
		}
	}
	a.AddImm(indexReg, step)
	a.SubImm(countReg, step)
	a.CmpImm(countReg, step)
	a.JumpIf(asm.GreaterEqual, top)
	a.Bind(end)
}

// maskedRounds emits the last round of a reduction, in which each vector goes to its accumulator.
func (g *Generator) maskedRounds(done asm.Label) {
	for u := range g.Unroll {
		if u > 0 {
			g.Asm.SubImm(countReg, int32(g.Lanes))
		} else {
			g.Asm.CmpImm(countReg, 0)
		}
		g.Asm.JumpIf(asm.LessEqual, done)
		g.setTailMask()
		g.copy(u, masked)
	}
}

// setTailMask prepares the masks for the elements that are left, at most a vector of them.
func (g *Generator) setTailMask() {
	a := &g.Asm
	if g.ISA != asm.AVX512 {
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
func (g *Generator) loadMask(w asm.Width, size uint8) {
	a := &g.Asm
	a.Xor(tempReg, tempReg)
	a.Sub(tempReg, countReg)
	a.V(asm.MOVUPS, w, maskReg, 0, asm.M(asm.Indexed(PoolReg, tempReg, size, g.masks)))
}

// copy emits the body once, for vector u of a round.
func (g *Generator) copy(u int, mode tailMode) {
	for i := range g.Body {
		g.Instruction(g.Body[i], u, mode)
	}
}

// together emits the body for several vectors at once: each instruction for all of them. So all loads come before all stores, which
// between the loads keep the processor from fetching ahead.
//
// What all vectors read in memory is loaded once, where there is a register for it: a processor loads two vectors in a cycle.
func (g *Generator) together(vectors int) {
	for i := range g.Body {
		read := g.Body[i]
		g.loadShared(&read)
		for u := range vectors {
			m := read
			if u > 0 && g.isShared(&m) {
				m = machine{Kind: plain, op: asm.MOVAPS, w: m.w, D: m.D, s: asm.R(m.D)}
				m.D = g.ofVector(m.D, u)
				g.Instruction(m, u, AllLanes)
				continue
			}
			m.D, m.V, m.other = g.ofVector(m.D, u), g.ofVector(m.V, u), g.ofVector(m.other, u)
			m.s.Reg, m.chosen.Reg = g.ofVector(m.s.Reg, u), g.ofVector(m.chosen.Reg, u)
			if m.blends() {
				m.imm = uint8(g.ofVector(asm.Reg(m.imm), u))
			}
			g.Instruction(m, u, AllLanes)
		}
	}
}

// isShared reports whether m reads a number for all vectors into a register.
func (g *Generator) isShared(m *machine) bool {
	_, _, inMemory := m.s.InMemory()
	return m.Kind == plain && inMemory && (m.op == asm.MOVUPS || m.op == asm.BROADCASTSS || m.op == asm.BROADCASTSD)
}

// loadShared has m read a register, which is loaded before, in place of memory.
func (g *Generator) loadShared(m *machine) {
	at, isSplatted, inMemory := m.s.InMemory()
	if !inMemory || g.shared == 0 || m.Kind != plain && m.Kind != fusedMul || g.isShared(m) {
		return
	}
	load := asm.MOVUPS
	if isSplatted {
		load = pair(asm.Ops[m.op].Mem == asm.Full64, asm.BROADCASTSS, asm.BROADCASTSD)
	}
	g.Asm.V(load, m.w, g.shared, 0, asm.M(at))
	m.s = asm.R(g.shared)
}

// ofVector returns the register that stands for one of the body's in the instructions for vector u. Registers that stay the same for
// all vectors lie above.
func (g *Generator) ofVector(r asm.Reg, u int) asm.Reg {
	if r < g.stride {
		r += asm.Reg(u) * g.stride
	}
	return r
}

// blends reports whether imm is a register.
func (m *machine) blends() bool { return m.op == asm.BLENDVPS || m.op == asm.BLENDVPD }

// setStride gives each vector of a round registers of its own, where the body has no branches, no accumulators and no values in
// scratch memory, and there are enough.
func (g *Generator) setStride(spills bool) {
	if spills || g.Unroll == 1 || len(g.accs) > 0 {
		return
	}
	limit := asm.Reg(maskReg)
	if g.ISA == asm.AVX512 {
		limit = asm.Reg(g.ISA.Registers())
	}
	for _, r := range g.Fixed {
		if r >= 0 {
			limit = min(limit, asm.Reg(r))
		}
	}
	stride := asm.Reg(0)
	for i := range g.Body {
		m := &g.Body[i]
		switch m.Kind {
		case plain, fusedMul, move, LoadInput, StoreOut, compareTo, pickWhere, keepNaN:
		default:
			return
		}
		for _, r := range [...]asm.Reg{m.D, m.V, m.s.Reg, m.chosen.Reg, m.other} {
			if r < limit {
				stride = max(stride, r+1)
			}
		}
		if m.blends() {
			stride = max(stride, asm.Reg(m.imm)+1)
		}
	}
	if used := stride * asm.Reg(g.Unroll); used <= limit {
		if g.stride = stride; used < limit {
			g.shared = limit - 1
		}
	}
}
