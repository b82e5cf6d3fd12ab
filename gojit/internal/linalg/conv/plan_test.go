package conv

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// turn moves the channels of images behind the pixels, or back.
func turn[T gemm.Float](data []T, batch, channels, size int, back bool) []T {
	turned := make([]T, len(data))
	for b := range batch {
		for c := range channels {
			for i := range size {
				front, behind := (b*channels+c)*size+i, (b*size+i)*channels+c
				if back {
					turned[front] = data[behind]
				} else {
					turned[behind] = data[front]
				}
			}
		}
	}
	return turned
}

// reference computes what a plan should, channels first.
func reference[T gemm.Float](g Convolution, options PlanOptions, in, weight, bias, residual []T) []T {
	want := make([]T, g.Batch*g.OutChannels*Volume(g.Out))
	fillBias(g, bias, want)
	convolve(g, in, weight, want)
	if options.Epilogue != nil {
		clear(want)
		convolve(g, in, weight, want)
		for i := range want {
			want[i] = max(want[i]*bias[i/Volume(g.Out)%g.OutChannels]+residual[i], -3)
		}
		return want
	}
	for i := range want {
		if options.Residual {
			want[i] += residual[i]
		}
		if options.Relu {
			want[i] = max(want[i], 0)
		}
	}
	return want
}

func checkPlan[T gemm.Float](t *testing.T, r *rand.Rand, g Convolution, options PlanOptions, tolerance float64) {
	t.Helper()
	inSize, outSize := Volume(g.In), Volume(g.Out)
	in, weight := linalgtest.Whole[T](r, g.Batch*g.InChannels*inSize), linalgtest.Whole[T](r, g.OutChannels*(g.InChannels/g.Groups)*Volume(g.Kernel))
	bias, residual := linalgtest.Whole[T](r, g.OutChannels), linalgtest.Whole[T](r, g.Batch*g.OutChannels*outSize)
	want := reference(g, options, in, weight, bias, residual)
	got := make([]T, len(want))
	NewPlan(g, weight, bias, options).Run(turn(in, g.Batch, g.InChannels, inSize, false), turn(residual, g.Batch, g.OutChannels, outSize, false), got)
	got = turn(got, g.Batch, g.OutChannels, outSize, true)
	scale := 0.0
	for _, v := range want {
		scale = max(scale, math.Abs(float64(v)))
	}
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > tolerance*scale {
			t.Fatalf("%T %+v %+v: element %d is %v, want %v", in, g, options, i, got[i], want[i])
		}
	}
}

func randomOptions(r *rand.Rand) PlanOptions {
	return PlanOptions{Relu: r.IntN(2) == 0, Residual: r.IntN(2) == 0, Exact: true}
}

func TestPlansAgreeWithPortable(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 120 {
		g := randomConvolution(r)
		g.In[0], g.Out[0], g.Kernel[0], g.Padding[0] = 1, 1, 1, 0
		checkPlan[float32](t, r, g, randomOptions(r), 0)
		checkPlan[float64](t, r, g, randomOptions(r), 0)
		checkPlan[float32](t, r, g, PlanOptions{Epilogue: exactConvEpilogue[float32]()}, 0)
	}
}

// TestPlansOfHalves has products whose last vector has no more than half as many columns, and so the weights of two channels: all numbers of columns and
// rows of tiles, sums of odd lengths, which are computed otherwise, strides, padding and what is done to the sums.
func TestPlansOfHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for _, filters := range []int{1, 2, 7, 8, 9, 17, 20, 24, 25, 33, 40, 41} {
		for size := 1; size < 9; size++ {
			g := square(2*(1+r.IntN(20))+r.IntN(4)/3, size, filters, 1, 1+r.IntN(2), r.IntN(2))
			g.Batch = 1 + r.IntN(2)
			checkPlan[float32](t, r, g, randomOptions(r), 0)
			checkPlan[float64](t, r, g, randomOptions(r), 0)
			checkPlan[float32](t, r, g, PlanOptions{Epilogue: exactConvEpilogue[float32]()}, 0)
		}
	}
}

