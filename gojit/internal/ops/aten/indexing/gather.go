package indexing

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/memory"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Word stands for any element of its size: elements are moved by their size alone.
type Word interface {
	uint8 | uint16 | uint32 | uint64 | [2]uint64
}

// BySize calls the function for elements of a size.
func BySize(size int, f1, f2, f4, f8, f16 func()) {
	switch size {
	case 1:
		f1()
	case 2:
		f2()
	case 4:
		f4()
	case 8:
		f8()
	default:
		f16()
	}
}

// offsetsOf lists the memory offsets, in elements from the first, of all elements of a geometry in row-major order.
func offsetsOf(shape, strides []int) []int {
	offsets := []int{0}
	for d, n := range shape {
		offsets = extended(offsets, nil, n, strides[d])
	}
	return offsets
}

// PickAlong fills out, contiguous, with the elements of t at the listed indices of each dimension, all of them where the list is nil.
func PickAlong(out, t *tensor.Tensor, order [][]int) {
	if out.Numel() == 0 {
		return
	}
	last, base := t.Dim()-1, 0
	for ; last > 0 && out.Size(last) == 1; last-- { // rows are along a dimension of more than one element
		if order[last] != nil {
			base += order[last][0] * t.Strides()[last]
		}
	}
	rows := max(0, last-1) // the dimension of rows, behind those of blocks
	offsets := func(from, to int) []int {
		listed := OneOffset
		for d := from; d < to; d++ {
			listed = extended(listed, order[d], t.Size(d), t.Strides()[d])
		}
		return listed
	}
	blocks := offsets(0, rows)
	if base != 0 {
		blocks = extended([]int{base}, blocks, 0, 1)
	}
	moveBlocks(out, t, blocks, offsets(rows, last), offsets(last, last+1))
}

// extended lists the sums of offsets with those of a dimension's indices, which are the faster. All its indices are meant where order is nil.
func extended(offsets, order []int, size, stride int) []int {
	if order != nil {
		if len(offsets) == 1 && offsets[0] == 0 && stride == 1 {
			return order
		}
		size = len(order)
	}
	next := make([]int, 0, len(offsets)*size)
	var watch parallel.Watch
	for _, base := range offsets {
		watch.Did(size)
		if order == nil {
			for i := range size {
				next = append(next, base+i*stride)
			}
		}
		for _, i := range order {
			next = append(next, base+i*stride)
		}
	}
	return next
}

// MoveFrom fills out, contiguous, with the elements of t at outer[i]+inner[j] from its first element.
func MoveFrom(out, t *tensor.Tensor, outer, inner []int) { moveBlocks(out, t, OneOffset, outer, inner) }

// moveBlocks fills out, contiguous, with the elements of t at blocks[i]+rows[j]+inner[k] from its first element.
func moveBlocks(out, t *tensor.Tensor, blocks, rows, inner []int) {
	if t.OnDevice() {
		pickOnDevice(out, t, extended(blocks, rows, 0, 1), inner)
		return
	}
	BySize(t.DType().Size(),
		func() { gatherAt[uint8](out, t, blocks, rows, inner) }, func() { gatherAt[uint16](out, t, blocks, rows, inner) },
		func() { gatherAt[uint32](out, t, blocks, rows, inner) }, func() { gatherAt[uint64](out, t, blocks, rows, inner) },
		func() { gatherAt[[2]uint64](out, t, blocks, rows, inner) })
}

func gatherAt[W Word](out, t *tensor.Tensor, blocks, rows, inner []int) {
	dst, src, size := unsafe.Slice((*W)(out.DataPtr()), out.Numel()), t.DataPtr(), int(unsafe.Sizeof(*new(W)))
	count, run := len(blocks)*len(rows), isRun(inner)
	if reversed := !run && isReversed(inner); reversed {
		reverseRows(dst, t, extended(blocks, rows, 0, 1), len(inner))
		return
	}
	if len(inner) == 1 || count == 1 && !run {
		base, offsets := inner[0]+blocks[0], rows
		switch {
		case len(inner) > 1:
			base, offsets = blocks[0]+rows[0], inner
		case len(blocks) > 1:
			base, offsets = inner[0], extended(blocks, rows, 0, 1)
		}
		parallel.For(len(offsets), define.RowGrain, func(lo, hi int) {
			fetch(dst[lo:hi], unsafe.Add(src, base*size), offsets[lo:hi])
		})
		return
	}
	parallel.For(count, define.RowGrain/max(len(inner), 1)+1, func(lo, hi int) {
		var before unsafe.Pointer // what the last row was made from
		var last []W
		block, at := lo/len(rows), lo%len(rows)
		for k := lo; k < hi; k++ {
			row, from := dst[k*len(inner):(k+1)*len(inner)], unsafe.Add(src, (blocks[block]+rows[at])*size)
			if at++; at == len(rows) {
				block, at = block+1, 0
			}
			switch {
			case run:
				copy(row, unsafe.Slice((*W)(from), len(inner)))
			case from == before:
				copy(row, last)
			default:
				fetch(row, from, inner)
			}
			before, last = from, row
		}
	})
}

