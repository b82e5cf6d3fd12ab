package exportir

import (
	"encoding/json"
	"fmt"
)

// Form describes the containers of inputs or outputs, as InSpec and OutSpec have it in JSON; nil is a tensor or a number.
type Form struct {
	Type     string   `json:"type"`
	Context  any      `json:"context"` // the keys of a dict
	Children []*Form  `json:"children"`
	Name     string   `json:"name,omitempty"`   // of the class of a named tuple
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

// CallForm describes the arguments of a call, as InSpec has it in JSON: a tuple of those that are given by their places, and a dict of the others.
type CallForm struct {
	Form
	Names []string                   `json:"names"` // of all, those by their places first; nil where they are not known
	Calls map[string]json.RawMessage `json:"calls"` // of modules in the captured one, in the words of whoever captured
}
