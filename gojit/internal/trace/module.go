package trace

import (
	"fmt"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The kinds of nodes that stand in a graph while it is being recorded: a module's forward as a block,
// and an attribute of a module by its path. The attribute "scope" has the path.
const (
	tracedForward = prim.TracedModuleForward
	tracedAttr    = prim.TracedAttr
	tracedFork    = prim.TracedFork // a forked call, as a block
)

// isRegion reports whether n is a part of a program that becomes a graph of its own: the forward of a module or a forked call.
func isRegion(n *ir.Node) bool { return n.Kind() == tracedForward || n.Kind() == tracedFork }

// Self makes a module the first input: its tensors become attributes in the graph.
func (r *Recorder) Self(o *value.Object) {
	in := r.g.AddInput("self").SetType(o.Class)
	r.self = o
	r.addAttributes(o, in, "__module")
}

// addAttributes adds what stands for each attribute of a module and of those in it.
func (r *Recorder) addAttributes(o *value.Object, self *ir.Value, path string) {
	o.Complete()
	r.objects[o] = self
	for i, a := range o.Class.Attributes {
		inner := path + "." + a.Name
		v := r.g.InsertNode(r.g.Create(tracedAttr, nil, 1).SetAttr("scope", inner)).Output().SetType(a.Type)
		r.paths[inner] = v
		switch slot := o.Slots[i]; slot.Kind() {
		case value.KindTensor:
			if t := slot.Tensor(); r.values[t] == nil {
				v.SetType(TypeOf(t))
				r.values[t] = v
			} else {
				r.viewAgain(t)
			}
		case value.KindCapsule:
			r.packed[slot.Capsule()] = v
		case value.KindObject:
			if slot.Object().Class.IsModule {
				r.addAttributes(slot.Object(), v, inner)
			} else {
				r.objects[slot.Object()] = v
			}
		}
	}
}

// viewAgain records that a tensor that is known stands in a second place: PyTorch takes a view of it
// there. Nothing uses the view; it has a share in the numbering of values.
func (r *Recorder) viewAgain(t *tensor.Tensor) {
	shape := value.NewList(types.Int)
	for _, n := range t.Shape() {
		shape.Items = append(shape.Items, value.Int(int64(n)))
	}
	if o := ops.Find(aten.View); o != nil {
		_ = r.record(o, []value.Value{value.OfTensor(t), value.OfList(shape)}, []value.Value{value.OfTensor(t.Detach())}, nil)
	}
}

// PushScope begins the forward of the submodule at a path; what follows is recorded as its own.
func (r *Recorder) PushScope(path string) {
	r.scopes = append(r.scopes, path)
	r.g.SetScope(strings.Join(r.scopes, "/"))
	if r.Exact {
		return
	}
	n := r.g.InsertNode(r.g.Create(tracedForward, nil, 0).SetAttr("scope", path))
	r.g.SetInsertEnd(n.AddBlock())
}

// PopScope ends what PushScope began.
func (r *Recorder) PopScope() {
	r.scopes = r.scopes[:len(r.scopes)-1]
	r.g.SetScope(strings.Join(r.scopes, "/"))
	if r.Exact {
		return
	}
	owner := r.g.InsertPoint().Block().Owner()
	if next := owner.Next(); next != nil {
		r.g.SetInsertPoint(next)
	} else {
		r.g.SetInsertEnd(owner.Block())
	}
}

// makeMethods turns the blocks of submodules into methods of their classes, and the nodes that
// stand for attributes into reads of them.
func (r *Recorder) makeMethods() {
	top := r.g.Block()
	r.addSelfArguments(top)
	r.readAttributes(top, "__module", r.g.Inputs()[0])
	for _, v := range r.attributeNodes() {
		v.Destroy()
	}
	(&lifter{remap: map[*ir.Value]*ir.Value{}}).run(top)
	returnTuples(top)
	r.liftRegions()
	for _, f := range r.made {
		passes.LowerSimpleTuples(f.Graph())
		dropDeadWrites(f.Graph())
	}
}

func (r *Recorder) attributeNodes() []*ir.Node {
	var nodes []*ir.Node
	for n := r.g.Block().First(); n != nil; n = n.Next() {
		if n.Kind() == tracedAttr {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// addSelfArguments gives the block of each forward its module as the first parameter.
func (r *Recorder) addSelfArguments(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		if !isRegion(n) {
			continue
		}
		if n.Kind() == tracedForward {
			self := r.paths[n.StringAttr("scope")]
			n.AddInput(self)
			n.Blocks()[0].AddInput("self").SetType(self.Type())
		}
		r.addSelfArguments(n.Blocks()[0])
	}
}

// readAttributes replaces the uses of attributes in a block of the module at path by reads at the
// block's begin. Attributes of modules outside become parameters; it returns what they stand for.
func (r *Recorder) readAttributes(b *ir.Block, path string, self *ir.Value) (outside []*ir.Value) {
	local := map[*ir.Value]*ir.Value{}
	for _, n := range append(b.Nodes(), b.ReturnNode()) {
		for _, inner := range n.Blocks() {
			within, me := path, self
			if n.Kind() == tracedForward {
				within, me = n.StringAttr("scope"), inner.Inputs()[0]
			}
			for _, v := range r.readAttributes(inner, within, me) {
				n.AddInput(v)
			}
		}
		for i := range n.Inputs() {
			in := n.Input(i)
			if local[in] == nil {
				if in.Node().Kind() != tracedAttr {
					continue
				}
				full := in.Node().StringAttr("scope")
				if rest, below := strings.CutPrefix(full, path+"."); below || full == path {
					local[in] = r.readPath(b, self, rest, below)
				} else {
					local[in] = b.AddInput("").CopyMetadata(in)
					outside = append(outside, in)
				}
			}
			n.ReplaceInput(i, local[in])
		}
	}
	return outside
}

// readPath reads "a.weight" of self at the begin of b.
func (r *Recorder) readPath(b *ir.Block, self *ir.Value, path string, below bool) *ir.Value {
	if !below {
		return self
	}
	at := b.ReturnNode()
	if first := b.First(); first != nil {
		at = first
	}
	old := r.g.SetInsertPoint(at)
	scope := r.g.SetScope("")
	for _, name := range strings.Split(path, ".") {
		self = r.g.InsertNode(r.g.CreateGetAttr(self, name)).Output()
	}
	r.g.SetScope(scope)
	r.g.SetInsertPoint(old)
	return self
}

// lifter gives blocks results for the values of theirs that are used outside.
type lifter struct{ remap map[*ir.Value]*ir.Value }

func (l *lifter) run(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		l.node(n, b)
	}
	l.node(b.ReturnNode(), b)
}

func (l *lifter) node(n *ir.Node, b *ir.Block) {
	for i := range n.Inputs() {
		original := n.Input(i)
		in := original
		if to := l.remap[in]; to != nil {
			n.ReplaceInput(i, to)
			in = to
		}
		if from := in.Node().Block(); from != b {
			v := l.lift(in, commonBlock(b, from))
			l.remap[original] = v
			n.ReplaceInput(i, v)
		}
	}
	if isRegion(n) {
		l.run(n.Blocks()[0])
	}
}

// lift carries v out to the block target.
func (l *lifter) lift(v *ir.Value, target *ir.Block) *ir.Value {
	for b := v.Node().Block(); b != target; b = b.Owner().Block() {
		b.AddOutput(v)
		v = b.Owner().AddOutput().SetType(v.Type())
	}
	return v
}

// commonBlock returns the innermost block that holds both a and b.
func commonBlock(a, b *ir.Block) *ir.Block {
	holds := map[*ir.Block]bool{}
	for ; ; a = a.Owner().Block() {
		holds[a] = true
		if a.Owner() == nil {
			break
		}
	}
	for !holds[b] {
		b = b.Owner().Block()
	}
	return b
}

// returnTuples makes each block return exactly one value: a tuple where it has several, None where
// it has none.
func returnTuples(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		if !isRegion(n) {
			continue
		}
		inner := n.Blocks()[0]
		returnTuples(inner)
		if n.Kind() == tracedFork {
			continue // it has one result
		}
		g := n.Graph()
		switch {
		case len(inner.Outputs()) > 1:
			tuple := inner.Append(g.Create(prim.TupleConstruct, inner.Outputs(), 1))
			tuple.Output().SetType(types.NewTuple(typesOf(inner.Outputs())...))
			for len(inner.Outputs()) > 0 {
				inner.EraseOutput(0)
			}
			inner.AddOutput(tuple.Output())
			t := types.NewTuple(typesOf(n.Outputs())...)
			whole := n.AddOutput().SetType(t)
			unpack := g.CreateTupleUnpack(whole).InsertAfter(n)
			for i := len(unpack.Outputs()) - 1; i >= 0; i-- {
				n.Outputs()[i].ReplaceAllUsesWith(unpack.Outputs()[i])
				n.EraseOutput(i)
			}
		case len(inner.Outputs()) == 0:
			inner.AddOutput(inner.Append(g.CreateNone()).Output())
			n.AddOutput().SetType(types.None)
		}
	}
}

func typesOf(vs []*ir.Value) []types.Type {
	out := make([]types.Type, len(vs))
	for i, v := range vs {
		out[i] = v.Type()
	}
	return out
}

// blocksToGraphs takes the block of each forward and forked call out into a graph of its own, with the values from
// outside as further inputs.
func blocksToGraphs(b *ir.Block, graphs map[*ir.Node]*ir.Graph) {
	for n := b.First(); n != nil; n = n.Next() {
		if !isRegion(n) {
			continue
		}
		blocksToGraphs(n.Blocks()[0], graphs)
		g := ir.NewGraph()
		captured := map[*ir.Value]*ir.Value{}
		inner := map[*ir.Node]*ir.Graph{}
		for m := n.Blocks()[0].First(); m != nil; m = m.Next() {
			inner[m] = graphs[m]
		}
		g.Block().CloneFrom(n.Blocks()[0], func(v *ir.Value) *ir.Value {
			if captured[v] == nil {
				captured[v] = g.AddInput("").CopyMetadata(v)
				n.AddInput(v)
			}
			return captured[v]
		})
		for m, c := n.Blocks()[0].First(), g.Block().First(); m != nil; m, c = m.Next(), c.Next() {
			if inner[m] != nil {
				graphs[c] = copyForwards(inner[m], graphs)
				delete(graphs, m)
			}
		}
		graphs[n] = g
		n.EraseBlock(0)
	}
}

// copyForwards copies the graph of a forward, and the graphs of the forwards in it.
func copyForwards(g *ir.Graph, graphs map[*ir.Node]*ir.Graph) *ir.Graph {
	copied := g.Copy()
	for m, c := g.Block().First(), copied.Block().First(); m != nil; m, c = m.Next(), c.Next() {
		if inner := graphs[m]; inner != nil {
			graphs[c] = copyForwards(inner, graphs)
			delete(graphs, m)
		}
	}
	return copied
}

// callMethods turns the graphs of forwards into methods and their nodes into calls, and those of forked calls into bodies of forks.
func (r *Recorder) callMethods(g *ir.Graph, graphs map[*ir.Node]*ir.Graph) {
	for n := g.Block().First(); n != nil; {
		next := n.Next()
		switch n.Kind() {
		case tracedForward:
			r.callMethod(n, graphs)
		case tracedFork:
			r.forkBody(n, graphs)
		}
		n = next
	}
	for n := g.Block().First(); n != nil; {
		next := n.Next()
		if n.Kind() == tracedFork {
			callFork(n, graphs[n])
		}
		n = next
	}
}

func (r *Recorder) callMethod(n *ir.Node, graphs map[*ir.Node]*ir.Graph) {
	body := graphs[n]
	class := n.Input(0).Type().(*types.Class)
	r.callMethods(body, graphs)
	name := "forward"
	for i := 1; class.FindMethod(name) != nil; i++ {
		name = fmt.Sprintf("forward%d", i)
	}
	f := ir.NewFunction(class.Name+"."+name, schemaOf(name, body), body)
	f.IsMethod = true
	class.AddMethod(name, f)
	r.made = append(r.made, f)
	call := n.Graph().Create(prim.CallMethod, n.Inputs(), 1).SetAttr("name", name).InsertBefore(n)
	call.Output().SetType(f.Schema.Returns[0].Type)
	n.Output().ReplaceAllUsesWith(call.Output())
	n.Destroy()
}

// Made returns the functions that Finish made for submodules.
func (r *Recorder) Made() []*ir.Function { return r.made }
