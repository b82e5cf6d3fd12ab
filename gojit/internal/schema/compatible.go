package schema

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// IsBackwardCompatibleWith reports whether every call of a function with schema old is a call of
// one with schema s: arguments may have been added behind the old ones with defaults, argument
// types may have become wider and return types narrower.
func (s *FunctionSchema) IsBackwardCompatibleWith(old *FunctionSchema) bool {
	ok, _ := s.backwardCompatible(old)
	return ok
}

func (s *FunctionSchema) backwardCompatible(old *FunctionSchema) (bool, string) {
	if ok, why := s.sameShape(old); !ok {
		return false, why
	}
	for i := range old.Arguments {
		if why := s.Arguments[i].replaces(&old.Arguments[i]); why != "" {
			return false, why
		}
	}
	for i := len(old.Arguments); i < len(s.Arguments); i++ {
		if a := &s.Arguments[i]; !a.HasDefault {
			return false, fmt.Sprintf("the new argument '%s' has no default", a.Name)
		}
	}
	return true, ""
}

// sameShape reports whether name, overload and returns agree and no argument is missing in s.
func (s *FunctionSchema) sameShape(old *FunctionSchema) (bool, string) {
	switch {
	case s.Name != old.Name || s.Overload != old.Overload:
		return false, "the names differ"
	case s.IsVararg != old.IsVararg || s.IsVarret != old.IsVarret:
		return false, "one takes or returns any number of values"
	case len(s.Returns) != len(old.Returns):
		return false, "the numbers of returns differ"
	case len(s.Arguments) < len(old.Arguments):
		return false, fmt.Sprintf("the argument '%s' is missing", old.Arguments[len(s.Arguments)].Name)
	}
	for i := range s.Returns {
		if s.Returns[i].Name != old.Returns[i].Name {
			return false, fmt.Sprintf("return %d is called '%s' where it was '%s'", i, s.Returns[i].Name, old.Returns[i].Name)
		}
		if !types.IsSubtype(s.Returns[i].Type, old.Returns[i].Type) {
			return false, fmt.Sprintf("return %d is %s where it was %s", i, s.Returns[i].Type, old.Returns[i].Type)
		}
	}
	return true, ""
}

// replaces says why a cannot stand where old stood, "" where it can.
func (a *Argument) replaces(old *Argument) string {
	switch {
	case a.Name != old.Name:
		return fmt.Sprintf("the argument '%s' stands where '%s' stood", a.Name, old.Name)
	case a.ListSize != old.ListSize:
		return fmt.Sprintf("the length of the argument '%s' differs", a.Name)
	case a.KwargOnly && !old.KwargOnly:
		return fmt.Sprintf("the argument '%s' can be given by name only", a.Name)
	case !a.Alias.equal(old.Alias):
		return fmt.Sprintf("the alias annotation of the argument '%s' differs", a.Name)
	case old.HasDefault && (!a.HasDefault || !value.EqualConstants(a.Default, old.Default)):
		return fmt.Sprintf("the default of the argument '%s' differs", a.Name)
	case !types.IsSubtype(old.Type, a.Type):
		return fmt.Sprintf("the argument '%s' is %s where it was %s", a.Name, a.Type, old.Type)
	}
	return ""
}

func (a *Alias) equal(b *Alias) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.IsWrite == b.IsWrite && fmt.Sprint(a.Before, a.After) == fmt.Sprint(b.Before, b.After)
}

// IsForwardCompatibleWith reports whether what calls a function with schema s can call one with
// schema old instead, and why it cannot: new arguments must have defaults and stand behind the old
// ones, before those that the function writes its results into.
func (s *FunctionSchema) IsForwardCompatibleWith(old *FunctionSchema) (bool, string) {
	if ok, why := s.sameShape(old); !ok {
		return false, why
	}
	newIn, newOut := splitOut(s.Arguments)
	oldIn, oldOut := splitOut(old.Arguments)
	if len(newOut) != len(oldOut) || len(newIn) < len(oldIn) {
		return false, "the numbers of out arguments differ"
	}
	for i := range oldIn {
		if why := newIn[i].replaces(&oldIn[i]); why != "" {
			return false, why
		}
	}
	for i := len(oldIn); i < len(newIn); i++ {
		a := &newIn[i]
		if !a.HasDefault {
			return false, fmt.Sprintf("Function schema is not forward compatible since the new argument '%s' of type %s did not provide a default value.", a.Name, a.Type)
		}
		if k := a.Default.Kind(); k == value.KindList || k == value.KindDict {
			return false, fmt.Sprintf("Function schema is not forward compatible since the new argument '%s' of type %s has a container type as its default value.", a.Name, a.Type)
		}
	}
	for i := range oldOut {
		if why := newOut[i].replaces(&oldOut[i]); why != "" {
			return false, why
		}
	}
	return true, ""
}

func splitOut(arguments []Argument) (in, out []Argument) {
	n := len(arguments)
	for n > 0 && arguments[n-1].IsOut() {
		n--
	}
	return arguments[:n], arguments[n:]
}
