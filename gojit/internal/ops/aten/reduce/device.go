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

// runRows runs a program that reduces rows which are on a device: a contiguous tensor, or one whose last dimension is reduced.
func runRows(p *launch.Program, r reduction, out *tensor.Tensor, singles []*tensor.Tensor) {
	if r.outer > 0 {
		elementwise.RunKernel(p, operandsOfRows(r, out, singles), nil)
	}
}

// meansThere gives the means over some dimensions of a tensor of a device by one kernel, nil where these dimensions are not one in memory.
func meansThere(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	reduced := ReducedDims(t, dims)
	computed := Accumulator(result)
	r, ok := stridedRows(t, reduced)
	if !ok || !computed.IsFloating() {
		return nil
	}
	b := kernel.NewBuilder()
	b.Mean(b.Input(t.DType(), computed), result)
	out := define.EmptyBeside(t, r.shape, result)
	source.Throw(elementwise.RunOn(b.Kernel(), operandsOfRows(r, out, nil), nil))
	return define.ShownAs(out, reducedShape(t, reduced, keepdim)...)
}

// operandsOfRows are a result for each row, the rows, and numbers of which each row has one.
func operandsOfRows(r reduction, out *tensor.Tensor, singles []*tensor.Tensor) []*tensor.Tensor {
	rows, lead := r.rows, []int{r.outer}
	if rows.IsContiguous() {
		rows = source.Must(rows.View(r.outer, r.n))
	} else {
		lead = rows.Shape()[:rows.Dim()-1]
	}
	single := append(slices.Clone(lead), 1)
	operands := []*tensor.Tensor{source.Must(out.View(single...)), rows}
	for _, s := range singles {
		operands = append(operands, source.Must(s.View(single...)))
	}
	return operands
}

// stridedRows shows a tensor of a device with the dimensions that are reduced as one behind the others. ok is false where they do not lie end to end.
func stridedRows(t *tensor.Tensor, reduced []bool) (r reduction, ok bool) {
	r = reduction{n: 1, outer: 1}
	var strides []int
	step, end := 1, 0 // of the row: from an element to the next, and from its last dimension's first to the next row's
	for d := t.Dim() - 1; d >= 0; d-- {
		size, stride := t.Size(d), t.Strides()[d]
		if !reduced[d] {
			r.outer *= size
			r.shape, strides = append(r.shape, size), append(strides, stride)
			continue
		}
		if size == 1 {
			continue
		}
		if r.n == 1 {
			step = stride
		} else if stride != end {
			return r, false
		}
		r.n *= size
		end = stride * size
	}
	slices.Reverse(r.shape)
	slices.Reverse(strides)
	rows, err := t.AsStrided(append(slices.Clone(r.shape), r.n), append(strides, step), t.Offset())
	r.rows = rows
	return r, err == nil && t.Numel() > 0
}

// onDevice is Reduce on a device, without a copy: of the dimensions that are reduced, those that lie end to end are one, and of others the last go first.
func (q *Reducer) onDevice(t *tensor.Tensor, reduced []bool, keepdim bool, computed, result tensor.DType) *tensor.Tensor {
	if r, ok := stridedRows(t, reduced); ok {
		return define.ShownAs(q.reduceRows(r, computed, result), reducedShape(t, reduced, keepdim)...)
	}
	last := slices.Clone(reduced)
	for d, inner := t.Dim()-1, false; d >= 0; d-- {
		if inner = inner || reduced[d]; inner && !reduced[d] {
			clear(last[:d])
			break
		}
	}
	if slices.Equal(last, reduced) || q.numbered {
		return nil
	}
	first := q.onDevice(t, last, true, computed, q.valueType(computed))
	if first == nil {
		return nil
	}
	rest := slices.Clone(reduced)
	for d := range rest {
		rest[d] = reduced[d] && !last[d]
	}
	defer first.Release()
	out := plainReducer(q.Op).onDevice(first, rest, true, first.DType(), result)
	if out == nil {
		return nil
	}
	return define.ShownAs(out, reducedShape(t, reduced, keepdim)...)
}

// runAlong runs a routine of running results along a dimension of a contiguous tensor of a device.
func runAlong(entry string, how kernel.ReduceOp, dim int, out, t *tensor.Tensor, more ...*tensor.Tensor) {
	n, step := t.Size(dim), define.NumelOf(t.Shape()[dim+1:])
	r := kernel.Routine{Text: "scan", Entry: entry, Types: []tensor.DType{t.DType()}, Combine: how, Threads: t.Numel() / n}
	source.Throw(elementwise.LaunchRoutine(r, append([]*tensor.Tensor{out, t}, more...), int64(n), int64(step)))
}

