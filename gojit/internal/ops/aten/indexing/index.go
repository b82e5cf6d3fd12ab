package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"slices"
	"strings"
	"unsafe"

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
	picked := make([]int, numelOf(shape))
	for k, d := range s.dims {
		n, stride := t.Size(d), t.Strides()[d]
		for lo, hi := range tensor.Stretches(len(flat[k])) {
			for i, v := range flat[k][lo:hi] {
				if v < -int64(n) || v >= int64(n) {
					raise(source.IndexError, "index %d is out of bounds for dimension %d with size %d", v, d, n)
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

func numelOf(shape []int) int { return must(tensor.Numel(shape)) }

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
				warn(bytesAsIndex)
			}
			at := len(out)
			for i, n := range index.Shape() {
				if at+i >= t.Dim() {
					raise(source.IndexError, "too many indices for tensor of dimension %d", t.Dim())
				}
				if n != t.Size(at+i) {
					raise(source.IndexError, "The shape of the mask %s at index %d does not match the shape of the indexed tensor %s at index %d",
						shapeText(index.Shape()), i, shapeText(t.Shape()), at+i)
				}
			}
			out = append(out, must(nonzero(index).Unbind(1))...)
		case tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8:
			if d != tensor.Int64 {
				raise(source.IndexError, "tensors used as indices must be long, byte or bool tensors")
			}
			out = append(out, index)
		default:
			raise(source.IndexError, "tensors used as indices must be long, byte or bool tensors")
		}
	}
	if len(out) > t.Dim() {
		raise(source.IndexError, "too many indices for tensor of dimension %d (got %d)", t.Dim(), len(out))
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
		raise(source.IndexError, "shape mismatch: indexing tensors could not be broadcast together with shapes %s", strings.Join(texts, ", "))
	}
	return shape
}

func broadcastIndices(given []*tensor.Tensor) (shape []int, flat [][]int64) {
	shape = broadcastShape(given)
	for _, index := range given {
		flat = append(flat, tensor.Data[int64](contiguous(must(index.Expand(shape...)))))
	}
	return shape, flat
}

// nonzero lists the indices of the elements that are not zero, one row each.
func nonzero(t *tensor.Tensor) *tensor.Tensor {
	if t.OnDevice() {
		return nonzeroOnDevice(t)
	}
	mask := truthBytes(t)
	count := 0
	for lo, hi := range tensor.Stretches(len(mask)) {
		for _, v := range mask[lo:hi] {
			count += int(min(v, 1))
		}
	}
	if t.Dim() == 0 {
		return empty([]int{count, 0}, tensor.Int64)
	}
	columns := empty([]int{t.Dim(), count}, tensor.Int64)
	if count > 0 {
		listCoordinates(columns, mask, t.Shape())
	}
	return must(columns.AsStrided([]int{count, t.Dim()}, []int{1, count}, 0))
}

// truthBytes gives a byte for each element: 0 for zeros, 1 for others.
func truthBytes(t *tensor.Tensor) []uint8 {
	truths := contiguous(to(t, tensor.Bool))
	return unsafe.Slice((*uint8)(truths.DataPtr()), truths.Numel())
}

