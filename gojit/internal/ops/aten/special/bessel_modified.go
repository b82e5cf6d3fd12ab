package special

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// I0(x) = p(x*x) on [0, 8], relative error 9.0e-19; I0(x)*sqrt(x)/exp(x) = p(24/x - 2) on [8, 24], 6.3e-17, and p(1/x) from 24 on, 7.8e-20.
var (
	besselNear = []float64{1.0, 0.25, 0.015624999999999977, 0.00043402777777779505, 6.781684027771294e-06, 6.781684027919267e-08,
		4.70950279510497e-10, 2.40280756783474e-12, 9.385965799568959e-15, 2.89690891250459e-17, 7.242074008802613e-20,
		1.4967788626378825e-22, 2.5901726908039257e-25, 3.9335526472165213e-28, 4.19920126891896e-31, 8.567000806401797e-34}
	besselMiddle = []float64{0.40331226094986455, 0.0023035452538375974, 6.599074142167183e-05, 4.011770503366027e-06, 4.339392113539536e-07,
		8.000067099052271e-08, 2.0106627220911582e-08, 2.827615498297714e-09, -2.0243175937670997e-09, -1.4463827455176966e-09,
		-2.9240261006230256e-11, 2.8129979703344736e-10, 3.11750148243029e-11, -4.931963510680884e-11, -4.021325315794704e-12, 5.6483631790379975e-12}
	besselFar = []float64{0.3989422804014327, 0.049867785050179296, 0.028050629090492756, 0.029219405404082157, 0.044742191701815495,
		0.09060596555148949, 0.22814808866490183, 0.7025893840105064, 1.9512594747245482, 20.457382217496246, -102.39845643240307, 1210.6164083270144}
)

// bessel0 is the modified Bessel function of order zero and bessel0Scaled that times exp(-|x|): within 4 units in the last place of
// float64, and correctly rounded but for rare cases in smaller types.
var (
	bessel0 = elementwise.New("i0", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return besselOf(b, x[0], false)
	})
	bessel0Scaled = elementwise.New("i0e", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return besselOf(b, x[0], true)
	})
)

// polynomialOf evaluates c[0] + c[1]*x + c[2]*x*x + ...
func polynomialOf(b elementwise.Builder, x elementwise.Element, c []float64) elementwise.Element {
	sum := b.Number(x, c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		sum = b.Fma(sum, x, b.Number(x, c[i]))
	}
	return sum
}

func besselOf(b elementwise.Builder, x elementwise.Element, scaled bool) elementwise.Element {
	t := b.Type(x)
	a := b.Unary(kernel.Abs, b.Convert(x, tensor.Float64))
	a = b.Binary(kernel.Min, b.Number(a, 800), a) // beyond, the result is infinite
	if scaled {
		a = b.Unary(kernel.Abs, b.Convert(x, tensor.Float64))
	}
	number := func(f float64) elementwise.Element { return b.Number(a, f) }
	inverse := b.Div(number(1), a)
	far := b.Select(b.Binary(kernel.Lt, a, number(24)), polynomialOf(b, b.Fma(inverse, number(24), number(-2)), besselMiddle), polynomialOf(b, inverse, besselFar))
	far = b.Div(far, b.Unary(kernel.Sqrt, a))
	near := polynomialOf(b, b.Mul(a, a), besselNear)
	if scaled {
		near = b.Mul(near, b.Exp(b.Neg(a)))
	} else {
		half := b.Exp(b.Mul(a, number(0.5))) // its square overflows last
		far = b.Mul(b.Mul(far, half), half)
	}
	y := b.Select(b.Binary(kernel.Le, a, number(8)), near, far)
	y = b.Select(b.Binary(kernel.Eq, a, a), y, number(math.NaN()))
	return b.Convert(y, t)
}
