package fft

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// matrix is a transform of a long row as a matrix of height by width numbers: its columns are transformed, several at once,
// multiplied with roots of unity, and then its rows; a result of those is a column of the result.
type matrix[T Float] struct {
	columns, rows *Plan[T]
	height, width int
	roots         []T // by height and width
}

// leastMatrix is the length from which single rows are cut.
const leastMatrix = 256

// newMatrix cuts a length in two, and returns nil where it has no two factors that are large enough.
func newMatrix[T Float](p *Plan[T], scale float64) *matrix[T] {
	if p.lanes == 1 || p.n < leastMatrix {
		return nil
	}
	height := 0
	for d := int(math.Sqrt(float64(p.n))); d >= 8; d-- {
		if p.n%d == 0 {
			height = d
			break
		}
	}
	if height == 0 {
		return nil
	}
	m := &matrix[T]{height: height, width: p.n / height}
	m.columns, m.rows = newPlan[T](p.isa, height, p.backward, 1), newPlan[T](p.isa, m.width, p.backward, scale)
	m.roots = make([]T, 2*p.n)
	for k := range height {
		for j := range m.width {
			re, im := unit(j*k, p.n)
			if !p.backward {
				im = -im
			}
			m.roots[2*(k*m.width+j)], m.roots[2*(k*m.width+j)+1] = T(re), T(im)
		}
	}
	return m
}

// transform transforms row i.
func (m *matrix[T]) transform(r *Rows[T], i int) {
	in, out := r.In[i*r.InStep:], r.Out[i*r.OutStep:]
	lanes := m.columns.lanes
	turned := make([]T, 2*m.height*m.width)
	groups := (m.width + lanes - 1) / lanes
	parallel.For(groups, 1+groupNumbers/(lanes*m.height), func(lo, hi int) {
		memory := memoryPool.Get().(*[]cacheLine)
		defer memoryPool.Put(memory)
		x, y := twoSpaces[T](memory, m.columns.space())
		for g := lo; g < hi; g++ {
			first := g * lanes
			m.transformColumns(r, in, turned, first, min(lanes, m.width-first), x, y)
		}
	})
	groups = (m.height + lanes - 1) / lanes
	rows := Rows[T]{Count: m.height, In: turned, InStep: 2 * m.width}
	parallel.For(groups, 1+groupNumbers/(lanes*m.width), func(lo, hi int) {
		memory := memoryPool.Get().(*[]cacheLine)
		defer memoryPool.Put(memory)
		x, y := twoSpaces[T](memory, m.rows.space())
		for g := lo; g < hi; g++ {
			first := g * lanes
			count := min(lanes, m.height-first)
			m.rows.load(&rows, first, count, x)
			m.storeColumns(r, out, first, count, m.rows.run(x, y))
		}
	})
}

// transformColumns transforms columns from first on.
func (m *matrix[T]) transformColumns(r *Rows[T], in, turned []T, first, count int, x, y []T) {
	lanes := m.columns.lanes
	for k := range m.height {
		re, im := x[2*k*lanes:][:lanes], x[(2*k+1)*lanes:][:lanes]
		at := k*m.width + first
		switch {
		case r.Real:
			copy(re, in[at:][:count])
			clear(im)
		case r.Half:
			for l := range count {
				re[l], im[l] = r.number(in, at+l, m.height*m.width)
			}
		default:
			from := in[2*at:][:2*count]
			for l := range count {
				re[l], im[l] = from[2*l], from[2*l+1]
			}
		}
	}
	z := m.columns.run(x, y)
	for k := range m.height {
		re, im := z[2*k*lanes:][:lanes], z[(2*k+1)*lanes:][:lanes]
		at := 2 * (k*m.width + first)
		to, roots := turned[at:][:2*count], m.roots[at:][:2*count]
		for l := range count {
			a, b, c, d := re[l], im[l], roots[2*l], roots[2*l+1]
			to[2*l], to[2*l+1] = a*c-b*d, a*d+b*c
		}
	}
}

// storeColumns writes the transforms of rows from first on, which are columns of the result.
func (m *matrix[T]) storeColumns(r *Rows[T], out []T, first, count int, x []T) {
	lanes := m.rows.lanes
	for k := range m.width {
		at := k*m.height + first
		n := min(count, r.Keep-at)
		if n <= 0 {
			return
		}
		re, im := x[2*k*lanes:][:lanes], x[(2*k+1)*lanes:][:lanes]
		if r.RealParts {
			copy(out[at:][:n], re)
			continue
		}
		to := out[2*at:][:2*n]
		for l := range n {
			to[2*l], to[2*l+1] = re[l], im[l]
		}
	}
}

// single is a way to transform rows one by one.
type single[T Float] interface{ transform(r *Rows[T], i int) }

// oneByOne returns how rows are transformed one by one, nil where they are together.
func (p *Plan[T]) oneByOne(r *Rows[T]) single[T] {
	if 2*r.Count >= p.lanes && p.n <= maxLanesLength/4 {
		return nil
	}
	p.once.Do(func() { p.cut = newMatrix(p, p.scale) })
	switch {
	case p.cut != nil:
		return p.cut
	case p.lanes > 1 && p.n >= leastMatrix && len(p.passes) == 0:
		return p.convolution()
	}
	return nil
}