// Lines of more elements side by side than shortLine are scanned by blocks of threads, few long ones in parts of a multiple of scanTile elements.
const (
	shortLine = 64
	scanTile  = 2048
	scanParts = 1 << 11 // of all lines, about
)

// runLines runs the routine of running results over lines of n contiguous elements.
func runLines(how kernel.ReduceOp, n int, out, t *tensor.Tensor) {
	lines := t.Numel() / n
	r := kernel.Routine{Text: "scan", Entry: "parts", Types: []tensor.DType{t.DType()}, Combine: how, Blocks: lines}
	part := n
	tensors := []*tensor.Tensor{out, t}
	if tiles := (n + scanTile - 1) / scanTile; tiles > 2 && lines < scanParts/2 {
		parts := min(tiles, scanParts/lines)
		part = (tiles + parts - 1) / parts * scanTile
		parts = (n + part - 1) / part
		totals := define.EmptyBeside(t, []int{lines, parts}, t.DType())
		r.Entry, r.Blocks = "totals", lines*parts
		source.Throw(elementwise.LaunchRoutine(r, []*tensor.Tensor{totals, t}, int64(n), int64(part)))
		before := define.EmptyBeside(t, []int{lines, parts}, t.DType())
		defer totals.Release()
		defer before.Release()
		runLines(how, parts, before, totals)
		r.Entry = "parts"
		tensors = append(tensors, before)
	}
	source.Throw(elementwise.LaunchRoutine(r, tensors, int64(n), int64(part)))
}

// RunningSums is the sums of the elements of rows up to each, of a contiguous matrix of a device.
func RunningSums(t *tensor.Tensor) *tensor.Tensor {
	out := define.EmptyBeside(t, t.Shape(), t.DType())
	runLines(kernel.ReduceSum, t.Size(1), out, t)
	return out
}

// onDevice is along on a device.
func (s *scanner) onDevice(t *tensor.Tensor, dim int) *tensor.Tensor {
	how := kernel.ReduceSum
	switch s {
	case productScanner:
		how = kernel.ReduceProduct
	case LogSumScanner:
		panic(kernel.ErrNoDeviceForm)
	}
	if t.DType().IsComplex() {
		if s != SumScanner {
			panic(kernel.ErrNoDeviceForm)
		}
		parts := source.Must(t.ViewAsReal())
		return source.Must(s.onDevice(parts, dim).ViewAsComplex())
	}
	work := elementwise.Contiguous(t)
	out := define.EmptyBeside(t, t.Shape(), t.DType())
	if n := t.Size(dim); n > shortLine && define.NumelOf(t.Shape()[dim+1:]) == 1 {
		runLines(how, n, out, work)
	} else {
		runAlong("scan", how, dim, out, work)
	}
	return out
}

// onDevice is along on a device.
func (q *RunningExtreme) onDevice(t *tensor.Tensor, dim int) (values, indices *tensor.Tensor) {
	how := kernel.ReduceMax
	if q.smallest {
		how = kernel.ReduceMin
	}
	work := elementwise.Contiguous(t)
	values, indices = define.EmptyBeside(t, t.Shape(), t.DType()), define.EmptyBeside(t, t.Shape(), tensor.Int64)
	runAlong("extremes", how, dim, values, work, indices)
	return values, indices
}

// exponentialsOnDevice runs an entry of the routine of rows that takes exponentials.
func exponentialsOnDevice(entry string, t *tensor.Tensor, dim int) *tensor.Tensor {
	out := define.EmptyBeside(t, t.Shape(), t.DType())
	if t.Numel() == 0 {
		return out
	}
	n, apart := 1, 1
	if t.Dim() > 0 {
		dim = define.WrapDim(dim, t)
		n, apart = t.Size(dim), define.NumelOf(t.Shape()[dim+1:])
	}
	source.Throw(elementwise.LaunchRoutine(RowRoutine(entry, t, t.Numel()/n), []*tensor.Tensor{out, elementwise.Contiguous(t)}, int64(n), int64(apart)))
	return out
}

// RowRoutine is a routine that a block of threads for each of some rows runs.
func RowRoutine(entry string, t *tensor.Tensor, rows int) kernel.Routine {
	return kernel.Routine{Text: "rows", Entry: entry, Types: []tensor.DType{t.DType(), kernel.ComputeType(t.DType())}, Combine: kernel.ReduceMax, Blocks: rows}
}
