package tensors

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// wrapperFunctions are about tensors whose Python objects have more than the library knows.
var wrapperFunctions = []abi.Function{
	{Schema: "tensor_wrapper(list size, list? strides, int offset, dtype dtype, device device) -> Tensor", Run: tensorWrapper},
	{Schema: "tensor_wraps(Tensor self) -> bool", Run: func(c *abi.Call) error {
		c.Bool(c.ArgTensor(0).Wraps())
		return nil
	}},
	{Schema: "tensor_dispatches(Tensor self) -> bool", Run: func(c *abi.Call) error {
		c.Bool(c.ArgTensor(0).Dispatches())
		return nil
	}},
	{Schema: "foreign_in_use() -> bool", Run: func(c *abi.Call) error {
		c.Bool(tensor.ForeignInUse())
		return nil
	}},
}

// tensorWrapper makes a tensor without elements.
func tensorWrapper(c *abi.Call) error {
	var strides []int
	if !c.IsNone(1) {
		strides = sizes(c, 1)
	}
	t, err := tensor.NewWrapper(sizes(c, 0), strides, int(c.ArgInt(2)), c.ArgDType(3), abi.DeviceOfCode(c.Arg(4).Int()))
	if err == nil {
		c.Tensor(t)
	}
	return err
}

// sizes reads a list of ints.
func sizes(c *abi.Call, i int) (found []int) {
	for w := range c.Arg(i).Items {
		found = append(found, int(w.Int()))
	}
	return found
}
