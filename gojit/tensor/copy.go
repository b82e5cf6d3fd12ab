package tensor

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/memory"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// parallelCopyGrain is the number of elements from which a second goroutine helps a copy, and parallelDenseGrain of elements side by
// side.
const (
	parallelCopyGrain  = 1 << 15
	parallelDenseGrain = 1 << 17
)

// Copy stores the elements of src, broadcast and converted, into dst. It fails where the shapes do
// not broadcast. The tensors may overlap only where they are the same elements.
func Copy(dst, src *Tensor) error {
	if dst.IsSparse() || src.IsSparse() {
		return source.Errorf(source.RuntimeError, source.Range{}, "copy_() between dense and sparse Tensors is not implemented! Found self type = %s and src type = %s", dst.typeName(), src.typeName())
	}
	if dst.Bits()|src.Bits() != 0 {
		return copyResolved(dst, src)
	}
	if dst.device.Type|src.device.Type != CPU {
		return copyAcross(dst, src, false)
	}
	if !SameShape(dst.shape, src.shape) {
		if shape, err := Broadcast(dst.shape, src.shape); err != nil || !SameShape(shape, dst.shape) {
			return copyShapeError(dst, src)
		}
	}
	if dst.dtype.IsQuantized() != src.dtype.IsQuantized() {
		return copyQuantized(dst, src)
	}
	if dst.IsHollow() && src.IsHollow() {
		copyLater(dst, src)
	} else {
		copyElements(dst, src)
	}
	return nil
}

// copyResolved is Copy where a tensor shows other numbers than lie in its memory.
func copyResolved(dst, src *Tensor) error {
	src, err := src.Resolved()
	if err != nil {
		return err
	}
	bits := dst.Bits()
	if bits == 0 {
		return Copy(dst, src)
	}
	if src.dtype != dst.dtype { // the bits are those of numbers of the type
		if src, err = src.To(dst.dtype); err != nil {
			return err
		}
	}
	if src, err = src.WithBits(bits).Resolved(); err != nil {
		return err
	}
	return Copy(dst.WithBits(0), src)
}

func copyShapeError(dst, src *Tensor) error {
	lead := len(dst.shape) - len(src.shape)
	if lead < 0 {
		return runtimeError("output with shape %s doesn't match the broadcast shape %s", FormatShape(dst.shape), FormatShape(src.shape))
	}
	for i := len(src.shape) - 1; i >= 0; i-- {
		a, b := dst.shape[lead+i], src.shape[i]
		if a != b && b != 1 && a != 1 {
			return runtimeError("The size of tensor a (%d) must match the size of tensor b (%d) at non-singleton dimension %d", a, b, lead+i)
		}
	}
	return runtimeError("output with shape %s doesn't match the broadcast shape %s", FormatShape(dst.shape), FormatShape(src.shape))
}

func copyElements(dst, src *Tensor) {
	f := converters[src.dtype][dst.dtype]
	n := dst.numel
	if n == 0 {
		return
	}
	if SameShape(dst.shape, src.shape) && dst.IsContiguous() && src.IsContiguous() {
		copyDense(dst, src, f)
		return
	}
	var l Loop
	l.Init(dst.shape, false, dst, src)
	if n < 2*parallelCopyGrain {
		for l.Next() {
			f(l.Ptr[0], l.Step[0], l.Ptr[1], l.Step[1], l.N)
		}
		return
	}
	if dst.dtype == src.dtype {
		if p, ok := l.transposition(dst.dtype.Size()); ok {
			p.run()
			return
		}
		if l.copyRows(dst.dtype.Size()) || l.fillRows(dst.dtype.Size(), f) {
			return
		}
	}
	copyRuns(dst, src, f)
}

