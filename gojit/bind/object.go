package bind

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// object is a Python object that Go holds one reference to. The reference is given back after the
// object is garbage, at the next call.
type object struct {
	pointer unsafe.Pointer
	cleanup runtime.Cleanup
}

// garbage is what Go has of Python's and no longer uses: how to give each back.
var garbage struct {
	sync.Mutex
	give    []func()
	waiting atomic.Bool
}

func discard(give func()) {
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
func newObject(p unsafe.Pointer) *object {
	o := &object{pointer: p}
	o.cleanup = runtime.AddCleanup(o, func(p unsafe.Pointer) { discard(func() { embedder.Release(p) }) }, p)
	return o
}

// drop gives the reference back at once. The object must not be used any more.
func (o *object) drop() {
	o.cleanup.Stop()
	embedder.Release(o.pointer)
}

// object returns the Python object that w stands for with a reference of its own, nil where w is
// something else.
func (w *Word) object() *object {
	if w.kind() != kindObject {
		return nil
	}
	embedder.Retain(w.pointer())
	return newObject(w.pointer())
}

// pythonError is an exception that Python code raised while Go had called it.
type pythonError struct {
	exception *object
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
		_ = host.invoke("add_frame", 2, func(w *writer) {
			w.object(e.exception)
			w.string(f.String())
		}, nil)
	}
}

// Definition names the class whose definition failed, "" where none did.
func (e *pythonError) Definition() (name string) {
	_ = host.invoke("failed_class", 1, func(w *writer) { w.object(e.exception) }, func(w *Word) error {
		name = strings.Clone(w.text())
		return nil
	})
	return name
}

// Error names the error; the exception itself goes back to Python unchanged.
func (e *pythonError) Error() string { return "an exception was raised in Python" }

// holdGIL takes the GIL, whether the thread holds it or not, and keeps the goroutine on the thread;
// what it returns ends that.
func holdGIL() func() {
	runtime.LockOSThread()
	state := embedder.EnsureLock()
	return func() {
		embedder.LeaveLock(state)
		runtime.UnlockOSThread()
	}
}

// callWords is the room for the arguments and the reply of a call into Python before they move to the heap.
const callWords = 32

// invoke calls the object, or its method where method is not empty. write writes n arguments; read
// gets the reply, which is valid only while it runs. The GIL is taken where the thread lacks it.
func (o *object) invoke(method string, n int, write func(*writer), read func(*Word) error) error {
	defer holdGIL()()
	room := embedder.Allocate(2 * callWords * wordSize)
	defer embedder.Free(room)
	sent := Reply{Words: addressOf(room), Cap: callWords}
	received := Reply{Words: addressOf(unsafe.Add(room, callWords*wordSize)), Cap: callWords}
	w := newWriter(&sent)
	if write != nil {
		write(&w)
	}
	result, ok := embedder.Call(o.pointer, method, (*Word)(sent.Words.pointer()), n, &received)
	if sent.Owned != 0 {
		embedder.Free(sent.Words.pointer())
	}
	runtime.KeepAlive(o)
	if !ok {
		return &pythonError{exception: newObject(result)}
	}
	defer embedder.Release(result)
	if received.Owned != 0 {
		defer embedder.Free(received.Words.pointer())
	}
	if read == nil {
		return nil
	}
	return read((*Word)(received.Words.pointer()))
}

// borrow asks the object for its memory; release returns it. It fails where the object has none to lend.
func (o *object) borrow() (*Array, error) {
	a := (*Array)(embedder.Allocate(int(unsafe.Sizeof(Array{}))))
	defer embedder.Free(unsafe.Pointer(a))
	if raised := embedder.BorrowArray(o.pointer, a); raised != nil {
		return nil, &pythonError{exception: newObject(raised)}
	}
	held := *a
	return &held, nil
}

// release returns the memory at the next call from Python.
func (a *Array) release() {
	owner := a.Owner
	discard(func() { embedder.ReturnArray(owner.pointer()) })
}

// signalInterval is how often a long call looks for signals.
const signalInterval = 50 * time.Millisecond

// signals lets a long call be interrupted: poll runs Python's signal handlers now and then.
type signals struct {
	last atomic.Int64 // when they were run, in nanoseconds
}

// poll fails with what a signal handler raised: KeyboardInterrupt on Ctrl-C.
func (s *signals) poll() error {
	now := time.Now().UnixNano()
	last := s.last.Load()
	if now-last < int64(signalInterval) || !s.last.CompareAndSwap(last, now) {
		return nil
	}
	return checkSignals()
}

// checkSignals runs Python's signal handlers and fails with what one of them raised.
func checkSignals() error {
	raised := embedder.CheckSignals()
	if raised == nil {
		return nil
	}
	return &pythonError{newObject(raised), true}
}

// watchSignals has operators look for signals while they run.
func watchSignals() {
	parallel.SetInterruptOf(func() bool { return embedder.IsFirstThread() }, checkSignals, signalInterval)
}

// interruptible is the context of a long run. It is always due to be looked at, and looking at it
// runs Python's signal handlers: a run that polls its context ends when one of them raises.
type interruptible struct {
	context.Context
	signals
	stopped chan struct{} // closed where a signal has ended the run: what it forked ends too; nil where it forked nothing
}

// Forked returns the context of what the run forks: it ends where a signal has ended the run.
func (c *interruptible) Forked() context.Context {
	if c.stopped == nil {
		c.stopped = make(chan struct{})
	}
	return forkedContext{context.Background(), c.stopped}
}

// run runs code, and ends what it has forked where a signal handler raises.
func (c *interruptible) run(code func(ctx context.Context) error) error {
	err := code(c)
	if err != nil && c.stopped != nil {
		var raised *pythonError
		if errors.As(err, &raised) && raised.signal {
			close(c.stopped)
		}
	}
	return err
}

// forkedContext is the context of a forked call. Signals are those of the run that forked it.
type forkedContext struct {
	context.Context
	stopped chan struct{}
}

var errForkStopped = errors.New("the program that forked this call has been interrupted")

// Done implements context.Context.
func (c forkedContext) Done() <-chan struct{} { return c.stopped }

// Err implements context.Context.
func (c forkedContext) Err() error {
	select {
	case <-c.stopped:
		return errForkStopped
	default:
		return nil
	}
}

var alwaysDue = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func newInterruptible() *interruptible {
	c := &interruptible{Context: context.Background()}
	c.last.Store(time.Now().UnixNano())
	return c
}

// Done implements context.Context.
func (c *interruptible) Done() <-chan struct{} { return alwaysDue }

// Err implements context.Context.
func (c *interruptible) Err() error { return c.poll() }
