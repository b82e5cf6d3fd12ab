package views

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// WithParts returns complex numbers of parts.
func WithParts(re, im *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	out := define.Empty(re.Shape(), d)
	source.Throw(tensor.Copy(out.RealPart(), re))
	source.Throw(tensor.Copy(source.Must(out.ImagPart()), im))
	return out
}

// ByParts makes a function that moves numbers one of complex numbers too: it moves their parts.
func ByParts(move func(c define.Call, x *tensor.Tensor) *tensor.Tensor) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		x := c.Tensor(0)
		if !x.DType().IsComplex() {
			return move(c, x)
		}
		return WithParts(move(c, x.RealPart()), move(c, source.Must(x.ImagPart())), x.DType())
	}
}

// Pad puts elements around a tensor; amounts are (before, after) from the last dimension on and
// may be negative.
func Pad(t *tensor.Tensor, amounts []int, mode string, fill tensor.Scalar) *tensor.Tensor {
	source.Check(len(amounts)%2 == 0, "Padding length must be divisible by 2")
	source.Check(len(amounts)/2 <= t.Dim(), "Padding length too large")
	if mode == "constant" {
		return ConstantPad(t, amounts, fill)
	}
	known := map[string]bool{"reflect": true, "replicate": true, "circular": true}
	if !known[mode] {
		source.Raise(source.NotImplementedError, "Unrecognised padding mode %s", mode)
	}
	dims := len(amounts) / 2
	if !(dims == 1 && (t.Dim() == 2 || t.Dim() == 3) || dims == 2 && (t.Dim() == 3 || t.Dim() == 4) || dims == 3 && (t.Dim() == 4 || t.Dim() == 5)) {
		source.Raise(source.NotImplementedError, "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
	}
	return indexPad(t, amounts, mode)
}

// ConstantPad is constant_pad_nd.
func ConstantPad(t *tensor.Tensor, amounts []int, fill tensor.Scalar) *tensor.Tensor {
	shape := slices.Clone(t.Shape())
	src := t
	n := t.Dim()
	source.Check(len(amounts)%2 == 0, "Length of pad must be even but instead it equals %d", len(amounts))
	source.Check(len(amounts) <= 2*n, "Length of pad should be no more than twice the number of dimensions of the input. Pad length is %dwhile the input has %ddimensions.", len(amounts), n)
	type place struct{ dim, start int }
	var places []place
	for i := 0; i < len(amounts)/2; i++ {
		d, before, after := n-1-i, amounts[2*i], amounts[2*i+1]
		shape[d] = PaddedSize(t.Size(d), before, after)
		source.Check(shape[d] >= 0, "The input size %d, plus negative padding %d and %d, resulted in a negative output size, which is invalid. Check dimension %d of your input.", t.Size(d), before, after, d)
		start, end := max(0, -before), t.Size(d)+min(0, after)
		src = source.Must(src.Slice(d, start, end, 1))
		places = append(places, place{d, max(0, before)})
	}
	out := define.FullBeside(t, shape, fill, t.DType())
	if format := t.SuggestedFormat(); format != tensor.ContiguousFormat {
		out = source.Must(tensor.EmptyFormat(out, t.DType(), format))
		tensor.Fill(out, fill)
	}
	dst := out
	for _, p := range places {
		dst = source.Must(dst.Slice(p.dim, p.start, p.start+src.Size(p.dim), 1))
	}
	if src.Numel() > 0 {
		elementwise.Assign(dst, src)
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
			source.Check(before < size && after < size || before == 0 && after == 0, "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (%d, %d) at dimension %d of input %s", before, after, d, define.ShapeText(t.Shape()))
		case "circular":
			source.Check(before <= size && after <= size, "Padding value causes wrapping around more than once.")
		}
		shape[d] = PaddedSize(size, before, after)
		source.Check(shape[d] >= 0, "Negative padding value is resulting in an empty dimension")
	}
	define.Room(t.DType().Size(), shape...)
	for d, size := range t.Shape() {
		before, after := 0, shape[d]-size
		if i := n - 1 - d; i < len(amounts)/2 {
			before, after = amounts[2*i], amounts[2*i+1]
		}
		if before != 0 || after != 0 {
			order[d] = padOrder(size, before, after, mode)
		}
	}
	out := define.EmptyBeside(t, shape, t.DType())
	indexing.PickAlong(out, t, order)
	return out
}

// checkFilled asks for elements along the last dimensions, which are padded.
func checkFilled(shape []int, padded int) {
	source.Check(!slices.Contains(shape[len(shape)-padded:], 0), "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: %s", padded+1, padded+2, define.ShapeText(shape))
}

// padOrder lists the places among size that what is padded takes its elements from.
func padOrder(size, before, after int, mode string) []int {
	order := define.Table[int](PaddedSize(size, before, after))[:0]
	for i := -before; i < size+after; i++ {
		order = append(order, padIndex(i, max(0, -before), size-max(0, -after), size, mode))
	}
	return order
}

