package elementwise

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// requantization turns the integer sums of a product of quantized tensors into the integers of its
// result. The arithmetic is that of oneDNN: in float32, the bias in units of the sums, a half
// rounded to the even integer when the zero point has been added.
type requantization struct {
	multipliers []float32 // of each output channel, or one for all
	Bias        []float32 // empty: none
	zero        float64
	Low, High   float64
}

// NewRequantization describes the way from a product of x with the weight to tensors under q.
// Where rectified, what is below zero becomes zero.
func NewRequantization(x, weight *tensor.Quantizer, bias *tensor.Tensor, q *tensor.Quantizer, d tensor.DType, rectified bool) *requantization {
	r := &requantization{zero: float64(q.ZeroPoint)}
	r.Low, r.High = tensor.IntegerRange(d)
	if rectified {
		r.Low = max(r.Low, r.zero)
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
		for i, b := range tensor.Data[float32](Contiguous(To(bias, tensor.Float32))) {
			r.Bias = append(r.Bias, b*perUnit[i%len(perUnit)])
		}
	}
	return r
}

// At gives the integer for a sum in an output channel.
func (r *requantization) At(sum float64, channel int) float64 {
	v := float32(sum)
	if len(r.Bias) > 0 {
		v += r.Bias[channel]
	}
	v *= r.multipliers[channel%len(r.multipliers)]
	return min(max(math.RoundToEven(float64(v+float32(r.zero))), r.Low), r.High)
}

// PerChannel gives the factor of each of n output channels.
func (r *requantization) PerChannel(n int) []float32 {
	if len(r.multipliers) == n {
		return r.multipliers
	}
	return slices.Repeat(r.multipliers, n)
}

// Centered gives the integers of a quantized tensor less their zero points, as float32.
func Centered(t *tensor.Tensor) *tensor.Tensor {
	q := *t.Quantizer()
	if q.Scale = 1; q.PerChannel() {
		q.Scales = make([]float64, len(q.Scales))
		for i := range q.Scales {
			q.Scales[i] = 1
		}
	}
	integers := UnderQuantizer(t.IntegersView(), &q)
	defer integers.Release()
	return Dequantized(integers)
}

// OnCentered makes an operator that commutes with scaling take quantized tensors too: it runs on
// the centered integers, and the result has the scale and zero point of the first argument.
func OnCentered(f func(c define.Call) *tensor.Tensor) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		x := c.Tensor(0)
		if x.Quantizer() == nil {
			return f(c)
		}
		source.Check(!x.Quantizer().PerChannel(), "expected a tensor that is quantized per tensor, but got one quantized per channel")
		q := &tensor.Quantizer{Scale: 1, ZeroPoint: x.Quantizer().ZeroPoint}
		out := Quantized(To(f(c.WithFirst(Centered(x))), tensor.Float32), q, x.DType())
		out.SetQuantizer(x.Quantizer())
		return out
	}
}

// OnReal makes an operator take quantized tensors too: it runs on the numbers that they stand for,
// and the result has the scale and zero point of the first argument.
func OnReal(f func(c define.Call) *tensor.Tensor) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		x := c.Tensor(0)
		if x.Quantizer() == nil {
			return f(c)
		}
		return Quantized(f(c.WithFirst(Dequantized(x))), x.Quantizer(), x.DType())
	}
}

// QuantizedInto makes an operator that may write over dst take quantized tensors too, by OnCentered or OnReal.
func QuantizedInto(on func(f func(c define.Call) *tensor.Tensor) func(c define.Call) *tensor.Tensor, run func(c define.Call, dst *tensor.Tensor) *tensor.Tensor) func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	quantized := on(func(c define.Call) *tensor.Tensor { return run(c, nil) })
	return func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
		if c.Tensor(0).Quantizer() == nil {
			return run(c, dst)
		}
		out := quantized(c)
		if dst == nil {
			return out
		}
		CopyElements(dst, out)
		return dst
	}
}
