package reduce

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Moments gives the variance of each row, or its root, and the mean, in the type of the elements.
func Moments(t *tensor.Tensor, dims []int, correction int, keepdim, root bool) (spread, center *tensor.Tensor) {
	source.Check(t.DType().IsFloating() || t.DType().IsComplex(), "std and var only support floating point and complex dtypes")
	if t.DType().IsComplex() {
		return complexMoments(t, dims, correction, keepdim, root)
	}
	spread, center = WideMoments(t, dims, correction, keepdim, root)
	return elementwise.OwnTo(spread, t.DType()), elementwise.OwnTo(center, t.DType())
}

// WideMoments gives them in float64. Of float32 and smaller types one pass adds up the distances from the row's first element and their
// squares: what cancels is far below the digits of the elements. Float64 takes a second pass, with the mean.
func WideMoments(t *tensor.Tensor, dims []int, correction int, keepdim, root bool) (spread, center *tensor.Tensor) {
	if t.DType() == tensor.Float64 || t.Numel() == 0 || t.OnDevice() {
		g := group(t, dims, keepdim)
		defer g.forget(t)
		n, degrees := momentDivisors(g.n, correction)
		center = DivideBy(sumReducer.over(g, tensor.Float64, tensor.Float64), n)
		spread = DivideBy(deviationReducer.over(g, tensor.Float64, tensor.Float64, center), degrees)
	} else {
		shift, total, squares := shiftedSums(t, dims, keepdim)
		n, degrees := momentDivisors(t.Numel()/total.Numel(), correction)
		center, spread = shiftedMean.Run(nil, []elementwise.Operand{elementwise.OfTensor(shift), elementwise.OfTensor(total)}, n), shiftedVariance.Run(nil, []elementwise.Operand{elementwise.OfTensor(total), elementwise.OfTensor(squares)}, n, degrees)
		shift.Release()
		total.Release()
		squares.Release()
	}
	if root {
		elementwise.SquareRoot.Run(spread, []elementwise.Operand{elementwise.OfTensor(spread)})
	}
	return spread, center
}

func momentDivisors(n, correction int) (all, degrees tensor.Scalar) {
	return tensor.Float(float64(n)), tensor.Float(math.Max(0, float64(n-correction)))
}

var (
	shiftedMean = elementwise.New("mean", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Add(x[0], b.Div(x[1], x[2]))
	})
	shiftedVariance = elementwise.New("var", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		left := b.Sub(x[1], b.Div(b.Mul(x[0], x[0]), x[2]))
		return b.Div(b.Binary(kernel.Max, b.Number(left, 0), left), x[3])
	})
	// rowShiftedSums adds up the distances from a number, and their squares.
	rowShiftedSums = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		d := b.Sub(b.Input(in, computed), b.Input(computed, computed))
		b.Reduce(kernel.ReduceSum, d, computed)
		b.Reduce(kernel.ReduceSum, b.Mul(d, d), computed)
	}}
	columnShiftedSums = [2]*RowKernel{
		{Build: func(b elementwise.Builder, in, computed tensor.DType) { buildShiftedSums(b, in, computed, 1) }},
		{Build: func(b elementwise.Builder, in, computed tensor.DType) { buildShiftedSums(b, in, computed, shiftedRows) }},
	}
)

// shiftedRows is how many rows of columns are added at once: there are two totals, which are read and written, and a shift.
const shiftedRows = tensor.MaxOperands - 5

// buildShiftedSums adds the distances of some rows from a number of each column, and their squares, to totals.
func buildShiftedSums(b elementwise.Builder, in, computed tensor.DType, rows int) {
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
	reduced := ReducedDims(t, dims)
	kept, trailing, ok := firstAndLast(t, reduced)
	if !ok {
		g := group(t, dims, keepdim)
		defer g.forget(t)
		return g.shiftedSums()
	}
	shape, n := reducedShape(t, reduced, keepdim), define.NumelOf(t.Shape()[trailing:])
	samples := t.Numel() / n / kept
	first := source.Must(source.Must(t.View(samples, kept, n)).Select(0, 0))
	shift = firsts(source.Must(first.Select(1, 0)), kept)
	shifts := PerRow(shift, samples)
	totals, squared := shiftedRowSums(t, t.Numel()/n, n, shifts)
	defer define.ForgetMade(shift, shifts)
	defer totals.Release()
	defer squared.Release()
	return define.ShownAs(shift, shape...), define.ShownAs(OverSamples(totals, samples), shape...), define.ShownAs(OverSamples(squared, samples), shape...)
}

