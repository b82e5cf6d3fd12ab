package gpu

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// What a kernel moves per second: the sum of two tensors, and ten operators of them in one kernel, of 64 million elements on a GPU.
func BenchmarkElementwise(b *testing.B) {
	k := kernel.NewBuilder()
	x, y := k.Input(tensor.Float32, tensor.Float32), k.Input(tensor.Float32, tensor.Float32)
	k.Output(k.Add(x, y), tensor.Float32)
	benchmarkKernel(b, "add", k.Kernel())

	k = kernel.NewBuilder()
	x, y = k.Input(tensor.Float32, tensor.Float32), k.Input(tensor.Float32, tensor.Float32)
	for range 5 {
		x = k.Unary(kernel.Tanh, k.Add(x, y))
	}
	k.Output(x, tensor.Float32)
	benchmarkKernel(b, "five sums and tanhs", k.Kernel())
}

func benchmarkKernel(b *testing.B, name string, k *kernel.Kernel) {
	b.Run(name, func(b *testing.B) {
		v := testDevice(b)
		p, err := NewProgram(v, k)
		if err != nil {
			b.Fatal(err)
		}
		n := 1 << 12
		if onGPU() {
			n = 1 << 26
		}
		operands := make([]*tensor.Tensor, 3)
		for i := range operands {
			operands[i] = must(v.Upload(must(tensor.Zeros([]int{n}, tensor.Float32))))
		}
		b.SetBytes(int64(3 * 4 * n))
		for b.Loop() {
			if err := p.Run(operands, nil); err != nil {
				b.Fatal(err)
			}
		}
		if err := v.Synchronize(); err != nil {
			b.Fatal(err)
		}
	})
}
