package parity

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// LowerGraph returns the graph of a method without its module: calls are inlined, and the tensors that it reads from
// attributes become parameters behind the others. The tensors are returned in their order. It fails on attributes of
// other types and on modules that are used in another way.
func LowerGraph(method *ir.Graph, self *value.Object) (*ir.Graph, []value.Value, error) {
	l := &graphLowering{g: method.Copy(), slots: map[*ir.Value]freeze.Slot{}, inputs: map[freeze.Slot]*ir.Value{}}
	passes.Inline(l.g)
	passes.LowerSimpleTuples(l.g)
	passes.DCE(l.g)
	module := l.g.Inputs()[0]
	if err := l.collect(module, self); err != nil {
		return nil, nil, err
	}
	l.connect(l.g.Block())
	for _, n := range slices.Backward(l.reads) {
		n.Destroy()
	}
	l.g.Block().EraseInput(0)
	return l.g, l.tensors, nil
}

type graphLowering struct {
	g       *ir.Graph
	reads   []*ir.Node                // of attributes, those of a module behind the module's own
	slots   map[*ir.Value]freeze.Slot // what reads of tensors read
	inputs  map[freeze.Slot]*ir.Value
	tensors []value.Value
}

// collect finds the reads of a module's attributes.
func (l *graphLowering) collect(module *ir.Value, object *value.Object) error {
	for _, u := range module.Uses() {
		n := u.User
		if n.Kind() != "prim::GetAttr" {
			return source.Errorf(source.RuntimeError, n.Range, "temporary: the only valid use of a module is looking up an attribute but found %s", n.Kind())
		}
		l.reads = append(l.reads, n)
		name := n.StringAttr("name")
		is, ok := object.Attr(name)
		switch {
		case !ok:
			return source.Errorf(source.RuntimeError, n.Range, "the module has no attribute '%s'", name)
		case n.Output().Type().Kind() == types.KindClass && is.Kind() == value.KindObject:
			if err := l.collect(n.Output(), is.Object()); err != nil {
				return err
			}
		case is.IsTensor():
			l.slots[n.Output()] = freeze.Slot{Object: object, Name: name}
		default:
			return source.Errorf(source.RuntimeError, n.Range, "Unknown type %s encountered in graph lowering. This type is not supported in ONNX export.", n.Output().Type())
		}
	}
	return nil
}

// connect gives the graph parameters for the tensors, in the order in which nodes use them.
func (l *graphLowering) connect(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		l.inputsOf(n)
		for _, inner := range n.Blocks() {
			l.connect(inner)
		}
	}
	l.inputsOf(b.ReturnNode())
}

func (l *graphLowering) inputsOf(n *ir.Node) {
	for _, v := range slices.Clone(n.Inputs()) {
		from, ok := l.slots[v]
		if !ok {
			continue
		}
		in := l.inputs[from]
		if in == nil {
			is, _ := from.Object.Attr(from.Name)
			in = l.g.AddInput("").SetType(value.CompleteType(is.Tensor()))
			l.inputs[from] = in
			l.tensors = append(l.tensors, is)
		}
		v.ReplaceAllUsesWith(in)
	}
}
