package value

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// EqualConstants reports whether two constants are the same to the last bit: a NaN equals itself,
// and 0.0 is not -0.0.
func EqualConstants(a, b Value) bool {
	if a == b {
		return true
	}
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case KindString:
		return a.Str() == b.Str()
	case KindComplex:
		x, y := a.Complex(), b.Complex()
		return math.Float64bits(real(x)) == math.Float64bits(real(y)) && math.Float64bits(imag(x)) == math.Float64bits(imag(y))
	case KindList:
		return types.Equal(a.List().Elem, b.List().Elem) && slices.EqualFunc(a.List().Items, b.List().Items, EqualConstants)
	case KindTuple:
		return slices.EqualFunc(a.Tuple().Items, b.Tuple().Items, EqualConstants)
	case KindTensor:
		return equalTensors(a.Tensor(), b.Tensor())
	case KindDict:
		return equalDicts(a.Dict(), b.Dict())
	}
	return false
}

func equalDicts(a, b *Dict) bool {
	if a.Len() != b.Len() {
		return false
	}
	for k, v := range a.All {
		if w, ok := b.Get(k); !ok || !EqualConstants(v, w) {
			return false
		}
	}
	return true
}

func equalTensors(a, b *tensor.Tensor) bool {
	if a == b {
		return true
	}
	if a.ShownDevice() != b.ShownDevice() || a.DType() != b.DType() || !tensor.SameShape(a.Shape(), b.Shape()) || a.RequiresGrad() != b.RequiresGrad() || !equalQuantizers(a.Quantizer(), b.Quantizer()) {
		return false
	}
	if a.IsSparse() || b.IsSparse() {
		return a.IsSparse() && b.IsSparse() && equalParts(a.Sparse(), b.Sparse())
	}
	x, y := elements(a), elements(b)
	return x != nil && y != nil && string(x) == string(y)
}

// equalParts compares what sparse tensors are made of.
func equalParts(a, b *tensor.Sparse) bool {
	if a.Layout != b.Layout || a.Coalesced != b.Coalesced || a.Plain != nil && !equalTensors(a.Plain, b.Plain) {
		return false
	}
	return (a.Indices == nil || equalTensors(a.Indices, b.Indices)) && equalTensors(a.Values, b.Values)
}

func equalQuantizers(a, b *tensor.Quantizer) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Scale == b.Scale && a.ZeroPoint == b.ZeroPoint && a.Axis == b.Axis && slices.Equal(a.Scales, b.Scales) && slices.Equal(a.ZeroPoints, b.ZeroPoints) && slices.Equal(a.FloatZeros, b.FloatZeros)
}

// elements returns the bytes of a tensor's elements, nil where it has none that can be read.
func elements(t *tensor.Tensor) []byte {
	t, err := t.Resolved()
	switch {
	case err != nil:
		return nil
	case t.Device().Type == tensor.Meta:
		return nil
	case t.Numel() == 0:
		return []byte{}
	}
	if t, err = t.ToDevice(tensor.Device{}); err != nil {
		return nil
	}
	if t, err = t.Contiguous(); err != nil {
		return nil
	}
	size := t.DType().Size()
	return t.Storage().Bytes()[t.Offset()*size:][: t.Numel()*size : t.Numel()*size]
}
