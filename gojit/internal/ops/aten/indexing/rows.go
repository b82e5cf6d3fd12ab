package indexing

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// indicesOf returns the elements of an int32 or int64 tensor.
func indicesOf(index *tensor.Tensor) []int64 {
	return tensor.Data[int64](elementwise.Contiguous(elementwise.To(index, tensor.Int64)))
}

// rangeChecks keeps the kernel that says whether an index is negative seen from one end of a range or the other.
var rangeChecks elementwise.TypePrograms

// firstOutside returns the first index that is not from low to n-1, or -1 where there is none.
func firstOutside(index []int64, low, n int) int {
	first, last := int64(low), int64(n-1)
	if len(index) >= define.RowGrain {
		p := rangeChecks.Of(tensor.Int64, func(b *kernel.Builder) {
			x := b.Input(tensor.Int64, tensor.Int64)
			b.Reduce(kernel.ReduceMin, b.Binary(kernel.Or, b.Sub(x, b.Param(tensor.Int64)), b.Sub(b.Param(tensor.Int64), x)), tensor.Int64)
		})
		var signs int64
		operands := []launch.Row{{Ptr: unsafe.Pointer(&signs), Single: true}, {Ptr: unsafe.Pointer(&index[0])}}
		if p.ParallelRows(1, len(index), operands, []tensor.Scalar{tensor.Int(first), tensor.Int(last)}); signs >= 0 {
			return -1
		}
	}
	return slices.IndexFunc(index, func(v int64) bool { return v < first || v > last })
}

// pickSlices fills out, contiguous, with the slices of t, contiguous, at indices of a dimension. It returns the first index
// that is not from low to n-1, for which out is of no use, or -1; negative ones count from the end.
func pickSlices(out, t *tensor.Tensor, dim int, index []int64, low int) (bad int) {
	n, inner := 1, 1
	if t.Dim() > 0 {
		n, inner = t.Size(dim), define.NumelOf(t.Shape()[dim+1:])
	}
	width := inner * t.DType().Size()
	word := width == 1 || width == 2 || width == 4 || width == 8 || width == 16
	if word && n == t.Numel()/inner {
		switch width {
		case 1:
			return pickWords[uint8](out, t, n, index, low)
		case 2:
			return pickWords[uint16](out, t, n, index, low)
		case 4:
			return pickWords[uint32](out, t, n, index, low)
		case 8:
			return pickWords[uint64](out, t, n, index, low)
		}
		return pickWords[[2]uint64](out, t, n, index, low)
	}
	if bad = firstOutside(index, low, n); bad >= 0 || out.Numel() == 0 {
		return bad
	}
	outer := t.Numel() / (n * inner)
	if word {
		BySize(width,
			func() { pickColumns[uint8](out, t, outer, n, index) }, func() { pickColumns[uint16](out, t, outer, n, index) },
			func() { pickColumns[uint32](out, t, outer, n, index) }, func() { pickColumns[uint64](out, t, outer, n, index) },
			func() { pickColumns[[2]uint64](out, t, outer, n, index) })
		return -1
	}
	dst, src := unsafe.Slice((*byte)(out.DataPtr()), outer*len(index)*width), unsafe.Slice((*byte)(t.DataPtr()), outer*n*width)
	parallel.For(outer*len(index), define.RowGrain*4/width+1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			at := int(index[k%len(index)])
			if at < 0 {
				at += n
			}
			from := (k/len(index)*n + at) * width
			copy(dst[k*width:(k+1)*width], src[from:from+width])
		}
	})
	return -1
}

// pickColumns picks the same elements of every row.
func pickColumns[W Word](out, t *tensor.Tensor, outer, n int, index []int64) {
	dst, src := unsafe.Slice((*W)(out.DataPtr()), outer*len(index)), unsafe.Slice((*W)(t.DataPtr()), outer*n)
	offsets := make([]int, len(index))
	for i, at := range index {
		offsets[i] = int(at) + n&(int(at)>>63)
	}
	parallel.For(outer, define.RowGrain/len(index)+1, func(lo, hi int) {
		for o := lo; o < hi; o++ {
			fetch(dst[o*len(index):(o+1)*len(index)], unsafe.Pointer(&src[o*n]), offsets)
		}
	})
}

// pickWords picks elements of a vector and returns the first index outside of it, or -1.
func pickWords[W Word](out, t *tensor.Tensor, n int, index []int64, low int) int {
	if len(index) == 0 {
		return -1
	}
	dst, src := unsafe.Slice((*W)(out.DataPtr()), len(index)), unsafe.Slice((*W)(t.DataPtr()), n)
	var found bool
	if len(index) <= define.RowGrain {
		found = pickRow(dst, src, index, low)
	} else {
		found = pickRows(dst, src, index, low)
	}
	if !found {
		return firstOutside(index, low, n)
	}
	return -1
}

