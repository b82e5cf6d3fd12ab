package launch

import (
	"errors"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A long run ends between two calls of machine code, with one thread too.
func TestInterruptEndsARun(t *testing.T) {
	parallel.SetNumThreads(1)
	defer parallel.SetNumThreads(0)
	failure := errors.New("enough")
	for _, op := range []kernel.Op{kernel.Neg, kernel.Tanh} {
		b := kernel.NewBuilder()
		b.Output(b.Unary(op, b.Input(tensor.Float32, tensor.Float32)), tensor.Float32)
		p, err := ProgramOf(b.Kernel())
		if err != nil {
			t.Fatal(err)
		}
		x, err := tensor.Zeros([]int{chunk * (chunksTogether + 1)}, tensor.Float32)
		if err != nil {
			t.Fatal(err)
		}
		run := func() (err error) {
			parallel.SetInterrupt(func() error { return failure }, 0)
			defer parallel.SetInterrupt(nil, 0)
			defer source.Catch(&err)
			p.Run([]*tensor.Tensor{x, x}, nil)
			return nil
		}
		if err := run(); err != failure {
			t.Errorf("%s: %v", op, err)
		}
	}
}
