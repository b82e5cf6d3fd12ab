package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// scanner gives running results along a dimension. The functions for a type take any number of rows of
// n elements; a type without one is computed with in float64, or in what accumulator says.
type scanner struct {
	join      func(b builder, so, x element) element // for columns that are walked side by side
	start     float64                                // what join leaves as it is
	turned    bool                                   // rows are turned into columns, where there are many: an element is more work than two copies
	ints      func(dst, src []int64, n int)
	singles   func(dst, src []float32, n int)
	floats    func(dst, src []float64, n int)
	pairs     func(dst, src []complex64, n int)
	complexes func(dst, src []complex128, n int)
	programs  typePrograms
}

var (
	sumScanner     = &scanner{join: func(b builder, so, x element) element { return b.Add(so, x) }, ints: integerSums, singles: runningSums[float32, float64], floats: runningSums[float64, float64], pairs: complexSums[complex64], complexes: complexSums[complex128]}
	productScanner = &scanner{join: func(b builder, so, x element) element { return b.Mul(so, x) }, start: 1, ints: integerProducts, singles: runningProducts[float32, float64], floats: runningProducts[float64, float64], pairs: complexProducts[complex64], complexes: complexProducts[complex128]}
	logSumScanner  = &scanner{join: func(b builder, so, x element) element { return logAddExp(b, []element{so, x}, kernel.Exp, 1) }, start: math.Inf(-1), turned: true, floats: func(dst, src []float64, n int) {
		for i := 0; i < len(src); i += n {
			runningLogSum(dst[i:i+n], src[i:i+n])
		}
	}}
)

// along gives a tensor of t's shape and of type result.
func (s *scanner) along(t *tensor.Tensor, dim int, result tensor.DType) *tensor.Tensor {
	dim = wrapDim(dim, t)
	work := to(t, result)
	if t.Numel() == 0 || t.Dim() == 0 {
		return must(work.Clone(tensor.ContiguousFormat))
	}
	if work.OnDevice() {
		return s.onDevice(work, dim)
	}
	if c, ok := columnsOf(work, dim, dim+1); ok {
		return s.columns(c)
	}
	if n := t.Size(dim); s.turned && n > 1 && t.Numel()/n >= minColumns {
		turned := contiguous(must(work.Transpose(dim, 0)))
		if c, ok := columnsOf(turned, 0, 1); ok {
			return contiguous(must(s.columns(c).Transpose(dim, 0)))
		}
	}
	acc := accumulator(result)
	switch {
	case acc == tensor.Float32 && (s.singles == nil || result != acc):
		acc = tensor.Float64
	case result == tensor.Complex64:
		acc = result
	}
	work = contiguous(to(must(work.Transpose(dim, t.Dim()-1)), acc))
	out, n := empty(work.Shape(), acc), t.Size(dim)
	switch acc {
	case tensor.Int64:
		mapRows(tensor.Data[int64](out), tensor.Data[int64](work), n, s.ints)
	case tensor.Float32:
		mapRows(tensor.Data[float32](out), tensor.Data[float32](work), n, s.singles)
	case tensor.Float64:
		mapRows(tensor.Data[float64](out), tensor.Data[float64](work), n, s.floats)
	case tensor.Complex64:
		mapRows(tensor.Data[complex64](out), tensor.Data[complex64](work), n, s.pairs)
	default:
		mapRows(tensor.Data[complex128](out), tensor.Data[complex128](work), n, s.complexes)
	}
	return to(contiguous(must(out.Transpose(dim, t.Dim()-1))), result)
}

// program returns the program for one row of many columns: it combines the row with the results so far.
func (s *scanner) program(d, held tensor.DType) *launch.Program {
	return s.programs.of(d, func(b *kernel.Builder) {
		so, x := b.Input(held, held), b.Input(d, kernel.ComputeType(d))
		v := s.join(b, so, b.Convert(x, held))
		b.Output(v, held)
		b.Output(v, d)
	})
}

// columns scans the rows of each block.
func (s *scanner) columns(c columns) *tensor.Tensor {
	d, held := c.tensor.DType(), tensor.Float64
	switch {
	case d.IsComplex():
		held = tensor.Complex128
	case !d.IsFloating():
		held = tensor.Int64
	}
	out, last := empty(c.tensor.Shape(), d), must(tensor.Full([]int{c.blocks * c.n}, tensor.Float(s.start), held))
	p := s.program(d, held)
	c.each(columnsAtOnce, func(block, from, at, m int) {
		so := sameRow(last, at)
		p.Rows(c.rows, m, []launch.Row{so, c.rowsFrom(out, block, from), so, c.rowsFrom(c.tensor, block, from)}, nil)
	})
	return out
}

