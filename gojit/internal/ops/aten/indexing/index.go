// Package indexing has the operators that move elements by numbers of places: indices, masks, embeddings, orders and searches.
package indexing

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// indexing is a tensor with some dimensions indexed by tensors: where its selected elements lie.
type indexing struct {
	shape        []int // of the selection
	outer, inner []int // offsets from the first element, to be added pairwise
}

// chosenDims is which dimensions of a tensor are indexed, and where the others stand in the result: before what the indices choose, where the indexed
// ones are neighbours and these come before them, else behind it.
type chosenDims struct {
	given                                                []*tensor.Tensor // the indices
	dims                                                 []int            // that they are of
	beforeShape, beforeStrides, afterShape, afterStrides []int
}

// chosenDimsOf reads the indices of x[indices].
func chosenDimsOf(t *tensor.Tensor, indices []*tensor.Tensor) (s chosenDims) {
	indices = expandMasks(t, indices)
	for len(indices) < t.Dim() {
		indices = append(indices, nil)
	}
	for d, index := range indices {
		if index != nil {
			s.given, s.dims = append(s.given, index), append(s.dims, d)
		}
	}
	n := len(s.dims)
	adjacent := n == 0 || s.dims[n-1]-s.dims[0] == n-1
	for d, index := range indices {
		switch {
		case index != nil:
		case adjacent && n > 0 && d < s.dims[0]:
			s.beforeShape, s.beforeStrides = append(s.beforeShape, t.Size(d)), append(s.beforeStrides, t.Strides()[d])
		default:
			s.afterShape, s.afterStrides = append(s.afterShape, t.Size(d)), append(s.afterStrides, t.Strides()[d])
		}
	}
	return s
}

// arrangeIndex resolves the indices of x[indices]; nil indices take a whole dimension.
func arrangeIndex(t *tensor.Tensor, indices []*tensor.Tensor) indexing {
	s := chosenDimsOf(t, indices)
	shape, flat := broadcastIndices(s.given)
	picked := make([]int, define.NumelOf(shape))
	for k, d := range s.dims {
		n, stride := t.Size(d), t.Strides()[d]
		for lo, hi := range parallel.Stretches(len(flat[k])) {
			for i, v := range flat[k][lo:hi] {
				if v < -int64(n) || v >= int64(n) {
					source.Raise(source.IndexError, "index %d is out of bounds for dimension %d with size %d", v, d, n)
				}
				if v < 0 {
					v += int64(n)
				}
				picked[lo+i] += int(v) * stride
			}
		}
	}
	before := offsetsOf(s.beforeShape, s.beforeStrides)
	r := indexing{shape: slices.Concat(s.beforeShape, shape, s.afterShape), inner: offsetsOf(s.afterShape, s.afterStrides)}
	if len(r.inner) == 1 { // the last dimension is picked from
		r.outer, r.inner = before, picked
		return r
	}
	r.outer = make([]int, 0, len(before)*len(picked))
	for _, b := range before {
		for _, p := range picked {
			r.outer = append(r.outer, b+p)
		}
	}
	return r
}

const bytesAsIndex = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."

// expandMasks replaces each mask by one index tensor for each of its dimensions.
func expandMasks(t *tensor.Tensor, indices []*tensor.Tensor) []*tensor.Tensor {
	var out []*tensor.Tensor
	for _, index := range indices {
		if index == nil {
			out = append(out, nil)
			continue
		}
		switch d := index.DType(); d {
		case tensor.Bool, tensor.Uint8:
			if d == tensor.Uint8 {
				define.Warn(bytesAsIndex)
			}
			at := len(out)
			for i, n := range index.Shape() {
				if at+i >= t.Dim() {
					source.Raise(source.IndexError, "too many indices for tensor of dimension %d", t.Dim())
				}
				if n != t.Size(at+i) {
					source.Raise(source.IndexError, "The shape of the mask %s at index %d does not match the shape of the indexed tensor %s at index %d",
						define.ShapeText(index.Shape()), i, define.ShapeText(t.Shape()), at+i)
				}
			}
			out = append(out, source.Must(nonzero(index).Unbind(1))...)
		case tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8:
			if d != tensor.Int64 {
				source.Raise(source.IndexError, "tensors used as indices must be long, byte or bool tensors")
			}
			out = append(out, index)
		default:
			source.Raise(source.IndexError, "tensors used as indices must be long, byte or bool tensors")
		}
	}
	if len(out) > t.Dim() {
		source.Raise(source.IndexError, "too many indices for tensor of dimension %d (got %d)", t.Dim(), len(out))
	}
	return out
}

// broadcastShape returns the shape that tensors of indices are broadcast to.
func broadcastShape(given []*tensor.Tensor) []int {
	shapes := make([][]int, len(given))
	for i, index := range given {
		shapes[i] = index.Shape()
	}
	shape, err := tensor.BroadcastAll(shapes...)
	if err != nil {
		texts := make([]string, len(shapes))
		for i := range shapes {
			texts[i] = tensor.FormatShape(shapes[i])
		}
		source.Raise(source.IndexError, "shape mismatch: indexing tensors could not be broadcast together with shapes %s", strings.Join(texts, ", "))
	}
	return shape
}

