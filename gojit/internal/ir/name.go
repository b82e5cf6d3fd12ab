package ir

import (
	"strconv"
	"strings"
)

// nameSet is the names that differ only in the number behind them: "x", "x.1", "x.5". Most names that
// values get while a graph is made are lost again, so that their text is put together only when it is
// asked for.
type nameSet struct {
	base     string
	last     int // the number after the last one given, valid where counted
	counted  bool
	plain    *Value
	numbered []*Value       // by number, from 1 on; nil where nobody has the name
	far      map[int]*Value // the same for large numbers
	onto     *nameSet       // that of the numbers which a plain name goes on in; nil until that is known
	from     int            // the first of them
}

// nearNumbers is how many numbers a nameSet keeps in a slice.
const nearNumbers = 4096

// text returns the name with a number, 0 for none.
func (s *nameSet) text(number int) string {
	if number == 0 {
		return s.base
	}
	return s.base + "." + strconv.Itoa(number)
}

func (s *nameSet) get(number int) *Value {
	switch {
	case number == 0:
		return s.plain
	case number < len(s.numbered):
		return s.numbered[number]
	}
	return s.far[number]
}

// put gives the name with a number to v; nil: to nobody.
func (s *nameSet) put(number int, v *Value) {
	switch {
	case number == 0:
		s.plain = v
	case number >= nearNumbers:
		if s.far == nil {
			s.far = map[int]*Value{}
		}
		if s.far[number] = v; v == nil {
			delete(s.far, number)
		}
	default:
		for number >= len(s.numbered) {
			s.numbered = append(s.numbered, nil)
		}
		s.numbered[number] = v
	}
	if v != nil {
		v.names, v.number = s, number
	}
}

// namesOf returns the set of a base name.
func (g *Graph) namesOf(base string) *nameSet {
	s := g.names[base]
	if s == nil {
		s = &nameSet{base: base}
		g.names[base] = s
	}
	return s
}

// locate returns the set and the number of a name. "x.01" is a base of its own: numbers have one form.
func (g *Graph) locate(name string) (*nameSet, int) {
	if base, number := splitSuffix(name); len(base) < len(name) && number > 0 && name[len(base)+1] != '0' {
		return g.namesOf(base), number
	}
	return g.namesOf(name), 0
}

// freeValue forgets the name of a value that is being destroyed.
func (g *Graph) freeValue(v *Value) {
	if v.names != nil {
		v.names.put(v.number, nil)
		v.names = nil
	}
}

// setName gives v a name; the value that had it before gets it with a number behind.
func (g *Graph) setName(v *Value, name string) {
	g.freeValue(v)
	if name != "" {
		g.giveName(v, name)
	}
}

func (g *Graph) giveName(v *Value, name string) {
	s, number := g.locate(name)
	g.moveAway(s, number)
	s.put(number, v)
}

// copyName gives v, of g, the name that other has, perhaps in another graph.
func (g *Graph) copyName(v, other *Value) {
	base, number := other.names.base, other.number
	if v == other {
		return
	}
	g.freeValue(v)
	if number == 0 {
		g.giveName(v, base)
		return
	}
	s := g.namesOf(base)
	g.moveAway(s, number)
	s.put(number, v)
}

// moveAway gives the value that has a name the next number.
func (g *Graph) moveAway(s *nameSet, number int) {
	old := s.get(number)
	if old == nil {
		return
	}
	if number == 0 { // "x.01" goes on in the numbers of "x"
		if s.onto == nil {
			base, n := splitSuffix(s.base)
			s.onto, s.from = g.namesOf(base), n
		}
		s, number = s.onto, s.from
	}
	if s.counted {
		number = max(number, s.last+1)
	}
	next := number
	number++
	for g.isTaken(s, next) {
		next = number
		number++
	}
	s.last, s.counted = number, true
	old.names.put(old.number, nil)
	if next == 0 {
		s = g.namesOf(s.base + ".0")
	}
	s.put(next, old)
}

// isTaken reports whether a value has a name with a number; "x.0" is the base of a set of its own.
func (g *Graph) isTaken(s *nameSet, number int) bool {
	if number == 0 {
		s = g.namesOf(s.base + ".0")
	}
	return s.get(number) != nil
}

// splitSuffix splits "x.12" into "x" and 12; without a number the second result is 1.
func splitSuffix(name string) (string, int) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || dot+1 == len(name) {
		return name, 1
	}
	n, err := strconv.Atoi(name[dot+1:])
	if err != nil || strings.ContainsAny(name[dot+1:], "+-") {
		return name, 1
	}
	return name[:dot], n
}
