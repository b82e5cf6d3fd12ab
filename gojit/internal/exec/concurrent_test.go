package exec_test

import (
	"context"
	"sync"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Many goroutines make plans of functions that call each other, and run them, while settings change.
func TestManyPrepareAtOnce(t *testing.T) {
	p, err := gojit.Compile("f.py", "def h(x):\n    return torch.tanh(x * 2)\ndef g(x):\n    return h(x) + h(x + 1)\ndef f(x):\n    return g(x) * h(x)\n")
	if err != nil {
		t.Fatal(err)
	}
	e := exec.New(exec.Options{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for round := range 20 {
				if i == 0 {
					e.Change(func(s *exec.Settings) { s.Profiling, s.Fusing = round%2 == 0, round%3 != 0 })
				}
				code, err := e.Code(p.Function([]string{"f", "g", "h"}[(i+round)%3]), nil)
				if err != nil {
					t.Error(err)
					return
				}
				x, _ := tensor.FromSlice([]float32{0, 0}, 2)
				var out [1]value.Value
				if err := code.Run(context.Background(), []value.Value{value.OfTensor(x)}, out[:]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
