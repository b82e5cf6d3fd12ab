package aten

import (
	"errors"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// launchRoutine runs a routine over tensors of a device, the first of which it writes. All must be on that device.
func launchRoutine(r kernel.Routine, tensors []*tensor.Tensor, numbers ...int64) error {
	device := tensors[0].Device()
	for i, t := range tensors {
		if t.Device() != device {
			checkBeside(t, device)
			tensors[i] = must(t.ToDevice(device))
		}
	}
	runner, ok := must(tensor.BackendOf(device)).(kernel.Runner)
	check(ok, "the device %s runs no routines", device)
	tensors[0].NoteDeviceWrite()
	return runner.RunRoutine(&r, tensors, numbers)
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
	case addTo:
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
	x.indices = append(x.indices, to(index, tensor.Int64))
	x.sizes, x.steps = append(x.sizes, size), append(x.steps, step)
}

// run moves: out of base where isTaken, else into it. outside makes the error of an index that is beyond its dimension.
func (x *indexed) run(isTaken bool, how combine, outside func(which int, index int64)) {
	if x.values.Numel() == 0 {
		return
	}
	base, values := x.base, x.values
	if how != replace && values.DType().IsComplex() {
		x.runParts(how, outside)
		return
	}
	r := kernel.Routine{Text: "index_moves", Entry: "put", Types: []tensor.DType{movedAs(values.DType())}, Walks: true, Checked: true, Threads: values.Numel()}
	first, second := base, values
	switch {
	case isTaken:
		r.Entry, first, second = "take", values, base
	case how != replace:
		r.Text, r.Types, r.Combine = "index_sums", []tensor.DType{values.DType()}, reduceOpOf(how)
	}
	numbers := make([]int64, 0, 2*len(x.sizes))
	for k := range x.sizes {
		numbers = append(numbers, int64(x.sizes[k]), int64(x.steps[k]*values.DType().Size()))
	}
	err := launchRoutine(r, append([]*tensor.Tensor{first, second}, x.indices...), numbers...)
	var beyond *kernel.RoutineFailure
	if errors.As(err, &beyond) {
		outside(int(beyond.Which), beyond.Value)
	}
	succeed(err)
}

// runParts combines complex numbers, which are added alone, as pairs of real ones.
func (x *indexed) runParts(how combine, outside func(which int, index int64)) {
	if how != addTo {
		source.Throw(kernel.ErrNoDeviceForm)
	}
	parts := indexed{base: must(x.base.ViewAsReal()), values: must(x.values.ViewAsReal()), sizes: x.sizes, steps: slices.Clone(x.steps)}
	for k, index := range x.indices {
		parts.indices = append(parts.indices, must(index.Unsqueeze(index.Dim())))
		parts.steps[k] *= 2
	}
	parts.run(false, how, outside)
}

// alongDevice is what gather and scatter index: as newAlong, whose checks it has.
func alongDevice(name string, t *tensor.Tensor, dim int, index, values *tensor.Tensor) (x indexed, outside func(which int, v int64)) {
	checkAlong(name, t, dim, index)
	dim = wrapDim(dim, t)
	if t.Dim() == 0 {
		t = must(t.Unsqueeze(0))
	}
	shape := index.Shape()
	if index.Dim() == 0 {
		shape = []int{1}
	}
	strides := slices.Clone(t.Strides())
	size, step := t.Size(dim), strides[dim]
	strides[dim] = 0
	x = indexed{base: must(t.AsStrided(shape, strides, t.Offset())), values: must(values.View(shape...))}
	x.add(must(index.Reshape(shape...)), size, step)
	a := along{dim: dim, limit: size}
	return x, func(_ int, v int64) { a.outside(v) }
}

// gatherOnDevice is gather on a device.
func gatherOnDevice(t *tensor.Tensor, dim int, index *tensor.Tensor) *tensor.Tensor {
	out := emptyBeside(t, index.Shape(), t.DType())
	if out.Numel() > 0 {
		x, outside := alongDevice("gather", t, dim, index, out)
		x.run(true, replace, outside)
	}
	return out
}

// selectAlong is t with the places of index in a dimension: index_select, and its like.
func selectAlong(t *tensor.Tensor, dim int, index *tensor.Tensor, shape []int, outside func(v int64)) *tensor.Tensor {
	out := emptyBeside(t, shape, t.DType())
	x, _ := slicesAlong(t, out, dim, index)
	x.run(true, replace, func(_ int, v int64) { outside(v) })
	return out
}

// slicesAlong pairs the slices of values along a dimension with those of t at the places of a vector of indices.
func slicesAlong(t, values *tensor.Tensor, dim int, index *tensor.Tensor) (x indexed, size int) {
	if t.Dim() == 0 {
		t = must(t.Unsqueeze(0))
	}
	if values.Dim() == 0 {
		values = must(values.Unsqueeze(0))
	}
	shape, strides := slices.Clone(t.Shape()), slices.Clone(t.Strides())
	size = t.Size(dim)
	step := strides[dim]
	shape[dim], strides[dim] = index.Numel(), 0
	x = indexed{base: must(t.AsStrided(shape, strides, t.Offset())), values: values}
	tail := slices.Repeat([]int{1}, len(shape)-dim)
	tail[0] = index.Numel()
	x.add(must(index.Reshape(tail...)), size, step)
	return x, size
}

// arrangeOnDevice is arrangeIndex for a device: base is t as the selection shows it.
func arrangeOnDevice(t *tensor.Tensor, indices []*tensor.Tensor) (x indexed, outside func(which int, v int64)) {
	indices = slices.Clone(indices)
	for i, index := range indices {
		if index != nil && index.Device() != t.Device() {
			check(!index.OnDevice(), "indices should be either on cpu or on the same device as the indexed tensor (%s)", t.Device())
			indices[i] = must(index.ToDevice(t.Device()))
		}
	}
	s := chosenDimsOf(t, indices)
	picked := broadcastShape(s.given)
	shape := slices.Concat(s.beforeShape, picked, s.afterShape)
	strides := slices.Concat(s.beforeStrides, make([]int, len(picked)), s.afterStrides)
	if numelOf(shape) > 0 {
		for _, d := range s.dims {
			if t.Size(d) == 0 {
				raise(source.IndexError, "index is out of bounds for dimension with size 0")
			}
		}
		x.base = must(t.AsStrided(shape, strides, t.Offset()))
	}
	x.values = must(tensor.EmptyMeta(shape, t.DType())) // for its shape
	for k, index := range s.given {
		index = must(index.Reshape(append(slices.Clone(index.Shape()), slices.Repeat([]int{1}, len(s.afterShape))...)...))
		x.add(index, t.Size(s.dims[k]), t.Strides()[s.dims[k]])
	}
	return x, func(which int, v int64) {
		raise(source.IndexError, "index %d is out of bounds for dimension %d with size %d", v, s.dims[which], t.Size(s.dims[which]))
	}
}

// indexOnDevice is index on a device.
func indexOnDevice(t *tensor.Tensor, indices []*tensor.Tensor) *tensor.Tensor {
	x, outside := arrangeOnDevice(t, indices)
	x.values = emptyBeside(t, x.values.Shape(), t.DType())
	x.run(true, replace, outside)
	return x.values
}

// nonzeroOnDevice is nonzero on a device: where the elements that are not zero go follows from how many there are before each.
func nonzeroOnDevice(t *tensor.Tensor) *tensor.Tensor {
	truths := contiguous(to(t, tensor.Bool))
	flat := must(truths.View(-1))
	n := t.Numel()
	if n == 0 {
		return emptyBeside(t, []int{0, t.Dim()}, tensor.Int64)
	}
	before := sumScanner.along(flat, 0, tensor.Int64)
	count := int(must(must(before.Select(0, n-1)).Item()).Int64())
	if t.Dim() == 0 || count == 0 {
		return emptyBeside(t, []int{count, t.Dim()}, tensor.Int64)
	}
	// what is zero goes behind the others, where nobody looks
	places := emptyBeside(t, []int{count + 1}, tensor.Int64)
	numbers := must(must(tensor.FromSlice(countTo64(n), n)).ToDevice(t.Device()))
	at := apply("where.self", flat, addNumber(before, -1), must(must(tensor.FromSlice([]int64{int64(count)}, 1)).ToDevice(t.Device())))
	x, _ := slicesAlong(places, numbers, 0, at)
	x.run(false, replace, func(int, int64) {})
	found := must(places.Slice(0, 0, count, 1))
	columns := emptyBeside(t, []int{t.Dim(), count}, tensor.Int64)
	for d := t.Dim() - 1; d >= 0; d-- {
		size := float64(t.Size(d))
		succeed(tensor.Copy(must(columns.Select(0, d)), remainder.withNumber(found, size)))
		found = divFloor.withNumber(found, size)
	}
	return must(columns.AsStrided([]int{count, t.Dim()}, []int{1, count}, 0))
}

func countTo64(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

// pickOnDevice is moveFrom on a device.
func pickOnDevice(out, t *tensor.Tensor, outer, inner []int) {
	x := offsetsOnDevice(t, must(out.View(len(outer), len(inner))), outer, inner)
	x.run(true, replace, func(int, int64) {})
}

// putOnDevice is moveTo on a device, and accumulateTo.
func putOnDevice(t, values *tensor.Tensor, outer, inner []int, how combine) {
	x := offsetsOnDevice(t, must(contiguous(values).View(len(outer), len(inner))), outer, inner)
	x.run(false, how, func(int, int64) {})
}

// offsetsOnDevice pairs values with the elements of t at sums of offsets.
func offsetsOnDevice(t, values *tensor.Tensor, outer, inner []int) indexed {
	all := int(^uint(0) >> 1)
	x := indexed{base: must(t.AsStrided([]int{len(outer), len(inner)}, []int{0, 0}, t.Offset())), values: values}
	x.add(onDeviceOf(t, outer, len(outer), 1), all, 1)
	x.add(onDeviceOf(t, inner, 1, len(inner)), all, 1)
	return x
}

// onDeviceOf copies a list of integers to the device of t.
func onDeviceOf(t *tensor.Tensor, list []int, shape ...int) *tensor.Tensor {
	wide := make([]int64, len(list))
	for i, n := range list {
		wide[i] = int64(n)
	}
	return must(must(tensor.FromSlice(wide, shape...)).ToDevice(t.Device()))
}

// keptStrides is a result as an elementwise one of like is laid out.
func keptStrides(out, like *tensor.Tensor) *tensor.Tensor {
	if like.IsContiguous() {
		return out
	}
	alike := must(tensor.EmptyFormatOn(out.Device(), like, out.DType(), tensor.PreserveFormat))
	succeed(tensor.Copy(alike, out))
	return alike
}

// mixOnDevice makes each element along a dimension of some, on a device: the first tap of all, then the second, and so on.
func mixOnDevice(x *tensor.Tensor, dim int, taps [][]tap) *tensor.Tensor {
	most, plain := 1, true
	for _, own := range taps {
		most = max(most, len(own))
		plain = plain && len(own) == 1 && own[0].weight == 1
	}
	shape, across := slices.Clone(x.Shape()), slices.Repeat([]int{1}, x.Dim())
	shape[dim], across[dim] = len(taps), len(taps)
	var sum *tensor.Tensor
	for k := range most {
		places, weights := make([]int, len(taps)), make([]float64, len(taps))
		for i, own := range taps {
			if k < len(own) {
				places[i], weights[i] = own[k].index, own[k].weight
			}
		}
		part := selectAlong(x, dim, onDeviceOf(x, places, len(places)), shape, func(int64) {})
		if plain {
			return part
		}
		factor := must(to(must(tensor.FromSlice(weights, across...)), x.DType()).ToDevice(x.Device()))
		if part = mul.on(part, factor); sum != nil {
			part = add.on(sum, part)
		}
		sum = part
	}
	return sum
}
