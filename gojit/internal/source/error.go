package source

import (
	"errors"
	"fmt"
	"strings"
)

// Class names the Python exception class that an error becomes.
type Class string

// The classes that errors of the compiler and the runtime have.
const (
	RuntimeError        Class = "RuntimeError"
	TypeError           Class = "TypeError"
	ValueError          Class = "ValueError"
	IndexError          Class = "IndexError"
	KeyError            Class = "KeyError"
	AttributeError      Class = "AttributeError"
	NotImplementedError Class = "NotImplementedError"
	NotSupportedError   Class = "NotSupportedError" // torchjit.jit.frontend.NotSupportedError
	FrontendError       Class = "FrontendError"     // torchjit.jit.frontend.FrontendError
	ScriptError         Class = "Error"             // torchjit.jit.Error: raised by a running program
	KeyboardInterrupt   Class = "KeyboardInterrupt"
	AssertionError      Class = "AssertionError"
	OutOfMemoryError    Class = "OutOfMemoryError" // torchjit.cuda.OutOfMemoryError
)

// Note is a further remark of an error: what to do about it, and the place that it is about, if any.
type Note struct {
	Text  string
	Range Range
}

// Frame is one call of the chain that led to an error.
type Frame struct {
	Function string // the function that was called
	Caller   string // the function that called it
	Range    Range  // where
}

// String says what was compiled for whom.
func (f Frame) String() string {
	return fmt.Sprintf("'%s' is being compiled since it was called from '%s'\n%s", f.Function, f.Caller, f.Range.Highlight())
}

// Error is what every stage from the lexer to the interpreter reports. It is data until printed.
type Error struct {
	Class Class
	Text  string // what was found and what was expected
	Range Range  // where
	Notes []Note
	Stack []Frame // calls being compiled when it happened, innermost first
	// Running is the innermost place of a program that ran; Text shows it with the calls that led there.
	Running Range
	// Module is the submodule of a program in which it failed, with its class: "layers.2 (Linear)".
	Module string
	// Lexical says that it is about the tokens of a text: its message begins without the empty line of others that have a place.
	Lexical bool
	// Advice is what people are told besides, below the text.
	Advice []string
	// Cause is what went wrong in a program that ran, without the places that Text shows; nil elsewhere.
	Cause error
}

// Place returns where the error is: in what was compiled, or in the program that ran.
func (e *Error) Place() Range {
	if e.Range.IsValid() {
		return e.Range
	}
	return e.Running
}

// Errorf returns an error of a class at a range.
func Errorf(class Class, r Range, format string, args ...any) *Error {
	return &Error{Class: class, Range: r, Text: fmt.Sprintf(format, args...)}
}

// Misread returns a RuntimeError about the tokens of a text.
func Misread(r Range, format string, args ...any) *Error {
	e := Errorf(RuntimeError, r, format, args...)
	e.Lexical = true
	return e
}

// WithNote adds a remark and returns the error.
func (e *Error) WithNote(r Range, format string, args ...any) *Error {
	e.Notes = append(e.Notes, Note{fmt.Sprintf(format, args...), r})
	return e
}

// Error prints the message, the highlighted range, the chain of calls and the notes.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Text)
	if e.Range.IsValid() {
		b.WriteString(":\n")
		b.WriteString(e.Range.Highlight())
	}
	for _, f := range e.Stack {
		b.WriteString(f.String())
	}
	for _, n := range e.Notes {
		if !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString("note: " + n.Text + "\n")
		b.WriteString(n.Range.Highlight())
	}
	return b.String()
}

// ClassOf returns the class of err: that of the first Error in its chain, else RuntimeError.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) && e.Class != "" {
		return e.Class
	}
	return RuntimeError
}
