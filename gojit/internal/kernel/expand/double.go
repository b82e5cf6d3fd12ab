package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// divisions are powers and what is left of divisions.
var divisions = map[kernel.Op]expansion{
	kernel.Pow:      {(*expander).pow, 1, 1.25, nil},
	kernel.Rem:      {(*expander).rem, 1, 1, nil},
	kernel.Mod:      {(*expander).mod, 1, 1, nil},
	kernel.FloorDiv: {(*expander).floorDiv, 1, 1, nil},
}

// Functions that serve float32 alone compute in float64: no care is needed for rounding there, and 2**277, the largest
// quotient of two float32, is an ordinary number.

// inDouble computes f with the constants of float64 and returns a value of the type before. Its values
// are converted with double.
func (e *expander) inDouble(f func() kernel.Value) kernel.Value {
	t := e.t
	e.t = tensor.Float64
	y := f()
	e.t = t
	return e.Convert(y, t)
}

func (e *expander) double(x kernel.Value) kernel.Value { return e.Convert(x, tensor.Float64) }

// wideUnary and wideBinary are expansions that compute in float64.
func wideUnary(f func(e *expander, x kernel.Value) kernel.Value) func(e *expander, x, y kernel.Value) kernel.Value {
	return func(e *expander, x, _ kernel.Value) kernel.Value {
		return e.inDouble(func() kernel.Value { return f(e, e.double(x)) })
	}
}

// byType has an expansion of its own for each type.
func byType(single, double func(e *expander, x, y kernel.Value) kernel.Value) func(e *expander, x, y kernel.Value) kernel.Value {
	return func(e *expander, x, y kernel.Value) kernel.Value {
		if e.t == tensor.Float32 {
			return single(e, x, y)
		}
		return double(e, x, y)
	}
}

func wideBinary(f func(e *expander, x, y kernel.Value) kernel.Value) func(e *expander, x, y kernel.Value) kernel.Value {
	return func(e *expander, x, y kernel.Value) kernel.Value {
		return e.inDouble(func() kernel.Value { return f(e, e.double(x), e.double(y)) })
	}
}

// pow is a product or a quotient for some constant exponents, and exp2 for the constant base two.
func (e *expander) pow(x, y kernel.Value) kernel.Value {
	if f, ok := e.constant(y); ok {
		switch f {
		case 2:
			return e.Mul(x, x)
		case 1:
			return x
		case -1:
			return e.Div(e.number(1), x)
		}
	}
	if f, ok := e.constant(x); ok && f == 2 {
		return e.exp2(y)
	}
	if e.t == tensor.Float64 {
		return e.signedPower(x, y, e.limitedPower(x, y))
	}
	return e.inDouble(func() kernel.Value {
		x, y := e.double(x), e.double(y)
		return e.signedPower(x, y, e.shortPower(x, y))
	})
}

// constant returns the number that a value of the type always is.
func (e *expander) constant(x kernel.Value) (f float64, ok bool) {
	in := &e.K.Instrs[x]
	if in.Op != kernel.Const {
		return 0, false
	}
	if e.t == tensor.Float32 {
		return float64(math.Float32frombits(uint32(in.Imm))), true
	}
	return math.Float64frombits(in.Imm), true
}

// Polynomials as good as float32 needs, in float64: log1p(f) = f + f*f*p(f) on [-1/4, 1/2] and exp(r) = p(r) on |r| <= ln2/2, relative
// errors 3.0e-12 and 2.0e-9.
var (
	logShort = []float64{-0.5000000001162457, 0.3333333334523495, -0.2499999702645848, 0.19999993836736016, -0.16666876903293337, 0.14286377431402827,
		-0.12494384834986462, 0.11085491104860133, -0.1004319408477189, 0.09479439813972226, -0.0873843213709211, 0.06147825643746634, -0.021506522472965077}
	expShort = []float64{1.000000000599866, 1.0000000385309433, 0.4999999159419446, 0.16666410243266627, 0.04166828871171108, 0.008375645070763509,
		0.0013835802568678307}
)

// shortPower is exp(y*log(|x|)) as good as float32 needs. The product is zero where y is, or log is, whatever the other factor.
func (e *expander) shortPower(x, y kernel.Value) kernel.Value {
	zero, l := e.number(0), e.logShort(e.Unary(kernel.Abs, x))
	none := e.Binary(kernel.Or, e.Binary(kernel.Eq, l, zero), e.Binary(kernel.Eq, y, zero))
	z := e.clamp(e.Select(none, zero, e.Mul(l, y)), -110, 95) // beyond, float32 has zero and infinity
	n, shifted := e.nearest(z, math.Log2E)
	return e.scale(e.polynomial(e.reduce(z, n, math.Ln2), expShort...), n, shifted)
}