// copyDense copies between contiguous tensors.
func copyDense(dst, src *Tensor, f Converter) {
	n, ds, ss := dst.numel, dst.dtype.Size(), src.dtype.Size()
	dp, sp := dst.DataPtr(), src.DataPtr()
	if n < 2*parallelCopyGrain {
		f(dp, ds, sp, ss, n)
		return
	}
	if dst.dtype == src.dtype {
		parallel.Copy(unsafe.Slice((*byte)(dp), n*ds), unsafe.Slice((*byte)(sp), n*ss), n*ds)
		return
	}
	parallel.For(n, parallelDenseGrain, func(lo, hi int) {
		f(unsafe.Add(dp, lo*ds), ds, unsafe.Add(sp, lo*ss), ss, hi-lo)
	})
}

// shortestRow is the number of bytes from which on rows are moved one by one.
const shortestRow = 256

// copyRows copies rows of elements of size bytes side by side, and fails where the walk is another one or the rows are short.
func (l *Loop) copyRows(size int) bool {
	dims := l.room()
	row, rows := &dims[0], &dims[1]
	bytes := row.size * size
	if l.count != 2 || row.step[0] != size || row.step[1] != size || bytes < shortestRow {
		return false
	}
	dst, src, dstStep, srcStep := l.base[0], l.base[1], rows.step[0], rows.step[1]
	parallel.For(rows.size, 1+parallelDenseGrain/row.size, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(unsafe.Slice((*byte)(unsafe.Add(dst, i*dstStep)), bytes), unsafe.Slice((*byte)(unsafe.Add(src, i*srcStep)), bytes))
		}
	})
	return true
}

// fillRows fills each row of elements of size bytes side by side with one element, and fails where the walk is another one or the rows
// are short.
func (l *Loop) fillRows(size int, f Converter) bool {
	dims := l.room()
	row, rows := &dims[0], &dims[1]
	if l.count != 2 || row.step[0] != size || row.step[1] != 0 || row.size*size < shortestRow {
		return false
	}
	dst, src, dstStep, srcStep, n := l.base[0], l.base[1], rows.step[0], rows.step[1], row.size
	parallel.For(rows.size, 1+parallelDenseGrain/n, func(lo, hi int) {
		var element [2]uint64
		for i := lo; i < hi; i++ {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&element)), size), unsafe.Slice((*byte)(unsafe.Add(src, i*srcStep)), size))
			fillDense(unsafe.Add(dst, i*dstStep), size, n, n, &element, f)
		}
	})
	return true
}

// copyRuns copies run by run, parts of the walk at once.
func copyRuns(dst, src *Tensor, f Converter) {
	parallel.For(dst.numel, parallelCopyGrain, func(lo, hi int) {
		var l Loop
		l.Init(dst.shape, false, dst, src)
		for l.Seek(lo, hi); l.Next(); {
			f(l.Ptr[0], l.Step[0], l.Ptr[1], l.Step[1], l.N)
		}
	})
}

// copyQuantized converts between quantized and real elements. Numbers of a tensor without dimensions may have any type.
func copyQuantized(dst, src *Tensor) error {
	if !src.dtype.IsQuantized() {
		if src.dtype != Float32 && len(src.shape) > 0 || dst.quantizer == nil {
			return runtimeError("Quantized copy only works with kFloat as source Tensor")
		}
		numbers, err := Empty(dst.shape, Float32)
		if err != nil {
			return err
		}
		defer numbers.Release()
		if err := Copy(numbers, src); err != nil {
			return err
		}
		integers, err := Quantize(numbers, dst.quantizer, dst.dtype)
		if err != nil {
			return err
		}
		defer integers.Release()
		return Copy(dst.IntegersView(), integers.IntegersView())
	}
	if src.quantizer != nil && src.quantizer.PerChannel() {
		numbers, err := Dequantize(src)
		if err != nil {
			return err
		}
		defer numbers.Release()
		return Copy(dst, numbers)
	}
	f := converters[Float64][dst.dtype]
	var l Loop
	l.Init(dst.shape, false, dst, src)
	for l.Next() {
		for i := range l.N {
			v := dequantizeOne(unsafe.Add(l.Ptr[1], i*l.Step[1]), src.dtype, src.quantizer)
			f(unsafe.Add(l.Ptr[0], i*l.Step[0]), l.Step[0], unsafe.Pointer(&v), 8, 1)
		}
	}
	return nil
}

