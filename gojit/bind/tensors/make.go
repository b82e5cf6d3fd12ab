package tensors

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// makeFunctions make tensors from Python data.
var makeFunctions = []abi.Function{
	{Schema: "tensor_from_data(any data, dtype? dtype=None) -> Tensor", Run: tensorFromData},
	{Schema: "tensor_from_plain(any data, dtype? dtype=None) -> any", Run: tensorFromPlain},
	{Schema: "tensor_from_buffer(object source) -> Tensor", Run: tensorFromBuffer},
}

// tensorFromData replies a new tensor of the numbers in nested lists.
func tensorFromData(c *abi.Call) error {
	dtype := tensor.NoDType
	if !c.IsNone(1) {
		dtype = c.ArgDType(1)
	}
	t, err := nestedTensor(c.Arg(0), dtype)
	if err != nil {
		return err
	}
	if c.Thread.Mode.Inference() {
		t.MakeInference()
	}
	c.Tensor(t)
	return nil
}

// tensorFromPlain is tensorFromData for lists and tuples of numbers alone. It replies None for anything else, and while a trace is
// recorded.
func tensorFromPlain(c *abi.Call) error {
	kinds := uint32(0)
	addKinds(c.Arg(0), &kinds)
	if c.Thread.Recorder != nil || kinds&^(numberKinds|typedNumber) != 0 {
		c.None()
		return nil
	}
	return tensorFromData(c)
}

// tensorFromBuffer replies a tensor over the memory of an object with the buffer protocol.
func tensorFromBuffer(c *abi.Call) error {
	t, err := borrowedTensor(c.ArgObject(0))
	if err != nil {
		return err
	}
	c.Tensor(t)
	return nil
}

// nestedTensor makes a tensor of nested sequences of numbers. Without a type it is the one that
// the numbers call for. It fails where the sequences do not form a block.
func nestedTensor(w *abi.Word, dtype tensor.DType) (*tensor.Tensor, error) {
	shape := nestedShape(w)
	inferred, err := typeOfNumbers(w)
	if err != nil {
		return nil, err
	}
	if !dtype.Valid() {
		dtype = inferred
	}
	wide := widest(inferred)
	if wide == tensor.Float64 && dtype == tensor.Float32 {
		wide = dtype // rounds as the conversion does
	}
	t, err := tensor.Empty(shape, wide)
	if err != nil {
		return nil, err
	}
	f := filler{t, t.DType(), 0}
	if _, err := f.fill(w, shape, 0); err != nil {
		return nil, err
	}
	if err := holdsNumbers(t, dtype); err != nil {
		return nil, err
	}
	made, err := t.To(dtype)
	if made != t {
		t.Release()
	}
	return made, err
}

// numberKinds are the kinds of plain numbers, as bits.
const numberKinds = 1<<abi.KindBool | 1<<abi.KindInt | 1<<abi.KindFloat | 1<<abi.KindComplex

// typedNumber is the bit of numbers that have a type of their own, as NumPy's have.
const typedNumber = 1 << 31

// addKinds adds the kinds of what is in nested sequences, as bits, and returns the word behind.
func addKinds(w *abi.Word, kinds *uint32) (behind *abi.Word) {
	if !w.IsSequence() {
		*kinds |= 1 << w.Kind()
		if w.NumberType() != tensor.NoDType {
			*kinds |= typedNumber
		}
		return w.Next()
	}
	x := w.After(1)
	for range w.Count() {
		x = addKinds(x, kinds)
	}
	return x
}

