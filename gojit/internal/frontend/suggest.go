package frontend

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// failNoted is fail with remarks on what to do; empty ones are left out.
func failNoted(notes []string, at source.Range, format string, args ...any) {
	e := source.Errorf(source.RuntimeError, at, format, args...)
	for _, n := range notes {
		if n != "" {
			e.WithNote(source.Range{}, "%s", n)
		}
	}
	panic(e)
}

// didYouMean names the candidates that are spelled much like name, "" where there is none.
func didYouMean(name string, candidates []string) string {
	limit := 2
	if len(name) < 5 {
		limit = 1
	}
	var near []string
	for _, c := range candidates {
		if c != name && !strings.HasPrefix(c, "$") && editDistance(c, name, limit) <= limit && !slices.Contains(near, c) {
			near = append(near, c)
		}
	}
	if len(near) == 0 {
		return ""
	}
	slices.Sort(near)
	return "did you mean '" + strings.Join(near[:min(len(near), 3)], "' or '") + "'?"
}

// torchNames returns the names of operators that programs call as functions.
func torchNames() (names []string) {
	for _, operator := range ops.Names() {
		if namespace, short, _ := strings.Cut(operator, "::"); namespace == "aten" && !strings.HasPrefix(short, "_") {
			names = append(names, short)
		}
	}
	return names
}

// attributeNotes says what may be meant by an attribute that a value of type t does not have.
func attributeNotes(text string, t types.Type, name string) []string {
	return []string{didYouMean(name, attributeNames(t)), inferredNote(text, t), optionalNote(text, t)}
}

// attributeNames returns the attributes and methods of values of type t.
func attributeNames(t types.Type) []string {
	var names []string
	switch t := t.(type) {
	case *types.Class:
		for _, a := range t.Attributes {
			names = append(names, a.Name)
		}
		return append(names, t.MethodNames()...)
	case *types.Interface:
		for _, m := range t.Methods {
			names = append(names, m.Name)
		}
		return names
	case *types.Tuple:
		names = append(names, t.Fields...)
	}
	if t.Kind() == types.KindTensor {
		names = append(names, writtenProperties()...)
	}
	for _, operator := range ops.Names() {
		namespace, short, _ := strings.Cut(operator, "::")
		if isPropertyOf(t.Kind(), ops.Overloads(operator)[0]) || namespace == "aten" && !strings.HasPrefix(short, "_") && hasSelfOverload(operator, t) {
			names = append(names, short)
		}
	}
	return names
}

// inferredNote tells of a parameter that is a tensor because nothing else was said.
func inferredNote(text string, t types.Type) string {
	if x, ok := t.(*types.TensorInfo); !ok || !x.Inferred || !isName(text) {
		return ""
	}
	return "'" + text + "' has no annotation, so it is a Tensor; if it is something else, say so: " + text + ": int"
}

// optionalNote tells how a value that may be None gets the type that it has otherwise.
func optionalNote(text string, t types.Type) string {
	o, ok := t.(*types.Optional)
	if !ok {
		return ""
	}
	if isName(text) {
		return "'" + text + "' may be None; where `" + text + " is not None` has been checked, by if or assert, it is of type " + o.Elem.Annotation(nil)
	}
	return "the value may be None; assign it to a variable and check that `is not None` first: only variables are narrowed by a check"
}

func isName(text string) bool {
	for i, c := range text {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}

// names returns the variables and builtin names that an expression can use.
func (e *Emitter) names() []string {
	var names []string
	for at := e.env; at != nil; at = at.parent {
		for name := range at.sugared {
			names = append(names, name)
		}
		for name := range at.stored {
			names = append(names, name)
		}
	}
	for name := range builtinNames {
		names = append(names, name)
	}
	for o := range ops.WithFact("builtin") {
		_, name, _ := strings.Cut(o.BaseName(), "::")
		names = append(names, name)
	}
	return names
}

// mixedNote says how a container whose elements differ in type is written.
func mixedNote(container string, union types.Type) string {
	if union == nil {
		return ""
	}
	return "elements of several types need an annotation: " + container + "[" + union.Annotation(nil) + "]"
}
