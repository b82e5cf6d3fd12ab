package export

import (
	"encoding/json"
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Leaf is a tensor or a number in containers.
type Leaf struct {
	Name  string
	Value value.Value
}

// Leaves lists what is in the containers of an argument, with names, and describes the containers.
func Leaves(name string, v value.Value) ([]Leaf, *exportir.Form) {
	form := &exportir.Form{Children: []*exportir.Form{}}
	var leaves []Leaf
	add := func(key string, item value.Value) {
		inner, child := Leaves(name+"_"+key, item)
		leaves, form.Children = append(leaves, inner...), append(form.Children, child)
	}
	switch v.Kind() {
	case value.KindTuple:
		form.Type = "tuple"
		for i, item := range v.Tuple().Items {
			add(fmt.Sprint(i), item)
		}
	case value.KindList:
		form.Type = "list"
		for i, item := range v.List().Items {
			add(fmt.Sprint(i), item)
		}
	case value.KindDict:
		form.Type = "dict"
		keys := []any{}
		for key, item := range v.Dict().All {
			k := keyOf(key)
			keys = append(keys, k)
			add(fmt.Sprint(k), item)
		}
		form.Context = keys
	default:
		return []Leaf{{name, v}}, nil
	}
	return leaves, form
}

// keyOf is a key of a dict in JSON.
func keyOf(key value.Value) any {
	switch key.Kind() {
	case value.KindString:
		return key.Str()
	case value.KindFloat:
		return key.Float()
	case value.KindBool:
		return key.Bool()
	}
	return key.Int()
}

// Arguments describes the arguments of a call: those that are given by their places, and those by their names, each as a list of forms.
type Arguments struct {
	Names    []string // of all, those by their places first
	Places   []*exportir.Form
	Keywords []*exportir.Form
}

// InSpec is the text of the arguments for Program.InSpec.
func (a *Arguments) InSpec() (string, error) {
	keys := append([]string{}, a.Names[len(a.Places):]...)
	places, keywords := &exportir.Form{Type: "tuple", Children: append([]*exportir.Form{}, a.Places...)}, &exportir.Form{Type: "dict", Context: keys, Children: append([]*exportir.Form{}, a.Keywords...)}
	text, err := json.Marshal(exportir.CallForm{
		Form: exportir.Form{Type: "tuple", Children: []*exportir.Form{places, keywords}}, Names: append([]string{}, a.Names...), Calls: map[string]json.RawMessage{},
	})
	return string(text), err
}
