// Package errs has the errors of torchjit's packages, of three classes: the program's, the caller's and the library's own.
//
//	out, err := model.Call(ctx, "forward", x)
//	switch errs.FaultOf(err) {
//	case errs.ProgramFault: // PlaceOf says where in the program
//	case errs.CallerFault: // errors.As with a *CallError or a *FileError says what was asked for
//	case errs.InternalFault: // to be reported
//	}
//
// Error texts say what was found, what was expected and where; AdviceOf has what people should be told besides. The package links neither compiler nor
// operators: programs that use nothing but package tensor or npy may use it.
package errs

import (
	"context"
	"errors"
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/mistake"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Error is what goes wrong in a program or its compilation: its class, its message and its place.
type Error = source.Error

// Fault says whose mistake an error is.
type Fault uint8

// The faults, and the errors that have them.
const (
	// ProgramFault: the program failed on what it was given, or does not compile. The error is an *Error. A server answers 422.
	ProgramFault Fault = iota + 1
	// CallerFault: the call asks for what there is not, a method, an argument of another type, a file that is none. The error is a *CallError,
	// a *FileError, or that of a context which ended. A server answers 400.
	CallerFault
	// InternalFault: this library is wrong. The error is an *InternalError. A server answers 500.
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

// CodeOf returns the code of the kind of mistake that an error tells of, such as "TJ501", and "" where it is none of those that docs/errors.md lists.
func CodeOf(err error) string {
	if err == nil {
		return ""
	}
	if k := mistake.Of(err.Error()); k != nil {
		return k.Code
	}
	return ""
}

// AdviceOf returns what people should be told behind an error: in which submodule it happened, and the code and cure of a common mistake. The error's own
// text has none of it.
func AdviceOf(err error) (notes []string) {
	if err == nil {
		return nil
	}
	var e *source.Error
	if errors.As(err, &e) {
		if e.Module != "" {
			notes = append(notes, "in "+e.Module)
		}
		notes = append(notes, e.Advice...)
	}
	if k := mistake.Of(err.Error()); k != nil {
		notes = append(notes, k.Note())
	}
	return notes
}
