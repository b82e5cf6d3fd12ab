package kernel

import "math"

// The functions below give float32 results that are correctly rounded but for rare cases: they
// compute in float64, whose spare digits allow short polynomials without any care for rounding.

// exp64 is e to the power x for |x| < 700, with a relative error below 1e-14.
func exp64(x float64) float64 {
	const roundUp = 3 << 51 // adding and subtracting it rounds to an integer
	k := x*math.Log2E + roundUp
	power := int64(math.Float64bits(k)) << 52 >> 52
	k -= roundUp
	f := x - k*0.693147180369123816490 - k*1.90821492927058770002e-10 // ln 2 in two parts
	p := 1 + f*(1+f*(1.0/2+f*(1.0/6+f*(1.0/24+f*(1.0/120+f*(1.0/720+f*(1.0/5040+f*(1.0/40320+f*(1.0/362880+f*(1.0/3628800+f/39916800))))))))))
	return p * math.Float64frombits(uint64(power+1023)<<52)
}

// Exp32 is e to the power v.
func Exp32(v float32) float32 {
	switch {
	case v > 89:
		return float32(math.Inf(1))
	case v < -104:
		return 0
	case v != v:
		return v
	}
	return float32(exp64(float64(v)))
}

// Tanh32 is the hyperbolic tangent of v.
func Tanh32(v float32) float32 {
	x := float64(v)
	switch {
	case v > 9.1:
		return 1
	case v < -9.1:
		return -1
	case v < 1e-4 && v > -1e-4 || v != v:
		return float32(x - x*x*x/3)
	}
	e := exp64(2 * x)
	return float32((e - 1) / (e + 1))
}

// Log32 is the natural logarithm of v.
func Log32(v float32) float32 {
	if !(v > 0 && v <= math.MaxFloat32) {
		return float32(math.Log(float64(v)))
	}
	b := math.Float64bits(float64(v))
	k := int64(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m, k = m/2, k+1
	}
	s := (m - 1) / (m + 1)
	q := s * s
	p := 2 * s * (1 + q*(1.0/3+q*(1.0/5+q*(1.0/7+q*(1.0/9+q*(1.0/11+q*(1.0/13+q/15)))))))
	return float32(float64(k)*math.Ln2 + p)
}
