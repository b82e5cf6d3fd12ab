package special

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
)

// Airy's function and the spherical Bessel function.

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
	mapping("special_airy_ai", airy, form{entry: "airy_ai"}),
	mapping("special_spherical_bessel_j0", sphericalBessel, form{entry: "spherical_bessel_j0"}),
}
