// Package fft computes discrete Fourier transforms of rows of complex numbers over plain slices.
//
// A Plan is made once for a length and a direction: the factors of the length, one pass of butterflies for each, and the
// roots of unity between them; a length with a large prime factor is a convolution of a length without one (Bluestein).
// On amd64 with AVX2 or AVX-512 passes are generated kernels of package kernel/amd64 that transform as many rows at once
// as a vector has lanes, so that no shuffles are needed within them: rows are transposed into the lanes and back. A few long
// rows are cut into rows and columns of a matrix first, which are transformed like that. Elsewhere the same passes are loops in Go.
//
// Invariants: no result depends on the number of threads or on which other rows there are. The package knows no tensors.
package fft

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Float is what the parts of the numbers are.
type Float interface{ float32 | float64 }

// Plan is a transform of rows of n numbers: y[k] = scale * sum over j of x[j] * e**(-2πi jk/n), or e**(2πi jk/n) backwards. It
// never changes: any number of goroutines may use it at once.
type Plan[T Float] struct {
	n         int
	backward  bool
	isa       asm.ISA
	lanes     int       // of a vector; 1 where no code is generated
	passes    []pass[T] // none where the length has a large prime factor
	scale     float64
	once      sync.Once
	cut       *matrix[T] // made when a single row is transformed; nil where the length cannot be cut
	chirpOnce sync.Once
	chirp     *bluestein[T] // made by convolution
}

// pass is one factor of the length.
type pass[T Float] struct {
	radix    int
	inner    int // s: numbers between those of one butterfly of the result
	outer    int // m
	twiddles []T
	all      bool // the first factors are stored too
	code     *asm.Code
	roots    []T // of one, by which the pass in Go adds up
}

// newPlan makes a plan for an instruction set. scale multiplies all results.
func newPlan[T Float](isa asm.ISA, n int, backward bool, scale float64) *Plan[T] {
	if n > maxLanesLength {
		isa = asm.None
	}
	p := &Plan[T]{n: n, backward: backward, isa: isa, lanes: 1, scale: scale}
	if isa >= asm.AVX2 {
		p.lanes = isa.Width().Bytes() / int(unsafe.Sizeof(T(0)))
	}
	radices, rest := factors(isa, n)
	if rest > 1 {
		return p
	}
	if n == 1 {
		radices = []int{1}
	}
	inner, outer := 1, n
	for i, r := range radices {
		outer /= r
		first := 1.0
		if i == 0 {
			first = scale
		}
		p.passes = append(p.passes, p.newPass(r, inner, outer, first))
		inner *= r
	}
	return p
}

// maxLanesLength is the length up to which transforms have a row in each lane: addresses within a pass are 31 bits.
const maxLanesLength = 1 << 22

// factors returns the radices of the passes of a length, and what is left of it.
func factors(isa asm.ISA, n int) (radices []int, rest int) {
	for _, r := range []int{13, 11, 7, 5, 3, 8, 4, 2} {
		if isa >= asm.AVX2 && !tile.HasRadix(isa, r) {
			continue
		}
		for n%r == 0 && !(r == 8 && n == 16) { // 16 is 4 by 4
			radices, n = append(radices, r), n/r
		}
	}
	slices.Reverse(radices)
	return radices, n
}

// unit returns e to the power 2πi k/n.
func unit(k, n int) (re, im float64) {
	k %= n
	switch { // exact where the parts are
	case 8*k%n == 0:
		const h = math.Sqrt2 / 2
		parts := [8]float64{1, h, 0, -h, -1, -h, 0, h}
		return parts[8*k/n], parts[(8*k/n+6)%8]
	}
	im, re = math.Sincos(2 * math.Pi * float64(k) / float64(n))
	return re, im
}

