package main

// #include <stdlib.h>
// #include "torchjit.h"
// #include "services.h"
import "C"

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// word is a tj_word: a kind and a count in tag, a payload in bits.
type word struct {
	tag  int64
	bits uint64
}

const wordSize = int(unsafe.Sizeof(word{}))

// kind says how a word and those after it are read. The kinds and their meaning are in torchjit.h.
type kind uint8

const (
	kindNone      kind = C.TJ_NONE
	kindBool      kind = C.TJ_BOOL
	kindInt       kind = C.TJ_INT
	kindFloat     kind = C.TJ_FLOAT
	kindComplex   kind = C.TJ_COMPLEX
	kindString    kind = C.TJ_STRING
	kindBytes     kind = C.TJ_BYTES
	kindList      kind = C.TJ_LIST
	kindTuple     kind = C.TJ_TUPLE
	kindSize      kind = C.TJ_SIZE
	kindDict      kind = C.TJ_DICT
	kindSlice     kind = C.TJ_SLICE
	kindEllipsis  kind = C.TJ_ELLIPSIS
	kindToken     kind = C.TJ_TOKEN
	kindHandle    kind = C.TJ_HANDLE
	kindCallable  kind = C.TJ_CALLABLE
	kindObject    kind = C.TJ_OBJECT
	kindConstruct kind = C.TJ_CONSTRUCT
	kindMissing   kind = C.TJ_MISSING
	kindDeclined  kind = C.TJ_DECLINED
)

var kindNames = map[kind]string{
	kindNone: "NoneType", kindBool: "bool", kindInt: "int", kindFloat: "float", kindComplex: "complex",
	kindString: "str", kindBytes: "bytes", kindList: "list", kindTuple: "tuple", kindSize: "Size",
	kindDict: "dict", kindSlice: "slice", kindEllipsis: "ellipsis", kindCallable: "function", kindObject: "object",
	kindMissing: "nothing",
}

func (w *word) kind() kind { return kind(w.tag) }

// numberTypes are the element types of numbers that come from NumPy, by what the shim writes above their kind.
var numberTypes = [...]tensor.DType{
	C.TJ_NUMPY_INT8: tensor.Int8, C.TJ_NUMPY_INT16: tensor.Int16, C.TJ_NUMPY_INT32: tensor.Int32, C.TJ_NUMPY_INT64: tensor.Int64, C.TJ_NUMPY_UINT8: tensor.Uint8,
	C.TJ_NUMPY_FLOAT16: tensor.Float16, C.TJ_NUMPY_FLOAT32: tensor.Float32, C.TJ_NUMPY_FLOAT64: tensor.Float64,
	C.TJ_NUMPY_COMPLEX64: tensor.Complex64, C.TJ_NUMPY_COMPLEX128: tensor.Complex128,
}

// numberType is the element type that a number came with, NoDType for Python's own numbers and other words.
func (w *word) numberType() tensor.DType {
	if n := w.count(); n != 0 && (w.kind() == kindInt || w.kind() == kindFloat || w.kind() == kindComplex) {
		return numberTypes[n]
	}
	return tensor.NoDType
}

// count is the number of elements or bytes, or the class number of a token.
func (w *word) count() int { return int(w.tag >> 8) }

func (w *word) int() int64 { return int64(w.bits) }

func (w *word) float() float64 { return math.Float64frombits(w.bits) }

func (w *word) bool() bool { return w.bits != 0 }

func (w *word) pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&w.bits)) }

// after returns the word n places on.
func (w *word) after(n int) *word { return (*word)(unsafe.Add(unsafe.Pointer(w), n*wordSize)) }

// text returns the bytes of a string word. They are borrowed: valid until the call ends.
func (w *word) text() string {
	p := w.pointer()
	if p == nil {
		p = unsafe.Pointer(w.after(1))
	}
	return unsafe.String((*byte)(p), w.count())
}

func (w *word) complex() complex128 { return complex(w.float(), w.after(1).float()) }

// longKinds are the kinds, as bits, of which more words may follow the first.
const longKinds = 1<<kindComplex | 1<<kindString | 1<<kindBytes | 1<<kindList | 1<<kindTuple | 1<<kindSize | 1<<kindDict | 1<<kindSlice | 1<<kindConstruct

// next returns the word behind the value that starts at w.
func (w *word) next() *word {
	if longKinds>>w.kind()&1 == 0 {
		return w.after(1)
	}
	return w.afterLong()
}

func (w *word) afterLong() *word {
	switch w.kind() {
	case kindComplex:
		return w.after(2)
	case kindString, kindBytes:
		if w.bits == 0 {
			return w.after(1 + (w.count()+wordSize-1)/wordSize)
		}
	case kindList, kindTuple, kindSize:
		return w.after(1).skip(w.count())
	case kindDict:
		return w.after(1).skip(2 * w.count())
	case kindSlice:
		return w.after(1).skip(3)
	case kindConstruct:
		return w.after(1).skip(1 + w.count())
	}
	return w.after(1)
}

