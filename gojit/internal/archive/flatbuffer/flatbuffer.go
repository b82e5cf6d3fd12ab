// Package flatbuffer writes and reads FlatBuffers: tables, vectors and texts in one piece of memory that refer to each other by offsets.
package flatbuffer

import (
	"encoding/binary"
	"math"
)

// Limit is how many bytes a buffer can have: offsets of its readers are signed.
const Limit = math.MaxInt32

// Writer writes a buffer from its beginning: what is referred to comes behind what refers to it.
type Writer struct{ b []byte }

// Ref writes something and returns where it begins.
type Ref func(w *Writer) int

// Field is one of a table: a number of some bytes, or a reference. The zero field is absent.
type Field struct {
	size int
	bits uint64
	ref  Ref
}

// Uint8 returns a field of one byte.
func Uint8(x uint8) Field { return Field{size: 1, bits: uint64(x)} }

// Bool returns a field of a truth value.
func Bool(x bool) Field {
	if x {
		return Uint8(1)
	}
	return Uint8(0)
}

// Int32 returns a field of four bytes with a sign.
func Int32(x int32) Field { return Field{size: 4, bits: uint64(uint32(x))} }

// Uint32 returns a field of four bytes without a sign.
func Uint32(x uint32) Field { return Field{size: 4, bits: uint64(x)} }

// Float64 returns a field of a double.
func Float64(x float64) Field { return Field{size: 8, bits: math.Float64bits(x)} }

// To returns a field that refers to what is written.
func To(ref Ref) Field { return Field{size: 4, ref: ref} }

// Text returns a field that refers to a text.
func Text(s string) Field { return To(func(w *Writer) int { return w.Text(s) }) }

// Finish returns a buffer whose root is a table, with an identifier of four letters.
func Finish(identifier string, fields ...Field) []byte {
	w := &Writer{b: append(make([]byte, 4, 1<<12), identifier...)}
	w.refer(0, w.Table(fields...))
	return w.b
}

func (w *Writer) pad(alignment int) {
	for len(w.b)%alignment != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *Writer) refer(at, to int) { binary.LittleEndian.PutUint32(w.b[at:], uint32(to-at)) }

// Table writes a table of fields, and what they refer to behind it.
func (w *Writer) Table(fields ...Field) int {
	offsets, end, widest := make([]int, len(fields)), 4, 4
	for i, f := range fields {
		if f.size > 0 {
			end = (end + f.size - 1) / f.size * f.size
			offsets[i] = end
			end += f.size
			widest = max(widest, f.size)
		}
	}
	w.pad(2)
	directory := len(w.b)
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(4+2*len(fields)))
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(end))
	for _, offset := range offsets {
		w.b = binary.LittleEndian.AppendUint16(w.b, uint16(offset))
	}
	w.pad(widest)
	at := len(w.b)
	w.b = append(w.b, make([]byte, end)...)
	binary.LittleEndian.PutUint32(w.b[at:], uint32(at-directory))
	for i, f := range fields {
		place := w.b[at+offsets[i]:]
		switch {
		case f.ref != nil:
		case f.size == 1:
			place[0] = byte(f.bits)
		case f.size == 4:
			binary.LittleEndian.PutUint32(place, uint32(f.bits))
		case f.size == 8:
			binary.LittleEndian.PutUint64(place, f.bits)
		}
	}
	for i, f := range fields {
		if f.ref != nil {
			w.refer(at+offsets[i], f.ref(w))
		}
	}
	return at
}

// Text writes a text.
func (w *Writer) Text(s string) int {
	w.pad(4)
	at := len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(s)))
	w.b = append(append(w.b, s...), 0)
	return at
}

// Bytes writes a vector of n elements, which lie at a multiple of alignment.
func (w *Writer) Bytes(n int, data []byte, alignment int) int {
	for w.pad(4); (len(w.b)+4)%alignment != 0; {
		w.b = append(w.b, 0, 0, 0, 0)
	}
	at := len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(n))
	w.b = append(w.b, data...)
	return at
}

// Struct writes the bytes of a struct, which lie at a multiple of alignment.
func (w *Writer) Struct(data []byte, alignment int) int {
	w.pad(alignment)
	at := len(w.b)
	w.b = append(w.b, data...)
	return at
}

// Refs writes a vector of references.
func (w *Writer) Refs(refs []Ref) int {
	w.pad(4)
	at := len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(refs)))
	w.b = append(w.b, make([]byte, 4*len(refs))...)
	for i, ref := range refs {
		w.refer(at+4+4*i, ref(w))
	}
	return at
}

// Malformed is how reading fails: methods of Reader panic with it.
type Malformed string

func (m Malformed) Error() string { return string(m) }

// Reader reads a buffer. Nothing outside of it is read: what leads there fails.
type Reader struct{ b []byte }

