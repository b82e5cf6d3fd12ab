package tensor

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/memory"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// View shows the elements in another shape, one size of which may be -1. It fails where the
// number of elements differs and where the strides do not allow it without a copy.
func (t *Tensor) View(shape ...int) (*Tensor, error) {
	shape, err := InferShape(shape, t.numel)
	if err != nil {
		return nil, err
	}
	v := t.derive(len(shape))
	copy(v.shape, shape)
	if !computeViewStrides(t, shape, v.strides) {
		return v.fail(runtimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead."))
	}
	return v, nil
}

// Reshape is View where possible and a copy otherwise. It fails where the number of elements differs.
func (t *Tensor) Reshape(shape ...int) (*Tensor, error) {
	shape, err := InferShape(shape, t.numel)
	if err != nil {
		return nil, err
	}
	v := t.derive(len(shape))
	copy(v.shape, shape)
	if computeViewStrides(t, shape, v.strides) {
		return v, nil
	}
	v.Release()
	c, err := t.Clone(ContiguousFormat)
	if err != nil {
		return nil, err
	}
	return c.IntoShape(shape...)
}

// IntoShape gives the elements of t, which nobody uses afterwards, to a tensor of another shape, as View. The result is a view of nothing.
func (t *Tensor) IntoShape(shape ...int) (*Tensor, error) {
	if numel, err := Numel(shape); err == nil && numel == t.numel && t.isFresh() && t.IsContiguous() {
		t.setShape(shape)
		fillContiguousStrides(t.strides, t.shape)
		return t, nil
	}
	defer t.ReleaseMemory() // the result alone has it
	v, err := t.View(shape...)
	if err == nil {
		v.SetBase(t.base)
	}
	return v, err
}

// isFresh reports whether t, which has its memory alone, is as it was made: nobody has it besides its maker.
func (t *Tensor) isFresh() bool {
	return t.isOwn() && t.Users() == 1 && t.pyObject == 0 && t.foreign == nil && t.history.Load() == nil && !t.borrowed && !t.IsHeld() && t.registers == 0
}

// ViewDType reads the bytes as another type. It fails where the sizes do not fit.
func (t *Tensor) ViewDType(dtype DType) (*Tensor, error) {
	if dtype != t.dtype && t.Bits() != 0 {
		what := "tensors with negative bit set"
		if t.IsConj() {
			what = "conjugate view tensors"
		}
		return nil, runtimeError("torch.Tensor.view is not supported for %s when converting to a different dtype.", what)
	}
	from, to := t.dtype.Size(), dtype.Size()
	v := t.derive(len(t.shape))
	copy(v.shape, t.shape)
	copy(v.strides, t.strides)
	v.dtype = dtype
	if !dtype.IsQuantized() {
		v.quantizer = nil
	}
	if from == to {
		return v, nil
	}
	last := len(t.shape) - 1
	if last < 0 {
		return v.fail(runtimeError("self.dim() cannot be 0 to view %s as %s (different element sizes)", t.dtype.CppName(), dtype.CppName()))
	}
	if t.strides[last] != 1 {
		return v.fail(runtimeError("self.stride(-1) must be 1 to view %s as %s (different element sizes), but got %d", t.dtype.CppName(), dtype.CppName(), t.strides[last]))
	}
	if from > to {
		ratio := from / to
		v.shape[last] *= ratio
		v.offset *= ratio
		for i := range last {
			v.strides[i] *= ratio
		}
	} else {
		ratio := to / from
		if t.shape[last]%ratio != 0 || t.offset%ratio != 0 {
			return v.fail(runtimeError("self.size(-1) must be divisible by %d to view %s as %s (different element sizes), but got %d", ratio, t.dtype.CppName(), dtype.CppName(), t.shape[last]))
		}
		v.shape[last] /= ratio
		v.offset /= ratio
		for i := range last {
			if t.strides[i]%ratio != 0 {
				return v.fail(runtimeError("self.stride(%d) must be divisible by %d to view %s as %s (different element sizes), but got %d", i, ratio, t.dtype.CppName(), dtype.CppName(), t.strides[i]))
			}
			v.strides[i] /= ratio
		}
	}
	v.fixNumel()
	return v, nil
}

// Detach returns another tensor over the same elements that the tape does not connect with t.
func (t *Tensor) Detach() *Tensor {
	v := t.Alias()
	v.base, v.generation = nil, 0
	return v
}

// Alias returns a view of all elements, without history.
func (t *Tensor) Alias() *Tensor {
	v := t.derive(len(t.shape))
	copy(v.shape, t.shape)
	copy(v.strides, t.strides)
	return v
}

// AsStrided returns a tensor of any geometry over the storage. It fails where that reaches outside.
func (t *Tensor) AsStrided(shape, strides []int, offset int) (*Tensor, error) {
	if len(shape) != len(strides) {
		return nil, runtimeError("mismatch in length of strides and shape")
	}
	if _, err := Numel(shape); err != nil {
		return nil, err
	}
	if err := checkBounds(t.storage, offset, shape, strides, t.dtype); err != nil {
		return nil, err
	}
	if err := t.needsOneScale(); err != nil {
		return nil, err
	}
	v := t.derive(len(shape))
	v.offset = offset
	copy(v.shape, shape)
	copy(v.strides, strides)
	v.fixNumel()
	return v, nil
}

// Expand repeats dimensions of size 1 without copying; -1 keeps a size. It fails where sizes differ.
func (t *Tensor) Expand(shape ...int) (*Tensor, error) {
	if len(shape) < len(t.shape) {
		return nil, runtimeError("expand(%s{%s}, size=%s): the number of sizes provided (%d) must be greater or equal to the number of dimensions in the tensor (%d)",
			"torch."+t.dtype.TensorClass(), FormatShape(t.shape), FormatShape(shape), len(shape), len(t.shape))
	}
	if err := t.needsOneScale(); err != nil {
		return nil, err
	}
	v := t.derive(len(shape))
	lead := len(shape) - len(t.shape)
	for i := len(shape) - 1; i >= 0; i-- {
		size, stride := 1, 0
		if i >= lead {
			size, stride = t.shape[i-lead], t.strides[i-lead]
		} else if len(t.shape) > 0 && i+1 < len(shape) {
			stride = v.shape[i+1] * v.strides[i+1]
		}
		target := shape[i]
		if target == -1 {
			if i < lead {
				return v.fail(runtimeError("The expanded size of the tensor (%d) isn't allowed in a leading, non-existing dimension %d", target, i))
			}
			target = size
		}
		if target < 0 {
			return v.fail(runtimeError("The expanded size of the tensor (%d) must be non-negative", target))
		}
		if size != target {
			if size != 1 {
				return v.fail(runtimeError("The expanded size of the tensor (%d) must match the existing size (%d) at non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
					target, size, i, FormatShape(shape), FormatShape(t.shape)))
			}
			size, stride = target, 0
		}
		v.shape[i], v.strides[i] = size, stride
	}
	if _, err := Numel(v.shape); err != nil {
		return v.fail(err)
	}
	v.fixNumel()
	return v, nil
}

// Select returns the elements at one index of a dimension, without that dimension.
func (t *Tensor) Select(dim, index int) (*Tensor, error) {
	if len(t.shape) == 0 {
		return nil, indexError("select() cannot be applied to a 0-dim tensor.")
	}
	dim, err := WrapDim(dim, len(t.shape))
	if err != nil {
		return nil, err
	}
	n := t.shape[dim]
	if index < -n || index >= n {
		return nil, indexError("select(): index %d out of range for tensor of size %s at dimension %d", index, FormatShape(t.shape), dim)
	}
	if index < 0 {
		index += n
	}
	v := t.derive(len(t.shape) - 1)
	copy(v.shape, t.shape[:dim])
	copy(v.shape[dim:], t.shape[dim+1:])
	copy(v.strides, t.strides[:dim])
	copy(v.strides[dim:], t.strides[dim+1:])
	v.offset += index * t.strides[dim]
	if t.quantizer != nil {
		if v.quantizer, err = t.quantizer.selected(t, dim, index); err != nil {
			return v.fail(err)
		}
	}
	v.fixNumel()
	return v, nil
}

// Slice returns start:end:step of a dimension; bounds are clamped as Python does. It fails where step is not positive.
func (t *Tensor) Slice(dim, start, end, step int) (*Tensor, error) {
	if len(t.shape) == 0 {
		return nil, runtimeError("slice() cannot be applied to a 0-dim tensor.")
	}
	dim, err := WrapDim(dim, len(t.shape))
	if err != nil {
		return nil, err
	}
	if step <= 0 {
		return nil, runtimeError("slice step must be positive")
	}
	n := t.shape[dim]
	start, end = clampBound(start, n), clampBound(end, n)
	end = max(end, start)
	v := t.Alias()
	v.offset += start * t.strides[dim]
	v.shape[dim] = (end - start) / step
	if (end-start)%step != 0 {
		v.shape[dim]++
	}
	v.strides[dim] *= step
	if t.quantizer != nil {
		if v.quantizer, err = t.quantizer.sliced(t, dim, start, step, v.shape[dim]); err != nil {
			return v.fail(err)
		}
	}
	v.fixNumel()
	return v, nil
}

func clampBound(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// Narrow returns length indices of a dimension from start. It fails where they are out of range.
func (t *Tensor) Narrow(dim, start, length int) (*Tensor, error) {
	if len(t.shape) == 0 {
		return nil, runtimeError("narrow() cannot be applied to a 0-dim tensor.")
	}
	wrapped, err := WrapDim(dim, len(t.shape))
	if err != nil {
		return nil, err
	}
	if length < 0 {
		return nil, runtimeError("narrow(): length must be non-negative.")
	}
	n := t.shape[wrapped]
	if start < -n || start > n {
		return nil, indexError("Dimension out of range (expected to be in range of [%d, %d], but got %d)", -n, n, start)
	}
	if start < 0 {
		start += n
	}
	if start > n-length {
		return nil, runtimeError("start (%d) + length (%d) exceeds dimension size (%d).", start, length, n)
	}
	return t.Slice(wrapped, start, start+length, 1)
}

// Transpose swaps two dimensions.
func (t *Tensor) Transpose(a, b int) (*Tensor, error) {
	a, err := WrapDim(a, len(t.shape))
	if err != nil {
		return nil, err
	}
	if b, err = WrapDim(b, len(t.shape)); err != nil {
		return nil, err
	}
	if err := t.needsOneScale(); err != nil {
		return nil, err
	}
	v := t.Alias()
	if len(t.shape) > 0 {
		v.shape[a], v.shape[b] = v.shape[b], v.shape[a]
		v.strides[a], v.strides[b] = v.strides[b], v.strides[a]
	}
	return v, nil
}

// T transposes a matrix; tensors of fewer dimensions stay. It fails on more than two.
func (t *Tensor) T() (*Tensor, error) {
	if len(t.shape) > 2 {
		return nil, runtimeError("t() expects a tensor with <= 2 dimensions, but self is %dD", len(t.shape))
	}
	if len(t.shape) < 2 {
		return t.Alias(), nil
	}
	return t.Transpose(0, 1)
}

// Permute reorders the dimensions. It fails where order is not a permutation of them.
func (t *Tensor) Permute(order ...int) (*Tensor, error) {
	if len(order) != len(t.shape) {
		return nil, runtimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = %d is not equal to len(dims) = %d", len(t.shape), len(order))
	}
	if err := t.needsOneScale(); err != nil {
		return nil, err
	}
	v := t.derive(len(order))
	seen := make([]bool, len(order))
	for i, d := range order {
		d, err := WrapDim(d, len(t.shape))
		if err != nil {
			return v.fail(err)
		}
		if seen[d] {
			return v.fail(runtimeError("permute(): duplicate dims are not allowed."))
		}
		seen[d] = true
		v.shape[i], v.strides[i] = t.shape[d], t.strides[d]
	}
	return v, nil
}

// MoveDims moves dimensions to new places and keeps the order of the rest.
func (t *Tensor) MoveDims(from, to []int) (*Tensor, error) {
	order, err := MovedOrder(len(t.shape), from, to)
	if err != nil {
		return nil, err
	}
	if len(order) == 0 {
		return t.Alias(), nil
	}
	return t.Permute(order...)
}

// MovedOrder returns the order of n dimensions in which some are moved to new places and the rest keeps its order.
func MovedOrder(n int, from, to []int) ([]int, error) {
	if len(from) != len(to) {
		return nil, runtimeError("movedim: Invalid source or destination dims: source (%s dims) should contain the same number of dims as destination (%s dims)", FormatShape(from), FormatShape(to))
	}
	order, moved := make([]int, n), make([]bool, n)
	for i := range order {
		order[i] = -1
	}
	for i := range from {
		f, err := WrapDim(from[i], n)
		if err != nil {
			return nil, err
		}
		d, err := WrapDim(to[i], n)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return order, nil
		}
		if moved[f] {
			return nil, runtimeError("movedim: repeated dim in `source` (%s)", FormatShape(from))
		}
		if order[d] >= 0 {
			return nil, runtimeError("movedim: repeated dim in `destination` (%s)", FormatShape(to))
		}
		moved[f], order[d] = true, f
	}
	next := 0
	for i := range order {
		if order[i] >= 0 {
			continue
		}
		for moved[next] {
			next++
		}
		order[i] = next
		next++
	}
	return order, nil
}

// Squeeze removes all dimensions of size 1.
func (t *Tensor) Squeeze() *Tensor {
	n := 0
	for _, s := range t.shape {
		if s != 1 {
			n++
		}
	}
	v := t.derive(n)
	i := 0
	for d, s := range t.shape {
		if s != 1 {
			v.shape[i], v.strides[i] = s, t.strides[d]
			i++
		}
	}
	if t.quantizer != nil && t.quantizer.PerChannel() {
		axis := t.quantizer.Axis
		source.Check(t.shape[axis] != 1, squeezedChannels)
		for _, s := range t.shape[:axis] {
			if s == 1 {
				v.quantizer = v.quantizer.moved(-1)
			}
		}
	}
	return v
}

const squeezedChannels = "Squeeze is only possible on non-axis dimension for Per-Channel Quantized Tensors."

// SqueezeDim removes a dimension where its size is 1.
func (t *Tensor) SqueezeDim(dim int) (*Tensor, error) {
	dim, err := WrapDim(dim, len(t.shape))
	if err != nil {
		return nil, err
	}
	if len(t.shape) == 0 || t.shape[dim] != 1 {
		return t.Alias(), nil
	}
	if t.quantizer != nil && t.quantizer.PerChannel() && dim == t.quantizer.Axis {
		return nil, runtimeError(squeezedChannels)
	}
	return t.Select(dim, 0)
}

// Unsqueeze inserts a dimension of size 1.
func (t *Tensor) Unsqueeze(dim int) (*Tensor, error) {
	n := len(t.shape)
	dim, err := WrapDim(dim, n+1)
	if err != nil {
		return nil, err
	}
	v := t.derive(n + 1)
	copy(v.shape, t.shape[:dim])
	copy(v.strides, t.strides[:dim])
	copy(v.shape[dim+1:], t.shape[dim:])
	copy(v.strides[dim+1:], t.strides[dim:])
	v.shape[dim], v.strides[dim] = 1, 1
	if dim < n {
		v.strides[dim] = t.shape[dim] * t.strides[dim]
	}
	if t.quantizer != nil && t.quantizer.PerChannel() && dim <= t.quantizer.Axis {
		v.quantizer = t.quantizer.moved(1)
	}
	return v, nil
}

// viewWork is what making a view is as elements of a loop.
const viewWork = 64

// Unbind returns the slices along a dimension, without it.
func (t *Tensor) Unbind(dim int) (parts []*Tensor, err error) {
	defer source.Catch(&err)
	if len(t.shape) == 0 {
		return nil, indexError("Dimension specified as %d but tensor has no dimensions", dim)
	}
	if dim, err = WrapDim(dim, len(t.shape)); err != nil {
		return nil, err
	}
	parts = make([]*Tensor, t.shape[dim])
	var watch parallel.Watch
	for i := range parts {
		watch.Did(viewWork)
		if parts[i], err = t.Select(dim, i); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// Split cuts a dimension into pieces of size, the last of which may be smaller.
func (t *Tensor) Split(size, dim int) (parts []*Tensor, err error) {
	defer source.Catch(&err)
	if len(t.shape) == 0 {
		return nil, runtimeError("split expects at least a 1-dimensional tensor")
	}
	if size < 0 {
		return nil, runtimeError("split expects split_size be non-negative, but got split_size=%d", size)
	}
	if dim, err = WrapDim(dim, len(t.shape)); err != nil {
		return nil, err
	}
	n := t.shape[dim]
	if size == 0 {
		if n != 0 {
			return nil, runtimeError("split_size can only be 0 if dimension size is 0, but got dimension size of %d", n)
		}
		return []*Tensor{t.Alias()}, nil
	}
	parts = make([]*Tensor, max((n+size-1)/size, 1))
	var watch parallel.Watch
	for i := range parts {
		watch.Did(viewWork)
		if parts[i], err = t.Slice(dim, i*size, min((i+1)*size, n), 1); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// SplitSizes cuts a dimension into pieces of the given sizes, which must add up to it.
func (t *Tensor) SplitSizes(sizes []int, dim int) (parts []*Tensor, err error) {
	defer source.Catch(&err)
	if len(t.shape) == 0 {
		return nil, runtimeError("split expects at least a 1-dimensional tensor")
	}
	if dim, err = WrapDim(dim, len(t.shape)); err != nil {
		return nil, err
	}
	parts = make([]*Tensor, len(sizes))
	start := 0
	var watch parallel.Watch
	for i, n := range sizes {
		watch.Did(viewWork)
		if n < 0 {
			return nil, runtimeError("split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=%s", FormatShape(sizes))
		}
		if parts[i], err = t.Slice(dim, start, start+n, 1); err != nil {
			return nil, err
		}
		start += n
	}
	if start != t.shape[dim] {
		return nil, runtimeError("split_with_sizes expects split_sizes to sum exactly to %d (input tensor's size at dimension %d), but got split_sizes=%s", t.shape[dim], dim, FormatShape(sizes))
	}
	return parts, nil
}

// Chunk cuts a dimension into at most n pieces of equal size, the last of which may be smaller.
func (t *Tensor) Chunk(n, dim int) ([]*Tensor, error) {
	if len(t.shape) == 0 {
		return nil, runtimeError("chunk expects at least a 1-dimensional tensor")
	}
	if n <= 0 {
		return nil, runtimeError("chunk expects `chunks` to be greater than 0, got: %d", n)
	}
	dim, err := WrapDim(dim, len(t.shape))
	if err != nil {
		return nil, err
	}
	size := t.shape[dim] / n
	if t.shape[dim]%n > 0 {
		size++
	}
	if size == 0 {
		if n > memory.Limit()/int(unsafe.Sizeof(Tensor{})) {
			return nil, runtimeError("chunk: %d pieces do not fit the memory", n)
		}
		return t.SplitSizes(make([]int, n), dim)
	}
	return t.Split(size, dim)
}

// TensorSplit cuts a dimension into exactly n pieces whose sizes differ by at most one.
func (t *Tensor) TensorSplit(n, dim int) ([]*Tensor, error) {
	if len(t.shape) == 0 {
		return nil, runtimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
	}
	dim, err := WrapDim(dim, len(t.shape))
	if err != nil {
		return nil, err
	}
	if n <= 0 {
		return nil, runtimeError("number of sections must be larger than 0, got %d", n)
	}
	if n > memory.Limit()/int(unsafe.Sizeof(Tensor{})) {
		return nil, runtimeError("tensor_split: %d sections do not fit the memory", n)
	}
	size, longer := t.shape[dim]/n, t.shape[dim]%n
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size
		if i < longer {
			sizes[i]++
		}
	}
	return t.SplitSizes(sizes, dim)
}

// TensorSplitAt cuts a dimension at the given indices.
func (t *Tensor) TensorSplitAt(indices []int, dim int) ([]*Tensor, error) {
	if len(t.shape) == 0 {
		return nil, runtimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
	}
	parts := make([]*Tensor, 0, len(indices)+1)
	start := 0
	dim, err := WrapDim(dim, len(t.shape))
	if err != nil {
		return nil, err
	}
	for _, end := range append(append([]int(nil), indices...), t.shape[dim]) {
		p, err := t.Slice(dim, start, end, 1)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
		start = end
	}
	return parts, nil
}

// Flatten joins the dimensions from start to end into one, as a view where possible.
func (t *Tensor) Flatten(start, end int) (*Tensor, error) {
	n := len(t.shape)
	start, err := WrapDim(start, n)
	if err != nil {
		return nil, err
	}
	if end, err = WrapDim(end, n); err != nil {
		return nil, err
	}
	if start > end {
		return nil, runtimeError("flatten() has invalid args: start_dim cannot come after end_dim")
	}
	if n == 0 {
		return t.Reshape(1)
	}
	if start == end {
		return t, nil
	}
	joined := 1
	for _, s := range t.shape[start : end+1] {
		joined *= s
	}
	shape := append(append(append([]int(nil), t.shape[:start]...), joined), t.shape[end+1:]...)
	return t.Reshape(shape...)
}

// Unflatten splits a dimension into several, one size of which may be -1.
func (t *Tensor) Unflatten(dim int, sizes []int) (*Tensor, error) {
	dim, err := WrapDim(dim, len(t.shape))
	if err != nil {
		return nil, err
	}
	if len(sizes) == 0 {
		return nil, runtimeError("unflatten: sizes must be non-empty")
	}
	inferred, err := InferShape(sizes, t.shape[dim])
	if err != nil {
		return nil, runtimeError("unflatten: Provided sizes %s don't multiply up to the size of dim %d (%d) in the input tensor", FormatShape(sizes), dim, t.shape[dim])
	}
	shape := append(append(append([]int(nil), t.shape[:dim]...), inferred...), t.shape[dim+1:]...)
	return t.View(shape...)
}

// Diagonal returns the diagonal of two dimensions as a last dimension.
func (t *Tensor) Diagonal(offset, dim1, dim2 int) (*Tensor, error) {
	n := len(t.shape)
	d1, err := WrapDim(dim1, n)
	if err != nil {
		return nil, err
	}
	d2, err := WrapDim(dim2, n)
	if err != nil {
		return nil, err
	}
	if d1 == d2 || n < 2 {
		return nil, runtimeError("diagonal dimensions cannot be identical %d, %d", dim1, dim2)
	}
	length := 0
	if offset >= 0 {
		length = max(min(t.shape[d1], t.shape[d2]-offset), 0)
	} else {
		length = max(min(t.shape[d1]+offset, t.shape[d2]), 0)
	}
	if err := t.needsOneScale(); err != nil {
		return nil, err
	}
	v := t.derive(n - 1)
	i := 0
	for d := range t.shape {
		if d != d1 && d != d2 {
			v.shape[i], v.strides[i] = t.shape[d], t.strides[d]
			i++
		}
	}
	v.shape[i], v.strides[i] = length, t.strides[d1]+t.strides[d2]
	if length > 0 {
		if offset >= 0 {
			v.offset += offset * t.strides[d2]
		} else {
			v.offset -= offset * t.strides[d1]
		}
	}
	v.fixNumel()
	return v, nil
}

// Unfold shows windows of a dimension, size elements long and step apart, as a last dimension.
func (t *Tensor) Unfold(dim, size, step int) (*Tensor, error) {
	n := len(t.shape)
	dim, err := WrapDim(dim, n)
	if err != nil {
		return nil, err
	}
	length, stride := 1, 1
	if n > 0 {
		length, stride = t.shape[dim], t.strides[dim]
	}
	if size > length || size < 0 {
		return nil, runtimeError("maximum size for tensor at dimension %d is %d but size is %d", dim, length, size)
	}
	if step <= 0 {
		return nil, runtimeError("step is %d but must be > 0", step)
	}
	if err := t.needsOneScale(); err != nil {
		return nil, err
	}
	v := t.derive(n + 1)
	copy(v.shape, t.shape)
	copy(v.strides, t.strides)
	v.shape[n], v.strides[n] = size, stride
	if n > 0 {
		v.shape[dim], v.strides[dim] = (length-size)/step+1, stride*step
	}
	if _, err := Numel(v.shape); err != nil {
		return v.fail(err)
	}
	v.fixNumel()
	return v, nil
}

// ViewAsReal shows complex elements as pairs of real ones in a last dimension of size 2.
func (t *Tensor) ViewAsReal() (*Tensor, error) {
	if !t.dtype.IsComplex() {
		return nil, runtimeError("view_as_real is only supported for complex tensors")
	}
	if t.IsConj() {
		return nil, runtimeError("view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.")
	}
	return t.parts(), nil
}

// parts shows complex elements, as they lie in memory, as pairs of real ones. It has the negative bit of t.
func (t *Tensor) parts() *Tensor {
	n := len(t.shape)
	v := t.derive(n + 1)
	for i := range n {
		v.shape[i], v.strides[i] = t.shape[i], t.strides[i]*2
	}
	v.shape[n], v.strides[n] = 2, 1
	v.offset, v.dtype = t.offset*2, t.dtype.ToReal()
	if t.IsConj() {
		v.setBits(t.Bits() &^ ConjugateBit)
	}
	v.fixNumel()
	return v
}

// ViewAsComplex shows a last dimension of size 2 as complex elements.
func (t *Tensor) ViewAsComplex() (*Tensor, error) {
	n := len(t.shape) - 1
	if t.dtype != Float16 && t.dtype != Float32 && t.dtype != Float64 {
		return nil, runtimeError("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: %s", t.dtype.CppName())
	}
	if n < 0 {
		return nil, runtimeError("Input tensor must have one or more dimensions")
	}
	if t.shape[n] != 2 {
		return nil, runtimeError("Tensor must have a last dimension of size 2")
	}
	if t.strides[n] != 1 {
		return nil, runtimeError("Tensor must have a last dimension with stride 1")
	}
	v := t.derive(n)
	for i := range n {
		if t.strides[i]%2 != 0 {
			return v.fail(runtimeError("Tensor must have a stride divisible by 2 for all but last dimension"))
		}
		v.shape[i], v.strides[i] = t.shape[i], t.strides[i]/2
	}
	if t.offset%2 != 0 {
		return v.fail(runtimeError("Tensor must have a storage_offset divisible by 2"))
	}
	v.offset, v.dtype = t.offset/2, t.dtype.ToComplex()
	v.fixNumel()
	return v, nil
}

// RealPart shows the real parts of complex elements, and other tensors as they are.
func (t *Tensor) RealPart() *Tensor {
	if !t.dtype.IsComplex() {
		return t
	}
	v, _ := t.parts().Select(-1, 0) // the last dimension has size 2
	return v
}

// ImagPart shows the imaginary parts of complex elements. It fails on other types.
func (t *Tensor) ImagPart() (*Tensor, error) {
	if !t.dtype.IsComplex() {
		return nil, runtimeError("imag is not implemented for tensors with non-complex dtypes.")
	}
	v, err := t.parts().Select(-1, 1)
	if t.IsConj() {
		v.setBits(v.Bits() ^ NegativeBit)
	}
	return v, err
}

// MatrixTranspose swaps the last two dimensions.
func (t *Tensor) MatrixTranspose() (*Tensor, error) {
	if len(t.shape) < 2 {
		return nil, runtimeError("tensor.mT is only supported on matrices or batches of matrices. Got %d-D tensor.", len(t.shape))
	}
	return t.Transpose(-2, -1)
}
