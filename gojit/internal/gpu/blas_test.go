package gpu

import (
	"fmt"
	"maps"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// hostFunction looks up a function of the software device.
func hostFunction[F any](t testing.TB, name string) (f F) {
	t.Helper()
	l, err := openLibrary(hostPath)
	if err == nil {
		err = l.function(&f, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// layouts make matrices, or batches of them, that lie in different ways.
var layouts = map[string]func(make func(shape ...int) *tensor.Tensor, batch, rows, columns int) *tensor.Tensor{
	"by rows": func(make func(shape ...int) *tensor.Tensor, batch, rows, columns int) *tensor.Tensor {
		return make(batch, rows, columns)
	},
	"by columns": func(make func(shape ...int) *tensor.Tensor, batch, rows, columns int) *tensor.Tensor {
		return must(make(batch, columns, rows).Transpose(1, 2))
	},
	"a part of rows": func(make func(shape ...int) *tensor.Tensor, batch, rows, columns int) *tensor.Tensor {
		return must(make(batch, rows, columns+3).Slice(2, 2, 2+columns, 1))
	},
	"a part of columns": func(make func(shape ...int) *tensor.Tensor, batch, rows, columns int) *tensor.Tensor {
		return must(must(make(batch, columns, rows+2).Slice(2, 1, 1+rows, 1)).Transpose(1, 2))
	},
	"one for all": func(make func(shape ...int) *tensor.Tensor, batch, rows, columns int) *tensor.Tensor {
		return must(make(1, rows, columns).Expand(batch, rows, columns))
	},
	"batches behind": func(make func(shape ...int) *tensor.Tensor, batch, rows, columns int) *tensor.Tensor {
		return must(make(rows, columns, batch).Permute(2, 0, 1))
	},
	"batches within": func(make func(shape ...int) *tensor.Tensor, batch, rows, columns int) *tensor.Tensor {
		return must(make(rows, batch, columns).Transpose(0, 1))
	},
	"the same row": func(make func(shape ...int) *tensor.Tensor, batch, rows, columns int) *tensor.Tensor {
		return must(make(batch, 1, columns).Expand(batch, rows, columns))
	},
}

func elementsOf(t *testing.T, x *tensor.Tensor) []complex128 {
	t.Helper()
	x = must(must(x.To(tensor.Complex128)).Contiguous())
	data, err := tensor.Elements[complex128](x)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tolerances are by how much of its size a sum of a type may be off.
var tolerances = map[tensor.DType]float64{tensor.Float16: 2e-3, tensor.BFloat16: 1e-2, tensor.Float32: 1e-5, tensor.Float64: 1e-13, tensor.Complex64: 1e-5, tensor.Complex128: 1e-13}

// TestProducts compares products by cuBLAS with sums of the elements' products, for all types, sizes down to one and factors that lie in many ways.
func TestProducts(t *testing.T) {
	v := testDevice(t)
	if v.products() == nil {
		t.Skip("cuBLAS is not here: ", v.product.why)
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	rng := rand.New(rand.NewPCG(21, 22))
	sizes := [][4]int{{1, 3, 4, 5}, {3, 2, 5, 3}, {1, 1, 7, 3}, {2, 5, 1, 4}, {2, 4, 6, 1}, {1, 1, 1, 1}}
	for _, d := range slices.Sorted(maps.Keys(tolerances)) {
		tolerance := tolerances[d]
		number := func(shape ...int) *tensor.Tensor {
			n, _ := tensor.Numel(shape)
			data := make([]complex128, n)
			for i := range data {
				data[i] = complex(rng.Float64()*2-1, rng.Float64()*2-1)
				if !d.IsComplex() {
					data[i] = complex(real(data[i]), 0)
				}
			}
			return must(must(tensor.FromSlice(data, shape...)).To(d))
		}
		names := slices.Sorted(maps.Keys(layouts))
		for _, nameA := range names {
			for _, nameB := range names {
				size := sizes[rng.IntN(len(sizes))]
				batch, m, k, n := size[0], size[1], size[2], size[3]
				left, right := layouts[nameA](number, batch, m, k), layouts[nameB](number, batch, k, n)
				var added *tensor.Tensor
				switch rng.IntN(6) {
				case 1: // a row
					added = must(number(n).Expand(batch, m, n))
				case 2:
					added = number(batch, m, n)
				case 3: // a column
					added = must(number(m, 1).Expand(batch, m, n))
				case 4: // a part of rows, the same for all
					added = must(must(number(1, m, n+2).Slice(2, 1, n+1, 1)).Expand(batch, m, n))
				case 5: // a row from the middle of a storage
					added = must(must(number(n+1).Slice(0, 1, n+1, 1)).Expand(batch, m, n))
				}
				want := make([]complex128, batch*m*n)
				a, c := elementsOf(t, left), elementsOf(t, right)
				for i := range want {
					for l := range k {
						want[i] += a[(i/n)*k+l] * c[(i/n/m*k+l)*n+i%n]
					}
				}
				if added != nil {
					for i, x := range elementsOf(t, added) {
						want[i] += x
					}
				}
				p := &kernel.Product{Out: must(v.Empty([]int{batch, m, n}, d)), Left: uploadStrided(t, v, left), Right: uploadStrided(t, v, right)}
				if added != nil {
					p.Added = uploadStrided(t, v, added)
				}
				if batch == 1 { // a matrix, not a batch of one
					p.Out, p.Left, p.Right = must(p.Out.Select(0, 0)), must(p.Left.Select(0, 0)), must(p.Right.Select(0, 0))
					if added != nil {
						p.Added = must(p.Added.Select(0, 0))
					}
				}
				name := fmt.Sprintf("%s, %s by %s, %v", d, nameA, nameB, size)
				if done, err := b.Multiply(p); err != nil || !done {
					t.Fatalf("%s: %v, %v", name, done, err)
				}
				for i, x := range elementsOf(t, must(v.Download(p.Out))) {
					if !(cmplx.Abs(x-want[i]) <= tolerance*float64(k+2)) {
						t.Fatalf("%s: element %d is %v, want %v", name, i, x, want[i])
					}
				}
			}
		}
	}
}

// TestSums has what is added to products be added by cuBLASLt at once, a row or a matrix.
func TestSums(t *testing.T) {
	v := testDevice(t)
	if onGPU() {
		t.Skip("of the software device alone")
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	sums, products, reductions := hostFunction[func() int64](t, "host_sums"), hostFunction[func() int64](t, "host_products"), hostFunction[func() int32](t, "host_last_reductions")
	empty := func(d tensor.DType, shape ...int) *tensor.Tensor { return must(v.Empty(shape, d)) }
	withSettings(t, map[Setting]bool{ReducedHalfSums: false})
	for name, c := range map[string]struct {
		d          tensor.DType
		added      func(d tensor.DType) *tensor.Tensor
		isSum      bool
		launches   int
		reductions int32
	}{
		"a row":               {tensor.Float32, func(d tensor.DType) *tensor.Tensor { return must(empty(d, 5).Expand(3, 5)) }, true, 1, ltAllReductions},
		"a row of halves":     {tensor.Float16, func(d tensor.DType) *tensor.Tensor { return must(empty(d, 5).Expand(3, 5)) }, true, 1, ltAllReductions &^ ltReducedToResult},
		"a matrix":            {tensor.Float64, func(d tensor.DType) *tensor.Tensor { return empty(d, 3, 5) }, true, 1, ltAllReductions},
		"a row it refuses":    {tensor.Float64, func(d tensor.DType) *tensor.Tensor { return must(empty(d, 5).Expand(3, 5)) }, false, 2, 0},
		"a column, copied":    {tensor.Float32, func(d tensor.DType) *tensor.Tensor { return must(empty(d, 3, 1).Expand(3, 5)) }, false, 2, 0},
		"a matrix by columns": {tensor.Float32, func(d tensor.DType) *tensor.Tensor { return must(empty(d, 5, 3).Transpose(0, 1)) }, false, 2, 0},
	} {
		p := v.products()
		p.mu.Lock()
		p.forget() // they are described anew
		p.mu.Unlock()
		for range 2 {
			wereSums, wereProducts, launched := sums(), products(), v.Counts().Launches
			p := &kernel.Product{Out: empty(c.d, 3, 5), Left: empty(c.d, 3, 4), Right: empty(c.d, 4, 5), Added: c.added(c.d)}
			if done, err := b.Multiply(p); !done || err != nil || products() != wereProducts+1 || (sums() != wereSums) != c.isSum || v.Counts().Launches-launched != c.launches {
				t.Errorf("%s: %v, %v, %d products of which %d with a sum, %d launches", name, done, err, products()-wereProducts, sums()-wereSums, v.Counts().Launches-launched)
			}
		}
		if got := reductions(); c.isSum && got != c.reductions {
			t.Errorf("%s: reductions %d, want %d", name, got, c.reductions)
		}
	}
	p := v.products()
	givesBack(t, "host_lt_descriptors", &p.mu, p.forget)
}

// givesBack looks for descriptors of a library that are there when all have been forgotten; host is the function that counts them.
func givesBack(t *testing.T, host string, mu *sync.Mutex, forget func()) {
	t.Helper()
	mu.Lock()
	forget()
	mu.Unlock()
	if n := hostFunction[func() int32](t, host)(); n != 0 {
		t.Errorf("%d descriptors were not given back", n)
	}
}

// TestProductsRefused has products that are not cuBLAS's be left to others, and its errors be told by name.
func TestProductsRefused(t *testing.T) {
	v := testDevice(t)
	if onGPU() {
		t.Skip("of the software device alone")
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	product := func(d tensor.DType, m, k, n int) *kernel.Product {
		empty := func(shape ...int) *tensor.Tensor { return must(v.Empty(shape, d)) }
		return &kernel.Product{Out: empty(m, n), Left: empty(m, k), Right: empty(k, n)}
	}
	for name, p := range map[string]*kernel.Product{"integers": product(tensor.Int64, 2, 2, 2), "nothing to sum": product(tensor.Float32, 2, 0, 2)} {
		if done, err := b.Multiply(p); done || err != nil {
			t.Errorf("%s: %v, %v", name, done, err)
		}
	}
	next := hostFunction[func(int32)](t, "host_next_status")
	next(blasNotSupported)
	if done, err := b.Multiply(product(tensor.Float32, 2, 2, 2)); done || err != nil {
		t.Errorf("not supported: %v, %v", done, err)
	}
	next(13)
	if _, err := b.Multiply(product(tensor.Float32, 2, 2, 2)); err == nil || !strings.Contains(err.Error(), "cuBLAS error: CUBLAS_STATUS_EXECUTION_FAILED (cublasGemmEx)") {
		t.Errorf("the error is %v", err)
	}
	next(blasAllocFailed) // once: memory that nobody uses is given back, and it is tried again
	if done, err := b.Multiply(product(tensor.Float32, 2, 2, 2)); !done || err != nil {
		t.Errorf("out of memory once: %v, %v", done, err)
	}
	off := &finder{only: []string{hostPath}, off: true}
	if _, err := openBLAS(off); err == nil || !strings.Contains(err.Error(), librariesVariable) {
		t.Errorf("switched off: %v", err)
	}
}

// TestPrecision has settings choose how products are computed.
func TestPrecision(t *testing.T) {
	v := testDevice(t)
	if onGPU() {
		t.Skip("of the software device alone")
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	x := must(v.Upload(must(tensor.FromSlice([]float32{1 + 1.0/4096}, 1, 1))))
	compute, mode := hostFunction[func() int32](t, "host_last_compute"), hostFunction[func() int32](t, "host_last_mode")
	for _, s := range []struct {
		setting Setting
		on      bool
		d       tensor.DType
		compute int32
		mode    int32
	}{
		{TF32Products, false, tensor.Float32, blasCompute32, 0}, {TF32Products, true, tensor.Float32, blasCompute32ByTF, 0},
		{ReducedHalfSums, true, tensor.Float16, blasCompute32, 0}, {ReducedHalfSums, false, tensor.Float16, blasCompute32, blasNoReducedSums},
		{ReducedBFloat16Sums, false, tensor.BFloat16, blasCompute32, blasNoReducedSums}, {TF32Products, true, tensor.Float64, blasCompute64, 0},
	} {
		was := s.setting.IsSet()
		s.setting.Set(s.on)
		factor := must(v.Empty([]int{1, 1}, s.d))
		if err := v.convert(factor, x); err != nil {
			t.Fatal(err)
		}
		p := &kernel.Product{Out: must(v.Empty([]int{1, 1}, s.d)), Left: factor, Right: factor}
		done, err := b.Multiply(p)
		s.setting.Set(was)
		if !done || err != nil || compute() != s.compute || mode() != s.mode {
			t.Errorf("%v %v of %s: %v, %v, computed by %d in mode %d", s.setting, s.on, s.d, done, err, compute(), mode())
		}
		if got := elementsOf(t, must(v.Download(p.Out)))[0]; s.d == tensor.Float32 && (real(got) == 1) != s.on {
			t.Errorf("by TF32 %v: the square of %v is %v", s.on, 1+1.0/4096, got)
		}
	}
}
