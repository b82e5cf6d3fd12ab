package quasirandom

import "testing"

// Of any 2^k points of a dimension that begin at a multiple of 2^k, each interval of length 2^-k holds one: the leading bits of the first k
// direction numbers form a matrix with ones on its diagonal.
func TestDirectionNumbersStratify(t *testing.T) {
	n := 0
	Directions(Dimensions, func(d int, numbers [Bits]int64) {
		n++
		for k, v := range numbers {
			if v>>(Bits-1-k)&1 != 1 || v&(1<<(Bits-1-k)-1) != 0 || v>>Bits != 0 {
				t.Fatalf("dimension %d: direction number %d is %030b", d, k, v)
			}
		}
	})
	if n != Dimensions {
		t.Errorf("%d dimensions, want %d", n, Dimensions)
	}
}

func TestPolynomialsAreDistinctAndAllOfTheirDegree(t *testing.T) {
	r := bitReader{data: packed}
	counts, last := map[int]int{}, 0
	for range Dimensions - 1 {
		degree := r.read(5)
		p := degree<<20 | r.read(degree-1)
		if p <= last {
			t.Fatalf("polynomial %b follows %b", p, last)
		}
		last = p
		counts[degree]++
		for k := range degree {
			r.read(k)
		}
	}
	// Euler's function of 2^degree-1, divided by the degree.
	for degree, want := range []int{0, 1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776} {
		if counts[degree] != want {
			t.Errorf("%d polynomials of degree %d, want %d", counts[degree], degree, want)
		}
	}
	if rest := len(packed)*8 - r.at; rest < 0 || rest > 7 {
		t.Errorf("%d bits are left", rest)
	}
}
