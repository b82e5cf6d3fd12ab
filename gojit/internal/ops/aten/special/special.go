// Package special has special functions of elements.
package special

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// kaiser makes the window of Bessel functions.
func kaiser(n int, periodic bool, beta float64, o views.MakeLike) *tensor.Tensor {
	source.Check(o.Dtype.IsFloating(), "kaiser_window expects floating point dtypes, got: %s", o.Dtype.CppName())
	source.Check(n >= 0, "kaiser_window requires non-negative window_length, got window_length=%d", n)
	last := float64(n - 1)
	if periodic {
		last = float64(n)
	}
	data := define.Table[float64](n)
	most := besselI0(beta)
	for i := range data {
		data[i] = 1
		if n > 1 {
			r := 2*float64(i)/last - 1
			data[i] = besselI0(beta*math.Sqrt(max(0, 1-r*r))) / most
		}
	}
	return elementwise.To(source.Must(tensor.FromSlice(data, n)), o.Dtype)
}

// mapped applies a function of numbers to every element, in the default type for integers.
func mapped(t *tensor.Tensor, f func(float64) float64, there form) *tensor.Tensor {
	result := reduce.FloatOrDefault(t.DType())
	source.Check(!result.IsComplex(), "the function is not implemented for '%s'", result.CppName())
	if t.OnDevice() {
		return there.of(result, t)
	}
	work := workType(result)
	out := source.Must(source.Must(tensor.EmptyFormat(t, work, tensor.PreserveFormat)).Contiguous())
	x := elementwise.Contiguous(elementwise.To(t, work))
	if work == tensor.Float32 {
		mapEach(tensor.Data[float32](out), tensor.Data[float32](x), f)
	} else {
		mapEach(tensor.Data[float64](out), tensor.Data[float64](x), f)
	}
	return elementwise.To(out, result)
}

// workType is the type whose elements functions read and write for results of a type.
func workType(result tensor.DType) tensor.DType {
	if result == tensor.Float32 {
		return tensor.Float32
	}
	return tensor.Float64
}

func mapEach[T float32 | float64](dst, src []T, f func(float64) float64) {
	parallel.For(len(dst), 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = T(f(float64(src[i])))
		}
	})
}

// functionWork is what a special function of one element is as elements of a loop.
const functionWork = 64

// MappedPairs applies a function of two numbers elementwise, which the text "special_two" of routines has as an entry.
func MappedPairs(a, b elementwise.Operand, f func(x, y float64) float64, entry string) *tensor.Tensor {
	return mappedPairs(a, b, f, form{entry: entry})
}

func mappedPairs(a, b elementwise.Operand, f func(x, y float64) float64, there form) *tensor.Tensor {
	r := tensor.NewResultType()
	tensors := make([]*tensor.Tensor, 2)
	work := tensor.Float32 // where no operand has more digits
	for i, o := range [2]elementwise.Operand{a, b} {
		if o.Tensor == nil {
			r.Scalar(o.Number)
			tensors[i] = tensor.FromScalar(o.Number, tensor.Float64)
		} else {
			r.Tensor(o.Tensor)
			tensors[i] = o.Tensor
		}
		if tensors[i].DType() != tensor.Float32 {
			work = tensor.Float64
		}
	}
	if there.entry != "" && (tensors[0].OnDevice() || tensors[1].OnDevice()) {
		return there.of(reduce.FloatOrDefault(r.DType()), tensors...)
	}
	both := elementwise.BroadcastTensors(tensors)
	x, y := elementwise.Contiguous(elementwise.To(both[0], work)), elementwise.Contiguous(elementwise.To(both[1], work))
	out := define.Empty(both[0].Shape(), work)
	if work == tensor.Float32 {
		mapPairs(tensor.Data[float32](out), tensor.Data[float32](x), tensor.Data[float32](y), f)
	} else {
		mapPairs(tensor.Data[float64](out), tensor.Data[float64](x), tensor.Data[float64](y), f)
	}
	return elementwise.To(out, reduce.FloatOrDefault(r.DType()))
}

func mapPairs[T float32 | float64](dst, x, y []T, f func(x, y float64) float64) {
	parallel.For(len(dst), 1<<12, func(lo, hi int) {
		var watch parallel.Watch
		for i := lo; i < hi; i++ {
			watch.Did(functionWork)
			dst[i] = T(f(float64(x[i]), float64(y[i])))
		}
	})
}

// besselI0 is the modified Bessel function of order zero.
func besselI0(x float64) float64 { return besselScaled(x, 0) * math.Exp(math.Abs(x)) }

