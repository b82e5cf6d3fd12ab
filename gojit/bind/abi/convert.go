package abi

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/gpu"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Accepts reports whether an argument can stand for a value of type t where an operator is called
// from Python. size is the length that a single number may stand for, or -1. loose also takes
// numbers for tensors.
func Accepts(w *Word, t types.Type, size int, loose, strict bool) bool {
	switch t.Kind() {
	case types.KindOptional:
		return w.Kind() == KindNone || Accepts(w, t.(*types.Optional).Elem, size, loose, strict)
	case types.KindTensor:
		return w.Tensor() != nil || loose && !strict && IsNumber(w)
	case types.KindInt, types.KindSymInt:
		return w.Kind() == KindInt || w.Kind() == KindBool || loose && IsIntegralScalar(w.Tensor())
	case types.KindFloat:
		return w.Kind() == KindFloat || w.Kind() == KindInt || w.Kind() == KindBool || isPlainScalar(w.Tensor())
	case types.KindComplex, types.KindNumber:
		return IsNumber(w) || isPlainScalar(w.Tensor())
	case types.KindBool:
		return w.Kind() == KindBool
	case types.KindString:
		return w.Kind() == KindString
	case types.KindScalarType:
		_, ok := w.dtype()
		return ok
	case types.KindLayout:
		return IsToken(w, TokenLayout)
	case types.KindMemoryFormat:
		return IsToken(w, TokenMemoryFormat)
	case types.KindDevice:
		return IsToken(w, TokenDevice) || w.Kind() == KindString
	case types.KindGenerator:
		_, ok := w.Content().(*rng.Generator)
		return ok
	case types.KindList:
		return acceptsList(w, t.(*types.List).Elem, size, loose, strict)
	case types.KindAny:
		return true
	case types.KindClass:
		p, ok := w.Content().(*value.Capsule)
		return ok && types.NativePrefix+p.Kind == t.(*types.Class).Name
	}
	return false
}

func acceptsList(w *Word, elem types.Type, size int, loose, strict bool) bool {
	if !w.IsSequence() {
		return size > 0 && Accepts(w, elem, -1, loose, strict)
	}
	for x := range w.Items {
		if !Accepts(x, elem, -1, true, strict) {
			return false
		}
	}
	return true
}

// IsNumber reports whether w is a number of Python's.
func IsNumber(w *Word) bool {
	switch w.Kind() {
	case KindInt, KindFloat, KindBool, KindComplex:
		return true
	}
	return false
}

// dtype returns the element type that a word is, or that the class float, int or bool stands for.
func (w *Word) dtype() (tensor.DType, bool) {
	if w.Kind() == KindObject && w.Count() > 0 {
		return tensor.DType(w.Count() - 1), true
	}
	return tensor.DType(w.Bits), IsToken(w, TokenDType)
}

// IsToken reports whether w is a token of a class.
func IsToken(w *Word, class TokenClass) bool {
	return w.Kind() == KindToken && TokenClass(w.Count()) == class
}

// isPlainScalar reports whether t is a tensor of one element that can stand for its number: no derivative goes through a number.
func isPlainScalar(t *tensor.Tensor) bool {
	return t != nil && t.Dim() == 0 && !t.RequiresGrad() && autograd.Tangent(t) == nil
}

// IsIntegralScalar reports whether t is a tensor of one element that can stand for an int.
func IsIntegralScalar(t *tensor.Tensor) bool {
	return isPlainScalar(t) && (t.DType().IsIntegral() || t.DType() == tensor.Bool)
}

// ToValue converts an argument that accepts has taken.
func ToValue(w *Word, t types.Type, size int) (value.Value, error) {
	switch t.Kind() {
	case types.KindOptional:
		if w.Kind() == KindNone {
			return value.None, nil
		}
		return ToValue(w, t.(*types.Optional).Elem, size)
	case types.KindTensor:
		if x := w.Tensor(); x != nil {
			return value.OfTensor(x), nil
		}
		return value.OfTensor(numberTensor(w)), nil
	case types.KindInt, types.KindSymInt, types.KindFloat, types.KindComplex, types.KindNumber:
		return ToNumber(w, t.Kind())
	case types.KindList:
		return toList(w, t.(*types.List).Elem, size)
	case types.KindDevice:
		return operatorDevice(w)
	case types.KindScalarType:
		d, _ := w.dtype()
		return value.Int(int64(d)), nil
	case types.KindLayout, types.KindMemoryFormat:
		return value.Int(w.Int()), nil
	}
	return PlainValue(w)
}

