// Package abi is how calls cross between the library and the program around it: what a function is that the program sees, and how arguments and
// results are told.
//
// Central types: Call, one such crossing; Word, the unit that both sides exchange; Function, an entry of the tables that packages Register;
// Callable, anything that has a number and can be called; Object, an object of the program held by Go; Thread, what is kept for a thread that
// calls; Embedder, what the library asks of the program.
//
// Invariant: the slot tables, the reading of arguments and the writing of replies are touched only by the thread that holds the
// program's lock. Work that takes more than a few microseconds runs in Call.WithoutGIL. No panic leaves CallSlot and Lend.
package abi
