package frontend

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/frontend/ssa"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Insert adds a call of an operator with values as arguments.
func (e *Emitter) Insert(at source.Range, kind string, vs ...*ir.Value) *ir.Value {
	args := make([]ir.Argument, len(vs))
	for i, v := range vs {
		args[i] = ir.Arg(v)
	}
	return e.insertArgs(at, kind, args)
}

func (e *Emitter) insertArgs(at source.Range, kind string, args []ir.Argument, kwargs ...ir.Argument) *ir.Value {
	return e.callBuiltin(at, kind, args, kwargs, nil)
}

// callBuiltin adds a call of an operator, or of a builtin function that is written in the language
// itself, whichever overload fits first.
func (e *Emitter) callBuiltin(at source.Range, name string, args, kwargs []ir.Argument, self *ir.Argument) *ir.Value {
	overloads := callableOverloads(name)
	var functions []*ir.Function
	if !e.o.operatorsOnly {
		functions = builtinFunctions(name)
	}
	schemas := e.schemas[:0]
	for _, o := range overloads {
		schemas = append(schemas, o.Schema())
	}
	for _, f := range functions {
		schemas = append(schemas, f.Schema)
	}
	e.schemas = schemas
	if len(schemas) == 0 {
		e.unknownOperator(at, name)
	}
	i, match, err := ir.MatchSchemas(e.g, at, schemas, args, kwargs, self)
	check(err)
	if i < len(overloads) {
		return e.g.InsertMatch(at, overloads[i], match)
	}
	return e.g.InsertGraph(functions[i-len(overloads)].Graph(), match.Inputs)[0]
}

// callableOverloads returns the overloads of an operator that programs can choose: a dtype is an
// int, so view(dtype) would take the calls of view(size).
func callableOverloads(name string) []*ops.Operator {
	overloads := ops.Overloads(name)
	if name != aten.View {
		return overloads
	}
	var kept []*ops.Operator
	for _, o := range overloads {
		if o.Name != "aten::view.dtype" {
			kept = append(kept, o)
		}
	}
	return kept
}

func (e *Emitter) unknownOperator(at source.Range, name string) {
	var similar []string
	for _, known := range ops.Names() {
		if strings.HasPrefix(known, name[:strings.Index(name, "::")+2]) && editDistance(known, name, 2) <= 2 {
			similar = append(similar, "\t"+known)
		}
	}
	if len(similar) == 0 {
		fail(at, "Unknown builtin op: %s.\nCould not find any similar ops to %s. This op may not exist or may not be currently supported in TorchScript.\n", name, name)
	}
	fail(at, "Unknown builtin op: %s.\nHere are some suggestions: \n%s\n\nThe original call is", name, strings.Join(similar, "\n"))
}

// editDistance returns the number of single-character edits between a and b, or limit+1 where it
// is more than limit.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

func (e *Emitter) emitApply(call syntax.Apply, binders int, hint types.Type) SugaredValue {
	callee := e.emitSugared(call.Callee(), 1, nil)
	at := call.Callee().Range
	if form, ok := callee.(*SpecialForm); ok {
		return e.emitSpecialForm(form.Name, call, hint)
	}
	if l, ok := callee.(*toList); ok {
		return e.emitToList(call, l, hint)
	}
	args := e.namedValues(call.Inputs(), true)
	var kwargs []ir.Argument
	for _, a := range call.Attributes() {
		kwargs = append(kwargs, ir.ArgAt(e.emitExpr(a.Value(), nil), a.Range).Named(a.Name().Name()))
	}
	return callee.Call(e, at, args, kwargs, binders)
}

func (e *Emitter) checkInputs(call syntax.Apply, n int) {
	name := "this call"
	if call.Callee().Kind == syntax.KindVar {
		name = syntax.AsVar(call.Callee()).Name().Name()
	}
	if len(call.Inputs()) != n {
		fail(call.Range, "%s expected exactly %d arguments but found %d", name, n, len(call.Inputs()))
	}
	if len(call.Attributes()) > 0 {
		fail(call.Range, "%s takes no keyword arguments", name)
	}
}

