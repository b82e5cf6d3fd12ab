package indexing

import (
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/memory"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// lines are the rows of a tensor along one dimension, made contiguous. Equal elements of a row keep their order and a
// NaN is greater than any number.
type lines struct {
	source, t *tensor.Tensor // t: with the dimension last, contiguous
	dim       int
	dims      int
	count     int // rows
	n         int // elements of a row
}

// linesOf refuses complex types by the operator's name.
func linesOf(name string, t *tensor.Tensor, dim int) lines {
	source.Check(!t.DType().IsComplex(), "\"%s\" not implemented for '%s'", name, t.DType().CppName())
	l := lines{source: t, t: t, dim: define.WrapDim(dim, t), dims: t.Dim(), n: 1, count: 1}
	if t.Dim() > 0 {
		l.n = t.Size(l.dim)
		turned := source.Must(t.Transpose(l.dim, t.Dim()-1))
		l.count = define.NumelOf(turned.Shape()[:t.Dim()-1])
		if l.t = elementwise.Contiguous(turned); l.t != turned {
			turned.Release()
		}
		return l
	}
	l.t = elementwise.Contiguous(l.t)
	return l
}

// forget gives back the copy of the source, where there is one.
func (l *lines) forget() { define.ForgetMade(l.source, l.t) }

// row returns where a row begins.
func (l *lines) row(i int) unsafe.Pointer {
	return unsafe.Add(l.t.DataPtr(), i*l.n*l.t.DType().Size())
}

// like returns a tensor for k elements of each row, the dimension last.
func (l *lines) like(k int, d tensor.DType) *tensor.Tensor {
	shape := slices.Clone(l.t.Shape())
	if l.dims > 0 {
		shape[l.dims-1] = k
	}
	return define.Empty(shape, d)
}

// values returns the elements at the indices of each row, of which there are k.
func (l *lines) values(index *tensor.Tensor, k int) *tensor.Tensor {
	values := l.like(k, l.t.DType())
	if values.Numel() > 0 {
		BySize(values.DType().Size(),
			func() { takeFromRows[uint8](l, values, index, k) }, func() { takeFromRows[uint16](l, values, index, k) },
			func() { takeFromRows[uint32](l, values, index, k) }, func() { takeFromRows[uint64](l, values, index, k) },
			func() { takeFromRows[[2]uint64](l, values, index, k) })
	}
	return values
}

func takeFromRows[W Word](l *lines, values, index *tensor.Tensor, k int) {
	dst, at := unsafe.Slice((*W)(values.DataPtr()), values.Numel()), tensor.Data[int64](index)
	parallel.For(l.count, define.RowGrain/max(k, 1)+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := unsafe.Slice((*W)(l.row(i)), l.n)
			part := dst[i*k : (i+1)*k]
			for j, at := range at[i*k : (i+1)*k] {
				part[j] = row[at]
			}
		}
	})
}

// back puts the last dimension of a result into the dimension's place.
func (l *lines) back(t *tensor.Tensor) *tensor.Tensor {
	if l.dims == 0 || l.dim == l.dims-1 {
		return t
	}
	shape := slices.Clone(t.Shape())
	shape[l.dim], shape[l.dims-1] = shape[l.dims-1], shape[l.dim]
	out := define.EmptyBeside(t, shape, t.DType())
	elementwise.Assign(source.Must(out.Transpose(l.dim, l.dims-1)), t)
	t.Release()
	return out
}

// backLike is back into the layout that an elementwise result over the source has.
func (l *lines) backLike(t *tensor.Tensor) *tensor.Tensor {
	if l.dims == 0 || l.dim == l.dims-1 && l.source.IsContiguous() {
		return t
	}
	out := source.Must(tensor.EmptyFormatOn(t.Device(), l.source, t.DType(), tensor.PreserveFormat))
	into := source.Must(out.Transpose(l.dim, l.dims-1))
	if slices.Equal(into.Strides(), t.Strides()) {
		out.Release()
		return elementwise.OwnTransposed(t, l.dim, l.dims-1)
	}
	elementwise.Assign(into, t)
	t.Release()
	return out
}

// each calls f for the rows, several at once where a row is work for that many elements.
func (l *lines) each(work int, f func(lo, hi int)) {
	parallel.For(l.count, define.RowGrain/max(work, 1)+1, f)
}

// ordered gives the indices of the first k elements of each row in the order.
func (l *lines) ordered(k int, descending bool) *tensor.Tensor {
	index := l.like(k, tensor.Int64)
	if index.Numel() == 0 {
		return index
	}
	at := tensor.Data[int64](index)
	if k <= fewFirst && 4*k <= l.n {
		l.first(at, k, descending)
		return index
	}
	l.each(8*l.n, func(lo, hi int) {
		o := newOrderer(l.n, l.t.DType(), descending)
		defer o.release()
		for i := lo; i < hi; i++ {
			o.order(at[i*k:(i+1)*k], l.row(i))
		}
	})
	return index
}

// fewFirst is how many first elements are kept in order while a row is walked, rather than sorting it.
const fewFirst = 64

// first is ordered for few elements.
func (l *lines) first(at []int64, k int, descending bool) {
	switch l.t.DType() {
	case tensor.Float32:
		firstOfRows[float32](l, at, k, descending)
	case tensor.Float64:
		firstOfRows[float64](l, at, k, descending)
	case tensor.Int64:
		firstOfRows[int64](l, at, k, descending)
	case tensor.Int32:
		firstOfRows[int32](l, at, k, descending)
	case tensor.Int16:
		firstOfRows[int16](l, at, k, descending)
	case tensor.Int8:
		firstOfRows[int8](l, at, k, descending)
	case tensor.Bool, tensor.Uint8:
		firstOfRows[uint8](l, at, k, descending)
	default:
		wide := *l
		wide.t = elementwise.To(l.t, tensor.Float32)
		firstOfRows[float32](&wide, at, k, descending)
	}
}

