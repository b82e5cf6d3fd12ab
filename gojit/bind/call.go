package bind

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// call is one call from Python: its arguments, its reply and what it needs on the way. Calls are
// reused; nothing of one may be kept.
type call struct {
	writer // the reply

	args       *Word // positional arguments, then pairs of keyword and argument
	positional int
	keywords   int

	bound  []*Word        // arguments in the order of a registered function's or an operator's parameters
	values []value.Value  // arguments and results of operators and compiled functions
	named  *Word          // the first keyword of a call of an operator that has some
	unread uint64         // the bound arguments of an operator that are not among the values yet, as bits
	work   int            // how many elements these arguments have or ask for
	memory *interp.Memory // of compiled functions
	thread *thread
	gil    unsafe.Pointer // while it is given up
	next   *call

	filled []filled // options of a function that makes a tensor in out=

	givesOut  bool // an operator is called with out= that is not None
	wantsGrad bool // with requires_grad=True
}

// idleCalls are calls that can be reused.
var idleCalls *call

func newCall(args *Word, positional, keywords int64, reply *Reply) *call {
	c := idleCalls
	if c == nil {
		c = &call{memory: interp.NewMemory()}
	} else {
		idleCalls = c.next
	}
	c.writer = newWriter(reply)
	c.args, c.positional, c.keywords = args, int(positional), int(keywords)
	return c
}

func (c *call) recycle() {
	clear(c.bound)
	clear(c.values)
	clear(c.filled)
	c.bound, c.values, c.filled = c.bound[:0], c.values[:0], c.filled[:0]
	c.writer, c.args, c.named, c.thread = writer{}, nil, nil, nil
	c.next = idleCalls
	idleCalls = c
}

// releaseGIL lets other Python threads run; acquireGIL ends that. The reply and the arguments must
// not be touched in between.
func (c *call) releaseGIL() { c.gil = embedder.ReleaseLock() }

func (c *call) acquireGIL() {
	if c.gil != nil {
		state := c.gil
		c.gil = nil
		embedder.AcquireLock(state)
	}
}

// withoutGIL runs work while other Python threads can run.
func (c *call) withoutGIL(work func() error) error {
	c.releaseGIL()
	err := work()
	c.acquireGIL()
	return err
}

// keywordPairs calls yield for each keyword argument until it returns false.
func (c *call) keywordPairs(yield func(name, arg *Word) bool) {
	x := c.args.skip(c.positional)
	for range c.keywords {
		arg := x.next()
		if !yield(x, arg) {
			return
		}
		x = arg.next()
	}
}

// fail makes err the reply.
func (c *call) fail(err error) {
	c.reset()
	var raised *pythonError
	if errors.As(err, &raised) {
		c.object(raised.exception)
		return
	}
	c.string(string(source.ClassOf(err)))
	text := err.Error()
	var placed *source.Error
	if errors.As(err, &placed) && placed.Range.IsValid() {
		text = "\n" + text // PyTorch's errors of compilation begin with an empty line
	}
	c.string(text)
	for _, note := range errs.AdviceOf(err) {
		c.string(note)
	}
}

// end finishes a call: a panic becomes an error, the GIL is taken back, the reply is completed.
func (c *call) end(status *int32) {
	if p := recover(); p != nil {
		c.acquireGIL()
		err := source.Thrown(p)
		if err == nil {
			err = panicError(p)
		}
		c.fail(err)
		*status = 1
	}
	c.finish()
	c.recycle()
}

// panicError describes a panic: a mistake of this library, not of its user.
func panicError(p any) error {
	return source.Errorf(source.RuntimeError, source.Range{},
		"internal error in torchjit, please report it with the program that caused it: %v\n%s", p, debug.Stack())
}

// Call calls the callable of a slot with words of arguments. It returns 1 where that failed. One that replies nothing
// replies None.
func Call(slot int64, args *Word, positional, keywords, number int64, reply *Reply) (status int32) {
	c := newCall(args, positional, keywords, reply)
	defer c.end(&status)
	c.thread = threadOf(number)
	releaseWaiting()
	if garbage.waiting.Load() {
		sweep()
	}
	if err := callables[slot].call(c); err != nil {
		c.fail(err)
		status = 1
	} else if len(c.words) == 0 {
		c.none() // the room of the reply is not clear
	}
	return status
}

// Function returns the callable number of a registered function, 0 where there is none of that name.
func Function(name string) int64 {
	f := functionsByName()[name]
	if f == nil {
		return 0
	}
	return newCallable(f)
}

// FunctionNames replies the names of the registered functions that are no members.
func FunctionNames(reply *Reply) {
	w := newWriter(reply)
	var names []string
	for _, f := range functions() {
		if !f.isMember() {
			names = append(names, f.name)
		}
	}
	w.strings(names)
	w.finish()
}

// CallableName replies the name of a callable.
func CallableName(slot int64, reply *Reply) {
	w := newWriter(reply)
	w.string(callables[slot].callableName())
	w.finish()
}

// ReleaseCallable ends the life of a callable's Python object.
func ReleaseCallable(slot int64) { releaseCallable(slot) }

// Release ends the life of a handle's Python object.
func Release(slot int64) { releaseSlot(slot) }

// ReleaseWaiting ends the lives of the tensors that wait for it.
func ReleaseWaiting() { releaseWaiting() }

// Alias returns the slot of a new tensor that shares the memory of a slot's tensor, 0 where that is none.
func Alias(slot int64) int64 {
	w := Word{tag: int64(kindHandle), bits: uint64(slot)}
	t := w.tensor()
	if t == nil {
		return 0
	}
	return tensorSlot(detached(t))
}

// SetDispatches notes whether the class of a slot's tensor runs operators.
func SetDispatches(slot int64, on bool) {
	slots[slot].content.(*tensor.Tensor).SetDispatches(on)
}

// Lend describes the memory of a slot's tensor to a thread, for a capsule of DLPack or else a buffer, and tells the trace that the thread records of
// that. It returns 1 where the tensor cannot be lent.
func Lend(slot, number int64, capsule bool, array *Array, reply *Reply) (status int32) {
	c := newCall(nil, 0, 0, reply)
	defer c.end(&status)
	w := Word{tag: int64(kindHandle), bits: uint64(slot)}
	what := "Converting a tensor to a NumPy array"
	if capsule {
		what = "Converting a tensor to a DLPack capsule"
	}
	err := threadOf(number).warnTraced(w.tensor(), what)
	if err == nil {
		err = lend(w.tensor(), array)
	}
	if err != nil {
		c.fail(err)
		status = 1
	}
	return status
}

// Return ends what Lend began.
func Return(loan int64) { endLoan(loan) }

func typeErrorf(format string, args ...any) error {
	return source.Errorf(source.TypeError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

func valueErrorf(format string, args ...any) error {
	return source.Errorf(source.ValueError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

func runtimeErrorf(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

func notImplementedErrorf(format string, args ...any) error {
	return source.Errorf(source.NotImplementedError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

func indexErrorf(format string, args ...any) error {
	return source.Errorf(source.IndexError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

func keyErrorf(format string, args ...any) error {
	return source.Errorf(source.KeyError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

func attributeErrorf(format string, args ...any) error {
	return source.Errorf(source.AttributeError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}
