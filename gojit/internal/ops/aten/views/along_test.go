package aten

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Elements named along a dimension are fetched, stored and added as one by one; slices along it too.
func TestElementsAlongADimension(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		shape := make([]int, 1+rng.IntN(3))
		for i := range shape {
			shape[i] = 1 + rng.IntN(6)
		}
		dim := rng.IntN(len(shape))
		x := to(must(sequence(numelOf(shape)).View(shape...)), []tensor.DType{tensor.Float32, tensor.Int64, tensor.Int16, tensor.Uint8}[rng.IntN(4)])
		if rng.IntN(2) == 0 {
			x, shape[0], shape[len(shape)-1] = must(x.Transpose(0, len(shape)-1)), shape[len(shape)-1], shape[0]
		}
		indexed := slices.Clone(shape)
		for d := range indexed {
			indexed[d] = 1 + rng.IntN(shape[d])
		}
		indexed[dim] = 1 + rng.IntN(9)
		index := empty(indexed, tensor.Int64)
		for i := range tensor.Data[int64](index) {
			tensor.Data[int64](index)[i] = int64(rng.IntN(shape[dim]))
		}
		src := to(must(sequence(index.Numel()).View(indexed...)), x.DType())
		fetched := gather(x, dim, index)
		stored, added := must(x.Clone(tensor.ContiguousFormat)), must(x.Clone(tensor.ContiguousFormat))
		wantStored, wantAdded := must(x.Clone(tensor.ContiguousFormat)), must(x.Clone(tensor.ContiguousFormat))
		scatterInto(stored, dim, index, src, replace)
		scatterInto(added, dim, index, src, addTo)
		opstest.ForEachIndex(indexed, func(at []int) {
			place := slices.Clone(at)
			place[dim] = int(index.At(at...).Int64())
			if got, want := fetched.At(at...), x.At(place...); got != want {
				t.Fatalf("gather of %v by %v along %d at %v: %v, want %v", shape, indexed, dim, at, got, want)
			}
			value := src.At(at...)
			succeed(tensor.Copy(elementOf(wantStored, place), tensor.FromScalar(value, x.DType())))
			e := elementOf(wantAdded, place)
			succeed(tensor.Copy(e, add.on(e, tensor.FromScalar(value, x.DType()))))
		})
		for _, pair := range [][2]*tensor.Tensor{{stored, wantStored}, {added, wantAdded}} {
			if truth(ne.on(pair[0], pair[1]), nil, false, false).At().Bool() {
				t.Fatalf("scatter into %v by %v along %d: %v, want %v", shape, indexed, dim, pair[0], pair[1])
			}
		}
		row := must(index.Reshape(-1))
		selected := indexSelect(x, dim, row)
		opstest.ForEachIndex(selected.Shape(), func(at []int) {
			place := slices.Clone(at)
			place[dim] = int(row.At(at[dim]).Int64())
			if got, want := selected.At(at...), x.At(place...); got != want {
				t.Fatalf("index_select of %v along %d at %v: %v, want %v", shape, dim, at, got, want)
			}
		})
	}
}

// elementOf shows one element of t.
func elementOf(t *tensor.Tensor, at []int) *tensor.Tensor {
	for _, i := range at {
		t = must(t.Select(0, i))
	}
	return t
}

// Copies of more bytes than are copied at once repeat their source.
func TestLongRepeats(t *testing.T) {
	x := sequence(nearCopy/8 + 5)
	y := repeat(must(x.Reshape(1, -1)), []int{2, 3})
	opstest.ForEachIndex([]int{2, 3}, func(at []int) {
		n := x.Numel()
		part := must(must(y.Select(0, at[0])).Slice(0, at[1]*n, (at[1]+1)*n, 1))
		if !equal(part, x) {
			t.Errorf("copy %v differs", at)
		}
	})
}