func broadcastIndices(given []*tensor.Tensor) (shape []int, flat [][]int64) {
	shape = broadcastShape(given)
	for _, index := range given {
		flat = append(flat, tensor.Data[int64](elementwise.Contiguous(source.Must(index.Expand(shape...)))))
	}
	return shape, flat
}

// nonzero lists the indices of the elements that are not zero, one row each.
func nonzero(t *tensor.Tensor) *tensor.Tensor {
	if t.OnDevice() {
		return nonzeroOnDevice(t)
	}
	mask := truthBytes(t)
	count := onesOf(mask)
	if t.Dim() == 0 {
		return define.Empty([]int{count, 0}, tensor.Int64)
	}
	columns := define.Empty([]int{t.Dim(), count}, tensor.Int64)
	if count > 0 {
		listCoordinates(columns, mask, t.Shape())
	}
	return source.Must(columns.AsStrided([]int{count, t.Dim()}, []int{1, count}, 0))
}

// truthBytes gives a byte for each element: 0 for zeros, 1 for others.
func truthBytes(t *tensor.Tensor) []uint8 {
	truths := elementwise.Contiguous(elementwise.To(t, tensor.Bool))
	return unsafe.Slice((*uint8)(truths.DataPtr()), truths.Numel())
}

// listCoordinates writes the coordinates of the elements whose byte is 1, a row for each dimension.
func listCoordinates(columns *tensor.Tensor, mask []uint8, shape []int) {
	last := len(shape) - 1
	n, data := shape[last], tensor.Data[int64](columns)
	count := len(data) / len(shape)
	inner := data[last*count:]
	at := make([]int64, last)
	var watch parallel.Watch
	for k := 0; len(mask) > 0; mask = mask[n:] {
		watch.Did(n)
		from := k
		k += indicesOfOnes(inner[k:], mask[:n])
		for d, i := range at {
			part := data[d*count+from : d*count+k]
			for j := range part {
				part[j] = i
			}
		}
		for d := last - 1; d >= 0; d-- {
			if at[d]++; at[d] < int64(shape[d]) {
				break
			}
			at[d] = 0
		}
	}
}

// onesOf counts the bytes that are not zero.
func onesOf(mask []uint8) int {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	count := 0
	for lo, hi := range parallel.Stretches(len(mask)) {
		part := mask[lo:hi]
		for ; len(part) >= 8; part = part[8:] {
			bytes := binary.LittleEndian.Uint64(part)
			count += bits.OnesCount64((bytes&low + low | bytes) & high) // the addition carries into the highest bit of those that are not zero
		}
		for _, v := range part {
			count += int(min(v, 1))
		}
	}
	return count
}

// indicesOfOnes lists the places of the ones and returns how many there are. Every place is written, those of zeros under the
// next one: jumps would be guessed wrong.
func indicesOfOnes(dst []int64, mask []uint8) int {
	k := 0
	for lo, hi := range parallel.Stretches(len(mask)) {
		for i, v := range mask[lo:hi] {
			if k == len(dst) {
				return k
			}
			dst[k] = int64(lo + i)
			k += int(min(v, 1))
		}
	}
	return k
}

func index(t *tensor.Tensor, indices []*tensor.Tensor) *tensor.Tensor {
	if t.OnDevice() {
		return indexOnDevice(t, indices)
	}
	out := indexInOrder(t, indices)
	if out.Dim() > 1 && (!t.IsContiguous() || slices.ContainsFunc(indices, func(i *tensor.Tensor) bool { return i != nil && !i.IsContiguous() })) {
		return laidOutLike(out, t, indices)
	}
	return out
}

// laidOutLike returns what an index has chosen, with dimensions in the order that they have in the tensor and in the indices.
func laidOutLike(out, t *tensor.Tensor, indices []*tensor.Tensor) *tensor.Tensor {
	indices = slices.Clone(indices)
	for i, index := range indices {
		if index != nil && index.DType() == tensor.Uint8 { // of which the caller has warned
			indices[i] = elementwise.To(index, tensor.Bool)
		}
	}
	s := chosenDimsOf(t, indices)
	chosen := broadcastShape(s.given)
	behind, middle := len(s.afterShape), len(chosen)
	none := make([]int, max(len(s.beforeShape)+middle, behind))
	operands := []*tensor.Tensor{source.Must(t.AsStrided(out.Shape(), slices.Concat(s.beforeStrides, none[:middle], s.afterStrides), t.Offset()))}
	ones := slices.Repeat([]int{1}, len(none))
	for _, i := range s.given {
		shape, strides := slices.Concat(ones[:len(s.beforeShape)+middle-i.Dim()], i.Shape(), ones[:behind]), slices.Concat(make([]int, len(s.beforeShape)+middle-i.Dim()), i.Strides(), none[:behind])
		operands = append(operands, source.Must(i.AsStrided(shape, strides, i.Offset())))
	}
	strides := tensor.DenseStrides(out.Shape(), operands...)
	if slices.Equal(strides, out.Strides()) {
		return out
	}
	placed := source.Must(tensor.EmptyStrided(out.Shape(), strides, out.DType()))
	source.Throw(tensor.Copy(placed, out))
	out.Release()
	return placed
}

