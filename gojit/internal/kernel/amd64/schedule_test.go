package amd64

import (
	"math"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// lowered returns the generator of a function of one input, before and after the body was put in order.
func lowered(isa asm.ISA, f func(b *kernel.Builder, x kernel.Value) kernel.Value) (before []instruction, g *Generator) {
	b := kernel.NewBuilder()
	b.Output(f(b, b.Input(tensor.Float32, tensor.Float32)), tensor.Float32)
	g = &Generator{Lowerer: Lowerer{ISA: isa, Kernel: expand.For(b.Kernel(), PrimitivesOf(isa))}}
	g.Lower(0)
	g.chooseUnroll()
	before = g.code
	g.order()
	return before, g
}

// twoFunctions is sigmoid(x) * tanh(x): neither function waits for the other.
func twoFunctions(b *kernel.Builder, x kernel.Value) kernel.Value {
	one := b.Number(x, 1)
	return b.Mul(b.Div(one, b.Add(one, b.Exp(b.Neg(x)))), b.Unary(kernel.Tanh, x))
}

func TestOrder(t *testing.T) {
	before, g := lowered(asm.AVX512, twoFunctions)
	if len(g.code) != len(before) {
		t.Fatalf("%d instructions became %d", len(before), len(g.code))
	}
	made, changed := map[operand]bool{}, false
	for i := range g.code {
		in := &g.code[i]
		for _, o := range in.args {
			if o != none && !o.isUniform() && !made[o] {
				t.Fatalf("instruction %d reads what is not made yet", i)
			}
		}
		if in.d != none {
			made[in.d] = true
		}
		changed = changed || *in != before[i]
	}
	if !changed {
		t.Error("two functions stay one behind the other")
	}
	if pressure, most := newAllocator(&g.Lowerer, 1).pressure(), g.ISA.Registers()/g.Unroll; pressure > most {
		t.Errorf("each vector takes %d registers of %d", pressure, most)
	}
}

func TestOrderOfOtherSets(t *testing.T) {
	before, g := lowered(asm.AVX2, twoFunctions)
	for i := range before {
		if g.code[i] != before[i] {
			t.Fatal("the order changed where registers are few")
		}
	}
}

func TestJoinExact(t *testing.T) {
	for _, c := range []struct {
		name          string
		factor, added float64
		joined        bool
	}{
		{"a power of two", 2, 1, true}, {"a negative one", -8, 0.3, true},
		{"a fraction", 0.5, 1, false}, // 2**-149 / 2 is rounded
		{"another number", 3, 1, false},
		{"a sum that might not be infinite", 2, -math.MaxFloat32, false},
	} {
		_, g := lowered(asm.AVX512, func(b *kernel.Builder, x kernel.Value) kernel.Value {
			return b.Add(b.Mul(x, b.Number(x, c.factor)), b.Number(x, c.added))
		})
		joined := false
		for _, in := range g.code {
			joined = joined || in.kind == fusedMul
		}
		if joined != c.joined {
			t.Errorf("%s: joined is %v", c.name, joined)
		}
		if !joined {
			continue
		}
		for _, x := range []float32{0, 1, 0.1, -1.7, math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32, math.MaxFloat32 / 2, float32(math.Inf(1)), float32(math.Inf(-1))} {
			product := x * float32(c.factor)
			apart, once := product+float32(c.added), float32(math.FMA(float64(x), c.factor, float64(float32(c.added))))
			if apart != once {
				t.Errorf("%s: %g gives %g, joined %g", c.name, x, apart, once)
			}
		}
	}
}
