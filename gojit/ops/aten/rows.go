package aten

import (
	"slices"
	"unsafe"

	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
)

// indicesOf returns the elements of an int32 or int64 tensor.
func indicesOf(index *tensor.Tensor) []int64 {
	return tensor.Data[int64](contiguous(to(index, tensor.Int64)))
}

// firstOutside returns the first index that is not from low to n-1, or -1 where there is none.
func firstOutside(index []int64, low, n int) int {
	room, first := uint64(n-low), int64(low)
	for i, v := range index {
		if uint64(v-first) >= room {
			return i
		}
	}
	return -1
}

// pickSlices fills out, contiguous, with the slices of t, contiguous, at indices of a dimension. The indices are in range;
// negative ones count from the end.
func pickSlices(out, t *tensor.Tensor, dim int, index []int64) {
	if out.Numel() == 0 {
		return
	}
	n, inner := 1, 1
	if t.Dim() > 0 {
		n, inner = t.Size(dim), numelOf(t.Shape()[dim+1:])
	}
	outer, width := t.Numel()/(n*inner), inner*t.DType().Size()
	if width <= 16 && width&(width-1) == 0 {
		bySize(width,
			func() { pickWords[uint8](out, t, outer, n, index) }, func() { pickWords[uint16](out, t, outer, n, index) },
			func() { pickWords[uint32](out, t, outer, n, index) }, func() { pickWords[uint64](out, t, outer, n, index) },
			func() { pickWords[[2]uint64](out, t, outer, n, index) })
		return
	}
	dst, src := unsafe.Slice((*byte)(out.DataPtr()), outer*len(index)*width), unsafe.Slice((*byte)(t.DataPtr()), outer*n*width)
	tensor.Parallel(outer*len(index), rowGrain*4/width+1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			at := int(index[k%len(index)])
			if at < 0 {
				at += n
			}
			from := (k/len(index)*n + at) * width
			copy(dst[k*width:(k+1)*width], src[from:from+width])
		}
	})
}

func pickWords[W word](out, t *tensor.Tensor, outer, n int, index []int64) {
	dst, src := unsafe.Slice((*W)(out.DataPtr()), outer*len(index)), unsafe.Slice((*W)(t.DataPtr()), outer*n)
	tensor.Parallel(outer, rowGrain/len(index)+1, func(lo, hi int) {
		for o := lo; o < hi; o++ {
			pickRow(dst[o*len(index):(o+1)*len(index)], src[o*n:(o+1)*n], index)
		}
	})
}

// pickRow fetches elements of a row; negative indices count from its end.
//
//go:noinline
func pickRow[W word](dst, row []W, index []int64) {
	dst = dst[:len(index)]
	for i, at := range index {
		dst[i] = row[at+at>>63&int64(len(row))]
	}
}

func indexSelect(t *tensor.Tensor, dim int, index *tensor.Tensor) *tensor.Tensor {
	dim = wrapDim(dim, t)
	n := 1
	shape := t.Shape()
	if t.Dim() > 0 {
		n = t.Size(dim)
		shape = slices.Clone(shape)
		shape[dim] = index.Numel()
	}
	check(index.DType() == tensor.Int64 || index.DType() == tensor.Int32, "index_select(): Expected dtype int32 or int64 for index")
	if index.Dim() > 1 {
		raise(source.IndexError, "index_select(): Index is supposed to be a vector")
	}
	check(n > 0 || index.Numel() == 0 || t.Dim() == 1, "index_select(): self indexing axis dim should be positive")
	check(t.Dim() > 0 || index.Numel() == 1, "index_select(): Index to scalar can have only 1 value, got %d value(s)", index.Numel())
	list := indicesOf(index)
	if bad := firstOutside(list, 0, n); bad >= 0 {
		check(t.Dim() <= 1, "INDICES element is out of DATA bounds, id=%d axis_dim=%d", list[bad], n)
		raise(source.IndexError, "index out of range in self")
	}
	out := empty(shape, t.DType())
	if t.IsContiguous() {
		pickSlices(out, t, dim, list)
	} else if out.Numel() > 0 {
		outer, inner := spreadOffsets(t, dim, integersOf(index))
		moveFrom(out, t, outer, inner)
	}
	return out
}

// indexFirst is t[index] for a contiguous tensor and an index tensor of its first dimension; ok is false for others.
func indexFirst(t, index *tensor.Tensor) (out *tensor.Tensor, ok bool) {
	if index.DType() != tensor.Int64 || t.Dim() == 0 || !t.IsContiguous() {
		return nil, false
	}
	list, n := indicesOf(index), t.Size(0)
	if bad := firstOutside(list, -n, n); bad >= 0 {
		raise(source.IndexError, "index %d is out of bounds for dimension 0 with size %d", list[bad], n)
	}
	out = empty(append(slices.Clone(index.Shape()), t.Shape()[1:]...), t.DType())
	pickSlices(out, t, 0, list)
	return out, true
}

