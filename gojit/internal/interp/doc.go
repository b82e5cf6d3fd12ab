// Package interp runs graphs. Lower makes Code of a Graph, which is executed on frames of
// registers.
//
//	Graph -> Code (instruction.go: the table; lower.go, registers.go: the lowering)
//	      -> run.go over the frames of a stack (frame.go); failures get a traceback (failure.go)
//
// A Code is immutable once lowered and may be run by many goroutines at once. A register is a
// value.Value of a frame. Registers whose static type is int, float or bool are typed: they hold a
// value of that kind from the making of the frame on, and typed instructions touch only its
// payload. Everything that is not a typed instruction is an ops.Operation called on the argument
// area at the end of the frame.
//
// Invariant: a register is written before it is read on every path, its kind never changes where
// it is typed, and a value that is not used again is not kept alive by a register.
package interp
