package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

type schemaArgument = schema.Argument

// nodeOutputs is what captures give values to.
type nodeOutputs interface{ Outputs() []*ir.Value }

func itoa(i int) string { return strconv.Itoa(i) }

func intValue(i int) value.Value { return value.Int(int64(i)) }

func boolValue(b bool) value.Value { return value.Bool(b) }

func intsValue(xs []int) value.Value { return value.OfList(value.Ints(xs)) }

func tensors(metas []*tensor.Tensor) run {
	out := make(run, len(metas))
	for i, m := range metas {
		out[i] = value.OfTensor(m)
	}
	return out
}

// emission is what the call of an operator has given.
type emission struct {
	outs    []run     // the results
	handles []*handle // of the tensors in the results, in order; of lists, their items
}

// emitNode captures a node as the call of an operator that writes nothing.
func (c *capture) emitNode(n *ir.Node, o *ops.Operator, args []run) {
	made := c.emit(o, args)
	if _, detached := n.Attr(trace.Detached); detached {
		c.detach(&made)
	}
	for i, v := range n.Outputs() {
		c.env[v] = made.outs[i]
	}
}

// detach makes the tensors that a call gives ones that no gradient goes through.
func (c *capture) detach(made *emission) {
	for i, out := range made.outs {
		if out[0].IsTensor() && out[0].Tensor().DType().IsFloating() {
			made.outs[i] = c.emit(ops.Find(aten.Detach), []run{out}).outs[0]
		}
	}
}

// emit adds the call of an operator that writes nothing to the graph.
func (c *capture) emit(o *ops.Operator, args []run) emission {
	if o == nil {
		c.fail(source.RuntimeError, "an operator that the export needs is missing")
	}
	var n *exportir.Node
	if !c.givesArgument(o, args) {
		n = c.callNode(o, args)
	}
	outs := c.perform(o, args)
	if n == nil {
		return emission{outs, c.handlesIn(outs)}
	}
	return c.bindResults(o, args, outs, n)
}

// givesArgument reports whether an operator gives back its argument as it is. Such a call is left out.
func (c *capture) givesArgument(o *ops.Operator, args []run) bool {
	if !o.Has(ops.GivesArgument) {
		return false
	}
	outs := c.perform(o, args)
	return outs[0][0].IsTensor() && c.scope.handles[outs[0][0].Tensor()] != nil
}

func (c *capture) handlesIn(outs []run) []*handle {
	var found []*handle
	for _, out := range outs {
		if out[0].IsTensor() {
			found = append(found, c.scope.handles[out[0].Tensor()])
		}
	}
	return found
}

// pythonTarget is the name of the overload that Python's calls of an operator take: a number stands for a tensor.
func pythonTarget(o *ops.Operator) string {
	s := o.Schema()
	if ofTensor := s.Name + strings.Replace("."+s.Overload, ".Scalar", ".Tensor", 1); o.Has(ops.WrapsNumbers) && ops.Find(ofTensor) != nil {
		return ofTensor
	} else if o.Has(ops.WrapsNumbers) {
		return s.Name
	}
	return s.QualifiedName()
}

// callNode adds the node of a call, without what it gives.
func (c *capture) callNode(o *ops.Operator, args []run) *exportir.Node {
	s := o.Schema()
	n := &exportir.Node{Op: exportir.CallFunction, Target: pythonTarget(o), Meta: c.place()}
	positional := s.NumPositional()
	last := positional // arguments behind the last that is no default are left out
	for last > 0 && s.Arguments[last-1].HasDefault && c.isDefault(&s.Arguments[last-1], args[last-1]) {
		last--
	}
	for i := range s.Arguments {
		a := &s.Arguments[i]
		switch {
		case i < last:
			n.Args = append(n.Args, c.argument(args[i], a.Type, a.RealType))
		case i >= positional && !(a.HasDefault && c.isDefault(a, args[i])):
			n.Kwargs = append(n.Kwargs, exportir.Keyword{Name: a.Name, Value: c.argument(args[i], a.Type, a.RealType)})
		}
	}
	n.Name = c.scope.names.name(s.Name[strings.Index(s.Name, "::")+2:])
	c.scope.add(n)
	return n
}

// isDefault reports whether an argument is what it is where it is not given.
func (c *capture) isDefault(a *schemaArgument, is run) bool {
	d := a.NewDefault()
	for _, v := range is {
		if d.Kind() == value.KindList && v.Kind() == value.KindList {
			if !slices.Equal(d.List().Items, v.List().Items) {
				return false
			}
		} else if d.Kind() != v.Kind() || !value.EqualConstants(d, v) {
			return false
		}
	}
	return true
}

