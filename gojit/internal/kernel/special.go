package kernel

import "math"

var specials = map[Op]function{
	Erf:     {"erf", math.Erf, nil},
	Erfc:    {"erfc", math.Erfc, nil},
	Erfinv:  {"erfinv", math.Erfinv, nil},
	Lgamma:  {"lgamma", logAbsGamma, nil},
	Digamma: {"digamma", digamma, nil},
}

// GammaFar is from where on log(gamma(z)) is a series in 1/z.
const GammaFar = 3

var (
	// GammaTail holds the coefficients of log(gamma(z)) - (z-1/2)*(log(z)-1) in 1/z for z >= GammaFar, absolute error 6e-18.
	GammaTail = []float64{0.4189385332046727, 0.08333333333333767, -8.446890367955056e-13, -0.0027777777133020432, -2.55757711930914e-09,
		0.0007937111937008684, -9.151023916133338e-07, -0.000585982373669039, -6.328806665890095e-05, 0.001128321162157796,
		-0.0007820547854241434, -0.0011306271776931576, 0.0022046012138003763, -0.001135791813342625}
	// log(gamma(z)) is (z-1)*(z-2) times the quotient of these polynomials for 1/2 <= z <= GammaFar, relative error 5e-17.
	GammaAbove = []float64{2.8314622797684765, 142.44849424382645, 1564.775602695373, 5958.1866718649635, 9270.995796792662, 6190.074959324629,
		1738.6255156998634, 184.066346721089, 5.4151831688989915, 0.009598133309332107}
	GammaBelow = []float64{1.0, 80.83355065901844, 1272.3178508712606, 6717.624929844405, 14474.342209512517, 13784.549311650959, 5911.541217259817,
		1091.7262678140646, 75.57574898225785, 1.3510132742609502}
)

// digamma is the derivative of the logarithm of the gamma function.
func digamma(x float64) float64 {
	if x == 0 {
		return math.Copysign(math.Inf(1), -x)
	}
	result := 0.0
	if x < 0 {
		if x == math.Floor(x) {
			return math.NaN()
		}
		_, fraction := math.Modf(x)
		result = -math.Pi / math.Tan(math.Pi*fraction)
		x = 1 - x
	}
	for ; x < 10; x++ {
		result -= 1 / x
	}
	if x == 10 {
		return result + 2.25175258906672110764
	}
	z := 1 / (x * x)
	tail := z * (1.0/12 - z*(1.0/120-z*(1.0/252-z*(1.0/240-z*(1.0/132-z*(691.0/32760-z/12))))))
	return result + math.Log(x) - 0.5/x - tail
}

// logAbsGamma is what lgammaDouble expands to; package math's is off by up to twenty units in the last place near 1.2. It is infinite for minus
// infinity, as that is the limit of its poles.
func logAbsGamma(x float64) float64 {
	a := math.Abs(x)
	switch nearest := math.RoundToEven(a); {
	case a < 0.5:
		return gammaNear(x+1, x) - log(a)
	case x > 0 || x != x:
		return logGamma(x)
	case a == nearest:
		return math.Inf(1)
	default:
		return log(math.Pi/(a*math.Abs(math.Sin(math.Pi*(a-nearest))))) - logGamma(a)
	}
}

// logGamma is the logarithm of gamma(x) where x >= 1/2.
func logGamma(x float64) float64 {
	if x < GammaFar {
		return gammaNear(x, x-1)
	}
	return (x-0.5)*(log(x)-1) + horner(1/x, GammaTail)
}

// gammaNear is the logarithm of gamma(z) where 1/2 <= z < GammaFar and u is z-1.
func gammaNear(z, u float64) float64 {
	return u*(u-1)*(horner(z, GammaAbove)/horner(z, GammaBelow)) + 0 // zero has no sign
}

// horner evaluates c[0] + c[1]*x + c[2]*x*x + ...
func horner(x float64, c []float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = sum*x + c[i]
	}
	return sum
}
