package bind

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// operatorFunctions find operators by name.
var operatorFunctions = []function{
	{schema: "operator(str name) -> function", run: findOperator},
	{schema: "operator_of_programs(str name) -> function", run: findOperatorOfPrograms},
	{schema: "operator_methods() -> dict", run: operatorMethods},
	{schema: "operand(str name, str method) -> function", run: findOperand},
	{schema: "operator_names(str namespace) -> list", run: operatorNames},
	{schema: "operators_with(str fact) -> dict", run: operatorsWith},
	{schema: "operator_schemas(str name) -> list", run: operatorSchemas},
	{schema: "operator_forms(str name, bool method) -> list", run: operatorForms},
	{schema: "operator_doc(str name) -> str", run: operatorDoc},
	{schema: "operator_of_function(any f) -> any", run: operatorOfFunction},
	{schema: "normalized_name(str name) -> str", run: normalizedName},
	{schema: "operator_overload(str name) -> any", run: findOverload},
}

// operatorFunction calls the operator of a name: it chooses among the overloads by the arguments,
// as PyTorch's Python functions do.
type operatorFunction struct {
	name      string // "aten::add"
	programs  bool   // it has the overloads for numbers and lists alone too, as programs have
	method    bool   // of Tensor: messages do not count self
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
			if !takesTensors && !f.programs && len(f.overloads) > 0 && f.name != "aten::result_type" {
				break
			}
			for _, o := range made {
				if v := newOverload(o); v.concernsTensors() == takesTensors {
					v.strict = !v.op.Has(ops.WrapsNumbers)
					f.overloads = append(f.overloads, v)
				}
			}
		}
		if !f.programs {
			f.overloads = tensorsFirst(f.overloads)
		}
	})
	return f.overloads
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

// findOperatorOfPrograms replies the function that calls "aten::add" with what programs may, or None where there is no operator.
func findOperatorOfPrograms(c *call) error {
	linkOperators()
	if name := c.argString(0); len(ops.Overloads(name)) > 0 {
		c.function(&operatorFunction{name: name, programs: true})
	} else {
		c.none()
	}
	return nil
}

// findOverload replies the function that calls "aten::add.Tensor" alone, or None where there is no such overload.
func findOverload(c *call) error {
	linkOperators()
	if o := ops.Find(c.argString(0)); o != nil {
		c.function(&operatorFunction{name: o.BaseName(), programs: true, overloads: []*overload{newOverload(o)}})
	} else {
		c.none()
	}
	return nil
}

