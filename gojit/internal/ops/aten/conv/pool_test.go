package conv

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestEvenBlocks compares the means of windows that divide the input evenly with those of the loop over windows.
func TestEvenBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		x := elementwise.To(opstest.RandomTensor(r, tensor.Float64, 2, 3, 24, 30), d)
		p := Pooling{N: 2, Windows: []Windows{AdaptiveWindows(24, 3), AdaptiveWindows(30, 2)}}
		got, ok := p.evenBlocks(x)
		if !ok {
			t.Fatal("windows do not divide the input")
		}
		want := AveragePool(x, p, false, 0)
		if off := opstest.LargestDifference(elementwise.To(got, tensor.Float64), elementwise.To(want, tensor.Float64)); off > 1e-6 && (d != tensor.BFloat16 || off > 1e-2) {
			t.Errorf("%s: off by %g", d, off)
		}
		if p.Windows[0] = AdaptiveWindows(24, 5); d == tensor.Float32 {
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
	for i := range plane {
		plane[i] = values[rng.IntN(len(values))]
	}
	n := len(plane) / 4
	v := &volume{sizes: [3]int{1, 1, len(plane)}, windows: [3]Windows{AdaptiveWindows(1, 1), AdaptiveWindows(1, 1), SlidingWindows(len(plane), n, 4, 4, 0, 1)}}
	got, want, at, expected := make([]float32, n), make([]float32, n), make([]int64, n), make([]int64, n)
	r, forget := v.table()
	defer forget()
	maxPlane32(r, plane, got, at)
	maxPlane(v, plane, want, expected)
	for i := range n {
		if at[i] != expected[i] || math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%v: %v at %d, want %v at %d", plane[4*i:4*i+4], got[i], at[i]-int64(4*i), want[i], expected[i]-int64(4*i))
		}
	}
}

// A window of padding alone has no element: it gives the least number and the place where it would begin.
func TestEmptyWindows(t *testing.T) {
	v := &volume{sizes: [3]int{1, 1, 2}, windows: [3]Windows{AdaptiveWindows(1, 1), AdaptiveWindows(1, 1), SlidingWindows(2, 2, 2, 2, 0, 1)}}
	got, at := make([]float32, 2), make([]int64, 2)
	r, forget := v.table()
	defer forget()
	maxPlane32(r, []float32{-3, -2}, got, at)
	if got[0] != -2 || !math.IsInf(float64(got[1]), -1) || at[0] != 1 || at[1] != 2 {
		t.Errorf("maxima %v at %v", got, at)
	}
	doubles := make([]float64, 2)
	maxPlane(v, []float64{-3, -2}, doubles, at)
	if doubles[0] != -2 || !math.IsInf(doubles[1], -1) || at[0] != 1 || at[1] != 2 {
		t.Errorf("maxima %v at %v", doubles, at)
	}
}

// Outputs whose windows are equal have equal results: those of each window once, put in the place of every output.
func TestRepeatedWindows(t *testing.T) {
	x := opstest.RandomTensor(rand.New(rand.NewPCG(5, 6)), tensor.Float64, 2, 3, 2, 4)
	for _, sizes := range [][2]int{{1, 50}, {50, 1}, {7, 9}, {3, 23}, {40, 3}, {40, 60}} {
		p := Pooling{N: 2, Windows: []Windows{AdaptiveWindows(2, sizes[0]), AdaptiveWindows(4, sizes[1])}}
		if _, ok := p.repeated(); !ok {
			t.Fatalf("%v: no windows are repeated", sizes)
		}
		v, n := p.volume(x), sizes[0]*sizes[1]
		v.list()
		means := tensor.Data[float64](AveragePool(x, p, false, 0))
		out, indices := maxPool(x, p)
		maxima, at := tensor.Data[float64](out), tensor.Data[int64](indices)
		by := divisors[float64](&p, false, 0)
		average, largest, places := make([]float64, n), make([]float64, n), make([]int64, n)
		for i := range 6 {
			plane := tensor.Data[float64](x)[8*i : 8*i+8]
			meanPlane[float64](v, plane, average, by)
			maxPlane(v, plane, largest, places)
			for j := range n {
				if k := i*n + j; means[k] != average[j] || maxima[k] != largest[j] || at[k] != places[j] {
					t.Fatalf("%v, plane %d, output %d: mean %v, largest %v at %d; want %v, %v at %d",
						sizes, i, j, means[k], maxima[k], at[k], average[j], largest[j], places[j])
				}
			}
		}
	}
}

func BenchmarkMaxPoolWithPlaces(b *testing.B) {
	x := opstest.RandomTensor(rand.New(rand.NewPCG(1, 2)), tensor.Float32, 1, 16, 112, 112)
	for name, kernel := range map[string]int{"2x2": 2, "3x3": 3} {
		w := SlidingWindows(112, 112/2, kernel, 2, kernel/2, 1)
		p := Pooling{N: 2, Windows: []Windows{w, w}}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				maxPool(x, p)
			}
		})
	}
}
