package abi

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Object is a Python object that Go holds one reference to. The reference is given back after the
// object is garbage, at the next call.
type Object struct {
	Pointer unsafe.Pointer
	cleanup runtime.Cleanup
}

// garbage is what Go has of Python's and no longer uses: how to give each back.
var garbage struct {
	sync.Mutex
	give    []func()
	waiting atomic.Bool
}

// Discard has give called at the next call, by a thread that holds the GIL.
func Discard(give func()) {
	garbage.Lock()
	defer garbage.Unlock()
	garbage.give = append(garbage.give, give)
	garbage.waiting.Store(true)
}

// sweep gives back what Go no longer uses. The caller holds the GIL.
func sweep() {
	garbage.Lock()
	give := garbage.give
	garbage.give = nil
	garbage.waiting.Store(false)
	garbage.Unlock()
	for _, g := range give {
		g()
	}
}

// newObject takes over a reference.
func newObject(p unsafe.Pointer) *Object {
	o := &Object{Pointer: p}
	o.cleanup = runtime.AddCleanup(o, func(p unsafe.Pointer) { Discard(func() { Attached.Release(p) }) }, p)
	return o
}

// Drop gives the reference back at once. The object must not be used any more.
func (o *Object) Drop() {
	o.cleanup.Stop()
	Attached.Release(o.Pointer)
}

// Object returns the Python object that w stands for with a reference of its own, nil where w is
// something else.
func (w *Word) Object() *Object {
	if w.Kind() != KindObject {
		return nil
	}
	Attached.Retain(w.pointer())
	return newObject(w.pointer())
}

// pythonError is an exception that Python code raised while Go had called it.
type pythonError struct {
	exception *Object
	signal    bool // a signal handler has raised it
}

// As lets the interpreter see the exception as one that it passes on as it is.
func (e *pythonError) As(target any) bool {
	t, ok := target.(**source.Error)
	if ok {
		*t = source.Errorf(source.KeyboardInterrupt, source.Range{}, "%s", e.Error())
	}
	return ok
}

// AddFrames has an error of the compiler's Python side tell for whom what failed was compiled.
func (e *pythonError) AddFrames(frames ...source.Frame) {
	for _, f := range frames {
		_ = Host.Invoke("add_frame", 2, func(w *Writer) {
			w.Object(e.exception)
			w.String(f.String())
		}, nil)
	}
}

// Definition names the class whose definition failed, "" where none did.
func (e *pythonError) Definition() (name string) {
	_ = Host.Invoke("failed_class", 1, func(w *Writer) { w.Object(e.exception) }, func(w *Word) error {
		name = strings.Clone(w.Text())
		return nil
	})
	return name
}

// Error names the error; the exception itself goes back to Python unchanged.
func (e *pythonError) Error() string { return "an exception was raised in Python" }

// HoldGIL takes the GIL, whether the thread holds it or not, and keeps the goroutine on the thread;
// what it returns ends that.
func HoldGIL() func() {
	runtime.LockOSThread()
	state := Attached.EnsureLock()
	return func() {
		Attached.LeaveLock(state)
		runtime.UnlockOSThread()
	}
}

// callWords is the room for the arguments and the reply of a call into Python before they move to the heap.
const callWords = 32

// Invoke calls the object, or its method where method is not empty. write writes n arguments; read
// gets the reply, which is valid only while it runs. The GIL is taken where the thread lacks it.
func (o *Object) Invoke(method string, n int, write func(*Writer), read func(*Word) error) error {
	defer HoldGIL()()
	room := Attached.Allocate(2 * callWords * wordSize)
	defer Attached.Free(room)
	sent := Reply{Words: addressOf(room), Cap: callWords}
	received := Reply{Words: addressOf(unsafe.Add(room, callWords*wordSize)), Cap: callWords}
	w := newWriter(&sent)
	if write != nil {
		write(&w)
	}
	result, ok := Attached.Call(o.Pointer, method, (*Word)(sent.Words.Pointer()), n, &received)
	if sent.Owned != 0 {
		Attached.Free(sent.Words.Pointer())
	}
	runtime.KeepAlive(o)
	if !ok {
		return &pythonError{exception: newObject(result)}
	}
	defer Attached.Release(result)
	if received.Owned != 0 {
		defer Attached.Free(received.Words.Pointer())
	}
	if read == nil {
		return nil
	}
	return read((*Word)(received.Words.Pointer()))
}

// Borrow asks the object for its memory; release returns it. It fails where the object has none to lend.
func (o *Object) Borrow() (*Array, error) {
	a := (*Array)(Attached.Allocate(int(unsafe.Sizeof(Array{}))))
	defer Attached.Free(unsafe.Pointer(a))
	if raised := Attached.BorrowArray(o.Pointer, a); raised != nil {
		return nil, &pythonError{exception: newObject(raised)}
	}
	held := *a
	return &held, nil
}

// Release returns the memory at the next call from Python.
func (a *Array) Release() {
	owner := a.Owner
	Discard(func() { Attached.ReturnArray(owner.Pointer()) })
}
