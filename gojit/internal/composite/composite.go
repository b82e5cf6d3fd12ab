// Package composite differentiates operators that are made of others: it holds what they are made of, in
// the language itself (composites.py), and gives it to autograd, which runs it where a gradient is asked for: in
// place of the operator, or, where that runs itself (runsWhole), in the backward pass. Without gradients the operator's
// own implementation runs, if it has one.
//
// A definition has the name of the operator, with its overload behind two underscores, and takes the
// operator's arguments by position. It is compiled when it is first needed.
package composite

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// files hold the definitions: what operators are made of, operators that are gradients of others, and operators that have
// no other implementation.
//
//go:embed composites.py gradients.py operators.py devices.py
var files embed.FS

var fileNames = []string{"composites.py", "gradients.py", "operators.py"}

// devicesFile holds what operators are made of on devices that have no form of them: it counts there alone.
const devicesFile = "devices.py"

func textOf(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("composite: %v", err))
	}
	return string(text)
}

// functions are the definitions by name.
var functions = sync.OnceValue(func() map[string]*ir.Function {
	found := map[string]*ir.Function{}
	for _, file := range fileNames {
		define(found, file, textOf(file))
	}
	return found
})

// Definitions returns the functions of a text of this kind, which are compiled when they are first needed and may call each
// other. It panics where the text cannot be parsed: it is part of the program.
func Definitions(file, text string) map[string]*ir.Function {
	found := map[string]*ir.Function{}
	define(found, file, text)
	return found
}

// define adds the functions of a text to those that it may call.
func define(found map[string]*ir.Function, file, text string) {
	trees, err := syntax.ParseFile(source.NewText(file, text, 1))
	if err != nil {
		panic(fmt.Sprintf("composite: %v", err))
	}
	unit := ir.NewUnit()
	for _, tree := range trees {
		def := syntax.AsDef(tree)
		name := def.Name().Name()
		f := ir.NewLazyFunction(name, &defining, func(f *ir.Function) error {
			return frontend.Compile(f, def, frontend.Options{Resolver: resolver{found}, Unit: unit})
		})
		f.IgnoresAutocast.Store(true) // it stands for operators that run one by one
		found[name] = f
	}
}

// defining is held while a definition is compiled.
var defining sync.Mutex

// Link gives the definitions to autograd. It is called once, before anything is recorded.
func Link() {
	for _, file := range fileNames {
		for line := range strings.Lines(textOf(file)) {
			if rest, ok := strings.CutPrefix(line, "def "); ok {
				name, _, _ := strings.Cut(rest, "(")
				if strings.HasPrefix(name, "_own_") { // what only the definitions themselves call
					continue
				}
				link(name)
			}
		}
	}
	linkAdjoints()
	for line := range strings.Lines(textOf(devicesFile)) {
		if rest, ok := strings.CutPrefix(line, "def "); ok && !strings.HasPrefix(rest, "_own_") {
			name, _, _ := strings.Cut(rest, "(")
			ops.Find("aten::" + operatorName(name)).PartsOnDevices = func(args, out []value.Value) error {
				m := &autograd.Mode{}
				m.SetGradEnabled(false)
				return call(m, onDevices()[name], args, out)
			}
		}
	}
}

// onDevices are the definitions of devicesFile by name.
var onDevices = sync.OnceValue(func() map[string]*ir.Function { return Definitions(devicesFile, textOf(devicesFile)) })

// link has the operator of a definition recorded as what the definition does. An operator without an
// implementation of its own always runs so.
func link(name string) {
	linkRun(operatorName(name), func(m *autograd.Mode, args, out []value.Value) error { return run(m, name, args, out) })
}

// linkRun is link of an operator that runs so under a mode.
func linkRun(key string, run func(m *autograd.Mode, args, out []value.Value) error) {
	o := ops.Find("aten::" + key)
	own := o != nil && o.Run != nil
	autograd.Decompose(key, run, func() bool { return !own || o.CallsItself() })
	if o == nil {
		return
	}
	o.Parts = func(args, out []value.Value) error {
		m := &autograd.Mode{}
		m.SetGradEnabled(false)
		return run(m, args, out)
	}
	o.CallsItself = sync.OnceValue(func() bool { return callsItself(o) })
	if o.Run == nil {
		o.Run = o.Parts
		variants := aten.Variants(key, o.Run)
		for i := range variants {
			if known := ops.Find(variants[i].Name); known != nil && known.Run == nil {
				known.Run = variants[i].Run
			}
		}
	}
}