// indexInOrder is index with a contiguous result.
func indexInOrder(t *tensor.Tensor, indices []*tensor.Tensor) *tensor.Tensor {
	if only := onlyIndex(indices); only != nil {
		if out, ok := chosen(t, only); ok {
			if only.DType() == tensor.Uint8 {
				define.Warn(bytesAsIndex)
			}
			return out
		}
		if out, ok := indexFirst(t, only); ok {
			return out
		}
	}
	r := arrangeIndex(t, indices)
	out := define.Empty(r.shape, t.DType())
	if out.Numel() > 0 {
		MoveFrom(out, t, r.outer, r.inner)
	}
	return out
}

// indexPut stores values at the selected elements of t.
func indexPut(t *tensor.Tensor, indices []*tensor.Tensor, values *tensor.Tensor, accumulate bool) {
	if q := t.Quantizer(); q != nil {
		source.Check(!q.PerChannel(), "index_put for quantized tensors is currently only supported for per tensor quantized tensors")
		source.Check(!accumulate, "index_put for quantized tensors is currently only supported for accumulate=False")
		numbers := elementwise.Quantized(elementwise.Contiguous(values), q, t.DType()) // fails for what are no float32
		t, values = t.IntegersView(), numbers.IntegersView()
	}
	source.Check(t.DType() == values.DType(), "Index put requires the source and destination dtypes match, got %s for the destination and %s for the source.", t.DType().CppName(), values.DType().CppName())
	how := Replace
	if accumulate {
		how = AddTo
	}
	if t.OnDevice() {
		x, outside := arrangeOnDevice(t, indices)
		x.values = valuesFor(values, x.values.Shape())
		if x.values.SharesStorage(t) {
			x.values = source.Must(x.values.Clone(tensor.ContiguousFormat))
		}
		x.run(false, how, outside)
		return
	}
	r := arrangeIndex(t, indices)
	flat := elementwise.Contiguous(valuesFor(values, r.shape))
	if flat.Numel() == 0 {
		return
	}
	if flat.SharesStorage(t) {
		flat = source.Must(flat.Clone(tensor.ContiguousFormat))
	}
	if accumulate {
		accumulateTo(t, flat.DataPtr(), r.outer, r.inner, how)
	} else {
		MoveTo(t, flat, r.outer, r.inner)
	}
}

// valuesFor expands the values of index_put to the shape of a selection.
func valuesFor(values *tensor.Tensor, shape []int) *tensor.Tensor {
	expanded, err := values.Expand(shape...)
	if err != nil {
		// leading dimensions of size 1 beyond those of the selection do not matter
		for values.Dim() > len(shape) && values.Size(0) == 1 {
			values = source.Must(values.Select(0, 0))
		}
		if expanded, err = values.Expand(shape...); err != nil {
			source.Raise(source.RuntimeError, "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s", define.ShapeText(values.Shape()), define.ShapeText(shape))
		}
	}
	return expanded
}

var OneOffset = []int{0}

// scattering defines scatter overloads: something is scattered into self.
func scattering(name string, how combine) define.Definition {
	return define.Changing(name, func(c define.Call, t *tensor.Tensor) {
		at := c.Tensor(2)
		src := elementwise.OperandOf(c, 3).Tensor
		if src == nil {
			elementwise.MustFit(c.Scalar(3), t.DType())
			src = define.FullBeside(t, at.Shape(), c.Scalar(3), t.DType())
		}
		mode := how
		if len(c.Args) > 4 {
			source.Check(c.Str(4) == "add" || c.Str(4) == "multiply", "reduce argument must be either add or multiply.")
			mode, _ = combinationOf(c.Str(4))
		}
		ScatterInto(t, c.Int(1), at, src, mode)
	})
}

// combinationOf returns how elements are combined, and with what that leaves an element as it is.
func combinationOf(name string) (by combine, start float64) {
	switch name {
	case "add", "sum":
		return AddTo, 0
	case "multiply", "prod":
		return multiply, 1
	case "amax":
		return greatest, -elementwise.Inf
	case "amin":
		return least, elementwise.Inf
	}
	source.Raise(source.RuntimeError, "reduce argument must be either sum, prod, mean, amax or amin.")
	return Replace, 0
}

// scatterReduce combines groups of elements; the old element takes part where includeSelf.
func scatterReduce(c define.Call) *tensor.Tensor {
	t, dim, at, src := source.Must(c.Tensor(0).Clone(tensor.ContiguousFormat)), c.Int(1), c.Tensor(2), c.Tensor(3)
	isMean, includeSelf := c.Str(4) == "mean", c.Bool(5)
	by, start := AddTo, 0.0
	if !isMean {
		by, start = combinationOf(c.Str(4))
		source.Check(c.Str(4) != "add" && c.Str(4) != "multiply", "reduce argument must be either sum, prod, mean, amax or amin.") // names of scatter
	}
	if !includeSelf {
		filler := define.FullBeside(t, at.Shape(), startOf(start, t.DType()), t.DType())
		ScatterInto(t, dim, at, filler, Replace)
	}
	ScatterInto(t, dim, at, src, by)
	if !isMean {
		return t
	}
	counts := define.ZerosBeside(t, t.Shape(), t.DType())
	if includeSelf {
		tensor.Fill(counts, tensor.Int(1))
	}
	ScatterInto(counts, dim, at, define.FullBeside(t, at.Shape(), tensor.Int(1), t.DType()), AddTo)
	counts = elementwise.ClampMin.WithNumber(counts, 1)
	if t.DType().IsFloating() {
		return elementwise.Div.On(t, counts)
	}
	return elementwise.DivFloor.On(t, elementwise.To(counts, t.DType()))
}

