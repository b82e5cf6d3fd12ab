// Package bind is the flat table of functions that programs around the library call by number: what the Python package is made of.
// It is not a stable interface.
//
// A call comes as a run of 16-byte words (Word), which Call hands to a callable, and its reply goes back the same way. Central types:
// call, one such crossing; Word, the unit that both sides exchange; function, an entry of the registration tables; callable, anything
// that has a number and can be called; object, an object of the program held by Go; Embedder, what the library asks of the program. It
// knows nothing of Python's headers and uses no cgo: package pybind is the Embedder that has them.
//
// Invariant: the slot tables, the reading of arguments and the writing of replies are touched only by the thread that holds the
// program's lock. Work that takes more than a few microseconds runs in call.withoutGIL. No panic leaves an exported function.
package bind