// listCoordinates writes the coordinates of the elements whose byte is 1, a row for each dimension.
func listCoordinates(columns *tensor.Tensor, mask []uint8, shape []int) {
	last := len(shape) - 1
	n, data := shape[last], tensor.Data[int64](columns)
	count := len(data) / len(shape)
	inner := data[last*count:]
	at := make([]int64, last)
	var watch tensor.Watch
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

// indicesOfOnes lists the places of the ones and returns how many there are. Every place is written, those of zeros under the
// next one: jumps would be guessed wrong.
func indicesOfOnes(dst []int64, mask []uint8) int {
	k := 0
	for lo, hi := range tensor.Stretches(len(mask)) {
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
	if only := onlyIndex(indices); only != nil {
		if out, ok := chosen(t, only); ok {
			if only.DType() == tensor.Uint8 {
				warn(bytesAsIndex)
			}
			return out
		}
		if out, ok := indexFirst(t, only); ok {
			return out
		}
	}
	r := arrangeIndex(t, indices)
	out := empty(r.shape, t.DType())
	if out.Numel() > 0 {
		moveFrom(out, t, r.outer, r.inner)
	}
	return out
}

// indexPut stores values at the selected elements of t.
func indexPut(t *tensor.Tensor, indices []*tensor.Tensor, values *tensor.Tensor, accumulate bool) {
	check(t.DType() == values.DType(), "Index put requires the source and destination dtypes match, got %s for the destination and %s for the source.", t.DType().CppName(), values.DType().CppName())
	how := replace
	if accumulate {
		how = addTo
	}
	if t.OnDevice() {
		x, outside := arrangeOnDevice(t, indices)
		x.values = valuesFor(values, x.values.Shape())
		if x.values.SharesStorage(t) {
			x.values = must(x.values.Clone(tensor.ContiguousFormat))
		}
		x.run(false, how, outside)
		return
	}
	r := arrangeIndex(t, indices)
	flat := contiguous(valuesFor(values, r.shape))
	if flat.Numel() == 0 {
		return
	}
	if flat.SharesStorage(t) {
		flat = must(flat.Clone(tensor.ContiguousFormat))
	}
	if accumulate {
		accumulateTo(t, flat.DataPtr(), r.outer, r.inner, how)
	} else {
		moveTo(t, flat, r.outer, r.inner)
	}
}

// valuesFor expands the values of index_put to the shape of a selection.
func valuesFor(values *tensor.Tensor, shape []int) *tensor.Tensor {
	expanded, err := values.Expand(shape...)
	if err != nil {
		// leading dimensions of size 1 beyond those of the selection do not matter
		for values.Dim() > len(shape) && values.Size(0) == 1 {
			values = must(values.Select(0, 0))
		}
		if expanded, err = values.Expand(shape...); err != nil {
			raise(source.RuntimeError, "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s", shapeText(values.Shape()), shapeText(shape))
		}
	}
	return expanded
}

var oneOffset = []int{0}

// scattering defines scatter overloads: something is scattered into self.
func scattering(name string, how combine) definition {
	return changing(name, func(c call, t *tensor.Tensor) {
		at := c.tensor(2)
		src := c.operand(3).tensor
		if src == nil {
			mustFit(c.scalar(3), t.DType())
			src = fullBeside(t, at.Shape(), c.scalar(3), t.DType())
		}
		mode := how
		if len(c.args) > 4 {
			check(c.str(4) == "add" || c.str(4) == "multiply", "reduce argument must be either add or multiply.")
			mode, _ = combinationOf(c.str(4))
		}
		scatterInto(t, c.int(1), at, src, mode)
	})
}

// combinationOf returns how elements are combined, and with what that leaves an element as it is.
func combinationOf(name string) (by combine, start float64) {
	switch name {
	case "add", "sum":
		return addTo, 0
	case "multiply", "prod":
		return multiply, 1
	case "amax":
		return greatest, -inf
	case "amin":
		return least, inf
	}
	raise(source.RuntimeError, "reduce argument must be either sum, prod, mean, amax or amin.")
	return replace, 0
}

// scatterReduce combines groups of elements; the old element takes part where includeSelf.
func scatterReduce(c call) *tensor.Tensor {
	t, dim, at, src := must(c.tensor(0).Clone(tensor.ContiguousFormat)), c.int(1), c.tensor(2), c.tensor(3)
	isMean, includeSelf := c.str(4) == "mean", c.bool(5)
	by, start := addTo, 0.0
	if !isMean {
		by, start = combinationOf(c.str(4))
	}
	if !includeSelf {
		filler := fullBeside(t, at.Shape(), startOf(start, t.DType()), t.DType())
		scatterInto(t, dim, at, filler, replace)
	}
	scatterInto(t, dim, at, src, by)
	if !isMean {
		return t
	}
	counts := zerosBeside(t, t.Shape(), t.DType())
	if includeSelf {
		tensor.Fill(counts, tensor.Int(1))
	}
	scatterInto(counts, dim, at, fullBeside(t, at.Shape(), tensor.Int(1), t.DType()), addTo)
	counts = clampMin.withNumber(counts, 1)
	if t.DType().IsFloating() {
		return div.on(t, counts)
	}
	return divFloor.on(t, to(counts, t.DType()))
}

// startOf returns the identity of a maximum or minimum in a type.
func startOf(f float64, d tensor.DType) tensor.Scalar {
	if f != inf && f != -inf || d.IsFloating() {
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

// indexList returns the elements of a vector of indices into a dimension, checked. Those of index_fill may count from the end.
func indexList(name string, index *tensor.Tensor, dim, n int) []int {
	check(index.Dim() <= 1, "%s(): Index is supposed to be a vector", name)
	check(index.DType() == tensor.Int64 || index.DType() == tensor.Int32, "%s(): Expected dtype int32 or int64 for index", name)
	list := integersOf(index)
	for k, i := range list {
		switch {
		case 0 <= i && i < n:
		case name == "index_add_":
			raise(source.IndexError, "index out of range in self")
		case name != "index_fill_":
			raise(source.IndexError, "%s(): index %d is out of bounds for dimension %d with size %d", name, i, dim, n)
		case -n <= i && i < 0:
			list[k] = i + n
		default:
			raise(source.IndexError, "index %d is out of bounds for dimension %d with size %d", i, dim, n)
		}
	}
	return list
}

// spreadOffsets lists the offsets in t of its slices at the listed indices of dim, as outer and inner
// parts. The indices are in the inner part where that is short without them.
func spreadOffsets(t *tensor.Tensor, dim int, list []int) (outer, inner []int) {
	if t.Dim() == 0 {
		return make([]int, len(list)), oneOffset
	}
	picked := make([]int, len(list))
	for i, at := range list {
		picked[i] = at * t.Strides()[dim]
	}
	outer, inner = offsetsOf(t.Shape()[:dim], t.Strides()[:dim]), offsetsOf(t.Shape()[dim+1:], t.Strides()[dim+1:])
	if len(outer) > 1 && len(inner) < minColumns {
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
func indexInto(name string, c call, t, src *tensor.Tensor, how combine) {
	dim := wrapDim(c.int(1), t)
	n := 1
	if t.Dim() > 0 {
		n = t.Size(dim)
	}
	index := c.tensor(2)
	var list []int
	if t.OnDevice() {
		check(index.Dim() <= 1, "%s(): Index is supposed to be a vector", name)
		list = make([]int, index.Numel())
	} else {
		list = indexList(name, index, dim, n)
	}
	check(src.DType() == t.DType(), "%s(): self (%s) and source (%s) must have the same scalar type", name, t.DType().CppName(), src.DType().CppName())
	check(src.Dim() == t.Dim() || t.Dim() <= 1 && src.Dim() <= 1, "%s(): self and source should have the same number of dimensions, but got %d and %d", name, t.Dim(), src.Dim())
	count := 1
	if src.Dim() > 0 {
		count = src.Size(dim)
	}
	if count != len(list) {
		if how == replace {
			raise(source.IndexError, "%s(): Number of indices (%d) should be equal to source.size(dim) (%d)", name, len(list), count)
		}
		raise(source.RuntimeError, "%s(): Number of indices (%d) should be equal to source.size(dim): (%d), for dim: %d", name, len(list), count, dim)
	}
	if src.Numel() == 0 {
		return
	}
	if t.OnDevice() {
		x, _ := slicesAlong(t, contiguous(src), dim, index)
		check(tensor.SameShape(x.base.Shape(), x.values.Shape()), "%s(): source and destination must have the same slice shapes.", name)
		x.run(false, how, func(_ int, v int64) {
			if how == addTo {
				raise(source.IndexError, "index out of range in self")
			}
			raise(source.IndexError, "%s(): index %d is out of bounds for dimension %d with size %d", name, v, dim, n)
		})
		return
	}
	outer, inner := spreadOffsets(t, dim, list)
	check(len(outer)*len(inner) == src.Numel(), "%s(): source and destination must have the same slice shapes. Destination slice shape: %s at dimension %d and source slice shape: %s at dimension 0.", name, shapeText(t.Shape()), dim, shapeText(src.Shape()))
	if how == replace {
		moveTo(t, contiguous(src), outer, inner)
	} else {
		accumulateTo(t, contiguous(src).DataPtr(), outer, inner, how)
	}
}

func indexFill(c call, t *tensor.Tensor) {
	dim := wrapDim(c.int(1), t)
	n := 1
	if t.Dim() > 0 {
		n = t.Size(dim)
	}
	v := c.operand(3)
	if v.tensor != nil {
		check(v.tensor.Dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", v.tensor.Dim())
		v.number = must(v.tensor.Item())
	}
	mustFit(v.number, t.DType())
	if t.OnDevice() {
		number := must(tensor.EmptyOn(t.Device(), []int{1}, t.DType()))
		tensor.Fill(number, v.number)
		x, _ := slicesAlong(t, number, dim, c.tensor(2))
		x.values = must(number.Expand(x.base.Shape()...))
		x.run(false, replace, func(_ int, i int64) {
			raise(source.IndexError, "index %d is out of bounds for dimension %d with size %d", i, dim, n)
		})
		return
	}
	outer, inner := spreadOffsets(t, dim, indexList("index_fill_", c.tensor(2), dim, n))
	if len(outer)*len(inner) > 0 {
		moveTo(t, must(tensor.Full([]int{len(outer) * len(inner)}, v.number, t.DType())), outer, inner)
	}
}

func maskedSelect(t, mask *tensor.Tensor) *tensor.Tensor {
	check(mask.DType() == tensor.Bool || mask.DType() == tensor.Uint8, "masked_select: expected BoolTensor or ByteTensor for mask")
	warnOfBytes("masked_select", mask)
	pair := broadcastTensors([]*tensor.Tensor{mask, t})
	for i, t := range pair {
		if t.Dim() == 0 {
			pair[i] = must(t.Unsqueeze(0))
		}
	}
	return index(pair[1], []*tensor.Tensor{to(pair[0], tensor.Bool)})
}

func maskedScatter(c call) *tensor.Tensor {
	warnOfBytes("masked_scatter_", c.tensor(1))
	pair := broadcastTensors([]*tensor.Tensor{c.tensor(0), c.tensor(1)})
	t, src := must(pair[0].Clone(tensor.ContiguousFormat)), contiguous(c.tensor(2))
	check(src.DType() == t.DType(), "masked_scatter: expected self and source to have same dtypes but got%s and %s", t.DType().CppName(), src.DType().CppName())
	var places []int
	var watch tensor.Watch
	for i, v := range tensor.Data[bool](contiguous(to(pair[1], tensor.Bool))) {
		watch.Did(1)
		if v {
			places = append(places, i)
		}
	}
	check(len(places) <= src.Numel(), "Number of elements of source < number of ones in mask")
	if len(places) > 0 {
		moveTo(t, must(must(src.View(-1)).Slice(0, 0, len(places), 1)), places, oneOffset)
	}
	return t
}

func put(c call, t *tensor.Tensor) {
	at, src := c.tensor(1), c.tensor(2)
	check(at.Numel() == src.Numel(), "put_(): Expected source and index to have the same number of elements, but got source.numel() = %d, index.numel() = %d", src.Numel(), at.Numel())
	if list, n := indicesOf(at), t.Numel(); at.DType() == tensor.Int64 {
		if bad := firstOutside(list, -n, n); bad >= 0 {
			raise(source.IndexError, "out of range: tried to access index %d on a tensor of %d elements.", list[bad], n)
		}
	}
	flat := contiguous(t)
	indexPut(must(flat.View(-1)), []*tensor.Tensor{must(at.Reshape(-1))}, must(src.Reshape(-1)), c.bool(3))
	if flat != t {
		assign(t, flat)
	}
}

func indexPutSelf(c call) {
	v := c.tensor(2)
	if v.Numel() == 1 && !c.bool(3) && isMask(c.optionalTensors(1)) {
		v = must(v.Clone(tensor.PreserveFormat)) // a mask is filled with the number that is there before anything is written
	}
	checkApart(c.tensor(0), []value.Value{c.args[1], value.OfTensor(v)})
	indexPut(c.tensor(0), c.optionalTensors(1), v, c.bool(3))
	c.giveSelf()
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

func indexPutCopy(c call) *tensor.Tensor {
	t := must(c.tensor(0).Clone(tensor.PreserveFormat))
	indexPut(t, c.optionalTensors(1), c.tensor(2), c.bool(3))
	return t
}

var indexFamily = []definition{
	isInOf("isin.Tensor_Tensor"),
	isInOf("isin.Tensor_Scalar"),
	isInOf("isin.Scalar_Tensor"),
	scattered("select_scatter", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Select(c.int(1), c.int(2)) }),
	scattered("slice_scatter", sliceView),
	scattered("diagonal_scatter", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Diagonal(c.int(1), c.int(2), c.int(3))
	}),
	scattered("as_strided_scatter", asStrided).with(ops.Def{Grad: concrete(asStridedScatterGrad), Tags: ops.AsWritten}),
	define("fill_diagonal_", func(c call) {
		t := c.tensor(0)
		check(t.Dim() >= 2, "dimensions must larger than 1")
		if t.Numel() == 0 {
			c.giveSelf()
			return
		}
		step, n := 0, t.Size(0)
		for d := range t.Dim() {
			step += t.Strides()[d]
			n = min(n, t.Size(d))
		}
		if t.Dim() == 2 && c.bool(2) && t.Size(0) > t.Size(1) {
			check(t.IsContiguous(), "fill_diagonal_ with wrap needs a contiguous matrix")
			n = (t.Numel() + step - 1) / step
		}
		tensor.Fill(must(t.AsStrided([]int{n}, []int{step}, t.Offset())), c.scalar(1))
		c.giveSelf()
	}),
	giving("index.Tensor", func(c call) *tensor.Tensor { return index(c.tensor(0), c.optionalTensors(1)) }).with(ops.Def{Grad: indexGrad, Tags: ops.AsWritten}),
	giving("index.Tensor_hacked_twin", func(c call) *tensor.Tensor { return index(c.tensor(0), c.optionalTensors(1)) }).with(ops.Def{Grad: indexGrad, Tags: ops.Grouped | ops.AsWritten}),
	define("index_put_", indexPutSelf),
	define("index_put_.hacked_twin", indexPutSelf),
	define("_index_put_impl_", indexPutSelf),
	define("_index_put_impl_.hacked_twin", indexPutSelf),
	giving("index_put", indexPutCopy).with(ops.Def{Grad: concrete(indexPutGrad), Tags: ops.IgnoresSelf | ops.AsWritten}),
	giving("index_put.hacked_twin", indexPutCopy).with(ops.Def{Grad: concrete(indexPutGrad), Tags: ops.AsWritten}),
	giving("index_select", func(c call) *tensor.Tensor { return indexSelect(c.tensor(0), c.int(1), c.tensor(2)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.into("index_add", c.zerosOf(0), c.int(1), c.in(2), c.g())) }), Tags: ops.AsWritten}).direct(selectedOut).outApart(),
	changing("index_add", func(c call, t *tensor.Tensor) {
		src := c.tensor(3)
		if alpha := c.scalar(4); alpha.Kind != tensor.IntScalar || alpha.Int64() != 1 {
			src = timesOwn(src, alpha)
		}
		checkInside(t)
		indexInto("index_add_", c, t, src, addTo)
	}).with(ops.Def{Grad: concrete(func(c gradient) {
		c.give(0, c.g())
		c.give(3, c.do("mul.Scalar", c.do("index_select", c.g(), c.int(1), c.in(2)), c.arg(4)))
	}), Tags: ops.IgnoresSelf}),
	changing("index_copy", func(c call, t *tensor.Tensor) {
		checkInside(t)
		indexInto("index_copy_", c, t, c.tensor(3), replace)
	}),
	changing("index_fill.int_Scalar", indexFill),
	changing("index_fill.int_Tensor", indexFill),
	giving("gather", func(c call) *tensor.Tensor { return gather(c.tensor(0), c.int(1), c.tensor(2)) }).with(ops.Def{Grad: concrete(sparsely(3, gatherSparseGrad, gatherGrad)), Tags: ops.AsWritten, Out: ops.OutOfResult}).outApart(),
	giving("take_along_dim", func(c call) *tensor.Tensor {
		t, at := c.tensor(0), c.tensor(1)
		if c.isNone(2) {
			return gather(must(t.Reshape(-1)), 0, must(at.Reshape(-1)))
		}
		noScalar(c.int(2), t)
		check(at.DType() == tensor.Int64, "torch.take_along_dim(): dtype of indices should be Long but got %s", at.DType().CppName())
		dim := wrapDim(c.int(2), t)
		check(t.Dim() == at.Dim(), "torch.take_along_dim(): input and indices should have the same number of dimensions, but got %d dimensions for input, and %d dimensions for indices", t.Dim(), at.Dim())
		a, b := slices.Clone(t.Shape()), slices.Clone(at.Shape())
		a[dim], b[dim] = 1, 1
		shape := must(tensor.Broadcast(a, b))
		x, y := slices.Clone(shape), slices.Clone(shape)
		x[dim], y[dim] = t.Size(dim), at.Size(dim)
		return gather(must(t.Expand(x...)), dim, must(at.Expand(y...)))
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.moved("take_along_dim") }), Tags: ops.AsWritten}),
	scattering("scatter.src", replace).with(ops.Def{Grad: concrete(func(c gradient) {
		c.give(0, c.do("scatter.value", c.g(), c.int(1), c.in(2), 0))
		c.give(3, c.do("gather", c.g(), c.int(1), c.in(2)))
	}), Tags: ops.IgnoresSelf | ops.AsWritten}),
	scattering("scatter.value", replace).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("scatter.value", c.g(), c.int(1), c.in(2), 0)) }), Tags: ops.IgnoresSelf | ops.AsWritten}),
	scattering("scatter.reduce", replace),
	scattering("scatter.value_reduce", replace),
	scattering("scatter_add", addTo).with(ops.Def{Grad: concrete(func(c gradient) {
		c.give(0, c.g())
		c.give(3, c.do("gather", c.g(), c.int(1), c.in(2)))
	}), Tags: ops.IgnoresSelf | ops.AsWritten}),
	giving("scatter_reduce.two", scatterReduce).with(ops.Def{Grad: concrete(scatterReduceGrad)}),
	giving("masked_select", func(c call) *tensor.Tensor { return maskedSelect(c.tensor(0), c.tensor(1)) }).with(ops.Def{Grad: concrete(func(c gradient) {
		all := c.zerosAs(must(tensor.Broadcast(c.shape(0), c.in(1).Shape())), c.g().DType())
		c.give(0, c.do("masked_scatter", all, c.in(1), c.g()))
	}), Tags: ops.AsWritten}).outApart(),
	giving("masked_scatter", maskedScatter),
	giving("take", func(c call) *tensor.Tensor { return take(c.tensor(0), c.tensor(1)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.into("put", c.zerosOf(0), c.in(1), c.g(), true)) }), Tags: ops.AsWritten}).outApart(),
	changing("put", put),
	giving("nonzero", func(c call) *tensor.Tensor { return nonzero(c.tensor(0)) }).with(ops.Def{Tags: ops.Grouped}),
	giving("argwhere", func(c call) *tensor.Tensor { return nonzero(c.tensor(0)) }),
	define("nonzero_numpy", func(c call) { c.giveList(nonzeroColumns(c.tensor(0))) }),
	define("where", func(c call) { c.giveList(nonzeroColumns(c.tensor(0))) }),
}

