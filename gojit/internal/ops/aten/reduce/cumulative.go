package reduce

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// RunningExtreme finds the largest or smallest element so far and its last index. A NaN is both.
type RunningExtreme struct {
	name     string
	smallest bool
	programs elementwise.TypePrograms
}

var RunningMaximum, RunningMinimum = &RunningExtreme{name: "cummax"}, &RunningExtreme{name: "cummin", smallest: true}

// ExtremeFamily are the largest and smallest elements so far.
var ExtremeFamily = []define.Definition{RunningMaximum.definition(), RunningMinimum.definition()}

func (q *RunningExtreme) definition() define.Definition {
	return define.Operator(q.name, func(c define.Call) { c.Give(define.Pair(q.Along(c.Tensor(0), c.Int(1)))...) }).
		With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { ChosenGrad(c, c.Int(1), true) })})
}

// Along gives values and indices along a dimension.
func (q *RunningExtreme) Along(t *tensor.Tensor, dim int) (values, indices *tensor.Tensor) {
	elementwise.OrderedOnly(q.name, t.DType())
	if t.DType().IsQuantized() {
		elementwise.NotImplemented(q.name+"_helper_cpu", t.DType())
	}
	dim = define.WrapDim(dim, t)
	computed := orderedAs(t.DType())
	if t.Numel() == 0 || t.Dim() == 0 {
		return source.Must(t.Clone(tensor.ContiguousFormat)), source.Must(tensor.Zeros(t.Shape(), tensor.Int64))
	}
	if t.OnDevice() {
		return q.onDevice(t, dim)
	}
	if t.DType() == tensor.Bool { // their bytes have their order
		values, indices = q.Along(source.Must(t.ViewDType(tensor.Uint8)), dim)
		return source.Must(values.ViewDType(tensor.Bool)), indices
	}
	if c, ok := columnsOf(t, dim, dim+1); ok {
		return q.columns(c, computed)
	}
	last := t.Dim() - 1
	work := elementwise.Contiguous(elementwise.To(source.Must(t.Transpose(dim, last)), computed))
	values, indices = define.Empty(work.Shape(), computed), define.Empty(work.Shape(), tensor.Int64)
	n := t.Size(dim)
	switch computed {
	case tensor.Float32:
		extremesSoFar[float32](values, indices, work, n, q.smallest)
	case tensor.Float64:
		extremesSoFar[float64](values, indices, work, n, q.smallest)
	case tensor.Int64:
		extremesSoFar[int64](values, indices, work, n, q.smallest)
	case tensor.Int32:
		extremesSoFar[int32](values, indices, work, n, q.smallest)
	case tensor.Int16:
		extremesSoFar[int16](values, indices, work, n, q.smallest)
	case tensor.Int8:
		extremesSoFar[int8](values, indices, work, n, q.smallest)
	default:
		extremesSoFar[uint8](values, indices, work, n, q.smallest)
	}
	back := func(x *tensor.Tensor) *tensor.Tensor {
		return elementwise.Contiguous(source.Must(x.Transpose(dim, last)))
	}
	return elementwise.To(back(values), t.DType()), back(indices)
}

func extremesSoFar[T interface {
	tensor.Element
	int8 | int16 | int32 | int64 | uint8 | float32 | float64
}](values, indices, t *tensor.Tensor, n int, smallest bool) {
	src, dst, at := tensor.Data[T](t), tensor.Data[T](values), tensor.Data[int64](indices)
	parallel.For(len(src)/n, define.RowGrain/n+1, func(lo, hi int) {
		for row := lo * n; row < hi*n; row += n {
			extremeSoFar(dst[row:row+n], at[row:row+n], src[row:row+n], smallest)
		}
	})
}

// extremeSoFar goes through one row.
func extremeSoFar[T int8 | int16 | int32 | int64 | uint8 | float32 | float64](dst []T, at []int64, src []T, smallest bool) {
	best, place := src[0], 0
	for lo := 0; lo < len(src); lo += define.LookEvery {
		hi := define.BlockEnd(lo, len(src))
		if smallest {
			best, place = leastSoFar(dst[lo:hi], at[lo:hi], src[lo:hi], best, place, lo)
		} else {
			best, place = greatestSoFar(dst[lo:hi], at[lo:hi], src[lo:hi], best, place, lo)
		}
	}
}

