package indexing

import (
	"math"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/memory"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// distinct is what unique operators find out about elements.
type distinct struct {
	keys    []uint64 // of the different elements in the order of the result
	counts  []int64
	inverse []int64 // for each element its place in the result; nil where nobody wants it
}

// unique gives the different elements in order, the counts, and where that is wanted for each element its place among them.
// A NaN equals nothing: each is a value of its own, at the end, with no count, and its place is the first.
func unique(t *tensor.Tensor, wantInverse bool) (values, inverse, counts *tensor.Tensor) {
	d := t.DType()
	source.Check(!d.IsComplex(), "\"unique\" not implemented for '%s'", d.CppName())
	flat := elementwise.Contiguous(source.Must(t.Reshape(-1)))
	n := flat.Numel()
	var u distinct
	if wantInverse {
		u.inverse = make([]int64, n)
	}
	if n > 0 && !u.byTable(flat) {
		u.bySorting(flat)
	}
	values = define.Empty([]int{len(u.keys)}, d)
	elementsOf(values, u.keys)
	if d.IsFloating() {
		keepSignOfZero(values, flat)
	}
	inverse = define.Empty([]int{0}, tensor.Int64)
	if wantInverse {
		inverse = source.Must(source.Must(tensor.FromSlice(u.inverse, n)).Reshape(t.Shape()...))
	}
	return values, inverse, source.Must(tensor.FromSlice(u.counts, len(u.counts)))
}

// smallTable is the range of integers for which counting is always cheap; a larger one may be twice the number of elements.
const smallTable = 1 << 12

// byTable counts integers whose range is small.
func (u *distinct) byTable(flat *tensor.Tensor) bool {
	switch flat.DType() {
	case tensor.Bool, tensor.Uint8:
		return countInTable(u, unsafe.Slice((*uint8)(flat.DataPtr()), flat.Numel()))
	case tensor.Int8:
		return countInTable(u, tensor.Data[int8](flat))
	case tensor.Int16:
		return countInTable(u, tensor.Data[int16](flat))
	case tensor.Int32:
		return countInTable(u, tensor.Data[int32](flat))
	case tensor.Int64:
		return countInTable(u, tensor.Data[int64](flat))
	}
	return false
}

func countInTable[T plainInteger](u *distinct, data []T) bool {
	least, greatest := data[0], data[0]
	for _, v := range data {
		least, greatest = min(least, v), max(greatest, v)
	}
	size := uint64(int64(greatest)) - uint64(int64(least))
	if size >= uint64(max(smallTable, 2*len(data))) {
		return false
	}
	size++
	both := make([]int64, 2*size) // of the elements at even and odd places: equal neighbours do not wait for each other
	even, odd := both[:size], both[size:]
	for i := 0; i+1 < len(data); i += 2 {
		even[int64(data[i])-int64(least)]++
		odd[int64(data[i+1])-int64(least)]++
	}
	if len(data)%2 != 0 {
		even[int64(data[len(data)-1])-int64(least)]++
	}
	bias := signBit[T]()
	for v := range even {
		if count := even[v] + odd[v]; count > 0 {
			even[v] = int64(len(u.keys))
			u.keys = append(u.keys, uint64(int64(v)+int64(least))^bias)
			u.counts = append(u.counts, count)
		}
	}
	if u.inverse != nil {
		for i, v := range data {
			u.inverse[i] = even[int64(v)-int64(least)]
		}
	}
	return true
}

// bySorting counts the runs of sorted keys.
func (u *distinct) bySorting(flat *tensor.Tensor) {
	n, d := flat.Numel(), flat.DType()
	room, both := words(2 * n)
	defer room.Release()
	keys := both[:n]
	keysOf(keys, flat.DataPtr(), d, false)
	var order []int64
	if u.inverse != nil {
		o := newOrderer(n, d, false)
		defer o.release()
		order = make([]int64, n)
		o.order(order, flat.DataPtr())
	} else {
		keys = radixSort(keys, both[n:])
	}
	nan, hasNaN := nanKey(d)
	for i := range n {
		if i%(1<<18) == 0 {
			LookBetween(n)
		}
		key := keys[i]
		if order != nil {
			key = keys[order[i]]
		}
		if hasNaN && key == nan {
			u.keys, u.counts = append(u.keys, key), append(u.counts, 0)
			continue // the element's place stays 0
		}
		if last := len(u.keys) - 1; last < 0 || u.keys[last] != key {
			u.keys, u.counts = append(u.keys, key), append(u.counts, 0)
		}
		last := len(u.keys) - 1
		u.counts[last]++
		if order != nil {
			u.inverse[order[i]] = int64(last)
		}
	}
}

// keepSignOfZero gives the zero among values, which are in order, the sign of the first zero of the elements.
func keepSignOfZero(values, flat *tensor.Tensor) {
	at := elementwise.Eq.WithNumber(values, 0)
	for i, zero := range tensor.Data[bool](at) {
		if !zero {
			continue
		}
		for j, same := range tensor.Data[bool](elementwise.Eq.WithNumber(flat, 0)) {
			if same {
				source.Throw(tensor.Copy(source.Must(values.Select(0, i)), source.Must(flat.Select(0, j))))
				return
			}
		}
	}
}

// uniqueRows does the same for the slices of a contiguous tensor along its first dimension, or only for neighbours.
func uniqueRows(rows *tensor.Tensor, consecutive, wantInverse, wantCounts bool) (values, inverse, counts *tensor.Tensor) {
	n, d := rows.Size(0), rows.DType()
	source.Check(!d.IsComplex(), "\"unique\" not implemented for '%s'", d.CppName())
	width := rows.Numel() / max(n, 1)
	if width == 1 && consecutive {
		return uniqueNeighbours(rows, wantInverse, wantCounts)
	}
	if n == 1 {
		return source.Must(rows.Clone(tensor.ContiguousFormat)), define.Zeros([]int{1}, tensor.Int64), source.Must(tensor.FromSlice([]int64{1}, 1))
	}
	room, keys := words(rows.Numel())
	defer room.Release()
	keysOf(keys, rows.DataPtr(), d, false)
	order := firstOffsets(n)
	if !consecutive {
		compared := 0
		slices.SortStableFunc(order, func(a, b int) int {
			if compared++; compared%(1<<14) == 0 {
				parallel.Look()
			}
			return slices.Compare(keys[a*width:(a+1)*width], keys[b*width:(b+1)*width])
		})
	}
	nan, hasNaN := nanKey(d)
	inverse = define.Empty([]int{n}, tensor.Int64)
	inv := tensor.Data[int64](inverse)
	var first []int
	var count []int64
	var watch parallel.Watch
	for i, r := range order {
		watch.Did(width)
		if i == 0 || !slices.Equal(keys[order[i-1]*width:][:width], keys[r*width:][:width]) || hasNaN && slices.Contains(keys[r*width:][:width], nan) {
			first, count = append(first, r*width), append(count, 0)
		}
		count[len(count)-1]++
		inv[r] = int64(len(first) - 1)
	}
	shape := slices.Clone(rows.Shape())
	shape[0] = len(first)
	values = define.Empty(shape, d)
	if values.Numel() > 0 {
		MoveFrom(values, rows, first, firstOffsets(width))
	}
	return values, inverse, source.Must(tensor.FromSlice(count, len(count)))
}

// uniqueNeighbours is uniqueRows for neighbours among elements; what is not wanted is nil.
func uniqueNeighbours(elements *tensor.Tensor, wantInverse, wantCounts bool) (values, inverse, counts *tensor.Tensor) {
	n := elements.Size(0)
	if !wantInverse && !wantCounts {
		return firstsOfRuns(elements), nil, nil
	}
	room, both := words(n)
	defer room.Release()
	starts := unsafe.Slice((*int)(unsafe.Pointer(unsafe.SliceData(both))), n)
	starts = starts[:runsOf(elements, starts)]
	values = define.Empty(append([]int{len(starts)}, elements.Shape()[1:]...), elements.DType())
	if len(starts) > 0 {
		MoveFrom(values, elements, OneOffset, starts)
	}
	if wantCounts {
		counts = define.Empty([]int{len(starts)}, tensor.Int64)
		count := tensor.Data[int64](counts)
		for k := range count {
			end := n
			if k+1 < len(starts) {
				end = starts[k+1]
			}
			count[k] = int64(end - starts[k])
		}
	}
	if wantInverse {
		inverse = define.Empty([]int{n}, tensor.Int64)
		inv, run := tensor.Data[int64](inverse), 0
		for lo, hi := range parallel.Stretches(n) {
			for i := lo; i < hi; i++ {
				if run+1 < len(starts) && starts[run+1] == i {
					run++
				}
				inv[i] = int64(run)
			}
		}
	}
	return values, inverse, counts
}

// firstsOfRuns gives the elements that differ from the one before, and the first. As PyTorch's, the result has room for all where most are there.
func firstsOfRuns(elements *tensor.Tensor) *tensor.Tensor {
	all := define.Empty(elements.Shape(), elements.DType())
	if elements.Numel() == 0 {
		return all
	}
	n := keepChanges(all, elements)
	kept := source.Must(all.Slice(0, 0, n, 1))
	if 2*n > elements.Numel() {
		return kept
	}
	defer define.ForgetMade(elements, all)
	return source.Must(kept.Clone(tensor.ContiguousFormat))
}

// keepChanges writes the elements that differ from the one before, and the first, and returns how many they are.
func keepChanges(to, elements *tensor.Tensor) int {
	dst, src, n := to.DataPtr(), elements.DataPtr(), elements.Numel()
	switch d := elements.DType(); {
	case d == tensor.Float32:
		return changes(unsafe.Slice((*float32)(dst), n), unsafe.Slice((*float32)(src), n), true)
	case d == tensor.Float64:
		return changes(unsafe.Slice((*float64)(dst), n), unsafe.Slice((*float64)(src), n), true)
	case d == tensor.Float16:
		return smallFloatChanges(unsafe.Slice((*uint16)(dst), n), unsafe.Slice((*uint16)(src), n), 0x7c00)
	case d == tensor.BFloat16:
		return smallFloatChanges(unsafe.Slice((*uint16)(dst), n), unsafe.Slice((*uint16)(src), n), 0x7f80)
	case d.Size() == 1:
		return changes(unsafe.Slice((*uint8)(dst), n), unsafe.Slice((*uint8)(src), n), false)
	case d.Size() == 2:
		return changes(unsafe.Slice((*uint16)(dst), n), unsafe.Slice((*uint16)(src), n), false)
	case d.Size() == 4:
		return changes(unsafe.Slice((*uint32)(dst), n), unsafe.Slice((*uint32)(src), n), false)
	}
	return changes(unsafe.Slice((*uint64)(dst), n), unsafe.Slice((*uint64)(src), n), false)
}

// changes is keepChanges without a branch for each element: a place is overwritten where its element is like the one before.
func changes[T comparable](to, data []T, floats bool) int {
	k, size := 0, int(unsafe.Sizeof(data[0]))
	to[0] = data[0]
	for lo, hi := range parallel.Stretches(len(data) - 1) {
		if size >= 4 {
			done, wrote := memory.Changes(unsafe.Pointer(&to[k+1]), unsafe.Pointer(&data[lo]), size, hi-lo+1, floats)
			lo, k = lo+done, k+wrote
		}
		before := data[lo]
		for _, x := range data[lo+1 : hi+1] {
			to[k+1] = x
			if x != before {
				k++
			}
			before = x
		}
	}
	return k + 1
}

// smallFloatChanges is changes for floats of 16 bits, whose infinity has these bits.
func smallFloatChanges(to, data []uint16, infinity uint16) int {
	k, before := 0, data[0]
	to[0] = before
	for lo, hi := range parallel.Stretches(len(data) - 1) {
		for _, x := range data[lo+1 : hi+1] {
			to[k+1] = x
			if differsAsFloat(x, before, infinity) {
				k++
			}
			before = x
		}
	}
	return k + 1
}

// differsAsFloat compares floats of 16 bits, whose infinity has these bits: zeros of both signs are equal, a NaN equals nothing.
func differsAsFloat(x, y, infinity uint16) bool {
	isZero := (x|y)&math.MaxInt16 == 0
	return x != y && !isZero || x&math.MaxInt16 > infinity
}

// runsOf writes the places of elements that differ from the one before, the first among them, and returns how many there are.
func runsOf(elements *tensor.Tensor, starts []int) int {
	data, n := elements.DataPtr(), len(starts)
	switch d := elements.DType(); {
	case d == tensor.Float32:
		return runs(unsafe.Slice((*float32)(data), n), starts)
	case d == tensor.Float64:
		return runs(unsafe.Slice((*float64)(data), n), starts)
	case d == tensor.Float16:
		return smallFloatRuns(unsafe.Slice((*uint16)(data), n), starts, 0x7c00)
	case d == tensor.BFloat16:
		return smallFloatRuns(unsafe.Slice((*uint16)(data), n), starts, 0x7f80)
	case d.Size() == 1:
		return runs(unsafe.Slice((*uint8)(data), n), starts)
	case d.Size() == 2:
		return runs(unsafe.Slice((*uint16)(data), n), starts)
	case d.Size() == 4:
		return runs(unsafe.Slice((*uint32)(data), n), starts)
	}
	return runs(unsafe.Slice((*uint64)(data), n), starts)
}

// runs is runsOf without a branch for each element: a place is overwritten where its element begins no run.
func runs[T comparable](data []T, starts []int) int {
	if len(data) == 0 {
		return 0
	}
	k, before := 0, data[0]
	starts[0] = 0
	for lo, hi := range parallel.Stretches(len(data) - 1) {
		for i := lo + 1; i <= hi; i++ {
			x := data[i]
			starts[k+1] = i
			if x != before {
				k++
			}
			before = x
		}
	}
	return k + 1
}

// smallFloatRuns is runs for floats of 16 bits, whose infinity has these bits.
func smallFloatRuns(data []uint16, starts []int, infinity uint16) int {
	if len(data) == 0 {
		return 0
	}
	k, before := 0, data[0]
	starts[0] = 0
	for lo, hi := range parallel.Stretches(len(data) - 1) {
		for i := lo + 1; i <= hi; i++ {
			x := data[i]
			starts[k+1] = i
			if differsAsFloat(x, before, infinity) {
				k++
			}
			before = x
		}
	}
	return k + 1
}

// firstOffsets lists 0 to n-1.
func firstOffsets(n int) []int {
	offsets := make([]int, n)
	for i := range offsets {
		offsets[i] = i
	}
	return offsets
}

func uniqueConsecutive(t *tensor.Tensor, wantInverse, wantCounts bool) (values, inverse, counts *tensor.Tensor) {
	list, inverse, counts := uniqueRows(elementwise.Contiguous(source.Must(t.Reshape(-1))), true, wantInverse, wantCounts)
	if wantInverse {
		inverse = source.Must(inverse.Reshape(t.Shape()...))
	}
	return list, inverse, counts
}

func uniqueDim(t *tensor.Tensor, dim int, consecutive, wantInverse, wantCounts bool) (values, inverse, counts *tensor.Tensor) {
	NoScalar(dim, t)
	dim = define.WrapDim(dim, t)
	if t.Numel() == 0 {
		source.Check(t.Size(dim) == 0, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
		none := define.Empty([]int{0}, tensor.Int64)
		return define.Empty(t.Shape(), t.DType()), none, define.Empty([]int{0}, tensor.Int64)
	}
	rows := elementwise.Contiguous(source.Must(t.Transpose(dim, 0)))
	values, inverse, counts = uniqueRows(rows, consecutive, wantInverse, wantCounts)
	return source.Must(values.Transpose(0, dim)), inverse, counts
}

var UniqueFamily = []define.Definition{
	define.Operator("_unique2", func(c define.Call) {
		c.Give(unique(c.Tensor(0), c.Bool(2)))
		keepAsked(c, c.Bool(2), c.Bool(3))
	}),
	define.Operator("_unique", func(c define.Call) {
		values, inverse, _ := unique(c.Tensor(0), true)
		c.Give(values, inverse)
	}),
	define.Operator("unique_dim", func(c define.Call) { c.Give(uniqueDim(c.Tensor(0), c.Ints(1)[0], false, true, true)) }),
	define.Operator("unique_dim_consecutive", func(c define.Call) { c.Give(uniqueDim(c.Tensor(0), c.Ints(1)[0], true, true, true)) }),
	define.Operator("unique_consecutive", func(c define.Call) {
		if dim := c.OneDim(3); len(dim) > 0 {
			c.Give(uniqueDim(c.Tensor(0), dim[0], true, c.Bool(1), c.Bool(2)))
		} else {
			c.Give(uniqueConsecutive(c.Tensor(0), c.Bool(1), c.Bool(2)))
		}
		keepAsked(c, c.Bool(1), c.Bool(2))
	}),
}

// keepAsked replaces results that were not asked for by empty tensors.
func keepAsked(c define.Call, inverse, counts bool) {
	if !inverse {
		c.Out[1] = c.EmptyResult()
	}
	if !counts {
		c.Out[2] = c.EmptyResult()
	}
}