func (e *Emitter) emitSpecialForm(form string, call syntax.Apply, hint types.Type) SugaredValue {
	switch form {
	case prim.Annotate:
		return simple{e.emitAnnotate(call)}
	case prim.UncheckedCast:
		e.checkInputs(call, 2)
		t := e.typeOf(call.Inputs()[0])
		v := e.emitExpr(call.Inputs()[1], t)
		if types.Equal(v.Type(), t) {
			return simple{v}
		}
		return simple{e.g.InsertNode(e.g.CreateUncheckedCast(v, t)).Output()}
	case prim.Uninitialized:
		e.checkInputs(call, 1)
		n := e.g.InsertNode(e.g.CreateUninitialized(e.typeOf(call.Inputs()[0]))).SetRange(call.Range)
		return simple{n.Output()}
	case prim.GetAttr:
		return e.emitGetAttr(call)
	case prim.HasAttr:
		e.checkInputs(call, 2)
		return simple{e.emitHasAttr(call.Inputs()[0], call.Inputs()[1]).value}
	case prim.Isinstance:
		e.checkInputs(call, 2)
		return simple{e.emitIsInstance(call.Inputs()[0], call.Inputs()[1]).value}
	case prim.CreateObject:
		return e.emitCreateObject(call)
	case prim.TupleConstruct:
		e.checkInputs(call, 1)
		s := e.emitSugared(call.Inputs()[0], 1, nil)
		if v, ok := s.(simple); ok && v.v.Type().Kind() != types.KindClass {
			return simple{(&TupleValue{Items: v.AsTuple(e, call.Range, -1)}).AsValue(e, call.Range)}
		}
		items := s.Iter(e, call.Range)
		if _, static := items.StaticLen(); !static {
			fail(call.Range, "%s cannot be used as a tuple", s.Kind())
		}
		return simple{(&TupleValue{Items: items.AsTuple(e, call.Range, -1)}).AsValue(e, call.Range)}
	case prim.Range:
		if len(call.Attributes()) > 0 {
			fail(call.Range, "range takes no keyword arguments")
		}
		return e.newRange(call.Range, e.values(call.Inputs(), true), -1)
	case prim.Slice:
		return e.emitSliceObject(call)
	case prim.Enumerate:
		return e.emitEnumerate(call)
	case prim.Zip:
		if len(call.Inputs()) == 0 {
			fail(call.Range, "zip expected at least 1 arguments, got 0")
		}
		for _, a := range call.Attributes() {
			if a.Name().Name() != "strict" || a.Value().Kind != syntax.KindFalse {
				fail(call.Range, "zip stops at the shortest of its arguments: it takes no keyword argument but strict=False")
			}
		}
		tree := &iterableTree{NotFirstClass: "iterabletree"}
		for _, x := range call.Inputs() {
			tree.add(call.Range, e.emitSugared(x, 1, nil).Iter(e, call.Range))
		}
		return tree
	case prim.List:
		return e.emitListCall(call, hint)
	case prim.Dict:
		return e.emitDictCall(call, hint)
	case prim.Fork, prim.Awaitable:
		return e.emitFork(call, form == prim.Awaitable)
	}
	fail(call.Range, "unknown special form: %s", form)
	return nil
}

func (e *Emitter) emitAnnotate(call syntax.Apply) *ir.Value {
	e.checkInputs(call, 2)
	t := e.typeOf(call.Inputs()[0])
	v := ir.ConvertTo(e.g, call.Range, t, e.emitExpr(call.Inputs()[1], t), true)
	ok, why := types.IsSubtypeWhy(v.Type(), t)
	if !ok {
		fail(call.Inputs()[0].Range.Extend(call.Inputs()[1].Range), "expected an expression of type %s but found %s\n%s", types.Repr(t), types.Repr(v.Type()), why)
	}
	if t.Kind() == types.KindOptional && v.Type().Kind() == types.KindNone {
		n := e.g.CreateNone()
		n.Output().SetType(t)
		v = e.g.InsertNode(n).Output()
	}
	return v
}

func (e *Emitter) emitGetAttr(call syntax.Apply) SugaredValue {
	n := len(call.Inputs())
	if n != 2 && n != 3 {
		fail(call.Range, "getattr expected to have number of arguments between 2 and 3 but found %d", n)
	}
	if len(call.Attributes()) > 0 {
		fail(call.Range, "getattr takes no keyword arguments")
	}
	object := e.emitSugared(call.Inputs()[0], 1, nil)
	name := call.Inputs()[1]
	if name.Kind != syntax.KindStringLiteral {
		fail(call.Range, "getattr's second argument must be a string literal")
	}
	field := syntax.AsStringLiteral(name).Value()
	if n == 2 || object.HasAttr(e, call.Range, field) {
		return object.Attr(e, call.Range, field)
	}
	return e.emitSugared(call.Inputs()[2], 1, nil)
}

