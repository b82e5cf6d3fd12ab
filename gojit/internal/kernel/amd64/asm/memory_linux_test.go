package asm

import (
	"sync"
	"testing"
	"unsafe"
)

// Both ways to map memory run code, also from many goroutines.
func TestMappings(t *testing.T) {
	machineOnly(t)
	for name, mapping := range map[string]func(int) (*region, error){"twice": mapTwice, "protected": mapProtected} {
		r, err := mapping(pages(1))
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		if err := r.write(0, storeNumber(7)); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 1000 {
					got := int64(0)
					Call(r.base, unsafe.Pointer(&got))
					if got != 7 {
						t.Errorf("%s: wrote %d", name, got)
					}
				}
			})
		}
		group.Wait()
	}
}
