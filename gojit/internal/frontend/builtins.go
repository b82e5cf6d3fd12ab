package frontend

import (
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
)

// builtinTemplates are overloads of operators that are written in the language itself. They are
// compiled on first use and inlined where they are called. A template is compiled once for each
// type in its list, which stands for T where there is one.
var builtinTemplates = []struct {
	types []string
	text  string
}{
	{[]string{"float", "int", "complex"}, `
def mul(a : T, b : Tensor) -> Tensor:
  return b * a
def add(a : T, b : Tensor) -> Tensor:
  return b + a
def ne(a : T, b : Tensor) -> Tensor:
  return b != a
def eq(a : T, b : Tensor) -> Tensor:
  return b == a
def sub(a : T, b : Tensor) -> Tensor:
  return torch.neg(b) + a
def div(a : T, b : Tensor) -> Tensor:
  return torch.reciprocal(b) * a
`},
	{[]string{"int", "float"}, `
def lt(a : T, b : Tensor) -> Tensor:
  return b > a
def le(a : T, b : Tensor) -> Tensor:
  return b >= a
def gt(a : T, b : Tensor) -> Tensor:
  return b < a
def ge(a : T, b : Tensor) -> Tensor:
  return b <= a
`},
	{[]string{"number", "Tensor"}, `
def floordiv(self : Tensor, other : T) -> Tensor:
  return torch.floor_divide(self, other)
`},
	{[]string{""}, `
def _assert_int_or_pair(vals: List[int], name: str, message: str):
  pass
def list_with_default(out_size: List[int], defaults: List[int]):
  assert len(defaults) > len(out_size)
  return out_size
def _assert(condition : bool, message : str):
  assert condition, message
`},
	{[]string{""}, `
def _assert(condition : Tensor, message : str):
  assert bool(condition), message
def __contains__(self: str, key: str):
    return self.find(key, 0, len(self)) != -1
`},
	{[]string{""}, `
def device(type: str) -> Device:
  return torch.device(type)
`},
	{[]string{"int", "float"}, `
def _single(x: BroadcastingList1[T]) -> List[T]:
  return x
def _pair(x: BroadcastingList2[T]) -> List[T]:
  return x
def _triple(x: BroadcastingList3[T]) -> List[T]:
  return x
def _quadruple(x: BroadcastingList4[T]) -> List[T]:
  return x
`},
}

// propertyTemplates are the properties of tensors that are written in the language.
const propertyTemplates = `
def ndim(self : Tensor) -> int:
  return self.dim()
def T(self : Tensor) -> Tensor:
  return self.numpy_T()
def H(self : Tensor) -> Tensor:
  return self.matrix_H()
def mT(self : Tensor) -> Tensor:
  return torch.mT(self)
def mH(self : Tensor) -> Tensor:
  return torch.mH(self)
def shape(self : Tensor) -> List[int]:
  return self.size()
`

var builtins = struct {
	sync.Mutex
	compiled map[string][]*ir.Function
	sources  map[string][]syntax.Def // by qualified name; nil until read
}{}

// builtinFunctions returns the overloads of an operator that are written in the language.
func builtinFunctions(name string) []*ir.Function {
	builtins.Lock()
	defer builtins.Unlock()
	if builtins.sources == nil {
		readBuiltins()
	}
	if fs, ok := builtins.compiled[name]; ok {
		return fs
	}
	defs := builtins.sources[name]
	if len(defs) == 0 {
		return nil
	}
	var fs []*ir.Function
	for _, def := range defs {
		f := ir.NewLazyFunction(name, nil, nil)
		if err := Compile(f, def, Options{Resolver: torchNamespace{}, FromText: true, operatorsOnly: true}); err != nil {
			panic("builtin function " + name + ": " + err.Error())
		}
		fs = append(fs, f)
	}
	builtins.compiled[name] = fs
	return fs
}

// writtenProperties returns the names of the properties of tensors that are written in the language.
func writtenProperties() (names []string) {
	builtins.Lock()
	defer builtins.Unlock()
	if builtins.sources == nil {
		readBuiltins()
	}
	for name := range builtins.sources {
		if property, ok := strings.CutPrefix(name, "prim::"); ok {
			names = append(names, property)
		}
	}
	return names
}

func readBuiltins() {
	builtins.sources = map[string][]syntax.Def{}
	builtins.compiled = map[string][]*ir.Function{}
	read := func(text, namespace string) {
		defs, err := syntax.ParseFile(source.NewText("<string>", text, 1))
		if err != nil {
			panic("builtin functions: " + err.Error())
		}
		for _, tree := range defs {
			def := syntax.AsDef(tree)
			name := namespace + def.Name().Name()
			builtins.sources[name] = append(builtins.sources[name], def)
		}
	}
	for _, t := range builtinTemplates {
		for _, typ := range t.types {
			text := strings.NewReplacer(": T,", ": "+typ+",", ": T)", ": "+typ+")", "[T]", "["+typ+"]").Replace(t.text)
			read(text, "aten::")
		}
	}
	read(propertyTemplates, "prim::")
}

// torchNamespace resolves the name torch alone.
type torchNamespace struct{ noResolver }

// ResolveValue implements Resolver.
func (torchNamespace) ResolveValue(name string, _ source.Range) (SugaredValue, error) {
	if name == "torch" {
		return NewNamespace("aten"), nil
	}
	return nil, nil
}

// namespace is a module of operators: its attributes are operators.
type namespace struct {
	NotFirstClass
	prefix string
}

// NewNamespace returns a namespace of operators.
func NewNamespace(prefix string) SugaredValue { return &namespace{"builtin module", prefix} }

func (n *namespace) Attr(_ *Emitter, _ source.Range, name string) SugaredValue {
	if s := specialNames[name]; s != nil && n.prefix == "aten" {
		return s
	}
	if n.prefix == "aten" {
		switch name {
		case "autograd", "jit":
			return n // torch.autograd.grad is an operator like others, torch.jit.fork is torch.fork
		case "ops":
			return &operatorNamespaces{"operator namespaces"}
		}
	}
	return NewBuiltin(n.prefix + "::" + name)
}

// specialNames are the attributes of torch that are no operators.
var specialNames = map[string]SugaredValue{
	"annotate":       NewSpecialForm(prim.Annotate),
	"unchecked_cast": NewSpecialForm(prim.UncheckedCast),
	"fork":           NewSpecialForm(prim.Fork),
}
