package reduce

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// runRows runs a program that reduces rows which are on a device.
func runRows(p *launch.Program, r reduction, out *tensor.Tensor, singles []*tensor.Tensor) {
	if r.outer == 0 {
		return
	}
	operands := []*tensor.Tensor{source.Must(out.View(r.outer, 1)), source.Must(r.rows.View(r.outer, r.n))}
	for _, s := range singles {
		operands = append(operands, source.Must(s.View(r.outer, 1)))
	}
	elementwise.RunKernel(p, operands, nil)
}

// runAlong runs a routine of running results along a dimension of a contiguous tensor of a device.
func runAlong(entry string, how kernel.ReduceOp, dim int, out, t *tensor.Tensor, more ...*tensor.Tensor) {
	n, step := t.Size(dim), define.NumelOf(t.Shape()[dim+1:])
	r := kernel.Routine{Text: "scan", Entry: entry, Types: []tensor.DType{t.DType()}, Combine: how, Threads: t.Numel() / n}
	source.Throw(elementwise.LaunchRoutine(r, append([]*tensor.Tensor{out, t}, more...), int64(n), int64(step)))
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
	runAlong("scan", how, dim, out, work)
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
