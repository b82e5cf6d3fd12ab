package gpu

import (
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// matrices makes random matrices by columns on the device, with large diagonals, and returns their elements.
func matrices(t *testing.T, v *Device, rng *rand.Rand, d tensor.DType, count, rows, columns int) (there *tensor.Tensor, data []complex128) {
	t.Helper()
	for i := range count * rows * columns {
		x := complex(rng.Float64()*2-1, rng.Float64()*2-1)
		if i%(rows*columns)%rows == i%(rows*columns)/rows {
			x = complex(4+rng.Float64(), 0)
		}
		if !d.IsComplex() {
			x = complex(real(x), 0)
		}
		data = append(data, x)
	}
	there = must(v.Upload(must(must(tensor.FromSlice(data, count, columns, rows)).To(d))))
	return there, elementsOf(t, must(v.Download(there)))
}

// TestSolver factorizes matrices and solves with the factors, alone and many at once: matrices times solutions are the right sides.
func TestSolver(t *testing.T) {
	v := testDevice(t)
	if v.solvers() == nil || v.products() == nil {
		t.Skip("cuSOLVER is not here: ", v.solving.why)
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	rng := rand.New(rand.NewPCG(61, 62))
	const n, columns = 5, 3
	for d := range solverTypes {
		for _, count := range []int{1, 3} {
			a, data := matrices(t, v, rng, d, count, n, n)
			x, right := matrices(t, v, rng, d, count, n, columns)
			work := &kernel.MatrixWork{Of: kernel.LU, A: a, B: x, Pivots: must(v.Empty([]int{count, n}, tensor.Int32)), Info: must(v.Empty([]int{count}, tensor.Int32))}
			for _, of := range []kernel.MatrixResult{kernel.LU, kernel.LUSolution} {
				work.Of = of
				if done, err := b.Solve(work); !done || err != nil {
					t.Fatalf("%s, %d, %d: %v, %v", d, count, of, done, err)
				}
				for _, at := range tensor.Data[int32](must(v.Download(work.Info))) {
					if at != 0 {
						t.Errorf("%s, %d, %d: matrices are singular at %d", d, count, of, at)
					}
				}
			}
			check := func(what string, element func(i, j int) bool) {
				t.Helper()
				got := elementsOf(t, must(v.Download(x)))
				for at, want := range right {
					i, of := at%n, at/n
					sum := complex128(0)
					for j := range n {
						if element(i, j) {
							sum += data[(of/columns*n+j)*n+i] * got[of*n+j]
						}
					}
					if !(cmplx.Abs(sum-want) <= 100*tolerances[d]) {
						t.Fatalf("%s, %d matrices of %s: element %d is %v, want %v", what, count, d, at, sum, want)
					}
				}
			}
			check("by factors", func(i, j int) bool { return true })
			a, data = matrices(t, v, rng, d, count, n, n)
			x, right = matrices(t, v, rng, d, count, n, columns)
			if done, err := b.Solve(&kernel.MatrixWork{Of: kernel.TriangleSolution, A: a, B: x, Upper: true}); !done || err != nil {
				t.Fatalf("%s, %d: %v, %v", d, count, done, err)
			}
			check("by triangles", func(i, j int) bool { return i <= j })
		}
	}
}

// TestSolverRefused has work that is not cuSOLVER's be left to others, and its errors be told by name.
func TestSolverRefused(t *testing.T) {
	v := testDevice(t)
	if onGPU() {
		t.Skip("of the software device alone")
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	rng := rand.New(rand.NewPCG(63, 64))
	last, next := hostFunction[func() int32](t, "host_last_work"), hostFunction[func(int32)](t, "host_next_solver")
	of := func(d tensor.DType, count, n int) *kernel.MatrixWork {
		if !slices.Contains([]tensor.DType{tensor.Float32, tensor.Float64}, d) {
			return &kernel.MatrixWork{A: must(v.Empty([]int{count, n, n}, d))}
		}
		a, _ := matrices(t, v, rng, d, count, n, n)
		return &kernel.MatrixWork{Of: kernel.LU, A: a, Pivots: must(v.Empty([]int{count, n}, tensor.Int32)), Info: must(v.Empty([]int{count}, tensor.Int32))}
	}
	refused := func(what string, w *kernel.MatrixWork) {
		t.Helper()
		if done, err := b.Solve(w); done || err != nil {
			t.Errorf("%s: %v, %v", what, done, err)
		}
	}
	refused("integers", of(tensor.Int64, 1, 2))
	refused("nothing", of(tensor.Float32, 0, 2))
	refused("more matrices than calls are worth", of(tensor.Float32, 9, 2))
	next(solverNotSupported)
	refused("not supported", of(tensor.Float32, 1, 2))
	s := must(v.NewStream(0))
	w := of(tensor.Float32, 1, 2)
	capturedOn(t, v, s, nil, func() { refused("within a capture", w) }).Reset()
	next(6)
	if _, err := b.Solve(of(tensor.Float64, 1, 2)); err == nil || !strings.Contains(err.Error(), "cuSOLVER error: CUSOLVER_STATUS_EXECUTION_FAILED (cusolverDnDgetrf)") {
		t.Errorf("the error is %v", err)
	}
	next(solverAllocFailed) // once
	if done, err := b.Solve(of(tensor.Float32, 1, 2)); !done || err != nil {
		t.Errorf("out of memory once: %v, %v", done, err)
	}
	for _, c := range []struct {
		work  kernel.MatrixWork
		count int
		n     int
		want  int32
	}{
		{kernel.MatrixWork{Of: kernel.SymmetricEigenvalues}, 1, 4, 7}, {kernel.MatrixWork{Of: kernel.SymmetricEigenvalues}, 2, 4, 8}, {kernel.MatrixWork{Of: kernel.SymmetricEigenvalues}, 2, 33, 7},
		{kernel.MatrixWork{Of: kernel.SingularValues}, 1, 4, 9}, {kernel.MatrixWork{Of: kernel.SingularValues}, 2, 4, 10}, {kernel.MatrixWork{Of: kernel.SingularValues}, 2, 33, 9},
		{kernel.MatrixWork{Of: kernel.SingularValues, ByQR: true}, 2, 4, 11}, {kernel.MatrixWork{Of: kernel.Cholesky}, 1, 4, 2}, {kernel.MatrixWork{Of: kernel.Cholesky}, 30, 2, 3},
	} {
		w := c.work
		w.A, _ = matrices(t, v, rng, tensor.Float64, c.count, c.n, c.n)
		w.Numbers, w.Info = must(v.Empty([]int{c.count, c.n}, tensor.Float64)), must(v.Empty([]int{c.count}, tensor.Int32))
		if done, err := b.Solve(&w); !done || err != nil || last() != c.want {
			t.Errorf("%d of %d matrices of %d: %v, %v, by %d, want %d", w.Of, c.count, c.n, done, err, last(), c.want)
		}
	}
}