// logShort is log(x) as good as float32 needs.
func (e *expander) logShort(x kernel.Value) kernel.Value {
	k, f := e.decompose(x)
	return e.logLimits(x, e.addParts(e.Fma(e.Mul(f, e.polynomial(f, logShort...)), f, f), k, math.Ln2))
}

// limitedPower is |x| to the power y, with what special numbers make of it.
func (e *expander) limitedPower(x, y kernel.Value) kernel.Value {
	zero, one, infinity := e.number(0), e.number(1), e.number(math.Inf(1))
	a := e.Unary(kernel.Abs, x)
	z := e.expOfProduct(a, y)
	// zero and infinity to a power: nothing where their product with y, as exponents, is negative
	vanishes := e.Binary(kernel.Xor, e.Binary(kernel.Eq, a, zero), e.Binary(kernel.Lt, y, zero))
	limit := e.Select(e.Binary(kernel.Eq, y, y), e.Select(vanishes, zero, infinity), y)
	z = e.Select(e.Binary(kernel.Or, e.Binary(kernel.Eq, a, zero), e.Binary(kernel.Eq, a, infinity)), limit, z)
	z = e.Select(e.Binary(kernel.Or, e.Binary(kernel.Eq, a, one), e.Binary(kernel.Eq, y, zero)), e.Select(e.Binary(kernel.Eq, y, y), one, z), z)
	return e.Select(e.Binary(kernel.Or, e.Binary(kernel.Eq, x, one), e.Binary(kernel.Eq, y, zero)), one, z)
}

// signedPower gives z, a power of |x|, the sign that x and y make, and is undefined where x is negative and y not whole.
func (e *expander) signedPower(x, y, z kernel.Value) kernel.Value {
	zero := e.number(0)
	whole := e.Binary(kernel.Eq, e.Unary(kernel.Trunc, y), y)
	half := e.Mul(y, e.number(0.5))
	odd := e.Binary(kernel.And, whole, e.Binary(kernel.Ne, e.Unary(kernel.Trunc, half), half))
	z = e.Select(odd, e.copySign(z, x), z)
	negative := e.Binary(kernel.And, e.Binary(kernel.Lt, x, zero), e.Binary(kernel.Gt, x, e.number(math.Inf(-1))))
	undefined := e.Binary(kernel.And, negative, e.Unary(kernel.Not, whole))
	return e.Select(undefined, e.number(math.NaN()), z)
}

// rem is the remainder with the sign of x.
func (e *expander) rem(x, y kernel.Value) kernel.Value {
	switch {
	case e.small:
		return e.remainderSmall(x, y)
	case e.t == tensor.Float64:
		return e.remainder64(x, y)
	}
	return wideBinary((*expander).remainder)(e, x, y)
}

// remainderSmall is for quotients below 2**22, of float64 below 2**51. Their rounded whole part is the right one or one too
// many, never one too few, so that what is left of |x| is exact.
func (e *expander) remainderSmall(x, y kernel.Value) kernel.Value {
	a, b := e.Unary(kernel.Abs, x), e.Unary(kernel.Abs, y)
	n := e.Unary(kernel.Trunc, e.Div(a, b))
	e.quotientMustBeSmall(n, b, e.pick(1<<22, 1<<51))
	r := e.Fma(n, e.Neg(b), a)
	return e.copySign(e.Select(e.Binary(kernel.Lt, r, e.number(0)), e.Add(r, b), r), x)
}

// quotientMustBeSmall notes that results are right only where a quotient's magnitude n is below a limit and its divisor's is finite.
func (e *expander) quotientMustBeSmall(n, b kernel.Value, limit float64) {
	small := e.pick(0x1p-126, 0x1p-1022) // of a finite number; infinite ones are not small
	e.mustBeSmall(e.Fma(n, e.number(SmallLimit/limit), e.Mul(b, e.number(small))), SmallLimit)
}

// quotientBits is how much shorter each step of remainder makes the quotient.
const quotientBits = 50

