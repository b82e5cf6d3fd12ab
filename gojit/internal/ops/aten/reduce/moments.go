package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// moments gives the variance of each row, or its root, and the mean, in the type of the elements.
func moments(t *tensor.Tensor, dims []int, correction int, keepdim, root bool) (spread, center *tensor.Tensor) {
	check(t.DType().IsFloating() || t.DType().IsComplex(), "std and var only support floating point and complex dtypes")
	if t.DType().IsComplex() {
		return complexMoments(t, dims, correction, keepdim, root)
	}
	spread, center = wideMoments(t, dims, correction, keepdim, root)
	return rounded(spread, t.DType()), rounded(center, t.DType())
}

// wideMoments gives them in float64. Of float32 and smaller types one pass adds up the distances from the row's first element and their
// squares: what cancels is far below the digits of the elements. Float64 takes a second pass, with the mean.
func wideMoments(t *tensor.Tensor, dims []int, correction int, keepdim, root bool) (spread, center *tensor.Tensor) {
	if t.DType() == tensor.Float64 || t.Numel() == 0 || t.OnDevice() {
		g := group(t, dims, keepdim)
		defer g.forget(t)
		n, degrees := momentDivisors(g.n, correction)
		center = divideBy(sumReducer.over(g, tensor.Float64, tensor.Float64), n)
		spread = divideBy(deviationReducer.over(g, tensor.Float64, tensor.Float64, center), degrees)
	} else {
		shift, total, squares := shiftedSums(t, dims, keepdim)
		n, degrees := momentDivisors(t.Numel()/total.Numel(), correction)
		center, spread = shiftedMean.run(nil, []operand{ofTensor(shift), ofTensor(total)}, n), shiftedVariance.run(nil, []operand{ofTensor(total), ofTensor(squares)}, n, degrees)
		shift.Release()
		total.Release()
		squares.Release()
	}
	if root {
		squareRoot.run(spread, []operand{ofTensor(spread)})
	}
	return spread, center
}

func momentDivisors(n, correction int) (all, degrees tensor.Scalar) {
	return tensor.Float(float64(n)), tensor.Float(math.Max(0, float64(n-correction)))
}

var (
	shiftedMean     = elementwise("mean", ops.SameType, func(b builder, x ...element) element { return b.Add(x[0], b.Div(x[1], x[2])) })
	shiftedVariance = elementwise("var", ops.SameType, func(b builder, x ...element) element {
		left := b.Sub(x[1], b.Div(b.Mul(x[0], x[0]), x[2]))
		return b.Div(b.Binary(kernel.Max, b.Number(left, 0), left), x[3])
	})
	// rowShiftedSums adds up the distances from a number, and their squares.
	rowShiftedSums = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		d := b.Sub(b.Input(in, computed), b.Input(computed, computed))
		b.Reduce(kernel.ReduceSum, d, computed)
		b.Reduce(kernel.ReduceSum, b.Mul(d, d), computed)
	}}
	columnShiftedSums = [2]*rowKernel{
		{build: func(b builder, in, computed tensor.DType) { buildShiftedSums(b, in, computed, 1) }},
		{build: func(b builder, in, computed tensor.DType) { buildShiftedSums(b, in, computed, shiftedRows) }},
	}
)

// shiftedRows is how many rows of columns are added at once: there are two totals, which are read and written, and a shift.
const shiftedRows = tensor.MaxOperands - 5

// buildShiftedSums adds the distances of some rows from a number of each column, and their squares, to totals.
func buildShiftedSums(b builder, in, computed tensor.DType, rows int) {
	total, squares, shift := b.Input(computed, computed), b.Input(computed, computed), b.Input(computed, computed)
	for range rows {
		d := b.Sub(b.Input(in, computed), shift)
		total, squares = b.Add(total, d), b.Fma(d, d, squares)
	}
	b.Output(total, computed)
	b.Output(squares, computed)
}

