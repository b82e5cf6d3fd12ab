package tensor

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/memory"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// inlineDims is the number of dimensions whose sizes and strides need no further allocation.
const inlineDims = 4

// Tensor is a strided view of a storage. Its geometry changes only through the in-place methods
// (Set and its kin); everything else makes a new Tensor.
type Tensor struct {
	storage      *Storage
	offset       int // elements from the start of the storage
	numel        int
	shape        []int
	strides      []int
	dtype        DType
	device       Device
	requiresGrad bool
	released     flag
	registers    uint8               // that have it, where nobody else does; see MarkTemporary
	borrowed     bool                // see Borrow
	onLoan       bool                // made by Borrow itself, and not a view of such a tensor
	quantizer    *Quantizer          // for quantized types, else nil
	lengths      *[]int              // of a ragged tensor, else nil
	history      atomic.Pointer[any] // what the tape knows of the tensor: its gradient and the node that made it
	base         *Tensor             // what the tensor is a view of, itself no view; nil where it is none
	generation   uint32              // how often a recorded write replaced the history; of a view: what its base had when its history was made
	holders      holders
	versions     *atomic.Uint32 // counts writes in place of t and its views; nil where the storage counts
	pyObject     uintptr        // the Python wrapper, borrowed; 0 where there is none
	foreign      *foreign       // what few tensors have, else nil
	dims         [2 * inlineDims]int
}

// Quantizer says how integers stand for real numbers: real = Scale * (integer - ZeroPoint). Where
// Scales is there, index i of dimension Axis has Scales[i] and ZeroPoints[i] instead, or FloatZeros[i]
// where zero points lie between integers.
type Quantizer struct {
	Scale      float64
	ZeroPoint  int64
	Scales     []float64
	ZeroPoints []int64
	FloatZeros []float32
	Axis       int
}

// ownTensor is a tensor with its own storage, and room for smallBytes of data, in one allocation.
type ownTensor struct {
	tensor  Tensor
	storage Storage
	data    [smallBytes / 8]uint64
}

// smallStorage is a storage with room for smallBytes of data, in one allocation.
type smallStorage struct {
	storage Storage
	data    [smallBytes / 8]uint64
}

const smallBytes = 64

// separate gives a tensor that lies in one allocation with its storage, and alone uses it, a storage apart: who keeps a view or what Detach
// returns then keeps the elements, and not what t knows of the tape.
func (t *Tensor) separate() {
	s := t.storage
	if !t.isOwn() || s.refs.Load() != 1 || s.hollow != nil || s.lent {
		return
	}
	if o := (*ownTensor)(unsafe.Pointer(t)); len(s.data) > 0 && unsafe.Pointer(unsafe.SliceData(s.data)) == unsafe.Pointer(&o.data) {
		apart := &smallStorage{data: o.data}
		apart.storage.data = unsafe.Slice((*byte)(unsafe.Pointer(&apart.data)), len(s.data))
		t.storage = &apart.storage
	} else {
		t.storage = &Storage{data: s.data, cached: s.cached, foreign: s.foreign, device: s.device}
		if memory.Guarding {
			memory.KeepGuarded(t.storage, t.storage.data)
		}
	}
	t.storage.refs.Store(1)
	t.storage.version.Store(s.version.Load())
	t.storage.inference.Store(s.inference.Load())
	*s = Storage{}
}

// isOwn reports whether t and its storage are one allocation.
func (t *Tensor) isOwn() bool {
	return uintptr(unsafe.Pointer(t.storage)) == uintptr(unsafe.Pointer(t))+unsafe.Offsetof(ownTensor{}.storage)
}

// Empty returns a contiguous tensor whose elements are arbitrary. It fails on a negative size and
// where the memory cannot be had.
func Empty(shape []int, dtype DType) (*Tensor, error) { return emptyContiguous(shape, dtype, false) }

// Zeros returns a contiguous tensor of zeros, with the failures of Empty.
func Zeros(shape []int, dtype DType) (*Tensor, error) { return emptyContiguous(shape, dtype, true) }

func emptyContiguous(shape []int, dtype DType, cleared bool) (*Tensor, error) {
	numel, err := Numel(shape)
	if err != nil {
		return nil, err
	}
	t, err := allocate(numel, numel*dtype.Size(), dtype, cleared)
	if err != nil {
		return nil, err
	}
	t.setShape(shape)
	fillContiguousStrides(t.strides, t.shape)
	return t, nil
}

