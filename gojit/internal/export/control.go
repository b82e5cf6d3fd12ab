package export

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// branch captures a condition: one that is known decides here, another one becomes a call of cond.
func (c *capture) branch(n *ir.Node) {
	if h := c.predicates[n.Input(0)]; h != nil {
		c.cond(n, exportir.Ref(c.read(h).Name))
		return
	}
	is := c.known(n.Input(0))
	if _, ok := n.Attr(trace.Operator); ok && !c.isSettled(n.Input(0), is) {
		if rel, ok := c.relationOf(n.Input(0).Node().Input(0)); ok {
			c.cond(n, exportir.Ref(c.comparison(rel).Name))
			return
		}
	}
	for r, v := range is {
		if v.Bool() != is[0].Bool() {
			c.refuse(source.Errorf(source.RuntimeError, source.Range{}, "The program decides by a size here that is to be dynamic"), r)
		}
	}
	c.decided(n.Input(0), is[0])
	taken := n.Blocks()[1]
	if is[0].Bool() {
		taken = n.Blocks()[0]
	}
	c.block(taken)
	for i, out := range n.Outputs() {
		c.pass(out, taken.Outputs()[i])
	}
}

// pass makes what is known of a value known of another.
func (c *capture) pass(to, from *ir.Value) {
	delete(c.predicates, to)
	if h := c.predicates[from]; h != nil {
		c.predicates[to] = h
		return
	}
	c.env[to] = c.known(from)
}

// maxTurns bounds the turns of loops that are captured one after the other.
const maxTurns = 10000

// loop captures the turns of a loop one after the other.
func (c *capture) loop(n *ir.Node) {
	body := n.Blocks()[0]
	turns := c.known(n.Input(0))
	for i, v := range body.Inputs()[1:] {
		c.pass(v, n.Input(i+2))
	}
	condition := n.Input(1)
	for turn := 0; ; turn++ {
		if c.predicates[condition] != nil {
			c.node = n
			c.fail(source.RuntimeError, "The number of turns of this loop depends on the elements of a tensor: such a loop cannot be exported")
		}
		go_ := c.known(condition)
		for r := range go_ {
			if (go_[r].Bool() && int64(turn) < turns[r].Int()) != (go_[0].Bool() && int64(turn) < turns[0].Int()) {
				c.node = n
				c.refuse(source.Errorf(source.RuntimeError, source.Range{}, "The number of turns of this loop depends on a size that is to be dynamic"), r)
			}
		}
		if !go_[0].Bool() || int64(turn) >= turns[0].Int() {
			break
		}
		if turn == maxTurns {
			c.node = n
			c.fail(source.RuntimeError, "This loop has more than %d turns, which is more than is exported", maxTurns)
		}
		c.turn(body, turn)
		condition = body.Outputs()[0]
	}
	for i, out := range n.Outputs() {
		c.pass(out, body.Inputs()[i+1])
	}
}

// turn captures one turn of a loop, and hands on what the loop carries.
func (c *capture) turn(body *ir.Block, turn int) {
	c.env[body.Inputs()[0]] = c.all(intValue(turn))
	body.Walk(func(n *ir.Node) {
		for _, v := range n.Outputs() {
			delete(c.predicates, v)
		}
	})
	c.block(body)
	carried := make([]run, len(body.Inputs()))
	flags := make([]*handle, len(body.Inputs()))
	for i := range body.Inputs()[1:] {
		if flags[i] = c.predicates[body.Outputs()[i+1]]; flags[i] == nil {
			carried[i] = c.known(body.Outputs()[i+1])
		}
	}
	for i, v := range body.Inputs()[1:] {
		delete(c.predicates, v)
		if flags[i] != nil {
			c.predicates[v] = flags[i]
		} else {
			c.env[v] = carried[i]
		}
	}
}

// operands are the tensors from outside that blocks use.
type operands struct {
	handles []*handle
	seen    map[*handle]bool
}

// collect adds what the nodes of a block use that is not made in it.
func (c *capture) collect(b *ir.Block, used *operands) {
	visit := func(v *ir.Value) {
		is, ok := c.env[v]
		if h := c.predicates[v]; h != nil {
			used.add(h)
		}
		if !ok || inside(v, b) {
			return
		}
		holds(is[0], func(t *tensor.Tensor) bool {
			if h := c.scope.handles[t]; h != nil {
				used.add(h)
			}
			return false
		})
	}
	b.Walk(func(n *ir.Node) {
		c.collectAttribute(n, used)
		for _, v := range n.Inputs() {
			visit(v)
		}
		for _, inner := range n.Blocks() {
			for _, v := range inner.Outputs() {
				visit(v)
			}
		}
	})
	for _, v := range b.Outputs() {
		visit(v)
	}
}

