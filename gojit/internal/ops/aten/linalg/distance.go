package linalg

import (
	"math"

	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// PairDistances gives the p-norm distance of each row of a from each row of b.
func PairDistances(a, b *tensor.Tensor, p float64) *tensor.Tensor {
	checkRows(a, b)
	batch := source.Must(tensor.Broadcast(a.Shape()[:a.Dim()-2], b.Shape()[:b.Dim()-2]))
	shape := append(slices.Clone(batch), a.Size(a.Dim()-2), b.Size(b.Dim()-2))
	if define.Room(1, append(shape, a.Size(a.Dim()-1))...) <= mostDifferences {
		return distancesAtOnce(a, b, p)
	}
	spread := func(t *tensor.Tensor) *tensor.Tensor {
		return source.Must(t.Expand(append(slices.Clone(batch), t.Shape()[t.Dim()-2:]...)...))
	}
	a, b = spread(a), spread(b)
	out := define.Empty(shape, distanceType(a, b, p))
	distancesInto(out, a, b, p)
	return out
}

// mostDifferences is how many differences of coordinates there are at a time.
const mostDifferences = 1 << 22

func distancesAtOnce(a, b *tensor.Tensor, p float64) *tensor.Tensor {
	d := elementwise.Sub.On(source.Must(a.Unsqueeze(-2)), source.Must(b.Unsqueeze(-3)))
	defer d.Release()
	return reduce.VectorNorm(d, p, []int{-1}, false, d.DType())
}

// distanceType is the type of distances, as those of no rows have it.
func distanceType(a, b *tensor.Tensor, p float64) tensor.DType {
	none := func(t *tensor.Tensor) *tensor.Tensor { return source.Must(t.Narrow(t.Dim()-2, 0, 0)) }
	return distancesAtOnce(none(a), none(b), p).DType()
}

// distancesInto fills out by parts of it that are halves along its largest dimension.
func distancesInto(out, a, b *tensor.Tensor, p float64) {
	parallel.Look()
	last := out.Dim() - 1
	if size := slices.Max(out.Shape()); size > 1 && out.Numel()*a.Size(last) > mostDifferences {
		d := slices.Index(out.Shape(), size)
		for _, half := range [][2]int{{0, size / 2}, {size / 2, size - size/2}} {
			part := func(t *tensor.Tensor, d int) *tensor.Tensor { return source.Must(t.Narrow(d, half[0], half[1])) }
			switch d {
			case last:
				distancesInto(part(out, d), a, part(b, d-1), p)
			case last - 1:
				distancesInto(part(out, d), part(a, d), b, p)
			default:
				distancesInto(part(out, d), part(a, d), part(b, d), p)
			}
		}
		return
	}
	part := distancesAtOnce(a, b, p)
	source.Throw(tensor.Copy(out, part))
	part.Release()
}

// pairwiseWithin gives the distances between all pairs of rows.
func pairwiseWithin(x *tensor.Tensor, p float64) *tensor.Tensor {
	n := x.Size(0)
	out := define.Empty([]int{max(0, n*(n-1)/2)}, distanceType(x, x, p))
	block := max(1, mostDifferences/max(1, n*x.Size(1)))
	for lo, at := 0, 0; lo < n-1; lo += block {
		rows := min(block, n-1-lo)
		part := PairDistances(source.Must(x.Narrow(0, lo, rows)), source.Must(x.Narrow(0, lo+1, n-1-lo)), p)
		for i := range rows {
			width := n - 1 - lo - i
			source.Throw(tensor.Copy(source.Must(out.Narrow(0, at, width)), source.Must(source.Must(part.Select(0, i)).Narrow(0, i, width))))
			at += width
		}
		part.Release()
	}
	return out
}

// checkRows fails where a and b are not rows of as many coordinates.
func checkRows(a, b *tensor.Tensor) {
	source.Check(a.Dim() >= 2, "cdist only supports at least 2D tensors, X1 got: %dD", a.Dim())
	source.Check(b.Dim() >= 2, "cdist only supports at least 2D tensors, X2 got: %dD", b.Dim())
	source.Check(a.Size(a.Dim()-1) == b.Size(b.Dim()-1), "X1 and X2 must have the same number of columns. X1: %d X2: %d", a.Size(a.Dim()-1), b.Size(b.Dim()-1))
}

// Cdist is PairDistances, by a product of matrices where p is 2 and there are many rows, or mode is 1, and not 2.
func Cdist(a, b *tensor.Tensor, p float64, mode int) *tensor.Tensor {
	byProduct := p == 2 && mode != 2 && a.Dim() >= 2 && b.Dim() >= 2 && a.DType() == b.DType() && a.DType().IsFloating() && a.Size(a.Dim()-1) == b.Size(b.Dim()-1)
	if byProduct && (mode == 1 || a.Size(a.Dim()-2) > productRows || b.Size(b.Dim()-2) > productRows) {
		return euclideanDistances(a, b)
	}
	return PairDistances(a, b, p)
}

// productRows is how many rows are compared one by one, as PyTorch does it.
const productRows = 25

// euclideanDistances is the square root of |a|^2 + |b|^2 - 2ab.
func euclideanDistances(a, b *tensor.Tensor) *tensor.Tensor {
	squares := func(t *tensor.Tensor) *tensor.Tensor {
		return reduce.SquaresReducer.Reduce(t, []int{-1}, true, kernel.ComputeType(t.DType()), t.DType())
	}
	ones := func(t *tensor.Tensor) *tensor.Tensor {
		shape := slices.Clone(t.Shape())
		shape[len(shape)-1] = 1
		return source.Must(tensor.Full(shape, tensor.Float(1), t.DType()))
	}
	left := concatOwn(elementwise.ScaleBy(a, -2), squares(a), ones(a))
	defer left.Release()
	beside := concatOwn(ones(b), squares(b))
	defer beside.Release()
	right := elementwise.OwnTransposed(elementwise.Concat([]*tensor.Tensor{b, beside}, -1), -2, -1)
	defer right.Release()
	d := Matmul(left, right)
	rootOf.RunTo(d, d)
	return d
}

// concatOwn joins tensors that nobody else uses along their last dimension.
func concatOwn(parts ...*tensor.Tensor) *tensor.Tensor {
	defer func() {
		for _, t := range parts {
			t.Release()
		}
	}()
	return elementwise.Concat(parts, -1)
}

// rootOf is the root of what should not be negative.
var rootOf = elementwise.New("cdist", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	return b.Unary(kernel.Sqrt, b.Binary(kernel.Max, x[0], b.Number(x[0], 0)))
})

