package special

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Bessel functions of float32, computed in float64 by kernels. With t = x*x/32 - 1 up to nearBessel, that of the first kind is first(t) for order 0 and x*first(t)
// for order 1; that of the second kind is 2/pi*log(x) times it, less 2/(pi*x) for order 1, and beside(t), times x for order 1. From there on, with u = 128/(x*x) - 1,
// p = modulus(u) and q = 8/x*phase(u), they are p*cos(a) - q*sin(a) and p*sin(a) + q*cos(a) times sqrt(2/(pi*x)), with the angle a = x - pi/4 - order*pi/2.
type besselPair struct {
	order                         int
	first, beside, modulus, phase []float64
}

const nearBessel = 8

// absolute errors below 1e-13
var (
	besselOrder0 = besselPair{0,
		[]float64{0.045829664859813754, 0.9303012472958572, -0.6484692830871821, -0.8080888076696872, 1.0383794611436883, -0.507468045847101, 0.14598884856785535,
			-0.028472718610877044, 0.00405807898810883, -0.0004435459224433769, 3.8473200057927604e-05, -2.717749207626176e-06, 1.595584886623164e-07,
			-7.91533375368561e-09, 3.3794624520643e-10, -1.2430166156640003e-11},
		[]float64{-0.38225065445942497, -0.8284358903604587, 1.6470964788745432, 0.14412632369302453, -1.077547733821527, 0.6721770783431702, -0.21895747096229637,
			0.046367047681363883, -0.007025741054992014, 0.000806158605989114, -7.279542368640505e-05, 5.321318774428052e-06, -3.218450385303195e-07,
			1.6390898995460987e-08, -7.165821502826742e-10, 2.6920542955933077e-11},
		[]float64{0.99945727578821, -0.0005363673192034384, 6.137417420036622e-06, -2.0527478699533707e-07, 1.2797127373827266e-08, -1.2106094669911453e-09,
			1.6536280256389795e-10, -2.7224886585285653e-11},
		[]float64{-0.015555113879481343, 6.83314909854789e-05, -1.4771398600685878e-06, 7.106240265103353e-08, -5.66363801946084e-09, 6.420257186066956e-10,
			-1.0259639769519284e-10, 1.8966994399526727e-11}}
	besselOrder1 = besselPair{1,
		[]float64{-0.05814382795598965, 0.0810586603858979, 0.15151665143792692, -0.25959486528592546, 0.15858376432944968, -0.054745818212923875, 0.012456814378875098,
			-0.002029039494110686, 0.00024949461961317783, -2.4045749973701317e-05, 1.8683964971839667e-06, -1.1966889147303986e-07, 6.471995824580963e-09,
			-2.9570298029507193e-10},
		[]float64{0.07075985882117701, -0.24337743079193103, 0.023367571721292436, 0.23507209206668706, -0.19639839860408562, 0.078547869222593, -0.0196287568044145,
			0.0034224907389127867, -0.00044381742545220867, 4.467433300087056e-05, -3.6008797376881145e-06, 2.3804508844312395e-07, -1.3240629286749096e-08,
			6.200348033070887e-10},
		[]float64{1.0009070262781277, 0.000898804941660262, -7.95969614966971e-06, 2.453679909602863e-07, -1.4701327061280622e-08, 1.3586817885205128e-09,
			-1.825325287137717e-10, 2.972588010402764e-11},
		[]float64{0.046776874027414275, -9.6214588212007e-05, 1.8212029592924738e-06, -8.291987957703483e-08, 6.4146552583087935e-09, -7.137670717602362e-10,
			1.1246617493324094e-10, -2.0599700162259183e-11}}
)

// besselDefinition defines a Bessel function: of float32 by a kernel, of other types by a function of numbers.
func besselDefinition(name string, f *besselPair, second bool, of func(float64) float64) define.Definition {
	op := elementwise.New(name, ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return f.of(b, x[0], second)
	})
	return define.Giving("special_"+name, func(c define.Call) *tensor.Tensor {
		if t := c.Tensor(0); t.DType() == tensor.Float32 {
			return op.On(t)
		}
		return mapped(c.Tensor(0), of, form{entry: name})
	})
}

func (f *besselPair) of(b elementwise.Builder, x elementwise.Element, second bool) elementwise.Element {
	wide := b.Convert(x, tensor.Float64)
	number := func(v float64) elementwise.Element { return b.Number(wide, v) }
	a := b.Unary(kernel.Abs, wide)
	near, far := f.near(b, a, second), f.far(b, a, second)
	y := b.Select(b.Binary(kernel.Le, a, number(nearBessel)), near, far)
	negative := b.Binary(kernel.Lt, wide, number(0))
	if !second && f.order == 1 {
		y = b.Select(negative, b.Neg(y), y)
	}
	y = b.Select(b.Binary(kernel.Eq, a, number(math.Inf(1))), number(0), y)
	if second {
		y = b.Select(b.Binary(kernel.Eq, wide, number(0)), number(math.Inf(-1)), y)
		y = b.Select(negative, number(math.NaN()), y)
	}
	return b.Convert(y, b.Type(x))
}

// near is the function of numbers up to nearBessel.
func (f *besselPair) near(b elementwise.Builder, a elementwise.Element, second bool) elementwise.Element {
	number := func(v float64) elementwise.Element { return b.Number(a, v) }
	t := b.Fma(b.Mul(a, a), number(2.0/(nearBessel*nearBessel)), number(-1))
	y := polynomialOf(b, t, f.first)
	if !second {
		if f.order == 1 {
			y = b.Mul(y, a)
		}
		return y
	}
	beside := polynomialOf(b, t, f.beside)
	y = b.Fma(b.Mul(b.Unary(kernel.Log, a), number(2/math.Pi)), y, beside)
	if f.order == 1 {
		y = b.Sub(b.Mul(y, a), b.Div(number(2/math.Pi), a))
	}
	return y
}

// far is the function of larger numbers. The sine and cosine of the angle are, but for a factor, sums and differences of those of the number.
func (f *besselPair) far(b elementwise.Builder, a elementwise.Element, second bool) elementwise.Element {
	number := func(v float64) elementwise.Element { return b.Number(a, v) }
	inverse := b.Div(number(nearBessel), a)
	u := b.Fma(b.Mul(inverse, inverse), number(2), number(-1))
	p, q := polynomialOf(b, u, f.modulus), b.Mul(inverse, polynomialOf(b, u, f.phase))
	sine, cosine := b.Unary(kernel.Sin, a), b.Unary(kernel.Cos, a)
	cos, sin := b.Add(sine, cosine), b.Sub(sine, cosine)
	if f.order == 1 {
		cos, sin = sin, b.Neg(cos)
	}
	y := b.Sub(b.Mul(p, cos), b.Mul(q, sin))
	if second {
		y = b.Add(b.Mul(p, sin), b.Mul(q, cos))
	}
	return b.Mul(y, b.Unary(kernel.Sqrt, b.Mul(inverse, number(1/(nearBessel*math.Pi)))))
}
