package gemm

import (
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"math"
	"testing"
)

func TestMultiplyAgreesWithDefinition(t *testing.T) {
	for _, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {2, 600, 130}, {65, 9, 300}, {130, 130, 4}} {
		m, n, k := s[0], s[1], s[2]
		for _, transA := range []bool{false, true} {
			for _, transB := range []bool{false, true} {
				a := Matrix[float64]{linalgtest.Ramp[float64](m * k), k, transA}
				b := Matrix[float64]{linalgtest.Ramp[float64](k * n), n, transB}
				if transA {
					a.Stride = m
				}
				if transB {
					b.Stride = k
				}
				c := Matrix[float64]{Data: make([]float64, m*n), Stride: n}
				Multiply(m, n, k, a, b, c)
				for _, at := range [][2]int{{0, 0}, {m - 1, n - 1}, {m / 2, n / 3}} {
					want := 0.0
					for p := range k {
						want += element(a, at[0], p) * element(b, p, at[1])
					}
					if got := c.Data[at[0]*n+at[1]]; math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
						t.Fatalf("%v transposed %v %v at %v: %v, want %v", s, transA, transB, at, got, want)
					}
				}
			}
		}
	}
}

func element(m Matrix[float64], i, j int) float64 {
	if m.Transposed {
		i, j = j, i
	}
	return m.Data[i*m.Stride+j]
}