// operatorDevice reads the device of an operator that Python calls. CUDA fails as in a PyTorch without it where there are no devices.
func operatorDevice(w *Word) (value.Value, error) {
	d := DeviceOfCode(w.Int())
	if w.Kind() == KindString {
		var err error
		if d, err = tensor.ParseDevice(w.Text()); err != nil {
			return value.None, err
		}
	}
	if d.Type == tensor.CUDA {
		if err := CheckCUDA(); err != nil {
			return value.None, err
		}
	}
	return value.OfDevice(d), nil
}

// numberTensor makes the tensor without dimensions that a number stands for.
func numberTensor(w *Word) *tensor.Tensor {
	s := ScalarOf(w)
	return tensor.FromScalar(s, s.ResultDType())
}

// ScalarOf is the number that w is.
func ScalarOf(w *Word) tensor.Scalar {
	switch w.Kind() {
	case KindFloat:
		return tensor.Float(w.Float())
	case KindBool:
		return tensor.Boolean(w.Bool())
	case KindComplex:
		return tensor.Complex(w.complex())
	}
	return tensor.Int(w.Int())
}

// ToNumber converts a number, or a tensor that stands for one, to a number of a kind.
func ToNumber(w *Word, k types.Kind) (value.Value, error) {
	s := ScalarOf(w)
	if t := w.Tensor(); t != nil {
		var err error
		if s, err = ItemOf(t); err != nil {
			return value.None, err
		}
	}
	switch k {
	case types.KindInt, types.KindSymInt:
		return value.Int(s.Int64()), nil
	case types.KindFloat:
		return value.Float(s.Float64()), nil
	case types.KindComplex:
		return value.Complex(s.Complex128()), nil
	}
	return value.OfScalar(s), nil
}

// toList converts a sequence, or a number that stands for size equal ones.
func toList(w *Word, elem types.Type, size int) (value.Value, error) {
	l := value.NewList(types.Unshaped(elem))
	if elem.Kind() == types.KindSymInt {
		l.Elem = types.Int
	}
	if !w.IsSequence() {
		v, err := ToValue(w, elem, -1)
		for range size {
			l.Items = append(l.Items, v)
		}
		return value.OfList(l), err
	}
	l.Items = make([]value.Value, 0, w.Count())
	for x := range w.Items {
		v, err := ToValue(x, elem, -1)
		if err != nil {
			return value.None, err
		}
		l.Items = append(l.Items, v)
	}
	return value.OfList(l), nil
}

// PlainValue converts an argument by what it is itself. It fails for what programs cannot hold.
func PlainValue(w *Word) (value.Value, error) {
	switch w.Kind() {
	case KindNone, KindMissing:
		return value.None, nil
	case KindBool:
		return value.Bool(w.Bool()), nil
	case KindInt:
		return value.Int(w.Int()), nil
	case KindFloat:
		return value.Float(w.Float()), nil
	case KindComplex:
		return value.Complex(w.complex()), nil
	case KindString, KindBytes:
		return value.Str(strings.Clone(w.Text())), nil
	case KindList, KindTuple, KindSize:
		return plainSequence(w)
	case KindDict:
		return plainDict(w)
	case KindToken:
		if IsToken(w, TokenDevice) {
			return value.OfDevice(DeviceOfCode(w.Int())), nil
		}
		return value.Int(w.Int()), nil
	case KindHandle:
		return handleValue(w)
	case KindObject:
		return objectValue(w.Object())
	}
	return value.None, TypeErrorf("a %s cannot be used as a value of a program", w.KindName())
}

// objectValue converts a Python object by what it is: a member of an enumeration, an instance of a script class, a number of a
// class of its own; others stay objects that a program only passes on.
func objectValue(o *Object) (v value.Value, err error) {
	v = value.OfCapsule(&value.Capsule{Kind: "object", Content: o})
	err = Host.Invoke("typed_value", 1, func(out *Writer) { out.Object(o) }, func(answer *Word) (err error) {
		if !answer.IsSequence() { // the object has no type
			return nil
		}
		first := answer.After(1)
		second := first.Next()
		if first.Kind() == KindNone {
			v = value.Int(second.Int())
			return nil
		}
		switch t := Program.Type(first.Text()).(type) {
		case *types.Enum:
			if i := t.MemberIndex(second.Text()); i >= 0 {
				v = value.OfEnum(&value.Enum{Type: t, Index: i})
			}
		case *types.Class:
			if x, ok, _ := programObject(second, t); ok {
				v = x
			}
		}
		return nil
	})
	return v, err
}

