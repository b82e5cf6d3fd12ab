package cuda_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/cuda"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// call runs an operator of a name, with defaults for arguments that are not given.
func call(t *testing.T, name string, given ...value.Value) *tensor.Tensor {
	t.Helper()
	records(func(*ops.Operator) {}) // links them
	o := ops.Find(name)
	args := given
	for _, a := range o.Schema().Arguments[len(given):] {
		args = append(args, a.NewDefault())
	}
	out := make([]value.Value, len(o.Schema().Returns))
	if err := new(autograd.Mode).Run(o, args, out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out[0].Tensor()
}

// TestTraining compares gradients of a small net on the device with those of the processor: products, a row that is added, an activation and a mean.
func TestTraining(t *testing.T) {
	gradients := func(d tensor.Device) (all []*tensor.Tensor) {
		var leaves []value.Value
		for _, m := range []*tensor.Tensor{matrix(t, tensor.Float32, 0.2, false), matrix(t, tensor.Float32, -0.4, true)} {
			there, err := m.ToDevice(d)
			if err == nil {
				err = there.SetRequiresGrad(true)
			}
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, value.OfTensor(there))
		}
		product := call(t, "aten::mm", leaves[0], value.OfTensor(call(t, "aten::t", leaves[1])))
		hidden := call(t, "aten::relu", value.OfTensor(product))
		loss := call(t, "aten::mean", value.OfTensor(call(t, "aten::mul.Tensor", value.OfTensor(hidden), value.OfTensor(hidden))))
		if err := new(autograd.Mode).Backward([]*tensor.Tensor{loss}, nil, autograd.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, l := range leaves {
			g := autograd.Grad(l.Tensor())
			if g == nil || g.Device() != loss.Device() {
				t.Fatalf("a gradient is %v", g)
			}
			here, err := g.ToDevice(tensor.Device{})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, here)
		}
		return all
	}
	want := gradients(tensor.Device{})
	for i, g := range gradients(device(t)) {
		if text := difference(g, want[i]); text != "" || math.Abs(g.At(2, 3).Float64()) < 1e-6 {
			t.Errorf("gradient %d: %s\n%v", i, text, g)
		}
	}
}

// TestRefusals looks for the errors of tensors on two devices and of operators without a form for the device.
func TestRefusals(t *testing.T) {
	gojit.LinkOperators()
	x := matrix(t, tensor.Float32, 1, false)
	there, err := x.ToDevice(device(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []*tensor.Tensor
		want string
	}{
		"aten::add.Tensor": {[]*tensor.Tensor{there, x}, "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"},
		"aten::to_sparse":  {[]*tensor.Tensor{there}, "Could not run 'aten::to_sparse' with arguments from the 'CUDA' backend"},
	} {
		var args []value.Value
		for _, a := range c.args {
			args = append(args, value.OfTensor(a))
		}
		o := ops.Find(name)
		for _, a := range o.Schema().Arguments[len(args):] {
			args = append(args, a.NewDefault())
		}
		out := make([]value.Value, len(o.Schema().Returns))
		if err := new(autograd.Mode).Run(o, args, out); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s gives %v", name, err)
		}
	}
}

// TestLibraries asks what is used of CUDA's libraries: on the software device they are there.
func TestLibraries(t *testing.T) {
	l, err := cuda.LibrariesOf(device(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Log(l.BLAS)
	t.Log(l.DNN)
	t.Log(l.FFT)
	t.Log(l.Solver)
	if os.Getenv("GOJIT_TEST_GPU") == "" && (!strings.HasPrefix(l.BLAS, "cuBLAS 130000, ") || !strings.HasPrefix(l.DNN, "cuDNN 92801, ") || !strings.HasPrefix(l.FFT, "cuFFT 12000, ") || !strings.HasPrefix(l.Solver, "cuSOLVER 12000, ")) {
		t.Errorf("%+v", l)
	}
}
