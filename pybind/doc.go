// Command pybind is the native library of the Python package torchjit, and the only code here that meets Python. It is built as a C
// shared library and loaded as the module torchjit._native.
//
// The C files turn Python's objects into words and back (marshal.c), and make the types of the module (types.c); a call goes
// Python -> C -> TJCall -> bind.Call. export.go has what C calls, python.go what package bind asks of Python.
package main

func main() {}
