package export

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Function makes a function of a program, to be run: its parameters are the placeholders, and it returns a tuple of all outputs. It
// fails on programs that CheckWriting refuses.
func Function(p *exportir.Program, name string) (f *ir.Function, err error) {
	defer source.Catch(&err)
	if err := p.CheckWriting(); err != nil {
		return nil, err
	}
	g := ir.NewGraph()
	l := &lowerer{g: g, values: map[string]*ir.Value{}, lists: map[string][]*ir.Value{}}
	s := &schema.FunctionSchema{Name: name[strings.LastIndexByte(name, '.')+1:]}
	for i, n := range p.Graph.Placeholders() {
		t := typeOf(n.Meta.Val)
		if c := p.Signature.Inputs[i].Constant; c != nil {
			v, err := c.Value()
			if err != nil {
				return nil, err
			}
			t = types.Unshaped(value.TypeOf(v))
		}
		l.values[n.Name] = g.AddInput(n.Name).SetType(t)
		s.Arguments = append(s.Arguments, schema.Argument{Name: n.Name, Type: t, RealType: t, ListSize: -1})
	}
	outputs := l.graph(p.Graph)
	out := l.node(g.CreateTuple(outputs, nil)).Output()
	g.AddOutput(out)
	s.Returns = []schema.Argument{{Type: types.Unshaped(out.Type()), RealType: types.Unshaped(out.Type()), ListSize: -1}}
	if err := ir.Verify(g); err != nil {
		return nil, err
	}
	return ir.NewFunction(name, s, g), nil
}

// typeOf is the type of an input by what metadata says of it.
func typeOf(v *exportir.Value) types.Type {
	switch v.Kind {
	case exportir.IntValue:
		return types.Int
	case exportir.FloatValue:
		return types.Float
	case exportir.BoolValue:
		return types.Bool
	}
	return types.Tensor
}

// maxNodes bounds the nodes of a function: graphs that use others several times can be larger than their text.
const maxNodes = 1 << 20

// textName is what the texts of graphs are called in messages.
const textName = "<exported program>"

// lowerer is the state of one Function.
type lowerer struct {
	g      *ir.Graph
	from   *exportir.Graph
	values map[string]*ir.Value
	lists  map[string][]*ir.Value // of nodes that give several values
	count  int                    // of nodes, where graphs that are used twice count twice
	line   source.Range           // of the node that is lowered, in the text of its graph
}

func (l *lowerer) fail(n *exportir.Node, format string, args ...any) {
	source.Throw(exportir.Violation(n.Name+": "+format, args...))
}

// graph adds the nodes of a graph, whose placeholders have values, and returns its outputs.
func (l *lowerer) graph(g *exportir.Graph) []*ir.Value {
	former, line := l.from, l.line
	defer func() { l.from, l.line = former, line }()
	l.from = g
	text := source.NewText(textName, g.String(), 1)
	for i, n := range g.Nodes {
		l.line = source.Range{Text: text, Start: text.LineStart(i + 1), End: text.LineStart(i+2) - 1}
		if l.count++; l.count > maxNodes {
			l.fail(n, "the program has more than %d nodes", maxNodes)
		}
		switch {
		case n.Op == exportir.Output:
			var outputs []*ir.Value
			for _, a := range g.Outputs() {
				outputs = append(outputs, l.value(n, a, types.Any))
			}
			return outputs
		case n.Op != exportir.CallFunction:
		case n.Target == assertScalar:
			l.assert(n)
		case strings.HasPrefix(n.Target, "operator::"):
			l.sizeOperator(n)
		case n.Target == "higher_order::cond":
			l.cond(n)
		case n.Target == "higher_order::map_impl":
			l.mapOver(n)
		case n.Target == "higher_order::while_loop":
			l.whileLoop(n)
		case n.Target == "higher_order::scan":
			l.scan(n)
		default:
			l.call(n)
		}
	}
	return nil
}

// value is what an argument is in the graph.
func (l *lowerer) value(n *exportir.Node, a exportir.Argument, t types.Type) *ir.Value {
	if o, ok := t.(*types.Optional); ok && a.Kind != exportir.NoneArgument {
		t = o.Elem
	}
	switch a.Kind {
	case exportir.NodeArgument:
		v := l.values[a.Text]
		if v == nil {
			l.fail(n, "uses %s, which gives several values", a.Text)
		}
		if k := t.Kind(); k == types.KindNumber && v.Type().Kind() == types.KindTensor {
			v = l.insert(aten.ScalarImplicit, types.Number, v)
		} else if k == types.KindInt && v.Type().Kind() == types.KindTensor {
			v = l.insert(aten.Int, types.Int, v)
		}
		return v
	case exportir.ListArgument, exportir.TupleArgument:
		return l.list(n, a, t)
	}
	v, err := a.Value()
	if err != nil {
		l.fail(n, "%s", err)
	}
	switch {
	case t.Kind() == types.KindFloat && v.IsInt():
		v = value.Float(float64(v.Int()))
	case t.Kind() == types.KindNumber && v.Kind() == value.KindBool:
		v = value.Int(a.Int)
	}
	return l.constant(v)
}

func (l *lowerer) list(n *exportir.Node, a exportir.Argument, t types.Type) *ir.Value {
	elem := types.Any
	if list, ok := t.(*types.List); ok {
		elem = list.Elem
	}
	items := make([]*ir.Value, len(a.Items))
	for i, item := range a.Items {
		items[i] = l.value(n, item, elem)
	}
	if elem == types.Any && len(items) > 0 {
		elem = types.Unshaped(items[0].Type())
	}
	if a.Kind == exportir.TupleArgument && t == types.Any {
		return l.node(l.g.CreateTuple(items, nil)).Output()
	}
	return l.node(l.g.CreateList(elem, items)).Output()
}

