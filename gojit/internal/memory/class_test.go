package memory

import "testing"

// TestClassesOfBlocks checks that blocks are as large as what they are for and little larger, and that larger sizes have later classes.
func TestClassesOfBlocks(t *testing.T) {
	last, lastSize := -1, 0
	for n := 8; n < 1<<34; n += 1 + n/37 {
		class, size := classOf(n)
		most := n + n/4 + 1
		if n > 1<<finelyBits {
			most = n + n/8 + 1
		}
		again, same := classOf(size)
		if size < n || size > most || again != class || same != size {
			t.Fatalf("%d bytes are of class %d with %d, which are of class %d with %d", n, class, size, again, same)
		}
		if class < last || (class == last) != (size == lastSize) || class >= len(blockLists{}) {
			t.Fatalf("%d bytes are of class %d with %d, fewer of class %d with %d", n, class, size, last, lastSize)
		}
		last, lastSize = class, size
	}
}
