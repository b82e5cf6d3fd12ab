package conv

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// pairsGeometry is a convolution of 3 by 3 that pairs compute.
func pairsGeometry(batch, channels, filters, height, width, down, across int) Convolution {
	one := [3]int{1, 1, 1}
	return Convolution{Batch: batch, Groups: 1, InChannels: channels, OutChannels: filters, In: [3]int{1, height, width}, Kernel: [3]int{1, 3, 3}, Stride: one, Dilation: one,
		Padding: [3]int{0, down, across}, Out: [3]int{1, height + 2*down - 2, width + 2*across - 2}}
}

// pairsGeometries have images that groups hold several of, rows of patches that groups cut, panels that are half empty, and
// outputs of fewer pixels than a vector has lanes.
func pairsGeometries(r *rand.Rand) []Convolution {
	found := []Convolution{pairsGeometry(7, 32, 32, 3, 7, 1, 1), pairsGeometry(1, 32, 48, 50, 27, 1, 1), pairsGeometry(3, 64, 32, 25, 2, 1, 2), pairsGeometry(1, 112, 80, 14, 15, 0, 1)}
	for lanes := lanesOf[float32](asm.Target()); len(found) < 16; {
		found = append(found, pairsGeometry(1+r.IntN(5), 32+lanes*r.IntN(3), 32+lanes*r.IntN(5), 7+r.IntN(14), 7+r.IntN(14), r.IntN(3), r.IntN(3)))
	}
	return slices.DeleteFunc(found, func(g Convolution) bool { return !suitsPairs[float32](&g, fewestPatches) })
}

// onPairs skips a test where the processor has not what the algorithm needs.
func onPairs(t *testing.T) []Convolution {
	if asm.Target() < asm.AVX2 {
		t.Skip("no AVX2")
	}
	found := pairsGeometries(rand.New(rand.NewPCG(71, 72)))
	if len(found) < 8 {
		t.Fatalf("only %d of the geometries suit", len(found))
	}
	return found
}

// TestPairsAgreeWithPortable compares sums of whole numbers, which the halves of the algorithm keep exact.
func TestPairsAgreeWithPortable(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	for _, g := range onPairs(t) {
		in, weight, bias := linalgtest.Whole[float32](r, g.Batch*g.InChannels*Volume(g.In)), linalgtest.Whole[float32](r, g.OutChannels*g.InChannels*9), linalgtest.Whole[float32](r, g.OutChannels)
		out := make([]float32, g.Batch*g.OutChannels*Volume(g.Out))
		compare := func(what string, got, want []float32, finite bool) {
			t.Helper()
			for i := range want {
				if !finite || got[i] != want[i] {
					t.Fatalf("%s %+v: finite %v, element %d is %v, want %v", what, g, finite, i, got[i], want[i])
				}
			}
		}
		for _, b := range [][]float32{nil, bias} {
			want := make([]float32, len(out))
			fillBias(g, b, want)
			convolve(g, in, weight, want)
			got := slices.Repeat([]float32{-1}, len(out))
			finite := convolvePairs(g, in, weight, b, got, false, tapsLast)
			compare("forward", got, want, finite)
			copy(out, want)
		}
		wantWeight, gotWeight := make([]float32, len(weight)), slices.Repeat([]float32{-1}, len(weight))
		weightGradient(g, in, out, wantWeight)
		finite := weightGradientPairs(g, in, out, gotWeight)
		compare("gradient of the weights", gotWeight, wantWeight, finite)
		wantIn, gotIn := make([]float32, len(in)), slices.Repeat([]float32{-1}, len(in))
		transpose(g, out, weight, wantIn)
		Transpose(g, out, weight, nil, gotIn)
		compare("gradient of the input", gotIn, wantIn, true)
	}
}

