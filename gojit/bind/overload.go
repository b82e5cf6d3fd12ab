package bind

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
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
	p := parameter{Argument: a, written: realType(a)}
	t := p.written
	if optional, ok := t.(*types.Optional); ok {
		t = optional.Elem
		p.plain |= 1 << kindNone
	}
	switch p.base = t.Kind(); p.base {
	case types.KindInt, types.KindSymInt:
		p.plain |= 1<<kindInt | 1<<kindBool
	case types.KindFloat:
		p.plain |= 1<<kindFloat | 1<<kindInt | 1<<kindBool
	case types.KindComplex, types.KindNumber:
		p.plain |= 1<<kindFloat | 1<<kindInt | 1<<kindBool | 1<<kindComplex
	case types.KindBool:
		p.plain |= 1 << kindBool
	}
	if a.HasDefault && (a.Default.IsNone() || a.ListSize == 1 && a.Default.Kind() == value.KindList) { // no dimensions are all of them
		p.plain |= 1 << kindNone
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
		if mentionsTensor(v.parameters[i].written) {
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

// keywordAliases are the names that Python's functions take for arguments besides their own.
var keywordAliases = map[string]string{"input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x2": "other"}

// matches reports whether the overload takes the arguments. They are in c.bound then, and those that need no look at their type in
// c.values too; c.unread has a bit for each of the others.
func (v *overload) matches(c *call, loose bool) bool {
	if c.givesOut && !v.takesOut {
		return false
	}
	n := len(v.parameters)
	c.bound = slices.Grow(c.bound[:0], n)[:n]
	c.values = slices.Grow(c.values[:0], n+len(v.schema.Returns))[:n+len(v.schema.Returns)]
	c.unread, c.work, c.wantsGrad, c.filled = 0, 0, false, c.filled[:0]
	plain := c.positional
	if plain > v.maxPlain {
		if !v.takesAll(c) {
			return false
		}
		plain = v.maxPlain
	}
	x := c.args
	for i := range plain {
		c.bound[i] = x
		if !v.take(c, i, x, loose) {
			return false
		}
		x = x.next()
	}
	clear(c.bound[plain:])
	if c.keywords > 0 && !v.bindKeywords(c) {
		return false
	}
	return v.takeFrom(c, plain, loose)
}

// takeFrom takes what is bound to the parameters from the one at start on, and the defaults of the others.
func (v *overload) takeFrom(c *call, start int, loose bool) bool {
	for i := start; i < len(v.parameters); i++ {
		w := c.bound[i]
		switch p := &v.parameters[i]; {
		case w != nil:
			if !v.take(c, i, w, loose) {
				return false
			}
		case !p.HasDefault:
			return false
		case p.ownDefault:
			c.unread |= 1 << i
		default:
			c.values[i] = p.Default
		}
	}
	return true
}

// take reports whether parameter i takes the argument w, and reads what it can.
func (v *overload) take(c *call, i int, w *Word, loose bool) bool {
	p := &v.parameters[i]
	k := w.kind()
	switch {
	case k == kindHandle && p.base == types.KindTensor:
		t := w.tensor()
		if t == nil {
			return false
		}
		c.values[i] = value.OfTensor(t)
		c.work += t.Numel()
		return true
	case p.plain>>k&1 != 0:
		switch {
		case k == kindNone:
			c.values[i] = value.None
			if p.ownDefault {
				c.values[i] = p.NewDefault()
			}
			return true
		case k == kindInt && p.base != types.KindFloat && p.base != types.KindComplex:
			c.values[i] = value.Int(w.int())
			return true
		case k == kindFloat && p.base != types.KindComplex:
			c.values[i] = value.Float(w.float())
			return true
		case k == kindBool && p.base == types.KindBool:
			c.values[i] = value.Bool(w.bool())
			return true
		}
	case i == v.varargs && c.positional > i && w == c.args.skip(i) && isIndex(w):
	case !accepts(w, p.written, p.ListSize, loose, v.strict):
		return false
	}
	c.unread |= 1 << i
	return true
}

// isIndex reports whether w is an int or a tensor that stands for one.
func isIndex(w *Word) bool { return w.kind() == kindInt || isIntegralScalar(w.tensor()) }

// takesAll reports whether the positional arguments that are too many are the ints of a list.
func (v *overload) takesAll(c *call) bool {
	if v.varargs < 0 {
		return false
	}
	w := c.args.skip(v.varargs)
	for i := v.varargs; i < c.positional; i++ {
		if !isIndex(w) {
			return false
		}
		w = w.next()
	}
	return true
}

func (v *overload) bindKeywords(c *call) bool {
	name := c.named
	for range c.keywords {
		arg := name.next()
		if !v.bindKeyword(c, name.text(), arg) {
			return false
		}
		name = arg.next()
	}
	return true
}

func (v *overload) bindKeyword(c *call, name string, arg *Word) bool {
	if name == "out" && v.firstOut < len(v.parameters) {
		return v.bindOut(c, arg)
	}
	if name == "requires_grad" {
		c.wantsGrad = arg.kind() == kindBool && arg.bool()
	}
	i := v.schema.ArgumentIndex(name)
	if i < 0 && name == "out" {
		return arg.kind() == kindNone // that is no argument at all
	}
	if i < 0 {
		if alias, ok := keywordAliases[name]; ok {
			i = v.schema.ArgumentIndex(alias)
		}
	}
	if i < 0 {
		return name == "requires_grad" && v.makes || v.fills.bind(c, name, arg) // it belongs to functions that make tensors
	}
	if c.bound[i] != nil {
		return false
	}
	c.bound[i] = arg
	return true
}

func (v *overload) bindOut(c *call, arg *Word) bool {
	outs := len(v.parameters) - v.firstOut
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

// run reads the bound arguments, runs the operator and writes its results.
func (v *overload) run(c *call) error {
	n := len(v.parameters)
	args, out := c.values[:n:n], c.values[n:]
	clear(out) // of what other overloads were offered
	if c.unread != 0 {
		if err := v.read(c, args); err != nil {
			return err
		}
	}
	if len(c.filled) > 0 {
		if err := v.fills.check(c, args[v.firstOut].Tensor()); err != nil {
			return err
		}
	}
	if v.keeps {
		for _, w := range c.bound {
			if w != nil && w.tensor() != nil {
				w.keep()
			}
		}
	}
	if c.thread.recorder != nil {
		cast, err := c.thread.castTraced(v.op, args)
		if err != nil {
			return err
		}
		args = cast
	}
	if err := c.runOperator(v.perform, args, out); err != nil {
		return err
	}
	if c.thread.recorder != nil {
		if done, err := c.thread.numberTraced(v.op, args, out); err != nil {
			return err
		} else if done {
			return c.keptValue(out[0])
		}
		if err := c.thread.record(v.op, args, out, v.givenNumbers(c)...); err != nil {
			return err
		}
	}
	if len(out) == 1 && out[0].IsTensor() && !c.wantsGrad && !v.shows {
		c.tensor(out[0].Tensor())
		return nil
	}
	return v.writeResults(c, out)
}

// read converts the arguments that matches has not.
func (v *overload) read(c *call, args []value.Value) (err error) {
	for i, w := range c.bound {
		if c.unread>>i&1 == 0 {
			continue
		}
		p := &v.parameters[i]
		switch {
		case w == nil:
			args[i] = p.NewDefault()
		case i == v.varargs && !w.isSequence() && c.positional > 0 && w == c.args.skip(i) && (p.ListSize <= 1 || c.positional > i+1):
			args[i], err = c.gather(i)
		case !v.strict && p.base == types.KindTensor && isNumber(w):
			args[i] = value.OfTensor(v.numberBeside(c, args, i))
		default:
			args[i], err = toValue(w, p.written, p.ListSize)
		}
		if err != nil {
			return err
		}
		c.work += elementsOf(args[i])
	}
	return nil
}

// releaseAbove is the number of elements above which an operator runs without the GIL: below it
// the operator is done before another thread could take over.
const releaseAbove = 8192

// runOperator runs an operator, without the GIL where there is much to do.
func (c *call) runOperator(perform autograd.Operation, args, out []value.Value) error {
	if c.work <= releaseAbove {
		return perform(c.thread.mode, args, out)
	}
	return c.withoutGIL(func() error { return perform(c.thread.mode, args, out) })
}

// gather makes a list of the positional ints from argument i on.
func (c *call) gather(i int) (value.Value, error) {
	l := value.NewList(types.Int)
	l.Items = make([]value.Value, 0, c.positional-i)
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
	if c.wantsGrad && len(out) == 1 && out[0].IsTensor() {
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
