package abi

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ProgramValue converts a Python object to a value of type t, as calling a compiled function does.
// ok is false where the object is no such value.
func ProgramValue(w *Word, t types.Type) (v value.Value, ok bool, err error) {
	switch t := t.(type) {
	case *types.Optional:
		if w.Kind() == KindNone {
			return value.None, true, nil
		}
		return ProgramValue(w, t.Elem)
	case *types.List:
		return programList(w, t)
	case *types.Tuple:
		return programTuple(w, t)
	case *types.Dict:
		return programDict(w, t)
	case *types.Union:
		return programUnion(w, t)
	case *types.Class:
		return programObject(w, t)
	case *types.Interface:
		return implementation(w, t)
	case *types.Enum:
		return programEnum(w, t)
	case *types.Future:
		return programFuture(w, t)
	}
	if v, ok = programScalarOf(w, t.Kind()); ok {
		return v, ok, nil
	}
	switch k := t.Kind(); k {
	case types.KindInt, types.KindFloat, types.KindBool, types.KindComplex, types.KindString:
		return castScalar(w, k)
	case types.KindAny:
		v, err = PlainValue(w)
		return v, err == nil, err
	}
	return v, false, nil
}

// implementation converts an object, a module, or an instance of a Python class that is compiled, which has the methods of an interface. It fails on
// what is of no compiled type.
func implementation(w *Word, t *types.Interface) (value.Value, bool, error) {
	x, ok := w.Content().(*value.Object)
	if !ok && w.Object() != nil {
		x = compiledModule(w)
		if v, err := PlainValue(w); x == nil && err == nil && v.Kind() == value.KindObject {
			x = v.Object()
		}
	}
	if x == nil {
		return value.None, false, RuntimeErrorf("Assigning the object %s to an interface fails because the value is not a TorchScript compatible type, "+
			"did you forget toturn it into a user defined TorchScript class?", Describe(w).text)
	}
	return value.OfObject(x), types.IsSubtype(x.Class, t), nil
}

// programFuture converts the future of a forked call, or one of Python, whose result is waited for: a program could not go on without it.
func programFuture(w *Word, t *types.Future) (v value.Value, ok bool, err error) {
	if f, ok := w.Content().(*value.Future); ok {
		return value.OfFuture(f), f.Lazy == t.Lazy, nil
	}
	o := w.Object()
	if o == nil {
		return value.None, false, nil
	}
	function := "future_result"
	if t.Lazy {
		function = "await_result"
	}
	err = Host.Invoke(function, 1, func(out *Writer) { out.Object(o) }, func(answer *Word) error {
		if !answer.IsSequence() { // the object is no future
			return nil
		}
		result, fits, err := ProgramValue(answer.After(1), t.Elem)
		if ok = fits; fits && err == nil {
			f := value.NewFuture(t.Elem)
			f.Lazy = t.Lazy
			f.Complete(result, nil)
			v = value.OfFuture(f)
		}
		return err
	})
	return v, ok, err
}

// compiledModule is the compiled form of a module of Python; nil where an object is no module, or cannot be compiled.
func compiledModule(w *Word) (x *value.Object) {
	_ = Host.Invoke("compiled_module", 1, func(out *Writer) { out.Copy(w) }, func(answer *Word) error {
		x, _ = answer.Content().(*value.Object)
		return nil
	})
	return x
}

// programScalarOf converts to a type without parts.
func programScalarOf(w *Word, to types.Kind) (value.Value, bool) {
	k := w.Kind()
	switch to {
	case types.KindTensor:
		x := w.Tensor()
		if x != nil {
			w.Keep()
		}
		return value.OfTensor(x), x != nil
	case types.KindInt:
		return value.Int(w.Int()), k == KindInt || k == KindBool || k == KindToken && TokenClass(w.Count()) != TokenDevice
	case types.KindFloat:
		if k == KindInt || k == KindBool {
			return value.Float(float64(w.Int())), true
		}
		return value.Float(w.Float()), k == KindFloat
	case types.KindBool:
		return value.Bool(w.Bool()), k == KindBool
	case types.KindComplex:
		if !IsNumber(w) {
			return value.None, false
		}
		return value.Complex(ScalarOf(w).Complex128()), true
	case types.KindNumber:
		if !IsNumber(w) {
			return value.None, false
		}
		return value.OfScalar(ScalarOf(w)), true
	case types.KindString:
		if k != KindString {
			return value.None, false
		}
		return value.Str(strings.Clone(w.Text())), true
	case types.KindNone:
		return value.None, k == KindNone
	case types.KindDevice:
		if k == KindString {
			d, err := tensor.ParseDevice(w.Text())
			return value.OfDevice(d), err == nil
		}
		return value.OfDevice(DeviceOfCode(w.Int())), IsToken(w, TokenDevice)
	case types.KindGenerator:
		g, ok := w.Content().(*rng.Generator)
		return value.OfGenerator(g), ok
	case types.KindAnyList, types.KindAnyTuple:
		if !w.IsSequence() {
			return value.None, false
		}
		v, err := plainSequence(w)
		return v, err == nil
	}
	return value.None, false
}