// allocate returns a tensor without geometry over a fresh storage.
func allocate(numel, nbytes int, dtype DType, cleared bool) (*Tensor, error) {
	o := idleTensors.take()
	reused := o != nil
	if reused {
		o.tensor.released = unset
	} else {
		if nbytes <= smallBytes { // larger ones are checked with their storage
			if err := CheckRoom(nbytes); err != nil {
				return nil, err
			}
		}
		o = &ownTensor{}
	}
	t, s := &o.tensor, &o.storage
	if nbytes > smallBytes || memory.Guarding && nbytes > 0 {
		if err := s.allocate(nbytes, cleared); err != nil {
			return nil, err
		}
	} else {
		s.data = unsafe.Slice((*byte)(unsafe.Pointer(&o.data)), nbytes)
		switch {
		case !cleared:
			memory.Poison(s.data)
		case reused:
			o.data = [smallBytes / 8]uint64{}
		}
	}
	s.refs = 1
	t.storage, t.numel, t.dtype = s, numel, dtype
	return t, nil
}

// EmptyStrided returns a tensor of the given geometry over a storage just large enough. It fails as Empty does.
func EmptyStrided(shape, strides []int, dtype DType) (*Tensor, error) {
	numel, err := Numel(shape)
	if err != nil {
		return nil, err
	}
	reach, err := checkStrides(shape, strides)
	if err != nil {
		return nil, err
	}
	t, err := allocate(numel, reach*dtype.Size(), dtype, false)
	if err != nil {
		return nil, err
	}
	t.setShape(shape)
	copy(t.strides, strides)
	return t, nil
}

// checkStrides fails where strides do not belong to a shape, and returns the elements that the geometry spans.
func checkStrides(shape, strides []int) (int, error) {
	if len(shape) != len(strides) {
		return 0, source.Errorf(source.RuntimeError, source.Range{},
			"mismatch in length of strides and shape: %d and %d", len(strides), len(shape))
	}
	for _, s := range strides {
		if s < 0 {
			return 0, source.Errorf(source.RuntimeError, source.Range{}, "empty_strided: negative strides are not supported")
		}
	}
	return Span(shape, strides)
}

// EmptyLike returns a tensor with the geometry that an elementwise result over t has: the strides
// of t where its elements fill their memory without gaps, contiguous otherwise.
func EmptyLike(t *Tensor, dtype DType) (*Tensor, error) {
	format := PreserveFormat
	if t.IsContiguous() || !t.IsNonOverlappingAndDense() {
		format = ContiguousFormat
	}
	switch {
	case t.OnDevice():
		return EmptyFormat(t, dtype, format)
	case format == ContiguousFormat:
		return Empty(t.shape, dtype)
	}
	return EmptyStrided(t.shape, t.strides, dtype)
}

// EmptyMeta returns a tensor that has a geometry and a type but no elements.
func EmptyMeta(shape []int, dtype DType) (*Tensor, error) {
	numel, err := Numel(shape)
	if err != nil {
		return nil, err
	}
	t := &Tensor{storage: &Storage{device: NewDevice(Meta, -1)}, numel: numel, dtype: dtype, device: NewDevice(Meta, -1)}
	t.setShape(shape)
	fillContiguousStrides(t.strides, t.shape)
	return t, nil
}

// FromStorage returns a tensor over s. It fails where the geometry reaches outside the storage.
func FromStorage(s *Storage, offset int, shape, strides []int, dtype DType) (*Tensor, error) {
	numel, err := Numel(shape)
	if err != nil {
		return nil, err
	}
	if len(shape) != len(strides) {
		return nil, source.Errorf(source.RuntimeError, source.Range{},
			"mismatch in length of strides and shape: %d and %d", len(strides), len(shape))
	}
	if err := checkBounds(s, offset, shape, strides, dtype); err != nil {
		return nil, err
	}
	t := &Tensor{storage: s, offset: offset, numel: numel, dtype: dtype, device: s.device}
	s.refs.Add(1)
	t.setShape(shape)
	copy(t.strides, strides)
	return t, nil
}

