package schema

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// IsBackwardCompatibleWith reports whether every call of a function with schema old is a call of
// one with schema s: arguments may have been added behind the old ones with defaults, and out arguments behind the old ones of these;
// argument types may have become wider and return types narrower.
func (s *FunctionSchema) IsBackwardCompatibleWith(old *FunctionSchema) bool {
	if !s.isVersionOf(old) {
		return false
	}
	for i := range s.Returns {
		a, b := &s.Returns[i], &old.Returns[i]
		if a.Name != b.Name || !a.Alias.equal(b.Alias) || !types.IsSubtype(a.Type, b.Type) {
			return false
		}
	}
	newIn, newOut := splitOut(s.Arguments)
	oldIn, oldOut := splitOut(old.Arguments)
	return replacesAll(newIn, oldIn) && replacesAll(newOut, oldOut) &&
		!slices.ContainsFunc(newIn[len(oldIn):], func(a Argument) bool { return !a.HasDefault })
}

// isVersionOf reports whether name, overload and number of returns agree.
func (s *FunctionSchema) isVersionOf(old *FunctionSchema) bool {
	return s.Name == old.Name && s.Overload == old.Overload && s.IsVararg == old.IsVararg && s.IsVarret == old.IsVarret && len(s.Returns) == len(old.Returns)
}

// replacesAll reports whether arguments begin with such as can stand where the old ones stood.
func replacesAll(arguments, old []Argument) bool {
	if len(arguments) < len(old) {
		return false
	}
	for i := range old {
		a, b := &arguments[i], &old[i]
		if !a.corresponds(b) || b.HasDefault && (!a.HasDefault || !value.EqualConstants(a.Default, b.Default)) || !types.IsSubtype(b.Type, a.Type) {
			return false
		}
	}
	return true
}

// corresponds reports whether two arguments are given in one way: a may be given in every way that b may.
func (a *Argument) corresponds(b *Argument) bool {
	return a.Name == b.Name && a.ListSize == b.ListSize && (b.KwargOnly || !a.KwargOnly) && a.Alias.equal(b.Alias)
}

// isForward reports whether what is given for a can be given for old.
func (a *Argument) isForward(old *Argument) bool {
	return a.corresponds(old) && a.HasDefault == old.HasDefault && (!a.HasDefault || value.EqualConstants(a.Default, old.Default)) && types.IsSubtype(a.Type, old.Type)
}

func (a *Alias) equal(b *Alias) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.IsWrite == b.IsWrite && fmt.Sprint(a.Before, a.After) == fmt.Sprint(b.Before, b.After)
}

// IsForwardCompatibleWith reports whether what calls a function with schema s can call one with
// schema old instead, and why it cannot: new arguments must have defaults that are no containers and stand behind the old
// ones, before those that the function writes its results into. Where old is no version of s there is no reason. The types of results do not count.
func (s *FunctionSchema) IsForwardCompatibleWith(old *FunctionSchema) (bool, string) {
	if !s.isVersionOf(old) {
		return false, ""
	}
	newIn, newOut := splitOut(s.Arguments)
	oldIn, oldOut := splitOut(old.Arguments)
	if len(newOut) != len(oldOut) {
		return false, "Function schema should have the same number of out arguments"
	}
	for i := range newIn {
		a := &newIn[i]
		switch {
		case i < len(oldIn):
			if !a.isForward(&oldIn[i]) {
				return false, fmt.Sprintf("'%s' is not forward compatible with the older version of the schema", a.Name)
			}
		case !a.HasDefault:
			return false, fmt.Sprintf("Function schema is not forward compatible since the new argument '%s' of type %s did not provide a default value.", a.Name, a.Type)
		case a.Default.Kind() == value.KindList || a.Default.Kind() == value.KindDict:
			return false, fmt.Sprintf("Function schema is not forward compatible since the new argument '%s' of type %s has a container type as its default value.", a.Name, a.Type)
		}
	}
	for i := range oldOut {
		if !newOut[i].isForward(&oldOut[i]) {
			return false, fmt.Sprintf("Out argument ''%s is not FC with the older version of the schema", newOut[i].Name)
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