// remainder takes multiples of |y|*2**(50*k) from |x|, for k from 5 to 0: each is less than 2**50 times
// that, and the difference is exact since both started with 24 digits. A multiple may be one too many.
func (e *expander) remainder(x, y kernel.Value) kernel.Value {
	r, b := e.Unary(kernel.Abs, x), e.Unary(kernel.Abs, y)
	inverse := e.Div(e.number(1), b)
	for k := 277 / quotientBits; k >= 0; k-- {
		power := math.Ldexp(1, k*quotientBits)
		n := e.Unary(kernel.Trunc, e.Mul(e.Mul(r, e.number(1/power)), inverse))
		r = e.Fma(n, e.Mul(b, e.number(-power)), r)
	}
	return e.remainderLeft(x, r, b)
}

// remainder64 is remainder where quotients have up to 2098 bits and multiples of |y| may be infinite.
func (e *expander) remainder64(x, y kernel.Value) kernel.Value {
	const most, half = 2098 / quotientBits, 1000
	r, b := e.Unary(kernel.Abs, x), e.Unary(kernel.Abs, y)
	far := e.Mul(b, e.number(math.Ldexp(1, half)))
	for k := most; k >= 0; k-- {
		from, power := b, k*quotientBits
		if power > half {
			from, power = far, power-half
		}
		if power > half {
			from, power = e.Mul(far, e.number(math.Ldexp(1, half))), power-half
		}
		multiple := e.Mul(from, e.number(math.Ldexp(1, power)))
		n := e.Unary(kernel.Trunc, e.Div(r, multiple))
		r = e.Fma(n, e.Neg(e.Binary(kernel.Min, e.number(math.MaxFloat64), multiple)), r)
	}
	return e.remainderLeft(x, r, b)
}

// remainderLeft is the remainder of x by b, of which r differs by b at most.
func (e *expander) remainderLeft(x, r, b kernel.Value) kernel.Value {
	r = e.Select(e.Binary(kernel.Lt, r, e.number(0)), e.Add(r, b), r)
	r = e.Select(e.Binary(kernel.Ge, r, b), e.Sub(r, b), r)
	keeps := e.Binary(kernel.And, e.Binary(kernel.Eq, b, e.number(math.Inf(1))), e.Binary(kernel.Lt, e.Unary(kernel.Abs, x), b))
	return e.Select(keeps, x, e.copySign(r, x))
}

// mod is the remainder, plus y where the signs differ.
func (e *expander) mod(x, y kernel.Value) kernel.Value {
	r := e.rem(x, y)
	return e.Select(e.differs(r, y), e.Add(r, y), r)
}

// differs reports whether r is not zero and has not the sign of y.
func (e *expander) differs(r, y kernel.Value) kernel.Value {
	zero := e.number(0)
	return e.Binary(kernel.And, e.Binary(kernel.Ne, r, zero), e.Binary(kernel.Xor, e.Binary(kernel.Lt, y, zero), e.Binary(kernel.Lt, r, zero)))
}

// floorDiv is Python's floor division, step by step as the evaluator does it.
func (e *expander) floorDiv(x, y kernel.Value) kernel.Value {
	if e.small {
		return e.floorDivSmall(x, y)
	}
	zero, one, quotient := e.number(0), e.number(1), e.Div(x, y)
	r := e.rem(x, y)
	q := e.Div(e.Sub(x, r), y)
	q = e.Select(e.differs(r, y), e.Sub(q, one), q)
	floor := e.Unary(kernel.Floor, q)
	floor = e.Select(e.Binary(kernel.Gt, e.Sub(q, floor), e.number(0.5)), e.Add(floor, one), floor)
	floor = e.Select(e.Binary(kernel.Eq, q, zero), e.copySign(zero, quotient), floor)
	return e.Select(e.Binary(kernel.Eq, y, zero), quotient, floor)
}

// floorDivSmall is for quotients below 2**21, of float64 below 2**50, where the evaluator's steps, each rounded, are off by less than a half and so
// end at the whole number below the exact quotient. The rounded quotient's is that number or one more, which the exact remainder's sign tells.
func (e *expander) floorDivSmall(x, y kernel.Value) kernel.Value {
	quotient, b := e.Div(x, y), e.Unary(kernel.Abs, y)
	e.quotientMustBeSmall(e.Unary(kernel.Abs, quotient), b, e.pick(1<<21, 1<<50))
	floor := e.Unary(kernel.Floor, quotient)
	r := e.Fma(floor, e.Neg(y), x)
	return e.Select(e.differs(r, y), e.Sub(floor, e.number(1)), floor)
}
