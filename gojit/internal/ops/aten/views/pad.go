package aten

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
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
	out := fullBeside(t, shape, fill, t.DType())
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
	checkFilled(t.Shape(), len(amounts)/2)
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
		if before != 0 || after != 0 {
			order[d] = padOrder(size, before, after, mode)
		}
	}
	out := emptyBeside(t, shape, t.DType())
	pickAlong(out, t, order)
	return out
}

// checkFilled asks for elements along the last dimensions, which are padded.
func checkFilled(shape []int, padded int) {
	check(!slices.Contains(shape[len(shape)-padded:], 0), "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: %s", padded+1, padded+2, shapeText(shape))
}

// padOrder lists the places among size that what is padded takes its elements from.
func padOrder(size, before, after int, mode string) []int {
	order := table[int](paddedSize(size, before, after))[:0]
	for i := -before; i < size+after; i++ {
		order = append(order, padIndex(i, max(0, -before), size-max(0, -after), size, mode))
	}
	return order
}

// padGradient returns the gradient of an input, of a shape, of indexPad from that of its output: elements that stand for one are added up.
func padGradient(g *tensor.Tensor, shape, amounts []int, mode string) *tensor.Tensor {
	check(g.Dim() == len(shape), "expected grad_output to have %d dimensions, but got %d", len(shape), g.Dim())
	check(len(amounts) <= 2*len(shape), "Padding length too large")
	checkFilled(shape, len(amounts)/2)
	work := to(g, accumulator(g.DType()))
	for i := range len(amounts) / 2 {
		if d, before, after := len(shape)-1-i, amounts[2*i], amounts[2*i+1]; before != 0 || after != 0 {
			order := padOrder(shape[d], before, after, mode)
			check(g.Size(d) == len(order), "grad_output %s unexpected. Expected: %d, Got: %d", []string{"width", "height", "depth"}[min(i, 2)], len(order), g.Size(d))
			next := gatherPadded(work, d, shape[d], before, after, order)
			forgetMade(g, work)
			work = next
		}
	}
	check(tensor.SameShape(work.Shape(), shape), "expected grad_output of a tensor of shape %s, but got %s", shapeText(shape), shapeText(g.Shape()))
	if work == g {
		return must(g.Clone(tensor.PreserveFormat))
	}
	return rounded(work, g.DType())
}

// gatherPadded adds up along a dimension, which had a size before it was padded, what was taken from one place.
func gatherPadded(padded *tensor.Tensor, d, size, before, after int, order []int) *tensor.Tensor {
	shape := slices.Clone(padded.Shape())
	shape[d] = size
	out := zerosBeside(padded, shape, padded.DType())
	from, start := max(0, before), max(0, -before)
	kept := max(0, size-max(0, -after)-start)
	inside, whole := must(out.Slice(d, start, start+kept, 1)), must(padded.Slice(d, from, from+kept, 1))
	assign(inside, whole)
	inside.Release()
	whole.Release()
	for i, at := range order {
		if i < from || i >= from+kept {
			place, from := must(out.Select(d, at)), must(padded.Select(d, i))
			add.run(place, []operand{ofTensor(place), ofTensor(from)})
			place.Release()
			from.Release()
		}
	}
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

// unrepeated gives the gradient of what an operator padded by repeating elements.
func unrepeated(c gradient, operator string) {
	c.give(0, c.do(operator+"_backward", c.g(), c.arg(0), c.arg(1)))
}

// padding is the operator that pads n dimensions in a mode, any number of them for zero.
func padding(name, mode string, n int) definition {
	return giving(name, func(c call) *tensor.Tensor {
		check(n == 0 || len(c.ints(1)) == 2*n, "padding size is expected to be %d", 2*n)
		return pad(c.tensor(0), c.ints(1), mode, tensor.Int(0))
	})
}

// repeating is the operator that pads n dimensions by repeating elements, and the one of its gradient.
func repeating(name, mode string, n int) []definition {
	return []definition{
		padding(name, mode, n).with(ops.Def{Grad: concrete(func(c gradient) { unrepeated(c, name) }), Tags: ops.AsWritten}),
		giving(name+"_backward", byParts(func(c call, g *tensor.Tensor) *tensor.Tensor {
			check(len(c.ints(2)) == 2*n, "padding size is expected to be %d", 2*n)
			checkFloating(name+"_backward_cpu", g)
			return padGradient(g, c.tensor(1).Shape(), c.ints(2), mode)
		})).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do(name, c.g(), c.arg(2))) }), Tags: ops.AsWritten}),
	}
}

var padFamily = slices.Concat([]definition{
	giving("pad", func(c call) *tensor.Tensor {
		fill := tensor.Int(0)
		if !c.isNone(3) {
			fill = c.scalar(3)
		}
		return pad(c.tensor(0), c.ints(1), c.str(2), fill)
	}).with(ops.Def{Grad: concrete(func(c gradient) {
		switch mode := c.arg(2).Str(); mode {
		case "constant":
			unpadded(c)
		case "circular":
			c.moved("pad")
		default:
			dims := len(c.arg(1).List().Items) / 2
			unrepeated(c, fmt.Sprintf("%s_pad%dd", map[string]string{"reflect": "reflection", "replicate": "replication"}[mode], dims))
		}
	}), Tags: ops.AsWritten}).quantized(sameScale),
	giving("constant_pad_nd", func(c call) *tensor.Tensor { return constantPad(c.tensor(0), c.ints(1), c.scalar(2)) }).with(ops.Def{Grad: concrete(unpadded), Tags: ops.AsWritten}).quantized(sameScale),
	padding("_pad_circular", "circular", 0),
}, repeating("reflection_pad1d", "reflect", 1), repeating("reflection_pad2d", "reflect", 2), repeating("reflection_pad3d", "reflect", 3),
	repeating("replication_pad1d", "replicate", 1), repeating("replication_pad2d", "replicate", 2), repeating("replication_pad3d", "replicate", 3))
