package interp

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// class is what a register can hold.
type class uint8

const (
	classAny class = iota
	classInt
	classFloat
	classBool
	numClasses
)

func classOf(t types.Type) class {
	switch t.Kind() {
	case types.KindInt:
		return classInt
	case types.KindFloat:
		return classFloat
	case types.KindBool:
		return classBool
	}
	return classAny
}

// initial is what a register holds before it is written.
var initial = [numClasses]value.Value{
	classAny: value.None, classInt: value.Int(0), classFloat: value.Float(0), classBool: value.Bool(false),
}

// allocator gives registers to values and takes them back when the values are dead.
type allocator struct {
	template []value.Value
	classes  []class
	free     [numClasses][]int32
	of       map[*ir.Value]int32
	pool     map[constantKey]int32 // registers of scalar and string constants
	fixed    map[int32]bool        // registers that are never given back: constants
}

// constantKey makes equal scalars and strings of one kind share a register.
type constantKey struct {
	kind value.Kind
	bits uint64
	text string
}

func newAllocator() *allocator {
	return &allocator{of: map[*ir.Value]int32{}, pool: map[constantKey]int32{}, fixed: map[int32]bool{}}
}

// fresh returns a register that has never been used.
func (a *allocator) fresh(c class) int32 {
	a.template = append(a.template, initial[c])
	a.classes = append(a.classes, c)
	return int32(len(a.template) - 1)
}

// take returns a free register of a class, hint if that is one.
func (a *allocator) take(c class, hint int32) int32 {
	free := a.free[c]
	if len(free) == 0 {
		return a.fresh(c)
	}
	at := len(free) - 1
	if hint >= 0 {
		if i := slices.Index(free, hint); i >= 0 {
			at = i
		}
	}
	r := free[at]
	a.free[c] = append(free[:at], free[at+1:]...)
	return r
}

// block returns n fresh registers in a row, of the classes of the values.
func (a *allocator) block(vs []*ir.Value) int32 {
	first := int32(len(a.template))
	for _, v := range vs {
		a.of[v] = a.fresh(classOf(v.Type()))
	}
	return first
}

// define gives v a register, hint where that is possible.
func (a *allocator) define(v *ir.Value, hint int32) int32 {
	r := a.take(classOf(v.Type()), hint)
	a.of[v] = r
	return r
}

// release takes the register of v back.
func (a *allocator) release(v *ir.Value) {
	if r, ok := a.of[v]; ok && !a.fixed[r] {
		a.give(r)
	}
}

func (a *allocator) give(r int32) { a.free[a.classes[r]] = append(a.free[a.classes[r]], r) }

// constant returns the register that holds a constant.
func (a *allocator) constant(c value.Value) int32 {
	key := constantKey{kind: c.Kind()}
	switch c.Kind() {
	case value.KindNone, value.KindBool, value.KindInt, value.KindFloat, value.KindDevice:
		key.bits = c.Bits()
	case value.KindString:
		key.text = c.Str()
	default:
		return a.newConstant(c)
	}
	if r, ok := a.pool[key]; ok {
		return r
	}
	r := a.newConstant(c)
	a.pool[key] = r
	return r
}

func (a *allocator) newConstant(c value.Value) int32 {
	r := a.fresh(classOf(value.TypeOf(c)))
	a.template[r] = c
	a.fixed[r] = true
	return r
}

// saved is the free registers at some point.
type saved [numClasses][]int32

func (a *allocator) save() (s saved) {
	for c := range a.free {
		s[c] = append([]int32(nil), a.free[c]...)
	}
	return s
}

// restore makes the registers that were free at the save free again, and those that have been made
// since.
func (a *allocator) restore(s saved, madeSince int) {
	for c := range a.free {
		a.free[c] = append([]int32(nil), s[c]...)
	}
	for r := madeSince; r < len(a.template); r++ {
		if !a.fixed[int32(r)] {
			a.give(int32(r))
		}
	}
}

// reserve takes a register off the free ones if it is among them.
func (a *allocator) reserve(r int32) {
	free := a.free[a.classes[r]]
	for i, f := range free {
		if f == r {
			a.free[a.classes[r]] = append(free[:i], free[i+1:]...)
			return
		}
	}
}
