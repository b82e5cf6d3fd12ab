package parity

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
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
	l := &graphLowering{g: method.Copy(), inputs: map[freeze.Slot]*ir.Value{}}
	passes.Inline(l.g)
	passes.LowerSimpleTuples(l.g)
	passes.DCE(l.g)
	module := l.g.Inputs()[0]
	if err := l.collect(module, self); err != nil {
		return nil, nil, err
	}
	for _, n := range slices.Backward(l.reads) {
		n.Destroy()
	}
	l.g.Block().EraseInput(0)
	return l.g, l.tensors, nil
}

type graphLowering struct {
	g       *ir.Graph
	reads   []*ir.Node // of attributes, those of a module behind the module's own
	inputs  map[freeze.Slot]*ir.Value
	tensors []value.Value
}

// collect finds the reads of a module's attributes, the last first, and gives the graph a parameter for each tensor.
func (l *graphLowering) collect(module *ir.Value, object *value.Object) error {
	for _, u := range slices.Backward(slices.Clone(module.Uses())) {
		n := u.User
		if n.Kind() != prim.GetAttr {
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
			n.Output().ReplaceAllUsesWith(l.input(freeze.Slot{Object: object, Name: name}, is))
		default:
			return source.Errorf(source.RuntimeError, n.Range, "Unknown type %s encountered in graph lowering. This type is not supported in ONNX export.", types.Repr(n.Output().Type()))
		}
	}
	return nil
}

// input is the parameter for a tensor of a module.
func (l *graphLowering) input(of freeze.Slot, tensor value.Value) *ir.Value {
	in := l.inputs[of]
	if in == nil {
		in = l.g.AddInput("").SetType(value.CompleteType(tensor.Tensor()))
		l.inputs[of] = in
		l.tensors = append(l.tensors, tensor)
	}
	return in
}
