package reduce

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// scanner gives running results along a dimension. The functions for a type take any number of rows of
// n elements; a type without one is computed with in float64, or in what accumulator says.
type scanner struct {
	join      func(b elementwise.Builder, so, x elementwise.Element) elementwise.Element // for columns that are walked side by side
	start     float64                                                                    // what join leaves as it is
	turned    bool                                                                       // rows are turned into columns, where there are many: an element is more work than two copies
	ints      func(dst, src []int64, n int)
	singles   func(dst, src []float32, n int)
	floats    func(dst, src []float64, n int)
	pairs     func(dst, src []complex64, n int)
	complexes func(dst, src []complex128, n int)
	programs  elementwise.TypePrograms
}

var (
	SumScanner     = &scanner{join: func(b elementwise.Builder, so, x elementwise.Element) elementwise.Element { return b.Add(so, x) }, ints: runningSums[int64, int64], singles: runningSums[float32, float64], floats: runningSums[float64, float64], pairs: runningComplexSums[complex64], complexes: runningComplexSums[complex128]}
	productScanner = &scanner{join: func(b elementwise.Builder, so, x elementwise.Element) elementwise.Element { return b.Mul(so, x) }, start: 1, ints: runningProducts[int64, int64], singles: runningProducts[float32, float64], floats: runningProducts[float64, float64], pairs: runningComplexProducts[complex64], complexes: runningComplexProducts[complex128]}
	LogSumScanner  = &scanner{join: func(b elementwise.Builder, so, x elementwise.Element) elementwise.Element {
		return elementwise.LogAddExp(b, []elementwise.Element{so, x}, kernel.Exp, 1)
	}, start: math.Inf(-1), turned: true, floats: func(dst, src []float64, n int) {
		for i := 0; i < len(src); i += n {
			runningLogSum(dst[i:i+n], src[i:i+n])
		}
	}}
)

// Along gives a tensor of t's shape and of type result.
func (s *scanner) Along(t *tensor.Tensor, dim int, result tensor.DType) *tensor.Tensor {
	dim = define.WrapDim(dim, t)
	work := elementwise.To(t, result)
	defer define.ForgetMade(t, work)
	if t.Numel() == 0 || t.Dim() == 0 {
		return source.Must(work.Clone(tensor.ContiguousFormat))
	}
	if work.OnDevice() {
		return s.onDevice(work, dim)
	}
	if c, ok := columnsOf(work, dim, dim+1); ok {
		return s.columns(c)
	}
	if n := t.Size(dim); s.turned && n > 1 && t.Numel()/n >= MinColumns {
		turned := elementwise.Contiguous(source.Must(work.Transpose(dim, 0)))
		defer define.ForgetMade(work, turned)
		if c, ok := columnsOf(turned, 0, 1); ok {
			return elementwise.OwnContiguous(elementwise.OwnTransposed(s.columns(c), dim, 0))
		}
	}
	acc := Accumulator(result)
	switch {
	case acc == tensor.Float32 && (s.singles == nil || result != acc):
		acc = tensor.Float64
	case result == tensor.Complex64:
		acc = result
	}
	rows := elementwise.To(source.Must(work.Transpose(dim, t.Dim()-1)), acc)
	defer define.ForgetMade(work, rows)
	lined := elementwise.Contiguous(rows)
	defer define.ForgetMade(rows, lined)
	out, n := define.Empty(lined.Shape(), acc), t.Size(dim)
	switch acc {
	case tensor.Int64:
		mapRows(tensor.Data[int64](out), tensor.Data[int64](lined), n, s.ints)
	case tensor.Float32:
		mapRows(tensor.Data[float32](out), tensor.Data[float32](lined), n, s.singles)
	case tensor.Float64:
		mapRows(tensor.Data[float64](out), tensor.Data[float64](lined), n, s.floats)
	case tensor.Complex64:
		mapRows(tensor.Data[complex64](out), tensor.Data[complex64](lined), n, s.pairs)
	default:
		mapRows(tensor.Data[complex128](out), tensor.Data[complex128](lined), n, s.complexes)
	}
	return elementwise.OwnTo(elementwise.OwnContiguous(elementwise.OwnTransposed(out, dim, t.Dim()-1)), result)
}

// program returns the program for one row of many columns: it combines the row with the results so far.
func (s *scanner) program(d, held tensor.DType) *launch.Program {
	return s.programs.Of(d, func(b *kernel.Builder) {
		so, x := b.Input(held, held), b.Input(d, kernel.ComputeType(d))
		v := s.join(b, so, b.Convert(x, held))
		b.Output(v, held)
		b.Output(v, d)
	})
}

// ScannedIn is the type that columns are scanned in.
func ScannedIn(d tensor.DType) tensor.DType {
	switch {
	case d.IsComplex():
		return tensor.Complex128
	case d.IsFloating():
		return tensor.Float64
	}
	return tensor.Int64
}

