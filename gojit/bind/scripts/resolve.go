package scripts

import (
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/operators"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// scope is the Go half of torchjit.jit._resolve.Scope: a frontend.Resolver that asks Python, once for
// each name.
type scope struct {
	object *abi.Object
	values answers[frontend.SugaredValue]
	types  answers[types.Type]
	// noTypes are the names that Python gave no type for.
	noTypes sync.Map
}

// NewScope makes the Go half of a scope of Python.
func NewScope(o *abi.Object) *scope { return &scope{object: o} }

// answers are what Python said before. Names without an answer are asked for again: they may get one.
type answers[T comparable] struct{ known sync.Map }

func (a *answers[T]) get(name string, ask func() (T, error)) (T, error) {
	if known, ok := a.known.Load(name); ok {
		return known.(T), nil
	}
	answer, err := ask()
	var none T
	if err == nil && answer != none {
		a.known.Store(name, answer)
	}
	return answer, err
}

// ResolveValue implements frontend.Resolver.
func (s *scope) ResolveValue(name string, _ source.Range) (frontend.SugaredValue, error) {
	return s.values.get(name, func() (answer frontend.SugaredValue, err error) {
		err = s.object.Invoke("value", 1, func(w *abi.Writer) { w.String(name) }, func(w *abi.Word) error {
			answer, err = Sugared(w)
			return err
		})
		return answer, err
	})
}

// ResolveType implements frontend.Resolver. A name that was no type and turned out to be a value stays that.
func (s *scope) ResolveType(name string, _ source.Range) (types.Type, error) {
	if _, ok := s.noTypes.Load(name); ok {
		if _, ok := s.values.known.Load(name); ok {
			return nil, nil
		}
	}
	t, err := s.types.get(name, func() (types.Type, error) { return s.askType(name) })
	if t == nil && err == nil {
		s.noTypes.Store(name, true)
	}
	return t, err
}

func (s *scope) askType(name string) (t types.Type, err error) {
	err = s.object.Invoke("type", 1, func(w *abi.Writer) { w.String(name) }, func(w *abi.Word) error {
		if w.Kind() != abi.KindString {
			return nil
		}
		t, err = abi.ParseType(w.Text())
		return err
	})
	return t, err
}

// answerReaders turn the answers of torchjit.jit._resolve, whose forms its text lists, into sugared
// values. Each gets the items behind the first.
var answerReaders map[string]func(items []*abi.Word) (frontend.SugaredValue, error)

func init() {
	answerReaders = map[string]func([]*abi.Word) (frontend.SugaredValue, error){
		"constant": constantAnswer,
		"callable": callableAnswer,
		"builtin": func(w []*abi.Word) (frontend.SugaredValue, error) {
			return frontend.NewBuiltin(strings.Clone(w[0].Text())), nil
		},
		"typed_constructor": func(w []*abi.Word) (frontend.SugaredValue, error) {
			dtype, err := abi.PlainValue(w[0])
			if err != nil {
				return nil, err
			}
			return frontend.NewTypedConstructor(dtype.Int()), nil
		},
		"special":       specialAnswer,
		"module":        moduleAnswer,
		"module_class":  moduleClassAnswer,
		"script_module": scriptModuleAnswer,
		"class":         namedTypeAnswer,
		"interface":     namedTypeAnswer,
		"named_tuple":   namedTypeAnswer,
		"enum_class":    namedTypeAnswer,
		"enum_member":   enumMemberAnswer,
		"exception": func(w []*abi.Word) (frontend.SugaredValue, error) {
			return frontend.NewException(strings.Clone(w[0].Text())), nil
		},
		"overloads": overloadsAnswer,
		"dispatch":  dispatchAnswer,
		"ignored":   ignoredAnswer,
		"unused":    unusedAnswer,
		"uninstantiable": func(w []*abi.Word) (frontend.SugaredValue, error) {
			return frontend.NewUncallable("type", strings.Clone(w[0].Text()), source.Class(strings.Clone(w[1].Text())), strings.Clone(w[2].Text())), nil
		},
		"uncompilable": uncompilableAnswer,
	}
}

// Sugared reads an answer; nil for None.
func Sugared(w *abi.Word) (frontend.SugaredValue, error) {
	if w.Kind() == abi.KindNone {
		return nil, nil
	}
	if w.Kind() != abi.KindTuple || w.Count() == 0 {
		return nil, abi.RuntimeErrorf("torchjit.jit._resolve answered with a %s, expected a tuple", w.KindName())
	}
	items := make([]*abi.Word, 0, w.Count())
	for x := range w.Items {
		items = append(items, x)
	}
	read := answerReaders[items[0].Text()]
	if read == nil {
		return nil, abi.RuntimeErrorf("torchjit.jit._resolve gave an answer of the unknown kind %q", items[0].Text())
	}
	return read(items[1:])
}

func constantAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	v, err := abi.PlainValue(w[0])
	return frontend.NewConstant(v), err
}

func callableAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	switch f := w[0].Callable().(type) {
	case *operators.Function:
		return frontend.NewBuiltin(f.Name), nil
	case *operators.Operand:
		return frontend.NewBuiltin(f.Name), nil
	case *Function:
		return frontend.NewFunctionValue(f.Function), nil
	case *abi.Function:
		return frontend.NewHostObject("builtin_function_or_method", f.Name), nil
	}
	return nil, abi.RuntimeErrorf("torchjit.jit._resolve answered with a callable of no use")
}

// specialForms are the special names of _resolve and what the compiler calls them.
var specialForms = map[string]string{
	"annotate": prim.Annotate, "jit_isinstance": prim.Isinstance, "fork": prim.Fork, "awaitable": prim.Awaitable, "isinstance": prim.Isinstance,
}

func specialAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	name := w[0].Text()
	switch name {
	case "wait":
		return frontend.NewBuiltin(aten.Wait), nil
	case "awaitable_wait":
		return frontend.NewBuiltin(prim.AwaitableWait), nil
	case "awaitable_nowait":
		return frontend.NewBuiltin(prim.AwaitableNowait), nil
	case "is_scripting":
		return frontend.NewBuiltin(aten.IsScripting), nil
	}
	if form := specialForms[name]; form != "" {
		return frontend.NewSpecialForm(form), nil
	}
	return nil, abi.RuntimeErrorf("torchjit.jit._resolve named the unknown special form %q", name)
}

// moduleAnswer is a Python module: its attributes are asked for one by one.
func moduleAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	return frontend.NewHostModule(attributesOf(w[0].Object(), "attribute")), nil
}

// moduleClassAnswer is a class of modules and its qualified name.
func moduleClassAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	class := w[0].Object()
	return frontend.NewModuleClass(strings.Clone(w[1].Text()), class, w[2].Bool(), attributesOf(class, "class_attribute")), nil
}

// attributesOf asks a method of host for the attributes of an object, and remembers the answers.
func attributesOf(o *abi.Object, method string) func(name string) (frontend.SugaredValue, error) {
	known := &answers[frontend.SugaredValue]{}
	return func(name string) (frontend.SugaredValue, error) {
		return known.get(name, func() (answer frontend.SugaredValue, err error) {
			err = abi.Host.Invoke(method, 2, func(w *abi.Writer) {
				w.Object(o)
				w.String(name)
			}, func(w *abi.Word) error {
				answer, err = Sugared(w)
				return err
			})
			return answer, err
		})
	}
}

func scriptModuleAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	return frontend.NewOutsideModule(), nil
}

func namedTypeAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	name := w[0].Text()
	switch t := abi.Program.Type(name).(type) {
	case *types.Class:
		return frontend.NewClassValue(t), nil
	case *types.Tuple:
		return frontend.NewNamedTuple(t), nil
	case *types.Enum:
		return frontend.NewEnumClass(t), nil
	case *types.Interface:
		return frontend.NewHostObject("type", t.Name), nil
	}
	return nil, abi.RuntimeErrorf("torchjit.jit._resolve named the type %q, which is not defined", name)
}

func enumMemberAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	t, ok := abi.Program.Type(w[0].Text()).(*types.Enum)
	if !ok {
		return nil, abi.RuntimeErrorf("torchjit.jit._resolve named the enum %q, which is not defined", w[0].Text())
	}
	i := t.MemberIndex(w[1].Text())
	if i < 0 {
		return nil, abi.RuntimeErrorf("%s is several members of the enumeration %s, which programs cannot hold", w[1].Text(), t.Name)
	}
	return frontend.NewConstant(value.OfEnum(&value.Enum{Type: t, Index: i})), nil
}

func overloadsAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	var overloads []*ir.Function
	for x := range w[0].Items {
		f, ok := x.Callable().(*Function)
		if !ok {
			return nil, abi.RuntimeErrorf("torchjit.jit._resolve gave an overload that is not compiled")
		}
		overloads = append(overloads, f.Function)
	}
	return frontend.NewFunctionValue(overloads...), nil
}

func dispatchAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	ifTrue, err := Sugared(w[3])
	if err != nil {
		return nil, err
	}
	ifFalse, err := Sugared(w[4])
	if err != nil {
		return nil, err
	}
	return frontend.NewDispatch(strings.Clone(w[0].Text()), int(w[1].Int()), w[2].Bool(), ifTrue, ifFalse), nil
}

// ignoredAnswer is a function that stays in Python: (object, name, schema).
func ignoredAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	s, err := parseSchema(w[2].Text())
	if err != nil {
		return nil, err
	}
	return frontend.NewHostFunction(s, value.OfCapsule(&value.Capsule{Kind: "python function", Content: w[0].Object()})), nil
}

// unusedAnswer is a function whose calls raise: (schema).
func unusedAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	s, err := parseSchema(w[0].Text())
	if err != nil {
		return nil, err
	}
	return frontend.NewUnusedFunction(s), nil
}

// parseSchema reads a function's signature; named types are those of the program.
func parseSchema(text string) (*schema.FunctionSchema, error) {
	name, rest, _ := strings.Cut(strings.Clone(text), "(")
	s, err := schema.Parse("python::" + name + "(" + rest)
	if err != nil {
		return nil, err
	}
	s.Name = name
	return s, nil
}

// pythonOp makes the operation of a prim::PythonOp node: it calls the Python function.
func pythonOp(n *ir.Node) (autograd.Operation, error) {
	attr, _ := n.Attr("target")
	target := attr.(value.Value).Capsule().Content.(*abi.Object)
	if inPlace, _ := n.Attr("inplace"); inPlace == int64(1) {
		name, _ := n.Attr("name")
		return nil, abi.RuntimeErrorf("inplace %v not supported in the JIT", name)
	}
	result := types.Unshaped(n.Output().Type())
	return func(m *autograd.Mode, args, out []value.Value) error {
		return abi.InMode(m, func() error {
			return abi.CallPython(target, args, func(w *abi.Word) error {
				v, ok, err := abi.ProgramValue(w, result)
				if w.Kind() == abi.KindNone && result.Kind() == types.KindTensor { // a tensor that nothing may use
					v, ok = value.None, true
				}
				if err == nil && !ok {
					d := abi.Describe(w)
					err = abi.RuntimeErrorf(" expected value of type %s for return value but instead got value of type %s.\nValue: %s\n%s",
						result.String(), d.TypeName, d.Repr, abi.CastFailure(w, result))
				}
				out[0] = v
				return err
			})
		})
	}, nil
}

// uncompilableAnswer is another object: (object, type, text, name and schema of one that can be called
// or None twice).
func uncompilableAnswer(w []*abi.Word) (frontend.SugaredValue, error) {
	if w[3].Kind() == abi.KindString {
		var s *schema.FunctionSchema
		if w[4].Kind() == abi.KindString {
			var err error
			if s, err = parseSchema(w[4].Text()); err != nil {
				return nil, err
			}
		}
		target := value.OfCapsule(&value.Capsule{Kind: "python function", Content: w[0].Object()})
		return frontend.NewHostCallable(strings.Clone(w[1].Text()), strings.Clone(w[3].Text()), s, target), nil
	}
	return frontend.NewHostObject(strings.Clone(w[1].Text()), strings.Clone(w[2].Text())), nil
}
