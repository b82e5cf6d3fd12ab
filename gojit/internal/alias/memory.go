package alias

import (
	"math/bits"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// element is a node of the memory DAG: a value that can be changed in place, or the wildcard of a
// type. It stands for the memory of the elements that it points to, or, where it points to none,
// for memory of its own, its location.
type element struct {
	index    int
	value    *ir.Value // nil for a wildcard
	wildcard string    // the type that it is the wildcard of
	typ      types.Type
	pointsTo edges
	contains edges // what the elements of a container, the attributes of an object may be

	locations set // where the value may be; filled when the analysis is done
	all       set // and what is in it, to any depth
}

// edges lead to different elements.
type edges struct {
	to    []*element
	known map[*element]bool // of many
}

// add adds an edge and reports whether it is new.
func (e *edges) add(to *element) bool {
	if e.known[to] || e.known == nil && slices.Contains(e.to, to) {
		return false
	}
	e.to = append(e.to, to)
	const many = 32
	if len(e.to) == many {
		e.known = make(map[*element]bool, 2*many)
		for _, x := range e.to {
			e.known[x] = true
		}
	} else if e.known != nil {
		e.known[to] = true
	}
	return true
}

// addPointer says that e may be what to is. It reports whether that is new.
func (e *element) addPointer(to *element) bool {
	if e == to {
		return false
	}
	return e.pointsTo.add(to)
}

// addContained says that inner may be in e. It reports whether that is new.
func (e *element) addContained(inner *element) bool {
	return e.contains.add(inner)
}

// reach calls visit for each element that e may be, itself first.
func (e *element) reach(visit func(*element)) {
	seen := map[*element]bool{}
	stack := []*element{e}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[x] {
			continue
		}
		seen[x] = true
		visit(x)
		stack = append(stack, x.pointsTo.to...)
	}
}

// set is a set of locations by number.
type set struct{ words []uint64 }

func (s *set) add(i int) {
	for i/64 >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[i/64] |= 1 << (i % 64)
}

func (s *set) union(t set) {
	s.words = slices.Grow(s.words, max(0, len(t.words)-len(s.words)))
	for i, w := range t.words {
		if i >= len(s.words) {
			s.words = append(s.words, w)
		} else {
			s.words[i] |= w
		}
	}
}

func (s set) intersects(t set) bool {
	for i := range min(len(s.words), len(t.words)) {
		if s.words[i]&t.words[i] != 0 {
			return true
		}
	}
	return false
}

// each calls visit for the numbers in the set.
func (s set) each(visit func(int)) {
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			visit(i*64 + bits.TrailingZeros64(w))
		}
	}
}
