// Package value holds the values that compiled programs compute with.
//
// A Value is 16 bytes: a pointer and 64 bits. Scalars need no allocation: their pointer is one of
// a few fixed addresses that tell the kind and the bits are the payload. For everything else the
// pointer is the object and the low byte of the bits is the kind. The zero Value is None. The
// layout is private; the rest of the program uses the constructors and accessors.
package value

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Kind tells values apart.
type Kind uint8

// The kinds of values. Those up to KindDevice are scalars.
const (
	KindNone Kind = iota
	KindBool
	KindInt
	KindFloat
	KindDevice
	KindEmptyString
	KindUninitialized
	numScalarKinds

	KindComplex
	KindString
	KindTensor
	KindList
	KindTuple
	KindDict
	KindObject
	KindEnum
	KindFuture
	KindGenerator
	KindStorage
	KindFunction
	KindCapsule
)

var kindNames = [...]string{
	KindNone: "NoneType", KindBool: "bool", KindInt: "int", KindFloat: "float", KindDevice: "Device",
	KindEmptyString: "str", KindUninitialized: "Uninitialized", KindComplex: "complex", KindString: "str",
	KindTensor: "Tensor", KindList: "list", KindTuple: "tuple", KindDict: "dict", KindObject: "object",
	KindEnum: "enum", KindFuture: "Future", KindGenerator: "Generator", KindStorage: "Storage",
	KindFunction: "function", KindCapsule: "capsule",
}

// String returns the name of the kind as messages show it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Value is a value of a compiled program. Copying it shares what it refers to.
type Value struct {
	ref  unsafe.Pointer
	bits uint64
}

// tags are the addresses that mark scalars: &tags[k] for the kind k.
var tags [numScalarKinds]byte

// None is the value None.
var None = Value{}

// Uninitialized is the value of a name that no path has set.
var Uninitialized = Value{unsafe.Pointer(&tags[KindUninitialized]), 0}

// Int returns an integer.
func Int(i int64) Value { return Value{unsafe.Pointer(&tags[KindInt]), uint64(i)} }

// Float returns a floating-point number.
func Float(f float64) Value { return Value{unsafe.Pointer(&tags[KindFloat]), math.Float64bits(f)} }

// Bool returns a truth value.
func Bool(b bool) Value {
	v := Value{unsafe.Pointer(&tags[KindBool]), 0}
	if b {
		v.bits = 1
	}
	return v
}

// Complex returns a complex number.
func Complex(c complex128) Value { return Value{unsafe.Pointer(&c), uint64(KindComplex)} }

// Str returns a string. The bytes are shared, not copied.
func Str(s string) Value {
	if s == "" {
		return Value{unsafe.Pointer(&tags[KindEmptyString]), 0}
	}
	return Value{unsafe.Pointer(unsafe.StringData(s)), uint64(len(s))<<8 | uint64(KindString)}
}

// OfDevice returns a device.
func OfDevice(d tensor.Device) Value {
	return Value{unsafe.Pointer(&tags[KindDevice]), uint64(d.Type)<<8 | uint64(d.Index()+1)}
}

// OfTensor returns a tensor; nil is None.
func OfTensor(t *tensor.Tensor) Value {
	if t == nil {
		return None
	}
	return Value{unsafe.Pointer(t), uint64(KindTensor)}
}

// OfScalar returns a number or a truth as a value of its kind.
func OfScalar(s tensor.Scalar) Value {
	switch s.Kind {
	case tensor.BoolScalar:
		return Bool(s.Bool())
	case tensor.IntScalar:
		return Int(s.Int64())
	case tensor.FloatScalar:
		return Float(s.Float64())
	}
	return Complex(s.Complex128())
}

// Scalar returns the number or the truth that v is; ok reports whether it is one.
func (v Value) Scalar() (s tensor.Scalar, ok bool) {
	switch v.Kind() {
	case KindInt:
		return tensor.Int(v.Int()), true
	case KindFloat:
		return tensor.Float(v.Float()), true
	case KindBool:
		return tensor.Boolean(v.Bool()), true
	case KindComplex:
		return tensor.Complex(v.Complex()), true
	}
	return tensor.Scalar{}, false
}

// OfList returns a list.
func OfList(l *List) Value { return Value{unsafe.Pointer(l), uint64(KindList)} }

// OfTuple returns a tuple.
func OfTuple(t *Tuple) Value { return Value{unsafe.Pointer(t), uint64(KindTuple)} }

// OfDict returns a dictionary.
func OfDict(d *Dict) Value { return Value{unsafe.Pointer(d), uint64(KindDict)} }

