package pt2archive

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
)

// isDropped reports whether PyTorch 2.15 does not have an operator: one of those whose schemas say so, or an overload of a kind that it has none of.
func isDropped(target string) bool {
	o := ops.Find(target)
	if o == nil {
		return false
	}
	_, dropped := o.Fact("dropped")
	base, overload, _ := strings.Cut(target, ".")
	overload = strings.ToLower(overload)
	named := strings.Contains(overload, "names") || strings.Contains(overload, "dimname")
	return dropped || named || strings.HasSuffix(base, "_backward") && overload == "vec"
}
