package tensor

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Workers leave a part that may take any time once another part has failed.
func TestWorkersLeaveWhatHasFailed(t *testing.T) {
	if goroutine() == 0 {
		t.Skip("goroutines are not told apart here")
	}
	SetNumThreads(2)
	defer SetNumThreads(0)
	begun, began := time.Now(), make(chan struct{})
	var err error
	func() {
		defer source.Catch(&err)
		Parallel(2, 1, func(lo, hi int) {
			if lo == 1 {
				close(began)
				for time.Since(begun) < 20*time.Second {
					Look()
				}
				return
			}
			select {
			case <-began: // on the worker
			case <-time.After(5 * time.Second):
			}
			source.Raise(source.ValueError, "no")
		})
	}()
	if source.ClassOf(err) != source.ValueError || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// Operations each of which is too short to ask do so together, and so does who waits.
func TestShortOperationsAsk(t *testing.T) {
	stop := errors.New("stop")
	SetInterrupt(func() error { return stop }, time.Millisecond)
	defer SetInterrupt(nil, 0)
	var err error
	func() {
		defer source.Catch(&err)
		for begun := time.Now(); time.Since(begun) < 5*time.Second; {
			Look()
		}
	}()
	if err != stop {
		t.Errorf("short operations ended with %v", err)
	}
	if err := Await(make(chan struct{})); err != stop {
		t.Errorf("waiting ended with %v", err)
	}
	ctx := InterruptContext()
	for begun := time.Now(); ctx.Err() == nil; {
		if time.Since(begun) > 5*time.Second {
			t.Fatal("the context asks nobody")
		}
	}
	if context.Cause(ctx) != nil { // it has just been asked
		t.Error("the context asks too often")
	}
	done := make(chan struct{})
	close(done)
	if err := Await(done); err != nil {
		t.Errorf("what is done is not waited for, but %v", err)
	}
}
