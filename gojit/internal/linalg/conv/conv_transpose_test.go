package conv

import (
	"math"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
)

// TestTransposeIsAdjoint checks <conv(x), y> = <x, conv'(y)>.
func TestTransposeIsAdjoint(t *testing.T) {
	g := Convolution{Batch: 2, Groups: 2, InChannels: 4, OutChannels: 6, In: [3]int{1, 7, 6}, Kernel: [3]int{1, 3, 2},
		Stride: [3]int{1, 2, 1}, Dilation: [3]int{1, 1, 2}, Padding: [3]int{0, 1, 1}}
	g.Out = [3]int{1, 4, 6}
	x, w := linalgtest.Ramp[float64](2*4*Volume(g.In)), linalgtest.Ramp[float64](6*2*Volume(g.Kernel))
	y := linalgtest.Ramp[float64](2 * 6 * Volume(g.Out))
	forward, back := make([]float64, len(y)), make([]float64, len(x))
	Convolve(g, x, w, nil, forward)
	Transpose(g, y, w, nil, back)
	if a, b := gemm.Dot(forward, y), gemm.Dot(x, back); math.Abs(a-b) > 1e-9 {
		t.Fatalf("%v and %v", a, b)
	}
}
