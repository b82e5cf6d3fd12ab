package conv

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
)

// windows calls f for every place of the output, and visit for the inputs of its window.
func windows(g Convolution, f func(out int, visit func(func(in int)))) {
	for y := range g.Out[1] {
		for x := range g.Out[2] {
			f(y*g.Out[2]+x, func(each func(in int)) {
				for ky := range g.Kernel[1] {
					for kx := range g.Kernel[2] {
						iy, ix := y*g.Stride[1]+ky*g.Dilation[1]-g.Padding[1], x*g.Stride[2]+kx*g.Dilation[2]-g.Padding[2]
						if iy >= 0 && iy < g.In[1] && ix >= 0 && ix < g.In[2] {
							each(iy*g.In[2] + ix)
						}
					}
				}
			})
		}
	}
}

func checkPooling[T gemm.Float](t *testing.T, r *rand.Rand, isa asm.ISA, g Convolution) {
	t.Helper()
	inSize, outSize := Volume(g.In), Volume(g.Out)
	in := linalgtest.Whole[T](r, g.Batch*g.InChannels*inSize)
	for i := range in {
		switch r.IntN(40) {
		case 0:
			in[i] = T(math.NaN())
		case 1:
			in[i] = T(math.Inf(1 - 2*r.IntN(2)))
		}
	}
	largest, average := make([]T, g.Batch*g.InChannels*outSize), make([]T, g.Batch*g.InChannels*outSize)
	divisors := make([]T, outSize)
	for i := range divisors {
		divisors[i] = T(int(1) << r.IntN(4))
	}
	pool(isa, tile.Largest, g, in, []T{T(math.Inf(-1))}, nil, largest)
	pool(isa, tile.Averaged, g, in, []T{0}, divisors, average)
	for plane := range g.Batch * g.InChannels {
		from := in[plane*inSize:]
		windows(g, func(at int, visit func(func(int))) {
			best, sum := T(math.Inf(-1)), T(0)
			visit(func(i int) {
				if v := from[i]; v > best || v != v {
					best = v
				}
				sum += from[i]
			})
			sum /= divisors[at]
			if got := largest[plane*outSize+at]; got != best && (got == got || best == best) {
				t.Fatalf("%v %T %+v: plane %d, maximum %d is %v, want %v", isa, in, g, plane, at, got, best)
			}
			if got := average[plane*outSize+at]; got != sum && (got == got || sum == sum) {
				t.Fatalf("%v %T %+v: plane %d, average %d is %v, want %v", isa, in, g, plane, at, got, sum)
			}
		})
	}
}

func TestPoolingAgreesWithDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, isa := range linalgtest.Sets() {
		for range 100 {
			g := perChannel(r, randomConvolution(r))
			g.OutChannels = g.InChannels
			for i := 1; i < 3; i++ { // every window has an input
				g.Padding[i] = min(g.Padding[i], g.Kernel[i]/2)
				g.Out[i] = (g.In[i]+2*g.Padding[i]-g.Dilation[i]*(g.Kernel[i]-1)-1)/g.Stride[i] + 1
			}
			if g.Out[1] > 0 && g.Out[2] > 0 && g.canDepthwise() {
				checkPooling[float32](t, r, isa, g)
				checkPooling[float64](t, r, isa, g)
			}
		}
	}
}
