package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// exponentials are powers of e less one or not.
var exponentials = map[kernel.Op]expansion{
	kernel.Exp:   {unaryExpansion((*expander).exp), 1, 1, nil},
	kernel.Expm1: {unaryExpansion((*expander).expm1), 2, 2, nil},
}

// ln2 in parts, of which each holds the digits that the earlier ones lack.
var (
	ln2Single = []float64{0.6931471824645996, -1.9046542121259336e-09}
	ln2Double = []float64{0.6931471805599453, 2.3190468138462996e-17}
)

// Minimax polynomials on |r| <= ln2/2.
var (
	// exp(r) = 1 + r + r*r*p(r), relative errors 3.2e-9 and 4.0e-18
	expSingle = []float64{1, 1, 0.49999994, 0.16666517, 0.041668106, 0.008369138, 0.001383666}
	expDouble = []float64{1, 1, 0.5000000000000011, 0.1666666666666636, 0.04166666666652474, 0.00833333333352915, 0.0013888888945333404,
		0.00019841269429376942, 2.4801491099375452e-05, 2.7557656710526376e-06, 2.7631032495011694e-07, 2.497747030313261e-08}
	// expm1(r) = r + r*r*p(r), relative errors 1.4e-8 and 3.7e-19
	expm1Single = []float64{0.49999997, 0.16666539, 0.041667745, 0.008367068, 0.0013839094}
	expm1Double = []float64{0.5, 0.16666666666666677, 0.041666666666666685, 0.008333333333321785, 0.0013888888888894586, 0.00019841269885393089,
		2.480158727745662e-05, 2.7557245080743827e-06, 2.75573305785048e-07, 2.510871816267732e-08, 2.089367348220458e-09}
)

// ln2 returns the first parts of the logarithm of two.
func (e *expander) ln2(parts int) []float64 {
	return e.table(ln2Single, ln2Double)[:parts]
}

// exp is 2**n * exp(r) with r = x - n*ln2. Beyond the bounds of the clamp the result is 0 or infinite.
func (e *expander) exp(x kernel.Value) kernel.Value {
	reduced, n, shifted := e.reducedExp(x, e.pick(-105, -746), e.pick(89, 710), 1)
	return e.scale(reduced, n, shifted)
}

// reducedExp returns factor*exp(r), n, and n plus roundingShift, for x clamped to [low, high]; factor is a power of two.
func (e *expander) reducedExp(x kernel.Value, low, high, factor float64) (reduced, n, shifted kernel.Value) {
	sign := 1.0
	if in := &e.K.Instrs[x]; in.Op == kernel.Neg { // exp(-y) has -y and -r in place of x and r
		x, low, high, sign = in.Args[0], -high, -low, -1
	}
	x = e.clamp(x, low, high)
	n, shifted = e.nearest(x, sign*math.Log2E)
	r := x
	for _, part := range e.ln2(2) {
		r = e.fmaNumber(n, -sign*part, r)
	}
	var c []float64
	for i, v := range e.table(expSingle, expDouble) {
		if i%2 == 1 {
			v *= sign
		}
		c = append(c, factor*v)
	}
	return e.polynomial(r, c...), n, shifted
}

// logisticOf returns y where an instruction is a quotient by 1 + exp(y), of numbers whose exponential is expanded.
func logisticOf(k *kernel.Kernel, in *kernel.Instr) (y kernel.Value, ok bool) {
	if in.Op != kernel.Div || expansions[kernel.Exp].bound(in.Type) == 0 {
		return 0, false
	}
	sum := &k.Instrs[in.Args[1]]
	if sum.Op != kernel.Add {
		return 0, false
	}
	one, power := &k.Instrs[sum.Args[0]], &k.Instrs[sum.Args[1]]
	if one.Op != kernel.Const {
		one, power = power, one
	}
	if bits, _ := kernel.NumberBits(in.Type, tensor.Float(1)); power.Op != kernel.Exp || one.Op != kernel.Const || one.Imm != bits {
		return 0, false
	}
	return power.Args[0], true
}

// logistic is a / (1 + exp(y)), of halves: those of exp(y) are never denormal, and infinite only where the quotient by exp(y) is less than the smallest
// normal number. So the power of two is one multiplication, where exp takes two; that of a quarter is never infinite.
func (e *expander) logistic(a, y kernel.Value) kernel.Value {
	low, high, half := e.pick(-80, -700), e.pick(89.5, 710.5), e.number(0.5)
	var sum kernel.Value
	if e.target.Scale {
		reduced, n, _ := e.reducedExp(y, low, high, 0.5)
		sum = e.Add(half, e.Scale(reduced, n))
	} else {
		reduced, n, shifted := e.reducedExp(y, low, high, 1)
		sum = e.fmaNumber(e.Mul(reduced, e.power(0.25, n, shifted)), 2, half)
	}
	numerator := half
	if a != e.number(1) {
		numerator = e.Mul(a, half)
	}
	return e.Div(numerator, sum)
}

// exp2 is 2**n * exp(r*ln2) with r = x - n, which is exact.
func (e *expander) exp2(x kernel.Value) kernel.Value {
	x = e.clamp(x, e.pick(-152, -1077), e.pick(129, 1025))
	n, shifted := e.nearest(x, 1)
	var c []float64
	for i, v := range e.table(expSingle, expDouble) {
		c = append(c, v*math.Pow(math.Ln2, float64(i)))
	}
	return e.scale(e.polynomial(e.Sub(x, n), c...), n, shifted)
}

// expm1 is 2*(2**(n-1)*expm1(r) + (2**(n-1) - 1/2)); half of the power does not overflow before the
// result does. The sign of zero is that of x.
func (e *expander) expm1(x kernel.Value) kernel.Value {
	clamped := e.clamp(x, e.pick(-18, -39), e.pick(89, 710))
	n, shifted := e.nearest(clamped, math.Log2E)
	r := e.reduce(clamped, n, e.ln2(2)...)
	power := e.power(0.5, n, shifted)
	half := e.Fma(power, e.expm1Reduced(r), e.Sub(power, e.number(0.5)))
	return e.copySign(e.Add(half, half), x)
}

// expm1Reduced is expm1(r) for |r| <= ln2/2.
func (e *expander) expm1Reduced(r kernel.Value) kernel.Value {
	return e.Fma(e.Mul(r, e.polynomial(r, e.table(expm1Single, expm1Double)...)), r, r)
}
