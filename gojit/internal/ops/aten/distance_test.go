package aten

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestDistancesOf16Bits has rows enough for the product, which computes in float32.
func TestDistancesOf16Bits(t *testing.T) {
	a, b := sequenceOf(30, 4), sequenceOf(3, 4)
	want := pairDistances(a, b, 2)
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		got := to(cdist(to(a, d), to(b, d), 2, 0), tensor.Float32)
		if off := largestDifference(got, want); off > 0.15 {
			t.Errorf("%s: distances differ by %g", d, off)
		}
	}
}

// sequenceOf makes a matrix of small numbers.
func sequenceOf(rows, columns int) *tensor.Tensor {
	return to(must(remainder.withNumber(sequence(rows*columns), 7).View(rows, columns)), tensor.Float32)
}