// checkBounds fails where the geometry reaches outside the storage.
func checkBounds(s *Storage, offset int, shape, strides []int, dtype DType) error {
	if slices.ContainsFunc(strides, func(stride int) bool { return stride < 0 }) && !slices.Contains(shape, 0) {
		return source.Errorf(source.RuntimeError, source.Range{},
			"as_strided: Negative strides are not supported at the moment, got strides: %s", FormatShape(strides))
	}
	reach, err := Span(shape, strides)
	if err != nil {
		return err
	}
	if offset < 0 || offset > maxElements {
		return source.Errorf(source.RuntimeError, source.Range{}, "Tensor: invalid storage offset %d", offset)
	}
	if reach == 0 || s.device.Type == Meta {
		return nil
	}
	limit := s.NBytes() / dtype.Size()
	if offset > limit || reach > limit-offset {
		return source.Errorf(source.RuntimeError, source.Range{},
			"setStorage: sizes %s, strides %s, storage offset %d, and itemsize %d requiring a storage size of %d are out of bounds for storage of size %d",
			FormatShape(shape), FormatShape(strides), offset, dtype.Size(), uint64(offset+reach)*uint64(dtype.Size()), s.NBytes())
	}
	return nil
}

// extent returns the elements that a geometry spans.
func extent(shape, strides []int) int {
	span := 1
	for i, n := range shape {
		if n == 0 {
			return 0
		}
		span += (n - 1) * strides[i]
	}
	return span
}

// derive returns a tensor over the same storage with room for n dimensions; the caller fills shape
// and strides and then calls fixNumel where the number of elements differs.
func (t *Tensor) derive(n int) *Tensor {
	v := idleViews.take()
	if v == nil {
		v = &Tensor{}
	} else {
		v.released = unset
	}
	v.storage, v.offset, v.numel, v.dtype, v.device, v.quantizer = t.storage, t.offset, t.numel, t.dtype, t.device, t.quantizer
	v.versions = t.versions
	if v.base = t.base; v.base == nil {
		v.base = t
	}
	v.generation = v.base.generation
	if t.foreign != nil && (t.foreign.wraps || t.foreign.sparse != nil || t.foreign.bits != 0) {
		v.foreign = &foreign{wraps: t.foreign.wraps, device: t.foreign.device, sparse: t.foreign.sparse, bits: t.foreign.bits}
	}
	if t.borrowed {
		v.borrowed = true
		v.released = set
	} else {
		t.storage.refs.Add(1)
	}
	v.makeDims(n)
	return v
}

// fail gives up a derived tensor that cannot be made.
func (t *Tensor) fail(err error) (*Tensor, error) {
	t.Release()
	return nil, err
}

func (t *Tensor) fixNumel() {
	t.numel = 1
	for _, n := range t.shape {
		t.numel *= n
	}
}

func (t *Tensor) makeDims(n int) {
	if n <= inlineDims {
		t.shape = t.dims[:n:inlineDims]
		t.strides = t.dims[inlineDims : inlineDims+n]
		return
	}
	both := make([]int, 2*n)
	t.shape, t.strides = both[:n:n], both[n:]
}

func (t *Tensor) setShape(shape []int) {
	t.makeDims(len(shape))
	copy(t.shape, shape)
}

func fillContiguousStrides(strides, shape []int) {
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = step
		step *= max(shape[i], 1)
	}
}

// Shape returns the sizes. The caller must not change them.
func (t *Tensor) Shape() []int { return t.shape }

// Strides returns the steps in elements. The caller must not change them.
func (t *Tensor) Strides() []int { return t.strides }

// Size returns the size of dimension i. It raises an IndexError where there is no such dimension.
func (t *Tensor) Size(i int) int {
	if uint(i) >= uint(len(t.shape)) {
		t.noDimension(i)
	}
	return t.shape[i]
}

//go:noinline
func (t *Tensor) noDimension(i int) {
	n := len(t.shape)
	if n == 0 {
		source.Raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", i)
	}
	source.Throw(noSuchDimension(i, n))
}

// Dim returns the number of dimensions.
func (t *Tensor) Dim() int { return len(t.shape) }

// Numel returns the number of elements.
func (t *Tensor) Numel() int { return t.numel }

// Offset returns the storage index of the first element.
func (t *Tensor) Offset() int { return t.offset }

// DType returns the element type.
func (t *Tensor) DType() DType { return t.dtype }