// columns scans the rows of each block.
func (s *scanner) columns(c columns) *tensor.Tensor {
	d := c.tensor.DType()
	held := ScannedIn(d)
	out, last := define.Empty(c.tensor.Shape(), d), source.Must(tensor.Full([]int{c.blocks * c.n}, tensor.Float(s.start), held))
	defer last.Release()
	p := s.program(d, held)
	c.each(ColumnsAtOnce, func(block, from, at, m int) {
		so := SameRow(last, at)
		p.Rows(c.rows, m, []launch.Row{so, c.rowsFrom(out, block, from), so, c.rowsFrom(c.tensor, block, from)}, nil)
	})
	return out
}

type scannable interface {
	float32 | float64 | int64
}

// scanRows scans rows of n elements, four at once: an addition of floats waits for the one before it. four continues a block of n elements of each of four rows,
// which begin stride elements apart, from what was so far, and returns what is then; one continues a block of one row. They are functions of their own, so
// that all they count with is in registers.
func scanRows[T, A any](dst, src []T, n int, start A, four func(dst, src []T, n, stride int, a, b, c, d A) (A, A, A, A), one func(dst, src []T, a A) A) {
	at := 0
	for ; at+4*n <= len(src); at += 4 * n {
		a, b, c, d := start, start, start, start
		for lo := 0; lo < n; lo += define.LookEvery {
			hi := define.BlockEnd(lo, n)
			a, b, c, d = four(dst[at+lo:], src[at+lo:], hi-lo, n, a, b, c, d)
		}
	}
	for ; at < len(src); at += n {
		a := start
		for lo := 0; lo < n; lo += define.LookEvery {
			hi := define.BlockEnd(lo, n)
			a = one(dst[at+lo:at+hi], src[at+lo:at+hi], a)
		}
	}
}

// fourRows returns n elements of each of four rows that begin stride elements apart.
func fourRows[T any](data []T, n, stride int) (a, b, c, d []T) {
	return data[:n], data[stride:][:n], data[2*stride:][:n], data[3*stride:][:n]
}

func runningSums[T, A scannable](dst, src []T, n int) {
	scanRows(dst, src, n, 0, fourSums[T, A], oneSum[T, A])
}

//go:noinline
func fourSums[T, A scannable](dst, src []T, n, stride int, a, b, c, d A) (A, A, A, A) {
	x0, x1, x2, x3 := fourRows(src, n, stride)
	y0, y1, y2, y3 := fourRows(dst, n, stride)
	for i := range x0 {
		a, b, c, d = a+A(x0[i]), b+A(x1[i]), c+A(x2[i]), d+A(x3[i])
		y0[i], y1[i], y2[i], y3[i] = T(a), T(b), T(c), T(d)
	}
	return a, b, c, d
}

func oneSum[T, A scannable](dst, src []T, a A) A {
	dst = dst[:len(src)]
	for i, v := range src {
		a += A(v)
		dst[i] = T(a)
	}
	return a
}

func runningProducts[T, A scannable](dst, src []T, n int) {
	scanRows(dst, src, n, 1, fourProducts[T, A], oneProduct[T, A])
}

//go:noinline
func fourProducts[T, A scannable](dst, src []T, n, stride int, a, b, c, d A) (A, A, A, A) {
	x0, x1, x2, x3 := fourRows(src, n, stride)
	y0, y1, y2, y3 := fourRows(dst, n, stride)
	for i := range x0 {
		a, b, c, d = a*A(x0[i]), b*A(x1[i]), c*A(x2[i]), d*A(x3[i])
		y0[i], y1[i], y2[i], y3[i] = T(a), T(b), T(c), T(d)
	}
	return a, b, c, d
}

func oneProduct[T, A scannable](dst, src []T, a A) A {
	dst = dst[:len(src)]
	for i, v := range src {
		a *= A(v)
		dst[i] = T(a)
	}
	return a
}

func runningComplexSums[T complex64 | complex128](dst, src []T, n int) {
	scanRows(dst, src, n, 0, fourComplexSums[T], oneComplexSum[T])
}

//go:noinline
func fourComplexSums[T complex64 | complex128](dst, src []T, n, stride int, a, b, c, d complex128) (complex128, complex128, complex128, complex128) {
	x0, x1, x2, x3 := fourRows(src, n, stride)
	y0, y1, y2, y3 := fourRows(dst, n, stride)
	for i := range x0 {
		a, b, c, d = a+complex128(x0[i]), b+complex128(x1[i]), c+complex128(x2[i]), d+complex128(x3[i])
		y0[i], y1[i], y2[i], y3[i] = T(a), T(b), T(c), T(d)
	}
	return a, b, c, d
}

func oneComplexSum[T complex64 | complex128](dst, src []T, a complex128) complex128 {
	dst = dst[:len(src)]
	for i, v := range src {
		a += complex128(v)
		dst[i] = T(a)
	}
	return a
}

func runningComplexProducts[T complex64 | complex128](dst, src []T, n int) {
	scanRows(dst, src, n, 1, fourComplexProducts[T], oneComplexProduct[T])
}