// bindResults makes handles of the tensors that a call gives; several ones are items of the node.
func (c *capture) bindResults(o *ops.Operator, args []run, outs []run, n *exportir.Node) emission {
	made := emission{outs: outs}
	device := c.deviceOf(o, args)
	at := 0
	bind := func(of func(r int) value.Value, node *exportir.Node) value.Value {
		metas := make([]*tensor.Tensor, c.runs)
		for r := range metas {
			metas[r] = withoutElements(of(r).Tensor())
		}
		h := c.scope.handles[metas[0]]
		if h == nil {
			h = c.scope.bind(metas, node)
		} else {
			h = &handle{node: node, metas: h.metas}
		}
		h.device = device
		c.viewOf(h, o, args, at)
		v := c.describe(h)
		node.Meta.Val = &v
		made.handles = append(made.handles, h)
		at++
		return value.OfTensor(metas[0])
	}
	if len(outs) == 1 && outs[0][0].IsTensor() {
		bind(func(r int) value.Value { return outs[0][r] }, n)
		for r := range c.runs {
			made.outs[0][r] = value.OfTensor(made.handles[0].metas[r])
		}
		return made
	}
	c.items(outs, n, bind, &made)
	return made
}

// items binds several results, which getitem nodes take out of the node.
func (c *capture) items(outs []run, n *exportir.Node, bind func(func(int) value.Value, *exportir.Node) value.Value, made *emission) {
	whole := &exportir.Value{Kind: exportir.ListValue}
	n.Meta.Val = whole
	position := 0
	item := func(of func(r int) value.Value, set func(r int, v value.Value)) {
		i := position
		position++
		if !of(0).IsTensor() {
			whole.Items = append(whole.Items, exportir.Value{Kind: exportir.NoneValue})
			made.handles = append(made.handles, nil)
			return
		}
		node := &exportir.Node{Op: exportir.CallFunction, Name: c.scope.names.name("getitem"), Target: "operator::getitem", Args: []exportir.Argument{exportir.Ref(n.Name), exportir.OfInt(int64(i))}, Meta: n.Meta}
		c.scope.add(node)
		bind(of, node)
		h := made.handles[len(made.handles)-1]
		for r := range c.runs {
			set(r, value.OfTensor(h.metas[r]))
		}
		whole.Items = append(whole.Items, *node.Meta.Val)
	}
	for k := range outs {
		if outs[k][0].Kind() != value.KindList {
			item(func(r int) value.Value { return outs[k][r] }, func(r int, v value.Value) { outs[k][r] = v })
			continue
		}
		for i := range outs[k][0].List().Items {
			item(func(r int) value.Value {
				if items := outs[k][r].List().Items; i < len(items) {
					return items[i]
				}
				c.refuse(source.Errorf(source.RuntimeError, source.Range{}, "the number of results depends on sizes"), r)
				return value.None
			}, func(r int, v value.Value) { outs[k][r].List().Items[i] = v })
		}
	}
}

// withoutElements is a tensor on the device meta like t.
func withoutElements(t *tensor.Tensor) *tensor.Tensor {
	if t.Device().Type == tensor.Meta {
		return t
	}
	return metaTensor(t.Shape(), t.Strides(), t.DType())
}

// viewOf notes what a result is a view of.
func (c *capture) viewOf(h *handle, o *ops.Operator, args []run, item int) {
	for i, a := range args {
		if !a[0].IsTensor() {
			continue
		}
		from := c.scope.handles[a[0].Tensor()]
		if from == nil || from == h || !h.metas[0].SharesStorage(a[0].Tensor()) {
			continue
		}
		h.parent, h.step = from, &step{operator: o, args: slices.Clone(args), position: i, item: item}
		h.version = from.root().version
		return
	}
}

// deviceOf is where the results of a call are.
func (c *capture) deviceOf(o *ops.Operator, args []run) tensor.Device {
	for i, a := range args {
		if a[0].Kind() == value.KindDevice && i < len(o.Schema().Arguments) {
			return a[0].Device()
		}
	}
	found := tensor.NewDevice(tensor.CPU, -1)
	for _, a := range args {
		if holds(a[0], func(t *tensor.Tensor) bool {
			h := c.scope.handles[t]
			if h != nil {
				found = h.device
			}
			return h != nil
		}) {
			break
		}
	}
	return found
}

// argument returns what an argument of a call is in the graph.
func (c *capture) argument(is run, t, written types.Type) exportir.Argument {
	v := is[0]
	switch v.Kind() {
	case value.KindTensor:
		return c.tensorArgument(is, t)
	case value.KindList:
		return exportir.OfList(c.arguments(is, func(v value.Value) []value.Value { return v.List().Items }, elemType(t), elemType(written)))
	case value.KindTuple:
		return exportir.Argument{Kind: exportir.TupleArgument, Items: c.arguments(is, func(v value.Value) []value.Value { return v.Tuple().Items }, types.Any, types.Any)}
	case value.KindInt:
		return c.intArgument(is, written)
	case value.KindFloat:
		if n := c.floats[v.Float()]; n != nil && c.scope.graph.Node(n.Name) == n {
			return exportir.Ref(n.Name)
		}
		if p, ok := integers(is); ok && !p.IsConstant() {
			return c.number(c.fit.Size(p))
		}
	}
	for r, other := range is {
		if other.Kind() != v.Kind() || !value.EqualConstants(v, other) {
			c.refuse(source.Errorf(source.RuntimeError, source.Range{}, "the %s %s depends on sizes in a way that a program cannot express", v.Kind(), value.Repr(v, nil)), r)
		}
	}
	a, ok := constantArgument(v)
	if !ok {
		c.fail(source.RuntimeError, "a value of type %s cannot be an argument of an operator in an exported program", v.Kind())
	}
	return a
}

