package routine

import (
	"cmp"
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// location is where a value is for all of its life.
type location struct {
	kind locationKind
	n    int32 // register or slot
}

type locationKind uint8

const (
	nowhere  locationKind = iota // not used, or made where it is used
	inWhole                      // general register
	inDouble                     // vector register
	inSlot                       // word of the frame
	constant                     // made anew for each use
)

func (l location) reg() asm.Reg { return asm.Reg(l.n) }

// slot returns the word of the frame that a location is.
func (w *routineWriter) slot(l location) asm.Mem {
	return w.word(frameValues + w.inputs + savedWords + int(l.n))
}

// interval is the stretch of code over which a value must be kept. Places are counted in blocks as they
// follow each other: one for the block's beginning, two for each step, which reads at the first and
// writes at the second, and one for the end.
type interval struct {
	value      kernel.Value
	start, end int
	weight     float64 // what keeping it in memory would cost
}

// assignLocations gives values their places: linear scan over intervals without holes.
func (w *routineWriter) assignLocations() {
	w.where = make([]location, len(w.f.Types))
	intervals := w.intervals()
	slices.SortFunc(intervals, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.value, b.value))
	})
	hints := w.hints()
	var whole, double []interval // that are in registers
	for _, i := range intervals {
		active, registers, kind := &whole, wholeRegs, inWhole
		if w.isDouble(i.value) {
			active, registers, kind = &double, doubleRegs, inDouble
		}
		*active = slices.DeleteFunc(*active, func(o interval) bool { return o.end < i.start })
		free := uint32(0)
		for _, r := range registers {
			free |= 1 << r
		}
		for _, o := range *active {
			free &^= 1 << w.where[o.value].n
		}
		if free != 0 {
			w.where[i.value] = location{kind, int32(w.choose(hints[i.value], registers, free))}
			*active = append(*active, i)
			continue
		}
		cheapest := slices.IndexFunc(*active, func(o interval) bool { return o.weight < i.weight })
		for k, o := range *active {
			if cheapest >= 0 && o.weight < (*active)[cheapest].weight {
				cheapest = k
			}
		}
		if cheapest < 0 {
			w.spill(i.value)
			continue
		}
		out := (*active)[cheapest].value
		w.where[i.value] = w.where[out]
		(*active)[cheapest] = i
		w.spill(out)
	}
}

// spill keeps a value in memory; constants are made anew.
func (w *routineWriter) spill(v kernel.Value) {
	if s := w.makers[v]; s != nil && s.Op == kernel.Const {
		w.where[v] = location{kind: constant}
		return
	}
	w.where[v] = location{inSlot, int32(w.slots)}
	w.slots++
}

// choose returns a free register, the one of a related value where that is free.
func (w *routineWriter) choose(related []kernel.Value, registers []asm.Reg, free uint32) asm.Reg {
	for _, v := range related {
		if l := w.where[v]; l.kind == inWhole || l.kind == inDouble {
			if slices.Contains(registers, l.reg()) && free>>l.n&1 != 0 {
				return l.reg()
			}
		}
	}
	for _, r := range registers {
		if free>>r&1 != 0 {
			return r
		}
	}
	panic("amd64: no register is free")
}

// hints returns, for each value, those that it had better share a register with: the parameters that it
// becomes, what becomes it, and the first operand.
func (w *routineWriter) hints() [][]kernel.Value {
	hints := make([][]kernel.Value, len(w.f.Types))
	relate := func(a, b kernel.Value) {
		if w.isDouble(a) == w.isDouble(b) {
			hints[a] = append(hints[a], b)
		}
	}
	for i := range w.f.Blocks {
		for _, e := range w.f.Blocks[i].Edges() {
			for j, v := range e.Args {
				p := w.f.Blocks[e.Block].Params[j]
				relate(v, p)
				relate(p, v)
			}
		}
	}
	for v, s := range w.makers {
		if s != nil && s.Op.Operands() > 0 && s.Op != kernel.Select {
			relate(kernel.Value(v), s.Args[0])
		}
	}
	return hints
}

// inline reports whether a value is a constant that instructions hold in themselves.
func (w *routineWriter) inline(v kernel.Value) bool {
	s := w.makers[v]
	return s != nil && s.Op == kernel.Const && s.Type != tensor.Float64 && int64(s.Imm) >= math.MinInt32 && int64(s.Imm) <= math.MaxInt32
}

