package main

// #include "torchjit.h"
// #include "services.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/interp"
	"github.com/torchjit/torchjit/gojit/source"
	"github.com/torchjit/torchjit/gojit/tensor"
	"github.com/torchjit/torchjit/gojit/value"
)

// call is one call from Python: its arguments, its reply and what it needs on the way. Calls are
// reused; nothing of one may be kept.
type call struct {
	writer // the reply

	args       *word // positional arguments, then pairs of keyword and argument
	positional int
	keywords   int

	bound  []*word        // arguments in the order of a registered function's or an operator's parameters
	values []value.Value  // arguments and results of operators and compiled functions
	named  *word          // the first keyword of a call of an operator that has some
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

func newCall(args *C.tj_word, positional, keywords C.int64_t, reply *C.tj_reply) *call {
	c := idleCalls
	if c == nil {
		c = &call{memory: interp.NewMemory()}
	} else {
		idleCalls = c.next
	}
	c.writer = newWriter(reply)
	c.args, c.positional, c.keywords = (*word)(unsafe.Pointer(args)), int(positional), int(keywords)
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
func (c *call) releaseGIL() { c.gil = C.tj_release_gil() }

func (c *call) acquireGIL() {
	if c.gil != nil {
		state := c.gil
		c.gil = nil
		C.tj_acquire_gil(state)
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
func (c *call) keywordPairs(yield func(name, arg *word) bool) {
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
}

// end finishes a call: a panic becomes an error, the GIL is taken back, the reply is completed.
func (c *call) end(status *C.int) {
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

// TJCall calls the callable of a slot with words of arguments. It returns 1 where that failed. One that replies nothing
// replies None.
//
//export TJCall
func TJCall(slot C.int64_t, args *C.tj_word, positional, keywords, number C.int64_t, reply *C.tj_reply) (status C.int) {
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

// TJFunction returns the callable number of a registered function, 0 where there is none of that name.
//
//export TJFunction
func TJFunction(name *C.char, n C.int64_t) C.int64_t {
	f := functionsByName()[C.GoStringN(name, C.int(n))]
	if f == nil {
		return 0
	}
	return C.int64_t(newCallable(f))
}

// TJFunctionNames replies the names of the registered functions that are no members.
//
//export TJFunctionNames
func TJFunctionNames(reply *C.tj_reply) {
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

// TJCallableName replies the name of a callable.
//
//export TJCallableName
func TJCallableName(slot C.int64_t, reply *C.tj_reply) C.int {
	w := newWriter(reply)
	w.string(callables[slot].callableName())
	w.finish()
	return 0
}

// TJReleaseCallable ends the life of a callable's Python object.
//
//export TJReleaseCallable
func TJReleaseCallable(slot C.int64_t) { releaseCallable(int64(slot)) }

// TJRelease ends the life of a handle's Python object.
//
//export TJRelease
func TJRelease(slot C.int64_t) { releaseSlot(int64(slot)) }

// TJReleaseWaiting ends the lives of the tensors that wait for it.
//
//export TJReleaseWaiting
func TJReleaseWaiting() { releaseWaiting() }

// TJAlias returns the slot of a new tensor that shares the memory of a slot's tensor, 0 where that is none.
//
//export TJAlias
func TJAlias(slot C.int64_t) C.int64_t {
	w := word{tag: int64(kindHandle), bits: uint64(slot)}
	t := w.tensor()
	if t == nil {
		return 0
	}
	return C.int64_t(tensorSlot(detached(t)))
}

// TJSetDispatches notes whether the class of a slot's tensor runs operators.
//
//export TJSetDispatches
func TJSetDispatches(slot C.int64_t, on C.int) {
	slots[slot].content.(*tensor.Tensor).SetDispatches(on != 0)
}

// TJLend describes the memory of a slot's tensor. It returns 1 where the tensor cannot be lent.
//
//export TJLend
func TJLend(slot C.int64_t, array *C.tj_array, reply *C.tj_reply) (status C.int) {
	c := newCall(nil, 0, 0, reply)
	defer c.end(&status)
	w := word{tag: int64(kindHandle), bits: uint64(slot)}
	if err := lend(w.tensor(), array); err != nil {
		c.fail(err)
		status = 1
	}
	return status
}

// TJReturn ends what TJLend began.
//
//export TJReturn
func TJReturn(loan C.int64_t) { endLoan(int64(loan)) }

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
