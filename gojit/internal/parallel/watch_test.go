package parallel

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/goroutine"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Workers leave a part that may take any time once another part has failed.
func TestWorkersLeaveWhatHasFailed(t *testing.T) {
	if goroutine.ID() == 0 {
		t.Skip("goroutines are not told apart here")
	}
	SetNumThreads(2)
	defer SetNumThreads(0)
	begun, began := time.Now(), make(chan struct{})
	var err error
	func() {
		defer source.Catch(&err)
		For(2, 1, func(lo, hi int) {
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
	rests := false // it is not asked again right after it has been, but where this thread stood still in between
	for try := 0; try < 10 && !rests; try++ {
		for begun := time.Now(); ctx.Err() == nil; {
			if time.Since(begun) > 5*time.Second {
				t.Fatal("the context asks nobody")
			}
		}
		rests = context.Cause(ctx) == nil
	}
	if !rests {
		t.Error("the context asks too often")
	}
	done := make(chan struct{})
	close(done)
	if err := Await(done); err != nil {
		t.Errorf("what is done is not waited for, but %v", err)
	}
}

// Those who look without being heard take nothing from those who are.
func TestWhoIsNotHeardKeepsNobodyFromAsking(t *testing.T) {
	heard, stop := goroutine.ID(), errors.New("enough")
	SetInterruptOf(func() bool { return goroutine.ID() == heard }, func() error { return stop }, 0)
	defer SetInterrupt(nil, 0)
	var other Watch
	done := make(chan struct{})
	go func() {
		defer close(done)
		other.Look()
	}()
	<-done
	before := asked.Load().last.Load()
	if !other.mute || before != 0 {
		t.Errorf("the other goroutine has asked: %v, %d", other.mute, before)
	}
	look := func() (err error) {
		defer source.Catch(&err)
		Look()
		return nil
	}
	if err := look(); err != stop {
		t.Errorf("the first goroutine: %v", err)
	}
}

func TestLongLoopsLook(t *testing.T) {
	stop := errors.New("enough")
	SetInterrupt(func() error { return stop }, 0)
	defer SetInterrupt(nil, 0)
	parts := 0
	loop := func() (err error) {
		defer source.Catch(&err)
		for range Stretches(1 << 20) {
			parts++
		}
		return nil
	}
	if err := loop(); err != stop || parts != 1 {
		t.Errorf("%v after %d parts", err, parts)
	}
	did := func() (err error) {
		defer source.Catch(&err)
		var w Watch
		for range 1 << 20 {
			w.Did(1)
		}
		return nil
	}
	if err := did(); err != stop {
		t.Error(err)
	}
}
