package replay

import (
	"errors"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	_ "github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// device is a tensor.Backend and a kernel.Capturer that does nothing: addresses are numbers.
type device struct{ next uint64 }

func (d *device) Find(tensor.Device) (tensor.Device, error) {
	return tensor.NewDevice(tensor.CUDA, 0), nil
}
func (d *device) Allocate(_ tensor.Device, nbytes int) (uint64, func(), error) {
	d.next += 1 << 20
	return d.next, func() {}, nil
}
func (d *device) Copy(dst, src *tensor.Tensor) error       { return nil }
func (d *device) Fill(*tensor.Tensor, tensor.Scalar) error { return nil }
func (d *device) Lane(tensor.Device) (uintptr, bool)       { return 1, true }
func (d *device) Settings() uint64                         { return 0 }
func (d *device) Capture(_ tensor.Device, f func() error, _ func([]kernel.Life) ([]int, int)) (kernel.Work, error) {
	if err := f(); err != nil {
		return nil, err
	}
	return work{}, nil
}

type work struct{}

func (work) Launches() int { return 100 }
func (work) Arena() int    { return 0 }
func (work) Lock()         {}
func (work) Unlock()       {}
func (work) Replay() error { return nil }
func (work) Reset()        {}

// TestErrorsOfCaptures has the run that is put down fail: an interrupt ends the call, and what else fails is left to the call as any.
func TestErrorsOfCaptures(t *testing.T) {
	defer tensor.RegisterCUDA(tensor.RegisterCUDA(&device{}))
	g, err := ir.Parse("graph(%x : Tensor):\n  return (%x)\n")
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.EmptyOn(tensor.NewDevice(tensor.CUDA, 0), []int{3}, tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	interrupt := source.Errorf(source.KeyboardInterrupt, source.Range{}, "interrupt")
	for _, c := range []struct{ fails, want error }{
		{interrupt, interrupt},
		{errors.New("it fails"), nil},
		{kernel.NewCaptureError("it waits"), nil},
	} {
		f := New("f", g)
		run := func(args, out []value.Value) error { return c.fails }
		for i := range 4 {
			done, err := f.Run(new(autograd.Mode), []value.Value{value.OfTensor(x)}, make([]value.Value, 1), run)
			if want := c.want; done || i == ordinaryCalls && err != want || i != ordinaryCalls && err != nil {
				t.Errorf("%v: call %d gives %v, %v", c.fails, i, done, err)
			}
		}
		if lines := f.Report(); len(lines) != 1 {
			t.Errorf("%v: the report is %q", c.fails, lines)
		}
	}
}
