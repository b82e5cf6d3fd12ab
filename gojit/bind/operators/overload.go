package operators

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/dimnames"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// overload is an overload in the form that calls from Python need.
type overload struct {
	op         *ops.Operator
	schema     *schema.FunctionSchema
	parameters []parameter
	maxPlain   int  // arguments that may be positional
	takesOut   bool // it has such arguments, or one of the name
	firstOut   int  // index of the first out argument; the number of parameters where there is none
	makes      bool // it makes a tensor from none
	fills      fillOptions
	fields     []string // names of several results, nil where they have none
	keeps      bool     // a result that is no tensor may hold arguments
	shows      bool     // results may be what packed parameters hold
	perform    autograd.Operation
	strict     bool // numbers do not stand for tensors
	varargs    int  // index of the list that takes all further positional ints, or -1
}

// parameter is an argument of an overload. What calls mostly give it is told from others by its kind alone.
type parameter struct {
	*schema.Argument
	written    types.Type // the type
	base       types.Kind // of the type, or of what is optional
	plain      uint32     // the kinds of words that it takes, whatever they say, as bits
	ownDefault bool       // each call gets a default of its own
}

func newOverload(o *ops.Operator) *overload {
	o = dimnames.Runnable(o)
	s := o.Schema()
	v := &overload{op: o, perform: autograd.OperationOf(o), schema: s, firstOut: len(s.Arguments), maxPlain: len(s.Arguments), varargs: -1}
	for i := range s.Arguments {
		a := &s.Arguments[i]
		v.parameters = append(v.parameters, newParameter(a))
		v.shows = v.shows || a.Type.Kind() == types.KindClass
		if a.KwargOnly {
			v.maxPlain = min(v.maxPlain, i)
		}
		if a.IsOut() {
			v.firstOut = min(v.firstOut, i)
		}
	}
	if f := dimnames.FormOf(o); f != nil {
		for i := range v.parameters {
			if p := &v.parameters[i]; f.Names(p.Name) {
				p.written = &types.Optional{Elem: &types.List{Elem: &types.Optional{Elem: types.Str}}}
			}
		}
	}
	v.takesOut = v.firstOut < len(s.Arguments) || s.ArgumentIndex("out") >= 0
	v.varargs = v.varargsIndex()
	v.makes = s.ArgumentIndex("dtype") >= 0 && s.ArgumentIndex("device") >= 0
	if v.firstOut < len(s.Arguments) {
		v.fills = fillOptionsOf(s)
	}
	for i := range s.Returns {
		switch s.Returns[i].Type.Kind() {
		case types.KindTensor, types.KindInt, types.KindFloat, types.KindBool, types.KindNumber, types.KindList, types.KindString:
		default:
			v.keeps = true
		}
	}
	if len(s.Returns) > 1 && s.Returns[0].Name != "" && strings.HasPrefix(s.Name, "aten::") { // what a program defines gives a tuple
		for _, r := range s.Returns {
			v.fields = append(v.fields, r.Name)
		}
	}
	return v
}

func newParameter(a *schema.Argument) parameter {
	p := parameter{Argument: a, written: abi.RealType(a)}
	t := p.written
	if optional, ok := t.(*types.Optional); ok {
		t = optional.Elem
		p.plain |= 1 << abi.KindNone
	}
	switch p.base = t.Kind(); p.base {
	case types.KindInt, types.KindSymInt:
		p.plain |= 1<<abi.KindInt | 1<<abi.KindBool
	case types.KindFloat:
		p.plain |= 1<<abi.KindFloat | 1<<abi.KindInt | 1<<abi.KindBool
	case types.KindComplex, types.KindNumber:
		p.plain |= 1<<abi.KindFloat | 1<<abi.KindInt | 1<<abi.KindBool | 1<<abi.KindComplex
	case types.KindBool:
		p.plain |= 1 << abi.KindBool
	}
	if a.HasDefault && (a.Default.IsNone() || a.ListSize == 1 && a.Default.Kind() == value.KindList) { // no dimensions are all of them
		p.plain |= 1 << abi.KindNone
	}
	_, isList := a.Type.(*types.List)
	p.ownDefault = a.HasDefault && (a.Default.Kind() == value.KindList || isList && a.ListSize > 0)
	return p
}