// besselScaled sums the power series for small arguments and the asymptotic one for large.
func besselScaled(x float64, order int) float64 {
	a := math.Abs(x)
	if math.IsNaN(x) {
		return x
	}
	if a < 30 {
		term := 1.0
		for k := 1; k <= order; k++ {
			term *= a / 2 / float64(k)
		}
		s := term
		for k := 1; k < 200; k++ {
			term *= a * a / 4 / float64(k*(k+order))
			s += term
			if term < s*1e-17 {
				break
			}
		}
		return s * math.Exp(-a)
	}
	mu := 4 * float64(order*order)
	term, s := 1.0, 1.0
	for k := 1; k < 40; k++ {
		odd := float64(2*k - 1)
		next := -term * (mu - odd*odd) / (float64(k) * 8 * a)
		if math.Abs(next) > math.Abs(term) {
			break
		}
		term = next
		s += term
	}
	return s / math.Sqrt(2*math.Pi*a)
}

// hurwitz is the zeta function of two arguments, by Euler and Maclaurin.
func hurwitz(s, q float64) float64 {
	switch {
	case s == 1:
		return math.Inf(1)
	case s < 1:
		return math.NaN()
	case q <= 0:
		if q == math.Floor(q) {
			return math.Inf(1)
		}
		if s != math.Floor(s) {
			return math.NaN()
		}
	}
	if math.IsInf(s, 1) && !math.IsNaN(q) { // only the least |q+k| counts, which is below 1 where q is negative
		return math.Pow(max(q, 0), math.Inf(-1))
	}
	if q < 0 { // those of the terms (q+k)^-s that are below zero are the first of zeta(s, 1-f), where f is in front of 1 as q is in front of an integer
		f, sign := q-math.Floor(q), 1.0
		if math.Mod(s, 2) != 0 {
			sign = -1
		}
		return hurwitz(s, f) + sign*hurwitz(s, 1-f) - sign*hurwitz(s, 1-q)
	}
	sum, a := 0.0, q
	for ; a < shiftedFrom+s; a++ {
		term := inversePower(a, s)
		if sum += term; term <= 1e-18*sum {
			return sum
		}
	}
	last := inversePower(a, s)
	area := last * a // of a^(1-s), which may be more than nothing where last is not
	if last < 1e-290 {
		area = math.Pow(a, 1-s)
	}
	sum += area/(s-1) + 0.5*last
	factor, inverse := s*last/a, 1/a/a
	for j, b := range bernoulli {
		sum += b * factor
		m := float64(2*j + 1)
		factor *= (s + m) * (s + m + 1) * inverse
	}
	return sum
}

// inversePower returns x^-s; it is the reciprocal of a product where that has few factors.
func inversePower(x, s float64) float64 {
	if n := int(s); n <= mostFactors && float64(n) == s {
		product := x
		for ; n > 1; n-- {
			product *= x
		}
		return 1 / product
	}
	return math.Pow(x, -s)
}

// From shiftedFrom + s on the expansion of zeta(s, q) by Bernoulli's numbers, here over the factorials of 2, 4, ..., has all digits.
const (
	shiftedFrom = 9
	mostFactors = 8
)

var bernoulli = [...]float64{1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000, 1.0 / 74724249600, -3617.0 / 10670622842880000}

// polygamma is the n-th derivative of digamma.
func polygamma(n int) func(float64) float64 {
	factor := polygammaFactor(n)
	return func(x float64) float64 { return factor * hurwitz(float64(n)+1, x) }
}

// polygammaFactor is what the zeta function is multiplied with.
func polygammaFactor(n int) float64 {
	factor := math.Gamma(float64(n) + 1)
	if n%2 == 0 {
		return -factor
	}
	return factor
}

func polygammaOf(n int, t *tensor.Tensor) *tensor.Tensor {
	source.Check(n >= 0, "polygamma(n, x) does not support negative n.")
	switch n {
	case 0:
		return digammaOp.On(t)
	case 1:
		return trigammaOp.On(t)
	}
	if t.DType().IsComplex() {
		elementwise.NotImplemented("polygamma", t.DType())
	}
	factor := polygammaFactor(n)
	return mapped(t, polygamma(n), form{"polygamma", []int64{int64(n), int64(math.Float64bits(factor))}})
}