// integers are numbers in all runs as integers, which ok says that they are.
func integers(is run) (p symbolic.Profile, ok bool) {
	for _, v := range is {
		if !v.IsFloat() || v.Float() != float64(int(v.Float())) {
			return nil, false
		}
		p = append(p, int(v.Float()))
	}
	return p, true
}

func elemType(t types.Type) types.Type {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if l, ok := t.(*types.List); ok {
		return l.Elem
	}
	return t
}

func (c *capture) arguments(is run, items func(value.Value) []value.Value, t, written types.Type) []exportir.Argument {
	n := len(items(is[0]))
	out := make([]exportir.Argument, n)
	for i := range out {
		item := make(run, c.runs)
		for r := range item {
			own := items(is[r])
			if len(own) != n {
				c.refuse(source.Errorf(source.RuntimeError, source.Range{}, "the length of a list depends on sizes"), r)
			}
			item[r] = own[i]
		}
		out[i] = c.argument(item, t, written)
	}
	return out
}

// tensorArgument is a tensor of the program, or the number that a tensor of one number has.
func (c *capture) tensorArgument(is run, t types.Type) exportir.Argument {
	if h := c.scope.handles[is[0].Tensor()]; h != nil {
		return exportir.Ref(c.read(h).Name)
	}
	if is[0].Tensor().Device().Type == tensor.Meta || is[0].Tensor().Numel() != 1 {
		c.fail(source.RuntimeError, "a tensor from outside is used here: control flow can use tensors that it is given, or that the program has made before")
	}
	numbers := make(run, c.runs)
	for r, v := range is {
		numbers[r] = value.OfScalar(source.Must(v.Tensor().Item()))
	}
	return c.argument(numbers, types.Number, types.Number)
}

// intArgument is an integer, which may stand for an element type, or a size.
func (c *capture) intArgument(is run, written types.Type) exportir.Argument {
	if o, ok := written.(*types.Optional); ok {
		written = o.Elem
	}
	v := is[0].Int()
	switch written.Kind() {
	case types.KindScalarType:
		return exportir.Argument{Kind: exportir.DTypeArgument, Text: tensor.DType(v).String()}
	case types.KindLayout:
		return exportir.Argument{Kind: exportir.LayoutArgument, Text: "strided"}
	case types.KindMemoryFormat:
		return exportir.Argument{Kind: exportir.FormatArgument, Text: tensor.MemoryFormat(v).String()}
	}
	p := make(symbolic.Profile, c.runs)
	for r := range is {
		if !is[r].IsInt() {
			c.refuse(source.Errorf(source.RuntimeError, source.Range{}, "the type of a number depends on sizes"), r)
		}
		p[r] = int(is[r].Int())
	}
	return c.number(c.fit.Size(p))
}

// constantArgument is a constant as an argument. ok is false for what a graph cannot hold.
func constantArgument(v value.Value) (a exportir.Argument, ok bool) {
	switch v.Kind() {
	case value.KindNone:
		return exportir.None, true
	case value.KindBool:
		return exportir.Argument{Kind: exportir.BoolArgument, Int: int64(v.Bits())}, true
	case value.KindInt:
		return exportir.OfInt(v.Int()), true
	case value.KindFloat:
		return exportir.Argument{Kind: exportir.FloatArgument, Float: v.Float()}, true
	case value.KindComplex:
		return exportir.Argument{Kind: exportir.ComplexArgument, Complex: v.Complex()}, true
	case value.KindString:
		return exportir.Argument{Kind: exportir.StringArgument, Text: v.Str()}, true
	case value.KindDevice:
		return exportir.Argument{Kind: exportir.DeviceArgument, Text: v.Device().String()}, true
	case value.KindList, value.KindTuple:
		a.Kind = exportir.ListArgument
		items := []value.Value(nil)
		if v.Kind() == value.KindTuple {
			a.Kind, items = exportir.TupleArgument, v.Tuple().Items
		} else {
			items = v.List().Items
		}
		for _, item := range items {
			inner, ok := constantArgument(item)
			if !ok {
				return a, false
			}
			a.Items = append(a.Items, inner)
		}
		return a, true
	}
	return a, false
}