// collectAttribute adds the tensor of a module that a node reads.
func (c *capture) collectAttribute(n *ir.Node, used *operands) {
	if n.Kind() != prim.GetAttr {
		return
	}
	var path []string
	v := n.Output()
	for v.Node().Kind() == prim.GetAttr {
		path = append(path, v.Node().StringAttr("name"))
		v = v.Node().Input(0)
	}
	is, ok := c.env[v]
	for i := len(path) - 1; ok && i >= 0 && is[0].Kind() == value.KindObject; i-- {
		var inner value.Value
		if inner, ok = is[0].Object().Attr(path[i]); ok {
			is = run{inner}
		}
	}
	if ok && is[0].IsTensor() {
		if placed, known := c.given[is[0].Tensor()]; known && c.scope.handles[placed[0].Tensor()] != nil {
			used.add(c.scope.handles[placed[0].Tensor()])
		}
	}
}

func (u *operands) add(h *handle) {
	if !u.seen[h] {
		u.seen[h] = true
		u.handles = append(u.handles, h)
	}
}

// inside reports whether a value is made in a block, or in one that is in it.
func inside(v *ir.Value, b *ir.Block) bool {
	for at := v.Node().Block(); at != nil; {
		if at == b {
			return true
		}
		if at.Owner() == nil {
			return false
		}
		at = at.Owner().Block()
	}
	return false
}

// cond captures a decision by the elements of a tensor.
func (c *capture) cond(n *ir.Node, truth exportir.Argument) {
	used := &operands{seen: map[*handle]bool{}}
	for _, b := range n.Blocks() {
		c.collect(b, used)
	}
	index := c.countGraphs("true_graph_")
	yes, results := c.subgraph(n.Blocks()[0], used.handles, "true_graph_"+itoa(index))
	no, others := c.subgraph(n.Blocks()[1], used.handles, "false_graph_"+itoa(index))
	c.node = n
	c.compareBranches(results, others)
	var given []exportir.Argument
	for _, u := range used.handles {
		given = append(given, exportir.Ref(c.read(u).Name))
	}
	call := c.higherOrder("cond", "conditional", truth, exportir.Ref(yes.Name), exportir.Ref(no.Name), exportir.OfList(given))
	c.higherOrderResults(n, call, results)
}

// countGraphs counts the graphs whose names begin with a prefix.
func (c *capture) countGraphs(prefix string) int {
	count := 0
	for i := range c.scope.graph.Graphs {
		if strings.HasPrefix(c.scope.graph.Graphs[i].Name, prefix) {
			count++
		}
	}
	return count
}

// subgraph captures a block as a graph of its own that takes the operands, and adds the node that names it.
func (c *capture) subgraph(b *ir.Block, given []*handle, name string) (*exportir.Node, []*handle) {
	inner := newScope(&exportir.Graph{}, c.scope)
	placed := map[*tensor.Tensor]run{}
	for _, h := range given {
		n := &exportir.Node{Op: exportir.Placeholder, Name: inner.names.name(h.node.Name), Meta: exportir.Meta{Val: h.node.Meta.Val}}
		n.Target = n.Name
		inner.add(n)
		metas := make([]*tensor.Tensor, c.runs)
		for r, m := range h.metas {
			metas[r] = metaTensor(m.Shape(), m.Strides(), m.DType())
		}
		own := inner.bind(metas, n)
		own.device = h.device
		for t, other := range c.scope.handles {
			if other == h {
				placed[t] = tensors(metas)
			}
		}
	}
	results := c.within(inner, b, placed)
	for i := range given {
		if own := inner.byNode[inner.graph.Nodes[i].Name]; own.version > 0 {
			c.fail(source.RuntimeError, "A branch writes to a tensor from outside, which an exported program cannot do: write to a copy")
		}
	}
	exportir.Sweep(inner.graph)
	c.scope.graph.Graphs = append(c.scope.graph.Graphs, exportir.Subgraph{Name: name, Graph: inner.graph})
	n := &exportir.Node{Op: exportir.GetAttr, Name: c.scope.names.name(name), Target: name, Meta: exportir.Meta{}}
	c.scope.add(n)
	return n, results
}