// node inserts a node that stands for the line that is lowered.
func (l *lowerer) node(n *ir.Node) *ir.Node { return l.g.InsertNode(n).SetRange(l.line) }

func (l *lowerer) constant(v value.Value) *ir.Value { return l.g.Constant(v, l.line) }

func (l *lowerer) insert(kind string, t types.Type, inputs ...*ir.Value) *ir.Value {
	return l.node(l.g.Create(kind, inputs, 1)).Output().SetType(t)
}

// call adds the call of an operator.
func (l *lowerer) call(n *exportir.Node) {
	if t := typeOf(n.Meta.Val); t != types.Tensor && (n.Target == aten.Item || n.Target == aten.LocalScalarDense) {
		kind := map[types.Type]string{types.Int: aten.Int, types.Float: aten.Float, types.Bool: aten.Bool}[t]
		l.values[n.Name] = l.insert(kind, t, l.value(n, n.Args[0], types.Tensor))
		return
	}
	o := ops.Find(n.Target)
	s := o.Schema()
	given := make([]*ir.Value, len(s.Arguments))
	for i, a := range n.Args {
		if v, isNumber := scalarOf(a); isNumber && i == 0 && s.Arguments[0].Type == types.Tensor {
			given[0] = l.constant(value.OfTensor(l.numberTensor(n, v)))
			continue
		}
		given[i] = l.value(n, a, s.Arguments[i].Type)
	}
	for _, k := range n.Kwargs {
		i := s.ArgumentIndex(k.Name)
		given[i] = l.value(n, k.Value, s.Arguments[i].Type)
	}
	for i := range given {
		if given[i] == nil {
			given[i] = l.constant(s.Arguments[i].NewDefault())
		}
	}
	if i := s.ArgumentIndex("dtype"); i >= 0 && fillsWithTruth(s, n) {
		given[i] = l.constant(value.Int(int64(tensor.Bool)))
	}
	name := s.Name
	if name == aten.SymSize {
		name = aten.Size
	}
	made := l.node(l.g.Create(name, given, len(s.Returns)))
	for i := range s.Returns {
		made.Outputs()[i].SetType(types.Unshaped(s.Returns[i].Type))
	}
	if made.Operator() == nil {
		l.fail(n, "the arguments do not fit %s", s)
	}
	l.results(n, made)
}

// fillsWithTruth reports whether a call makes a tensor of a truth value without saying of which type it is: as a number the value is an integer.
func fillsWithTruth(s *schema.FunctionSchema, n *exportir.Node) bool {
	given := func(i int) (a exportir.Argument, ok bool) {
		if i < len(n.Args) {
			return n.Args[i], true
		}
		for _, k := range n.Kwargs {
			if k.Name == s.Arguments[i].Name {
				return k.Value, true
			}
		}
		return a, false
	}
	found := false
	for i := range s.Arguments {
		a, ok := given(i)
		switch {
		case s.Arguments[i].Type == types.Tensor: // whose type the result has
			return false
		case ok && s.Arguments[i].Name == "dtype" && a.Kind != exportir.NoneArgument:
			return false
		case ok && s.Arguments[i].Type == types.Number && a.Kind == exportir.BoolArgument:
			found = true
		}
	}
	return found
}

// results makes the outputs of a node what n gives.
func (l *lowerer) results(n *exportir.Node, made *ir.Node) {
	outs := made.Outputs()
	if len(outs) != 1 {
		l.lists[n.Name] = outs
		return
	}
	if outs[0].Type().Kind() == types.KindList && n.Meta.Val.Kind == exportir.ListValue {
		l.lists[n.Name] = l.node(l.g.CreateListUnpack(outs[0], len(n.Meta.Val.Items))).Outputs()
	}
	l.values[n.Name] = outs[0]
}

// item returns what the getitem n takes out of what another node gives.
func (l *lowerer) item(n *exportir.Node) *ir.Value {
	items := l.lists[n.Args[0].Text]
	i := int(n.Args[1].Int)
	if n.Args[1].Kind == exportir.IntArgument && i >= 0 && i < len(items) {
		return items[i]
	}
	list, ok := types.Unshaped(l.value(n, n.Args[0], types.Any).Type()).(*types.List)
	if !ok || n.Args[1].Kind != exportir.IntArgument {
		l.fail(n, "there is no such item")
	}
	return l.insert(aten.Getitem, list.Elem, l.values[n.Args[0].Text], l.constant(value.Int(n.Args[1].Int)))
}

func (l *lowerer) sizeOperator(n *exportir.Node) {
	name := strings.TrimPrefix(n.Target, "operator::")
	if name == "getitem" {
		l.values[n.Name] = l.item(n)
		return
	}
	var inputs []*ir.Value
	for _, a := range n.Args {
		inputs = append(inputs, l.value(n, a, types.Any))
	}
	of := symbolic.OperationOf(func(o *symbolic.Operation) bool { return o.Name == name })
	made := l.node(l.g.Create(of.Operator, inputs, 1))
	made.Output().SetType(types.Int)
	o := made.Operator()
	if o == nil {
		l.fail(n, "operator.%s does not take these", name)
	}
	l.values[n.Name] = made.Output().SetType(o.Schema().Returns[0].Type)
}
