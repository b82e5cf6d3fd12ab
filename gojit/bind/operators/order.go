package operators

import (
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// tensorsFirst puts each overload before the first one that takes numbers where it takes tensors. A tensor of one element
// passes for a number, so that the order says which of the two a call with such a tensor means: tensors, as in PyTorch.
func tensorsFirst(overloads []*overload) []*overload {
	var ordered []*overload
	for _, v := range overloads {
		at := len(ordered)
		for i, w := range ordered {
			if v.wider(w) {
				at = i
				break
			}
		}
		ordered = append(ordered[:at:at], append([]*overload{v}, ordered[at:]...)...)
	}
	return ordered
}

// wider reports whether v takes tensors where w takes numbers, and is like w elsewhere.
func (v *overload) wider(w *overload) bool {
	if v.firstOut != w.firstOut {
		return false
	}
	wider := false
	for i := range v.firstOut {
		a, b := &v.parameters[i], &w.parameters[i]
		switch {
		case types.Equal(a.written, b.written):
		case a.base == types.KindTensor && (b.base == types.KindNumber || b.base == types.KindFloat):
			wider = true
		default:
			return false
		}
	}
	return wider
}
