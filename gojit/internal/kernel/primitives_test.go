package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// run evaluates a kernel of one output over inputs of one length and returns the output.
func run[D tensor.Element](t testing.TB, k *Kernel, inputs ...*tensor.Tensor) []D {
	t.Helper()
	p, err := NewProgram(k)
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

// TestFma32RoundsOnce compares with exact arithmetic on operands that nearly cancel or nearly tie.
func TestFma32RoundsOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		a := math.Float32frombits(rng.Uint32()&0x807fffff | (100+rng.Uint32N(50))<<23)
		b := math.Float32frombits(rng.Uint32()&0x807fffff | (1+rng.Uint32N(150))<<23)
		c := float32(-float64(a) * float64(b) * (1 + float64(rng.Uint32N(4)-1)/(1<<22)))
		if rng.Uint32N(2) == 0 {
			c = math.Float32frombits(rng.Uint32()&0x80ffffff | rng.Uint32N(200)<<23)
		}
		exact := new(big.Float).SetPrec(500).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		exact.Add(exact, big.NewFloat(float64(c)))
		want, _ := exact.Float32()
		if got := fma32(a, b, c); got != want {
			t.Fatalf("%v*%v + %v = %v, want %v", a, b, c, got, want)
		}
	}
	inf := float32(math.Inf(1))
	for _, v := range [][4]float32{{inf, 1, 1, inf}, {1, 2, -inf, -inf}, {math.MaxFloat32, 2, -inf, -inf}, {math.MaxFloat32, 2, 0, inf}} {
		if got := fma32(v[0], v[1], v[2]); got != v[3] {
			t.Errorf("%v*%v + %v = %v", v[0], v[1], v[2], got)
		}
	}
	if got := fma32(inf, 0, 1); got == got {
		t.Errorf("infinity*0 + 1 = %v", got)
	}
}

func TestScale(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range [][3]float64{
		{1.5, 3, 12}, {1.5, -1074, 1e-323}, {1.25, -1074, 5e-324}, {1, -1075, 0}, {1, 1024, inf}, {-1, 1e9, -inf}, {1, -1e9, 0},
		{5e-324, 2097, 0x1p1023}, {3, 1.75, 6}, {3, -0.25, 1.5}, {inf, -5, inf}, {0, inf, nan}, {1, inf, inf}, {-1, -inf, math.Copysign(0, -1)}, {inf, -inf, nan}, {nan, 1, nan}, {1, nan, nan},
	} {
		if got := scale(c[0], c[1]); math.Float64bits(got) != math.Float64bits(c[2]) && !(got != got && c[2] != c[2]) {
			t.Errorf("scale(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

func TestBitsAndIota(t *testing.T) {
	b := NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	b.Output(b.Add(b.Bits(x), b.Iota(tensor.Int32)), tensor.Int32)
	data := make([]float32, 200000)
	for i := range data {
		data[i] = float32(i) - 7.5
	}
	for i, got := range run[int32](t, b.Kernel(), vector(t, data)) {
		if want := int32(math.Float32bits(data[i])) + int32(i); got != want {
			t.Fatalf("element %d: %d, want %d", i, got, want)
		}
	}
}

// TestIotaCountsInTheOrderOfTheShape runs over a transposed tensor.
func TestIotaCountsInTheOrderOfTheShape(t *testing.T) {
	b := NewBuilder()
	x := b.Input(tensor.Float64, tensor.Float64)
	b.Output(b.Add(b.Convert(x, tensor.Int64), b.Iota(tensor.Int64)), tensor.Int64)
	p, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	in, _ := tensor.Zeros([]int{3, 500}, tensor.Float64)
	in, _ = in.T()
	out, _ := tensor.Empty([]int{3, 500}, tensor.Int64)
	out, _ = out.T()
	p.Run([]*tensor.Tensor{out, in}, nil)
	for i := range 500 {
		for j := range 3 {
			if got := out.At(i, j).Int64(); got != int64(3*i+j) {
				t.Fatalf("element %d,%d has number %d", i, j, got)
			}
		}
	}
}

func TestPrintOfPrimitives(t *testing.T) {
	b := NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	b.Reduce(ReduceMax, b.Scale(b.Fma(x, x, b.Number(x, 1)), b.Bits(b.Iota(tensor.Int32))), tensor.Float16)
	want := `%0 : float32 = load in0 : float32
%1 : float32 = const 1
%2 : float32 = fma %0 %0 %1
%3 : int32 = iota
%4 : float32 = bits %3
%5 : float32 = scale %2 %4
out0 : float16 = max %5
`
	if got := b.Kernel().String(); got != want {
		t.Errorf("got\n%s", got)
	}
	if err := b.Kernel().Verify(); err != nil {
		t.Error(err)
	}
}
