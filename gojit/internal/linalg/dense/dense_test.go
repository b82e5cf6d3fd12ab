package dense

import (
	"math"
	"testing"
)

func ramp[T Float](n int) []T {
	data := make([]T, n)
	for i := range data {
		data[i] = T(i%13)/4 - 1
	}
	return data
}

func TestMultiplyAgreesWithDefinition(t *testing.T) {
	for _, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {2, 600, 130}, {65, 9, 300}, {130, 130, 4}} {
		m, n, k := s[0], s[1], s[2]
		for _, transA := range []bool{false, true} {
			for _, transB := range []bool{false, true} {
				a := Matrix[float64]{ramp[float64](m * k), k, transA}
				b := Matrix[float64]{ramp[float64](k * n), n, transB}
				if transA {
					a.Stride = m
				}
				if transB {
					b.Stride = k
				}
				c := Matrix[float64]{Data: make([]float64, m*n), Stride: n}
				multiply(m, n, k, a, b, c)
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

// TestTransposeIsAdjoint checks <conv(x), y> = <x, conv'(y)>.
func TestTransposeIsAdjoint(t *testing.T) {
	g := Convolution{Batch: 2, Groups: 2, InChannels: 4, OutChannels: 6, In: [3]int{1, 7, 6}, Kernel: [3]int{1, 3, 2},
		Stride: [3]int{1, 2, 1}, Dilation: [3]int{1, 1, 2}, Padding: [3]int{0, 1, 1}}
	g.Out = [3]int{1, 4, 6}
	x, w := ramp[float64](2*4*volume(g.In)), ramp[float64](6*2*volume(g.Kernel))
	y := ramp[float64](2 * 6 * volume(g.Out))
	forward, back := make([]float64, len(y)), make([]float64, len(x))
	Convolve(g, x, w, nil, forward)
	Transpose(g, y, w, nil, back)
	if a, b := Dot(forward, y), Dot(x, back); math.Abs(a-b) > 1e-9 {
		t.Fatalf("%v and %v", a, b)
	}
}
