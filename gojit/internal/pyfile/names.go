package pyfile

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// names gives meaning to the names of a file: it is a frontend.Resolver.
type names struct {
	unit     *ir.Unit
	imported map[string]string // what names of the file are in full: "F" is "torch.nn.functional"
	skipped  map[string]outside
}

// outside is what a name of a file stands for that is no part of the program.
type outside struct {
	typeName string // of the value in Python, "" where it is not known
	reason   string
}

// add reads an import: "import a.b as c" or "from a import b as c, d".
func (n *names) add(text string) {
	for _, i := range imports(text) {
		n.imported[i.name] = i.full
	}
}

// imported is a name that an import binds, and what it is in full.
type imported struct{ name, full string }

func imports(text string) []imported {
	var found []imported
	prefix, list := "", strings.TrimPrefix(text, "import ")
	if rest, ok := strings.CutPrefix(text, "from "); ok {
		prefix, list, _ = strings.Cut(rest, " import ")
		prefix = strings.TrimSpace(prefix) + "."
		list = strings.Trim(strings.TrimSpace(list), "()")
	}
	for _, part := range strings.Split(list, ",") {
		full, name, renamed := strings.Cut(strings.TrimSpace(part), " as ")
		if full = strings.TrimSpace(full); full == "" {
			continue
		}
		switch {
		case renamed:
			found = append(found, imported{strings.TrimSpace(name), prefix + full})
		case prefix == "":
			first, _, _ := strings.Cut(full, ".")
			found = append(found, imported{first, first})
		default:
			found = append(found, imported{full, prefix + full})
		}
	}
	return found
}

// unknown returns the modules of an import that have no meaning in programs.
func (n *names) unknown(text string) []string {
	var unknown []string
	for _, i := range imports(text) {
		first, _, _ := strings.Cut(i.full, ".")
		if !slices.Contains([]string{"torch", "math", "typing", "typing_extensions", "enum", "__future__", "builtins"}, first) {
			unknown = append(unknown, i.full)
		}
	}
	return unknown
}

// expand returns a dotted name in full.
func (n *names) expand(name string) string {
	first, rest, dotted := strings.Cut(name, ".")
	full, ok := n.imported[first]
	if !ok {
		return name
	}
	if dotted {
		return full + "." + rest
	}
	return full
}

// ResolveType implements frontend.Resolver.
func (n *names) ResolveType(name string, _ source.Range) (types.Type, error) {
	return n.unit.Type(Qualified(name)), nil
}

// ResolveValue implements frontend.Resolver.
func (n *names) ResolveValue(name string, at source.Range) (frontend.SugaredValue, error) {
	if f := n.unit.Function(Qualified(name)); f != nil {
		return frontend.NewFunctionValue(f), nil
	}
	switch t := n.unit.Type(Qualified(name)).(type) {
	case *types.Class:
		return frontend.NewClassValue(t), nil
	case *types.Tuple:
		return frontend.NewNamedTuple(t), nil
	case *types.Enum:
		return frontend.NewEnumClass(t), nil
	}
	if isException(name) {
		return frontend.NewException("builtins." + name), nil
	}
	if full, ok := n.imported[name]; ok {
		return resolve(full)
	}
	switch o, ok := n.skipped[name]; {
	case !ok && slices.Contains(functionsOfPython, name):
		return frontend.NewHostObject("builtin_function_or_method", "<built-in function "+name+">"), nil
	case !ok:
		return nil, nil
	case o.typeName != "":
		return frontend.NewHostObject(o.typeName, name), nil
	default:
		return nil, source.Errorf(source.RuntimeError, at, "undefined value %s", name).WithNote(source.Range{}, "the file has %s, but %s", name, o.reason)
	}
}

// functionsOfPython are built-in functions that programs do not have.
var functionsOfPython = strings.Fields("aiter anext ascii breakpoint callable compile delattr dir eval exec format globals hash id input issubclass iter locals next open repr setattr vars")

func isException(name string) bool {
	return slices.Contains([]string{"Exception", "RuntimeError", "ValueError", "TypeError", "IndexError", "KeyError", "NotImplementedError", "AssertionError"}, name)
}

// namespaces are the modules whose attributes are operators, with what the operators' names begin with.
var namespaces = map[string]string{"torch": "aten::", "torch.linalg": "aten::linalg_", "torch.special": "aten::special_", "torch.fft": "aten::fft_", "math": "aten::"}

// modules are the other namespaces.
var modules = []string{"torch.nn", "torch.nn.functional", "torch.jit", "torch.ops"}

