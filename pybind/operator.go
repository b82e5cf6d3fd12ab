package main

import (
	"slices"
	"strings"
	"sync"

	"torchjit/gojit/autograd"
	"torchjit/gojit/ops"
	"torchjit/gojit/schema"
	"torchjit/gojit/trace"
	"torchjit/gojit/types"
	"torchjit/gojit/value"
)

// operatorFunctions find operators by name.
var operatorFunctions = []function{
	{schema: "operator(str name) -> function", run: findOperator},
	{schema: "operator_methods() -> dict", run: operatorMethods},
	{schema: "operand(str name) -> function", run: findOperand},
	{schema: "operator_names(str namespace) -> list", run: operatorNames},
	{schema: "operator_schemas(str name) -> list", run: operatorSchemas},
	{schema: "operator_of_function(any f) -> any", run: operatorOfFunction},
	{schema: "operator_overload(str name) -> any", run: findOverload},
}

// operatorFunction calls the operator of a name: it chooses among the overloads by the arguments,
// as PyTorch's Python functions do.
type operatorFunction struct {
	name      string // "aten::add"
	once      sync.Once
	overloads []*overload // use all, which finds them
}

// all returns the overloads in the order in which they are tried: first those that concern tensors.
func (f *operatorFunction) all() []*overload {
	f.once.Do(func() {
		if f.overloads != nil {
			return
		}
		linkOperators()
		made := ops.Overloads(f.name)
		for _, takesTensors := range []bool{true, false} {
			for _, o := range made {
				if v := newOverload(o); v.concernsTensors() == takesTensors {
					f.overloads = append(f.overloads, v)
				}
			}
		}
	})
	return f.overloads
}

// overload is an overload in the form that calls from Python need.
type overload struct {
	op       *ops.Operator
	schema   *schema.FunctionSchema
	types    []types.Type // of the arguments, as written
	maxPlain int          // arguments that may be positional
	firstOut int          // index of the first out argument; len(types) where there is none
	fields   []string     // names of several results, nil where they have none
	keeps    bool         // a result that is no tensor may hold arguments
	shows    bool         // results may be what packed parameters hold
	perform  autograd.Operation
	varargs  int // index of the list that takes all further positional ints, or -1
}

// operatorsByName keeps what was made for a name.
var operatorsByName sync.Map

// findOperator replies the function that calls "aten::add", or None where there is no operator.
func findOperator(c *call) error {
	f := operatorNamed(c.argString(0))
	if f == nil {
		c.none()
	} else {
		c.function(f)
	}
	return nil
}

// findOverload replies the function that calls "aten::add.Tensor" alone, or None where there is no such overload.
func findOverload(c *call) error {
	linkOperators()
	if o := ops.Find(c.argString(0)); o != nil {
		c.function(&operatorFunction{name: o.BaseName(), overloads: []*overload{newOverload(o)}})
	} else {
		c.none()
	}
	return nil
}

func operatorNames(c *call) error {
	prefix := c.argString(0) + "::"
	var names []string
	for _, n := range ops.Names() {
		if strings.HasPrefix(n, prefix) {
			names = append(names, n[len(prefix):])
		}
	}
	c.strings(names)
	return nil
}

// operatorOfFunction replies the name of the operator that a function calls, None where it calls none.
func operatorOfFunction(c *call) error {
	if f, ok := c.arg(0).callable().(*operatorFunction); ok {
		c.string(f.name)
	} else {
		c.none()
	}
	return nil
}

// operatorSchemas replies the schemas of a name's overloads and whether each can run.
func operatorSchemas(c *call) error {
	linkOperators()
	overloads := ops.Overloads(c.argString(0))
	c.open(kindList, len(overloads))
	for _, o := range overloads {
		c.open(kindTuple, 2)
		c.string(o.Schema().String())
		c.bool(o.Run != nil)
	}
	return nil
}

func operatorNamed(name string) *operatorFunction {
	if f, ok := operatorsByName.Load(name); ok {
		return f.(*operatorFunction)
	}
	linkOperators()
	if len(ops.Overloads(name)) == 0 {
		return nil
	}
	f, _ := operatorsByName.LoadOrStore(name, &operatorFunction{name: name})
	return f.(*operatorFunction)
}