// padGradient returns the gradient of an input, of a shape, of indexPad from that of its output: elements that stand for one are added up.
func padGradient(g *tensor.Tensor, shape, amounts []int, mode string) *tensor.Tensor {
	source.Check(g.Dim() == len(shape), "expected grad_output to have %d dimensions, but got %d", len(shape), g.Dim())
	source.Check(len(amounts) <= 2*len(shape), "Padding length too large")
	checkFilled(shape, len(amounts)/2)
	work := elementwise.To(g, reduce.Accumulator(g.DType()))
	for i := range len(amounts) / 2 {
		if d, before, after := len(shape)-1-i, amounts[2*i], amounts[2*i+1]; before != 0 || after != 0 {
			order := padOrder(shape[d], before, after, mode)
			source.Check(g.Size(d) == len(order), "grad_output %s unexpected. Expected: %d, Got: %d", []string{"width", "height", "depth"}[min(i, 2)], len(order), g.Size(d))
			next := gatherPadded(work, d, shape[d], before, after, order)
			define.ForgetMade(g, work)
			work = next
		}
	}
	source.Check(tensor.SameShape(work.Shape(), shape), "expected grad_output of a tensor of shape %s, but got %s", define.ShapeText(shape), define.ShapeText(g.Shape()))
	if work == g {
		return source.Must(g.Clone(tensor.PreserveFormat))
	}
	return elementwise.OwnTo(work, g.DType())
}

// gatherPadded adds up along a dimension, which had a size before it was padded, what was taken from one place.
func gatherPadded(padded *tensor.Tensor, d, size, before, after int, order []int) *tensor.Tensor {
	shape := slices.Clone(padded.Shape())
	shape[d] = size
	out := define.ZerosBeside(padded, shape, padded.DType())
	from, start := max(0, before), max(0, -before)
	kept := max(0, size-max(0, -after)-start)
	inside, whole := source.Must(out.Slice(d, start, start+kept, 1)), source.Must(padded.Slice(d, from, from+kept, 1))
	elementwise.Assign(inside, whole)
	inside.Release()
	whole.Release()
	for i, at := range order {
		if i < from || i >= from+kept {
			place, from := source.Must(out.Select(d, at)), source.Must(padded.Select(d, i))
			elementwise.Add.Run(place, []elementwise.Operand{elementwise.OfTensor(place), elementwise.OfTensor(from)})
			place.Release()
			from.Release()
		}
	}
	return out
}

// PaddedSize returns the size of a dimension with elements put before and after it, or taken away.
func PaddedSize(size, before, after int) int {
	const most = 1 << 61
	source.Check(max(before, -before, after, -after) < most && before > -most && after > -most, "Storage size calculation overflowed with sizes=[%d] and padding (%d, %d)", size, before, after)
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
func unrepeated(c define.Gradient, operator string) {
	c.Give(0, c.Do(operator+"_backward", c.G(), c.Arg(0), c.Arg(1)))
}

// padding is the operator that pads n dimensions in a mode, any number of them for zero.
func padding(name, mode string, n int) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		source.Check(n == 0 || len(c.Ints(1)) == 2*n, "padding size is expected to be %d", 2*n)
		return Pad(c.Tensor(0), c.Ints(1), mode, tensor.Int(0))
	})
}

// repeating is the operator that pads n dimensions by repeating elements, and the one of its gradient.
func repeating(name, mode string, n int) []define.Definition {
	return []define.Definition{
		padding(name, mode, n).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { unrepeated(c, name) }), Tags: ops.AsWritten}),
		define.Giving(name+"_backward", ByParts(func(c define.Call, g *tensor.Tensor) *tensor.Tensor {
			source.Check(len(c.Ints(2)) == 2*n, "padding size is expected to be %d", 2*n)
			define.CheckFloating(name+"_backward_cpu", g)
			return padGradient(g, c.Tensor(1).Shape(), c.Ints(2), mode)
		})).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do(name, c.G(), c.Arg(2))) }), Tags: ops.AsWritten}),
	}
}

var PadFamily = slices.Concat([]define.Definition{
	define.Giving("pad", func(c define.Call) *tensor.Tensor {
		fill := tensor.Int(0)
		if !c.IsNone(3) {
			fill = c.Scalar(3)
			source.Check(c.Str(2) == "constant" || fill.Float64() == 0, "Padding mode \"%s\" doesn't take in value argument", c.Str(2))
		}
		return Pad(c.Tensor(0), c.Ints(1), c.Str(2), fill)
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		switch mode := c.Arg(2).Str(); mode {
		case "constant":
			unpadded(c)
		case "circular":
			c.Moved("pad")
		default:
			dims := len(c.Arg(1).List().Items) / 2
			unrepeated(c, fmt.Sprintf("%s_pad%dd", map[string]string{"reflect": "reflection", "replicate": "replication"}[mode], dims))
		}
	}), Tags: ops.AsWritten}).Quantized(define.SameScale),
	define.Giving("constant_pad_nd", func(c define.Call) *tensor.Tensor { return ConstantPad(c.Tensor(0), c.Ints(1), c.Scalar(2)) }).With(ops.Def{Grad: define.Concrete(unpadded), Tags: ops.AsWritten}).Quantized(define.SameScale),
	padding("_pad_circular", "circular", 0),
}, repeating("reflection_pad1d", "reflect", 1), repeating("reflection_pad2d", "reflect", 2), repeating("reflection_pad3d", "reflect", 3),
	repeating("replication_pad1d", "replicate", 1), repeating("replication_pad2d", "replicate", 2), repeating("replication_pad3d", "replicate", 3))
