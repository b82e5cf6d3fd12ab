package gemm

import (
	"errors"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// A large product on one thread ends between its blocks.
func TestProductIsInterrupted(t *testing.T) {
	if asm.Target() < asm.AVX2 {
		t.Skip("portable products run to their end")
	}
	parallel.SetNumThreads(1)
	defer parallel.SetNumThreads(0)
	const k, n = 300, 1500
	a, c := make([]float32, k*n), make([]float32, k*n)
	for i := range a {
		a[i] = 1
	}
	p := Product[float32]{M: k, N: n, K: k, A: Matrix[float32]{Data: a, Stride: k}, B: Matrix[float32]{Data: a, Stride: n}, C: Matrix[float32]{Data: c, Stride: n}}
	failure := errors.New("enough")
	looks := 0
	err := func() (err error) {
		parallel.SetInterrupt(func() error {
			if looks++; looks > 1 {
				return failure
			}
			return nil
		}, 0)
		defer parallel.SetInterrupt(nil, 0)
		defer source.Catch(&err)
		p.Run()
		return nil
	}()
	if err != failure || c[k*n-1] != 0 {
		t.Errorf("%v, the last element is %v", err, c[k*n-1])
	}
	p.Run()
	if c[k*n-1] != k {
		t.Errorf("afterwards the last element is %v", c[k*n-1])
	}
}
