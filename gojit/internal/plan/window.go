package plan

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// window makes a step of a pooling, a mean or an upsampling of images. It reports whether node i is one.
func (b *builder) window(i int) bool {
	n := &b.nodes[i]
	in := n.refs[0]
	if in < 0 || b.facts[in].logical.Dim() != 4 || !b.isFloat(in) || len(b.facts[in].logical.Shape()) != 4 {
		return false
	}
	shape, out := b.facts[in].logical.Shape(), b.facts[n.out].logical
	switch n.op.BaseName() {
	case aten.MaxPool2d, aten.AvgPool2d:
		g, ok := poolGeometry(n, shape, out)
		if !ok || !b.facts[n.out].isImage || !g.PoolsLast() {
			return false
		}
		s := &poolStep{in: b.asImage(in), out: n.out, name: n.op.BaseName()[len("aten::"):]}
		if s.name == "max_pool2d" {
			s.plan = conv.NewMaxPoolPlan[float32](g)
		} else {
			s.plan = conv.NewAveragePoolPlan(g, divisorsOf(n, &g))
		}
		b.place(i, s)
		return true
	case aten.Mean:
		if !n.args[3].IsNone() {
			return false
		}
		return b.average(i, in, n.out)
	case aten.AdaptiveAvgPool2d:
		return out.Dim() == 4 && out.Size(2) == 1 && out.Size(3) == 1 && b.average(i, in, n.out)
	case aten.UpsampleNearest2d:
		down, across := out.Size(2)/shape[2], out.Size(3)/shape[3]
		if !b.facts[n.out].isImage || down*shape[2] != out.Size(2) || across*shape[3] != out.Size(3) || !scalesBy(n, down, across) {
			return false
		}
		b.place(i, &repeatStep{in: b.asImage(in), out: n.out})
		return true
	}
	return false
}

// poolGeometry returns the windows of a pooling; ok is false where they are not all whole, or reach behind the padding.
func poolGeometry(n *node, in []int, out *tensor.Tensor) (g conv.Convolution, ok bool) {
	one := [3]int{1, 1, 1}
	g = conv.Convolution{Batch: in[0], InChannels: in[1], OutChannels: in[1], Groups: in[1], In: [3]int{1, in[2], in[3]}, Kernel: pairOf(n.args[1]),
		Stride: pairOf(n.args[1]), Padding: pairOf(n.args[3]), Dilation: one, Out: [3]int{1, out.Size(2), out.Size(3)}}
	if strides, _ := intsOf(n.args[2]); len(strides) > 0 {
		g.Stride = pairOf(n.args[2])
	}
	g.Padding[0] = 0
	if n.op.BaseName() == aten.MaxPool2d {
		g.Dilation = pairOf(n.args[4])
	} else if !n.args[6].IsNone() {
		return g, false
	}
	for d := 1; d < 3; d++ {
		reach := g.In[d] + 2*g.Padding[d] - g.Dilation[d]*(g.Kernel[d]-1) - 1
		if reach < 0 || g.Stride[d] < 1 || reach/g.Stride[d]+1 != g.Out[d] { // the mode that rounds up gives more
			return g, false
		}
	}
	return g, true
}

// divisorsOf returns by what the sums of avg_pool2d are divided.
func divisorsOf(n *node, g *conv.Convolution) []float32 {
	countsPadding := n.args[5].Bool()
	inside := func(o, d int) int {
		from := o*g.Stride[d] - g.Padding[d]
		if countsPadding {
			return min(from+g.Kernel[d], g.In[d]+g.Padding[d]) - from
		}
		return min(from+g.Kernel[d], g.In[d]) - max(from, 0)
	}
	divisors := make([]float32, 0, g.Out[1]*g.Out[2])
	for y := range g.Out[1] {
		for x := range g.Out[2] {
			divisors = append(divisors, float32(inside(y, 1)*inside(x, 2)))
		}
	}
	return divisors
}

// poolStep is a pooling.
type poolStep struct {
	in, out int
	name    string
	plan    *conv.ChannelsPlan[float32]
}

func (s *poolStep) gives() int   { return s.out }
func (s *poolStep) reads() []int { return []int{s.in} }
func (s *poolStep) text() string { return s.name }

func (s *poolStep) run(x *frame) error {
	s.plan.Run(pixels(x.values[s.in]), pixels(x.values[s.out]))
	return nil
}

