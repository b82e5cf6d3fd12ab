package operators

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// operatorFunctions find operators by name.
var operatorFunctions = []abi.Function{
	{Schema: "operator(str name) -> function", Run: findOperator},
	{Schema: "operator_of_programs(str name) -> function", Run: findOperatorOfPrograms},
	{Schema: "operator_methods() -> dict", Run: operatorMethods},
	{Schema: "operand(str name, str method) -> function", Run: findOperand},
	{Schema: "operator_names(str namespace) -> list", Run: operatorNames},
	{Schema: "operators_with(str fact) -> dict", Run: operatorsWith},
	{Schema: "operator_quantization(str name, bool signed) -> tuple", Run: abi.Bind(operatorQuantization)},
	{Schema: "operator_is_elementwise(str name) -> bool", Run: operatorIsElementwise},
	{Schema: "operator_schemas(str name) -> list", Run: operatorSchemas},
	{Schema: "operator_forms(str name, bool method) -> list", Run: operatorForms},
	{Schema: "operator_doc(str name) -> str", Run: operatorDoc},
	{Schema: "operator_of_function(any f) -> any", Run: operatorOfFunction},
	{Schema: "normalized_name(str name) -> str", Run: normalizedName},
	{Schema: "operator_overload(str name) -> any", Run: findOverload},
}

// Function calls the operator of a name: it chooses among the overloads by the arguments,
// as PyTorch's Python functions do.
type Function struct {
	Name      string // "aten::add"
	programs  bool   // it has the overloads for numbers and lists alone too, as programs have
	method    bool   // of Tensor: messages do not count self
	once      sync.Once
	overloads []*overload // use all, which finds them
}

