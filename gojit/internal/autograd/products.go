package autograd

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// products are gradients of one leaf that are products of matrices not multiplied yet: those of a weight that is used at every step of a
// loop. They become one product over the rows of all, which reads and writes the gradient once and not once for each.
type products struct {
	left, right []*tensor.Tensor // the gradient is the sum of left[i]ᵀ·right[i]
	size        int              // elements of both
}

// mostFactors is how many times the elements of the gradient those of its factors may be before they are multiplied: until then they stay in memory,
// and are copied side by side.
const mostFactors = 1

// GiveProduct implements ops.Concrete.
func (c *gradient) GiveProduct(argument int, left, right ops.Ref) {
	a, b := asTensor(left), asTensor(right)
	in := c.find(argument, -1)
	if in != nil && c.defers != nil && in.edge.node != nil && c.defers(in, a, b) {
		return
	}
	c.Give(argument, product(c.Emitter, a, b))
}

func product(e Emitter, left, right *tensor.Tensor) *tensor.Tensor {
	return do(e, "matmul", do(e, "t", left), right)
}

// deferProduct keeps the factors of a leaf's gradient where they are smaller than it, until the pass comes to the leaf. It
// reports whether it did.
func (p *pass) deferProduct(in *input, left, right *tensor.Tensor) bool {
	n := in.edge.node
	if p.room == nil || n.leaf == nil || anomaly.Load() != nil || p.useful != nil && !p.useful[n] || !isFactor(left, in) || !isFactor(right, in) {
		return false
	}
	rows, columns := left.Size(1), right.Size(1)
	if !slices.Equal(in.shape, []int{rows, columns}) || left.Numel()+right.Numel() > rows*columns {
		return false
	}
	p.expect(n)
	d := p.deferred[n]
	if d == nil {
		if p.deferred == nil {
			p.deferred = map[*Node]*products{}
		}
		d = &products{}
		p.deferred[n] = d
	}
	// Tensors of their own keep the memory from being written and given back.
	d.left, d.right = append(d.left, left.Alias()), append(d.right, right.Alias())
	if d.size += left.Numel() + right.Numel(); d.size > mostFactors*rows*columns {
		p.multiply(n)
	}
	return true
}

// isFactor reports whether t is a matrix in the processor's memory, of the type of an input.
func isFactor(t *tensor.Tensor, in *input) bool {
	return t.Dim() == 2 && t.DType() == in.dtype && in.dtype.IsFloating() && t.Device().Type == tensor.CPU && !t.Dispatches() && !t.IsSparse() && !t.IsHollow() && Tangent(t) == nil
}

// multiply adds what was deferred for a leaf to the gradients that wait there.
func (p *pass) multiply(n *Node) {
	d := p.deferred[n]
	if d == nil {
		return
	}
	delete(p.deferred, n)
	left, right := joined(p.emitter, d.left), joined(p.emitter, d.right)
	p.send(edge{n, 0}, product(p.emitter, left, right))
	for _, t := range slices.Concat(d.left, d.right) {
		t.Release()
	}
}

func joined(e Emitter, parts []*tensor.Tensor) *tensor.Tensor {
	if len(parts) == 1 {
		return parts[0]
	}
	return do(e, "cat", parts, 0)
}

// multiplyBefore does so for all leaves where a node runs code of others, which may write what the products read.
func (p *pass) multiplyBefore(n *Node) {
	if len(p.deferred) == 0 || !n.hasHooks() && n.Context() == nil {
		return
	}
	for leaf := range p.deferred {
		p.multiply(leaf)
	}
}