// Fill stores a number in every element. It throws where a device fails.
func Fill(t *Tensor, value Scalar) {
	if t.numel == 0 {
		return
	}
	if t.device.Type != CPU {
		if t.OnDevice() {
			t.NoteDeviceWrite()
			source.Throw(source.Must(BackendOf(t.device)).Fill(t, value))
		}
		return
	}
	var element [2]uint64
	storeScalar(unsafe.Pointer(&element), t.dtype, value)
	f := converters[t.dtype][t.dtype]
	if !t.IsContiguous() {
		var l Loop
		l.Init(t.shape, false, t)
		for l.Next() {
			f(l.Ptr[0], l.Step[0], unsafe.Pointer(&element), 0, l.N)
		}
		return
	}
	size, start := t.dtype.Size(), t.DataPtr()
	if t.numel < 2*parallelDenseGrain {
		fillDense(start, size, t.numel, t.numel, &element, f)
		return
	}
	parallel.For(t.numel, parallelDenseGrain, func(lo, hi int) {
		fillDense(unsafe.Add(start, lo*size), size, hi-lo, t.numel, &element, f)
	})
}

// fillDense fills n of the whole elements of a tensor.
func fillDense(start unsafe.Pointer, size, n, whole int, element *[2]uint64, f Converter) {
	if *element == [2]uint64{} {
		clear(unsafe.Slice((*byte)(start), n*size))
		return
	}
	if word, ok := wordOf(size, element); ok {
		words := memory.StoreWords(start, n*size/8, word, whole*size >= farBytes)
		if n -= 8 * words / size; n > 0 {
			start = unsafe.Add(start, 8*words)
		}
	}
	if n > 0 {
		f(start, size, unsafe.Pointer(element), 0, n)
	}
}

// farBytes is the size from which on a tensor does not stay in the nearer caches.
const farBytes = 2 << 20

// wordOf returns eight bytes of equal elements; ok is false where elements are longer and their halves differ.
func wordOf(size int, element *[2]uint64) (word uint64, ok bool) {
	word = element[0]
	for n := size; n < 8; n *= 2 {
		word |= word << (8 * n)
	}
	return word, size <= 8 || element[0] == element[1]
}

// EmptyFormat returns an uninitialized tensor of the shape of t laid out in a memory format, on the device of t, hollow where t is.
func EmptyFormat(t *Tensor, dtype DType, format MemoryFormat) (*Tensor, error) {
	strides, err := formatStrides(t, format)
	switch {
	case err != nil:
		return nil, err
	case t.OnDevice():
		return EmptyFormatOn(t.device, t, dtype, format)
	case t.IsHollow():
		return EmptyHollow(t.shape, strides, dtype, nil)
	case strides == nil:
		return Empty(t.shape, dtype)
	}
	return EmptyStrided(t.shape, strides, dtype)
}

// EmptyMetaFormat is EmptyFormat without elements.
func EmptyMetaFormat(t *Tensor, dtype DType, format MemoryFormat) (*Tensor, error) {
	strides, err := formatStrides(t, format)
	if err != nil {
		return nil, err
	}
	meta, err := EmptyMeta(t.shape, dtype)
	if err == nil && strides != nil {
		copy(meta.strides, strides)
	}
	return meta, err
}

// formatStrides returns the strides of a copy of t in a memory format, nil where it is contiguous.
func formatStrides(t *Tensor, format MemoryFormat) ([]int, error) {
	switch {
	case format == ChannelsLast || format == ChannelsLast3D:
		return channelsLastStrides(t.shape, format)
	case format != PreserveFormat || t.numel == 0 || t.hasUsualStrides():
		return nil, nil
	case t.IsNonOverlappingAndDense():
		return t.strides, nil
	}
	return DenseStrides(t.shape, t), nil
}