func handleValue(w *Word) (value.Value, error) {
	switch x := w.Content().(type) {
	case *tensor.Tensor:
		w.Keep()
		return value.OfTensor(x), nil
	case *rng.Generator:
		return value.OfGenerator(x), nil
	case *value.Object:
		return value.OfObject(x), nil
	case *value.Future:
		return value.OfFuture(x), nil
	case *value.Enum:
		return value.OfEnum(x), nil
	case *value.Capsule:
		return value.OfCapsule(x), nil
	}
	return value.None, TypeErrorf("a %s cannot be used as a value of a program", w.KindName())
}

func plainSequence(w *Word) (value.Value, error) {
	items := make([]value.Value, 0, w.Count())
	for x := range w.Items {
		v, err := PlainValue(x)
		if err != nil {
			return value.None, err
		}
		items = append(items, v)
	}
	if w.Kind() != KindList {
		return value.OfTuple(value.NewTuple(items...)), nil
	}
	elem := types.Tensor
	for i, v := range items {
		t := types.Unshaped(value.TypeOf(v))
		if i > 0 {
			t = types.Unify(elem, t, true, nil)
		}
		elem = t
	}
	return value.OfList(value.NewList(elem, items...)), nil
}

func plainDict(w *Word) (value.Value, error) {
	d := value.NewDict(types.Str, types.Tensor)
	x := w.After(1)
	for i := range w.Count() {
		k, err := PlainValue(x)
		if err != nil {
			return value.None, err
		}
		x = x.Next()
		v, err := PlainValue(x)
		if err != nil {
			return value.None, err
		}
		x = x.Next()
		kt, vt := types.Unshaped(value.TypeOf(k)), types.Unshaped(value.TypeOf(v))
		if i > 0 {
			kt, vt = types.Unify(d.Key, kt, true, nil), types.Unify(d.Elem, vt, true, nil)
		}
		d.Key, d.Elem = kt, vt
		d.Set(k, v)
	}
	return value.OfDict(d), nil
}

// DeviceCode and DeviceOfCode convert between devices and the codes of their tokens.
func DeviceCode(d tensor.Device) int64 { return int64(d.Type)<<8 | int64(d.Index()+1) }

func DeviceOfCode(code int64) tensor.Device {
	return tensor.NewDevice(tensor.DeviceType(code>>8), int(code&0xff)-1)
}

// KeptValue writes a value whose tensors something besides Python holds.
func (w *Writer) KeptValue(v value.Value) error {
	from := len(w.words)
	w.keeping = true
	err := w.Value(v)
	if w.keeping = false; err != nil {
		return err
	}
	for x, end := &w.words[from], &w.words[from:][len(w.words)-from-1]; uintptr(unsafe.Pointer(x)) <= uintptr(unsafe.Pointer(end)); {
		if x.Tensor() != nil {
			x.Keep()
		}
		if x.Kind() == KindString || x.Kind() == KindBytes {
			x = x.Next()
		} else {
			x = x.After(1)
		}
	}
	return nil
}

// Value writes a value of a program.
func (w *Writer) Value(v value.Value) error {
	switch v.Kind() {
	case value.KindNone, value.KindUninitialized:
		w.None()
	case value.KindBool:
		w.Bool(v.Bool())
	case value.KindInt:
		w.Int64(v.Int())
	case value.KindFloat:
		w.Float(v.Float())
	case value.KindComplex:
		w.complex(v.Complex())
	case value.KindString:
		w.String(v.Str())
	case value.KindTensor:
		w.Tensor(v.Tensor())
	case value.KindList:
		return w.Values(KindList, v.List().Items)
	case value.KindTuple:
		return w.tuple(v.Tuple())
	case value.KindDict:
		return w.dict(v.Dict())
	case value.KindDevice:
		w.Token(TokenDevice, DeviceCode(v.Device()))
	case value.KindGenerator:
		w.Handle(HandleGenerator, v.Generator())
	case value.KindEnum:
		return w.enum(v.Enum())
	case value.KindObject:
		return w.instance(v.Object())
	case value.KindFuture:
		w.Handle(handleClassOf(v.Future()), v.Future())
	case value.KindCapsule:
		if o, ok := v.Capsule().Content.(*Object); ok {
			w.Object(o)
			return nil
		}
		if v.Capsule().Native {
			w.Handle(HandleCapsule, v.Capsule())
			return nil
		}
		return RuntimeErrorf("a capsule of kind %q has no Python form", v.Capsule().Kind)
	default:
		return RuntimeErrorf("a %s has no Python form", v.Kind())
	}
	return nil
}

