package value

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// List is a mutable list, shared by all who hold it.
type List struct {
	Elem  types.Type
	Items []Value
}

// NewList returns a list of items of a type. The slice is kept, not copied.
func NewList(elem types.Type, items ...Value) *List { return &List{Elem: elem, Items: items} }

// shortList is a list with room for its items, in one allocation.
type shortList struct {
	List
	room [4]Value
}

// listOf returns a list of n items to be set.
func listOf(elem types.Type, n int) *List {
	if n > len(shortList{}.room) {
		return &List{Elem: elem, Items: make([]Value, n)}
	}
	l := &shortList{List: List{Elem: elem}}
	l.Items = l.room[:n]
	return &l.List
}

// Ints returns a list of integers.
func Ints(xs []int) *List {
	l := listOf(types.Int, len(xs))
	for i, x := range xs {
		l.Items[i] = Int(int64(x))
	}
	return l
}

// Tensors returns a list of tensors.
func Tensors(ts []*tensor.Tensor) *List {
	l := listOf(types.Tensor, len(ts))
	for i, t := range ts {
		l.Items[i] = OfTensor(t)
	}
	return l
}

// OptionalTensors returns a list of tensors, nil for None, such as indices are.
func OptionalTensors(ts []*tensor.Tensor) *List {
	l := listOf(types.NewOptional(types.Tensor), len(ts))
	for i, t := range ts {
		l.Items[i], _ = From(t)
	}
	return l
}

// AppendInts appends the integers that l holds to dst and returns it.
func (l *List) AppendInts(dst []int) []int {
	for _, v := range l.Items {
		dst = append(dst, int(v.Int()))
	}
	return dst
}

// Tuple is an immutable tuple. Type may be nil: then it is the types of the items.
type Tuple struct {
	Type  *types.Tuple
	Items []Value
}

// NewTuple returns a tuple without a declared type.
func NewTuple(items ...Value) *Tuple { return &Tuple{Items: items} }

// Dict is a mutable dictionary that keeps the order of insertion, shared by all who hold it. Keys
// are strings, ints, floats, bools, complex numbers or tensors (by identity).
type Dict struct {
	Key, Elem types.Type
	entries   []entry
	index     map[dictKey]int
	live      int
}

type entry struct {
	key, val Value
	deleted  bool
}

// dictKey is a key in comparable form: equal keys in the sense of Python are equal.
type dictKey struct {
	kind Kind
	bits uint64
	more uint64
	text string
	ref  *tensor.Tensor
}

func keyOf(v Value) dictKey {
	switch k := v.Kind(); k {
	case KindString:
		return dictKey{kind: k, text: v.Str()}
	case KindFloat:
		f := v.Float()
		if f == 0 {
			f = 0 // -0.0 and 0.0 are one key
		}
		return dictKey{kind: k, bits: math.Float64bits(f)}
	case KindComplex:
		c := v.Complex()
		return dictKey{kind: k, bits: math.Float64bits(real(c)), more: math.Float64bits(imag(c))}
	case KindTensor:
		return dictKey{kind: k, ref: v.Tensor()}
	default:
		return dictKey{kind: k, bits: v.bits}
	}
}

// NewDict returns an empty dictionary.
func NewDict(key, elem types.Type) *Dict {
	return &Dict{Key: key, Elem: elem, index: map[dictKey]int{}}
}

// Len returns the number of entries.
func (d *Dict) Len() int { return d.live }

// Get returns the value at key.
func (d *Dict) Get(key Value) (v Value, ok bool) {
	i, ok := d.index[keyOf(key)]
	if !ok {
		return None, false
	}
	return d.entries[i].val, true
}

// Set sets the value at key; a new key goes to the end.
func (d *Dict) Set(key, v Value) {
	k := keyOf(key)
	if i, ok := d.index[k]; ok {
		d.entries[i].val = v
		return
	}
	d.index[k] = len(d.entries)
	d.entries = append(d.entries, entry{key: key, val: v})
	d.live++
}

// Delete removes key and reports whether it was there.
func (d *Dict) Delete(key Value) bool {
	k := keyOf(key)
	i, ok := d.index[k]
	if !ok {
		return false
	}
	delete(d.index, k)
	d.entries[i] = entry{deleted: true}
	d.live--
	if len(d.entries) > 32 && d.live < len(d.entries)/2 {
		d.compact()
	}
	return true
}

func (d *Dict) compact() {
	kept := d.entries[:0]
	for _, e := range d.entries {
		if !e.deleted {
			d.index[keyOf(e.key)] = len(kept)
			kept = append(kept, e)
		}
	}
	clear(d.entries[len(kept):])
	d.entries = kept
}

// Clear removes all entries.
func (d *Dict) Clear() {
	clear(d.index)
	d.entries, d.live = nil, 0
}

// All calls yield for each entry in order until it returns false. It can be ranged over.
func (d *Dict) All(yield func(key, v Value) bool) {
	for i := range d.entries {
		if e := &d.entries[i]; !e.deleted && !yield(e.key, e.val) {
			return
		}
	}
}

// Copy returns a dictionary with the same entries.
func (d *Dict) Copy() *Dict {
	c := NewDict(d.Key, d.Elem)
	for k, v := range d.All {
		c.Set(k, v)
	}
	return c
}
