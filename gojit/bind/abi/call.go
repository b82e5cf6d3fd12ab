package abi

import (
	"errors"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Call is one call from Python: its arguments, its reply and what it needs on the way. Calls are
// reused; nothing of one may be kept.
type Call struct {
	Writer // the reply

	Args       *Word // Positional arguments, then pairs of keyword and argument
	Positional int
	Keywords   int

	Bound  []*Word        // arguments in the order of a registered function's or an operator's parameters
	Values []value.Value  // arguments and results of operators and compiled functions
	Named  *Word          // the first keyword of a call of an operator that has some
	Unread uint64         // the bound arguments of an operator that are not among the values yet, as bits
	Work   int            // how many elements these arguments have or ask for
	Memory *interp.Memory // of compiled functions
	Thread *Thread
	gil    unsafe.Pointer // while it is given up
	next   *Call

	Filled []Filled // options of a function that makes a tensor in out=

	GivesOut  bool // an operator is called with out= that is not None
	WantsGrad bool // with requires_grad=True
}

// idleCalls are calls that can be reused.
var idleCalls *Call

// NewCall returns a call with words of arguments whose reply goes to reply. End ends it.
func NewCall(args *Word, positional, keywords int64, reply *Reply) *Call {
	c := idleCalls
	if c == nil {
		c = &Call{Memory: interp.NewMemory()}
	} else {
		idleCalls = c.next
	}
	c.Writer = newWriter(reply)
	c.Args, c.Positional, c.Keywords = args, int(positional), int(keywords)
	return c
}

func (c *Call) recycle() {
	clear(c.Bound)
	clear(c.Values)
	clear(c.Filled)
	c.Bound, c.Values, c.Filled = c.Bound[:0], c.Values[:0], c.Filled[:0]
	c.Writer, c.Args, c.Named, c.Thread = Writer{}, nil, nil, nil
	c.next = idleCalls
	idleCalls = c
}

// releaseGIL lets other Python threads run; acquireGIL ends that. The reply and the arguments must
// not be touched in between.
func (c *Call) releaseGIL() { c.gil = Attached.ReleaseLock() }

func (c *Call) acquireGIL() {
	if c.gil != nil {
		state := c.gil
		c.gil = nil
		Attached.AcquireLock(state)
	}
}

// WithoutGIL runs work while other Python threads can run.
func (c *Call) WithoutGIL(work func() error) error {
	c.releaseGIL()
	err := work()
	c.acquireGIL()
	return err
}

// KeywordPairs calls yield for each keyword argument until it returns false.
func (c *Call) KeywordPairs(yield func(name, arg *Word) bool) {
	x := c.Args.Skip(c.Positional)
	for range c.Keywords {
		arg := x.Next()
		if !yield(x, arg) {
			return
		}
		x = arg.Next()
	}
}

// Fail makes err the reply.
func (c *Call) Fail(err error) {
	c.reset()
	var raised *pythonError
	if errors.As(err, &raised) {
		c.Object(raised.exception)
		return
	}
	c.String(string(source.ClassOf(err)))
	text := err.Error()
	var placed *source.Error
	if errors.As(err, &placed) && placed.Range.IsValid() && !placed.Lexical {
		text = "\n" + text // PyTorch's errors of compilation begin with an empty line
	}
	c.String(text)
	for _, note := range errs.AdviceOf(err) {
		c.String(note)
	}
}

// End finishes a call: a panic becomes an error, the GIL is taken back, the reply is completed.
func (c *Call) End(status *int32) {
	if p := recover(); p != nil {
		c.acquireGIL()
		err := source.Thrown(p)
		if err == nil {
			err = panicError(p)
		}
		c.Fail(err)
		*status = 1
	}
	c.finish()
	c.recycle()
}

// FunctionSlot returns the callable number of a registered function, 0 where there is none of that name.
func FunctionSlot(name string) int64 {
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
			names = append(names, f.Name)
		}
	}
	w.Strings(names)
	w.finish()
}

// CallableName replies the name of a callable.
func CallableName(slot int64, reply *Reply) {
	w := newWriter(reply)
	w.String(callables[slot].CallableName())
	w.finish()
}

// ReleaseCallable ends the life of a callable's Python object.
func ReleaseCallable(slot int64) { releaseCallable(slot) }

// Release ends the life of a handle's Python object.
func Release(slot int64) { releaseSlot(slot) }

// Alias returns the slot of a new tensor that shares the memory of a slot's tensor, 0 where that is none.
func Alias(slot int64) int64 {
	w := Word{tag: int64(KindHandle), Bits: uint64(slot)}
	t := w.Tensor()
	if t == nil {
		return 0
	}
	shown := detached(t)
	if names := t.Names(); names != nil {
		shown.SetNames(names)
	}
	return tensorSlot(shown)
}

// SetDispatches notes whether the class of a slot's tensor runs operators.
func SetDispatches(slot int64, on bool) {
	slots[slot].content.(*tensor.Tensor).SetDispatches(on)
}

// Lend describes the memory of a slot's tensor to a thread, for a capsule of DLPack or else a buffer, and tells the trace that the thread records of
// that. It returns 1 where the tensor cannot be lent.
func Lend(slot, number int64, capsule bool, array *Array, reply *Reply) (status int32) {
	c := NewCall(nil, 0, 0, reply)
	defer c.End(&status)
	w := Word{tag: int64(KindHandle), Bits: uint64(slot)}
	what := "Converting a tensor to a NumPy array"
	if capsule {
		what = "Converting a tensor to a DLPack capsule"
	}
	err := ThreadOf(number).WarnTraced(w.Tensor(), what)
	if err == nil {
		err = lend(w.Tensor(), array)
	}
	if err != nil {
		c.Fail(err)
		status = 1
	}
	return status
}

// Return ends what Lend began.
func Return(loan int64) { endLoan(loan) }

// Filled is an option that a call gives.
type Filled struct {
	Name string
	Arg  *Word
}

// ReleaseAbove is the number of elements above which an operator runs without the GIL: below it
// the operator is done before another thread could take over.
const ReleaseAbove = 8192