// CosineType is the type that the cosines of angles between vectors of two tensors are computed in.
func CosineType(a, b *tensor.Tensor) tensor.DType {
	r := tensor.NewResultType()
	r.Tensor(a)
	r.Tensor(b)
	d := r.DType()
	source.Check(d.IsFloating(), "expected common dtype to be floating point, yet common dtype is %s", d.CppName())
	return d
}

// CosineSimilarity is the product along a dimension of a and b, each divided by its norm or by eps where that is larger.
func CosineSimilarity(a, b *tensor.Tensor, dim int, eps float64) *tensor.Tensor {
	common := CosineType(a, b)
	both := elementwise.BroadcastTensors([]*tensor.Tensor{elementwise.To(a, common), elementwise.To(b, common)})
	a, b = both[0], both[1]
	dims := []int{dim}
	norms := func(t *tensor.Tensor) *tensor.Tensor {
		return elementwise.ClampMin.WithNumber(reduce.VectorNorm(t, 2, dims, true, t.DType()), math.Abs(eps))
	}
	na, nb := norms(a), norms(b)
	d := a.DType()
	if d == b.DType() && d.IsFloating() && a.Dim() > 0 && define.WrapDim(dim, a) == a.Dim()-1 && a.Numel() > 0 {
		computed := kernel.ComputeType(d)
		x, y, u, v := elementwise.Contiguous(a), elementwise.Contiguous(b), elementwise.Contiguous(elementwise.To(na, computed)), elementwise.Contiguous(elementwise.To(nb, computed))
		n := a.Size(a.Dim() - 1)
		out := define.Empty(a.Shape()[:a.Dim()-1], d)
		operands := []launch.Row{launch.SingleOf(out), launch.RowOf(x, n), launch.RowOf(y, n), launch.SingleOf(u), launch.SingleOf(v)}
		rowCosine.Program(d, computed).ParallelRows(a.Numel()/n, n, operands, nil)
		return out
	}
	p := elementwise.Mul.On(elementwise.Div.On(a, na), elementwise.Div.On(b, nb))
	return reduce.Sum(p, dims, false, p.DType())
}

// rowCosine adds up the products of elements of two rows, each divided by a number of its row.
var rowCosine = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
	x, y, u, v := b.Input(in, computed), b.Input(in, computed), b.Input(computed, computed), b.Input(computed, computed)
	b.Reduce(kernel.ReduceSum, b.Mul(b.Div(x, u), b.Div(y, v)), in)
}}
