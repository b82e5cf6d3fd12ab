package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// Polynomials for erfc and erfinv of float64, all with relative errors below 2e-16.
var (
	// ErfcScaled is erfc(a) * exp(a*a) * (1+2*a), in (a-ErfcMiddle)/(a+ErfcMiddle), for 0 <= a <= ErfcLast
	ErfcScaled = []float64{1.2530080582697296, -0.13562110612458114, -0.04756229435345093, 0.12964515870275697, -0.11927366341529122,
		0.06830802734413849, -0.02377051491919298, 0.0025293918129270505, 0.0018886903668664655, -0.00077983223866634,
		-0.00010515985619262155, 0.0001250991382265593, 4.949719866841455e-06, -2.0099697485363772e-05, -7.320745529010706e-07,
		3.4701134756991074e-06, 3.5753595821944195e-07, -6.127042493137314e-07, -1.41740363094774e-07, 9.763677173877836e-08,
		4.1068281880720455e-08, -1.0742336889349429e-08, -7.618439931644389e-09, 3.034211200372101e-10, 5.611792024032073e-10}
	// erfinv(x)/x with w = -log(1-x*x): in w-3.125 for w <= 6.25, in sqrt(w)-3.25 for w <= 16, in sqrt(w)-5 beyond
	erfinvNear = []float64{1.6536545626831027, 0.24015818242558834, -0.006033670871426851, -0.0007407025341546431, 0.00018673420801981186,
		-1.3882523393957483e-05, -1.3654691758785656e-06, 4.23478816822246e-07, -2.907039127564132e-08, -4.1126604371632185e-09,
		1.051223377050429e-09, -5.414303283919504e-11, -1.2978805369932565e-11, 2.6305268312595183e-12, -8.07192593899004e-14,
		-4.0020031087558496e-14, 6.521333511502239e-15, -3.94018812230432e-17, -1.2215637192404172e-16, 1.5510787009902526e-17,
		6.075050702072414e-19, -3.4734793888538036e-19, 1.999259988861535e-20, 3.194015548136271e-21, -3.5932028927020693e-22}
	erfinvFar = []float64{3.0838856104922208, 1.0052589676941655, 0.005370914553555033, -0.0037512085082247342, 0.00249144209795696,
		-0.0016882755354488555, 0.0009532893415794137, -0.0003550378137852452, 2.4031512865758357e-05, 6.828711739251955e-05,
		-4.732068066544697e-05, 1.2465028224217455e-05, 2.93257845538535e-06, -3.985705945648173e-06, 1.4815977874022539e-06,
		-2.761716223816241e-08, -2.4549818963339823e-07, 1.3158663683192966e-07, -2.091453334773126e-08, -1.5305397964152548e-08,
		7.680200479077053e-09}
	erfinvLast = []float64{4.849906401408584, 1.0103004648645453, -0.0001387193183793902, -0.00021503011982656274, 7.599527807604776e-05,
		-1.9681770719043677e-05, 4.526052743790951e-06, -9.9302927406069e-07, 2.290516780486715e-07, -6.755650411430056e-08,
		2.9021987809100164e-08, -1.525464535688987e-08, 7.815701028842222e-09, -3.471592786518304e-09, 1.3217356090705066e-09,
		-4.3752073162016196e-10, 6.646144734325842e-11, 4.2883063927487056e-11, -1.968931701962242e-11}
)

// What ErfcScaled is a polynomial of, and up to where.
const (
	ErfcMiddle = 3
	ErfcLast   = 27.4 // erfc is zero from there on
)

// erfcOfDouble is exp(-a*a), computed with the digits that the square loses, times a smooth function of a = |x|; of negative x, two minus
// that.
func (e *expander) erfcOfDouble(x kernel.Value) kernel.Value {
	one, two := e.number(1), e.number(2)
	a := e.Binary(kernel.Min, e.number(ErfcLast), e.Unary(kernel.Abs, x))
	square := e.exactProduct(a, a)
	n, shifted := e.nearest(square.high, -math.Log2E)
	r := e.Sub(e.reduce(e.Neg(square.high), n, e.ln2(2)...), square.low)
	power := e.scale(e.polynomial(r, expDouble...), n, shifted)
	t := e.Div(e.Sub(a, e.number(ErfcMiddle)), e.Add(a, e.number(ErfcMiddle)))
	y := e.Mul(power, e.Div(e.polynomial(t, ErfcScaled...), e.Fma(a, two, one)))
	return e.Select(e.Binary(kernel.Lt, x, e.number(0)), e.Sub(two, y), y)
}

// erfinvDouble takes log(1-x*x) with the digits that the square loses. It is infinite at one.
func (e *expander) erfinvDouble(x kernel.Value) kernel.Value {
	square := e.exactProduct(x, x)
	rest := e.Div(square.low, e.Sub(e.number(1), square.high))
	w := e.Sub(rest, e.log1p(e.Neg(square.high)))
	s := e.Unary(kernel.Sqrt, w)
	y := e.polynomial(e.Sub(s, e.number(5)), erfinvLast...)
	y = e.Select(e.Binary(kernel.Gt, s, e.number(4)), y, e.polynomial(e.Sub(s, e.number(3.25)), erfinvFar...))
	y = e.Select(e.Binary(kernel.Gt, s, e.number(2.5)), y, e.polynomial(e.Sub(w, e.number(3.125)), erfinvNear...))
	pole := e.Binary(kernel.Eq, e.Unary(kernel.Abs, x), e.number(1))
	return e.Select(pole, e.copySign(e.number(math.Inf(1)), x), e.Mul(x, y))
}