// noScalar refuses a dimension of a tensor that has none.
func noScalar(dim int, t *tensor.Tensor) {
	if t.Dim() == 0 {
		raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", dim)
	}
}

func nonzeroColumns(t *tensor.Tensor) []*tensor.Tensor {
	if t.Dim() == 0 {
		t = must(t.Unsqueeze(0))
	}
	return must(nonzero(t).Unbind(1))
}

// isIn tells which elements are among the test elements.
func isIn(elements, among operand, invert bool) *tensor.Tensor {
	for _, o := range []*operand{&elements, &among} {
		if o.tensor == nil {
			o.tensor = tensor.FromScalar(o.number, o.number.ResultDType())
		}
	}
	known := map[float64]bool{}
	for _, v := range tensor.Data[float64](contiguous(to(among.tensor, tensor.Float64))) {
		known[v] = true
	}
	out := empty(elements.tensor.Shape(), tensor.Bool)
	for i, v := range tensor.Data[float64](contiguous(to(elements.tensor, tensor.Float64))) {
		tensor.Data[bool](out)[i] = known[v] != invert
	}
	return out
}

func isInOf(name string) definition {
	return giving(name, func(c call) *tensor.Tensor { return isIn(c.operand(0), c.operand(1), c.bool(3)) })
}

// scattered defines an operator that gives a copy of self with src written into a view of it.
func scattered(name string, view func(c call, t *tensor.Tensor) (*tensor.Tensor, error)) definition {
	return giving(name, func(c call) *tensor.Tensor {
		out := must(c.tensor(0).Clone(tensor.PreserveFormat))
		v := must(view(call{args: append([]value.Value{value.OfTensor(out)}, c.args[2:]...)}, out))
		src := c.tensor(1)
		check(tensor.SameShape(v.Shape(), src.Shape()), "expected src to have a size equal to the slice of self. src size = %s, slice size = %s", shapeText(src.Shape()), shapeText(v.Shape()))
		succeed(tensor.Copy(v, src))
		return out
	})
}
