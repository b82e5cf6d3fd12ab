package memory

import "testing"

// A block is used again while it is young, and left to the collector when nobody has taken it for two ages.
func TestUnusedBlocksGo(t *testing.T) {
	Empty()
	for _, n := range []int{100, 100_000, 3 << 20} {
		b, _ := Take(n)
		if len(b) < n {
			t.Fatalf("a block of %d bytes has %d", n, len(b))
		}
		Give(b)
		again, isClear := Take(n)
		if &again[0] != &b[0] || isClear {
			t.Errorf("a block of %d bytes was not used again", n)
		}
		Give(again)
	}
	blocks.age()
	blocks.age()
	blocks.mu.Lock()
	defer blocks.mu.Unlock()
	if blocks.free.len() != 0 || blocks.old != nil || blocks.bytes != 0 || blocks.count.Load() != 0 {
		t.Error("unused blocks stay")
	}
}
