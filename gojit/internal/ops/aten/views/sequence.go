package aten

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// counting is an expression of the number of each element. Its programs are kept by the type they give.
type counting struct {
	computed tensor.DType // of the number and the parameters
	params   int
	expr     expression
	narrow   typePrograms // for numbers of 32 bits
	wide     typePrograms
}

var (
	integerSteps = &counting{computed: tensor.Int64, params: 2, expr: stepsFrom}
	floatSteps   = &counting{computed: tensor.Float64, params: 2, expr: stepsFrom}
	// stepsBetween counts from the first number up to half of the steps, and from the last one down after that.
	stepsBetween = &counting{computed: tensor.Float64, params: 5, expr: func(b builder, x ...element) element {
		i, first, last, step, half, end := x[0], x[1], x[2], x[3], x[4], x[5]
		return b.Select(b.Binary(kernel.Lt, i, half), b.Add(first, b.Mul(step, i)), b.Sub(last, b.Mul(step, b.Sub(end, i))))
	}}
	// vectorSteps is stepsBetween as PyTorch rounds it on one thread.
	vectorSteps = makeVectorSteps()
)

func makeVectorSteps() (table [tensor.NumDTypes]*counting) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8} {
		table[d] = newVectorSteps(d)
	}
	return table
}

// rangeVector is the bytes of the vectors in which PyTorch counts.
const rangeVector = 32

// newVectorSteps makes the first number of a vector by one multiplication and addition, the others as many steps from it. What does not
// fill two vectors is counted number by number: half, end and whole, the numbers in vectors, follow the three others.
func newVectorSteps(d tensor.DType) *counting {
	lanes, computed := float64(rangeVector/d.Size()), tensor.Float64
	if d == tensor.Float32 {
		computed = d
	}
	return &counting{computed: computed, params: 6, expr: func(b builder, x ...element) element {
		i, first, last, step, half, end, whole := x[0], x[1], x[2], x[3], x[4], x[5], x[6]
		inVector := b.Binary(kernel.Lt, i, whole)
		start := b.Select(inVector, b.Mul(b.Unary(kernel.Floor, b.Mul(i, b.Number(i, 1/lanes))), b.Number(i, lanes)), i)
		up, down := b.Fma(step, start, first), b.Fma(b.Neg(step), b.Sub(end, start), last)
		base := b.Select(b.Binary(kernel.Lt, start, half), up, down)
		if d.IsIntegral() {
			base = b.Unary(kernel.Trunc, base)
		}
		return b.Select(inVector, b.Add(base, b.Mul(step, b.Sub(i, start))), base)
	}}
}

func stepsFrom(b builder, x ...element) element { return b.Add(x[1], b.Mul(x[0], x[2])) }

// fill makes n elements of a type.
func (q *counting) fill(n int, d tensor.DType, params ...tensor.Scalar) *tensor.Tensor {
	out := empty([]int{n}, d)
	number, programs := tensor.Int64, &q.wide
	if n <= math.MaxInt32 {
		number, programs = tensor.Int32, &q.narrow
	}
	p := programs.of(d, func(b *kernel.Builder) {
		x := []element{b.Convert(b.Iota(number), q.computed)}
		for range q.params {
			x = append(x, b.Param(q.computed))
		}
		b.Output(b.Convert(q.expr(b, x...), kernel.ComputeType(d)), d)
	})
	p.Run([]*tensor.Tensor{out}, params)
	return out
}

// sequence counts from 0 to n-1.
func sequence(n int) *tensor.Tensor {
	return integerSteps.fill(n, tensor.Int64, tensor.Int(0), tensor.Int(1))
}

// steps makes n numbers from start on.
func (o makeLike) steps(n int, integral bool, start, step tensor.Scalar) *tensor.Tensor {
	if o.device.Type == tensor.Meta {
		return o.empty([]int{n})
	}
	if integral || o.dtype.IsIntegral() {
		return integerSteps.fill(n, o.dtype, tensor.Int(start.Int64()), tensor.Int(step.Int64()))
	}
	return floatSteps.fill(n, o.dtype, tensor.Float(start.Float64()), tensor.Float(step.Float64()))
}

// linspace makes n numbers from start to end.
func linspace(start, end tensor.Scalar, n int, o makeLike) *tensor.Tensor {
	check(n >= 0, "number of steps must be non-negative")
	if start.Kind == tensor.ComplexScalar || end.Kind == tensor.ComplexScalar {
		o.dtype = o.dtype.ToComplex()
	}
	if o.dtype.IsIntegral() && n > 0 {
		mustFit(start, o.dtype)
		mustFit(end, o.dtype)
		start, end = tensor.Int(start.Int64()), tensor.Int(end.Int64())
	}
	if n == 1 {
		return must(tensor.Full([]int{1}, start, o.dtype))
	}
	first, last := start.Float64(), end.Float64()
	step := (last - first) / float64(n-1)
	if o.dtype == tensor.Float32 {
		step = float64((float32(last) - float32(first)) / float32(n-1))
	} else if o.dtype.IsFloating() {
		step = tensor.FromScalar(tensor.Float(step), o.dtype).At().Float64()
	}
	params := []tensor.Scalar{tensor.Float(first), tensor.Float(last), tensor.Float(step), tensor.Int(int64(n / 2)), tensor.Int(int64(n - 1))}
	if q := vectorSteps[o.dtype]; q != nil && n < 1<<24 { // float32 counts so far
		return q.fill(n, o.dtype, append(params, tensor.Int(int64(n-n%(2*rangeVector/o.dtype.Size()))))...)
	}
	return stepsBetween.fill(n, o.dtype, params...)
}
