package gpu

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/gpu/gputest"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var hostFolder, hostPath string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "host_driver")
	if err != nil {
		panic(err)
	}
	hostFolder = folder
	if !onGPU() {
		os.Setenv(cacheVariable, "off") // the software device may have changed
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// host is a device whose threads run on the processor, one after another (testdata/host_driver.c).
var host = sync.OnceValues(func() (*Device, error) {
	path, err := gputest.Build(hostFolder)
	if err != nil {
		return nil, err
	}
	os.Setenv("TMPDIR", hostFolder)
	hostPath = path
	d, err := openDriver(&finder{only: []string{path}})
	if err != nil {
		return nil, err
	}
	all, err := d.devices()
	if err != nil {
		return nil, err
	}
	return all[0], nil
})

// testDevice is the first GPU of the machine where GOJIT_TEST_GPU is set (make test-gpu), else the device that is the processor.
func testDevice(t testing.TB) *Device {
	t.Helper()
	if onGPU() {
		all, err := Devices()
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	v, err := host()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func onGPU() bool { return os.Getenv("GOJIT_TEST_GPU") != "" }

// allocatedOn returns how to ask for the bytes of a device that are in use.
func allocatedOn(t testing.TB, v *Device) func() int64 {
	t.Helper()
	if onGPU() {
		return func() int64 {
			var free, total uint64
			if err := v.do(func() error { return v.driver.check("cuMemGetInfo", v.driver.cuMemGetInfo_v2(&free, &total)) }); err != nil {
				t.Fatal(err)
			}
			return int64(total - free)
		}
	}
	l, err := openLibrary(hostPath)
	if err != nil {
		t.Fatal(err)
	}
	var allocated func() int64
	if err := l.function(&allocated, "host_allocated"); err != nil {
		t.Fatal(err)
	}
	return allocated
}

// specials are values at which floats behave in their own way.
var specials = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, math.Inf(1), math.Inf(-1), math.NaN(), 1e-40, -1e-40, 5e-324, 1e300, -1e300, 3.4e38, 1 << 31, -1 << 31, 255, 65504, 65519, 65520, 6e-8, 1e-8}

func randomTensor(t testing.TB, rng *rand.Rand, d tensor.DType, shape ...int) *tensor.Tensor {
	t.Helper()
	n, _ := tensor.Numel(shape)
	var x *tensor.Tensor
	var err error
	switch {
	case d.IsComplex():
		data := make([]complex128, n)
		for i := range data {
			data[i] = complex(rng.NormFloat64(), rng.NormFloat64())
		}
		x, err = tensor.FromSlice(data, shape...)
	case d.IsFloating():
		data := make([]float64, n)
		for i := range data {
			if data[i] = rng.NormFloat64() * math.Ldexp(1, rng.IntN(12)-6); rng.IntN(3) == 0 {
				data[i] = specials[rng.IntN(len(specials))]
			}
		}
		x, err = tensor.FromSlice(data, shape...)
	default:
		data := make([]int64, n)
		for i := range data {
			data[i] = int64(rng.Uint64()) >> rng.IntN(63)
		}
		x, err = tensor.FromSlice(data, shape...)
	}
	if err == nil {
		x, err = x.To(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// sameBits compares tensors; NaN equals NaN, zeros of either sign are equal where loose is set.
func sameBits(t *testing.T, name string, got, want *tensor.Tensor, loose bool) {
	t.Helper()
	got, err := got.Reshape(-1)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = want.Reshape(-1); err != nil {
		t.Fatal(err)
	}
	for i := range want.Numel() {
		a, b := got.At(i), want.At(i)
		var same bool
		switch d := want.DType(); {
		case d.IsComplex():
			same = sameFloat(real(a.Complex128()), real(b.Complex128()), loose) && sameFloat(imag(a.Complex128()), imag(b.Complex128()), loose)
		case d.IsFloating():
			same = sameFloat(a.Float64(), b.Float64(), loose)
		default:
			same = a.Int64() == b.Int64()
		}
		if !same {
			t.Fatalf("%s: element %d is %v, want %v", name, i, a, b)
		}
	}
}

func sameFloat(a, b float64, loose bool) bool {
	return a != a && b != b || math.Float64bits(a) == math.Float64bits(b) || loose && a == b
}

// agree compares a kernel on the device with the evaluator, which runs the same instructions: functions are written in primitives.
func agree(t *testing.T, name string, k *kernel.Kernel, inputs []*tensor.Tensor, shapes [][]int, loose bool) {
	t.Helper()
	v := testDevice(t)
	p, err := NewProgram(v, k)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, k)
	}
	e, err := kernel.NewProgram(p.Source().Kernel)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	params := make([]tensor.Scalar, k.Params)
	for i := range params {
		params[i] = tensor.Float(1.5)
	}
	var here, there []*tensor.Tensor
	for i, o := range k.Outputs {
		a, err := tensor.Empty(shapes[i], o.DType)
		if err != nil {
			t.Fatal(err)
		}
		b, err := v.Empty(shapes[i], o.DType)
		if err != nil {
			t.Fatal(err)
		}
		here, there = append(here, a), append(there, b)
	}
	for _, x := range inputs {
		here = append(here, x)
		there = append(there, uploadStrided(t, v, x))
	}
	e.Run(here, params)
	if err := p.Run(there, params); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, k)
	}
	for i := range k.Outputs {
		got, err := v.Download(there[i])
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, name+"\n"+k.String(), got, here[i], loose)
	}
}

// uploadStrided copies a tensor to the device with the strides that it has.
func uploadStrided(t *testing.T, v *Device, x *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	bytes := x.Storage().Bytes()
	whole, err := tensor.FromStorage(tensor.ForeignStorage(bytes, nil), 0, []int{len(bytes)}, []int{1}, tensor.Uint8)
	if err != nil {
		t.Fatal(err)
	}
	made, err := v.Upload(whole)
	if err != nil {
		t.Fatal(err)
	}
	view, err := tensor.FromStorage(made.Storage(), x.Offset(), x.Shape(), x.Strides(), x.DType())
	if err != nil {
		t.Fatal(err)
	}
	return view
}