// all returns the overloads in the order in which they are tried: first those that concern tensors.
func (f *Function) all() []*overload {
	f.once.Do(func() {
		if f.overloads != nil {
			return
		}
		gojit.LinkOperators()
		made := ops.Overloads(f.Name)
		for _, takesTensors := range []bool{true, false} {
			if !takesTensors && !f.programs && len(f.overloads) > 0 && f.Name != aten.ResultType {
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
func findOperator(c *abi.Call) error {
	f := operatorNamed(c.ArgString(0))
	if f == nil {
		c.None()
	} else {
		c.Function(f)
	}
	return nil
}

// findOperatorOfPrograms replies the function that calls "aten::add" with what programs may, or None where there is no operator.
func findOperatorOfPrograms(c *abi.Call) error {
	gojit.LinkOperators()
	if name := c.ArgString(0); len(ops.Overloads(name)) > 0 {
		c.Function(&Function{Name: name, programs: true})
	} else {
		c.None()
	}
	return nil
}

// findOverload replies the function that calls "aten::add.Tensor" alone, or None where there is no such overload.
func findOverload(c *abi.Call) error {
	gojit.LinkOperators()
	if o := ops.Find(c.ArgString(0)); o != nil {
		c.Function(&Function{Name: o.BaseName(), programs: true, overloads: []*overload{newOverload(o)}})
	} else {
		c.None()
	}
	return nil
}

// normalizedName replies the name of which graphs have the calls of an operator.
func normalizedName(c *abi.Call) error {
	c.String(ops.CanonicalName(c.ArgString(0)))
	return nil
}

func operatorNames(c *abi.Call) error {
	prefix := c.ArgString(0) + "::"
	var names []string
	for _, n := range ops.Names() {
		if strings.HasPrefix(n, prefix) {
			names = append(names, n[len(prefix):])
		}
	}
	c.Strings(names)
	return nil
}

// operatorsWith replies what stands behind schemas by a key, by the names of ATen's operators: "Neg" of neg, where onnx=Neg does.
func operatorsWith(c *abi.Call) error {
	facts := map[string]string{}
	var names []string
	for o, fact := range ops.WithFact(c.ArgString(0)) {
		name := strings.TrimPrefix(ops.BaseName(o.Name), "aten::")
		if _, seen := facts[name]; !seen {
			names, facts[name] = append(names, name), fact
		}
	}
	c.Open(abi.KindDict, len(names))
	for _, name := range names {
		c.String(name)
		c.String(facts[name])
	}
	return nil
}

// operatorQuantization returns the scale and the zero point that results of an operator have whatever its first argument's are, for integers
// of eight bits; given is false where they are the argument's, or the results are not quantized.
func operatorQuantization(name string, signed bool) (given bool, scale float64, zeroPoint int64) {
	gojit.LinkOperators()
	dtype := tensor.QUInt8
	if signed {
		dtype = tensor.QInt8
	}
	for _, o := range ops.Overloads(name) {
		d := o.Def()
		if d == nil || d.Quantized == nil {
			continue
		}
		x, err := tensor.EmptyMeta([]int{1}, dtype)
		if err != nil {
			continue
		}
		x.SetQuantizer(&tensor.Quantizer{Scale: 3, ZeroPoint: 5})
		if q := d.Quantized(x); q != nil && (q.Scale != 3 || q.ZeroPoint != 5) {
			return true, q.Scale, q.ZeroPoint
		}
	}
	return false, 0, 0
}

// operatorIsElementwise replies whether an overload computes each element of its result from the elements at the same place of its tensors.
func operatorIsElementwise(c *abi.Call) error {
	o := ops.Find(c.ArgString(0))
	c.Bool(o != nil && o.IsElementwise())
	return nil
}

// operatorOfFunction replies the name of the operator that a function calls, None where it calls none.
func operatorOfFunction(c *abi.Call) error {
	if f, ok := c.Arg(0).Callable().(*Function); ok {
		c.String(f.Name)
	} else {
		c.None()
	}
	return nil
}

// operatorSchemas replies the schemas of a name's overloads and whether each can run.
func operatorSchemas(c *abi.Call) error {
	gojit.LinkOperators()
	overloads := ops.Overloads(c.ArgString(0))
	c.Open(abi.KindList, len(overloads))
	for _, o := range overloads {
		c.Open(abi.KindTuple, 2)
		c.String(o.Schema().String())
		c.Bool(o.Run != nil)
	}
	return nil
}

func operatorNamed(name string) *Function {
	if f, ok := operatorsByName.Load(name); ok {
		return f.(*Function)
	}
	gojit.LinkOperators()
	if len(ops.Overloads(name)) == 0 {
		return nil
	}
	f, _ := operatorsByName.LoadOrStore(name, &Function{Name: name})
	return f.(*Function)
}

// operatorMethods replies the functions of the operators that PyTorch's Tensor has as methods, by name. Others are functions alone: a tensor
// with keys() or items() would pass for a dictionary. Their overloads are found when they are called.
func operatorMethods(c *abi.Call) error {
	var names []string
	for o := range ops.WithFact("method") {
		names = append(names, strings.TrimPrefix(ops.BaseName(o.Name), "aten::"))
	}
	c.Open(abi.KindDict, len(names))
	for _, name := range names {
		c.String(name)
		c.Method(&Function{Name: "aten::" + name, method: true})
	}
	return nil
}

// CallableName implements abi.Callable.
func (f *Function) CallableName() string { return f.Name[strings.Index(f.Name, "::")+2:] }

// Call chooses the overload, runs it and writes its results.
func (f *Function) Call(c *abi.Call) error {
	c.GivesOut = false
	if c.Keywords > 0 {
		c.Named = c.Args.Skip(c.Positional)
		c.GivesOut = hasOut(c)
	}
	for _, loose := range []bool{false, true} {
		if !loose && f.programs && f.all()[0].op.Has(ops.WrapsNumbers) {
			continue // tensors of the numbers come first
		}
		for _, v := range f.all() {
			if v.op.Run != nil && v.matches(c, loose) {
				return f.run(v, c)
			}
		}
		if loose || f.programs {
			continue
		}
		if v, err := f.inOldOrder(c); v != nil {
			if err != nil {
				return err
			}
			return f.run(v, c)
		}
	}
	return f.mismatch(c)
}

// run runs an overload, one that takes a number as PyTorch's functions for Python do: as one that takes a tensor.
func (f *Function) run(v *overload, c *abi.Call) error {
	if v.strict || f.programs {
		return v.run(c)
	}
	before := c.Thread.Mode.SetWrapsNumbers(true)
	defer c.Thread.Mode.SetWrapsNumbers(before)
	return v.run(c)
}

// hasOut reports whether there is a keyword out that is not None.
func hasOut(c *abi.Call) bool {
	name := c.Named
	for range c.Keywords {
		arg := name.Next()
		if arg.Kind() != abi.KindNone && name.Text() == "out" {
			return true
		}
		name = arg.Next()
	}
	return false
}

// mismatch says why no overload took the arguments.
func (f *Function) mismatch(c *abi.Call) error {
	for _, v := range f.all() {
		if v.op.Run == nil && v.matches(c, true) {
			if v.namesDimensions() {
				return f.unnamed(v, c)
			}
			return abi.NotImplementedErrorf("The operator '%s' is not implemented by this version of torchjit", v.schema.QualifiedName())
		}
	}
	if err := f.elementRefusal(c); err != nil && !f.programs {
		return err
	}
	if only := f.signature(c.Positional + c.Keywords); only != nil && !f.programs {
		if err := only.refusal(f, c); err != nil {
			return err
		}
	}
	var given []string
	x := c.Args
	for i := range c.Positional {
		if i >= f.ownArguments() {
			given = append(given, x.KindName())
		}
		x = x.Next()
	}
	var named []string
	for name, arg := range c.KeywordPairs {
		named = append(named, name.Text()+"="+arg.KindName())
	}
	slices.Sort(named)
	if len(given) == 0 && len(named) > 0 {
		named = append(named, "") // PyTorch ends the list of names alone with a comma
	}
	given = append(given, named...)
	var b strings.Builder
	b.WriteString(f.CallableName() + "() received an invalid combination of arguments - got (" + strings.Join(given, ", ") + "), but expected one of:\n")
	for _, v := range f.all() {
		if v.op.Run != nil {
			b.WriteString(" * " + v.schema.String() + "\n")
		}
	}
	return abi.TypeErrorf("%s", b.String())
}

// Operand is an operator of Python's arithmetic, found when it is first used: where the other
// argument is no operand, it declines, so that Python tries that one's method.
type Operand struct {
	Name   string // "aten::add"
	method string // "__radd__"
	once   sync.Once
	f      *Function
}

// CallableName implements abi.Callable.
func (o *Operand) CallableName() string { return o.method }

// Call implements callable.
func (o *Operand) Call(c *abi.Call) error {
	o.once.Do(func() { o.f = operatorNamed(o.Name) })
	if o.f == nil {
		return abi.NotImplementedErrorf("there is no operator %s", o.Name)
	}
	if c.Positional == 1 && o.method == "__invert__" {
		if t := c.Args.Tensor(); t != nil && (t.DType().IsFloating() || t.DType().IsComplex()) {
			return abi.TypeErrorf("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
		}
	}
	if c.Positional == 2 && c.Keywords == 0 {
		if other := c.Args.Next(); other.Tensor() == nil && (!abi.IsNumber(other) || o.method == "__matmul__") {
			c.Declined()
			return nil
		}
	}
	// In a function of Python a trace finds no names of variables.
	if c.Thread.Recorder != nil && ops.Overloads(o.Name)[0].Has(ops.ByFunction) {
		c.Thread.Nameless = true
		defer func() { c.Thread.Nameless = false }()
	}
	return o.f.Call(c)
}

// findOperand replies the operator of a name for use as a method such as __add__.
func findOperand(c *abi.Call) error {
	c.Method(&Operand{Name: c.ArgString(0), method: c.ArgString(1)})
	return nil
}
