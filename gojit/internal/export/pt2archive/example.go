package pt2archive

import (
	"encoding/json"

	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// readExample reads the arguments that the program was captured with, as far as they are tensors. A program does without them where the archive has none,
// or has what only its own classes can read.
func readExample(z *archive.Archive, record string, a *exportir.Archive) {
	if !z.Has(record) {
		return
	}
	saved, err := archive.ReadSaved(source.Must(z.Read(record)))
	var form exportir.CallForm
	if err != nil || json.Unmarshal([]byte(a.Program.InSpec), &form) != nil {
		return
	}
	leaves, ok := leavesOf(&form.Form, saved)
	for _, in := range a.Program.Signature.Inputs {
		if in.Target != "" {
			continue
		}
		if !ok || len(leaves) == 0 {
			return
		}
		if leaves[0].IsTensor() {
			a.Tensors[exportir.ExamplePrefix+in.Name] = leaves[0].Tensor()
		}
		leaves = leaves[1:]
	}
}

// leavesOf lists what is in containers that a form describes. ok is false where the containers are others.
func leavesOf(f *exportir.Form, v value.Value) (leaves []value.Value, ok bool) {
	if f == nil {
		return []value.Value{v}, true
	}
	items, ok := itemsIn(f, v)
	if !ok || len(items) != len(f.Children) {
		return nil, false
	}
	for i, child := range f.Children {
		inner, ok := leavesOf(child, items[i])
		if !ok {
			return nil, false
		}
		leaves = append(leaves, inner...)
	}
	return leaves, true
}

// itemsIn are the items of a container, those of a dictionary in the order of the form.
func itemsIn(f *exportir.Form, v value.Value) (items []value.Value, ok bool) {
	switch v.Kind() {
	case value.KindTuple:
		return v.Tuple().Items, f.Type == "tuple"
	case value.KindList:
		return v.List().Items, f.Type == "list"
	case value.KindDict:
		keys, _ := f.Context.([]any)
		for _, key := range keys {
			k, ok := keyOf(key)
			item, found := v.Dict().Get(k)
			if !ok || !found {
				return nil, false
			}
			items = append(items, item)
		}
		return items, f.Type == "dict" || f.Type == "OrderedDict"
	}
	return nil, false
}

// exampleOf are arguments for the program: a tuple of those that are given by their places, and a dictionary of the others. PyTorch reads no archive
// without. What the archive does not have is zeros of the sizes with which the program was captured.
func exampleOf(a *exportir.Archive) value.Value {
	var form exportir.CallForm
	source.Throw(json.Unmarshal([]byte(a.Program.InSpec), &form))
	hints := map[string]int{}
	for _, s := range a.Program.Symbols {
		hints[s.Name] = s.Hint
	}
	var leaves []value.Value
	inputs := a.Program.Graph.Placeholders()
	for i, in := range a.Program.Signature.Inputs {
		if in.Target == "" {
			leaves = append(leaves, exampleLeaf(a, in, inputs[i].Meta.Val, hints))
		}
	}
	v, rest := contained(&form.Form, leaves)
	if len(rest) > 0 {
		source.Throw(exportir.Violation("the program describes fewer arguments than it has"))
	}
	return v
}

func exampleLeaf(a *exportir.Archive, in exportir.InputSpec, v *exportir.Value, hints map[string]int) value.Value {
	t := a.Tensors[exportir.ExamplePrefix+in.Name]
	switch {
	case in.Constant != nil:
		return source.Must(in.Constant.Value())
	case t != nil:
		return value.OfTensor(t)
	case v.Kind == exportir.IntValue && v.Int != nil:
		return value.Int(int64(source.Must(v.Int.Eval(hints))))
	case v.Kind != exportir.TensorValue:
		source.Throw(exportir.Violation("the program does not say what the input %s is", in.Name))
	}
	var shape []int
	for _, n := range v.Sizes {
		shape = append(shape, source.Must(n.Eval(hints)))
	}
	dtype, _ := tensor.ParseDType(v.DType)
	return value.OfTensor(source.Must(tensor.Zeros(shape, dtype)))
}

// contained puts values in containers that a form describes, and returns those that are left. Containers of classes stand as tuples.
func contained(f *exportir.Form, leaves []value.Value) (v value.Value, rest []value.Value) {
	if f == nil {
		if len(leaves) == 0 {
			source.Throw(exportir.Violation("the program describes more arguments than it has"))
		}
		return leaves[0], leaves[1:]
	}
	var items []value.Value
	for _, child := range f.Children {
		v, leaves = contained(child, leaves)
		items = append(items, v)
	}
	switch f.Type {
	case "list":
		return value.OfList(value.NewList(types.Any, items...)), leaves
	case "dict", "OrderedDict":
		d := value.NewDict(types.Any, types.Any)
		keys, _ := f.Context.([]any)
		if len(keys) != len(items) {
			source.Throw(exportir.Violation("a dictionary of %d items has %d keys", len(items), len(keys)))
		}
		for i, key := range keys {
			k, ok := keyOf(key)
			if !ok {
				source.Throw(exportir.Violation("PyTorch 2.15 has no form of the key %v of a dictionary", key))
			}
			d.Set(k, items[i])
		}
		return value.OfDict(d), leaves
	}
	return value.OfTuple(value.NewTuple(items...)), leaves
}

// keyOf is a key of a dictionary that JSON has; ok is false for one that no dictionary has.
func keyOf(key any) (v value.Value, ok bool) {
	switch key := key.(type) {
	case string:
		return value.Str(key), true
	case bool:
		return value.Bool(key), true
	case float64:
		if key == float64(int64(key)) {
			return value.Int(int64(key)), true
		}
		return value.Float(key), true
	}
	return value.None, false
}
