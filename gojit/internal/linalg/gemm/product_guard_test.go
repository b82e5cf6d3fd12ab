//go:build unix

package gemm

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
)

// TestProductsTouchNothingOutside runs products over buffers between guard pages.
func TestProductsTouchNothingOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, isa := range linalgtest.Sets() {
		for i := range 40 {
			front := i%2 == 0
			p := randomProduct[float32](r, 1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(70))
			p.A.Data, p.B.Data, p.C.Data = linalgtest.Guarded(t, p.A.Data, front), linalgtest.Guarded(t, p.B.Data, front), linalgtest.Guarded(t, p.C.Data, front)
			p.Epilogue, p.Residual = nil, nil
			p.generated(isa)
			q := randomProduct[float64](r, 1+r.IntN(40), 1+r.IntN(600), 1+r.IntN(200))
			q.A.Data, q.B.Data, q.C.Data = linalgtest.Guarded(t, q.A.Data, front), linalgtest.Guarded(t, q.B.Data, front), linalgtest.Guarded(t, q.C.Data, front)
			q.Epilogue, q.Residual = nil, nil
			q.generated(isa)
		}
	}
}

// FuzzProduct compares generated products with the portable ones for sizes that the fuzzer picks.
func FuzzProduct(f *testing.F) {
	f.Add(uint64(1), uint16(3), uint16(70), uint16(9))
	f.Add(uint64(5), uint16(130), uint16(33), uint16(1025))
	f.Fuzz(func(t *testing.T, seed uint64, m, n, k uint16) {
		r := rand.New(rand.NewPCG(seed, 1))
		for _, isa := range linalgtest.Sets() {
			checkProduct(t, randomProduct[float32](r, 1+int(m)%300, 1+int(n)%300, 1+int(k)%1500), isa)
			checkProduct(t, randomProduct[float64](r, 1+int(m)%100, 1+int(n)%100, 1+int(k)%700), isa)
		}
	})
}
