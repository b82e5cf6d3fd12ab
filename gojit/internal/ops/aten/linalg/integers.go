package linalg

import (
	"math/bits"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Products of integers are computed in float64, which is exact as long as no sum reaches 2**53, and many times as fast as multiplying
// integers. Larger numbers are cut into digits that are small enough; sums wrap around as those of integers do.

// exactBits is the number of bits of the integers that float64 holds.
const exactBits = 53

// ByDoubles returns, as int64, what f gives for integers x and y, by running it on float64: f must be bilinear, with sums of
// count products.
func ByDoubles(x, y *tensor.Tensor, count int, f func(x, y *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	sum := bits.Len(uint(max(count-1, 0)))
	if sizeBits(x)+sizeBits(y)+sum <= exactBits {
		return elementwise.To(f(elementwise.To(x, tensor.Float64), elementwise.To(y, tensor.Float64)), tensor.Int64)
	}
	width := (exactBits - sum) / 2
	xs, ys := digits(x, width), digits(y, width)
	var total *tensor.Tensor
	for i := range xs {
		for j := range ys {
			shift := width * (i + j)
			if shift >= 64 {
				break
			}
			part := elementwise.To(f(xs[i], ys[j]), tensor.Int64)
			if total == nil {
				total = part
				continue
			}
			data := tensor.Data[int64](total)
			for k, v := range tensor.Data[int64](part) {
				data[k] += v << shift
			}
		}
	}
	return total
}

// sizeBits returns how many bits the elements of a tensor of integers have at most, without signs.
func sizeBits(t *tensor.Tensor) int {
	switch t.DType() {
	case tensor.Uint8, tensor.Int8:
		return 8
	case tensor.Int16:
		return 16
	}
	var all uint64
	for _, v := range integersAt(t) {
		all |= uint64(v ^ v>>63)
	}
	return min(bits.Len64(all)+1, 64) // the least number of a size needs one more
}

// integersAt returns the elements of a tensor of integers in order.
func integersAt(t *tensor.Tensor) []int64 {
	return tensor.Data[int64](elementwise.Contiguous(elementwise.To(t, tensor.Int64)))
}

// digits cuts integers into digits of width bits, the lowest first; the last one has the sign.
func digits(t *tensor.Tensor, width int) (list []*tensor.Tensor) {
	data := integersAt(t)
	for at := 0; at < 64; at += width {
		digit := define.Empty(t.Shape(), tensor.Float64)
		to := tensor.Data[float64](digit)
		for i, v := range data {
			v >>= at
			if at+width < 64 {
				v &= 1<<width - 1
			}
			to[i] = float64(v)
		}
		list = append(list, digit)
	}
	return list
}