func (e *Emitter) emitCreateObject(call syntax.Apply) SugaredValue {
	if len(call.Inputs()) != 1 {
		fail(call.Range, "Only one argument to __new__ allowed")
	}
	x := e.emitSugared(call.Inputs()[0], 1, nil)
	class, ok := x.(*classValue)
	if !ok {
		fail(call.Range, "Expected class value as argument to __new__, got %s instead", x.Kind())
	}
	if !e.isNewOf(call.Callee(), class) {
		fail(call.Range, "Argument to __new__() must match the class you are calling __new__() on.")
	}
	return simple{e.createObject(class.t, call.Range)}
}

// isNewOf reports whether an expression is __new__ of a class.
func (e *Emitter) isNewOf(callee syntax.Expr, class *classValue) bool {
	if callee.Kind != syntax.KindSelect {
		return false
	}
	of, ok := e.emitSugared(syntax.AsSelect(callee).Value(), 1, nil).(*classValue)
	return ok && types.Equal(class.t, of.t)
}

func (e *Emitter) createObject(t *types.Class, at source.Range) *ir.Value {
	n := e.g.InsertNode(e.g.Create(prim.CreateObject, nil, 1)).SetRange(at)
	return n.Output().SetType(t)
}

func (e *Emitter) emitEnumerate(call syntax.Apply) SugaredValue {
	at := call.Range
	inputs := call.Inputs()
	if len(inputs) == 0 {
		fail(at, "enumerate expected at least 1 arguments, got 0")
	}
	if len(inputs) > 2 {
		fail(at, "enumerate expected at most 2 arguments, got %d", len(inputs))
	}
	start := inputs[1:]
	for _, a := range call.Attributes() {
		if a.Name().Name() != "start" {
			fail(at, "enumerate() got an unexpected keyword argument '%s'", a.Name().Name())
		}
		if len(start) > 0 {
			fail(at, "argument for enumerate() given by name ('start') and position (2)")
		}
		start = []syntax.Expr{a.Value()}
	}
	var bounds []*ir.Value
	if len(start) == 1 {
		bounds = append(bounds, e.emitSugared(start[0], 1, nil).AsValue(e, at))
	}
	bounds = append(bounds, e.intConstant(1<<63-1, at))
	iterable := e.emitSugared(inputs[0], 1, nil).Iter(e, at)
	static := -1
	if n, ok := iterable.StaticLen(); ok && iterable.Unrolled() {
		static = n
	}
	tree := &iterableTree{NotFirstClass: "iterabletree"}
	tree.add(at, e.newRange(at, bounds, static))
	tree.add(at, iterable)
	return tree
}

func (e *Emitter) emitListCall(call syntax.Apply, hint types.Type) SugaredValue {
	if len(call.Attributes()) > 0 {
		fail(call.Range, "list takes no keyword arguments")
	}
	if len(call.Inputs()) == 0 {
		elem := types.Tensor
		if hint != nil {
			l, ok := hint.(*types.List)
			if !ok {
				fail(call.Range, "Expected list type annotation for list(), found %s", types.Repr(hint))
			}
			elem = l.Elem
		}
		return simple{e.g.InsertNode(e.g.CreateList(elem, nil)).Output()}
	}
	e.checkInputs(call, 1)
	iterable := e.emitSugared(call.Inputs()[0], 1, nil)
	if v := asSimple(iterable); v != nil {
		if k := v.Type().Kind(); k == types.KindList || k == types.KindString {
			return simple{e.Insert(call.Range, aten.List, v)}
		}
	}
	iterName, elemName := e.temporary("$_iter"), e.temporary("$_elem")
	e.env.setSugared(call.Range, iterName, iterable, nil)
	elem := syntax.NewVar(syntax.NewIdent(call.Range, elemName))
	iter := syntax.NewVar(syntax.NewIdent(call.Range, iterName))
	return simple{e.emitListComp(syntax.NewListComp(call.Range, elem.Tree, elem.Tree, iter.Tree), hint)}
}

