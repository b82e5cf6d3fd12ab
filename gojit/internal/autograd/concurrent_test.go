package autograd_test

import (
	"sync"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestGoroutinesShareALeaf has goroutines record and differentiate the first use of one leaf at once.
func TestGoroutinesShareALeaf(t *testing.T) {
	mul, sum := ops.Find("aten::mul.Tensor"), ops.Find("aten::sum")
	for range 50 {
		leaf := random(1, 2, 3)
		start := make(chan struct{})
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				<-start
				x, out := value.OfTensor(leaf), make([]value.Value, 1)
				err := new(autograd.Mode).Run(mul, []value.Value{x, x}, out)
				if err == nil {
					err = new(autograd.Mode).Run(sum, []value.Value{out[0], value.None}, out)
				}
				if err != nil {
					t.Error(err)
					return
				}
				grads, err := new(autograd.Mode).Gradients([]*tensor.Tensor{out[0].Tensor()}, []*tensor.Tensor{leaf}, nil, autograd.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				for i, g := range tensor.Data[float64](grads[0]) {
					if want := 2 * tensor.Data[float64](leaf)[i]; g != want {
						t.Errorf("gradient %v, want %v", g, want)
					}
				}
			})
		}
		close(start)
		group.Wait()
	}
}
