package views

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var (
	floatSteps = &elementwise.Counting{Computed: tensor.Float64, Params: 2, Expr: elementwise.StepsFrom}
	// stepsBetween counts from the first number up to half of the steps, and from the last one down after that.
	stepsBetween = &elementwise.Counting{Computed: tensor.Float64, Params: 5, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		i, first, last, step, half, end := x[0], x[1], x[2], x[3], x[4], x[5]
		return b.Select(b.Binary(kernel.Lt, i, half), b.Add(first, b.Mul(step, i)), b.Sub(last, b.Mul(step, b.Sub(end, i))))
	}}
	// vectorSteps is stepsBetween as PyTorch rounds it on one thread.
	vectorSteps = makeVectorSteps()
)

func makeVectorSteps() (table [tensor.NumDTypes]*elementwise.Counting) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8} {
		table[d] = newVectorSteps(d)
	}
	return table
}

// rangeVector is the bytes of the vectors in which PyTorch counts.
const rangeVector = 32

// newVectorSteps makes the first number of a vector by one multiplication and addition, the others as many steps from it. What does not
// fill two vectors is counted number by number: half, end and whole, the numbers in vectors, follow the three others.
func newVectorSteps(d tensor.DType) *elementwise.Counting {
	lanes, computed := float64(rangeVector/d.Size()), tensor.Float64
	if d == tensor.Float32 {
		computed = d
	}
	return &elementwise.Counting{Computed: computed, Params: 6, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
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

// steps makes n numbers from start on.
func (o MakeLike) steps(n int, integral bool, start, step tensor.Scalar) *tensor.Tensor {
	if o.device.Type == tensor.Meta {
		return o.Empty([]int{n})
	}
	if integral || o.Dtype.IsIntegral() {
		return elementwise.IntegerSteps.Fill(n, o.Dtype, tensor.Int(start.Int64()), tensor.Int(step.Int64()))
	}
	return floatSteps.Fill(n, o.Dtype, tensor.Float(start.Float64()), tensor.Float(step.Float64()))
}

// linspace makes n numbers from start to end.
func linspace(start, end tensor.Scalar, n int, o MakeLike) *tensor.Tensor {
	source.Check(n >= 0, "number of steps must be non-negative")
	if start.Kind == tensor.ComplexScalar || end.Kind == tensor.ComplexScalar {
		o.Dtype = o.Dtype.ToComplex()
	}
	if o.Dtype.IsIntegral() && n > 0 {
		elementwise.MustFit(start, o.Dtype)
		elementwise.MustFit(end, o.Dtype)
		start, end = tensor.Int(start.Int64()), tensor.Int(end.Int64())
	}
	if n == 1 {
		return source.Must(tensor.Full([]int{1}, start, o.Dtype))
	}
	first, last := start.Float64(), end.Float64()
	step := (last - first) / float64(n-1)
	if o.Dtype == tensor.Float32 {
		step = float64((float32(last) - float32(first)) / float32(n-1))
	} else if o.Dtype.IsFloating() {
		step = tensor.FromScalar(tensor.Float(step), o.Dtype).At().Float64()
	}
	params := []tensor.Scalar{tensor.Float(first), tensor.Float(last), tensor.Float(step), tensor.Int(int64(n / 2)), tensor.Int(int64(n - 1))}
	if q := vectorSteps[o.Dtype]; q != nil && n < 1<<24 { // float32 counts so far
		return q.Fill(n, o.Dtype, append(params, tensor.Int(int64(n-n%(2*rangeVector/o.Dtype.Size()))))...)
	}
	return stepsBetween.Fill(n, o.Dtype, params...)
}
