package special

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
)

// Modified Bessel functions of the second kind, Airy's function and the spherical Bessel function.

// besselK returns K of order 0 or 1 at x > 0, times exp(x): by power series for small x, else by a series of Chebyshev's polynomials.
func besselK(order int, x float64) float64 {
	if x <= 2 {
		k0, k1 := besselKSeries(x)
		if order == 1 {
			k0 = k1
		}
		return k0 * math.Exp(x)
	}
	series := besselK0Large
	if order == 1 {
		series = besselK1Large
	}
	return sumOfChebyshev(series, 4/x-1) / math.Sqrt(x)
}

// exp(x)*sqrt(x)*K(x) for x from 2 on, in Chebyshev's polynomials of 4/x - 1.
var (
	besselK0Large = []float64{
		1.22015154103297773, -0.0314481013119645005, 0.00156988388573005337, -0.000128495495816278026,
		0.0000139498137188764994, -1.83175552271911948e-6, 2.76681363944501508e-7, -4.66048989768794767e-8,
		8.57403401741422609e-9, -1.69753450938906152e-9, 3.57739728140032845e-10, -7.95748924447739704e-11,
		1.85594911495492655e-11, -4.51459788337451918e-12, 1.14034058820734423e-12, -2.98009692314817835e-13,
		8.03289077506837437e-14, -2.22751332674629636e-14, 6.34007647627664597e-15, -1.84859337792090717e-15,
		5.51205599940433336e-16, -1.67823112575490064e-16, 5.21039177764355411e-17, -1.64758059398426328e-17,
		5.30043377117733577e-18}
	besselK1Large = []float64{
		1.36031309524222133, 0.103923736576817238, -0.00285781685962277939, 0.000195215518471351631,
		-0.0000193619797416608296, 2.40648494783721712e-6, -3.50196060308781254e-7, 5.74108412545004929e-8,
		-1.0345762465678097e-8, 2.01504975519703462e-9, -4.19035475934192558e-10, 9.21831518760531413e-11,
		-2.12996783842779102e-11, 5.13963967348234354e-12, -1.28917396094982294e-12, 3.34841966605224312e-13,
		-8.97670518201014607e-14, 2.47715442421959868e-14, -7.01983708921476885e-15, 2.03870316623986088e-15,
		-6.05704727064301782e-16, 1.83809357524304543e-16, -5.68946284919364837e-17, 1.79405104788635729e-17,
		-5.75674448207330245e-18}
)

// sumOfChebyshev sums coefficients times Chebyshev's polynomials of x, by Clenshaw's algorithm.
func sumOfChebyshev(coefficients []float64, x float64) float64 {
	sum, before := 0.0, 0.0
	for i := len(coefficients) - 1; i > 0; i-- {
		sum, before = coefficients[i]-before+2*x*sum, sum
	}
	return coefficients[0] - before + x*sum
}

func besselKSeries(x float64) (k0, k1 float64) {
	const gamma = 0.57721566490153286
	y, logarithm := x*x/4, math.Log(x/2)
	term0, term1, harmonic := 1.0, x/2, 0.0
	for k := 0.0; k < 60; k++ {
		if k > 0 {
			term0 *= y / (k * k)
			term1 *= y / (k * (k + 1))
			harmonic += 1 / k
		}
		k0 += term0 * (harmonic - gamma - logarithm)
		k1 += term1 * (logarithm - (harmonic+harmonic+1/(k+1))/2 + gamma)
		if term0 < 1e-20 { // what follows changes no digit
			break
		}
	}
	return k0, k1 + 1/x
}

// steed evaluates the continued fraction for K of an order below one at x >= 1.
func steed(x, order float64) (sum, h float64) {
	a1 := 0.25 - order*order
	b := 2 * (1 + x)
	d := 1 / b
	h, step := d, d
	q1, q2 := 0.0, 1.0
	q, c, a := a1, a1, -a1
	sum = 1 + q*step
	for i := 2.0; i < 10000; i++ {
		a -= 2 * (i - 1)
		c = -a * c / i
		q1, q2 = q2, (q1-b*q2)/a
		q += c * q2
		b += 2
		d = 1 / (b + a*d)
		step *= b*d - 1
		h += step
		change := q * step
		sum += change
		if math.Abs(change) < math.Abs(sum)*1e-17 {
			break
		}
	}
	return sum, a1 * h
}

// secondKind makes the function of an order, scaled by exp(x) or not.
func secondKind(order int, scaled bool) func(x float64) float64 {
	return func(x float64) float64 {
		switch {
		case x == 0:
			return math.Inf(1)
		case x < 0 || math.IsNaN(x):
			return math.NaN()
		case math.IsInf(x, 1):
			return 0
		}
		found := besselK(order, x)
		if scaled {
			return found
		}
		return found * math.Exp(-x)
	}
}

// airy is Ai(x): from K of order 1/3 to the right of 2, an asymptotic series to the left of -8, and its power series between.
func airy(x float64) float64 {
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x):
		return math.NaN()
	case x > 103.892:
		return 0
	case x >= 2:
		z := 2.0 / 3 * x * math.Sqrt(x)
		sum, _ := steed(z, 1.0/3)
		return math.Sqrt(x/3) / math.Pi * math.Sqrt(math.Pi/(2*z)) * math.Exp(-z) / sum
	case x < -8:
		return airyLeft(-x)
	}
	const atZero, slope = 0.35502805388781723926, 0.25881940379280679841
	f, g := 1.0, x
	even, odd := 1.0, x
	cube := x * x * x
	for k := 1.0; k < 200; k++ {
		even *= cube / ((3*k - 1) * 3 * k)
		odd *= cube / (3 * k * (3*k + 1))
		f += even
		g += odd
		if math.Abs(even) < math.Abs(f)*1e-18 && math.Abs(odd) < math.Abs(g)*1e-18 {
			break
		}
	}
	return atZero*f - slope*g
}

func airyLeft(x float64) float64 {
	z := 2.0 / 3 * x * math.Sqrt(x)
	term, even, odd := 1.0, 1.0, 0.0
	for k := 1; k < 30; k++ {
		n := float64(k)
		next := term * (6*n - 5) * (6*n - 1) / (72 * n * z)
		if math.Abs(next) > math.Abs(term) {
			break
		}
		term = next
		switch k % 4 {
		case 1:
			odd += term
		case 2:
			even -= term
		case 3:
			odd -= term
		default:
			even += term
		}
	}
	angle := z + math.Pi/4
	return (math.Sin(angle)*even - math.Cos(angle)*odd) / (math.SqrtPi * math.Sqrt(math.Sqrt(x)))
}

// sphericalBessel is sin(x)/x.
func sphericalBessel(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	if math.Abs(x) < 0.5 {
		y, term, sum := x*x, 1.0, 1.0
		for k := 1.0; k < 12; k++ {
			term *= -y / (2 * k * (2*k + 1))
			sum += term
		}
		return sum
	}
	return math.Sin(x) / x
}

var BesselFamily = []define.Definition{
	mapping("special_modified_bessel_k0", secondKind(0, false)), mapping("special_modified_bessel_k1", secondKind(1, false)),
	mapping("special_scaled_modified_bessel_k0", secondKind(0, true)), mapping("special_scaled_modified_bessel_k1", secondKind(1, true)),
	mapping("special_airy_ai", airy),
	mapping("special_spherical_bessel_j0", sphericalBessel),
}
