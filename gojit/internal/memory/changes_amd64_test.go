package memory

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func checkChanges[T int32 | int64 | float32 | float64](t *testing.T, floats bool, values []T) {
	size := int(unsafe.Sizeof(values[0]))
	for n := 1; n < 100; n++ {
		src, dst := make([]T, n), make([]T, n+1)
		for i := range src {
			src[i] = values[rand.IntN(len(values))]
		}
		done, wrote := Changes(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), size, n, floats)
		if findsChanges && done < n-64/size || done >= n {
			t.Fatalf("%d of %d elements of %d bytes are compared", done, n-1, size)
		}
		var want []T
		for i := 1; i <= done; i++ {
			if src[i] != src[i-1] {
				want = append(want, src[i])
			}
		}
		same := func(a, b T) bool { return a == b || a != a && b != b }
		if !slices.EqualFunc(dst[:wrote], want, same) || dst[n] != 0 {
			t.Fatalf("of %v come %v, not %v", src, dst[:wrote], want)
		}
	}
}

// TestChanges compares with elements one by one; a NaN differs from every other one, zeros of both signs are equal.
func TestChanges(t *testing.T) {
	checkChanges(t, true, []float32{0, float32(math.Copysign(0, -1)), 1, float32(math.NaN())})
	checkChanges(t, true, []float64{0, math.Copysign(0, -1), 1, math.NaN()})
	checkChanges(t, false, []int32{0, -1, math.MinInt32})
	checkChanges(t, false, []int64{0, -1, 1 << 40})
}
