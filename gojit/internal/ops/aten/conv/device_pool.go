package conv

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// onDevice runs a routine of pooling over windows of planes of size in: one of the tensors is the pooled one, and the other has a number for each window.
func (p *Pooling) onDevice(text, entry string, how kernel.ReduceOp, in []int, threads int, first, second *tensor.Tensor, includePad bool, override int, more ...*tensor.Tensor) {
	numbers := []int64{1, 1, 1, 1, 1, 1, 0, int64(override), 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1}
	lead := 3 - p.N
	for d, windows := range p.Windows {
		numbers[lead+d], numbers[3+lead+d] = int64(in[d]), int64(windows.out)
		own := numbers[8+4*(lead+d):]
		if len(p.Kernel) > 0 {
			own[0], own[1], own[2], own[3] = int64(p.Kernel[d]), int64(p.Stride[d]), int64(p.Padding[d]), int64(p.Dilation[d])
		} else {
			own[1] = 0 // divided
		}
	}
	if includePad {
		numbers[6] = 1
	}
	r := kernel.Routine{Text: text, Entry: entry, Types: []tensor.DType{first.DType()}, Combine: how, Threads: threads}
	source.Throw(elementwise.LaunchRoutine(r, append([]*tensor.Tensor{first, second}, more...), numbers...))
}

// maxPoolOnDevice is maxPool on a device.
func maxPoolOnDevice(x *tensor.Tensor, p Pooling) (out, indices *tensor.Tensor) {
	out, indices = define.EmptyBeside(x, p.shape(x), x.DType()), define.EmptyBeside(x, p.shape(x), tensor.Int64)
	p.onDevice("pool_extremes", "largest", kernel.ReduceMax, x.Shape()[x.Dim()-p.N:], out.Numel(), out, elementwise.Contiguous(x), false, 0, indices)
	return out, indices
}

// averagePoolOnDevice is AveragePool on a device.
func averagePoolOnDevice(x *tensor.Tensor, p Pooling, includePad bool, override int) *tensor.Tensor {
	out := define.EmptyBeside(x, p.shape(x), x.DType())
	p.onDevice("pool_means", "mean", kernel.ReduceSum, x.Shape()[x.Dim()-p.N:], out.Numel(), out, elementwise.Contiguous(x), includePad, override)
	return out
}
