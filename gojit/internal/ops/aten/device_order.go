package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sortedOnDevice orders the lines of a tensor of a device: values and places, the dimension last.
func (l *lines) sortedOnDevice(descending bool) (values, places *tensor.Tensor) {
	values = l.t
	if l.dims == 0 {
		places = emptyBeside(l.t, nil, tensor.Int64)
		tensor.Fill(places, tensor.Int(0))
		return must(values.Clone(tensor.ContiguousFormat)), places
	}
	places = contiguous(must(onDeviceOf(l.t, countTo(l.n), l.n).Expand(l.t.Shape()...)))
	var largest int64
	if descending {
		largest = 1
	}
	for width := 1; width < l.n; width *= 2 {
		ordered, at := emptyBeside(values, values.Shape(), values.DType()), emptyBeside(values, values.Shape(), tensor.Int64)
		r := kernel.Routine{Text: "sort", Entry: "merge", Types: []tensor.DType{values.DType()}, Threads: values.Numel()}
		succeed(launchRoutine(r, []*tensor.Tensor{ordered, at, values, places}, int64(l.n), int64(width), largest))
		values, places = ordered, at
	}
	if values == l.t { // which is forgotten
		values = must(values.Clone(tensor.ContiguousFormat))
	}
	return values, places
}

// runAlong runs a routine of running results along a dimension of a contiguous tensor of a device.
func runAlong(entry string, how kernel.ReduceOp, dim int, out, t *tensor.Tensor, more ...*tensor.Tensor) {
	n, step := t.Size(dim), numelOf(t.Shape()[dim+1:])
	r := kernel.Routine{Text: "scan", Entry: entry, Types: []tensor.DType{t.DType()}, Combine: how, Threads: t.Numel() / n}
	succeed(launchRoutine(r, append([]*tensor.Tensor{out, t}, more...), int64(n), int64(step)))
}

// onDevice is along on a device.
func (s *scanner) onDevice(t *tensor.Tensor, dim int) *tensor.Tensor {
	how := kernel.ReduceSum
	switch s {
	case productScanner:
		how = kernel.ReduceProduct
	case logSumScanner:
		panic(kernel.ErrNoDeviceForm)
	}
	if t.DType().IsComplex() {
		if s != sumScanner {
			panic(kernel.ErrNoDeviceForm)
		}
		parts := must(t.ViewAsReal())
		return must(s.onDevice(parts, dim).ViewAsComplex())
	}
	work := contiguous(t)
	out := emptyBeside(t, t.Shape(), t.DType())
	runAlong("scan", how, dim, out, work)
	return out
}

// onDevice is along on a device.
func (q *runningExtreme) onDevice(t *tensor.Tensor, dim int) (values, indices *tensor.Tensor) {
	how := kernel.ReduceMax
	if q.smallest {
		how = kernel.ReduceMin
	}
	work := contiguous(t)
	values, indices = emptyBeside(t, t.Shape(), t.DType()), emptyBeside(t, t.Shape(), tensor.Int64)
	runAlong("extremes", how, dim, values, work, indices)
	return values, indices
}

// searchOnDevice is searchSorted on a device, for tensors of one type.
func searchOnDevice(sorted, values *tensor.Tensor, right bool) *tensor.Tensor {
	out := emptyBeside(sorted, values.Shape(), tensor.Int64)
	if out.Numel() == 0 {
		return out
	}
	perRow := 0
	if sorted.Dim() > 1 {
		perRow = values.Size(values.Dim() - 1)
	}
	r := kernel.Routine{Text: "search", Entry: "search", Types: []tensor.DType{sorted.DType()}, Threads: out.Numel()}
	succeed(launchRoutine(r, []*tensor.Tensor{out, sorted, values}, int64(sorted.Size(sorted.Dim()-1)), int64(perRow), int64(btoi(right))))
	return out
}