// Device returns where the tensor is.
func (t *Tensor) Device() Device { return t.device }

// Storage returns the memory the tensor views.
func (t *Tensor) Storage() *Storage { return t.storage }

// Quantizer returns how a quantized tensor's integers are read, nil for other types.
func (t *Tensor) Quantizer() *Quantizer { return t.quantizer }

// PyObject returns the Python wrapper's address, 0 where there is none.
func (t *Tensor) PyObject() uintptr { return atomic.LoadUintptr(&t.pyObject) }

// SetPyObject records the Python wrapper's address.
func (t *Tensor) SetPyObject(p uintptr) { atomic.StoreUintptr(&t.pyObject, p) }

// Release gives the tensor up: the caller promises that nobody uses it any more. When every tensor over the storage is released
// the memory is reused at once. A view, and a tensor that had its memory alone, are then used again themselves, as tensors that are made
// later. Without it the collector does the work.
//
// Where somebody holds the tensor it is given up instead.
func (t *Tensor) Release() {
	if t.IsHeld() {
		t.GiveUp()
		return
	}
	if t.released.Swap(true) {
		if t.borrowed && !t.onLoan {
			t.reuse()
		}
		return
	}
	isLast := t.storage.leave()
	switch isOwn := t.isOwn(); {
	case isOwn && isLast && !memory.Guarding: // with that addresses are not used again
		o := (*ownTensor)(unsafe.Pointer(t))
		o.tensor, o.storage = Tensor{released: set}, Storage{}
		idleTensors.put(o)
	case !isOwn && t.base != nil && !memory.Guarding: // no view's base
		*t = Tensor{released: set}
		idleViews.put(t)
	default:
		t.holders.state.Store(ownerGone)
	}
}

// ReleaseMemory is Release where somebody looks at what the tensor was, but not at its elements.
func (t *Tensor) ReleaseMemory() {
	if !t.released.Swap(true) {
		t.storage.leave()
	}
}

// worthBorrowing is the number of bytes from which Borrow is worth its own memory.
var worthBorrowing = memory.LargeFrom

// BorrowFrom sets how many bytes are worth borrowing and returns what it was before: tests borrow everything.
func BorrowFrom(bytes int) (before int) {
	before, worthBorrowing = worthBorrowing, bytes
	return before
}

// IsWorthBorrowing reports whether t has so much memory that Borrow pays.
func (t *Tensor) IsWorthBorrowing() bool {
	return t.storage.cached && len(t.storage.data) >= worthBorrowing
}

// Borrow returns a tensor over the memory of t for the time of one operation, until Return. It and its views are no users of the
// memory, which can be reused though they are forgotten.
func (t *Tensor) Borrow() *Tensor {
	b := idleViews.take()
	if b == nil {
		b = &Tensor{}
	}
	b.storage, b.offset, b.numel, b.shape, b.strides, b.dtype, b.device = t.storage, t.offset, t.numel, t.shape, t.strides, t.dtype, t.device
	b.requiresGrad, b.quantizer, b.lengths = t.requiresGrad, t.quantizer, t.lengths
	b.base, b.generation, b.versions, b.borrowed, b.onLoan = t.base, t.generation, t.versions, true, true
	b.released.Store(true)
	return b
}

// Return ends what Borrow began: nobody has t or a view of it any more, besides views that Keep has made ones of the lender. It is used again.
func (t *Tensor) Return() {
	if t.onLoan {
		t.reuse()
	}
}

// reuse keeps t, which nobody has any more and which is no user of its memory, for tensors that are made later. Where memory is
// guarded nothing is made of it: whoever has it yet finds a tensor without memory.
func (t *Tensor) reuse() {
	if t.pyObject != 0 || t.history.Load() != nil || t.foreign != nil || t.IsHeld() {
		return
	}
	*t = Tensor{released: set}
	if !memory.Guarding {
		idleViews.put(t)
	}
}

// IsBorrowed reports whether t came from Borrow, or is a view of such a tensor.
func (t *Tensor) IsBorrowed() bool { return t.borrowed }

// Keep makes a view of borrowed, which was borrowed from lender, one of lender.
func (t *Tensor) Keep(borrowed, lender *Tensor) {
	if t.base == borrowed {
		if t.base = lender.base; t.base == nil {
			t.base = lender
		}
	}
	if t.borrowed && !lender.borrowed {
		t.borrowed = false
		t.released.Store(false)
		t.storage.refs.Add(1)
	}
}

