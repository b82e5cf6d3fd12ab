package conv

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/integer"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// byteGeometry describes the windows of a pooling over images of bytes; ok is false where they are not alike.
func (p *Pooling) byteGeometry(x *tensor.Tensor) (g conv.Convolution, ok bool) {
	if p.Kernel == nil || x.DType() != tensor.QUInt8 || !elementwise.IsSmall(x) || x.Dim() != p.N+2 {
		return g, false
	}
	one := [3]int{1, 1, 1}
	channels := x.Size(1)
	g = conv.Convolution{Batch: x.Size(0), Groups: channels, InChannels: channels, OutChannels: channels, In: one, Out: one, Kernel: one, Stride: one, Dilation: one}
	for d := range p.N {
		at := 3 - p.N + d
		g.In[at], g.Out[at], g.Kernel[at] = x.Size(2+d), p.Windows[d].out, p.Kernel[d]
		g.Stride[at], g.Padding[at], g.Dilation[at] = p.Stride[d], p.Padding[d], p.Dilation[d]
	}
	return g, channels > 0
}

// bytePool says what a pooling of bytes does: the largest, or the mean of so many.
type bytePool struct {
	geometry conv.Convolution
	planes   bool
	divisor  int   // 0: the largest
	zero     uint8 // zero point, for means
	centered bool  // means are rounded before the zero point is added
}

func (p *bytePool) plan() *integer.BytePlan {
	if p.divisor == 0 {
		return integer.NewByteMaxPool(p.geometry, p.planes)
	}
	options := integer.ByteOptions{Zero: p.zero, Planes: p.planes, Scale: make([]float32, p.geometry.OutChannels)}
	for i := range options.Scale {
		options.Scale[i] = 1 / float32(p.divisor)
	}
	options.Limits = tile.NewByteLimits(0, 255, int(p.zero), 0)
	if p.centered {
		options.Limits = tile.NewByteLimits(0, 255, 0, int(p.zero))
	}
	return integer.NewByteSums(p.geometry, options)
}

// bytePools keeps the plan of an operator's last pooling.
type bytePools struct{ last atomic.Pointer[madePool] }

// madePool is a pooling with its plan.
type madePool struct {
	bytePool
	made *integer.BytePlan
}

func (k *bytePools) of(p bytePool) *integer.BytePlan {
	if last := k.last.Load(); last != nil && last.bytePool == p {
		return last.made
	}
	last := &madePool{p, p.plan()}
	k.last.Store(last)
	return last.made
}

// run pools x; the result lies as x does.
func (k *bytePools) run(p bytePool, x *tensor.Tensor, shape []int) *tensor.Tensor {
	format := x.SuggestedFormat()
	p.planes = format == tensor.ContiguousFormat
	in, done := elementwise.InFormat(x, format)
	defer done()
	if !p.planes {
		out := source.Must(tensor.EmptyChannelsLast(shape, x.DType(), format))
		out.SetQuantizer(x.Quantizer())
		k.of(p).Run(tensor.Data[uint8](in), tensor.Data[uint8](out))
		return out
	}
	last := define.Empty(append(append([]int{shape[0]}, shape[2:]...), shape[1]), tensor.Uint8)
	k.of(p).Run(tensor.Data[uint8](in), tensor.Data[uint8](last))
	order := []int{0, len(shape) - 1}
	for d := 1; d < len(shape)-1; d++ {
		order = append(order, d)
	}
	turned := source.Must(last.Permute(order...))
	out := elementwise.UnderQuantizer(source.Must(turned.Clone(tensor.ContiguousFormat)), x.Quantizer())
	turned.Release()
	last.Release()
	return out
}

// largest gives the largest integer of each window; ok is false where there is no plan for it.
func (k *bytePools) largest(p *Pooling, x *tensor.Tensor) (out *tensor.Tensor, ok bool) {
	g, ok := p.byteGeometry(x)
	if !ok {
		return nil, false
	}
	return k.run(bytePool{geometry: g}, x, p.shape(x)), true
}

// mean gives the mean of each window of so many elements; ok is false where there is no plan for it.
func (k *bytePools) mean(p *Pooling, x *tensor.Tensor, divisor int) (out *tensor.Tensor, ok bool) {
	g, ok := p.byteGeometry(x)
	if !ok {
		return nil, false
	}
	elementwise.CheckZeroPoint(x.Quantizer(), x.DType())
	return k.run(bytePool{geometry: g, divisor: divisor, zero: uint8(x.Quantizer().ZeroPoint), centered: roundsCentered(x)}, x, p.shape(x)), true
}

// roundsCentered reports whether means are rounded before the zero point is added to them: where the channels lie together.
func roundsCentered(x *tensor.Tensor) bool {
	return x.Dim() == 4 && x.IsContiguousFormat(tensor.ChannelsLast)
}

// onMeans is OnCentered for means, which round with the zero point where the channels do not lie together.
func onMeans(f func(c define.Call) *tensor.Tensor) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		x := c.Tensor(0)
		if x.Quantizer() == nil || roundsCentered(x) {
			return elementwise.OnCentered(f)(c)
		}
		source.Check(!x.Quantizer().PerChannel(), "expected a tensor that is quantized per tensor, but got one quantized per channel")
		means := elementwise.Add.Run(nil, []elementwise.Operand{elementwise.OfTensor(elementwise.To(f(c.WithFirst(elementwise.Centered(x))), tensor.Float32)), elementwise.OfScalar(tensor.Int(x.Quantizer().ZeroPoint))})
		out := elementwise.Quantized(means, &tensor.Quantizer{Scale: 1}, x.DType())
		out.SetQuantizer(x.Quantizer())
		return out
	}
}
