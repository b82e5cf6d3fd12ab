package tensor

import (
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"
)

// TestGuardedMemoryGoesWithItsStorage: what Detach gives keeps guarded memory when the tensor that it came from, which had a history, is collected.
func TestGuardedMemoryGoesWithItsStorage(t *testing.T) {
	defer func(before bool) { guarding = before }(guarding)
	guarding = true
	detached := func() *Tensor {
		x, err := Zeros([]int{100}, Float32)
		if err != nil {
			t.Fatal(err)
		}
		x.separate() // as where it gets a history
		return x.Detach()
	}()
	b, ok := guardedAt.Load(unsafe.Pointer(unsafe.SliceData(detached.storage.data)))
	if !ok {
		t.Fatal("the memory is not guarded")
	}
	isRetired := func() bool {
		retired.Lock()
		defer retired.Unlock()
		return slices.ContainsFunc(retired.blocks, func(r retiredBlock) bool { return r.block == b })
	}
	for range 20 {
		CollectAll()
		if isRetired() {
			t.Fatal("memory that a tensor has waits to be forbidden")
		}
	}
	runtime.KeepAlive(detached)
	detached = nil
	for range 200 {
		if CollectAll(); isRetired() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("memory that nothing has is not retired")
}