// firsts gives the first elements of groups, or what is finite beside them, in float64.
func firsts(t *tensor.Tensor, shape ...int) *tensor.Tensor {
	inOrder := elementwise.AsWork(t, tensor.Float64)
	defer define.ForgetMade(t, inOrder)
	shown := source.Must(inOrder.View(shape...))
	defer shown.Release()
	return finite.On(shown)
}

// shiftedRowSums gives the sums of the distances of each row's elements from a number, and of their squares.
func shiftedRowSums(t *tensor.Tensor, rows, n int, shift *tensor.Tensor) (total, squares *tensor.Tensor) {
	total, squares = define.Empty([]int{rows}, tensor.Float64), define.Empty([]int{rows}, tensor.Float64)
	rowShiftedSums.Program(t.DType(), tensor.Float64).ParallelRows(rows, n,
		[]launch.Row{launch.SingleOf(total), launch.SingleOf(squares), launch.RowOf(t, n), launch.SingleOf(shift)}, nil)
	return total, squares
}

// shiftedSums does so for a tensor that is arranged for it.
func (g *grouped) shiftedSums() (shift, total, squares *tensor.Tensor) {
	if g.byColumns {
		shift, total, squares = g.columns.shiftedSums()
		return define.ShownAs(shift, g.shape...), define.ShownAs(total, g.shape...), define.ShownAs(squares, g.shape...)
	}
	shift = firsts(source.Must(source.Must(g.rows.View(g.outer, g.n)).Select(1, 0)), g.shape...)
	total, squares = shiftedRowSums(g.rows, g.outer, g.n, shift)
	return shift, define.ShownAs(total, g.shape...), define.ShownAs(squares, g.shape...)
}

// shiftedSums does so for columns.
func (c columns) shiftedSums() (shift, total, squares *tensor.Tensor) {
	const wide = tensor.Float64
	shift = firsts(source.Must(source.Must(c.tensor.View(c.blocks, c.rows, c.n)).Select(1, 0)), c.blocks*c.n)
	total, squares = source.Must(tensor.Zeros([]int{c.blocks * c.n}, wide)), source.Must(tensor.Zeros([]int{c.blocks * c.n}, wide))
	one, several := columnShiftedSums[0].Program(c.tensor.DType(), wide), columnShiftedSums[1].Program(c.tensor.DType(), wide)
	c.each(ColumnsAtOnce, func(block, from, at, m int) {
		sums, squared, shifts, x := SameRow(total, at), SameRow(squares, at), SameRow(shift, at), c.rowsFrom(c.tensor, block, from)
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
	re, _ := Moments(t.RealPart(), dims, correction, keepdim, false)
	im, _ := Moments(source.Must(t.ImagPart()), dims, correction, keepdim, false)
	spread = elementwise.Add.On(re, im)
	if root {
		spread = elementwise.SquareRoot.On(spread)
	}
	return spread, Mean(t, dims, keepdim, t.DType())
}

// PerRow repeats numbers of channels for each sample.
func PerRow(ofChannels *tensor.Tensor, samples int) *tensor.Tensor {
	row := source.Must(ofChannels.View(1, -1))
	defer row.Release()
	rows := source.Must(row.Expand(samples, ofChannels.Numel()))
	repeated := elementwise.Contiguous(rows)
	if repeated != rows {
		rows.Release()
	}
	return define.ShownAs(repeated, -1)
}

// OverSamples adds up numbers of the channels of each sample.
func OverSamples(ofRows *tensor.Tensor, samples int) *tensor.Tensor {
	bySample := source.Must(ofRows.View(samples, -1))
	defer bySample.Release()
	return Sum(bySample, []int{0}, false, ofRows.DType())
}
