package export

import (
	"encoding/json"
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Form describes the containers of inputs or outputs, as InSpec and OutSpec have it in JSON; nil is a tensor or a number.
type Form struct {
	Type     string   `json:"type"`
	Context  any      `json:"context"` // the keys of a dict
	Children []*Form  `json:"children"`
	Fields   []string `json:"fields,omitempty"` // of a named tuple
}

// Keys are the keys of a dictionary as texts, or the fields of a named tuple; of other containers there are none.
func (f *Form) Keys() []string {
	keys, _ := f.Context.([]any)
	if f.Type != "dict" || len(keys) != len(f.Children) {
		return f.Fields
	}
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = fmt.Sprint(key)
	}
	return texts
}

// Leaf is a tensor or a number in containers.
type Leaf struct {
	Name  string
	Value value.Value
}

// Leaves lists what is in the containers of an argument, with names, and describes the containers.
func Leaves(name string, v value.Value) ([]Leaf, *Form) {
	form := &Form{Children: []*Form{}}
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
	Places   []*Form
	Keywords []*Form
}

// InSpec is the text of the arguments for Program.InSpec.
func (a *Arguments) InSpec() (string, error) {
	keys := append([]string{}, a.Names[len(a.Places):]...)
	places, keywords := &Form{Type: "tuple", Children: append([]*Form{}, a.Places...)}, &Form{Type: "dict", Context: keys, Children: append([]*Form{}, a.Keywords...)}
	text, err := json.Marshal(struct {
		Form
		Names []string       `json:"names"`
		Calls map[string]any `json:"calls"`
	}{Form{Type: "tuple", Children: []*Form{places, keywords}}, append([]string{}, a.Names...), map[string]any{}})
	return string(text), err
}
