package autograd

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/dimnames"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// runOnNames runs an operator on tensors with named dimensions and names its results.
func runOnNames(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) (err error) {
	if !dimnames.Any(args) || !strings.HasPrefix(op.Name, "aten::") {
		return m.next(rest, op, args, out)
	}
	defer source.Catch(&err)
	names, known := dimnames.Results(op, args)
	if !known {
		if op.IsComposite() {
			if known, err = m.takeApart(op, args, out); known || err != nil {
				return err
			}
		}
		dimnames.Refuse(op)
	}
	dimnames.CheckOut(op, args, names)
	if err = m.nextUnnamed(rest, op, args, out); err == nil {
		dimnames.Name(out, names)
	}
	return err
}

// nextUnnamed hands an operator to the layers below, for which names of dimensions do not count.
func (m *Mode) nextUnnamed(rest layerSet, op *ops.Operator, args, out []value.Value) error {
	defer func() { m.withoutNames = false }()
	m.withoutNames = true
	return m.next(rest, op, args, out)
}

// runUnnamed runs an operator for which names of dimensions do not count.
func (m *Mode) runUnnamed(op *ops.Operator, args, out []value.Value) error {
	defer func(before bool) { m.withoutNames = before }(m.withoutNames)
	m.withoutNames = true
	return m.Run(op, args, out)
}