// leastSoFar continues a row with the elements from a place on, four in a round: how long shorter rounds take depends on where the code lies.
//
//go:noinline
func leastSoFar[T int8 | int16 | int32 | int64 | uint8 | float32 | float64](dst []T, at []int64, src []T, best T, place, from int) (T, int) {
	dst, at = dst[:len(src)], at[:len(src)]
	i := 0
	for ; i+4 <= len(src); i += 4 {
		some, bests, places := src[i:i+4], dst[i:i+4], at[i:i+4]
		if isAtMost(some[0], best) {
			best, place = some[0], from+i
		}
		bests[0], places[0] = best, int64(place)
		if isAtMost(some[1], best) {
			best, place = some[1], from+i+1
		}
		bests[1], places[1] = best, int64(place)
		if isAtMost(some[2], best) {
			best, place = some[2], from+i+2
		}
		bests[2], places[2] = best, int64(place)
		if isAtMost(some[3], best) {
			best, place = some[3], from+i+3
		}
		bests[3], places[3] = best, int64(place)
	}
	for ; i < len(src); i++ {
		if isAtMost(src[i], best) {
			best, place = src[i], from+i
		}
		dst[i], at[i] = best, int64(place)
	}
	return best, place
}

// greatestSoFar is leastSoFar for the greatest.
//
//go:noinline
func greatestSoFar[T int8 | int16 | int32 | int64 | uint8 | float32 | float64](dst []T, at []int64, src []T, best T, place, from int) (T, int) {
	dst, at = dst[:len(src)], at[:len(src)]
	i := 0
	for ; i+4 <= len(src); i += 4 {
		some, bests, places := src[i:i+4], dst[i:i+4], at[i:i+4]
		if isAtLeast(some[0], best) {
			best, place = some[0], from+i
		}
		bests[0], places[0] = best, int64(place)
		if isAtLeast(some[1], best) {
			best, place = some[1], from+i+1
		}
		bests[1], places[1] = best, int64(place)
		if isAtLeast(some[2], best) {
			best, place = some[2], from+i+2
		}
		bests[2], places[2] = best, int64(place)
		if isAtLeast(some[3], best) {
			best, place = some[3], from+i+3
		}
		bests[3], places[3] = best, int64(place)
	}
	for ; i < len(src); i++ {
		if isAtLeast(src[i], best) {
			best, place = src[i], from+i
		}
		dst[i], at[i] = best, int64(place)
	}
	return best, place
}

// isAtMost reports whether an element becomes the least so far. What is neither worse nor better than the best is NaN, or comes behind one.
func isAtMost[T int8 | int16 | int32 | int64 | uint8 | float32 | float64](v, best T) bool {
	return !(v > best) && (v <= best || v != v)
}

// isAtLeast reports whether it becomes the greatest so far.
func isAtLeast[T int8 | int16 | int32 | int64 | uint8 | float32 | float64](v, best T) bool {
	return !(v < best) && (v >= best || v != v)
}

// program returns the kernel for one row of many columns, which has the extremes so far and the number of the row.
func (q *RunningExtreme) program(d, computed tensor.DType) *launch.Program {
	return q.programs.Of(d, func(b *kernel.Builder) {
		best, place := b.Input(computed, computed), b.Input(tensor.Int64, tensor.Int64)
		x, row := b.Input(d, computed), b.Input(tensor.Int64, tensor.Int64)
		compare := kernel.Ge
		if q.smallest {
			compare = kernel.Le
		}
		better := b.Binary(compare, x, best)
		if computed.IsFloating() {
			better = b.Binary(kernel.Or, better, b.Unary(kernel.IsNaN, x))
		}
		best, place = b.Select(better, x, best), b.Select(better, row, place)
		b.Output(best, computed)
		b.Output(place, tensor.Int64)
		b.Output(best, d)
		b.Output(place, tensor.Int64)
	})
}

// columns goes through the rows of each block.
func (q *RunningExtreme) columns(c columns, computed tensor.DType) (values, indices *tensor.Tensor) {
	d, shape := c.tensor.DType(), c.tensor.Shape()
	values, indices = define.Empty(shape, d), define.Empty(shape, tensor.Int64)
	op := kernel.ReduceMax
	if q.smallest {
		op = kernel.ReduceMin
	}
	best, place := source.Must(tensor.Full([]int{c.blocks * c.n}, op.Identity(computed), computed)), source.Must(tensor.Zeros([]int{c.blocks * c.n}, tensor.Int64))
	p, numbers := q.program(d, computed), elementwise.Sequence(c.rows)
	c.each(ColumnsAtOnce, func(block, from, at, m int) {
		so, where := SameRow(best, at), SameRow(place, at)
		p.Rows(c.rows, m, []launch.Row{so, where, c.rowsFrom(values, block, from), c.rowsFrom(indices, block, from),
			so, where, c.rowsFrom(c.tensor, block, from), launch.SingleOf(numbers)}, nil)
	})
	return values, indices
}
