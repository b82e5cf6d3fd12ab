package autograd

import (
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Custom is a computation that somebody else has done and knows the derivative of.
type Custom struct {
	Name    string
	Inputs  []*tensor.Tensor
	Outputs []*tensor.Tensor // nil: not differentiable
	Written []bool           // of the outputs: an input, written in place
	// Backward gets the gradients of the outputs, nil for zero, and returns those of the inputs, nil
	// for none. m says whether it is recorded itself.
	Context  any // is kept with the node
	Backward func(m *Mode, n *Node, grads []*tensor.Tensor) ([]*tensor.Tensor, error)
}

// Record makes a node that computed the outputs from the inputs. It fails where an output that is
// written must not be. Without an input that requires a gradient nothing is recorded.
func (m *Mode) Record(c Custom) error {
	if !m.records() {
		return nil
	}
	args := make([]value.Value, len(c.Inputs))
	needed := false
	for i, t := range c.Inputs {
		args[i] = value.OfTensor(t)
		needed = needed || t.RequiresGrad()
	}
	if !needed {
		return nil
	}
	n := &Node{op: c.Name, name: c.Name, rare: &rare{context: c.Context}, outputs: make([]geometry, len(c.Outputs))}
	for i, t := range c.Inputs {
		n.inputs = append(n.inputs, newInput(t, i, -1))
	}
	n.args = args
	n.backward = func(g *gradient) { c.differentiate(n, g) }
	n.sequence = sequence.Add(1)
	n.remember(m)
	for i, t := range c.Outputs {
		if t == nil || !t.DType().IsDifferentiable() {
			n.outputs[i] = geometryOf(c.Inputs[0]) // nothing arrives here
			continue
		}
		n.outputs[i] = geometryOf(t)
		if c.Written[i] {
			if t.RequiresGrad() && t.IsLeaf() {
				return errorf("a leaf Variable that requires grad has been used in an in-place operation.")
			}
			if err := checkWrite(t); err != nil {
				return err
			}
			if t.Base() != nil {
				return errorf("%s wrote a view in place, which a custom function cannot", c.Name)
			}
		}
		t.Retain()
		h := &history{edge: edge{n, i}}
		if !c.Written[i] && viewed(args, t) != nil {
			t.SetBase(nil)
			h.creation = customView
		}
		t.SetHistory(h)
		_ = t.SetRequiresGrad(true) // the type was checked
	}
	return nil
}

func (c *Custom) differentiate(n *Node, g *gradient) {
	g.usedSaved = true
	grads := must(c.Backward(g.Emitter.(*emitter).mode, n, g.grads))
	if len(grads) != len(c.Inputs) {
		fail("function %s returned an incorrect number of gradients (expected %d, got %d)", c.Name, len(c.Inputs), len(grads))
	}
	for i, d := range grads {
		if d == nil {
			continue
		}
		if in := &n.inputs[i]; !broadcasts(in.shape, d.Shape()) {
			fail("Function %s returned an invalid gradient at index %d - got %s but expected shape compatible with %s",
				c.Name, i, tensor.FormatShape(d.Shape()), tensor.FormatShape(in.shape))
		}
		g.Give(i, d)
	}
}

// broadcasts reports whether a tensor of one shape can be summed to another, or has it.
func broadcasts(shape, wide []int) bool {
	if len(wide) < len(shape) {
		return false
	}
	wide = wide[len(wide)-len(shape):]
	for i, n := range shape {
		if n != wide[i] && n != 1 {
			return false
		}
	}
	return true
}

// Output returns a tensor that shares the memory of t and is the i-th output of n: a derivative that
// is recorded itself needs its node's outputs so.
func (n *Node) Output(i int, t *tensor.Tensor) *tensor.Tensor {
	out := t.Detach()
	n.Give(i, out)
	return out
}

// Give makes a tensor without a history the i-th result of the node.
func (n *Node) Give(i int, t *tensor.Tensor) {
	t.SetHistory(&history{edge: edge{n, i}})
	_ = t.SetRequiresGrad(true)
}

// Leaf returns the tensor whose gradient the node adds up, nil for other nodes.
func (n *Node) Leaf() *tensor.Tensor { return n.leaf }
