package bind

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// makeFunctions make tensors from Python data.
var makeFunctions = []function{
	{schema: "tensor_from_data(any data, dtype? dtype=None) -> Tensor", run: tensorFromData},
	{schema: "tensor_from_plain(any data, dtype? dtype=None) -> any", run: tensorFromPlain},
	{schema: "tensor_from_buffer(object source) -> Tensor", run: tensorFromBuffer},
}

// tensorFromData replies a new tensor of the numbers in nested lists.
func tensorFromData(c *call) error {
	dtype := tensor.NoDType
	if !c.isNone(1) {
		dtype = c.argDType(1)
	}
	t, err := nestedTensor(c.arg(0), dtype)
	if err != nil {
		return err
	}
	if c.thread.mode.Inference() {
		t.MakeInference()
	}
	c.tensor(t)
	return nil
}

// tensorFromPlain is tensorFromData for lists and tuples of numbers alone. It replies None for anything else, and while a trace is
// recorded.
func tensorFromPlain(c *call) error {
	kinds := uint32(0)
	addKinds(c.arg(0), &kinds)
	if c.thread.recorder != nil || kinds&^(numberKinds|typedNumber) != 0 {
		c.none()
		return nil
	}
	return tensorFromData(c)
}

// tensorFromBuffer replies a tensor over the memory of an object with the buffer protocol.
func tensorFromBuffer(c *call) error {
	t, err := borrowedTensor(c.argObject(0))
	if err != nil {
		return err
	}
	c.tensor(t)
	return nil
}

// nestedTensor makes a tensor of nested sequences of numbers. Without a type it is the one that
// the numbers call for. It fails where the sequences do not form a block.
func nestedTensor(w *Word, dtype tensor.DType) (*tensor.Tensor, error) {
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
const numberKinds = 1<<kindBool | 1<<kindInt | 1<<kindFloat | 1<<kindComplex

// typedNumber is the bit of numbers that have a type of their own, as NumPy's have.
const typedNumber = 1 << 31

// addKinds adds the kinds of what is in nested sequences, as bits, and returns the word behind.
func addKinds(w *Word, kinds *uint32) (behind *Word) {
	if !w.isSequence() {
		*kinds |= 1 << w.kind()
		if w.numberType() != tensor.NoDType {
			*kinds |= typedNumber
		}
		return w.next()
	}
	x := w.after(1)
	for range w.count() {
		x = addKinds(x, kinds)
	}
	return x
}

// typeOfNumbers is the type that the numbers in w call for. It fails where there is something else.
func typeOfNumbers(w *Word) (tensor.DType, error) {
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
	case kinds&(1<<kindComplex) != 0:
		return tensor.DefaultDType().ToComplex(), nil
	case kinds&(1<<kindFloat) != 0:
		return tensor.DefaultDType(), nil
	case kinds&(1<<kindInt) != 0:
		return tensor.Int64, nil
	}
	return tensor.Bool, nil
}

// holdsNumbers fails where a type cannot hold the numbers that were given.
func holdsNumbers(t *tensor.Tensor, dtype tensor.DType) error {
	switch {
	case t.DType().IsComplex() && !dtype.IsComplex() && dtype != tensor.Bool:
		return typeErrorf("must be real number, not complex")
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
			return runtimeErrorf("value cannot be converted to type %s without overflow", dtype)
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
func nestedShape(w *Word) []int {
	var shape []int
	for w.isSequence() {
		shape = append(shape, w.count())
		if w.count() == 0 {
			return shape
		}
		w = w.after(1)
	}
	return shape
}

// inferDType adds the types of all numbers in w to *dtype.
func inferDType(w *Word, dtype *tensor.DType) error {
	switch {
	case w.isSequence():
		for x := range w.items {
			if err := inferDType(x, dtype); err != nil {
				return err
			}
		}
	case isNumber(w):
		given := w.numberType()
		if given == tensor.NoDType {
			given = wordScalar(w).ResultDType()
		}
		*dtype = tensor.Promote(*dtype, given)
	case w.tensor() != nil:
		*dtype = tensor.Promote(*dtype, w.tensor().DType())
	case w.kind() == kindString:
		return typeErrorf("new(): invalid data type 'str'")
	default:
		return runtimeErrorf("Could not infer dtype of %s", w.kindName())
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
func (f *filler) put(w *Word) {
	switch {
	case f.dtype == tensor.Float32 && w.kind() == kindFloat:
		tensor.Data[float32](f.t)[f.at] = float32(w.float())
		f.at++
	case f.dtype == tensor.Int64 && w.kind() == kindInt:
		tensor.Data[int64](f.t)[f.at] = w.int()
		f.at++
	default:
		f.putScalar(wordScalar(w))
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
func (f *filler) fill(w *Word, shape []int, dim int) (behind *Word, err error) {
	if w.isSequence() {
		if dim >= len(shape) {
			return nil, typeErrorf("expected a number at dim %d but found a sequence of length %d", dim, w.count())
		}
		if w.count() != shape[dim] {
			return nil, valueErrorf("expected sequence of length %d at dim %d (got %d)", shape[dim], dim, w.count())
		}
		x := w.after(1)
		for range w.count() {
			if x, err = f.fill(x, shape, dim+1); err != nil {
				return nil, err
			}
		}
		return x, nil
	}
	if dim < len(shape) {
		return nil, typeErrorf("expected a sequence of length %d at dim %d (got a %s)", shape[dim], dim, w.kindName())
	}
	if t := w.tensor(); t != nil {
		return w.next(), f.putTensor(t)
	}
	if !isNumber(w) {
		return nil, typeErrorf("must be real number, not %s", w.kindName())
	}
	f.put(w)
	return w.next(), nil
}

// putTensor writes a tensor's only element.
func (f *filler) putTensor(t *tensor.Tensor) error {
	if t.Numel() != 1 {
		return valueErrorf("only one element tensors can be converted to Python scalars")
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
func borrowedTensor(o *object) (*tensor.Tensor, error) {
	a, err := o.borrow()
	o.drop()
	if err != nil {
		return nil, err
	}
	t, err := arrayTensor(a)
	if err != nil {
		a.release()
	}
	return t, err
}

func arrayTensor(a *Array) (*tensor.Tensor, error) {
	format := formatText(a.Format)
	if len(format) > 1 && (format[0] == '<' || format[0] == '@' || format[0] == '=') {
		format = format[1:]
	}
	dtype, ok := bufferDTypes[format]
	if !ok || dtype.Size() != int(a.ItemSize) {
		return nil, typeErrorf("can't convert an array of format '%s'. The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint8, and bool.", formatText(a.Format))
	}
	n, size := int(a.Dim), dtype.Size()
	shape, strides := make([]int, n), make([]int, n)
	for i := range n {
		shape[i], strides[i] = int(a.Shape[i]), int(a.Strides[i])/size
		if a.Strides[i] < 0 {
			return nil, valueErrorf("At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can probably work around this by making a copy of your array  with array.copy().) ")
		}
		if int(a.Strides[i])%size != 0 {
			return nil, valueErrorf("given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory.")
		}
	}
	extent, err := tensor.Span(shape, strides)
	if err != nil {
		return nil, err
	}
	var memory []byte
	if extent != 0 {
		memory = unsafe.Slice((*byte)(a.Data.pointer()), extent*size)
	}
	held := *a
	return tensor.FromStorage(tensor.ForeignStorage(memory, held.release), 0, shape, strides, dtype)
}
