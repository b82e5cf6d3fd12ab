package conv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// perChannel makes a geometry one in two dimensions with a filter or two for each channel.
func randomConvolution(r *rand.Rand) Convolution { return Convolution(linalgtest.Geometry(r)) }

func perChannel(r *rand.Rand, g Convolution) Convolution {
	g.In[0], g.Out[0], g.Kernel[0], g.Padding[0] = 1, 1, 1, 0
	g.InChannels, g.OutChannels, g.In[2] = g.Groups, g.Groups*(1+r.IntN(2)), g.In[2]+r.IntN(70)
	g.Out[2] = (g.In[2]+2*g.Padding[2]-g.Dilation[2]*(g.Kernel[2]-1)-1)/g.Stride[2] + 1
	return g
}

func exactConvEpilogue[T gemm.Float]() *gemm.Epilogue {
	e, err := gemm.NewEpilogue(linalgtest.ExactEpilogue[T]())
	if err != nil {
		panic(err)
	}
	return e
}

func checkConvolution[T gemm.Float](t *testing.T, r *rand.Rand, g Convolution, isa asm.ISA) {
	t.Helper()
	in, weight := linalgtest.Whole[T](r, g.Batch*g.InChannels*Volume(g.In)), linalgtest.Whole[T](r, g.OutChannels*(g.InChannels/g.Groups)*Volume(g.Kernel))
	var bias []T
	if r.IntN(2) == 0 {
		bias = linalgtest.Whole[T](r, g.OutChannels)
	}
	want := make([]T, g.Batch*g.OutChannels*Volume(g.Out))
	fillBias(g, bias, want)
	convolve(g, in, weight, want)
	compare := func(way string, run func(isa asm.ISA, g Convolution, in, weight, bias, out []T)) {
		got := linalgtest.Whole[T](r, len(want))
		run(isa, g, in, weight, bias, got)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s %v %T %+v bias %v: element %d is %v, want %v", way, isa, in, g, bias != nil, i, got[i], want[i])
			}
		}
	}
	compare("tiled", convolveTiled[T])
	if g.Groups == 1 {
		compare("wide", convolveWide[T])
	}
	if g.canDepthwise() {
		compare("depthwise", convolveDepthwise[T])
	}
	checkWeightGradient(t, isa, g, in, want, weight)
}

// checkWeightGradient compares the ways to the derivative by the weights, for some gradient of the output.
func checkWeightGradient[T gemm.Float](t *testing.T, isa asm.ISA, g Convolution, in, out, weight []T) {
	t.Helper()
	want := make([]T, len(weight))
	weightGradient(g, in, out, want)
	compare := func(way string, run func(in, out, weight []T)) {
		got := slices.Repeat([]T{-1}, len(weight))
		run(in, out, got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s %v %T %+v: %v, want %v", way, isa, in, g, got, want)
		}
	}
	if g.Batch*len(weight)*Volume(g.Out) == 0 {
		return
	}
	compare("wide", func(in, out, weight []T) { weightGradientWide(isa, g, in, out, weight) })
	compare("dots", func(in, out, weight []T) { weightGradientDots(isa, g, in, out, weight) })
	if g.isProduct() {
		compare("products", func(in, out, weight []T) { weightGradientProducts(g, in, out, weight) })
	}
}

func TestTiledConvolutionsAgreeWithPortable(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, isa := range linalgtest.Sets() {
		for range 70 {
			g := randomConvolution(r)
			checkConvolution[float32](t, r, g, isa)
			checkConvolution[float64](t, r, g, isa)
		}
		for range 70 {
			g := perChannel(r, randomConvolution(r))
			checkConvolution[float32](t, r, g, isa)
			checkConvolution[float64](t, r, g, isa)
		}
		for range 40 { // as for the derivative by the weights
			g := randomConvolution(r)
			g.Groups, g.Out, g.Kernel, g.Stride, g.Dilation = 1, g.Kernel, g.Out, g.Dilation, g.Stride
			checkConvolution[float32](t, r, g, isa)
			checkConvolution[float64](t, r, g, isa)
		}
		wide := Convolution{Batch: 2, Groups: 1, InChannels: 130, OutChannels: 140, In: [3]int{1, 9, 17}, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, Padding: [3]int{0, 1, 1}, Out: [3]int{1, 9, 17}}
		checkConvolution[float32](t, r, wide, isa)
		checkConvolution[float64](t, r, wide, isa)
	}
}

