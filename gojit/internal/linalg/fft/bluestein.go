package fft

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
)

// bluestein is a transform of any length n as a convolution: with c[j] = e**(-πi j²/n), y[k] = c[k] * sum over j of
// (x[j] c[j]) * conj(c[k-j]), which transforms of a length without large factors compute.
type bluestein[T Float] struct {
	n, lanes          int
	forward, backward *Plan[T]
	before            factorPass[T] // c
	between           factorPass[T] // the transform of the conjugate of c
	after             factorPass[T] // c, and the scale
	// the same factors for a single row
	chirp, spectrum, last []T
}

// convolution returns how a length with a large prime factor is transformed, nil for others.
func (p *Plan[T]) convolution() *bluestein[T] {
	if len(p.passes) > 0 {
		return nil
	}
	p.chirpOnce.Do(func() { p.chirp = newBluestein(p, p.scale) })
	return p.chirp
}

// factorPass multiplies each number with its factor.
type factorPass[T Float] struct {
	n       int
	factors []T
	code    *asm.Code
}

func (p *Plan[T]) newFactorPass(factors []T) factorPass[T] {
	return factorPass[T]{len(factors) / 2, p.spread(factors), p.passCode(1, 1, len(factors)/2, true, true)}
}

// newBluestein makes the parts of a plan whose length has a large prime factor.
func newBluestein[T Float](p *Plan[T], scale float64) *bluestein[T] {
	n, size := p.n, roundLength(2*p.n-1)
	b := &bluestein[T]{n: n, lanes: p.lanes, forward: newPlan[T](p.isa, size, false, 1), backward: newPlan[T](p.isa, size, true, 1)}
	chirp, last, kernel := make([]T, 2*n), make([]T, 2*n), make([]float64, 2*size)
	for j := range n {
		lookEvery(j)
		re, im := unit(j*j%(2*n), 2*n)
		if !p.backward {
			im = -im
		}
		chirp[2*j], chirp[2*j+1] = T(re), T(im)
		last[2*j], last[2*j+1] = T(re*scale), T(im*scale)
		for _, at := range []int{j, (size - j) % size} {
			kernel[2*at], kernel[2*at+1] = re/float64(size), -im/float64(size)
		}
	}
	exact := make([]float64, 2*size)
	newPlan[float64](p.isa, size, false, 1).Transform(Rows[float64]{Count: 1, In: kernel, Out: exact, Keep: size})
	between := make([]T, 2*size)
	for i, v := range exact {
		between[i] = T(v)
	}
	b.before, b.between, b.after = p.newFactorPass(chirp), p.newFactorPass(between), p.newFactorPass(last)
	b.chirp, b.spectrum, b.last = chirp, between, last
	return b
}

// roundLength returns the least length from n on that has the factors 2, 3 and 5 only, and 4 at least twice where it is long.
func roundLength(n int) int {
	step := 1
	if n > 64 {
		step = 16
	}
	for size := (n + step - 1) / step * step; ; size += step {
		rest := size
		for _, r := range []int{2, 3, 5} {
			for rest%r == 0 {
				rest /= r
			}
		}
		if rest == 1 {
			return size
		}
	}
}

// run is Plan.run.
func (b *bluestein[T]) run(x, y []T) []T {
	b.before.run(x, y)
	clear(y[2*b.lanes*b.n : 2*b.lanes*b.forward.n])
	spectrum := b.forward.run(y, x)
	other := x
	if &spectrum[0] == &x[0] {
		other = y
	}
	b.between.run(spectrum, other)
	sums := b.backward.run(other, spectrum)
	rest := spectrum
	if &sums[0] == &spectrum[0] {
		rest = other
	}
	b.after.run(sums, rest)
	return rest
}

// transform transforms row i, the convolution of which is one of single rows, too: a vector would have one lane in use.
func (b *bluestein[T]) transform(r *Rows[T], i int) {
	in, out, size := r.In[i*r.InStep:], r.Out[i*r.OutStep:], b.forward.n
	memory := memoryPool.Get().(*[]cacheLine)
	defer memoryPool.Put(memory)
	x, y := twoSpaces[T](memory, 2*size)
	for j := range b.n {
		lookEvery(j)
		re, im := r.number(in, j, b.n)
		x[2*j], x[2*j+1] = times(re, im, b.chirp[2*j:])
	}
	clear(x[2*b.n:])
	b.forward.Transform(Rows[T]{Count: 1, In: x, Out: y, Keep: size})
	for k := range size {
		lookEvery(k)
		y[2*k], y[2*k+1] = times(y[2*k], y[2*k+1], b.spectrum[2*k:])
	}
	b.backward.Transform(Rows[T]{Count: 1, In: y, Out: x, Keep: b.n})
	for k := range r.Keep {
		re, im := times(x[2*k], x[2*k+1], b.last[2*k:])
		if r.RealParts {
			out[k] = re
		} else {
			out[2*k], out[2*k+1] = re, im
		}
	}
}

// times multiplies a number with the first one of factors.
func times[T Float](re, im T, factors []T) (T, T) {
	c, d := factors[0], factors[1]
	return re*c - im*d, re*d + im*c
}

func (f *factorPass[T]) run(x, y []T) {
	if f.code == nil {
		for i := 0; i < 2*f.n; i += 2 {
			a, b, c, d := x[i], x[i+1], f.factors[i], f.factors[i+1]
			y[i], y[i+1] = a*c-b*d, a*d+b*c
		}
		return
	}
	args := tile.ButterfliesArgs{From: unsafe.Pointer(&x[0]), To: unsafe.Pointer(&y[0]), Twiddles: unsafe.Pointer(&f.factors[0]), Inner: 1, Outer: int64(f.n)}
	f.code.Call(unsafe.Pointer(&args))
}
