package tensorexpr

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// IsGrouped reports whether an operator may be part of groups.
func IsGrouped(o *ops.Operator) bool {
	switch g := o.Def().Groups; g {
	case ops.NoGroups:
		return false
	case ops.GroupsByPython, ops.GroupsWholeByPython:
		return strings.HasPrefix(o.Name, "aten::__")
	}
	return o.IsFunctional()
}

// mayJoin reports whether the operator of n, o, is part of groups of its tensors.
func (f *tensorExprs) mayJoin(n *ir.Node, o *ops.Operator) bool {
	is := func(number types.Kind, elements func(v *ir.Value) bool) func(v *ir.Value) bool {
		return func(v *ir.Value) bool { return v.Type().Kind() == number || elements(v) }
	}
	switch o.Def().Groups {
	case ops.GroupsFractions:
		return IsGrouped(o) && !slices.ContainsFunc(n.Inputs(), is(types.KindInt, hasIntegers))
	case ops.GroupsFractionTensors:
		return IsGrouped(o) && !slices.ContainsFunc(n.Inputs(), hasIntegers)
	case ops.GroupsWholeByPython:
		return IsGrouped(o) && !slices.ContainsFunc(n.Inputs(), is(types.KindFloat, hasFractions))
	case ops.GroupsReducing:
		return IsGrouped(o) && f.options.Reductions
	}
	return IsGrouped(o)
}

// hasIntegers reports whether v is a tensor of whole numbers.
func hasIntegers(v *ir.Value) bool {
	d, known := elementsOf(v)
	return known && !d.IsFloating()
}

// hasFractions reports whether v is a tensor of floating numbers.
func hasFractions(v *ir.Value) bool {
	d, known := elementsOf(v)
	return known && d.IsFloating()
}

// elementsOf returns the element type of v, a tensor; known is false for others.
func elementsOf(v *ir.Value) (d tensor.DType, known bool) {
	t, ok := v.Type().(*types.TensorInfo)
	if !ok {
		return d, false
	}
	return tensor.ParseDType(t.DType)
}
