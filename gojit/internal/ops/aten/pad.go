package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// pad puts elements around a tensor; amounts are (before, after) from the last dimension on and
// may be negative.
func pad(t *tensor.Tensor, amounts []int, mode string, fill tensor.Scalar) *tensor.Tensor {
	check(len(amounts)%2 == 0, "Padding length must be divisible by 2")
	check(len(amounts)/2 <= t.Dim(), "Padding length too large")
	if mode == "constant" {
		return constantPad(t, amounts, fill)
	}
	known := map[string]bool{"reflect": true, "replicate": true, "circular": true}
	if !known[mode] {
		raise(source.NotImplementedError, "Unrecognised padding mode %s", mode)
	}
	dims := len(amounts) / 2
	if !(dims == 1 && (t.Dim() == 2 || t.Dim() == 3) || dims == 2 && (t.Dim() == 3 || t.Dim() == 4) || dims == 3 && (t.Dim() == 4 || t.Dim() == 5)) {
		raise(source.NotImplementedError, "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
	}
	return indexPad(t, amounts, mode)
}

func constantPad(t *tensor.Tensor, amounts []int, fill tensor.Scalar) *tensor.Tensor {
	shape := slices.Clone(t.Shape())
	src := t
	n := t.Dim()
	check(len(amounts)%2 == 0, "Length of pad must be even but instead it equals %d", len(amounts))
	check(len(amounts) <= 2*n, "Length of pad should be no more than twice the number of dimensions of the input. Pad length is %dwhile the input has %ddimensions.", len(amounts), n)
	type place struct{ dim, start int }
	var places []place
	for i := 0; i < len(amounts)/2; i++ {
		d, before, after := n-1-i, amounts[2*i], amounts[2*i+1]
		shape[d] = paddedSize(t.Size(d), before, after)
		check(shape[d] >= 0, "The input size %d, plus negative padding %d and %d, resulted in a negative output size, which is invalid. Check dimension %d of your input.", t.Size(d), before, after, d)
		start, end := max(0, -before), t.Size(d)+min(0, after)
		src = must(src.Slice(d, start, end, 1))
		places = append(places, place{d, max(0, before)})
	}
	out := must(tensor.Full(shape, fill, t.DType()))
	dst := out
	for _, p := range places {
		dst = must(dst.Slice(p.dim, p.start, p.start+src.Size(p.dim), 1))
	}
	if src.Numel() > 0 {
		assign(dst, src)
	}
	return out
}

// indexPad pads by repeating elements of the tensor itself.
func indexPad(t *tensor.Tensor, amounts []int, mode string) *tensor.Tensor {
	n := t.Dim()
	order := make([][]int, n)
	shape := slices.Clone(t.Shape())
	if at := slices.Index(t.Shape()[n-len(amounts)/2:], 0); at >= 0 {
		rank := len(amounts)/2 + 1
		check(false, "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: %s", rank, rank+1, shapeText(t.Shape()))
	}
	for d, size := range t.Shape() {
		before, after := 0, 0
		if i := n - 1 - d; i < len(amounts)/2 {
			before, after = amounts[2*i], amounts[2*i+1]
		}
		switch mode {
		case "reflect":
			check(before < size && after < size || before == 0 && after == 0, "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (%d, %d) at dimension %d of input %s", before, after, d, shapeText(t.Shape()))
		case "circular":
			check(before <= size && after <= size, "Padding value causes wrapping around more than once.")
		}
		shape[d] = paddedSize(size, before, after)
		check(shape[d] >= 0, "Negative padding value is resulting in an empty dimension")
	}
	room(t.DType().Size(), shape...)
	for d, size := range t.Shape() {
		before, after := 0, shape[d]-size
		if i := n - 1 - d; i < len(amounts)/2 {
			before, after = amounts[2*i], amounts[2*i+1]
		}
		order[d] = table[int](shape[d])[:0]
		for i := -before; i < size+after; i++ {
			order[d] = append(order[d], padIndex(i, max(0, -before), size-max(0, -after), size, mode))
		}
	}
	out := empty(shape, t.DType())
	pickAlong(out, t, order)
	return out
}

// paddedSize returns the size of a dimension with elements put before and after it, or taken away.
func paddedSize(size, before, after int) int {
	const most = 1 << 61
	check(max(before, -before, after, -after) < most && before > -most && after > -most, "Storage size calculation overflowed with sizes=[%d] and padding (%d, %d)", size, before, after)
	return size + before + after
}

// padIndex returns the place among n that place i of what is padded takes its element from. Only those from low to high stay in it.
func padIndex(i, low, high, n int, mode string) int {
	switch mode {
	case "reflect":
		if i < 0 {
			i = -i
		}
		if i >= n {
			i = 2*(n-1) - i
		}
	case "circular":
		if kept := high - low; kept > 0 {
			i = low + ((i-low)%kept+kept)%kept
		}
	}
	return min(max(i, 0), n-1)
}

// padding is the operator that pads n dimensions in a mode, any number of them for zero.
func padding(name, mode string, n int) definition {
	return giving(name, func(c call) *tensor.Tensor {
		check(n == 0 || len(c.ints(1)) == 2*n, "padding size is expected to be %d", 2*n)
		return pad(c.tensor(0), c.ints(1), mode, tensor.Int(0))
	})
}
