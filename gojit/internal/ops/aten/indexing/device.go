package indexing

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Of the routine of sorting: the most elements of a row that a block of threads orders at once, and of longer rows the elements of a tile and the values
// and bits of a digit.
const (
	sortedAtOnce = 2048
	sortTile     = 2048
	sortDigits   = 16
	sortBits     = 4
)

// sortRoutine runs an entry point of the routine of sorting. number is that of the entry point; tensors are values and places afterwards and before, of
// which the last are missing where places are counted.
func (l *lines) sortRoutine(entry string, blocks, n, number int, descending, areCounted bool, tensors ...*tensor.Tensor) {
	r := kernel.Routine{Text: "sort", Entry: entry, Types: []tensor.DType{l.t.DType()}, Blocks: blocks}
	source.Throw(elementwise.LaunchRoutine(r, tensors, int64(n), int64(define.Btoi(descending)), int64(number), int64(define.Btoi(areCounted))))
}

// sortedOnDevice orders the lines of a tensor of a device: values and places, the dimension last.
func (l *lines) sortedOnDevice(descending bool) (values, places *tensor.Tensor) {
	if l.dims == 0 {
		places = define.EmptyBeside(l.t, nil, tensor.Int64)
		tensor.Fill(places, tensor.Int(0))
		return source.Must(l.t.Clone(tensor.ContiguousFormat)), places
	}
	return l.sortedRows(l.t, nil, descending)
}

// sortedRows orders rows of values, which have these places; nil are those that count them.
func (l *lines) sortedRows(values, places *tensor.Tensor, descending bool) (_, _ *tensor.Tensor) {
	shape := values.Shape()
	n := shape[len(shape)-1]
	empty := func(d tensor.DType) *tensor.Tensor { return define.EmptyBeside(values, shape, d) }
	if values.Numel() == 0 {
		return empty(values.DType()), empty(tensor.Int64)
	}
	rows := values.Numel() / n
	if n <= sortedAtOnce {
		size := 1 << bits.Len(uint(n-1))
		out, at := empty(values.DType()), empty(tensor.Int64)
		tensors := []*tensor.Tensor{out, at, values}
		if places != nil {
			tensors = append(tensors, places)
		}
		l.sortRoutine("order", rows, n, size, descending, places == nil, tensors...)
		return out, at
	}
	tiles := (n + sortTile - 1) / sortTile
	counts := define.EmptyBeside(values, []int{rows, sortDigits * tiles}, tensor.Int32)
	for low := 0; low < 8*values.DType().Size(); low += sortBits {
		l.sortRoutine("count", rows*tiles, n, low, descending, places == nil, values, values, values, values, counts)
		sums := reduce.RunningSums(counts)
		out, at := empty(values.DType()), empty(tensor.Int64)
		before := places
		if before == nil {
			before = at // which is not read
		}
		l.sortRoutine("move", rows*tiles, n, low, descending, places == nil, out, at, values, before, sums)
		if values != l.t {
			values.Release()
			places.Release()
		}
		values, places = out, at
		sums.Release()
	}
	return values, places
}

// Of rows that have no more elements than these, or of so many rows, the first are selected by a block of threads each.
const (
	selectedElements = 1 << 16
	selectedRows     = 32
)

// firstOnDevice gives the first k of the lines in their order.
func (l *lines) firstOnDevice(k int, descending bool) (values, places *tensor.Tensor) {
	if l.dims == 0 || k == 0 || k > sortedAtOnce || l.n <= sortedAtOnce || l.n > selectedElements && l.count < selectedRows {
		values, places = l.sortedOnDevice(descending)
		if l.dims > 0 {
			values, places = elementwise.Contiguous(source.Must(values.Slice(l.dims-1, 0, k, 1))), elementwise.Contiguous(source.Must(places.Slice(l.dims-1, 0, k, 1)))
		}
		return values, places
	}
	shape := append(slices.Clone(l.t.Shape()[:l.dims-1]), k)
	out, at := define.EmptyBeside(l.t, shape, l.t.DType()), define.EmptyBeside(l.t, shape, tensor.Int64)
	l.sortRoutine("select", l.count, l.n, k, descending, true, out, at, l.t)
	return l.sortedRows(out, at, descending)
}

