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
	count := onesOf(held)
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
	for lo := 0; lo < len(held) && len(to) > 0; {
		n := min(len(held)-lo, define.LookEvery)
		if lo > 0 {
			parallel.Look()
		}
		k := 0
		if len(to) >= roomForAll { // for all of as many elements
			n = min(n, len(to))
			part, source := held[lo:lo+n], from[lo:lo+n]
			for i, v := range part[:len(source)] {
				to[k] = source[i]
				k += int(min(v, 1))
			}
		} else {
			part, source := held[lo:lo+n], from[lo:lo+n]
			for i, v := range part[:len(source)] {
				if k == len(to) {
					return
				}
				to[k] = source[i]
				k += int(min(v, 1))
			}
		}
		lo, to = lo+n, to[k:]
	}
}

// roomForAll is how many elements still to come are worth a loop that does not ask for each whether it is the last.
const roomForAll = 256

// onlyIndex returns the index of the first dimensions where there is no other.
func onlyIndex(indices []*tensor.Tensor) *tensor.Tensor {
	if len(indices) == 0 || slices.ContainsFunc(indices[1:], func(t *tensor.Tensor) bool { return t != nil }) {
		return nil
	}
	return indices[0]
}
