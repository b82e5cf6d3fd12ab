package gpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestCompiler gives texts to CUDA's own compiler, where it is installed; a GPU is not needed for that.
func TestCompiler(t *testing.T) {
	l, err := machineFinder().open(wantedCompiler)
	if err != nil {
		t.Skip("CUDA's compiler is not here: ", err)
	}
	d := &driver{}
	if err := d.bindCompiler(l); err != nil {
		t.Fatal(err)
	}
	v := &Device{driver: d, major: 8, minor: 0}
	rng := rand.New(rand.NewPCG(15, 16))
	var kernels []*kernel.Kernel
	for _, dtype := range allTypes {
		made, _ := operations(t, rng, dtype)
		kernels = append(kernels, made...)
	}
	g := kernel.Generator{Rand: rng, Types: append([]tensor.DType{tensor.Complex64, tensor.Complex128}, allTypes...),
		Memory: []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Complex32}, Instructions: 8}
	for i := range 40 {
		g.Reduce = i%2 == 0
		kernels = append(kernels, g.Kernel())
	}
	for _, k := range kernels {
		s, err := cuda.Print(k)
		if err != nil {
			t.Logf("%v\n%s", err, k)
			continue
		}
		options, binary := v.options()
		if _, err := d.compile(s.Text, options, binary); err != nil {
			t.Fatalf("%v\n%s\n%s", err, k, s.Body)
		}
	}
}

// TestArchitectures checks what texts are compiled for: a device's own instructions where the compiler knows it, else the newest PTX before it.
func TestArchitectures(t *testing.T) {
	if onGPU() {
		t.Skip("the compiler's architectures are those of the software device")
	}
	d := testDevice(t).driver
	for _, c := range []struct {
		major, minor int32
		want         string
		binary       bool
	}{{9, 0, "sm_90", true}, {7, 5, "sm_75", true}, {8, 6, "compute_75", false}, {12, 1, "compute_90", false}, {7, 0, "sm_70", true}} {
		v := &Device{driver: d, major: c.major, minor: c.minor}
		options, binary := v.options()
		if options[0] != "--gpu-architecture="+c.want || binary != c.binary {
			t.Errorf("%d.%d: %s, %t, want %s, %t", c.major, c.minor, options[0], binary, c.want, c.binary)
		}
	}
}

// TestTensorCores checks which types tensor cores multiply: by what the device is, what the compiler knows and what programs chose.
func TestTensorCores(t *testing.T) {
	if onGPU() {
		t.Skip("the compiler's architectures are those of the software device")
	}
	d := testDevice(t).driver
	half, brain, single, double := tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64
	for _, c := range []struct {
		major, minor int32
		exact        bool
		want         []tensor.DType
	}{
		{7, 0, false, nil}, {7, 5, false, []tensor.DType{half}}, {8, 6, false, []tensor.DType{half}}, // the compiler knows nothing from 7.6 to 8.9
		{9, 0, false, []tensor.DType{half, brain, single, double}}, {9, 0, true, []tensor.DType{half, brain, double}}, {12, 1, false, []tensor.DType{half, brain, single}},
	} {
		withSettings(t, map[Setting]bool{TF32Products: !c.exact, TF32Convolutions: !c.exact})
		v := &Device{driver: d, major: c.major, minor: c.minor}
		b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
		for _, of := range append([]tensor.DType{tensor.Complex64}, allTypes...) {
			for _, convolution := range []bool{false, true} {
				has, err := b.TensorCores(tensor.NewDevice(tensor.CUDA, 0), of, convolution)
				if err != nil || has != slices.Contains(c.want, of) {
					t.Errorf("%d.%d, exact: %t: %s, a convolution: %t: %t, %v", c.major, c.minor, c.exact, of, convolution, has, err)
				}
			}
		}
	}
}
