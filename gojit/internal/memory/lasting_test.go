package memory

import (
	"slices"
	"testing"
	"unsafe"
)

// TestLastingPieces has pieces of all kinds of sizes: they are aligned and cleared, and writing one changes no other.
func TestLastingPieces(t *testing.T) {
	var all [][]byte
	for i, n := range []int{0, 1, 63, lastingFrom - 1, lastingFrom, lastingFrom + 1, 100_001, lastingTo, lastingTo + 1, lastingTo, lastingTo - 5, lastingTo, lastingTo, 3 * lastingTo} {
		piece := Lasting(n)
		if len(piece) != n || cap(piece) != n {
			t.Fatalf("a piece of %d bytes has %d, with room for %d", n, len(piece), cap(piece))
		}
		if n >= Alignment && uintptr(unsafe.Pointer(&piece[0]))%Alignment != 0 {
			t.Errorf("a piece of %d bytes is not aligned", n)
		}
		if slices.Max(append(piece, 0)) != 0 {
			t.Errorf("a piece of %d bytes is not clear", n)
		}
		for at := range piece {
			piece[at] = byte(i + 1)
		}
		all = append(all, piece)
	}
	for i, piece := range all {
		if slices.ContainsFunc(piece, func(b byte) bool { return b != byte(i+1) }) {
			t.Errorf("piece %d of %d bytes was written through another one", i, len(piece))
		}
	}
}
