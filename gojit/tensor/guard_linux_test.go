package tensor

import (
	"runtime"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/memory"
)

// TestGuardedMemoryGoesWithItsStorage: what Detach gives keeps guarded memory when the tensor that it came from, which had a history, is collected.
func TestGuardedMemoryGoesWithItsStorage(t *testing.T) {
	defer func(before bool) { memory.Guarding = before }(memory.Guarding)
	memory.Guarding = true
	detached := func() *Tensor {
		x, err := Zeros([]int{100}, Float32)
		if err != nil {
			t.Fatal(err)
		}
		x.separate() // as where it gets a history
		return x.Detach()
	}()
	data := detached.storage.data
	if guarded, _ := memory.GuardOf(data); !guarded {
		t.Fatal("the memory is not guarded")
	}
	isRetired := func() bool {
		_, retires := memory.GuardOf(data)
		return retires
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
