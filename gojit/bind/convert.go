package bind

import (
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// accepts reports whether an argument can stand for a value of type t where an operator is called
// from Python. size is the length that a single number may stand for, or -1. loose also takes
// numbers for tensors.
func accepts(w *Word, t types.Type, size int, loose, strict bool) bool {
	switch t.Kind() {
	case types.KindOptional:
		return w.kind() == kindNone || accepts(w, t.(*types.Optional).Elem, size, loose, strict)
	case types.KindTensor:
		return w.tensor() != nil || loose && !strict && isNumber(w)
	case types.KindInt, types.KindSymInt:
		return w.kind() == kindInt || w.kind() == kindBool || loose && isIntegralScalar(w.tensor())
	case types.KindFloat:
		return w.kind() == kindFloat || w.kind() == kindInt || w.kind() == kindBool || isPlainScalar(w.tensor())
	case types.KindComplex, types.KindNumber:
		return isNumber(w) || isPlainScalar(w.tensor())
	case types.KindBool:
		return w.kind() == kindBool
	case types.KindString:
		return w.kind() == kindString
	case types.KindScalarType:
		_, ok := w.dtype()
		return ok
	case types.KindLayout:
		return isToken(w, tokenLayout)
	case types.KindMemoryFormat:
		return isToken(w, tokenMemoryFormat)
	case types.KindDevice:
		return isToken(w, tokenDevice) || w.kind() == kindString
	case types.KindGenerator:
		_, ok := w.content().(*rng.Generator)
		return ok
	case types.KindList:
		return acceptsList(w, t.(*types.List).Elem, size, loose, strict)
	case types.KindAny:
		return true
	case types.KindClass:
		p, ok := w.content().(*value.Capsule)
		return ok && types.NativePrefix+p.Kind == t.(*types.Class).Name
	}
	return false
}

func acceptsList(w *Word, elem types.Type, size int, loose, strict bool) bool {
	if !w.isSequence() {
		return size > 0 && accepts(w, elem, -1, loose, strict)
	}
	for x := range w.items {
		if !accepts(x, elem, -1, true, strict) {
			return false
		}
	}
	return true
}

func isNumber(w *Word) bool {
	switch w.kind() {
	case kindInt, kindFloat, kindBool, kindComplex:
		return true
	}
	return false
}

// dtype returns the element type that a word is, or that the class float, int or bool stands for.
func (w *Word) dtype() (tensor.DType, bool) {
	if w.kind() == kindObject && w.count() > 0 {
		return tensor.DType(w.count() - 1), true
	}
	return tensor.DType(w.bits), isToken(w, tokenDType)
}

func isToken(w *Word, class tokenClass) bool {
	return w.kind() == kindToken && tokenClass(w.count()) == class
}

// isPlainScalar reports whether t is a tensor of one element that can stand for its number: no derivative goes through a number.
func isPlainScalar(t *tensor.Tensor) bool {
	return t != nil && t.Dim() == 0 && !t.RequiresGrad() && autograd.Tangent(t) == nil
}

func isIntegralScalar(t *tensor.Tensor) bool {
	return isPlainScalar(t) && (t.DType().IsIntegral() || t.DType() == tensor.Bool)
}

// toValue converts an argument that accepts has taken.
func toValue(w *Word, t types.Type, size int) (value.Value, error) {
	switch t.Kind() {
	case types.KindOptional:
		if w.kind() == kindNone {
			return value.None, nil
		}
		return toValue(w, t.(*types.Optional).Elem, size)
	case types.KindTensor:
		if x := w.tensor(); x != nil {
			return value.OfTensor(x), nil
		}
		return value.OfTensor(numberTensor(w)), nil
	case types.KindInt, types.KindSymInt, types.KindFloat, types.KindComplex, types.KindNumber:
		return toNumber(w, t.Kind())
	case types.KindList:
		return toList(w, t.(*types.List).Elem, size)
	case types.KindDevice:
		return operatorDevice(w)
	case types.KindScalarType:
		d, _ := w.dtype()
		return value.Int(int64(d)), nil
	case types.KindLayout, types.KindMemoryFormat:
		return value.Int(w.int()), nil
	}
	return plainValue(w)
}

// operatorDevice reads the device of an operator that Python calls. CUDA fails as in a PyTorch without it where there are no devices.
func operatorDevice(w *Word) (value.Value, error) {
	d := deviceOfCode(w.int())
	if w.kind() == kindString {
		var err error
		if d, err = tensor.ParseDevice(w.text()); err != nil {
			return value.None, err
		}
	}
	if d.Type == tensor.CUDA {
		if err := checkCUDA(); err != nil {
			return value.None, err
		}
	}
	return value.OfDevice(d), nil
}

// numberTensor makes the tensor without dimensions that a number stands for.
func numberTensor(w *Word) *tensor.Tensor {
	s := wordScalar(w)
	return tensor.FromScalar(s, s.ResultDType())
}

func wordScalar(w *Word) tensor.Scalar {
	switch w.kind() {
	case kindFloat:
		return tensor.Float(w.float())
	case kindBool:
		return tensor.Boolean(w.bool())
	case kindComplex:
		return tensor.Complex(w.complex())
	}
	return tensor.Int(w.int())
}

// toNumber converts a number, or a tensor that stands for one, to a number of a kind.
func toNumber(w *Word, k types.Kind) (value.Value, error) {
	s := wordScalar(w)
	if t := w.tensor(); t != nil {
		var err error
		if s, err = itemOf(t); err != nil {
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
	if !w.isSequence() {
		v, err := toValue(w, elem, -1)
		for range size {
			l.Items = append(l.Items, v)
		}
		return value.OfList(l), err
	}
	l.Items = make([]value.Value, 0, w.count())
	for x := range w.items {
		v, err := toValue(x, elem, -1)
		if err != nil {
			return value.None, err
		}
		l.Items = append(l.Items, v)
	}
	return value.OfList(l), nil
}

// plainValue converts an argument by what it is itself. It fails for what programs cannot hold.
func plainValue(w *Word) (value.Value, error) {
	switch w.kind() {
	case kindNone, kindMissing:
		return value.None, nil
	case kindBool:
		return value.Bool(w.bool()), nil
	case kindInt:
		return value.Int(w.int()), nil
	case kindFloat:
		return value.Float(w.float()), nil
	case kindComplex:
		return value.Complex(w.complex()), nil
	case kindString, kindBytes:
		return value.Str(strings.Clone(w.text())), nil
	case kindList, kindTuple, kindSize:
		return plainSequence(w)
	case kindDict:
		return plainDict(w)
	case kindToken:
		if isToken(w, tokenDevice) {
			return value.OfDevice(deviceOfCode(w.int())), nil
		}
		return value.Int(w.int()), nil
	case kindHandle:
		return handleValue(w)
	case kindObject:
		return objectValue(w.object())
	}
	return value.None, typeErrorf("a %s cannot be used as a value of a program", w.kindName())
}

// objectValue converts a Python object by what it is: a member of an enumeration, an instance of a script class, a number of a
// class of its own; others stay objects that a program only passes on.
func objectValue(o *object) (v value.Value, err error) {
	v = value.OfCapsule(&value.Capsule{Kind: "object", Content: o})
	err = host.invoke("typed_value", 1, func(out *writer) { out.object(o) }, func(answer *Word) (err error) {
		if !answer.isSequence() { // the object has no type
			return nil
		}
		first := answer.after(1)
		second := first.next()
		if first.kind() == kindNone {
			v = value.Int(second.int())
			return nil
		}
		switch t := program.Type(first.text()).(type) {
		case *types.Enum:
			if i := t.MemberIndex(second.text()); i >= 0 {
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
	switch x := w.content().(type) {
	case *tensor.Tensor:
		w.keep()
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
	return value.None, typeErrorf("a %s cannot be used as a value of a program", w.kindName())
}

func plainSequence(w *Word) (value.Value, error) {
	items := make([]value.Value, 0, w.count())
	for x := range w.items {
		v, err := plainValue(x)
		if err != nil {
			return value.None, err
		}
		items = append(items, v)
	}
	if w.kind() != kindList {
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
	x := w.after(1)
	for i := range w.count() {
		k, err := plainValue(x)
		if err != nil {
			return value.None, err
		}
		x = x.next()
		v, err := plainValue(x)
		if err != nil {
			return value.None, err
		}
		x = x.next()
		kt, vt := types.Unshaped(value.TypeOf(k)), types.Unshaped(value.TypeOf(v))
		if i > 0 {
			kt, vt = types.Unify(d.Key, kt, true, nil), types.Unify(d.Elem, vt, true, nil)
		}
		d.Key, d.Elem = kt, vt
		d.Set(k, v)
	}
	return value.OfDict(d), nil
}

// deviceCode and deviceOfCode convert between devices and the codes of their tokens.
func deviceCode(d tensor.Device) int64 { return int64(d.Type)<<8 | int64(d.Index()+1) }

func deviceOfCode(code int64) tensor.Device {
	return tensor.NewDevice(tensor.DeviceType(code>>8), int(code&0xff)-1)
}

// keptValue writes a value whose tensors something besides Python holds.
func (w *writer) keptValue(v value.Value) error {
	from := len(w.words)
	w.keeping = true
	err := w.value(v)
	if w.keeping = false; err != nil {
		return err
	}
	for x, end := &w.words[from], &w.words[from:][len(w.words)-from-1]; uintptr(unsafe.Pointer(x)) <= uintptr(unsafe.Pointer(end)); {
		if x.tensor() != nil {
			x.keep()
		}
		if x.kind() == kindString || x.kind() == kindBytes {
			x = x.next()
		} else {
			x = x.after(1)
		}
	}
	return nil
}

// value writes a value of a program.
func (w *writer) value(v value.Value) error {
	switch v.Kind() {
	case value.KindNone, value.KindUninitialized:
		w.none()
	case value.KindBool:
		w.bool(v.Bool())
	case value.KindInt:
		w.int64(v.Int())
	case value.KindFloat:
		w.float(v.Float())
	case value.KindComplex:
		w.complex(v.Complex())
	case value.KindString:
		w.string(v.Str())
	case value.KindTensor:
		w.tensor(v.Tensor())
	case value.KindList:
		return w.values(kindList, v.List().Items)
	case value.KindTuple:
		return w.tuple(v.Tuple())
	case value.KindDict:
		return w.dict(v.Dict())
	case value.KindDevice:
		w.token(tokenDevice, deviceCode(v.Device()))
	case value.KindGenerator:
		w.handle(handleGenerator, v.Generator())
	case value.KindEnum:
		return w.enum(v.Enum())
	case value.KindObject:
		return w.instance(v.Object())
	case value.KindFuture:
		w.handle(handleFuture, v.Future())
	case value.KindCapsule:
		if o, ok := v.Capsule().Content.(*object); ok {
			w.object(o)
			return nil
		}
		if v.Capsule().Native {
			w.handle(handleCapsule, v.Capsule())
			return nil
		}
		return runtimeErrorf("a capsule of kind %q has no Python form", v.Capsule().Kind)
	default:
		return runtimeErrorf("a %s has no Python form", v.Kind())
	}
	return nil
}

func (w *writer) values(k kind, items []value.Value) error {
	w.open(k, len(items))
	first, areTensors := len(w.words), true
	for i, v := range items {
		areTensors = areTensors && v.Kind() == value.KindTensor
		if i%itemsBetweenLooks == itemsBetweenLooks-1 && areTensors {
			if err := interrupted(); err != nil {
				w.giveBack(first)
				return err
			}
		}
		if err := w.value(v); err != nil {
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
func (w *writer) tuple(t *value.Tuple) error {
	if t.Type == nil || t.Type.Name == "" {
		return w.values(kindTuple, t.Items)
	}
	class, err := namedTupleClass(t.Type)
	if err != nil {
		return err
	}
	w.open(kindConstruct, len(t.Items))
	w.object(class)
	for _, v := range t.Items {
		if err := w.value(v); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) dict(d *value.Dict) error {
	w.open(kindDict, d.Len())
	for k, v := range d.All {
		if err := w.value(k); err != nil {
			return err
		}
		if err := w.value(v); err != nil {
			return err
		}
	}
	return nil
}

// enum writes a member of the Python enumeration that an enum type came from.
func (w *writer) enum(e *value.Enum) error {
	class, err := enumClass(e.Type)
	if err != nil {
		return err
	}
	w.open(kindConstruct, 1)
	w.object(class)
	return w.value(e.Value())
}

// instance writes an object of a program: as what the embedding made for it, as an instance of the
// Python class that the program's was compiled from, or as a handle.
func (w *writer) instance(o *value.Object) error {
	if p, ok := o.Wrapper.(*object); ok {
		w.object(p)
		return nil
	}
	if o.Class.IsModule {
		w.handle(handleModule, o)
		return nil
	}
	class, err := instanceClass(o.Class)
	if err != nil {
		return err
	}
	if class == nil {
		w.handle(handleObject, o)
		return nil
	}
	w.open(kindConstruct, len(o.Slots))
	w.object(class)
	for _, v := range o.Slots {
		if err := w.value(v); err != nil {
			return err
		}
	}
	return nil
}

// realType is the written type of an argument: where graphs use int for a dtype, that is the dtype.
func realType(a *schema.Argument) types.Type {
	if a.RealType != nil {
		return a.RealType
	}
	return a.Type
}
