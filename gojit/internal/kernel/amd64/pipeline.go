package amd64

import (
	"math/bits"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// A processor holds some hundred instructions that wait for others. Where those of a long body wait for one another longer than it takes to start so many, the
// loop is a pipeline: the body is divided into stages, and a round computes the first stage for one vector, the second for the vector before it, and so on.
// No stage of a round waits for another.

// pipeline is the body as a round of such a loop.
type pipeline struct {
	body   []machine
	stage  []int // of each instruction of the body
	stages int
	fixed  []int16 // of each uniform: the register it stays in, or -1
}

// carriedValue is a value that one stage makes and the next one reads in the next round, under another name and in the same register.
type carriedValue struct{ made, read operand }

const (
	// longestPipeline bounds the bodies that become pipelines: longer ones take too many registers, and long to put in order.
	longestPipeline = 160
	// pipelineRegisters is how many registers the values of a round may take, so that others are left for numbers.
	pipelineRegisters = 16
	// cyclesOfStage is how long the longest chain of instructions of a stage takes, about.
	cyclesOfStage = 18
)

// makePipeline makes the pipeline, where the body is long and there are registers for it. The pool has been laid out.
func (g *Generator) makePipeline() {
	if g.ISA != asm.AVX512 || !g.isLong() || len(g.code) > longestPipeline || g.hasPairs() {
		return
	}
	stage, stages := divide(g.code, int(g.next))
	if stages < 2 {
		return
	}
	l := g.Lowerer
	l.uniforms = slices.Clone(g.uniforms)
	for i := range l.uniforms {
		l.uniforms[i].uses = 0
	}
	carried, stage := l.makeRound(stage, stages)
	s := &schedule{code: l.code, uses: make([]int, l.next), live: len(carried), most: pipelineRegisters}
	s.depend()
	for _, c := range carried {
		s.makeAfterReads(c)
	}
	s.setHeights()
	l.code = s.run(4)
	a := newAllocatorOfRound(&l, carried)
	if a == nil {
		return
	}
	p := &pipeline{fixed: a.Fixed, stages: stages}
	for i := range l.code {
		a.at = i
		a.instruction(&l.code[i])
		for len(p.stage) < len(a.out) {
			p.stage = append(p.stage, stage[s.order[i]])
		}
	}
	if p.body = a.out; len(a.slots) == 0 {
		g.pipeline = p
	}
}

// divide returns the stage of each instruction, and how many there are: 0 where the body cannot be divided. Each starts as late as it can, so that values
// wait for few rounds; stages end where few values live, near where they would all be of one length.
func divide(code []instruction, values int) (stage []int, stages int) {
	s := &schedule{code: code, uses: make([]int, values)}
	if !s.depend() {
		return nil, 0
	}
	longest := slices.Max(s.height)
	if stages = longest / cyclesOfStage; stages < 2 {
		return nil, 0
	}
	maker := make([]int, values)
	for i := range maker {
		maker[i] = -1
	}
	stage = make([]int, len(code))
	for i := range code {
		if d := code[i].d; d != none {
			if maker[d] >= 0 {
				return nil, 0
			}
			maker[d] = i
		}
	}
	livesAt := func(at int) (count int) {
		for i := range code {
			isBefore := longest-s.height[i] < at && code[i].kind != LoadInput
			if isBefore && slices.ContainsFunc(s.users[i], func(u int) bool { return longest-s.height[u] >= at }) {
				count++
			}
		}
		return count
	}
	for k := 1; k < stages; k++ {
		middle, reach := longest*k/stages, longest/stages/4
		end, fewest := middle, livesAt(middle)
		for far := 1; far <= reach; far++ {
			for _, at := range [...]int{middle - far, middle + far} {
				if n := livesAt(at); n < fewest {
					end, fewest = at, n
				}
			}
		}
		for i := range code {
			if longest-s.height[i] >= end || code[i].kind == StoreOut && k == stages-1 {
				stage[i] = k
			}
		}
	}
	for i := range code {
		if code[i].kind == StoreOut {
			stage[i] = stages - 1 // a load of a later stage may read what it writes
		}
	}
	return stage, stages
}

// makeRound makes the code that of a round, the last stage first, and returns the stage of each of its instructions. What one stage loads others load again;
// what a stage further on reads, those between pass on.
func (l *Lowerer) makeRound(of []int, stages int) (carried []carriedValue, stage []int) {
	maker := make([]int, l.next)
	for i := range l.code {
		if d := l.code[i].d; d != none {
			maker[d] = i
		}
	}
	type name struct {
		value operand
		stage int
	}
	names := map[name]operand{}
	parts := make([][]instruction, stages)
	var nameOf func(o operand, k int) operand // of a value in a stage
	nameOf = func(o operand, k int) operand {
		at := of[maker[o]]
		if at == k {
			return o
		}
		if n, is := names[name{o, k}]; is {
			return n
		}
		read := l.next
		l.next++
		names[name{o, k}] = read
		if in := l.code[maker[o]]; in.kind == LoadInput {
			in.d = read
			parts[k] = append(parts[k], in)
			return read
		}
		made := o
		if at < k-1 {
			before := nameOf(o, k-1)
			made = l.next
			l.next++
			parts[k-1] = append(parts[k-1], instruction{kind: move, w: l.code[maker[o]].w, d: made, args: [4]operand{before, none, none, none}})
		}
		carried = append(carried, carriedValue{made, read})
		return read
	}
	for i := range l.code {
		in, k := l.code[i], of[i]
		for j, o := range in.args {
			if o != none && !o.isUniform() {
				in.args[j] = nameOf(o, k)
			}
		}
		parts[k] = append(parts[k], in)
	}
	l.code = nil
	for k := stages - 1; k >= 0; k-- {
		l.code = append(l.code, parts[k]...)
		for range parts[k] {
			stage = append(stage, k)
		}
	}
	return carried, stage
}

// makeAfterReads has the next round's value made when nothing reads this round's any more.
func (s *schedule) makeAfterReads(c carriedValue) {
	maker := slices.IndexFunc(s.code, func(in instruction) bool { return in.d == c.made })
	for i := range s.code {
		if firstUse(&s.code[i], c.read) >= 0 {
			s.later[i] = append(s.later[i], maker)
			s.waits[maker]++
		}
	}
}

// newAllocatorOfRound returns an allocator for a round, nil where registers are too few.
func newAllocatorOfRound(l *Lowerer, carried []carriedValue) *allocator {
	a := allocatorOf(l, uint32(1<<l.ISA.Registers()-1))
	a.home, a.madeAt = make([]int16, l.next), make([]int32, l.ISA.Registers())
	for i := range a.home {
		a.home[i] = -1
	}
	for _, c := range carried {
		if a.free == 0 {
			return nil
		}
		r := bits.Len32(a.free) - 1
		a.free &^= 1 << r
		a.reserved |= 1 << r
		a.home[c.made], a.home[c.read] = int16(r), int16(r)
		a.where[c.read] = int16(r)
		a.last[c.made] = endOfRound
		a.madeAt[r] = int32(slices.IndexFunc(l.code, func(in instruction) bool { return in.d == c.made }))
	}
	if bits.OnesCount32(a.free) < a.pressure()+spareRegisters {
		return nil
	}
	a.hoist(1)
	return a
}

// pipelineLoop emits the loop of the pipeline, for all whole vectors but one at most.
func (g *Generator) pipelineLoop() {
	p, a := g.pipeline, &g.Asm
	if p == nil {
		return
	}
	const unrolled = 2
	step, inside := int32(g.Lanes), int32(p.stages-1) // vectors that are begun and not done
	end := a.NewLabel()
	a.CmpImm(countReg, 4*int32(p.stages)*step)
	a.JumpIf(asm.Less, end)
	others := g.Fixed
	all := func(*Uniform) bool { return true }
	g.Fixed = p.fixed
	g.readFixed(all)
	for round := range p.stages - 1 {
		g.stagesOfRound(round, 0, round)
	}
	a.Align(16)
	top := a.Here()
	for u := range unrolled {
		g.stagesOfRound(u+p.stages-1, 0, p.stages-1)
	}
	a.AddImm(indexReg, unrolled*step)
	a.SubImm(countReg, unrolled*step)
	a.CmpImm(countReg, (inside+unrolled)*step)
	a.JumpIf(asm.GreaterEqual, top)
	for round := range p.stages - 1 {
		g.stagesOfRound(round+p.stages-1, round+1, p.stages-1)
	}
	a.AddImm(indexReg, inside*step)
	a.SubImm(countReg, inside*step)
	g.Fixed = others
	g.readFixed(all)
	a.Bind(end)
}

// stagesOfRound emits some stages of a round. The first one would be that of the vector with the round's number.
func (g *Generator) stagesOfRound(round, first, last int) {
	for i, m := range g.pipeline.body {
		if k := g.pipeline.stage[i]; k >= first && k <= last {
			g.Instruction(m, round-k, AllLanes)
		}
	}
}
