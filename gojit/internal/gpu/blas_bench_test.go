package gpu

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// BenchmarkProduct is what a small product costs until it is given to the device.
func BenchmarkProduct(b *testing.B) {
	v := testDevice(b)
	backend := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	empty := func(shape ...int) *tensor.Tensor { return must(v.Empty(shape, tensor.Float32)) }
	for name, added := range map[string]*tensor.Tensor{"plain": nil, "row": must(empty(2).Expand(2, 2))} {
		p := &kernel.Product{Out: empty(2, 2), Left: empty(2, 2), Right: empty(2, 2), Added: added}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if done, err := backend.Multiply(p); !done || err != nil {
					b.Fatal(done, err)
				}
			}
		})
	}
}

// BenchmarkConvolution is the same for a small convolution.
func BenchmarkConvolution(b *testing.B) {
	v := testDevice(b)
	backend := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	empty := func(shape ...int) *tensor.Tensor { return must(v.Empty(shape, tensor.Float32)) }
	c := &kernel.Convolution{Shape: shapeOf(1, 1, 1, 1, [3]int{1, 2, 2}, ones3, ones3, [3]int{}, ones3), Left: empty(1, 1, 2, 2), Right: empty(1, 1, 1, 1), Out: empty(1, 1, 2, 2)}
	b.ReportAllocs()
	for b.Loop() {
		if done, err := backend.Convolve(c); !done || err != nil {
			b.Fatal(done, err)
		}
	}
}
