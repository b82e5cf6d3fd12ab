package kernel

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// allTypes are the types that kernels compute with.
var allTypes = []tensor.DType{tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
	tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128}

func newGenerator(seed uint64) *Generator {
	return &Generator{Rand: rand.New(rand.NewPCG(seed, 0)), Types: allTypes, Memory: []tensor.DType{tensor.Float16, tensor.BFloat16},
		Instructions: 12, Reduce: seed%2 == 0}
}

// roundTrip reads the text of a kernel back.
func roundTrip(t *testing.T, k *Kernel) {
	t.Helper()
	got, err := Parse(k.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, k)
	}
	if !reflect.DeepEqual(got, k) {
		t.Fatalf("got\n%s\nwant\n%s", got, k)
	}
}

func TestRandomKernelsParseVerifyAndRun(t *testing.T) {
	for seed := range uint64(500) {
		k := newGenerator(seed).Kernel()
		if err := k.Verify(); err != nil {
			t.Fatalf("%v\n%s", err, k)
		}
		roundTrip(t, k)
		if _, err := NewProgram(k); err != nil {
			t.Fatalf("%v\n%s", err, k)
		}
	}
}

// TestConstantsParse has numbers that print alike or not as numbers.
func TestConstantsParse(t *testing.T) {
	b := NewBuilder()
	inf, zero := math.Inf(1), math.Copysign(0, -1)
	for _, d := range allTypes {
		for _, f := range []float64{0, 1, 5, 0.1, -3, zero, inf, -inf, math.NaN(), 1e300, 5e-324} {
			if d.IsComplex() {
				b.Const(d, tensor.Complex(complex(f, -f)))
			} else if !d.IsIntegral() || f == math.Trunc(f) && math.Abs(f) < 1e9 {
				b.Const(d, tensor.Float(f))
			}
		}
	}
	b.Emit(Instr{Op: Const, Type: tensor.Float32, Imm: 0xffc12345})
	b.Output(b.Emit(Instr{Op: Const, Type: tensor.Complex128, Imm: 0x7ff8000000000123, Imm2: 7}), tensor.Complex128)
	roundTrip(t, b.Kernel())
}

func TestParseErrors(t *testing.T) {
	const start = "%0 : float32 = load in0 : float32\n"
	for text, want := range map[string]string{
		start + "out0 : float32 = %0 %0":                              "expected a reduction but found '%0':\n%0 : float32 = load in0 : float32\nout0 : float32 = %0 %0\n                 ~~ <--- HERE",
		start + "%1 : float32 = sine %0":                              "expected an operation but found 'sine'",
		start + "%2 : float32 = sin %0":                               "expected '%1' but found '%2'",
		start + "%1 : float32 = sin %1":                               "kernel: %1 uses %1, which is not made before it",
		start + "%1 : float32 = sin":                                  "expected '%' and a number but found ''",
		start + "%1 : float32 = sin %00":                              "expected '%' and a number but found '%00'",
		start + "%1 : float64 = sin %0":                               "kernel: %1 makes float64 of float32",
		start + "%1 : float = sin %0":                                 "expected a type but found 'float'",
		start + "%1 : float16 = convert %0":                           "kernel: %1 computes with float16",
		start + "%1 : int32 = const 1.5":                              "expected a number of type int32 but found '1.5'",
		start + "%1 : int8 = const 300":                               "kernel: %1 has bits that a int8 does not have",
		start + "%1 : float32 = const bits":                           "expected the bits of a number but found ''",
		start + "%1 : float32 = load in0 : float32":                   "in0 is loaded twice",
		start + "%1 : float32 = load in2 : float32\nout0 : bool = %0": "kernel: 0 instructions load in1",
		start + "%1 : float32 = param p1\nout0 : bool = %0":           "kernel: 0 instructions read p0",
		start + "%1 : float32 = param p99999":                         "there are at most 1024 parameters",
		start + "out0 : float32 = %1":                                 "kernel: out0 stores %1, which does not exist",
		start + "out0 : float32 = median %0":                          "expected a reduction but found 'median'",
		start:                                                         "kernel: there is no output",
		"%0 : complex64 = const (1+2i)\nout0 : complex64 = max %0":    "kernel: out0 reduces values of type complex64 in a way that is not defined",
	} {
		if _, err := Parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngives %v\nwant %s", text, err, want)
		}
	}
}

// TestVerifyFindsWrongKernels changes one thing in kernels that are right.
func TestVerifyFindsWrongKernels(t *testing.T) {
	for name, change := range map[string]func(k *Kernel){
		"an operation that is none":   func(k *Kernel) { k.Instrs[4].Op = NumOps },
		"a type of the result":        func(k *Kernel) { k.Instrs[4].Type = tensor.Int32 },
		"a negative operand":          func(k *Kernel) { k.Instrs[4].Args[1] = -1 },
		"an input without a load":     func(k *Kernel) { k.Inputs = append(k.Inputs, tensor.Int8) },
		"a parameter that nobody has": func(k *Kernel) { k.Params++ },
		"an output type":              func(k *Kernel) { k.Outputs[0].DType = tensor.NoDType },
		"an input type":               func(k *Kernel) { k.Inputs[0] = tensor.NoDType },
		"a reduction":                 func(k *Kernel) { k.Outputs[0].Reduce = 99 },
		"bits of a constant":          func(k *Kernel) { k.Instrs[3].Imm |= 1 << 40 },
	} {
		k := gate(tensor.Float32)
		if err := k.Verify(); err != nil {
			t.Fatal(err)
		}
		change(k)
		if k.Verify() == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(newGenerator(seed).Kernel().String())
	}
	f.Add("%0 : float32 = const bits 0x7fc00001\nout0 : float16 = sum %0\n\n")
	f.Add("out0")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := Parse(text)
		if err != nil {
			return
		}
		if err := k.Verify(); err != nil {
			t.Fatalf("%v of\n%s", err, text)
		}
		roundTrip(t, k)
	})
}
