package gojit

import (
	"errors"

	"github.com/torchjit/torchjit/gojit/internal/mistake"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// CodeOf returns the code of the kind of mistake that an error tells of, such as "TJ501", and "" where it is none of those that docs/errors.md lists.
func CodeOf(err error) string {
	if err == nil {
		return ""
	}
	if k := mistake.Of(err.Error()); k != nil {
		return k.Code
	}
	return ""
}

// AdviceOf returns what people should be told behind an error: in which submodule it happened, and the code and cure of a common mistake. The error's own
// text has none of it.
func AdviceOf(err error) (notes []string) {
	if err == nil {
		return nil
	}
	var e *source.Error
	if errors.As(err, &e) {
		if e.Module != "" {
			notes = append(notes, "in "+e.Module)
		}
		notes = append(notes, e.Advice...)
	}
	if k := mistake.Of(err.Error()); k != nil {
		notes = append(notes, k.Note())
	}
	return notes
}
