package conv

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// siluEpilogue is x / (1 + exp(-x)) of so many inputs: the sum, the bias that is added first, and what the quotient is added to.
func siluEpilogue[T gemm.Float](inputs int) *gemm.Epilogue {
	d := tensor.DTypeOf[T]()
	b := kernel.NewBuilder()
	x := b.Input(d, d)
	if inputs > 1 {
		x = b.Add(x, b.Input(d, d))
	}
	y := b.Div(x, b.Add(b.Number(x, 1), b.Exp(b.Neg(x))))
	if inputs > 2 {
		y = b.Add(y, b.Input(d, d))
	}
	b.Output(y, d)
	e, err := gemm.NewEpilogue(b.Kernel(), d)
	if err != nil {
		panic(err)
	}
	return e
}

// randomOfPass returns a convolution of images, and how many inputs an epilogue of it has: one where it is depthwise.
func randomOfPass(r *rand.Rand) (g Convolution, inputs int) {
	g = randomConvolution(r)
	g.In[0], g.Out[0], g.Kernel[0], g.Padding[0] = 1, 1, 1, 0
	if inputs = 1 + r.IntN(3); inputs == 1 {
		g = perChannel(r, g)
		g.OutChannels = g.Groups
	}
	return g, inputs
}

// TestPassesAgreeWithTiles compares epilogues that are applied to whole strips of sums with the same ones applied by tiles: bit by bit, by one thread and by
// several.
func TestPassesAgreeWithTiles(t *testing.T) {
	if asm.Target() < asm.AVX2 {
		t.Skip("no tiles")
	}
	r := rand.New(rand.NewPCG(7, 9))
	for range 40 {
		g, inputs := randomOfPass(r)
		comparePass[float32](t, r, g, inputs)
		comparePass[float64](t, r, g, inputs)
	}
	for _, g := range []Convolution{square(150, 7, 1101, 1, 1, 0), square(70, 6, 333, 3, 1, 1)} { // weights that are read once
		g.Batch = 2
		comparePass[float32](t, r, g, 2)
		comparePass[float64](t, r, g, 3)
	}
}

// TestLimitsAgreeWithOtherEpilogues compares sums between two numbers, which tiles bring there as relu does, with those of a kernel that takes the numbers
// in the other order, and is generated.
func TestLimitsAgreeWithOtherEpilogues(t *testing.T) {
	if asm.Target() < asm.AVX2 {
		t.Skip("no tiles")
	}
	r := rand.New(rand.NewPCG(8, 9))
	limited := func(inputs int, first, second kernel.Op, a, b float64) *gemm.Epilogue {
		k := kernel.NewBuilder()
		x := k.Input(tensor.Float32, tensor.Float32)
		for range inputs - 1 {
			x = k.Add(x, k.Input(tensor.Float32, tensor.Float32))
		}
		k.Output(k.Binary(second, k.Binary(first, x, k.Number(x, a)), k.Number(x, b)), tensor.Float32)
		e, err := gemm.NewEpilogue(k.Kernel(), tensor.Float32)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for range 40 {
		g, inputs := randomOfPass(r)
		compareEpilogues[float32](t, r, g, inputs, limited(inputs, kernel.Max, kernel.Min, -3, 6), limited(inputs, kernel.Min, kernel.Max, 6, -3))
	}
}

// TestEpiloguesBehindFewerProducts has epilogues, long and short ones, behind the algorithms for 3 by 3: they are applied to the sums with their bias.
func TestEpiloguesBehindFewerProducts(t *testing.T) {
	if asm.Target() < asm.AVX2 {
		t.Skip("no tiles")
	}
	r := rand.New(rand.NewPCG(11, 9))
	g := square(32, 24, 64, 3, 1, 1)
	g.Batch = 2
	in, weight, bias := linalgtest.Whole[float32](r, g.Batch*32*24*24), linalgtest.Whole[float32](r, 32*64*9), linalgtest.Whole[float32](r, 64)
	like := linalgtest.Whole[float32](r, g.Batch*64*24*24)
	for exact, wanted := range map[bool]way{true: byPairs, false: byWinograd} {
		for inputs := 1; inputs <= 3; inputs++ {
			e := siluEpilogue[float32](inputs)
			options := PlanOptions{Exact: exact, Epilogue: e}
			want, got := make([]float32, len(like)), make([]float32, len(like))
			plain := bias
			if inputs == 1 { // the epilogue reads no bias
				plain = nil
			}
			NewPlan(g, weight, plain, PlanOptions{Exact: exact}).Run(in, nil, want)
			e.Pass.RunAll(unsafe.Pointer(&want[0]), unsafe.Pointer(&like[0]), len(want), 4)
			if found := wayOf[float32](&g, &options); found != wanted || g.MayOverwriteResidual(options) {
				t.Fatalf("way %d, or the residual may be overwritten", found)
			}
			for _, threads := range []int{1, 3} {
				parallel.SetNumThreads(threads)
				if NewPlan(g, weight, bias, options).Run(in, like, got); !slices.Equal(got, want) {
					t.Errorf("exact %t, %d inputs, %d threads: an epilogue differs from its pass", exact, inputs, threads)
				}
			}
			parallel.SetNumThreads(0)
		}
	}
}

func comparePass[T gemm.Float](t *testing.T, r *rand.Rand, g Convolution, inputs int) {
	t.Helper()
	by := siluEpilogue[T](inputs)
	if by.Pass == nil {
		t.Fatal("a long epilogue has no pass")
	}
	without := *by
	without.Pass = nil
	compareEpilogues[T](t, r, g, inputs, by, &without)
}

// compareEpilogues compares the results of a convolution with two epilogues of so many inputs, bit by bit, by one thread and by several.
func compareEpilogues[T gemm.Float](t *testing.T, r *rand.Rand, g Convolution, inputs int, one, other *gemm.Epilogue) {
	t.Helper()
	in, weight := linalgtest.Whole[T](r, g.Batch*g.InChannels*Volume(g.In)), linalgtest.Whole[T](r, g.OutChannels*(g.InChannels/g.Groups)*Volume(g.Kernel))
	bias, like := linalgtest.Whole[T](r, g.OutChannels), linalgtest.Whole[T](r, g.Batch*g.OutChannels*Volume(g.Out))
	run := func(e *gemm.Epilogue) []T {
		out := linalgtest.Whole[T](r, len(like))
		if inputs == 1 {
			NewDepthwisePlanThen(g, weight, bias, e).Run(in, out)
		} else {
			NewPlan(g, weight, bias, PlanOptions{Epilogue: e}).Run(in, like, out)
		}
		return out
	}
	want := run(other)
	for _, threads := range []int{1, 3} {
		parallel.SetNumThreads(threads)
		if got := run(one); !slices.Equal(got, want) {
			t.Errorf("%T %+v: an epilogue of %d inputs with %d threads differs from the other", in, g, inputs, threads)
		}
	}
	parallel.SetNumThreads(0)
}
