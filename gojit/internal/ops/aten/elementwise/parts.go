package elementwise

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

func squareParts(x define.Composer, a []value.Value) define.Tensors {
	return x.Do("pow.Tensor_Scalar", a[0], 2)
}

func maskedFillParts(x define.Composer, a []value.Value) define.Tensors {
	return x.Do("where.self", a[1], x.Number(a[0].Tensor(), a[2]), a[0])
}

// addingParts is the sum of a tensor and of what an operator makes of two others, times a number.
func addingParts(operator string) ops.Decomposition {
	return define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("add.Tensor", a[0], x.TimesNumber(x.Do(operator, a[1], a[2]), a[3]))
	})
}

var rsubParts = define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
	t, other := a[0].Tensor(), a[1]
	if !other.IsTensor() {
		other = value.OfTensor(x.Number(t, other))
	}
	return x.Do("sub.Tensor", other, x.TimesNumber(t, a[2]))
})

func nanToNumParts(x define.Composer, a []value.Value) define.Tensors {
	t := a[0].Tensor()
	replace := func(is define.Tensors, given value.Value, otherwise float64) {
		if given.IsNone() {
			given = value.Float(otherwise)
		}
		t = x.Do("where.self", is, x.Number(t, given), t)
	}
	replace(x.Do("isnan", t), a[1], 0)
	replace(x.Do("eq.Scalar", t, math.Inf(1)), a[2], largest(t.DType()))
	replace(x.Do("eq.Scalar", t, math.Inf(-1)), a[3], -largest(t.DType()))
	return t
}
