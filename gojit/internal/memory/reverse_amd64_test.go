package memory

import (
	"bytes"
	"testing"
	"unsafe"
)

// TestReverse compares reversed copies of elements of each size with those made byte by byte, from each place in a line, and looks that nothing
// beside them is written.
func TestReverse(t *testing.T) {
	ways := map[string]bool{"as the processor can": reversesLines, "with AVX2": false}
	defer func(before bool) { reversesLines = before }(reversesLines)
	for way, lines := range ways {
		reversesLines = lines
		for size := 1; size <= 16; size *= 2 {
			for n := 1; n*size <= 400; n++ {
				for from := 0; from < 64; from += max(size, 8) {
					src, dst, want := make([]byte, n*size), make([]byte, n*size+128), make([]byte, n*size+128)
					for i := range src {
						src[i] = byte(i*7 + i>>8 + 1)
						want[from+(n-1-i/size)*size+i%size] = src[i]
					}
					if !Reverse(unsafe.Pointer(&dst[from]), unsafe.Pointer(&src[0]), size, n) {
						if n*size >= 64 && storesVectors {
							t.Fatalf("%d elements of %d bytes are not reversed %s", n, size, way)
						}
					} else if !bytes.Equal(dst, want) {
						t.Fatalf("%d elements of %d bytes to place %d are wrong %s", n, size, from, way)
					}
				}
			}
		}
	}
}