// pickRows is pickRow in parts at once.
func pickRows[W Word](dst, row []W, index []int64, low int) bool {
	var bad atomic.Bool
	parallel.For(len(index), define.RowGrain, func(lo, hi int) {
		if !pickRow(dst[lo:hi], row, index[lo:hi], low) {
			bad.Store(true)
		}
	})
	return !bad.Load()
}

// pickRow fetches elements of a row, and reports whether all indices are from low to its end.
//
//go:noinline
func pickRow[W Word](dst, row []W, index []int64, low int) bool {
	base, size := unsafe.Pointer(unsafe.SliceData(row)), int(unsafe.Sizeof(*new(W)))
	dst = dst[:len(index)]
	if low == 0 {
		for i, at := range index {
			if uint64(at) >= uint64(len(row)) {
				return false
			}
			dst[i] = *(*W)(unsafe.Add(base, int(at)*size))
		}
		return true
	}
	room := uint64(len(row) - low)
	for i, at := range index {
		if uint64(at-int64(low)) >= room {
			return false
		}
		dst[i] = *(*W)(unsafe.Add(base, int(at+at>>63&int64(len(row)))*size))
	}
	return true
}

// selection checks what index_select gets, and returns the dimension and the shape of the result.
func selection(t *tensor.Tensor, dim int, index *tensor.Tensor) (at int, shape []int) {
	dim = define.WrapDim(dim, t)
	n := 1
	shape = t.Shape()
	if t.Dim() > 0 {
		n = t.Size(dim)
		shape = slices.Clone(shape)
		shape[dim] = index.Numel()
	}
	source.Check(index.DType() == tensor.Int64 || index.DType() == tensor.Int32, "index_select(): Expected dtype int32 or int64 for index")
	if index.Dim() > 1 {
		source.Raise(source.IndexError, "index_select(): Index is supposed to be a vector")
	}
	source.Check(n > 0 || index.Numel() == 0 || t.Dim() == 1, "index_select(): self indexing axis dim should be positive")
	source.Check(t.Dim() > 0 || index.Numel() == 1, "index_select(): Index to scalar can have only 1 value, got %d value(s)", index.Numel())
	return dim, shape
}

// IndexSelect is index_select.
func IndexSelect(t *tensor.Tensor, dim int, index *tensor.Tensor) *tensor.Tensor {
	dim, shape := selection(t, dim, index)
	n := 1
	if t.Dim() > 0 {
		n = t.Size(dim)
	}
	if t.OnDevice() {
		return SelectAlong(t, dim, index, shape, func(int64) { source.Raise(source.IndexError, "index out of range in self") })
	}
	list := indicesOf(index)
	out := define.Empty(shape, t.DType())
	bad := -1
	if t.IsContiguous() {
		bad = pickSlices(out, t, dim, list, 0)
	} else {
		bad = firstOutside(list, 0, n)
	}
	if bad >= 0 {
		source.Check(t.Dim() <= 1, "INDICES element is out of DATA bounds, id=%d axis_dim=%d", list[bad], n)
		source.Raise(source.IndexError, "index out of range in self")
	}
	if !t.IsContiguous() && out.Numel() > 0 {
		outer, inner := spreadOffsets(t, dim, elementwise.IntegersOf(index))
		MoveFrom(out, t, outer, inner)
	}
	return out
}

// indexFirst is t[index] for a contiguous tensor and an index tensor of its first dimension; ok is false for others.
func indexFirst(t, index *tensor.Tensor) (out *tensor.Tensor, ok bool) {
	if index.DType() != tensor.Int64 || t.Dim() == 0 || !t.IsContiguous() {
		return nil, false
	}
	list, n := indicesOf(index), t.Size(0)
	out = define.Empty(append(slices.Clone(index.Shape()), t.Shape()[1:]...), t.DType())
	if bad := pickSlices(out, t, 0, list, -n); bad >= 0 {
		source.Raise(source.IndexError, "index %d is out of bounds for dimension 0 with size %d", list[bad], n)
	}
	return out, true
}

func take(t, at *tensor.Tensor) *tensor.Tensor {
	source.Check(at.DType() == tensor.Int64, "take(): Expected a long tensor for index, but got %s", at.DType().CppName())
	if t.Numel() == 0 && at.Numel() > 0 {
		source.Raise(source.IndexError, "take(): tried to take from an empty tensor")
	}
	flat := elementwise.Contiguous(t)
	if t.OnDevice() {
		return source.Must(SelectAlong(source.Must(flat.View(-1)), 0, source.Must(at.Reshape(-1)), []int{at.Numel()}, func(v int64) {
			source.Raise(source.IndexError, "out of range: tried to access index %d on a tensor of %d elements.", v, flat.Numel())
		}).View(at.Shape()...))
	}
	out := define.Empty(at.Shape(), t.DType())
	list, n := indicesOf(at), flat.Numel()
	if bad := pickSlices(out, source.Must(flat.View(-1)), 0, list, -n); bad >= 0 {
		source.Raise(source.IndexError, "out of range: tried to access index %d on a tensor of %d elements.", list[bad], n)
	}
	return out
}

