package ops

import (
	_ "embed"
	"strings"
	"sync"
)

// composite.txt lists the operators, without their namespace, that PyTorch makes of others for every device and every mode.
//
//go:embed composite.txt
var compositeText string

var composite = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.Lines(compositeText) {
		names["aten::"+strings.TrimSuffix(name, "\n")] = true
	}
	return names
})

// IsComposite reports whether PyTorch has no kernel of its own for an operator: what sees operators below autograd sees those that it
// is made of.
func (o *Operator) IsComposite() bool { return composite()[o.Schema().QualifiedName()] }
