package special

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// trigammaOp is the derivative of digamma.
var trigammaOp = elementwise.New("polygamma", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	t, wide := b.Type(x[0]), b.Convert(x[0], tensor.Float64)
	number := func(f float64) elementwise.Element { return b.Number(wide, f) }
	isRight := b.Binary(kernel.Gt, wide, number(0))
	right := trigammaRight(b, b.Select(isRight, wide, b.Sub(number(1), wide)))
	floor := b.Unary(kernel.Floor, wide)
	part := b.Sub(wide, floor)
	part = b.Binary(kernel.Min, part, b.Sub(number(1), part))
	quotient := b.Div(number(math.Pi), b.Unary(kernel.Sin, b.Mul(part, number(math.Pi))))
	left := b.Sub(b.Mul(quotient, quotient), right)
	left = b.Select(b.Binary(kernel.Eq, wide, floor), number(math.Inf(1)), left)
	return b.Convert(b.Select(isRight, right, left), t)
}).OfReals("trigamma")

// trigammaFrom is from where on the expansion by Bernoulli's numbers has all digits.
const trigammaFrom = 9

// trigammaTerms are Bernoulli's numbers 2, 4, ...
var trigammaTerms = []float64{1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510, 43867.0 / 798}

// trigammaRight is trigamma of what is above zero. The sum of 1/(x+k)**2 up to where the expansion begins is one quotient, but for the first, which may overflow.
func trigammaRight(b elementwise.Builder, x elementwise.Element) elementwise.Element {
	number := func(f float64) elementwise.Element { return b.Number(x, f) }
	isNear := b.Binary(kernel.Lt, x, number(trigammaFrom))
	near := b.Binary(kernel.Min, x, number(trigammaFrom))
	above, below := number(0), number(1)
	for k := 1; k < trigammaFrom; k++ {
		shifted := b.Add(near, number(float64(k)))
		square := b.Mul(shifted, shifted)
		above, below = b.Fma(above, square, below), b.Mul(below, square)
	}
	one := b.Div(number(1), near)
	sum := b.Fma(one, one, b.Div(above, below))
	inverse := b.Div(number(1), b.Select(isNear, b.Add(near, number(trigammaFrom)), x))
	square := b.Mul(inverse, inverse)
	far := b.Mul(inverse, b.Fma(square, polynomialOf(b, square, trigammaTerms), b.Fma(inverse, number(0.5), number(1))))
	return b.Select(isNear, b.Add(sum, far), far)
}
