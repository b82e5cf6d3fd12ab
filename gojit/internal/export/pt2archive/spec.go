package pt2archive

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// treeSpec is the description of a container. One without a type stands for what is no container.
type treeSpec struct {
	Type     *string         `json:"type"`
	Context  json.RawMessage `json:"context"`
	Children []treeSpec      `json:"children_spec"`
}

// specVersion is the version of descriptions of containers that is read.
const specVersion = 1

// containers are the names here of containers that archives call otherwise.
var containers = map[string]string{
	"builtins.tuple": "tuple", "builtins.list": "list", "builtins.dict": "dict", "collections.OrderedDict": "OrderedDict", "collections.namedtuple": "namedtuple",
}

// describeContainers says what containers the inputs and the outputs of a program form.
func (m *graphModule) describeContainers(p *exportir.Program) {
	whole := m.Calls[0].Signature
	in := m.containersOf(whole.InSpec)
	if in == nil {
		source.Throw(exportir.Violation("the arguments of the program form no containers"))
	}
	for spec, described := range map[*string]any{
		&p.InSpec:  exportir.CallForm{Form: *in, Names: whole.Names, Calls: map[string]json.RawMessage{}},
		&p.OutSpec: m.containersOf(whole.OutSpec),
	} {
		*spec = string(source.Must(json.Marshal(described)))
	}
}

// containersOf reads a description of containers: a list of its version and what it says.
func (m *graphModule) containersOf(text string) *exportir.Form {
	var versioned []json.RawMessage
	if err := json.Unmarshal([]byte(text), &versioned); err != nil || len(versioned) != 2 {
		source.Throw(exportir.Violation("the description %.80q of containers is no list of a version and a description", text))
	}
	var version int
	if err := json.Unmarshal(versioned[0], &version); err != nil || version != specVersion {
		source.Throw(exportir.Violation("containers are described in version %s: %d is read", versioned[0], specVersion))
	}
	var spec treeSpec
	if err := json.Unmarshal(versioned[1], &spec); err != nil {
		source.Throw(exportir.Violation("a description of containers cannot be read: %s", err))
	}
	return m.form(&spec, 0)
}

// form is a description as this library has it.
func (m *graphModule) form(spec *treeSpec, depth int) *exportir.Form {
	if depth > exportir.MaxNesting {
		source.Throw(exportir.Violation("containers are nested more than %d deep", exportir.MaxNesting))
	}
	if spec.Type == nil {
		return nil
	}
	f := &exportir.Form{Type: *spec.Type, Children: []*exportir.Form{}}
	if own := containers[f.Type]; own != "" {
		f.Type = own
	}
	for i := range spec.Children {
		f.Children = append(f.Children, m.form(&spec.Children[i], depth+1))
	}
	if f.Type == "namedtuple" {
		m.nameFields(f, spec.Context)
	} else {
		f.Context = context(spec.Context)
	}
	return f
}

// context reads what a description says of a container besides its type: JSON, mostly in a text.
func context(content json.RawMessage) (c any) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		content = []byte(text)
	}
	if len(content) == 0 {
		return nil
	}
	if err := json.Unmarshal(content, &c); err != nil {
		source.Throw(exportir.Violation("the context %.80q of a container cannot be read: %s", content, err))
	}
	return c
}

// nameFields completes the description of a named tuple, whose context is the name of its class. An archive need not have the names of its fields.
func (m *graphModule) nameFields(f *exportir.Form, context json.RawMessage) {
	var class string
	_ = json.Unmarshal(context, &class) // no text names no class
	f.Name, f.Fields = class[strings.LastIndexByte(class, '.')+1:], m.NamedTuples[class].Fields
	for i := 0; m.NamedTuples[class].Fields == nil && i < len(f.Children); i++ {
		f.Fields = append(f.Fields, fmt.Sprintf("field_%d", i))
	}
	if f.Name == "" || len(f.Fields) != len(f.Children) {
		source.Throw(exportir.Violation("the named tuple %q of %d items has %d names for them", class, len(f.Children), len(f.Fields)))
	}
}