// MarkTemporary notes that t is a result that one register of an interpreter has and nobody else, besides nodes of the tape, which hold
// it; unless Python knows it or it is of a special kind. Whoever gives t to others calls UnmarkTemporary.
func (t *Tensor) MarkTemporary() {
	t.registers = 0
	if t.PyObject() == 0 && t.foreign == nil {
		t.registers = 1
	}
}

// UnmarkTemporary undoes MarkTemporary. Tensors that several threads use are not marked, and so not written.
func (t *Tensor) UnmarkTemporary() {
	if t.registers != 0 {
		t.registers = 0
	}
}

// IsTemporary reports whether t was marked.
func (t *Tensor) IsTemporary() bool { return t.registers != 0 }

// IsShared reports whether several registers have t, which was marked.
func (t *Tensor) IsShared() bool { return t.registers > 1 }

// AddRegisters says that so many more registers have t, which was marked.
func (t *Tensor) AddRegisters(n int) {
	if n += int(t.registers); n <= math.MaxUint8 {
		t.registers = uint8(n)
	} else {
		t.registers = 0
	}
}

// Users returns how many tensors over the storage were made and not released.
func (t *Tensor) Users() int { return int(t.storage.refs.Load()) }

// SetUsers says how many tensors over the storage are still used, t among them: the caller made the
// others and has forgotten them.
func (t *Tensor) SetUsers(n int) { t.storage.refs.Store(int32(n)) }

// DataPtr returns the address of the first element, nil for a tensor without elements or storage.
func (t *Tensor) DataPtr() unsafe.Pointer {
	if len(t.storage.data) == 0 || t.numel == 0 {
		return t.latePointer()
	}
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.storage.data)), t.offset*t.dtype.Size())
}

// Element is a Go type that elements of some DType are stored as. int8, uint8 and int32 also hold
// the quantized types.
type Element interface {
	bool | uint8 | int8 | int16 | int32 | int64 | F16 | BF16 | float32 | float64 | complex64 | complex128
}

// Data returns the elements from the first one to the farthest one in memory. For a contiguous
// tensor that is all elements in order. T must be the Go type of the tensor's element
// type: Data panics where even the sizes differ.
func Data[T Element](t *Tensor) []T {
	var element T
	if int(unsafe.Sizeof(element)) != t.dtype.Size() {
		panic(fmt.Sprintf("tensor.Data: elements of type %s read as %T", t.dtype, element))
	}
	n := t.numel
	if !t.IsContiguous() {
		n = extent(t.shape, t.strides)
	}
	if t.storage.hollow != nil {
		t.storage.materialize()
	}
	if n == 0 || t.numel == 0 {
		return nil
	}
	return unsafe.Slice((*T)(t.DataPtr()), n)
}

// DTypeOf returns the element type that is stored as T.
func DTypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case F16:
		return Float16
	case BF16:
		return BFloat16
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	}
	return Complex128
}

// FromSlice returns a contiguous tensor with a copy of data. It fails where the shape does not hold len(data) elements.
func FromSlice[T Element](data []T, shape ...int) (*Tensor, error) {
	t, err := Empty(shape, DTypeOf[T]())
	if err != nil {
		return nil, err
	}
	if t.numel != len(data) {
		return nil, source.Errorf(source.RuntimeError, source.Range{},
			"shape '%s' is invalid for input of size %d", FormatShape(shape), len(data))
	}
	copy(Data[T](t), data)
	return t, nil
}

// Full returns a contiguous tensor filled with a number, with the failures of Empty.
func Full(shape []int, value Scalar, dtype DType) (*Tensor, error) {
	t, err := Empty(shape, dtype)
	if err != nil {
		return nil, err
	}
	Fill(t, value)
	return t, nil
}

// FromScalar returns a tensor without dimensions that holds a number.
func FromScalar(value Scalar, dtype DType) *Tensor {
	t, _ := Empty(nil, dtype) // one element cannot fail
	storeScalar(t.DataPtr(), dtype, value)
	return t
}

