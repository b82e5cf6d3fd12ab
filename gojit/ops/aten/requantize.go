package aten

import (
	"math"

	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// requantization turns the integer sums of a product of quantized tensors into the integers of its
// result. The arithmetic is that of FBGEMM: in float32, the bias in units of the sums, rounding
// half to even before the zero point is added.
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
		perUnit[i] = float32(1/x.Scale) * float32(1/s)
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
	return min(max(math.RoundToEven(float64(v))+r.zero, r.low), r.high)
}

// staticProduct multiplies a quantized tensor by a quantized weight and gives the result under q.
// The channels of x and of the result are in dimension channelDim.
func staticProduct(name string, x, weight, bias *tensor.Tensor, q *tensor.Quantizer, rectified bool, channelDim int, transposed bool, product func(x, weight *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	check(x.DType() == tensor.QUInt8, "%s (fbgemm): Expected activation data type QUInt8 but got %s", name, x.DType().CppName())
	check(!quantizerOf(x).PerChannel(), "%s expects an input that is quantized per tensor", name)
	var sums *tensor.Tensor
	if transposed {
		sums = contiguous(product(to(centered(x), tensor.Float64), to(centered(weight), tensor.Float64)))
	} else {
		sums = exactSums(centered(x), centered(weight), channelDim, product)
	}
	r := newRequantization(x.Quantizer(), quantizerOf(weight), bias, q, x.DType(), rectified)
	channels, inner := sums.Size(channelDim), max(numelOf(sums.Shape()[channelDim+1:]), 1)
	integers := empty(sums.Shape(), tensor.Uint8)
	src, dst := tensor.Data[float64](sums), tensor.Data[uint8](integers)
	tensor.Parallel(len(dst), rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = uint8(r.at(src[i], i/inner%channels))
		}
	})
	return must(tensor.QuantizedOf(integers, q))
}

// exactSums multiplies tensors of small integers and gives the sums as float64. Sums below 2^24 are exact in float32 in any order, and
// products of float32 are twice as fast; where they may be larger, channels are taken in parts. The channels of the weight are in
// dimension 1; where those are not all of x, it multiplies in float64.
func exactSums(x, weight *tensor.Tensor, channelDim int, product func(x, weight *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	const exact = 1 << 24
	channels := weight.Size(1)
	largest := magnitude(x) * rowMagnitude(weight)
	parts := int(largest/exact) + 1
	if largest >= exact && (channels != x.Size(channelDim) || parts > channels) || x.Numel() == 0 {
		return contiguous(to(product(to(x, tensor.Float64), to(weight, tensor.Float64)), tensor.Float64))
	}
	if largest < exact {
		return contiguous(to(product(x, weight), tensor.Float64))
	}
	var sums *tensor.Tensor
	for _, part := range [][2]int{{0, channels / 2}, {channels / 2, channels - channels/2}} {
		narrow := func(t *tensor.Tensor, dim int) *tensor.Tensor {
			return contiguous(must(t.Narrow(dim, part[0], part[1])))
		}
		s := exactSums(narrow(x, channelDim), narrow(weight, 1), channelDim, product)
		if sums == nil {
			sums = s
			continue
		}
		into, more := tensor.Data[float64](sums), tensor.Data[float64](s)
		tensor.Parallel(len(into), rowGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				into[i] += more[i]
			}
		})
	}
	return sums
}

// magnitude returns the largest absolute value.
func magnitude(x *tensor.Tensor) float64 {
	largest := float32(0)
	for _, v := range tensor.Data[float32](x) {
		largest = max(largest, v, -v)
	}
	return float64(largest)
}

// rowMagnitude returns the largest sum of absolute values along the first dimension.
func rowMagnitude(weight *tensor.Tensor) float64 {
	data, largest := tensor.Data[float32](weight), 0.0
	row := weight.Numel() / max(weight.Size(0), 1)
	for ; row > 0 && len(data) >= row; data = data[row:] {
		sum := float32(0)
		for _, v := range data[:row] {
			sum += max(v, -v)
		}
		largest = max(largest, float64(sum))
	}
	return largest
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
	return must(tensor.Dequantize(must(tensor.QuantizedOf(must(t.IntegersOf()), &q))))
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
		out := must(tensor.Quantize(to(f(c.withFirst(centered(x))), tensor.Float32), q, x.DType()))
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
		return must(tensor.Quantize(f(c.withFirst(must(tensor.Dequantize(x)))), x.Quantizer(), x.DType()))
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
