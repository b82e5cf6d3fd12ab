package linalg

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestDistancesOf16Bits has rows enough for the product, which computes in float32.
func TestDistancesOf16Bits(t *testing.T) {
	a, b := sequenceOf(30, 4), sequenceOf(3, 4)
	want := PairDistances(a, b, 2)
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		got := elementwise.To(Cdist(elementwise.To(a, d), elementwise.To(b, d), 2, 0), tensor.Float32)
		if off := opstest.LargestDifference(got, want); off > 0.15 {
			t.Errorf("%s: distances differ by %g", d, off)
		}
	}
}

// sequenceOf makes a matrix of small numbers.
func sequenceOf(rows, columns int) *tensor.Tensor {
	return elementwise.To(source.Must(elementwise.Remainder.WithNumber(elementwise.Sequence(rows*columns), 7).View(rows, columns)), tensor.Float32)
}

// Distances that are computed by parts are those that are computed at once.
func TestDistancesByParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a, b := opstest.RandomTensor(r, tensor.Float32, 3, 1, 500, 3), opstest.RandomTensor(r, tensor.Float32, 2, 480, 3)
	for _, p := range []float64{1, 2, 3} {
		got, want := PairDistances(a, b, p), distancesAtOnce(a, b, p)
		if !tensor.SameShape(got.Shape(), want.Shape()) || opstest.LargestDifference(got, want) != 0 {
			t.Errorf("p=%v: shape %v, want %v, or other values", p, got.Shape(), want.Shape())
		}
	}
	x := opstest.RandomTensor(r, tensor.Float64, 1500, 2)
	all, within := distancesAtOnce(x, x, 2), pairwiseWithin(x, 2)
	for i, at := 0, 0; i < 1500; i++ {
		for j := i + 1; j < 1500; j++ {
			if got, want := tensor.Data[float64](within)[at], tensor.Data[float64](all)[i*1500+j]; got != want {
				t.Fatalf("pair %d, %d: %v, want %v", i, j, got, want)
			}
			at++
		}
	}
}
