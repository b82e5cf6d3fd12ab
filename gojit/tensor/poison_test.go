package tensor

import (
	"math"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/memory"
)

// What was given back, and what may hold anything, is poisoned: small and large tensors, arenas and working memory, fresh or used before.
func TestPoison(t *testing.T) {
	if memory.Guarding {
		t.Skip("guarded memory is not used again")
	}
	before := memory.Poisoning
	memory.Poisoning = true
	defer func() { memory.Poisoning = before }()
	isPoison := func(b byte) bool { return b == memory.PoisonByte }
	for _, n := range []int{4, 1000, 100_000} {
		for range 3 {
			x, err := Empty([]int{n}, Float32)
			if err != nil {
				t.Fatal(err)
			}
			data := Data[float32](x)
			if slices.ContainsFunc(data, func(v float32) bool { return !math.IsNaN(float64(v)) }) {
				t.Errorf("an empty tensor of %d elements has numbers", n)
			}
			clear(data)
			x.Release()
			if slices.ContainsFunc(data, func(v float32) bool { return !math.IsNaN(float64(v)) }) {
				t.Errorf("%d elements that were given back are left", n)
			}
			z, err := Zeros([]int{n}, Float32)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(Data[float32](z), func(v float32) bool { return v != 0 }) {
				t.Errorf("a tensor of %d zeros has other numbers", n)
			}
			z.Release()
			for name, b := range map[string][]byte{"taken": TakeBytes(4 * n), "large": LargeBytes(4 * n)} {
				if slices.ContainsFunc(b, func(b byte) bool { return !isPoison(b) }) {
					t.Errorf("%d bytes of memory, %s, are not poisoned", 4*n, name)
				}
				if name == "taken" {
					clear(b)
					GiveBytes(b)
					if slices.ContainsFunc(b, func(b byte) bool { return !isPoison(b) }) {
						t.Errorf("%d bytes that were given back are left", 4*n)
					}
				}
			}
		}
	}
}
