// Package schema holds function schemas: the name of a function or operator, its arguments and
// returns with types, defaults and alias annotations, and their text form
// `ns::name.overload(Type arg=default, *, Type kwarg) -> Type`.
//
// A FunctionSchema is immutable after it is made.
package schema

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Argument is an argument or a return of a function.
type Argument struct {
	Name string // "" for an unnamed return
	// Type is the type that graphs use; RealType is the one that was written. They differ where
	// the written type is an int at run time (ScalarType, SymInt, ...).
	Type, RealType types.Type
	ListSize       int // N of a list written T[N], else -1
	Default        value.Value
	HasDefault     bool
	KwargOnly      bool
	Alias          *Alias // nil: no annotation
}

// IsOut reports whether the argument is a keyword-only tensor that the function writes.
func (a *Argument) IsOut() bool { return a.KwargOnly && a.Alias != nil && a.Alias.IsWrite }

// NewDefault returns the default as a call gets it: a list of its own, which may be changed, and
// where one element stands for a list of ListSize, that list.
func (a *Argument) NewDefault() value.Value {
	if a.Default.Kind() == value.KindList {
		l := a.Default.List()
		return value.OfList(value.NewList(l.Elem, slices.Clone(l.Items)...))
	}
	if list, ok := a.Type.(*types.List); ok && a.ListSize > 0 {
		return value.OfList(value.NewList(list.Elem, slices.Repeat([]value.Value{a.Default}, a.ListSize)...))
	}
	return a.Default
}

// FunctionSchema describes a function or operator.
type FunctionSchema struct {
	Name      string // with its namespace: "aten::add"
	Overload  string // "" for the one without
	Arguments []Argument
	Returns   []Argument
	// IsVararg and IsVarret say that more arguments or returns of any type may follow.
	IsVararg, IsVarret bool
}

// QualifiedName returns the name, with a dot and the overload where there is one.
func (s *FunctionSchema) QualifiedName() string {
	if s.Overload == "" {
		return s.Name
	}
	return s.Name + "." + s.Overload
}

// ArgumentIndex returns the position of the named argument, or -1.
func (s *FunctionSchema) ArgumentIndex(name string) int {
	for i := range s.Arguments {
		if s.Arguments[i].Name == name {
			return i
		}
	}
	return -1
}

// NumPositional returns the number of arguments that need not be given by name.
func (s *FunctionSchema) NumPositional() int {
	for i := range s.Arguments {
		if s.Arguments[i].KwargOnly {
			return i
		}
	}
	return len(s.Arguments)
}

// IsMutable reports whether the function writes any of its arguments.
func (s *FunctionSchema) IsMutable() bool {
	for i := range s.Arguments {
		if a := s.Arguments[i].Alias; a != nil && a.anyWrite() {
			return true
		}
	}
	return false
}

// ReturnType returns the type of a call: of the one return, or a tuple of all.
func (s *FunctionSchema) ReturnType() types.Type {
	if len(s.Returns) == 1 {
		return s.Returns[0].Type
	}
	elems := make([]types.Type, len(s.Returns))
	for i := range s.Returns {
		elems[i] = s.Returns[i].Type
	}
	if len(elems) == 0 {
		return types.None
	}
	return types.NewTuple(elems...)
}

// Alias is the annotation in brackets behind a type: the sets of memory that a value may be part
// of before and after the call, and whether the call writes it.
type Alias struct {
	Before, After []string // names of sets; "*" is the wildcard
	IsWrite       bool
	Contained     []*Alias // of the elements, for containers; an entry is nil without annotation
}

// ShownWrite reports whether the memory is written; that of a container without sets of its own is where an element's is.
func (a *Alias) ShownWrite() bool {
	return a.IsWrite || len(a.Before) == 0 && slices.ContainsFunc(a.Contained, func(c *Alias) bool { return c != nil && c.IsWrite })
}

func (a *Alias) anyWrite() bool {
	if a == nil {
		return false
	}
	if a.IsWrite {
		return true
	}
	for _, c := range a.Contained {
		if c.anyWrite() {
			return true
		}
	}
	return false
}

// IsSubtype reports whether a function with schema s can be called where one with schema t is
// expected: an interface's method. asMethod leaves the first argument out.
func (s *FunctionSchema) IsSubtype(t *FunctionSchema, asMethod bool) (bool, string) {
	from := 0
	if asMethod {
		from = 1
	}
	if len(s.Arguments) != len(t.Arguments) || len(s.Returns) != len(t.Returns) {
		return false, "the number of arguments or returns differs"
	}
	for i := from; i < len(s.Arguments); i++ {
		a, b := &s.Arguments[i], &t.Arguments[i]
		if a.Name != b.Name || a.KwargOnly != b.KwargOnly {
			return false, "argument '" + a.Name + "' stands where '" + b.Name + "' is expected"
		}
		if !types.IsSubtype(b.Type, a.Type) {
			return false, "argument '" + a.Name + "' has type " + a.Type.Annotation(nil) + ", expected " + b.Type.Annotation(nil)
		}
	}
	for i := range s.Returns {
		if !types.IsSubtype(s.Returns[i].Type, t.Returns[i].Type) {
			return false, "the return type is " + s.Returns[i].Type.Annotation(nil) + ", expected " + t.Returns[i].Type.Annotation(nil)
		}
	}
	return true, ""
}
