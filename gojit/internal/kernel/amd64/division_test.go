package amd64

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var divisions = []kernel.Op{kernel.Div, kernel.FloorDiv, kernel.Rem, kernel.Mod}

// divisionKernel divides an input by another.
func divisionKernel(op kernel.Op, d tensor.DType) *kernel.Kernel {
	b := kernel.NewBuilder()
	b.Output(b.Binary(op, b.Input(d, d), b.Input(d, d)), d)
	return b.Kernel()
}

// awkward returns numbers at which quotients are easily off: the smallest and largest, powers of two and their neighbours, products
// of others and theirs.
func awkward(rng *rand.Rand, n int) (x, y []int64) {
	pick := func() int64 {
		v := int64(rng.Uint64()) >> rng.IntN(64)
		switch rng.IntN(6) {
		case 0:
			v = 1<<rng.IntN(63) + int64(rng.IntN(5)-2)
		case 1:
			v = math.MinInt64 + int64(rng.IntN(3))
		case 2:
			v = math.MaxInt64 - int64(rng.IntN(3))
		case 3:
			v = int64(rng.IntN(5) - 2)
		}
		if rng.IntN(2) == 0 {
			v = -v
		}
		return v
	}
	for range n {
		a, b := pick(), pick()
		if rng.IntN(2) == 0 {
			a = b*(pick()>>rng.IntN(60)) + int64(rng.IntN(3)-1)
		}
		x, y = append(x, a), append(y, b)
	}
	return x, y
}

// Quotients and remainders of every type have the evaluator's bits, beside what overflows.
func TestIntegerDivision(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 20003
	a, b := awkward(rng, n)
	for _, d := range []tensor.DType{tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Int32, tensor.Int64} {
		by := slices.Clone(b)
		for i := range by {
			if bits, _ := kernel.NumberBits(d, tensor.Int(by[i])); bits == 0 {
				by[i] = 3
			}
		}
		x, y := must1(must1(tensor.FromSlice(a, n)).To(d)), must1(must1(tensor.FromSlice(by, n)).To(d))
		for _, op := range divisions {
			k := divisionKernel(op, d)
			p, err := kernel.NewProgram(k)
			if err != nil {
				t.Fatal(err)
			}
			want, got := must1(tensor.Empty([]int{n}, d)), must1(tensor.Empty([]int{n}, d))
			p.Run([]*tensor.Tensor{want, x, y}, nil)
			for _, isa := range targets(t) {
				f, err := Compile(k, 0, isa)
				if isa == asm.Baseline && err != nil {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				runFunction(f, k, []*tensor.Tensor{got, x, y}, 0, nil, n)
				if at, ok := sameBits(want, got, n, false); !ok {
					t.Errorf("%s of %s on %s: %v and %v give %v, want %v", op, d, isa, x.At(at), y.At(at), got.At(at), want.At(at))
				}
			}
		}
	}
}

// A zero anywhere among the divisors is noted, and what lies behind them is not.
func TestDivisionByZeroIsNoted(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64} {
		for _, isa := range targets(t) {
			k := divisionKernel(kernel.FloorDiv, d)
			f, err := Compile(k, 0, isa)
			if err != nil {
				continue
			}
			for _, n := range []int{1, 2, 3, 7, 16, 21, 37} {
				for zero := -1; zero < n; zero++ {
					by := make([]int64, n)
					for i := range by {
						if i != zero {
							by[i] = 5
						}
					}
					y := must1(must1(tensor.FromSlice(by, n)).To(d))
					var args Args
					scratch := make([]byte, f.Scratch+64)
					args.Scratch = unsafe.Add(unsafe.Pointer(&scratch[0]), int(-uintptr(unsafe.Pointer(&scratch[0]))&63))
					args.Count = int64(n)
					for i, x := range []*tensor.Tensor{must1(tensor.Empty([]int{n}, d)), y, y} {
						args.Ptr[i] = x.DataPtr()
					}
					f.Code.Call(unsafe.Pointer(&args))
					if failed := args.Failed != 0; failed != (zero >= 0) {
						t.Fatalf("%s on %s: %d divisors, zero at %d: %v", d, isa, n, zero, failed)
					}
				}
			}
		}
	}
}
