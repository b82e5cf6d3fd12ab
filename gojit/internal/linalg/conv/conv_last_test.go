package conv

import (
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"math/rand/v2"
	"testing"
)

func checkLast[T gemm.Float](t *testing.T, r *rand.Rand, g Convolution) {
	t.Helper()
	inSize, outSize, channels := Volume(g.In), Volume(g.Out), g.InChannels/g.Groups
	in, weight := linalgtest.Whole[T](r, g.Batch*g.InChannels*inSize), linalgtest.Whole[T](r, g.OutChannels*channels*Volume(g.Kernel))
	var bias []T
	if r.IntN(2) == 0 {
		bias = linalgtest.Whole[T](r, g.OutChannels)
	}
	want, got := make([]T, g.Batch*g.OutChannels*outSize), make([]T, g.Batch*g.OutChannels*outSize)
	fillBias(g, bias, want)
	convolve(g, in, weight, want)
	for _, last := range []bool{false, true} {
		if last {
			weight = turn(weight, g.OutChannels, channels, Volume(g.Kernel), false)
		}
		clear(got)
		ConvolveLast(g, turn(in, g.Batch, g.InChannels, inSize, false), weight, bias, got, last)
		for i, v := range turn(got, g.Batch, g.OutChannels, outSize, true) {
			if v != want[i] {
				t.Fatalf("%T %+v, weights last %t: element %d is %v, want %v", in, g, last, i, v, want[i])
			}
		}
	}
}

func TestChannelsLastAgreesWithPortable(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	checked := 0
	for i := range 200 {
		g := randomConvolution(r)
		g.In[0], g.Out[0], g.Kernel[0], g.Padding[0] = 1, 1, 1, 0
		switch i % 4 {
		case 0:
			g = perChannel(r, g)
			g.InChannels = 1 + r.IntN(40)
			g.OutChannels, g.Groups = g.InChannels, g.InChannels
		case 1: // whole vectors of channels
			g.Groups, g.InChannels, g.OutChannels = 1, 16*(1+r.IntN(3)), 1+r.IntN(70)
		default:
			g.InChannels, g.OutChannels, g.Groups = g.InChannels/g.Groups, g.OutChannels/g.Groups, 1
		}
		if !g.SuitsLast() {
			continue
		}
		checked++
		checkLast[float32](t, r, g)
		checkLast[float64](t, r, g)
	}
	t.Logf("%d convolutions", checked)
}
