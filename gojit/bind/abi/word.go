package abi

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Word is a tj_word: a kind and a count in tag, a payload in bits.
type Word struct {
	tag  int64
	Bits uint64
}

const wordSize = int(unsafe.Sizeof(Word{}))

// Kind says how a word and those after it are read. The kinds and their meaning are in torchjit.h.
type Kind uint8

// The kinds.
const (
	KindNone Kind = iota
	KindBool
	KindInt
	KindFloat
	KindComplex
	KindString
	KindBytes
	KindList
	KindTuple
	KindSize
	KindDict
	KindSlice
	KindEllipsis
	KindToken
	KindHandle
	KindCallable
	KindObject
	KindConstruct
	KindMissing
	KindDeclined
)

// NumKinds is the number of kinds; those of torchjit.h are as many, in the same order.
const NumKinds = int(KindDeclined) + 1

var kindNames = map[Kind]string{
	KindNone: "NoneType", KindBool: "bool", KindInt: "int", KindFloat: "float", KindComplex: "complex",
	KindString: "str", KindBytes: "bytes", KindList: "list", KindTuple: "tuple", KindSize: "Size",
	KindDict: "dict", KindSlice: "slice", KindEllipsis: "ellipsis", KindCallable: "function", KindObject: "object",
	KindMissing: "nothing",
}

// Kind is the kind of the word.
func (w *Word) Kind() Kind { return Kind(w.tag) }

// numberTypes are the element types of numbers that come from NumPy, by the numbers of tj_numpy_type, which the shim writes above their kind.
var numberTypes = [...]tensor.DType{
	tensor.NoDType, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Float16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128,
}

// NumberType is the element type that a number came with, NoDType for Python's own numbers and other words.
func (w *Word) NumberType() tensor.DType {
	if n := w.Count(); n != 0 && (w.Kind() == KindInt || w.Kind() == KindFloat || w.Kind() == KindComplex) {
		return numberTypes[n]
	}
	return tensor.NoDType
}

// Count is the number of elements or bytes, or the class number of a token.
func (w *Word) Count() int { return int(w.tag >> 8) }

// Int is the payload of an int.
func (w *Word) Int() int64 { return int64(w.Bits) }

// Float is the payload of a float.
func (w *Word) Float() float64 { return math.Float64frombits(w.Bits) }

// Bool is the payload of a bool.
func (w *Word) Bool() bool { return w.Bits != 0 }

func (w *Word) pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&w.Bits)) }

// After returns the word n places on.
func (w *Word) After(n int) *Word { return (*Word)(unsafe.Add(unsafe.Pointer(w), n*wordSize)) }

// Text returns the bytes of a string word. They are borrowed: valid until the call ends.
func (w *Word) Text() string {
	p := w.pointer()
	if p == nil {
		p = unsafe.Pointer(w.After(1))
	}
	return unsafe.String((*byte)(p), w.Count())
}

func (w *Word) complex() complex128 { return complex(w.Float(), w.After(1).Float()) }

// longKinds are the kinds, as bits, of which more words may follow the first.
const longKinds = 1<<KindComplex | 1<<KindString | 1<<KindBytes | 1<<KindList | 1<<KindTuple | 1<<KindSize | 1<<KindDict | 1<<KindSlice | 1<<KindConstruct

// Next returns the word behind the value that starts at w.
func (w *Word) Next() *Word {
	if longKinds>>w.Kind()&1 == 0 {
		return w.After(1)
	}
	return w.afterLong()
}

func (w *Word) afterLong() *Word {
	switch w.Kind() {
	case KindComplex:
		return w.After(2)
	case KindString, KindBytes:
		if w.Bits == 0 {
			return w.After(1 + (w.Count()+wordSize-1)/wordSize)
		}
	case KindList, KindTuple, KindSize:
		return w.After(1).Skip(w.Count())
	case KindDict:
		return w.After(1).Skip(2 * w.Count())
	case KindSlice:
		return w.After(1).Skip(3)
	case KindConstruct:
		return w.After(1).Skip(1 + w.Count())
	}
	return w.After(1)
}

// Skip returns the word behind the n values that start at w.
func (w *Word) Skip(n int) *Word {
	for range n {
		w = w.Next()
	}
	return w
}

// Items calls yield for each element of a list, tuple or size until it returns false.
func (w *Word) Items(yield func(*Word) bool) {
	x := w.After(1)
	for range w.Count() {
		if !yield(x) {
			return
		}
		x = x.Next()
	}
}

// IsSequence reports whether w starts a list, tuple or size.
func (w *Word) IsSequence() bool {
	k := w.Kind()
	return k == KindList || k == KindTuple || k == KindSize
}

// Writer appends words to memory of C: first the caller's, then memory of malloc that reply owns.
type Writer struct {
	words   []Word // len: written; cap: room
	reply   *Reply
	keeping bool // something besides Python holds the tensors that are written
}