// Table is a table of a buffer. Its methods return zeros and nothing for absent fields.
type Table struct {
	r         *Reader
	at        int
	directory []byte
}

// Open returns the root of a buffer.
func Open(b []byte) Table {
	r := &Reader{b}
	return r.table(r.target(0))
}

// Is reports whether a buffer has an identifier.
func Is(b []byte, identifier string) bool {
	return len(b) >= 4+len(identifier) && string(b[4:4+len(identifier)]) == identifier
}

func (r *Reader) part(at, n int) []byte {
	if at < 0 || n < 0 || at > len(r.b) || n > len(r.b)-at {
		panic(Malformed("an offset leads out of the file"))
	}
	return r.b[at : at+n]
}

func (r *Reader) uint32(at int) int { return int(binary.LittleEndian.Uint32(r.part(at, 4))) }

// target returns where a reference leads.
func (r *Reader) target(at int) int { return at + r.uint32(at) }

func (r *Reader) table(at int) Table {
	directory := at - int(int32(r.uint32(at)))
	size := int(binary.LittleEndian.Uint16(r.part(directory, 2)))
	if size < 4 {
		panic(Malformed("the directory of a table is too small"))
	}
	return Table{r, at, r.part(directory, size)[4:]}
}

// field returns where a field is, -1 where it is absent.
func (t Table) field(i int) int {
	if 2*i+2 > len(t.directory) {
		return -1
	}
	offset := int(binary.LittleEndian.Uint16(t.directory[2*i:]))
	if offset == 0 {
		return -1
	}
	return t.at + offset
}

// Has reports whether a field is there.
func (t Table) Has(i int) bool { return t.field(i) >= 0 }

// Uint8 returns a field of one byte.
func (t Table) Uint8(i int) uint8 {
	if at := t.field(i); at >= 0 {
		return t.r.part(at, 1)[0]
	}
	return 0
}

// Int32 returns a field of four bytes with a sign, absent where it is not there.
func (t Table) Int32(i int, absent int32) int32 {
	if at := t.field(i); at >= 0 {
		return int32(t.r.uint32(at))
	}
	return absent
}

// Uint32 returns a field of four bytes without a sign.
func (t Table) Uint32(i int) int {
	if at := t.field(i); at >= 0 {
		return t.r.uint32(at)
	}
	return 0
}

// Float64 returns a field of a double.
func (t Table) Float64(i int) float64 {
	if at := t.field(i); at >= 0 {
		return math.Float64frombits(binary.LittleEndian.Uint64(t.r.part(at, 8)))
	}
	return 0
}

// Table returns the table that a field refers to. It fails where the field is absent.
func (t Table) Table(i int) Table { return t.r.table(t.r.target(t.must(i))) }

// Struct returns n bytes of the struct that a field refers to. It fails where the field is absent.
func (t Table) Struct(i, n int) []byte { return t.r.part(t.r.target(t.must(i)), n) }

func (t Table) must(i int) int {
	at := t.field(i)
	if at < 0 {
		panic(Malformed("a table lacks a field"))
	}
	return at
}

// Text returns the text that a field refers to, "" where it is absent.
func (t Table) Text(i int) string { return string(t.Bytes(i, 1)) }

// Bytes returns the vector of elements of a size that a field refers to.
func (t Table) Bytes(i, size int) []byte {
	at := t.field(i)
	if at < 0 {
		return nil
	}
	at = t.r.target(at)
	n := t.r.uint32(at)
	if n > Limit/size {
		panic(Malformed("a vector has too many elements"))
	}
	return t.r.part(at+4, n*size)
}

// Uint32s returns a vector of numbers of four bytes.
func (t Table) Uint32s(i int) []int {
	data := t.Bytes(i, 4)
	out := make([]int, len(data)/4)
	for k := range out {
		out[k] = int(binary.LittleEndian.Uint32(data[4*k:]))
	}
	return out
}

// Refs returns where the references of a vector lead.
func (t Table) Refs(i int) []int {
	at := t.field(i)
	if at < 0 {
		return nil
	}
	out := t.Uint32s(i)
	at = t.r.target(at) + 4
	for k := range out {
		out[k] += at + 4*k
	}
	return out
}

// Tables returns the tables of a vector.
func (t Table) Tables(i int) []Table {
	refs := t.Refs(i)
	out := make([]Table, len(refs))
	for k, at := range refs {
		out[k] = t.r.table(at)
	}
	return out
}

// Texts returns the texts of a vector.
func (t Table) Texts(i int) []string {
	refs := t.Refs(i)
	out := make([]string, len(refs))
	for k, at := range refs {
		out[k] = string(t.r.part(at+4, t.r.uint32(at)))
	}
	return out
}