// fetch fills dst with the elements at offsets from src.
//
//go:noinline
func fetch[W Word](dst []W, src unsafe.Pointer, offsets []int) {
	size := int(unsafe.Sizeof(*new(W)))
	for len(offsets) >= 8 && len(dst) >= 8 {
		from, to := (*[8]int)(offsets), (*[8]W)(dst)
		to[0], to[1] = *(*W)(unsafe.Add(src, from[0]*size)), *(*W)(unsafe.Add(src, from[1]*size))
		to[2], to[3] = *(*W)(unsafe.Add(src, from[2]*size)), *(*W)(unsafe.Add(src, from[3]*size))
		to[4], to[5] = *(*W)(unsafe.Add(src, from[4]*size)), *(*W)(unsafe.Add(src, from[5]*size))
		to[6], to[7] = *(*W)(unsafe.Add(src, from[6]*size)), *(*W)(unsafe.Add(src, from[7]*size))
		offsets, dst = offsets[8:], dst[8:]
	}
	for i, off := range offsets {
		dst[i] = *(*W)(unsafe.Add(src, off*size))
	}
}

// reverseRows fills dst with rows of n elements that end at offsets of t, from the last one to the first.
func reverseRows[W Word](dst []W, t *tensor.Tensor, outer []int, n int) {
	src, size := t.DataPtr(), int(unsafe.Sizeof(*new(W)))
	parallel.For(len(outer), define.RowGrain/n+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, from := dst[i*n:(i+1)*n], unsafe.Slice((*W)(unsafe.Add(src, outer[i]*size)), n)
			for ; len(row) > longReverse; row, from = row[longReverse:], from[:len(from)-longReverse] {
				Reverse(row[:longReverse], from[len(from)-longReverse:])
				parallel.Look()
			}
			Reverse(row, from)
		}
	})
}

// longReverse is how many elements of a row are reversed at once.
const longReverse = 1 << 18

// Reverse copies a row from its end.
func Reverse[W Word](dst, src []W) {
	if len(src) > 0 && memory.Reverse(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), int(unsafe.Sizeof(*new(W))), len(src)) {
		return
	}
	for i := range dst {
		dst[i] = src[len(src)-1-i]
	}
}

// isReversed reports whether the offsets are n-1 ... 1, 0.
func isReversed(offsets []int) bool {
	for i, off := range offsets {
		if off != len(offsets)-1-i {
			return false
		}
	}
	return len(offsets) > 1
}

// isRun reports whether the offsets are 0, 1, 2 ...
func isRun(offsets []int) bool {
	for i, off := range offsets {
		if off != i {
			return false
		}
	}
	return true
}

// MoveTo stores the elements of values, contiguous, into t at outer[i]+inner[j] from its first element.
func MoveTo(t, values *tensor.Tensor, outer, inner []int) {
	if t.OnDevice() {
		putOnDevice(t, values, outer, inner, Replace)
		return
	}
	BySize(t.DType().Size(),
		func() { scatterAt[uint8](t, values, outer, inner) }, func() { scatterAt[uint16](t, values, outer, inner) },
		func() { scatterAt[uint32](t, values, outer, inner) }, func() { scatterAt[uint64](t, values, outer, inner) },
		func() { scatterAt[[2]uint64](t, values, outer, inner) })
}

func scatterAt[W Word](t, values *tensor.Tensor, outer, inner []int) {
	src := unsafe.Slice((*W)(values.DataPtr()), values.Numel())
	dst := t.DataPtr()
	size := int(unsafe.Sizeof(*new(W)))
	k := 0
	var watch parallel.Watch
	if isRun(inner) {
		for _, base := range outer {
			watch.Did(len(inner))
			k += copy(unsafe.Slice((*W)(unsafe.Add(dst, base*size)), len(inner)), src[k:])
		}
		return
	}
	for _, base := range outer {
		watch.Did(len(inner))
		for lo, hi := range parallel.Stretches(len(inner)) {
			for _, off := range inner[lo:hi] {
				*(*W)(unsafe.Add(dst, (base+off)*size)) = src[k]
				k++
			}
		}
	}
}

// combine says how a stored element meets the one that is there.
type combine uint8

const (
	Replace combine = iota
	AddTo
	multiply
	greatest
	least
)

// rowCombinations keeps the kernels that combine a row with another one, by combination.
var rowCombinations [least + 1]elementwise.TypePrograms

