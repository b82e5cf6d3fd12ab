package main

// #include <stdlib.h>
// #include "services.h"
import "C"

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/bind"
)

func init() { bind.Attach(python{}, (*bind.Waiting)(unsafe.Pointer(&C.tj_waiting))) }

// python is the bind.Embedder that Python is. The functions of services.h do the work.
type python struct{}

func (python) Allocate(bytes int) unsafe.Pointer { return C.malloc(C.size_t(bytes)) }

func (python) Free(p unsafe.Pointer) { C.free(p) }

func (python) ReleaseLock() unsafe.Pointer { return C.tj_release_gil() }

func (python) AcquireLock(state unsafe.Pointer) { C.tj_acquire_gil(state) }

func (python) EnsureLock() int { return int(C.tj_ensure_gil()) }

func (python) LeaveLock(state int) { C.tj_leave_gil(C.int(state)) }

func (python) Thread() int64 { return int64(C.tj_thread_number()) }

func (python) IsFirstThread() bool { return C.tj_is_first_thread() != 0 }

func (python) CheckSignals() (raised unsafe.Pointer) {
	if C.tj_check_signals(&raised) == 0 {
		return nil
	}
	return raised
}

func (python) Retain(object unsafe.Pointer) { C.tj_incref(object) }

func (python) Release(object unsafe.Pointer) { C.tj_decref(object) }

func (python) HasObject(slot int64) bool { return C.tj_has_object(C.int64_t(slot)) != 0 }

func (python) Revive(object unsafe.Pointer, slot int64) { C.tj_revive(object, C.int64_t(slot)) }

func (python) Abandon(object unsafe.Pointer) { C.tj_abandon(object) }

func (python) Call(object unsafe.Pointer, method string, args *bind.Word, n int, reply *bind.Reply) (result unsafe.Pointer, ok bool) {
	var attribute *C.char
	if method != "" {
		attribute = C.CString(method)
		defer C.free(unsafe.Pointer(attribute))
	}
	words, replied := (*C.tj_word)(unsafe.Pointer(args)), (*C.tj_reply)(unsafe.Pointer(reply))
	rc := C.tj_call_python(object, attribute, words, C.int64_t(n), replied, &result)
	return result, rc == 0
}

func (python) Warn(message, file string, line int) (raised unsafe.Pointer) {
	text, name := unsafe.StringData(message), unsafe.StringData(file)
	C.tj_warn((*C.char)(unsafe.Pointer(text)), C.int64_t(len(message)), (*C.char)(unsafe.Pointer(name)), C.int64_t(len(file)), C.int(line), &raised)
	return raised
}

func (python) BorrowArray(object unsafe.Pointer, array *bind.Array) (raised unsafe.Pointer) {
	if C.tj_borrow_array(object, (*C.tj_array)(unsafe.Pointer(array)), &raised) == 0 {
		return nil
	}
	return raised
}

func (python) ReturnArray(owner unsafe.Pointer) { C.tj_return_array(owner) }

// capsuleName and usedCapsuleName are names of DLPack's capsules; a capsule keeps the pointer.
var capsuleName, usedCapsuleName = C.CString("dltensor"), C.CString("used_dltensor")

func (python) OpenCapsule(capsule unsafe.Pointer) *bind.DLManaged {
	return (*bind.DLManaged)(C.tj_open_capsule(capsule, capsuleName, usedCapsuleName))
}

func (python) DeleteDLPack(m *bind.DLManaged) { C.tj_delete_dlpack((*C.dl_managed)(unsafe.Pointer(m))) }

func (python) GrowTensors(count, room int) unsafe.Pointer {
	return C.tj_grow_tensors(C.int64_t(count), C.int64_t(room))
}

func (python) SetRecorders(n int) { C.tj_set_recorders(C.int(n)) }
