package conv

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// TestExpandedIsBoth compares a product and a depthwise convolution behind, some rows at a time, with the two one after the other, bit by bit.
func TestExpandedIsBoth(t *testing.T) {
	if len(linalgtest.Sets()) == 0 {
		t.Skip("no code is generated here")
	}
	defer parallel.SetNumThreads(0)
	one := [3]int{1, 1, 1}
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ batch, in, channels, height, width, kernel, stride, padding int }{
		{1, 16, 96, 112, 112, 3, 2, 1}, {2, 24, 144, 56, 56, 3, 1, 1}, {1, 8, 70, 61, 53, 5, 2, 2}, {1, 3, 64, 40, 90, 3, 3, 0}, {1, 5, 200, 50, 30, 1, 2, 0},
	} {
		product := Convolution{Batch: c.batch, InChannels: c.in, OutChannels: c.channels, Groups: 1, In: [3]int{1, c.height, c.width}, Out: [3]int{1, c.height, c.width}, Kernel: one, Stride: one, Dilation: one}
		size := func(n int) int { return (n+2*c.padding-c.kernel)/c.stride + 1 }
		depthwise := Convolution{Batch: c.batch, InChannels: c.channels, OutChannels: c.channels, Groups: c.channels, In: product.Out,
			Out: [3]int{1, size(c.height), size(c.width)}, Kernel: [3]int{1, c.kernel, c.kernel}, Stride: [3]int{1, c.stride, c.stride}, Padding: [3]int{0, c.padding, c.padding}, Dilation: one}
		if !SuitsExpanded(&product, &depthwise) {
			t.Errorf("%v does not suit", c)
			continue
		}
		first := NewPlan(product, linalgtest.Whole[float32](r, c.channels*c.in), linalgtest.Whole[float32](r, c.channels), PlanOptions{Relu: true})
		second := NewDepthwisePlan(depthwise, linalgtest.Whole[float32](r, c.channels*c.kernel*c.kernel), linalgtest.Whole[float32](r, c.channels), true)
		in, middle, want := linalgtest.Whole[float32](r, c.batch*c.in*Volume(product.In)), make([]float32, c.batch*c.channels*Volume(product.Out)), make([]float32, c.batch*c.channels*Volume(depthwise.Out))
		first.Run(in, nil, middle)
		second.Run(middle, want)
		both, ok := NewExpanded(product, first, second)
		if !ok {
			t.Fatalf("%v does not run by tiles", c)
		}
		room := make([]float32, RoomOf(&depthwise))
		for _, threads := range []int{1, 3} {
			parallel.SetNumThreads(threads)
			found := make([]float32, len(want))
			for i := range room {
				room[i] = -7
			}
			both.Run(in, found, room)
			if !slices.Equal(found, want) {
				t.Errorf("%v with %d threads differs from one after the other", c, threads)
			}
		}
	}
}
