package memory

import (
	"bytes"
	"testing"
)

// TestMove compares copies below, at and above the sizes at which another way is taken.
func TestMove(t *testing.T) {
	for _, n := range []int{0, 1, movedAtOnce, movedAtOnce + 1, 3*movedAtOnce - 1, farFrom - 1, farFrom} {
		src, dst := make([]byte, n), make([]byte, n+1)
		for i := range src {
			src[i] = byte(i ^ i>>8 ^ i>>16)
		}
		if Move(dst, src); !bytes.Equal(dst[:n], src) || dst[n] != 0 {
			t.Errorf("%d bytes are moved wrongly", n)
		}
	}
}