// resolve returns what a full name stands for, nil where it has no meaning in programs.
func resolve(full string) (frontend.SugaredValue, error) {
	if _, ok := namespaces[full]; ok || slices.Contains(modules, full) {
		return frontend.NewHostModule(func(name string) (frontend.SugaredValue, error) { return resolve(full + "." + name) }), nil
	}
	dot := strings.LastIndexByte(full, '.')
	if dot < 0 {
		return nil, nil
	}
	module, name := full[:dot], full[dot+1:]
	if v, ok := constants[full]; ok {
		return frontend.NewConstant(v), nil
	}
	if s := special[full]; s != nil {
		return s, nil
	}
	if dtype, ok := tensor.ParseDType(name); ok && module == "torch" {
		return frontend.NewConstant(value.Int(int64(dtype))), nil
	}
	if module == "torch.ops" {
		return frontend.NewNamespace(name), nil
	}
	if module == "torch.nn.functional" {
		if _, ok := ops.FactOf("aten::"+name, "nn_functional"); ok { // the others are programs in Python
			return frontend.NewBuiltin("aten::" + name), nil
		}
		return nil, nil
	}
	if prefix, ok := namespaces[module]; ok && len(ops.Overloads(prefix+name)) > 0 {
		return frontend.NewBuiltin(prefix + name), nil
	}
	return nil, nil
}

// constants are the names of torch and math that are values: memory formats, layouts and numbers.
var constants = map[string]value.Value{
	"torch.contiguous_format": value.Int(int64(tensor.ContiguousFormat)), "torch.preserve_format": value.Int(int64(tensor.PreserveFormat)),
	"torch.channels_last": value.Int(int64(tensor.ChannelsLast)), "torch.channels_last_3d": value.Int(int64(tensor.ChannelsLast3D)),
	"torch.strided": value.Int(0), "torch.sparse_coo": value.Int(1),
	"torch.inf": value.Float(math.Inf(1)), "torch.nan": value.Float(math.NaN()), "torch.pi": value.Float(math.Pi), "torch.e": value.Float(math.E),
	"math.inf": value.Float(math.Inf(1)), "math.nan": value.Float(math.NaN()), "math.pi": value.Float(math.Pi), "math.e": value.Float(math.E), "math.tau": value.Float(2 * math.Pi),
}

// special are the names that are no operators.
var special = map[string]frontend.SugaredValue{
	"torch.jit.annotate": frontend.NewSpecialForm(prim.Annotate), "torch.jit.fork": frontend.NewSpecialForm(prim.Fork),
	"torch.jit.isinstance": frontend.NewSpecialForm(prim.Isinstance), "torch.jit.wait": frontend.NewBuiltin(aten.Wait),
	"torch.jit.is_scripting": frontend.NewBuiltin(aten.IsScripting), "torch.device": frontend.NewBuiltin(aten.Device),
}

// assigned notes the names that a statement outside of functions sets, which no program reads.
func (n *names) assigned(t *syntax.Tree) {
	if t.Kind != syntax.KindAssign {
		return
	}
	a := syntax.AsAssign(t)
	for _, left := range a.LHSList() {
		targets, typeName := []syntax.Expr{left}, typeNameOf(a.RHS())
		if left.Kind == syntax.KindTupleLiteral || left.Kind == syntax.KindListLiteral {
			targets, typeName = left.Children[0].Children, ""
		}
		for _, target := range targets {
			if target.Kind == syntax.KindVar {
				n.skipped[frontend.DottedName(target)] = outside{typeName, "programs cannot read global variables: pass the value as an argument"}
			}
		}
	}
}

// typeNameOf returns the name that Python has for the type of a literal, "" for what is none.
func typeNameOf(e syntax.Expr) string {
	switch {
	case e == nil:
		return ""
	case e.Kind == syntax.KindConst && strings.ContainsAny(e.Text, "jJ"):
		return "complex"
	case e.Kind == syntax.KindConst && strings.ContainsAny(e.Text, ".eE") && !strings.HasPrefix(e.Text, "0x"):
		return "float"
	}
	return literals[e.Kind]
}

var literals = map[syntax.Kind]string{
	syntax.KindConst: "int", syntax.KindStringLiteral: "str", syntax.KindListLiteral: "list", syntax.KindTupleLiteral: "tuple",
	syntax.KindDictLiteral: "dict", syntax.KindTrue: "bool", syntax.KindFalse: "bool", syntax.KindNone: "NoneType",
}
