package passes

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// nextWarning numbers the places that warn, over all graphs.
var nextWarning atomic.Int64

// Inline replaces calls of functions and methods whose bodies are known by the bodies, to any
// depth. A callee that has not been compiled yet is compiled; one that cannot be stays a call. The
// constants of the callees are folded and pooled; those that name functions stay behind, unused.
//
//	%y = prim::CallMethod[name="forward"](%m, %x)   -- becomes the nodes of forward
func Inline(g *ir.Graph) { inlineBlock(g.Block()) }

func inlineBlock(b *ir.Block) {
	for n := b.First(); n != nil; {
		next := n.Next()
		switch n.Kind() {
		case prim.CallFunction:
			if f, ok := n.Input(0).Type().(*types.Function); ok {
				if target, ok := f.Target.(*ir.Function); ok && isCompiled(target) {
					replaceCall(n, target, n.Inputs()[1:])
				}
			}
		case prim.CallMethod:
			if c, ok := n.Input(0).Type().(*types.Class); ok {
				if target, ok := c.FindMethod(n.StringAttr("name")).(*ir.Function); ok && isCompiled(target) {
					replaceCall(n, target, n.Inputs())
				}
			}
		default:
			for _, inner := range n.Blocks() {
				inlineBlock(inner)
			}
		}
		n = next
	}
}

func isCompiled(f *ir.Function) bool {
	err := f.EnsureDefined()
	return err == nil && f.Graph() != nil
}

func replaceCall(n *ir.Node, callee *ir.Function, args []*ir.Value) {
	body := callee.Graph().Copy()
	Inline(body)
	PeepholeWithoutShapes(body)
	ConstantPropagationImmutableTypes(body)
	ConstantPooling(body)
	g := n.Graph()
	noteCall(body, inlinedCall(n, callee))
	old := g.SetInsertPoint(n)
	outputs := g.InsertGraph(body, append([]*ir.Value{}, args...))
	g.SetInsertPoint(old)
	for i, out := range n.Outputs() {
		if i < len(outputs) {
			shaped := outputs[i].Type()
			outputs[i].CopyMetadata(out)
			if shaped.Kind() == types.KindTensor {
				outputs[i].SetType(shaped) // a traced callee knows more of its tensors than the call
			}
			out.ReplaceAllUsesWith(outputs[i])
		}
	}
	n.Destroy()
}

// inlinedCall describes the call n of callee.
func inlinedCall(n *ir.Node, callee *ir.Function) *ir.InlinedCall {
	call := &ir.InlinedCall{Callee: callee.ShortName(), Range: n.Range, Outer: n.Calls}
	if n.Is(prim.CallMethod) {
		self := n.Input(0)
		call.Receiver, _ = self.Type().(*types.Class)
		switch {
		case self.Node().Is(prim.GetAttr):
			call.Instance = attributePath(self.Node())
		case self.Node() == n.Graph().Block().ParamNode() && self.Offset() == 0:
			call.Instance = "SELF"
		}
	}
	return call
}

// attributePath joins the attributes by which the function that reads one gets there.
func attributePath(n *ir.Node) string {
	path := n.StringAttr("name")
	for owner := n.Input(0).Node(); owner.Is(prim.GetAttr) && owner.Calls == n.Calls; owner = owner.Input(0).Node() {
		path = owner.StringAttr("name") + "." + path
	}
	return path
}

// noteCall has all nodes of a body know the call that they are inlined for.
func noteCall(body *ir.Graph, call *ir.InlinedCall) {
	extended := map[*ir.InlinedCall]*ir.InlinedCall{nil: call}
	var extend func(inner *ir.InlinedCall) *ir.InlinedCall
	extend = func(inner *ir.InlinedCall) *ir.InlinedCall {
		if known := extended[inner]; known != nil {
			return known
		}
		made := *inner
		made.Outer = extend(inner.Outer)
		extended[inner] = &made
		return &made
	}
	body.Block().Walk(func(n *ir.Node) { n.Calls = extend(n.Calls) })
}
