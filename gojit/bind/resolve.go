package bind

import (
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// scope is the Go half of torchjit.jit._resolve.Scope: a frontend.Resolver that asks Python, once for
// each name.
type scope struct {
	object *object
	values answers[frontend.SugaredValue]
	types  answers[types.Type]
	// noTypes are the names that Python gave no type for.
	noTypes sync.Map
}

func newScope(o *object) *scope { return &scope{object: o} }

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
		err = s.object.invoke("value", 1, func(w *writer) { w.string(name) }, func(w *Word) error {
			answer, err = sugared(w)
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
	err = s.object.invoke("type", 1, func(w *writer) { w.string(name) }, func(w *Word) error {
		if w.kind() != kindString {
			return nil
		}
		t, err = parseType(w.text())
		return err
	})
	return t, err
}

// parseType reads a type in the form of schemas; named types are those of the program.
func parseType(text string) (types.Type, error) {
	p := &types.Parser{Src: strings.Clone(text), Named: func(name string) (types.Type, bool) {
		t := program.Type(name)
		return t, t != nil
	}}
	t, err := p.Type()
	if err != nil {
		return nil, err
	}
	if p.Space(); p.Pos != len(p.Src) {
		return nil, p.Errorf("the type ends before %q", p.Src[p.Pos:])
	}
	return t, nil
}

// answerReaders turn the answers of torchjit.jit._resolve, whose forms its text lists, into sugared
// values. Each gets the items behind the first.
var answerReaders map[string]func(items []*Word) (frontend.SugaredValue, error)

func init() {
	answerReaders = map[string]func([]*Word) (frontend.SugaredValue, error){
		"constant": constantAnswer,
		"callable": callableAnswer,
		"builtin": func(w []*Word) (frontend.SugaredValue, error) {
			return frontend.NewBuiltin(strings.Clone(w[0].text())), nil
		},
		"typed_constructor": func(w []*Word) (frontend.SugaredValue, error) {
			dtype, err := plainValue(w[0])
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
		"exception": func(w []*Word) (frontend.SugaredValue, error) {
			return frontend.NewException(strings.Clone(w[0].text())), nil
		},
		"overloads": overloadsAnswer,
		"dispatch":  dispatchAnswer,
		"ignored":   ignoredAnswer,
		"unused":    unusedAnswer,
		"uninstantiable": func(w []*Word) (frontend.SugaredValue, error) {
			return frontend.NewUncallable("type", strings.Clone(w[0].text()), source.Class(strings.Clone(w[1].text())), strings.Clone(w[2].text())), nil
		},
		"uncompilable": uncompilableAnswer,
	}
}

// sugared reads an answer; nil for None.
func sugared(w *Word) (frontend.SugaredValue, error) {
	if w.kind() == kindNone {
		return nil, nil
	}
	if w.kind() != kindTuple || w.count() == 0 {
		return nil, runtimeErrorf("torchjit.jit._resolve answered with a %s, expected a tuple", w.kindName())
	}
	items := make([]*Word, 0, w.count())
	for x := range w.items {
		items = append(items, x)
	}
	read := answerReaders[items[0].text()]
	if read == nil {
		return nil, runtimeErrorf("torchjit.jit._resolve gave an answer of the unknown kind %q", items[0].text())
	}
	return read(items[1:])
}

func constantAnswer(w []*Word) (frontend.SugaredValue, error) {
	v, err := plainValue(w[0])
	return frontend.NewConstant(v), err
}

func callableAnswer(w []*Word) (frontend.SugaredValue, error) {
	switch f := w[0].callable().(type) {
	case *operatorFunction:
		return frontend.NewBuiltin(f.name), nil
	case *operand:
		return frontend.NewBuiltin(f.name), nil
	case *scriptFunction:
		return frontend.NewFunctionValue(f.function), nil
	case *function:
		return frontend.NewHostObject("builtin_function_or_method", f.name), nil
	}
	return nil, runtimeErrorf("torchjit.jit._resolve answered with a callable of no use")
}

// specialForms are the special names of _resolve and what the compiler calls them.
var specialForms = map[string]string{
	"annotate": "prim::annotate", "jit_isinstance": "prim::isinstance", "fork": "prim::fork", "isinstance": "prim::isinstance",
}

func specialAnswer(w []*Word) (frontend.SugaredValue, error) {
	name := w[0].text()
	switch name {
	case "wait":
		return frontend.NewBuiltin("aten::wait"), nil
	case "is_scripting":
		return frontend.NewBuiltin("aten::is_scripting"), nil
	}
	if form := specialForms[name]; form != "" {
		return frontend.NewSpecialForm(form), nil
	}
	return nil, runtimeErrorf("torchjit.jit._resolve named the unknown special form %q", name)
}

// moduleAnswer is a Python module: its attributes are asked for one by one.
func moduleAnswer(w []*Word) (frontend.SugaredValue, error) {
	return frontend.NewHostModule(attributesOf(w[0].object(), "attribute")), nil
}

// moduleClassAnswer is a class of modules and its qualified name.
func moduleClassAnswer(w []*Word) (frontend.SugaredValue, error) {
	class := w[0].object()
	return frontend.NewModuleClass(strings.Clone(w[1].text()), class, w[2].bool(), attributesOf(class, "class_attribute")), nil
}

// attributesOf asks a method of host for the attributes of an object, and remembers the answers.
func attributesOf(o *object, method string) func(name string) (frontend.SugaredValue, error) {
	known := &answers[frontend.SugaredValue]{}
	return func(name string) (frontend.SugaredValue, error) {
		return known.get(name, func() (answer frontend.SugaredValue, err error) {
			err = host.invoke(method, 2, func(w *writer) {
				w.object(o)
				w.string(name)
			}, func(w *Word) error {
				answer, err = sugared(w)
				return err
			})
			return answer, err
		})
	}
}

func scriptModuleAnswer(w []*Word) (frontend.SugaredValue, error) {
	return frontend.NewOutsideModule(), nil
}

func namedTypeAnswer(w []*Word) (frontend.SugaredValue, error) {
	name := w[0].text()
	switch t := program.Type(name).(type) {
	case *types.Class:
		return frontend.NewClassValue(t), nil
	case *types.Tuple:
		return frontend.NewNamedTuple(t), nil
	case *types.Enum:
		return frontend.NewEnumClass(t), nil
	case *types.Interface:
		return frontend.NewHostObject("type", t.Name), nil
	}
	return nil, runtimeErrorf("torchjit.jit._resolve named the type %q, which is not defined", name)
}

func enumMemberAnswer(w []*Word) (frontend.SugaredValue, error) {
	t, ok := program.Type(w[0].text()).(*types.Enum)
	if !ok {
		return nil, runtimeErrorf("torchjit.jit._resolve named the enum %q, which is not defined", w[0].text())
	}
	i := t.MemberIndex(w[1].text())
	if i < 0 {
		return nil, runtimeErrorf("%s is several members of the enumeration %s, which programs cannot hold", w[1].text(), t.Name)
	}
	return frontend.NewConstant(value.OfEnum(&value.Enum{Type: t, Index: i})), nil
}

func overloadsAnswer(w []*Word) (frontend.SugaredValue, error) {
	var overloads []*ir.Function
	for x := range w[0].items {
		f, ok := x.callable().(*scriptFunction)
		if !ok {
			return nil, runtimeErrorf("torchjit.jit._resolve gave an overload that is not compiled")
		}
		overloads = append(overloads, f.function)
	}
	return frontend.NewFunctionValue(overloads...), nil
}

func dispatchAnswer(w []*Word) (frontend.SugaredValue, error) {
	ifTrue, err := sugared(w[3])
	if err != nil {
		return nil, err
	}
	ifFalse, err := sugared(w[4])
	if err != nil {
		return nil, err
	}
	return frontend.NewDispatch(strings.Clone(w[0].text()), int(w[1].int()), w[2].bool(), ifTrue, ifFalse), nil
}

// ignoredAnswer is a function that stays in Python: (object, name, schema).
func ignoredAnswer(w []*Word) (frontend.SugaredValue, error) {
	s, err := parseSchema(w[2].text())
	if err != nil {
		return nil, err
	}
	return frontend.NewHostFunction(s, value.OfCapsule(&value.Capsule{Kind: "python function", Content: w[0].object()})), nil
}

// unusedAnswer is a function whose calls raise: (schema).
func unusedAnswer(w []*Word) (frontend.SugaredValue, error) {
	s, err := parseSchema(w[0].text())
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
	target := attr.(value.Value).Capsule().Content.(*object)
	if inPlace, _ := n.Attr("inplace"); inPlace == int64(1) {
		name, _ := n.Attr("name")
		return nil, runtimeErrorf("inplace %v not supported in the JIT", name)
	}
	result := types.Unshaped(n.Output().Type())
	return func(m *autograd.Mode, args, out []value.Value) error {
		return inMode(m, func() error {
			return callPython(target, args, func(w *Word) error {
				v, ok, err := programValue(w, result)
				if w.kind() == kindNone && result.Kind() == types.KindTensor { // a tensor that nothing may use
					v, ok = value.None, true
				}
				if err == nil && !ok {
					d := describe(w)
					err = runtimeErrorf(" expected value of type %s for return value but instead got value of type %s.\nValue: %s\n%s",
						result.String(), d.typeName, d.repr, castFailure(w, result))
				}
				out[0] = v
				return err
			})
		})
	}, nil
}

// callPython calls a Python function with values of a program.
func callPython(target *object, args []value.Value, read func(*Word) error) error {
	var failed error
	err := host.invoke("call_ignored", 1+len(args), func(w *writer) {
		w.object(target)
		for _, a := range args {
			if err := w.value(a); err != nil {
				failed = err
				w.none()
			}
		}
	}, read)
	if failed != nil {
		return failed
	}
	return err
}

// uncompilableAnswer is another object: (object, type, text, name and schema of one that can be called
// or None twice).
func uncompilableAnswer(w []*Word) (frontend.SugaredValue, error) {
	if w[3].kind() == kindString {
		var s *schema.FunctionSchema
		if w[4].kind() == kindString {
			var err error
			if s, err = parseSchema(w[4].text()); err != nil {
				return nil, err
			}
		}
		target := value.OfCapsule(&value.Capsule{Kind: "python function", Content: w[0].object()})
		return frontend.NewHostCallable(strings.Clone(w[1].text()), strings.Clone(w[3].text()), s, target), nil
	}
	return frontend.NewHostObject(strings.Clone(w[1].text()), strings.Clone(w[2].text())), nil
}
