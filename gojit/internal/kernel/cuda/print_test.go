package cuda

import (
	"errors"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestText compares what is written for kernels in testdata.
func TestText(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		k, err := kernel.Parse(c.Input("in.kernel"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Print(k)
		if err != nil {
			t.Fatal(err)
		}
		c.Check("out/body.cu", s.Body)
	})
}

// TestUnsupported looks for the error of kernels that have no text.
func TestUnsupported(t *testing.T) {
	b := kernel.NewBuilder()
	b.Reduce(kernel.ReduceSum, b.Input(tensor.Float32, tensor.Float32), tensor.Float32)
	b.Reduce(kernel.ReduceSum, b.Input(tensor.Float64, tensor.Float64), tensor.Float64)
	if _, err := Print(b.Kernel()); !errors.Is(err, ErrUnsupported) {
		t.Errorf("sums of two types give %v", err)
	}
	if _, err := Print(&kernel.Kernel{}); err == nil || errors.Is(err, ErrUnsupported) {
		t.Errorf("a kernel without outputs gives %v", err)
	}
}
