package bind

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// inferMembers find the types of Python values.
var inferMembers = []function{
	{schema: "_C._infer_type(any value) -> tuple", doc: "The type that a value has in a program, or None and why it has none.", run: inferType},
}

func inferType(c *call) error {
	t, why := inferredType(c.arg(0))
	c.open(kindTuple, 2)
	if t == nil {
		c.none()
	} else {
		c.typeObject(t)
	}
	c.string(why)
	return nil
}

// inferredType returns the type of an argument; nil and the reason where it has none.
func inferredType(w *Word) (types.Type, string) {
	switch w.kind() {
	case kindList:
		if w.count() == 0 {
			return nil, "List trace inputs must have elements"
		}
		elem, why := commonType(w.items, "Could not infer type of list element: ", "List inputs to traced functions must have consistent element type")
		if elem == nil {
			return nil, why
		}
		return types.NewList(elem), ""
	case kindDict:
		return inferredDict(w)
	case kindTuple, kindSize:
		var elems []types.Type
		for x := range w.items {
			t, why := inferredType(x)
			if t == nil {
				return nil, why
			}
			elems = append(elems, t)
		}
		return types.NewTuple(elems...), ""
	case kindToken:
		if isToken(w, tokenDevice) {
			return types.Device, ""
		}
		return types.Int, ""
	}
	v, err := plainValue(w)
	if err != nil || w.kind() == kindBytes || v.Kind() == value.KindCapsule {
		return nil, fmt.Sprintf("Only tensors and (possibly nested) tuples of tensors, lists, or dicts"+
			"are supported as inputs or outputs of traced functions, but instead got value of type %s.", w.kindName())
	}
	return value.TypeOf(v), ""
}

// commonType returns the type that all items have. Where one has no type, the reason begins with ofItem.
func commonType(items func(func(*Word) bool), ofItem, failure string) (common types.Type, why string) {
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

func inferredDict(w *Word) (types.Type, string) {
	if w.count() == 0 {
		return nil, "Dictionary inputs must have entries"
	}
	var keys, values []*Word
	x := w.after(1)
	for range w.count() {
		item := x.next()
		keys, values = append(keys, x), append(values, item)
		x = item.next()
	}
	each := func(words []*Word) func(func(*Word) bool) {
		return func(yield func(*Word) bool) {
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