// typeOfNumbers is the type that the numbers in w call for. It fails where there is something else.
func typeOfNumbers(w *abi.Word) (tensor.DType, error) {
	kinds, dtype := uint32(0), tensor.NoDType
	addKinds(w, &kinds)
	switch {
	case kinds == 0:
		return tensor.DefaultDType(), nil
	case kinds&^numberKinds != 0:
		err := inferDType(w, &dtype)
		if !dtype.Valid() {
			dtype = tensor.DefaultDType() // of tensors without elements
		}
		return dtype, err
	case kinds&(1<<abi.KindComplex) != 0:
		return tensor.DefaultDType().ToComplex(), nil
	case kinds&(1<<abi.KindFloat) != 0:
		return tensor.DefaultDType(), nil
	case kinds&(1<<abi.KindInt) != 0:
		return tensor.Int64, nil
	}
	return tensor.Bool, nil
}

// holdsNumbers fails where a type cannot hold the numbers that were given.
func holdsNumbers(t *tensor.Tensor, dtype tensor.DType) error {
	switch {
	case t.DType().IsComplex() && !dtype.IsComplex() && dtype != tensor.Bool:
		return abi.TypeErrorf("must be real number, not complex")
	case t.DType() != tensor.Int64 || !dtype.IsIntegral() || dtype == tensor.Int64 || dtype == tensor.Bool:
		return nil
	}
	bits := 8 * dtype.Size()
	low, high := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	if dtype == tensor.Uint8 {
		low, high = -255, 255
	}
	for _, v := range tensor.Data[int64](t) {
		if v < low || v > high {
			return abi.RuntimeErrorf("value cannot be converted to type %s without overflow", dtype)
		}
	}
	return nil
}

// widest returns the type of a kind of numbers that holds all of them.
func widest(d tensor.DType) tensor.DType {
	switch {
	case d == tensor.Bool:
		return d
	case d.IsComplex():
		return tensor.Complex128
	case d.IsFloating():
		return tensor.Float64
	}
	return tensor.Int64
}

// nestedShape is the shape that the first elements suggest; filling checks the others.
func nestedShape(w *abi.Word) []int {
	var shape []int
	for w.IsSequence() {
		shape = append(shape, w.Count())
		if w.Count() == 0 {
			return shape
		}
		w = w.After(1)
	}
	return shape
}

// inferDType adds the types of all numbers in w to *dtype.
func inferDType(w *abi.Word, dtype *tensor.DType) error {
	switch {
	case w.IsSequence():
		for x := range w.Items {
			if err := inferDType(x, dtype); err != nil {
				return err
			}
		}
	case abi.IsNumber(w):
		given := w.NumberType()
		if given == tensor.NoDType {
			given = abi.ScalarOf(w).ResultDType()
		}
		*dtype = tensor.Promote(*dtype, given)
	case w.Tensor() != nil:
		*dtype = tensor.Promote(*dtype, w.Tensor().DType())
	case w.Kind() == abi.KindString:
		return abi.TypeErrorf("new(): invalid data type 'str'")
	default:
		return abi.RuntimeErrorf("Could not infer dtype of %s", w.KindName())
	}
	return nil
}

// filler writes numbers into a contiguous tensor of a type that holds them, one after the other.
type filler struct {
	t     *tensor.Tensor
	dtype tensor.DType
	at    int
}

// put writes a number of a word.
func (f *filler) put(w *abi.Word) {
	switch {
	case f.dtype == tensor.Float32 && w.Kind() == abi.KindFloat:
		tensor.Data[float32](f.t)[f.at] = float32(w.Float())
		f.at++
	case f.dtype == tensor.Int64 && w.Kind() == abi.KindInt:
		tensor.Data[int64](f.t)[f.at] = w.Int()
		f.at++
	default:
		f.putScalar(abi.ScalarOf(w))
	}
}

func (f *filler) putScalar(s tensor.Scalar) {
	switch f.dtype {
	case tensor.Bool:
		tensor.Data[bool](f.t)[f.at] = s.Bool()
	case tensor.Int64:
		tensor.Data[int64](f.t)[f.at] = s.Int64()
	case tensor.Float32:
		tensor.Data[float32](f.t)[f.at] = float32(s.Float64())
	case tensor.Float64:
		tensor.Data[float64](f.t)[f.at] = s.Float64()
	default:
		tensor.Data[complex128](f.t)[f.at] = s.Complex128()
	}
	f.at++
}