// OfObject returns an instance of a class.
func OfObject(o *Object) Value { return Value{unsafe.Pointer(o), uint64(KindObject)} }

// OfEnum returns a member of an enumeration.
func OfEnum(e *Enum) Value { return Value{unsafe.Pointer(e), uint64(KindEnum)} }

// OfFuture returns a future.
func OfFuture(f *Future) Value { return Value{unsafe.Pointer(f), uint64(KindFuture)} }

// OfGenerator returns a random generator; nil is None.
func OfGenerator(g *rng.Generator) Value {
	if g == nil {
		return None
	}
	return Value{unsafe.Pointer(g), uint64(KindGenerator)}
}

// OfStorage returns a storage.
func OfStorage(s *tensor.Storage) Value { return Value{unsafe.Pointer(s), uint64(KindStorage)} }

// OfFunction returns a function as a value.
func OfFunction(f *Function) Value { return Value{unsafe.Pointer(f), uint64(KindFunction)} }

// OfCapsule returns an object that the program only passes on.
func OfCapsule(c *Capsule) Value { return Value{unsafe.Pointer(c), uint64(KindCapsule)} }

// tag is the kind of a scalar; for what v refers to it is no smaller than numScalarKinds.
func (v Value) tag() uintptr { return uintptr(v.ref) - uintptr(unsafe.Pointer(&tags)) }

// Kind returns what v is.
func (v Value) Kind() Kind {
	if v.ref == nil {
		return KindNone
	}
	if tag := v.tag(); tag < uintptr(numScalarKinds) {
		if tag == uintptr(KindEmptyString) {
			return KindString
		}
		return Kind(tag)
	}
	return Kind(v.bits)
}

// IsNone reports whether v is None.
func (v Value) IsNone() bool { return v.ref == nil }

// IsTensor reports whether v is a tensor.
func (v Value) IsTensor() bool {
	return v.bits == uint64(KindTensor) && v.ref != nil && v.tag() >= uintptr(numScalarKinds)
}

// IsInt reports whether v is an integer.
func (v Value) IsInt() bool { return v.ref == unsafe.Pointer(&tags[KindInt]) }

// IsFloat reports whether v is a floating-point number.
func (v Value) IsFloat() bool { return v.ref == unsafe.Pointer(&tags[KindFloat]) }

// IsBool reports whether v is a truth value.
func (v Value) IsBool() bool { return v.ref == unsafe.Pointer(&tags[KindBool]) }

// The accessors below do not check the kind: the caller knows it.

// Int returns the integer that v is.
func (v Value) Int() int64 { return int64(v.bits) }

// Float returns the floating-point number that v is.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// Bool returns the truth value that v is.
func (v Value) Bool() bool { return v.bits != 0 }

// Bits returns the payload of the scalar that v is.
func (v Value) Bits() uint64 { return v.bits }

// SetInt overwrites the integer in *v, which is an integer already.
func (v *Value) SetInt(i int64) { v.bits = uint64(i) }

// SetFloat overwrites the number in *v, which is a floating-point number already.
func (v *Value) SetFloat(f float64) { v.bits = math.Float64bits(f) }

// SetBool overwrites the truth value in *v, which is one already.
func (v *Value) SetBool(b bool) {
	v.bits = 0
	if b {
		v.bits = 1
	}
}

// Complex returns the complex number that v is.
func (v Value) Complex() complex128 { return *(*complex128)(v.ref) }

// Str returns the string that v is.
func (v Value) Str() string { return unsafe.String((*byte)(v.ref), int(v.bits>>8)) }

// Device returns the device that v is.
func (v Value) Device() tensor.Device {
	return tensor.NewDevice(tensor.DeviceType(v.bits>>8), int(v.bits&0xff)-1)
}

// Tensor returns the tensor that v is.
func (v Value) Tensor() *tensor.Tensor { return (*tensor.Tensor)(v.ref) }

// List returns the list that v is.
func (v Value) List() *List { return (*List)(v.ref) }

// Tuple returns the tuple that v is.
func (v Value) Tuple() *Tuple { return (*Tuple)(v.ref) }

// Dict returns the dictionary that v is.
func (v Value) Dict() *Dict { return (*Dict)(v.ref) }

// Object returns the instance that v is.
func (v Value) Object() *Object { return (*Object)(v.ref) }

// Enum returns the enumeration member that v is.
func (v Value) Enum() *Enum { return (*Enum)(v.ref) }

// Future returns the future that v is.
func (v Value) Future() *Future { return (*Future)(v.ref) }

