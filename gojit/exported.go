package gojit

import (
	"context"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Exported is a program that torch.export captured, of this library or of PyTorch 2, with its tensors.
type Exported struct {
	*exportir.Archive
	function *ir.Function
	user     []exportir.InputSpec // the inputs that are the user's
	guard    *export.Guard        // of these
	writing  sync.Mutex           // held by calls of a program that writes buffers
}

// LoadExported loads a program that torch.export.save wrote, of this library or of PyTorch 2.
func LoadExported(path string) (e *Exported, err error) {
	LinkOperators()
	defer fileError(path, &err)
	return exportedOf(export.LoadArchive(path, nil))
}

// ReadExported is LoadExported of an archive in memory, which must stay as it is while the program is in use.
func ReadExported(data []byte) (e *Exported, err error) {
	LinkOperators()
	defer fileError("", &err)
	return exportedOf(export.ReadArchive(data))
}

func exportedOf(a *exportir.Archive, err error) (*Exported, error) {
	if err != nil {
		return nil, err
	}
	f, err := export.Function(a.Program, "__torch__.exported")
	if err != nil {
		return nil, err
	}
	e := &Exported{Archive: a, function: f}
	var known []*exportir.Value
	for i, n := range a.Program.Graph.Placeholders() {
		if in := a.Program.Signature.Inputs[i]; in.Target == "" {
			e.user, known = append(e.user, in), append(known, n.Meta.Val)
		}
	}
	e.guard = export.NewGuard(known, a.Program.Symbols)
	return e, nil
}

// SaveForPyTorch writes the program to a file that torch.export.load of PyTorch 2.15 reads, as LoadExported does. It fails on what has no form there. The file
// stays as it is where that fails.
func (e *Exported) SaveForPyTorch(file string) error {
	return export.SaveForPyTorch(e.Archive, file, nil)
}

// Methods returns the one method that an exported program has.
func (e *Exported) Methods() []string { return []string{"forward"} }

// Signature returns what the program takes of its caller and gives: its method is forward.
func (e *Exported) Signature(method string) (s Signature, err error) {
	if err := e.check(method); err != nil {
		return s, err
	}
	s.Parameters, s.Outputs = []Parameter{}, []string{}
	for i, in := range e.Program.Signature.Inputs {
		if in.Target == "" {
			s.Parameters = append(s.Parameters, Parameter{Name: in.Name, Type: e.function.Schema.Arguments[i].Type.Annotation(nil)})
		}
	}
	for _, out := range e.Program.Signature.Outputs {
		if out.Kind == exportir.UserOutput {
			s.Outputs = append(s.Outputs, out.Name)
		}
	}
	s.Result = "Tuple[" + strings.Repeat("Tensor, ", max(len(s.Outputs)-1, 0)) + "Tensor]"
	if len(s.Outputs) == 1 {
		s.Result = "Tensor"
	}
	return s, nil
}

func (e *Exported) check(method string) error {
	if method == "forward" {
		return nil
	}
	return callErrorf(source.AttributeError, method, "", "The program has no method '%s'; it has forward", method)
}

// Call calls the program with Go values, as Module.Call does; the method is forward. Its outputs are a tuple that names them, or one value; see
// WithContainers for those that the captured module had. Calls of a program that writes its buffers wait for each other.
func (e *Exported) Call(ctx context.Context, method string, args ...any) (out value.Value, err error) {
	defer guard(&err)
	if err := e.check(method); err != nil {
		return value.None, err
	}
	s, err := e.Signature(method)
	if err != nil {
		return value.None, err
	}
	c := &binding{function: e.userFunction(s)}
	contained := wantsContainers(args)
	if contained {
		if err := e.takeContainers(c); err != nil {
			return value.None, err
		}
	}
	if err := c.bind(args); err != nil {
		return value.None, err
	}
	if contained {
		c.spread()
	}
	if e.Program.Writes() {
		e.writing.Lock()
		defer e.writing.Unlock()
	}
	mode := autograd.ModeOf(ctx)
	mode.SetGradEnabled(c.options.records)
	var results []value.Value
	parallel.LimitThreads(c.options.threads, func() { results, err = e.Run(autograd.WithMode(ctx, &mode), c.values...) })
	if err == nil && contained {
		return e.inContainers(results)
	}
	if err != nil || len(results) == 1 {
		return append(results, value.None)[0], err
	}
	result := value.NewTuple(results...)
	elems := make([]types.Type, len(results))
	for i, v := range results {
		elems[i] = value.TypeOf(v)
	}
	result.Type = types.NewTuple(elems...)
	result.Type.Fields = s.Outputs
	return value.OfTuple(result), nil
}

// userFunction stands for the program in messages about arguments: its parameters are those of the user.
func (e *Exported) userFunction(s Signature) *ir.Function {
	user := *e.function.Schema
	user.Name, user.Arguments = "forward", nil
	for i, in := range e.Program.Signature.Inputs {
		if in.Target == "" {
			a := e.function.Schema.Arguments[i]
			a.Name = in.Name
			user.Arguments = append(user.Arguments, a)
		}
	}
	return ir.NewFunction("forward", &user, nil)
}

// Run runs the program on the user's inputs: the tensors and numbers in the containers that the captured module took, one by one. It writes the
// buffers and inputs that the program writes, and returns the user's outputs. Runs that write buffers must not overlap. It fails on tensors of other element
// types and sizes than the program was captured for, and on other numbers than those that are part of it.
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
	if err := e.checkInputs(inputs); err != nil {
		return nil, err
	}
	out, err := Run(ctx, e.function, args...)
	if err != nil {
		return nil, err
	}
	return e.finish(args, out.Tuple().Items)
}

