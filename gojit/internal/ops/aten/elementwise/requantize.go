package aten

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// requantization turns the integer sums of a product of quantized tensors into the integers of its
// result. The arithmetic is that of oneDNN: in float32, the bias in units of the sums, a half
// rounded to the even integer when the zero point has been added.
type requantization struct {
	multipliers []float32 // of each output channel, or one for all
	bias        []float32 // empty: none
	zero        float64
	low, high   float64
}

// newRequantization describes the way from a product of x with the weight to tensors under q.
// Where rectified, what is below zero becomes zero.
func newRequantization(x, weight *tensor.Quantizer, bias *tensor.Tensor, q *tensor.Quantizer, d tensor.DType, rectified bool) *requantization {
	r := &requantization{zero: float64(q.ZeroPoint)}
	r.low, r.high = tensor.IntegerRange(d)
	if rectified {
		r.low = max(r.low, r.zero)
	}
	scales := weight.Scales
	if !weight.PerChannel() {
		scales = []float64{weight.Scale}
	}
	// The factors are formed from reciprocals, each rounded to float32.
	perUnit := make([]float32, len(scales))
	for i, s := range scales {
		inverse := float32(1 / s)
		if weight.PerChannel() {
			inverse = 1 / float32(s)
		}
		perUnit[i] = float32(1/x.Scale) * inverse
		r.multipliers = append(r.multipliers, float32(1/q.Scale)/perUnit[i])
	}
	if bias != nil {
		for i, b := range tensor.Data[float32](contiguous(to(bias, tensor.Float32))) {
			r.bias = append(r.bias, b*perUnit[i%len(perUnit)])
		}
	}
	return r
}

// at gives the integer for a sum in an output channel.
func (r *requantization) at(sum float64, channel int) float64 {
	v := float32(sum)
	if len(r.bias) > 0 {
		v += r.bias[channel]
	}
	v *= r.multipliers[channel%len(r.multipliers)]
	return min(max(math.RoundToEven(float64(v+float32(r.zero))), r.low), r.high)
}

// perChannel gives the factor of each of n output channels.
func (r *requantization) perChannel(n int) []float32 {
	if len(r.multipliers) == n {
		return r.multipliers
	}
	return slices.Repeat(r.multipliers, n)
}

// transposed convolves a quantized image with a transposed convolution: in float64, where the sums are exact.
func (p *packedConv) transposed(name string, x *tensor.Tensor, q *tensor.Quantizer) *tensor.Tensor {
	from := checkActivation(name, x)
	sums := contiguous(convolution(to(centered(x), tensor.Float64), to(centered(p.weight), tensor.Float64), nil, p.args))
	r := newRequantization(from, quantizerOf(p.weight), p.bias, q, x.DType(), false)
	channels, inner := sums.Size(1), max(numelOf(sums.Shape()[2:]), 1)
	integers := empty(sums.Shape(), tensor.Uint8)
	src, dst := tensor.Data[float64](sums), tensor.Data[uint8](integers)
	tensor.Parallel(len(dst), rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = uint8(r.at(src[i], i/inner%channels))
		}
	})
	return underQuantizer(integers, q)
}

// centered gives the integers of a quantized tensor less their zero points, as float32.
func centered(t *tensor.Tensor) *tensor.Tensor {
	q := *t.Quantizer()
	if q.Scale = 1; q.PerChannel() {
		q.Scales = make([]float64, len(q.Scales))
		for i := range q.Scales {
			q.Scales[i] = 1
		}
	}
	integers := underQuantizer(t.IntegersView(), &q)
	defer integers.Release()
	return dequantized(integers)
}

// onCentered makes an operator that commutes with scaling take quantized tensors too: it runs on
// the centered integers, and the result has the scale and zero point of the first argument.
func onCentered(f func(c call) *tensor.Tensor) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		x := c.tensor(0)
		if x.Quantizer() == nil {
			return f(c)
		}
		check(!x.Quantizer().PerChannel(), "expected a tensor that is quantized per tensor, but got one quantized per channel")
		q := &tensor.Quantizer{Scale: 1, ZeroPoint: x.Quantizer().ZeroPoint}
		out := quantized(to(f(c.withFirst(centered(x))), tensor.Float32), q, x.DType())
		out.SetQuantizer(x.Quantizer())
		return out
	}
}

// onReal makes an operator take quantized tensors too: it runs on the numbers that they stand for,
// and the result has the scale and zero point of the first argument.
func onReal(f func(c call) *tensor.Tensor) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		x := c.tensor(0)
		if x.Quantizer() == nil {
			return f(c)
		}
		return quantized(f(c.withFirst(dequantized(x))), x.Quantizer(), x.DType())
	}
}

// quantizedInto makes an operator that may write over dst take quantized tensors too, by onCentered or onReal.
func quantizedInto(on func(f func(c call) *tensor.Tensor) func(c call) *tensor.Tensor, run func(c call, dst *tensor.Tensor) *tensor.Tensor) func(c call, dst *tensor.Tensor) *tensor.Tensor {
	quantized := on(func(c call) *tensor.Tensor { return run(c, nil) })
	return func(c call, dst *tensor.Tensor) *tensor.Tensor {
		if c.tensor(0).Quantizer() == nil {
			return run(c, dst)
		}
		out := quantized(c)
		if dst == nil {
			return out
		}
		succeed(tensor.Copy(dst, out))
		return dst
	}
}

// withFirst is the call with another tensor as first argument.
func (c call) withFirst(t *tensor.Tensor) call {
	args := append([]value.Value{value.OfTensor(t)}, c.args[1:]...)
	return call{args, c.out}
}