// varargsIndex returns the index of a list of ints that is the only positional argument besides
// self: x.view(2, 3), torch.zeros(2, 3).
func (v *overload) varargsIndex() int {
	i := 0
	if len(v.parameters) > 0 && v.parameters[0].Name == "self" {
		i = 1
	}
	if v.maxPlain != i+1 {
		return -1
	}
	l, ok := v.parameters[i].written.(*types.List)
	if !ok || l.Elem.Kind() != types.KindInt && l.Elem.Kind() != types.KindSymInt {
		return -1
	}
	return i
}

// concernsTensors reports whether the overload takes or gives tensors; the others are meant for
// numbers, strings and lists in programs.
func (v *overload) concernsTensors() bool {
	for i := range v.parameters {
		if abi.MentionsTensor(v.parameters[i].written) {
			return true
		}
	}
	for i := range v.schema.Returns {
		if abi.MentionsTensor(v.schema.Returns[i].Type) {
			return true
		}
	}
	return false
}

// keywordAliases are the names that Python's functions take for arguments besides their own.
var keywordAliases = map[string]string{"input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x2": "other"}

// matches reports whether the overload takes the arguments. They are in c.bound then, and those that need no look at their type in
// c.values too; c.unread has a bit for each of the others.
func (v *overload) matches(c *abi.Call, loose bool) bool {
	if c.GivesOut && !v.takesOut {
		return false
	}
	n := len(v.parameters)
	c.Bound = slices.Grow(c.Bound[:0], n)[:n]
	c.Values = slices.Grow(c.Values[:0], n+len(v.schema.Returns))[:n+len(v.schema.Returns)]
	c.Unread, c.Work, c.WantsGrad, c.Filled = 0, 0, false, c.Filled[:0]
	plain := c.Positional
	if plain > v.maxPlain {
		if !v.takesAll(c) {
			return false
		}
		plain = v.maxPlain
	}
	x := c.Args
	for i := range plain {
		c.Bound[i] = x
		if !v.take(c, i, x, loose) {
			return false
		}
		x = x.Next()
	}
	clear(c.Bound[plain:])
	if c.Keywords > 0 && !v.bindKeywords(c) {
		return false
	}
	return v.takeFrom(c, plain, loose)
}

// takeFrom takes what is bound to the parameters from the one at start on, and the defaults of the others.
func (v *overload) takeFrom(c *abi.Call, start int, loose bool) bool {
	for i := start; i < len(v.parameters); i++ {
		w := c.Bound[i]
		switch p := &v.parameters[i]; {
		case w != nil:
			if !v.take(c, i, w, loose) {
				return false
			}
		case !p.HasDefault:
			return false
		case p.ownDefault:
			c.Unread |= 1 << i
		default:
			c.Values[i] = p.Default
		}
	}
	return true
}

// take reports whether parameter i takes the argument w, and reads what it can.
func (v *overload) take(c *abi.Call, i int, w *abi.Word, loose bool) bool {
	p := &v.parameters[i]
	k := w.Kind()
	switch {
	case k == abi.KindHandle && p.base == types.KindTensor:
		t := w.Tensor()
		if t == nil {
			return false
		}
		c.Values[i] = value.OfTensor(t)
		c.Work += t.Numel()
		return true
	case p.plain>>k&1 != 0:
		switch {
		case k == abi.KindNone:
			c.Values[i] = value.None
			if p.ownDefault {
				c.Values[i] = p.NewDefault()
			}
			return true
		case k == abi.KindInt && p.base != types.KindFloat && p.base != types.KindComplex:
			c.Values[i] = value.Int(w.Int())
			return true
		case k == abi.KindFloat && p.base != types.KindComplex:
			c.Values[i] = value.Float(w.Float())
			return true
		case k == abi.KindBool && p.base == types.KindBool:
			c.Values[i] = value.Bool(w.Bool())
			return true
		}
	case i == v.varargs && c.Positional > i && w == c.Args.Skip(i) && isIndex(w):
	case !abi.Accepts(w, p.written, p.ListSize, loose, v.strict):
		return false
	}
	c.Unread |= 1 << i
	return true
}