// emitDictCall emits dict(...). Pairs come from a literal list with the keyword arguments behind
// them, or from what runs through another iterable.
func (e *Emitter) emitDictCall(call syntax.Apply, hint types.Type) SugaredValue {
	inputs, kwargs := call.Inputs(), call.Attributes()
	if len(inputs) > 1 {
		fail(call.Range, "dict expected exactly 1 arguments but found %d", len(inputs))
	}
	if hint != nil && hint.Kind() == types.KindUnion && len(hinted(call.Range, hint, types.KindDict, "Dict")) > 1 {
		fail(call.Range, "There are multiple candidate Dict types in the Union type annotation `%s`, and full type inference is not yet supported for the `dict()` constructor.", types.Repr(hint))
	}
	isList := len(inputs) == 1 && inputs[0].Kind == syntax.KindListLiteral
	var iterable SugaredValue
	if len(inputs) == 1 {
		iterable = e.emitDict(inputs[0], hint)
	}
	if len(kwargs) == 0 && (len(inputs) == 0 || isList && len(syntax.AsListLiteral(inputs[0]).Inputs()) == 0) {
		return simple{e.emitDictLiteral(syntax.NewDictLiteral(call.Range, nil, nil), hint)}
	}
	if len(kwargs) > 0 && (len(inputs) == 0 || isList) {
		var pairs []syntax.Expr
		if isList {
			pairs = syntax.AsListLiteral(inputs[0]).Inputs()
		}
		for _, a := range kwargs {
			key := syntax.NewStringLiteral(call.Range, a.Name().Name())
			pairs = append(pairs, syntax.NewTupleLiteral(call.Range, []syntax.Expr{key.Tree, a.Value()}).Tree)
		}
		kwargs = nil
		iterable = e.emitSugared(syntax.NewListLiteral(call.Range, pairs).Tree, 1, nil)
	} else if iterable == nil {
		iterable = e.emitSugared(inputs[0], 1, nil)
	}
	out := e.dictFrom(call.Range, iterable, hint)
	for _, a := range kwargs {
		k := e.g.Constant(value.Str(a.Name().Name()), a.Range)
		e.Insert(a.Range, aten.SetItem, out, k, e.emitExpr(a.Value(), nil))
	}
	return simple{out}
}

// emitDict emits the argument of dict(...) where it is a dictionary, and returns nil where it is not.
func (e *Emitter) emitDict(x syntax.Expr, hint types.Type) SugaredValue {
	if x.Kind != syntax.KindDictLiteral && x.Kind != syntax.KindDictComp {
		hint = nil
	}
	s, keep := e.probe(x, hint)
	if v := asSimple(s); v != nil && v.Type().Kind() == types.KindDict {
		keep()
		return s
	}
	if e.mustKeep() {
		keep()
		return s
	}
	return nil
}

// Probes lie at most maxNested deep in each other, and one function has at most about maxProbes.
const maxNested, maxProbes = 2, 1000

// mustKeep reports whether the result of a probe must be kept and used.
func (e *Emitter) mustKeep() bool { return e.probes >= maxNested || e.probed > maxProbes }

// probe emits an expression to find out what it is. Unless keep is called, what was emitted is removed
// at the end, for the expression is emitted again where it is used: PyTorch does so, and values are
// numbered and named as it does. Where mustKeep says so the result must be kept and used, because to
// emit every expression twice takes exponential time.
func (e *Emitter) probe(x syntax.Expr, hint types.Type) (s SugaredValue, keep func()) {
	n := e.g.InsertNode(e.g.Create(prim.DiscardedScope, nil, 0))
	b := n.AddBlock()
	e.pushFrame(b)
	old := e.g.SetInsertEnd(b)
	e.probes++
	e.probed++
	s = e.emitSugared(x, 1, hint)
	e.probes--
	e.g.SetInsertPoint(old)
	e.popFrame()
	return s, func() {
		ssa.MoveNodesBefore(n, b)
		n.Destroy()
	}
}

// dictFrom copies a dictionary, or makes one of an iterable's pairs.
func (e *Emitter) dictFrom(at source.Range, iterable SugaredValue, hint types.Type) *ir.Value {
	if v := asSimple(iterable); v != nil && v.Type().Kind() == types.KindDict {
		return e.Insert(at, aten.Dict, v)
	}
	iterName, keyName, valueName := e.temporary("$_iter"), e.temporary("$_key"), e.temporary("$_value")
	e.env.setSugared(at, iterName, iterable, nil)
	name := func(s string) syntax.Expr { return syntax.NewVar(syntax.NewIdent(at, s)).Tree }
	target := syntax.NewTupleLiteral(at, []syntax.Expr{name(keyName), name(valueName)})
	return e.emitDictComp(syntax.NewDictComp(at, name(keyName), name(valueName), target.Tree, name(iterName)), hint)
}