// Values writes values as a list or another sequence.
func (w *Writer) Values(k Kind, items []value.Value) error {
	w.Open(k, len(items))
	first, areTensors := len(w.words), true
	for i, v := range items {
		areTensors = areTensors && v.Kind() == value.KindTensor
		if i%itemsBetweenLooks == itemsBetweenLooks-1 && areTensors {
			if err := interrupted(); err != nil {
				w.giveBack(first)
				return err
			}
		}
		if err := w.Value(v); err != nil {
			return err
		}
	}
	return nil
}

// itemsBetweenLooks is how many tensors of a list are written between two looks for signals.
const itemsBetweenLooks = 1 << 12

// interrupted fails where a signal is to end the call.
func interrupted() (err error) {
	defer source.Catch(&err)
	parallel.Look()
	return nil
}

// tuple writes a tuple, or an instance of the Python class of a named tuple.
func (w *Writer) tuple(t *value.Tuple) error {
	if t.Type == nil || t.Type.Name == "" {
		return w.Values(KindTuple, t.Items)
	}
	class, err := namedTupleClass(t.Type)
	if err != nil {
		return err
	}
	w.Open(KindConstruct, len(t.Items))
	w.Object(class)
	for _, v := range t.Items {
		if err := w.Value(v); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) dict(d *value.Dict) error {
	w.Open(KindDict, d.Len())
	for k, v := range d.All {
		if err := w.Value(k); err != nil {
			return err
		}
		if err := w.Value(v); err != nil {
			return err
		}
	}
	return nil
}

// enum writes a member of the Python enumeration that an enum type came from.
func (w *Writer) enum(e *value.Enum) error {
	class, err := enumClass(e.Type)
	if err != nil {
		return err
	}
	w.Open(KindConstruct, 1)
	w.Object(class)
	return w.Value(e.Value())
}

// instance writes an object of a program: as what the embedding made for it, as an instance of the
// Python class that the program's was compiled from, or as a handle.
func (w *Writer) instance(o *value.Object) error {
	if p, ok := o.Wrapper.(*Object); ok {
		w.Object(p)
		return nil
	}
	if o.Class.IsModule {
		w.Handle(HandleModule, o)
		return nil
	}
	class, err := instanceClass(o.Class)
	if err != nil {
		return err
	}
	if class == nil {
		w.Handle(HandleObject, o)
		return nil
	}
	w.Open(KindConstruct, len(o.Slots))
	w.Object(class)
	for _, v := range o.Slots {
		if err := w.Value(v); err != nil {
			return err
		}
	}
	return nil
}

// RealType is the written type of an argument: where graphs use int for a dtype, that is the dtype.
func RealType(a *schema.Argument) types.Type {
	if a.RealType != nil {
		return a.RealType
	}
	return a.Type
}

// CheckCUDA fails where there is no CUDA device.
func CheckCUDA() error {
	_, err := gpu.Machine().Devices()
	if err == nil {
		return nil
	}
	refused := source.Errorf(source.AssertionError, source.Range{}, "Torch not compiled with CUDA enabled")
	refused.Advice = append(refused.Advice, err.Error())
	return refused
}

// MentionsTensor reports whether a type is that of tensors or has such a part.
func MentionsTensor(t types.Type) bool {
	return t.Kind() == types.KindTensor || slices.ContainsFunc(types.Contained(t), MentionsTensor)
}

// ElementsOf returns how many elements an argument has or asks for.
func ElementsOf(v value.Value) int {
	switch v.Kind() {
	case value.KindTensor:
		return v.Tensor().Numel()
	case value.KindList:
		n := 1
		for _, x := range v.List().Items {
			switch {
			case x.IsTensor():
				n += x.Tensor().Numel()
			case x.IsInt() && x.Int() > 0 && n < 1<<30:
				n *= int(min(x.Int(), 1<<30))
			}
		}
		return n
	}
	return 0
}

// ResultOf writes the result of a method. Something besides Python may hold its tensors, but those that the code has made for its caller,
// and the arguments unless it has kept some.
func (c *Call) ResultOf(result value.Value, args []value.Value, mayKeep bool) error {
	own := interp.Temporaries(result, nil)
	if !mayKeep {
		for _, v := range args {
			if v.IsTensor() && v.Tensor().PyObject() != 0 && !slots[v.Tensor().PyObject()].kept {
				own = append(own, v.Tensor())
			}
		}
	}
	if err := c.KeptValue(result); err != nil {
		return err
	}
	for _, t := range own {
		slots[t.PyObject()].kept = false
	}
	return nil
}
