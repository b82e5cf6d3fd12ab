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

// Images of few channels go to channels last, with rows that fill vectors and rests behind them.
func TestInterleavedCopies(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Uint8, tensor.Float32, tensor.Float64} {
		for channels := 2; channels < 18; channels++ {
			for _, side := range []int{4, 16, 17, 70} {
				numbers, err := tensor.Empty([]int{2, channels, side, side + 1}, tensor.Int64)
				if err != nil {
					t.Fatal(err)
				}
				for i, data := 0, tensor.Data[int64](numbers); i < len(data); i++ {
					data[i] = int64(i % 251)
				}
				x, err := tensor.EmptyFormat(numbers, d, tensor.ContiguousFormat)
				if err == nil {
					err = tensor.Copy(x, numbers)
				}
				if err != nil {
					t.Fatal(err)
				}
				last, err := x.Clone(tensor.ChannelsLast)
				if err != nil {
					t.Fatal(err)
				}
				dense, _ := last.Permute(0, 2, 3, 1)
				back, err := tensor.Empty([]int{2, side, side + 1, channels}, tensor.Int64)
				if err == nil {
					err = tensor.Copy(back, dense)
				}
				if err != nil {
					t.Fatal(err)
				}
				pixels := side * (side + 1)
				for i, got := range tensor.Data[int64](back) {
					image, pixel, channel := i/(pixels*channels), i/channels%pixels, i%channels
					if want := int64(((image*channels+channel)*pixels + pixel) % 251); got != want {
						t.Fatalf("%s of %d channels, %d rows: element %d is %v, want %v", d, channels, side, i, got, want)
					}
				}
			}
		}
	}
}
