package special

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// bessel is a modified Bessel function of the first kind by polynomials: near(x*x), times x for odd ones, on [0, 8],
// middle(24/x - 2)*exp(x)/sqrt(x) on [8, 24], and far(1/x)*exp(x)/sqrt(x) from 24 on.
type bessel struct {
	near, middle, far []float64
	odd               bool
}

var (
	// relative errors 9.0e-19, 6.3e-17 and 7.8e-20
	order0 = bessel{
		near: []float64{1.0, 0.25, 0.015624999999999977, 0.00043402777777779505, 6.781684027771294e-06, 6.781684027919267e-08,
			4.70950279510497e-10, 2.40280756783474e-12, 9.385965799568959e-15, 2.89690891250459e-17, 7.242074008802613e-20,
			1.4967788626378825e-22, 2.5901726908039257e-25, 3.9335526472165213e-28, 4.19920126891896e-31, 8.567000806401797e-34},
		middle: []float64{0.40331226094986455, 0.0023035452538375974, 6.599074142167183e-05, 4.011770503366027e-06, 4.339392113539536e-07,
			8.000067099052271e-08, 2.0106627220911582e-08, 2.827615498297714e-09, -2.0243175937670997e-09, -1.4463827455176966e-09,
			-2.9240261006230256e-11, 2.8129979703344736e-10, 3.11750148243029e-11, -4.931963510680884e-11, -4.021325315794704e-12, 5.6483631790379975e-12},
		far: []float64{0.3989422804014327, 0.049867785050179296, 0.028050629090492756, 0.029219405404082157, 0.044742191701815495,
			0.09060596555148949, 0.22814808866490183, 0.7025893840105064, 1.9512594747245482, 20.457382217496246, -102.39845643240307, 1210.6164083270144},
	}
	// relative errors 5.8e-17, 5.2e-17 and 6.3e-17
	order1 = bessel{
		near: []float64{0.5, 0.06250000000000001, 0.0026041666666666574, 5.425347222222714e-05, 6.781684027764253e-07, 5.6514033567062535e-09,
			3.3639305668839624e-11, 1.5017547368904685e-13, 5.21442511666455e-16, 1.4484555512565449e-18, 3.2918255700128937e-21, 6.2370262972245455e-24,
			9.956903092564813e-27, 1.408977785612294e-29, 1.380579477192139e-32, 2.717003032172177e-35},
		middle: []float64{0.386123659201314, -0.006600695690974831, -0.0001047332502380644, -5.324600221496183e-06, -5.251512621886357e-07, -9.147012418283254e-08,
			-2.247204104460776e-08, -3.3360409966218708e-09, 2.052781910868084e-09, 1.5518002602302282e-09, 6.059098759204587e-11, -3.0223314382786243e-10,
			-3.9988223861349205e-11, 6.102207542736116e-11, 6.415152368810001e-12, -1.152269565083593e-11, -4.3854264840652085e-13, 1.312433435853425e-12},
		far: []float64{0.3989422804014327, -0.14960335515053724, -0.046751048484572524, -0.04090716740864185, -0.05752570829701564, -0.11073632902906043,
			-0.2699873078784418, -0.7908748100081341, -2.947399759051048, -4.72338446280895, -171.2496815615473, 1241.7380439174237,
			-10158.908036829405},
		odd: true,
	}
)

// The modified Bessel functions of orders zero and one and those times exp(-|x|): within 4 units in the last place of
// float64, and correctly rounded but for rare cases in smaller types.
var (
	bessel0       = order0.operator("i0", false).OfReals("i0_vml_cpu")
	bessel0Scaled = order0.operator("i0e", true)
	bessel1       = order1.operator("i1", false)
	bessel1Scaled = order1.operator("i1e", true)
	// the same by other names
	modifiedBessel0 = order0.operator("modified_bessel_i0", false)
	modifiedBessel1 = order1.operator("modified_bessel_i1", false)
)

func (f *bessel) operator(name string, scaled bool) *elementwise.Operator {
	return elementwise.New(name, ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return f.of(b, x[0], scaled)
	}).OfReals(name + "_cpu")
}

// polynomialOf evaluates c[0] + c[1]*x + c[2]*x*x + ...
func polynomialOf(b elementwise.Builder, x elementwise.Element, c []float64) elementwise.Element {
	sum := b.Number(x, c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		sum = b.Fma(sum, x, b.Number(x, c[i]))
	}
	return sum
}

func (f *bessel) of(b elementwise.Builder, x elementwise.Element, scaled bool) elementwise.Element {
	t := b.Type(x)
	wide := b.Convert(x, tensor.Float64)
	a := b.Unary(kernel.Abs, wide)
	number := func(f float64) elementwise.Element { return b.Number(a, f) }
	inverse := b.Div(number(1), a)
	far := b.Select(b.Binary(kernel.Lt, a, number(24)), polynomialOf(b, b.Fma(inverse, number(24), number(-2)), f.middle), polynomialOf(b, inverse, f.far))
	far = b.Div(far, b.Unary(kernel.Sqrt, a))
	near := polynomialOf(b, b.Mul(a, a), f.near)
	if f.odd {
		near = b.Mul(near, a)
	}
	if scaled {
		near = b.Mul(near, b.Exp(b.Neg(a)))
	} else {
		half := b.Exp(b.Mul(a, number(0.5))) // its square overflows last; the limits are 0 times infinity, which is no number, in PyTorch, too
		far = b.Mul(b.Mul(far, half), half)
	}
	y := b.Select(b.Binary(kernel.Le, a, number(8)), near, far)
	if f.odd {
		y = b.Binary(kernel.CopySign, y, wide)
	}
	return b.Convert(y, t)
}
