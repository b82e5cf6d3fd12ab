package abi

import (
	"fmt"
	"math"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// castScalar converts an object that is no Python number or text of the wanted type, as a call from Python allows: a
// tensor of one element, an object that converts itself, anything with a truth value. ok is false where it does not.
func castScalar(w *Word, k types.Kind) (v value.Value, ok bool, err error) {
	if t := w.Tensor(); t != nil {
		return castTensor(t, k)
	}
	switch {
	case k == types.KindString:
		return value.Str(strings.Clone(w.Text())), w.Kind() == KindBytes, nil
	case k == types.KindBool && IsNumber(w):
		return value.Bool(ScalarOf(w).Bool()), true, nil
	case k == types.KindBool && w.Kind() == KindNone:
		return value.Bool(false), true, nil
	}
	o := w.Object()
	if o == nil {
		return value.None, false, nil
	}
	err = Host.Invoke("cast", 2, func(out *Writer) {
		out.Object(o)
		out.String(castNames[k])
	}, func(answer *Word) error {
		if answer.Kind() != KindNone {
			v, ok = programScalarOf(answer, k)
		}
		return nil
	})
	return v, ok, err
}

// castNames are the kinds of numbers that Python objects say they are.
var castNames = map[types.Kind]string{types.KindInt: "int", types.KindFloat: "float", types.KindBool: "bool", types.KindComplex: "complex"}

// castTensor is the number that a tensor of one element holds.
func castTensor(t *tensor.Tensor, k types.Kind) (value.Value, bool, error) {
	if t.Numel() != 1 {
		return value.None, false, nil
	}
	s, err := ItemOf(t)
	if err != nil {
		return value.None, false, err
	}
	x := value.OfScalar(s)
	if x.Kind() == value.KindComplex && k != types.KindComplex && k != types.KindBool {
		return value.None, false, nil
	}
	switch k {
	case types.KindInt:
		f := s.Float64()
		return value.Int(s.Int64()), !math.IsNaN(f) && math.Abs(f) < 1<<63, nil
	case types.KindFloat:
		return value.Float(s.Float64()), true, nil
	case types.KindBool:
		return value.Bool(s.Bool()), true, nil
	case types.KindComplex:
		return value.Complex(s.Complex128()), true, nil
	}
	return value.None, false, nil
}

// CastFailure says why an argument is no value of a type, as the last line of the error has it in PyTorch.
func CastFailure(w *Word, t types.Type) string {
	switch t := t.(type) {
	case *types.Optional:
		return CastFailure(w, t.Elem)
	case *types.Tuple:
		return tupleFailure(w, t)
	case *types.List:
		if w.IsSequence() {
			for x := range w.Items {
				if _, ok, err := ProgramValue(x, t.Elem); !ok && err == nil && t.Elem.Kind() != types.KindTensor {
					return CastFailure(x, t.Elem)
				}
			}
		}
	case *types.Union:
		if v, err := PlainValue(w); err == nil {
			return castDetails + fmt.Sprintf("Expected a member of %s but instead found type %s", t.Annotation(nil), value.TypeOf(v).Annotation(nil))
		}
	case *types.Class:
		if len(t.Attributes) > 0 && !t.IsModule {
			return castDetails + fmt.Sprintf("Tried to cast object to type %s but object was missing attribute %s", types.Repr(t), t.Attributes[0].Name)
		}
	}
	if t.Kind() == types.KindNone {
		return castDetails + "Cannot cast " + Describe(w).text + " to None"
	}
	if t.Kind() == types.KindTensor {
		return castDetails + "Unable to cast " + Describe(w).text + " to Tensor"
	}
	return castDetails + noCast
}

const (
	castDetails = "Cast error details: "
	noCast      = "Unable to cast Python instance to C++ type (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
)

func tupleFailure(w *Word, t *types.Tuple) string {
	if !w.IsSequence() && w.Kind() != KindString {
		return fmt.Sprintf(" Python error details: TypeError: '%s' object is not iterable", Describe(w).TypeName)
	}
	if w.IsSequence() && w.Count() != len(t.Elems) {
		return castDetails + fmt.Sprintf("Object %s had a different number of elements than type %s", Describe(w).text, t.Annotation(nil))
	}
	if w.IsSequence() {
		i := 0
		for x := range w.Items {
			if _, ok, err := ProgramValue(x, t.Elems[i]); !ok && err == nil {
				return CastFailure(x, t.Elems[i])
			}
			i++
		}
	}
	return castDetails + noCast
}

// Description is what messages say of a Python object.
type Description struct{ TypeName, Repr, text, ArgumentName string } // ArgumentName is that of the type where it is an operator's argument

// Describe asks Python what messages say of an object.
func Describe(w *Word) (d Description) {
	err := Host.Invoke("describe", 1, func(out *Writer) { out.Copy(w) }, func(answer *Word) error {
		parts := []*string{&d.TypeName, &d.Repr, &d.text, &d.ArgumentName}
		i := 0
		for x := range answer.Items {
			*parts[i] = strings.Clone(x.Text())
			i++
		}
		return nil
	})
	if err != nil { // its repr fails
		d = Description{kindNames[w.Kind()], "?", "?", kindNames[w.Kind()]}
	}
	return d
}
