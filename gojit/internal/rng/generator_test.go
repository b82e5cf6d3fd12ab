package rng

import "testing"

// Vector code and plain Go make the same stream.
func TestStreamsAgree(t *testing.T) {
	width := twisted
	defer func() { twisted = width }()
	fast, plain := New(42), New(42)
	for _, n := range []int{1, 7, 624, 3, 1000, 8, 5000} {
		a, b := make([]uint32, n), make([]uint32, n)
		twisted = width
		fast.words(a)
		twisted = 0
		plain.words(b)
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("word %d of %d is %d, want %d", i, n, a[i], b[i])
			}
		}
	}
}
