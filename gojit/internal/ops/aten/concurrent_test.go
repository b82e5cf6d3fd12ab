package aten

import (
	"sync"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestConcurrentUse runs operators from many goroutines at once: caches of kernels, scratch memory
// and the default generator are shared.
func TestConcurrentUse(t *testing.T) {
	addition, noise, product := ops.Find("aten::add.Tensor"), ops.Find("aten::randn"), ops.Find("aten::mm")
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			d := []tensor.DType{tensor.Float32, tensor.Int16, tensor.Float16, tensor.Complex64}[g%4]
			x := source.Must(tensor.Full([]int{100, 30}, tensor.Int(int64(g)), d))
			row := source.Must(tensor.Full([]int{30}, tensor.Int(2), d))
			for range 20 {
				out := make([]value.Value, 1)
				if err := addition.Run([]value.Value{value.OfTensor(x), value.OfTensor(row), value.Int(3)}, out); err != nil {
					t.Error(err)
					return
				}
				if got := out[0].Tensor().At(99, 29).Float64(); got != float64(g+6) {
					t.Errorf("%d + 3*2 = %v", g, got)
				}
				size := value.OfList(value.Ints([]int{64, 64}))
				if err := noise.Run([]value.Value{size, value.None, value.None, value.None, value.None}, out); err != nil {
					t.Error(err)
				}
				if err := product.Run([]value.Value{out[0], out[0]}, out); err != nil {
					t.Error(err)
				}
				out[0].Tensor().Release()
			}
		})
	}
	group.Wait()
}
