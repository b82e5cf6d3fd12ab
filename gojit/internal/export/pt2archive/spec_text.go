package pt2archive

import (
	"encoding/json"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// writeContainers describes the containers of inputs and outputs of a program.
func (m *graphModule) writeContainers(p *exportir.Program) {
	var in exportir.CallForm
	var out *exportir.Form
	if json.Unmarshal([]byte(p.InSpec), &in) != nil || json.Unmarshal([]byte(p.OutSpec), &out) != nil {
		source.Throw(exportir.Violation("the program does not say which containers its arguments and its results form"))
	}
	m.Calls = []moduleCall{{Signature: &callSignature{
		Inputs: []union{}, Outputs: []union{}, Names: in.Names, InSpec: m.specText(&in.Form), OutSpec: m.specText(out),
	}}}
}

// specText is the description of containers in a text.
func (m *graphModule) specText(f *exportir.Form) string {
	return string(source.Must(json.Marshal([]any{specVersion, m.spec(f)})))
}

// spec is a description as PyTorch has it. The fields of named tuples are noted.
func (m *graphModule) spec(f *exportir.Form) treeSpec {
	spec := treeSpec{Context: json.RawMessage("null"), Children: []treeSpec{}}
	if f == nil {
		return spec
	}
	for _, child := range f.Children {
		spec.Children = append(spec.Children, m.spec(child))
	}
	name, context := f.Type, string(source.Must(json.Marshal(f.Context)))
	for theirs, own := range containers {
		if own == f.Type {
			name = theirs
		}
	}
	if f.Type == "namedtuple" { // its class is known to PyTorch by the name under which it was registered
		m.NamedTuples[f.Name] = namedTuple{f.Fields}
		context = f.Name
	}
	spec.Type, spec.Context = &name, source.Must(json.Marshal(context))
	return spec
}
