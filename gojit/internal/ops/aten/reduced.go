package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Reduced is elementwise operators and the reduction of one of their results, which run as one kernel. The reduced values are combined
// in the order in which the reduction would combine them alone, and so have its bits.
type Reduced struct {
	f     *Fused
	how   Reduction
	whole *part // its kernel gives the results of f and then the reduction
}

// Reduction says what is reduced.
type Reduction struct {
	By   kernel.ReduceOp
	Mean bool  // the sum is divided by the number of elements
	Dims []int // the last ones where a kernel does it; none means all
	Keep bool
}

// Reduces returns a Fused, of which only the steps and types are known, with the reduction of the value by. The results are in the order of
// their numbers. It fails where there is no kernel.
func (f *Fused) Reduces(results []int, by int, how Reduction) (*Reduced, error) {
	d := f.dtype(by)
	if d != tensor.Float32 && d != tensor.Float64 || len(f.steps) > MostSteps || !slices.IsSorted(results) {
		return nil, errNotFused
	}
	r := &Reduced{f: f, how: how}
	b := f.builder()
	for i := range f.steps {
		b.step(i, slices.Contains(results, len(f.inputs)+i))
	}
	b.b.Reduce(how.By, b.value(by), d)
	b.part.gives = append(b.part.gives, by)
	if r.whole = b.finish(); r.whole.program == nil {
		return nil, errNotFused
	}
	return r, nil
}

// Run computes the results, the reduction last. ok is false, and nothing has been done, where the operands are not rows that lie side by
// side.
func (r *Reduced) Run(inputs []*tensor.Tensor, numbers []tensor.Scalar, results []*tensor.Tensor) (ok bool) {
	shape, err := BroadcastAll(inputs)
	if err != nil || r.f.small(inputs, shape) != 0 {
		return false
	}
	from, ok := r.how.from(len(shape))
	if !ok {
		return false
	}
	outer, n := numelOf(shape[:from]), numelOf(shape[from:])
	if outer == 0 || n == 0 {
		return false
	}
	var rows [MostFused]launch.Row
	gives := len(r.whole.gives)
	for i, v := range r.whole.reads {
		if rows[gives+i], ok = rowsOf(inputs[v], shape, from, n); !ok {
			return false
		}
	}
	for i, v := range r.whole.gives[:gives-1] {
		results[i] = empty(shape, r.f.dtype(v))
		rows[i] = launch.RowOf(results[i], n)
	}
	var room [8]int
	kept := append(room[:0], shape[:from]...)
	if r.how.Keep {
		for range len(shape) - from {
			kept = append(kept, 1)
		}
	}
	out := empty(kept, r.f.dtype(r.by()))
	rows[gives-1] = launch.SingleOf(out)
	var params [8]tensor.Scalar
	given := params[:0]
	for _, i := range r.whole.params {
		given = append(given, numbers[i])
	}
	r.whole.program.ParallelRows(outer, n, rows[:gives+len(r.whole.reads)], given)
	if r.how.Mean {
		total := out
		out = divideBy(total, tensor.Int(int64(n)))
		total.Release()
	}
	results[gives-1] = out
	return true
}

// by is the value that is reduced.
func (r *Reduced) by() int { return r.whole.gives[len(r.whole.gives)-1] }

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