// TestPairsOfImagesWithChannelsTogether has sums of whole numbers: of plans with all that these do to sums, and of weights in both orders.
func TestPairsOfImagesWithChannelsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 84))
	for _, g := range onPairs(t) {
		for _, options := range []PlanOptions{{Exact: true}, {Relu: true, Exact: true}, {Residual: true, Exact: true}, {Relu: true, Residual: true, Exact: true}} {
			if found := wayOf[float32](&g, &options); found != byPairs {
				t.Fatalf("%+v %+v: way %d", g, options, found)
			}
			checkPlan[float32](t, r, g, options, 0)
		}
		checkLast[float32](t, r, g)
	}
	few := pairsGeometry(1, 64, 32, 6, 5, 1, 1)
	for _, options := range []PlanOptions{{Exact: true, Relu: true, Residual: true}, {}} {
		if wayOf[float32](&few, &options) != byPairs || suitsPairs[float32](&few, fewestPatches) {
			t.Errorf("%+v: plans, whose weights are transformed once, and they alone, are to take few patches", options)
		}
		checkPlan[float32](t, r, few, options, 0)
	}
}

// TestPairsOfOtherSizes has plans share weights.
func TestPairsOfOtherSizes(t *testing.T) {
	onPairs(t)
	r := rand.New(rand.NewPCG(85, 86))
	weight, bias := linalgtest.Whole[float32](r, 48*32*9), linalgtest.Whole[float32](r, 48)
	for _, options := range []PlanOptions{{Exact: true, Relu: true}, {Exact: true, Epilogue: siluEpilogue[float32](3)}} {
		first := NewPlan(pairsGeometry(1, 32, 48, 11, 12, 1, 1), weight, bias, options)
		if _, ok := first.Resized(pairsGeometry(1, 32, 48, 4, 4, 1, 1)); ok {
			t.Error("weights for pairs are laid out as tiles read them")
		}
		g := pairsGeometry(3, 32, 48, 20, 31, 1, 1)
		plan, ok := first.Resized(g)
		if !ok || plan.pairs.factors != first.pairs.factors {
			t.Fatal("weights are not shared")
		}
		in, residual := linalgtest.Whole[float32](r, g.Batch*g.InChannels*Volume(g.In)), linalgtest.Whole[float32](r, g.Batch*g.OutChannels*Volume(g.Out))
		got, want := make([]float32, len(residual)), make([]float32, len(residual))
		if !plan.Run(in, residual, got) || !NewPlan(g, weight, bias, options).Run(in, residual, want) || !slices.Equal(got, want) {
			t.Errorf("%+v: other results with weights of another plan", options)
		}
	}
}

// TestPlansTellThatSumsAreNotFinite has a plan by definition compute what another one cannot; what is not finite in a bias or a residual stays where it is.
func TestPlansTellThatSumsAreNotFinite(t *testing.T) {
	onPairs(t)
	r := rand.New(rand.NewPCG(87, 88))
	g := pairsGeometry(1, 32, 32, 12, 13, 1, 1)
	in, weight, bias, residual := linalgtest.Whole[float32](r, 32*Volume(g.In)), linalgtest.Whole[float32](r, 32*32*9), linalgtest.Whole[float32](r, 32), linalgtest.Whole[float32](r, 32*Volume(g.Out))
	bias[3], residual[77] = float32(math.Inf(1)), float32(math.NaN())
	options := PlanOptions{Exact: true, Residual: true, Relu: true}
	certain := options
	certain.ByDefinition = true
	pairs, tiles := NewPlan(g, weight, bias, options), NewPlan(g, weight, bias, certain)
	if pairs.way() != byPairs || tiles.way() != byTiles || g.MayOverwriteResidual(options) || !g.MayOverwriteResidual(certain) {
		t.Fatal("another way than that of the options")
	}
	got, want := make([]float32, len(residual)), make([]float32, len(residual))
	if !pairs.Run(in, residual, got) || !tiles.Run(in, residual, want) {
		t.Fatal("sums are finite")
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	for _, bad := range []float32{float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32} {
		in[200] = bad
		if pairs.Run(in, residual, got) || !tiles.Run(in, residual, want) {
			t.Errorf("%v: what is not finite is not told, or told by a plan by definition", bad)
		}
	}
}

// TestPairsDoNotDependOnThreads compares bits.
func TestPairsDoNotDependOnThreads(t *testing.T) {
	defer parallel.SetNumThreads(0)
	r := rand.New(rand.NewPCG(75, 76))
	for _, g := range onPairs(t) {
		in, weight, out := normal(r, g.Batch*g.InChannels*Volume(g.In)), normal(r, g.OutChannels*g.InChannels*9), normal(r, g.Batch*g.OutChannels*Volume(g.Out))
		var results [2][4][]float32
		plan := NewPlan(g, weight, nil, PlanOptions{Exact: true, Relu: true, Residual: true})
		for i := range results {
			parallel.SetNumThreads(1 + 2*i)
			a, b, c, d := make([]float32, len(out)), make([]float32, len(in)), make([]float32, len(weight)), make([]float32, len(out))
			Convolve(g, in, weight, nil, a)
			Transpose(g, out, weight, nil, b)
			WeightGradient(g, in, out, c)
			plan.Run(in, out, d)
			results[i] = [4][]float32{a, b, c, d}
		}
		for i, one := range results[0] {
			if !slices.Equal(one, results[1][i]) {
				t.Errorf("%+v: result %d differs between threads", g, i)
			}
		}
	}
}

func normal(r *rand.Rand, n int) []float32 {
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(r.NormFloat64())
	}
	return data
}

