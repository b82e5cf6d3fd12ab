package parallel

import (
	"bytes"
	"testing"
)

// TestCopy copies in one part and in several, of one size and not, in the caches and past them, and nothing behind.
func TestCopy(t *testing.T) {
	src := make([]byte, 2*streamedPart+streamedPart/2)
	for i := range src {
		src[i] = byte(i*7 + i>>12)
	}
	dst := make([]byte, len(src)+1)
	for _, n := range []int{0, 1, cachedPart, cachedPart + 1, 3*cachedPart + 5, streamedPart + 1, len(src)} {
		for _, written := range []int{n, streamedBytes} {
			clear(dst)
			Copy(dst, src[:n], written)
			if !bytes.Equal(dst[:n], src[:n]) || dst[n] != 0 {
				t.Fatalf("%d bytes of %d that are written arrive otherwise", n, written)
			}
		}
	}
}
