package expand

import (
	"slices"

	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Primitives says which instructions a target has besides those that every target needs: Const, Load,
// Param, Iota, Neg, Abs, Not, Floor, Ceil, Round, Trunc, Sqrt, Bits, Add, Sub, Mul, Div, Min, Max,
// CopySign, And, Or, Xor, Shl, Shr, comparisons, Fma, Select and Convert.
type Primitives struct {
	Scale    bool // in place of about eight integer instructions
	Mantissa bool // and Exponent, which make logarithms a third shorter
}

// Expand rewrites functions of float32 and float64 values into primitive instructions and Scale.
func Expand(k *kernel.Kernel) *kernel.Kernel { return For(k, Primitives{Scale: true}) }

// For rewrites functions of float32 and float64 values into the instructions that a target has.
// The results are the same, bit for bit, for all targets.
//
// What has no expansion stays as it is: functions of integers, some of complex numbers, and those whose
// ErrorBound is not defined. Both kernels give the same within the stated bounds, and for NaN, infinite and zero arguments the same but for the bits of a NaN.
//
// Scale is used only on numbers whose magnitude is in [1/4, 4], by |n| < 2**12.
func For(k *kernel.Kernel, target Primitives) *kernel.Kernel {
	e := newExpander(k, target)
	e.expand(k)
	return withoutUnused(e.Kernel())
}

// Small is ExpandFor where arguments of Sin, Cos and Tan, and quotients of Rem, Mod and FloorDiv
// are small numbers: these functions then take a fraction of the instructions. The kernel has
// one more output, the largest of what must be small, to be compared with SmallLimit: only where it is
// smaller are the results right, and then they are those of ExpandFor. It gives nil where that saves nothing.
func Small(k *kernel.Kernel, target Primitives) *kernel.Kernel {
	if !hasLargeArguments(k) {
		return nil
	}
	e := newExpander(k, target)
	e.small = true
	e.expand(k)
	if e.sizes == nil {
		return nil
	}
	largest := e.sizes[0]
	for _, v := range e.sizes[1:] {
		largest = e.Binary(kernel.Max, largest, v)
	}
	e.Reduce(kernel.ReduceMax, largest, tensor.Float32)
	return withoutUnused(e.Kernel())
}

// hasLargeArguments reports whether the kernel may have a function that takes fewer instructions where arguments or quotients are small.
func hasLargeArguments(k *kernel.Kernel) bool {
	return slices.ContainsFunc(k.Instrs, func(in kernel.Instr) bool {
		switch in.Op {
		case kernel.Sin, kernel.Cos, kernel.Tan, kernel.Rem, kernel.Mod, kernel.FloorDiv:
			return true
		}
		return in.Type.IsComplex() // functions of its parts
	})
}

// expand adds the instructions of a kernel.
func (e *expander) expand(k *kernel.Kernel) {
	e.K.Inputs, e.K.Params, e.K.Tables = k.Inputs, k.Params, slices.Clone(k.Tables)
	values, pairs := make([]kernel.Value, len(k.Instrs)), make([]parts, len(k.Instrs))
	for i := range k.Instrs {
		in := k.Instrs[i]
		operands := in.Op.Operands()
		if isComplexInstr(k, &in) {
			pairs[i] = e.complexInstr(k, in, values, pairs)
			values[i] = pairs[i].re
			continue
		}
		for j := range operands {
			in.Args[j] = values[in.Args[j]]
		}
		if y, ok := logisticOf(k, &k.Instrs[i]); ok {
			e.t = in.Type
			values[i] = e.logistic(in.Args[0], values[y])
			continue
		}
		if operands > 0 && expansions[in.Op].bound(k.TypeOf(k.Instrs[i].Args[0])) > 0 {
			e.t = e.Type(in.Args[0])
			values[i] = expansions[in.Op].expand(e, in.Args[0], in.Args[1])
		} else {
			values[i] = e.Emit(in)
		}
	}
	for _, o := range k.Outputs {
		if t := k.TypeOf(o.Value); t.IsComplex() || o.DType.IsComplex() {
			o = e.complexOutput(o, t, values[o.Value], pairs[o.Value])
		} else {
			o.Value = values[o.Value]
		}
		e.K.Outputs = append(e.K.Outputs, o)
	}
}

// isComplexInstr reports whether the result, an operand or the memory of an instruction is complex.
func isComplexInstr(k *kernel.Kernel, in *kernel.Instr) bool {
	if in.Type.IsComplex() || in.Op == kernel.Load && k.Inputs[in.Imm].IsComplex() {
		return true
	}
	for j := range in.Op.Operands() {
		if k.TypeOf(in.Args[j]).IsComplex() {
			return true
		}
	}
	return false
}

// withoutUnused drops instructions whose values nobody uses; inputs and parameters stay.
func withoutUnused(k *kernel.Kernel) *kernel.Kernel {
	number, used := make([]kernel.Value, len(k.Instrs)), k.Used()
	kept := k.Instrs[:0]
	for i, in := range k.Instrs {
		if !used[i] && in.Op != kernel.Load && in.Op != kernel.Param {
			continue
		}
		for j := range in.Op.Operands() {
			in.Args[j] = number[in.Args[j]]
		}
		number[i] = kernel.Value(len(kept))
		kept = append(kept, in)
	}
	k.Instrs = kept
	for i := range k.Outputs {
		k.Outputs[i].Value = number[k.Outputs[i].Value]
	}
	return k
}

// ErrorBound returns by how many units in the last place the expansion of a function may differ from
// the exact result; one that is exact has a bound of 1. ok is false where there is no expansion for the type.
func ErrorBound(op kernel.Op, t tensor.DType) (ulps float64, ok bool) {
	ulps = expansions[op].bound(t)
	return ulps, ulps > 0
}

// expansion says how a function is written in primitives and how far it may be off.
type expansion struct {
	expand         func(e *expander, x, y kernel.Value) kernel.Value
	ulps32, ulps64 float64                          // 0: not expanded for the type
	complex        func(e *expander, z parts) parts // of a complex number in real ones, computed in float64; nil: not expanded
}

func (x *expansion) bound(t tensor.DType) float64 {
	switch t {
	case tensor.Float32:
		return x.ulps32
	case tensor.Float64:
		return x.ulps64
	}
	return 0
}

// expansions holds every expansion with its bounds, family by family. It is filled by init because expansions of complex numbers call those of their parts through it.
var expansions [kernel.NumOps]expansion

func init() {
	for _, family := range []map[kernel.Op]expansion{ofBits, exponentials, hyperbolics, circulars, inverses, logarithms, divisions, errorFunctions, gammaFunctions} {
		for op, x := range family {
			expansions[op] = x
		}
	}
}

// ofBits are those that look at a number, or count its bits.
var ofBits = map[kernel.Op]expansion{
	kernel.Sign:      {unaryExpansion((*expander).sign), 1, 1, nil},
	kernel.Angle:     {unaryExpansion((*expander).angle), 1, 1, nil},
	kernel.IsNaN:     {unaryExpansion((*expander).isNaN), 1, 1, nil},
	kernel.NextAfter: {(*expander).nextAfter, 1, 1, nil},
}

// newExpander makes room for as many instructions as some functions take.
func newExpander(k *kernel.Kernel, target Primitives) *expander {
	room := 16 * len(k.Instrs)
	e := &expander{Builder: &kernel.Builder{Known: make(map[kernel.Instr]kernel.Value, room)}, target: target}
	e.K.Instrs = make([]kernel.Instr, 0, room)
	return e
}

func (e *expander) isNaN(x kernel.Value) kernel.Value { return e.Binary(kernel.Ne, x, x) }

// sign is 1, -1 or, of zeros and NaN, 0.
func (e *expander) sign(x kernel.Value) kernel.Value {
	zero := e.number(0)
	negative := e.Select(e.Binary(kernel.Lt, x, zero), e.number(-1), zero)
	return e.Select(e.Binary(kernel.Gt, x, zero), e.number(1), negative)
}

// nextAfter counts the bits of x up or down. From zero it goes to the smallest number with the sign of y.
func (e *expander) nextAfter(x, y kernel.Value) kernel.Value {
	zero, one := e.number(0), e.integer(1)
	away := e.Binary(kernel.Eq, e.Binary(kernel.Lt, x, y), e.Binary(kernel.Gt, x, zero)) // from zero
	next := e.Bits(e.Add(e.Bits(x), e.Select(away, one, e.integer(-1))))
	next = e.Select(e.Binary(kernel.Eq, x, zero), e.copySign(e.Bits(one), y), next)
	next = e.Select(e.Binary(kernel.Eq, x, y), y, next)
	next = e.Select(e.Binary(kernel.Eq, x, x), next, x)
	return e.Select(e.Binary(kernel.Eq, y, y), next, y)
}

// angle is pi for numbers below zero, else 0 or NaN.
func (e *expander) angle(x kernel.Value) kernel.Value {
	zero := e.number(0)
	other := e.Select(e.Binary(kernel.Eq, x, x), zero, x)
	return e.Select(e.Binary(kernel.Lt, x, zero), e.number(math.Pi), other)
}

func unaryExpansion(f func(e *expander, x kernel.Value) kernel.Value) func(e *expander, x, y kernel.Value) kernel.Value {
	return func(e *expander, x, _ kernel.Value) kernel.Value { return f(e, x) }
}

// expander is a builder with the vocabulary of the expansions. Its constants have type t, which is
// Float32 or Float64.
type expander struct {
	*kernel.Builder
	t      tensor.DType
	target Primitives
	small  bool           // functions need to be right for small numbers only
	sizes  []kernel.Value // what must be small, where that is set
}

// number makes a constant.
func (e *expander) number(f float64) kernel.Value { return e.Const(e.t, tensor.Float(f)) }

// integer makes a constant of the integer type as wide as the floats.
func (e *expander) integer(i int64) kernel.Value { return e.Const(kernel.BitsType(e.t), tensor.Int(i)) }

// bitsOf makes a constant of the bits of a number.
func (e *expander) bitsOf(f float64) kernel.Value {
	bits, _ := kernel.NumberBits(e.t, tensor.Float(f))
	return e.Const(kernel.BitsType(e.t), tensor.Int(int64(bits)))
}

// pick returns the number of the type.
func (e *expander) pick(single, double float64) float64 {
	if e.t == tensor.Float32 {
		return single
	}
	return double
}

// table returns the coefficients of the type.
func (e *expander) table(single, double []float64) []float64 {
	if e.t == tensor.Float32 {
		return single
	}
	return double
}

// polynomial evaluates c[0] + c[1]*x + c[2]*x*x + ... by Horner's rule.
func (e *expander) polynomial(x kernel.Value, c ...float64) kernel.Value {
	sum := e.number(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		sum = e.Fma(sum, x, e.number(c[i]))
	}
	return sum
}

// halves is polynomial, whose first coefficient is added last to x times the others, the sum of a polynomial of x*x and of x times another: their instructions do
// not wait for each other, and the result is rounded as by Horner's rule at the end.
func (e *expander) halves(x kernel.Value, c ...float64) kernel.Value {
	var even, odd []float64
	for i, v := range c[1:] {
		if i%2 == 0 {
			even = append(even, v)
		} else {
			odd = append(odd, v)
		}
	}
	square := e.Mul(x, x)
	return e.Fma(e.Fma(e.polynomial(square, odd...), x, e.polynomial(square, even...)), x, e.number(c[0]))
}

// fmaNumber makes x*f + y.
func (e *expander) fmaNumber(x kernel.Value, f float64, y kernel.Value) kernel.Value {
	return e.Fma(x, e.number(f), y)
}

// clamp limits x to [low, high] and keeps NaN.
func (e *expander) clamp(x kernel.Value, low, high float64) kernel.Value {
	return e.Binary(kernel.Max, e.number(low), e.Binary(kernel.Min, e.number(high), x))
}

// roundingShift is added to a small number to round it to an integer: digits after the point do not
// fit beside it.
func (e *expander) roundingShift() float64 { return e.pick(3<<22, 3<<51) }

// nearest rounds x*f to an integer and also returns the integer plus roundingShift, whose lowest bits
// are those of the integer. |x*f| is less than 2**22.
func (e *expander) nearest(x kernel.Value, f float64) (n, shifted kernel.Value) {
	shift := e.number(e.roundingShift())
	shifted = e.fmaNumber(x, f, shift)
	return e.Sub(shifted, shift), shifted
}

// reduce subtracts n times each part of a constant from x.
func (e *expander) reduce(x, n kernel.Value, parts ...float64) kernel.Value {
	for _, part := range parts {
		x = e.fmaNumber(n, -part, x)
	}
	return x
}

// scale is x * 2**n, where shifted is n plus roundingShift and 1/4 <= |x| <= 4. In two steps only the last
// one rounds.
func (e *expander) scale(x, n, shifted kernel.Value) kernel.Value {
	if e.target.Scale {
		return e.Scale(x, n)
	}
	whole := e.Sub(e.Bits(shifted), e.bitsOf(e.roundingShift()))
	half := e.Binary(kernel.Shr, whole, e.integer(1))
	return e.Mul(e.Mul(x, e.integerPower(half, 1)), e.integerPower(e.Sub(whole, half), 1))
}

// power is factor * 2**n, where shifted is an integer with the lowest bits of n; factor is a power of
// two and the result not denormal.
func (e *expander) power(factor float64, n, shifted kernel.Value) kernel.Value {
	if e.target.Scale {
		return e.Scale(e.number(factor), n)
	}
	return e.integerPower(e.Bits(shifted), factor)
}

// integerPower is factor * 2**n for an integer n: the exponent is where n is when shifted left.
func (e *expander) integerPower(n kernel.Value, factor float64) kernel.Value {
	digits := int64(e.pick(23, 52))
	return e.Bits(e.Add(e.Binary(kernel.Shl, n, e.integer(digits)), e.bitsOf(factor)))
}

func (e *expander) copySign(x, sign kernel.Value) kernel.Value {
	return e.Binary(kernel.CopySign, x, sign)
}