// isIndex reports whether w is an int or a tensor that stands for one.
func isIndex(w *abi.Word) bool { return w.Kind() == abi.KindInt || abi.IsIntegralScalar(w.Tensor()) }

// takesAll reports whether the positional arguments that are too many are the ints of a list.
func (v *overload) takesAll(c *abi.Call) bool {
	if v.varargs < 0 {
		return false
	}
	w := c.Args.Skip(v.varargs)
	for i := v.varargs; i < c.Positional; i++ {
		if !isIndex(w) {
			return false
		}
		w = w.Next()
	}
	return true
}

func (v *overload) bindKeywords(c *abi.Call) bool {
	name := c.Named
	for range c.Keywords {
		arg := name.Next()
		if !v.bindKeyword(c, name.Text(), arg) {
			return false
		}
		name = arg.Next()
	}
	return true
}

func (v *overload) bindKeyword(c *abi.Call, name string, arg *abi.Word) bool {
	if name == "out" && v.firstOut < len(v.parameters) {
		return v.bindOut(c, arg)
	}
	if name == "requires_grad" {
		c.WantsGrad = arg.Kind() == abi.KindBool && arg.Bool()
	}
	i := v.schema.ArgumentIndex(name)
	if i < 0 && name == "out" {
		return arg.Kind() == abi.KindNone // that is no argument at all
	}
	if i < 0 {
		if alias, ok := keywordAliases[name]; ok {
			i = v.schema.ArgumentIndex(alias)
		}
	}
	if i < 0 {
		return name == "requires_grad" && v.makes || v.fills.bind(c, name, arg) // it belongs to functions that make tensors
	}
	if c.Bound[i] != nil {
		return false
	}
	c.Bound[i] = arg
	return true
}

func (v *overload) bindOut(c *abi.Call, arg *abi.Word) bool {
	outs := len(v.parameters) - v.firstOut
	if !arg.IsSequence() {
		c.Bound[v.firstOut] = arg
		return outs == 1
	}
	if arg.Count() != outs {
		return false
	}
	i := v.firstOut
	for x := range arg.Items {
		c.Bound[i] = x
		i++
	}
	return true
}

// run reads the bound arguments, runs the operator and writes its results.
func (v *overload) run(c *abi.Call) error {
	n := len(v.parameters)
	args, out := c.Values[:n:n], c.Values[n:]
	clear(out) // of what other overloads were offered
	if c.Unread != 0 {
		if err := v.read(c, args); err != nil {
			return err
		}
	}
	if len(c.Filled) > 0 {
		if err := v.fills.check(c, args[v.firstOut].Tensor()); err != nil {
			return err
		}
	}
	if v.keeps {
		for _, w := range c.Bound {
			if w != nil && w.Tensor() != nil {
				w.Keep()
			}
		}
	}
	if c.Thread.Recorder != nil {
		cast, err := c.Thread.CastTraced(v.op, args)
		if err != nil {
			return err
		}
		args = cast
	}
	if err := runOperator(c, v.perform, args, out); err != nil {
		return err
	}
	if c.Thread.Recorder != nil {
		if done, err := c.Thread.NumberTraced(v.op, args, out); err != nil {
			return err
		} else if done {
			return c.KeptValue(out[0])
		}
		if err := c.Thread.Record(v.op, args, out, v.givenNumbers(c)...); err != nil {
			return err
		}
	}
	if len(out) == 1 && out[0].IsTensor() && !c.WantsGrad && !v.shows {
		c.Tensor(out[0].Tensor())
		return nil
	}
	return v.writeResults(c, out)
}

// read converts the arguments that matches has not.
func (v *overload) read(c *abi.Call, args []value.Value) (err error) {
	for i, w := range c.Bound {
		if c.Unread>>i&1 == 0 {
			continue
		}
		p := &v.parameters[i]
		switch {
		case w == nil:
			args[i] = p.NewDefault()
		case i == v.varargs && !w.IsSequence() && c.Positional > 0 && w == c.Args.Skip(i) && (p.ListSize <= 1 || c.Positional > i+1):
			args[i], err = gather(c, i)
		case !v.strict && p.base == types.KindTensor && abi.IsNumber(w):
			args[i] = value.OfTensor(v.numberBeside(c, args, i))
		default:
			args[i], err = abi.ToValue(w, p.written, p.ListSize)
		}
		if err != nil {
			return err
		}
		c.Work += abi.ElementsOf(args[i])
	}
	return nil
}

