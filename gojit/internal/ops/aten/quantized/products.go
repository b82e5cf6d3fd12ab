package quantized

import (
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/integer"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// byteProduct is a packed weight as products of bytes read it, made at the first product, with the last plan.
type byteProduct struct {
	weight, bias *tensor.Tensor
	once         sync.Once
	packed       *integer.ByteWeights
	last         atomic.Pointer[bytePlan]
}

// bytePlan is a plan with what it was made for.
type bytePlan struct {
	byteRequest
	plan *integer.BytePlan
}

// byteRequest says what a product is to do. Two requests that are equal have the same plan.
type byteRequest struct {
	geometry  conv.Convolution
	planes    bool
	scale     float64 // of the input
	zero      uint8
	real      bool // the result is float32
	outScale  float64
	outZero   uint8
	rectified bool
}

// planFor returns the plan of a request.
func (p *byteProduct) planFor(r byteRequest) *integer.BytePlan {
	if made := p.last.Load(); made != nil && made.byteRequest == r {
		return made.plan
	}
	p.once.Do(func() {
		q := elementwise.QuantizerOf(p.weight)
		zeros := []int{int(q.ZeroPoint)}
		if q.PerChannel() {
			zeros = zeros[:0]
			for _, z := range q.ZeroPoints {
				zeros = append(zeros, int(z))
			}
		}
		p.packed = integer.PackBytes(r.geometry, tensor.Data[int8](elementwise.Contiguous(p.weight)), zeros)
	})
	q := &tensor.Quantizer{Scale: r.outScale, ZeroPoint: int64(r.outZero)}
	requantize := elementwise.NewRequantization(&tensor.Quantizer{Scale: r.scale}, elementwise.QuantizerOf(p.weight), p.bias, q, tensor.QUInt8, r.rectified)
	options := integer.ByteOptions{Zero: r.zero, Planes: r.planes, Scale: requantize.PerChannel(r.geometry.OutChannels), Bias: requantize.Bias}
	if !r.real {
		options.Limits = tile.NewByteLimits(int(requantize.Low), int(requantize.High), int(r.outZero), 0)
	}
	made := &bytePlan{r, integer.NewBytePlan(r.geometry, p.packed, options)}
	p.last.Store(made)
	return made.plan
}

// rowGeometry is that of the product of rows with a matrix.
func rowGeometry(rows, k, n int) conv.Convolution {
	one := [3]int{1, 1, 1}
	return conv.Convolution{Batch: rows, Groups: 1, InChannels: k, OutChannels: n, In: one, Out: one, Kernel: one, Stride: one, Dilation: one}
}

// checkActivation refuses inputs of static products that are not quantized per tensor to quint8.
func checkActivation(name string, x *tensor.Tensor) *tensor.Quantizer {
	source.Check(x.DType() == tensor.QUInt8, "%s (fbgemm): Expected activation data type QUInt8 but got %s", name, x.DType().CppName())
	q := elementwise.QuantizerOf(x)
	source.Check(!q.PerChannel(), "%s expects an input that is quantized per tensor", name)
	return q
}

// staticRequest describes a product of quantized tensors that gives one.
func staticRequest(g conv.Convolution, x, out *tensor.Quantizer, rectified bool) byteRequest {
	elementwise.CheckZeroPoint(x, tensor.QUInt8)
	elementwise.CheckZeroPoint(out, tensor.QUInt8)
	return byteRequest{geometry: g, scale: x.Scale, zero: uint8(x.ZeroPoint), outScale: out.Scale, outZero: uint8(out.ZeroPoint), rectified: rectified}
}

// staticRows multiplies rows of quantized numbers.
func (p *packedLinear) staticRows(name string, x *tensor.Tensor, q *tensor.Quantizer, rectified bool) *tensor.Tensor {
	in, done := elementwise.InFormat(x, tensor.ContiguousFormat)
	defer done()
	n, k := p.weight.Size(0), p.weight.Size(1)
	r := staticRequest(rowGeometry(define.NumelOf(x.Shape()[:x.Dim()-1]), k, n), checkActivation(name, x), q, rectified)
	out := define.Empty(append(append([]int(nil), x.Shape()[:x.Dim()-1]...), n), tensor.QUInt8)
	out.SetQuantizer(q)
	p.product.planFor(r).Run(tensor.Data[uint8](in), tensor.Data[uint8](out))
	return out
}

// dynamicRows multiplies rows of numbers that are quantized on the way.
func (p *packedLinear) dynamicRows(x *tensor.Tensor, q *tensor.Quantizer) *tensor.Tensor {
	rows, done := elementwise.InFormat(x, tensor.ContiguousFormat)
	in := elementwise.Quantized(rows, q, tensor.QUInt8)
	done()
	defer in.Release()
	n, k := p.weight.Size(0), p.weight.Size(1)
	out := define.Empty(append(append([]int(nil), x.Shape()[:x.Dim()-1]...), n), tensor.Float32)
	r := byteRequest{geometry: rowGeometry(define.NumelOf(x.Shape()[:x.Dim()-1]), k, n), scale: q.Scale, zero: uint8(q.ZeroPoint), real: true, outScale: 1}
	p.product.planFor(r).RunReal(tensor.Data[uint8](in), tensor.Data[float32](out))
	return out
}

// static convolves a quantized image; the channels of the result lie together.
func (p *PackedConv) static(name string, x *tensor.Tensor, q *tensor.Quantizer, rectified bool) *tensor.Tensor {
	read := checkActivation(name, x)
	p.args.CheckShapes(x, p.weight, p.bias)
	g, shape := p.args.Geometry(x, p.weight)
	r := staticRequest(g, read, q, rectified)
	format := tensor.ChannelsLast
	if p.args.N == 3 {
		format = tensor.ChannelsLast3D
	}
	from := format
	if r.planes = !x.IsContiguousFormat(format); r.planes {
		from = tensor.ContiguousFormat
	}
	in, done := elementwise.InFormat(x, from)
	defer done()
	out := source.Must(tensor.EmptyChannelsLast(shape, tensor.QUInt8, format))
	out.SetQuantizer(q)
	p.product.planFor(r).Run(tensor.Data[uint8](in), tensor.Data[uint8](out))
	return out
}
