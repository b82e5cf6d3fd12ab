package amd64

import (
	"maps"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A choice of which one side is dear has a branch around the instructions of that side, where nothing else needs them: they
// are skipped where no lane of the vector takes that side. The values of a side wait until the choice is made.

// dearSide is the least cost, in about the time of an addition, of what a branch goes around. A branch that is
// predicted wrongly costs as much as a few of that.
const dearSide = 12

// side is one side of a choice: the values that are for it alone.
type side struct {
	values []kernel.Value // in their order
	when   bool           // of the condition, where this side is taken
}

// sides are what the branches of a kernel go around.
type sides struct {
	waiting []int32            // of each value: the number of the innermost side it waits for, from 1 on
	of      []side             // by their number, less 1
	atValue map[int32][2]int32 // of each choice: the numbers of the sides with branches, or 0
}

// findSides looks for sides that cost at least the given number.
func (l *Lowerer) findSides(least int) {
	k := l.Kernel
	choices := 0
	for i := range k.Instrs {
		if k.Instrs[i].Op == kernel.Select {
			choices++
		}
	}
	if choices == 0 {
		return
	}
	uses := make([]int32, 2*len(k.Instrs))
	uses, left := uses[:len(k.Instrs)], uses[len(k.Instrs):]
	used := k.Used()
	for i := range k.Instrs {
		if in := &k.Instrs[i]; used[i] {
			for j := range in.Op.Operands() {
				uses[in.Args[j]]++
			}
		}
	}
	for _, o := range k.Outputs {
		uses[o.Value]++
	}
	for i := len(k.Instrs) - 1; i >= 0; i-- { // outer choices come after those inside
		in := &k.Instrs[i]
		if in.Op != kernel.Select || !used[i] || in.Type.IsComplex() {
			continue
		}
		usual := l.usual(in.Args[0])
		for j := 1; j <= 2; j++ {
			if j == 1 && usual > 0 || j == 2 && usual < 0 {
				continue // the side is nearly always taken
			}
			copy(left, uses)
			if values := l.ownValues(in.Args[j], left); l.cost(values) >= least {
				l.addSide(int32(i), j-1, side{values, j == 1})
			}
		}
	}
}

// usual is positive for a condition that holds for most numbers and negative for one that holds for few of them, such as an
// equality.
func (l *Lowerer) usual(c kernel.Value) int {
	in := &l.Kernel.Instrs[c]
	switch in.Op {
	case kernel.Eq:
		return -1
	case kernel.Ne:
		return 1
	case kernel.IsNaN:
		return -1
	case kernel.Not:
		return -l.usual(in.Args[0])
	case kernel.And, kernel.Mul:
		return min(l.usual(in.Args[0]), l.usual(in.Args[1]))
	case kernel.Or, kernel.Add:
		return max(l.usual(in.Args[0]), l.usual(in.Args[1]))
	}
	return 0
}

// ownValues returns the values that are used for one value and nothing else, itself among them, in their order. left is how
// often each value is used.
func (l *Lowerer) ownValues(root kernel.Value, left []int32) []kernel.Value {
	var own []kernel.Value
	reach := func(v kernel.Value) {
		if left[v]--; left[v] == 0 && l.mayWait(v) {
			own = append(own, v)
		}
	}
	reach(root)
	for at := 0; at < len(own); at++ {
		in := &l.Kernel.Instrs[own[at]]
		for j := range in.Op.Operands() {
			reach(in.Args[j])
		}
	}
	slices.Sort(own)
	return own
}

// mayWait reports whether a value may be computed later than it is written: not elements, which are best asked for
// early, nothing with parts, and no divisions, which fail for lanes that are not chosen too.
func (l *Lowerer) mayWait(v kernel.Value) bool {
	in := &l.Kernel.Instrs[v]
	if in.Op.Operands() == 0 || in.Type.IsComplex() || IsDivision(in) {
		return false
	}
	for j := range in.Op.Operands() {
		if l.Kernel.TypeOf(in.Args[j]).IsComplex() {
			return false
		}
	}
	return true
}

// cost estimates the time of values in additions.
func (l *Lowerer) cost(values []kernel.Value) int {
	sum := 0
	for _, v := range values {
		in := &l.Kernel.Instrs[v]
		switch in.Op {
		case kernel.Bits, kernel.Real, kernel.Conj:
		case kernel.Div, kernel.Sqrt:
			sum += 4
			if in.Type == tensor.Float64 {
				sum += 4
			}
		case kernel.Scale:
			sum += 2
			if l.ISA != asm.AVX512 {
				sum += 12
			}
		case kernel.Lookup, kernel.Convert:
			sum += 2
		default:
			sum++
		}
	}
	return sum
}

func (l *Lowerer) addSide(choice int32, which int, s side) {
	if l.sides.atValue == nil {
		l.sides.atValue = map[int32][2]int32{}
		l.sides.waiting = make([]int32, len(l.Kernel.Instrs))
	}
	l.sides.of = append(l.sides.of, s)
	number := int32(len(l.sides.of))
	both := l.sides.atValue[choice]
	both[which] = number
	l.sides.atValue[choice] = both
	for _, v := range s.values {
		l.sides.waiting[v] = number
	}
}

// waits reports whether a value is computed only with a side that is not the one being written.
func (l *Lowerer) waits(v int) bool { return l.sides.waiting != nil && l.sides.waiting[v] != l.side }

// takeSide writes the values of a side between the branch and its end. test is the comparison that chooses, or a mask.
func (l *Lowerer) takeSide(number int32, test instruction) {
	s := &l.sides.of[number-1]
	start, first := len(l.code), l.next
	test.kind, test.index, test.d = skipSide, 0, none
	if !s.when {
		test.index = 1
	}
	l.code = append(l.code, test)
	outer, indices := l.side, l.indices
	l.side, l.indices = number, maps.Clone(indices)
	for _, v := range s.values {
		if l.sides.waiting[v] == number {
			l.instruction(int(v))
		}
	}
	l.side, l.indices = outer, indices
	root := s.values[len(s.values)-1]
	if x := l.values[root]; !x.isUniform() && x >= first {
		l.values[root] = l.emit(instruction{kind: endSide, d: none, args: [4]operand{x, none, none, none}})
		return
	}
	l.code = slices.Delete(l.code, start, start+1) // the result was there before
}

// chooseSides writes the sides of a choice that have branches.
func (l *Lowerer) chooseSides(v kernel.Value, c kernel.Value) {
	both := l.sides.atValue[int32(v)]
	for _, number := range both {
		if number > 0 {
			l.takeSide(number, l.testOf(c))
		}
	}
}

// testOf is the test of a branch by a condition.
func (l *Lowerer) testOf(c kernel.Value) instruction {
	wide := l.boolWide[c]
	in := instruction{w: l.width(wide), op: pair(wide, asm.MOVMSKPS, asm.MOVMSKPD), args: [4]operand{l.values[c], none, none, none}}
	if l.ISA != asm.AVX512 {
		return in
	}
	if a, b, op, predicate, ok := l.comparison(c); ok {
		in.op, in.imm, in.args[0], in.args[1] = op, predicate, a, b
		return in
	}
	in.op, in.imm, in.args[1] = pair(wide, asm.PCMPD, asm.PCMPQ), cmpNotEqual, l.number(0, wide)
	return in
}

// comparison returns the operands, instruction and predicate of a condition that compares numbers.
func (l *Lowerer) comparison(c kernel.Value) (a, b operand, op asm.Op, predicate uint8, ok bool) {
	test := &l.Kernel.Instrs[c]
	if test.Op < kernel.Eq || test.Op > kernel.Ge {
		return none, none, 0, 0, false
	}
	t := l.Kernel.TypeOf(test.Args[0])
	if t == tensor.Bool || t.IsComplex() {
		return none, none, 0, 0, false
	}
	wide := wideType(t)
	op = pair(wide, asm.PCMPD, asm.PCMPQ)
	if t.IsFloating() {
		op = pair(wide, asm.CMPPS, asm.CMPPD)
	}
	a, b, predicate = l.ordered(test)
	return a, b, op, predicate, true
}

// prune drops instructions whose results nobody uses.
func (l *Lowerer) prune() {
	used := make([]bool, l.next)
	for _, acc := range l.accs {
		if acc.reg != none {
			used[acc.reg] = true
		}
	}
	at := len(l.code)
	for i := len(l.code) - 1; i >= 0; i-- {
		in := &l.code[i]
		if in.kind != StoreOut && in.kind != keepPartial && in.kind != skipSide && in.kind != checkNone && !used[in.d] {
			continue
		}
		for _, o := range in.args {
			if o != none && !o.isUniform() {
				used[o] = true
			}
		}
		at--
		l.code[at] = *in
	}
	l.code = l.code[at:]
}
