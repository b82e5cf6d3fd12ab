package gojit

import (
	"runtime/debug"

	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// guard is deferred: a panic becomes an *errs.InternalError, or the error that was thrown.
func guard(err *error) {
	p := recover()
	if p == nil {
		return
	}
	if *err = source.Thrown(p); *err == nil {
		*err = &errs.InternalError{Panic: p, Stack: debug.Stack()}
	}
}

// fileError is deferred by what reads a file: its error becomes a *errs.FileError.
func fileError(path string, err *error) {
	if *err != nil {
		*err = &errs.FileError{Path: path, Err: *err}
	}
}

// callErrorf returns a *errs.CallError of a class about an argument of a function.
func callErrorf(class source.Class, function, argument, format string, args ...any) error {
	return &errs.CallError{Function: function, Argument: argument, Err: source.Errorf(class, source.Range{}, format, args...)}
}