// Generator returns the random generator that v is.
func (v Value) Generator() *rng.Generator { return (*rng.Generator)(v.ref) }

// Storage returns the storage that v is.
func (v Value) Storage() *tensor.Storage { return (*tensor.Storage)(v.ref) }

// Function returns the function that v is.
func (v Value) Function() *Function { return (*Function)(v.ref) }

// Capsule returns the capsule that v is.
func (v Value) Capsule() *Capsule { return (*Capsule)(v.ref) }

// Same reports whether a and b are the same scalar or the same object: Python's `is`.
func Same(a, b Value) bool {
	if a.Kind() == KindString && b.Kind() == KindString {
		return a.Str() == b.Str()
	}
	return a == b
}

// Enum is a member of an enumeration.
type Enum struct {
	Type  *types.Enum
	Index int // in Type.Members
}

// Name returns the member's name.
func (e *Enum) Name() string { return e.Type.Members[e.Index].Name }

// Value returns the member's value.
func (e *Enum) Value() Value { return e.Type.Members[e.Index].Value.(Value) }

// Object is an instance of a script class or a module.
type Object struct {
	Class *types.Class
	Slots []Value // in the order of Class.Attributes
	// Wrapper is what the embedding language keeps for the object, for instance to give the same
	// wrapper each time. Nothing here looks into it.
	Wrapper any
}

// NewObject returns an instance whose slots are all None.
func NewObject(c *types.Class) *Object {
	return &Object{Class: c, Slots: make([]Value, len(c.Attributes))}
}

// Complete gives an object None for the attributes that its class has got after the object was made.
func (o *Object) Complete() {
	for len(o.Slots) < len(o.Class.Attributes) {
		o.Slots = append(o.Slots, None)
	}
}

// Attr returns the named attribute. ok is false where the class has none of that name.
func (o *Object) Attr(name string) (v Value, ok bool) {
	i := o.Class.AttributeIndex(name)
	if i < 0 || i >= len(o.Slots) {
		return None, false
	}
	return o.Slots[i], true
}

// SetAttr sets the named attribute, which the class has.
func (o *Object) SetAttr(name string, v Value) {
	i := o.Class.AttributeIndex(name)
	for len(o.Slots) <= i {
		o.Slots = append(o.Slots, None)
	}
	o.Slots[i] = v
}

// Function is a function used as a value. Target is what it calls, which this package does not
// look into.
type Function struct {
	Name   string
	Target any
}

// Capsule carries an object of the embedding language or a packed parameter.
type Capsule struct {
	Native  bool // Kind names a native class, without types.NativePrefix
	Kind    string
	Content any

	prepared atomic.Pointer[any]
}

// Prepared returns what prepare makes of the content, made once and kept: what an archive holds of an object becomes the object.
func (c *Capsule) Prepared(prepare func(content any) any) any {
	if made := c.prepared.Load(); made != nil {
		return *made
	}
	made := prepare(c.Content)
	c.prepared.CompareAndSwap(nil, &made)
	return *c.prepared.Load()
}

// Future is the result of a call that runs beside its caller, or of one that runs when it is waited for.
type Future struct {
	Type types.Type // of the result
	Lazy bool       // the call runs when it is waited for

	run      func() (Value, error) // of a lazy call
	starting sync.Once

	once   sync.Once
	done   chan struct{}
	waited atomic.Bool
	val    Value
	err    error
}

// NewFuture returns a future that is not done.
func NewFuture(t types.Type) *Future { return &Future{Type: t, done: make(chan struct{})} }

// NewAwait returns a future whose call runs when it is first waited for. Without a call its outcome is to be set.
func NewAwait(t types.Type, run func() (Value, error)) *Future {
	f := NewFuture(t)
	f.Lazy, f.run = true, run
	return f
}

// Complete sets the outcome and wakes all who wait. Only the first call counts.
func (f *Future) Complete(v Value, err error) {
	f.once.Do(func() {
		f.val, f.err = v, err
		close(f.done)
	})
}

// Done is closed when the outcome is set.
func (f *Future) Done() <-chan struct{} { return f.done }

// Waited reports whether a Wait has returned.
func (f *Future) Waited() bool { return f.waited.Load() }

// Wait returns the outcome once it is set. It fails where the one who waits is to end, as long operations do.
func (f *Future) Wait() (Value, error) {
	if f.run != nil {
		f.starting.Do(func() { f.Complete(f.run()) })
	}
	if err := parallel.Await(f.done); err != nil {
		return None, err
	}
	f.waited.Store(true)
	return f.val, f.err
}
