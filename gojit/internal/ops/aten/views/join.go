package views

import (
	"math/big"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func cat(c define.Call) *tensor.Tensor {
	ts := c.Tensors(0)
	if x := define.FirstQuantized(c.Args); x != nil {
		return JoinQuantized(ts, c.Int(1), elementwise.QuantizerOf(ts[0]), false)
	}
	return elementwise.Concat(ts, c.Int(1))
}

var JoinFamily = []define.Definition{
	define.Giving("combinations", combinations).Checked(func(c define.Call) {
		source.Check(c.Tensor(0).Dim() == 1, "Expect a 1D vector, but got shape %s", define.ShapeText(c.Tensor(0).Shape()))
		source.Check(c.Int(1) >= 0, "Expect a non-negative number, but got %d", c.Int(1))
	}),
	define.Giving("cartesian_prod", func(c define.Call) *tensor.Tensor {
		ts := c.Tensors(0)
		if len(ts) == 1 {
			return ts[0]
		}
		grids := elementwise.Meshgrid(ts, false)
		for i := range grids {
			grids[i] = source.Must(grids[i].Reshape(-1))
		}
		return elementwise.Stack(grids, 1)
	}).Checked(func(c define.Call) {
		ts := c.Tensors(0)
		source.Check(len(ts) > 0, "cartesian_prod: expected a non-empty list of Tensors")
		for _, t := range ts {
			source.Check(t.Dim() == 1, "Expect a 1D vector, but got shape %s", define.ShapeText(t.Shape()))
			source.Check(t.DType() == ts[0].DType(), "meshgrid expects all tensors to have the same dtype")
		}
	}).Quantized(define.SameScale),
	define.Giving("pad_sequence", elementwise.PadSequences),
	define.Giving("cat", cat).With(ops.Def{Groups: ops.Groups, Aliases: []string{"concat", "concatenate"}, Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.GiveParts(0, g.Grad(0), g.Arg(1)) }, Tags: ops.Grouped | ops.AsWritten}).Direct(indexing.JoinedOut).OutApart(),
	define.Giving("stack", func(c define.Call) *tensor.Tensor { return elementwise.Stack(c.Tensors(0), c.Int(1)) }).With(ops.Def{Parts: define.Composing(stackParts), Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.GiveRows(0, g.Grad(0), g.Arg(1)) }, Tags: ops.Grouped | ops.AsWritten}).Direct(indexing.StackedOut).Quantized(define.SameScale),
	define.Giving("_stack", func(c define.Call) *tensor.Tensor { return elementwise.Stack(c.Tensors(0), c.Int(1)) }).With(ops.Def{Decomp: define.Emitting("stack")}),
	define.Giving("hstack", func(c define.Call) *tensor.Tensor {
		ts := elementwise.AtLeastAll(c.Tensors(0), 1)
		source.Check(len(ts) > 0, "hstack expects a non-empty TensorList")
		return elementwise.Concat(ts, min(1, ts[0].Dim()-1))
	}).Quantized(define.SameScale),
	define.Giving("vstack", elementwise.Vstack).With(ops.Def{Aliases: []string{"row_stack"}}).Quantized(define.SameScale),
	define.Giving("dstack", func(c define.Call) *tensor.Tensor {
		source.Check(len(c.Tensors(0)) > 0, "dstack expects a non-empty TensorList")
		return elementwise.Concat(elementwise.AtLeastAll(c.Tensors(0), 3), 2)
	}).Quantized(define.SameScale),
	define.Giving("column_stack", func(c define.Call) *tensor.Tensor {
		ts := c.Tensors(0)
		for i, t := range ts {
			if t.Dim() <= 1 {
				ts[i] = source.Must(t.Reshape(t.Numel(), 1))
			}
		}
		return elementwise.Concat(ts, 1)
	}).Quantized(define.SameScale),
	define.Giving("block_diag", func(c define.Call) *tensor.Tensor { return elementwise.BlockDiagonal(c.Tensors(0)) }),
	define.Deprecated("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
		define.Operator("meshgrid", func(c define.Call) { c.GiveList(elementwise.Meshgrid(c.Tensors(0), false)) })),
	define.Operator("meshgrid.indexing", func(c define.Call) {
		source.Check(c.Str(1) == "xy" || c.Str(1) == "ij", "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: %s", c.Str(1))
		c.GiveList(elementwise.Meshgrid(c.Tensors(0), c.Str(1) == "xy"))
	}),
}

func combinations(c define.Call) *tensor.Tensor {
	t, r := c.Tensor(0), c.Int(1)
	if r == 0 {
		return define.Empty([]int{0}, t.DType())
	}
	count := big.NewInt(0)
	if n := t.Size(0); c.Bool(2) && n > 0 {
		count = elementwise.Binomial(PaddedSize(n, 0, r-1), r)
	} else if r <= n {
		count = elementwise.Binomial(n, r)
	}
	source.Check(count.IsInt64() && count.Int64() < 1<<60, "Storage size calculation overflowed with sizes=[%s, %d]", count, r)
	if define.Room(16, int(count.Int64()), r) == 0 {
		return define.Empty([]int{0, r}, t.DType())
	}
	var parts []*tensor.Tensor
	for _, column := range elementwise.Choices(t.Size(0), r, c.Bool(2)) {
		parts = append(parts, indexing.IndexSelect(t, 0, source.Must(tensor.FromSlice(column, len(column)))))
	}
	return elementwise.Stack(parts, 1)
}

// JoinQuantized joins quantized tensors of one type under q.
func JoinQuantized(parts []*tensor.Tensor, dim int, q *tensor.Quantizer, rectified bool) *tensor.Tensor {
	d := parts[0].DType()
	small := d != tensor.QInt32
	joined := make([]*tensor.Tensor, len(parts))
	for i, t := range parts {
		source.Check(t.DType() == d && !elementwise.QuantizerOf(t).PerChannel(), "All dtypes must be the same, and quantized per tensor.")
		if small {
			joined[i] = elementwise.IntegersUnder(t, q, rectified)
		} else {
			joined[i] = elementwise.Dequantized(t)
		}
	}
	out := elementwise.Concat(slices.Clone(joined), dim)
	for _, t := range joined {
		t.Release()
	}
	if small {
		return elementwise.UnderQuantizer(out, q)
	}
	if rectified {
		out = elementwise.Relu.On(out)
	}
	return elementwise.Quantized(out, q, d)
}
