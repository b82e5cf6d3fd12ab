package integer

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// copiedBytes is how many bytes are worth another thread to copy them.
const copiedBytes = 256 << 10

// pad copies the images as the sums read them: channels together, the zero point in the padding, and some bytes behind the last one
// that fours may reach.
func (p *BytePlan) pad(in []uint8, memory *gemm.Buffers) []uint8 {
	const slack = 8
	g := &p.geometry
	row := p.size[2] * g.InChannels
	n := g.Batch * conv.Volume(p.size) * g.InChannels
	to := unsafe.Slice((*uint8)(gemm.Grow(&memory.A, n+slack)), n+slack)
	clear(to[n:])
	first, width := min(g.Padding[2], p.size[2]), min(g.In[2], max(0, p.size[2]-g.Padding[2]))
	rows := g.Batch * p.size[0] * p.size[1]
	parallel.For(rows, 1+copiedBytes/max(row, 1), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			line := to[r*row:][:row]
			b, z, y := r/(p.size[0]*p.size[1]), r/p.size[1]%p.size[0]-g.Padding[0], r%p.size[1]-g.Padding[1]
			if z < 0 || z >= g.In[0] || y < 0 || y >= g.In[1] {
				copy(line, p.blank)
				continue
			}
			copy(line[:first*g.InChannels], p.blank)
			copy(line[(first+width)*g.InChannels:], p.blank)
			inner := line[first*g.InChannels:][:width*g.InChannels]
			if !p.options.Planes {
				copy(inner, in[((b*g.In[0]+z)*g.In[1]+y)*g.In[2]*g.InChannels:])
				continue
			}
			for c := range g.InChannels {
				from := in[(((b*g.InChannels+c)*g.In[0]+z)*g.In[1]+y)*g.In[2]:][:width]
				for x, v := range from {
					inner[x*g.InChannels+c] = v
				}
			}
		}
	})
	return to
}

// portableBytes computes the convolution in Go.
func portableBytes[T uint8 | float32](p *BytePlan, in []uint8, out []T) {
	g, w := &p.geometry, p.weights
	n, length, _ := w.runs()
	parallel.For(g.Batch*g.Out[0]*g.Out[1]*g.Out[2], 1+gemm.ParallelFlops/64/max(1, g.OutChannels*n*length), func(lo, hi int) {
		for place := lo; place < hi; place++ {
			x, y, z := place%g.Out[2], place/g.Out[2]%g.Out[1], place/(g.Out[2]*g.Out[1])%g.Out[0]
			b := place / conv.Volume(g.Out)
			at := (((b*p.size[0]+z*g.Stride[0])*p.size[1]+y*g.Stride[1])*p.size[2] + x*g.Stride[2]) * g.InChannels
			for o := range g.OutChannels {
				if w.pooled != tile.Convolved {
					poolWindow(p, &out[place*g.OutChannels+o], in[at+o:], o)
					continue
				}
				sum := p.start[o]
				for i, offset := range p.offsets[:n] {
					from := in[at+int(offset)+o/w.filters*w.channels:][:length]
					for k, v := range w.values[(o*n+i)*length:][:length] {
						sum += int32(from[k]) * int32(v)
					}
				}
				setResult(p, &out[place*g.OutChannels+o], sum, o)
			}
		}
	})
}

// poolWindow makes the result of a window of a channel.
func poolWindow[T uint8 | float32](p *BytePlan, to *T, in []uint8, column int) {
	largest, sum := uint8(0), p.start[column]
	for _, offset := range p.offsets {
		v := in[offset]
		largest, sum = max(largest, v), sum+int32(v)
	}
	if p.weights.pooled == tile.Largest {
		*to = T(largest)
		return
	}
	setResult(p, to, sum, column)
}

// setResult makes a result of a sum.
func setResult[T uint8 | float32](p *BytePlan, to *T, sum int32, column int) {
	v := (float32(sum) + p.bias[column]) * p.scale[column]
	switch to := any(to).(type) {
	case *uint8:
		*to = p.options.Limits.Apply(v)
	case *float32:
		*to = v
	}
}
