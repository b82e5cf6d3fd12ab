package views

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The functions of this file say what views are made of.

// likeOther is a view by the sizes of another tensor.
func likeOther(name string) ops.Decomposition {
	return define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do(name, a[0], x.Sizes(a[1].Tensor()))
	})
}

func ravelParts(x define.Composer, a []value.Value) define.Tensors {
	t := a[0].Tensor()
	if !t.IsContiguous() {
		t = x.Do("clone", t, int(tensor.ContiguousFormat))
	}
	return x.Do("reshape", t, []int{-1})
}

func flattenParts(x define.Composer, a []value.Value) define.Tensors {
	t := a[0].Tensor()
	n := t.Dim()
	if n == 0 {
		return x.Do("reshape", t, []int{1})
	}
	start, end := define.Wrap(int(a[1].Int()), n), define.Wrap(int(a[2].Int()), n)
	if start == end {
		return t
	}
	var sizes []value.Value
	product := value.Int(1)
	for d := range n {
		switch {
		case d < start || d > end:
			sizes = append(sizes, x.Size(t, d))
		default:
			if product = x.Product(product, x.Size(t, d)); d == end {
				sizes = append(sizes, product)
			}
		}
	}
	return x.Do("reshape", t, define.SizesOf(sizes...))
}

func narrowParts(x define.Composer, a []value.Value) define.Tensors {
	return x.Do("slice.Tensor", a[0], a[1], a[2], x.Sum(a[2], a[3]))
}

func reversedParts(x define.Composer, a []value.Value) define.Tensors {
	t := a[0].Tensor()
	order := make([]int, t.Dim())
	for d := range order {
		order[d] = len(order) - 1 - d
	}
	return x.Do("permute", t, order)
}

func transposedParts(x define.Composer, a []value.Value) define.Tensors {
	t := a[0].Tensor()
	order := make([]int, t.Dim())
	for d := range order {
		order[d] = d
	}
	if n := len(order); n > 0 {
		i, j := define.Wrap(int(a[1].Int()), n), define.Wrap(int(a[2].Int()), n)
		order[i], order[j] = j, i
	}
	return x.Do("permute", t, order)
}

func turnedParts(x define.Composer, a []value.Value) define.Tensors {
	if a[0].Tensor().Dim() < 2 {
		return transposedParts(x, []value.Value{a[0], value.Int(0), value.Int(0)})
	}
	return transposedParts(x, []value.Value{a[0], value.Int(0), value.Int(1)})
}

func stackParts(x define.Composer, a []value.Value) define.Tensors {
	var parts []define.Tensors
	for _, v := range a[0].List().Items {
		parts = append(parts, x.Do("unsqueeze", v, a[1]))
	}
	return x.Do("cat", parts, a[1])
}

func moveDimsParts(x define.Composer, a []value.Value) define.Tensors {
	t := a[0].Tensor()
	n := t.Dim()
	from, to := define.NumbersOfValue(a[1], 1), define.NumbersOfValue(a[2], 1)
	order := slices.Repeat([]int{-1}, n)
	moved := make([]bool, n)
	for i, d := range from {
		d = define.Wrap(d, n)
		order[define.Wrap(to[i], n)], moved[d] = d, true
	}
	rest := 0
	for i := range order {
		if order[i] < 0 {
			for moved[rest] {
				rest++
			}
			order[i] = rest
			rest++
		}
	}
	return x.Do("permute", t, order)
}
