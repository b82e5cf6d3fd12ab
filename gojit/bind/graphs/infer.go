package graphs

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// inferMembers find the types of Python values.
var inferMembers = []abi.Function{
	{Schema: "_C._elementwise_kernel(Node node) -> tuple", Doc: "What a node makes of single elements, as the text of a kernel, and which of its inputs those of the kernel are. " +
		"\"\" and none where it does more, or types are not known.", Run: abi.Bind(elementwiseKernel)},
	{Schema: "_C._infer_type(any value) -> tuple", Doc: "The type that a value has in a program, or None and why it has none.", Run: inferType},
}

func inferType(c *abi.Call) error {
	t, why := inferredType(c.Arg(0))
	c.Open(abi.KindTuple, 2)
	if t == nil {
		c.None()
	} else {
		c.TypeObject(t)
	}
	c.String(why)
	return nil
}

// inferredType returns the type of an argument; nil and the reason where it has none.
func inferredType(w *abi.Word) (types.Type, string) {
	switch w.Kind() {
	case abi.KindList:
		if w.Count() == 0 {
			return nil, "List trace inputs must have elements"
		}
		elem, why := commonType(w.Items, "Could not infer type of list element: ", "List inputs to traced functions must have consistent element type")
		if elem == nil {
			return nil, why
		}
		return types.NewList(elem), ""
	case abi.KindDict:
		return inferredDict(w)
	case abi.KindTuple, abi.KindSize:
		var elems []types.Type
		for x := range w.Items {
			t, why := inferredType(x)
			if t == nil {
				return nil, why
			}
			elems = append(elems, t)
		}
		return types.NewTuple(elems...), ""
	case abi.KindToken:
		if abi.IsToken(w, abi.TokenDevice) {
			return types.Device, ""
		}
		return types.Int, ""
	}
	v, err := abi.PlainValue(w)
	if err != nil || w.Kind() == abi.KindBytes || v.Kind() == value.KindCapsule {
		return nil, fmt.Sprintf("Only tensors and (possibly nested) tuples of tensors, lists, or dicts"+
			"are supported as inputs or outputs of traced functions, but instead got value of type %s.", w.KindName())
	}
	return value.TypeOf(v), ""
}

// commonType returns the type that all items have. Where one has no type, the reason begins with ofItem.
func commonType(items func(func(*abi.Word) bool), ofItem, failure string) (common types.Type, why string) {
	for x := range items {
		t, reason := inferredType(x)
		if t == nil {
			return nil, ofItem + reason
		}
		if common == nil {
			common = t
			continue
		}
		unified := types.Unify(common, t, false, nil)
		if unified == nil {
			return nil, fmt.Sprintf("%s. Found %s and %s", failure, common.Annotation(nil), t.Annotation(nil))
		}
		common = unified
	}
	return common, ""
}

func inferredDict(w *abi.Word) (types.Type, string) {
	if w.Count() == 0 {
		return nil, "Dictionary inputs must have entries"
	}
	var keys, values []*abi.Word
	x := w.After(1)
	for range w.Count() {
		item := x.Next()
		keys, values = append(keys, x), append(values, item)
		x = item.Next()
	}
	each := func(words []*abi.Word) func(func(*abi.Word) bool) {
		return func(yield func(*abi.Word) bool) {
			for _, w := range words {
				if !yield(w) {
					return
				}
			}
		}
	}
	key, why := commonType(each(keys), "", "Dictionary inputs to traced functions must have consistent type")
	if key == nil {
		return nil, why
	}
	item, why := commonType(each(values), "", "Dictionary inputs to traced functions must have consistent type")
	if item == nil {
		return nil, why
	}
	return types.NewDict(key, item), ""
}

// elementwiseKernel returns the text of the kernel that a node is, and the inputs of the node that those of the kernel are; nothing where it
// is none. Elements of types that exist in memory only stand in it as those of the type that they are computed with.
func elementwiseKernel(n *ir.Node) (text string, inputs []int) {
	op := n.Operator()
	if op == nil || len(n.Outputs()) != 1 {
		return "", nil
	}
	args := make([]value.Value, len(n.Inputs()))
	var tensors []int
	for i, v := range n.Inputs() {
		known, isTensor := v.Type().(*types.TensorInfo)
		if !isTensor {
			var ok bool
			if args[i], ok = v.Constant(); !ok {
				return "", nil
			}
			continue
		}
		dtype, ok := tensor.ParseDType(known.DType)
		if !ok {
			return "", nil
		}
		shape := []int{1}
		if known.Dims != nil && *known.Dims == 0 {
			shape = nil
		}
		t, err := tensor.EmptyMeta(shape, kernel.ComputeType(dtype))
		if err != nil {
			return "", nil
		}
		args[i] = value.OfTensor(t)
		tensors = append(tensors, i)
	}
	k, reads, err := elementwise.KernelOf(op, args)
	if err != nil {
		return "", nil
	}
	for _, v := range reads {
		inputs = append(inputs, tensors[v])
	}
	return k.String(), inputs
}
