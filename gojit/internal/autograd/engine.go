package autograd

import (
	"container/heap"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Options are what Backward and Gradients take besides tensors.
type Options struct {
	RetainGraph bool // the graph can be differentiated again
	CreateGraph bool // the gradients are recorded themselves
	AllowUnused bool // Gradients may give nil
}

// Backward adds the gradients of outputs to those of the leaves that they were computed from; nil
// stands for the gradient of a scalar. While it runs, the mode is that of the derivatives.
func (m *Mode) Backward(outputs, grads []*tensor.Tensor, o Options) error {
	_, err := m.differentiate(outputs, grads, nil, o)
	return err
}

// Gradients returns the gradients of outputs with respect to inputs, nil where there is none.
func (m *Mode) Gradients(outputs, inputs, grads []*tensor.Tensor, o Options) ([]*tensor.Tensor, error) {
	if len(inputs) == 0 {
		return nil, errorf("grad requires non-empty inputs.")
	}
	return m.differentiate(outputs, grads, inputs, o)
}

// pass is one run over the graph.
type pass struct {
	options  Options
	emitter  *emitter
	pending  map[*Node][]*tensor.Tensor // gradients of outputs
	queue    nodeQueue
	captures map[edge]int // targets by where their gradient arrives
	captured []*tensor.Tensor
	useful   map[*Node]bool      // nil: all
	room     *room               // nil where gradients are recorded, or others may have them
	deferred map[*Node]*products // nil: none yet
}

// nodeQueue has the latest node first.
type nodeQueue []*Node

func (q nodeQueue) Len() int           { return len(q) }
func (q nodeQueue) Less(i, j int) bool { return q[i].sequence > q[j].sequence }
func (q nodeQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *nodeQueue) Push(x any)        { *q = append(*q, x.(*Node)) }
func (q *nodeQueue) Pop() any {
	old := *q
	n := old[len(old)-1]
	*q = old[:len(old)-1]
	return n
}

func (m *Mode) differentiate(outputs, grads, inputs []*tensor.Tensor, o Options) (result []*tensor.Tensor, err error) {
	defer source.Catch(&err)
	span := m.BeginEvent("autograd::engine::execute")
	defer span.End()
	defer func(before Mode) { *m = before }(*m)
	m.off, m.withoutNames = !o.CreateGraph, true
	p := &pass{options: o, emitter: &emitter{mode: m}, pending: map[*Node][]*tensor.Tensor{}}
	if !o.CreateGraph {
		p.makeRoom(m)
	}
	var roots []edge
	var seeds []*tensor.Tensor
	for i, t := range outputs {
		var g *tensor.Tensor
		if i < len(grads) {
			g = grads[i]
		}
		if !t.RequiresGrad() {
			if g == nil && len(outputs) > 1 && inputs != nil {
				continue
			}
			fail("element %d of tensors does not require grad and does not have a grad_fn", i)
		}
		roots, seeds = append(roots, edgeOf(t)), append(seeds, p.seedOf(t, g, i))
	}
	targets := make([]int, len(inputs))
	if inputs != nil {
		p.captures = map[edge]int{}
		for i, t := range inputs {
			if !t.RequiresGrad() {
				fail("One of the differentiated Tensors does not require grad")
			}
			e := edgeOf(t)
			if _, ok := p.captures[e]; !ok {
				p.captures[e] = len(p.captured)
				p.captured = append(p.captured, nil)
			}
			targets[i] = p.captures[e]
		}
		p.useful = usefulNodes(roots, p.captures)
	}
	for i, e := range roots {
		p.send(e, seeds[i])
	}
	for p.queue.Len() > 0 {
		p.visit(heap.Pop(&p.queue).(*Node))
	}
	for i := range inputs {
		g := p.captured[targets[i]]
		if g == nil && !o.AllowUnused {
			fail("One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.")
		}
		result = append(result, g)
	}
	return result, nil
}

// seedOf returns the gradient that the differentiation of an output starts with.
func (p *pass) seedOf(t, g *tensor.Tensor, i int) *tensor.Tensor {
	if g == nil {
		if t.Numel() != 1 {
			fail("grad can be implicitly created only for scalar outputs")
		}
		if p.emitter.mode.Dispatches() {
			return do(p.emitter, "ones_like", t, nil, nil, nil, nil, int(tensor.PreserveFormat))
		}
		if t.Dispatches() || t.IsSparse() || t.OnDevice() {
			return do(p.emitter, "ones_like", t)
		}
		if placeOf(t).Type == tensor.Meta {
			return must(tensor.EmptyMeta(t.Shape(), t.DType()))
		}
		return must(tensor.Full(t.Shape(), tensor.Int(1), t.DType()))
	}
	if g.DType().IsComplex() != t.DType().IsComplex() {
		fail("For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: grad_output[%d] has a dtype of %s and output[%d] has a dtype of %s.", i, "torch."+g.DType().String(), i, "torch."+t.DType().String())
	}
	if !tensor.SameShape(g.Shape(), t.Shape()) {
		fail("Mismatch in shape: grad_output[%d] has a shape of torch.Size(%s) and output[%d] has a shape of torch.Size(%s).", i, tensor.FormatShape(g.Shape()), i, tensor.FormatShape(t.Shape()))
	}
	return g
}

// usefulNodes returns the nodes from which a target can be reached.
func usefulNodes(roots []edge, targets map[edge]int) map[*Node]bool {
	wanted := map[*Node]bool{}
	for e := range targets {
		wanted[e.node] = true
	}
	useful, entered := map[*Node]bool{}, map[*Node]bool{}
	var stack []*Node
	for _, e := range roots {
		stack = append(stack, e.node)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		if !entered[n] {
			entered[n] = true
			for i := range n.inputs {
				if next := n.inputs[i].edge.node; next != nil && !entered[next] {
					stack = append(stack, next)
				}
			}
			continue
		}
		stack = stack[:len(stack)-1]
		useful[n] = wanted[n]
		for i := range n.inputs {
			useful[n] = useful[n] || useful[n.inputs[i].edge.node]
		}
	}
	return useful
}

// send adds a gradient to those that wait at the end of an edge.
func (p *pass) send(e edge, g *tensor.Tensor) {
	if p.useful != nil && !p.useful[e.node] {
		return
	}
	waiting := p.expect(e.node)
	if before := waiting[e.index]; before != nil {
		g = p.sum(before, g)
	}
	waiting[e.index] = g
	p.room.enter(g)
}

// expect has the pass come to a node, and returns the gradients that wait there.
func (p *pass) expect(n *Node) []*tensor.Tensor {
	waiting, ok := p.pending[n]
	if !ok {
		waiting = make([]*tensor.Tensor, len(n.outputs))
		p.pending[n] = waiting
		heap.Push(&p.queue, n)
	}
	return waiting
}

// sum adds a gradient to one that waits, in its memory where nobody else has it.
func (p *pass) sum(before, g *tensor.Tensor) *tensor.Tensor {
	if p.room.leave(before); p.room != nil && p.room.own[before] {
		p.emitter.made[before] = true // to be swept, unless it waits again
	}
	if before.IsSparse() && !g.IsSparse() {
		before, g = g, before
	}
	if !before.IsSparse() && p.isOwn(before) && before != g && before.DType() == g.DType() && tensor.SameShape(before.Shape(), g.Shape()) {
		return do(p.emitter, "add_.Tensor", before, g)
	}
	return do(p.emitter, "add.Tensor", before, g)
}

// visit differentiates a node whose gradients have all arrived.
func (p *pass) visit(n *Node) {
	if IsProfiling() {
		span := p.emitter.mode.BeginEvent("autograd::engine::evaluate_function: " + n.FullName())
		defer span.End()
	}
	p.multiplyBefore(n)
	p.multiply(n)
	grads := p.pending[n]
	delete(p.pending, n)
	for _, g := range grads {
		p.room.leave(g)
	}
	defer p.sweep(slices.Clone(grads))
	p.runHooks(n, grads)
	for i, g := range grads {
		if at, ok := p.captures[edge{n, i}]; ok {
			p.captured[at] = g
			p.room.enter(g)
		}
	}
	grads = p.runNodeHooks(n, true, nil, grads)
	if n.leaf != nil {
		if p.captures == nil {
			span := p.emitter.mode.BeginEvent(n.FullName())
			p.keep(historyOf(n.leaf), grads[0], n.leaf)
			span.End()
			p.runNodeHooks(n, false, []*tensor.Tensor{}, grads)
		}
		return
	}
	if p.useful != nil && !p.leadsOn(n) {
		return
	}
	if n.released {
		succeed(errReleased)
	}
	if n.backward == nil {
		fail("derivative for %s is not implemented", n.op)
	}
	c := &gradient{Emitter: p.emitter, node: n, grads: grads, owns: p.isOwn, defers: p.deferProduct}
	p.watch(n, func() {
		span := p.emitter.mode.BeginEvent(n.FullName())
		c.run()
		span.End()
		n.checkNaN(c.given)
	})
	given := p.runNodeHooks(n, false, c.inputGradients(), grads)
	for _, g := range given { // one of them may wait where another goes to
		p.room.enter(g)
	}
	for i, g := range given {
		p.room.leave(g)
		if g != nil && n.inputs[i].edge.node != nil {
			p.send(n.inputs[i].edge, g)
		}
	}
	switch {
	case p.options.RetainGraph || p.options.CreateGraph:
	case n.group != nil:
		n.group.spend(grads)
	case c.usedSaved:
		n.release()
	case n.holds:
		n.letGo()
		n.unread = true
	}
}

// inputGradients returns what was given, for every input.
func (c *gradient) inputGradients() []*tensor.Tensor {
	gs := make([]*tensor.Tensor, len(c.node.inputs))
	for i, g := range c.given {
		if g != nil {
			gs[i] = g[0]
		}
	}
	return gs
}

func (p *pass) leadsOn(n *Node) bool {
	for i := range n.inputs {
		if next := n.inputs[i].edge.node; next != nil && p.useful[next] {
			return true
		}
	}
	return false
}

// release gives up what was saved for the derivative. Nodes that saved nothing can be used again.
func (n *Node) release() {
	if n.args == nil {
		return
	}
	n.letGo()
	n.args, n.out, n.backward, n.released = nil, nil, nil, true
	if n.rare != nil {
		n.rare.packed = nil
	}
}

// run computes what is given, between conjugates where the derivative is that of real numbers.
func (c *gradient) run() {
	c.unpack()
	if !c.node.conjugates {
		c.node.backward(c)
		return
	}
	for i, g := range c.grads {
		c.grads[i] = c.conj(g)
	}
	c.node.backward(c)
	for _, g := range c.given {
		if g != nil {
			g[0] = c.conj(g[0])
		}
	}
}

// keep adds to the gradient that a tensor has. A first one that nobody else has becomes it; others are copied: laid out as like, where that
// is dense, else contiguous.
func (p *pass) keep(h *history, g, like *tensor.Tensor) {
	likeDense := like != nil && like.IsNonOverlappingAndDense()
	byOperators := p.options.CreateGraph || Tangent(g) != nil || g.Device().Type == tensor.Meta || p.emitter.mode.Dispatches()
	switch {
	case h.grad != nil && h.grad.IsSparse() && !g.IsSparse():
		h.setGrad(do(p.emitter, "add.Tensor", g, h.grad))
	case h.grad == nil && g.IsSparse():
		h.setGrad(do(p.emitter, "clone", g))
	case h.grad != nil && p.options.CreateGraph:
		h.setGrad(do(p.emitter, "add.Tensor", h.grad, g))
	case h.grad != nil:
		do(p.emitter, "add_.Tensor", h.grad, g)
	case g.Dispatches():
		h.setGrad(do(p.emitter, "clone", g))
	case likeDense && byOperators:
		h.setGrad(do(p.emitter, "copy_", do(p.emitter, "new_empty_strided", g, g.Shape(), like.Strides()), g))
	case byOperators:
		h.setGrad(do(p.emitter, "clone", g, int(tensor.ContiguousFormat)))
	case p.isOwn(g) && (likeDense && slices.Equal(g.Strides(), like.Strides()) || !likeDense && g.IsContiguous()):
		p.disown(g)
		p.adopt(h, g)
	case likeDense:
		copied := must(tensor.EmptyLike(like, g.DType()))
		succeed(tensor.Copy(copied, g))
		p.adopt(h, copied)
	default:
		p.adopt(h, must(g.Clone(tensor.ContiguousFormat)))
	}
}

// adopt makes g, which nobody else has, the gradient of a history.
func (p *pass) adopt(h *history, g *tensor.Tensor) {
	h.setGrad(g)
	g.GiveUp()
}
