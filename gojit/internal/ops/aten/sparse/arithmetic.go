package sparse

import (
	"cmp"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sparseArithmetic are the elementwise operators of two tensors.
var sparseArithmetic = []ops.Def{
	{Name: "add.Tensor", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return addSparse(c.Tensor(0), c.Tensor(1), c.Args[2]) })},
	{Name: "add.Scalar", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return addSparse(c.Tensor(0), views.NumToTensor(c.Scalar(1)), c.Args[2])
	})},
	{Name: "sub.Tensor", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return addSparse(c.Tensor(0), c.Tensor(1), negated(c.Args[2])) })},
	{Name: "sub.Scalar", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return addSparse(c.Tensor(0), views.NumToTensor(c.Scalar(1)), negated(c.Args[2]))
	})},
	{Name: "rsub.Scalar", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return addSparse(views.NumToTensor(c.Scalar(1)), c.Tensor(0), negated(c.Args[2]))
	})},
	{Name: "mul.Tensor", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return mulSparse(c.Tensor(0), c.Tensor(1)) })},
	{Name: "mul.Scalar", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return scaled(c.Tensor(0), "mul.Scalar", c.Args[1]) })},
	{Name: "div.Tensor", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return divSparse(c, "div.Tensor", false, c.Args[1]) })},
	{Name: "div.Scalar", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return scaled(c.Tensor(0), "div.Scalar", c.Args[1]) })},
	{Name: "div.Tensor_mode", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return divSparse(c, "div.Tensor_mode", !c.IsNone(2), c.Args[1:]...)
	})},
	{Name: "div.Scalar_mode", Sparse: sparseGiving(divScalarMode)},
	{Name: "floor_divide", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return divSparse(c, "floor_divide", true, c.Args[1]) })},
	{Name: "floor_divide.Scalar", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		t := summed(c.Tensor(0))
		return onValues(t, define.Apply("floor_divide.Scalar", t.Sparse().Values, c.Args[1]))
	})},
}

func negated(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindFloat:
		return value.Float(-v.Float())
	case value.KindComplex:
		return value.Complex(-v.Complex())
	}
	return value.Int(-v.Int())
}

// promoted returns both tensors in the type of their sum.
func promoted(a, b *tensor.Tensor) (x, y *tensor.Tensor) {
	code := define.ApplyAll("result_type.Tensor", a, b)[0]
	d := tensor.DType(code.Int())
	return source.Must(a.To(d)), source.Must(b.To(d))
}

