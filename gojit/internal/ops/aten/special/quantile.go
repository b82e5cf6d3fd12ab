package special

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The quantile of the normal distribution at p < 1/8 is -(r + g(1/r)), where r is the root of -2*log(p). By intervals of 1/r, mapped to [-1, 1], g has absolute
// errors below 7e-17. Around 1/2 the quantile is p - 1/2 times a polynomial of the square of that, with an absolute error of 1e-16.
var (
	quantileNear = []float64{-0.7464259059509877, -0.1695110977744926, 0.020243135451723036, -0.003334284427459017, 0.0006738854518093313,
		-0.00015861229166613347, 4.153922644417659e-05, -1.1665082304446732e-05, 3.4282078439334e-06, -1.0400392458674633e-06,
		3.2337886758451377e-07, -1.0266294913517485e-07, 3.31758708215345e-08, -1.0838085577974071e-08, 3.599211048330958e-09,
		-1.2756830547257714e-09, 4.3875895898385325e-10, -9.927950836267326e-11, 3.188340651562436e-11, -3.382317238630808e-11,
		1.2314211508208831e-11}
	quantileMiddle = []float64{-0.4488821548541009, -0.11218202878226627, 0.009789477834791767, -0.0013894174557670751, 0.0002656543548408492,
		-6.0181209346939766e-05, 1.5055762207232482e-05, -4.02361332214253e-06, 1.1285964524148491e-06, -3.284931944420459e-07,
		9.840299981917515e-08, -3.0112619025935355e-08, 9.396105952582817e-09, -3.050891433155227e-09, 9.864058193732644e-10, -2.551995099792692e-10,
		8.036473401739015e-11, -5.920773994796752e-11, 2.047418780327036e-11}
	quantileFar = []float64{-0.23282641502928447, -0.10105364974556136, 0.010394963934471695, -0.0021666529079082926, 0.0006403677980698185,
		-0.00022604578320671278, 8.868597751453405e-05, -3.731150203815608e-05, 1.6491548809266033e-05, -7.561506328756172e-06,
		3.565600740918106e-06, -1.7197328848849107e-06, 8.496746731177276e-07, -4.256572493579583e-07, 2.0185896180955036e-07,
		-9.956875452562942e-08, 7.801042374925241e-08, -4.590328123216113e-08, -1.2481644752819542e-08, 1.1800038091527881e-08,
		2.7590395791753924e-08, -1.8000076540533043e-08, -1.0573099145270346e-08, 6.885444179904793e-09, 3.3119392567136595e-09,
		-1.9878075528653318e-09}
	quantileCenter = []float64{2.7266649486974748, 0.26436689143860614, 0.055695000431073734, 0.014631491457871473, 0.004270141163447611,
		0.0013252569264866026, 0.0004282119679808098, 0.00014235230189224384, 4.8332928841216036e-05, 1.6680280444235806e-05, 5.831672638265488e-06,
		2.0603423079365853e-06, 7.343413860647107e-07, 2.639912025678062e-07, 9.543588882771853e-08, 3.4137777038479915e-08, 1.240708454279408e-08,
		5.146346903063894e-09, 1.934279201815637e-09, 2.942419529752268e-10, 9.178576499729974e-11, 2.0200020058082005e-10, 7.829708083684565e-11}
)

// Where the intervals of 1/r begin and end, and the largest square around 1/2.
const (
	quantileLeast  = 0.0258
	quantileLow    = 0.1
	quantileHigh   = 0.22
	quantileMost   = 0.5
	quantileSquare = 0.140625
)

// between evaluates a polynomial of what maps [low, high] to [-1, 1].
func between(b elementwise.Builder, x elementwise.Element, low, high float64, c []float64) elementwise.Element {
	return polynomialOf(b, b.Fma(x, b.Number(x, 2/(high-low)), b.Number(x, -(high+low)/(high-low))), c)
}

// normalQuantile is the inverse of normalCDF.
var normalQuantile = elementwise.New("ndtri", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	p := b.Convert(x[0], tensor.Float64)
	number := func(f float64) elementwise.Element { return b.Number(p, f) }
	isAbove := b.Binary(kernel.Gt, p, number(0.5))
	r := b.Unary(kernel.Sqrt, b.Mul(number(-2), b.Unary(kernel.Log, b.Select(isAbove, b.Sub(number(1), p), p))))
	inverse := b.Div(number(1), r)
	g := b.Select(b.Binary(kernel.Lt, inverse, number(quantileLow)), between(b, inverse, quantileLeast, quantileLow, quantileFar),
		b.Select(b.Binary(kernel.Lt, inverse, number(quantileHigh)), between(b, inverse, quantileLow, quantileHigh, quantileMiddle),
			between(b, inverse, quantileHigh, quantileMost, quantileNear)))
	tail := b.Add(r, g)
	tail = b.Select(isAbove, tail, b.Neg(tail))
	part := b.Sub(p, number(0.5))
	square := b.Mul(part, part)
	center := b.Mul(part, between(b, square, 0, quantileSquare, quantileCenter))
	return b.Convert(b.Select(b.Binary(kernel.Le, square, number(quantileSquare)), center, tail), b.Type(x[0]))
}).OfReals("ndtri_cpu")
