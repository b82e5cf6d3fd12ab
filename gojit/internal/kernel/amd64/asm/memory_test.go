package asm

import (
	"runtime"
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
