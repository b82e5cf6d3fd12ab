package cuda_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/cuda"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/gpu/gputest"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestMain has the software device take the place of the GPUs, but where GOJIT_TEST_GPU is set (make test-gpu).
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	cuda.AllowTF32(false, false) // as the processor computes
	if os.Getenv("GOJIT_TEST_GPU") == "" {
		if _, err := exec.LookPath("cc"); err != nil {
			fmt.Println("there is no C compiler: the software device is not tested")
			return 0
		}
		folder, err := os.MkdirTemp("", "software_device")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		path, err := gputest.Build(folder)
		if err != nil {
			panic(err)
		}
		os.Setenv("TMPDIR", folder)
		os.Setenv("GOJIT_CUDA_DRIVER", path)
	}
	return m.Run()
}

func device(t testing.TB) tensor.Device {
	t.Helper()
	d, err := cuda.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// records calls visit for each operator that has a record under its first name, and runs.
func records(visit func(o *ops.Operator)) {
	gojit.LinkOperators()
	opstest.Records(func(o *ops.Operator) {
		if o.Run != nil {
			visit(o)
		}
	})
}

func resultOf(o *ops.Operator, args []value.Value) (*tensor.Tensor, error) {
	out := make([]value.Value, 1)
	if err := new(autograd.Mode).Run(o, args, out); err != nil {
		return nil, err
	}
	if !out[0].IsTensor() {
		return nil, fmt.Errorf("the result is no tensor")
	}
	return out[0].Tensor(), nil
}

// onDevice returns the arguments with tensors copied to a device.
func onDevice(t *testing.T, args []value.Value, d tensor.Device) []value.Value {
	moved := append([]value.Value(nil), args...)
	for i, a := range args {
		if a.IsTensor() {
			there, err := a.Tensor().ToDevice(d)
			if err != nil {
				t.Fatal(err)
			}
			moved[i] = value.OfTensor(there)
		}
	}
	return moved
}

// compare runs an operator on the processor and on the device. It reports whether the processor runs it.
func compare(t *testing.T, o *ops.Operator, args []value.Value) bool {
	t.Helper()
	want, err := resultOf(o, args)
	if err != nil {
		return false
	}
	d := device(t)
	got, err := resultOf(o, onDevice(t, args, d))
	if err != nil {
		t.Errorf("%s: %v", o.Name, err)
		return true
	}
	if got.Device() != d || got.DType() != want.DType() || !tensor.SameShape(got.Shape(), want.Shape()) || !tensor.SameShape(got.Strides(), want.Strides()) {
		t.Errorf("%s gives %s %v %v on %s, the processor %s %v %v", o.Name, got.DType(), got.Shape(), got.Strides(), got.Device(), want.DType(), want.Shape(), want.Strides())
		return true
	}
	here, err := got.ToDevice(tensor.Device{})
	if err != nil {
		t.Fatal(err)
	}
	if text := difference(here, want); text != "" {
		t.Errorf("%s: %s", o.Name, text)
	}
	return true
}

// difference says where tensors differ by more than the order of sums explains, "" where they do not.
func difference(got, want *tensor.Tensor) string {
	a, errA := got.To(tensor.Complex128)
	b, errB := want.To(tensor.Complex128)
	if errA != nil || errB != nil {
		return fmt.Sprint(errA, errB)
	}
	x, _ := tensor.Elements[complex128](a)
	y, _ := tensor.Elements[complex128](b)
	for i := range y {
		for _, p := range [][2]float64{{real(x[i]), real(y[i])}, {imag(x[i]), imag(y[i])}} {
			if p[0] != p[1] && !(math.IsNaN(p[0]) && math.IsNaN(p[1])) && !(math.Abs(p[0]-p[1]) <= 1e-6*(1+math.Abs(p[1]))) {
				return fmt.Sprintf("element %d is %v, the processor gives %v", i, x[i], y[i])
			}
		}
	}
	return ""
}

// matrix makes a matrix of 3 by 4 elements of a type, by columns where turned is set.
func matrix(t *testing.T, d tensor.DType, at float64, turned bool) *tensor.Tensor {
	data := make([]float64, 12)
	for i := range data {
		data[i] = at + 0.07*float64(i)
		if !d.IsFloating() {
			data[i] = math.Round(10*at) + float64(i%5)
		}
	}
	x, err := tensor.FromSlice(data, 3, 4)
	if turned && err == nil {
		if x, err = tensor.FromSlice(data, 4, 3); err == nil {
			x, err = x.Transpose(0, 1)
		}
	}
	if err == nil {
		x, err = x.To(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestElementwiseRecords compares all operators with a scalar form, on floats and integers, with operands by rows, by columns and broadcast.
func TestElementwiseRecords(t *testing.T) {
	checked := 0
	records(func(o *ops.Operator) {
		if d := o.Def(); !d.IsElementwise() && d.Scalar == nil {
			return
		}
		for _, d := range []tensor.DType{tensor.Float32, tensor.Int64} {
			args, ok := opstest.Sample(o, func(i int) *tensor.Tensor {
				x := matrix(t, d, 0.11+0.17*float64(i), i == 1)
				if i == 2 {
					x, _ = x.Select(0, 1)
				}
				return x
			})
			if ok && len(o.Schema().Returns) == 1 && compare(t, o, args) {
				checked++
			}
		}
	})
	if checked < 150 {
		t.Errorf("%d operators were compared", checked)
	}
	t.Logf("%d operators were compared", checked)
}

// TestReductionRecords compares all operators that combine elements, along rows and columns and over everything.
func TestReductionRecords(t *testing.T) {
	checked := 0
	records(func(o *ops.Operator) {
		if o.Def().Reduce == kernel.NoReduce {
			return
		}
		for _, turned := range []bool{false, true} {
			x := matrix(t, tensor.Float32, 0.31, turned)
			for _, dims := range [][]int{nil, {0}, {1}, {0, 1}} {
				args := []value.Value{value.OfTensor(x)}
				for _, a := range o.Schema().Arguments[1:] {
					switch {
					case strings.HasPrefix(a.Name, "dim") && dims != nil && a.Type.Kind() == types.KindInt:
						args = append(args, value.Int(int64(dims[0])))
					case strings.HasPrefix(a.Name, "dim") && dims != nil:
						args = append(args, value.OfList(value.Ints(dims)))
					case a.HasDefault:
						args = append(args, a.NewDefault())
					default:
						return
					}
				}
				if compare(t, o, args) {
					checked++
				}
			}
		}
	})
	if checked < 20 {
		t.Errorf("%d reductions were compared", checked)
	}
	t.Logf("%d reductions were compared", checked)
}