// TestPairsAreAsExactAsTiles compares the errors of both ways against sums in float64.
func TestPairsAreAsExactAsTiles(t *testing.T) {
	onPairs(t)
	r := rand.New(rand.NewPCG(77, 78))
	for _, g := range []Convolution{pairsGeometry(2, 64, 64, 14, 14, 1, 1), pairsGeometry(2, 256, 64, 9, 9, 1, 1)} {
		in, weight := normal(r, g.Batch*g.InChannels*Volume(g.In)), normal(r, g.OutChannels*g.InChannels*9)
		want := make([]float64, g.Batch*g.OutChannels*Volume(g.Out))
		convolve(g, doubles(in), doubles(weight), want)
		deviation := func(way func(out []float32)) float64 {
			out, sum := make([]float32, len(want)), 0.0
			way(out)
			for i, v := range out {
				sum += (float64(v) - want[i]) * (float64(v) - want[i])
			}
			return math.Sqrt(sum)
		}
		tiles := deviation(func(out []float32) { convolveTiled(asm.Target(), g, in, weight, nil, out) })
		pairs := deviation(func(out []float32) { convolvePairs(g, in, weight, nil, out, false, tapsLast) })
		if pairs > 2*tiles {
			t.Errorf("%+v: an error of %g, that of tiles is %g", g, pairs, tiles)
		}
	}
}

func doubles(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// TestPairsLeaveInfinitiesWhereTheyAre has one element that is not finite: only results that read it may be so.
func TestPairsLeaveInfinitiesWhereTheyAre(t *testing.T) {
	onPairs(t)
	r := rand.New(rand.NewPCG(79, 80))
	g := pairsGeometry(2, 32, 32, 12, 13, 1, 1)
	for _, bad := range []float32{float32(math.Inf(1)), float32(math.NaN()), math.MaxFloat32} {
		in, weight, out := linalgtest.Whole[float32](r, g.Batch*g.InChannels*Volume(g.In)), linalgtest.Whole[float32](r, g.OutChannels*g.InChannels*9), linalgtest.Whole[float32](r, g.Batch*g.OutChannels*Volume(g.Out))
		in[200], out[300] = bad, bad
		isFar := func(v float32) bool { return !(math.Abs(float64(v)) < 1e6) }
		compare := func(what string, got, want []float32) {
			t.Helper()
			for i := range want {
				if isFar(got[i]) != isFar(want[i]) || !isFar(want[i]) && got[i] != want[i] {
					t.Fatalf("%s of %v: element %d is %v, want %v", what, bad, i, got[i], want[i])
				}
			}
		}
		want, got := make([]float32, len(out)), make([]float32, len(out))
		convolve(g, in, weight, want)
		Convolve(g, in, weight, nil, got)
		compare("convolution", got, want)
		want, got = make([]float32, len(in)), make([]float32, len(in))
		transpose(g, out, weight, want)
		Transpose(g, out, weight, nil, got)
		compare("gradient of the input", got, want)
		want, got = make([]float32, len(weight)), make([]float32, len(weight))
		weightGradientWide(asm.Target(), g, in, out, want) // which multiplies with the padding, too
		WeightGradient(g, in, out, got)
		compare("gradient of the weights", got, want)
	}
}
