package reduce

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Reduced is elementwise operators and the reduction of one of their results, which run as one kernel. The reduced values are combined
// in the order in which the reduction would combine them alone, and so have its bits.
type Reduced struct {
	f     *elementwise.Fused
	how   Reduction
	whole *elementwise.Part // its kernel gives the results of f and then the reduction
}

// Reduction says what is reduced.
type Reduction struct {
	By   kernel.ReduceOp
	Mean bool  // the sum is divided by the number of elements
	Dims []int // the last ones where a kernel does it; none means all
	Keep bool
}

// NewReduced returns a Fused, of which only the steps and types are known, with the reduction of the value by. The results are in the order of
// their numbers. It fails where there is no kernel.
func NewReduced(f *elementwise.Fused, results []int, by int, how Reduction) (*Reduced, error) {
	d := f.Dtype(by)
	if d != tensor.Float32 && d != tensor.Float64 || len(f.Steps) > elementwise.MostSteps || !slices.IsSorted(results) {
		return nil, elementwise.ErrNotFused
	}
	r := &Reduced{f: f, how: how}
	b := f.Builder()
	for i := range f.Steps {
		b.Step(i, slices.Contains(results, len(f.Inputs)+i))
	}
	b.B.Reduce(how.By, b.Value(by), d)
	b.Part.Gives = append(b.Part.Gives, by)
	if r.whole = b.Finish(); r.whole.Program == nil {
		return nil, elementwise.ErrNotFused
	}
	return r, nil
}

// Run computes the results, the reduction last. ok is false, and nothing has been done, where the operands are not rows that lie side by
// side.
func (r *Reduced) Run(inputs []*tensor.Tensor, numbers []tensor.Scalar, results []*tensor.Tensor) (ok bool) {
	shape, err := elementwise.BroadcastAll(inputs)
	if err != nil || r.f.Small(inputs, shape) != 0 {
		return false
	}
	from, ok := r.how.from(len(shape))
	if !ok {
		return false
	}
	outer, n := define.NumelOf(shape[:from]), define.NumelOf(shape[from:])
	if outer == 0 || n == 0 {
		return false
	}
	if inputs[0].OnDevice() {
		return r.runThere(inputs, numbers, results, shape, from)
	}
	var rows [elementwise.MostFused]launch.Row
	gives := len(r.whole.Gives)
	for i, v := range r.whole.Reads {
		if rows[gives+i], ok = rowsOf(inputs[v], shape, from, n); !ok {
			return false
		}
	}
	for i, v := range r.whole.Gives[:gives-1] {
		results[i] = define.Empty(shape, r.f.Dtype(v))
		rows[i] = launch.RowOf(results[i], n)
	}
	var room [8]int
	out := define.Empty(r.how.kept(room[:0], shape, from), r.f.Dtype(r.by()))
	rows[gives-1] = launch.SingleOf(out)
	var params [8]tensor.Scalar
	given := params[:0]
	for _, i := range r.whole.Params {
		given = append(given, numbers[i])
	}
	r.whole.Program.ParallelRows(outer, n, rows[:gives+len(r.whole.Reads)], given)
	if r.how.Mean {
		total := out
		out = DivideBy(total, tensor.Int(int64(n)))
		total.Release()
	}
	results[gives-1] = out
	return true
}

// kept appends the shape of what is left of a shape whose dimensions are reduced from one on.
func (h *Reduction) kept(room, shape []int, from int) []int {
	room = append(room, shape[:from]...)
	if h.Keep {
		for range len(shape) - from {
			room = append(room, 1)
		}
	}
	return room
}

