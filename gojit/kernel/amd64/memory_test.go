package amd64

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"
)

// storeNumber makes a function that writes a number to where its argument points.
func storeNumber(n int64) []byte {
	a := Assembler{ISA: Baseline}
	a.MoveImm(RAX, n)
	a.Store(At(RDI, 0), RAX)
	a.Ret()
	return a.Code
}

func machineOnly(t testing.TB) {
	t.Helper()
	if Target() == None {
		t.Skip("no machine code here")
	}
}

// Functions run, and their memory is used again.
func TestPlaceAndFree(t *testing.T) {
	machineOnly(t)
	var first uintptr
	for i := range 1000 {
		c, err := Place(storeNumber(int64(i)))
		if err != nil {
			t.Fatal(err)
		}
		got := int64(-1)
		c.Call(unsafe.Pointer(&got))
		if got != int64(i) {
			t.Fatalf("function %d wrote %d", i, got)
		}
		if i == 0 {
			first = c.Entry()
		}
		if c.Entry() != first {
			t.Fatalf("function %d lies at %x, not where the one before was freed", i, c.Entry())
		}
		c.Free()
	}
}

// Forgotten functions return their memory when the collector finds them.
func TestForgottenCodeIsFreed(t *testing.T) {
	machineOnly(t)
	for range 200 {
		for range 50 {
			if _, err := Place(make([]byte, 4096)); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
	}
	executable.mu.Lock()
	defer executable.mu.Unlock()
	if n := len(executable.regions); n > 20 {
		t.Errorf("40 MB of forgotten code occupy %d regions", n)
	}
}

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

func BenchmarkCall(b *testing.B) {
	machineOnly(b)
	c, err := Place(storeNumber(7))
	if err != nil {
		b.Fatal(err)
	}
	var got int64
	for b.Loop() {
		c.Call(unsafe.Pointer(&got))
	}
}
