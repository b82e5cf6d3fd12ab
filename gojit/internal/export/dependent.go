package export

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// dependent captures an operator whose results have sizes that follow from the elements of its arguments, and reports whether
// it is one: such a size is a symbol.
func (c *capture) dependent(n *ir.Node, o *ops.Operator, args []run) bool {
	switch how, _ := o.Fact("dependent"); how {
	case "places":
		c.giveDependent(n, o, args, func(r, unknown int) []value.Value {
			return []value.Value{meta(tensor.Int64, unknown, args[0][r].Tensor().Dim())}
		})
	case "coordinates":
		c.giveDependent(n, o, args, func(r, unknown int) []value.Value {
			return []value.Value{positions(args[0][r].Tensor().Dim(), unknown)}
		})
	case "elements":
		c.giveDependent(n, o, args, func(r, unknown int) []value.Value {
			return []value.Value{meta(args[0][r].Tensor().DType(), unknown)}
		})
	case "distinct":
		c.giveDependent(n, o, args, func(r, unknown int) []value.Value {
			x := args[0][r].Tensor()
			out := []value.Value{meta(x.DType(), unknown), meta(tensor.Int64, x.Shape()...), meta(tensor.Int64, unknown)}
			return out[:len(o.Schema().Returns)]
		})
	case "counts":
		c.giveDependent(n, o, args, func(r, unknown int) []value.Value {
			d := tensor.Int64
			if args[1][r].IsTensor() {
				d = tensor.Float64
			}
			return []value.Value{meta(d, unknown)}
		})
	case "masks":
		return c.maskedIndex(n, o, args)
	default:
		return false
	}
	return true
}

// maskedIndex captures an index by masks.
func (c *capture) maskedIndex(n *ir.Node, o *ops.Operator, args []run) bool {
	masks := false
	for _, v := range args[1][0].List().Items {
		masks = masks || isMask(v)
	}
	if !masks {
		return false
	}
	c.giveDependent(n, o, args, func(r, unknown int) []value.Value {
		given := args[1][r].List()
		replaced := value.NewList(given.Elem)
		for _, v := range given.Items {
			if !isMask(v) {
				replaced.Items = append(replaced.Items, v)
				continue
			}
			for range v.Tensor().Dim() {
				replaced.Items = append(replaced.Items, meta(tensor.Int64, unknown))
			}
		}
		out, err := runMeta(o, []value.Value{args[0][r], value.OfList(replaced)})
		if err != nil {
			c.refuse(err, r)
		}
		return out
	})
	return true
}

func isMask(v value.Value) bool {
	return v.IsTensor() && (v.Tensor().DType() == tensor.Bool || v.Tensor().DType() == tensor.Uint8)
}

func meta(d tensor.DType, shape ...int) value.Value {
	return value.OfTensor(source.Must(tensor.EmptyMeta(shape, d)))
}

// positions are as many vectors of positions as a tensor has dimensions.
func positions(dims, unknown int) value.Value {
	var ts []*tensor.Tensor
	for range dims {
		ts = append(ts, meta(tensor.Int64, unknown).Tensor())
	}
	return value.OfList(value.Tensors(ts))
}

// giveDependent adds a call whose results give describes for each run, with the number that stands for the unknown size.
func (c *capture) giveDependent(n *ir.Node, o *ops.Operator, args []run, give func(r, unknown int) []value.Value) {
	c.distinguish()
	call := c.callNode(o, args)
	p := c.unknownNumbers()
	c.unbacked(p)
	outs := make([]run, len(o.Schema().Returns))
	for i := range outs {
		outs[i] = make(run, c.runs)
	}
	for r := range c.runs {
		for i, v := range give(r, p[r]) {
			outs[i][r] = v
		}
	}
	made := c.bindResults(o, args, outs, call)
	for i, v := range n.Outputs() {
		c.env[v] = made.outs[i]
	}
}

// distinguish fails with a conflict where there is one run alone: sizes that are not known need several.
func (c *capture) distinguish() {
	if c.runs == 1 {
		source.Throw(needsRuns)
	}
}

// needsRuns asks for a capture with several runs.
var needsRuns = &conflict{err: source.Errorf(source.RuntimeError, source.Range{}, "sizes follow from elements here"), run: -1}