func take(t, at *tensor.Tensor) *tensor.Tensor {
	check(at.DType() == tensor.Int64, "take(): Expected a long tensor for index, but got %s", at.DType().CppName())
	flat := contiguous(t)
	out := empty(at.Shape(), t.DType())
	list, n := indicesOf(at), flat.Numel()
	if bad := firstOutside(list, -n, n); bad >= 0 {
		raise(source.IndexError, "out of range: tried to access index %d on a tensor of %d elements.", list[bad], n)
	}
	pickSlices(out, must(flat.View(-1)), 0, list)
	return out
}

// repeat lays copies of a tensor side by side.
func repeat(t *tensor.Tensor, times []int) *tensor.Tensor {
	check(len(times) >= t.Dim(), "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
	lead := len(times) - t.Dim()
	shape := append(slices.Repeat([]int{1}, lead), t.Shape()...)
	final := make([]int, len(times))
	for i, n := range times {
		final[i] = n * shape[i]
	}
	for i, n := range final {
		check(times[i] >= 0, "Trying to create tensor with negative dimension %d: %s", n, shapeText(final))
	}
	if isMeta(t) {
		return must(tensor.EmptyMeta(final, t.DType()))
	}
	out := empty(final, t.DType())
	if out.Numel() == 0 {
		return out
	}
	// Dimensions that are not repeated join the row that is copied.
	row := t.DType().Size()
	last := len(times)
	for ; last > 0 && times[last-1] == 1; last-- {
		row *= shape[last-1]
	}
	r := tiling{shape: shape[:last], times: times[:last], row: row}
	r.run(out, t)
	return out
}

// run fills out, contiguous, from t.
func (r *tiling) run(out, t *tensor.Tensor) {
	src := contiguous(t)
	size := t.DType().Size()
	r.fill(unsafe.Slice((*byte)(out.DataPtr()), out.Numel()*size), unsafe.Slice((*byte)(src.DataPtr()), src.Numel()*size), 0)
	if src != t {
		src.Release()
	}
}

// repeatWords writes each element some times.
func repeatWords[W word](out, t *tensor.Tensor, times int) {
	dst := unsafe.Slice((*W)(out.DataPtr()), out.Numel())
	for i, v := range unsafe.Slice((*W)(t.DataPtr()), t.Numel()) {
		part := dst[i*times : (i+1)*times]
		for j := range part {
			part[j] = v
		}
	}
}

// repeatEach repeats each slice along a dimension.
func repeatEach(t *tensor.Tensor, dim, times int) *tensor.Tensor {
	shape := slices.Clone(t.Shape())
	shape[dim] *= times
	out := empty(shape, t.DType())
	if out.Numel() > 0 {
		outer, inner := numelOf(t.Shape()[:dim+1]), numelOf(t.Shape()[dim+1:])
		if inner == 1 {
			src := contiguous(t)
			bySize(t.DType().Size(),
				func() { repeatWords[uint8](out, src, times) }, func() { repeatWords[uint16](out, src, times) },
				func() { repeatWords[uint32](out, src, times) }, func() { repeatWords[uint64](out, src, times) },
				func() { repeatWords[[2]uint64](out, src, times) })
			return out
		}
		r := tiling{shape: []int{outer, 1}, times: []int{1, times}, row: inner * t.DType().Size()}
		r.run(out, t)
	}
	return out
}

// tiling repeats blocks of bytes along dimensions, the innermost of which have rows of some bytes.
type tiling struct {
	shape, times []int
	row          int
}

// nearCopy is how many bytes are copied at once: more would pass by the caches.
const nearCopy = 256 << 10

// fill writes the copies along the dimensions from one on.
func (r *tiling) fill(dst, src []byte, dim int) {
	once := len(dst)
	if dim < len(r.shape) {
		once /= r.times[dim]
	}
	if dim >= len(r.shape)-1 {
		for from := 0; from < once; from += nearCopy {
			copy(dst[from:once], src[from:min(from+nearCopy, once)])
		}
	} else {
		n := r.shape[dim]
		for i := range n {
			r.fill(dst[i*once/n:(i+1)*once/n], src[i*len(src)/n:(i+1)*len(src)/n], dim+1)
		}
	}
	for done := once; done < len(dst); {
		from := done % once // as far into a copy as done is
		done += copy(dst[done:], dst[from:min(done, from+nearCopy)])
	}
}
