package abi

import (
	"fmt"
	"runtime/debug"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// panicError describes a panic: a mistake of this library, not of its user.
func panicError(p any) error {
	return source.Errorf(source.RuntimeError, source.Range{},
		"internal error in torchjit, please report it with the program that caused it: %v\n%s", p, debug.Stack())
}

// TypeErrorf makes what Python sees as a TypeError.
func TypeErrorf(format string, args ...any) error {
	return source.Errorf(source.TypeError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

// ValueErrorf makes what Python sees as a ValueError.
func ValueErrorf(format string, args ...any) error {
	return source.Errorf(source.ValueError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

// RuntimeErrorf makes what Python sees as a RuntimeError.
func RuntimeErrorf(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

// NotImplementedErrorf makes what Python sees as a NotImplementedError.
func NotImplementedErrorf(format string, args ...any) error {
	return source.Errorf(source.NotImplementedError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

// IndexErrorf makes what Python sees as an IndexError.
func IndexErrorf(format string, args ...any) error {
	return source.Errorf(source.IndexError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

// KeyErrorf makes what Python sees as a KeyError.
func KeyErrorf(format string, args ...any) error {
	return source.Errorf(source.KeyError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}

// AttributeErrorf makes what Python sees as an AttributeError.
func AttributeErrorf(format string, args ...any) error {
	return source.Errorf(source.AttributeError, source.Range{}, "%s", fmt.Sprintf(format, args...))
}
