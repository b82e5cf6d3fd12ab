package launch

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Copies of transposed tensors, large enough for vectors, with rests in both directions.
func TestTransposedCopies(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for range 40 {
		planes, rows, columns := 1+r.IntN(3), 200+r.IntN(200), 180+r.IntN(150)
		numbers, err := tensor.Empty([]int{planes, rows, columns}, tensor.Int64)
		if err != nil {
			t.Fatal(err)
		}
		for i, data := 0, tensor.Data[int64](numbers); i < len(data); i++ {
			data[i] = int64(i % 251)
		}
		for _, d := range []tensor.DType{tensor.Uint8, tensor.Int16, tensor.Float32, tensor.Float64, tensor.Complex128} {
			x, err := tensor.Empty([]int{planes, rows, columns}, d)
			if err != nil {
				t.Fatal(err)
			}
			if err := tensor.Copy(x, numbers); err != nil {
				t.Fatal(err)
			}
			turned, _ := x.Permute(0, 2, 1)
			copied, err := turned.Clone(tensor.ContiguousFormat)
			if err != nil {
				t.Fatal(err)
			}
			back, err := tensor.Empty([]int{planes, columns, rows}, tensor.Int64)
			if err == nil {
				err = tensor.Copy(back, copied)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range tensor.Data[int64](back) {
				plane, row, column := i/(rows*columns), i%rows, i/rows%columns
				if want := int64(((plane*rows+row)*columns + column) % 251); got != want {
					t.Fatalf("%s %dx%dx%d: element %d is %v, want %v", d, planes, rows, columns, i, got, want)
				}
			}
		}
	}
}
