package gojit

import (
	"encoding/json"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// wantsContainers reports whether the option WithContainers is among the arguments of a call.
func wantsContainers(args []any) bool {
	var o callOptions
	for _, arg := range args {
		if option, ok := arg.(CallOption); ok {
			option.set(&o)
		}
	}
	return o.containers
}

// takeContainers has a binding take the arguments of the captured module instead of what is in them.
func (e *Exported) takeContainers(c *binding) error {
	var spec exportir.CallForm
	if err := json.Unmarshal([]byte(e.Program.InSpec), &spec); err != nil || len(spec.Children) != 2 || spec.Children[0] == nil || spec.Children[1] == nil {
		return callErrorf(source.ValueError, "forward", "", "the program does not say which containers its arguments form")
	}
	forms := slices.Concat(spec.Children[0].Children, spec.Children[1].Children)
	if len(forms) != len(spec.Names) {
		return callErrorf(source.ValueError, "forward", "", "the program names %d arguments, and describes %d", len(spec.Names), len(forms))
	}
	user := *c.function.Schema
	leaves := user.Arguments
	user.Arguments = nil
	for i, form := range forms {
		t, rest, err := containerType(form, leaves)
		if err != nil {
			return err
		}
		leaves = rest
		user.Arguments = append(user.Arguments, schema.Argument{Name: spec.Names[i], Type: t})
	}
	c.function = ir.NewFunction("forward", &user, nil)
	return nil
}

// containerType is the type of an argument in a form, whose tensors and numbers are the first ones of leaves; it returns the others. Every container is a
// tuple, whose fields are the keys of a dictionary: so the order of what is in it is that of the program.
func containerType(form *exportir.Form, leaves []schema.Argument) (types.Type, []schema.Argument, error) {
	if form == nil {
		if len(leaves) == 0 {
			return nil, nil, callErrorf(source.ValueError, "forward", "", "the program describes more arguments than it has")
		}
		return leaves[0].Type, leaves[1:], nil
	}
	elems := make([]types.Type, len(form.Children))
	for i, child := range form.Children {
		var err error
		if elems[i], leaves, err = containerType(child, leaves); err != nil {
			return nil, nil, err
		}
	}
	t := types.NewTuple(elems...)
	t.Fields = form.Keys()
	return t, leaves, nil
}

// spread replaces the containers among the values by what is in them.
func (c *binding) spread() {
	var values []value.Value
	for _, v := range c.values {
		leaves, _ := export.Leaves("", v)
		for _, leaf := range leaves {
			values = append(values, leaf.Value)
		}
	}
	c.values = values
}

// inContainers puts the outputs of a run into the containers that the captured module gave.
func (e *Exported) inContainers(outputs []value.Value) (value.Value, error) {
	var form *exportir.Form
	if err := json.Unmarshal([]byte(e.Program.OutSpec), &form); err != nil {
		return value.None, callErrorf(source.ValueError, "forward", "", "the program does not say which containers its results form")
	}
	v, rest, err := contain(form, outputs)
	if err == nil && len(rest) > 0 {
		err = callErrorf(source.ValueError, "forward", "", "the program gives %d outputs, %d more than it describes", len(outputs), len(rest))
	}
	return v, err
}

// contain makes the containers of a form of the first ones of the values, and returns the others.
func contain(form *exportir.Form, values []value.Value) (value.Value, []value.Value, error) {
	if form == nil {
		if len(values) == 0 {
			return value.None, nil, callErrorf(source.ValueError, "forward", "", "the program describes more outputs than it gives")
		}
		return values[0], values[1:], nil
	}
	items := make([]value.Value, len(form.Children))
	for i, child := range form.Children {
		var err error
		if items[i], values, err = contain(child, values); err != nil {
			return value.None, nil, err
		}
	}
	keys := form.Keys()
	switch {
	case form.Type == "list":
		return value.OfList(value.NewList(value.CommonType(items), items...)), values, nil
	case form.Type == "dict" && len(keys) == len(items):
		d := value.NewDict(types.Str, value.CommonType(items))
		for i, key := range keys {
			d.Set(value.Str(key), items[i])
		}
		return value.OfDict(d), values, nil
	}
	elems := make([]types.Type, len(items))
	for i, item := range items {
		elems[i] = value.TypeOf(item)
	}
	t := value.NewTuple(items...)
	t.Type = types.NewTuple(elems...)
	t.Type.Fields = keys
	return value.OfTuple(t), values, nil
}
