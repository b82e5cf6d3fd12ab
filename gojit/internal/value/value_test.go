package value_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestQuestionsAgreeWithKinds asks of values of all kinds what Kind tells, numbers with the bits of other kinds among them.
func TestQuestionsAgreeWithKinds(t *testing.T) {
	x, err := tensor.Empty([]int{2}, tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	values := []value.Value{
		value.None, value.Uninitialized, value.Bool(true), value.Float(0), value.Complex(1i), value.Str(""), value.Str("a"),
		value.OfTensor(x), value.OfTensor(nil), value.OfList(value.NewList(types.Int)), value.Int(-1),
	}
	for kind := range 64 {
		values = append(values, value.Int(int64(kind)))
	}
	for _, v := range values {
		for _, q := range []struct {
			name string
			says bool
			kind value.Kind
		}{
			{"IsTensor", v.IsTensor(), value.KindTensor}, {"IsInt", v.IsInt(), value.KindInt}, {"IsFloat", v.IsFloat(), value.KindFloat},
			{"IsBool", v.IsBool(), value.KindBool}, {"IsNone", v.IsNone(), value.KindNone},
		} {
			if q.says != (v.Kind() == q.kind) {
				t.Errorf("%s says %v of a value of kind %s", q.name, q.says, v.Kind())
			}
		}
	}
}
