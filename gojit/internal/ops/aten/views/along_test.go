package views

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/source"
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
		x := elementwise.To(source.Must(elementwise.Sequence(define.NumelOf(shape)).View(shape...)), []tensor.DType{tensor.Float32, tensor.Int64, tensor.Int16, tensor.Uint8}[rng.IntN(4)])
		if rng.IntN(2) == 0 {
			x, shape[0], shape[len(shape)-1] = source.Must(x.Transpose(0, len(shape)-1)), shape[len(shape)-1], shape[0]
		}
		indexed := slices.Clone(shape)
		for d := range indexed {
			indexed[d] = 1 + rng.IntN(shape[d])
		}
		indexed[dim] = 1 + rng.IntN(9)
		index := define.Empty(indexed, tensor.Int64)
		for i := range tensor.Data[int64](index) {
			tensor.Data[int64](index)[i] = int64(rng.IntN(shape[dim]))
		}
		src := elementwise.To(source.Must(elementwise.Sequence(index.Numel()).View(indexed...)), x.DType())
		fetched := indexing.Gather(x, dim, index)
		stored, added := source.Must(x.Clone(tensor.ContiguousFormat)), source.Must(x.Clone(tensor.ContiguousFormat))
		wantStored, wantAdded := source.Must(x.Clone(tensor.ContiguousFormat)), source.Must(x.Clone(tensor.ContiguousFormat))
		indexing.ScatterInto(stored, dim, index, src, indexing.Replace)
		indexing.ScatterInto(added, dim, index, src, indexing.AddTo)
		opstest.ForEachIndex(indexed, func(at []int) {
			place := slices.Clone(at)
			place[dim] = int(index.At(at...).Int64())
			if got, want := fetched.At(at...), x.At(place...); got != want {
				t.Fatalf("gather of %v by %v along %d at %v: %v, want %v", shape, indexed, dim, at, got, want)
			}
			value := src.At(at...)
			source.Throw(tensor.Copy(elementOf(wantStored, place), tensor.FromScalar(value, x.DType())))
			e := elementOf(wantAdded, place)
			source.Throw(tensor.Copy(e, elementwise.Add.On(e, tensor.FromScalar(value, x.DType()))))
		})
		for _, pair := range [][2]*tensor.Tensor{{stored, wantStored}, {added, wantAdded}} {
			if reduce.Truth(elementwise.Ne.On(pair[0], pair[1]), nil, false, false).At().Bool() {
				t.Fatalf("scatter into %v by %v along %d: %v, want %v", shape, indexed, dim, pair[0], pair[1])
			}
		}
		row := source.Must(index.Reshape(-1))
		selected := indexing.IndexSelect(x, dim, row)
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
		t = source.Must(t.Select(0, i))
	}
	return t
}

// Copies of more bytes than are copied at once repeat their source.
func TestLongRepeats(t *testing.T) {
	x := elementwise.Sequence(indexing.NearCopy/8 + 5)
	y := indexing.Repeat(source.Must(x.Reshape(1, -1)), []int{2, 3})
	opstest.ForEachIndex([]int{2, 3}, func(at []int) {
		n := x.Numel()
		part := source.Must(source.Must(y.Select(0, at[0])).Slice(0, at[1]*n, (at[1]+1)*n, 1))
		if !Equal(part, x) {
			t.Errorf("copy %v differs", at)
		}
	})
}