// checkInputs fails where the program was not captured for the user's inputs.
func (e *Exported) checkInputs(inputs []value.Value) error {
	tensors := make([]*tensor.Tensor, len(inputs))
	for i, v := range inputs {
		if v.IsTensor() {
			tensors[i] = v.Tensor()
		}
		in := &e.user[i]
		if in.Constant != nil {
			is, err := in.Constant.Value()
			if err != nil {
				return err
			}
			if !value.EqualConstants(is, v) {
				return callErrorf(source.RuntimeError, "forward", in.Name, "Expected input at %s to be equal to %s, but got %s", in.Name, value.Repr(is, nil), value.Repr(v, nil))
			}
		}
	}
	if wrong := e.guard.Check(tensors); wrong != nil {
		name := e.user[wrong.Input].Name
		return callErrorf(source.RuntimeError, "forward", name, "%s", strings.Replace(wrong.Text, "%s", name, 1))
	}
	return nil
}

// finish writes what a run has written, and returns the outputs of the user.
func (e *Exported) finish(args, items []value.Value) ([]value.Value, error) {
	var results []value.Value
	for i, out := range e.Program.Signature.Outputs {
		if out.Kind == exportir.UserOutput {
			results = append(results, items[i])
			continue
		}
		for k, in := range e.Program.Signature.Inputs {
			if out.Target == in.Target && out.Kind == exportir.BufferMutation || out.Target == in.Name && out.Kind == exportir.UserInputMutation {
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
	return m.Run(ops.Find(aten.Copy_), []value.Value{to, from, value.Bool(false)}, make([]value.Value, 1))
}

// Export captures the method forward of a module as a program for tensors of the sizes of the arguments, which are given as to Call.
func (m *Module) Export(args ...any) (e *Exported, err error) {
	defer guard(&err)
	LinkOperators()
	f, err := m.Method("forward")
	if err != nil {
		return nil, err
	}
	values, err := m.bind(f, args)
	if err != nil {
		return nil, err
	}
	tensors := map[string]*tensor.Tensor{}
	o := &export.Options{Script: &export.Script{Self: m.Object, Arguments: values}}
	state := stateOf(m.Object, "")
	for _, kind := range []string{exportir.Parameter, exportir.Buffer} {
		letter := map[string]string{exportir.Parameter: "p_", exportir.Buffer: "b_"}[kind]
		for _, x := range state {
			if x.kind == kind {
				spec := exportir.InputSpec{Kind: kind, Name: letter + strings.ReplaceAll(x.name, ".", "_"), Target: x.name, Persistent: true}
				o.Inputs = append(o.Inputs, export.Input{Spec: spec, Value: value.OfTensor(x.tensor)})
				tensors[x.name] = x.tensor
			}
		}
	}
	arguments, leaves := argumentsOf(f, values, args)
	for _, leaf := range leaves {
		o.Inputs = append(o.Inputs, export.Input{Spec: exportir.InputSpec{Kind: exportir.UserInput, Name: leaf.Name}, Value: leaf.Value})
	}
	g := f.Graph().Copy()
	passes.Inline(g)
	p, err := export.Capture(g, o)
	if err != nil {
		return nil, err
	}
	if p.InSpec, err = arguments.InSpec(); err != nil {
		return nil, err
	}
	return exportedOf(&exportir.Archive{Program: p, Tensors: tensors}, nil)
}

// argumentsOf describes the arguments of a call whose parameters behind self have values, and lists the tensors and numbers in them: those that are given by their
// places, then those by their names in the order in which they are given. A parameter that keeps its default is no input of the program.
func argumentsOf(f *ir.Function, values []value.Value, args []any) (*export.Arguments, []export.Leaf) {
	described := &export.Arguments{}
	var all []export.Leaf
	add := func(i int) *exportir.Form {
		name := f.Schema.Arguments[i].Name
		leaves, form := export.Leaves(name, values[i-1])
		described.Names, all = append(described.Names, name), append(all, leaves...)
		return form
	}
	for i := range countPositional(args) {
		described.Places = append(described.Places, add(1+i))
	}
	for _, arg := range args {
		if k, ok := arg.(Keyword); ok {
			described.Keywords = append(described.Keywords, add(f.Schema.ArgumentIndex(k.Name)))
		}
	}
	return described, all
}

// state is a tensor of a module.
type state struct {
	kind   string
	name   string
	tensor *tensor.Tensor
}

func stateOf(o *value.Object, prefix string) []state {
	var found []state
	for i, a := range o.Class.Attributes {
		v := o.Slots[i]
		switch {
		case v.Kind() == value.KindObject:
			found = append(found, stateOf(v.Object(), prefix+a.Name+".")...)
		case v.IsTensor() && a.IsParameter:
			found = append(found, state{exportir.Parameter, prefix + a.Name, v.Tensor()})
		case v.IsTensor():
			found = append(found, state{exportir.Buffer, prefix + a.Name, v.Tensor()})
		}
	}
	return found
}
