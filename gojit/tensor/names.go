package tensor

import (
	"strings"
	"sync/atomic"
)

// namesInUse is set for good when the first tensor has named dimensions.
var namesInUse atomic.Bool

// NamesInUse reports whether there ever was a tensor with named dimensions.
func NamesInUse() bool { return namesInUse.Load() }

// Names returns the names of t's dimensions, "" for a dimension without one; nil where none has one. The slice must not be changed.
func (t *Tensor) Names() []string {
	if t.foreign == nil || len(t.foreign.names) != t.Dim() {
		return nil
	}
	return t.foreign.names
}

// SetNames names t's dimensions, as many as there are; names that are all "" are none.
func (t *Tensor) SetNames(names []string) {
	named := false
	for _, n := range names {
		named = named || n != ""
	}
	switch {
	case named:
		t.foreignly().names = names
		namesInUse.Store(true)
		Track()
	case t.foreign != nil:
		t.foreign.names = nil
	}
}

// namesText shows the names as a tuple of Python's.
func (t *Tensor) namesText() string {
	var shown []string
	for _, n := range t.Names() {
		if n == "" {
			shown = append(shown, "None")
		} else {
			shown = append(shown, "'"+n+"'")
		}
	}
	if len(shown) == 1 {
		return "(" + shown[0] + ",)"
	}
	return "(" + strings.Join(shown, ", ") + ")"
}