// operatorMethods replies the functions of all operators that can be methods, by name. Their overloads are found when they
// are called.
func operatorMethods(c *call) error {
	var names []string
	for _, name := range ops.Names() {
		if base, ok := strings.CutPrefix(name, "aten::"); ok && !strings.HasPrefix(base, "__") {
			names = append(names, base)
		}
	}
	c.open(kindDict, len(names))
	for _, name := range names {
		f, _ := operatorsByName.LoadOrStore("aten::"+name, &operatorFunction{name: "aten::" + name})
		c.string(name)
		c.function(f.(*operatorFunction))
	}
	return nil
}

func newOverload(o *ops.Operator) *overload {
	s := o.Schema()
	v := &overload{op: o, perform: autograd.OperationOf(o), schema: s, firstOut: len(s.Arguments), maxPlain: len(s.Arguments), varargs: -1}
	for i := range s.Arguments {
		a := &s.Arguments[i]
		v.types = append(v.types, realType(a))
		v.shows = v.shows || a.Type.Kind() == types.KindClass
		if a.KwargOnly {
			v.maxPlain = min(v.maxPlain, i)
		}
		if a.IsOut() {
			v.firstOut = min(v.firstOut, i)
		}
	}
	v.varargs = v.varargsIndex()
	for i := range s.Returns {
		switch s.Returns[i].Type.Kind() {
		case types.KindTensor, types.KindInt, types.KindFloat, types.KindBool, types.KindNumber, types.KindList, types.KindString:
		default:
			v.keeps = true
		}
	}
	if len(s.Returns) > 1 && s.Returns[0].Name != "" {
		for _, r := range s.Returns {
			v.fields = append(v.fields, r.Name)
		}
	}
	return v
}

// varargsIndex returns the index of a list of ints that is the only positional argument besides
// self: x.view(2, 3), torch.zeros(2, 3).
func (v *overload) varargsIndex() int {
	i := 0
	if len(v.types) > 0 && v.schema.Arguments[0].Name == "self" {
		i = 1
	}
	if v.maxPlain != i+1 {
		return -1
	}
	l, ok := v.types[i].(*types.List)
	if !ok || l.Elem.Kind() != types.KindInt && l.Elem.Kind() != types.KindSymInt {
		return -1
	}
	return i
}

// concernsTensors reports whether the overload takes or gives tensors; the others are meant for
// numbers, strings and lists in programs.
func (v *overload) concernsTensors() bool {
	for _, t := range v.types {
		if mentionsTensor(t) {
			return true
		}
	}
	for i := range v.schema.Returns {
		if mentionsTensor(v.schema.Returns[i].Type) {
			return true
		}
	}
	return false
}

func mentionsTensor(t types.Type) bool {
	return t.Kind() == types.KindTensor || slices.ContainsFunc(types.Contained(t), mentionsTensor)
}

func (f *operatorFunction) callableName() string { return f.name[strings.Index(f.name, "::")+2:] }

// keywordAliases are the names that Python's functions take for arguments besides their own.
var keywordAliases = map[string]string{"input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x2": "other"}

// call chooses the overload, runs it and writes its results.
func (f *operatorFunction) call(c *call) error {
	for _, loose := range []bool{false, true} {
		for _, v := range f.all() {
			if v.op.Run != nil && v.matches(c, loose) {
				return v.run(c)
			}
		}
	}
	return f.mismatch(c)
}

// matches reports whether the overload takes the arguments, and leaves them in c.bound.
func (v *overload) matches(c *call, loose bool) bool {
	n := len(v.types)
	c.bound = slices.Grow(c.bound[:0], n)[:n]
	clear(c.bound)
	if !v.bindPositional(c) {
		return false
	}
	for name, arg := range c.keywordPairs {
		if !v.bindKeyword(c, name.text(), arg) {
			return false
		}
	}
	for i, w := range c.bound {
		a := &v.schema.Arguments[i]
		switch {
		case w == nil:
			if !a.HasDefault {
				return false
			}
		case i == v.varargs && c.positional > i && w == c.args.skip(i) && isIndex(w):
		case w.kind() == kindNone && a.HasDefault && a.Default.IsNone():
		case !accepts(w, v.types[i], a.ListSize, loose):
			return false
		}
	}
	return true
}

// isIndex reports whether w is an int or a tensor that stands for one.
func isIndex(w *word) bool { return w.kind() == kindInt || isIntegralScalar(w.tensor()) }

func (v *overload) bindPositional(c *call) bool {
	n := c.positional
	x := c.args
	if n > v.maxPlain {
		if v.varargs < 0 {
			return false
		}
		for w, i := c.args.skip(v.varargs), v.varargs; i < n; i++ {
			if !isIndex(w) {
				return false
			}
			w = w.next()
		}
		n = v.maxPlain
	}
	for i := range n {
		c.bound[i] = x
		x = x.next()
	}
	return true
}

