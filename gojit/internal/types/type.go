// Package types holds the static types of the language: what they are, how they print, and which
// of them stand for which.
//
// A Type is immutable after it is made, except that a Class gains attributes and methods while it
// is being compiled. Simple types are package variables (Int, Str, ...); compound types are
// pointers to structs, compared by Equal and not by pointer. Two printed forms exist: String is
// the form of graphs and schemas (`int[]`), Annotation that of Python source (`List[int]`).
// The package knows neither values nor graphs.
package types

import "strings"

// Kind tells types apart.
type Kind uint8

// The kinds of types.
const (
	KindAny Kind = iota
	KindTensor
	KindNone
	KindBool
	KindInt
	KindFloat
	KindComplex
	KindNumber
	KindString
	KindDevice
	KindGenerator
	KindStream
	KindStorage
	KindScalarType
	KindLayout
	KindMemoryFormat
	KindQScheme
	KindSymInt
	KindCapsule
	KindPyObject
	KindQuantizer
	KindAnyList
	KindAnyTuple
	KindAnyClass
	KindAnyEnum
	KindList
	KindTuple
	KindDict
	KindOptional
	KindUnion
	KindFuture
	KindAwait
	KindRRef
	KindVar
	KindClass
	KindInterface
	KindEnum
	KindFunction
)

// Type is a static type.
type Type interface {
	Kind() Kind
	// String is the form in graphs and schemas.
	String() string
	// Annotation is the form in Python source. rename, if not nil, may give another name to a
	// named type.
	Annotation(rename Renamer) string
}

// Renamer gives the name under which a named type is written, or false to keep its own.
type Renamer func(Type) (string, bool)

// Simple is a type without parts.
type Simple struct {
	kind       Kind
	name       string
	annotation string
}

// Kind implements Type.
func (s *Simple) Kind() Kind { return s.kind }

// String implements Type.
func (s *Simple) String() string { return s.name }

// Annotation implements Type.
func (s *Simple) Annotation(Renamer) string { return s.annotation }

// The types without parts.
var (
	Any          Type = &Simple{KindAny, "Any", "Any"}
	None         Type = &Simple{KindNone, "NoneType", "NoneType"}
	Bool         Type = &Simple{KindBool, "bool", "bool"}
	Int          Type = &Simple{KindInt, "int", "int"}
	Float        Type = &Simple{KindFloat, "float", "float"}
	Complex      Type = &Simple{KindComplex, "complex", "complex"}
	Number       Type = &Simple{KindNumber, "Scalar", "number"}
	Str          Type = &Simple{KindString, "str", "str"}
	Device       Type = &Simple{KindDevice, "Device", "Device"}
	Generator    Type = &Simple{KindGenerator, "Generator", "Generator"}
	Stream       Type = &Simple{KindStream, "Stream", "Stream"}
	Storage      Type = &Simple{KindStorage, "Storage", "Storage"}
	ScalarType   Type = &Simple{KindScalarType, "ScalarType", "ScalarType"}
	Layout       Type = &Simple{KindLayout, "Layout", "Layout"}
	MemoryFormat Type = &Simple{KindMemoryFormat, "MemoryFormat", "MemoryFormat"}
	QScheme      Type = &Simple{KindQScheme, "QScheme", "QScheme"}
	SymInt       Type = &Simple{KindSymInt, "SymInt", "SymInt"}
	Capsule      Type = &Simple{KindCapsule, "Capsule", "Capsule"}
	PyObject     Type = &Simple{KindPyObject, "PyObject", "PyObject"}
	Quantizer    Type = &Simple{KindQuantizer, "Quantizer", "Quantizer"}
	AnyList      Type = &Simple{KindAnyList, "list", "list"}
	AnyTuple     Type = &Simple{KindAnyTuple, "tuple", "tuple"}
	AnyClass     Type = &Simple{KindAnyClass, "AnyClassType", "AnyClassType"}
	AnyEnum      Type = &Simple{KindAnyEnum, "AnyEnumType", "AnyEnumType"}
)

// List is the type of lists of Elem.
type List struct{ Elem Type }

// NewList returns the type of lists of elem.
func NewList(elem Type) *List { return &List{elem} }

// Kind implements Type.
func (*List) Kind() Kind { return KindList }

// String implements Type.
func (l *List) String() string { return l.Elem.String() + "[]" }

// Annotation implements Type.
func (l *List) Annotation(rename Renamer) string { return "List[" + l.Elem.Annotation(rename) + "]" }

// Dict is the type of dictionaries from Key to Value.
type Dict struct{ Key, Value Type }

// NewDict returns the type of dictionaries from key to value.
func NewDict(key, value Type) *Dict { return &Dict{key, value} }

// Kind implements Type.
func (*Dict) Kind() Kind { return KindDict }

// String implements Type.
func (d *Dict) String() string { return "Dict(" + d.Key.String() + ", " + d.Value.String() + ")" }

// Annotation implements Type.
func (d *Dict) Annotation(rename Renamer) string {
	return "Dict[" + d.Key.Annotation(rename) + ", " + d.Value.Annotation(rename) + "]"
}

// Optional is the type of Elem or None. Elem is never Optional itself.
type Optional struct{ Elem Type }

