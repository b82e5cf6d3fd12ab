package expand

import (
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// run evaluates a kernel of one output over inputs of one length and returns the output.
func run[D tensor.Element](t testing.TB, k *kernel.Kernel, inputs ...*tensor.Tensor) []D {
	t.Helper()
	p, err := kernel.NewProgram(k)
	if err != nil {
		t.Fatalf("%v\n%s", err, k)
	}
	out, err := tensor.Empty(inputs[0].Shape(), k.Outputs[0].DType)
	if err != nil {
		t.Fatal(err)
	}
	p.Run(append([]*tensor.Tensor{out}, inputs...), nil)
	return tensor.Data[D](out)
}

func vector[T tensor.Element](t testing.TB, data []T) *tensor.Tensor {
	t.Helper()
	v, err := tensor.FromSlice(data, len(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// unaryKernel applies an operation to its input.
func unaryKernel(op kernel.Op, t tensor.DType) *kernel.Kernel {
	b := kernel.NewBuilder()
	y := b.Unary(op, b.Input(t, t))
	b.Output(y, b.Type(y))
	return b.Kernel()
}

// samples32 holds special values and numbers of every exponent, more of them around one.
func samples32(n int) []float32 {
	rng := rand.New(rand.NewPCG(3, 4))
	values := []float32{0, 1, 0.5, 2, 0x1p-149, 0x1p-126, 0x1.fffffcp-127, math.MaxFloat32, 0x1p-12, 0x1p-24, 0x1p-30, 0.75, 1.5,
		88.72283, 88.72284, 89.4, 89.5, 87.33, 103.97, 104, 9, 10, 17.3, 127, 128, 149, 150, 1e5, 1 << 17, 1<<17 - 1, 1e10, 1e38, 16367173 << 72, float32(math.Inf(1)), float32(math.NaN())}
	for _, v := range values {
		values = append(values, -v)
	}
	for k := range 40 { // near the zeros of functions of angles
		values = append(values, float32(float64(k*k*k)*math.Pi/2), -float32(float64(k)*math.Pi/4))
	}
	for len(values) < n {
		near := float32(rng.NormFloat64())
		values = append(values, math.Float32frombits(rng.Uint32()), near, 10*near, 40*near, 1+near*0x1p-10, 0.3*near)
	}
	return values
}

// spacing32 is the distance of float32 numbers at v.
func spacing32(v float64) float64 {
	exponent := max(math.Ilogb(v), -126)
	return math.Ldexp(1, min(exponent, 127)-23)
}

// checkUlps compares results with references and returns the largest error.
func checkUlps[T kernel.Float](t *testing.T, name string, in, got []T, want func(float64) float64, spacing func(float64) float64, bound float64) {
	t.Helper()
	worst, at, failures := 0.0, 0, 0
	for i, x := range in {
		w := want(float64(x))
		off := ulpsApart(got[i], w, spacing)
		if off > bound && failures < 5 {
			failures++
			t.Errorf("%s(%v = %x) = %v, want %v: %.3g ulp", name, x, float64(x), got[i], w, off)
		}
		if off > worst {
			worst, at = off, i
		}
	}
	t.Logf("%s is at most %.3f ulp off, at %v", name, worst, in[at])
}

// ulpsApart is the distance of a result from the exact value in units of the last place. Where the
// value is zero, NaN or rounds to an infinite number, the result must be the same.
func ulpsApart[T kernel.Float](got T, want float64, spacing func(float64) float64) float64 {
	rounded := T(want)
	switch g := float64(got); {
	case got == rounded && (want != 0 || math.Signbit(g) == math.Signbit(want)), got != got && want != want:
		return 0
	case want == 0 || want != want || got != got || math.IsInf(want, 0):
		return math.Inf(1)
	case math.IsInf(g, 0): // in place of the largest number, which may be half a unit off
		return 0.5 + (math.MaxFloat32-math.Abs(want))/spacing(want)
	}
	return math.Abs(float64(got)-want) / spacing(want)
}

// targets are the sets of primitives that expansions tell apart.
var targets = []Primitives{{}, {Scale: true}, {Scale: true, Mantissa: true}}

func TestExpansions32(t *testing.T) {
	in := samples32(200000)
	for op := range expansions {
		f := kernel.RealFunction(kernel.Op(op))
		bound, ok := ErrorBound(kernel.Op(op), tensor.Float32)
		if !ok || f == nil {
			continue
		}
		k := Expand(unaryKernel(kernel.Op(op), tensor.Float32))
		checkUlps(t, kernel.Op(op).String(), in, run[float32](t, k, vector(t, in)), f, spacing32, bound)
	}
}

// logistic makes 1 / (1 + exp(-x)).
func logistic(b *kernel.Builder, x kernel.Value) kernel.Value {
	one := b.Number(x, 1)
	return b.Div(one, b.Add(b.Exp(b.Neg(x)), one))
}

// TestLogistic has quotients by 1 + exp(-x): of 1, and of x, where each is more exact than its parts are.
func TestLogistic(t *testing.T) {
	in := samples32(200000)
	exact := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for _, target := range targets {
		b := kernel.NewBuilder()
		b.Output(logistic(b, b.Input(tensor.Float32, tensor.Float32)), tensor.Float32)
		k := For(b.Kernel(), target)
		got := run[float32](t, k, vector(t, in))
		for i, x := range in {
			want := exact(float64(x))
			if x < -89.4159 { // where half of exp(-x) is infinite, and the result less than the smallest normal number
				want = 0
			}
			if off := ulpsApart(got[i], want, spacing32); off > 2.5 {
				t.Fatalf("%v: 1/(1+exp(%v)) = %v, want %v", target, -x, got[i], want)
			}
		}
		b = kernel.NewBuilder()
		x := b.Input(tensor.Float32, tensor.Float32)
		b.Output(b.Div(x, b.Add(b.Number(x, 1), b.Exp(b.Neg(x)))), tensor.Float32)
		for i, y := range run[float32](t, For(b.Kernel(), target), vector(t, in)) {
			want := float64(in[i]) * exact(float64(in[i]))
			if in[i] < -89.4159 && in[i] > float32(math.Inf(-1)) {
				want = math.Copysign(0, -1)
			}
			if off := ulpsApart(y, want, spacing32); off > 3 {
				t.Fatalf("%v: %v/(1+exp) = %v, want %v", target, in[i], y, want)
			}
		}
	}
}

// TestExpandKeepsTheRest has a function without an expansion, and two outputs of which one is reduced.
func TestExpandKeepsTheRest(t *testing.T) {
	b := kernel.NewBuilder()
	x, n := b.Input(tensor.Float64, tensor.Float64), b.Input(tensor.Int64, tensor.Int64)
	b.Param(tensor.Float32)
	b.Output(b.Binary(kernel.Pow, n, n), tensor.Int64)
	b.Reduce(kernel.ReduceSum, b.Unary(kernel.IsNaN, x), tensor.Bool)
	want := `%0 : float64 = load in0 : float64
%1 : int64 = load in1 : int64
%2 : float32 = param p0
%3 : int64 = pow %1 %1
%4 : bool = ne %0 %0
out0 : int64 = %3
out1 : bool = sum %4
`
	if got := Expand(b.Kernel()).String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestExpandExp shows what a sigmoid becomes: the sign of the exponent goes into the constants.
func TestExpandExp(t *testing.T) {
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	one := b.Number(x, 1)
	b.Output(b.Div(one, b.Add(one, b.Exp(b.Neg(x)))), tensor.Float32)
	want := `%0 : float32 = load in0 : float32
%1 : float32 = const 1.2582912e+07
%2 : float32 = const -1.442695
%3 : float32 = const 0.6931472
%4 : float32 = const -1.9046542e-09
%5 : float32 = const 0.5
%6 : float32 = const -89.5
%7 : float32 = const 80
%8 : float32 = min %7 %0
%9 : float32 = max %6 %8
%10 : float32 = fma %9 %2 %1
%11 : float32 = sub %10 %1
%12 : float32 = fma %11 %3 %9
%13 : float32 = fma %11 %4 %12
%14 : float32 = const 0.000691833
%15 : float32 = const -0.004184569
%16 : float32 = fma %14 %13 %15
%17 : float32 = const 0.020834053
%18 : float32 = fma %16 %13 %17
%19 : float32 = const -0.08333258
%20 : float32 = fma %18 %13 %19
%21 : float32 = const 0.24999997
%22 : float32 = fma %20 %13 %21
%23 : float32 = const -0.5
%24 : float32 = fma %22 %13 %23
%25 : float32 = fma %24 %13 %5
%26 : float32 = scale %25 %11
%27 : float32 = add %5 %26
%28 : float32 = div %5 %27
out0 : float32 = %28
`
	if got := Expand(b.Kernel()).String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestSpecialValues64 compares where rounding is not the question. Package math is a unit off itself.
func TestSpecialValues64(t *testing.T) {
	in := []float64{0, 0x1p-1074, 0x1p-1022, 0x1p-60, 0.5, 1, 2, 20, 709.7, 709.79, 710.4, 710.5, 745, 746, 1e10, 1e160, math.MaxFloat64, math.Inf(1), math.NaN()}
	for _, v := range in {
		in = append(in, -v)
	}
	spacing := func(v float64) float64 { return math.Ldexp(1, min(max(math.Ilogb(v), -1022), 1023)-52) }
	for _, op := range kernel.Functions() {
		f := kernel.RealFunction(op)
		bound, ok := ErrorBound(op, tensor.Float64)
		if !ok {
			continue
		}
		args, spacing := in, spacing
		if op == kernel.Digamma || op == kernel.Lgamma { // their bounds are in units of the larger one of the result and one
			spacing = func(v float64) float64 { return math.Ldexp(1, max(math.Ilogb(v), 0)-52) }
		}
		if op == kernel.Sin || op == kernel.Cos || op == kernel.Tan { // package math has too few digits of pi for large numbers
			args = slices.DeleteFunc(slices.Clone(in), func(v float64) bool { return math.Abs(v) > 1e100 && !math.IsInf(v, 0) })
		}
		for _, target := range targets {
			k := For(unaryKernel(op, tensor.Float64), target)
			checkUlps(t, op.String(), args, run[float64](t, k, vector(t, args)), f, spacing, bound+1)
		}
	}
}

// measure is the magnitude by which an error is measured: that of a result, and for some functions another one.
func measure(op kernel.Op, x, result float64) float64 {
	switch {
	case op == kernel.Digamma:
		return max(1, math.Abs(result))
	case op == kernel.Lgamma && x < 0 && !math.IsInf(result, 0):
		return max(1, math.Abs(result), kernel.RealFunction(kernel.Lgamma)(-x))
	}
	return result
}

// TestGamma64 compares with the evaluator. Beside its poles digamma has not many digits.
func TestGamma64(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	var in []float64
	for range 20000 {
		in = append(in, 4*rng.NormFloat64(), math.Exp(40*rng.NormFloat64()), 1.4616321449683622+rng.NormFloat64()*1e-6)
	}
	for _, op := range []kernel.Op{kernel.Lgamma, kernel.Digamma} {
		bound, _ := ErrorBound(op, tensor.Float64)
		k := unaryKernel(op, tensor.Float64)
		want := run[float64](t, k, vector(t, in))
		for i, got := range run[float64](t, Expand(k), vector(t, in)) {
			apart := 1.0
			if in[i] < 0 && op == kernel.Digamma {
				apart = min(1, math.Abs(in[i]-math.Round(in[i]))*4)
			}
			if off := math.Abs(got-want[i]) / math.Abs(measure(op, in[i], want[i])); off*apart > bound*0x1p-52 || off != off && want[i] != 0 {
				t.Errorf("%s(%v) = %v, want %v", op, in[i], got, want[i])
			}
		}
	}
}

// TestClassesOfNumbers compares expansions that must give what the evaluator gives.
func TestClassesOfNumbers(t *testing.T) {
	in := samples32(1000)
	for _, op := range []kernel.Op{kernel.Sign, kernel.Angle} {
		k := unaryKernel(op, tensor.Float32)
		want, got := run[float32](t, k, vector(t, in)), run[float32](t, Expand(k), vector(t, in))
		for i, x := range in {
			if ulpsApart(got[i], float64(want[i]), spacing32) != 0 {
				t.Errorf("%s(%v) = %v, want %v", op, x, got[i], want[i])
			}
		}
	}
	for i, got := range run[bool](t, Expand(unaryKernel(kernel.IsNaN, tensor.Float32)), vector(t, in)) {
		if x := in[i]; got != (x != x) {
			t.Errorf("isnan(%v) = %v", x, got)
		}
	}
}

// exact is a function's result of one or two arguments, as the sum of two numbers.
type exact struct {
	args      []float64
	high, low float64
}

// off is how far a result is from the exact one, in units of the last place.
func (x *exact) off(op kernel.Op, got float64) float64 {
	spacing := math.Ldexp(1, max(math.Ilogb(measure(op, x.args[0], x.high)), -1022)-52)
	return math.Abs((got-x.high)-x.low) / spacing
}

func readExact(t *testing.T, file string) map[string][]exact {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	results := map[string][]exact{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		fields := strings.Fields(line)
		if fields[0] == "#" {
			continue
		}
		v := make([]float64, len(fields)-1)
		for i := range v {
			if v[i], err = strconv.ParseFloat(fields[i+1], 64); err != nil {
				t.Fatal(err)
			}
		}
		n := len(v) - 2
		results[fields[0]] = append(results[fields[0]], exact{v[:n], v[n], v[n+1]})
	}
	return results
}

// TestExpansions64 compares with results of many digits.
func TestExpansions64(t *testing.T) {
	for name, cases := range readExact(t, "testdata/functions.txt") {
		op := kernel.Op(slices.Index(kernel.OpNames[:], name))
		in := make([]float64, len(cases))
		for i, c := range cases {
			in[i] = c.args[0]
		}
		for _, target := range targets {
			checkExact(t, op, cases, run[float64](t, For(unaryKernel(op, tensor.Float64), target), vector(t, in)))
		}
	}
}

// checkExact compares results with exact ones where there is an expansion.
func checkExact(t *testing.T, op kernel.Op, cases []exact, got []float64) {
	t.Helper()
	bound, ok := ErrorBound(op, tensor.Float64)
	if !ok {
		return
	}
	worst := 0.0
	for i, c := range cases {
		off := c.off(op, got[i])
		if !(off <= bound) {
			t.Errorf("%s(%v) = %v, want %v: %.3g ulp", op, c.args, got[i], c.high, off)
		}
		worst = max(worst, off)
	}
	t.Logf("%s is at most %.3f ulp off", op, worst)
}

// TestPowers64 compares with results of many digits.
func TestPowers64(t *testing.T) {
	cases := readExact(t, "testdata/pairs.txt")["pow"]
	x, y := make([]float64, len(cases)), make([]float64, len(cases))
	for i, c := range cases {
		x[i], y[i] = c.args[0], c.args[1]
	}
	for _, target := range targets {
		checkExact(t, kernel.Pow, cases, run[float64](t, For(binaryKernel(kernel.Pow, tensor.Float64), target), vector(t, x), vector(t, y)))
	}
}

// binaryKernel applies an operation to its inputs.
func binaryKernel(op kernel.Op, t tensor.DType) *kernel.Kernel {
	b := kernel.NewBuilder()
	x, y := b.Input(t, t), b.Input(t, t)
	b.Output(b.Binary(op, x, y), t)
	return b.Kernel()
}

// TestBinaryExpansions64 compares with the evaluator: special values in pairs, quotients of every size, remainders to the bit.
func TestBinaryExpansions64(t *testing.T) {
	special := []float64{0, 1, 0.5, 2, 3, 0x1p-1074, 0x1p-1022, 0x1.fp-1000, 1e300, math.MaxFloat64, 9007199254740993, math.Inf(1), math.NaN()}
	var x, y []float64
	for _, a := range special {
		for _, b := range special {
			x, y = append(x, a, -a, a, -a), append(y, b, b, -b, -b)
		}
	}
	rng := rand.New(rand.NewPCG(6, 7))
	for range 4000 {
		x, y = append(x, math.Float64frombits(rng.Uint64())), append(y, math.Float64frombits(rng.Uint64()))
		x, y = append(x, 1e6*rng.NormFloat64()), append(y, rng.NormFloat64())
	}
	for _, op := range []kernel.Op{kernel.Rem, kernel.Mod, kernel.FloorDiv, kernel.NextAfter, kernel.Pow, kernel.Atan2} {
		k := binaryKernel(op, tensor.Float64)
		want := run[float64](t, k, vector(t, x), vector(t, y))
		for _, target := range targets {
			for i, got := range run[float64](t, For(k, target), vector(t, x), vector(t, y)) {
				same := math.Float64bits(got) == math.Float64bits(want[i]) || got != got && want[i] != want[i]
				if (op == kernel.Pow || op == kernel.Atan2) && !same { // package math is some units off itself
					same = math.Abs(got-want[i]) <= 1e-14*math.Abs(want[i]) || math.Abs(want[i]) < 1e-300 && math.Abs(got-want[i]) < 1e-310
				}
				if !same {
					t.Fatalf("%s(%x, %x) = %x, want %x", op, x[i], y[i], got, want[i])
				}
			}
		}
	}
}

// TestBinaryExpansions32 compares with package math, for every pair of special values as well.
func TestBinaryExpansions32(t *testing.T) {
	special := samples32(200)[:70]
	x, y := samples32(100000), samples32(100000)
	rng := rand.New(rand.NewPCG(5, 6))
	rng.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
	for _, a := range special {
		for _, b := range append(special, 3, -3, 2.5, 1e9+64) {
			x, y = append(x, a), append(y, b)
		}
	}
	for op, f := range map[kernel.Op]func(a, b float64) float64{
		kernel.Atan2: math.Atan2, kernel.Pow: math.Pow, kernel.Rem: math.Mod,
		kernel.NextAfter: func(a, b float64) float64 {
			if a == b {
				return b
			}
			return float64(math.Nextafter32(float32(a), float32(b)))
		},
		kernel.Mod:      func(a, b float64) float64 { return float64(kernel.FloatMod(float32(a), float32(b))) },
		kernel.FloorDiv: func(a, b float64) float64 { return float64(kernel.FloatFloorDiv(float32(a), float32(b))) },
	} {
		b := kernel.NewBuilder()
		v, w := b.Input(tensor.Float32, tensor.Float32), b.Input(tensor.Float32, tensor.Float32)
		b.Output(b.Binary(op, v, w), tensor.Float32)
		got := run[float32](t, Expand(b.Kernel()), vector(t, x), vector(t, y))
		bound, _ := ErrorBound(op, tensor.Float32)
		worst, failures := 0.0, 0
		for i := range got {
			want := f(float64(x[i]), float64(y[i]))
			off := ulpsApart(got[i], want, spacing32)
			if off > bound && failures < 8 {
				failures++
				t.Errorf("%s(%v, %v) = %v, want %v", op, x[i], y[i], got[i], want)
			}
			worst = max(worst, off)
		}
		t.Logf("%s is at most %.3f ulp off", op, worst)
	}
}

// TestManyTurns has the arguments of each exponent that come nearest to a multiple of pi/2 among many, and
// the worst of all float32.
func TestManyTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	in := []float32{16367173 << 72, 0x1.f9cbe2p+7 * 3.3706, 0x1.47d0fep34, 0x1.e2bf2ap114}
	for exponent := 17; exponent < 128; exponent++ {
		best, least := float32(0), 2.0
		for range 20000 {
			x := math.Float32frombits(uint32(exponent+127)<<23 | rng.Uint32()>>9)
			sin, cos := math.Sincos(float64(x))
			if d := min(math.Abs(sin), math.Abs(cos)); d < least {
				best, least = x, d
			}
		}
		in = append(in, best, -best)
	}
	for op, f := range map[kernel.Op]func(float64) float64{kernel.Sin: math.Sin, kernel.Cos: math.Cos, kernel.Tan: math.Tan} {
		bound, _ := ErrorBound(op, tensor.Float32)
		checkUlps(t, op.String(), in, run[float32](t, Expand(unaryKernel(op, tensor.Float32)), vector(t, in)), f, spacing32, bound)
	}
}

func BenchmarkExpand(b *testing.B) {
	for _, op := range []kernel.Op{kernel.Exp, kernel.Tanh, kernel.Log, kernel.Erf, kernel.Sin} {
		k := unaryKernel(op, tensor.Float32)
		b.Run(op.String(), func(b *testing.B) {
			for b.Loop() {
				Expand(k)
			}
		})
	}
}

// TestTargetsAgree compares the bits that different primitives give.
func TestTargetsAgree(t *testing.T) {
	single := samples32(20000)
	double := make([]float64, len(single))
	for i, v := range single {
		double[i] = float64(v) * (1 + float64(i)*0x1p-50)
	}
	for _, op := range kernel.Functions() {
		for _, target := range targets[1:] {
			if _, ok := ErrorBound(op, tensor.Float32); ok {
				want := run[float32](t, For(unaryKernel(op, tensor.Float32), targets[0]), vector(t, single))
				sameBits(t, op, single, run[float32](t, For(unaryKernel(op, tensor.Float32), target), vector(t, single)), want)
			}
			if _, ok := ErrorBound(op, tensor.Float64); ok {
				want := run[float64](t, For(unaryKernel(op, tensor.Float64), targets[0]), vector(t, double))
				sameBits(t, op, double, run[float64](t, For(unaryKernel(op, tensor.Float64), target), vector(t, double)), want)
			}
		}
	}
}

func sameBits[T kernel.Float](t *testing.T, op kernel.Op, in, got, want []T) {
	t.Helper()
	for i := range got {
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) && (got[i] == got[i] || want[i] == want[i]) {
			t.Errorf("%s(%v) is %v or %v", op, in[i], got[i], want[i])
			return
		}
	}
}

// TestExpOfNegative has the bits of exp of a negated input.
func TestExpOfNegative(t *testing.T) {
	in := samples32(50000)
	negated := make([]float32, len(in))
	for i, v := range in {
		negated[i] = -v
	}
	b := kernel.NewBuilder()
	b.Output(b.Exp(b.Neg(b.Input(tensor.Float32, tensor.Float32))), tensor.Float32)
	for _, target := range targets {
		want := run[float32](t, For(unaryKernel(kernel.Exp, tensor.Float32), target), vector(t, negated))
		sameBits(t, kernel.Exp, in, run[float32](t, For(b.Kernel(), target), vector(t, in)), want)
	}
}

// TestConstantPowers compares powers with a constant base or exponent.
func TestConstantPowers(t *testing.T) {
	in := samples32(50000)
	for _, c := range []struct {
		base, exponent float64 // NaN: the input
		instructions   int
	}{{math.NaN(), 2, 2}, {math.NaN(), 1, 1}, {math.NaN(), -1, 3}, {2, math.NaN(), 25}} {
		b := kernel.NewBuilder()
		x := b.Input(tensor.Float32, tensor.Float32)
		operand := func(f float64) kernel.Value {
			if f != f {
				return x
			}
			return b.Number(x, f)
		}
		b.Output(b.Binary(kernel.Pow, operand(c.base), operand(c.exponent)), tensor.Float32)
		k := Expand(b.Kernel())
		if n := len(k.Instrs); n > c.instructions {
			t.Errorf("power of %v to %v has %d instructions", c.base, c.exponent, n)
		}
		want := func(x float64) float64 {
			if c.base != c.base {
				return math.Pow(x, c.exponent)
			}
			return math.Pow(c.base, x)
		}
		bound, _ := ErrorBound(kernel.Pow, tensor.Float32)
		checkUlps(t, "pow", in, run[float32](t, k, vector(t, in)), want, spacing32, bound)
	}
}

// TestGammaNearZeros has the numbers next to where the functions change their sign: results are small
// against what they are the difference of.
func TestGammaNearZeros(t *testing.T) {
	for _, op := range []kernel.Op{kernel.Lgamma, kernel.Digamma} {
		f := kernel.RealFunction(op)
		var in []float32
		for x := float32(-6); x < 4; x += 0x1p-10 {
			if low, high, ok := signChange(f, x, x+0x1p-10); ok {
				in = append(in, low, high)
			}
		}
		if len(in) < 10 {
			t.Fatalf("%d changes of sign", len(in)/2)
		}
		bound, _ := ErrorBound(op, tensor.Float32)
		checkUlps(t, op.String(), in, run[float32](t, Expand(unaryKernel(op, tensor.Float32)), vector(t, in)), f, spacing32, bound)
	}
}

// signChange halves an interval at whose ends a function has different signs, as far as float32 goes.
func signChange(f func(float64) float64, low, high float32) (float32, float32, bool) {
	below := func(x float32) bool { return f(float64(x)) < 0 }
	if below(low) == below(high) {
		return 0, 0, false
	}
	for math.Nextafter32(low, high) < high {
		if middle := low + (high-low)/2; below(middle) == below(low) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high, true
}

// A kernel with tables is read back as it was written.
func TestTablesRoundTrip(t *testing.T) {
	k := Expand(unaryKernel(kernel.Erf, tensor.Float32))
	if len(k.Tables) == 0 {
		t.Fatal("erf has no tables")
	}
	again, err := kernel.Parse(k.String())
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != k.String() {
		t.Errorf("%s\nis read as\n%s", k, again)
	}
	for _, text := range []string{"table0 = 1 2 3", "table1 = 1", "%0 : int32 = iota\n%1 : float32 = lookup table0 %0\nout0 : float32 = %1"} {
		if _, err := kernel.Parse(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// Random kernels keep their types when they are expanded, and are read back as they were written.
func TestExpandedKernelsParseAndVerify(t *testing.T) {
	for seed := range uint64(500) {
		g := kernel.Generator{Rand: rand.New(rand.NewPCG(seed, 0)), Types: []tensor.DType{tensor.Bool, tensor.Int32, tensor.Int64, tensor.Float32, tensor.Float64, tensor.Complex64},
			Memory: []tensor.DType{tensor.Float16, tensor.BFloat16}, Instructions: 12, Reduce: seed%2 == 0}
		k := Expand(g.Kernel())
		if err := k.Verify(); err != nil {
			t.Fatalf("%v\n%s", err, k)
		}
		again, err := kernel.Parse(k.String())
		if err != nil || !reflect.DeepEqual(again, k) {
			t.Fatalf("%v: got\n%s\nwant\n%s", err, again, k)
		}
	}
}