// Item returns the only element. It fails where there is not exactly one.
func (t *Tensor) Item() (Scalar, error) {
	if t.IsSparse() && t.numel == 1 {
		return t.sparseItem()
	}
	if t.Bits() != 0 {
		resolved, err := t.Resolved()
		if err != nil {
			return Scalar{}, err
		}
		t = resolved
	}
	if t.device.Type == Meta && !t.IsSparse() {
		return Scalar{}, source.Errorf(source.NotImplementedError, source.Range{}, "Could not run 'aten::_local_scalar_dense' with arguments from the 'Meta' backend: tensors on the device meta have no elements.")
	}
	if t.numel != 1 {
		return Scalar{}, source.Errorf(source.ValueError, source.Range{}, "only one element tensors can be converted to Python scalars")
	}
	if t.OnDevice() {
		here, err := t.onHost()
		if err != nil {
			return Scalar{}, err
		}
		t = here
	}
	return loadScalar(t.DataPtr(), t.dtype, t.quantizer.forElement()), nil
}

// At returns the element at an index, which must be in range.
func (t *Tensor) At(index ...int) Scalar {
	off := 0
	for i, x := range index {
		off += x * t.strides[i]
	}
	return loadScalar(unsafe.Add(t.DataPtr(), off*t.dtype.Size()), t.dtype, t.quantizer.forElement(index...))
}

func loadScalar(p unsafe.Pointer, dtype DType, q *Quantizer) Scalar {
	switch dtype {
	case Bool:
		return Boolean(*(*uint8)(p) != 0)
	case Uint8:
		return Int(int64(*(*uint8)(p)))
	case Int8:
		return Int(int64(*(*int8)(p)))
	case Int16:
		return Int(int64(*(*int16)(p)))
	case Int32:
		return Int(int64(*(*int32)(p)))
	case Int64:
		return Int(*(*int64)(p))
	case Float16:
		return Float(float64((*(*F16)(p)).Float32()))
	case BFloat16:
		return Float(float64((*(*BF16)(p)).Float32()))
	case Float32:
		return Float(float64(*(*float32)(p)))
	case Float64:
		return Float(*(*float64)(p))
	case Complex64:
		return Complex(complex128(*(*complex64)(p)))
	case Complex128:
		return Complex(*(*complex128)(p))
	case Complex32:
		h := (*[2]F16)(p)
		return Complex(complex(float64(h[0].Float32()), float64(h[1].Float32())))
	}
	return Float(dequantizeOne(p, dtype, q))
}

func dequantizeOne(p unsafe.Pointer, dtype DType, q *Quantizer) float64 {
	if q == nil {
		q = &Quantizer{Scale: 1}
	}
	var i int64
	switch dtype {
	case QInt8:
		i = int64(*(*int8)(p))
	case QUInt8:
		i = int64(*(*uint8)(p))
	case QInt32:
		i = int64(*(*int32)(p))
	}
	if q.FloatZeros != nil {
		return (float64(i) - float64(q.FloatZeros[0])) * q.Scale
	}
	return float64(i-q.ZeroPoint) * q.Scale
}

func storeScalar(p unsafe.Pointer, dtype DType, s Scalar) {
	s.MustSuit(dtype)
	switch dtype {
	case Bool:
		*(*bool)(p) = s.Bool()
	case Uint8, QUInt8:
		*(*uint8)(p) = uint8(s.Int64())
	case Int8, QInt8:
		*(*int8)(p) = int8(s.Int64())
	case Int16:
		*(*int16)(p) = int16(s.Int64())
	case Int32, QInt32:
		*(*int32)(p) = int32(s.Int64())
	case Int64:
		*(*int64)(p) = s.Int64()
	case Float16:
		*(*F16)(p) = ToF16(float32(s.Float64()))
	case BFloat16:
		*(*BF16)(p) = ToBF16(float32(s.Float64()))
	case Float32:
		*(*float32)(p) = float32(s.Float64())
	case Float64:
		*(*float64)(p) = s.Float64()
	case Complex64:
		*(*complex64)(p) = complex64(s.Complex128())
	case Complex128:
		*(*complex128)(p) = s.Complex128()
	case Complex32:
		*(*[2]F16)(p) = [2]F16{ToF16(float32(s.real())), ToF16(float32(s.imag))}
	}
}

// IsContiguous reports whether the elements lie in row-major order without gaps.
func (t *Tensor) IsContiguous() bool {
	step := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if n := t.shape[i]; n != 1 {
			if n != 0 && t.strides[i] != step {
				return t.numel == 0
			}
			step *= n
		}
	}
	return true
}