// addSparse returns a + alpha*b, of which at least one is sparse.
func addSparse(a, b *tensor.Tensor, alpha value.Value) *tensor.Tensor {
	source.Check(!a.IsSparse() || b.IsSparse(), "add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
	if !a.IsSparse() {
		source.Check(tensor.SameShape(a.Shape(), b.Shape()), "add: expected 'self' and 'other' to have same size, but self has size %s while other has size %s (FYI: dense-sparse addition does not currently support broadcasting)",
			define.ShapeText(a.Shape()), define.ShapeText(b.Shape()))
		strides := a
		a, b = promoted(a, b)
		if b.Layout().Compressed() {
			b = compressedToCOO(b)
		}
		return inLayoutOf(addToDense(source.Must(a.Clone(tensor.ContiguousFormat)), b, alpha), strides)
	}
	source.Check(tensor.SameShape(a.Shape(), b.Shape()), "add: expected sizes of 'self' and 'other' to match, but %s != %s", define.ShapeText(a.Shape()), define.ShapeText(b.Shape()))
	if a.Layout().Compressed() || b.Layout().Compressed() {
		return addCompressed(a, b, alpha)
	}
	x, y := promoted(a, b)
	switch {
	case y.Sparse().NNZ() == 0:
		return source.Must(x.ToSparseCopy(x.DType()))
	case x.Sparse().NNZ() == 0:
		return onValues(y, source.Must(define.Apply("mul.Scalar", y.Sparse().Values, alpha).To(y.DType())))
	}
	source.Check(sparseDims(x) == sparseDims(y), "add: expected 'self' and 'other' to have same density, but 'self' has %d sparse dimensions while 'other' has %d sparse dimensions", sparseDims(x), sparseDims(y))
	return mergeSum(x, y, alpha)
}

// inLayoutOf returns t laid out as another tensor of the shape.
func inLayoutOf(t, like *tensor.Tensor) *tensor.Tensor {
	if tensor.SameShape(t.Strides(), like.Strides()) {
		return t
	}
	out := source.Must(tensor.EmptyFormat(like, t.DType(), tensor.PreserveFormat))
	elementwise.Assign(out, t)
	return out
}

// mergeSum merges the places of two tensors in the order in which they are, equal ones that meet become one.
func mergeSum(x, y *tensor.Tensor, alpha value.Value) *tensor.Tensor {
	xs, ys := x.Sparse(), y.Sparse()
	xKeys, yKeys := cooKeys(x), cooKeys(y)
	var atX, atY, from []int // rows of the sum; from: columns of the indices side by side
	for i, j := 0, 0; i < len(xKeys) || j < len(yKeys); {
		row := len(from)
		takeX := j == len(yKeys) || i < len(xKeys) && xKeys[i] <= yKeys[j]
		takeY := i == len(xKeys) || j < len(yKeys) && yKeys[j] <= xKeys[i]
		if takeX {
			from, atX = append(from, i), append(atX, row)
			i++
		} else {
			from = append(from, len(xKeys)+j)
		}
		if takeY {
			atY = append(atY, row)
			j++
		}
	}
	indices := define.Apply("index_select", define.Apply("cat", []*tensor.Tensor{xs.Indices, ys.Indices}, 1), 1, int64s(from))
	sums := sumInto(len(from), atX, xs.Values)
	return views.Coo(x.Shape(), indices, addRows(sums, atY, ys.Values, alpha), xs.Coalesced && ys.Coalesced)
}

// scaled runs an operator with a number on the values.
func scaled(t *tensor.Tensor, name string, number any) *tensor.Tensor {
	return onValues(t, define.Apply(name, t.Sparse().Values, number))
}

// mulSparse returns a product, of whose factors at least one is sparse.
func mulSparse(a, b *tensor.Tensor) *tensor.Tensor {
	switch {
	case a.IsSparse() && !b.IsSparse() && b.Dim() == 0:
		return onValues(a, timesNumber(a, b))
	case b.IsSparse() && !a.IsSparse() && a.Dim() == 0:
		return onValues(b, timesNumber(b, a))
	case a.Layout().Compressed() || b.Layout().Compressed():
		return mulCompressed(a, b)
	case !b.IsSparse():
		return mulDense(a, b)
	case !a.IsSparse():
		return mulDense(b, a)
	}
	if tensor.SameShape(a.Shape(), b.Shape()) && (a.Sparse().NNZ() == 0 || b.Sparse().NNZ() == 0) {
		return views.EmptyCOO(a.Shape(), a.Dim(), tensor.DType(define.ApplyAll("result_type.Tensor", a, b)[0].Int()))
	}
	source.Check(tensor.SameShape(a.Shape(), b.Shape()) && sparseDims(a) == sparseDims(b),
		"sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse dimensions, and shape of sparse dimensions")
	return intersectInOrder(a, b)
}

// timesNumber multiplies the values by a tensor without dimensions, whose type counts as that of a number where it may.
func timesNumber(t, number *tensor.Tensor) *tensor.Tensor {
	d := tensor.DType(define.ApplyAll("result_type.Tensor", t, number)[0].Int())
	return source.Must(define.Apply("mul.Tensor", t.Sparse().Values, number).To(d))
}

// intersectInOrder is intersect, in PyTorch's order: by the places of the one that is not coalesced, else by those of the one with fewer values.
func intersectInOrder(a, b *tensor.Tensor) *tensor.Tensor {
	const many = 50 // equal places, from which the larger one is coalesced
	probe, other := a, b
	switch {
	case a.Sparse().Coalesced != b.Sparse().Coalesced:
		if a.Sparse().Coalesced {
			probe, other = b, a
		}
	case a.Sparse().NNZ() >= b.Sparse().NNZ():
		probe, other = b, a
	}
	if places, _ := tensor.SparseNumel(other.Shape()[:sparseDims(other)]); !other.Sparse().Coalesced && other.Sparse().NNZ()/max(places, 1) > many {
		other = coalesced(other)
	}
	return intersect(probe, other)
}

// intersect returns the products at places that both tensors have, in the order of the first one.
func intersect(probe, other *tensor.Tensor) *tensor.Tensor {
	keys := cooKeys(other)
	order := stableOrder(keys)
	var left, right []int
	for i, k := range cooKeys(probe) {
		at, _ := slices.BinarySearchFunc(order, k, func(j, k int) int { return cmp.Compare(keys[j], k) })
		for ; at < len(order) && keys[order[at]] == k; at++ {
			left, right = append(left, i), append(right, order[at])
		}
	}
	p, o := probe.Sparse(), other.Sparse()
	values := define.Apply("mul.Tensor", define.Apply("index_select", p.Values, 0, int64s(left)), define.Apply("index_select", o.Values, 0, int64s(right)))
	return views.Coo(probe.Shape(), define.Apply("index_select", p.Indices, 1, int64s(left)), values, p.Coalesced && o.Coalesced)
}

// mulDense multiplies the values by the elements at their places.
func mulDense(t, dense *tensor.Tensor) *tensor.Tensor {
	shape := source.Must(tensor.Broadcast(t.Shape(), dense.Shape()))
	if !tensor.SameShape(shape, t.Shape()) {
		if wide := broadcastSparse(t, shape); t.Sparse().Coalesced {
			t = coalesced(wide)
		} else {
			t = wide
		}
	}
	if t.Sparse().NNZ() == 0 {
		return views.EmptyCOO(shape, len(shape), tensor.DType(define.ApplyAll("result_type.Tensor", t, dense)[0].Int()))
	}
	return onValues(t, define.Apply("mul.Tensor", t.Sparse().Values, atPlaces(source.Must(dense.Expand(shape...)), t)))
}

// atPlaces returns the elements of a tensor at the places of a sparse one of the same shape.
func atPlaces(dense, t *tensor.Tensor) *tensor.Tensor {
	return valuesAt(dense, t.Sparse().Indices)
}

// divSparse divides the values by a number, or by a tensor without dimensions.
func divSparse(c define.Call, name string, rounds bool, rest ...value.Value) *tensor.Tensor {
	t, divisor := c.Tensor(0), c.Tensor(1)
	source.Check(!divisor.IsSparse() && divisor.Dim() == 0, "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape %s for divisor)", define.ShapeText(divisor.Shape()))
	if rounds {
		t = summed(t)
	}
	args := []any{t.Sparse().Values}
	for _, a := range rest {
		args = append(args, a)
	}
	return onValues(t, define.Apply(name, args...))
}

func divScalarMode(c define.Call) *tensor.Tensor {
	t := c.Tensor(0)
	if !c.IsNone(2) {
		t = summed(t)
	}
	return onValues(t, define.Apply("div.Scalar_mode", t.Sparse().Values, c.Args[1], c.Args[2]))
}

// broadcastSparse repeats a tensor along sparse dimensions, and along dense ones.
func broadcastSparse(t *tensor.Tensor, shape []int) *tensor.Tensor {
	s := requireCOO("_sparse_broadcast_to", t)
	lead := len(shape) - t.Dim()
	source.Check(lead >= 0, "input has %d dimensions, and the shape that it is broadcast to has %d", t.Dim(), len(shape))
	dims := sparseDims(t)
	repeat, sparseShape := 1, shape[:lead+dims]
	var added []int // the sizes along which places are repeated
	for d, n := range sparseShape {
		size := 1
		if d < lead || t.Size(d-lead) == 1 && n != 1 {
			size = n
		} else if t.Size(d-lead) != n {
			source.Raise(source.RuntimeError, "The expanded size of the tensor (%d) must match the existing size (%d) at non-singleton dimension %d.", n, t.Size(d-lead), d)
		}
		added = append(added, size)
		repeat *= size
	}
	nnz := s.NNZ()
	indices := define.Zeros([]int{lead + dims, nnz * repeat}, tensor.Int64)
	if nnz*repeat > 0 {
		fillRepeated(tensor.Data[int64](indices), tensor.Data[int64](elementwise.Contiguous(s.Indices)), added, lead, nnz, repeat)
	}
	values := define.Apply("repeat_interleave.self_int", s.Values, repeat, 0)
	values = source.Must(values.Expand(slices.Concat([]int{nnz * repeat}, shape[lead+dims:])...))
	return views.Coo(shape, indices, elementwise.Contiguous(values), s.Coalesced && repeat == 1)
}

// fillRepeated writes each of nnz places once for every index of the sizes added.
func fillRepeated(dst, src []int64, added []int, lead, nnz, repeat int) {
	for d := range added {
		inner := 1
		for _, n := range added[d+1:] {
			inner *= n
		}
		for j := range nnz {
			for r := range repeat {
				i := int64(r / inner % added[d])
				if d >= lead {
					i += src[(d-lead)*nnz+j]
				}
				dst[d*nnz*repeat+j*repeat+r] = i
			}
		}
	}
}