// within captures a block in a scope of its own, in which tensors from outside are what placed says.
func (c *capture) within(inner *scope, b *ir.Block, placed map[*tensor.Tensor]run) []*handle {
	outer, env, flags, given := c.scope, c.env, c.predicates, c.given
	c.given = givenTensors{}
	for t, is := range given {
		c.given[t] = moved(is, placed)
	}
	c.scope, c.env, c.predicates = inner, map[*ir.Value]run{}, map[*ir.Value]*handle{}
	for v, is := range env {
		c.env[v] = moved(is, placed)
	}
	for v, h := range flags {
		if own, ok := placed[h.metas[0]]; ok {
			c.predicates[v] = inner.handles[own[0].Tensor()]
		}
	}
	for _, n := range inner.graph.Nodes {
		c.describe(inner.byNode[n.Name])
	}
	c.block(b)
	c.node = b.ReturnNode()
	var results []*handle
	items := make([]exportir.Argument, len(b.Outputs()))
	for i, v := range b.Outputs() {
		is := c.known(v)
		h := (*handle)(nil)
		if is[0].IsTensor() {
			h = inner.handles[is[0].Tensor()]
		}
		if h == nil {
			c.fail(source.RuntimeError, "A branch of control flow gives a %s: only tensors can be exported", is[0].Kind())
		}
		results = append(results, h)
		items[i] = exportir.Ref(c.read(h).Name)
	}
	out := &exportir.Node{Op: exportir.Output, Name: "output", Target: "output", Args: []exportir.Argument{{Kind: exportir.TupleArgument, Items: items}}, Meta: c.place()}
	if len(items) == 1 {
		out.Args = items
	}
	out.Meta.Val = c.valueOf(out.Args[0])
	inner.add(out)
	c.scope, c.env, c.predicates, c.given = outer, env, flags, given
	return results
}

// moved is what a value is where tensors from outside have others in their place.
func moved(is run, placed map[*tensor.Tensor]run) run {
	out := make(run, len(is))
	for r := range is {
		out[r] = movedValue(is[0], is[r], r, placed)
	}
	return out
}

func movedValue(first, v value.Value, r int, placed map[*tensor.Tensor]run) value.Value {
	switch v.Kind() {
	case value.KindTensor:
		if own, ok := placed[first.Tensor()]; ok {
			return own[r]
		}
	case value.KindList:
		items := make([]value.Value, len(v.List().Items))
		for i := range items {
			items[i] = movedValue(first.List().Items[i], v.List().Items[i], r, placed)
		}
		return value.OfList(value.NewList(v.List().Elem, items...))
	case value.KindTuple:
		items := make([]value.Value, len(v.Tuple().Items))
		for i := range items {
			items[i] = movedValue(first.Tuple().Items[i], v.Tuple().Items[i], r, placed)
		}
		return value.OfTuple(&value.Tuple{Type: v.Tuple().Type, Items: items})
	case value.KindDict:
		d := value.NewDict(v.Dict().Key, v.Dict().Elem)
		for key, item := range v.Dict().All {
			of, _ := first.Dict().Get(key)
			d.Set(key, movedValue(of, item, r, placed))
		}
		return value.OfDict(d)
	}
	return v
}

// compareBranches fails where two branches give different tensors.
func (c *capture) compareBranches(a, b []*handle) {
	for i := range a {
		if a[i].metas[0].DType() != b[i].metas[0].DType() {
			c.fail(source.RuntimeError, "The branches of a condition give tensors of different types: %s and %s", a[i].metas[0].DType(), b[i].metas[0].DType())
		}
		for r := range a[i].metas {
			if !tensor.SameShape(a[i].metas[r].Shape(), b[i].metas[r].Shape()) {
				c.fail(source.RuntimeError, "The branches of a condition give tensors of different shapes: %v and %v", a[i].metas[r].Shape(), b[i].metas[r].Shape())
			}
		}
	}
}

// higherOrder adds the call of a control flow operator.
func (c *capture) higherOrder(name, as string, args ...exportir.Argument) *exportir.Node {
	n := &exportir.Node{Op: exportir.CallFunction, Name: c.scope.names.name(as), Target: "higher_order::" + name, Args: args, Meta: c.place()}
	c.scope.add(n)
	return n
}

// higherOrderResults binds what a control flow operator gives: tensors like those of a branch.
func (c *capture) higherOrderResults(n nodeOutputs, call *exportir.Node, like []*handle) {
	made := &emission{}
	outs := make([]run, len(like))
	for i, h := range like {
		outs[i] = make(run, c.runs)
		for r, m := range h.metas {
			outs[i][r] = value.OfTensor(metaTensor(m.Shape(), m.Strides(), m.DType()))
		}
	}
	bind := func(of func(int) value.Value, node *exportir.Node) value.Value {
		metas := make([]*tensor.Tensor, c.runs)
		for r := range metas {
			metas[r] = of(r).Tensor()
		}
		h := c.scope.bind(metas, node)
		v := c.describe(h)
		node.Meta.Val = &v
		made.handles = append(made.handles, h)
		return of(0)
	}
	if len(outs) == 1 {
		bind(func(r int) value.Value { return outs[0][r] }, call)
	} else {
		c.items(outs, call, bind, made)
	}
	for i, v := range n.Outputs() {
		c.env[v] = outs[i]
	}
}
