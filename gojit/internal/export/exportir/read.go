package exportir

import (
	"encoding/json"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/archive/safetensors"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Read reads an archive, which is data alone: nothing in it is run. It fails where it is damaged, where the program is not what Check allows, and where
// tensors are missing or are not what the program says of them.
func Read(z *archive.Archive) (*Archive, error) {
	text, err := z.Read(ProgramRecord)
	if err != nil {
		return nil, err
	}
	var c content
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, unreadable("the program cannot be read: %s", err)
	}
	if c.Format != format || c.Program == nil {
		return nil, unreadable("the archive has the format %q: %q is read here", c.Format, format)
	}
	if err := c.Program.Check(); err != nil {
		return nil, err
	}
	weights, err := z.Read(tensorsRecord)
	if err != nil {
		return nil, err
	}
	stored, err := safetensors.Read(weights)
	if err != nil {
		return nil, err
	}
	a := &Archive{Program: c.Program, Tensors: map[string]*tensor.Tensor{}, Extra: map[string][]byte{}}
	if err := a.Place(stored.Tensors, c.Same); err != nil {
		return nil, err
	}
	for _, name := range z.Names() {
		if rest, ok := strings.CutPrefix(name, extraFolder); ok {
			if a.Extra[rest], err = z.Read(name); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

func unreadable(form string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, form, args...)
}

// Place gives each input that needs one its tensor of those that an archive has, by their names; same says which are others. It fails where one is
// missing, or is not what the program says of it.
func (a *Archive) Place(stored map[string]*tensor.Tensor, same map[string]string) error {
	inputs := a.Program.Graph.Placeholders()
	for i, in := range a.Program.Signature.Inputs {
		if in.Target == "" {
			if t := stored[ExamplePrefix+in.Name]; t != nil {
				a.Tensors[ExamplePrefix+in.Name] = t
			}
			continue
		}
		name := in.Target
		if other, ok := same[name]; ok {
			name = other
		}
		t := stored[name]
		if t == nil {
			return unreadable("the archive has no tensor %q", name)
		}
		if err := fits(t, inputs[i].Meta.Val); err != nil {
			return unreadable("the tensor %q is not what the program says: %s", name, err)
		}
		a.Tensors[in.Target] = t
	}
	return nil
}

// fits fails where a tensor is not what metadata says of it.
func fits(t *tensor.Tensor, v *Value) error {
	if v == nil || v.Kind != TensorValue {
		return unreadable("the input is said to be no tensor")
	}
	if t.DType().String() != v.DType || t.Dim() != len(v.Sizes) {
		return unreadable("it has type %s and %d dimensions, and is said to have %s and %d", t.DType(), t.Dim(), v.DType, len(v.Sizes))
	}
	for d, s := range v.Sizes {
		if s.IsConstant() && s.Const != t.Size(d) {
			return unreadable("its shape is %v, and dimension %d is said to have %d", t.Shape(), d, s.Const)
		}
	}
	return nil
}
