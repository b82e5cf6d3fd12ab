package amd64

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// dearChain is a chain of additions and products that nothing shares.
func dearChain(b *kernel.Builder, x kernel.Value, first, steps int) kernel.Value {
	y := x
	for i := range steps {
		y = b.Fma(y, x, b.Number(x, float64(first+i)))
	}
	return y
}

// choice is a kernel that chooses by a comparison with zero between two dear sides, one of which has another choice inside, beside
// values that live on.
func choice(op kernel.Op, d tensor.DType) *kernel.Kernel {
	b := kernel.NewBuilder()
	x, y := b.Input(d, d), b.Input(d, d)
	var around []kernel.Value
	for i := range 14 {
		around = append(around, b.Mul(y, b.Number(y, float64(100+i))))
	}
	inner := b.Select(b.Binary(kernel.Lt, y, b.Number(y, 1)), dearChain(b, x, 20, 13), y)
	v := b.Select(b.Binary(op, x, b.Number(x, 0)), b.Add(dearChain(b, x, 0, 12), inner), dearChain(b, x, 40, 15))
	for _, a := range around {
		v = b.Sub(v, a)
	}
	b.Output(v, d)
	return b.Kernel()
}

func skipsOf(k *kernel.Kernel, isa asm.ISA) int {
	l := Lowerer{ISA: isa, Kernel: k, least: dearSide}
	l.Lower(0)
	n := 0
	for i := range l.code {
		if l.code[i].kind == skipSide {
			n++
		}
	}
	return n
}

// Both sides of a choice and one inside have branches, but not the side that an inequality chooses, and results are the evaluator's.
func TestSkippedSides(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		for op, want := range map[kernel.Op]int{kernel.Gt: 3, kernel.Le: 3, kernel.Eq: 2, kernel.Ne: 2} {
			k := choice(op, d)
			if got := skipsOf(k, asm.AVX2); got != want {
				t.Errorf("%s of %s: %d branches, want %d", op, d, got, want)
			}
			agree(t, op.String()+" of "+d.String(), k, false, true)
		}
	}
}

// Nothing that another value needs is skipped.
func TestSharedValuesAreNotSkipped(t *testing.T) {
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	dear := dearChain(b, x, 0, 20)
	b.Output(b.Select(b.Binary(kernel.Gt, x, b.Number(x, 0)), dear, x), tensor.Float32)
	b.Output(b.Neg(dear), tensor.Float32)
	if n := skipsOf(b.Kernel(), asm.AVX2); n != 0 {
		t.Errorf("%d branches", n)
	}
}
