package symbolic

import (
	"fmt"
	"slices"
)

// How sizes become expressions: the program is run several times with other numbers for the symbols. What a size is in each
// of the runs is its profile, and the expression is the simplest one that has that profile: a constant, a size that is known
// already, a multiple of one with something added, a quotient, a sum or a product of two. A profile that no such expression
// has becomes a symbol of its own.

// Profile is what an integer is in each of the runs.
type Profile []int

func (p Profile) Key() string { return fmt.Sprint([]int(p)) }

func (p Profile) IsConstant() bool {
	return !slices.ContainsFunc(p, func(n int) bool { return n != p[0] })
}

// atom is an expression whose profile is known.
type atom struct {
	Profile Profile
	Size    Size
}

// Fitter finds expressions of profiles.
type Fitter struct {
	Atoms []atom          // symbols, and expressions that no other explains
	Known map[string]Size // by profiles
	fresh func(p Profile) Size
}

func NewFitter(fresh func(p Profile) Size) *Fitter {
	return &Fitter{Known: map[string]Size{}, fresh: fresh}
}

// Learn makes an expression known.
func (f *Fitter) Learn(p Profile, s Size) {
	f.Atoms = append(f.Atoms, atom{p, s})
	f.Known[p.Key()] = s
}

// Size returns the expression of a profile.
func (f *Fitter) Size(p Profile) Size {
	if p.IsConstant() {
		return Constant(p[0])
	}
	if s, ok := f.Known[p.Key()]; ok {
		return s
	}
	s, ok := f.find(p)
	if !ok {
		s = f.fresh(p)
		f.Atoms = append(f.Atoms, atom{slices.Clone(p), s})
	} else if s.Op == "//" || s.Op == "+" && s.Args[0].Op == "//" {
		f.Atoms = append(f.Atoms, atom{slices.Clone(p), s})
	}
	f.Known[p.Key()] = s
	return s
}

func (f *Fitter) find(p Profile) (Size, bool) {
	for _, a := range f.Atoms {
		if s, ok := multiple(p, a); ok {
			return s, true
		}
	}
	for i, a := range f.Atoms {
		for _, b := range f.Atoms[i:] {
			if s, ok := product(p, a, b); ok {
				return s, true
			}
			if s, ok := sum(p, a, b); ok {
				return s, true
			}
		}
	}
	for _, a := range f.Atoms {
		if s, ok := quotient(p, a); ok {
			return s, true
		}
	}
	return f.triple(p)
}

// multiple finds m*a + c.
func multiple(p Profile, a atom) (Size, bool) {
	i := slices.IndexFunc(a.Profile, func(n int) bool { return n != a.Profile[0] })
	if i < 0 || (p[i]-p[0])%(a.Profile[i]-a.Profile[0]) != 0 {
		return Size{}, false
	}
	m := (p[i] - p[0]) / (a.Profile[i] - a.Profile[0])
	c := p[0] - m*a.Profile[0]
	if m == 0 {
		return Size{}, false
	}
	for k := range p {
		if p[k] != m*a.Profile[k]+c {
			return Size{}, false
		}
	}
	return Plus(Times(m, a.Size), c), true
}

// product finds m*a*b.
func product(p Profile, a, b atom) (Size, bool) {
	if a.Profile[0]*b.Profile[0] == 0 || p[0]%(a.Profile[0]*b.Profile[0]) != 0 {
		return Size{}, false
	}
	m := p[0] / (a.Profile[0] * b.Profile[0])
	for k := range p {
		if p[k] != m*a.Profile[k]*b.Profile[k] {
			return Size{}, false
		}
	}
	return Times(m, Size{Op: "*", Args: []Size{a.Size, b.Size}}), m != 0
}

// triple finds m*a*b*c.
func (f *Fitter) triple(p Profile) (Size, bool) {
	for i, a := range f.Atoms {
		for j, b := range f.Atoms[i:] {
			both := atom{make(Profile, len(p)), Size{Op: "*", Args: []Size{a.Size, b.Size}}}
			for k := range p {
				both.Profile[k] = a.Profile[k] * b.Profile[k]
			}
			for _, c := range f.Atoms[i+j:] {
				if s, ok := product(p, both, c); ok {
					return s, true
				}
			}
		}
	}
	return Size{}, false
}

// sum finds a + b + c.
func sum(p Profile, a, b atom) (Size, bool) {
	c := p[0] - a.Profile[0] - b.Profile[0]
	for k := range p {
		if p[k] != a.Profile[k]+b.Profile[k]+c {
			return Size{}, false
		}
	}
	return Plus(Size{Op: "+", Args: []Size{a.Size, b.Size}}, c), true
}

// maxDivisor bounds the divisors of quotients.
const maxDivisor = 16

// quotient finds (a + c)//d + e where the runs leave no other choice, or where a multiple of a is divided without a rest.
func quotient(p Profile, a atom) (Size, bool) {
	for d := 2; d <= maxDivisor; d++ {
		if s, ok := exactQuotient(p, a, d); ok {
			return s, true
		}
		// d*p <= a + c < d*(p+1) bounds c from both sides.
		low, high := d*p[0]-a.Profile[0], d*p[0]-a.Profile[0]+d-1
		for k := range p {
			low = max(low, d*p[k]-a.Profile[k])
			high = min(high, d*p[k]-a.Profile[k]+d-1)
		}
		if low != high {
			continue
		}
		e := 0
		if low <= -d || low >= d {
			e = floorDiv(low, d)
		}
		return Plus(Size{Op: "//", Args: []Size{Plus(a.Size, low-d*e), Constant(d)}}, e), true
	}
	return Size{}, false
}

func exactQuotient(p Profile, a atom, d int) (Size, bool) {
	if a.Profile[0] == 0 || p[0]*d%a.Profile[0] != 0 {
		return Size{}, false
	}
	m := p[0] * d / a.Profile[0]
	for k := range p {
		if p[k]*d != m*a.Profile[k] {
			return Size{}, false
		}
	}
	return Size{Op: "//", Args: []Size{Times(m, a.Size), Constant(d)}}, m != 0
}

func Plus(s Size, c int) Size {
	if c == 0 {
		return s
	}
	return Size{Op: "+", Args: []Size{s, Constant(c)}}
}

func Times(m int, s Size) Size {
	if m == 1 {
		return s
	}
	return Size{Op: "*", Args: []Size{Constant(m), s}}
}