// searchOnDevice is searchSorted on a device, for tensors of one type.
func searchOnDevice(sorted, values *tensor.Tensor, right bool) *tensor.Tensor {
	out := define.EmptyBeside(sorted, values.Shape(), tensor.Int64)
	if out.Numel() == 0 {
		return out
	}
	perRow := 0
	if sorted.Dim() > 1 {
		perRow = values.Size(values.Dim() - 1)
	}
	r := kernel.Routine{Text: "search", Entry: "search", Types: []tensor.DType{sorted.DType()}, Threads: out.Numel()}
	source.Throw(elementwise.LaunchRoutine(r, []*tensor.Tensor{out, sorted, values}, int64(sorted.Size(sorted.Dim()-1)), int64(perRow), int64(define.Btoi(right))))
	return out
}

// movedAs returns the type that stands for elements of a type where they are moved, by their size alone.
func movedAs(d tensor.DType) tensor.DType {
	switch d.Size() {
	case 1:
		return tensor.Uint8
	case 2:
		return tensor.Int16
	case 4:
		return tensor.Int32
	case 8:
		return tensor.Int64
	}
	return tensor.Complex128
}

// reduceOpOf returns the reduction that combines as scattering does.
func reduceOpOf(how combine) kernel.ReduceOp {
	switch how {
	case AddTo:
		return kernel.ReduceSum
	case multiply:
		return kernel.ReduceProduct
	case greatest:
		return kernel.ReduceMax
	case least:
		return kernel.ReduceMin
	}
	return kernel.NoReduce
}

// indexed is what is moved by indices on a device: element i of values belongs to the element of base that lies the sum of the i-th of all indices
// times their steps behind where base has it. base has the shape of values, and no step along what is indexed.
type indexed struct {
	base, values *tensor.Tensor
	indices      []*tensor.Tensor
	sizes, steps []int // of the indexed dimensions, in elements
}

// add indexes another dimension of base, of a size and step. It may be counted from its end.
func (x *indexed) add(index *tensor.Tensor, size, step int) {
	x.indices = append(x.indices, elementwise.To(index, tensor.Int64))
	x.sizes, x.steps = append(x.sizes, size), append(x.steps, step)
}

// run moves: out of base where isTaken, else into it. outside makes the error of an index that is beyond its dimension.
func (x *indexed) run(isTaken bool, how combine, outside func(which int, index int64)) {
	if x.values.Numel() == 0 {
		return
	}
	base, values := x.base, x.values
	if how != Replace && values.DType().IsComplex() {
		x.runParts(how, outside)
		return
	}
	r := kernel.Routine{Text: "index_moves", Entry: "put", Walks: true, Checked: true}
	elementSize := values.DType().Size()
	if how == Replace || isTaken {
		base, values = x.together()
	}
	r.Types, r.Threads = []tensor.DType{movedAs(values.DType())}, values.Numel()
	first, second := base, values
	switch {
	case isTaken:
		r.Entry, first, second = "take", values, base
	case how != Replace:
		r.Text, r.Types, r.Combine = "index_sums", []tensor.DType{values.DType()}, reduceOpOf(how)
	}
	numbers := make([]int64, 0, 2*len(x.sizes))
	for k := range x.sizes {
		numbers = append(numbers, int64(x.sizes[k]), int64(x.steps[k]*elementSize))
	}
	err := elementwise.LaunchRoutine(r, append([]*tensor.Tensor{first, second}, x.indices...), numbers...)
	var beyond *kernel.RoutineFailure
	if errors.As(err, &beyond) {
		outside(int(beyond.Which), beyond.Value)
	}
	source.Throw(err)
}

// together shows base and values with as many neighbours as one as move together: they lie side by side in both, and every index is for all of them.
func (x *indexed) together() (base, values *tensor.Tensor) {
	base, values = x.base, x.values
	last := values.Dim() - 1
	if last < 0 || base.Dim() != values.Dim() || base.DType() != values.DType() || base.Strides()[last] != 1 || values.Strides()[last] != 1 {
		return base, values
	}
	for _, index := range x.indices {
		if index.Dim() > 0 && index.Size(index.Dim()-1) != 1 && index.Strides()[index.Dim()-1] != 0 {
			return base, values
		}
	}
	size := values.DType().Size()
	for _, wide := range []tensor.DType{tensor.Complex128, tensor.Int64, tensor.Int32} {
		some := wide.Size() / size
		if some < 2 || !x.moveBy(wide.Size()) {
			continue
		}
		wideBase, err := base.ViewDType(wide)
		wideValues, and := values.ViewDType(wide)
		if err == nil && and == nil {
			return wideBase, wideValues
		}
	}
	return base, values
}