// startOf returns the identity of a maximum or minimum in a type.
func startOf(f float64, d tensor.DType) tensor.Scalar {
	if f != elementwise.Inf && f != -elementwise.Inf || d.IsFloating() {
		return tensor.Float(f)
	}
	bits := uint(d.Size() * 8)
	switch {
	case d == tensor.Uint8 && f < 0, d == tensor.Bool && f < 0:
		return tensor.Int(0)
	case d == tensor.Uint8:
		return tensor.Int(255)
	case d == tensor.Bool:
		return tensor.Int(1)
	case f < 0:
		return tensor.Int(-1 << (bits - 1))
	}
	return tensor.Int(1<<(bits-1) - 1)
}

// indexList returns the elements of a vector of indices into a dimension of t, checked; they are not copied where that is not needed.
// Those of index_fill may count from the end.
func indexList(name string, t, index *tensor.Tensor, dim, n int) []int {
	source.Check(index.Dim() <= 1, "%s(): Index is supposed to be a vector", name)
	source.Check(index.DType() == tensor.Int64 || index.DType() == tensor.Int32, "%s(): Expected dtype int32 or int64 for index", name)
	list := indicesOf(index)
	if index.SharesStorage(t) {
		list = slices.Clone(list)
	}
	bad := firstOutside(list, 0, n)
	if bad < 0 {
		return intsOf(list)
	}
	switch {
	case name == "index_add_":
		source.Raise(source.IndexError, "index out of range in self")
	case name != "index_fill_":
		source.Raise(source.IndexError, "%s(): index %d is out of bounds for dimension %d with size %d", name, list[bad], dim, n)
	}
	if bad = firstOutside(list, -n, n); bad >= 0 {
		source.Raise(source.IndexError, "index %d is out of bounds for dimension %d with size %d", list[bad], dim, n)
	}
	counted := elementwise.IntegersOf(index)
	for k, i := range counted {
		if i < 0 {
			counted[k] = i + n
		}
	}
	return counted
}

// spreadOffsets lists the offsets in t of its slices at the listed indices of dim, as outer and inner
// parts. The indices are in the inner part where that is short without them.
func spreadOffsets(t *tensor.Tensor, dim int, list []int) (outer, inner []int) {
	if t.Dim() == 0 {
		return make([]int, len(list)), OneOffset
	}
	picked := make([]int, len(list))
	for i, at := range list {
		picked[i] = at * t.Strides()[dim]
	}
	outer, inner = offsetsOf(t.Shape()[:dim], t.Strides()[:dim]), offsetsOf(t.Shape()[dim+1:], t.Strides()[dim+1:])
	if len(outer) > 1 && len(inner) < reduce.MinColumns {
		return outer, sumsOf(picked, inner)
	}
	return sumsOf(outer, picked), inner
}

// sumsOf lists the sums of each number of a with each of b.
func sumsOf(a, b []int) []int {
	sums := make([]int, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			sums = append(sums, x+y)
		}
	}
	return sums
}

// indexInto runs index_add and index_copy: slices of a source are combined into those of t at the indices.
func indexInto(name string, c define.Call, t, src *tensor.Tensor, how combine) {
	dim := define.WrapDim(c.Int(1), t)
	n := 1
	if t.Dim() > 0 {
		n = t.Size(dim)
	}
	index := c.Tensor(2)
	var list []int
	if t.OnDevice() {
		source.Check(index.Dim() <= 1, "%s(): Index is supposed to be a vector", name)
		list = make([]int, index.Numel())
	} else {
		list = indexList(name, t, index, dim, n)
	}
	if how == Replace {
		source.Check(src.DType() == t.DType(), "%s(): self and source expected to have the same dtype, but got (self) %s and (source) %s", name, t.DType().CppName(), src.DType().CppName())
	}
	source.Check(src.DType() == t.DType(), "%s(): self (%s) and source (%s) must have the same scalar type", name, t.DType().CppName(), src.DType().CppName())
	source.Check(src.Dim() == t.Dim() || t.Dim() <= 1 && src.Dim() <= 1, "%s(): self and source should have the same number of dimensions, but got %d and %d", name, t.Dim(), src.Dim())
	count := 1
	if src.Dim() > 0 {
		count = src.Size(dim)
	}
	if count != len(list) {
		if how == Replace {
			source.Raise(source.IndexError, "%s(): Number of indices (%d) should be equal to source.size(dim) (%d)", name, len(list), count)
		}
		source.Raise(source.RuntimeError, "%s(): Number of indices (%d) should be equal to source.size(dim): (%d), for dim: %d", name, len(list), count, dim)
	}
	if src.Numel() == 0 {
		return
	}
	if t.OnDevice() {
		x, _ := slicesAlong(t, elementwise.Contiguous(src), dim, index)
		source.Check(tensor.SameShape(x.base.Shape(), x.values.Shape()), "%s(): source and destination must have the same slice shapes.", name)
		x.run(false, how, func(_ int, v int64) {
			if how == AddTo {
				source.Raise(source.IndexError, "index out of range in self")
			}
			source.Raise(source.IndexError, "%s(): index %d is out of bounds for dimension %d with size %d", name, v, dim, n)
		})
		return
	}
	if t.Dim() == 1 && src.Numel() == len(list) {
		putLine(t, elementwise.Contiguous(src), int64sOf(list), how)
		return
	}
	outer, inner := spreadOffsets(t, dim, list)
	source.Check(len(outer)*len(inner) == src.Numel(), "%s(): source and destination must have the same slice shapes. Destination slice shape: %s at dimension %d and source slice shape: %s at dimension 0.", name, define.ShapeText(t.Shape()), dim, define.ShapeText(src.Shape()))
	if how == Replace {
		MoveTo(t, elementwise.Contiguous(src), outer, inner)
	} else {
		accumulateTo(t, elementwise.Contiguous(src).DataPtr(), outer, inner, how)
	}
}

