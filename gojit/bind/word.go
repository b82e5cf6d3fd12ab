package bind

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Word is a tj_word: a kind and a count in tag, a payload in bits.
type Word struct {
	tag  int64
	bits uint64
}

const wordSize = int(unsafe.Sizeof(Word{}))

// kind says how a word and those after it are read. The kinds and their meaning are in torchjit.h.
type kind uint8

const (
	kindNone kind = iota
	kindBool
	kindInt
	kindFloat
	kindComplex
	kindString
	kindBytes
	kindList
	kindTuple
	kindSize
	kindDict
	kindSlice
	kindEllipsis
	kindToken
	kindHandle
	kindCallable
	kindObject
	kindConstruct
	kindMissing
	kindDeclined
)

// NumKinds is the number of kinds; those of torchjit.h are as many, in the same order.
const NumKinds = int(kindDeclined) + 1

var kindNames = map[kind]string{
	kindNone: "NoneType", kindBool: "bool", kindInt: "int", kindFloat: "float", kindComplex: "complex",
	kindString: "str", kindBytes: "bytes", kindList: "list", kindTuple: "tuple", kindSize: "Size",
	kindDict: "dict", kindSlice: "slice", kindEllipsis: "ellipsis", kindCallable: "function", kindObject: "object",
	kindMissing: "nothing",
}

func (w *Word) kind() kind { return kind(w.tag) }

// numberTypes are the element types of numbers that come from NumPy, by the numbers of tj_numpy_type, which the shim writes above their kind.
var numberTypes = [...]tensor.DType{
	tensor.NoDType, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Float16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128,
}

// numberType is the element type that a number came with, NoDType for Python's own numbers and other words.
func (w *Word) numberType() tensor.DType {
	if n := w.count(); n != 0 && (w.kind() == kindInt || w.kind() == kindFloat || w.kind() == kindComplex) {
		return numberTypes[n]
	}
	return tensor.NoDType
}

// count is the number of elements or bytes, or the class number of a token.
func (w *Word) count() int { return int(w.tag >> 8) }

func (w *Word) int() int64 { return int64(w.bits) }

func (w *Word) float() float64 { return math.Float64frombits(w.bits) }

func (w *Word) bool() bool { return w.bits != 0 }

func (w *Word) pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&w.bits)) }

// after returns the word n places on.
func (w *Word) after(n int) *Word { return (*Word)(unsafe.Add(unsafe.Pointer(w), n*wordSize)) }

// text returns the bytes of a string word. They are borrowed: valid until the call ends.
func (w *Word) text() string {
	p := w.pointer()
	if p == nil {
		p = unsafe.Pointer(w.after(1))
	}
	return unsafe.String((*byte)(p), w.count())
}

func (w *Word) complex() complex128 { return complex(w.float(), w.after(1).float()) }

// longKinds are the kinds, as bits, of which more words may follow the first.
const longKinds = 1<<kindComplex | 1<<kindString | 1<<kindBytes | 1<<kindList | 1<<kindTuple | 1<<kindSize | 1<<kindDict | 1<<kindSlice | 1<<kindConstruct

// next returns the word behind the value that starts at w.
func (w *Word) next() *Word {
	if longKinds>>w.kind()&1 == 0 {
		return w.after(1)
	}
	return w.afterLong()
}

func (w *Word) afterLong() *Word {
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
func (w *Word) skip(n int) *Word {
	for range n {
		w = w.next()
	}
	return w
}

// items calls yield for each element of a list, tuple or size until it returns false.
func (w *Word) items(yield func(*Word) bool) {
	x := w.after(1)
	for range w.count() {
		if !yield(x) {
			return
		}
		x = x.next()
	}
}

// isSequence reports whether w starts a list, tuple or size.
func (w *Word) isSequence() bool {
	k := w.kind()
	return k == kindList || k == kindTuple || k == kindSize
}

// writer appends words to memory of C: first the caller's, then memory of malloc that reply owns.
type writer struct {
	words   []Word // len: written; cap: room
	reply   *Reply
	keeping bool // something besides Python holds the tensors that are written
}

func newWriter(reply *Reply) writer {
	return writer{unsafe.Slice((*Word)(reply.Words.pointer()), int(reply.Cap))[:0], reply, false}
}

// finish tells the reply how many words there are.
func (w *writer) finish() { w.reply.Len = int64(len(w.words)) }

// reset forgets what was written.
func (w *writer) reset() { w.words = w.words[:0] }

func (w *writer) grow(more int) {
	room := max(2*cap(w.words), len(w.words)+more)
	p := embedder.Allocate(room * wordSize)
	grown := unsafe.Slice((*Word)(p), room)[:len(w.words)]
	copy(grown, w.words)
	if w.reply.Owned != 0 {
		embedder.Free(w.reply.Words.pointer())
	}
	w.words = grown
	w.reply.Words, w.reply.Cap, w.reply.Owned = addressOf(p), int64(room), 1
}

func (w *writer) put(tag int64, bits uint64) {
	n := len(w.words)
	if n == cap(w.words) {
		w.grow(1)
	}
	w.words = w.words[:n+1]
	w.words[n] = Word{tag, bits}
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
	embedder.Retain(o.pointer)
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
func (w *writer) copy(x *Word) {
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
			embedder.Retain(x.pointer())
			w.put(x.tag, x.bits)
		default:
			w.put(x.tag, x.bits)
		}
		x = x.after(1)
	}
}
