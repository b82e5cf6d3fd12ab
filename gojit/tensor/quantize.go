package tensor

import (
	"math"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// PerChannel reports whether each index of one dimension has its own scale and zero point.
func (q *Quantizer) PerChannel() bool { return q.Scales != nil }

// needsOneScale fails for a tensor with scales along a dimension, which a view of other strides could not name.
func (t *Tensor) needsOneScale() error {
	if t.quantizer != nil && t.quantizer.PerChannel() {
		return runtimeError("Setting strides is possible only on uniformly quantized tensor")
	}
	return nil
}

// selected is what reads the elements of t at one index of a dimension. It fails where that has a zero point between integers, or a view has given the
// dimension other indices than there are scales.
func (q *Quantizer) selected(t *Tensor, dim, index int) (*Quantizer, error) {
	if !q.PerChannel() {
		return q, nil
	}
	if dim == q.Axis {
		if _, _, err := q.layout(t); err != nil {
			return nil, err
		}
		if q.FloatZeros != nil {
			return nil, runtimeError("an index of dimension %d has the zero point %v, which is no integer: dequantize the tensor first", dim, q.FloatZeros[index])
		}
		return q.channel(index), nil
	}
	if dim < q.Axis {
		return q.moved(-1).single(), nil
	}
	return q.single(), nil
}

// sliced is what reads the n indices start, start+step, ... of a dimension of t. It fails where a view has given the dimension other indices than there are scales.
func (q *Quantizer) sliced(t *Tensor, dim, start, step, n int) (*Quantizer, error) {
	if !q.PerChannel() {
		return q, nil
	}
	if dim != q.Axis {
		return q.single(), nil
	}
	if _, _, err := q.layout(t); err != nil {
		return nil, err
	}
	made := &Quantizer{Axis: dim, Scales: make([]float64, 0, n)}
	for i := start; len(made.Scales) < n; i += step {
		made.Scales = append(made.Scales, q.Scales[i])
		if q.FloatZeros != nil {
			made.FloatZeros = append(made.FloatZeros, q.FloatZeros[i])
		} else {
			made.ZeroPoints = append(made.ZeroPoints, q.ZeroPoints[i])
		}
	}
	return made.single(), nil
}

// single is a quantizer with one scale where the only scale is that of all elements.
func (q *Quantizer) single() *Quantizer {
	if len(q.Scales) != 1 || q.FloatZeros != nil {
		return q
	}
	return q.channel(0)
}

// channel is what reads the elements at one index of the axis: a quantizer with one scale, and with one of FloatZeros where zero points lie between integers.
func (q *Quantizer) channel(index int) *Quantizer {
	if q.FloatZeros != nil {
		return &Quantizer{Scale: q.Scales[index], FloatZeros: q.FloatZeros[index : index+1]}
	}
	return &Quantizer{Scale: q.Scales[index], ZeroPoint: q.ZeroPoints[index]}
}

// forElement is what reads the element at an index of a tensor, or the only element.
func (q *Quantizer) forElement(index ...int) *Quantizer {
	if q == nil || !q.PerChannel() {
		return q
	}
	at := 0
	if q.Axis < len(index) {
		at = index[q.Axis]
	}
	source.Check(at < len(q.Scales), "expected one scale and zero point for each index of dimension %d, but got %d and index %d", q.Axis, len(q.Scales), at)
	return q.channel(at)
}

// moved is a quantizer whose axis stands a dimension further on, or before.
func (q *Quantizer) moved(by int) *Quantizer {
	made := *q
	made.Axis += by
	return &made
}

// quantizedInUse is set for good when the first tensor gets a quantizer.
var quantizedInUse atomic.Bool

// QuantizedInUse reports whether there ever was a quantized tensor.
func QuantizedInUse() bool { return quantizedInUse.Load() }

// Scheme is the name of how the integers are read.
func (q *Quantizer) Scheme() string {
	switch {
	case q.FloatZeros != nil:
		return "per_channel_affine_float_qparams"
	case q.PerChannel():
		return "per_channel_affine"
	}
	return "per_tensor_affine"
}

// floatScales are the scales in single precision, as they are where zero points are.
func (q *Quantizer) floatScales() []float32 {
	made := make([]float32, len(q.Scales))
	for i, s := range q.Scales {
		made[i] = float32(s)
	}
	return made
}

// ChannelTensors gives scales and zero points of a tensor with several: Float64 and Int64, or both Float32 where zero points lie between integers.
func (q *Quantizer) ChannelTensors() (scales, zeros *Tensor, err error) {
	if q.FloatZeros != nil {
		if scales, err = FromSlice(q.floatScales(), len(q.Scales)); err == nil {
			zeros, err = FromSlice(append([]float32{}, q.FloatZeros...), len(q.FloatZeros))
		}
		return scales, zeros, err
	}
	if scales, err = FromSlice(append([]float64{}, q.Scales...), len(q.Scales)); err == nil {
		zeros, err = FromSlice(append([]int64{}, q.ZeroPoints...), len(q.ZeroPoints))
	}
	return scales, zeros, err
}

// FitsChannels reports whether each of n indices has a scale and a zero point.
func (q *Quantizer) FitsChannels(n int) bool {
	return len(q.Scales) == n && len(q.ZeroPoints)+len(q.FloatZeros) == n
}

// at returns scale and zero point of an index along the axis.
func (q *Quantizer) at(channel int) (scale float64, zero int64) {
	if q.Scales == nil {
		return q.Scale, q.ZeroPoint
	}
	if q.FloatZeros != nil {
		return q.Scales[channel], 0
	}
	return q.Scales[channel], q.ZeroPoints[channel]
}

// IntegerRange returns the smallest and largest integer of a quantized type.
func IntegerRange(d DType) (low, high float64) {
	switch d {
	case QInt8:
		return -128, 127
	case QUInt8:
		return 0, 255
	}
	return math.MinInt32, math.MaxInt32
}

// Quantize stores the elements as integers of type d: round(x/scale) + zero point, within the type's
// range. It fails where the quantizer does not fit the shape.
func Quantize(t *Tensor, q *Quantizer, d DType) (out *Tensor, err error) {
	defer source.Catch(&err)
	if !d.IsQuantized() {
		return nil, runtimeError("quantize only supports quantized types, but got %s", d.CppName())
	}
	if t.dtype != Float32 {
		return nil, runtimeError("Quantize only works on Float Tensor, got %s", t.dtype.CppName())
	}
	if t, err = t.Contiguous(); err != nil {
		return nil, err
	}
	if out, err = Empty(t.shape, d); err != nil {
		return nil, err
	}
	out.SetQuantizer(q)
	inner, channels, err := q.layout(t)
	if err != nil {
		return nil, err
	}
	low, high := IntegerRange(d)
	var watch parallel.Watch
	for i, x := range Data[float32](t) {
		watch.Did(1)
		scale, zero := q.at(i / inner % channels)
		steps := x * (1 / float32(scale))
		if q.FloatZeros != nil {
			steps += q.FloatZeros[i/inner%channels]
		}
		v := math.RoundToEven(float64(steps)) + float64(zero)
		storeInteger(out, i, int64(min(max(v, low), high)))
	}
	return out, nil
}

// layout returns how many elements lie between indices of the axis, and their number.
func (q *Quantizer) layout(t *Tensor) (inner, channels int, err error) {
	if q.Scales == nil {
		return max(t.numel, 1), 1, nil
	}
	if q.Axis < 0 || q.Axis >= len(t.shape) || !q.FitsChannels(t.shape[q.Axis]) {
		return 0, 0, runtimeError("expected one scale and zero point for each index of dimension %d of a tensor of shape %s, but got %d and %d",
			q.Axis, FormatShape(t.shape), len(q.Scales), len(q.ZeroPoints)+len(q.FloatZeros))
	}
	inner = 1
	for _, n := range t.shape[q.Axis+1:] {
		inner *= n
	}
	return max(inner, 1), max(len(q.Scales), 1), nil
}

func storeInteger(t *Tensor, i int, v int64) {
	switch t.dtype {
	case QInt8:
		Data[int8](t)[i] = int8(v)
	case QUInt8:
		Data[uint8](t)[i] = uint8(v)
	default:
		Data[int32](t)[i] = int32(v)
	}
}

// Dequantize gives the real numbers that the integers of a quantized tensor stand for.
func Dequantize(t *Tensor) (*Tensor, error) {
	if !t.dtype.IsQuantized() || t.quantizer == nil {
		return t.To(Float32)
	}
	integers, err := t.IntegersOf()
	if err != nil {
		return nil, err
	}
	inner, channels, err := t.quantizer.layout(t)
	if err != nil {
		return nil, err
	}
	out, err := Empty(t.shape, Float32)
	if err != nil {
		return nil, err
	}
	switch integers.dtype {
	case Uint8:
		dequantize[uint8](t.quantizer, integers, out, inner, channels)
	case Int8:
		dequantize[int8](t.quantizer, integers, out, inner, channels)
	default:
		dequantize[int32](t.quantizer, integers, out, inner, channels)
	}
	return out, nil
}

// dequantize writes the numbers of integers; runs of inner have the scale of one of the channels.
func dequantize[T uint8 | int8 | int32](q *Quantizer, integers, out *Tensor, inner, channels int) {
	from, to := Data[T](integers), Data[float32](out)
	for start := 0; start < len(from); start += inner {
		scale, zero := q.at(start / inner % channels)
		factor, end := float32(scale), min(start+inner, len(from))
		if q.FloatZeros != nil {
			between := q.FloatZeros[start/inner%channels]
			for i, v := range from[start:end] {
				to[start+i] = (float32(v) - between) * factor
			}
			continue
		}
		for i, v := range from[start:end] {
			to[start+i] = float32(int64(v)-zero) * factor
		}
	}
}

// IntegersOf copies the stored integers of a quantized tensor, contiguous.
func (t *Tensor) IntegersOf() (*Tensor, error) { return t.IntegersView().Clone(ContiguousFormat) }

// IntegersView gives the stored integers of a quantized tensor. It shares their memory.
func (t *Tensor) IntegersView() *Tensor {
	v := t.Alias()
	v.dtype, v.quantizer = storedAs(t.dtype), nil
	return v
}

// QuantizedOf gives a tensor whose integers, of type Uint8, Int8 or Int32, are read under q. It
// shares their memory and fails for other types and where q does not fit the shape.
func QuantizedOf(integers *Tensor, q *Quantizer) (*Tensor, error) {
	d, ok := map[DType]DType{Uint8: QUInt8, Int8: QInt8, Int32: QInt32}[integers.dtype]
	if !ok {
		return nil, runtimeError("expected integers of type Byte, Char or Int, but got %s", integers.dtype.CppName())
	}
	if _, _, err := q.layout(integers); err != nil {
		return nil, err
	}
	t := integers.Alias()
	t.dtype = d
	t.SetQuantizer(q)
	return t, nil
}

// SetQuantizer says how the integers of a quantized tensor are read.
func (t *Tensor) SetQuantizer(q *Quantizer) {
	t.quantizer = q
	quantizedInUse.Store(true)
}
