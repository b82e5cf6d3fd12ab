package replay

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// attribute is where the graph reads one: the slot of another attribute, or of an argument where of is negative (^of).
type attribute struct{ of, slot int }

// read finds out what kinds of calls depend on. It returns why no call may be replayed, or "".
func (f *Function) read(g *ir.Graph) (why string) {
	at := map[*ir.Value]int{}
	for i, in := range g.Inputs() {
		at[in] = ^i
	}
	db := alias.Analyze(g, alias.Options{})
	writes := ""
	g.Block().Walk(func(n *ir.Node) {
		if why == "" {
			why = f.readNode(n, at, db)
		}
		if o := n.Operator(); o != nil && o.Schema().IsMutable() && db.WritesWildcard(n) {
			writes = n.Kind() + " may write a constant on the processor"
		}
	})
	if why == "" && slices.ContainsFunc(f.constants, func(t *tensor.Tensor) bool { return !t.OnDevice() }) {
		why = writes
	}
	return why
}

func (f *Function) readNode(n *ir.Node, at map[*ir.Value]int, db *alias.Db) (why string) {
	switch kind := n.Kind(); {
	case kind == prim.Constant:
		if v, ok := n.Output().Constant(); ok {
			return f.readConstant(v)
		}
		return ""
	case kind == prim.GetAttr:
		of, known := at[n.Input(0)]
		class, ok := n.Input(0).Type().(*types.Class)
		if !known || !ok {
			return "an attribute is read of an object that is not always the same"
		}
		name, _ := n.Attr("name")
		slot := class.AttributeIndex(name.(string))
		if slot < 0 {
			return "there is no attribute " + name.(string)
		}
		at[n.Output()] = len(f.attributes)
		f.attributes = append(f.attributes, attribute{of, slot})
		return ""
	case ir.IsPlain(kind), kind == interp.GroupKind:
		return ""
	}
	o := n.Operator()
	switch {
	case o == nil || !strings.HasPrefix(n.Kind(), "aten::") && !strings.HasPrefix(n.Kind(), "prim::"):
		return n.Kind() + " may do anything"
	case n.HasSideEffects():
		return n.Kind() + " does more than compute"
	case o.Schema().IsMutable() && writesContainers(n) && db.WritesWildcard(n):
		return n.Kind() + " writes what is not the graph's own"
	}
	return ""
}

// writesContainers reports whether a node writes anything but tensors, whose writes are seen when it runs.
func writesContainers(n *ir.Node) bool {
	for i, a := range n.Operator().Schema().Arguments {
		if a.Alias != nil && a.Alias.IsWrite && i < len(n.Inputs()) && n.Input(i).Type().Kind() != types.KindTensor {
			return true
		}
	}
	return false
}

// readConstant notes the tensors of a constant.
func (f *Function) readConstant(v value.Value) (why string) {
	switch v.Kind() {
	case value.KindTensor:
		f.constants = append(f.constants, v.Tensor())
	case value.KindObject, value.KindCapsule, value.KindFuture, value.KindGenerator, value.KindStorage:
		return "a constant is a " + v.Kind().String()
	case value.KindList:
		for _, item := range v.List().Items {
			if why = f.readConstant(item); why != "" {
				return why
			}
		}
	case value.KindTuple:
		for _, item := range v.Tuple().Items {
			if why = f.readConstant(item); why != "" {
				return why
			}
		}
	}
	return ""
}