//go:noinline
func fourComplexProducts[T complex64 | complex128](dst, src []T, n, stride int, a, b, c, d complex128) (complex128, complex128, complex128, complex128) {
	x0, x1, x2, x3 := fourRows(src, n, stride)
	y0, y1, y2, y3 := fourRows(dst, n, stride)
	for i := range x0 {
		a, b, c, d = a*complex128(x0[i]), b*complex128(x1[i]), c*complex128(x2[i]), d*complex128(x3[i])
		y0[i], y1[i], y2[i], y3[i] = T(a), T(b), T(c), T(d)
	}
	return a, b, c, d
}

func oneComplexProduct[T complex64 | complex128](dst, src []T, a complex128) complex128 {
	dst = dst[:len(src)]
	for i, v := range src {
		a *= complex128(v)
		dst[i] = T(a)
	}
	return a
}

func runningLogSum(dst, src []float64) {
	s := math.Inf(-1)
	for i, v := range src {
		if i%define.LookEvery == define.LookEvery-1 {
			parallel.Look()
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

// checkDifference fails where difference would.
func checkDifference(c define.Call) {
	t := c.Tensor(0)
	source.Check(t.Dim() >= 1, "diff expects input to be at least one-dimensional")
	source.Check(c.Int(1) >= 0, "order must be non-negative but got %d", c.Int(1))
	dim := define.WrapDim(c.Int(2), t)
	for _, more := range []*tensor.Tensor{c.OptionalTensor(3), c.OptionalTensor(4)} {
		if more == nil {
			continue
		}
		source.Check(more.Dim() == t.Dim(), "diff expects prepend or append to be the same dimension as input")
		for d := range t.Dim() {
			source.Check(d == dim || more.Size(d) == t.Size(d), "diff expects the shape of tensor to prepend or append to match that of input except along the differencing dimension; "+
				"input.size(%d) = %d, but got tensor.size(%d) = %d", d, t.Size(d), d, more.Size(d))
		}
	}
}

// difference gives the n-th differences along a dimension.
func difference(c define.Call) *tensor.Tensor {
	t, n := c.Tensor(0), c.Int(1)
	dim := define.WrapDim(c.Int(2), t)
	if n == 0 {
		return source.Must(t.Clone(tensor.PreserveFormat))
	}
	parts := []*tensor.Tensor{t}
	if p := c.OptionalTensor(3); p != nil {
		parts = append([]*tensor.Tensor{p}, parts...)
	}
	if p := c.OptionalTensor(4); p != nil {
		parts = append(parts, p)
	}
	if len(parts) > 1 {
		t = elementwise.Concat(parts, dim)
	}
	for range n {
		size := t.Size(dim)
		if size == 0 {
			break
		}
		later, earlier := source.Must(t.Narrow(dim, 1, size-1)), source.Must(t.Narrow(dim, 0, size-1))
		if t.DType() == tensor.Bool {
			t = elementwise.Ne.On(later, earlier)
		} else {
			t = elementwise.Sub.On(later, earlier)
		}
	}
	return t
}

// runningType is the type that running sums and products are computed in.
func runningType(name string, c define.Call) tensor.DType {
	d := c.DtypeOr(2, SumType(c.Tensor(0).DType()))
	if d == tensor.Bool {
		elementwise.NotImplemented(name+"_out_cpu", d)
	}
	return d
}

var ScanFamily = []define.Definition{
	define.Giving("cumsum", func(c define.Call) *tensor.Tensor {
		return SumScanner.Along(c.Tensor(0), c.Int(1), runningType("cumsum", c))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, cumulative(c, c.G(), c.Int(1))) }), Out: ops.OutComputed, Tags: ops.AsWritten}).OutIterated(),
	define.Giving("cumprod", func(c define.Call) *tensor.Tensor {
		return productScanner.Along(c.Tensor(0), c.Int(1), runningType("cumprod", c))
	}).With(ops.Def{Out: ops.OutComputed}).OutIterated(),
	define.SameAs("_logcumsumexp", "logcumsumexp"),
	define.Giving("logcumsumexp", func(c define.Call) *tensor.Tensor {
		source.Check(c.Tensor(0).DType().IsFloating(), "\"logcumsumexp_out_cpu\" not implemented for '%s'", c.Tensor(0).DType().CppName())
		return LogSumScanner.Along(c.Tensor(0), c.Int(1), c.Tensor(0).DType())
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		g := c.G()
		c.Give(0, c.Sub(logCumulative(c, g), logCumulative(c, c.Neg(g))))
	})}).OutIterated(),
	define.Giving("diff", difference).Checked(checkDifference),
}

// mapRows calls f for rows of n elements, several at once.
func mapRows[T any](dst, src []T, n int, f func(dst, src []T, n int)) {
	parallel.For(len(src)/n, (define.RowGrain/n+4)&^3, func(lo, hi int) { f(dst[lo*n:hi*n], src[lo*n:hi*n], n) })
}
