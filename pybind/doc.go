// Command pybind is the native library of the Python package torchjit: the only code here that
// meets Python. It is built as a C shared library and loaded as the module torchjit._native.
//
// A call goes Python -> C (marshal.c turns the arguments into words) -> TJCall -> a callable, and
// its reply goes back the same way. Central types: call, one such crossing; word, the 16-byte unit
// that both sides exchange; function, an entry of the registration tables; callable, anything that
// has a number and can be called; object, a Python object held by Go.
//
// Invariant: the slot tables, the reading of arguments and the writing of replies are touched only
// by the thread that holds the GIL. Work that takes more than a few microseconds runs in
// call.withoutGIL. No panic leaves an exported function.
package main

func main() {}
