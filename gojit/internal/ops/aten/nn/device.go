package nn

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

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
	r := reduce.RowRoutine("normalize", x, x.Numel()/n)
	source.Throw(elementwise.LaunchRoutine(r, append([]*tensor.Tensor{out, elementwise.Contiguous(x), mean, invStd}, rest...), int64(n), has[0], has[1], int64(math.Float64bits(eps))))
}

// Channels are divided into parts of at least so many elements, or of more where there would be more than so many parts.
const momentPart, momentBlocks = 4096, 2048

// batchStatisticsOnDevice is batchStatistics on a device.
func batchStatisticsOnDevice(x *tensor.Tensor) (mean, variance *tensor.Tensor) {
	channels, inner := x.Size(1), define.NumelOf(x.Shape()[2:])
	work := kernel.ComputeType(x.DType())
	mean, variance = define.EmptyBeside(x, []int{channels}, work), define.EmptyBeside(x, []int{channels}, work)
	n := x.Numel() / channels
	part := max(momentPart, (n*channels+momentBlocks-1)/momentBlocks)
	parts := (n + part - 1) / part
	numbers := []int64{int64(n), int64(channels), int64(inner), int64(part)}
	means, sums := define.EmptyBeside(x, []int{channels, parts}, work), define.EmptyBeside(x, []int{channels, parts}, work)
	defer means.Release()
	defer sums.Release()
	source.Throw(elementwise.LaunchRoutine(reduce.RowRoutine("moments", x, channels*parts), []*tensor.Tensor{means, sums, elementwise.Contiguous(x)}, numbers...))
	r := reduce.RowRoutine("joined", x, 0)
	r.Threads = channels
	source.Throw(elementwise.LaunchRoutine(r, []*tensor.Tensor{mean, variance, means, sums}, numbers...))
	return mean, variance
}

// normalizeChannelsOnDevice normalizes each channel of x by its mean and variance.
func normalizeChannelsOnDevice(x, mean, variance, weight, bias *tensor.Tensor, eps float64) *tensor.Tensor {
	out := define.EmptyBeside(x, x.Shape(), x.DType())
	work := kernel.ComputeType(x.DType())
	rest, has := givenTo(out, weight, bias, work)
	r := reduce.RowRoutine("channels", x, 0)
	r.Threads = x.Numel()
	tensors := append([]*tensor.Tensor{out, elementwise.Contiguous(x), vectorOf(mean, work), vectorOf(variance, work)}, rest...)
	source.Throw(elementwise.LaunchRoutine(r, tensors, has[0], has[1], int64(math.Float64bits(eps)), int64(x.Size(1)), int64(define.NumelOf(x.Shape()[2:]))))
	return indexing.KeptStrides(out, x)
}