// TestPlansStream has outputs go past the caches where their places lie at multiples of cache lines, and not elsewhere.
func TestPlansStream(t *testing.T) {
	defer func(n int) { streamFrom = n }(streamFrom)
	streamFrom = 0
	r := rand.New(rand.NewPCG(49, 50))
	for _, channels := range []int{16, 48, 96, 40} {
		for _, kernel := range []int{1, 3} {
			checkPlan[float32](t, r, square(8, 20, channels, kernel, 1, 0), PlanOptions{Relu: true, Residual: true, Exact: true}, 0)
			checkPlan[float64](t, r, square(8, 20, channels, kernel, 1, 1), PlanOptions{Exact: true}, 0)
			checkPlan[float32](t, r, square(8, 20, channels, kernel, 1, 1), PlanOptions{Epilogue: exactConvEpilogue[float32]()}, 0)
		}
	}
}

// winogradGeometries are convolutions that the algorithm F(4x4, 3x3) computes.
func winogradGeometries(t *testing.T, r *rand.Rand) (found []Convolution) {
	if asm.Target() < asm.AVX2 {
		t.Skip("no AVX2")
	}
	for lanes := lanesOf[float32](asm.Target()); len(found) < 30; {
		g := pairsGeometry(1+r.IntN(3), lanes*(1+r.IntN(5)), lanes*(1+r.IntN(6)), 4+r.IntN(21), 4+r.IntN(21), r.IntN(2), r.IntN(2))
		if suitsWinograd[float32](&g, lanes) {
			found = append(found, g)
		}
	}
	return found
}

func TestWinogradIsNearTheConvolution(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, g := range winogradGeometries(t, r) {
		options := randomOptions(r)
		options.Exact = false
		if found := wayOf[float32](&g, &options); found != byWinograd {
			t.Fatalf("%+v %+v: way %d", g, options, found)
		}
		checkPlan[float32](t, r, g, options, 2e-5)
	}
	small, doubles := pairsGeometry(1, 512, 512, 7, 7, 1, 1), pairsGeometry(1, 64, 64, 56, 56, 1, 1)
	if wayOf[float32](&small, &PlanOptions{}) == byWinograd || wayOf[float64](&doubles, &PlanOptions{}) == byWinograd {
		t.Error("Winograd for few patches, or for float64")
	}
}

// TestPlansDoNotDependOnThreads compares bits: of one with several groups of patches, with one group, without Winograd,
// and with weights that are read once.
func TestPlansDoNotDependOnThreads(t *testing.T) {
	defer parallel.SetNumThreads(0)
	r := rand.New(rand.NewPCG(47, 48))
	for _, c := range []struct {
		geometry Convolution
		exact    bool
	}{{square(16, 56, 48, 3, 1, 1), false}, {square(64, 16, 48, 3, 1, 1), false}, {square(3, 60, 24, 7, 2, 3), true}, {square(96, 9, 128, 3, 1, 1), true}} {
		g := c.geometry
		in, weight, out := make([]float32, g.InChannels*Volume(g.In)), make([]float32, g.OutChannels*g.InChannels*Volume(g.Kernel)), make([]float32, g.OutChannels*Volume(g.Out))
		for _, x := range [][]float32{in, weight} {
			for i := range x {
				x[i] = r.Float32() - 0.5
			}
		}
		plan, first := NewPlan(g, weight, nil, PlanOptions{Exact: c.exact}), []float32(nil)
		for threads := 1; threads <= 5; threads++ {
			parallel.SetNumThreads(threads)
			clear(out)
			plan.Run(in, nil, out)
			if first == nil {
				first = append(first, out...)
			}
			for i := range first {
				if out[i] != first[i] {
					t.Fatalf("%+v: with %d threads element %d is %v, with one %v", g, threads, i, out[i], first[i])
				}
			}
		}
	}
}

