package autograd

import (
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Hook sees a gradient when it is complete and may give another one for it; nil keeps it.
type Hook func(m *Mode, g *tensor.Tensor) (*tensor.Tensor, error)

// hook is a Hook in the place where it can be removed from.
type hook struct {
	run    Hook
	number uint64
}

// hooks are what a node does with the gradients of its outputs, by output.
type hooks struct {
	before [][]hook
	retain []*history // whose gradient is kept though they are no leaves
	node   []nodeHook
}

// NodeHook sees the gradients of a node's outputs and, when they have been computed, those of its inputs; nil stands for none. What
// it returns, if not nil, takes the place of the latter; of a hook that is called before, of the former.
type NodeHook func(m *Mode, inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error)

type nodeHook struct {
	run    NodeHook
	before bool
	number uint64
}

// AddHook has run called with the gradients of the node's inputs and outputs, or before the former are computed.
// What it returns removes the hook.
func (n *Node) AddHook(run NodeHook, before bool) (remove func()) {
	hookLock.Lock()
	defer hookLock.Unlock()
	h := n.hooksFor(0)
	hookNumber++
	number := hookNumber
	h.node = append(h.node, nodeHook{run, before, number})
	return func() {
		hookLock.Lock()
		defer hookLock.Unlock()
		h.node = slices.DeleteFunc(slices.Clone(h.node), func(x nodeHook) bool { return x.number == number })
	}
}

// hasHooks reports whether somebody is told of the node's gradients.
func (n *Node) hasHooks() bool {
	hookLock.Lock()
	defer hookLock.Unlock()
	return n.hooks != nil
}

// runNodeHooks calls the hooks before or after the derivative. It returns what changed is then.
func (p *pass) runNodeHooks(n *Node, before bool, inputs, outputs []*tensor.Tensor) (result []*tensor.Tensor) {
	changed := inputs
	if before {
		changed = outputs
	}
	hookLock.Lock()
	if n.hooks == nil {
		hookLock.Unlock()
		return changed
	}
	all := n.hooks.node
	hookLock.Unlock()
	if !before {
		changed = n.shown(inputs)
		defer func() { result = n.hidden(changed, inputs) }()
	}
	for _, h := range all {
		if h.before != before {
			continue
		}
		args := [2][]*tensor.Tensor{changed, outputs}
		if before {
			args = [2][]*tensor.Tensor{nil, changed}
		}
		made := must(h.run(p.emitter.mode, args[0], args[1]))
		if made == nil {
			continue
		}
		if len(made) != len(changed) {
			fail("hook 'unknown' has returned an incorrect number of values (got %d, but expected %d)", len(made), len(changed))
		}
		changed = made
	}
	return changed
}

// hookLock guards the hooks of all nodes: they are rare.
var (
	hookLock   sync.Mutex
	hookNumber uint64
)

// AddHook has run called with the gradient of t each time it has been computed. What it returns
// removes the hook. It fails where t does not require a gradient.
func AddHook(t *tensor.Tensor, run Hook) (remove func(), err error) {
	if !t.RequiresGrad() {
		return nil, errorf("cannot register a hook on a tensor that doesn't require gradient")
	}
	e := edgeOf(t)
	hookLock.Lock()
	defer hookLock.Unlock()
	h := e.node.hooksFor(e.index)
	hookNumber++
	number := hookNumber
	h.before[e.index] = append(h.before[e.index], hook{run, number})
	return func() {
		hookLock.Lock()
		defer hookLock.Unlock()
		var kept []hook
		for _, x := range h.before[e.index] {
			if x.number != number {
				kept = append(kept, x)
			}
		}
		h.before[e.index] = kept
	}, nil
}

// hooksFor returns the hooks of n with room for those of an output. The lock is held.
func (n *Node) hooksFor(index int) *hooks {
	if n.hooks == nil {
		n.hooks = &hooks{}
	}
	for len(n.hooks.before) <= index {
		n.hooks.before = append(n.hooks.before, nil)
		n.hooks.retain = append(n.hooks.retain, nil)
	}
	return n.hooks
}

// RetainGrad has the gradient of t kept as if it were a leaf. It fails where t does not require one.
func RetainGrad(t *tensor.Tensor) error {
	if !t.RequiresGrad() {
		return errorf("can't retain_grad on Tensor that has requires_grad=False")
	}
	if t.IsLeaf() {
		return nil
	}
	e := edgeOf(t)
	hookLock.Lock()
	defer hookLock.Unlock()
	e.node.hooksFor(e.index).retain[e.index] = historyOf(t)
	return nil
}

// RetainsGrad reports whether RetainGrad was called for t, which is no leaf.
func RetainsGrad(t *tensor.Tensor) bool {
	if !t.RequiresGrad() || t.IsLeaf() {
		return false
	}
	e := edgeOf(t)
	hookLock.Lock()
	defer hookLock.Unlock()
	h := e.node.hooks
	return h != nil && e.index < len(h.retain) && h.retain[e.index] == historyOf(t)
}

// runHooks gives the gradients of n's outputs to its hooks, which may change them.
func (p *pass) runHooks(n *Node, grads []*tensor.Tensor) {
	hookLock.Lock()
	if n.hooks == nil {
		hookLock.Unlock()
		return
	}
	before := append([][]hook(nil), n.hooks.before...)
	retain := append([]*history(nil), n.hooks.retain...)
	hookLock.Unlock()
	for i := range before {
		if grads[i] == nil {
			continue
		}
		for _, h := range before[i] {
			if g := must(h.run(p.emitter.mode, grads[i])); g != nil {
				checkHooked(grads[i], g)
				grads[i] = g
			}
		}
		if retain[i] != nil {
			p.keep(retain[i], grads[i], nil)
		}
	}
}

func checkHooked(old, g *tensor.Tensor) {
	if !tensor.SameShape(old.Shape(), g.Shape()) {
		fail("hook '%s' has changed the size of value", "unknown")
	}
	if old.DType() != g.DType() {
		fail("hook '%s' has changed the type of value (was torch.%s got torch.%s)", "unknown", old.DType().TensorClass(), g.DType().TensorClass())
	}
}
