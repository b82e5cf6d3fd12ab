package frontend

import (
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// typeNames are the types that every program knows by name.
var typeNames = map[string]types.Type{
	"Tensor": types.Tensor, "int": types.Int, "float": types.Float, "bool": types.Bool, "complex": types.Complex,
	"str": types.Str, "Device": types.Device, "device": types.Device, "Stream": types.Stream, "number": types.Number,
	"None": types.None, "NoneType": types.None, "Any": types.Any, "Capsule": types.Capsule, "Generator": types.Generator,
	"list": types.AnyList, "tuple": types.AnyTuple, "dtype": types.Int, "Size": types.NewList(types.Int),
	"AnyClassType": types.AnyClass, "AnyEnumType": types.AnyEnum, "Layout": types.Int, "layout": types.Int,
	"memory_format": types.Int, "ScalarType": types.Int, "QScheme": types.Int,
}

// typeOf reads an annotation.
func (e *Emitter) typeOf(expr syntax.Expr) types.Type {
	switch expr.Kind {
	case syntax.KindVar, syntax.KindSelect:
		return e.namedType(expr)
	case syntax.KindNone:
		return types.None
	case syntax.KindStringLiteral:
		return e.quotedType(expr.Range, syntax.AsStringLiteral(expr).Value())
	case syntax.KindSubscript:
		return e.genericType(syntax.AsSubscript(expr))
	case syntax.KindBitOr:
		b := syntax.AsBinOp(expr)
		return types.NewUnion(e.typeOf(b.LHS()), e.typeOf(b.RHS()))
	case syntax.KindTupleLiteral:
		return types.NewTuple(e.typesOf(syntax.AsTupleLiteral(expr).Inputs())...)
	}
	fail(expr.Range, "Expression of type %s cannot be used in a type expression", expressionName(expr.Kind))
	return nil
}

// quotedType reads an annotation that is a string.
func (e *Emitter) quotedType(at source.Range, text string) types.Type {
	t, err := func() (t types.Type, err error) {
		defer source.Catch(&err)
		return e.typeOf(source.Must(syntax.ParseExpr(source.NewText("", text, 1)))), nil
	}()
	if known, ok := err.(*source.Error); ok && strings.HasPrefix(known.Text, "Cannot create") {
		panic(known)
	}
	if err != nil {
		fail(at, "Unknown type name '%s'", text)
	}
	return t
}

// expressionName is what messages call an expression.
func expressionName(k syntax.Kind) string {
	if k == syntax.KindTernaryIf {
		return "if"
	}
	return k.String()
}

func (e *Emitter) typesOf(exprs []syntax.Expr) []types.Type {
	ts := make([]types.Type, len(exprs))
	for i, x := range exprs {
		ts[i] = e.typeOf(x)
	}
	return ts
}

// dottedName returns "a.b.c" of a chain of selections, "" for anything else.
func dottedName(expr syntax.Expr) string {
	switch expr.Kind {
	case syntax.KindVar:
		return syntax.AsVar(expr).Name().Name()
	case syntax.KindSelect:
		s := syntax.AsSelect(expr)
		if base := dottedName(s.Value()); base != "" {
			return base + "." + s.Selector().Name()
		}
	}
	return ""
}

// plainName strips the modules that hold the names of types.
func plainName(name string) string {
	for _, prefix := range []string{"torch.jit.", "torch.", "typing.", "typing_extensions.", "builtins."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && !strings.Contains(rest, ".") {
			return rest
		}
	}
	return name
}

// bareGenerics are the types that need others in brackets, and what is said to who leaves them out.
var bareGenerics = map[string]string{
	"List":     "a contained type. Please add a contained type, e.g. List[int]",
	"Dict":     "contained types. Please add contained type, e.g. Dict[int, int]",
	"Tuple":    "a contained type. Please add a contained type, e.g. Tuple[int]",
	"Optional": "a contained type. Please add a contained type, e.g. Optional[int]",
	"Union":    "a contained type. Please add a contained type, e.g. Union[int]",
}

func (e *Emitter) namedType(expr syntax.Expr) types.Type {
	name := dottedName(expr)
	if t := typeNames[plainName(name)]; t != nil {
		return t
	}
	if e.o.Unit != nil {
		if t := e.o.Unit.Type(name); t != nil {
			return t
		}
	}
	if like := bareGenerics[plainName(name)]; like != "" {
		source.Raise(source.RuntimeError, "Attempted to use %s without %s", plainName(name), like)
	}
	t, err := e.resolver.ResolveType(name, expr.Range)
	check(err)
	e.ensureClassCompiled(expr.Range, t)
	if t == nil {
		fail(expr.Range, "Unknown type name '%s'", name)
	}
	return t
}

func (e *Emitter) genericType(s syntax.Subscript) types.Type {
	name := dottedName(s.Value())
	if name == "" {
		fail(s.Range, "Subscripted type must be a type identifier")
	}
	args := s.Subscripts()
	need := func(n int) {
		if len(args) != n {
			count := "one element type"
			if n > 1 {
				count = strconv.Itoa(n) + " element types"
			}
			fail(s.Range, " expected exactly %s but found %d", count, len(args))
		}
	}
	switch plainName(name) {
	case "List", "list":
		need(1)
		return types.NewList(e.typeOf(args[0]))
	case "Dict", "dict":
		need(2)
		key := e.typeOf(args[0])
		checkKey(key)
		return types.NewDict(key, e.typeOf(args[1]))
	case "Tuple", "tuple":
		if len(args) == 1 && args[0].Kind == syntax.KindTupleLiteral {
			args = syntax.AsTupleLiteral(args[0]).Inputs()
		}
		if len(args) > 0 && e.o.FromText && e.o.Version == 0 && strings.Contains(s.Range.Text.Body[s.Value().Range.End:args[0].Range.Start], "(") {
			fail(s.Range, "Tuple literal in Tuple type annotation must not have any elements!")
		}
		return types.NewTuple(e.typesOf(args)...)
	case "Optional":
		need(1)
		return types.NewOptional(e.typeOf(args[0]))
	case "Union":
		return types.NewUnion(e.typesOf(args)...)
	case "Future", "Await", "_Await":
		need(1)
		return &types.Future{Elem: e.typeOf(args[0]), Lazy: plainName(name) != "Future"}
	case "RRef":
		need(1)
		return &types.RRef{Elem: e.typeOf(args[0])}
	case "Final", "Annotated", "ClassVar":
		return e.typeOf(args[0])
	}
	if t, _, ok := e.broadcastingList(s); ok {
		return t
	}
	// The name may be another one of a constructor: typing_Tuple[Tensor, int].
	t, err := e.resolver.ResolveType(s.Range.String(), s.Range)
	check(err)
	if t == nil {
		fail(s.Range, "Unknown type constructor %s", name)
	}
	return t
}

// checkKey fails where values of a type can be no keys.
func checkKey(t types.Type) {
	switch t.Kind() {
	case types.KindInt, types.KindFloat, types.KindString, types.KindTensor, types.KindBool, types.KindComplex, types.KindDevice, types.KindAny:
	default:
		source.Raise(source.RuntimeError, "Cannot create dict for key type '%s', only int, float, complex, Tensor, device and string keys are supported", t)
	}
}

// broadcastingList reads BroadcastingList2[int]: a list for which one element may stand.
func (e *Emitter) broadcastingList(s syntax.Subscript) (t types.Type, size int, ok bool) {
	digits, ok := strings.CutPrefix(plainName(dottedName(s.Value())), "BroadcastingList")
	if !ok || len(s.Subscripts()) != 1 {
		return nil, 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		fail(s.Range, "subscript of Broadcastable list must be a positive integer")
	}
	elem := e.typeOf(s.Subscripts()[0])
	if k := elem.Kind(); k != types.KindInt && k != types.KindFloat {
		fail(s.Range, "Broadcastable lists only supported for int or float")
	}
	return types.NewList(elem), n, true
}

// sizeName reads _size_2_t, which torch.nn has for BroadcastingList2[int].
func sizeName(expr syntax.Expr) (size int, ok bool) {
	if expr.Kind != syntax.KindVar {
		return 0, false
	}
	name := syntax.AsVar(expr).Name().Name()
	if len(name) != len("_size_2_t") || !strings.HasPrefix(name, "_size_") || !strings.HasSuffix(name, "_t") {
		return 0, false
	}
	size, err := strconv.Atoi(name[len("_size_") : len(name)-len("_t")])
	return size, err == nil && size > 0
}

// parameterType reads the annotation of a parameter; size is that of a BroadcastingList, else -1.
func (e *Emitter) parameterType(expr syntax.Expr) (t types.Type, size int) {
	if size, ok := sizeName(expr); ok {
		return types.NewList(types.Int), size
	}
	if expr.Kind == syntax.KindSubscript {
		s := syntax.AsSubscript(expr)
		if t, size, ok := e.broadcastingList(s); ok {
			return t, size
		}
		if plainName(dottedName(s.Value())) == "Optional" && len(s.Subscripts()) == 1 {
			t, size := e.parameterType(s.Subscripts()[0])
			return types.NewOptional(t), size
		}
	}
	return e.typeOf(expr), -1
}