// lowerGamma is the regularized lower incomplete gamma function.
func lowerGamma(a, x float64) float64 {
	switch {
	case x < 0 || a < 0 || math.IsNaN(a) || math.IsNaN(x) || math.IsInf(a, 1) && math.IsInf(x, 1):
		return math.NaN()
	case math.IsInf(a, 1):
		return 0
	case a == 0 && x == 0:
		return math.NaN()
	case a == 0:
		return 1
	case x == 0:
		return 0
	case math.IsInf(x, 1):
		return 1
	}
	if x > 1 && x > a {
		return 1 - upperFraction(a, x)
	}
	lg, _ := math.Lgamma(a)
	term := 1 / a
	s := term
	for k := 1; k < 2000; k++ {
		term *= x / (a + float64(k))
		s += term
		if term < s*1e-17 {
			break
		}
	}
	return s * math.Exp(a*math.Log(x)-x-lg)
}

// UpperGamma is the regularized upper incomplete gamma function.
func UpperGamma(a, x float64) float64 {
	if x > 1 && x > a && a > 0 && !math.IsInf(x, 1) && !math.IsInf(a, 1) {
		return upperFraction(a, x)
	}
	return 1 - lowerGamma(a, x)
}

// upperFraction is the upper function as a continued fraction.
func upperFraction(a, x float64) float64 {
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for i := 1; i < 1000; i++ {
		an := -float64(i) * (float64(i) - a)
		b += 2
		d = an*d + b
		if math.Abs(d) < tiny {
			d = tiny
		}
		c = b + an/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		h *= d * c
		if math.Abs(d*c-1) < 1e-16 {
			break
		}
	}
	lg, _ := math.Lgamma(a)
	return h * math.Exp(a*math.Log(x)-x-lg)
}

// normalCDF is the distribution function of the normal distribution.
var normalCDF = elementwise.New("ndtr", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	wide := b.Convert(x[0], tensor.Float64)
	tail := b.Unary(kernel.Erfc, b.Div(wide, b.Number(wide, -math.Sqrt2)))
	return b.Convert(b.Mul(b.Number(wide, 0.5), tail), b.Type(x[0]))
}).OfReals("erf_vml_cpu")

func mapping(name string, f func(float64) float64, there form) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor { return mapped(c.Tensor(0), f, there) })
}

func mappingPairs(name string, f func(x, y float64) float64, there form) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		return mappedPairs(elementwise.OperandOf(c, 0), elementwise.OperandOf(c, 1), f, there)
	})
}

// multivariateLgamma is the logarithm of the multivariate gamma function.
func multivariateLgamma(t *tensor.Tensor, p int) *tensor.Tensor {
	define.SmallInts([]int{p})
	define.Room(t.DType().Size(), t.Numel(), p) // PyTorch lays all of them out
	there := form{"mvlgamma", []int64{int64(p)}}
	return mapped(t, func(x float64) float64 {
		s := float64(p*(p-1)) / 4 * math.Log(math.Pi)
		var watch parallel.Watch
		for j := range p {
			if j%1024 == 1023 {
				watch.Look()
			}
			g, _ := math.Lgamma(x - float64(j)/2)
			s += g
		}
		return s
	}, there)
}

var digammaOp = elementwise.New("digamma", ops.FloatType, elementwise.UnaryOp(kernel.Digamma))

