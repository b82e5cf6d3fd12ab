package aten

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
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

// Places of the largest elements by masks are those that comparisons give, with zeros of both signs and NaN.
func TestPlacesOfMaxima(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	values := []float32{-inf, -2, -1e-40, 0, 1e-40, 1, inf, nan, float32(math.Copysign(0, -1)), float32(math.Copysign(float64(nan), -1))}
	rng := rand.New(rand.NewPCG(3, 4))
	plane := make([]float32, 4000)
	r := &reads{starts: []int32{0}}
	for i := range plane {
		plane[i] = values[rng.IntN(len(values))]
		r.inputs = append(r.inputs, int32(i))
		if i%4 == 3 {
			r.starts = append(r.starts, int32(i+1))
		}
	}
	n := len(plane) / 4
	got, want, at, expected := make([]float32, n), make([]float32, n), make([]int64, n), make([]int64, n)
	maxPlane32(r, plane, got, at)
	maxPlane(r, plane, want, expected)
	for i := range n {
		if at[i] != expected[i] || math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%v: %v at %d, want %v at %d", plane[4*i:4*i+4], got[i], at[i]-int64(4*i), want[i], expected[i]-int64(4*i))
		}
	}
}
