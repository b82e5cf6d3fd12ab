package conv

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// TestExpandedIsAll compares a product, a depthwise convolution behind and another product, some rows at a time, with these one after the other.
func TestExpandedIsAll(t *testing.T) {
	if len(linalgtest.Sets()) == 0 {
		t.Skip("no code is generated here")
	}
	defer parallel.SetNumThreads(0)
	one := [3]int{1, 1, 1}
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		batch, in, channels, height, width, kernel, stride, padding int // of what is in the middle, which is half as high and wide as the image where it is no product's
		reach                                                       int
		narrows                                                     bool
	}{
		{1, 16, 96, 112, 112, 3, 2, 1, 1, true}, {2, 24, 144, 56, 56, 3, 1, 1, 1, true}, {1, 8, 70, 61, 53, 5, 2, 2, 1, false}, {1, 3, 64, 40, 90, 3, 3, 0, 1, false}, {1, 5, 200, 50, 30, 1, 2, 0, 1, false},
		{1, 3, 32, 61, 53, 3, 1, 1, 3, true}, {2, 4, 40, 50, 57, 3, 1, 1, 5, true},
	} {
		product := Convolution{Batch: c.batch, InChannels: c.in, OutChannels: c.channels, Groups: 1, In: [3]int{1, c.height, c.width}, Out: [3]int{1, c.height, c.width}, Kernel: one, Stride: one, Dilation: one}
		if c.reach > 1 {
			product.In, product.Kernel, product.Stride, product.Padding = [3]int{1, 2 * c.height, 2 * c.width}, [3]int{1, c.reach, c.reach}, [3]int{1, 2, 2}, [3]int{0, c.reach / 2, c.reach / 2}
		}
		size := func(n int) int { return (n+2*c.padding-c.kernel)/c.stride + 1 }
		depthwise := Convolution{Batch: c.batch, InChannels: c.channels, OutChannels: c.channels, Groups: c.channels, In: product.Out,
			Out: [3]int{1, size(c.height), size(c.width)}, Kernel: [3]int{1, c.kernel, c.kernel}, Stride: [3]int{1, c.stride, c.stride}, Padding: [3]int{0, c.padding, c.padding}, Dilation: one}
		if !SuitsExpanded(&product, &depthwise, PlanOptions{Relu: true}) {
			t.Errorf("%v does not suit", c)
			continue
		}
		first := NewPlan(product, linalgtest.Whole[float32](r, c.channels*c.in*Volume(product.Kernel)), linalgtest.Whole[float32](r, c.channels), PlanOptions{Relu: true})
		second := NewDepthwisePlan(depthwise, linalgtest.Whole[float32](r, c.channels*c.kernel*c.kernel), linalgtest.Whole[float32](r, c.channels), true)
		in, middle, want := linalgtest.Whole[float32](r, c.batch*c.in*Volume(product.In)), make([]float32, c.batch*c.channels*Volume(product.Out)), make([]float32, c.batch*c.channels*Volume(depthwise.Out))
		first.Run(in, nil, middle)
		second.Run(middle, want)
		shape := ExpandedShape{First: &product, Depthwise: &depthwise}
		check := func(what string, shape ExpandedShape, last *Plan[float32], in, residual, want []float32) {
			t.Helper()
			before := first
			if shape.First == nil {
				before = nil
			}
			joined, ok := NewExpanded(shape, before, second, last)
			if !ok {
				t.Fatalf("%v does not run by tiles", c)
			}
			for _, threads := range []int{1, 3} {
				parallel.SetNumThreads(threads)
				found, room := make([]float32, len(want)), make([]float32, shape.Room())
				for i := range room {
					room[i] = -7
				}
				joined.Run(in, residual, found, room, nil)
				if !slices.Equal(found, want) {
					t.Errorf("%s: %v with %d threads differs from one after the other", what, c, threads)
				}
			}
		}
		check("expanded", shape, nil, in, nil, want)
		narrow := Convolution{Batch: c.batch, InChannels: c.channels, OutChannels: 20, Groups: 1, In: depthwise.Out, Out: depthwise.Out, Kernel: one, Stride: one, Dilation: one}
		if !SuitsNarrowed(&depthwise, &narrow) {
			if c.narrows {
				t.Errorf("%v does not suit what is narrowed", c)
			}
			continue
		}
		for _, adds := range []bool{false, true} {
			last := NewPlan(narrow, linalgtest.Whole[float32](r, c.channels*20), linalgtest.Whole[float32](r, 20), PlanOptions{Residual: adds})
			size := c.batch * 20 * Volume(narrow.Out)
			result, residual := make([]float32, size), []float32(nil)
			if adds {
				residual = linalgtest.Whole[float32](r, size)
			}
			last.Run(want, residual, result)
			shape.Last = &narrow
			check("expanded and narrowed", shape, last, in, residual, result)
			check("narrowed", ExpandedShape{Depthwise: &depthwise, Last: &narrow}, last, middle, residual, result)
		}
	}
}
