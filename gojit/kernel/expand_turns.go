package kernel

import (
	"math"

	"torchjit/gojit/tensor"
)

// manyTurns is the reduction of any float32, computed in float64. With steps = x/step + offset it
// returns the angle left after the nearest whole number of steps, and that number modulo two as
// roundingShift plus it.
//
// Products of x and a part of 1/pi are exact, so multiples of two can be taken away from each
// exactly. Their sum is kept within half a step of zero: then digits lost in a partial sum are always
// small against the result.
func (e *expander) manyTurns(x Value, stepsPerHalfTurn, offset float64) (r, shifted Value) {
	x = e.Convert(x, tensor.Float64)
	e.t = tensor.Float64
	sum, whole := e.number(offset), e.number(0)
	last := len(inversePi) - 1
	for _, part := range inversePi[:last] {
		product := e.Mul(x, e.number(part*stepsPerHalfTurn))
		pairs := e.Unary(Round, e.Mul(product, e.number(0.5)))
		sum = e.Add(sum, e.fmaNumber(pairs, -2, product))
		n := e.Unary(Round, sum)
		sum, whole = e.Sub(sum, n), e.Add(whole, n)
	}
	sum = e.fmaNumber(x, inversePi[last]*stepsPerHalfTurn, sum)
	angle := e.Mul(sum, e.number(math.Pi/stepsPerHalfTurn))
	e.t = tensor.Float32
	return e.Convert(angle, e.t), e.Add(e.Convert(whole, e.t), e.number(e.roundingShift()))
}