// shiftedSums gives the first element of each group, and the sums of the distances from it and of their squares, in float64.
func shiftedSums(t *tensor.Tensor, dims []int, keepdim bool) (shift, total, squares *tensor.Tensor) {
	reduced := reducedDims(t, dims)
	kept, trailing, ok := firstAndLast(t, reduced)
	if !ok {
		g := group(t, dims, keepdim)
		defer g.forget(t)
		return g.shiftedSums()
	}
	shape, n := reducedShape(t, reduced, keepdim), numelOf(t.Shape()[trailing:])
	samples := t.Numel() / n / kept
	first := must(must(t.View(samples, kept, n)).Select(0, 0))
	shift = firsts(must(first.Select(1, 0)), kept)
	shifts := perRow(shift, samples)
	totals, squared := shiftedRowSums(t, t.Numel()/n, n, shifts)
	defer forgetMade(shift, shifts)
	defer totals.Release()
	defer squared.Release()
	return shownAs(shift, shape...), shownAs(overSamples(totals, samples), shape...), shownAs(overSamples(squared, samples), shape...)
}

// firsts gives the first elements of groups, or what is finite beside them, in float64.
func firsts(t *tensor.Tensor, shape ...int) *tensor.Tensor {
	inOrder := asWork(t, tensor.Float64)
	defer forgetMade(t, inOrder)
	shown := must(inOrder.View(shape...))
	defer shown.Release()
	return finite.on(shown)
}

// shiftedRowSums gives the sums of the distances of each row's elements from a number, and of their squares.
func shiftedRowSums(t *tensor.Tensor, rows, n int, shift *tensor.Tensor) (total, squares *tensor.Tensor) {
	total, squares = empty([]int{rows}, tensor.Float64), empty([]int{rows}, tensor.Float64)
	rowShiftedSums.program(t.DType(), tensor.Float64).ParallelRows(rows, n,
		[]launch.Row{launch.SingleOf(total), launch.SingleOf(squares), launch.RowOf(t, n), launch.SingleOf(shift)}, nil)
	return total, squares
}

// shiftedSums does so for a tensor that is arranged for it.
func (g *grouped) shiftedSums() (shift, total, squares *tensor.Tensor) {
	if g.byColumns {
		shift, total, squares = g.columns.shiftedSums()
		return shownAs(shift, g.shape...), shownAs(total, g.shape...), shownAs(squares, g.shape...)
	}
	shift = firsts(must(must(g.rows.View(g.outer, g.n)).Select(1, 0)), g.shape...)
	total, squares = shiftedRowSums(g.rows, g.outer, g.n, shift)
	return shift, shownAs(total, g.shape...), shownAs(squares, g.shape...)
}

// shiftedSums does so for columns.
func (c columns) shiftedSums() (shift, total, squares *tensor.Tensor) {
	const wide = tensor.Float64
	shift = firsts(must(must(c.tensor.View(c.blocks, c.rows, c.n)).Select(1, 0)), c.blocks*c.n)
	total, squares = must(tensor.Zeros([]int{c.blocks * c.n}, wide)), must(tensor.Zeros([]int{c.blocks * c.n}, wide))
	one, several := columnShiftedSums[0].program(c.tensor.DType(), wide), columnShiftedSums[1].program(c.tensor.DType(), wide)
	c.each(columnsAtOnce, func(block, from, at, m int) {
		sums, squared, shifts, x := sameRow(total, at), sameRow(squares, at), sameRow(shift, at), c.rowsFrom(c.tensor, block, from)
		run := func(p *launch.Program, some, first, steps int) {
			if steps == 0 {
				return // a pointer past the last row would name another object to the collector
			}
			operands := []launch.Row{sums, squared, sums, squared, shifts}
			for i := range some {
				operands = append(operands, every(x.From(first+i), some))
			}
			p.Rows(steps, m, operands, nil)
		}
		run(several, shiftedRows, 0, c.rows/shiftedRows)
		run(one, 1, c.rows/shiftedRows*shiftedRows, c.rows%shiftedRows)
	})
	return shift, total, squares
}

func complexMoments(t *tensor.Tensor, dims []int, correction int, keepdim, root bool) (spread, center *tensor.Tensor) {
	re, _ := moments(t.RealPart(), dims, correction, keepdim, false)
	im, _ := moments(must(t.ImagPart()), dims, correction, keepdim, false)
	spread = add.on(re, im)
	if root {
		spread = squareRoot.on(spread)
	}
	return spread, mean(t, dims, keepdim, t.DType())
}
