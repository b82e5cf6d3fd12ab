package quantization

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// kinds are operators, and functions of the language by the part of their names behind the last point.
type kinds struct {
	fact      string // of the operators, behind their schemas
	called    bool   // functions of the same names, where they are written as such, are of the kind too
	functions string // further ones, that have no operators
}

// has reports whether a node applies one of them.
func (k kinds) has(n *ir.Node) bool {
	if name, ok := functionOf(n); ok {
		return listed(k.functions, name) || k.called && hasFact("aten::"+name, "int8_called") && hasFact("aten::"+name, k.fact)
	}
	return is(n, k.fact)
}

// is reports whether a word stands behind the schema of a node's operator.
func is(n *ir.Node, fact string) bool { return hasFact(n.Kind(), fact) }

func hasFact(operator, fact string) bool {
	_, ok := ops.FactOf(operator, fact)
	return ok
}

func listed(words, name string) bool { return strings.Contains(" "+words+" ", " "+name+" ") }

// functionOf returns the last part of the name of the function that a node calls.
func functionOf(n *ir.Node) (name string, ok bool) {
	if n.Kind() != prim.CallFunction {
		return "", false
	}
	t, ok := n.Input(0).Type().(*types.Function)
	if !ok {
		return "", false
	}
	return t.Name[strings.LastIndexByte(t.Name, '.')+1:], true
}

var (
	// computing are the operators that exist over integers with a scale of their results that has to be known beforehand.
	computing = kinds{fact: "int8_computing", called: true}
	// dynamic are those of them that can take their inputs' ranges of each call.
	dynamic = kinds{fact: "int8_dynamic", called: true}
	// weightOnly are those of which the weight alone is quantized.
	weightOnly = kinds{fact: "int8_weight_only", called: true}
	// shaping give elements of their first input.
	shaping = kinds{fact: "int8_shaping", called: true, functions: "_max_pool1d _max_pool2d _max_pool3d"}
	// averaging give numbers in the range of their first input, with its scale.
	averaging = kinds{fact: "int8_averaging", called: true, functions: "interpolate upsample upsample_bilinear upsample_nearest"}
	// unitRange and signedRange give numbers in a range that is always the same: from 0 to 1, and from -1 to 1.
	unitRange   = kinds{fact: "int8_unit_range", called: true}
	signedRange = kinds{fact: "int8_signed_range", called: true}
	// limited have limits between which their results are.
	limited = kinds{fact: "int8_limits"}
	// joining and binary are quantized only where all their inputs are.
	joining = kinds{fact: "int8_joining"}
	binary  = kinds{fact: "int8_binary"}
)

// place is an input of a node that calls a function or applies an operator.
type place struct {
	function bool
	name     string
	index    int
}

var (
	weightPlaces = []place{{false, "conv1d", 1}, {false, "conv2d", 1}, {false, "conv3d", 1}, {false, "conv_transpose1d", 1},
		{false, "conv_transpose2d", 1},
		{false, "linear", 1}, {false, "embedding_bag", 0}, {true, "linear", 2}, {true, "embedding_bag", 2}}
	biasPlaces = []place{{false, "conv1d", 2}, {false, "conv2d", 2}, {false, "conv3d", 2}, {false, "conv_transpose1d", 2},
		{false, "conv_transpose2d", 2},
		{false, "linear", 2}, {true, "linear", 3}}
	embeddingPlaces = []place{{false, "embedding_bag", 2}, {false, "embedding_bag", 6}}
)

// usedAt reports whether one of the uses of v is at one of the places.
func usedAt(v *ir.Value, places []place) bool {
	for _, u := range v.Uses() {
		for _, p := range places {
			name, function := functionOf(u.User)
			if !function {
				name, _ = strings.CutPrefix(u.User.Kind(), "aten::")
			}
			if function == p.function && name == p.name && u.Index == p.index {
				return true
			}
		}
	}
	return false
}

func isWeight(v *ir.Value) bool { return usedAt(v, weightPlaces) }

// quantizable reports whether a node can compute with integers in a mode.
func quantizable(n *ir.Node, mode Mode) bool {
	if mode == Dynamic {
		return dynamic.has(n)
	}
	return computing.has(n)
}

// usesQuantized reports whether a node that uses a value can do so as integers.
func usesQuantized(u ir.Use, mode Mode) bool {
	if name, ok := functionOf(u.User); ok && name == "batch_norm" && mode == Static {
		return u.Index == 1
	}
	return quantizable(u.User, mode)
}

// propagating reports whether a node is quantized only where all its inputs are.
func propagating(n *ir.Node) bool { return joining.has(n) || binary.has(n) }

// isScalar reports whether a value is a number, or a constant tensor without dimensions.
func isScalar(v *ir.Value) bool {
	if types.IsSubtype(v.Type(), types.Number) {
		return true
	}
	c, ok := v.Constant()
	return ok && c.IsTensor() && c.Tensor().Dim() == 0
}

func withScalar(n *ir.Node) bool { return binary.has(n) && isScalar(n.Input(1)) }

// keepsScale reports whether the result of a node has the scale of its first input.
func keepsScale(n *ir.Node) bool { return averaging.has(n) || withScalar(n) }

// general reports whether a node's result is quantized like its first input, or with a scale that is known.
func general(n *ir.Node) bool {
	return shaping.has(n) || keepsScale(n) || unitRange.has(n) || signedRange.has(n)
}

// passedThrough lists the values that v is quantized with: where all of them are, it is.
func passedThrough(v *ir.Value) []*ir.Value {
	n := v.Node()
	switch {
	case n.Kind() == prim.CallFunction:
		if general(n) {
			return n.Inputs()[1:2]
		}
	case general(n), n.Kind() == aten.Sort && v.Offset() == 0:
		return n.Inputs()[:1]
	case n.Kind() == prim.If && len(n.Outputs()) == 1:
		var found []*ir.Value
		for _, b := range n.Blocks() {
			if !raises(b) {
				found = append(found, b.Outputs()[0])
			}
		}
		return found
	case n.Is(prim.ListUnpack, prim.TupleUnpack):
		if isTensor(v) {
			return n.Inputs()[:1]
		}
	case n.Kind() == prim.TupleConstruct:
		var found []*ir.Value
		for _, in := range n.Inputs() {
			if isTensor(in) {
				found = append(found, in)
			}
		}
		return found
	case n.Kind() == prim.ListConstruct && isTensors(v), n.Kind() == aten.Append:
		return n.Inputs()
	}
	return nil
}

// raises reports whether a block always ends in an exception.
func raises(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() == prim.RaiseException {
			return true
		}
		if n.Kind() == prim.If && raises(n.Blocks()[0]) && raises(n.Blocks()[1]) {
			return true
		}
	}
	return false
}

func isTensor(v *ir.Value) bool { return types.IsSubtype(v.Type(), types.Tensor) }

func isTensors(v *ir.Value) bool { return types.IsSubtype(v.Type(), types.NewList(types.Tensor)) }
