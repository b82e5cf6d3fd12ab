package amd64

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// A processor sees some two hundred instructions ahead. Those of a long body that stand in the order of their dependences, one function behind the
// other, fill that with instructions that wait. order puts those first that can start, of several the one with the longest way to the end.

// Cycles from when an instruction starts until its result is there, about.
const (
	latency         = 4
	latencyOfLoad   = 7
	latencyOfDivide = 16
)

func (in *instruction) latency() int {
	switch in.op {
	case asm.DIVPS, asm.DIVPD, asm.SQRTPS, asm.SQRTPD:
		return latencyOfDivide
	}
	if in.kind == LoadInput {
		return latencyOfLoad
	}
	return latency
}

// schedule is the state while instructions are put in order.
type schedule struct {
	code   []instruction
	users  [][]int // of each instruction's result, and what may not come before it
	later  [][]int // what may not come before an instruction and does not wait for its result
	height []int   // cycles from the start of an instruction to the end of the last one that waits for it
	waits  []int   // for how many others
	ready  []int   // cycle in which what it waits for is there
	uses   []int   // of each virtual register, by instructions that are left
	order  []int   // places that the instructions had before
	live   int
	most   int // registers
}

// order changes the order of the body, which is written for several vectors in turn, so that fewer instructions wait. It takes no more registers than each
// of the vectors can have; where that is not enough the order stays.
func (g *Generator) order() {
	if g.Unroll == 1 || !g.isLong() || g.ISA != asm.AVX512 || !slices.ContainsFunc(g.code, func(in instruction) bool { return in.kind == StoreOut }) {
		return
	}
	s := &schedule{code: g.code, uses: make([]int, g.next), most: g.ISA.Registers()/g.Unroll - 2}
	if !s.depend() {
		return
	}
	before := g.code
	if g.code = s.run(4 / g.Unroll); newAllocator(&g.Lowerer, 1).pressure() > s.most {
		g.code = before
	}
	for i := range g.uniforms {
		g.uniforms[i].uses = 0 // an allocator has counted them
	}
}

// depend finds what each instruction waits for. It reports whether all are such that may change places: stores stay behind loads, whose
// memory they may write, and in their order.
func (s *schedule) depend() bool {
	n := len(s.code)
	s.users, s.later, s.height, s.waits, s.ready = make([][]int, n), make([][]int, n), make([]int, n), make([]int, n), make([]int, n)
	maker := make([]int, len(s.uses))
	for i := range maker {
		maker[i] = -1 // made in the round before
	}
	var loads []int
	store := -1
	after := func(i, before int) {
		s.users[before] = append(s.users[before], i)
		s.waits[i]++
	}
	for i := range s.code {
		in := &s.code[i]
		switch in.kind {
		case LoadInput:
			loads = append(loads, i)
		case StoreOut:
			for _, l := range loads {
				after(i, l)
			}
			if store >= 0 {
				after(i, store)
			}
			store = i
		case plain, fusedMul, move, compareTo, pickWhere, keepNaN:
		default:
			return false
		}
		for j, o := range in.args {
			if o != none && !o.isUniform() && firstUse(in, o) == j {
				if maker[o] >= 0 {
					after(i, maker[o])
				}
				s.uses[o]++
			}
		}
		if in.d != none {
			maker[in.d] = i
		}
	}
	s.setHeights()
	return true
}

func (s *schedule) setHeights() {
	for i := len(s.code) - 1; i >= 0; i-- {
		s.height[i] = 0
		for _, u := range s.users[i] {
			s.height[i] = max(s.height[i], s.height[u])
		}
		s.height[i] += s.code[i].latency()
		for _, u := range s.later[i] {
			s.height[i] = max(s.height[i], s.height[u])
		}
	}
}