// callsItself reports whether the definition of an operator calls the operator.
func callsItself(o *ops.Operator) bool {
	name := strings.TrimPrefix(o.Name, "aten::")
	base, _, _ := strings.Cut(name, ".")
	for _, file := range fileNames {
		_, body, found := strings.Cut(textOf(file), "\ndef "+strings.ReplaceAll(name, ".", "__")+"(")
		if !found {
			continue
		}
		body, _, _ = strings.Cut(body, "\n\n")
		if strings.Contains(body, "torch."+base+"(") {
			return true
		}
	}
	return false
}

// operatorName turns clamp__Tensor into clamp.Tensor.
func operatorName(name string) string {
	if i := strings.LastIndex(name, "__"); i > 0 && i+2 < len(name) {
		return name[:i] + "." + name[i+2:]
	}
	return name
}

// Names returns the operators that have a definition, without their namespace.
func Names() []string {
	var names []string
	for name := range functions() {
		if !strings.HasPrefix(name, "_own_") {
			names = append(names, operatorName(name))
		}
	}
	return names
}

// Function returns the compiled definition of an operator, nil where it has none.
func Function(operator string) (*ir.Function, error) {
	f := functions()[strings.ReplaceAll(operator, ".", "__")]
	if f == nil {
		return nil, nil
	}
	return f, f.EnsureDefined()
}

// engine runs definitions.
var engine = sync.OnceValue(func() *exec.Engine { return exec.New(exec.Options{}) })

func run(m *autograd.Mode, name string, args, out []value.Value) error {
	inner, err := m.Expanding(operatorName(name), args)
	if err != nil {
		return err
	}
	return call(inner, functions()[name], args, out)
}

// call runs a definition.
func call(m *autograd.Mode, f *ir.Function, args, out []value.Value) error {
	ctx := autograd.WithMode(context.Background(), m)
	code, err := engine().Code(f, nil)
	if err != nil {
		return err
	}
	if len(out) == 1 {
		return code.RunUntraced(ctx, args, out)
	}
	var tuple [1]value.Value
	if err := code.RunUntraced(ctx, args, tuple[:]); err != nil {
		return err
	}
	if len(out) > 0 {
		copy(out, tuple[0].Tuple().Items)
	}
	return nil
}

var elementTypes = map[string]tensor.DType{
	"uint8": tensor.Uint8, "int32": tensor.Int32, "int64": tensor.Int64, "float16": tensor.Float16, "bfloat16": tensor.BFloat16, "float32": tensor.Float32, "float64": tensor.Float64, "complex64": tensor.Complex64, "complex128": tensor.Complex128, "bool": tensor.Bool,
	"int8": tensor.Int8, "complex32": tensor.Complex32, "quint8": tensor.QUInt8, "qint8": tensor.QInt8, "qint32": tensor.QInt32,
}

// torch is the operators, and the types of elements as PyTorch numbers them.
var torch = frontend.NewHostModule(func(name string) (frontend.SugaredValue, error) {
	if d, ok := elementTypes[name]; ok {
		return frontend.NewConstant(value.Int(int64(d))), nil
	}
	return frontend.NewBuiltin("aten::" + name), nil
})

// resolver gives meaning to torch, math and the definitions themselves.
type resolver struct{ functions map[string]*ir.Function }

// ResolveType implements frontend.Resolver.
func (resolver) ResolveType(string, source.Range) (types.Type, error) { return nil, nil }

// ResolveValue implements frontend.Resolver.
func (r resolver) ResolveValue(name string, _ source.Range) (frontend.SugaredValue, error) {
	switch name {
	case "torch":
		return torch, nil
	case "math":
		return frontend.NewNamespace("aten"), nil
	case "annotate":
		return frontend.NewSpecialForm(prim.Annotate), nil
	case "RuntimeError":
		return frontend.NewException("builtins." + name), nil
	}
	if f := r.functions[name]; f != nil {
		return frontend.NewFunctionValue(f), nil
	}
	return nil, nil
}
