package function

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Verify checks the invariant of functions: every value is made once, before its uses on every way to
// them; types are as operations, blocks and results need them; every block is reached, and ends.
func (f *Function) Verify() error {
	if len(f.Blocks) == 0 {
		return fmt.Errorf("kernel: a function has no block")
	}
	maker, err := f.makers()
	if err != nil {
		return err
	}
	for i := range f.Blocks {
		if err := f.verifyEnd(i); err != nil {
			return err
		}
	}
	order := f.Order()
	if len(order) < len(f.Blocks) {
		for i := range f.Blocks {
			if !slices.Contains(order, i) {
				return fmt.Errorf("kernel: b%d is not reached", i)
			}
		}
	}
	above := f.dominators(order)
	for i := range f.Blocks {
		if err := f.verifyBlock(i, maker, above); err != nil {
			return err
		}
	}
	return nil
}

// place is where a value is made: step -1 is a parameter.
type place struct{ block, step int }

func (f *Function) makers() ([]place, error) {
	maker := make([]place, len(f.Types))
	for i := range maker {
		maker[i].block = -1
		if t := f.Types[i]; t != tensor.Int64 && t != tensor.Float64 && t != tensor.Bool {
			return nil, fmt.Errorf("kernel: %%%d has type %s, which functions do not compute with", i, t)
		}
	}
	make := func(v kernel.Value, at place) error {
		if v < 0 || int(v) >= len(maker) {
			return fmt.Errorf("kernel: b%d makes %%%d, which does not exist", at.block, v)
		}
		if maker[v].block >= 0 {
			return fmt.Errorf("kernel: %%%d is made twice", v)
		}
		maker[v] = at
		return nil
	}
	for i := range f.Blocks {
		for _, v := range f.Blocks[i].Params {
			if err := make(v, place{i, -1}); err != nil {
				return nil, err
			}
		}
		for j := range f.Blocks[i].Steps {
			if err := make(f.Blocks[i].Steps[j].Value, place{i, j}); err != nil {
				return nil, err
			}
		}
	}
	for v := range maker {
		if maker[v].block < 0 {
			return nil, fmt.Errorf("kernel: %%%d is not made", v)
		}
	}
	return maker, nil
}

// verifyEnd checks how block i ends, but for where its values come from.
func (f *Function) verifyEnd(i int) error {
	e := &f.Blocks[i].End
	for _, v := range f.Blocks[i].Uses() {
		if v < 0 || int(v) >= len(f.Types) {
			return fmt.Errorf("kernel: b%d uses %%%d, which does not exist", i, v)
		}
	}
	switch {
	case e.Kind == Unfinished || int(e.Kind) >= len(endNames):
		return fmt.Errorf("kernel: b%d does not end", i)
	case e.Kind == Branch && f.Types[e.Cond] != tensor.Bool:
		return fmt.Errorf("kernel: b%d depends on a %s", i, f.Types[e.Cond])
	case e.Kind == Return && !slices.Equal(f.typesOf(e.Values), f.Results):
		return fmt.Errorf("kernel: b%d returns %v, not %v", i, f.typesOf(e.Values), f.Results)
	case e.Kind == Trap && e.Code < 0:
		return fmt.Errorf("kernel: b%d has a negative trap", i)
	}
	for _, to := range e.edges() {
		if to.Block <= 0 || to.Block >= len(f.Blocks) {
			return fmt.Errorf("kernel: b%d goes to b%d, which cannot be", i, to.Block)
		}
		if got, want := f.typesOf(to.Args), f.typesOf(f.Blocks[to.Block].Params); !slices.Equal(got, want) {
			return fmt.Errorf("kernel: b%d gives %v to b%d, which takes %v", i, got, to.Block, want)
		}
	}
	return nil
}

func (f *Function) typesOf(values []kernel.Value) []tensor.DType {
	var types []tensor.DType
	for _, v := range values {
		types = append(types, f.Types[v])
	}
	return types
}

