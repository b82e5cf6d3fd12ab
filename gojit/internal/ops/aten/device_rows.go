package aten

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// exponentialsOnDevice is softmax or log_softmax, the entry of a routine, on a device.
func exponentialsOnDevice(entry string, t *tensor.Tensor, dim int) *tensor.Tensor {
	out := emptyBeside(t, t.Shape(), t.DType())
	if t.Numel() == 0 {
		return out
	}
	n, apart := 1, 1
	if t.Dim() > 0 {
		dim = wrapDim(dim, t)
		n, apart = t.Size(dim), numelOf(t.Shape()[dim+1:])
	}
	succeed(launchRoutine(rowRoutine(entry, t, t.Numel()/n), []*tensor.Tensor{out, contiguous(t)}, int64(n), int64(apart)))
	return out
}

// rowRoutine is a routine that a block of threads for each of some rows runs.
func rowRoutine(entry string, t *tensor.Tensor, rows int) kernel.Routine {
	return kernel.Routine{Text: "rows", Entry: entry, Types: []tensor.DType{t.DType(), kernel.ComputeType(t.DType())}, Combine: kernel.ReduceMax, Blocks: rows}
}

// givenTo returns what factors and summands a routine takes, of a type and contiguous, and whether there are any: placeholder stands where there are none.
func givenTo(placeholder, factors, summands *tensor.Tensor, d tensor.DType) (ts []*tensor.Tensor, has [2]int64) {
	for i, t := range []*tensor.Tensor{factors, summands} {
		given := placeholder
		if t != nil {
			given, has[i] = vectorOf(t, d), 1
		}
		ts = append(ts, given)
	}
	return ts, has
}

// normalizeOnDevice is normalizeRows on a device: rows of n elements of x to out.
func normalizeOnDevice(x *tensor.Tensor, n int, weight, bias, out, mean, invStd *tensor.Tensor, eps float64) {
	rest, has := givenTo(out, weight, bias, mean.DType())
	r := rowRoutine("normalize", x, x.Numel()/n)
	succeed(launchRoutine(r, append([]*tensor.Tensor{out, contiguous(x), mean, invStd}, rest...), int64(n), has[0], has[1], int64(math.Float64bits(eps))))
}

// batchStatisticsOnDevice is batchStatistics on a device.
func batchStatisticsOnDevice(x *tensor.Tensor) (mean, variance *tensor.Tensor) {
	channels, inner := x.Size(1), numelOf(x.Shape()[2:])
	work := kernel.ComputeType(x.DType())
	mean, variance = emptyBeside(x, []int{channels}, work), emptyBeside(x, []int{channels}, work)
	succeed(launchRoutine(rowRoutine("moments", x, channels), []*tensor.Tensor{mean, variance, contiguous(x)}, int64(x.Numel()/channels), int64(channels), int64(inner)))
	return mean, variance
}

// normalizeChannelsOnDevice normalizes each channel of x by its mean and variance.
func normalizeChannelsOnDevice(x, mean, variance, weight, bias *tensor.Tensor, eps float64) *tensor.Tensor {
	out := emptyBeside(x, x.Shape(), x.DType())
	work := kernel.ComputeType(x.DType())
	rest, has := givenTo(out, weight, bias, work)
	r := rowRoutine("channels", x, 0)
	r.Threads = x.Numel()
	tensors := append([]*tensor.Tensor{out, contiguous(x), vectorOf(mean, work), vectorOf(variance, work)}, rest...)
	succeed(launchRoutine(r, tensors, has[0], has[1], int64(math.Float64bits(eps)), int64(x.Size(1)), int64(numelOf(x.Shape()[2:]))))
	return keptStrides(out, x)
}
