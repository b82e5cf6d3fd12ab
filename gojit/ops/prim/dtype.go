package prim

import (
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// DTypes holds the operators on element types, and the state of grad mode and random numbers.
var DTypes = join(
	one("aten::promote_types", func(args, out []value.Value) error {
		a, b, err := dtypePair(args)
		if err != nil {
			return err
		}
		promoted := tensor.Promote(a, b)
		if !promoted.Valid() {
			return errorf("promoteTypes with quantized numbers is not handled: %s and %s", a, b)
		}
		out[0] = value.Int(int64(promoted))
		return nil
	}),
	one("aten::can_cast", func(args, out []value.Value) error {
		from, to, err := dtypePair(args)
		out[0] = value.Bool(err == nil && tensor.CanCast(from, to))
		return err
	}),
	one("aten::result_type.Scalar_Scalar", func(args, out []value.Value) error {
		out[0] = value.Int(int64(tensor.Promote(dtypeOf(args[0]), dtypeOf(args[1]))))
		return nil
	}),
	one("aten::is_grad_enabled", func(args, out []value.Value) error {
		out[0] = value.Bool(tensor.GradEnabled())
		return nil
	}),
	one("aten::set_grad_enabled", func(args, out []value.Value) error {
		tensor.SetGradEnabled(args[0].Bool())
		return nil
	}),
	one("aten::manual_seed", func(args, out []value.Value) error {
		tensor.DefaultGenerator().Seed(uint64(args[0].Int()))
		return nil
	}),
)

func dtypePair(args []value.Value) (a, b tensor.DType, err error) {
	var types [2]tensor.DType
	for i := range types {
		n := args[i].Int()
		if n < 0 || n >= tensor.NumDTypes {
			return 0, 0, errorf("%d is not the number of an element type", n)
		}
		types[i] = tensor.DType(n)
	}
	return types[0], types[1], nil
}

// dtypeOf returns the element type that a number takes as a tensor.
func dtypeOf(v value.Value) tensor.DType {
	switch v.Kind() {
	case value.KindBool:
		return tensor.Bool
	case value.KindFloat:
		return tensor.DefaultDType()
	case value.KindComplex:
		return tensor.DefaultDType().ToComplex()
	}
	return tensor.Int64
}
