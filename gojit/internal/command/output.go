package command

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/npy"
)

// result is the report of a run.
type result struct {
	value gojit.Value
	JSON  json.RawMessage
}

func (r *result) text(w io.Writer) { fmt.Fprintln(w, r.value) }

// MarshalJSON implements json.Marshaler.
func (r *result) MarshalJSON() ([]byte, error) {
	parts := map[string]json.RawMessage{}
	for _, o := range gojit.Outputs(r.value) {
		text, err := gojit.MarshalJSON(o.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		parts[o.Name] = text
	}
	return json.Marshal(parts)
}

// write writes a result to a file whose name says the form.
func (s *Session) write(r *result, path string) error {
	switch form := filepath.Ext(path); form {
	case ".npy":
		if !r.value.IsTensor() {
			return usagef("-o %s: the result is %s, and an .npy holds one tensor: write an .npz or .json", path, value.TypeOf(r.value).Annotation(nil))
		}
		return s.writeFile(path, func(w io.Writer) error { return npy.Write(w, r.value.Tensor()) })
	case ".npz":
		var arrays []npy.Array
		for _, o := range gojit.Outputs(r.value) {
			if !o.Value.IsTensor() {
				return usagef("-o %s: %s is %s, and an .npz holds tensors: write a .json", path, o.Name, value.TypeOf(o.Value).Annotation(nil))
			}
			arrays = append(arrays, npy.Array{Name: o.Name, Tensor: o.Value.Tensor()})
		}
		return s.writeFile(path, func(w io.Writer) error { return npy.WriteArchive(w, arrays...) })
	case ".json":
		text, err := r.MarshalJSON()
		if err != nil {
			return err
		}
		return s.writeFile(path, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
	default:
		return usagef("-o %s: the end of the name says the form: expected .npy, .npz or .json", path)
	}
}

// writeFile writes a file as archives are written: it is there when all of it is, and as it was where that fails; links and modes stay.
func (s *Session) writeFile(path string, write func(w io.Writer) error) error {
	if err := safefile.ReplaceFile(path, write); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return nil
}
