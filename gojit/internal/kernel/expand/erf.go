package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// errorFunctions are the error function, what it leaves of one, and its inverse.
var errorFunctions = map[kernel.Op]expansion{
	kernel.Erf:    {byType(unaryExpansion((*expander).erf), unaryExpansion((*expander).erfOfDouble)), 2.6, 2.5, nil},
	kernel.Erfc:   {byType(wideUnary((*expander).erfc), unaryExpansion((*expander).erfcOfDouble)), 1, 5, nil},
	kernel.Erfinv: {byType(wideUnary((*expander).erfinv), unaryExpansion((*expander).erfinvDouble)), 1, 3, nil},
}

// For float32, log2(erfc(a)) = a*p(a) on [0, erfLastSingle], where erf has a relative error of 6e-9 from it, and 1 - exp2(r) = r*p(r) for |r| <= 1/2, with
// a relative error of 1.4e-8.
var (
	erfSingle          = []float64{-1.62790704, -0.918447375, -0.148280442, 0.0276483949, 0.000194182896, -0.00236083823, 0.000884973793, -0.000160769108, 1.22272968e-05}
	oneMinusExp2Single = []float64{-0.693147182, -0.240226492, -0.0555036776, -0.0096183056, -0.00133872207, -0.000153844521}
)

// erfLastSingle is beyond where float32 can tell erf from 1.
const erfLastSingle = 3.95

// erf is 1 - exp2(log2(erfc(|x|))), which is (1 - 2**n) + 2**n*(1 - exp2(r)).
func (e *expander) erf(x kernel.Value) kernel.Value {
	a := e.Binary(kernel.Min, e.number(erfLastSingle), e.Unary(kernel.Abs, x))
	w := e.Mul(a, e.halves(a, erfSingle...))
	n, shifted := e.nearest(w, 1)
	r := e.Sub(w, n)
	power := e.power(1, n, shifted)
	y := e.Fma(power, e.Mul(r, e.polynomial(r, oneMinusExp2Single...)), e.Sub(e.number(1), power))
	return e.copySign(y, x)
}

// log(erfc(x)) = slope*x + x*p(x) on [0, 5.95]; erf has a relative error of 5e-18 from it.
const erfSlope = -1.1283791670955126

var (
	erfDouble = []float64{-1.533545961316588e-17, -0.6366197723675875, -0.10277260330153691, 0.019128446998656894, 0.00020919478050639544,
		-0.0016962070807979817, 0.0005901292939479216, -2.589276022682342e-05, -6.445264491477145e-05, 2.9642142011923026e-05,
		-3.2754828495687654e-06, -3.001119553881061e-06, 1.9070941294025388e-06, -4.6816315974608764e-07, -5.3025204074892316e-08,
		9.858937256342058e-08, -4.7964459000941374e-08, 1.5123552614085026e-08, -3.4795901629616683e-09, 6.005100010819679e-10,
		-7.731631386943352e-11, 7.216552196437279e-12, -4.608660116728734e-13, 1.7958121147092725e-14, -3.203558958910921e-16}
)

// erfOfDouble is -expm1(log(erfc(|x|))): the logarithm is smooth and its error matters the less, the larger x.
func (e *expander) erfOfDouble(x kernel.Value) kernel.Value {
	a := e.Binary(kernel.Min, e.number(erfLast), e.Unary(kernel.Abs, x))
	w := e.logErfc(a)
	n, shifted := e.nearest(w, math.Log2E)
	r := e.reduce(w, n, e.ln2(2)...)
	power := e.power(1, n, shifted)
	y := e.Sub(e.fmaNumber(power, -1, e.number(1)), e.Mul(power, e.expm1Reduced(r)))
	return e.copySign(y, x)
}

// erfLast is beyond where float64 can tell erf from 1.
const erfLast = 5.93

// logErfc is log(erfc(a)) for 0 <= a <= erfLast.
func (e *expander) logErfc(a kernel.Value) kernel.Value {
	return e.fmaNumber(a, erfSlope, e.Mul(a, e.halves(a, erfDouble...)))
}

// Polynomials for float32 arguments, computed in float64. log(erfc(x)) = x*p(x) on [0, 10.5], absolute
// error 9.5e-9; erfinv(x) = x*p(s) with s = sqrt(-log(1-x*x)) on [0, 4.05], relative error 2.5e-8.
var (
	erfcWide = []float64{-1.1283786399731328, -0.6366291267321845, -0.1027138897749759, 0.018939172346938985, 0.000579055819369239,
		-0.0021767963856794493, 0.001028650486291182, -0.0003144578500154328, 7.15465530345931e-05, -1.2591382447530347e-05,
		1.7321317331086495e-06, -1.8585544952151144e-07, 1.5381667529467376e-08, -9.616132245141587e-10, 4.3858489612419934e-11,
		-1.3752371326706888e-12, 2.6471776066345413e-14, -2.355411655178492e-16}
	erfinvWide = []float64{0.8862269428498781, 1.003667426244871e-06, 0.23194418513961448, 0.0011283045470300603, 0.002949023627618652,
		0.03792756364215208, -0.10980721061630318, 0.2081628107837946, -0.2866404211922979, 0.28714058464043735, -0.21245282157470877,
		0.11681307390133083, -0.04763938859316443, 0.01430265246717689, -0.00311349521016255, 0.00047764354187452565,
		-4.896145305995446e-05, 3.010874193203424e-06, -8.403866335511659e-08}
)

// erfc is exp(log(erfc(|x|))), or two minus that for negative x.
func (e *expander) erfc(x kernel.Value) kernel.Value {
	a := e.Binary(kernel.Min, e.number(10.5), e.Unary(kernel.Abs, x))
	y := e.exp(e.Mul(a, e.halves(a, erfcWide...)))
	return e.Select(e.Binary(kernel.Lt, x, e.number(0)), e.Sub(e.number(2), y), y)
}

// erfinv is infinite at one.
func (e *expander) erfinv(x kernel.Value) kernel.Value {
	s := e.Unary(kernel.Sqrt, e.Neg(e.logShort(e.Fma(x, e.Neg(x), e.number(1)))))
	y := e.Mul(x, e.halves(e.Binary(kernel.Min, e.number(4.05), s), erfinvWide...))
	pole := e.Binary(kernel.Eq, e.Unary(kernel.Abs, x), e.number(1))
	return e.Select(pole, e.copySign(e.number(math.Inf(1)), x), y)
}