// emitFork emits a call that runs beside its caller, or, where it is lazy, when it is waited for: a prim::fork or prim::awaitable whose Subgraph
// attribute is the call.
func (e *Emitter) emitFork(call syntax.Apply, lazy bool) SugaredValue {
	inputs := call.Inputs()
	if len(inputs) == 0 {
		name := "fork"
		if lazy {
			name = "awaitable"
		}
		fail(call.Range, "Expected at least one argument to %s()", name)
	}
	callee := e.emitSugared(inputs[0], 1, nil)
	args := e.namedValues(inputs[1:], true)
	var kwargs []ir.Argument
	for _, a := range call.Attributes() {
		kwargs = append(kwargs, ir.ArgAt(e.emitExpr(a.Value(), nil), a.Range).Named(a.Name().Name()))
	}
	closure := e.g.InsertNode(e.g.Create(prim.Closure, nil, 1)).SetRange(call.Range)
	b := closure.AddBlock()
	e.pushFrame(b)
	old := e.g.SetInsertEnd(b)
	out := callee.Call(e, call.Range, args, kwargs, 1).AsValue(e, call.Range)
	b.AddOutput(out)
	e.g.SetInsertPoint(old)
	e.popFrame()
	n := e.g.InsertNode(e.g.Create(prim.ForkClosure, []*ir.Value{closure.Output()}, 1)).SetRange(call.Range)
	if e.comprehensions > 0 {
		n.SetAttr("InComprehension", int64(1))
	}
	if lazy {
		n.SetAttr("Lazy", int64(1))
	}
	return simple{n.Output().SetType(&types.Future{Elem: out.Type(), Lazy: lazy})}
}

// SpecialForm is a name whose calls are compiled in a way of their own: "prim::isinstance".
type SpecialForm struct {
	NotFirstClass
	Name string
}

// NewSpecialForm returns a special form.
func NewSpecialForm(name string) *SpecialForm {
	return &SpecialForm{NotFirstClass(strings.TrimPrefix(name, "prim::")), name}
}

// magicMethod is an operator that classes may define by a method.
type magicMethod struct {
	NotFirstClass
	method  string
	builtin SugaredValue
}

func newMagic(method, builtin string) *magicMethod {
	return &magicMethod{NotFirstClass(method), method, NewBuiltin(builtin)}
}

func (m *magicMethod) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	if len(args) > 0 {
		self := args[0].Value(e.g)
		if self.Type().Kind() == types.KindClass {
			return (simple{self}).Attr(e, at, m.method).Call(e, at, args[1:], kwargs, binders)
		}
	}
	return m.builtin.Call(e, at, args, kwargs, binders)
}

// castValue is a type used as a function: int(x).
type castValue struct {
	*BuiltinFunction
	t types.Type
}

// AsValue implements SugaredValue.
func (c *castValue) AsValue(_ *Emitter, at source.Range) *ir.Value {
	fail(at, "__%s__ cannot be used as a value", c.t.Annotation(nil))
	return nil
}

func (c *castValue) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	if len(args) == 1 && len(kwargs) == 0 {
		v := args[0].Value(e.g)
		if v.Type().Kind() == types.KindClass {
			name := "__" + c.t.Annotation(nil) + "__"
			return (simple{v}).Attr(e, at, name).Call(e, at, nil, nil, binders)
		}
		zero := e.g.Constant(value.Int(0), source.Range{})
		if types.IsSubtype(v.Type(), c.t) {
			return simple{v}
		}
		switch v.Type().Kind() {
		case types.KindList, types.KindDict, types.KindString:
			if c.t.Kind() == types.KindBool {
				return simple{e.Insert(at, aten.Gt, e.Insert(at, aten.Len, v), zero)}
			}
		}
	}
	return c.BuiltinFunction.Call(e, at, args, kwargs, binders)
}

// castMethods are the methods of tensors that convert the element type, with the number of the
// type.
var castMethods = map[string]int64{
	"byte": 0, "char": 1, "short": 2, "int": 3, "long": 4, "half": 5, "float": 6, "double": 7,
	"cfloat": 9, "cdouble": 10,
}

// tensorCast is a conversion method bound to a tensor: x.float.
type tensorCast struct {
	NotFirstClass
	self  *ir.Value
	dtype int64
}

func (t *tensorCast) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	if len(args)+len(kwargs) > 0 {
		fail(at, "a conversion takes no arguments")
	}
	dtype := e.g.Constant(value.Int(t.dtype), at)
	return simple{e.insertArgs(at, aten.To, nil, ir.ArgAt(t.self, at).Named("self"), ir.ArgAt(dtype, at).Named("dtype"))}
}

// printValue is print.
type printValue struct{ NotFirstClass }

func (p *printValue) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	if len(kwargs) > 0 {
		fail(at, "print doesn't accept any keyword arguments")
	}
	n := e.g.Create(prim.Print, nil, 0).SetRange(at)
	for _, a := range args {
		n.AddInput(a.Value(e.g))
	}
	e.g.InsertNode(n)
	return NotFirstClass("None")
}

