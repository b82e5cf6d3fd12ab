package rng

import (
	"runtime"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/goroutine"
)

func TestThreadsHaveStreamsOfTheirOwn(t *testing.T) {
	if goroutine.Thread() == 0 {
		t.Skip("threads have no ids")
	}
	Default().Seed(3)
	want := []uint64{New(7).Uint64(), New(3).Uint64()}
	got := make(chan uint64)
	go func() {
		runtime.LockOSThread()
		OwnStream(7)
		defer DropStream()
		got <- Default().Uint64()
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if found := <-got; found != want[0] {
		t.Errorf("the thread with a stream drew %d, want %d", found, want[0])
	}
	if found := Default().Uint64(); found != want[1] {
		t.Errorf("the other thread drew %d, want %d", found, want[1])
	}
}