var SpecialFamily = slices.Concat(elementwise.FromRecords(kernelRecords), elementwise.FromRecords(secondRecords), []define.Definition{
	besselDefinition("bessel_j0", &besselOrder0, false, math.J0).With(ops.Def{Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
		return g.Neg(g.Mul(dy, g.Do("special_bessel_j1", x)))
	})}), besselDefinition("bessel_j1", &besselOrder1, false, math.J1).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { besselGrad(c, "special_bessel_j0") })}),
	besselDefinition("bessel_y0", &besselOrder0, true, math.Y0).With(ops.Def{Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
		return g.Neg(g.Mul(dy, g.Do("special_bessel_y1", x)))
	})}), besselDefinition("bessel_y1", &besselOrder1, true, math.Y1).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { besselGrad(c, "special_bessel_y0") })}),
	mappingPairs("special_zeta", hurwitz, form{entry: "zeta_of"}).With(ops.Def{Grad: define.Concrete(zetaGrad)}), mappingPairs("special_zeta.other_scalar", hurwitz, form{entry: "zeta_of"}), mappingPairs("special_zeta.self_scalar", hurwitz, form{entry: "zeta_of"}).With(ops.Def{Grad: define.Concrete(zetaGrad)}),
	mappingPairs("igamma", lowerGamma, form{entry: "igamma"}).With(ops.Def{Aliases: []string{"special_gammainc"}, Grad: define.Concrete(func(c define.Gradient) { incompleteGamma(c, 1) })}),
	mappingPairs("igammac", UpperGamma, form{entry: "igammac"}).With(ops.Def{Aliases: []string{"special_gammaincc"}, Grad: define.Concrete(func(c define.Gradient) { incompleteGamma(c, -1) })}),
	define.Giving("polygamma", func(c define.Call) *tensor.Tensor { return polygammaOf(c.Int(0), c.Tensor(1)) }).With(ops.Def{Aliases: []string{"special_polygamma"}, Grad: define.Concrete(func(c define.Gradient) {
		c.Give(1, c.Mul(c.G(), c.Do("polygamma", c.Int(0)+1, c.In(1))))
	})}),
	define.Operator("polygamma_", func(c define.Call) {
		elementwise.Store(c.Tensor(0), polygammaOf(c.Int(1), c.Tensor(0)))
		c.GiveSelf()
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Mul(c.G(), c.Do("polygamma", c.Int(1)+1, c.In(0)))) })}),
	define.Giving("mvlgamma", func(c define.Call) *tensor.Tensor { return multivariateLgamma(c.Tensor(0), c.Int(1)) }).With(ops.Def{Aliases: []string{"special_multigammaln"}}),
	views.Creating("kaiser_window", 1, func(c define.Call, o views.MakeLike) *tensor.Tensor { return kaiser(c.Int(0), true, 12, o) }),
	views.Creating("kaiser_window.periodic", 2, func(c define.Call, o views.MakeLike) *tensor.Tensor { return kaiser(c.Int(0), c.Bool(1), 12, o) }),
	views.Creating("kaiser_window.beta", 3, func(c define.Call, o views.MakeLike) *tensor.Tensor {
		return kaiser(c.Int(0), c.Bool(1), c.Float(2), o)
	}),
})

// kernelRecords are those of the functions that kernels compute.
var kernelRecords = []ops.Def{
	{Name: "special_ndtr", Into: elementwise.Into(onTensor(normalCDF))},
	{Name: "special_log_ndtr", Into: elementwise.Into(onTensor(logNormalCDF))},
	{Name: "special_erfcx", Into: elementwise.Into(onTensor(scaledErfc)), Grad: define.Concrete(func(c define.Gradient) {
		slope := c.Plus(c.Scale(c.Mul(c.In(0), c.Out(0)), 2), -2/math.Sqrt(math.Pi))
		c.Give(0, c.Mul(c.G(), slope))
	})},
	{Name: "special_ndtri", Into: elementwise.Into(onTensor(normalQuantile)), Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref {
		return g.Scale(g.Mul(dy, g.Do("exp", g.Scale(g.Square(y), 0.5))), math.Sqrt(2*math.Pi))
	})},
	{Name: "i0", Aliases: []string{"special_i0"}, Into: elementwise.Into(onTensor(bessel0)),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Mul(dy, g.Do("special_i1", x)) })},
	{Name: "special_modified_bessel_i0", Into: elementwise.Into(onTensor(modifiedBessel0)),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
			return g.Mul(dy, g.Do("special_modified_bessel_i1", x))
		})},
	{Name: "special_i0e", Into: elementwise.Into(onTensor(bessel0Scaled)), Grad: func(g define.Grad) {
		x := g.In(0)
		g.Give(0, g.Mul(g.Grad(0), g.Minus(g.Do("special_i1e", x), g.Mul(g.Do("sgn", x), g.Out(0)))))
	}},
	{Name: "special_i1", Into: elementwise.Into(onTensor(bessel1)), Grad: define.Concrete(func(c define.Gradient) { besselGrad(c, "i0") })},
	{Name: "special_modified_bessel_i1", Into: elementwise.Into(onTensor(modifiedBessel1)),
		Grad: define.Concrete(func(c define.Gradient) { besselGrad(c, "special_modified_bessel_i0") })},
	{Name: "special_i1e", Into: elementwise.Into(onTensor(bessel1Scaled)), Grad: define.Concrete(func(c define.Gradient) {
		x := c.In(0)
		less := c.Add(c.Mul(c.Out(0), c.Do("sgn", x)), overSelf(c, c.Out(0), x))
		c.Give(0, c.Mul(c.G(), besselSlope(c, x, c.Sub(c.Do("special_i0e", x), less))))
	})},
}

// onTensor applies an elementwise operator to the first argument.
func onTensor(p *elementwise.Operator) func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	return func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
		return p.Run(dst, []elementwise.Operand{elementwise.OfTensor(c.Tensor(0))})
	}
}
