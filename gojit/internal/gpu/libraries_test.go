package gpu

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// makeLibrary makes a shared library that has one function.
func makeLibrary(t *testing.T, path, function string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "library.c")
	if err := os.WriteFile(source, []byte("int "+function+"(void) { return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestFinder looks for a library where variables and packages of Python say: the newest that the driver knows, which has the function that is asked for.
func TestFinder(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	folder := t.TempDir()
	site := filepath.Join(folder, "site-packages")
	old, recent := filepath.Join(site, "nvidia", "cublas", "lib", "libthere.so.12"), filepath.Join(site, "nvidia", "cu13", "lib", "libthere.so.13")
	other := filepath.Join(folder, "other", "libthere.so.12")
	makeLibrary(t, old, "there")
	makeLibrary(t, recent, "there")
	makeLibrary(t, other, "there")
	makeLibrary(t, filepath.Join(folder, "empty", "libthere.so.13"), "nothing")
	w := &wanted{what: "what is there", names: []string{"libthere.so.13", "libthere.so.12"}, marker: "there", ofCUDA: true}
	for _, c := range []struct {
		f     finder
		want  string
		least int // the CUDA that the older one needs, where that is not its number
	}{
		{finder{packages: []string{folder, site}, version: 13000}, recent, 0},
		{finder{packages: []string{site}, version: 12040}, old, 0},
		{finder{packages: []string{site}, version: 11080}, old, 11},
		{finder{packages: []string{site}, first: []string{filepath.Dir(other)}, version: 12040}, other, 0},
		{finder{packages: []string{site}, first: []string{filepath.Join(folder, "empty")}, version: 13000}, recent, 0},
		{finder{packages: []string{site}, only: []string{filepath.Join(folder, "empty", "libthere.so.13"), other}}, other, 0},
	} {
		w.least = nil
		if c.least != 0 {
			w.least = map[string]int{"libthere.so.12": c.least}
		}
		l, err := c.f.open(w)
		if err != nil || l.name != c.want {
			t.Errorf("%+v: found %v, %v", c.f, l, err)
		}
	}
	for _, c := range []struct {
		f    finder
		want []string
	}{
		{finder{packages: []string{folder}, first: []string{"/nowhere"}, version: 12000}, []string{"looked for libthere.so.12 in /nowhere (GOJIT_CUDA_LIBRARIES), where the system looks", "and in the packages of Python"}},
		{finder{first: []string{filepath.Join(folder, "empty")}, version: 13000}, []string{"undefined symbol: there"}}, // what is there, not what is missing
	} {
		_, err := c.f.open(w)
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: the error is %v, want %q", c.f, err, part)
			}
		}
	}
}

// TestFunctions looks for all functions that are used in CUDA's libraries themselves, where they are installed, and describes products and convolutions to
// them; a GPU is not needed for that.
func TestFunctions(t *testing.T) {
	b, err := openBLAS(machineFinder())
	if err != nil {
		t.Log(err)
	} else if err := b.check("a function", blasNotSupported); !strings.Contains(err.Error(), "CUBLAS_STATUS_NOT_SUPPORTED (a function)") {
		t.Error(err)
	} else {
		for _, d := range slices.Sorted(maps.Keys(tolerances)) {
			for _, isRow := range []bool{false, true} {
				key := sumKey{size: productSize{d, 2, 3, 5, 4}, isRow: isRow, out: order{0, 5, 15}, left: order{0, 4, 12}, right: order{1, 4, 0}, added: order{0, 7, 0}, alignment: [5]uint8{8, 4, 2, 8, 1}}
				key.compute, key.isReduced = key.size.computing()
				p := &productLibrary{blas: b, sums: map[sumKey]*sum{key: {}}}
				if preference, err := b.lt.describe(b, p.sums[key], &key, 4096, 1<<20); err != nil {
					t.Errorf("%s: %v", d, err)
				} else {
					b.lt.cublasLtMatmulPreferenceDestroy(preference)
				}
				p.forget()
			}
		}
	}
	d, err := openDNN(machineFinder())
	if err != nil {
		t.Log(err)
	} else if err := d.check("a function", dnnExecutionFailed); d.cudnnGetVersion() < 8000 || !strings.Contains(err.Error(), "CUDNN_STATUS_EXECUTION_FAILED (a function)") {
		t.Error(d.cudnnGetVersion(), err)
	} else {
		l := &convolutionLibrary{dnn: d}
		for name, shape := range convolutionShapes {
			for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
				for which := range 6 {
					key := convolutionKey{shape: shape, of: kernel.ConvolutionResult(which % 3), dtype: d, channelsLast: which >= 3}
					made := &convolution{}
					if err := l.describeTensors(made, &key); err != nil {
						t.Errorf("%s, %s: %v", name, d, err)
					}
					l.destroy(made)
				}
			}
		}
	}
	f, err := openFFT(machineFinder())
	var version int32
	if err != nil {
		t.Log(err)
	} else if f.cufftGetVersion(&version); version < 10000 {
		t.Errorf("cuFFT has version %d", version)
	}
	s, err := openSolver(machineFinder())
	if err != nil {
		t.Log(err)
	} else if s.cusolverGetVersion(&version); version < 11000 {
		t.Errorf("cuSOLVER has version %d", version)
	}
	if b == nil && d == nil && f == nil && s == nil {
		t.Skip("none is here")
	}
}
