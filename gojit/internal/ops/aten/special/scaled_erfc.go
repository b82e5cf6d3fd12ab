package special

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// scaledErfcOf is exp(a*a) times erfc(a) for float64 from zero on.
func scaledErfcOf(b elementwise.Builder, a elementwise.Element) elementwise.Element {
	number := func(f float64) elementwise.Element { return b.Number(a, f) }
	middle := number(expand.ErfcMiddle)
	near := polynomialOf(b, b.Div(b.Sub(a, middle), b.Add(a, middle)), expand.ErfcScaled)
	near = b.Div(near, b.Fma(a, number(2), number(1)))
	inverse := b.Div(number(1), a)
	far := polynomialOf(b, b.Mul(b.Mul(inverse, inverse), number(-0.5)), farErfc)
	far = b.Mul(far, b.Mul(inverse, number(1/math.SqrtPi)))
	return b.Select(b.Binary(kernel.Le, a, number(expand.ErfcLast)), near, far)
}

// farErfc are the products of the odd numbers below 2*k: exp(a*a)*erfc(a)*a*sqrt(pi) by powers of -1/(2*a*a).
var farErfc = []float64{1, 1, 3, 15, 105, 945, 10395, 135135}

// scaledErfc is e to the power x*x times erfc(x): of negative x, 2*exp(x*x) less that of -x.
var scaledErfc = elementwise.New("erfcx", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	wide := b.Convert(x[0], tensor.Float64)
	number := func(f float64) elementwise.Element { return b.Number(wide, f) }
	right := scaledErfcOf(b, b.Unary(kernel.Abs, wide))
	square := b.Mul(wide, wide)
	power := b.Exp(square)
	lost := b.Fma(wide, wide, b.Neg(square))
	left := b.Sub(b.Mul(number(2), b.Fma(power, lost, power)), right)
	left = b.Select(b.Binary(kernel.Eq, power, number(math.Inf(1))), power, left)
	return b.Convert(b.Select(b.Binary(kernel.Lt, wide, number(0)), left, right), b.Type(x[0]))
}).OfReals("erfcx_cpu")

// logNormalCDF is the logarithm of normalCDF.
var logNormalCDF = elementwise.New("log_ndtr", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	wide := b.Convert(x[0], tensor.Float64)
	number := func(f float64) elementwise.Element { return b.Number(wide, f) }
	half := number(0.5)
	turned := b.Mul(wide, number(math.Sqrt2/2))
	tail := b.Unary(kernel.Log, b.Mul(scaledErfcOf(b, b.Unary(kernel.Abs, turned)), half))
	tail = b.Sub(tail, b.Mul(b.Mul(wide, wide), half))
	rest := b.Unary(kernel.Log1p, b.Mul(b.Unary(kernel.Erfc, turned), number(-0.5)))
	return b.Convert(b.Select(b.Binary(kernel.Lt, wide, number(-1)), tail, rest), b.Type(x[0]))
}).OfReals("log_ndtr_cpu")
