package elementwise

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// QuantizerOf returns how a tensor is quantized. It fails where it is not.
func QuantizerOf(t *tensor.Tensor) *tensor.Quantizer {
	q := t.Quantizer()
	source.Check(q != nil, "Expected a quantized tensor, but got %s", t.DType().CppName())
	return q
}

// Elementwise work on quantized tensors, as generated kernels. Numbers are float32: a tensor stands for (integer - zero point)*scale, and
// a number becomes the integer nearest to number*(1/scale), a half the even one, plus the zero point, within the range of the type.

// emptyQuantized returns an uninitialized tensor that is quantized per tensor, laid out like another one.
func emptyQuantized(like *tensor.Tensor, q *tensor.Quantizer, d tensor.DType) *tensor.Tensor {
	CheckZeroPoint(q, d)
	out := source.Must(tensor.EmptyFormat(like, d, like.SuggestedFormat()))
	out.SetQuantizer(q)
	return out
}

// CheckZeroPoint refuses zero points that are no integers of a type.
func CheckZeroPoint(q *tensor.Quantizer, d tensor.DType) {
	low, high := tensor.IntegerRange(d)
	source.Check(float64(q.ZeroPoint) <= high, "quantize_tensor_per_tensor_affine zero_point %d is above upper bound.", q.ZeroPoint)
	source.Check(float64(q.ZeroPoint) >= low, "quantize_tensor_per_tensor_affine zero_point %d is below lower bound.", q.ZeroPoint)
}

// IsSmall reports whether a tensor is quantized per tensor to integers that float32 holds, of a byte.
func IsSmall(t *tensor.Tensor) bool {
	return t.Quantizer() != nil && !t.Quantizer().PerChannel() && (t.DType() == tensor.QUInt8 || t.DType() == tensor.QInt8)
}

// storedType is the type of the integers of a quantized type of bytes.
func storedType(d tensor.DType) tensor.DType {
	if d == tensor.QInt8 {
		return tensor.Int8
	}
	return tensor.Uint8
}

// loadNumber makes the numbers that the integers of an input stand for; scale and zero point are given at each run.
func loadNumber(b *kernel.Builder, d tensor.DType) kernel.Value {
	integer := b.Convert(b.Input(storedType(d), tensor.Int32), tensor.Float32)
	zero := b.Param(tensor.Float32)
	return b.Mul(b.Sub(integer, zero), b.Param(tensor.Float32))
}

// storeNumber makes integers of numbers; what storeParams has is given at each run. What is no number becomes the smallest integer.
func storeNumber(b *kernel.Builder, x kernel.Value, d tensor.DType) {
	inverse, low, high, zero := b.Param(tensor.Float32), b.Param(tensor.Float32), b.Param(tensor.Float32), b.Param(tensor.Float32)
	v := b.Unary(kernel.Round, b.Mul(x, inverse))
	v = b.Select(b.Binary(kernel.Gt, v, low), v, low)
	v = b.Select(b.Binary(kernel.Lt, v, high), v, high)
	b.Output(b.Convert(b.Add(v, zero), tensor.Int32), storedType(d))
}

func loadParams(params []tensor.Scalar, q *tensor.Quantizer) []tensor.Scalar {
	return append(params, tensor.Int(q.ZeroPoint), tensor.Float(float64(float32(q.Scale))))
}

func storeParams(params []tensor.Scalar, q *tensor.Quantizer, d tensor.DType) []tensor.Scalar {
	return storeLimited(params, q, d, false)
}

// storeLimited is storeParams, where rectified with the zero point for the smallest integer.
func storeLimited(params []tensor.Scalar, q *tensor.Quantizer, d tensor.DType, rectified bool) []tensor.Scalar {
	low, high := tensor.IntegerRange(d)
	zero := float64(q.ZeroPoint)
	if rectified {
		low = max(low, zero)
	}
	return append(params, tensor.Float(float64(1/float32(q.Scale))), tensor.Float(low-zero), tensor.Float(high-zero), tensor.Float(zero))
}

// runOnIntegers runs a kernel on tensors, of quantized ones on their integers. The views of these are given up, or the memory would
// wait for the collector.
func runOnIntegers(p *launch.Program, params []tensor.Scalar, ts ...*tensor.Tensor) {
	var room [4]*tensor.Tensor
	views := append(room[:0], ts...)
	for i, t := range ts {
		if t.Quantizer() != nil {
			views[i] = t.IntegersView()
		}
	}
	p.Run(views, params)
	for i, t := range ts {
		if views[i] != t {
			views[i].Release()
		}
	}
}

// UnderQuantizer reads integers that nobody else uses under q.
func UnderQuantizer(integers *tensor.Tensor, q *tensor.Quantizer) *tensor.Tensor {
	t := source.Must(tensor.QuantizedOf(integers, q))
	integers.Release()
	return t
}

// InFormat gives a tensor in a layout, and what gives up the copy that this may have taken.
func InFormat(t *tensor.Tensor, format tensor.MemoryFormat) (in *tensor.Tensor, done func()) {
	if t.IsContiguousFormat(format) {
		return t, func() {}
	}
	in = source.Must(t.Clone(format))
	return in, in.Release
}

var quantizing, dequantizing TypePrograms