// combineRows is accumulateTo by a kernel; done is false where rows are short or there is none.
func combineRows(t *tensor.Tensor, values unsafe.Pointer, outer, inner []int, how combine) (done bool) {
	d, n := t.DType(), len(inner)
	if n < reduce.MinColumns || !isRun(inner) || !elementwise.IsElement(d) || d.IsComplex() && how != AddTo {
		return false
	}
	p := rowCombinations[how].Of(d, func(b *kernel.Builder) {
		c := kernel.ComputeType(d)
		op := map[combine]kernel.Op{AddTo: kernel.Add, multiply: kernel.Mul, greatest: kernel.Max, least: kernel.Min}[how]
		if d == tensor.Bool {
			op = map[combine]kernel.Op{AddTo: kernel.Or, multiply: kernel.And, greatest: kernel.Or, least: kernel.And}[how]
		}
		b.Output(b.Binary(op, b.Input(d, c), b.Input(d, c)), d)
	})
	if !p.IsCompiled() {
		return false
	}
	p.CombineRows(n, t.DataPtr(), outer, values)
	return true
}

// accumulateTo is MoveTo with a combination of the old and new element.
func accumulateTo(t *tensor.Tensor, values unsafe.Pointer, outer, inner []int, how combine) {
	if combineRows(t, values, outer, inner, how) {
		return
	}
	switch t.DType() {
	case tensor.Bool:
		combineAt(t, values, outer, inner, boolCombination(how))
	case tensor.Uint8:
		combineNumbers[uint8](t, values, outer, inner, how)
	case tensor.Int8:
		combineNumbers[int8](t, values, outer, inner, how)
	case tensor.Int16:
		combineNumbers[int16](t, values, outer, inner, how)
	case tensor.Int32:
		combineNumbers[int32](t, values, outer, inner, how)
	case tensor.Int64:
		combineNumbers[int64](t, values, outer, inner, how)
	case tensor.Float32:
		combineNumbers[float32](t, values, outer, inner, how)
	case tensor.Float64:
		combineNumbers[float64](t, values, outer, inner, how)
	case tensor.Float16:
		f := numberCombination[float32](how)
		combineAt(t, values, outer, inner, func(a, b tensor.F16) tensor.F16 { return tensor.ToF16(f(a.Float32(), b.Float32())) })
	case tensor.BFloat16:
		f := numberCombination[float32](how)
		combineAt(t, values, outer, inner, func(a, b tensor.BF16) tensor.BF16 { return tensor.ToBF16(f(a.Float32(), b.Float32())) })
	case tensor.Complex64:
		combineAt(t, values, outer, inner, complexCombination[complex64](how))
	case tensor.Complex128:
		combineAt(t, values, outer, inner, complexCombination[complex128](how))
	default:
		source.Raise(source.RuntimeError, "\"scatter_gather_tensor_cpu\" not implemented for '%s'", t.DType().CppName())
	}
}

func combineAt[T any](t *tensor.Tensor, values unsafe.Pointer, outer, inner []int, f func(a, b T) T) {
	src := unsafe.Slice((*T)(values), len(outer)*len(inner))
	dst := t.DataPtr()
	size := int(unsafe.Sizeof(*new(T)))
	k := 0
	var watch parallel.Watch
	for _, base := range outer {
		watch.Did(len(inner))
		for lo, hi := range parallel.Stretches(len(inner)) {
			for _, off := range inner[lo:hi] {
				p := (*T)(unsafe.Add(dst, (base+off)*size))
				*p = f(*p, src[k])
				k++
			}
		}
	}
}

type plainNumber interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64
}

func combineNumbers[T plainNumber](t *tensor.Tensor, values unsafe.Pointer, outer, inner []int, how combine) {
	if how == AddTo {
		addAt[T](t, values, outer, inner)
		return
	}
	combineAt(t, values, outer, inner, numberCombination[T](how))
}

// addAt is the commonest combination without calls.
func addAt[T plainNumber](t *tensor.Tensor, values unsafe.Pointer, outer, inner []int) {
	src, dst, size := unsafe.Slice((*T)(values), len(outer)*len(inner)), t.DataPtr(), int(unsafe.Sizeof(*new(T)))
	k := 0
	var watch parallel.Watch
	for _, base := range outer {
		watch.Did(len(inner))
		for lo, hi := range parallel.Stretches(len(inner)) {
			for _, off := range inner[lo:hi] {
				*(*T)(unsafe.Add(dst, (base+off)*size)) += src[k]
				k++
			}
		}
	}
}

func numberCombination[T plainNumber](how combine) func(a, b T) T {
	switch how {
	case AddTo:
		return func(a, b T) T { return a + b }
	case multiply:
		return func(a, b T) T { return a * b }
	case greatest:
		return func(a, b T) T { return max(a, b) }
	case least:
		return func(a, b T) T { return min(a, b) }
	}
	return func(_, b T) T { return b }
}

func complexCombination[T complex64 | complex128](how combine) func(a, b T) T {
	switch how {
	case AddTo:
		return func(a, b T) T { return a + b }
	case multiply:
		return func(a, b T) T { return a * b }
	}
	return func(_, b T) T { return b }
}

func boolCombination(how combine) func(a, b bool) bool {
	switch how {
	case AddTo, greatest:
		return func(a, b bool) bool { return a || b }
	case multiply, least:
		return func(a, b bool) bool { return a && b }
	}
	return func(_, b bool) bool { return b }
}
