package special

import (
	"math"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestZeta compares zeta(s, q) and derivatives of digamma with numbers of 20 digits. Those of q far below zero were those of the first terms only.
func TestZeta(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{polygamma(1)(-100.25), 19.729283325349363344},
		{polygamma(1)(-12.75), 19.663772856722737612},
		{polygamma(1)(-3.5), 9.6208792980503482437},
		{polygamma(1)(-0.3125), 13.156556547513613413},
		{polygamma(1)(0.0009765625), 1048577.6425893921526},
		{polygamma(1)(0.25), 17.197329154507110739},
		{polygamma(1)(1), 1.6449340668482264365},
		{polygamma(1)(5.5), 0.19934238698962765913},
		{polygamma(1)(11.5), 0.090846661274546234338},
		{polygamma(1)(30), 0.033895060357739944214},
		{polygamma(1)(10000.0), 0.00010000500016666666633},
		{polygamma(1)(1e+30), 9.9999999999999998012e-31},
		{polygamma(2)(-100.25), 124.02500820691770879},
		{polygamma(2)(-12.75), -124.03079461415823385},
		{polygamma(2)(-3.5), -0.061556821321027694549},
		{polygamma(2)(-0.3125), 58.765869516630988019},
		{polygamma(2)(0.0009765625), -2147483650.3977839164},
		{polygamma(2)(0.25), -129.32773993753692033},
		{polygamma(2)(1), -2.4041138063191885708},
		{polygamma(2)(5.5), -0.039608947521302042971},
		{polygamma(2)(11.5), -0.0082474690506522171203},
		{polygamma(2)(30), -0.001148765203728599844},
		{polygamma(2)(10000.0), -1.0001000049999999833e-8},
		{polygamma(2)(1e+30), -9.9999999999999996023e-61},
		{polygamma(3)(-100.25), 1558.545454588468664},
		{polygamma(3)(-12.75), 1558.5445992104061927},
		{polygamma(3)(-3.5), 194.78785955946250789},
		{polygamma(3)(-0.3125), 656.91665015150121469},
		{polygamma(3)(0.0009765625), 6597069766662.4696945},
		{polygamma(3)(0.25), 1538.782144009188396},
		{polygamma(3)(1), 6.4939394022668291491},
		{polygamma(3)(5.5), 0.015690592675882819147},
		{polygamma(3)(11.5), 0.001496464752269225058},
		{polygamma(3)(30), 0.000077860036647361290602},
		{polygamma(3)(10000.0), 2.0003000199999999e-12},
		{polygamma(3)(1e+30), 1.9999999999999998807e-90},
		{polygamma(4)(-100.25), 24481.574782764287791},
		{polygamma(4)(-12.75), -24481.57497656982777},
		{polygamma(4)(-3.5), -0.022300753478290832644},
		{polygamma(4)(-0.3125), 7894.8248314715479766},
		{polygamma(4)(0.0009765625), -27021597764223000.767},
		{polygamma(4)(0.25), -24584.375388637933734},
		{polygamma(4)(1), -24.886266123440878232},
		{polygamma(4)(5.5), -0.0092946060414163724501},
		{polygamma(4)(11.5), -0.00040701383905697658894},
		{polygamma(4)(30), -7.9149413401810240419e-6},
		{polygamma(4)(10000.0), -6.0012000999999993e-16},
		{polygamma(4)(1e+30), -5.9999999999999995228e-120},
		{polygamma(7)(-100.25), 330352695.85551310463},
		{polygamma(7)(-12.75), 330352695.85550319411},
		{polygamma(7)(-3.5), 2580880.397962693542},
		{polygamma(7)(-0.3125), 55516447.862542865522},
		{polygamma(7)(0.0009765625), 6.0929861308577310405e+27},
		{polygamma(7)(0.25), 330302293.70901344778},
		{polygamma(7)(1), 5060.5498752376394705},
		{polygamma(7)(5.5), 0.0084354879185721060184},
		{polygamma(7)(11.5), 0.000036249929112167954075},
		{polygamma(7)(30), 3.6933110778710127588e-8},
		{polygamma(7)(10000.0), 7.20252033599999496e-26},
		{polygamma(7)(1e+30), 7.1999999999999989978e-208},
		{polygamma(9)(-100.25), 380513743242.33976548},
		{polygamma(9)(-12.75), 380513743242.33976234},
		{polygamma(9)(-3.5), 743190904.64567414361},
		{polygamma(9)(-0.3125), 40872040598.46174802},
		{polygamma(9)(0.0009765625), 4.6000504981081988522e+35},
		{polygamma(9)(0.25), 380507297956.0486819},
		{polygamma(9)(1), 363240.91142238262681},
		{polygamma(9)(5.5), 0.017949992012749026684},
		{polygamma(9)(11.5), 0.000016585894499664688204},
		{polygamma(9)(30), 2.3727674945432479568e-9},
		{polygamma(9)(10000.0), 4.0338147023999933472e-32},
		{polygamma(9)(1e+30), 4.0319999999999992784e-266},
		{hurwitz(1e9, 1000), 0}, // at once
		{hurwitz(1.5, 0.25), 10.213055360466600739},
		{hurwitz(2.5, 3.0), 0.16471056195428029866},
		{hurwitz(2, -100.25), 19.729283325349363344},
		{hurwitz(3, -100.25), -62.012504103458854395},
		{hurwitz(20, 0.5), 1048576.0003007396682},
		{hurwitz(1.0009765625, 40.0), 1020.3302640176225628},
		{hurwitz(3, -7.125), -511.13863221793388985},
	} {
		if !(math.Abs(c.got-c.want) <= 4e-15*math.Abs(c.want)) && c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	for n := 1; n < 4; n++ {
		if at := polygamma(n)(math.Inf(1)); at != 0 {
			t.Errorf("polygamma(%d, inf) is %v", n, at)
		}
		if at := polygamma(n)(math.NaN()); at == at {
			t.Errorf("polygamma(%d, nan) is %v", n, at)
		}
	}
}

// onNumber is an operator of one number.
func onNumber(o *elementwise.Operator, x float64) float64 {
	return o.On(source.Must(tensor.FromSlice([]float64{x}, 1))).At(0).Float64()
}

// TestBesselK compares with numbers of 20 digits: K, and from where it says so K times exp(x).
func TestBesselK(t *testing.T) {
	for _, c := range []struct{ x, k0, k1 float64 }{
		{1e-300, 690.89145941387211763, 9.9999999999999997494e+299},
		{1e-05, 11.628856980944362212, 99999.999939355706916},
		{0.125, 2.20786908674497006, 7.8311182991157511635},
		{0.75, 0.61058242211646411935, 0.94958046696214023218},
		{1.0, 0.42102443824070833334, 0.60190723019723457474},
		{1.625, 0.18204323378928695849, 0.23234307103666881854},
		{2.0, 0.11389387274953343565, 0.13986588181652242728},
	} {
		k0, k1 := onNumber(besselK0, c.x), onNumber(besselK1, c.x)
		if math.Abs(k0-c.k0) > 1e-15*math.Abs(c.k0)+1e-16 || math.Abs(k1-c.k1) > 1e-15*math.Abs(c.k1) {
			t.Errorf("K of %v is %v and %v, want %v and %v", c.x, k0, k1, c.k0, c.k1)
		}
	}
	for _, c := range []struct{ x, k0, k1 float64 }{
		{2.0000000000000004, 0.84156821507077133269, 1.0334768470686884289},
		{2.5, 0.75954869032809957869, 0.90017442390787808913},
		{3.0, 0.69776159804385177606, 0.80656348012878690333},
		{8.0, 0.43662301860158611262, 0.46314909287049610585},
		{50.0, 0.17680715585742933811, 0.1785665585588155746},
		{100000.0, 0.0039633223434747561509, 0.0039633421600369317941},
		{1e+300, 1.2533141373155002183e-150, 1.2533141373155002183e-150},
	} {
		k0, k1 := onNumber(besselK0Scaled, c.x), onNumber(besselK1Scaled, c.x)
		if math.Abs(k0-c.k0) > 1e-15*c.k0 || math.Abs(k1-c.k1) > 1e-15*c.k1 {
			t.Errorf("K of %v times exp(x) is %v and %v, want %v and %v", c.x, k0, k1, c.k0, c.k1)
		}
	}
	for _, o := range []*elementwise.Operator{besselK0, besselK1, besselK0Scaled, besselK1Scaled} {
		if a, b, c, d := onNumber(o, 0), onNumber(o, 5e-324), onNumber(o, math.Inf(1)), onNumber(o, -1); !math.IsInf(a, 1) || !math.IsInf(b, 1) || c != 0 || d == d {
			t.Errorf("at 0, beside it, at infinity and below zero: %v %v %v %v", a, b, c, d)
		}
	}
}

// TestTrigamma compares with the general polygamma of order one, and its limits.
func TestTrigamma(t *testing.T) {
	for x := -30.0; x < 60; x += 0.0703125 {
		if got, want := onNumber(trigammaOp, x), polygamma(1)(x); math.Abs(got-want) > 4e-15*math.Abs(want) {
			t.Errorf("trigamma of %v is %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{1e-320, 1e-200, 1e-100, 1e-9, 8.999999, 9, 1e10, 1e200, math.MaxFloat64, math.Inf(1), 0, -1, -17, -1e20, math.Inf(-1)} {
		got, want := onNumber(trigammaOp, x), polygamma(1)(x)
		if got != want && !(math.Abs(got-want) <= 4e-15*want) {
			t.Errorf("trigamma of %v is %v, want %v", x, got, want)
		}
	}
	if got := onNumber(trigammaOp, math.NaN()); got == got {
		t.Errorf("trigamma of NaN is %v", got)
	}
}

// TestScaledErfc compares with numbers of 20 digits. Those from 25 on had eleven.
func TestScaledErfc(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{0.0, 1.0},
		{0.5, 0.61569034419292587487},
		{3, 0.17900115118138995042},
		{24.9, 0.022639987776049506286},
		{25, 0.022549572432641358944},
		{27.3, 0.020652448329847556495},
		{27.5, 0.020502447384614797762},
		{50, 0.0112815362653237725},
		{10000.0, 0.000056418958072680836921},
		{1e+200, 5.6418958354775630402e-201},
		{-0.5, 1.9523604891825570933},
		{-5, 144009798674.66104041},
		{-20, 1.0442939379528287901e+174},
		{-26.5, 1.9245531624185688092e+305},
	} {
		if got := onNumber(scaledErfc, c.x); math.Abs(got-c.want) > 1e-15*math.Abs(c.want) {
			t.Errorf("the scaled erfc of %v is %v, want %v", c.x, got, c.want)
		}
	}
	if a, b, c := onNumber(scaledErfc, math.Inf(1)), onNumber(scaledErfc, -30), onNumber(scaledErfc, math.Inf(-1)); a != 0 || !math.IsInf(b, 1) || !math.IsInf(c, 1) {
		t.Errorf("the scaled erfc of infinity, -30 and minus infinity is %v %v %v", a, b, c)
	}
}

func TestLogNormalCDF(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{-10000.0, -50000010.129278915181},
		{-60, -1805.0135606805671387},
		{-40, -804.60844201375378817},
		{-10, -53.231285150512470578},
		{-1.0000001, -1.8410217975227952154},
		{-1, -1.8410216450092635058},
		{-0.5, -1.1759117615936186089},
		{0.25, -0.51298407540943043213},
		{3, -0.0013508099647481937988},
	} {
		if got := onNumber(logNormalCDF, c.x); math.Abs(got-c.want) > 2e-15*math.Abs(c.want) {
			t.Errorf("the logarithm at %v is %v, want %v", c.x, got, c.want)
		}
	}
	if a, b := onNumber(logNormalCDF, math.Inf(1)), onNumber(logNormalCDF, math.Inf(-1)); a != 0 || !math.IsInf(b, -1) {
		t.Errorf("the logarithms at infinity and minus infinity are %v %v", a, b)
	}
}

// TestNormalQuantile compares with numbers of 20 digits.
func TestNormalQuantile(t *testing.T) {
	for _, c := range []struct{ p, want float64 }{
		{5e-324, -38.467405617144346251},
		{1e-300, -37.047096299361199237},
		{1e-23, -9.9730456198422305754},
		{3e-11, -6.5437376896778034696},
		{0.1249999, -1.150349866158437367},
		{0.1250001, -1.1503488945938504541},
		{1e-20, -9.2623400897984075796},
		{1e-10, -6.3613409024040561991},
		{1.1e-09, -5.9823063453685583393},
		{2e-08, -5.4908517521043494453},
		{1e-05, -4.2648907939228246102},
		{0.003, -2.7477813854449928365},
		{0.02, -2.0537489106318230443},
		{0.0999, -1.2821215797087744746},
		{0.1, -1.2815515655446004353},
		{0.3, -0.52440051270804081597},
		{0.75, 0.6744897501960817432},
		{0.95, 1.6448536269514722843},
	} {
		if got := onNumber(normalQuantile, c.p); math.Abs(got-c.want) > 2e-15*math.Abs(c.want) {
			t.Errorf("the quantile of %v is %v, want %v", c.p, got, c.want)
		}
	}
	if a, b, c, d := onNumber(normalQuantile, 0), onNumber(normalQuantile, 1), onNumber(normalQuantile, 0.5), onNumber(normalQuantile, -1); !math.IsInf(a, -1) || !math.IsInf(b, 1) || c != 0 || d == d {
		t.Errorf("the quantiles of 0, 1, 1/2 and -1 are %v %v %v %v", a, b, c, d)
	}
}

func BenchmarkTrigamma(b *testing.B) {
	f := polygamma(1)
	sum := 0.0
	for i := 0; b.Loop(); i++ {
		sum += f(0.1 + float64(i%50)*0.1)
	}
}

// TestBesselOfSingles compares Bessel functions of float32, which kernels compute, with those of package math: around zeros of both kinds, where the ways meet, and far away.
func TestBesselOfSingles(t *testing.T) {
	places := []float64{0, 1e-30, 0.5, 0.89357696, 2.4048256, 3.8317059, 5.5200782, 7.9999995, 8, 8.000001, 8.653728, 31.5, 1e4, 3e20, math.Inf(1), math.NaN()}
	for _, c := range []struct {
		f  *besselPair
		of [2]func(float64) float64
	}{{&besselOrder0, [2]func(float64) float64{math.J0, math.Y0}}, {&besselOrder1, [2]func(float64) float64{math.J1, math.Y1}}} {
		for kind, of := range c.of {
			op := elementwise.New("bessel", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
				return c.f.of(b, x[0], kind == 1)
			})
			for _, place := range append(places, -2.5, -9, math.Inf(-1)) {
				x := float32(place)
				got, want := tensor.Data[float32](op.On(source.Must(tensor.FromSlice([]float32{x}, 1))))[0], float32(of(float64(x)))
				apart := math.Abs(float64(got) - float64(want))
				if same := got == want || got != got && want != want; !same && !(apart <= 1.2e-7*math.Abs(float64(want))) {
					t.Errorf("order %d, kind %d of %v is %v, not %v", c.f.order, kind, x, got, want)
				}
			}
		}
	}
}