// Uses returns the values that the end of a block uses.
func (b *Block) Uses() []kernel.Value {
	var all []kernel.Value
	if b.End.Kind == Branch {
		all = append(all, b.End.Cond)
	}
	all = append(all, b.End.Values...)
	for _, e := range b.End.edges() {
		all = append(all, e.Args...)
	}
	return all
}

// Order returns the blocks that are reached, each before those that it dominates.
func (f *Function) Order() []int {
	seen := make([]bool, len(f.Blocks))
	var order []int
	type visit struct{ block, next int }
	stack := []visit{{}}
	seen[0] = true
	for len(stack) > 0 {
		v := &stack[len(stack)-1]
		edges := f.Blocks[v.block].End.edges()
		if v.next == len(edges) {
			order = append(order, v.block)
			stack = stack[:len(stack)-1]
			continue
		}
		// The second edge first: what it leads to then comes behind what the first one leads to.
		to := edges[len(edges)-1-v.next].Block
		v.next++
		if !seen[to] {
			seen[to] = true
			stack = append(stack, visit{block: to})
		}
	}
	slices.Reverse(order)
	return order
}

// dominators returns the nearest block that every way to a block passes, -1 for the first block.
func (f *Function) dominators(order []int) []int {
	above, number := make([]int, len(f.Blocks)), make([]int, len(f.Blocks))
	for i := range above {
		above[i] = -2 // not known
	}
	for i, b := range order {
		number[b] = i
	}
	above[0] = -1
	meet := func(a, b int) int {
		for a != b {
			if number[a] < number[b] {
				a, b = b, a
			}
			a = above[a]
		}
		return a
	}
	for changed := true; changed; {
		changed = false
		for _, from := range order {
			for _, e := range f.Blocks[from].End.edges() {
				found := from
				if above[e.Block] != -2 {
					found = meet(above[e.Block], from)
				}
				if found != above[e.Block] {
					above[e.Block], changed = found, true
				}
			}
		}
	}
	return above
}

func (f *Function) verifyBlock(i int, maker []place, above []int) error {
	check := func(v kernel.Value, step int) error {
		if v < 0 || int(v) >= len(f.Types) {
			return fmt.Errorf("kernel: b%d uses %%%d, which does not exist", i, v)
		}
		m := maker[v]
		b := i
		for b >= 0 && b != m.block {
			b = above[b]
		}
		if b < 0 || m.block == i && m.step >= step {
			return fmt.Errorf("kernel: b%d uses %%%d, which is not made before it", i, v)
		}
		return nil
	}
	for j := range f.Blocks[i].Steps {
		s := &f.Blocks[i].Steps[j]
		if s.Op >= kernel.NumOps {
			return fmt.Errorf("kernel: %%%d has no operation", s.Value)
		}
		for _, v := range s.Args[:s.Op.Operands()] {
			if err := check(v, j); err != nil {
				return err
			}
		}
		if err := f.verifyStep(s); err != nil {
			return err
		}
	}
	for _, v := range f.Blocks[i].Uses() {
		if err := check(v, len(f.Blocks[i].Steps)); err != nil {
			return err
		}
	}
	return nil
}

func (f *Function) verifyStep(s *Step) error {
	first := s.Type
	if s.Op.Operands() > 0 {
		first = f.Types[s.Args[0]]
	}
	switch {
	case s.Type != f.Types[s.Value]:
		return fmt.Errorf("kernel: %%%d is of type %s, not %s", s.Value, f.Types[s.Value], s.Type)
	case !functionOps[s.Op][first]:
		return fmt.Errorf("kernel: functions have no %s of %s", s.Op, first)
	case s.Op == kernel.Const && !kernel.ConstFits(s.Type, s.Imm, s.Imm2):
		return fmt.Errorf("kernel: %%%d has bits that a %s does not have", s.Value, s.Type)
	case s.Op == kernel.Const:
		return nil
	}
	return kernel.VerifyTypes(s.Value, &s.Instr, func(v kernel.Value) tensor.DType { return f.Types[v] }, 0)
}