func (v *overload) bindKeyword(c *call, name string, arg *word) bool {
	if name == "out" && v.firstOut < len(v.types) {
		return v.bindOut(c, arg)
	}
	i := v.schema.ArgumentIndex(name)
	if i < 0 {
		if alias, ok := keywordAliases[name]; ok {
			i = v.schema.ArgumentIndex(alias)
		}
	}
	if i < 0 {
		// requires_grad belongs to functions that make tensors; out=None is no argument at all.
		return name == "requires_grad" && v.makesTensor() || name == "out" && arg.kind() == kindNone
	}
	if c.bound[i] != nil {
		return false
	}
	c.bound[i] = arg
	return true
}

func (v *overload) bindOut(c *call, arg *word) bool {
	outs := len(v.types) - v.firstOut
	if !arg.isSequence() {
		c.bound[v.firstOut] = arg
		return outs == 1
	}
	if arg.count() != outs {
		return false
	}
	i := v.firstOut
	for x := range arg.items {
		c.bound[i] = x
		i++
	}
	return true
}

// makesTensor reports whether the overload makes a tensor from none.
func (v *overload) makesTensor() bool {
	return v.schema.ArgumentIndex("dtype") >= 0 && v.schema.ArgumentIndex("device") >= 0
}

// releaseAbove is the number of elements above which an operator runs without the GIL: below it
// the operator is done before another thread could take over.
const releaseAbove = 8192

// run converts the bound arguments, runs the operator and writes its results.
func (v *overload) run(c *call) error {
	n, results := len(v.types), len(v.schema.Returns)
	c.values = slices.Grow(c.values[:0], n+results)[:n+results]
	args, out := c.values[:n:n], c.values[n:]
	work := 0
	for i, w := range c.bound {
		a := &v.schema.Arguments[i]
		var err error
		switch {
		case w == nil:
			args[i] = a.NewDefault()
		case w.kind() == kindNone && !accepts(w, v.types[i], a.ListSize, false):
			args[i] = a.Default
		case i == v.varargs && !w.isSequence() && c.positional > 0 && w == c.args.skip(i) && (a.ListSize <= 1 || c.positional > i+1):
			args[i], err = c.gather(i)
		default:
			args[i], err = toValue(w, v.types[i], a.ListSize)
			if v.keeps && w.tensor() != nil {
				w.keep()
			}
		}
		if err != nil {
			return err
		}
		work += elementsOf(args[i])
	}
	if err := c.runOperator(v.perform, args, out, work); err != nil {
		return err
	}
	if c.thread.recorder != nil {
		if err := c.thread.record(v.op, args, out, v.givenNumbers(c)...); err != nil {
			return err
		}
	}
	return v.writeResults(c, out)
}

// runOperator runs an operator, without the GIL where there is much to do.
func (c *call) runOperator(perform autograd.Operation, args, out []value.Value, work int) error {
	if work <= releaseAbove {
		return perform(c.thread.mode, args, out)
	}
	return c.withoutGIL(func() error { return perform(c.thread.mode, args, out) })
}

// gather makes a list of the positional ints from argument i on.
func (c *call) gather(i int) (value.Value, error) {
	l := value.NewList(types.Int)
	w := c.args.skip(i)
	for ; i < c.positional; i++ {
		v, err := toNumber(w, types.KindInt)
		if err != nil {
			return value.None, err
		}
		l.Items = append(l.Items, v)
		w = w.next()
	}
	return value.OfList(l), nil
}

// elementsOf returns how many elements an argument has or asks for.
func elementsOf(v value.Value) int {
	switch v.Kind() {
	case value.KindTensor:
		return v.Tensor().Numel()
	case value.KindList:
		n := 1
		for _, x := range v.List().Items {
			switch {
			case x.IsTensor():
				n += x.Tensor().Numel()
			case x.IsInt() && x.Int() > 0 && n < 1<<30:
				n *= int(min(x.Int(), 1<<30))
			}
		}
		return n
	}
	return 0
}

