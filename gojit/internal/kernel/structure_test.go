package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A kernel equals what its text is parsed as, and no kernel that differs in one place.
func TestEqualKernels(t *testing.T) {
	g := kernel.Generator{Rand: rand.New(rand.NewPCG(71, 72)), Types: []tensor.DType{tensor.Float32, tensor.Int64, tensor.Bool}, Instructions: 12}
	hashes := map[uint64]string{}
	for range 300 {
		k := g.Kernel()
		same, err := kernel.Parse(k.String())
		if err != nil {
			t.Fatal(err)
		}
		if !k.Equal(same) || k.Hash() != same.Hash() {
			t.Fatalf("not equal to its copy:\n%s", k)
		}
		if text, found := hashes[k.Hash()]; found && text != k.String() {
			t.Errorf("two kernels share a hash:\n%s\n%s", k, text)
		}
		hashes[k.Hash()] = k.String()
		changed := *same
		changed.Instrs = append([]kernel.Instr(nil), same.Instrs...)
		changed.Instrs[g.Rand.IntN(len(changed.Instrs))].Imm ^= 1
		if k.Equal(&changed) || k.Hash() == changed.Hash() {
			t.Errorf("equal to another kernel:\n%s", k)
		}
	}
}

func TestEqualKernelsWithTables(t *testing.T) {
	look := func(last float32) *kernel.Kernel {
		b := kernel.NewBuilder()
		b.Output(b.Lookup(b.Input(tensor.Int32, tensor.Int32), kernel.Table{15: last}), tensor.Float32)
		return b.Kernel()
	}
	nan := float32(math.NaN())
	if a, b := look(nan), look(nan); !a.Equal(b) || a.Hash() != b.Hash() {
		t.Error("a table with NaN does not equal itself")
	}
	if a, b := look(0), look(float32(math.Copysign(0, -1))); a.Equal(b) || a.Hash() == b.Hash() {
		t.Error("zeros of both signs are equal")
	}
}
