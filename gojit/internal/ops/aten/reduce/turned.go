package reduce

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A row of a few elements is combined in the lanes of one vector, most of which wait. Where the order of the elements does not matter, many such rows are turned,
// so that their elements lie side by side, and combined as columns.
const (
	fewTurned    = 64      // rows that are worth it
	turnedAtOnce = 1 << 16 // rows, which are turned in one piece of memory
)

// turns reports whether rows of so many elements are combined faster as columns: few of them fill no vector, and those from two vectors of float32 on fill the
// columns of a transposition. most is how long rows may be.
func (r *reduction) turns(most int) bool {
	size := r.rows.DType().Size()
	return r.outer >= fewTurned && !r.rows.OnDevice() && !r.rows.IsHollow() && (size == 4 || size == 8) && r.n > 1 && r.n <= most && (r.n < 10 || r.n >= MinColumns)
}

// Rows up to these lengths are turned for their extreme element, and for its place too.
const (
	longestTurned      = 40
	longestTurnedPlace = 64
)

// combinedTurned gives as many tensors as there are types, which f makes of turned rows.
func (r *reduction) combinedTurned(f func(c columns) []*tensor.Tensor, types ...tensor.DType) []*tensor.Tensor {
	rows := source.Must(r.rows.View(r.outer, r.n))
	var out []*tensor.Tensor
	if r.outer > turnedAtOnce {
		for _, d := range types {
			out = append(out, define.Empty(r.shape, d))
		}
	}
	for lo := 0; lo < r.outer; lo += turnedAtOnce {
		n := min(turnedAtOnce, r.outer-lo)
		part := source.Must(rows.Slice(0, lo, lo+n, 1))
		turned := define.Empty([]int{r.n, n}, rows.DType())
		source.Throw(tensor.Copy(turned, source.Must(part.T())))
		made := f(columns{turned, 1, r.n, n})
		turned.Release()
		if out == nil {
			for i := range made {
				made[i] = define.ShownAs(made[i], r.shape...)
			}
			return made
		}
		for i, t := range made {
			size := t.DType().Size()
			copy(define.BytesOf(out[i])[lo*size:], define.BytesOf(t))
			t.Release()
		}
	}
	return out
}