// exceptionValue is the class of an exception. qualified is its Python name, "" for the one that
// assert raises.
type exceptionValue struct {
	NotFirstClass
	name, qualified string
}

// NewException returns the class of an exception by its qualified Python name.
func NewException(qualified string) SugaredValue {
	return &exceptionValue{"Python exception", qualified, qualified}
}

// exceptionMessage is an exception with its message.
type exceptionMessage struct {
	NotFirstClass
	message, class *ir.Value
}

func (x *exceptionValue) Call(e *Emitter, at source.Range, args, _ []ir.Argument, _ int) SugaredValue {
	if x.qualified == "" {
		message := e.g.Constant(value.Str(x.name+": "), at)
		for _, a := range args {
			text := a.Value(e.g)
			if text.Type().Kind() != types.KindString {
				text = e.Insert(at, aten.Str, text)
			}
			message = e.Insert(at, aten.Add, message, text)
		}
		return &exceptionMessage{"exception message", message, nil}
	}
	var message *ir.Value
	switch len(args) {
	case 0:
		message = e.g.Constant(value.Str(""), at)
	case 1:
		message = args[0].Value(e.g)
	default:
		vs := make([]*ir.Value, len(args))
		for i, a := range args {
			vs[i] = a.Value(e.g)
		}
		message = e.g.InsertNode(e.g.CreateTuple(vs, nil)).Output()
	}
	return &exceptionMessage{"exception message", message, e.g.Constant(value.Str(x.qualified), at)}
}

// FunctionValue is a compiled function, or several overloads of one.
type FunctionValue struct {
	NotFirstClass
	Overloads []*ir.Function
}

// NewFunctionValue returns a function as a sugared value.
func NewFunctionValue(overloads ...*ir.Function) *FunctionValue {
	return &FunctionValue{"function", overloads}
}

func (e *Emitter) functionConstant(f *ir.Function) *ir.Value {
	n := e.g.InsertNode(e.g.Create(prim.Constant, nil, 1)).SetAttr("name", f.ShortName())
	return n.Output().SetType(&types.Function{Name: f.ShortName(), Target: f})
}

// Call implements SugaredValue.
func (f *FunctionValue) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	schemas := make([]*schema.FunctionSchema, len(f.Overloads))
	for i, o := range f.Overloads {
		e.ensureDefined(at, "function", o)
		schemas[i] = o.Schema
	}
	i, match, err := ir.MatchSchemas(e.g, at, schemas, args, kwargs, nil)
	check(err)
	inputs := append([]*ir.Value{e.functionConstant(f.Overloads[i])}, match.Inputs...)
	n := e.g.InsertNode(e.g.Create(prim.CallFunction, inputs, 1)).SetRange(at)
	return simple{n.Output().SetType(match.Returns[0])}
}

// ensureDefined compiles a callee if that has not been done, and adds the call to the chain of an
// error.
func (e *Emitter) ensureDefined(at source.Range, what string, f *ir.Function) {
	recursive, err := f.EnsureDefinedWithin()
	if recursive && f.Schema == nil {
		space := ""
		if what == "function" || what == "method" {
			space = " "
		}
		var notes []string
		if f == e.f && !f.IsMethod {
			notes = []string{noRecursion}
		}
		failNoted(notes, at, "%s%s '%s' is called recursively. Recursive calls are not supported", space, what, f.ShortName())
	}
	e.checkCallee(err, source.Frame{Function: calleeName(f), Caller: calleeName(e.f), Range: e.pending})
}

// checkCallee ends the compilation with the error of a callee, if there is one, whose chain of
// calls goes on with frames.
func (e *Emitter) checkCallee(err error, frames ...source.Frame) {
	if inner, ok := err.(*source.Error); ok {
		chained := *inner
		chained.Stack = append(append([]source.Frame{}, inner.Stack...), frames...)
		panic(&chained)
	}
	if inner, ok := err.(interface{ AddFrames(...source.Frame) }); ok {
		inner.AddFrames(frames...)
	}
	check(err)
}

// checkDefinition ends the compilation with the error of the definition of a class that was named, if there is one.
func (e *Emitter) checkDefinition(err error) {
	if failed, ok := err.(interface{ Definition() string }); ok {
		if class := failed.Definition(); class != "" {
			e.checkCallee(err, source.Frame{Function: class, Caller: calleeName(e.f), Range: e.pending})
		}
	}
	check(err)
}

