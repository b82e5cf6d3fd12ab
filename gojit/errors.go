package gojit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Fault says whose mistake an error is.
type Fault uint8

// The faults, and the errors that have them.
const (
	// ProgramFault: the program failed on what it was given, or does not compile. The error is an *Error.
	ProgramFault Fault = iota + 1
	// CallerFault: the call asks for what there is not, a method, an argument of another type, a file that is none. The error is a *CallError,
	// a *FileError, or that of a context which ended.
	CallerFault
	// InternalFault: this library is wrong. The error is an *InternalError.
	InternalFault
)

// String returns "program", "caller" or "internal".
func (f Fault) String() string {
	return [...]string{"none", "program", "caller", "internal"}[f]
}

// FaultOf returns whose mistake an error of this package is, 0 for nil. Errors that it does not know count as the program's.
func FaultOf(err error) Fault {
	var internal *InternalError
	var call *CallError
	var file *FileError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &internal):
		return InternalFault
	case errors.As(err, &call), errors.As(err, &file), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return CallerFault
	}
	return ProgramFault
}

// PlaceOf returns where in a program an error is: the file, the line counted from 1 and the column counted from 0. ok is false where no place is known.
func PlaceOf(err error) (file string, line, column int, ok bool) {
	var e *source.Error
	if !errors.As(err, &e) || !e.Place().IsValid() {
		return "", 0, 0, false
	}
	return e.Place().FileLineCol()
}

// CallError is a call that does not fit what is called. Nothing of the program has run.
type CallError struct {
	// Function is the method or function that was asked for, Argument the parameter that it is about, "" for none.
	Function, Argument string
	// Err says what was found and what was expected.
	Err error
}

// Error implements error.
func (e *CallError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

// FileError is a file that cannot be read, or is no archive.
type FileError struct {
	// Path is the file, "" for one that was in memory.
	Path string
	Err  error
}

// Error implements error.
func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }

// InternalError is a mistake of this library.
type InternalError struct {
	Panic any
	Stack []byte
}

// Error implements error.
func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error in torchjit, please report it with the program that caused it: %v\n%s", e.Panic, e.Stack)
}

// guard is deferred: a panic becomes an *InternalError, or the error that was thrown.
func guard(err *error) {
	p := recover()
	if p == nil {
		return
	}
	if *err = source.Thrown(p); *err == nil {
		*err = &InternalError{Panic: p, Stack: debug.Stack()}
	}
}

// fileError is deferred by what reads a file: its error becomes a *FileError.
func fileError(path string, err *error) {
	if *err != nil {
		*err = &FileError{Path: path, Err: *err}
	}
}

// callErrorf returns a *CallError of a class about an argument of a function.
func callErrorf(class source.Class, function, argument, format string, args ...any) error {
	return &CallError{Function: function, Argument: argument, Err: source.Errorf(class, source.Range{}, format, args...)}
}
