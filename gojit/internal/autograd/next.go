package autograd

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Next returns the nodes that the gradients of n's arguments go to, with the number of the output there; nil for an argument without a gradient.
// Arguments that have none by their nature, such as indices, are left out.
func (n *Node) Next() (nodes []*Node, outputs []int) {
	if n.op == copySlices && n.inputs[1].edge.node != nil { // the operator that wrote the view reads it out of what the view is of
		nodes, outputs = n.inputs[1].edge.node.Next()
		if len(nodes) > 0 {
			nodes[0], outputs[0] = n.inputs[0].edge.node, n.inputs[0].edge.index
			return nodes, outputs
		}
	}
	for _, i := range n.edges() {
		var e edge
		if i >= 0 {
			e = n.inputs[i].edge
		}
		nodes, outputs = append(nodes, e.node), append(outputs, e.index)
	}
	return nodes, outputs
}

// edges returns the places among the inputs of what users see of a node: -1 stands for an argument that was not given, or was a number.
func (n *Node) edges() (places []int) {
	op := ops.Find(n.op)
	if op == nil {
		for i := range n.inputs {
			places = append(places, i)
		}
		return places
	}
	p := planOf(op)
	for i := range op.Schema().Arguments {
		a := &op.Schema().Arguments[i]
		switch {
		case p.shapeOnly && i > 0:
		case a.Type.Kind() == types.KindNumber:
			if p.wrapped != "" && n.name == p.wrapped && a.Name == "other" {
				places = append(places, -1)
			}
		default:
			places = n.edgesOf(i, hasGradient(op, a), places)
		}
	}
	return places
}

// edgesOf appends the places of the inputs of an argument: all where it has a gradient, else those that lead somewhere.
func (n *Node) edgesOf(argument int, all bool, places []int) []int {
	given := false
	for k := range n.inputs {
		in := &n.inputs[k]
		if in.argument == argument && (all || in.edge.node != nil) {
			places = append(places, k)
		}
		given = given || in.argument == argument
	}
	if all && !given {
		places = append(places, -1)
	}
	return places
}

// hasGradient reports whether PyTorch's node of an operator has a place for the gradient of an argument. Which have one, its schemas do not say: the names
// of arguments tell it, and the facts "place" and "without_place" of an operator name an argument that has one, or none, against its name.
func hasGradient(op *ops.Operator, a *schema.Argument) bool {
	if !mentionsTensor(a.Type) {
		return false
	}
	if without, _ := op.Fact("without_place"); without == a.Name {
		return false
	}
	if place, _ := op.Fact("place"); place == a.Name {
		return true
	}
	switch a.Name {
	case "index", "indices", "mask", "condition", "offsets", "lengths", "running_mean", "running_var":
		return false
	}
	if a.Type.Kind() != types.KindOptional {
		return true
	}
	switch a.Name {
	case "bias", "min", "max", "per_sample_weights":
		return true
	}
	return false
}

// shown returns the gradients of inputs as Next shows the inputs.
func (n *Node) shown(gradients []*tensor.Tensor) (shown []*tensor.Tensor) {
	for _, i := range n.edges() {
		var g *tensor.Tensor
		if i >= 0 {
			g = gradients[i]
		}
		shown = append(shown, g)
	}
	return shown
}

// hidden puts what users see of gradients of inputs into their places.
func (n *Node) hidden(shown, gradients []*tensor.Tensor) []*tensor.Tensor {
	gradients = slices.Clone(gradients)
	for k, i := range n.edges() {
		if i >= 0 {
			gradients[i] = shown[k]
		}
	}
	return gradients
}