// ensureClassCompiled compiles the methods of a script class that is named for the first time.
func (e *Emitter) ensureClassCompiled(at source.Range, t types.Type) {
	class, ok := t.(*types.Class)
	if !ok || class.Uncompiled == nil {
		return
	}
	method, err := CompileMethods(class)
	if method != nil {
		e.checkCallee(err, source.Frame{Function: calleeName(method), Caller: class.Name, Range: at},
			source.Frame{Function: class.Name, Caller: calleeName(e.f), Range: e.pending})
	}
}

// CompileMethods compiles the methods of a script class that have not been compiled: __init__
// first, for it says what attributes there are. It fails with the method that failed and its error.
func CompileMethods(class *types.Class) (failed *ir.Function, err error) {
	methods := class.Uncompiled
	class.Uncompiled = nil
	for _, first := range []bool{true, false} {
		for _, m := range methods {
			f := m.(*ir.Function)
			if (f.ShortName() == "__init__") != first {
				continue
			}
			if _, err := f.EnsureDefinedWithin(); err != nil {
				class.Uncompiled = methods
				return f, err
			}
		}
	}
	return nil, nil
}

// calleeName is the name of a function in the chain of an error: methods have their class before
// it.
func calleeName(f *ir.Function) string {
	parts := strings.Split(f.Name, ".")
	if len(parts) > 2 && strings.HasPrefix(f.Name, "__torch__.") && f.IsMethod {
		return strings.Join(parts[len(parts)-2:], ".")
	}
	return parts[len(parts)-1]
}

// methodValue is a method bound to an object, or several overloads of one.
type methodValue struct {
	NotFirstClass
	self  *ir.Value
	names []string
}

func newMethod(self *ir.Value, names ...string) *methodValue {
	return &methodValue{"method", self, names}
}

// NewMethod returns a method bound to an object; several names are overloads.
func NewMethod(self *ir.Value, names ...string) SugaredValue { return newMethod(self, names...) }

func (m *methodValue) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	all := append([]ir.Argument{ir.ArgAt(m.self, at)}, args...)
	var schemas []*schema.FunctionSchema
	for _, name := range m.names {
		switch t := m.self.Type().(type) {
		case *types.Class:
			f, ok := t.FindMethod(name).(*ir.Function)
			if !ok {
				fail(at, "'%s' has no method '%s'", t.Annotation(nil), name)
			}
			e.ensureDefined(at, "method", f)
			schemas = append(schemas, f.Schema)
		case *types.Interface:
			schemas = append(schemas, t.FindMethod(name).Schema.(*schema.FunctionSchema))
		}
	}
	i, match, err := ir.MatchSchemas(e.g, at, schemas, all, kwargs, nil)
	check(err)
	n := e.g.InsertNode(e.g.Create(prim.CallMethod, match.Inputs, 1)).SetAttr("name", m.names[i]).SetRange(at)
	return simple{n.Output().SetType(match.Returns[0])}
}

// classValue is a script class used as a function: its constructor.
type classValue struct {
	NotFirstClass
	t *types.Class
}

// NewClassValue returns a script class as a sugared value.
func NewClassValue(t *types.Class) SugaredValue { return &classValue{"Python type", t} }

func (c *classValue) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	self := e.createObject(c.t, at)
	if c.t.FindMethod("__init__") == nil {
		fail(at, "Class %s does not have an __init__ function defined", lastAtom(c.t.Name))
	}
	newMethod(self, "__init__").Call(e, at, args, kwargs, binders)
	return simple{self}
}

func (c *classValue) Attr(e *Emitter, at source.Range, name string) SugaredValue {
	for _, hooks := range [][]types.Method{c.t.Hooks, c.t.PreHooks} {
		for _, h := range hooks {
			if shortName(h) == name {
				return NewFunctionValue(h.(*ir.Function))
			}
		}
	}
	if f, ok := c.t.FindStaticMethod(name).(*ir.Function); ok {
		return NewFunctionValue(f)
	}
	if name != "__new__" {
		fail(at, "Tried to lookup unknown attribute on class %s", c.t.Annotation(nil))
	}
	return NewSpecialForm(prim.CreateObject)
}

func lastAtom(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// namedTupleConstructor is a named tuple's class.
type namedTupleConstructor struct {
	NotFirstClass
	t *types.Tuple
}

// NewNamedTuple returns a named tuple's class as a sugared value.
func NewNamedTuple(t *types.Tuple) SugaredValue {
	return &namedTupleConstructor{NotFirstClass(t.Name), t}
}

func (c *namedTupleConstructor) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	match, err := ir.MatchSchema(e.g, at, namedTupleSchema(c.t), args, kwargs, nil)
	check(err)
	return simple{e.g.InsertNode(e.g.CreateTuple(match.Inputs, c.t)).SetRange(at).Output()}
}

