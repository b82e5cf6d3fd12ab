package autograd

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// expansion is a composite operator that runs as what it is made of, and those in whose bodies it does.
type expansion struct {
	operator string // without its namespace
	outer    *expansion
}

// deepestExpansion is how many times over the body of a composite operator may reach the operator itself. A body may call it with
// other arguments, of which the gradient is known or not asked for.
const deepestExpansion = 4

// Expanding returns the mode in which the body of a composite operator runs with some arguments. It fails where the body reaches the operator
// again and again: it asks for a result without gradient, and an argument that has no derivative requires one.
func (m *Mode) Expanding(operator string, args []value.Value) (*Mode, error) {
	if m.timesExpanding(operator) >= deepestExpansion {
		return nil, errorf("the derivative for '%s' is not implemented", requiringArgument(ops.Find("aten::"+operator), args))
	}
	inner := *m
	inner.expanding = &expansion{operator, m.expanding}
	return &inner, nil
}

func (m *Mode) timesExpanding(operator string) (times int) {
	for e := m.expanding; e != nil; e = e.outer {
		if e.operator == operator {
			times++
		}
	}
	return times
}

// isExpanding reports whether the mode is that of a body of the operator.
func (m *Mode) isExpanding(op *ops.Operator) bool {
	return m.expanding != nil && m.timesExpanding(strings.TrimPrefix(op.Name, "aten::")) > 0
}

// requiringArgument returns the name of the first argument that requires a gradient.
func requiringArgument(op *ops.Operator, args []value.Value) string {
	for i := range args {
		if anyRequiresGrad(args[i:i+1]) && op != nil && i < len(op.Schema().Arguments) {
			return op.Schema().Arguments[i].Name
		}
	}
	return "self"
}
