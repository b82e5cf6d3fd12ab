package main

import (
	"torchjit/gojit/autograd"
	"torchjit/gojit/tensor"
)

// gradFunctions are about what is recorded for gradients and the gradients.
var gradFunctions = []function{
	{schema: "grad_enabled() -> bool", run: gradEnabled},
	{schema: "set_grad_enabled(bool on) -> None", run: setGradEnabled},
	{schema: "tensor_grad(Tensor self) -> any", run: tensorGrad},
	{schema: "tensor_set_grad(Tensor self, any grad) -> None", run: tensorSetGrad},
	{schema: "tensor_is_leaf(Tensor self) -> bool", run: tensorIsLeaf},
	{schema: "tensor_node_name(Tensor self) -> any", run: tensorNodeName},
}

func gradEnabled(c *call) error {
	c.bool(tensor.GradEnabled())
	return nil
}

func setGradEnabled(c *call) error {
	tensor.SetGradEnabled(c.argBool(0))
	c.none()
	return nil
}

// tensorGrad replies the gradient of a leaf, or None.
func tensorGrad(c *call) error {
	if g := autograd.Grad(c.argTensor(0)); g != nil {
		c.keptTensor(g)
	} else {
		c.none()
	}
	return nil
}

func tensorSetGrad(c *call) error {
	w := c.arg(1)
	g := w.tensor()
	switch {
	case g != nil:
		w.keep()
	case w.kind() != kindNone:
		return typeErrorf("assigned grad expected to be a Tensor or None but got grad of type %s", w.kindName())
	}
	c.none()
	return autograd.SetGrad(c.argTensor(0), g)
}

func tensorIsLeaf(c *call) error {
	c.bool(c.argTensor(0).IsLeaf())
	return nil
}

// tensorNodeName replies the name of the node that made the tensor, or None for a leaf.
func tensorNodeName(c *call) error {
	if n := autograd.NodeOf(c.argTensor(0)); n != nil {
		c.string(n.Name())
	} else {
		c.none()
	}
	return nil
}
