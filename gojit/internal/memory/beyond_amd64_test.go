package memory

import (
	"math"
	"testing"
	"unsafe"
)

func checkBeyond[T int32 | int64 | float32 | float64](t *testing.T, low, bound, high T, others ...T) {
	whole := 128 / int(unsafe.Sizeof(bound))
	for n := range 3 * whole {
		row := make([]T, n)
		for at := range n {
			for i := range row {
				row[i] = bound
			}
			for _, above := range []bool{false, true} {
				beyond, within := low, high
				if above {
					beyond, within = high, low
				}
				for i := range at {
					row[i] = within
				}
				for _, v := range append(others, beyond) {
					row[at] = v
					want := 0
					if findsBeyond {
						want = min(at, n/whole*whole)
					}
					if got := NotBeyond(row, bound, above); got != want {
						t.Fatalf("%v at %d of %d elements is beyond %v: %d are not", v, at, n, bound, got)
					}
				}
			}
		}
	}
}

// TestNotBeyond has one element beyond a bound, NaNs among them, at every place of rows of all lengths.
func TestNotBeyond(t *testing.T) {
	checkBeyond(t, -1, 0, 1, float32(math.NaN()))
	checkBeyond(t, math.Inf(-1), math.Copysign(0, -1), math.Inf(1), math.NaN())
	checkBeyond[int32](t, math.MinInt32, -5, math.MaxInt32)
	checkBeyond[int64](t, math.MinInt64, 1<<40, math.MaxInt64)
	nan := float32(math.NaN())
	if got := NotBeyond([]float32{31: 0}, nan, true); got != 0 {
		t.Fatalf("%d numbers are not beyond a NaN", got)
	}
}
