package command

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// info is the report of what a model has.
type info struct {
	File    string       `json:"file"`
	Kind    string       `json:"kind"` // "TorchScript" or "exported program"
	Class   string       `json:"class,omitempty"`
	Methods []methodInfo `json:"methods"`
	State   []stateInfo  `json:"state"`
	Numbers int          `json:"parameters"` // elements of all parameters
	Bytes   int          `json:"bytes"`      // of all tensors
}

type methodInfo struct {
	Name string `json:"name"`
	gojit.Signature
}

type stateInfo struct {
	Kind  string `json:"kind"` // parameter, buffer, attribute, module, constant
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape,omitempty"`
}

func (r *info) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s", r.File, r.Kind)
	if r.Class != "" {
		fmt.Fprintf(w, " of %s", r.Class)
	}
	fmt.Fprintf(w, ", %d numbers in parameters, %d bytes in tensors\n", r.Numbers, r.Bytes)
	for _, m := range r.Methods {
		fmt.Fprintf(w, "method %s%s\n", m.Name, m.Signature)
	}
	for _, x := range r.State {
		fmt.Fprintf(w, "%s %s : %s", x.Kind, x.Name, x.Type)
		if x.Shape != nil {
			fmt.Fprintf(w, "%v", x.Shape)
		}
		fmt.Fprintln(w)
	}
}

func infoVerb(s *Session) *cobra.Command {
	return &cobra.Command{
		Use: "info MODEL", Short: "List methods, parameters, buffers and submodules", GroupID: groupLook, Args: cobra.ExactArgs(1),
		Long: "Lists what a model has: its methods with what they take and give, and its state. The model is loaded; `gojit verify` runs nothing of a file.",
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := s.infoOf(args[0])
			if err != nil {
				return err
			}
			return s.print(r)
		},
	}
}

func (s *Session) infoOf(file string) (*info, error) {
	model, err := s.openModel(file)
	if err != nil {
		return nil, named(file, err)
	}
	r := &info{File: file, Methods: []methodInfo{}, State: []stateInfo{}}
	for _, name := range model.Methods() {
		signature, err := model.Signature(name)
		if err != nil {
			return nil, err
		}
		r.Methods = append(r.Methods, methodInfo{name, signature})
	}
	switch m := model.(type) {
	case *gojit.Module:
		r.Kind, r.Class = "TorchScript", m.Object.Class.Name
		r.object(m.Object, "")
	case *gojit.Exported:
		r.Kind = "exported program"
		for _, in := range m.Program.Signature.Inputs {
			if t := m.Tensors[in.Target]; t != nil {
				kind := map[string]string{"PARAMETER": "parameter", "BUFFER": "buffer"}[string(in.Kind)]
				if kind == "" {
					kind = "constant"
				}
				r.tensor(kind, in.Target, value.OfTensor(t))
			}
		}
	}
	return r, nil
}

func (r *info) tensor(kind, name string, v value.Value) {
	t := v.Tensor()
	r.State = append(r.State, stateInfo{kind, name, t.DType().String(), slices.Clone(t.Shape())})
	r.Bytes += t.Numel() * t.DType().Size()
	if kind == "parameter" {
		r.Numbers += t.Numel()
	}
}

func (r *info) object(o *value.Object, prefix string) {
	for i, a := range o.Class.Attributes {
		v, name := o.Slots[i], prefix+a.Name
		kind := "attribute"
		switch {
		case a.IsParameter:
			kind = "parameter"
		case a.IsBuffer:
			kind = "buffer"
		}
		switch {
		case v.IsTensor():
			r.tensor(kind, name, v)
		case v.Kind() == value.KindObject:
			r.State = append(r.State, stateInfo{Kind: "module", Name: name, Type: v.Object().Class.Name})
			r.object(v.Object(), name+".")
		default:
			r.State = append(r.State, stateInfo{Kind: kind, Name: name, Type: a.Type.Annotation(nil)})
		}
	}
}

// verification is the report of verify.
type verification struct {
	*gojit.Report
}

func (r verification) text(w io.Writer) {
	fmt.Fprintf(w, "version %d\nmodule %s\n", r.Version, r.Module)
	for _, record := range r.Records {
		fmt.Fprintf(w, "record %s %d\n", record.Name, record.Size)
	}
	for _, t := range r.Tensors {
		fmt.Fprintf(w, "tensor %s : %s%v in %s\n", t.Name, t.DType, t.Shape, t.Storage)
	}
	names := make([]string, 0, len(r.Methods))
	for name := range r.Methods {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(w, "method %s\n", name)
	}
	for _, list := range []struct {
		word  string
		names []string
	}{{"operator", r.Operators}, {"missing operator", r.Missing}, {"restored by running code", r.Restored}, {"extra file", r.Extra}, {"problem", r.Problems}} {
		for _, name := range list.names {
			fmt.Fprintf(w, "%s %s\n", list.word, name)
		}
	}
}

func verifyVerb(s *Session) *cobra.Command {
	return &cobra.Command{
		Use: "verify MODEL", Short: "Read and compile all of a file, and run nothing of it", GroupID: groupLook, Args: cobra.ExactArgs(1),
		Long: "Reads every record, compares checksums, and compiles every method. The status is 3 where something is wrong with the file. Nothing of it runs: this is for files from strangers.",
		RunE: func(_ *cobra.Command, args []string) error { return s.verify(args[0]) },
	}
}

func (s *Session) verify(file string) error {
	data, err := s.readFile(file)
	if err != nil {
		return err
	}
	if gojit.IsExported(data) {
		if _, err := gojit.ReadExported(data); err != nil {
			return named(file, err)
		}
		return s.print(plainText{"an exported program, whole\n"})
	}
	r, err := gojit.InspectBytes(data)
	if err != nil {
		return named(file, err)
	}
	if err := s.print(verification{r}); err != nil || len(r.Problems) == 0 {
		return err
	}
	return &errs.FileError{Path: file, Err: errors.New(plural(file, len(r.Problems)))}
}

func plural(file string, problems int) string {
	if problems == 1 {
		return file + " has a problem"
	}
	return fmt.Sprintf("%s has %d problems", file, problems)
}