func firstOfRows[T plainNumber](l *lines, at []int64, k int, descending bool) {
	l.each(l.n, func(lo, hi int) {
		kept := make([]T, k)
		for i := lo; i < hi; i++ {
			selectFirst(unsafe.Slice((*T)(l.row(i)), l.n), at[i*k:(i+1)*k], kept, descending)
		}
	})
}

// selectFirst puts the places of the first elements of a row into order, and the elements into kept.
// The row has at least as many.
func selectFirst[T plainNumber](row []T, order []int64, kept []T, descending bool) {
	k := len(order)
	kept = kept[:k]
	insert := func(at int, v T, place int) {
		switch {
		case v != v: // greater than any number
			for ; at > 0 && descending && kept[at-1] == kept[at-1]; at-- {
				kept[at], order[at] = kept[at-1], order[at-1]
			}
		case descending:
			for ; at > 0 && v > kept[at-1]; at-- {
				kept[at], order[at] = kept[at-1], order[at-1]
			}
		default:
			for ; at > 0 && !(v >= kept[at-1]); at-- {
				kept[at], order[at] = kept[at-1], order[at-1]
			}
		}
		kept[at], order[at] = v, int64(place)
	}
	for j, v := range row[:k] {
		insert(j, v, j)
	}
	for start := k; start < len(row); start += define.LookEvery {
		if start > k {
			parallel.Look()
		}
		part := row[start:min(start+define.LookEvery, len(row))]
		for j := 0; j < len(part); j++ {
			// A later element that equals the last one kept does not replace it.
			bound := kept[k-1]
			j += passed(part[j:], bound, descending)
			if j < len(part) && (descending && bound == bound || !descending && part[j] == part[j]) { // of NaNs and numbers
				insert(k-1, part[j], start+j)
			}
		}
	}
}

// passed counts the elements at the front that are certainly not before a bound. It is a function of its own for the registers.
//
//go:noinline
func passed[T plainNumber](row []T, bound T, descending bool) int {
	n := memory.NotBeyond(row, bound, descending)
	if descending {
		for j, v := range row[n:] {
			if !(v <= bound) {
				return n + j
			}
		}
		return len(row)
	}
	for j, v := range row[n:] {
		if !(v >= bound) {
			return n + j
		}
	}
	return len(row)
}

// SortAlong is sort, which is stable.
func SortAlong(t *tensor.Tensor, dim int, descending bool) (values, indices *tensor.Tensor) {
	l := linesOf("sorting_kernel_method_name", t, dim)
	defer l.forget()
	if t.OnDevice() {
		values, order := l.sortedOnDevice(descending)
		return l.backLike(values), l.backLike(order)
	}
	order := l.ordered(l.n, descending)
	return l.backLike(l.values(order, l.n)), l.backLike(order)
}

func argsort(t *tensor.Tensor, dim int, descending bool) *tensor.Tensor {
	l := linesOf("sorting_kernel_method_name", t, dim)
	defer l.forget()
	if t.OnDevice() {
		return l.backLike(Second(l.sortedOnDevice(descending)))
	}
	return l.backLike(l.ordered(l.n, descending))
}

// TopK is topk, in order.
func TopK(t *tensor.Tensor, k, dim int, largest bool) (values, indices *tensor.Tensor) {
	d := define.WrapDim(dim, t)
	n := 1
	if t.Dim() > 0 {
		n = t.Size(d)
	}
	source.Check(k >= 0 && k <= n, "selected index k out of range")
	if t.Dim() == 0 {
		k = 1
	}
	l := linesOf("topk_cpu", t, dim)
	defer l.forget()
	if t.OnDevice() {
		values, order := l.firstOnDevice(k, largest)
		return l.back(values), l.back(order)
	}
	order := l.ordered(k, largest)
	return l.back(l.values(order, k)), l.back(order)
}

var SortFamily = []define.Definition{
	define.Operator("sort", func(c define.Call) { c.Give(define.Pair(SortAlong(c.Tensor(0), c.Int(1), c.Bool(2)))...) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { reduce.ChosenGrad(c, c.Int(1), true) })}).OutIterated().Quantized(define.SameScale),
	define.Operator("sort.stable", func(c define.Call) { c.Give(define.Pair(SortAlong(c.Tensor(0), c.Int(2), c.Bool(3)))...) }).OutIterated().Quantized(define.SameScale),
	define.Giving("argsort", func(c define.Call) *tensor.Tensor { return argsort(c.Tensor(0), c.Int(1), c.Bool(2)) }).Quantized(define.Unquantized),
	define.Giving("argsort.stable", func(c define.Call) *tensor.Tensor { return argsort(c.Tensor(0), c.Int(2), c.Bool(3)) }),
	define.Giving("msort", func(c define.Call) *tensor.Tensor { return define.Pair(SortAlong(c.Tensor(0), 0, false))[0] }).Quantized(define.SameScale),
	define.Operator("topk", func(c define.Call) { c.Give(define.Pair(TopK(c.Tensor(0), c.Int(1), c.Int(2), c.Bool(3)))...) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { reduce.ChosenGrad(c, c.Int(2), true) })}).Quantized(define.SameScale),
}

// Second returns b.
func Second(_, b *tensor.Tensor) *tensor.Tensor { return b }