// hasUsualStrides reports whether the strides are those of a new tensor of the shape: a contiguous one may have others where it has one element.
func (t *Tensor) hasUsualStrides() bool {
	step := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.strides[i] != step {
			return false
		}
		step *= t.shape[i]
	}
	return true
}

// DenseStrides are the strides of a dense tensor of a shape whose dimensions have the order that the strides of tensors have which broadcast to it: of two
// dimensions the first tensor decides that is not broadcast along one of them. So PyTorch lays out results, and the clone of a tensor with gaps.
func DenseStrides(shape []int, ts ...*Tensor) []int {
	order := make([]int, len(shape)) // from the dimension that varies fastest
	for i := range order {
		order[i] = len(shape) - 1 - i
		at := i
		for j := i - 1; j >= 0; j-- {
			c := compareDims(order[j], order[at], shape, ts)
			if c < 0 {
				break
			}
			if c > 0 {
				order[j], order[at] = order[at], order[j]
				at = j
			}
		}
	}
	strides, step := make([]int, len(shape)), 1
	for _, d := range order {
		strides[d] = step
		step *= max(shape[d], 1)
	}
	return strides
}

// compareDims is positive where dimension i varies slower than j in tensors that broadcast to a shape, negative where faster, 0 where no tensor tells.
func compareDims(i, j int, shape []int, ts []*Tensor) int {
	for _, t := range ts {
		a, b := t.broadcastStride(i, shape), t.broadcastStride(j, shape)
		switch {
		case a == 0 || b == 0:
		case a != b:
			return a - b
		case shape[i] > shape[j]:
			return 1
		}
	}
	return 0
}

// broadcastStride is the stride of t along a dimension of the shape that it is broadcast to.
func (t *Tensor) broadcastStride(dim int, shape []int) int {
	i := dim - (len(shape) - len(t.shape))
	if i < 0 || t.shape[i] == 1 && shape[dim] != 1 {
		return 0
	}
	return t.strides[i]
}

// EmptyChannelsLast returns an uninitialized tensor whose channels vary fastest. It fails where the
// shape does not have the format's number of dimensions.
func EmptyChannelsLast(shape []int, dtype DType, format MemoryFormat) (*Tensor, error) {
	strides, err := channelsLastStrides(shape, format)
	if err != nil {
		return nil, err
	}
	return EmptyStrided(shape, strides, dtype)
}

func channelsLastStrides(shape []int, format MemoryFormat) ([]int, error) {
	if len(shape) != int(format)+2 {
		return nil, runtimeError("required rank %d tensor to use %s format", int(format)+2, format)
	}
	strides := make([]int, len(shape))
	step := 1
	for _, d := range channelsLastOrder(len(shape)) {
		strides[d] = step
		step *= max(shape[d], 1)
	}
	return strides, nil
}

// Clone returns a copy laid out in a memory format.
func (t *Tensor) Clone(format MemoryFormat) (*Tensor, error) { return t.convertTo(t.dtype, format) }

// Contiguous returns t where it is contiguous and a contiguous copy otherwise.
func (t *Tensor) Contiguous() (*Tensor, error) {
	if t.IsContiguous() {
		return t, nil
	}
	return t.Clone(ContiguousFormat)
}

// To returns t where it has the type and a converted copy otherwise.
func (t *Tensor) To(dtype DType) (*Tensor, error) {
	if t.dtype == dtype {
		return t, nil
	}
	return t.convertTo(dtype, PreserveFormat)
}

func (t *Tensor) convertTo(dtype DType, format MemoryFormat) (*Tensor, error) {
	if t.IsSparse() {
		return t.convertSparse(dtype)
	}
	if t.Bits() != 0 {
		resolved, err := t.Resolved()
		if err != nil {
			return nil, err
		}
		return resolved.convertTo(dtype, format)
	}
	if t.device.Type == Meta {
		return EmptyMetaFormat(t, dtype, format)
	}
	c, err := EmptyFormat(t, dtype, format)
	if err != nil {
		return nil, err
	}
	if dtype == t.dtype {
		c.quantizer = t.quantizer
	}
	return c, Copy(c, t)
}
