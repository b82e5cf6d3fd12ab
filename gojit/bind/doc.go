// Package bind is what programs around the library call: the table of functions, by number, that the Python package is made of. It is not a
// stable interface.
//
// A call comes as a run of 16-byte words (Word), which Call hands to a callable, and its reply goes back the same way. How that works is in
// package abi; the functions are in packages by what they are about, each of which registers its own when it is linked:
//
//	abi        words, slots, calls, threads, the conversion of values, and Embedder: what the library asks of the program
//	operators  operators by name: overloads, what is wrong with a call, operators of Python's own, dispatch to Python
//	tensors    tensors as Python has them: indices, construction, memory of others, gradients, devices, types of elements
//	scripts    the engine, and functions that are compiled from Python
//	graphs     graphs, nodes, values, types and schemas as objects, and the passes over graphs
//	modules    modules and classes that are compiled, what is done to modules, archives
//	tracing    traces and programs that are exported
//
// They import each other in this order, later ones earlier ones. None knows Python's headers or uses cgo: package pybind is the Embedder that
// has them.
package bind
