package frontend

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// sliceValue is slice(start, end, step): a subscript, and a variable that is one. A bound that is not there is nil.
type sliceValue struct {
	NotFirstClass
	start, end, step *ir.Value
}

// emitSliceObject emits a call of slice. Bounds that are None become those of a slice that goes forward.
func (e *Emitter) emitSliceObject(call syntax.Apply) SugaredValue {
	inputs, name := call.Inputs(), call.Callee().Range
	if len(call.Attributes()) > 0 {
		fail(name, "Slice does not accept any keyword arguments")
	}
	if len(inputs) < 1 || len(inputs) > 3 {
		fail(name, "slice accepts exactly 1, 2 or 3 arguments, got: %d", len(inputs))
	}
	given := make([]*ir.Value, 3)
	if len(inputs) == 1 {
		given[1] = e.emitExpr(inputs[0], nil)
	} else {
		for i, x := range inputs {
			given[i] = e.emitExpr(x, nil)
		}
	}
	for i, missing := range []int64{0, math.MaxInt64, 1} {
		if given[i] == nil || given[i].Type().Kind() == types.KindNone {
			given[i] = e.g.Constant(value.Int(missing), call.Range)
		}
	}
	return &sliceValue{"Python slice value", given[0], given[1], given[2]}
}

// probeSlice emits an index and returns it where it is a slice object. Another index is emitted again by who needs it, as PyTorch does.
func (e *Emitter) probeSlice(index syntax.Expr) *sliceValue {
	if e.mustKeep() {
		return nil
	}
	s, keep := e.probe(index, nil)
	object, ok := s.(*sliceValue)
	if !ok {
		return nil
	}
	keep()
	return object
}
