package linalg

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func checkBilinear(c define.Call) {
	a, b, weight, bias := c.Tensor(0), c.Tensor(1), c.Tensor(2), c.OptionalTensor(3)
	source.Check(a.Dim() > 0 && weight.Dim() == 3, "bilinear(): expected inputs of at least one dimension and a weight of three, but got %s and %s", define.ShapeText(a.Shape()), define.ShapeText(weight.Shape()))
	source.Check(a.Dim() == b.Dim(), "bilinear(): input dimensions do not match: got %d and %d", a.Dim(), b.Dim())
	for i := range a.Dim() - 1 {
		source.Check(a.Size(i) == b.Size(i), "bilinear(): input batch dimensions do not match at dim %d: got %d and %d", i, a.Size(i), b.Size(i))
	}
	last := a.Dim() - 1
	source.Check(a.Size(last) == weight.Size(1), "bilinear(): input1 size does not match weight size: got %d but expected %d", a.Size(last), weight.Size(1))
	source.Check(b.Size(last) == weight.Size(2), "bilinear(): input2 size does not match weight size: got %d but expected %d", b.Size(last), weight.Size(2))
	if bias != nil {
		source.Check(views.SizeAt(bias, 0) == weight.Size(0), "bilinear(): bias size does not match weight size: got %d but expected %d", bias.Size(0), weight.Size(0))
	}
}

func outer(a, b *tensor.Tensor) *tensor.Tensor {
	source.Check(a.Dim() == 1, "outer: Expected 1-D argument self, but got %d-D", a.Dim())
	source.Check(b.Dim() == 1, "outer: Expected 1-D argument vec2, but got %d-D", b.Dim())
	return elementwise.Mul.On(source.Must(a.Unsqueeze(1)), b)
}

// kron gives the Kronecker product.
func kron(a, b *tensor.Tensor) *tensor.Tensor {
	n := max(a.Dim(), b.Dim())
	var x, y, final []int
	for i := range n {
		p, q := 1, 1
		if j := i - (n - a.Dim()); j >= 0 {
			p = a.Size(j)
		}
		if j := i - (n - b.Dim()); j >= 0 {
			q = b.Size(j)
		}
		x, y, final = append(x, p, 1), append(y, 1, q), append(final, p*q)
	}
	if last := len(x) - 2; n > 0 {
		// The last dimension of both is made as long as the result's: rows are multiplied as they lie.
		p, q := x[last], y[last+1]
		left := define.ShownAs(indexing.RepeatEach(source.Must(a.Reshape(x...)), last, q), append(slices.Clone(x[:last]), p*q)...)
		defer left.Release()
		right := define.ShownAs(indexing.Repeat(source.Must(b.Reshape(y...)), append(slices.Repeat([]int{1}, last+1), p)), append(slices.Clone(y[:last]), p*q)...)
		defer right.Release()
		a, b = left, right
	}
	return define.ShownAs(elementwise.Mul.On(a, b), final...)
}

// cross gives the vector product along a dimension of size 3.
func cross(a, b *tensor.Tensor, dim int) *tensor.Tensor {
	ab := elementwise.BroadcastTensors([]*tensor.Tensor{a, b})
	a, b = ab[0], ab[1]
	source.Check(a.Dim() > 0, "linalg.cross: inputs must have at least one dimension")
	dim = define.WrapDim(dim, a)
	source.Check(a.Size(dim) == 3, "linalg.cross: inputs dimension %d must have length 3. Got %d and %d", dim, a.Size(dim), b.Size(dim))
	part := func(t *tensor.Tensor, i int) *tensor.Tensor { return source.Must(t.Select(dim, i%3)) }
	r := tensor.NewResultType()
	r.Tensor(a)
	r.Tensor(b)
	out := define.EmptyBeside(a, a.Shape(), r.DType())
	for i := range 3 {
		crossPart.Run(part(out, i), []elementwise.Operand{elementwise.OfTensor(part(a, i+1)), elementwise.OfTensor(part(b, i+2)), elementwise.OfTensor(part(a, i+2)), elementwise.OfTensor(part(b, i+1))})
	}
	return out
}