// average makes a step of the mean of each channel of each image.
func (b *builder) average(i, in, out int) bool {
	add, err := launch.ProgramOf(addKernel(1))
	if err != nil {
		return false
	}
	shape := b.facts[in].logical.Shape()
	scale, err := launch.ProgramOf(scaleKernel(1 / float64(shape[2]*shape[3])))
	if err != nil {
		return false
	}
	four, err := launch.ProgramOf(addKernel(4))
	if err != nil {
		return false
	}
	b.place(i, &averageStep{in: b.asImage(in), out: out, places: shape[2] * shape[3], add: add, four: four, scale: scale})
	return true
}

// addKernel adds numbers to a sum.
func addKernel(terms int) *kernel.Kernel {
	b := kernel.NewBuilder()
	sum := b.Input(tensor.Float32, tensor.Float32)
	var x []kernel.Value
	for range terms {
		x = append(x, b.Input(tensor.Float32, tensor.Float32))
	}
	for len(x) > 1 {
		x = append(x[2:], b.Add(x[0], x[1]))
	}
	b.Output(b.Add(sum, x[0]), tensor.Float32)
	return b.Kernel()
}

func scaleKernel(factor float64) *kernel.Kernel {
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	b.Output(b.Mul(x, b.Number(x, factor)), tensor.Float32)
	return b.Kernel()
}

// averageStep is the mean of each channel of each image.
type averageStep struct {
	in, out, places  int
	add, four, scale *launch.Program
}

func (s *averageStep) gives() int   { return s.out }
func (s *averageStep) reads() []int { return []int{s.in} }
func (s *averageStep) text() string { return "mean" }

func (s *averageStep) run(x *frame) error {
	in, out := x.values[s.in], x.values[s.out]
	images, channels := in.Size(0), in.Size(1)
	size := channels * 4
	for i := range images {
		sum := launch.Row{Ptr: unsafe.Add(out.DataPtr(), i*size)}
		at := unsafe.Add(in.DataPtr(), i*s.places*size)
		clear(unsafe.Slice((*float32)(sum.Ptr), channels))
		place := func(p, step int) launch.Row { return launch.Row{Ptr: unsafe.Add(at, p*size), Step: step * size} }
		// Rows come one after another, so that each reads the sum that the one before it wrote.
		fours := s.places / 4
		s.four.Rows(fours, channels, x.rows(sum, sum, place(0, 4), place(1, 4), place(2, 4), place(3, 4)), nil)
		s.add.Rows(s.places-4*fours, channels, x.rows(sum, sum, place(4*fours, 1)), nil)
		s.scale.Rows(1, channels, x.rows(sum, sum), nil)
	}
	return nil
}

// scalesBy reports whether an upsampling is one by powers of two, which leave no doubt about the place that is nearest.
func scalesBy(n *node, down, across int) bool {
	if down < 1 || across < 1 || down&(down-1) != 0 || across&(across-1) != 0 {
		return false
	}
	scales := n.args[2:]
	if l := n.args[2]; len(n.args) == 3 && !l.IsNone() {
		scales = l.List().Items
	}
	for d, want := range []int{down, across} {
		if d < len(scales) && scales[d].IsFloat() && scales[d].Float() != float64(want) {
			return false
		}
	}
	return true
}

// repeatStep is upsampling by whole factors: each place again and again.
type repeatStep struct{ in, out int }

func (s *repeatStep) gives() int   { return s.out }
func (s *repeatStep) reads() []int { return []int{s.in} }
func (s *repeatStep) text() string { return "upsample_nearest2d" }

func (s *repeatStep) run(x *frame) error {
	in, out := x.values[s.in], x.values[s.out]
	height, width, channels := in.Size(2), in.Size(3), in.Size(1)
	down, across := out.Size(2)/height, out.Size(3)/width
	from, to := pixels(in), pixels(out)
	row := width * across * channels
	for y := range in.Size(0) * height {
		line := to[y*down*row:][:down*row]
		for p := range width {
			place := from[(y*width+p)*channels:][:channels]
			for k := range across {
				copy(line[(p*across+k)*channels:], place)
			}
		}
		for k := 1; k < down; k++ {
			copy(line[k*row:(k+1)*row], line[:row])
		}
	}
	return nil
}