// runOperator runs an operator, without the GIL where there is much to do.
func runOperator(c *abi.Call, perform autograd.Operation, args, out []value.Value) error {
	if c.Work <= abi.ReleaseAbove {
		return perform(c.Thread.Mode, args, out)
	}
	return c.WithoutGIL(func() error { return perform(c.Thread.Mode, args, out) })
}

// gather makes a list of the positional ints from argument i on.
func gather(c *abi.Call, i int) (value.Value, error) {
	l := value.NewList(types.Int)
	l.Items = make([]value.Value, 0, c.Positional-i)
	w := c.Args.Skip(i)
	for ; i < c.Positional; i++ {
		v, err := abi.ToNumber(w, types.KindInt)
		if err != nil {
			return value.None, err
		}
		l.Items = append(l.Items, v)
		w = w.Next()
	}
	return value.OfList(l), nil
}

func (v *overload) writeResults(c *abi.Call, out []value.Value) error {
	if c.WantsGrad && len(out) == 1 && out[0].IsTensor() {
		if !out[0].Tensor().DType().IsDifferentiable() {
			return abi.RuntimeErrorf("Only Tensors of floating point and complex dtype can require gradients")
		}
		if err := out[0].Tensor().SetRequiresGrad(true); err != nil {
			return err
		}
	}
	switch {
	case len(out) == 0:
		c.None()
		return nil
	case v.shows && len(out) == 1:
		return c.Writer.KeptValue(out[0])
	case v.shows:
		return c.Writer.KeptValue(value.OfTuple(value.NewTuple(out...)))
	case len(out) == 1 && isListOfTensors(out[0]):
		return c.Writer.Values(abi.KindTuple, out[0].List().Items) // from Python such an operator gives a tuple
	case len(out) == 1:
		return c.Value(out[0])
	case v.fields == nil:
		return c.Writer.Values(abi.KindTuple, out)
	}
	for i := range out {
		if isListOfTensors(out[i]) {
			out[i] = value.OfTuple(value.NewTuple(out[i].List().Items...))
		}
	}
	name := v.schema.Name[strings.Index(v.schema.Name, "::")+2:]
	class, err := abi.ReturnTypeClass(name, v.fields)
	if err != nil {
		return err
	}
	c.Open(abi.KindConstruct, 1)
	c.Object(class)
	return c.Writer.Values(abi.KindTuple, out)
}

// isListOfTensors reports whether operators called from Python give a tuple for a result.
func isListOfTensors(v value.Value) bool {
	return v.Kind() == value.KindList && v.List().Elem.Kind() == types.KindTensor
}

// givenNumbers lists the bound arguments of an overload that are numbers but were given as tensors,
// the last first: that is the order in which PyTorch converts them.
func (v *overload) givenNumbers(c *abi.Call) []trace.Given {
	var given []trace.Given
	for i := len(c.Bound) - 1; i >= 0; i-- {
		w := c.Bound[i]
		if w == nil {
			continue
		}
		t := v.parameters[i].written
		if o, ok := t.(*types.Optional); ok {
			t = o.Elem
		}
		list, ok := t.(*types.List)
		switch {
		case !ok:
			given = abi.AppendGiven(given, i, -1, t, w)
		case w.IsSequence():
			k := 0
			for x := range w.Items {
				given = abi.AppendGiven(given, i, k, list.Elem, x)
				k++
			}
		case i == v.varargs && c.Positional > i && w == c.Args.Skip(i) && (v.schema.Arguments[i].ListSize <= 1 || c.Positional > i+1):
			for k := range c.Positional - i {
				given = abi.AppendGiven(given, i, k, list.Elem, w)
				w = w.Next()
			}
		case list.Elem.Kind() != types.KindTensor:
			for k := range max(1, v.schema.Arguments[i].ListSize) {
				given = abi.AppendGiven(given, i, k, list.Elem, w)
			}
		}
	}
	return given
}
