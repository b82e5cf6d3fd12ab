package main

// #include "torchjit.h"
import "C"

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/bind"
)

// The layouts that C and Go share have the same sizes, and the kinds of words are as many.
var (
	_ [unsafe.Sizeof(C.tj_word{}) - unsafe.Sizeof(bind.Word{})]struct{}
	_ [unsafe.Sizeof(bind.Word{}) - unsafe.Sizeof(C.tj_word{})]struct{}
	_ [unsafe.Sizeof(C.tj_reply{}) - unsafe.Sizeof(bind.Reply{})]struct{}
	_ [unsafe.Sizeof(bind.Reply{}) - unsafe.Sizeof(C.tj_reply{})]struct{}
	_ [unsafe.Sizeof(C.tj_array{}) - unsafe.Sizeof(bind.Array{})]struct{}
	_ [unsafe.Sizeof(bind.Array{}) - unsafe.Sizeof(C.tj_array{})]struct{}
	_ [unsafe.Sizeof(C.tj_waiting_slots{}) - unsafe.Sizeof(bind.Waiting{})]struct{}
	_ [unsafe.Sizeof(bind.Waiting{}) - unsafe.Sizeof(C.tj_waiting_slots{})]struct{}
	_ [C.TJ_DECLINED + 1 - bind.NumKinds]struct{}
	_ [bind.NumKinds - C.TJ_DECLINED - 1]struct{}
)

func replyOf(reply *C.tj_reply) *bind.Reply { return (*bind.Reply)(unsafe.Pointer(reply)) }

// TJCall calls the callable of a slot with words of arguments. It returns 1 where that failed.
//
//export TJCall
func TJCall(slot C.int64_t, args *C.tj_word, positional, keywords, thread C.int64_t, reply *C.tj_reply) C.int {
	words := (*bind.Word)(unsafe.Pointer(args))
	return C.int(bind.Call(int64(slot), words, int64(positional), int64(keywords), int64(thread), replyOf(reply)))
}

// TJFunction returns the callable number of a registered function, 0 where there is none of that name.
//
//export TJFunction
func TJFunction(name *C.char, n C.int64_t) C.int64_t {
	return C.int64_t(bind.Function(C.GoStringN(name, C.int(n))))
}

// TJFunctionNames replies the names of the registered functions that are no members.
//
//export TJFunctionNames
func TJFunctionNames(reply *C.tj_reply) { bind.FunctionNames(replyOf(reply)) }

// TJCallableName replies the name of a callable.
//
//export TJCallableName
func TJCallableName(slot C.int64_t, reply *C.tj_reply) C.int {
	bind.CallableName(int64(slot), replyOf(reply))
	return 0
}

// TJReleaseCallable ends the life of a callable's Python object.
//
//export TJReleaseCallable
func TJReleaseCallable(slot C.int64_t) { bind.ReleaseCallable(int64(slot)) }

// TJRelease ends the life of a handle's Python object.
//
//export TJRelease
func TJRelease(slot C.int64_t) { bind.Release(int64(slot)) }

// TJReleaseWaiting ends the lives of the tensors that wait for it.
//
//export TJReleaseWaiting
func TJReleaseWaiting() { bind.ReleaseWaiting() }

// TJAlias returns the slot of a new tensor that shares the memory of a slot's tensor, 0 where that is none.
//
//export TJAlias
func TJAlias(slot C.int64_t) C.int64_t { return C.int64_t(bind.Alias(int64(slot))) }

// TJSetDispatches notes whether the class of a slot's tensor runs operators.
//
//export TJSetDispatches
func TJSetDispatches(slot C.int64_t, on C.int) { bind.SetDispatches(int64(slot), on != 0) }

// TJPreserve takes over the Python object of a slot, which is about to go, where something besides Python may use the tensor. It returns
// whether it has.
//
//export TJPreserve
func TJPreserve(slot C.int64_t, self unsafe.Pointer) C.int {
	if bind.Preserve(int64(slot), self) {
		return 1
	}
	return 0
}

// TJLend describes the memory of a slot's tensor to a thread, for a capsule of DLPack or else a buffer of Python. It returns 1 where the tensor cannot be
// lent.
//
//export TJLend
func TJLend(slot, number C.int64_t, capsule C.int, array *C.tj_array, reply *C.tj_reply) C.int {
	return C.int(bind.Lend(int64(slot), int64(number), capsule != 0, (*bind.Array)(unsafe.Pointer(array)), replyOf(reply)))
}

// TJReturn ends what TJLend began.
//
//export TJReturn
func TJReturn(loan C.int64_t) { bind.Return(int64(loan)) }

// TJLayout tells where the fields of tensors are.
//
//export TJLayout
func TJLayout(layout *C.tj_layout) {
	l := bind.Layout()
	*layout = C.tj_layout{
		numel: C.int64_t(l.Numel), shape: C.int64_t(l.Shape), strides: C.int64_t(l.Strides), offset: C.int64_t(l.Offset), dtype: C.int64_t(l.DType),
		device: C.int64_t(l.Device), requires_grad: C.int64_t(l.RequiresGrad), base: C.int64_t(l.Base), storage: C.int64_t(l.Storage), data: C.int64_t(l.Data),
		foreign: C.int64_t(l.Foreign),
	}
}