// moveBy reports whether tensors begin, and indices lead, to multiples of so many bytes.
func (x *indexed) moveBy(bytes int) bool {
	for _, step := range x.steps {
		if step*x.values.DType().Size()%bytes != 0 {
			return false
		}
	}
	return x.base.Address()%uint64(bytes) == 0 && x.values.Address()%uint64(bytes) == 0
}

// runParts combines complex numbers, which are added alone, as pairs of real ones.
func (x *indexed) runParts(how combine, outside func(which int, index int64)) {
	if how != AddTo {
		source.Throw(kernel.ErrNoDeviceForm)
	}
	parts := indexed{base: source.Must(x.base.ViewAsReal()), values: source.Must(x.values.ViewAsReal()), sizes: x.sizes, steps: slices.Clone(x.steps)}
	for k, index := range x.indices {
		parts.indices = append(parts.indices, source.Must(index.Unsqueeze(index.Dim())))
		parts.steps[k] *= 2
	}
	parts.run(false, how, outside)
}

// alongDevice is what gather and scatter index: as newAlong, whose checks it has.
func alongDevice(name string, t *tensor.Tensor, dim int, index, values *tensor.Tensor) (x indexed, outside func(which int, v int64)) {
	checkAlong(name, t, dim, index)
	dim = define.WrapDim(dim, t)
	if t.Dim() == 0 {
		t = source.Must(t.Unsqueeze(0))
	}
	shape := index.Shape()
	if index.Dim() == 0 {
		shape = []int{1}
	}
	strides := slices.Clone(t.Strides())
	size, step := t.Size(dim), strides[dim]
	strides[dim] = 0
	x = indexed{base: source.Must(t.AsStrided(shape, strides, t.Offset())), values: source.Must(values.View(shape...))}
	x.add(source.Must(index.Reshape(shape...)), size, step)
	a := along{dim: dim, limit: size}
	return x, func(_ int, v int64) { a.outside(v) }
}

// gatherOnDevice is gather on a device.
func gatherOnDevice(t *tensor.Tensor, dim int, index *tensor.Tensor) *tensor.Tensor {
	out := define.EmptyBeside(t, index.Shape(), t.DType())
	if out.Numel() > 0 {
		x, outside := alongDevice("gather", t, dim, index, out)
		x.run(true, Replace, outside)
	}
	return out
}

// SelectAlong is t with the places of index in a dimension: index_select, and its like.
func SelectAlong(t *tensor.Tensor, dim int, index *tensor.Tensor, shape []int, outside func(v int64)) *tensor.Tensor {
	out := define.EmptyBeside(t, shape, t.DType())
	x, _ := slicesAlong(t, out, dim, index)
	x.run(true, Replace, func(_ int, v int64) { outside(v) })
	return out
}

// slicesAlong pairs the slices of values along a dimension with those of t at the places of a vector of indices.
func slicesAlong(t, values *tensor.Tensor, dim int, index *tensor.Tensor) (x indexed, size int) {
	if t.Dim() == 0 {
		t = source.Must(t.Unsqueeze(0))
	}
	if values.Dim() == 0 {
		values = source.Must(values.Unsqueeze(0))
	}
	shape, strides := slices.Clone(t.Shape()), slices.Clone(t.Strides())
	size = t.Size(dim)
	step := strides[dim]
	shape[dim], strides[dim] = index.Numel(), 0
	x = indexed{base: source.Must(t.AsStrided(shape, strides, t.Offset())), values: values}
	tail := slices.Repeat([]int{1}, len(shape)-dim)
	tail[0] = index.Numel()
	x.add(source.Must(index.Reshape(tail...)), size, step)
	return x, size
}

// arrangeOnDevice is arrangeIndex for a device: base is t as the selection shows it.
func arrangeOnDevice(t *tensor.Tensor, indices []*tensor.Tensor) (x indexed, outside func(which int, v int64)) {
	indices = slices.Clone(indices)
	for i, index := range indices {
		if index != nil && index.Device() != t.Device() {
			source.Check(!index.OnDevice(), "indices should be either on cpu or on the same device as the indexed tensor (%s)", t.Device())
			indices[i] = source.Must(index.ToDevice(t.Device()))
		}
	}
	s := chosenDimsOf(t, indices)
	picked := broadcastShape(s.given)
	shape := slices.Concat(s.beforeShape, picked, s.afterShape)
	strides := slices.Concat(s.beforeStrides, make([]int, len(picked)), s.afterStrides)
	if define.NumelOf(shape) > 0 {
		for _, d := range s.dims {
			if t.Size(d) == 0 {
				source.Raise(source.IndexError, "index is out of bounds for dimension with size 0")
			}
		}
		x.base = source.Must(t.AsStrided(shape, strides, t.Offset()))
	}
	x.values = source.Must(tensor.EmptyMeta(shape, t.DType())) // for its shape
	for k, index := range s.given {
		index = source.Must(index.Reshape(append(slices.Clone(index.Shape()), slices.Repeat([]int{1}, len(s.afterShape))...)...))
		x.add(index, t.Size(s.dims[k]), t.Strides()[s.dims[k]])
	}
	return x, func(which int, v int64) {
		source.Raise(source.IndexError, "index %d is out of bounds for dimension %d with size %d", v, s.dims[which], t.Size(s.dims[which]))
	}
}

