package special

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// besselSecond is a modified Bessel function of the second kind: up to 2 by its power series, in y = x*x/4, and far(4/x - 1)*exp(-x)/sqrt(x) from there on.
type besselSecond struct {
	order int
	far   []float64
}

// relative errors 1.3e-17 and 2.0e-17
var (
	second0 = besselSecond{0, []float64{1.2185953385133905, -0.03107146182488952, 0.0030328918102753206, -0.0004797690567662314, 9.95605474202942e-05, -2.4735204561466906e-05,
		7.002245645755651e-06, -2.191177788015528e-06, 7.427801232190096e-07, -2.6890662472901614e-07, 1.02954317593912e-07, -4.133923052104385e-08, 1.7047535884249698e-08,
		-7.286380907337665e-09, 3.808399859919043e-09, -1.9309444875845705e-09, 4.757544705776374e-11, 1.7887095838476482e-10, 8.133913205464114e-10, -5.541051446065683e-10,
		-3.119936129682105e-10, 2.213758097591008e-10, 1.0926983537268735e-10, -6.910453875670571e-11}}
	second1 = besselSecond{1, []float64{1.363151890371342, 0.10334973775386523, -0.005566729880074588, 0.0007357241549081501, -0.00013959021956272223, 3.284386555825453e-05,
		-8.961207387750025e-06, 2.730041433569803e-06, -9.067087633371393e-07, 3.2298119177151824e-07, -1.2203186351938403e-07, 4.8461952200091865e-08, -1.9817577141591116e-08,
		8.40938756536177e-09, -4.331939985658629e-09, 2.1757782025837176e-09, -8.336227195991456e-11, -1.7982138496175016e-10, -8.908596710923906e-10, 6.042482293782838e-10,
		3.3867804167808003e-10, -2.399376595899464e-10, -1.1931668393112158e-10, 7.52479548635394e-11}}
)

var (
	besselK0       = second0.operator("modified_bessel_k0", false)
	besselK0Scaled = second0.operator("scaled_modified_bessel_k0", true)
	besselK1       = second1.operator("modified_bessel_k1", false)
	besselK1Scaled = second1.operator("scaled_modified_bessel_k1", true)
)

// secondRecords are those of the functions of the second kind.
var secondRecords = []ops.Def{
	{Name: "special_modified_bessel_k0", Into: elementwise.Into(onTensor(besselK0))},
	{Name: "special_modified_bessel_k1", Into: elementwise.Into(onTensor(besselK1))},
	{Name: "special_scaled_modified_bessel_k0", Into: elementwise.Into(onTensor(besselK0Scaled))},
	{Name: "special_scaled_modified_bessel_k1", Into: elementwise.Into(onTensor(besselK1Scaled))},
}

// nearTerms is how many terms of the power series count up to 2.
const nearTerms = 15

// near returns the coefficients by powers of y of what log(x/2) is multiplied with, the function of the first kind, and of what is beside it; for order 1 both are
// divided by x/2.
func (f *besselSecond) near() (first, beside []float64) {
	const gamma = 0.57721566490153286
	term, harmonic := 1.0, 0.0 // the sum of the reciprocals up to k
	for k := range nearTerms {
		n := float64(k)
		if k > 0 {
			term /= n * (n + float64(f.order))
			harmonic += 1 / n
		}
		mean := harmonic
		if f.order == 1 {
			mean += 0.5 / (n + 1)
		}
		first, beside = append(first, term), append(beside, term*(mean-gamma))
	}
	return first, beside
}

func (f *besselSecond) operator(name string, scaled bool) *elementwise.Operator {
	return elementwise.New(name, ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return f.of(b, x[0], scaled)
	}).OfReals(name + "_cpu")
}

func (f *besselSecond) of(b elementwise.Builder, x elementwise.Element, scaled bool) elementwise.Element {
	t, a := b.Type(x), b.Convert(x, tensor.Float64)
	number := func(f float64) elementwise.Element { return b.Number(a, f) }
	first, beside := f.near()
	half := b.Mul(a, number(0.5))
	y, logarithm := b.Mul(half, half), b.Unary(kernel.Log, half)
	near := b.Sub(polynomialOf(b, y, beside), b.Mul(logarithm, polynomialOf(b, y, first)))
	if f.order == 1 {
		near = b.Sub(b.Div(number(1), a), b.Mul(half, near))
	}
	far := b.Div(polynomialOf(b, b.Sub(b.Div(number(4), a), number(1)), f.far), b.Unary(kernel.Sqrt, a))
	if scaled {
		near = b.Mul(near, b.Exp(a))
	} else {
		far = b.Mul(far, b.Exp(b.Neg(a)))
	}
	result := b.Select(b.Binary(kernel.Le, a, number(2)), near, far)
	result = b.Select(b.Binary(kernel.Eq, half, number(0)), number(math.Inf(1)), result)
	return b.Convert(b.Select(b.Binary(kernel.Lt, a, number(0)), number(math.NaN()), result), t)
}
