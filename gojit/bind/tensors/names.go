package tensors

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/dimnames"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// nameFunctions are about the names of dimensions.
var nameFunctions = []abi.Function{
	{Schema: "tensor_names(Tensor self) -> tuple", Run: tensorNames},
	{Schema: "tensor_set_names(Tensor self, list? names) -> None", Run: setTensorNames},
	{Schema: "tensor_has_names(Tensor self) -> bool", Run: func(c *abi.Call) error {
		c.Bool(c.ArgTensor(0).Names() != nil)
		return nil
	}},
	{Schema: "tensor_named_dim(Tensor self, str name) -> int", Run: func(c *abi.Call) (err error) {
		defer source.Catch(&err)
		c.Int(dimnames.Position(c.ArgTensor(0), c.ArgString(1)))
		return nil
	}},
}

// tensorNames replies a tuple with a name or None for each dimension.
func tensorNames(c *abi.Call) error {
	names := dimnames.Of(c.ArgTensor(0))
	c.Open(abi.KindTuple, len(names))
	for _, n := range names {
		if n == "" {
			c.None()
		} else {
			c.String(n)
		}
	}
	return nil
}

// setTensorNames names the dimensions, with None none of them.
func setTensorNames(c *abi.Call) (err error) {
	defer source.Catch(&err)
	t := c.ArgTensor(0)
	names := make([]string, t.Dim())
	if !c.IsNone(1) {
		given, err := c.ArgValues(1)
		if err != nil {
			return err
		}
		names = names[:0]
		for _, v := range given {
			names = append(names, dimnames.Read(v)...)
		}
	}
	dimnames.Set(t, names)
	c.None()
	return nil
}
