package trace

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Graph returns what has been recorded so far; nodes that stand for the attributes of modules are in it until the end.
func (r *Recorder) Graph() *ir.Graph { return r.g }

// SetGraph records into another graph from now on. Tensors stay the values that they are.
func (r *Recorder) SetGraph(g *ir.Graph) { r.g = g }

// ValueOf returns the value that a tensor is: one that is not known becomes a constant, which a tensor that needs gradients cannot be.
func (r *Recorder) ValueOf(t *tensor.Tensor) (*ir.Value, error) { return r.tensor(t, r.place()) }

// SetValueOf makes a tensor another value of the graph; nil makes it one that is not known.
func (r *Recorder) SetValueOf(t *tensor.Tensor, v *ir.Value) {
	if v == nil {
		delete(r.values, t)
		return
	}
	r.setValue(value.OfTensor(t), v)
}

// Scope returns the innermost scope that is open, "" where none is.
func (r *Recorder) Scope() string {
	if !r.InScope() {
		return ""
	}
	return r.scopes[len(r.scopes)-1]
}

// InScope reports whether a scope is open.
func (r *Recorder) InScope() bool { return len(r.scopes) > 0 }

// inlineScopes puts copies of the nodes of scopes in the place of their blocks: where no module is traced, they are names of nodes alone.
func (r *Recorder) inlineScopes() {
	(&lifter{remap: map[*ir.Value]*ir.Value{}}).run(r.g.Block())
	r.inlineScopesOf(r.g.Block())
	r.liftRegions()
}

func (r *Recorder) inlineScopesOf(b *ir.Block) {
	for n := b.First(); n != nil; {
		next := n.Next()
		if isRegion(n) {
			inner := n.Blocks()[0]
			r.inlineScopesOf(inner)
			if n.Kind() == tracedForward {
				r.inlineBlock(n, inner)
			}
		}
		n = next
	}
}

func (r *Recorder) inlineBlock(n *ir.Node, inner *ir.Block) {
	copies := map[*ir.Value]*ir.Value{}
	lookup := func(v *ir.Value) *ir.Value {
		if c := copies[v]; c != nil {
			return c
		}
		return v
	}
	old := r.g.SetInsertPoint(n)
	for m := inner.First(); m != nil; m = m.Next() {
		c := r.g.InsertNode(r.g.Clone(m, lookup))
		for i, out := range m.Outputs() {
			copies[out] = c.Outputs()[i]
		}
	}
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(lookup(inner.Outputs()[i]))
	}
	r.g.SetInsertPoint(old)
	n.Destroy()
}