// Repeat lays copies of a tensor side by side.
func Repeat(t *tensor.Tensor, times []int) *tensor.Tensor {
	source.Check(len(times) >= t.Dim(), "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
	lead := len(times) - t.Dim()
	shape := append(slices.Repeat([]int{1}, lead), t.Shape()...)
	final := make([]int, len(times))
	for i, n := range times {
		final[i] = n * shape[i]
	}
	for i, n := range final {
		source.Check(times[i] >= 0, "Trying to create tensor with negative dimension %d: %s", n, define.ShapeText(final))
	}
	if define.IsMeta(t) {
		return source.Must(tensor.EmptyMeta(final, t.DType()))
	}
	out := define.EmptyBeside(t, final, t.DType())
	if out.Numel() == 0 {
		return out
	}
	if t.OnDevice() {
		var tiles, whole []int
		for i, n := range shape {
			tiles, whole = append(tiles, times[i], n), append(whole, 1, n)
		}
		source.Throw(tensor.Copy(source.Must(out.View(tiles...)), source.Must(t.Reshape(whole...))))
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
	src := t
	if !r.reads(t) {
		src = elementwise.Contiguous(t)
		r.reads(src)
	}
	r.fill(define.BytesOf(out), src.DataPtr(), 0)
	if src != t {
		src.Release()
	}
}

// reads finds the steps in t along the dimensions; ok is false where the last of them and its rows do not lie side by side in t.
func (r *tiling) reads(t *tensor.Tensor) (ok bool) {
	r.steps = make([]int, len(r.shape))
	if t.IsContiguous() {
		step := r.row
		for d := len(r.shape) - 1; d >= 0; d-- {
			r.steps[d] = step
			step *= r.shape[d]
		}
		return true
	}
	lead := len(r.shape) - t.Dim()
	if lead < 0 || r.row != t.DType().Size() || t.Strides()[t.Dim()-1] != 1 {
		return false
	}
	for d, stride := range t.Strides() {
		r.steps[lead+d] = stride * r.row
	}
	return true
}

// repeatWords writes each element some times.
func repeatWords[W Word](out, t *tensor.Tensor, times int) {
	dst := unsafe.Slice((*W)(out.DataPtr()), out.Numel())
	for i, v := range unsafe.Slice((*W)(t.DataPtr()), t.Numel()) {
		part := dst[i*times : (i+1)*times]
		for j := range part {
			part[j] = v
		}
	}
}

// RepeatEach repeats each slice along a dimension.
func RepeatEach(t *tensor.Tensor, dim, times int) *tensor.Tensor {
	shape := slices.Clone(t.Shape())
	shape[dim] *= times
	out := define.Empty(shape, t.DType())
	if out.Numel() > 0 {
		outer, inner := define.NumelOf(t.Shape()[:dim+1]), define.NumelOf(t.Shape()[dim+1:])
		if inner == 1 {
			src := elementwise.Contiguous(t)
			BySize(t.DType().Size(),
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
	watch        parallel.Watch
	shape, times []int
	row          int
	steps        []int // in bytes of what is repeated, along the dimensions
}

// NearCopy is how many bytes are copied at once: they are still in the nearest cache for the next copy of them.
const NearCopy = 16 << 10

// fill writes the copies along the dimensions from one on.
func (r *tiling) fill(dst []byte, src unsafe.Pointer, dim int) {
	once := len(dst)
	if dim < len(r.shape) {
		once /= r.times[dim]
	}
	if dim >= len(r.shape)-1 {
		block := unsafe.Slice((*byte)(src), once)
		if once >= NearCopy {
			r.fillLong(dst, block)
			return
		}
		copy(dst, block)
	} else {
		part := once / max(1, r.shape[dim])
		for i := range r.shape[dim] {
			r.fill(dst[i*part:(i+1)*part], unsafe.Add(src, i*r.steps[dim]), dim+1)
		}
	}
	copied := once // since somebody looked
	for done, from := once, 0; done < len(dst); {
		n := copy(dst[done:], dst[from:min(done, from+16*NearCopy)])
		if done += n; done < len(dst) {
			from = done % once // as far into a copy as done is
		}
		if copied += n; copied >= 16*NearCopy {
			r.watch.Did(copied / bytesOfElement)
			copied = 0
		}
	}
	r.watch.Did(copied / bytesOfElement)
}

// bytesOfElement is how many bytes a loop copies in the time that others take for an element.
const bytesOfElement = 16

// fillLong fills dst with copies of a block, each part of it into all copies at once.
func (r *tiling) fillLong(dst, block []byte) {
	for from := 0; from < len(block); from += NearCopy {
		part := block[from:min(from+NearCopy, len(block))]
		for at := from; at < len(dst); at += len(block) {
			r.watch.Did(len(part) / bytesOfElement)
			copy(dst[at:], part)
		}
	}
}