func programList(w *Word, t *types.List) (value.Value, bool, error) {
	if held, ok := w.Content().(*value.List); ok {
		return value.OfList(held), types.Equal(held.Elem, t.Elem), nil
	}
	if !w.IsSequence() {
		return programSequence(w, t)
	}
	l := value.NewList(t.Elem)
	l.Items = make([]value.Value, 0, w.Count())
	for x := range w.Items {
		v, ok, err := ProgramValue(x, t.Elem)
		if err != nil || !ok {
			return value.None, false, err
		}
		l.Items = append(l.Items, v)
	}
	return value.OfList(l), true, nil
}

// programSequence makes a list of a Python object that is a sequence.
func programSequence(w *Word, t *types.List) (v value.Value, ok bool, err error) {
	o := w.Object()
	if o == nil {
		return value.None, false, nil
	}
	err = Host.Invoke("sequence", 1, func(out *Writer) { out.Object(o) }, func(answer *Word) (err error) {
		if answer.IsSequence() {
			v, ok, err = programList(answer, t)
		}
		return err
	})
	return v, ok, err
}

func programTuple(w *Word, t *types.Tuple) (value.Value, bool, error) {
	if !w.IsSequence() || w.Count() != len(t.Elems) {
		return value.None, false, nil
	}
	tuple := &value.Tuple{Type: t, Items: make([]value.Value, 0, w.Count())}
	for x := range w.Items {
		v, ok, err := ProgramValue(x, t.Elems[len(tuple.Items)])
		if err != nil || !ok {
			return value.None, false, err
		}
		tuple.Items = append(tuple.Items, v)
	}
	return value.OfTuple(tuple), true, nil
}

func programDict(w *Word, t *types.Dict) (value.Value, bool, error) {
	if held, ok := w.Content().(*value.Dict); ok {
		return value.OfDict(held), types.Equal(held.Key, t.Key) && types.Equal(held.Elem, t.Value), nil
	}
	if w.Kind() != KindDict {
		return value.None, false, nil
	}
	d := value.NewDict(t.Key, t.Value)
	x := w.After(1)
	for range w.Count() {
		k, ok, err := ProgramValue(x, t.Key)
		if err != nil || !ok {
			return value.None, false, err
		}
		x = x.Next()
		v, ok, err := ProgramValue(x, t.Value)
		if err != nil || !ok {
			return value.None, false, err
		}
		x = x.Next()
		d.Set(k, v)
	}
	return value.OfDict(d), true, nil
}

// programUnion takes the member that the object is. Only containers are converted.
func programUnion(w *Word, t *types.Union) (value.Value, bool, error) {
	if IsNumber(w) || w.Kind() == KindString || w.Kind() == KindNone {
		v, err := PlainValue(w)
		if err != nil {
			return value.None, false, err
		}
		for _, e := range t.Elems {
			if value.Conforms(v, e) {
				return v, true, nil
			}
		}
		return value.None, false, nil
	}
	for _, e := range t.Elems {
		switch e.Kind() {
		case types.KindInt, types.KindFloat, types.KindBool, types.KindComplex, types.KindString:
			continue
		}
		v, ok, err := ProgramValue(w, e)
		if _, isInterface := e.(*types.Interface); isInterface && err != nil {
			continue // the object may be of another type
		}
		if ok || err != nil {
			return v, ok, err
		}
	}
	return value.None, false, nil
}

// programObject takes an object of the program, or makes one of the attributes of a Python object, which may be of another class.
func programObject(w *Word, t *types.Class) (value.Value, bool, error) {
	if x, ok := w.Content().(*value.Object); ok {
		return value.OfObject(x), x.Class == t, nil
	}
	if x, ok := w.Content().(*value.Capsule); ok {
		return value.OfCapsule(x), types.NativePrefix+x.Kind == t.Name, nil
	}
	o := w.Object()
	if o == nil || t.IsModule {
		return value.None, false, nil
	}
	if _, err := frontend.CompileMethods(t); err != nil { // they define the attributes
		return value.None, false, err
	}
	x := value.NewObject(t)
	ok := true
	err := Host.Invoke("attributes", 2, func(out *Writer) {
		out.Object(o)
		out.Open(KindList, len(t.Attributes))
		for _, a := range t.Attributes {
			out.String(a.Name)
		}
	}, func(answer *Word) error {
		if answer.Kind() == KindNone {
			ok = false
			return nil
		}
		i := 0
		for item := range answer.Items {
			v, fits, err := ProgramValue(item, t.Attributes[i].Type)
			if err != nil || !fits {
				ok = false
				return err
			}
			x.Slots[i] = v
			i++
		}
		return nil
	})
	return value.OfObject(x), ok && err == nil, err
}

// programEnum takes a member of the Python enumeration that the type came from.
func programEnum(w *Word, t *types.Enum) (v value.Value, ok bool, err error) {
	o := w.Object()
	if o == nil {
		return value.None, false, nil
	}
	err = Host.Invoke("enum_member", 2, func(out *Writer) {
		out.Object(o)
		out.String(t.Name)
	}, func(answer *Word) error {
		if answer.Kind() != KindString {
			return nil
		}
		if i := t.MemberIndex(answer.Text()); i >= 0 {
			v, ok = value.OfEnum(&value.Enum{Type: t, Index: i}), true
		}
		return nil
	})
	return v, ok, err
}
