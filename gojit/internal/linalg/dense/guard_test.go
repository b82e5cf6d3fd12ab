//go:build unix

package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm/asmtest"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
)

// guarded copies data to memory that ends, or where front begins, at a page that cannot be touched.
func guarded[T Number | Half | uint8](t *testing.T, data []T, front bool) []T {
	t.Helper()
	moved := asmtest.Guarded[T](t, len(data), front)
	copy(moved, data)
	return moved
}

// TestNothingOutsideIsTouched runs products and convolutions over buffers between guard pages.
func TestNothingOutsideIsTouched(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, isa := range generatedSets() {
		for i := range 40 {
			front := i%2 == 0
			p := randomProduct[float32](r, 1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(70))
			p.A.Data, p.B.Data, p.C.Data = guarded(t, p.A.Data, front), guarded(t, p.B.Data, front), guarded(t, p.C.Data, front)
			p.Epilogue, p.Residual = nil, nil
			p.generated(isa)
			q := randomProduct[float64](r, 1+r.IntN(40), 1+r.IntN(600), 1+r.IntN(200))
			q.A.Data, q.B.Data, q.C.Data = guarded(t, q.A.Data, front), guarded(t, q.B.Data, front), guarded(t, q.C.Data, front)
			q.Epilogue, q.Residual = nil, nil
			q.generated(isa)
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

// TestBytesTouchNothingOutside runs products and convolutions of bytes over buffers between guard pages.
func TestBytesTouchNothingOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for i := range 120 {
		g, front := randomByteGeometry(r), i%2 == 0
		c := randomBytes(r, g)
		in := guarded(t, c.in, front)
		n := g.Batch * g.OutChannels * volume(g.Out)
		out, real := guarded(t, make([]uint8, n), front), guarded(t, make([]float32, n), front)
		for _, way := range byteWays() {
			p := NewBytePlan(g, packBytes(g, c.weight, c.zeros, way.isa, way.dot), c.options)
			p.Run(in, out)
			p.RunReal(in, real)
			if g.InChannels == g.OutChannels && g.Groups == g.InChannels {
				newBytePool(g, c.options, tile.Largest, way.isa).Run(in, out)
				newBytePool(g, c.options, tile.Averaged, way.isa).RunReal(in, real)
			}
		}
	}
}

func guardConvolution[T Float](t *testing.T, r *rand.Rand, isa asm.ISA, g Convolution, front bool) {
	t.Helper()
	in, weight := guarded(t, whole[T](r, g.Batch*g.InChannels*volume(g.In)), front), guarded(t, whole[T](r, g.OutChannels*(g.InChannels/g.Groups)*volume(g.Kernel)), front)
	out, bias := guarded(t, make([]T, g.Batch*g.OutChannels*volume(g.Out)), front), guarded(t, make([]T, g.OutChannels), front)
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
	NewPlan(g, weight, bias, PlanOptions{Residual: true}).Run(in, out, guarded(t, make([]T, len(out)), front))
	g.OutChannels, g.Groups = g.InChannels, g.InChannels
	pooled := guarded(t, make([]T, g.Batch*g.InChannels*volume(g.Out)), front)
	NewMaxPoolPlan[T](g).Run(in, pooled)
	pool(isa, tile.Largest, g, in, []T{0}, nil, pooled)
}

// TestPairsTouchNothingOutside runs convolutions by pairs and their gradients over buffers between guard pages.
func TestPairsTouchNothingOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	for i, g := range onPairs(t) {
		front := i%2 == 0
		in, weight := guarded(t, whole[float32](r, g.Batch*g.InChannels*volume(g.In)), front), guarded(t, whole[float32](r, g.OutChannels*g.InChannels*9), front)
		out, bias := guarded(t, make([]float32, g.Batch*g.OutChannels*volume(g.Out)), front), guarded(t, make([]float32, g.OutChannels), front)
		convolvePairs(g, in, weight, bias, out, false, tapsLast)
		for _, order := range []tapOrder{tapsLast, channelsLast} {
			convolvePairs(g, in, weight, bias, out, true, order)
		}
		residual := guarded(t, whole[float32](r, len(out)), front)
		for _, options := range []PlanOptions{{Residual: true, Relu: true, Exact: true}, {Epilogue: exactEpilogue[float32]()}} {
			NewPlan(g, weight, bias, options).Run(in, residual, out)
		}
		weightGradientPairs(g, in, out, weight)
		Transpose(g, out, weight, nil, in)
	}
}

// FuzzConvolution compares the ways through a convolution for sizes that the fuzzer picks.
func FuzzConvolution(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Add(uint64(77), uint64(3))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		g := randomConvolution(r)
		for _, isa := range generatedSets() {
			checkConvolution[float32](t, r, g, isa)
			guardConvolution[float32](t, r, isa, g, a%2 == 0)
		}
	})
}

// FuzzProduct compares generated products with the portable ones for sizes that the fuzzer picks.
func FuzzProduct(f *testing.F) {
	f.Add(uint64(1), uint16(3), uint16(70), uint16(9))
	f.Add(uint64(5), uint16(130), uint16(33), uint16(1025))
	f.Fuzz(func(t *testing.T, seed uint64, m, n, k uint16) {
		r := rand.New(rand.NewPCG(seed, 1))
		for _, isa := range generatedSets() {
			checkProduct(t, randomProduct[float32](r, 1+int(m)%300, 1+int(n)%300, 1+int(k)%1500), isa)
			checkProduct(t, randomProduct[float64](r, 1+int(m)%100, 1+int(n)%100, 1+int(k)%700), isa)
		}
	})
}
