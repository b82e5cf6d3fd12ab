package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// resNet18 is the network ResNet-18 for one image, made of plans, with random weights.
type resNet18 struct {
	r     *rand.Rand
	exact bool
	steps []func()
	out   []float32
}

func (n *resNet18) random(count int, scale float32) []float32 {
	x := make([]float32, count)
	for i := range x {
		x[i] = (n.r.Float32() - 0.5) * scale
	}
	return x
}

func square(channels, size, filters, kernel, stride, padding int) Convolution {
	out := (size+2*padding-kernel)/stride + 1
	return Convolution{Batch: 1, Groups: 1, InChannels: channels, OutChannels: filters, In: [3]int{1, size, size}, Out: [3]int{1, out, out},
		Kernel: [3]int{1, kernel, kernel}, Stride: [3]int{1, stride, stride}, Dilation: [3]int{1, 1, 1}, Padding: [3]int{0, padding, padding}}
}

// convolve adds a convolution, whose weights keep the size of what goes through.
func (n *resNet18) convolve(in []float32, g Convolution, residual []float32, relu bool) []float32 {
	taps := g.InChannels * Volume(g.Kernel)
	weight := n.random(g.OutChannels*taps, float32(3/math.Sqrt(float64(taps))))
	plan := NewPlan(g, weight, n.random(g.OutChannels, 0.1), PlanOptions{Relu: relu, Residual: residual != nil, Exact: n.exact})
	out := make([]float32, g.OutChannels*Volume(g.Out))
	n.steps = append(n.steps, func() { plan.Run(in, residual, out) })
	return out
}

// channels adds a pooling.
func (n *resNet18) channels(in []float32, g Convolution, plan *ChannelsPlan[float32]) []float32 {
	out := make([]float32, g.InChannels*Volume(g.Out))
	n.steps = append(n.steps, func() { plan.Run(in, out) })
	return out
}

func newResNet18(exact bool) *resNet18 {
	n := &resNet18{r: rand.New(rand.NewPCG(51, 52)), exact: exact}
	x := n.convolve(n.random(3*224*224, 1), square(3, 224, 64, 7, 2, 3), nil, true)
	pooled := square(64, 112, 64, 3, 2, 1)
	pooled.Groups = 64
	x = n.channels(x, pooled, NewMaxPoolPlan[float32](pooled))
	channels, size := 64, 56
	for _, filters := range []int{64, 128, 256, 512} {
		for block := range 2 {
			stride, around := 1, x
			if filters > 64 && block == 0 {
				stride = 2
				around = n.convolve(x, square(channels, size, filters, 1, 2, 0), nil, false)
			}
			y := n.convolve(x, square(channels, size, filters, 3, stride, 1), nil, true)
			channels, size = filters, size/stride
			x = n.convolve(y, square(channels, size, channels, 3, 1, 1), around, true)
		}
	}
	whole := square(512, 7, 512, 7, 1, 0)
	whole.Groups = 512
	x = n.channels(x, whole, NewAveragePoolPlan(whole, []float32{49}))
	n.out = make([]float32, 1000)
	last := gemm.Product[float32]{M: 1, N: 1000, K: 512, A: gemm.Matrix[float32]{Data: x, Stride: 512}, B: gemm.Matrix[float32]{Data: n.random(512*1000, 0.1), Stride: 512, Transposed: true}, C: gemm.Matrix[float32]{Data: n.out, Stride: 1000}}
	n.steps = append(n.steps, last.Run)
	return n
}

func (n *resNet18) run() {
	for _, step := range n.steps {
		step()
	}
}

// TestResNet18 compares a network with and without Winograd.
func TestResNet18(t *testing.T) {
	exact, fast := newResNet18(true), newResNet18(false)
	exact.run()
	fast.run()
	largest, difference := 0.0, 0.0
	for i := range exact.out {
		largest = max(largest, math.Abs(float64(exact.out[i])))
		difference = max(difference, math.Abs(float64(exact.out[i]-fast.out[i])))
	}
	if !(largest > 0.01 && difference < 1e-4*largest) {
		t.Fatalf("results up to %v differ by %v", largest, difference)
	}
}

func BenchmarkResNet18(b *testing.B) {
	defer parallel.SetNumThreads(0)
	for _, threads := range []int{1, 2} {
		parallel.SetNumThreads(threads)
		for name, exact := range map[string]bool{"exact": true, "winograd": false} {
			n := newResNet18(exact)
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					n.run()
				}
			})
		}
	}
}

// BenchmarkPlans runs the convolutions that the variable GOJIT_LAYERS lists: batch, in channels, size,
// out channels, kernel, stride and groups of each, for benchmarks/kernels.py.
func BenchmarkPlans(b *testing.B) {
	parallel.SetNumThreads(1)
	defer parallel.SetNumThreads(0)
	n := &resNet18{r: rand.New(rand.NewPCG(53, 54))}
	for _, text := range strings.Fields(os.Getenv("GOJIT_LAYERS")) {
		var batch, inside, size, outside, kernel, stride, groups int
		if _, err := fmt.Sscanf(text, "%d,%d,%d,%d,%d,%d,%d", &batch, &inside, &size, &outside, &kernel, &stride, &groups); err != nil {
			b.Fatalf("%s: %v", text, err)
		}
		g := square(inside, size, outside, kernel, stride, kernel/2)
		g.Batch, g.Groups = batch, groups
		in, out := n.random(batch*inside*Volume(g.In), 1), make([]float32, batch*outside*Volume(g.Out))
		weight := n.random(outside*inside/groups*Volume(g.Kernel), 1)
		if groups > 1 {
			plan := NewDepthwisePlan[float32](g, weight, nil, false)
			b.Run(text+"/depthwise", func(b *testing.B) {
				plan.Run(in, out) // the first one finds its memory
				for b.Loop() {
					plan.Run(in, out)
				}
			})
			continue
		}
		for _, exact := range []bool{true, false} {
			plan := NewPlan[float32](g, weight, nil, PlanOptions{Exact: exact})
			b.Run(fmt.Sprintf("%s/exact=%t", text, exact), func(b *testing.B) {
				plan.Run(in, nil, out)
				for b.Loop() {
					plan.Run(in, nil, out)
				}
			})
		}
	}
}
