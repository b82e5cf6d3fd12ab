package aten

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestProductsOfHalvesAreRoundedOnce adds one to a sum that is half way between two numbers of the type.
func TestProductsOfHalvesAreRoundedOnce(t *testing.T) {
	for d, k := range map[tensor.DType]int{tensor.BFloat16: 257, tensor.Float16: 2049} {
		ones := func(shape ...int) *tensor.Tensor { return source.Must(tensor.Full(shape, tensor.Int(1), d)) }
		for _, rows := range []int{1, 20} {
			out := make([]value.Value, 1)
			for name, args := range map[string][]value.Value{
				"linear": {value.OfTensor(ones(rows, k)), value.OfTensor(ones(40, k)), value.OfTensor(ones(40))},
				"addmm":  {value.OfTensor(ones(rows, 40)), value.OfTensor(ones(rows, k)), value.OfTensor(ones(k, 40)), value.Int(1), value.Int(1)},
			} {
				if err := ops.Find("aten::"+name).Run(args, out); err != nil {
					t.Fatal(err)
				}
				got := out[0].Tensor()
				if got.DType() != d || got.At(rows-1, 39).Float64() != float64(k+1) {
					t.Errorf("%s of %s: %v of type %s, want %d", name, d, got.At(rows-1, 39), got.DType(), k+1)
				}
			}
		}
	}
}

// TestProductInto: out= receives the product whatever its layout, size and memory are, and refuses another type.
func TestProductInto(t *testing.T) {
	a, _ := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	b, _ := tensor.FromSlice([]float32{1, 0, 2, 1, 0, 1}, 3, 2)
	want := []float32{5, 5, 14, 11}
	turned, _ := tensor.EmptyStrided([]int{2, 2}, []int{1, 2}, tensor.Float32)
	plain, _ := tensor.Empty([]int{2, 2}, tensor.Float32)
	none, _ := tensor.Empty([]int{0}, tensor.Float32)
	wide, _ := tensor.Empty([]int{2, 2}, tensor.Float64)
	into := ops.Find("aten::mm.out")
	if err := into.Run([]value.Value{value.OfTensor(a), value.OfTensor(b), value.OfTensor(wide)}, make([]value.Value, 1)); err == nil || !strings.Contains(err.Error(), "to have dtype float, but got double") {
		t.Errorf("a product of float into double: %v", err)
	}
	for i, dst := range []*tensor.Tensor{plain, turned, none} {
		out := make([]value.Value, 1)
		linalg.ProductInto(linalg.Mm)(define.Call{Args: []value.Value{value.OfTensor(a), value.OfTensor(b), value.OfTensor(dst)}, Out: out})
		got, err := dst.To(tensor.Float32)
		if err != nil || out[0].Tensor() != dst {
			t.Fatal(i, err)
		}
		for j, w := range want {
			if v := got.At(j/2, j%2).Float64(); v != float64(w) {
				t.Errorf("%d: element %d is %v, not %v", i, j, v, w)
			}
		}
	}
	square, _ := tensor.FromSlice([]float64{1, 1, 0, 1}, 2, 2)
	linalg.ProductInto(linalg.Mm)(define.Call{Args: []value.Value{value.OfTensor(square), value.OfTensor(square), value.OfTensor(square)}, Out: make([]value.Value, 1)})
	if v := square.At(0, 1).Float64(); v != 2 {
		t.Errorf("a square into itself has %v", v)
	}
}