// NewOptional returns the type of elem or None: elem itself where it holds None already.
func NewOptional(elem Type) Type {
	switch e := elem.(type) {
	case *Optional:
		return e
	case *Simple:
		if e.Kind() == KindNone {
			return e
		}
	case *Union:
		return NewUnion(append(append([]Type{}, e.Elems...), None)...)
	}
	return &Optional{elem}
}

// Kind implements Type.
func (*Optional) Kind() Kind { return KindOptional }

// String implements Type.
func (o *Optional) String() string { return o.Elem.String() + "?" }

// Annotation implements Type.
func (o *Optional) Annotation(rename Renamer) string {
	return "Optional[" + o.Elem.Annotation(rename) + "]"
}

// Tuple is the type of tuples; with a Name and Fields it is a named tuple's.
type Tuple struct {
	Elems  []Type
	Name   string   // qualified name of a named tuple, else ""
	Fields []string // field names of a named tuple, else nil
	// Defaults are the defaults of the last len(Defaults) fields: runtime values, which this
	// package does not look into.
	Defaults []any
}

// NewTuple returns the type of tuples of elems.
func NewTuple(elems ...Type) *Tuple { return &Tuple{Elems: elems} }

// Kind implements Type.
func (*Tuple) Kind() Kind { return KindTuple }

// String implements Type.
func (t *Tuple) String() string {
	if t.Name != "" {
		return t.Name
	}
	return "(" + joinTypes(t.Elems, Type.String) + ")"
}

// Annotation implements Type.
func (t *Tuple) Annotation(rename Renamer) string {
	if t.Name != "" {
		return nameOf(t, t.Name, rename)
	}
	if len(t.Elems) == 0 {
		return "Tuple[()]"
	}
	return "Tuple[" + joinTypes(t.Elems, func(e Type) string { return e.Annotation(rename) }) + "]"
}

// FieldIndex returns the position of the named field, or -1.
func (t *Tuple) FieldIndex(name string) int { return indexOf(t.Fields, name) }

// Future is the type of the result of a forked call or, where it is lazy, of one that runs when it is waited for.
type Future struct {
	Elem Type
	Lazy bool
}

// Kind implements Type.
func (f *Future) Kind() Kind {
	if f.Lazy {
		return KindAwait
	}
	return KindFuture
}

func (f *Future) name() string {
	if f.Lazy {
		return "Await"
	}
	return "Future"
}

// String implements Type.
func (f *Future) String() string { return f.name() + "(" + f.Elem.String() + ")" }

// Annotation implements Type.
func (f *Future) Annotation(rename Renamer) string {
	return f.name() + "[" + f.Elem.Annotation(rename) + "]"
}

// RRef is the type of remote references. It appears in schemas only.
type RRef struct{ Elem Type }

// Kind implements Type.
func (*RRef) Kind() Kind { return KindRRef }

// String implements Type.
func (r *RRef) String() string { return "RRef(" + r.Elem.String() + ")" }

// Annotation implements Type.
func (r *RRef) Annotation(rename Renamer) string { return "RRef[" + r.Elem.Annotation(rename) + "]" }

// Var is a type variable of a schema.
type Var struct{ Name string }

// Kind implements Type.
func (*Var) Kind() Kind { return KindVar }

// String implements Type.
func (v *Var) String() string { return v.Name }

// Annotation implements Type.
func (v *Var) Annotation(Renamer) string { return v.Name }

// Function is the type of a function used as a value. Target is the function, which this package
// does not look into.
type Function struct {
	Name   string
	Target any
}

// Kind implements Type.
func (*Function) Kind() Kind { return KindFunction }

// String implements Type.
func (*Function) String() string { return "Function" }

// Annotation implements Type.
func (*Function) Annotation(Renamer) string { return "Function" }

func nameOf(t Type, own string, rename Renamer) string {
	if rename != nil {
		if name, ok := rename(t); ok {
			return name
		}
	}
	return own
}

func joinTypes(ts []Type, print func(Type) string) string {
	parts := make([]string, len(ts))
	for i, t := range ts {
		parts[i] = print(t)
	}
	return strings.Join(parts, ", ")
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// Contained returns the types that t is made of.
func Contained(t Type) []Type {
	switch t := t.(type) {
	case *List:
		return []Type{t.Elem}
	case *Dict:
		return []Type{t.Key, t.Value}
	case *Optional:
		return []Type{t.Elem, None}
	case *Tuple:
		return t.Elems
	case *Union:
		return t.Elems
	case *Future:
		return []Type{t.Elem}
	case *RRef:
		return []Type{t.Elem}
	}
	return nil
}

// HasVars reports whether a type variable occurs in t.
func HasVars(t Type) bool {
	if t.Kind() == KindVar {
		return true
	}
	for _, c := range Contained(t) {
		if HasVars(c) {
			return true
		}
	}
	return false
}

// IsMutable reports whether a value of type t, or something in it, can be changed in place.
func IsMutable(t Type) bool {
	switch t.Kind() {
	case KindTensor, KindList, KindDict, KindClass, KindInterface, KindAny, KindVar, KindAnyList, KindAnyTuple, KindAnyClass,
		KindFuture, KindAwait, KindStorage, KindRRef, KindPyObject, KindCapsule, KindGenerator:
		return true
	}
	for _, c := range Contained(t) {
		if IsMutable(c) {
			return true
		}
	}
	return false
}
