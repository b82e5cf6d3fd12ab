package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/gpu"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// thread is what the library keeps for a thread that calls it. Only that thread uses it.
type thread struct {
	mode     *autograd.Mode
	recorder *trace.Recorder // nil where it records no trace
	hooks    []*pythonSavedHooks
	above    []*autograd.Mode // of the operators that Python is asked about
	below    []*autograd.Mode // that enterAbove has left
	events   []autograd.Span  // that are open
	values   []value.Value    // arguments and results of the operators that run by name, one behind the other
	nameless bool             // the running operator is called by a function that hides its caller's variables
}

// threads are those that have called, by the numbers that the shim gave them. The GIL guards the slice.
var threads []*thread

// threadOf returns the thread of a number; ^number stands for a thread that has just got it, perhaps from one that
// has ended.
func threadOf(number int64) *thread {
	if number >= 0 {
		return threads[number]
	}
	number = ^number
	gpu.ForgetStreams()
	for len(threads) <= int(number) {
		threads = append(threads, nil)
	}
	threads[number] = &thread{mode: &autograd.Mode{}}
	threads[number].mode.SetThread(int(number))
	return threads[number]
}

// thisThread returns the thread that runs, for code that no call led to. The GIL is held.
func thisThread() *thread { return threadOf(embedder.Thread()) }

// inMode has Python see a mode as that of the thread while work runs. The mode may come from another thread.
func inMode(m *autograd.Mode, work func() error) error {
	defer holdGIL()()
	t := thisThread()
	defer func(before *autograd.Mode) { t.mode = before }(t.mode)
	t.mode = m
	return work()
}