// normalizedName replies the name of which graphs have the calls of an operator.
func normalizedName(c *call) error {
	c.string(ops.CanonicalName(c.argString(0)))
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

// operatorsWith replies what stands behind schemas by a key, by the names of ATen's operators: "Neg" of neg, where onnx=Neg does.
func operatorsWith(c *call) error {
	facts := map[string]string{}
	var names []string
	for o, fact := range ops.WithFact(c.argString(0)) {
		name := strings.TrimPrefix(ops.BaseName(o.Name), "aten::")
		if _, seen := facts[name]; !seen {
			names, facts[name] = append(names, name), fact
		}
	}
	c.open(kindDict, len(names))
	for _, name := range names {
		c.string(name)
		c.string(facts[name])
	}
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

// operatorMethods replies the functions of the operators that PyTorch's Tensor has as methods, by name. Others are functions alone: a tensor
// with keys() or items() would pass for a dictionary. Their overloads are found when they are called.
func operatorMethods(c *call) error {
	var names []string
	for o := range ops.WithFact("method") {
		names = append(names, strings.TrimPrefix(ops.BaseName(o.Name), "aten::"))
	}
	c.open(kindDict, len(names))
	for _, name := range names {
		c.string(name)
		c.method(&operatorFunction{name: "aten::" + name, method: true})
	}
	return nil
}

func (f *operatorFunction) callableName() string { return f.name[strings.Index(f.name, "::")+2:] }

// call chooses the overload, runs it and writes its results.
func (f *operatorFunction) call(c *call) error {
	c.givesOut = false
	if c.keywords > 0 {
		c.named = c.args.skip(c.positional)
		c.givesOut = c.hasOut()
	}
	for _, loose := range []bool{false, true} {
		if !loose && f.programs && f.all()[0].op.Has(ops.WrapsNumbers) {
			continue // tensors of the numbers come first
		}
		for _, v := range f.all() {
			if v.op.Run != nil && v.matches(c, loose) {
				return v.run(c)
			}
		}
		if loose || f.programs {
			continue
		}
		if v, err := f.inOldOrder(c); v != nil {
			if err != nil {
				return err
			}
			return v.run(c)
		}
	}
	return f.mismatch(c)
}

// hasOut reports whether there is a keyword out that is not None.
func (c *call) hasOut() bool {
	name := c.named
	for range c.keywords {
		arg := name.next()
		if arg.kind() != kindNone && name.text() == "out" {
			return true
		}
		name = arg.next()
	}
	return false
}

// mismatch says why no overload took the arguments.
func (f *operatorFunction) mismatch(c *call) error {
	for _, v := range f.all() {
		if v.op.Run == nil && v.matches(c, true) {
			if v.namesDimensions() {
				return f.unnamed(v, c)
			}
			return notImplementedErrorf("The operator '%s' is not implemented by this version of torchjit", v.schema.QualifiedName())
		}
	}
	if err := f.elementRefusal(c); err != nil && !f.programs {
		return err
	}
	if only := f.signature(c.positional + c.keywords); only != nil && !f.programs {
		if err := only.refusal(f, c); err != nil {
			return err
		}
	}
	var given []string
	x := c.args
	for i := range c.positional {
		if i >= f.ownArguments() {
			given = append(given, x.kindName())
		}
		x = x.next()
	}
	var named []string
	for name, arg := range c.keywordPairs {
		named = append(named, name.text()+"="+arg.kindName())
	}
	slices.Sort(named)
	if len(given) == 0 && len(named) > 0 {
		named = append(named, "") // PyTorch ends the list of names alone with a comma
	}
	given = append(given, named...)
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
	name   string // "aten::add"
	method string // "__radd__"
	once   sync.Once
	f      *operatorFunction
}

func (o *operand) callableName() string { return o.method }

// call implements callable.
func (o *operand) call(c *call) error {
	o.once.Do(func() { o.f = operatorNamed(o.name) })
	if o.f == nil {
		return notImplementedErrorf("there is no operator %s", o.name)
	}
	if c.positional == 1 && o.method == "__invert__" {
		if t := c.args.tensor(); t != nil && (t.DType().IsFloating() || t.DType().IsComplex()) {
			return typeErrorf("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
		}
	}
	if c.positional == 2 && c.keywords == 0 {
		if other := c.args.next(); other.tensor() == nil && !isNumber(other) {
			c.declined()
			return nil
		}
	}
	// In a function of Python a trace finds no names of variables.
	if c.thread.recorder != nil && ops.Overloads(o.name)[0].Has(ops.ByFunction) {
		c.thread.nameless = true
		defer func() { c.thread.nameless = false }()
	}
	return o.f.call(c)
}

// findOperand replies the operator of a name for use as a method such as __add__.
func findOperand(c *call) error {
	c.method(&operand{name: c.argString(0), method: c.argString(1)})
	return nil
}

// namedOperator is an operator that this package runs by itself, found when it is first run.
type namedOperator struct {
	name string // "aten::add.Tensor"
	once sync.Once
	op   *ops.Operator
}

// The operators that indices, copies and conversions are.
var (
	opAlias           = &namedOperator{name: "aten::alias"}
	opCopyInPlace     = &namedOperator{name: "aten::copy_"}
	opDetach          = &namedOperator{name: "aten::detach"}
	opExpand          = &namedOperator{name: "aten::expand"}
	opFillTensor      = &namedOperator{name: "aten::fill_.Tensor"}
	opIndexPutInPlace = &namedOperator{name: "aten::index_put_"}
	opIndexTensor     = &namedOperator{name: "aten::index.Tensor"}
	opLiftFreshCopy   = &namedOperator{name: "aten::lift_fresh_copy"}
	opSelectInt       = &namedOperator{name: "aten::select.int"}
	opSliceTensor     = &namedOperator{name: "aten::slice.Tensor"}
	opToDevice        = &namedOperator{name: "aten::to.device"}
	opToDtype         = &namedOperator{name: "aten::to.dtype"}
	opToDtypeLayout   = &namedOperator{name: "aten::to.dtype_layout"}
	opUnsqueeze       = &namedOperator{name: "aten::unsqueeze"}
	opView            = &namedOperator{name: "aten::view"}
)

func (n *namedOperator) find() {
	linkOperators()
	n.op = ops.Find(n.name)
}

// run runs an operator on self and args, and on its defaults for those that are missing, and returns its one result.
func (h *thread) run(k *namedOperator, self value.Value, args ...value.Value) (value.Value, error) {
	return h.runGiven(k, nil, self, args...)
}

// runGiven is run with numbers among args that tensors gave.
func (h *thread) runGiven(k *namedOperator, given []trace.Given, self value.Value, args ...value.Value) (value.Value, error) {
	k.once.Do(k.find)
	if k.op == nil || k.op.Run == nil {
		return value.None, notImplementedErrorf("The operator '%s' is not implemented by this version of torchjit", k.name)
	}
	s, begin := k.op.Schema(), len(h.values)
	defer func() {
		clear(h.values[begin:])
		h.values = h.values[:begin]
	}()
	h.values = append(append(h.values, self), args...)
	for i := 1 + len(args); i < len(s.Arguments); i++ {
		h.values = append(h.values, s.Arguments[i].NewDefault())
	}
	for range s.Returns {
		h.values = append(h.values, value.None)
	}
	all := h.values[begin:len(h.values):len(h.values)]
	in, out := all[:len(s.Arguments)], all[len(s.Arguments):]
	in, err := h.castTraced(k.op, in)
	if err == nil {
		err = h.mode.Run(k.op, in, out)
	}
	if err != nil {
		return value.None, err
	}
	return out[0], h.record(k.op, in, out, given...)
}
