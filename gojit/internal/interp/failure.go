package interp

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// failure is an error on its way out of the frames it happened in, innermost first.
type failure struct {
	cause  error
	raised bool   // by a raise statement: class and text are the program's
	class  string // of the exception raised, such as "builtins.ValueError"
	frames []source.Frame
	module string // in which it happened, with its class; "" where that is not known
}

func (f *failure) Error() string { return f.cause.Error() }
func (f *failure) Unwrap() error { return f.cause }

// at adds the place in a function that an error passes through.
func at(err error, function string, r source.Range) error {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{cause: err}
	}
	f.frames = append(f.frames, source.Frame{Function: function, Range: r})
	return f
}

// failed adds the places that an instruction stands for to its error: its own, and those of inlined calls that led to it.
func (c *Code) failed(err error, instruction int) error {
	function, place := c.name, c.ranges[instruction]
	if call := c.calls[instruction]; call != nil {
		err = inModule(err, call)
		for function = call.Callee; call != nil; call = call.Outer {
			err = at(err, function, place)
			place, function = call.Range, c.name
			if call.Outer != nil {
				function = call.Outer.Callee
			}
		}
	}
	return at(err, function, place)
}

// inModule notes the submodule whose method is the innermost of some inlined calls, unless one is known.
func inModule(err error, call *ir.InlinedCall) error {
	var f *failure
	if errors.As(err, &f) && f.module != "" {
		return err
	}
	path, class := "", ""
	for ; call != nil; call = call.Outer {
		if call.Receiver == nil || call.Instance == "SELF" {
			continue
		}
		if call.Instance == "" {
			return err // the path has a gap
		}
		if path = strings.TrimSuffix(call.Instance+"."+path, "."); class == "" {
			class = call.Receiver.Name[strings.LastIndexByte(call.Receiver.Name, '.')+1:]
		}
	}
	if path == "" {
		return err
	}
	if f == nil {
		f = &failure{cause: err}
		err = f
	}
	f.module = path + " (" + class + ")"
	return err
}

// raised makes the error of a raise statement from its message and the name of the class.
func raised(args []value.Value) error {
	f := &failure{raised: true, class: "RuntimeError"}
	message := ""
	if args[0].Kind() == value.KindString {
		message = args[0].Str()
	}
	if len(args) > 1 && args[1].Kind() == value.KindString {
		f.class = args[1].Str()
	}
	f.cause = &source.Error{Class: source.ScriptError, Text: message}
	return f
}

// Raised is an exception of a raise statement that left a program: its class, such as "builtins.ValueError", and what it said.
type Raised struct{ Class, Message string }

// LastRaised is the last exception that left any of some code by a raise statement.
type LastRaised struct{ last atomic.Pointer[Raised] }

// Get returns the exception, the zero Raised where there was none.
func (l *LastRaised) Get() Raised {
	if r := l.last.Load(); r != nil {
		return *r
	}
	return Raised{}
}

// report turns an error that has left all frames of a run into what the caller gets: the text has
// the traceback. A run that was cancelled gives the cause as it is.
func (c *Code) report(err error) error {
	var f *failure
	if !errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	class := source.ClassOf(f.cause)
	if class == source.KeyboardInterrupt {
		return f.cause
	}
	var b strings.Builder
	b.WriteString("The following operation failed in the TorchScript interpreter.\n")
	if f.raised {
		// The place of the raise statement alone is shown, under the name of what was called.
		traceback(&b, []source.Frame{{Function: c.name, Range: f.frames[0].Range}})
		b.WriteString(f.class + ": " + messageOf(f.cause) + "\n")
		if c.options.Raised != nil {
			c.options.Raised.last.Store(&Raised{f.class, messageOf(f.cause)})
		}
		return &source.Error{Class: source.ScriptError, Text: b.String(), Running: f.frames[0].Range.Program(), Module: f.module, Cause: causeOf(f)}
	}
	traceback(&b, f.frames)
	b.WriteString("RuntimeError: " + messageOf(f.cause) + "\n")
	if class != source.NotImplementedError {
		class = source.RuntimeError
	}
	return &source.Error{Class: class, Text: b.String(), Running: f.frames[0].Range.Program(), Module: f.module, Cause: causeOf(f)}
}

// causeOf returns what went wrong without the places that it went through. A raised exception keeps its class.
func causeOf(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if f.raised {
		return &source.Error{Class: source.Class(strings.TrimPrefix(f.class, "builtins.")), Text: messageOf(f.cause)}
	}
	return f.cause
}

// traceback shows frames, given innermost first. Those of a program that was loaded are shown in the text
// of the archive and in the text that they were written in.
func traceback(b *strings.Builder, frames []source.Frame) {
	loaded := false
	for _, f := range frames {
		_, ok := f.Range.Original()
		loaded = loaded || ok
	}
	if !loaded {
		b.WriteString("Traceback of TorchScript (most recent call last):\n")
	} else {
		b.WriteString("Traceback of TorchScript, serialized code (most recent call last):\n")
	}
	for i := len(frames) - 1; i >= 0; i-- {
		b.WriteString(frames[i].Range.HighlightIn(frames[i].Function))
	}
	if !loaded {
		return
	}
	b.WriteString("\nTraceback of TorchScript, original code (most recent call last):\n")
	for i := len(frames) - 1; i >= 0; i-- {
		b.WriteString(frames[i].Range.Program().HighlightIn(frames[i].Function))
	}
}

// messageOf returns the text of an error without places.
func messageOf(err error) string {
	var e *source.Error
	if errors.As(err, &e) {
		return e.Text
	}
	return err.Error()
}
