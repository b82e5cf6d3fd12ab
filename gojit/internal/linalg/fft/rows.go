package fft

import (
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Rows are rows of numbers to be transformed, and where the results go, which may be the same place where they have the same
// form. Complex numbers are their parts in turn; steps are elements of T from one row to the next.
type Rows[T Float] struct {
	Count           int
	In, Out         []T
	InStep, OutStep int
	Keep            int  // numbers of each result that are stored, from the first one on
	Real            bool // rows of In are real numbers
	Half            bool // rows of In are the first n/2+1 numbers of a Hermitian sequence
	RealParts       bool // rows of Out get the real parts
}

// inParts returns how many elements of a row of In a transform of n numbers reads.
func (r *Rows[T]) inParts(n int) int {
	switch {
	case r.Real:
		return n
	case r.Half:
		return 2 * (n/2 + 1)
	}
	return 2 * n
}

// number returns number j of a row of n.
func (r *Rows[T]) number(in []T, j, n int) (re, im T) {
	switch {
	case r.Real:
		return in[j], 0
	case r.Half && j > n/2:
		return in[2*(n-j)], -in[2*(n-j)+1]
	}
	return in[2*j], in[2*j+1]
}

func (r *Rows[T]) outParts() int {
	if r.RealParts {
		return r.Keep
	}
	return 2 * r.Keep
}

// Transform transforms all rows. It panics where they reach outside their data.
func (p *Plan[T]) Transform(r Rows[T]) {
	if r.Count == 0 {
		return
	}
	if (r.Count-1)*r.InStep+r.inParts(p.n) > len(r.In) || (r.Count-1)*r.OutStep+r.outParts() > len(r.Out) || r.Keep > p.n {
		panic("fourier: rows reach outside their data")
	}
	if s := p.oneByOne(&r); s != nil {
		for i := range r.Count {
			s.transform(&r, i)
		}
		return
	}
	groups := (r.Count + p.lanes - 1) / p.lanes
	grain := 1 + groupNumbers/(p.lanes*p.n)
	parallel.For(groups, grain, func(lo, hi int) {
		memory := memoryPool.Get().(*[]cacheLine)
		defer memoryPool.Put(memory)
		n := p.space()
		x, y := twoSpaces[T](memory, n)
		for g := lo; g < hi; g++ {
			first := g * p.lanes
			p.transformGroup(&r, first, min(p.lanes, r.Count-first), x, y)
		}
	})
}

// groupNumbers is how many numbers are worth another goroutine.
const groupNumbers = 1 << 14

// cacheLine is a line of a cache, which memory for vectors begins on.
type cacheLine [8]uint64

var memoryPool = sync.Pool{New: func() any { return new([]cacheLine) }}

// twoSpaces returns two times n elements that begin on cache lines.
func twoSpaces[T Float](memory *[]cacheLine, n int) (x, y []T) {
	lines := (n*int(unsafe.Sizeof(T(0)))+63)/64 + 1
	if len(*memory) < 2*lines+1 {
		*memory = make([]cacheLine, 2*lines+1)
	}
	at := unsafe.Pointer(unsafe.SliceData(*memory))
	at = unsafe.Add(at, int(-uintptr(at)%64))
	return unsafe.Slice((*T)(at), n), unsafe.Slice((*T)(unsafe.Add(at, 64*lines)), n)
}

// transformGroup transforms as many rows as there are lanes, or fewer.
func (p *Plan[T]) transformGroup(r *Rows[T], first, count int, x, y []T) {
	p.load(r, first, count, x)
	result := p.run(x, y)
	p.store(r, first, count, result)
}

// load puts rows into the lanes of x.
func (p *Plan[T]) load(r *Rows[T], first, count int, x []T) {
	in, parts := r.In[first*r.InStep:], r.inParts(p.n)
	if p.lanes == 1 {
		if r.Real {
			for i, v := range in[:p.n] {
				x[2*i], x[2*i+1] = v, 0
			}
			return
		}
		copy(x, in[:parts])
	} else {
		size := int(unsafe.Sizeof(in[0]))
		step := p.lanes * size
		if r.Real {
			step *= 2
			for i := range p.n {
				clear(x[(2*i+1)*p.lanes:][:p.lanes])
			}
		}
		args := tile.CopyArgs{From: unsafe.Pointer(&in[0]), To: unsafe.Pointer(&x[0]), FromRow: int64(r.InStep * size), ToRow: int64(step), Count: int64(parts),
			Mask: tile.TailMask(p.isa, parts%p.lanes*size/4)}
		tile.Transposition{ISA: p.isa, Double: size == 8, Rows: uint8(count)}.Code().Call(unsafe.Pointer(&args))
	}
	if r.Half {
		p.complete(x)
	}
}

// complete makes the second half of Hermitian sequences.
func (p *Plan[T]) complete(x []T) {
	for k := p.n/2 + 1; k < p.n; k++ {
		from, to := x[2*p.lanes*(p.n-k):][:2*p.lanes], x[2*p.lanes*k:][:2*p.lanes]
		copy(to[:p.lanes], from)
		for i, v := range from[p.lanes:] {
			to[p.lanes+i] = -v
		}
	}
}

// store writes the results of the lanes to their rows.
func (p *Plan[T]) store(r *Rows[T], first, count int, x []T) {
	out, parts, every := r.Out[first*r.OutStep:], r.outParts(), 1
	if r.RealParts {
		every = 2
	}
	if parts < p.lanes || p.lanes == 1 {
		for lane := range count {
			for i := range parts {
				out[lane*r.OutStep+i] = x[i*every*p.lanes+lane]
			}
		}
		return
	}
	size := int(unsafe.Sizeof(out[0]))
	vector := p.lanes * size
	code := tile.Transposition{ISA: p.isa, Double: size == 8, Rows: uint8(p.lanes)}.Code()
	args := tile.CopyArgs{FromRow: int64(every * vector), ToRow: int64(r.OutStep * size), Count: int64(count), Mask: tile.TailMask(p.isa, count%p.lanes*size/4)}
	for at := 0; at < parts; at += p.lanes {
		at = min(at, parts-p.lanes) // the last ones again rather than more than there are
		args.From, args.To = unsafe.Pointer(&x[at*every*p.lanes]), unsafe.Pointer(&out[at])
		code.Call(unsafe.Pointer(&args))
		if at == parts-p.lanes {
			break
		}
	}
}