type scannable interface {
	float32 | float64
}

// fourRows returns the first four rows of n elements.
func fourRows[T any](data []T, n int) (a, b, c, d []T) {
	return data[:n], data[n:][:n], data[2*n:][:n], data[3*n:][:n]
}

// runningSums goes through four rows at once: an addition of floats waits for the one before it.
func runningSums[T, A scannable](dst, src []T, n int) {
	at := 0
	for ; at+4*n <= len(src); at += 4 * n {
		x0, x1, x2, x3 := fourRows(src[at:], n)
		y0, y1, y2, y3 := fourRows(dst[at:], n)
		var a, b, c, d A
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			x0, x1, x2, x3 := x0[lo:hi], x1[lo:hi], x2[lo:hi], x3[lo:hi]
			y0, y1, y2, y3 := y0[lo:hi], y1[lo:hi], y2[lo:hi], y3[lo:hi]
			for i := range x0 {
				a, b, c, d = a+A(x0[i]), b+A(x1[i]), c+A(x2[i]), d+A(x3[i])
				y0[i], y1[i], y2[i], y3[i] = T(a), T(b), T(c), T(d)
			}
		}
	}
	for ; at < len(src); at += n {
		var a A
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			y := dst[at+lo : at+hi]
			for i, v := range src[at+lo : at+hi] {
				a += A(v)
				y[i] = T(a)
			}
		}
	}
}

// runningProducts is runningSums for products.
func runningProducts[T, A scannable](dst, src []T, n int) {
	at := 0
	for ; at+4*n <= len(src); at += 4 * n {
		x0, x1, x2, x3 := fourRows(src[at:], n)
		y0, y1, y2, y3 := fourRows(dst[at:], n)
		a, b, c, d := A(1), A(1), A(1), A(1)
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			x0, x1, x2, x3 := x0[lo:hi], x1[lo:hi], x2[lo:hi], x3[lo:hi]
			y0, y1, y2, y3 := y0[lo:hi], y1[lo:hi], y2[lo:hi], y3[lo:hi]
			for i := range x0 {
				a, b, c, d = a*A(x0[i]), b*A(x1[i]), c*A(x2[i]), d*A(x3[i])
				y0[i], y1[i], y2[i], y3[i] = T(a), T(b), T(c), T(d)
			}
		}
	}
	for ; at < len(src); at += n {
		a := A(1)
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			y := dst[at+lo : at+hi]
			for i, v := range src[at+lo : at+hi] {
				a *= A(v)
				y[i] = T(a)
			}
		}
	}
}

func integerSums(dst, src []int64, n int) {
	for at := 0; at < len(src); at += n {
		a := int64(0)
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			x := src[at+lo : at+hi]
			y := dst[at+lo : at+hi][:len(x)]
			for i, v := range x {
				a += v
				y[i] = a
			}
		}
	}
}

func integerProducts(dst, src []int64, n int) {
	for at := 0; at < len(src); at += n {
		a := int64(1)
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			x := src[at+lo : at+hi]
			y := dst[at+lo : at+hi][:len(x)]
			for i, v := range x {
				a *= v
				y[i] = a
			}
		}
	}
}

// complexSums goes through four rows at once, as runningSums does.
func complexSums[T complex64 | complex128](dst, src []T, n int) {
	at := 0
	for ; at+4*n <= len(src); at += 4 * n {
		x0, x1, x2, x3 := fourRows(src[at:], n)
		y0, y1, y2, y3 := fourRows(dst[at:], n)
		var a, b, c, d complex128
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			x0, x1, x2, x3 := x0[lo:hi], x1[lo:hi], x2[lo:hi], x3[lo:hi]
			y0, y1, y2, y3 := y0[lo:hi], y1[lo:hi], y2[lo:hi], y3[lo:hi]
			for i := range x0 {
				a, b, c, d = a+complex128(x0[i]), b+complex128(x1[i]), c+complex128(x2[i]), d+complex128(x3[i])
				y0[i], y1[i], y2[i], y3[i] = T(a), T(b), T(c), T(d)
			}
		}
	}
	for ; at < len(src); at += n {
		var a complex128
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			y := dst[at+lo : at+hi]
			for i, v := range src[at+lo : at+hi] {
				a += complex128(v)
				y[i] = T(a)
			}
		}
	}
}