// transpose adds to in the transposed convolution of out, by its definition as the adjoint of unfold.
func transpose[T gemm.Float](g Convolution, out, weight, in []T) {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	inSize, outSize, kernel := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
	columns := make([]T, channels*kernel*outSize)
	for i := range g.Batch * g.Groups {
		b, group := i/g.Groups, i%g.Groups
		clear(columns)
		gemm.Multiply(channels*kernel, outSize, filters,
			gemm.Matrix[T]{Data: weight[group*filters*channels*kernel:], Stride: channels * kernel, Transposed: true},
			gemm.Matrix[T]{Data: out[(b*g.OutChannels+group*filters)*outSize:], Stride: outSize},
			gemm.Matrix[T]{Data: columns, Stride: outSize})
		fold(g, channels, columns, in[(b*g.InChannels+group*channels)*inSize:])
	}
}

// TestTransposeAgreesWithPortable compares both ways a transposed convolution is computed with the definition.
func TestTransposeAgreesWithPortable(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 80 {
		g := randomConvolution(r)
		out, weight := linalgtest.Whole[float64](r, g.Batch*g.OutChannels*Volume(g.Out)), linalgtest.Whole[float64](r, g.OutChannels*(g.InChannels/g.Groups)*Volume(g.Kernel))
		want, got := make([]float64, g.Batch*g.InChannels*Volume(g.In)), linalgtest.Whole[float64](r, g.Batch*g.InChannels*Volume(g.In))
		transpose(g, out, weight, want)
		Transpose(g, out, weight, nil, got)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%+v: element %d is %v, want %v", g, i, got[i], want[i])
			}
		}
	}
}

func BenchmarkConvolve(b *testing.B) {
	defer parallel.SetNumThreads(0)
	parallel.SetNumThreads(1)
	one := [3]int{1, 1, 1}
	for _, s := range [][7]int{{3, 224, 64, 7, 2, 3, 1}, {64, 56, 64, 3, 1, 1, 1}, {512, 7, 512, 3, 1, 1, 1}, {96, 56, 24, 1, 1, 0, 1}, {144, 56, 144, 3, 1, 1, 144}} {
		channels, size, filters, k, stride, padding, groups := s[0], s[1], s[2], s[3], s[4], s[5], s[6]
		out := (size+2*padding-k)/stride + 1
		g := Convolution{Batch: 1, Groups: groups, InChannels: channels, OutChannels: filters, In: [3]int{1, size, size}, Out: [3]int{1, out, out}, Kernel: [3]int{1, k, k},
			Stride: [3]int{1, stride, stride}, Dilation: one, Padding: [3]int{0, padding, padding}}
		in, weight, result := linalgtest.Ramp[float32](channels*size*size), linalgtest.Ramp[float32](filters*channels/groups*k*k), make([]float32, filters*out*out)
		measure := func(name string, run func()) {
			b.Run(fmt.Sprintf("%s/%dx%dx%d_%d", name, channels, size, filters, k), func(b *testing.B) {
				for b.Loop() {
					run()
				}
				b.ReportMetric(2*float64(len(result)*k*k*channels/groups)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
			})
		}
		measure("first", func() { Convolve(g, in, weight, nil, result) })
		if groups > 1 {
			plan := NewDepthwisePlan(g, weight, nil, true)
			measure("plan", func() { plan.Run(in, result) })
			continue
		}
		exact, fast := NewPlan(g, weight, nil, PlanOptions{Exact: true}), NewPlan(g, weight, nil, PlanOptions{})
		measure("plan", func() { exact.Run(in, nil, result) })
		if fast.winograd != nil {
			measure("winograd", func() { fast.Run(in, nil, result) })
		}
	}
}
