package indexing

import (
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// along names one element of a tensor for each element of an index: the one with the same
// coordinates but the index's value along a dimension.
type along struct {
	index         []int64 // in row-major order
	n             int     // length of a row of the index
	rows          []int   // offset in the tensor of each row, the named dimension left out
	step          int     // from one element of a row to the next
	dim           int
	limit, stride int // of the named dimension
}

// newAlong checks the index; its values are checked when they are used.
func newAlong(name string, t *tensor.Tensor, dim int, index *tensor.Tensor) along {
	checkAlong(name, t, dim, index)
	dim = define.WrapDim(dim, t)
	a := along{index: tensor.Data[int64](elementwise.Contiguous(index)), dim: dim, limit: 1, stride: 1, n: index.Numel(), rows: OneOffset}
	if t.Dim() == 0 {
		return a
	}
	a.limit, a.stride = t.Size(dim), t.Strides()[dim]
	shape, strides := index.Shape(), slices.Clone(t.Strides())
	if index.Dim() == 0 {
		shape = []int{1}
	}
	strides[dim] = 0
	last := len(shape) - 1
	a.n, a.step, a.rows = shape[last], strides[last], offsetsOf(shape[:last], strides[:last])
	return a
}

// checkAlong fails where an index does not suit a tensor.
func checkAlong(name string, t *tensor.Tensor, dim int, index *tensor.Tensor) {
	source.Check(index.DType() == tensor.Int64, "%s(): Expected dtype int64 for index", name)
	dim = define.WrapDim(dim, t)
	source.Check(max(index.Dim(), 1) == max(t.Dim(), 1), "Index tensor must have the same number of dimensions as %s tensor", map[bool]string{true: "input", false: "self"}[name == "gather"])
	if t.Dim() == 0 || index.Dim() == 0 {
		return
	}
	for d, n := range index.Shape() {
		source.Check(d == dim || n <= t.Size(d), "Size does not match at dimension %d expected index %s to be smaller than self %s apart from dimension %d", d, define.ShapeText(index.Shape()), define.ShapeText(t.Shape()), dim)
	}
}

// each calls f for rows, or parts of rows, of the elements from lo to hi: k is the number of the first
// and base its offset without the named dimension.
func (a *along) each(lo, hi int, f func(k, base int, index []int64)) {
	for k := lo; k < hi; {
		row, at := k/a.n, k%a.n
		m := min(a.n-at, hi-k)
		f(k, a.rows[row]+at*a.step, a.index[k:k+m])
		k += m
	}
}

// outside fails for an index that the dimension does not have.
func (a *along) outside(v int64) {
	source.Raise(source.RuntimeError, "index %d is out of bounds for dimension %d with size %d", v, a.dim, a.limit)
}

// Gather is gather.
func Gather(t *tensor.Tensor, dim int, index *tensor.Tensor) *tensor.Tensor {
	if t.OnDevice() {
		return gatherOnDevice(t, dim, index)
	}
	define.WrapDim(dim, t)
	out := define.Empty(index.Shape(), t.DType())
	if out.Numel() == 0 {
		return out
	}
	a := newAlong("gather", t, dim, index)
	BySize(t.DType().Size(),
		func() { gatherAlong[uint8](out, t, &a) }, func() { gatherAlong[uint16](out, t, &a) },
		func() { gatherAlong[uint32](out, t, &a) }, func() { gatherAlong[uint64](out, t, &a) },
		func() { gatherAlong[[2]uint64](out, t, &a) })
	return out
}

func gatherAlong[W Word](out, t *tensor.Tensor, a *along) {
	dst, src, size := unsafe.Slice((*W)(out.DataPtr()), out.Numel()), t.DataPtr(), int(unsafe.Sizeof(*new(W)))
	parallel.For(len(a.index), define.RowGrain, func(lo, hi int) {
		a.each(lo, hi, func(k, base int, index []int64) {
			if bad := gatherRow(dst[k:k+len(index)], index, unsafe.Add(src, base*size), a.step, a.stride, a.limit); bad >= 0 {
				a.outside(index[bad])
			}
		})
	})
}

// gatherRow fetches elements, each one step after the last and an index times the stride further. It
// returns the number of the first index that is not below the limit, or -1.
//
//go:noinline
func gatherRow[W Word](dst []W, index []int64, src unsafe.Pointer, step, stride, limit int) int {
	if step == 0 && stride == 1 {
		row := unsafe.Slice((*W)(src), limit)
		dst = dst[:len(index)]
		for j, v := range index {
			if uint64(v) >= uint64(len(row)) {
				return j
			}
			dst[j] = row[v]
		}
		return -1
	}
	step, stride = step*int(unsafe.Sizeof(*new(W))), stride*int(unsafe.Sizeof(*new(W)))
	off := 0
	dst = dst[:len(index)]
	for j, v := range index {
		if uint64(v) >= uint64(limit) {
			return j
		}
		dst[j] = *(*W)(unsafe.Add(src, off+int(v)*stride))
		off += step
	}
	return -1
}

// ScatterInto combines the elements of src, of which the first in each dimension are used, with
// those of t at the indexed places. Where an index is outside, what comes before it is done, as in PyTorch.
func ScatterInto(t *tensor.Tensor, dim int, index, src *tensor.Tensor, how combine) {
	source.Check(src.DType() == t.DType(), "scatter(): Expected self.dtype to be equal to src.dtype")
	define.WrapDim(dim, t)
	if index.Numel() == 0 {
		return
	}
	elementwise.CheckInside(t)
	var a along
	if t.OnDevice() {
		checkAlong("scatter", t, dim, index)
	} else {
		a = newAlong("scatter", t, dim, index)
	}
	source.Check(src.Dim() == index.Dim() || src.Numel() == 1 && index.Numel() == 1, "Index tensor must have the same number of dimensions as src tensor")
	for d, n := range index.Shape() {
		if src.Dim() == 0 {
			break
		}
		source.Check(n <= src.Size(d), "Expected index %s to be smaller than src %s in all dimensions", define.ShapeText(index.Shape()), define.ShapeText(src.Shape()))
		src = source.Must(src.Slice(d, 0, n, 1))
	}
	if t.OnDevice() {
		if src.SharesStorage(t) {
			src = source.Must(src.Clone(tensor.ContiguousFormat))
		}
		x, outside := alongDevice("scatter", t, dim, index, elementwise.Contiguous(src))
		x.run(false, how, outside)
		return
	}
	flat := elementwise.Contiguous(src)
	defer define.ForgetMade(src, flat)
	if how != Replace {
		a.accumulate(t, flat, how)
		return
	}
	a.scatter(t, flat)
}

// scatterAlong goes through the elements in order: of several for one place the last one stays.
func scatterAlong[W Word](t, values *tensor.Tensor, a *along) { storeRows(t, values, a, scatterRow[W]) }

// rowStore combines values with elements of a row, each one step after the last and an index times the stride further. It
// returns the number of the first index that is not below the limit, or -1.
type rowStore[T any] func(dst unsafe.Pointer, index []int64, src []T, step, stride, limit int) int

// storeRows goes through the values in order, row by row.
func storeRows[T any](t, values *tensor.Tensor, a *along, row rowStore[T]) {
	src, dst, size := unsafe.Slice((*T)(values.DataPtr()), values.Numel()), t.DataPtr(), int(unsafe.Sizeof(*new(T)))
	length := a.limit * a.stride * size
	if a.step != 0 || a.stride != 1 || length > longestFetched {
		length = 0
	}
	store := func(k, base int, index []int64) {
		if length > 0 && length <= cacheLine*len(index)/4 { // so many indices need most lines of the row
			fetched(unsafe.Slice((*byte)(unsafe.Add(dst, base*size)), length))
		}
		if bad := row(unsafe.Add(dst, base*size), index, src[k:k+len(index)], a.step, a.stride, a.limit); bad >= 0 {
			a.outside(index[bad])
		}
	}
	for lo := 0; lo < len(a.index); lo += define.LookEvery {
		a.each(lo, define.BlockEnd(lo, len(a.index)), store)
	}
}

const (
	cacheLine      = 64
	longestFetched = 256 << 10 // bytes, which stay in the second cache
)

// fetched reads each cache line of a row. Stores in any order become visible one after the other, and each would wait alone for a line from memory.
//
//go:noinline
func fetched(row []byte) (sum byte) {
	for len(row) > cacheLine {
		sum += row[0]
		row = row[cacheLine:]
	}
	return sum
}

//go:noinline
func scatterRow[W Word](dst unsafe.Pointer, index []int64, src []W, step, stride, limit int) int {
	src = src[:len(index)]
	if step == 0 && stride == 1 {
		row := unsafe.Slice((*W)(dst), limit)
		for j, v := range index {
			if uint64(v) >= uint64(len(row)) {
				return j
			}
			row[v] = src[j]
		}
		return -1
	}
	step, stride = step*int(unsafe.Sizeof(*new(W))), stride*int(unsafe.Sizeof(*new(W)))
	off := 0
	for j, v := range index {
		if uint64(v) >= uint64(limit) {
			return j
		}
		*(*W)(unsafe.Add(dst, off+int(v)*stride)) = src[j]
		off += step
	}
	return -1
}

// addAlong adds values to the named elements in order.
func addAlong[T plainNumber | complex64 | complex128](t, values *tensor.Tensor, a *along) {
	storeRows(t, values, a, addRow[T])
}

// addHalves is addRow for sums that are rounded to 16 bits.
//
//go:noinline
func addHalves(dst unsafe.Pointer, index []int64, src []tensor.F16, step, stride, limit int) int {
	src = src[:len(index)]
	off := 0
	for j, v := range index {
		if uint64(v) >= uint64(limit) {
			return j
		}
		p := (*tensor.F16)(unsafe.Add(dst, (off+int(v)*stride)*2))
		*p = tensor.ToF16(p.Float32() + src[j].Float32())
		off += step
	}
	return -1
}

// addBFloats is addHalves for the other type of 16 bits.
//
//go:noinline
func addBFloats(dst unsafe.Pointer, index []int64, src []tensor.BF16, step, stride, limit int) int {
	src = src[:len(index)]
	off := 0
	for j, v := range index {
		if uint64(v) >= uint64(limit) {
			return j
		}
		p := (*tensor.BF16)(unsafe.Add(dst, (off+int(v)*stride)*2))
		*p = tensor.ToBF16(p.Float32() + src[j].Float32())
		off += step
	}
	return -1
}

// addRow is scatterRow with additions.
//
//go:noinline
func addRow[T plainNumber | complex64 | complex128](dst unsafe.Pointer, index []int64, src []T, step, stride, limit int) int {
	src = src[:len(index)]
	if step == 0 && stride == 1 {
		row := unsafe.Slice((*T)(dst), limit)
		for j, v := range index {
			if uint64(v) >= uint64(len(row)) {
				return j
			}
			row[v] += src[j]
		}
		return -1
	}
	step, stride = step*int(unsafe.Sizeof(*new(T))), stride*int(unsafe.Sizeof(*new(T)))
	off := 0
	for j, v := range index {
		if uint64(v) >= uint64(limit) {
			return j
		}
		*(*T)(unsafe.Add(dst, off+int(v)*stride)) += src[j]
		off += step
	}
	return -1
}

// orRow is addRow for truth values.
func orRow(dst unsafe.Pointer, index []int64, src []uint8, step, stride, limit int) int {
	for j, v := range index {
		if uint64(v) >= uint64(limit) {
			return j
		}
		*(*uint8)(unsafe.Add(dst, j*step+int(v)*stride)) |= src[j]
	}
	return -1
}

// combineAlong is accumulate for numbers.
func combineAlong[T plainNumber](t, values *tensor.Tensor, a *along, how combine) {
	if how == AddTo {
		addAlong[T](t, values, a)
		return
	}
	storeRows(t, values, a, func(dst unsafe.Pointer, index []int64, src []T, step, stride, limit int) int {
		return combineRow(dst, index, src, step, stride, limit, how)
	})
}

// combineRow is addRow for other combinations.
//
//go:noinline
func combineRow[T plainNumber](dst unsafe.Pointer, index []int64, src []T, step, stride, limit int, how combine) int {
	src = src[:len(index)]
	step, stride = step*int(unsafe.Sizeof(*new(T))), stride*int(unsafe.Sizeof(*new(T)))
	off := 0
	for j, v := range index {
		if uint64(v) >= uint64(limit) {
			return j
		}
		p := (*T)(unsafe.Add(dst, off+int(v)*stride))
		switch how {
		case multiply:
			*p *= src[j]
		case greatest:
			*p = max(*p, src[j])
		default:
			*p = min(*p, src[j])
		}
		off += step
	}
	return -1
}

// putLine combines values, contiguous, with the elements of the vector t at places, which are checked.
func putLine(t, values *tensor.Tensor, places []int64, how combine) {
	a := along{index: places, n: len(places), rows: OneOffset, limit: t.Size(0), stride: t.Strides()[0]}
	if how != Replace {
		a.accumulate(t, values, how)
		return
	}
	a.scatter(t, values)
}

// scatter puts values, contiguous, in the place of the named elements.
func (a *along) scatter(t, values *tensor.Tensor) {
	BySize(t.DType().Size(),
		func() { scatterAlong[uint8](t, values, a) }, func() { scatterAlong[uint16](t, values, a) },
		func() { scatterAlong[uint32](t, values, a) }, func() { scatterAlong[uint64](t, values, a) },
		func() { scatterAlong[[2]uint64](t, values, a) })
}

// accumulate combines values with the named elements in order.
func (a *along) accumulate(t, values *tensor.Tensor, how combine) {
	switch t.DType() {
	case tensor.Float32:
		combineAlong[float32](t, values, a, how)
		return
	case tensor.Float64:
		combineAlong[float64](t, values, a, how)
		return
	case tensor.Int64:
		combineAlong[int64](t, values, a, how)
		return
	case tensor.Int32:
		combineAlong[int32](t, values, a, how)
		return
	case tensor.Int16:
		combineAlong[int16](t, values, a, how)
		return
	case tensor.Int8:
		combineAlong[int8](t, values, a, how)
		return
	case tensor.Uint8:
		combineAlong[uint8](t, values, a, how)
		return
	case tensor.Bool:
		if how != AddTo { // as of bytes, which are 0 and 1
			combineAlong[uint8](t, values, a, how)
			return
		}
	}
	if how == AddTo {
		switch t.DType() {
		case tensor.Complex64:
			addAlong[complex64](t, values, a)
			return
		case tensor.Complex128:
			addAlong[complex128](t, values, a)
			return
		case tensor.BFloat16:
			storeRows(t, values, a, addBFloats)
			return
		case tensor.Float16:
			storeRows(t, values, a, addHalves)
			return
		case tensor.Bool:
			storeRows(t, values, a, orRow)
			return
		}
	}
	offsets := make([]int, min(accumulatedAtOnce, len(a.index)))
	data, size := values.DataPtr(), t.DType().Size()
	var watch parallel.Watch
	for lo := 0; lo < len(a.index); lo += len(offsets) {
		part := offsets[:min(len(offsets), len(a.index)-lo)]
		watch.Did(len(part))
		a.each(lo, lo+len(part), func(k, base int, index []int64) {
			for j, v := range index {
				if uint64(v) >= uint64(a.limit) {
					a.outside(v)
				}
				part[k-lo+j] = base + j*a.step + int(v)*a.stride
			}
		})
		accumulateTo(t, unsafe.Add(data, lo*size), part, OneOffset, how)
	}
}

// accumulatedAtOnce is how many offsets are listed at once: they stay in the cache.
const accumulatedAtOnce = 1024