// int64sOf shows a list as one of integers of 64 bits, which they are.
func int64sOf(list []int) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

// ShownAsInts shows the elements of a contiguous tensor of integers of 64 bits.
func ShownAsInts(t *tensor.Tensor) []int { return intsOf(tensor.Data[int64](t)) }

// intsOf is int64sOf the other way.
func intsOf(list []int64) []int {
	return unsafe.Slice((*int)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

// fillLine gives the elements of the vector t at places, which are checked, a number.
func fillLine(t *tensor.Tensor, number tensor.Scalar, places []int) {
	one := source.Must(tensor.Full([]int{1}, number, t.DType()))
	defer one.Release()
	BySize(t.DType().Size(),
		func() { fillWords[uint8](t, one, places) }, func() { fillWords[uint16](t, one, places) }, func() { fillWords[uint32](t, one, places) },
		func() { fillWords[uint64](t, one, places) }, func() { fillWords[[2]uint64](t, one, places) })
}

func fillWords[W Word](t, one *tensor.Tensor, places []int) {
	v, step, dst := *(*W)(one.DataPtr()), t.Strides()[0]*int(unsafe.Sizeof(*new(W))), t.DataPtr()
	for lo, hi := range parallel.Stretches(len(places)) {
		for _, at := range places[lo:hi] {
			*(*W)(unsafe.Add(dst, at*step)) = v
		}
	}
}

// fillAt gives the elements of t at outer[i]+inner[j] from its first element a number.
func fillAt[W Word](t, one *tensor.Tensor, outer, inner []int) {
	v, dst, size := *(*W)(one.DataPtr()), t.DataPtr(), int(unsafe.Sizeof(*new(W)))
	row, together := []W(nil), isRun(inner)
	var watch parallel.Watch
	for _, base := range outer {
		watch.Did(len(inner))
		switch {
		case !together:
			for lo, hi := range parallel.Stretches(len(inner)) {
				for _, off := range inner[lo:hi] {
					*(*W)(unsafe.Add(dst, (base+off)*size)) = v
				}
			}
		case row == nil:
			row = unsafe.Slice((*W)(unsafe.Add(dst, base*size)), len(inner))
			for i := range row {
				row[i] = v
			}
		default:
			copy(unsafe.Slice((*W)(unsafe.Add(dst, base*size)), len(inner)), row)
		}
	}
}

func checkFilling(c define.Call) {
	v := elementwise.OperandOf(c, 3)
	if v.Tensor != nil {
		source.Check(v.Tensor.Dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", v.Tensor.Dim())
		if define.IsMeta(v.Tensor) {
			return
		}
		v.Number = source.Must(v.Tensor.Item())
	}
	elementwise.MustFit(v.Number, c.Tensor(0).DType())
}

func indexFill(c define.Call, t *tensor.Tensor) {
	dim := define.WrapDim(c.Int(1), t)
	n := 1
	if t.Dim() > 0 {
		n = t.Size(dim)
	}
	v := elementwise.OperandOf(c, 3)
	if v.Tensor != nil {
		v.Number = source.Must(v.Tensor.Item())
	}
	if t.OnDevice() {
		number := source.Must(tensor.EmptyOn(t.Device(), []int{1}, t.DType()))
		tensor.Fill(number, v.Number)
		x, _ := slicesAlong(t, number, dim, c.Tensor(2))
		x.values = source.Must(number.Expand(x.base.Shape()...))
		x.run(false, Replace, func(_ int, i int64) {
			source.Raise(source.IndexError, "index %d is out of bounds for dimension %d with size %d", i, dim, n)
		})
		return
	}
	list := indexList("index_fill_", t, c.Tensor(2), dim, n)
	if t.Dim() == 1 {
		fillLine(t, v.Number, list)
		return
	}
	outer, inner := spreadOffsets(t, dim, list)
	if len(outer)*len(inner) > 0 {
		one := source.Must(tensor.Full([]int{1}, v.Number, t.DType()))
		defer one.Release()
		BySize(t.DType().Size(),
			func() { fillAt[uint8](t, one, outer, inner) }, func() { fillAt[uint16](t, one, outer, inner) }, func() { fillAt[uint32](t, one, outer, inner) },
			func() { fillAt[uint64](t, one, outer, inner) }, func() { fillAt[[2]uint64](t, one, outer, inner) })
	}
}

func maskedSelect(t, mask *tensor.Tensor) *tensor.Tensor {
	source.Check(mask.DType() == tensor.Bool || mask.DType() == tensor.Uint8, "masked_select: expected BoolTensor or ByteTensor for mask")
	define.WarnOfBytes("masked_select", mask)
	pair := elementwise.BroadcastTensors([]*tensor.Tensor{mask, t})
	for i, t := range pair {
		if t.Dim() == 0 {
			pair[i] = source.Must(t.Unsqueeze(0))
		}
	}
	return index(pair[1], []*tensor.Tensor{elementwise.To(pair[0], tensor.Bool)})
}

func maskedScatter(c define.Call) *tensor.Tensor {
	define.WarnOfBytes("masked_scatter_", c.Tensor(1))
	pair := elementwise.BroadcastTensors([]*tensor.Tensor{c.Tensor(0), c.Tensor(1)})
	t, src := source.Must(pair[0].Clone(tensor.ContiguousFormat)), elementwise.Contiguous(c.Tensor(2))
	source.Check(src.DType() == t.DType(), "masked_scatter: expected self and source to have same dtypes but got%s and %s", t.DType().CppName(), src.DType().CppName())
	var places []int
	var watch parallel.Watch
	for i, v := range tensor.Data[bool](elementwise.Contiguous(elementwise.To(pair[1], tensor.Bool))) {
		watch.Did(1)
		if v {
			places = append(places, i)
		}
	}
	source.Check(len(places) <= src.Numel(), "Number of elements of source < number of ones in mask")
	if len(places) > 0 {
		MoveTo(t, source.Must(source.Must(src.View(-1)).Slice(0, 0, len(places), 1)), places, OneOffset)
	}
	return t
}

func put(c define.Call, t *tensor.Tensor) {
	at, src := c.Tensor(1), c.Tensor(2)
	source.Check(src.DType() == t.DType(), "put_(): self and source expected to have the same dtype, but got self.dtype = %s and source.dtype = %s", t.DType().CppName(), src.DType().CppName())
	if at.Numel() != src.Numel() {
		source.Raise(source.IndexError, "put_(): Expected source and index to have the same number of elements, but got source.numel() = %d, index.numel() = %d", src.Numel(), at.Numel())
	}
	if list, n := indicesOf(at), t.Numel(); at.DType() == tensor.Int64 {
		if bad := firstOutside(list, -n, n); bad >= 0 {
			source.Raise(source.IndexError, "out of range: tried to access index %d on a tensor of %d elements.", list[bad], n)
		}
	}
	flat := elementwise.Contiguous(t)
	indexPut(source.Must(flat.View(-1)), []*tensor.Tensor{source.Must(at.Reshape(-1))}, source.Must(src.Reshape(-1)), c.Bool(3))
	if flat != t {
		elementwise.Assign(t, flat)
	}
}

func indexPutSelf(c define.Call) {
	v := c.Tensor(2)
	if v.Numel() == 1 && !c.Bool(3) && isMask(c.OptionalTensors(1)) {
		v = source.Must(v.Clone(tensor.PreserveFormat)) // a mask is filled with the number that is there before anything is written
	}
	elementwise.CheckApart(c.Tensor(0), []value.Value{c.Args[1], value.OfTensor(v)})
	indexPut(c.Tensor(0), c.OptionalTensors(1), v, c.Bool(3))
	c.GiveSelf()
}

// isMask reports whether the indices are one of truth values.
func isMask(indices []*tensor.Tensor) bool {
	found := 0
	for _, t := range indices {
		if t != nil {
			if found++; t.DType() != tensor.Bool && t.DType() != tensor.Uint8 {
				return false
			}
		}
	}
	return found == 1
}

func indexPutCopy(c define.Call) *tensor.Tensor {
	t := source.Must(c.Tensor(0).Clone(tensor.PreserveFormat))
	indexPut(t, c.OptionalTensors(1), c.Tensor(2), c.Bool(3))
	return t
}

var IndexFamily = []define.Definition{
	isInOf("isin.Tensor_Tensor"),
	isInOf("isin.Tensor_Scalar"),
	isInOf("isin.Scalar_Tensor"),
	scattered("select_scatter", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Select(c.Int(1), c.Int(2)) }),
	scattered("slice_scatter", SliceView),
	scattered("diagonal_scatter", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Diagonal(c.Int(1), c.Int(2), c.Int(3))
	}),
	scattered("as_strided_scatter", AsStrided).With(ops.Def{Grad: define.Concrete(define.AsStridedScatterGrad), Tags: ops.AsWritten}),
	define.Operator("fill_diagonal_", func(c define.Call) {
		t := c.Tensor(0)
		source.Check(t.Dim() >= 2, "dimensions must larger than 1")
		if t.Numel() == 0 {
			c.GiveSelf()
			return
		}
		step, n := 0, t.Size(0)
		for d := range t.Dim() {
			step += t.Strides()[d]
			n = min(n, t.Size(d))
		}
		if t.Dim() == 2 && c.Bool(2) && t.Size(0) > t.Size(1) {
			source.Check(t.IsContiguous(), "fill_diagonal_ with wrap needs a contiguous matrix")
			n = (t.Numel() + step - 1) / step
		}
		tensor.Fill(source.Must(t.AsStrided([]int{n}, []int{step}, t.Offset())), c.Scalar(1))
		c.GiveSelf()
	}),
	define.Giving("index.Tensor", func(c define.Call) *tensor.Tensor { return index(c.Tensor(0), c.OptionalTensors(1)) }).With(ops.Def{Grad: indexGrad, Tags: ops.AsWritten}).Quantized(define.SameScale),
	define.Giving("index.Tensor_hacked_twin", func(c define.Call) *tensor.Tensor { return index(c.Tensor(0), c.OptionalTensors(1)) }).With(ops.Def{Grad: indexGrad, Tags: ops.Grouped | ops.AsWritten}),
	define.Operator("index_put_", indexPutSelf),
	define.Operator("index_put_.hacked_twin", indexPutSelf),
	define.Operator("_index_put_impl_", indexPutSelf),
	define.Operator("_index_put_impl_.hacked_twin", indexPutSelf),
	define.Giving("index_put", indexPutCopy).With(ops.Def{Grad: define.Concrete(IndexPutGrad), Tags: ops.IgnoresSelf | ops.AsWritten}),
	define.Giving("index_put.hacked_twin", indexPutCopy).With(ops.Def{Grad: define.Concrete(IndexPutGrad), Tags: ops.AsWritten}),
	define.Giving("index_select", func(c define.Call) *tensor.Tensor { return IndexSelect(c.Tensor(0), c.Int(1), c.Tensor(2)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Into("index_add", c.ZerosOf(0), c.Int(1), c.In(2), c.G())) }), Tags: ops.AsWritten}).Direct(selectedOut).OutApart().Quantized(define.SameScale),
	define.Changing("index_add", func(c define.Call, t *tensor.Tensor) {
		src := c.Tensor(3)
		if alpha := c.Scalar(4); alpha.Kind != tensor.IntScalar || alpha.Int64() != 1 {
			src = elementwise.TimesOwn(src, alpha)
		}
		elementwise.CheckInside(t)
		indexInto("index_add_", c, t, src, AddTo)
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.G())
		c.Give(3, c.Do("mul.Scalar", c.Do("index_select", c.G(), c.Int(1), c.In(2)), c.Arg(4)))
	}), Tags: ops.IgnoresSelf}),
	define.Changing("index_copy", func(c define.Call, t *tensor.Tensor) {
		elementwise.CheckInside(t)
		indexInto("index_copy_", c, t, c.Tensor(3), Replace)
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Do("index_fill.int_Scalar", c.G(), c.Int(1), c.In(2), 0))
		c.Give(3, c.Do("reshape", c.Do("index_select", c.G(), c.Int(1), c.In(2)), c.Shape(3)))
	})}),
	define.ChangingAsItLies("index_fill.int_Scalar", indexFill).Checked(checkFilling),
	define.ChangingAsItLies("index_fill.int_Tensor", indexFill).Checked(checkFilling),
	define.Giving("gather", func(c define.Call) *tensor.Tensor { return Gather(c.Tensor(0), c.Int(1), c.Tensor(2)) }).With(ops.Def{Grad: define.Concrete(sparsely(3, gatherSparseGrad, gatherGrad)), Tags: ops.AsWritten, Out: ops.OutOfResult}).OutApart(),
	define.Giving("take_along_dim", func(c define.Call) *tensor.Tensor {
		t, at := c.Tensor(0), c.Tensor(1)
		if c.IsNone(2) {
			return Gather(source.Must(t.Reshape(-1)), 0, source.Must(at.Reshape(-1)))
		}
		NoScalar(c.Int(2), t)
		source.Check(at.DType() == tensor.Int64, "torch.take_along_dim(): dtype of indices should be Long but got %s", at.DType().CppName())
		dim := define.WrapDim(c.Int(2), t)
		source.Check(t.Dim() == at.Dim(), "torch.take_along_dim(): input and indices should have the same number of dimensions, but got %d dimensions for input, and %d dimensions for indices", t.Dim(), at.Dim())
		a, b := slices.Clone(t.Shape()), slices.Clone(at.Shape())
		a[dim], b[dim] = 1, 1
		shape := source.Must(tensor.Broadcast(a, b))
		x, y := slices.Clone(shape), slices.Clone(shape)
		x[dim], y[dim] = t.Size(dim), at.Size(dim)
		return Gather(source.Must(t.Expand(x...)), dim, source.Must(at.Expand(y...)))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Moved("take_along_dim") }), Tags: ops.AsWritten}),
	scattering("scatter.src", Replace).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Do("scatter.value", c.G(), c.Int(1), c.In(2), 0))
		c.Give(3, c.Do("gather", c.G(), c.Int(1), c.In(2)))
	}), Tags: ops.IgnoresSelf | ops.AsWritten}),
	scattering("scatter.value", Replace).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("scatter.value", c.G(), c.Int(1), c.In(2), 0)) }), Tags: ops.IgnoresSelf | ops.AsWritten}),
	scattering("scatter.reduce", Replace),
	scattering("scatter.value_reduce", Replace),
	scattering("scatter_add", AddTo).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.G())
		c.Give(3, c.Do("gather", c.G(), c.Int(1), c.In(2)))
	}), Tags: ops.IgnoresSelf | ops.AsWritten}),
	define.Giving("scatter_reduce.two", scatterReduce).With(ops.Def{Grad: define.Concrete(scatterReduceGrad)}),
	define.Giving("masked_select", func(c define.Call) *tensor.Tensor { return maskedSelect(c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		all := c.ZerosAs(source.Must(tensor.Broadcast(c.Shape(0), c.In(1).Shape())), c.G().DType())
		c.Give(0, c.Do("masked_scatter", all, c.In(1), c.G()))
	}), Tags: ops.AsWritten}).OutApart(),
	define.Giving("masked_scatter", maskedScatter),
	define.Giving("take", func(c define.Call) *tensor.Tensor { return take(c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Into("put", c.ZerosOf(0), c.In(1), c.G(), true)) }), Tags: ops.AsWritten}).OutApart(),
	define.Changing("put", put),
	define.Giving("nonzero", func(c define.Call) *tensor.Tensor { return nonzero(c.Tensor(0)) }).With(ops.Def{Tags: ops.Grouped}),
	define.Giving("argwhere", func(c define.Call) *tensor.Tensor { return nonzero(c.Tensor(0)) }),
	define.Operator("nonzero_numpy", func(c define.Call) { c.GiveList(nonzeroColumns(c.Tensor(0))) }),
	define.Operator("where", func(c define.Call) { c.GiveList(nonzeroColumns(c.Tensor(0))) }),
}

