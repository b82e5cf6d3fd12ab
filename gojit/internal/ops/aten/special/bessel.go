package special

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
)

// Modified Bessel functions of the second kind, Airy's function and the spherical Bessel function.

// besselK returns K of order 0 and 1 at x > 0, times exp(x): by power series for small x, else by Steed's continued fraction.
func besselK(x float64) (k0, k1 float64) {
	if x <= 2 {
		k0, k1 = besselKSeries(x)
		return k0 * math.Exp(x), k1 * math.Exp(x)
	}
	if x > 1e16 { // the fraction of what is left is below what a number holds, and its terms overflow
		k0 = math.Sqrt(math.Pi / (2 * x))
		return k0, k0
	}
	sum, h := steed(x, 0)
	k0 = math.Sqrt(math.Pi/(2*x)) / sum
	return k0, k0 * (x + 0.5 - h) / x
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
		k0, k1 := besselK(x)
		found := k0
		if order == 1 {
			found = k1
		}
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