// run returns the instructions in order; so many of them start in a cycle.
func (s *schedule) run(each int) []instruction {
	ordered := make([]instruction, 0, len(s.code))
	var free []int // instructions that wait for none
	for i, w := range s.waits {
		if w == 0 {
			free = append(free, i)
		}
	}
	for len(free) > 0 {
		now := len(ordered) / each
		at := s.best(free, now)
		i := free[at]
		free = slices.Delete(free, at, at+1)
		s.live += s.added(i)
		in := &s.code[i]
		for j, o := range in.args {
			if o != none && !o.isUniform() && firstUse(in, o) == j {
				s.uses[o]--
			}
		}
		ordered, s.order = append(ordered, *in), append(s.order, i)
		done := max(now, s.ready[i]) + in.latency()
		for _, u := range s.users[i] {
			s.ready[u] = max(s.ready[u], done)
			if s.waits[u]--; s.waits[u] == 0 {
				free = append(free, u)
			}
		}
		for _, u := range s.later[i] {
			if s.waits[u]--; s.waits[u] == 0 {
				free = append(free, u)
			}
		}
	}
	return ordered
}

// added returns how many registers more live behind an instruction.
func (s *schedule) added(i int) (count int) {
	in := &s.code[i]
	if in.d != none {
		count++
	}
	for j, o := range in.args {
		if o != none && !o.isUniform() && firstUse(in, o) == j && s.uses[o] == 1 {
			count--
		}
	}
	return count
}

// best returns the place of the instruction to come next: one that needs no further register where there is none left.
func (s *schedule) best(free []int, now int) int {
	best := -1
	for at, i := range free {
		if best < 0 || s.isBetter(i, free[best], now) {
			best = at
		}
	}
	return best
}

func (s *schedule) isBetter(i, than, now int) bool {
	fits, fitsOther := s.live+s.added(i) < s.most, s.live+s.added(than) < s.most
	if fits != fitsOther {
		return fits
	}
	if !fits && s.added(i) != s.added(than) {
		return s.added(i) < s.added(than)
	}
	wait, other := max(0, s.ready[i]-now), max(0, s.ready[than]-now)
	if wait != other {
		return wait < other
	}
	if s.height[i] != s.height[than] {
		return s.height[i] > s.height[than]
	}
	return i < than
}

// exactScale bounds powers of two, and numbers that are added, whose sum is rounded once though the product is one instruction with it: no product is
// rounded, and one that is infinite stays so.
const exactScale = 100

// joinExact makes one instruction of a product with a power of two that is no fraction, which loses no digits, and a number that is added to it.
func (l *Lowerer) joinExact() {
	if l.ISA < asm.AVX2 {
		return
	}
	uses, maker := make([]int, l.next), make([]*instruction, l.next)
	for i := range l.code {
		in := &l.code[i]
		for _, o := range in.args {
			if o != none && !o.isUniform() {
				uses[o]++
			}
		}
		if in.d != none && !in.d.isUniform() {
			maker[in.d] = in
		}
	}
	for i := range l.code {
		in := &l.code[i]
		if in.kind != plain || in.op != asm.ADDPS && in.op != asm.ADDPD {
			continue
		}
		product, added := in.args[0], in.args[1]
		if product.isUniform() {
			product, added = added, product
		}
		if product == none || product.isUniform() || uses[product] != 1 || maker[product] == nil {
			continue
		}
		c, isNumber := l.constant(added)
		of := maker[product]
		if !isNumber || math.Abs(c) > 1<<exactScale || of.kind != plain || of.op != pair(in.op == asm.ADDPD, asm.MULPS, asm.MULPD) || of.w != in.w {
			continue
		}
		x, factor := of.args[0], of.args[1]
		if x.isUniform() {
			x, factor = factor, x
		}
		scale, isNumber := l.constant(factor)
		fraction, _ := math.Frexp(math.Abs(scale))
		if isNumber && !x.isUniform() && fraction == 0.5 && math.Abs(scale) >= 1 && math.Abs(scale) <= 1<<exactScale {
			*in = instruction{kind: fusedMul, op: pair(in.op == asm.ADDPD, asm.FMADD231PS, asm.FMADD231PD), w: in.w, d: in.d, args: [4]operand{x, factor, added, none}}
		}
	}
}

// constant returns the number that a uniform is, where the kernel has it.
func (l *Lowerer) constant(o operand) (x float64, ok bool) {
	if o == none || !o.isUniform() {
		return 0, false
	}
	u := &l.uniforms[^o]
	switch {
	case u.slot >= 0 || u.vector != nil:
		return 0, false
	case u.size == 4:
		return float64(math.Float32frombits(uint32(u.bits))), true
	}
	return math.Float64frombits(u.bits), true
}
