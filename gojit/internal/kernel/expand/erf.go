package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// errorFunctions are the error function, what it leaves of one, and its inverse.
var errorFunctions = map[kernel.Op]expansion{
	kernel.Erf:    {byType(unaryExpansion((*expander).erf), unaryExpansion((*expander).erfOfDouble)), 2.5, 2.5, nil},
	kernel.Erfc:   {byType(wideUnary((*expander).erfc), unaryExpansion((*expander).erfcOfDouble)), 1, 5, nil},
	kernel.Erfinv: {byType(wideUnary((*expander).erfinv), unaryExpansion((*expander).erfinvDouble)), 1, 3, nil},
}

// erfPieces are the coefficients of erf((n+t)/erfSteps) in powers of t, |t| <= 1/2, for each n: errors
// below 2.3e-8 of the result. From the end of the last piece on, float32 cannot tell erf from 1.
var erfPieces = [...]kernel.Table{
	{0.0, 0.284857482, 0.534558892, 0.726428628, 0.855664134, 0.931967556, 0.97145766, 0.989372313, 0.996495962, 0.998978794, 0.999737322, 0.999940455, 0.999988079, 0.999997914, 0.999999702, 1},
	{0.291194618, 0.272433519, 0.223096132, 0.159910813, 0.10032703, 0.0550950281, 0.0264826342, 0.0111420285, 0.00410319073, 0.00132261519, 0.000373164017, 9.21553656e-05, 1.99203132e-05, 3.76900493e-06, 6.2418377e-07, 9.04802633e-08},
	{1.74151573e-08, -0.0181429163, -0.0297146868, -0.0319486372, -0.0267261155, -0.0183461271, -0.0105822133, -0.00519427238, -0.00218608277, -0.000792711275, -0.000248491589, -6.74968687e-05, -1.59143146e-05, -3.26135796e-06, -5.81513575e-07, -9.02866049e-08},
	{-0.00646451395, -0.00524264248, -0.00231420901, 0.000705375569, 0.00251911418, 0.00284956861, 0.00223108451, 0.00136698247, 0.000685395324, 0.000287407427, 0.000102049489, 3.09216666e-05, 8.03775674e-06, 1.79905408e-06, 3.47682885e-07, 5.81377471e-08},
	{1.25609188e-06, 0.000572792662, 0.000808311976, 0.000636134238, 0.000258614338, -6.47369889e-05, -0.000208889818, -0.000202578056, -0.000134142741, -6.88767686e-05, -2.87371768e-05, -9.97061761e-06, -2.91548008e-06, -7.24626886e-07, -1.53982143e-07, -2.8093174e-08},
	{0.000127018415, 9.03103719e-05, 3.89925526e-06, -6.42347659e-05, -7.73039137e-05, -4.7962214e-05, -1.11029358e-05, 1.03853099e-05, 1.47764831e-05, 1.0682641e-05, 5.56886107e-06, 2.28380509e-06, 7.64476624e-07, 2.13013308e-07, 4.9999997e-08, 9.96526772e-09},
}

// The pieces begin at multiples of 1/erfSteps, and what exceeds erfEnd counts as erfEnd.
const (
	erfSteps = 3.875
	erfEnd   = 3.995
)

// erf is a polynomial whose coefficients depend on the piece that |x| lies in.
func (e *expander) erf(x kernel.Value) kernel.Value {
	a := e.Binary(kernel.Min, e.number(erfEnd), e.Unary(kernel.Abs, x))
	shift := e.number(e.roundingShift())
	shifted := e.fmaNumber(a, erfSteps, shift)
	t := e.fmaNumber(a, erfSteps, e.Sub(shift, shifted))
	return e.copySign(e.piecewise(e.Bits(shifted), t, erfPieces[:]), x)
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
