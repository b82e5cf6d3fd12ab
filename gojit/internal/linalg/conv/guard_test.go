//go:build unix

package conv

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
)

// TestNothingOutsideIsTouched runs convolutions over buffers between guard pages.
func TestNothingOutsideIsTouched(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, isa := range linalgtest.Sets() {
		for i := range 40 {
			front := i%2 == 0
			g := randomConvolution(r)
			switch i % 3 {
			case 0:
				g = perChannel(r, g)
			case 1:
				g.In[0], g.Out[0], g.Kernel[0], g.Padding[0] = 1, 1, 1, 0
			}
			guardConvolution[float32](t, r, isa, g, front)
			guardConvolution[float64](t, r, isa, g, front)
		}
	}
}

func guardConvolution[T gemm.Float](t *testing.T, r *rand.Rand, isa asm.ISA, g Convolution, front bool) {
	t.Helper()
	in, weight := linalgtest.Guarded(t, linalgtest.Whole[T](r, g.Batch*g.InChannels*Volume(g.In)), front), linalgtest.Guarded(t, linalgtest.Whole[T](r, g.OutChannels*(g.InChannels/g.Groups)*Volume(g.Kernel)), front)
	out, bias := linalgtest.Guarded(t, make([]T, g.Batch*g.OutChannels*Volume(g.Out)), front), linalgtest.Guarded(t, make([]T, g.OutChannels), front)
	convolveTiled(isa, g, in, weight, bias, out)
	if g.Groups == 1 {
		convolveWide(isa, g, in, weight, bias, out)
	}
	if g.canDepthwise() {
		convolveDepthwise(isa, g, in, weight, bias, out)
	}
	weightGradientWide(isa, g, in, out, weight)
	weightGradientDots(isa, g, in, out, weight)
	if isa != asm.Target() || g.In[0] != 1 || g.Kernel[0] != 1 || g.Padding[0] != 0 {
		return
	}
	NewPlan(g, weight, bias, PlanOptions{Residual: true}).Run(in, out, linalgtest.Guarded(t, make([]T, len(out)), front))
	g.OutChannels, g.Groups = g.InChannels, g.InChannels
	pooled := linalgtest.Guarded(t, make([]T, g.Batch*g.InChannels*Volume(g.Out)), front)
	NewMaxPoolPlan[T](g).Run(in, pooled)
	pool(isa, tile.Largest, g, in, []T{0}, nil, pooled)
}

// TestPairsTouchNothingOutside runs convolutions by pairs and their gradients over buffers between guard pages.
func TestPairsTouchNothingOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	for i, g := range onPairs(t) {
		front := i%2 == 0
		in, weight := linalgtest.Guarded(t, linalgtest.Whole[float32](r, g.Batch*g.InChannels*Volume(g.In)), front), linalgtest.Guarded(t, linalgtest.Whole[float32](r, g.OutChannels*g.InChannels*9), front)
		out, bias := linalgtest.Guarded(t, make([]float32, g.Batch*g.OutChannels*Volume(g.Out)), front), linalgtest.Guarded(t, make([]float32, g.OutChannels), front)
		convolvePairs(g, in, weight, bias, out, false, tapsLast)
		for _, order := range []tapOrder{tapsLast, channelsLast} {
			convolvePairs(g, in, weight, bias, out, true, order)
		}
		residual := linalgtest.Guarded(t, linalgtest.Whole[float32](r, len(out)), front)
		for _, options := range []PlanOptions{{Residual: true, Relu: true, Exact: true}, {Epilogue: siluEpilogue[float32](3), Exact: true}, {Epilogue: siluEpilogue[float32](3)}} {
			NewPlan(g, weight, bias, options).Run(in, residual, out)
		}
		weightGradientPairs(g, in, out, weight)
		Transpose(g, out, weight, nil, in)
	}
}

// TestWinogradTouchesNothingOutside runs plans over buffers between guard pages.
func TestWinogradTouchesNothingOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(89, 90))
	for i, g := range winogradGeometries(t, r) {
		front := i%2 == 0
		in, residual := linalgtest.Guarded(t, linalgtest.Whole[float32](r, g.Batch*g.InChannels*Volume(g.In)), front), linalgtest.Guarded(t, linalgtest.Whole[float32](r, g.Batch*g.OutChannels*Volume(g.Out)), front)
		NewPlan(g, linalgtest.Whole[float32](r, g.OutChannels*g.InChannels*9), nil, PlanOptions{Residual: true}).Run(in, residual, linalgtest.Guarded(t, make([]float32, len(residual)), front))
	}
}

// FuzzConvolution compares the ways through a convolution for sizes that the fuzzer picks.
func FuzzConvolution(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Add(uint64(77), uint64(3))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		g := randomConvolution(r)
		for _, isa := range linalgtest.Sets() {
			checkConvolution[float32](t, r, g, isa)
			guardConvolution[float32](t, r, isa, g, a%2 == 0)
		}
	})
}
