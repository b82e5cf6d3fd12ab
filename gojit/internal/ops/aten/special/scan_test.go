package special

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// withSpecials replaces some elements by NaN and infinities.
func withSpecials(x *tensor.Tensor) *tensor.Tensor {
	data := tensor.Data[float64](x)
	data[7], data[11], data[30], data[0] = math.Inf(1), math.NaN(), math.Inf(-1), math.Inf(-1)
	return x
}

// TestRunningResultsByRowsAndColumns compares what is found in columns side by side with what is found row by row.
func TestRunningResultsByRowsAndColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(93, 94))
	x := withSpecials(opstest.RandomTensor(r, tensor.Float64, 40, 20))
	same := func(name string, a, b *tensor.Tensor, within float64) {
		t.Helper()
		for i := range 40 {
			for j := range 20 {
				u, v := a.At(i, j).Float64(), b.At(i, j).Float64()
				if u != v && !(u != u && v != v) && !(math.Abs(u-v) <= within*math.Abs(v)) {
					t.Fatalf("%s: element %d,%d is %v or %v", name, i, j, u, v)
				}
			}
		}
	}
	turned := source.Must(x.Clone(tensor.ContiguousFormat))
	turned = source.Must(elementwise.Contiguous(source.Must(turned.T())).T()) // the same elements, rows side by side
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		for name, q := range map[string]*reduce.RunningExtreme{"cummax": reduce.RunningMaximum, "cummin": reduce.RunningMinimum} {
			values, places := q.Along(elementwise.To(x, d), 0)
			otherValues, otherPlaces := q.Along(elementwise.To(turned, d), 0)
			same(name, values, otherValues, 0)
			same(name, places, otherPlaces, 0)
		}
	}
	byRows := source.Must(tensor.Zeros([]int{40, 20}, tensor.Float64))
	for j := range 20 {
		column := reduce.LogSumScanner.Along(source.Must(elementwise.Contiguous(source.Must(x.Select(1, j))).View(40)), 0, tensor.Float64)
		source.Throw(tensor.Copy(source.Must(byRows.Select(1, j)), column))
	}
	same("logcumsumexp", reduce.LogSumScanner.Along(x, 0, tensor.Float64), byRows, 1e-14)
	same("logcumsumexp", source.Must(reduce.LogSumScanner.Along(source.Must(x.T()), 1, tensor.Float64).T()), byRows, 1e-14)
}

// TestMomentsInOnePass compares those of float32 elements far from zero with the two passes of float64.
func TestMomentsInOnePass(t *testing.T) {
	r := rand.New(rand.NewPCG(95, 96))
	x := elementwise.To(elementwise.Add.WithNumber(opstest.RandomTensor(r, tensor.Float64, 50, 33), 1000), tensor.Float32)
	for dim := range 2 {
		spread, center := reduce.WideMoments(x, []int{dim}, 1, false, false)
		wantSpread, wantCenter := reduce.WideMoments(elementwise.To(x, tensor.Float64), []int{dim}, 1, false, false)
		if off := opstest.LargestDifference(spread, wantSpread); off > 1e-9 {
			t.Errorf("variances along %d are off by %g", dim, off)
		}
		if off := opstest.LargestDifference(center, wantCenter); off > 1e-9 {
			t.Errorf("means along %d are off by %g", dim, off)
		}
	}
}

// TestModifiedBessel compares with sums of the power series, and of the asymptotic one.
func TestModifiedBessel(t *testing.T) {
	for order, f := range [][2]*elementwise.Operator{{bessel0, bessel0Scaled}, {bessel1, bessel1Scaled}} {
		for _, x := range []float64{0, 1e-8, 0.5, -3, 7.999, 8, 8.001, 23.99, 24, -30, 100, 700, 713} {
			in := source.Must(tensor.FromSlice([]float64{x}, 1))
			got, scaled := f[0].On(in).At(0).Float64(), f[1].On(in).At(0).Float64()
			want := besselScaled(x, order)
			if order == 1 {
				want = math.Copysign(want, x)
			}
			if math.Abs(scaled-want) > 2e-14*math.Abs(want) {
				t.Errorf("i%de(%v) = %v, want %v", order, x, scaled, want)
			} else if want *= math.Exp(math.Abs(x)/2) * math.Exp(math.Abs(x)/2); math.Abs(got-want) > 1e-13*math.Abs(want) {
				t.Errorf("i%d(%v) = %v, want %v", order, x, got, want)
			}
		}
	}
	special := source.Must(tensor.FromSlice([]float64{math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), -900}, 5))
	for i, want := range []float64{math.NaN(), math.NaN(), 0, math.Copysign(0, -1), math.Inf(-1)} {
		if got := bessel1.On(special).At(i).Float64(); math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
			t.Errorf("i1 of special number %d is %v, want %v", i, got, want)
		}
	}
}

// TestNormalCDF compares with the error function far into both tails.
func TestNormalCDF(t *testing.T) {
	for _, x := range []float64{0, -1, 1, 8.2, -8.2, -20, -37.5, 40, math.Inf(-1), math.Inf(1)} {
		want := 0.5 * math.Erfc(-x/math.Sqrt2)
		if got := normalCDF.On(source.Must(tensor.FromSlice([]float64{x}, 1))).At(0).Float64(); math.Abs(got-want) > 2e-15*want {
			t.Errorf("ndtr(%v) = %v, want %v", x, got, want)
		}
	}
}
