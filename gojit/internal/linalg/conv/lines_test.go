package conv

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
)

// Lines that are longer than a kernel reaches are made in pieces, each with what it reads of its neighbours.
func TestLongLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, kernel := range []int{1, 2, 7} {
		for _, stride := range []int{1, 2} {
			for _, padding := range []int{0, 3, linePiece / 4} {
				for _, dilation := range []int{1, 5} {
					g := Convolution{Batch: 1, Groups: 1, InChannels: 2, OutChannels: 2, In: [3]int{1, 1, longestRow + r.IntN(40000)}, Kernel: [3]int{1, 1, kernel},
						Stride: [3]int{1, 1, stride}, Padding: [3]int{0, 0, padding}, Dilation: [3]int{1, 1, dilation}, Out: [3]int{1, 1, 0}}
					g.Out[2] = (g.In[2]+2*padding-dilation*(kernel-1)-1)/stride + 1
					checkLongLine(t, r, g)
				}
			}
		}
	}
	image := Convolution{In: [3]int{1, 2, longestRow}, Out: [3]int{1, 1, longestRow}, Kernel: [3]int{1, 2, 1}, Stride: [3]int{1, 1, 1}}
	if image.canDepthwise() {
		t.Errorf("rows of %d elements are not made by one kernel", longestRow)
	}
}

func checkLongLine(t *testing.T, r *rand.Rand, g Convolution) {
	t.Helper()
	if asm.Target() < asm.AVX2 {
		t.Skip("no machine code for convolutions")
	}
	if !g.canDepthwise() || g.pieces() < 2 {
		t.Fatalf("%+v is made in %d pieces", g, g.pieces())
	}
	in, weight, bias := linalgtest.Whole[float32](r, 2*g.In[2]), linalgtest.Whole[float32](r, 4*g.Kernel[2]), linalgtest.Whole[float32](r, 2)
	want, got := make([]float32, 2*g.Out[2]), make([]float32, 2*g.Out[2])
	fillBias(g, bias, want)
	convolve(g, in, weight, want)
	convolveDepthwise(asm.Target(), g, in, weight, bias, got)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%+v: element %d is %v, want %v", g, i, got[i], want[i])
		}
	}
	g.Groups = 2
	divisors := make([]float32, g.Out[2])
	for i := range divisors {
		divisors[i] = float32(1 + i%3)
	}
	largest, average := make([]float32, 2*g.Out[2]), make([]float32, 2*g.Out[2])
	pool(asm.Target(), tile.Largest, g, in, []float32{float32(math.Inf(-1))}, nil, largest)
	pool(asm.Target(), tile.Averaged, g, in, []float32{0}, divisors, average)
	for i := range largest {
		most, sum, at := float32(math.Inf(-1)), float32(0), i%g.Out[2]
		for k := range g.Kernel[2] {
			if from := at*g.Stride[2] - g.Padding[2] + k*g.Dilation[2]; from >= 0 && from < g.In[2] {
				v := in[i/g.Out[2]*g.In[2]+from]
				most, sum = max(most, v), sum+v
			}
		}
		if largest[i] != most || average[i] != sum/divisors[at] {
			t.Fatalf("%+v: windows %d have %v and %v, want %v and %v", g, i, largest[i], average[i], most, sum/divisors[at])
		}
	}
}