// fill writes what starts at w and returns the word behind it.
func (f *filler) fill(w *abi.Word, shape []int, dim int) (behind *abi.Word, err error) {
	if w.IsSequence() {
		if dim >= len(shape) {
			return nil, abi.TypeErrorf("expected a number at dim %d but found a sequence of length %d", dim, w.Count())
		}
		if w.Count() != shape[dim] {
			return nil, abi.ValueErrorf("expected sequence of length %d at dim %d (got %d)", shape[dim], dim, w.Count())
		}
		x := w.After(1)
		for range w.Count() {
			if x, err = f.fill(x, shape, dim+1); err != nil {
				return nil, err
			}
		}
		return x, nil
	}
	if dim < len(shape) {
		return nil, abi.TypeErrorf("expected a sequence of length %d at dim %d (got a %s)", shape[dim], dim, w.KindName())
	}
	if t := w.Tensor(); t != nil {
		return w.Next(), f.putTensor(t)
	}
	if !abi.IsNumber(w) {
		return nil, abi.TypeErrorf("must be real number, not %s", w.KindName())
	}
	f.put(w)
	return w.Next(), nil
}

// putTensor writes a tensor's only element.
func (f *filler) putTensor(t *tensor.Tensor) error {
	if t.Numel() != 1 {
		return abi.ValueErrorf("only one element tensors can be converted to Python scalars")
	}
	number, err := t.Item()
	if err == nil {
		f.putScalar(number)
	}
	return err
}

// bufferDTypes are the element types of the formats of the struct module.
var bufferDTypes = map[string]tensor.DType{
	"?": tensor.Bool, "B": tensor.Uint8, "b": tensor.Int8, "h": tensor.Int16, "i": tensor.Int32, "q": tensor.Int64,
	"l": tensor.Int64, "e": tensor.Float16, "f": tensor.Float32, "d": tensor.Float64, "Zf": tensor.Complex64,
	"Zd": tensor.Complex128,
}

// borrowedTensor returns a tensor over the memory that a Python object lends. The memory is returned
// when the tensor's storage goes. It uses o up.
func borrowedTensor(o *abi.Object) (*tensor.Tensor, error) {
	a, err := o.Borrow()
	o.Drop()
	if err != nil {
		return nil, err
	}
	t, err := arrayTensor(a)
	if err != nil {
		a.Release()
	}
	return t, err
}

func arrayTensor(a *abi.Array) (*tensor.Tensor, error) {
	format := abi.FormatText(a.Format)
	if len(format) > 1 && (format[0] == '<' || format[0] == '@' || format[0] == '=') {
		format = format[1:]
	}
	dtype, ok := bufferDTypes[format]
	if !ok || dtype.Size() != int(a.ItemSize) {
		return nil, abi.TypeErrorf("can't convert an array of format '%s'. The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint8, and bool.", abi.FormatText(a.Format))
	}
	n, size := int(a.Dim), dtype.Size()
	shape, strides := make([]int, n), make([]int, n)
	for i := range n {
		shape[i], strides[i] = int(a.Shape[i]), int(a.Strides[i])/size
		if a.Strides[i] < 0 {
			return nil, abi.ValueErrorf("At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can probably work around this by making a copy of your array  with array.copy().) ")
		}
		if int(a.Strides[i])%size != 0 {
			return nil, abi.ValueErrorf("given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory.")
		}
	}
	extent, err := tensor.Span(shape, strides)
	if err != nil {
		return nil, err
	}
	var memory []byte
	if extent != 0 {
		memory = unsafe.Slice((*byte)(a.Data.Pointer()), extent*size)
	}
	held := *a
	return tensor.FromStorage(tensor.ForeignStorage(memory, held.Release), 0, shape, strides, dtype)
}
