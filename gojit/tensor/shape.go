package tensor

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

func runtimeError(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, format, args...)
}

func indexError(format string, args ...any) error {
	return source.Errorf(source.IndexError, source.Range{}, format, args...)
}

// FormatShape writes sizes as messages do: "[2, 3]".
func FormatShape(shape []int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range shape {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(n))
	}
	b.WriteByte(']')
	return b.String()
}

// maxElements is the largest number of elements: their bytes can be counted for every type.
const maxElements = math.MaxInt / 16

// Numel returns the product of the sizes, which times the size of any type is no overflow. It fails on a negative size and
// where the product is larger.
func Numel(shape []int) (int, error) { return product(shape, maxElements) }

// SparseNumel is Numel of a shape that most elements are not stored for.
func SparseNumel(shape []int) (int, error) { return product(shape, math.MaxInt/2) }

func product(shape []int, limit uint64) (int, error) {
	n := 1
	for i, s := range shape {
		if s < 0 {
			return 0, runtimeError("Trying to create tensor with negative dimension %d: %s", s, FormatShape(shape))
		}
		hi, lo := bits.Mul64(uint64(n), uint64(s))
		if hi != 0 || lo > limit {
			if !slices.ContainsFunc(shape[i:], func(s int) bool { return s <= 0 }) {
				return 0, overflowError(shape)
			}
			return product(shape[i+1:], limit) // which is 0, or fails for a negative size
		}
		n = int(lo)
	}
	return n, nil
}

// CheckedProduct returns the product of sizes that count elements of working memory or of results. It fails as Numel does.
func CheckedProduct(sizes ...int) (int, error) { return Numel(sizes) }

// Span returns the elements that a new geometry reaches over, from the first to the farthest. It fails as Numel does, and where the reach
// is larger than a number of elements may be. Strides are not negative.
func Span(shape, strides []int) (int, error) {
	if numel, err := Numel(shape); numel == 0 || err != nil {
		return 0, err
	}
	n := 1
	for i, size := range shape {
		hi, reach := bits.Mul64(uint64(size-1), uint64(strides[i]))
		if hi != 0 || reach > uint64(maxElements-n) {
			return 0, overflowError(shape)
		}
		n += int(reach)
	}
	return n, nil
}

func overflowError(shape []int) error {
	return runtimeError("Storage size calculation overflowed with sizes=%s", FormatShape(shape))
}

// SameShape reports whether the sizes are equal.
func SameShape(a, b []int) bool { return slices.Equal(a, b) }

// Broadcast returns the shape that both shapes expand to. It fails where sizes differ and neither is 1.
func Broadcast(a, b []int) ([]int, error) { return BroadcastInto(nil, a, b) }

// BroadcastInto is Broadcast into the memory of dst. dst may not overlap a or b.
func BroadcastInto(dst, a, b []int) ([]int, error) {
	n := max(len(a), len(b))
	if cap(dst) < n {
		dst = make([]int, n)
	}
	dst = dst[:n]
	for i := 1; i <= n; i++ {
		x, y := 1, 1
		if i <= len(a) {
			x = a[len(a)-i]
		}
		if i <= len(b) {
			y = b[len(b)-i]
		}
		switch {
		case x == y || y == 1:
			dst[n-i] = x
		case x == 1:
			dst[n-i] = y
		default:
			return nil, runtimeError("The size of tensor a (%d) must match the size of tensor b (%d) at non-singleton dimension %d", x, y, n-i)
		}
	}
	return dst, nil
}

// BroadcastAll returns the shape that all shapes expand to.
func BroadcastAll(shapes ...[]int) ([]int, error) {
	var out []int
	for i, s := range shapes {
		if i == 0 {
			out = append([]int(nil), s...)
			continue
		}
		var err error
		if out, err = Broadcast(out, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// InferShape replaces one -1 in shape so that it holds numel elements. It fails where that is impossible.
func InferShape(shape []int, numel int) ([]int, error) {
	out := append([]int(nil), shape...)
	inferred := -1
	for i, n := range out {
		switch {
		case n == -1 && inferred >= 0:
			return nil, runtimeError("only one dimension can be inferred")
		case n == -1:
			inferred, out[i] = i, 1
		case n < 0:
			return nil, runtimeError("invalid shape dimension %d", n)
		}
	}
	product, err := SparseNumel(out)
	if err != nil {
		return nil, err
	}
	if inferred < 0 && product == numel {
		return out, nil
	}
	if inferred >= 0 && product > 0 && numel%product == 0 {
		out[inferred] = numel / product
		return out, nil
	}
	if inferred >= 0 && product == 0 && numel == 0 {
		return nil, runtimeError("cannot reshape tensor of 0 elements into shape %s because the unspecified dimension size -1 can be any value and is ambiguous", FormatShape(shape))
	}
	return nil, runtimeError("shape '%s' is invalid for input of size %d", FormatShape(shape), numel)
}

func noSuchDimension(dim, n int) error {
	return indexError("Dimension out of range (expected to be in range of [%d, %d], but got %d)", -n, n-1, dim)
}

// WrapDim turns a dimension counted from the end into one counted from the start. A tensor without
// dimensions is treated as having one. It fails where dim is out of range.
func WrapDim(dim, ndim int) (int, error) {
	n := max(ndim, 1)
	if dim < -n || dim >= n {
		return 0, noSuchDimension(dim, n)
	}
	if dim < 0 {
		dim += n
	}
	return dim, nil
}

// computeViewStrides fills strides with those that show the elements of t in another shape of the
// same number of elements, and reports whether that is possible without a copy.
func computeViewStrides(t *Tensor, shape, strides []int) bool {
	if t.numel == 0 {
		if SameShape(shape, t.shape) {
			copy(strides, t.strides)
		} else {
			fillContiguousStrides(strides, shape)
		}
		return true
	}
	view := len(shape) - 1
	if len(t.shape) == 0 {
		for i := range strides {
			strides[i] = 1
		}
		return true
	}
	base := t.strides[len(t.strides)-1]
	chunk, viewChunk := 1, 1
	for d := len(t.shape) - 1; d >= 0; d-- {
		chunk *= t.shape[d]
		if d != 0 && (t.shape[d-1] == 1 || t.strides[d-1] == chunk*base) {
			continue
		}
		for view >= 0 && (viewChunk < chunk || shape[view] == 1) {
			strides[view] = viewChunk * base
			viewChunk *= shape[view]
			view--
		}
		if viewChunk != chunk {
			return false
		}
		if d > 0 {
			base = t.strides[d-1]
			chunk, viewChunk = 1, 1
		}
	}
	return view == -1
}