// IsContiguousFormat reports whether the elements lie without gaps in the order of a memory format.
func (t *Tensor) IsContiguousFormat(format MemoryFormat) bool {
	switch format {
	case ChannelsLast, ChannelsLast3D:
		if len(t.shape) != int(format)+2 {
			return false
		}
		step := 1
		for _, d := range channelsLastOrder(len(t.shape)) {
			if n := t.shape[d]; n != 1 {
				if t.strides[d] != step {
					return false
				}
				step *= n
			}
		}
		return true
	}
	return t.IsContiguous()
}

// SuggestedFormat is the memory format that the strides are taken for: one with the channels last where they grow in its order and could not be
// those of a contiguous image of one pixel or of one channel, the contiguous format otherwise, whether the tensor is contiguous or not.
func (t *Tensor) SuggestedFormat() MemoryFormat {
	format := ChannelsLast
	if len(t.shape) == 5 {
		format = ChannelsLast3D
	} else if len(t.shape) != 4 {
		return ContiguousFormat
	}
	least := 0
	for i, d := range channelsLastOrder(len(t.shape)) {
		stride := t.strides[d]
		if t.shape[d] == 0 || stride < least || i == 0 && stride == 0 || d == 0 && least == t.strides[1] {
			return ContiguousFormat
		}
		least = stride * t.shape[d]
	}
	return format
}

// channelsLastOrder returns the dimensions from the one that varies fastest.
func channelsLastOrder(n int) []int {
	if n == 4 {
		return []int{1, 3, 2, 0}
	}
	return []int{1, 4, 3, 2, 0}
}

// IsNonOverlappingAndDense reports whether the elements fill a block of memory exactly once, in any order of dimensions.
func (t *Tensor) IsNonOverlappingAndDense() bool {
	if t.IsContiguous() {
		return true
	}
	var used [64]bool
	if len(t.shape) > len(used) {
		return false
	}
	for step := 1; ; {
		found := false
		for d, n := range t.shape {
			if !used[d] && n != 1 && t.strides[d] == step {
				used[d], found = true, true
				step *= n
				break
			}
		}
		if !found {
			break
		}
	}
	for d, n := range t.shape {
		if n != 1 && !used[d] {
			return false
		}
	}
	return true
}

// SharesStorage reports whether the tensors view one storage.
func (t *Tensor) SharesStorage(u *Tensor) bool { return t.storage == u.storage }

// Set makes t view what u views. Writes of t go on being counted from where they were, apart from those of u.
func (t *Tensor) Set(u *Tensor) {
	if t.storage != u.storage {
		t.countApart(t.Version())
	}
	u.storage.refs.Add(1)
	t.storage.refs.Add(-1)
	t.storage, t.offset, t.numel, t.dtype, t.device, t.quantizer = u.storage, u.offset, u.numel, u.dtype, u.device, u.quantizer
	t.setShape(u.shape)
	copy(t.strides, u.strides)
}

// SetGeometry changes the sizes and strides in place; it fails where they reach outside the storage.
func (t *Tensor) SetGeometry(offset int, shape, strides []int) error {
	if len(shape) != len(strides) {
		return runtimeError("mismatch in length of strides and shape")
	}
	if _, err := Numel(shape); err != nil {
		return err
	}
	if err := checkBounds(t.storage, offset, shape, strides, t.dtype); err != nil {
		return err
	}
	shape, strides = append([]int(nil), shape...), append([]int(nil), strides...)
	t.offset = offset
	t.setShape(shape)
	copy(t.strides, strides)
	t.fixNumel()
	return nil
}

// Resize changes the shape in place to a contiguous one, growing the storage where needed.
func (t *Tensor) Resize(shape []int) error {
	numel, err := Numel(shape)
	if err != nil {
		return err
	}
	if SameShape(shape, t.shape) {
		return nil
	}
	if t.device.Type != Meta {
		if numel > maxElements-t.offset {
			return overflowError(shape)
		}
		if err := t.storage.Resize((t.offset + numel) * t.dtype.Size()); err != nil {
			return err
		}
	}
	t.setShape(append([]int(nil), shape...))
	t.numel = numel
	fillContiguousStrides(t.strides, t.shape)
	return nil
}