// intervals finds out how long values are needed.
func (w *routineWriter) intervals() []interval {
	f := w.f
	live := w.liveness()
	depth := w.depths()
	all := make([]interval, len(f.Types))
	for v := range all {
		all[v] = interval{value: kernel.Value(v), start: math.MaxInt}
	}
	touch := func(v kernel.Value, place, depth int) {
		if w.inline(v) {
			return
		}
		if s := w.makers[v]; s != nil && s.Op == kernel.Const {
			all[v].start = 0
		}
		all[v].start, all[v].end = min(all[v].start, place), max(all[v].end, place)
		all[v].weight += math.Pow(10, float64(min(depth, 6)))
	}
	place := 0
	for i, b := range w.order {
		block := &f.Blocks[b]
		begin := place
		for _, v := range block.Params {
			touch(v, begin, depth[i])
		}
		for j := range block.Steps {
			s := &block.Steps[j]
			place += 2
			if s.Op == kernel.Const || w.fused[s.Value] {
				continue
			}
			for _, v := range s.Args[:s.Op.Operands()] {
				touch(v, place, depth[i])
			}
			touch(s.Value, place+1, depth[i])
		}
		place += 2
		for _, v := range w.endUses(block) {
			touch(v, place, depth[i])
		}
		for v := range f.Types {
			if live.in[b].has(v) {
				touch(kernel.Value(v), begin, -6)
			}
			if live.out[b].has(v) {
				touch(kernel.Value(v), place, -6)
			}
		}
		place++
	}
	kept := all[:0]
	for _, i := range all {
		switch s := w.makers[i.value]; {
		case w.inline(i.value):
			w.where[i.value] = location{kind: constant}
		case i.start <= i.end && !(s != nil && s.Op == kernel.Const && i.weight == 0):
			kept = append(kept, i)
		}
	}
	return kept
}

// endUses returns the values that the end of a block reads, those of a comparison made there among them.
func (w *routineWriter) endUses(b *kernel.Block) []kernel.Value {
	uses := b.Uses()
	if b.End.Kind == kernel.Branch && w.fused[b.End.Cond] {
		s := w.makers[b.End.Cond]
		uses[0] = s.Args[0]
		uses = append(uses, s.Args[1])
	}
	return uses
}

// valueSet is a set of values.
type valueSet []uint64

func (s valueSet) has(v int) bool { return s[v/64]>>(v%64)&1 != 0 }

// lives are the values that are needed at the beginnings and the ends of blocks.
type lives struct{ in, out []valueSet }

// liveness solves the equations of what blocks need. Constants are made at the very beginning.
func (w *routineWriter) liveness() lives {
	f := w.f
	words := (len(f.Types) + 63) / 64
	l := lives{make([]valueSet, len(f.Blocks)), make([]valueSet, len(f.Blocks))}
	used, made := make([]valueSet, len(f.Blocks)), make([]valueSet, len(f.Blocks))
	for b := range f.Blocks {
		l.in[b], l.out[b], used[b], made[b] = make(valueSet, words), make(valueSet, words), make(valueSet, words), make(valueSet, words)
		block := &f.Blocks[b]
		use := func(v kernel.Value) {
			if !made[b].has(int(v)) {
				used[b][v/64] |= 1 << (v % 64)
			}
		}
		make := func(v kernel.Value) { made[b][v/64] |= 1 << (v % 64) }
		for _, v := range block.Params {
			make(v)
		}
		for j := range block.Steps {
			s := &block.Steps[j]
			if s.Op == kernel.Const {
				continue
			}
			if !w.fused[s.Value] {
				for _, v := range s.Args[:s.Op.Operands()] {
					use(v)
				}
			}
			make(s.Value)
		}
		for _, v := range w.endUses(block) {
			use(v)
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(w.order) - 1; i >= 0; i-- {
			b := w.order[i]
			for _, e := range f.Blocks[b].Edges() {
				for k, bits := range l.in[e.Block] {
					l.out[b][k] |= bits
				}
			}
			for k, out := range l.out[b] {
				in := used[b][k] | out&^made[b][k]
				changed = changed || in != l.in[b][k]
				l.in[b][k] = in
			}
		}
	}
	return l
}

// depths returns how many loops the blocks, as they follow each other, are in.
func (w *routineWriter) depths() []int {
	depth := make([]int, len(w.order))
	for i, b := range w.order {
		for _, e := range w.f.Blocks[b].Edges() {
			for k := w.at[e.Block]; k <= i; k++ {
				depth[k]++
			}
		}
	}
	return depth
}