// complexProducts is complexSums for products.
func complexProducts[T complex64 | complex128](dst, src []T, n int) {
	at := 0
	for ; at+4*n <= len(src); at += 4 * n {
		x0, x1, x2, x3 := fourRows(src[at:], n)
		y0, y1, y2, y3 := fourRows(dst[at:], n)
		a, b, c, d := complex128(1), complex128(1), complex128(1), complex128(1)
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			x0, x1, x2, x3 := x0[lo:hi], x1[lo:hi], x2[lo:hi], x3[lo:hi]
			y0, y1, y2, y3 := y0[lo:hi], y1[lo:hi], y2[lo:hi], y3[lo:hi]
			for i := range x0 {
				a, b, c, d = a*complex128(x0[i]), b*complex128(x1[i]), c*complex128(x2[i]), d*complex128(x3[i])
				y0[i], y1[i], y2[i], y3[i] = T(a), T(b), T(c), T(d)
			}
		}
	}
	for ; at < len(src); at += n {
		a := complex128(1)
		for lo := 0; lo < n; lo += lookEvery {
			hi := blockEnd(lo, n)
			y := dst[at+lo : at+hi]
			for i, v := range src[at+lo : at+hi] {
				a *= complex128(v)
				y[i] = T(a)
			}
		}
	}
}

func runningLogSum(dst, src []float64) {
	s := math.Inf(-1)
	for i, v := range src {
		if i%lookEvery == lookEvery-1 {
			tensor.Look()
		}
		high := max(s, v)
		if !math.IsInf(high, 0) {
			s = high + math.Log1p(math.Exp(min(s, v)-high))
		} else {
			s = high
		}
		dst[i] = s
	}
}

// difference gives the n-th differences along a dimension.
func difference(c call) *tensor.Tensor {
	t, n := c.tensor(0), c.int(1)
	check(t.Dim() >= 1, "diff expects input to be at least one-dimensional")
	check(n >= 0, "order must be non-negative but got %d", n)
	dim := wrapDim(c.int(2), t)
	if n == 0 {
		return must(t.Clone(tensor.PreserveFormat))
	}
	parts := []*tensor.Tensor{t}
	if p := c.optionalTensor(3); p != nil {
		parts = append([]*tensor.Tensor{p}, parts...)
	}
	if p := c.optionalTensor(4); p != nil {
		parts = append(parts, p)
	}
	if len(parts) > 1 {
		t = concat(parts, dim)
	}
	for range n {
		size := t.Size(dim)
		if size == 0 {
			break
		}
		later, earlier := must(t.Narrow(dim, 1, size-1)), must(t.Narrow(dim, 0, size-1))
		if t.DType() == tensor.Bool {
			t = ne.on(later, earlier)
		} else {
			t = sub.on(later, earlier)
		}
	}
	return t
}

var scanFamily = []definition{
	giving("cumsum", func(c call) *tensor.Tensor {
		return sumScanner.along(c.tensor(0), c.int(1), c.dtypeOr(2, sumType(c.tensor(0).DType())))
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.cumulative(c.g(), c.int(1))) }), Tags: ops.AsWritten}).outIterated(),
	giving("cumprod", func(c call) *tensor.Tensor {
		return productScanner.along(c.tensor(0), c.int(1), c.dtypeOr(2, sumType(c.tensor(0).DType())))
	}).outIterated(),
	sameAs("_logcumsumexp", "logcumsumexp"),
	giving("logcumsumexp", func(c call) *tensor.Tensor {
		check(c.tensor(0).DType().IsFloating(), "\"logcumsumexp_out_cpu\" not implemented for '%s'", c.tensor(0).DType().CppName())
		return logSumScanner.along(c.tensor(0), c.int(1), c.tensor(0).DType())
	}).with(ops.Def{Grad: concrete(func(c gradient) {
		g := c.g()
		c.give(0, c.sub(c.logCumulative(g), c.logCumulative(c.neg(g))))
	})}).outIterated(),
	define("cummax", func(c call) { c.give(pair(runningMaximum.along(c.tensor(0), c.int(1)))...) }).with(ops.Def{Grad: concrete(func(c gradient) { chosenGrad(c, c.int(1), true) })}),
	define("cummin", func(c call) { c.give(pair(runningMinimum.along(c.tensor(0), c.int(1)))...) }).with(ops.Def{Grad: concrete(func(c gradient) { chosenGrad(c, c.int(1), true) })}),
	giving("diff", difference),
}

// mapRows calls f for rows of n elements, several at once.
func mapRows[T any](dst, src []T, n int, f func(dst, src []T, n int)) {
	tensor.Parallel(len(src)/n, (rowGrain/n+4)&^3, func(lo, hi int) { f(dst[lo*n:hi*n], src[lo*n:hi*n], n) })
}
