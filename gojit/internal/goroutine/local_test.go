package goroutine

import (
	"sync"
	"testing"
)

func TestLocalValues(t *testing.T) {
	if ID() == 0 {
		t.Skip("goroutines cannot be told apart here")
	}
	var local Local[int]
	if before := local.Put(ID(), 7); before != 0 {
		t.Errorf("there was %d before, want none", before)
	}
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		if v := local.Here(); v != 0 {
			t.Errorf("another goroutine has %d, want none", v)
		}
		local.Put(ID(), 5)
		sum := 0
		local.Each(func(v int) { sum += v })
		if sum != 12 {
			t.Errorf("the values add up to %d, want 12", sum)
		}
		local.Put(ID(), 0)
	}()
	done.Wait()
	if before := local.Put(ID(), 0); before != 7 || !local.IsEmpty() {
		t.Errorf("there was %d before, want 7, and none now", before)
	}
}