// Quantized stores numbers as integers of type d.
func Quantized(x *tensor.Tensor, q *tensor.Quantizer, d tensor.DType) *tensor.Tensor {
	if q.PerChannel() || d == tensor.QInt32 || !d.IsQuantized() || x.DType() != tensor.Float32 || define.IsMeta(x) {
		return source.Must(tensor.Quantize(x, q, d))
	}
	out := emptyQuantized(x, q, d)
	p := quantizing.Of(d, func(b *kernel.Builder) { storeNumber(b, b.Input(tensor.Float32, tensor.Float32), d) })
	var params [4]tensor.Scalar
	runOnIntegers(p, storeParams(params[:0], q, d), out, x)
	return out
}

// Dequantized gives the numbers that a quantized tensor stands for; others it converts to float32.
func Dequantized(t *tensor.Tensor) *tensor.Tensor {
	if !IsSmall(t) {
		return source.Must(tensor.Dequantize(t))
	}
	out := source.Must(tensor.EmptyFormat(t, tensor.Float32, t.SuggestedFormat()))
	p := dequantizing.Of(t.DType(), func(b *kernel.Builder) { b.Output(loadNumber(b, t.DType()), tensor.Float32) })
	var params [2]tensor.Scalar
	runOnIntegers(p, loadParams(params[:0], t.Quantizer()), out, t)
	return out
}

// BinaryPrograms are the kernels of an operator on two quantized tensors. Where rectified, what is below zero becomes zero.
type BinaryPrograms struct {
	types     TypePrograms
	Expr      func(b *kernel.Builder, x, y kernel.Value) kernel.Value
	Rectified bool
}

// On applies the operator to tensors of one type; the result is under q.
func (o *BinaryPrograms) On(x, y *tensor.Tensor, q *tensor.Quantizer) *tensor.Tensor {
	d := x.DType()
	p := o.types.Of(d, func(b *kernel.Builder) {
		first := loadNumber(b, d)
		storeNumber(b, o.Expr(b, first, loadNumber(b, d)), d)
	})
	out := emptyQuantized(x, q, d)
	if !tensor.SameShape(x.Shape(), y.Shape()) {
		out = source.Must(tensor.Empty(source.Must(tensor.Broadcast(x.Shape(), y.Shape())), d))
		out.SetQuantizer(q)
	}
	var params [8]tensor.Scalar
	numbers := loadParams(loadParams(params[:0], x.Quantizer()), y.Quantizer())
	runOnIntegers(p, storeLimited(numbers, q, d, o.Rectified), out, x, y)
	return out
}

var rectifying TypePrograms

// RectifiedIntegers gives a quantized tensor of bytes without the integers below its zero point, in dst where that is not nil.
func RectifiedIntegers(x, dst *tensor.Tensor) *tensor.Tensor {
	d := storedType(x.DType())
	p := rectifying.Of(d, func(b *kernel.Builder) {
		b.Output(b.Binary(kernel.Max, b.Input(d, tensor.Int32), b.Param(tensor.Int32)), d)
	})
	zero := [...]tensor.Scalar{tensor.Int(x.Quantizer().ZeroPoint)}
	return integersInto(dst, p, zero[:], x)
}

var limiting TypePrograms

// LimitedNumbers gives a quantized tensor of bytes whose numbers are limited to low through high, in dst where that is not nil.
func LimitedNumbers(x, dst *tensor.Tensor, low, high float64) *tensor.Tensor {
	d := x.DType()
	p := limiting.Of(d, func(b *kernel.Builder) {
		v := b.Binary(kernel.Max, loadNumber(b, d), b.Param(tensor.Float32))
		storeNumber(b, b.Binary(kernel.Min, v, b.Param(tensor.Float32)), d)
	})
	var params [8]tensor.Scalar
	numbers := append(loadParams(params[:0], x.Quantizer()), tensor.Float(low), tensor.Float(high))
	return integersInto(dst, p, storeParams(numbers, x.Quantizer(), d), x)
}

// integersInto runs a kernel whose integers mean what those of x do: over x itself, or else in a tensor of its own, which is copied to dst where that is
// not nil.
func integersInto(dst *tensor.Tensor, p *launch.Program, params []tensor.Scalar, x *tensor.Tensor) *tensor.Tensor {
	if dst == x {
		runOnIntegers(p, params, x, x)
		return x
	}
	out := emptyQuantized(x, x.Quantizer(), x.DType())
	runOnIntegers(p, params, out, x)
	if dst == nil {
		return out
	}
	defer out.Release()
	CopyElements(dst, out)
	return dst
}

var requantizing TypePrograms

// IntegersUnder gives the integers that the numbers of a tensor of bytes have under q, without what is below zero where positive. They
// may be a view of the tensor's.
func IntegersUnder(x *tensor.Tensor, q *tensor.Quantizer, positive bool) *tensor.Tensor {
	from, d := x.Quantizer(), x.DType()
	if !positive && from.Scale == q.Scale && from.ZeroPoint == q.ZeroPoint {
		return x.IntegersView()
	}
	p := requantizing.Of(d, func(b *kernel.Builder) { storeNumber(b, loadNumber(b, d), d) })
	CheckZeroPoint(q, d)
	out := source.Must(tensor.EmptyFormat(x, storedType(d), x.SuggestedFormat()))
	var params [6]tensor.Scalar
	runOnIntegers(p, storeLimited(loadParams(params[:0], from), q, d, positive), out, x)
	return out
}