// namedTupleSchema is the schema of a named tuple's constructor.
func namedTupleSchema(t *types.Tuple) *schema.FunctionSchema {
	s := &schema.FunctionSchema{Name: lastAtom(t.Name)}
	first := len(t.Fields) - len(t.Defaults)
	for i, field := range t.Fields {
		a := schema.Argument{Name: field, Type: t.Elems[i], RealType: t.Elems[i], ListSize: -1}
		if i >= first {
			a.Default, a.HasDefault = t.Defaults[i-first].(value.Value), true
		}
		s.Arguments = append(s.Arguments, a)
	}
	return s // the result, which the caller makes, is in no message
}

// enumClass is an enumeration's class.
type enumClass struct {
	NotFirstClass
	t *types.Enum
}

// NewEnumClass returns an enumeration's class as a sugared value.
func NewEnumClass(t *types.Enum) SugaredValue { return &enumClass{"EnumClass", t} }

func (c *enumClass) member(e *Emitter, at source.Range, i int) *ir.Value {
	return e.g.Constant(value.OfEnum(&value.Enum{Type: c.t, Index: i}), at)
}

func (c *enumClass) Attr(e *Emitter, at source.Range, name string) SugaredValue {
	i := c.t.MemberIndex(name)
	if i < 0 {
		fail(at, "Enum<%s>' has no attribute '%s'", c.t.Name, name)
	}
	return simple{c.member(e, at, i)}
}

func (c *enumClass) GetItem(e *Emitter, at source.Range, _ *ir.Value, _ types.Type) SugaredValue {
	return simple{c.AsValue(e, at)}
}

func (c *enumClass) Iter(e *Emitter, at source.Range) SugaredValue {
	items := make([]value.Value, len(c.t.Members))
	for i := range items {
		items[i] = value.OfEnum(&value.Enum{Type: c.t, Index: i})
	}
	return simple{e.g.Constant(value.OfList(value.NewList(c.t, items...)), at)}
}

// builtinNames are the names that every program knows besides operators.
var builtinNames = map[string]SugaredValue{
	"print":          &printValue{"print"},
	"tuple":          NewSpecialForm(prim.TupleConstruct),
	"float":          &castValue{NewBuiltin(aten.Float), types.Float},
	"complex":        &castValue{NewBuiltin(aten.Complex), types.Complex},
	"int":            &castValue{NewBuiltin(aten.Int), types.Int},
	"bool":           &castValue{NewBuiltin(aten.Bool), types.Bool},
	"str":            &castValue{NewBuiltin(aten.Str), types.Str},
	"getattr":        NewSpecialForm(prim.GetAttr),
	"hasattr":        NewSpecialForm(prim.HasAttr),
	"isinstance":     NewSpecialForm(prim.Isinstance),
	"list":           NewSpecialForm(prim.List),
	"dict":           NewSpecialForm(prim.Dict),
	"range":          NewSpecialForm(prim.Range),
	"zip":            NewSpecialForm(prim.Zip),
	"enumerate":      NewSpecialForm(prim.Enumerate),
	"slice":          NewSpecialForm(prim.Slice),
	"_to_tensor":     &castValue{NewBuiltin(prim.NumToTensor), types.Tensor},
	"AssertionError": &exceptionValue{"Python exception", "AssertionError", ""},
}

// builtinNamed returns what every program knows by a name, nil where it is nothing. A class may define the method behind an operator's schema in
// place of the operator.
func builtinNamed(name string) SugaredValue {
	if s := builtinNames[name]; s != nil {
		return s
	}
	for _, operator := range [...]string{"aten::" + name, "prim::" + name} {
		switch method, ok := ops.FactOf(operator, "builtin"); {
		case ok && method != "":
			return newMagic(method, operator)
		case ok:
			return NewBuiltin(operator)
		}
	}
	return nil
}

// propertyOf returns what computes an attribute of values of a kind: an operator, or a function that is written in the language. It is "" where the
// attribute is none.
func (e *Emitter) propertyOf(kind types.Kind, name string) string {
	for _, operator := range [...]string{"prim::" + name, "aten::" + name} {
		if overloads := ops.Overloads(operator); len(overloads) > 0 && isPropertyOf(kind, overloads[0]) {
			return operator
		}
	}
	if kind == types.KindTensor && !e.o.operatorsOnly && builtinFunctions("prim::"+name) != nil {
		return "prim::" + name
	}
	return ""
}

func isPropertyOf(kind types.Kind, o *ops.Operator) bool {
	return o.Has(ops.Property) && o.Schema().Arguments[0].Type.Kind() == kind
}