// NoScalar refuses a dimension of a tensor that has none.
func NoScalar(dim int, t *tensor.Tensor) {
	if t.Dim() == 0 {
		source.Raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", dim)
	}
}

func nonzeroColumns(t *tensor.Tensor) []*tensor.Tensor {
	if t.Dim() == 0 {
		t = source.Must(t.Unsqueeze(0))
	}
	return source.Must(nonzero(t).Unbind(1))
}

// isIn tells which elements are among the test elements.
func isIn(elements, among elementwise.Operand, invert bool) *tensor.Tensor {
	for _, o := range []*elementwise.Operand{&elements, &among} {
		if o.Tensor == nil {
			o.Tensor = tensor.FromScalar(o.Number, o.Number.ResultDType())
		}
	}
	for _, o := range []elementwise.Operand{elements, among} {
		d := o.Tensor.DType()
		source.Check(!d.IsComplex() && d != tensor.Bool, "Unsupported input type encountered for isin(): %s", d.CppName())
	}
	if elements.Tensor.DType().IsIntegral() && among.Tensor.DType().IsIntegral() {
		return isInAs[int64](elements.Tensor, among.Tensor, tensor.Int64, invert)
	}
	return isInAs[float64](elements.Tensor, among.Tensor, tensor.Float64, invert)
}

