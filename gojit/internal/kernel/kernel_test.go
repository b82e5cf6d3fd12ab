package kernel

import (
	"math"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// gate is sigmoid(x*w + b) * p.
func gate(memory tensor.DType) *Kernel {
	b := NewBuilder()
	t := ComputeType(memory)
	x, w, bias := b.Input(memory, t), b.Input(memory, t), b.Input(memory, t)
	one := b.Const(t, tensor.Int(1))
	y := b.Add(b.Mul(x, w), bias)
	y = b.Div(one, b.Add(one, b.Exp(b.Neg(y))))
	b.Output(b.Mul(y, b.Param(t)), memory)
	return b.Kernel()
}

func sequence(t *testing.T, dtype tensor.DType, shape ...int) *tensor.Tensor {
	t.Helper()
	n, _ := tensor.Numel(shape)
	data := make([]float64, n)
	for i := range data {
		data[i] = float64(i%17)/8 - 1
	}
	x, err := tensor.FromSlice(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	x, err = x.To(dtype)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestProgramAgreesWithDefinition(t *testing.T) {
	for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		p, err := NewProgram(gate(dtype))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 3, 600, 1 << 17} {
			x := sequence(t, dtype, 4, n)
			column, _ := sequence(t, dtype, n, 4).T()
			bias := sequence(t, dtype, 1)
			out, _ := tensor.Empty([]int{4, n}, dtype)
			p.Run([]*tensor.Tensor{out, x, column, bias}, []tensor.Scalar{tensor.Float(3)})
			for _, at := range [][2]int{{0, 0}, {3, n - 1}, {2, n / 2}} {
				a := x.At(at[0], at[1]).Float64()*column.At(at[0], at[1]).Float64() + bias.At(0).Float64()
				want := 3 / (1 + math.Exp(-a))
				tolerance := map[tensor.DType]float64{tensor.Float32: 1e-6, tensor.Float64: 1e-14, tensor.Float16: 1e-3, tensor.BFloat16: 1e-2}[dtype]
				if got := out.At(at[0], at[1]).Float64(); math.Abs(got-want) > tolerance*3 {
					t.Fatalf("%v n=%d at %v: %v, want %v", dtype, n, at, got, want)
				}
			}
		}
	}
}

func TestInPlaceAndTwoOutputs(t *testing.T) {
	b := NewBuilder()
	x, y := b.Input(tensor.Int32, tensor.Int32), b.Input(tensor.Int64, tensor.Int32)
	b.Output(b.Add(x, y), tensor.Int32)
	b.Output(b.Binary(Lt, x, y), tensor.Bool)
	p, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	v, _ := tensor.FromSlice([]int32{1, 5, 3}, 3)
	w, _ := tensor.FromSlice([]int64{2, 2, 9}, 3)
	less, _ := tensor.Empty([]int{3}, tensor.Bool)
	p.Run([]*tensor.Tensor{v, less, v, w}, nil)
	if got := tensor.Data[int32](v); got[0] != 3 || got[1] != 7 || got[2] != 12 {
		t.Errorf("sums %v", got)
	}
	if got := tensor.Data[bool](less); !got[0] || got[1] || !got[2] {
		t.Errorf("comparison %v", got)
	}
}

func TestPrint(t *testing.T) {
	want := `%0 : float32 = load in0 : float16
%1 : float32 = load in1 : float16
%2 : float32 = load in2 : float16
%3 : float32 = const 1
%4 : float32 = mul %0 %1
%5 : float32 = add %4 %2
%6 : float32 = neg %5
%7 : float32 = exp %6
%8 : float32 = add %3 %7
%9 : float32 = div %3 %8
%10 : float32 = param p0
%11 : float32 = mul %9 %10
out0 : float16 = %11
`
	if got := gate(tensor.Float16).String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestVerifyRejects(t *testing.T) {
	b := NewBuilder()
	x := b.Input(tensor.Bool, tensor.Bool)
	b.Output(b.Unary(Sin, x), tensor.Bool)
	if err := b.Kernel().Verify(); err == nil || !strings.Contains(err.Error(), `"sin" is not implemented for 'Bool'`) {
		t.Errorf("sin of bool: %v", err)
	}
	b = NewBuilder()
	b.Output(b.Add(b.Input(tensor.Int8, tensor.Int8), b.Input(tensor.Int16, tensor.Int16)), tensor.Int16)
	if b.Kernel().Verify() == nil {
		t.Error("operands of two types pass")
	}
}

// TestFloat32Functions allows one unit in the last place.
func TestFloat32Functions(t *testing.T) {
	cases := []struct {
		name   string
		got    func(float32) float32
		want   func(float64) float64
		lo, hi float64
		ulps   float64
	}{
		{"exp", Exp32, math.Exp, -110, 95, 1}, {"tanh", Tanh32, math.Tanh, -12, 12, 1},
		{"log", Log32, math.Log, -1, 40, 1},
	}
	for _, c := range cases {
		check := func(v float32) {
			got, want := float64(c.got(v)), c.want(float64(v))
			if got == float64(float32(want)) || math.IsNaN(got) && math.IsNaN(want) {
				return
			}
			ulp := float64(math.Nextafter32(float32(math.Abs(want)), math.MaxFloat32)) - math.Abs(float64(float32(want)))
			if !(math.Abs(got-want) <= c.ulps*ulp) {
				t.Fatalf("%s(%v) = %v, want %v", c.name, v, got, want)
			}
		}
		for i := range 200000 {
			check(float32(c.lo + (c.hi-c.lo)*float64(i)/200000))
		}
		for _, v := range []float64{0, math.Copysign(0, -1), 1e-30, -1e-30, 1e-5, 3e-4, -3e-4, math.Inf(1), math.Inf(-1), math.NaN(), 1e-45, math.MaxFloat32, 88.72, -103.5, 1} {
			check(float32(v))
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	builder := NewBuilder()
	x, y := builder.Input(tensor.Float32, tensor.Float32), builder.Input(tensor.Float32, tensor.Float32)
	builder.Output(builder.Add(x, y), tensor.Float32)
	p, err := NewProgram(builder.Kernel())
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{16, 1 << 20} {
		v, _ := tensor.Zeros([]int{n}, tensor.Float32)
		w, _ := tensor.Zeros([]int{n}, tensor.Float32)
		out, _ := tensor.Zeros([]int{n}, tensor.Float32)
		b.Run(map[int]string{16: "16", 1 << 20: "1M"}[n], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Run([]*tensor.Tensor{out, v, w}, nil)
			}
		})
	}
}
