package export

import (
	"fmt"
	"slices"
)

// How sizes become expressions: the program is run several times with other numbers for the symbols. What a size is in each
// of the runs is its profile, and the expression is the simplest one that has that profile: a constant, a size that is known
// already, a multiple of one with something added, a quotient, a sum or a product of two. A profile that no such expression
// has becomes a symbol of its own.

// profile is what an integer is in each of the runs.
type profile []int

func (p profile) key() string { return fmt.Sprint([]int(p)) }

func (p profile) isConstant() bool {
	return !slices.ContainsFunc(p, func(n int) bool { return n != p[0] })
}

// atom is an expression whose profile is known.
type atom struct {
	profile profile
	size    Size
}

// fitter finds expressions of profiles.
type fitter struct {
	atoms []atom          // symbols, and expressions that no other explains
	known map[string]Size // by profiles
	fresh func(p profile) Size
}

func newFitter(fresh func(p profile) Size) *fitter {
	return &fitter{known: map[string]Size{}, fresh: fresh}
}

// learn makes an expression known.
func (f *fitter) learn(p profile, s Size) {
	f.atoms = append(f.atoms, atom{p, s})
	f.known[p.key()] = s
}

// size returns the expression of a profile.
func (f *fitter) size(p profile) Size {
	if p.isConstant() {
		return Constant(p[0])
	}
	if s, ok := f.known[p.key()]; ok {
		return s
	}
	s, ok := f.find(p)
	if !ok {
		s = f.fresh(p)
		f.atoms = append(f.atoms, atom{slices.Clone(p), s})
	} else if s.Op == "//" || s.Op == "+" && s.Args[0].Op == "//" {
		f.atoms = append(f.atoms, atom{slices.Clone(p), s})
	}
	f.known[p.key()] = s
	return s
}

func (f *fitter) find(p profile) (Size, bool) {
	for _, a := range f.atoms {
		if s, ok := multiple(p, a); ok {
			return s, true
		}
	}
	for i, a := range f.atoms {
		for _, b := range f.atoms[i:] {
			if s, ok := product(p, a, b); ok {
				return s, true
			}
			if s, ok := sum(p, a, b); ok {
				return s, true
			}
		}
	}
	for _, a := range f.atoms {
		if s, ok := quotient(p, a); ok {
			return s, true
		}
	}
	return f.triple(p)
}

// multiple finds m*a + c.
func multiple(p profile, a atom) (Size, bool) {
	i := slices.IndexFunc(a.profile, func(n int) bool { return n != a.profile[0] })
	if i < 0 || (p[i]-p[0])%(a.profile[i]-a.profile[0]) != 0 {
		return Size{}, false
	}
	m := (p[i] - p[0]) / (a.profile[i] - a.profile[0])
	c := p[0] - m*a.profile[0]
	if m == 0 {
		return Size{}, false
	}
	for k := range p {
		if p[k] != m*a.profile[k]+c {
			return Size{}, false
		}
	}
	return plus(times(m, a.size), c), true
}

// product finds m*a*b.
func product(p profile, a, b atom) (Size, bool) {
	if a.profile[0]*b.profile[0] == 0 || p[0]%(a.profile[0]*b.profile[0]) != 0 {
		return Size{}, false
	}
	m := p[0] / (a.profile[0] * b.profile[0])
	for k := range p {
		if p[k] != m*a.profile[k]*b.profile[k] {
			return Size{}, false
		}
	}
	return times(m, Size{Op: "*", Args: []Size{a.size, b.size}}), m != 0
}

// triple finds m*a*b*c.
func (f *fitter) triple(p profile) (Size, bool) {
	for i, a := range f.atoms {
		for j, b := range f.atoms[i:] {
			both := atom{make(profile, len(p)), Size{Op: "*", Args: []Size{a.size, b.size}}}
			for k := range p {
				both.profile[k] = a.profile[k] * b.profile[k]
			}
			for _, c := range f.atoms[i+j:] {
				if s, ok := product(p, both, c); ok {
					return s, true
				}
			}
		}
	}
	return Size{}, false
}

// sum finds a + b + c.
func sum(p profile, a, b atom) (Size, bool) {
	c := p[0] - a.profile[0] - b.profile[0]
	for k := range p {
		if p[k] != a.profile[k]+b.profile[k]+c {
			return Size{}, false
		}
	}
	return plus(Size{Op: "+", Args: []Size{a.size, b.size}}, c), true
}

// maxDivisor bounds the divisors of quotients.
const maxDivisor = 16

// quotient finds (a + c)//d + e where the runs leave no other choice, or where a multiple of a is divided without a rest.
func quotient(p profile, a atom) (Size, bool) {
	for d := 2; d <= maxDivisor; d++ {
		if s, ok := exactQuotient(p, a, d); ok {
			return s, true
		}
		// d*p <= a + c < d*(p+1) bounds c from both sides.
		low, high := d*p[0]-a.profile[0], d*p[0]-a.profile[0]+d-1
		for k := range p {
			low = max(low, d*p[k]-a.profile[k])
			high = min(high, d*p[k]-a.profile[k]+d-1)
		}
		if low != high {
			continue
		}
		e := 0
		if low <= -d || low >= d {
			e = floorDiv(low, d)
		}
		return plus(Size{Op: "//", Args: []Size{plus(a.size, low-d*e), Constant(d)}}, e), true
	}
	return Size{}, false
}

func exactQuotient(p profile, a atom, d int) (Size, bool) {
	if a.profile[0] == 0 || p[0]*d%a.profile[0] != 0 {
		return Size{}, false
	}
	m := p[0] * d / a.profile[0]
	for k := range p {
		if p[k]*d != m*a.profile[k] {
			return Size{}, false
		}
	}
	return Size{Op: "//", Args: []Size{times(m, a.size), Constant(d)}}, m != 0
}

func plus(s Size, c int) Size {
	if c == 0 {
		return s
	}
	return Size{Op: "+", Args: []Size{s, Constant(c)}}
}

func times(m int, s Size) Size {
	if m == 1 {
		return s
	}
	return Size{Op: "*", Args: []Size{Constant(m), s}}
}
