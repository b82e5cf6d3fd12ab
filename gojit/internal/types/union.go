package types

import (
	"sort"
	"strings"
)

// Union is the type of values of any of Elems, which are at least two, none a subtype of another,
// in a fixed order. Optional is used instead where the only other member is None.
type Union struct{ Elems []Type }

// NewUnion returns the union of elems: flattened, without members that others cover, ordered by
// kind and then by name. It may be a plain type or an Optional where that says the same.
func NewUnion(elems ...Type) Type {
	var flat []Type
	for _, e := range elems {
		flat = flattenUnion(flat, e)
	}
	var kept []Type
	for i, e := range flat {
		covered := false
		for j, other := range flat {
			if i != j && IsSubtype(e, other) && (!IsSubtype(other, e) || j < i) {
				covered = true
				break
			}
		}
		if !covered {
			kept = append(kept, e)
		}
	}
	if len(kept) == 1 {
		return kept[0]
	}
	sort.SliceStable(kept, func(i, j int) bool {
		a, b := unionOrder[kept[i].Kind()], unionOrder[kept[j].Kind()]
		if a != b {
			return a < b
		}
		return kept[i].String() < kept[j].String()
	})
	kept = joinNumbers(kept)
	if len(kept) == 1 {
		return kept[0]
	}
	if len(kept) == 2 {
		for i, e := range kept {
			if e.Kind() == KindNone {
				return NewOptional(kept[1-i])
			}
		}
	}
	return &Union{kept}
}

// joinNumbers replaces int, float and complex by the type of numbers, where there is nothing else
// but None: any other union keeps them and prints them as one.
func joinNumbers(kept []Type) []Type {
	var others []Type
	for _, e := range kept {
		if !isNumber(e) {
			others = append(others, e)
		}
	}
	if len(kept)-len(others) != 3 || len(others) > 1 || len(others) == 1 && others[0].Kind() != KindNone {
		return kept
	}
	return append([]Type{Number}, others...)
}

func flattenUnion(flat []Type, t Type) []Type {
	switch t := t.(type) {
	case *Union:
		for _, e := range t.Elems {
			flat = flattenUnion(flat, e)
		}
		return flat
	case *Optional:
		return append(flattenUnion(flat, t.Elem), None)
	}
	return append(flat, t)
}

// unionOrder is the order of members of a union by kind.
var unionOrder = func() map[Kind]int {
	m := map[Kind]int{}
	for i, k := range []Kind{
		KindAny, KindEnum, KindAnyEnum, KindTensor, KindStorage, KindTuple, KindList, KindDict,
		KindNumber, KindFloat, KindComplex, KindFuture, KindAwait, KindRRef, KindInt, KindNone, KindString,
		KindGenerator, KindQuantizer, KindBool, KindOptional, KindVar, KindDevice, KindStream,
		KindFunction, KindClass, KindPyObject, KindCapsule, KindInterface, KindQScheme,
		KindAnyList, KindAnyTuple, KindAnyClass, KindScalarType, KindLayout, KindMemoryFormat,
		KindSymInt,
	} {
		m[k] = i
	}
	return m
}()

// Kind implements Type.
func (*Union) Kind() Kind { return KindUnion }

// String implements Type.
func (u *Union) String() string { return "Union(" + strings.Join(u.parts(Type.String), ", ") + ")" }

// Annotation implements Type.
func (u *Union) Annotation(rename Renamer) string {
	parts := u.parts(func(t Type) string { return t.Annotation(rename) })
	return "Union[" + strings.Join(parts, ", ") + "]"
}

// parts prints the members; int, float and complex together print as the number type, last.
func (u *Union) parts(print func(Type) string) []string {
	numbers := 0
	for _, e := range u.Elems {
		if isNumber(e) {
			numbers++
		}
	}
	var parts []string
	for _, e := range u.Elems {
		if numbers == 3 && isNumber(e) {
			continue
		}
		parts = append(parts, print(e))
	}
	if numbers == 3 {
		parts = append(parts, print(Number))
	}
	return parts
}

func isNumber(t Type) bool {
	return t.Kind() == KindInt || t.Kind() == KindFloat || t.Kind() == KindComplex
}

// CanHold reports whether a value of type t is a value of the union.
func (u *Union) CanHold(t Type) bool {
	if t.Kind() == KindNumber {
		return u.CanHold(Int) && u.CanHold(Float) && u.CanHold(Complex)
	}
	for _, e := range u.Elems {
		if IsSubtype(t, e) {
			return true
		}
	}
	return false
}

// Members returns the alternatives of an Optional or Union, else t itself.
func Members(t Type) []Type {
	switch t := t.(type) {
	case *Optional:
		return append(append([]Type{}, Members(t.Elem)...), None)
	case *Union:
		return t.Elems
	}
	return []Type{t}
}

// Without returns t without the members that are subtypes of any of removed, or nil where nothing
// is left.
func Without(t Type, removed ...Type) Type {
	var left []Type
	for _, m := range Members(t) {
		covered := false
		for _, r := range removed {
			covered = covered || IsSubtype(m, r)
		}
		if !covered {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return NewUnion(left...)
}
