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

// set is a set of locations by number: a bit for each from first*64 on. Most sets are of few locations near each other, so their size does not
// grow with the graph.
type set struct {
	first  int
	words  []uint64
	shared bool // the words are another set's too
}

func (s set) empty() bool { return len(s.words) == 0 }

func (s *set) add(i int) {
	s.cover(i/64, i/64+1)
	s.words[i/64-s.first] |= 1 << (i % 64)
}

// union adds what is in t, which may not change after that: where s is empty it shares t's words until it must change them.
func (s *set) union(t set) {
	if s.holds(t) {
		return
	}
	if s.empty() {
		*s = t
		s.shared = true
		return
	}
	s.cover(t.first, t.first+len(t.words))
	to := s.words[t.first-s.first:]
	for i, w := range t.words {
		to[i] |= w
	}
}

// holds reports whether all of t is in s.
func (s set) holds(t set) bool {
	if t.first < s.first || t.first+len(t.words) > s.first+len(s.words) {
		return t.empty()
	}
	for i, w := range t.words {
		if w&^s.words[t.first-s.first+i] != 0 {
			return false
		}
	}
	return true
}

// cover makes s have words of its own for the range [first, end).
func (s *set) cover(first, end int) {
	if s.empty() {
		*s = set{first: first, words: make([]uint64, end-first)}
		return
	}
	last := s.first + len(s.words)
	switch {
	case s.shared || first < s.first:
		first, end = min(first, s.first), max(end, last)
		words := make([]uint64, end-first)
		copy(words[s.first-first:], s.words)
		*s = set{first: first, words: words}
	case end > last:
		s.words = append(s.words, make([]uint64, end-last)...)
	}
}

func (s set) intersects(t set) bool {
	for i := max(s.first, t.first); i < min(s.first+len(s.words), t.first+len(t.words)); i++ {
		if s.words[i-s.first]&t.words[i-t.first] != 0 {
			return true
		}
	}
	return false
}

// each calls visit for the numbers in the set.
func (s set) each(visit func(int)) {
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			visit((s.first+i)*64 + bits.TrailingZeros64(w))
		}
	}
}