// skip returns the word behind the n values that start at w.
func (w *word) skip(n int) *word {
	for range n {
		w = w.next()
	}
	return w
}

// items calls yield for each element of a list, tuple or size until it returns false.
func (w *word) items(yield func(*word) bool) {
	x := w.after(1)
	for range w.count() {
		if !yield(x) {
			return
		}
		x = x.next()
	}
}

// isSequence reports whether w starts a list, tuple or size.
func (w *word) isSequence() bool {
	k := w.kind()
	return k == kindList || k == kindTuple || k == kindSize
}

// writer appends words to memory of C: first the caller's, then memory of malloc that reply owns.
type writer struct {
	words   []word // len: written; cap: room
	reply   *C.tj_reply
	keeping bool // something besides Python holds the tensors that are written
}

func newWriter(reply *C.tj_reply) writer {
	return writer{unsafe.Slice((*word)(unsafe.Pointer(reply.words)), int(reply.cap))[:0], reply, false}
}

// finish tells the reply how many words there are.
func (w *writer) finish() { w.reply.len = C.int64_t(len(w.words)) }

// reset forgets what was written.
func (w *writer) reset() { w.words = w.words[:0] }

func (w *writer) grow(more int) {
	room := max(2*cap(w.words), len(w.words)+more)
	p := C.malloc(C.size_t(room * wordSize))
	grown := unsafe.Slice((*word)(p), room)[:len(w.words)]
	copy(grown, w.words)
	if w.reply.owned != 0 {
		C.free(unsafe.Pointer(w.reply.words))
	}
	w.words = grown
	w.reply.words, w.reply.cap, w.reply.owned = (*C.tj_word)(p), C.int64_t(room), 1
}

func (w *writer) put(tag int64, bits uint64) {
	n := len(w.words)
	if n == cap(w.words) {
		w.grow(1)
	}
	w.words = w.words[:n+1]
	w.words[n] = word{tag, bits}
}

func (w *writer) open(k kind, n int) { w.put(int64(k)|int64(n)<<8, 0) }

func (w *writer) none() { w.put(int64(kindNone), 0) }

func (w *writer) declined() { w.put(int64(kindDeclined), 0) }

func (w *writer) int(i int) { w.put(int64(kindInt), uint64(i)) }

func (w *writer) int64(i int64) { w.put(int64(kindInt), uint64(i)) }

func (w *writer) float(f float64) { w.put(int64(kindFloat), math.Float64bits(f)) }

func (w *writer) bool(b bool) {
	if b {
		w.put(int64(kindBool), 1)
	} else {
		w.put(int64(kindBool), 0)
	}
}

func (w *writer) complex(c complex128) {
	w.put(int64(kindComplex), math.Float64bits(real(c)))
	w.put(int64(kindComplex), math.Float64bits(imag(c)))
}

func (w *writer) string(s string) { w.bytes(kindString, s) }

// bytes writes a string or bytes word with its bytes in line.
func (w *writer) bytes(k kind, s string) {
	w.open(k, len(s))
	more := (len(s) + wordSize - 1) / wordSize
	if more == 0 {
		return
	}
	n := len(w.words)
	if n+more > cap(w.words) {
		w.grow(more)
	}
	w.words = w.words[:n+more]
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&w.words[n])), len(s)), s)
}

func (w *writer) ints(k kind, xs []int) {
	w.open(k, len(xs))
	for _, x := range xs {
		w.int(x)
	}
}

func (w *writer) strings(xs []string) {
	w.open(kindList, len(xs))
	for _, x := range xs {
		w.string(x)
	}
}

func (w *writer) token(class tokenClass, code int64) {
	w.put(int64(kindToken)|int64(class)<<8, uint64(code))
}

// object writes a Python object with a reference of its own, which the reader takes over.
func (w *writer) object(o *object) {
	C.tj_incref(o.pointer)
	w.put(int64(kindObject), uint64(uintptr(o.pointer)))
	runtime.KeepAlive(o)
}

// tokenClass numbers the closed sets whose values are tokens; torchjit/_types.py has the same numbers.
type tokenClass int64

const (
	tokenDType tokenClass = iota
	tokenDevice
	tokenLayout
	tokenMemoryFormat
)

// copy writes the value that starts at x.
func (w *writer) copy(x *word) {
	for end := x.next(); uintptr(unsafe.Pointer(x)) < uintptr(unsafe.Pointer(end)); {
		switch x.kind() {
		case kindString, kindBytes:
			w.bytes(x.kind(), x.text())
			x = x.next()
			continue
		case kindHandle:
			w.put(x.tag|int64(handleClassOf(x.content()))<<8, x.bits)
		case kindCallable:
			w.function(x.callable())
		case kindObject:
			C.tj_incref(x.pointer())
			w.put(x.tag, x.bits)
		default:
			w.put(x.tag, x.bits)
		}
		x = x.after(1)
	}
}