// runThere is Run on a device, which reduces the last dimension of matrices.
func (r *Reduced) runThere(inputs []*tensor.Tensor, numbers []tensor.Scalar, results []*tensor.Tensor, shape []int, from int) bool {
	on, last := inputs[0].Device(), len(r.whole.Gives)-1
	outer, n := define.NumelOf(shape[:from]), define.NumelOf(shape[from:])
	var operands, made []*tensor.Tensor
	for i, v := range r.whole.Gives {
		own, rows := shape, []int{outer, n}
		if i == last {
			own, rows = r.how.kept(nil, shape, from), []int{outer, 1}
		}
		t, err := tensor.EmptyOn(on, own, r.f.Dtype(v))
		if err != nil {
			return false
		}
		asRows, err := t.View(rows...)
		if err != nil {
			return false
		}
		made, operands = append(made, t), append(operands, asRows)
	}
	for _, v := range r.whole.Reads {
		t, ok := matrixOf(inputs[v], shape, from)
		if !ok {
			return false
		}
		operands = append(operands, t)
	}
	var params []tensor.Scalar
	for _, i := range r.whole.Params {
		params = append(params, numbers[i])
	}
	if elementwise.RunThere(r.whole.Program, operands, params) != nil {
		return false // what the operators one by one fail with, too
	}
	if r.how.Mean {
		total := made[last]
		if made[last] = tryDivideBy(total, n); made[last] == nil {
			return false
		}
		total.Release()
	}
	copy(results, made)
	return true
}

// tryDivideBy divides by a number of elements; it returns nil where the device has no memory for that.
func tryDivideBy(t *tensor.Tensor, n int) (quotient *tensor.Tensor) {
	var err error
	defer source.Catch(&err)
	return DivideBy(t, tensor.Int(int64(n)))
}

// matrixOf returns an operand as a matrix that broadcasts to the rows and columns into which a shape is cut before a dimension.
func matrixOf(t *tensor.Tensor, shape []int, from int) (matrix *tensor.Tensor, ok bool) {
	rows, columns := 1, 1
	lead := len(shape) - t.Dim()
	for d, n := range t.Shape() {
		if lead+d < from {
			rows *= n
		} else {
			columns *= n
		}
	}
	outer, n := define.NumelOf(shape[:from]), define.NumelOf(shape[from:])
	if !t.IsContiguous() || rows != 1 && rows != outer || columns != 1 && columns != n {
		return nil, false
	}
	matrix, err := t.View(rows, columns)
	return matrix, err == nil
}

// by is the value that is reduced.
func (r *Reduced) by() int { return r.whole.Gives[len(r.whole.Gives)-1] }

// from returns the first of the dimensions that are reduced, of so many; ok is false where they are not the last ones.
func (h *Reduction) from(dims int) (from int, ok bool) {
	if len(h.Dims) == 0 || dims == 0 {
		return 0, len(h.Dims) == 0
	}
	reduced := uint64(0)
	for _, d := range h.Dims {
		if d < 0 {
			d += dims
		}
		if d < 0 || d >= min(dims, 64) || reduced>>d&1 != 0 {
			return 0, false
		}
		reduced |= 1 << d
	}
	from = dims - len(h.Dims)
	return from, reduced == (1<<len(h.Dims)-1)<<from
}

// rowsOf returns an operand of rows of n elements, into which a shape is cut before a dimension: rows of its own, one row for all, a number
// for each row or for all.
func rowsOf(t *tensor.Tensor, shape []int, from, n int) (row launch.Row, ok bool) {
	switch {
	case t.Numel() == 1:
		row = launch.SingleOf(t)
		row.Step = 0
		return row, true
	case !t.IsContiguous():
		return row, false
	case tensor.SameShape(t.Shape(), shape):
		return launch.RowOf(t, n), true
	}
	lead := len(shape) - t.Dim()
	size := func(d int) int {
		if d < lead {
			return 1
		}
		return t.Size(d - lead)
	}
	shared, single := true, true
	for d := range shape {
		if d < from {
			shared = shared && size(d) == 1
			single = single && size(d) == shape[d]
		} else {
			shared = shared && size(d) == shape[d]
			single = single && size(d) == 1
		}
	}
	switch {
	case shared:
		row = launch.RowOf(t, n)
		row.Step = 0
		return row, true
	case single:
		return launch.SingleOf(t), true
	}
	return row, false
}
