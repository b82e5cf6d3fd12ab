package aten

import (
	"math/rand/v2"
	"testing"

	"torchjit/gojit/tensor"
)

// TestEvenBlocks compares the means of windows that divide the input evenly with those of the loop over windows.
func TestEvenBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		x := to(randomTensor(r, tensor.Float64, 2, 3, 24, 30), d)
		p := pooling{n: 2, windows: [][]window1{adaptiveWindows(24, 3), adaptiveWindows(30, 2)}}
		got, ok := p.evenBlocks(x)
		if !ok {
			t.Fatal("windows do not divide the input")
		}
		want := averagePool(x, p, false, 0)
		if off := largestDifference(to(got, tensor.Float64), to(want, tensor.Float64)); off > 1e-6 && (d != tensor.BFloat16 || off > 1e-2) {
			t.Errorf("%s: off by %g", d, off)
		}
		if p.windows[0] = adaptiveWindows(24, 5); d == tensor.Float32 {
			if _, ok := p.evenBlocks(x); ok {
				t.Error("windows of different sizes count as even")
			}
		}
	}
}