func checkChannels[T gemm.Float](t *testing.T, r *rand.Rand, g Convolution, plan *ChannelsPlan[T]) {
	t.Helper()
	in := linalgtest.Whole[T](r, g.Batch*g.InChannels*Volume(g.In))
	if plan.kind == tile.Largest {
		in[r.IntN(len(in))] = T(math.NaN())
	}
	got, want := make([]T, g.Batch*g.InChannels*Volume(g.Out)), make([]T, g.Batch*g.InChannels*Volume(g.Out))
	plan.Run(in, got)
	plan.runPortable(in, want)
	for i := range want {
		if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%T kind %d %+v: element %d is %v, want %v", in, plan.kind, g, i, got[i], want[i])
		}
	}
}

func TestPlansOfChannelsAgreeWithPortable(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	for range 80 {
		g := perChannel(r, randomConvolution(r))
		g.InChannels = 1 + r.IntN(40)
		if r.IntN(8) == 0 {
			g.InChannels += 500 // in blocks
		}
		g.OutChannels, g.Groups = g.InChannels, g.InChannels
		divisors := make([]float32, Volume(g.Out))
		for i := range divisors {
			divisors[i] = float32(int(1) << r.IntN(4))
		}
		weight, bias := linalgtest.Whole[float32](r, g.InChannels*Volume(g.Kernel)), linalgtest.Whole[float32](r, g.InChannels)
		checkChannels(t, r, g, NewDepthwisePlan(g, weight, bias, r.IntN(2) == 0))
		checkChannels(t, r, g, NewMaxPoolPlan[float64](g))
		checkChannels(t, r, g, NewMaxPoolPlan[float32](g))
		checkChannels(t, r, g, NewAveragePoolPlan(g, divisors))
	}
}

// TestEpiloguesOfChannelsAreThoseOfRows compares depthwise convolutions with an epilogue with the kernel applied to the results without, bit by bit.
func TestEpiloguesOfChannelsAreThoseOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 50))
	for name, f := range map[string]func(b *kernel.Builder, x kernel.Value) kernel.Value{
		"clamp": func(b *kernel.Builder, x kernel.Value) kernel.Value {
			return b.Binary(kernel.Min, b.Binary(kernel.Max, x, b.Number(x, 0)), b.Number(x, 6))
		},
		"silu": func(b *kernel.Builder, x kernel.Value) kernel.Value {
			return b.Div(x, b.Add(b.Exp(b.Neg(x)), b.Number(x, 1)))
		},
		"gelu": func(b *kernel.Builder, x kernel.Value) kernel.Value {
			return b.Mul(b.Mul(x, b.Number(x, 0.5)), b.Add(b.Unary(kernel.Erf, b.Mul(x, b.Number(x, 0.7071067811865476))), b.Number(x, 1)))
		},
	} {
		b := kernel.NewBuilder()
		b.Output(f(b, b.Input(tensor.Float32, tensor.Float32)), tensor.Float32)
		epilogue, err := gemm.NewEpilogue(expand.For(b.Kernel(), amd64.PrimitivesOf(asm.Target())), tensor.Float32)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			g := perChannel(r, randomConvolution(r))
			g.InChannels = 1 + r.IntN(600)
			g.OutChannels, g.Groups = g.InChannels, g.InChannels
			random := func(n int) []float32 {
				x := make([]float32, n)
				for i := range x {
					x[i] = 8 * (r.Float32() - 0.5)
				}
				return x
			}
			in, weight, bias := random(g.Batch*g.InChannels*Volume(g.In)), random(g.InChannels*Volume(g.Kernel)), random(g.InChannels)
			got, want := make([]float32, g.Batch*g.InChannels*Volume(g.Out)), make([]float32, g.Batch*g.InChannels*Volume(g.Out))
			NewDepthwisePlanThen(g, weight, bias, epilogue).Run(in, got)
			NewDepthwisePlan(g, weight, bias, false).Run(in, want)
			gemm.ApplyEpilogue(epilogue, want, len(want)/g.InChannels, g.InChannels, g.InChannels, nil, nil)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %+v: differs", name, g)
			}
		}
	}
}
