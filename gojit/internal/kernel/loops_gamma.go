package kernel

import "math"

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

// lgamma is what lgammaDouble expands to; package math's is off by up to twenty units in the last place near 1.2. It is infinite for minus
// infinity, as that is the limit of its poles.
func lgamma(x float64) float64 {
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
	if x < gammaFar {
		return gammaNear(x, x-1)
	}
	return (x-0.5)*(log(x)-1) + horner(1/x, gammaTail)
}

// gammaNear is the logarithm of gamma(z) where 1/2 <= z < gammaFar and u is z-1.
func gammaNear(z, u float64) float64 {
	return u*(u-1)*(horner(z, gammaAbove)/horner(z, gammaBelow)) + 0 // zero has no sign
}

// horner evaluates c[0] + c[1]*x + c[2]*x*x + ...
func horner(x float64, c []float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = sum*x + c[i]
	}
	return sum
}
