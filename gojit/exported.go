package gojit

import (
	"context"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Exported is a program that torch.export captured, with its tensors.
type Exported struct {
	*export.Archive
	function *ir.Function
}

// LoadExported loads a program that torch.export.save wrote.
func LoadExported(path string) (*Exported, error) {
	LinkOperators()
	return exportedOf(export.Load(path))
}

// ReadExported is LoadExported of an archive in memory, which must stay as it is while the program is in use.
func ReadExported(data []byte) (*Exported, error) {
	LinkOperators()
	return exportedOf(export.Read(data))
}

func exportedOf(a *export.Archive, err error) (*Exported, error) {
	if err != nil {
		return nil, err
	}
	f, err := a.Program.Function("__torch__.exported")
	return &Exported{a, f}, err
}

// Run runs the program on the user's inputs: the tensors and numbers in the containers that the captured module took, one by one. It writes the
// buffers and inputs that the program writes, and returns the user's outputs. Runs that write buffers must not overlap.
func (e *Exported) Run(ctx context.Context, inputs ...value.Value) ([]value.Value, error) {
	args := make([]value.Value, len(e.Program.Signature.Inputs))
	next := 0
	for i, in := range e.Program.Signature.Inputs {
		if in.Target != "" {
			args[i] = value.OfTensor(e.Tensors[in.Target])
			continue
		}
		if next == len(inputs) {
			return nil, source.Errorf(source.TypeError, source.Range{}, "the program takes an input %s, which is not given", in.Name)
		}
		args[i] = inputs[next]
		next++
	}
	if next < len(inputs) {
		return nil, source.Errorf(source.TypeError, source.Range{}, "the program takes %d inputs, not %d", next, len(inputs))
	}
	out, err := Run(ctx, e.function, args...)
	if err != nil {
		return nil, err
	}
	return e.finish(args, out.Tuple().Items)
}

// finish writes what a run has written, and returns the outputs of the user.
func (e *Exported) finish(args, items []value.Value) ([]value.Value, error) {
	var results []value.Value
	for i, out := range e.Program.Signature.Outputs {
		if out.Kind == export.UserOutput {
			results = append(results, items[i])
			continue
		}
		for k, in := range e.Program.Signature.Inputs {
			if out.Target == in.Target && out.Kind == export.BufferMutation || out.Target == in.Name && out.Kind == export.UserInputMutation {
				if err := write(args[k], items[i]); err != nil {
					return nil, err
				}
			}
		}
	}
	return results, nil
}

// write copies one tensor into another.
func write(to, from value.Value) error {
	m := &autograd.Mode{}
	m.SetGradEnabled(false)
	return m.Run(ops.Find("aten::copy_"), []value.Value{to, from, value.Bool(false)}, make([]value.Value, 1))
}