func (v *overload) writeResults(c *call, out []value.Value) error {
	if c.requiresGrad() && len(out) == 1 && out[0].IsTensor() {
		if !out[0].Tensor().DType().IsDifferentiable() {
			return runtimeErrorf("Only Tensors of floating point and complex dtype can require gradients")
		}
		if err := out[0].Tensor().SetRequiresGrad(true); err != nil {
			return err
		}
	}
	switch {
	case len(out) == 0:
		c.none()
		return nil
	case v.shows && len(out) == 1:
		return c.writer.keptValue(out[0])
	case v.shows:
		return c.writer.keptValue(value.OfTuple(value.NewTuple(out...)))
	case len(out) == 1 && out[0].Kind() == value.KindList && out[0].List().Elem.Kind() == types.KindTensor:
		return c.writer.values(kindTuple, out[0].List().Items) // from Python such an operator gives a tuple
	case len(out) == 1:
		return c.value(out[0])
	case v.fields == nil:
		return c.writer.values(kindTuple, out)
	}
	name := v.schema.Name[strings.Index(v.schema.Name, "::")+2:]
	class, err := returnTypeClass(returnType{name, strings.Join(v.fields, ",")}, name, v.fields)
	if err != nil {
		return err
	}
	c.open(kindConstruct, 1)
	c.object(class)
	return c.writer.values(kindTuple, out)
}

// requiresGrad reports whether the call has the keyword requires_grad=True.
func (c *call) requiresGrad() bool {
	for name, arg := range c.keywordPairs {
		if name.text() == "requires_grad" {
			return arg.kind() == kindBool && arg.bool()
		}
	}
	return false
}

// mismatch says why no overload took the arguments.
func (f *operatorFunction) mismatch(c *call) error {
	for _, v := range f.all() {
		if v.op.Run == nil && v.matches(c, true) {
			return notImplementedErrorf("The operator '%s' is not implemented by this version of torchjit", v.schema.QualifiedName())
		}
	}
	var given []string
	x := c.args
	for range c.positional {
		given = append(given, x.kindName())
		x = x.next()
	}
	for name, arg := range c.keywordPairs {
		given = append(given, name.text()+"="+arg.kindName())
	}
	var b strings.Builder
	b.WriteString(f.callableName() + "() received an invalid combination of arguments - got (" + strings.Join(given, ", ") + "), but expected one of:\n")
	for _, v := range f.all() {
		if v.op.Run != nil {
			b.WriteString(" * " + v.schema.String() + "\n")
		}
	}
	return typeErrorf("%s", b.String())
}

// operand is an operator of Python's arithmetic, found when it is first used: where the other
// argument is no operand, it declines, so that Python tries that one's method.
type operand struct {
	name string
	once sync.Once
	f    *operatorFunction
}

// hidden are the operands that PyTorch calls by a function of Python, in which a trace finds no
// names of variables.
var hidden = map[string]bool{"aten::rsub": true, "aten::pow": true, "aten::pow_": true, "aten::floor_divide": true}

func (o *operand) callableName() string { return o.name[strings.Index(o.name, "::")+2:] }

// call implements callable.
func (o *operand) call(c *call) error {
	o.once.Do(func() { o.f = operatorNamed(o.name) })
	if o.f == nil {
		return notImplementedErrorf("there is no operator %s", o.name)
	}
	if c.positional == 2 && c.keywords == 0 {
		if other := c.args.next(); other.tensor() == nil && !isNumber(other) {
			c.declined()
			return nil
		}
	}
	if c.thread.recorder != nil && hidden[o.name] {
		c.thread.nameless = true
		defer func() { c.thread.nameless = false }()
	}
	return o.f.call(c)
}

// findOperand replies the operator of a name for use as a method such as __add__.
func findOperand(c *call) error {
	c.function(&operand{name: c.argString(0)})
	return nil
}

// runNamed runs "aten::add.Tensor" on args and returns its one result.
func (h *thread) runNamed(name string, args ...value.Value) (value.Value, error) {
	return h.runNamedGiven(name, nil, args...)
}

// runNamedGiven is runNamed with numbers among args that tensors gave.
func (h *thread) runNamedGiven(name string, given []trace.Given, args ...value.Value) (value.Value, error) {
	linkOperators()
	op := ops.Find(name)
	if op == nil || op.Run == nil {
		return value.None, notImplementedErrorf("The operator '%s' is not implemented by this version of torchjit", name)
	}
	for i := len(args); i < len(op.Schema().Arguments); i++ {
		args = append(args, op.Schema().Arguments[i].NewDefault())
	}
	out := make([]value.Value, len(op.Schema().Returns))
	if err := h.mode.Run(op, args, out); err != nil {
		return value.None, err
	}
	return out[0], h.record(op, args, out, given...)
}
