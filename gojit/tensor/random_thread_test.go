package tensor

import (
	"runtime"
	"testing"
)

func TestThreadsHaveStreamsOfTheirOwn(t *testing.T) {
	if threadID() == 0 {
		t.Skip("threads have no ids")
	}
	DefaultGenerator().Seed(3)
	want := []uint64{NewGenerator(7).Uint64(), NewGenerator(3).Uint64()}
	got := make(chan uint64)
	go func() {
		runtime.LockOSThread()
		OwnStream(7)
		defer DropStream()
		got <- DefaultGenerator().Uint64()
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if found := <-got; found != want[0] {
		t.Errorf("the thread with a stream drew %d, want %d", found, want[0])
	}
	if found := DefaultGenerator().Uint64(); found != want[1] {
		t.Errorf("the other thread drew %d, want %d", found, want[1])
	}
}
