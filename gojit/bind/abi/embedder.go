package abi

import (
	"unsafe"
)

// Embedder is the program around the library, with objects, threads and a lock of its own: what the library asks of Python. A pointer to an
// object of the program is never looked into here.
type Embedder interface {
	// Allocate returns memory that is the program's to free, Free gives it back.
	Allocate(bytes int) unsafe.Pointer
	Free(p unsafe.Pointer)

	// ReleaseLock lets other threads of the program run until AcquireLock is called with what it returned.
	ReleaseLock() unsafe.Pointer
	AcquireLock(state unsafe.Pointer)
	// EnsureLock takes the lock whether the thread has it or not; LeaveLock with what it returned ends that.
	EnsureLock() int
	LeaveLock(state int)

	// Thread returns the number of the thread that runs, or its complement where the thread is new.
	Thread() int64
	// IsFirstThread reports whether signals are handled in the thread that runs.
	IsFirstThread() bool
	// CheckSignals runs the handlers of signals and returns the exception that one of them raised, or nil.
	CheckSignals() (raised unsafe.Pointer)

	// Retain and Release count the library's references to an object.
	Retain(object unsafe.Pointer)
	Release(object unsafe.Pointer)
	// HasObject reports whether the program has an object of a slot.
	HasObject(slot int64) bool
	// Revive gives the object that a slot's tensor has kept back to the program; Abandon ends such an object.
	Revive(object unsafe.Pointer, slot int64)
	Abandon(object unsafe.Pointer)
	// Call calls an object, or its method where method is not empty. It returns the result, or the exception and false.
	Call(object unsafe.Pointer, method string, args *Word, n int, reply *Reply) (result unsafe.Pointer, ok bool)

	// Warn warns at a line of a file, and returns the exception where filters make one of the warning.
	Warn(message, file string, line int) (raised unsafe.Pointer)

	// BorrowArray asks an object for its memory until ReturnArray; it returns the exception where there is none to lend.
	BorrowArray(object unsafe.Pointer, array *Array) (raised unsafe.Pointer)
	ReturnArray(owner unsafe.Pointer)
	// OpenCapsule takes over what a DLPack capsule has, nil where it is none or used up; DeleteDLPack gives that back.
	OpenCapsule(capsule unsafe.Pointer) *DLManaged
	DeleteDLPack(m *DLManaged)

	// GrowTensors returns memory of the program for the addresses of room tensors, the first count of which are kept.
	GrowTensors(count, room int) unsafe.Pointer
	// SetRecorders tells the program how many look at what it could answer without asking.
	SetRecorders(n int)
}

// Attached is whom this library serves. It is attached once, before the first call.
var Attached Embedder

// waiting are slots of small tensors whose objects have gone. The memory is the program's.
var waiting *Waiting

// Attach says whom this library serves.
func Attach(e Embedder, w *Waiting) {
	Attached, waiting = e, w
	watchSignals()
}

// Waiting are slots whose objects have gone: their lives end at the next call. It has the layout of tj_waiting_slots.
type Waiting struct {
	Count int64
	Slots [64]int64
}

// Address is a pointer in memory of the program, which the library writes. It is a number because of what the place held before: storing a
// pointer has Go look at that one too while it collects, and in memory of C it may be anything, also the address of what has gone.
type Address uintptr

func addressOf(p unsafe.Pointer) Address { return Address(uintptr(p)) }

// Pointer is the address as a pointer.
func (a Address) Pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }

// Reply is the words of a reply in the layout of tj_reply. The caller lends words with room for Cap; a longer reply is in memory of
// Embedder.Allocate, Owned is then 1 and the caller frees it.
type Reply struct {
	Words           Address // of Len words
	Len, Cap, Owned int64
}

// Array is the memory of a strided array, lent by one side to the other, in the layout of tj_array.
type Array struct {
	Data                           Address
	Dim, ItemSize, Bytes, ReadOnly int64
	Format                         Address   // of a struct module character, ended by a zero
	Shape, Strides                 [64]int64 // strides in bytes
	Owner                          Address
	Loan                           int64
}

// DLTensor is a tensor in the layout of DLPack, version 0. The library only reads it.
type DLTensor struct {
	Data               unsafe.Pointer
	DeviceType, Device int32
	Dim                int32
	Code, Bits         uint8
	Lanes              uint16
	Shape              *int64
	Strides            *int64 // in elements; nil: contiguous
	ByteOffset         uint64
}

// DLManaged is a tensor of DLPack with its owner. The library only reads it.
type DLManaged struct {
	Tensor  DLTensor
	Context unsafe.Pointer
	Deleter unsafe.Pointer
}

// Codes of DLPack.
const (
	DLInt, DLUint, DLFloat, DLBFloat, DLComplex, DLBool = 0, 1, 2, 4, 5, 6
	DLCPU                                               = 1
)
