package reduce

import (
	"math"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Rows that are cut into pieces, and short ones, have the index of the first extreme element, or of the first NaN, wherever it lies.
func TestIndicesInPieces(t *testing.T) {
	for _, n := range []int{3, 2*pieceLength - 1, 2 * pieceLength, 2*pieceLength + 77} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int8} {
			for _, places := range [][]int{{0}, {n - 1}, {n / 2, n - 1}, {n - 2, n - 1}, {1}} {
				data := make([]float64, 2*n)
				for i := range data {
					data[i] = float64(i % 50)
				}
				for _, at := range places {
					data[n+at] = 99
				}
				if places[0] == 1 && d.IsFloating() { // a NaN behind a larger number
					data[n], data[n+1] = 200, math.NaN()
				}
				x := source.Must(source.Must(tensor.FromSlice(data, 2, n)).To(d))
				values, indices := extremes("max", x, []int{1}, false, false)
				if got := indices.At(1).Int64(); got != int64(places[0]) {
					t.Errorf("%d of %s, largest at %v: index %d", n, d, places, got)
				}
				if got, want := values.At(0).Float64(), float64(min(49, n-1)); got != want {
					t.Errorf("%d of %s: largest %v, want %v", n, d, got, want)
				}
			}
		}
	}
}

// The logarithm of a sum of exponentials of n equal numbers is larger by log(n), in pieces too, and infinite numbers stay.
func TestLogSumExpInPieces(t *testing.T) {
	for _, n := range []int{5, 2*pieceLength + 9} {
		for _, v := range []float64{0, 300, math.Inf(1), math.Inf(-1)} {
			x := source.Must(tensor.Full([]int{2, n}, tensor.Float(v), tensor.Float64))
			got, want := logSumExp(x, []int{1}, false).At(1).Float64(), v+math.Log(float64(n))
			if got != want && !(math.Abs(got-want) < 1e-12*math.Abs(want)) {
				t.Errorf("%d times %v: %v, want %v", n, v, got, want)
			}
		}
	}
}