// indexOnDevice is index on a device.
func indexOnDevice(t *tensor.Tensor, indices []*tensor.Tensor) *tensor.Tensor {
	x, outside := arrangeOnDevice(t, indices)
	x.values = define.EmptyBeside(t, x.values.Shape(), t.DType())
	x.run(true, Replace, outside)
	return x.values
}

// nonzeroOnDevice is nonzero on a device: where the elements that are not zero go follows from how many there are before each.
func nonzeroOnDevice(t *tensor.Tensor) *tensor.Tensor {
	truths := elementwise.Contiguous(elementwise.To(t, tensor.Bool))
	flat := source.Must(truths.View(-1))
	n := t.Numel()
	if n == 0 {
		return define.EmptyBeside(t, []int{0, t.Dim()}, tensor.Int64)
	}
	before := reduce.SumScanner.Along(flat, 0, tensor.Int64)
	count := int(source.Must(source.Must(before.Select(0, n-1)).Item()).Int64())
	if t.Dim() == 0 || count == 0 {
		return define.EmptyBeside(t, []int{count, t.Dim()}, tensor.Int64)
	}
	// what is zero goes behind the others, where nobody looks
	places := define.EmptyBeside(t, []int{count + 1}, tensor.Int64)
	numbers := source.Must(source.Must(tensor.FromSlice(countTo64(n), n)).ToDevice(t.Device()))
	at := define.Apply("where.self", flat, elementwise.AddNumber(before, -1), source.Must(source.Must(tensor.FromSlice([]int64{int64(count)}, 1)).ToDevice(t.Device())))
	x, _ := slicesAlong(places, numbers, 0, at)
	x.run(false, Replace, func(int, int64) {})
	found := source.Must(places.Slice(0, 0, count, 1))
	columns := define.EmptyBeside(t, []int{t.Dim(), count}, tensor.Int64)
	for d := t.Dim() - 1; d >= 0; d-- {
		size := float64(t.Size(d))
		source.Throw(tensor.Copy(source.Must(columns.Select(0, d)), elementwise.Remainder.WithNumber(found, size)))
		found = elementwise.DivFloor.WithNumber(found, size)
	}
	return source.Must(columns.AsStrided([]int{count, t.Dim()}, []int{1, count}, 0))
}

func countTo64(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

// pickOnDevice is MoveFrom on a device.
func pickOnDevice(out, t *tensor.Tensor, outer, inner []int) {
	x := offsetsOnDevice(t, source.Must(out.View(len(outer), len(inner))), outer, inner)
	x.run(true, Replace, func(int, int64) {})
}

// putOnDevice is MoveTo on a device, and accumulateTo.
func putOnDevice(t, values *tensor.Tensor, outer, inner []int, how combine) {
	x := offsetsOnDevice(t, source.Must(elementwise.Contiguous(values).View(len(outer), len(inner))), outer, inner)
	x.run(false, how, func(int, int64) {})
}

// offsetsOnDevice pairs values with the elements of t at sums of offsets.
func offsetsOnDevice(t, values *tensor.Tensor, outer, inner []int) indexed {
	all := int(^uint(0) >> 1)
	x := indexed{base: source.Must(t.AsStrided([]int{len(outer), len(inner)}, []int{0, 0}, t.Offset())), values: values}
	x.add(elementwise.OnDeviceOf(t, outer, len(outer), 1), all, 1)
	x.add(elementwise.OnDeviceOf(t, inner, 1, len(inner)), all, 1)
	return x
}

// KeptStrides is a result as an elementwise one of like is laid out.
func KeptStrides(out, like *tensor.Tensor) *tensor.Tensor {
	if like.IsContiguous() {
		return out
	}
	alike := source.Must(tensor.EmptyFormatOn(out.Device(), like, out.DType(), tensor.PreserveFormat))
	source.Throw(tensor.Copy(alike, out))
	return alike
}
