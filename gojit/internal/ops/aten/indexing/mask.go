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

// chosen gives the parts of t that a mask of its first dimensions holds for, one after the other; ok is false where
// t is not contiguous or the mask is of another shape.
func chosen(t, mask *tensor.Tensor) (out *tensor.Tensor, ok bool) {
	n := mask.Dim()
	if d := mask.DType(); d != tensor.Bool && d != tensor.Uint8 || n == 0 || n > t.Dim() || !t.IsContiguous() || !tensor.SameShape(mask.Shape(), t.Shape()[:n]) {
		return nil, false
	}
	held := tensor.Data[uint8](source.Must(elementwise.Contiguous(elementwise.To(mask, tensor.Bool)).ViewDType(tensor.Uint8)))
	count := 0
	for lo, hi := range parallel.Stretches(len(held)) {
		for _, v := range held[lo:hi] {
			count += int(min(v, 1))
		}
	}
	rest := t.Shape()[n:]
	out = define.Empty(append([]int{count}, rest...), t.DType())
	if out.Numel() == 0 {
		return out, true
	}
	if inner := define.NumelOf(rest); inner > 1 {
		bytes := inner * t.DType().Size()
		from, to := unsafe.Slice((*byte)(t.DataPtr()), len(held)*bytes), unsafe.Slice((*byte)(out.DataPtr()), count*bytes)
		var watch parallel.Watch
		for i, v := range held {
			watch.Did(1)
			if v != 0 {
				copy(to, from[i*bytes:][:bytes])
				to = to[bytes:]
			}
		}
		return out, true
	}
	BySize(t.DType().Size(),
		func() { compress[uint8](out, t, held) }, func() { compress[uint16](out, t, held) },
		func() { compress[uint32](out, t, held) }, func() { compress[uint64](out, t, held) },
		func() { compress[[2]uint64](out, t, held) })
	return out, true
}

// compress writes the elements whose byte is not 0 side by side. Every element is written, those that are not wanted
// under the next one: jumps would be guessed wrong.
func compress[W Word](out, t *tensor.Tensor, held []uint8) {
	to, from := unsafe.Slice((*W)(out.DataPtr()), out.Numel()), unsafe.Slice((*W)(t.DataPtr()), len(held))
	k := 0
	for lo := 0; lo < len(held); lo += define.LookEvery {
		end := define.BlockEnd(lo, len(held))
		source := from[lo:end]
		for i, v := range held[lo:end] {
			if k == len(to) {
				return
			}
			to[k] = source[i]
			k += int(min(v, 1))
		}
	}
}

// onlyIndex returns the index of the first dimensions where there is no other.
func onlyIndex(indices []*tensor.Tensor) *tensor.Tensor {
	if len(indices) == 0 || slices.ContainsFunc(indices[1:], func(t *tensor.Tensor) bool { return t != nil }) {
		return nil
	}
	return indices[0]
}
