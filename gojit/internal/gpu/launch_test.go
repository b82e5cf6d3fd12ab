package gpu

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// BenchmarkLaunch measures what a kernel of few elements costs the processor: on the software device with its 16 elements.
func BenchmarkLaunch(b *testing.B) {
	v := testDevice(b)
	k := kernel.NewBuilder()
	k.Output(k.Add(k.Input(tensor.Float32, tensor.Float32), k.Input(tensor.Float32, tensor.Float32)), tensor.Float32)
	p, err := NewProgram(v, k.Kernel())
	if err != nil {
		b.Fatal(err)
	}
	operands := make([]*tensor.Tensor, 3)
	for i := range operands {
		operands[i] = must(v.Empty([]int{16}, tensor.Float32))
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Run(operands, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := v.Synchronize(); err != nil {
		b.Fatal(err)
	}
}
