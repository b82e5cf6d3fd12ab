package indexing

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A mask of the first dimensions chooses what the indices of its elements choose.
func TestMasksChooseAsIndices(t *testing.T) {
	r := rand.New(rand.NewPCG(95, 96))
	for range 60 {
		shape := []int{1 + r.IntN(40), 1 + r.IntN(9), 1 + r.IntN(4)}[:1+r.IntN(3)]
		masked := shape[:1+r.IntN(len(shape))]
		d := []tensor.DType{tensor.Uint8, tensor.Float16, tensor.Float32, tensor.Int64, tensor.Complex128}[r.IntN(5)]
		numbers := source.Must(tensor.Empty(shape, tensor.Int64))
		for i := range tensor.Data[int64](numbers) {
			tensor.Data[int64](numbers)[i] = int64(r.IntN(100))
		}
		x, mask := elementwise.To(numbers, d), source.Must(tensor.Empty(masked, tensor.Bool))
		share := 1 + r.IntN(5)
		for i := range tensor.Data[bool](mask) {
			tensor.Data[bool](mask)[i] = r.IntN(5) < share
		}
		got := index(x, []*tensor.Tensor{mask})
		want := index(x, source.Must(nonzero(mask).Unbind(1)))
		if !tensor.SameShape(got.Shape(), want.Shape()) {
			t.Fatalf("%v by a mask of %v: shape %v, want %v", shape, masked, got.Shape(), want.Shape())
		}
		opstest.ForEachIndex(want.Shape(), func(at []int) {
			if got.At(at...) != want.At(at...) {
				t.Fatalf("%s %v by a mask of %v: %v at %v, want %v", d, shape, masked, got.At(at...), at, want.At(at...))
			}
		})
	}
}

// Long masks choose what a walk over them chooses, whether they hold for none, few, half or all, up to the last element. A byte that is not 0 is true.
func TestLongMasks(t *testing.T) {
	r := rand.New(rand.NewPCG(97, 98))
	for _, n := range []int{roomForAll, 3*roomForAll + 5, define.LookEvery + 9} {
		for _, share := range []float64{0, 0.001, 0.5, 0.999, 1} {
			for _, d := range []tensor.DType{tensor.Uint8, tensor.Int16, tensor.Float32, tensor.Int64, tensor.Complex128} {
				numbers, mask := source.Must(tensor.Empty([]int{n}, tensor.Int64)), source.Must(tensor.Empty([]int{n}, tensor.Bool))
				bytes := tensor.Data[uint8](source.Must(mask.ViewDType(tensor.Uint8)))
				for i := range bytes {
					tensor.Data[int64](numbers)[i], bytes[i] = int64(r.IntN(100)), 0
					if r.Float64() < share || i == n-1 {
						bytes[i] = uint8(1 + r.IntN(255))
					}
				}
				x := elementwise.To(numbers, d)
				var want []int
				for i, b := range bytes {
					if b != 0 {
						want = append(want, i)
					}
				}
				if count := onesOf(bytes); count != len(want) {
					t.Fatalf("%d of %d bytes, want %d", count, n, len(want))
				}
				got := index(x, []*tensor.Tensor{mask})
				if got.Numel() != len(want) {
					t.Fatalf("%s: %d elements, want %d", d, got.Numel(), len(want))
				}
				for k, i := range want {
					if got.At(k) != x.At(i) {
						t.Fatalf("%s of %d with share %v: %v at %d, want %v", d, n, share, got.At(k), k, x.At(i))
					}
				}
			}
		}
	}
}
