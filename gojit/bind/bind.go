package bind

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/tensor"

	// These packages register functions.
	_ "github.com/torchjit/torchjit/gojit/bind/graphs"
	_ "github.com/torchjit/torchjit/gojit/bind/modules"
	_ "github.com/torchjit/torchjit/gojit/bind/operators"
	_ "github.com/torchjit/torchjit/gojit/bind/scripts"
	_ "github.com/torchjit/torchjit/gojit/bind/tensors"
	_ "github.com/torchjit/torchjit/gojit/bind/tracing"
)

// What both sides exchange; package abi says more of each.
type (
	Word      = abi.Word
	Reply     = abi.Reply
	Array     = abi.Array
	Waiting   = abi.Waiting
	DLManaged = abi.DLManaged
	Embedder  = abi.Embedder
)

// NumKinds is the number of kinds of words; those of torchjit.h are as many, in the same order.
const NumKinds = abi.NumKinds

// Attach says whom this library serves.
func Attach(e Embedder, w *Waiting) { abi.Attach(e, w) }

// Layout returns where the fields of tensors are.
func Layout() tensor.Fields { return abi.Layout() }

// Call calls the callable of a slot with words of arguments. It returns 1 where that failed. One that replies nothing
// replies None.
func Call(slot int64, args *Word, positional, keywords, number int64, reply *Reply) (status int32) {
	return abi.CallSlot(slot, args, positional, keywords, number, reply)
}

// Function returns the callable number of a registered function, 0 where there is none of that name.
func Function(name string) int64 { return abi.FunctionSlot(name) }

// FunctionNames replies the names of the registered functions that are no members.
func FunctionNames(reply *Reply) { abi.FunctionNames(reply) }

// CallableName replies the name of a callable.
func CallableName(slot int64, reply *Reply) { abi.CallableName(slot, reply) }

// ReleaseCallable ends the life of a callable's Python object.
func ReleaseCallable(slot int64) { abi.ReleaseCallable(slot) }

// Release ends the life of a handle's Python object.
func Release(slot int64) { abi.Release(slot) }

// ReleaseWaiting ends the lives of the tensors that wait for it.
func ReleaseWaiting() { abi.ReleaseWaiting() }

// Preserve takes over the Python object of a slot, which is about to go, where something besides Python may use the tensor. It returns
// whether it has.
func Preserve(slot int64, self unsafe.Pointer) bool { return abi.Preserve(slot, self) }

// Alias returns the slot of a new tensor that shares the memory of a slot's tensor, 0 where that is none.
func Alias(slot int64) int64 { return abi.Alias(slot) }

// SetDispatches notes whether the class of a slot's tensor runs operators.
func SetDispatches(slot int64, on bool) { abi.SetDispatches(slot, on) }

// Lend describes the memory of a slot's tensor to a thread, for a capsule of DLPack or else a buffer, and tells the trace that the thread records of
// that. It returns 1 where the tensor cannot be lent.
func Lend(slot, number int64, capsule bool, array *Array, reply *Reply) (status int32) {
	return abi.Lend(slot, number, capsule, array, reply)
}

// Return ends what Lend began.
func Return(loan int64) { abi.Return(loan) }
