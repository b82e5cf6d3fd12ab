package prim

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// integersOf returns a list of integers, none for None.
func integersOf(v value.Value) []int {
	if v.IsNone() {
		return nil
	}
	return v.List().AppendInts(nil)
}

// Shapes holds the operators on lists of sizes.
var Shapes = join(
	one("aten::Size", func(args, out []value.Value) error {
		out[0] = args[0]
		return nil
	}),
	one("aten::_size_if_not_equal", func(args, out []value.Value) error {
		out[0] = value.None
		if !Equal(args[0], args[1]) {
			out[0] = args[0]
		}
		return nil
	}),
	one("prim::BroadcastSizes", func(args, out []value.Value) error {
		shapes := make([][]int, len(args))
		for i, v := range args {
			shapes[i] = v.List().AppendInts(nil)
		}
		shape, err := tensor.BroadcastAll(shapes...)
		out[0] = value.OfList(value.Ints(shape))
		return err
	}),
	one("prim::infer_squeeze_size", func(args, out []value.Value) error {
		var kept []value.Value
		for _, n := range args[0].List().Items {
			if n.Int() != 1 {
				kept = append(kept, n)
			}
		}
		out[0] = value.OfList(value.NewList(types.Int, kept...))
		return nil
	}),
	one("prim::infer_squeeze_size.dim", func(args, out []value.Value) error {
		sizes := append([]value.Value(nil), args[0].List().Items...)
		dim, err := dimension(args[1].Int(), len(sizes))
		if err != nil {
			return err
		}
		if dim < len(sizes) && sizes[dim].Int() == 1 {
			sizes = append(sizes[:dim], sizes[dim+1:]...)
		}
		out[0] = value.OfList(value.NewList(types.Int, sizes...))
		return nil
	}),
	one("prim::infer_unsqueeze_size", func(args, out []value.Value) error {
		sizes := args[0].List().Items
		dim, err := dimension(args[1].Int(), len(sizes)+1)
		if err != nil {
			return err
		}
		longer := append(append([]value.Value(nil), sizes[:dim]...), value.Int(1))
		out[0] = value.OfList(value.NewList(types.Int, append(longer, sizes[dim:]...)...))
		return nil
	}),
	one("prim::kept_sizes(int[] size, int[]? dim) -> int[]", func(args, out []value.Value) error {
		out[0] = value.OfList(value.Ints(ops.KeptSizes(integersOf(args[0]), integersOf(args[1]))))
		return nil
	}),
	one("prim::reduced_count(int[] size, int[]? dim) -> int", func(args, out []value.Value) error {
		out[0] = value.Int(int64(ops.ReducedCount(integersOf(args[0]), integersOf(args[1]))))
		return nil
	}),
	one("prim::sizes_along(Tensor[] tensors, int dim) -> int[]", func(args, out []value.Value) error {
		shapes, rank := make([][]int, len(args[0].List().Items)), 1
		for i, t := range args[0].List().Items {
			shapes[i] = t.Tensor().Shape()
			rank = max(rank, len(shapes[i]))
		}
		dim, err := dimension(args[1].Int(), rank)
		if err != nil {
			return err
		}
		out[0] = value.OfList(value.Ints(ops.SizesAlong(shapes, dim)))
		return nil
	}),
	one("prim::ReductionSizes", func(args, out []value.Value) error {
		sizes := append([]value.Value(nil), args[0].List().Items...)
		reduced := make([]bool, len(sizes))
		for _, axis := range args[1].List().Items {
			dim, err := dimension(axis.Int(), len(sizes))
			if err != nil {
				return err
			}
			if len(sizes) > 0 { // a number has one dimension, 0, and no size of it
				reduced[dim] = true
			}
		}
		var kept []value.Value
		for i, n := range sizes {
			switch {
			case !reduced[i]:
				kept = append(kept, n)
			case args[2].Bool():
				kept = append(kept, value.Int(1))
			}
		}
		out[0] = value.OfList(value.NewList(types.Int, kept...))
		return nil
	}),
)

// dimension converts a dimension of n, which may count from the end.
func dimension(i int64, n int) (int, error) {
	if i < int64(-n) || i >= int64(max(n, 1)) {
		return 0, errorf("Dimension out of range (expected to be in range of [%d, %d], but got %d)", -n, n-1, i)
	}
	if i < 0 {
		i += int64(n)
	}
	return int(i), nil
}