// isInAs compares elements as those of a type.
func isInAs[T int64 | float64](elements, among *tensor.Tensor, d tensor.DType, invert bool) *tensor.Tensor {
	known := map[T]bool{}
	for _, v := range tensor.Data[T](elementwise.Contiguous(elementwise.To(among, d))) {
		known[v] = true
	}
	out := define.Empty(elements.Shape(), tensor.Bool)
	for i, v := range tensor.Data[T](elementwise.Contiguous(elementwise.To(elements, d))) {
		tensor.Data[bool](out)[i] = known[v] != invert
	}
	return out
}

func isInOf(name string) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		return isIn(elementwise.OperandOf(c, 0), elementwise.OperandOf(c, 1), c.Bool(3))
	})
}

// scattered defines an operator that gives a copy of self with src written into a view of it.
func scattered(name string, view func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error)) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		out := source.Must(c.Tensor(0).Clone(tensor.PreserveFormat))
		v := source.Must(view(define.Call{Args: append([]value.Value{value.OfTensor(out)}, c.Args[2:]...)}, out))
		src := c.Tensor(1)
		source.Check(tensor.SameShape(v.Shape(), src.Shape()), "expected src to have a size equal to the slice of self. src size = %s, slice size = %s", define.ShapeText(src.Shape()), define.ShapeText(v.Shape()))
		source.Throw(tensor.Copy(v, src))
		return out
	})
}

// SliceView is slice.
func SliceView(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
	return t.Slice(c.Int(1), c.IntOr(2, 0), c.IntOr(3, math.MaxInt), c.Int(4))
}

// AsStrided is as_strided.
func AsStrided(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
	return t.AsStrided(c.Ints(1), c.Ints(2), c.IntOr(3, t.Offset()))
}
