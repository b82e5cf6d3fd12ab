package special

import (
	"maps"
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Orthogonal polynomials at x of a degree n, which is cut to a whole number; a negative degree gives zero.

// recurrence follows p(k+1) = step(k, p(k), p(k-1)) from p(0) = 1 and p(1) = first.
func recurrence(n int, first float64, step func(k, q, p float64) float64) float64 {
	switch {
	case n < 0:
		return 0
	case n == 0:
		return 1
	}
	p, q := 1.0, first
	var watch parallel.Watch
	for k := 1; k < n; k++ {
		if k%4096 == 0 {
			watch.Look()
		}
		if math.IsNaN(q) {
			return q
		}
		p, q = q, step(float64(k), q, p)
	}
	return q
}

// signOf returns -1 for odd n, else 1.
func signOf(n int) float64 {
	if n%2 != 0 {
		return -1
	}
	return 1
}

// chebyshev is the polynomial of the first ('t'), second, third or fourth ('w') kind.
func chebyshev(kind byte) func(x, n float64) float64 {
	return func(x, degree float64) float64 {
		n := int(degree)
		switch {
		case n < 0:
			return 0
		case n == 0:
			return 1
		case n == 1:
			return chebyshevFirst(kind, x)
		}
		if math.Abs(x) == 1 {
			return chebyshevAtEnds(kind, x, n)
		}
		if n > 8 && math.Abs(x) < 1 {
			return chebyshevByAngle(kind, math.Acos(x), float64(n))
		}
		return recurrence(n, chebyshevFirst(kind, x), func(_, q, p float64) float64 { return 2*x*q - p })
	}
}

// chebyshevFirst is the polynomial of degree 1.
func chebyshevFirst(kind byte, x float64) float64 {
	switch kind {
	case 't':
		return x
	case 'u':
		return 2 * x
	case 'v':
		return 2*x - 1
	}
	return 2*x + 1
}

func chebyshevAtEnds(kind byte, x float64, n int) float64 {
	wide := float64(2*n + 1)
	switch kind {
	case 't':
		if x > 0 {
			return 1
		}
		return signOf(n)
	case 'u':
		if x > 0 {
			return float64(n + 1)
		}
		return signOf(n) * float64(n+1)
	case 'v':
		if x > 0 {
			return 1
		}
		return signOf(n) * wide
	}
	if x > 0 {
		return wide
	}
	return signOf(n)
}

func chebyshevByAngle(kind byte, angle, n float64) float64 {
	switch kind {
	case 't':
		return math.Cos(n * angle)
	case 'u':
		return math.Sin((n+1)*angle) / math.Sin(angle)
	case 'v':
		return math.Cos((n+0.5)*angle) / math.Cos(angle/2)
	}
	return math.Sin((n+0.5)*angle) / math.Sin(angle/2)
}

// shifted is the polynomial at 2x-1.
func shifted(f func(x, n float64) float64) func(x, n float64) float64 {
	return func(x, n float64) float64 { return f(2*x-1, n) }
}

func hermite(x, n float64) float64 {
	return recurrence(int(n), 2*x, func(k, q, p float64) float64 { return 2*x*q - 2*k*p })
}

func hermiteProbabilist(x, n float64) float64 {
	return recurrence(int(n), x, func(k, q, p float64) float64 { return x*q - k*p })
}

func laguerre(x, n float64) float64 {
	return recurrence(int(n), 1-x, func(k, q, p float64) float64 { return ((2*k+1-x)*q - k*p) / (k + 1) })
}

func legendre(x, n float64) float64 {
	return recurrence(int(n), x, func(k, q, p float64) float64 { return ((2*k+1)*x*q - k*p) / (k + 1) })
}

// A family of polynomials with what it is called on devices.
type family struct {
	of    func(x, n float64) float64
	there form
}

// Polynomials defines the overloads of every polynomial.
func Polynomials() []define.Definition {
	named := func(entry string, kind byte) form { return form{entry, []int64{int64(kind)}} }
	kinds := map[string]family{
		"hermite_polynomial_h": {hermite, named("polynomial_of", 'h')}, "hermite_polynomial_he": {hermiteProbabilist, named("polynomial_of", 'e')},
		"laguerre_polynomial_l": {laguerre, named("polynomial_of", 'l')}, "legendre_polynomial_p": {legendre, named("polynomial_of", 'p')},
	}
	for _, kind := range []byte("tuvw") {
		kinds["chebyshev_polynomial_"+string(kind)] = family{chebyshev(kind), named("polynomial_of", kind)}
		kinds["shifted_chebyshev_polynomial_"+string(kind)] = family{shifted(chebyshev(kind)), named("shifted_of", kind)}
	}
	var all []define.Definition
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		for _, overload := range [...]string{"", ".x_scalar", ".n_scalar"} {
			all = append(all, mappingPairs("special_"+name+overload, kinds[name].of, kinds[name].there))
		}
	}
	return all
}
