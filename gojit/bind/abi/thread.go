package abi

import (
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/gpu"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Thread is what the library keeps for a thread that calls it. Only that thread uses it.
type Thread struct {
	Mode     *autograd.Mode
	Recorder *trace.Recorder // nil where it records no trace
	Hooks    []*PythonSavedHooks
	Above    []*autograd.Mode // of the operators that Python is asked about
	Below    []*autograd.Mode // that enterAbove has left
	Events   []autograd.Span  // that are open
	values   []value.Value    // arguments and results of the operators that run by name, one behind the other
	Nameless bool             // the running operator is called by a function that hides its caller's variables
}

// threads are those that have called, by the numbers that the shim gave them. The GIL guards the slice.
var threads []*Thread

// threadOf returns the thread of a number; ^number stands for a thread that has just got it, perhaps from one that
// has ended.
func threadOf(number int64) *Thread {
	if number >= 0 {
		return threads[number]
	}
	number = ^number
	gpu.ForgetStreams()
	for len(threads) <= int(number) {
		threads = append(threads, nil)
	}
	threads[number] = &Thread{Mode: &autograd.Mode{}}
	threads[number].Mode.SetThread(int(number))
	return threads[number]
}

// ThisThread returns the thread that runs, for code that no call led to. The GIL is held.
func ThisThread() *Thread { return threadOf(Attached.Thread()) }

// InMode has Python see a mode as that of the thread while work runs. The mode may come from another thread.
func InMode(m *autograd.Mode, work func() error) error {
	defer HoldGIL()()
	t := ThisThread()
	defer func(before *autograd.Mode) { t.Mode = before }(t.Mode)
	t.Mode = m
	return work()
}

// PythonSavedHooks are saved-tensor hooks in Python. pack gives an object of a class of Python's.
type PythonSavedHooks struct {
	autograd.SavedHooks
	PackFunction, UnpackFunction *Object
}