func newWriter(reply *Reply) Writer {
	return Writer{unsafe.Slice((*Word)(reply.Words.Pointer()), int(reply.Cap))[:0], reply, false}
}

// finish tells the reply how many words there are.
func (w *Writer) finish() { w.reply.Len = int64(len(w.words)) }

// reset forgets what was written.
func (w *Writer) reset() { w.words = w.words[:0] }

func (w *Writer) grow(more int) {
	room := max(2*cap(w.words), len(w.words)+more)
	p := Attached.Allocate(room * wordSize)
	grown := unsafe.Slice((*Word)(p), room)[:len(w.words)]
	copy(grown, w.words)
	if w.reply.Owned != 0 {
		Attached.Free(w.reply.Words.Pointer())
	}
	w.words = grown
	w.reply.Words, w.reply.Cap, w.reply.Owned = addressOf(p), int64(room), 1
}

func (w *Writer) put(tag int64, bits uint64) {
	n := len(w.words)
	if n == cap(w.words) {
		w.grow(1)
	}
	w.words = w.words[:n+1]
	w.words[n] = Word{tag, bits}
}

// Open begins a value of a kind with n parts or bytes, which follow.
func (w *Writer) Open(k Kind, n int) { w.put(int64(k)|int64(n)<<8, 0) }

// None writes None.
func (w *Writer) None() { w.put(int64(KindNone), 0) }

// Declined replies that a method declines its argument.
func (w *Writer) Declined() { w.put(int64(KindDeclined), 0) }

// Int writes an int.
func (w *Writer) Int(i int) { w.put(int64(KindInt), uint64(i)) }

// Int64 writes an int.
func (w *Writer) Int64(i int64) { w.put(int64(KindInt), uint64(i)) }

// Float writes a float.
func (w *Writer) Float(f float64) { w.put(int64(KindFloat), math.Float64bits(f)) }

// Bool writes a bool.
func (w *Writer) Bool(b bool) {
	if b {
		w.put(int64(KindBool), 1)
	} else {
		w.put(int64(KindBool), 0)
	}
}

func (w *Writer) complex(c complex128) {
	w.put(int64(KindComplex), math.Float64bits(real(c)))
	w.put(int64(KindComplex), math.Float64bits(imag(c)))
}

// String writes a string.
func (w *Writer) String(s string) { w.Bytes(KindString, s) }

// Bytes writes a string or bytes word with its bytes in line.
func (w *Writer) Bytes(k Kind, s string) {
	w.Open(k, len(s))
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

// Ints writes ints as a list or another sequence.
func (w *Writer) Ints(k Kind, xs []int) {
	w.Open(k, len(xs))
	for _, x := range xs {
		w.Int(x)
	}
}

// Strings writes a list of strings.
func (w *Writer) Strings(xs []string) {
	w.Open(KindList, len(xs))
	for _, x := range xs {
		w.String(x)
	}
}

// Token writes a token.
func (w *Writer) Token(class TokenClass, code int64) {
	w.put(int64(KindToken)|int64(class)<<8, uint64(code))
}

// Object writes a Python object with a reference of its own, which the reader takes over.
func (w *Writer) Object(o *Object) {
	Attached.Retain(o.Pointer)
	w.put(int64(KindObject), uint64(uintptr(o.Pointer)))
	runtime.KeepAlive(o)
}

// TokenClass numbers the closed sets whose values are tokens; torchjit/_types.py has the same numbers.
type TokenClass int64

// The classes of tokens.
const (
	TokenDType TokenClass = iota
	TokenDevice
	TokenLayout
	TokenMemoryFormat
)

// Copy writes the value that starts at x.
func (w *Writer) Copy(x *Word) {
	for end := x.Next(); uintptr(unsafe.Pointer(x)) < uintptr(unsafe.Pointer(end)); {
		switch x.Kind() {
		case KindString, KindBytes:
			w.Bytes(x.Kind(), x.Text())
			x = x.Next()
			continue
		case KindHandle:
			w.put(x.tag|int64(handleClassOf(x.Content()))<<8, x.Bits)
		case KindCallable:
			w.Function(x.Callable())
		case KindObject:
			Attached.Retain(x.pointer())
			w.put(x.tag, x.Bits)
		default:
			w.put(x.tag, x.Bits)
		}
		x = x.After(1)
	}
}

// Entries calls yield for the pairs in a dict's words until it returns false.
func (w *Word) Entries(yield func(key string, item *Word) bool) {
	x := w.After(1)
	for range w.Count() {
		item := x.Next()
		if !yield(x.Text(), item) {
			return
		}
		x = item.Next()
	}
}

// Fields returns the elements of a tuple.
func (w *Word) Fields() []*Word {
	var out []*Word
	for x := range w.Items {
		out = append(out, x)
	}
	return out
}
