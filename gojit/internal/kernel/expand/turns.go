package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// turnWindows are digits of 1/pi for arguments from a power of two on. The first two numbers have 29
// bits, so that products with a float32 are exact in float64; the last has all that float64 holds of
// the rest. The digits before the first have whole pairs of half turns as products.
var turnWindows = []struct {
	from       int // exponent of the smallest argument
	a, b, rest float64
}{
	{math.MinInt, 0x1.45f306ep-2, -0x1.b1bbeadp-33, -0x1.80f62a0b82b2dp-63},
	{54, -0x1.b1bbeadp-33, -0x1.80f62a1p-63, 0x1.1f534ddc0db63p-93},
	{85, -0x1.80f62a1p-63, 0x1.1f534dep-93, -0x1.f924eb53361dep-124},
	{115, 0x1.1f534dep-93, -0x1.f924eb5p-124, -0x1.9b0ef1bef806cp-155},
}

// manyTurns is the reduction of any float32, computed in float64. With steps = x/step + offset it
// returns the angle left after the nearest whole number of steps, and roundingShift plus that number
// modulo two.
//
// Whole steps are taken away from each product before the next is added. What is left is exact where
// it is small, so the digits that a sum loses are always small against the result.
func (e *expander) manyTurns(x kernel.Value, stepsPerHalfTurn, offset float64) (r, shifted kernel.Value) {
	x = e.double(x)
	e.t = tensor.Float64
	a, b, rest := e.turnWindow(x, stepsPerHalfTurn)
	steps := e.Mul(x, a)
	whole := e.Unary(kernel.Round, e.plus(steps, offset))
	left := e.plus(e.Sub(steps, whole), offset)
	left = e.Fma(x, b, left)
	more := e.Unary(kernel.Round, left)
	left = e.Fma(x, rest, e.Sub(left, more))
	whole = e.Add(whole, more)
	odd := e.fmaNumber(e.Unary(kernel.Round, e.Mul(whole, e.number(0.5))), -2, whole)
	angle := e.Mul(left, e.number(math.Pi/stepsPerHalfTurn))
	e.t = tensor.Float32
	return e.Convert(angle, e.t), e.Add(e.Convert(odd, e.t), e.number(e.roundingShift()))
}

// plus adds a number that may be zero.
func (e *expander) plus(x kernel.Value, f float64) kernel.Value {
	if f == 0 {
		return x
	}
	return e.Add(x, e.number(f))
}

// turnWindow chooses the digits for x.
func (e *expander) turnWindow(x kernel.Value, stepsPerHalfTurn float64) (a, b, rest kernel.Value) {
	magnitude := e.Unary(kernel.Abs, x)
	for i, w := range turnWindows {
		wa, wb, wrest := e.number(w.a*stepsPerHalfTurn), e.number(w.b*stepsPerHalfTurn), e.number(w.rest*stepsPerHalfTurn)
		if i == 0 {
			a, b, rest = wa, wb, wrest
			continue
		}
		far := e.Binary(kernel.Ge, magnitude, e.number(math.Ldexp(1/stepsPerHalfTurn, w.from)))
		a, b, rest = e.Select(far, wa, a), e.Select(far, wb, b), e.Select(far, wrest, rest)
	}
	return a, b, rest
}