// crossPart is a component of a vector product.
var crossPart = elementwise.New("cross", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	return b.Sub(b.Mul(x[0], x[1]), b.Mul(x[2], x[3]))
})

// tensorDot contracts the listed dimensions pairwise.
func tensorDot(a, b *tensor.Tensor, da, db []int) *tensor.Tensor {
	used := [2][]bool{make([]bool, a.Dim()), make([]bool, b.Dim())}
	k := 1
	var left, right []int
	for i := range da {
		x, y := define.WrapDim(da[i], a), define.WrapDim(db[i], b)
		used[0][x], used[1][y] = true, true
		k *= a.Size(x)
		left, right = append(left, x), append(right, y)
	}
	var freeA, freeB, shape []int
	for d, n := range a.Shape() {
		if !used[0][d] {
			freeA, shape = append(freeA, d), append(shape, n)
		}
	}
	m := define.NumelOf(shape)
	columns := len(shape)
	for d, n := range b.Shape() {
		if !used[1][d] {
			freeB, shape = append(freeB, d), append(shape, n)
		}
	}
	x := source.Must(source.Must(a.Permute(append(freeA, left...)...)).Reshape(m, k))
	y := source.Must(source.Must(b.Permute(append(right, freeB...)...)).Reshape(k, define.NumelOf(shape[columns:])))
	return source.Must(Mm(x, y).Reshape(shape...))
}

// checkContracted fails where dimensions over which tensors are summed do not match.
func checkContracted(a, b *tensor.Tensor, da, db []int) {
	source.Check(len(da) == len(db), "both dimension lists should have same length")
	for i := range da {
		x, y := define.WrapDim(da[i], a), define.WrapDim(db[i], b)
		source.Check(a.Size(x) == b.Size(y), "contracted dimensions need to match, but first has size %d in dim %d and second has size %d in dim %d", a.Size(x), da[i], b.Size(y), db[i])
	}
}

// bilinear gives x1ᵀ W x2 for each row.
func bilinear(x1, x2, weight, bias *tensor.Tensor) *tensor.Tensor {
	out := einsum("...i,oij,...j->...o", []*tensor.Tensor{x1, weight, x2})
	if bias != nil {
		out = elementwise.Add.On(out, bias)
	}
	return out
}

// checkMultiDot fails where tensors are not matrices that can be multiplied, with a vector at most at each end.
func checkMultiDot(ts []*tensor.Tensor) {
	source.Check(len(ts) > 1, "multi_dot(): expected at least 2 tensors but got %d", len(ts))
	last := len(ts) - 1
	for i, t := range ts {
		switch {
		case (i == 0 || i == last) && (t.Dim() < 1 || t.Dim() > 2):
			source.Raise(source.RuntimeError, "multi_dot(): the %s tensor must be 1D or 2D but got %dD", map[bool]string{true: "first", false: "last"}[i == 0], t.Dim())
		case i > 0 && i < last && t.Dim() != 2:
			source.Raise(source.RuntimeError, "multi_dot(): tensor %d must be 2D but got %dD", i, t.Dim())
		case t.DType() != ts[0].DType():
			source.Raise(source.RuntimeError, "multi_dot(): all tensors must have be the same dtype but tensor 0 is %s and tensor %d %s",
				define.LowerNames[ts[0].DType()], i, define.LowerNames[t.DType()])
		case i > 0 && ts[i-1].Size(ts[i-1].Dim()-1) != t.Size(0):
			source.Raise(source.RuntimeError, "multi_dot(): tensors %d and %d with shapes %s and %s cannot be multiplied",
				i-1, i, tensor.FormatShape(ts[i-1].Shape()), tensor.FormatShape(t.Shape()))
		}
	}
}

func multiDot(ts []*tensor.Tensor) *tensor.Tensor {
	out := ts[0]
	for _, t := range ts[1:] {
		out = Matmul(out, t)
	}
	return out
}
