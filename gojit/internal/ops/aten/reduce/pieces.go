package reduce

import (
	"math"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// An index needs the extreme element of its row before, and a sum of exponentials the largest one. Both steps are done for some rows, or
// for a piece of a long row, that stay in the cache from the first step to the second: memory is read once.

const (
	// pieceBytes stay in the cache of a processor.
	pieceBytes = 1 << 17
	// pieceLength is how many elements of a long row are handled at once.
	pieceLength = kernel.ReduceBlock
)

// twoSteps are the programs of both steps and where their results go: first has one for each row, or for each piece of the rows, and second
// takes it.
type twoSteps struct {
	reduction
	each          int // pieces of a row
	first, second *launch.Program
	early, late   *tensor.Tensor
	finite        bool // the second step takes zero in place of infinity
}

// run does both steps.
func (s twoSteps) run() {
	if s.each == 1 && s.outer*s.n <= define.RowGrain {
		s.rowsAt(0, s.outer, s.n, launch.RowOf(s.rows, s.n))
		return
	}
	s.runInParallel()
}

func (s twoSteps) runInParallel() {
	size := s.rows.DType().Size()
	if s.each > 1 {
		parallel.For(s.outer*s.each, 2, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				from := i % s.each * pieceLength
				s.rowsAt(i, 1, min(pieceLength, s.n-from), launch.Row{Ptr: unsafe.Add(s.rows.DataPtr(), (i/s.each*s.n+from)*size)})
			}
		})
		return
	}
	some := max(1, pieceBytes/max(1, s.n*size))
	parallel.For(parallel.NumChunks(s.outer, some), define.RowGrain*2/max(1, some*s.n)+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s.rowsAt(i*some, min(some, s.outer-i*some), s.n, launch.RowOf(s.rows, s.n).From(i*some))
		}
	})
}

// rowsAt does both steps for some rows of n elements, of which x is the first, with results from number at on.
func (s *twoSteps) rowsAt(at, rows, n int, x launch.Row) {
	early := launch.SingleOf(s.early).From(at)
	operands := [3]launch.Row{early, x, early}
	s.first.Rows(rows, n, operands[:2], nil)
	if s.finite && s.early.DType() == tensor.Float64 {
		clearInfinite(tensor.Data[float64](s.early)[at : at+rows])
	} else if s.finite {
		clearInfinite(tensor.Data[float32](s.early)[at : at+rows])
	}
	operands[0] = launch.SingleOf(s.late).From(at)
	s.second.Rows(rows, n, operands[:], nil)
}

// steps prepares two steps over the rows of r.
func (r reduction) steps(first, second *Reducer, computed, result tensor.DType) twoSteps {
	s := twoSteps{reduction: r, each: 1}
	shape := r.shape
	if r.n >= 2*pieceLength {
		s.each = parallel.NumChunks(r.n, pieceLength)
		shape = []int{r.outer * s.each}
	}
	s.first, s.second = first.program(r.rows.DType(), computed, computed, 0), second.program(r.rows.DType(), computed, result, 1)
	s.early, s.late = define.Empty(shape, computed), define.Empty(shape, result)
	return s
}

// extremesOfRows gives the largest or smallest element of each row and its index.
func extremesOfRows(r reduction, computed tensor.DType, smallest bool) (values, indices *tensor.Tensor) {
	place := placeReducer
	if computed.Size() <= 4 {
		place = shortPlaceReducer
	}
	s := r.steps(extremeReducer(smallest), place, computed, tensor.Int64)
	s.run()
	if s.each == 1 {
		return s.early, s.late
	}
	inPieces := tensor.Data[int64](s.late)
	values, pieces := extremesOfRows(reduction{rows: s.early, n: s.each, outer: r.outer, shape: r.shape}, computed, smallest)
	indices = define.Empty(r.shape, tensor.Int64)
	for row, i := range tensor.Data[int64](pieces) {
		tensor.Data[int64](indices)[row] = i*pieceLength + inPieces[row*s.each+int(i)]
	}
	return values, indices
}

// logSumExpOfRows gives the logarithm of the sum of exponentials of each row: that of a long row from those of its pieces.
func logSumExpOfRows(r reduction, computed tensor.DType) *tensor.Tensor {
	s := r.steps(maxReducer, exponentialReducer, computed, computed)
	s.finite = true
	s.run()
	result := elementwise.Add.On(elementwise.Logarithm.On(s.late), s.early)
	if s.each == 1 {
		return result
	}
	return logSumExpOfRows(reduction{rows: result, n: s.each, outer: r.outer, shape: r.shape}, computed)
}

// clearInfinite replaces infinities by zero.
func clearInfinite[T float32 | float64](data []T) {
	for i, v := range data {
		if math.IsInf(float64(v), 0) {
			data[i] = 0
		}
	}
}