// newPass makes a pass: factors are e**(-2πi p k/(r*m)), and scale.
func (p *Plan[T]) newPass(r, inner, outer int, scale float64) pass[T] {
	x := pass[T]{radix: r, inner: inner, outer: outer, all: scale != 1}
	if outer > 1 || x.all {
		first := 1
		if x.all {
			first = 0
		}
		var roots []T
		for q := range outer {
			lookEvery(q)
			for k := first; k < r; k++ {
				re, im := unit(q*k, r*outer)
				if !p.backward {
					im = -im
				}
				roots = append(roots, T(scale*re), T(scale*im))
			}
		}
		x.twiddles = p.spread(roots)
	}
	x.code = p.passCode(r, inner, outer, x.twiddles != nil, x.all)
	if x.code == nil {
		for j := range r {
			re, im := unit(j, r)
			if !p.backward {
				im = -im
			}
			x.roots = append(x.roots, T(re), T(im))
		}
	}
	return x
}

// spread lays factors out as the kernels read them.
func (p *Plan[T]) spread(roots []T) []T {
	if p.isa != asm.AVX2 {
		return roots
	}
	wide := make([]T, 0, len(roots)*p.lanes)
	for _, v := range roots {
		for range p.lanes {
			wide = append(wide, v)
		}
	}
	return wide
}

func (p *Plan[T]) passCode(r, inner, outer int, twiddles, all bool) *asm.Code {
	if p.lanes == 1 {
		return nil
	}
	number := 2 * p.isa.Width().Bytes()
	k := tile.Butterflies{ISA: p.isa, Double: unsafe.Sizeof(T(0)) == 8, Radix: uint8(r), Backward: p.backward, Twiddles: twiddles, All: all}
	k.In, k.Out = int32(inner*outer*number), int32(inner*number)
	return k.Code()
}

// lookEvery is where a loop that is at i ends that is to end.
func lookEvery(i int) {
	if i%(1<<13) == 1<<13-1 {
		parallel.Look()
	}
}

// longPass is how many numbers a pass takes a while for.
const longPass = 1 << 16

// run transforms the numbers in x, a row in each lane, and returns where the result is: x or y, which are as long.
func (p *Plan[T]) run(x, y []T) []T {
	if b := p.convolution(); b != nil {
		return b.run(x, y)
	}
	for i := range p.passes {
		if len(x) >= longPass {
			parallel.Look()
		}
		s := &p.passes[i]
		if s.code == nil {
			s.portable(x, y)
		} else {
			args := tile.ButterfliesArgs{From: unsafe.Pointer(&x[0]), To: unsafe.Pointer(&y[0]), Inner: int64(s.inner), Outer: int64(s.outer)}
			args.Twiddles = unsafe.Pointer(unsafe.SliceData(s.twiddles))
			s.code.Call(unsafe.Pointer(&args))
		}
		x, y = y, x
	}
	return x
}

// space returns how many elements x and y of run need.
func (p *Plan[T]) space() int {
	if b := p.convolution(); b != nil {
		return 2 * p.lanes * b.forward.n
	}
	return 2 * p.lanes * p.n
}

// portable is the pass in Go, for one row.
func (s *pass[T]) portable(x, y []T) {
	r, m := s.radix, s.outer
	for p := range m {
		for q := range s.inner {
			lookEvery(p*s.inner + q)
			for k := range r {
				var re, im T
				for j := range r {
					c, d := s.roots[j*k%r*2], s.roots[j*k%r*2+1]
					at := 2 * (q + s.inner*(p+m*j))
					a, b := x[at], x[at+1]
					re += a*c - b*d
					im += a*d + b*c
				}
				if s.twiddles != nil && (k > 0 || s.all) {
					at := p*(r-1) + k - 1
					if s.all {
						at = p*r + k
					}
					c, d := s.twiddles[2*at], s.twiddles[2*at+1]
					re, im = re*c-im*d, re*d+im*c
				}
				to := 2 * (q + s.inner*(r*p+k))
				y[to], y[to+1] = re, im
			}
		}
	}
}
