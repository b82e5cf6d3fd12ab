package launch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func random(rng *rand.Rand, d tensor.DType, shape ...int) *tensor.Tensor {
	n, _ := tensor.Numel(shape)
	data := make([]float64, n)
	for i := range data {
		data[i] = math.Trunc(rng.Float64()*200 - 100)
	}
	x, err := tensor.FromSlice(data, shape...)
	if err != nil {
		panic(err)
	}
	x, err = x.To(d)
	if err != nil {
		panic(err)
	}
	return x
}

func equal(a, b *tensor.Tensor) bool {
	x, _ := a.Reshape(-1)
	y, _ := b.Reshape(-1)
	for i := range x.Numel() {
		if x.At(i) != y.At(i) {
			return false
		}
	}
	return x.Numel() == y.Numel()
}

// Operands of every layout give what the evaluator gives: contiguous, transposed, with steps,
// broadcast along any dimension, single elements, and large enough for several threads.
func TestLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Int64, tensor.Uint8, tensor.BFloat16} {
		b := kernel.NewBuilder()
		c := kernel.ComputeType(d)
		v := b.Add(b.Mul(b.Input(d, c), b.Param(c)), b.Mul(b.Input(d, c), b.Input(tensor.Int32, c)))
		b.Output(v, d)
		b.Output(b.Binary(kernel.Lt, v, b.Number(v, 3)), tensor.Bool)
		p, err := NewProgram(b.Kernel())
		if err != nil {
			t.Fatal(err)
		}
		for _, shape := range [][]int{{5}, {4, 3}, {3, 1, 37}, {130, 257}, {2, 3, 5, 7}, {1, 1}, {700, 100}, {3000, 16}} {
			for variant := range 12 {
				layout := func() *tensor.Tensor { return arranged(rng, d, shape) }
				x, y := layout(), layout()
				z := arranged(rng, tensor.Int32, shape)
				out, less := arranged(rng, d, shape), arranged(rng, tensor.Bool, shape)
				if out.Numel() != numel(shape) || less.Numel() != numel(shape) || overlapping(out) || overlapping(less) {
					out, _ = tensor.Empty(shape, d)
					less, _ = tensor.Empty(shape, tensor.Bool)
				}
				want, _ := tensor.Empty(shape, d)
				wantLess, _ := tensor.Empty(shape, tensor.Bool)
				params := []tensor.Scalar{tensor.Int(3)}
				p.Run([]*tensor.Tensor{out, less, x, y, z}, params)
				p.evaluate([]*tensor.Tensor{want, wantLess, x, y, z}, params)
				if !equal(out, want) || !equal(less, wantLess) {
					t.Fatalf("%s %v variant %d: strides %v %v of %v %v %v differ", d, shape, variant, out.Strides(), less.Strides(), x.Strides(), y.Strides(), z.Strides())
				}
			}
		}
	}
}

func numel(shape []int) int {
	n, _ := tensor.Numel(shape)
	return n
}

func overlapping(t *tensor.Tensor) bool {
	for i, n := range t.Shape() {
		if n > 1 && t.Strides()[i] == 0 {
			return true
		}
	}
	return false
}

// arranged returns a tensor that broadcasts to a shape and lies in memory in some way.
func arranged(rng *rand.Rand, d tensor.DType, shape []int) *tensor.Tensor {
	switch rng.IntN(5) {
	case 0: // a dimension of size one
		own := append([]int(nil), shape...)
		own[rng.IntN(len(own))] = 1
		return random(rng, d, own...)
	case 1: // transposed
		own := append([]int(nil), shape...)
		i, j := rng.IntN(len(own)), rng.IntN(len(own))
		own[i], own[j] = own[j], own[i]
		x, err := random(rng, d, own...).Transpose(i, j)
		if err != nil {
			panic(err)
		}
		return x
	case 2: // every second element
		own := append([]int(nil), shape...)
		last := len(own) - 1
		own[last] *= 2
		x, err := random(rng, d, own...).Slice(last, 0, own[last], 2)
		if err != nil {
			panic(err)
		}
		return x
	case 3:
		return random(rng, d, 1)
	}
	return random(rng, d, shape...)
}

// An output may be one of the inputs.
func TestInPlace(t *testing.T) {
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	b.Output(b.Add(x, b.Exp(b.Mul(x, b.Number(x, -1)))), tensor.Float32)
	p, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 7, 100, 100000} {
		x := random(rand.New(rand.NewPCG(5, 6)), tensor.Float32, n)
		want, _ := tensor.Empty([]int{n}, tensor.Float32)
		p.Run([]*tensor.Tensor{want, x}, nil)
		p.Run([]*tensor.Tensor{x, x}, nil)
		if !equal(x, want) {
			t.Errorf("%d elements in place differ", n)
		}
	}
}

// Reductions over rows of any length agree with sums in order of whole numbers, which are exact, and
// do not depend on the number of threads.
func TestReductions(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64} {
		for _, op := range []kernel.ReduceOp{kernel.ReduceSum, kernel.ReduceMin, kernel.ReduceMax} {
			b := kernel.NewBuilder()
			b.Reduce(op, b.Input(d, d), d)
			p, err := NewProgram(b.Kernel())
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1, 2, 15, 16, 17, 63, 64, 65, 127, 1000, kernel.ReduceBlock + 1, 200000} {
				rows := 3
				x := random(rng, d, rows, n)
				out, _ := tensor.Empty([]int{rows}, d)
				p.ParallelRows(rows, n, []Row{{Ptr: out.DataPtr(), Step: d.Size()}, RowOf(x, n)}, nil)
				for row := range rows {
					want := reference(op, x, row, n)
					if got := out.At(row).Float64(); got != want {
						t.Errorf("%s of %d %s: %v, want %v", op, n, d, got, want)
					}
				}
			}
		}
	}
}

func reference(op kernel.ReduceOp, x *tensor.Tensor, row, n int) float64 {
	r := x.At(row, 0).Float64()
	for i := 1; i < n; i++ {
		v := x.At(row, i).Float64()
		switch op {
		case kernel.ReduceSum:
			r += v
		case kernel.ReduceMin:
			r = min(r, v)
		default:
			r = max(r, v)
		}
	}
	return r
}

// Rows of elements for which AVX2 has no masks, and combinations of int64 for which it has no instruction, are reduced by machine code
// where there is some, and have the evaluator's bits.
func TestReductionsOfSmallElements(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, d := range []tensor.DType{tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Float16, tensor.BFloat16, tensor.Int64} {
		for _, op := range []kernel.ReduceOp{kernel.ReduceSum, kernel.ReduceProduct, kernel.ReduceMin, kernel.ReduceMax} {
			computed := kernel.ComputeType(d)
			b := kernel.NewBuilder()
			b.Reduce(op, b.Input(d, computed), computed)
			p, err := NewProgram(b.Kernel())
			if err != nil {
				t.Fatal(err)
			}
			if asm.Target() >= asm.AVX2 && !p.IsCompiled() {
				t.Errorf("%s of %s is evaluated", op, d)
			}
			for n := 1; n < 80; n++ {
				const rows = 3
				x := random(rng, d, rows, n)
				got, _ := tensor.Zeros([]int{rows}, computed)
				want, _ := tensor.Zeros([]int{rows}, computed)
				p.Rows(rows, n, []Row{{Ptr: got.DataPtr(), Step: computed.Size()}, RowOf(x, n)}, nil)
				p.evaluateRows(rows, n, []Row{{Ptr: want.DataPtr(), Step: computed.Size()}, RowOf(x, n)}, nil)
				for row := range rows {
					if got, want := got.At(row), want.At(row); got != want {
						t.Fatalf("%s of %d %s: %v, want %v", op, n, d, got, want)
					}
				}
			}
		}
	}
}

// A NaN anywhere in a row is its minimum and maximum.
func TestReductionsKeepNaN(t *testing.T) {
	for _, op := range []kernel.ReduceOp{kernel.ReduceMin, kernel.ReduceMax} {
		b := kernel.NewBuilder()
		b.Reduce(op, b.Input(tensor.Float32, tensor.Float32), tensor.Float32)
		p, _ := NewProgram(b.Kernel())
		for _, n := range []int{1, 20, 64, 200} {
			for at := range n {
				x := make([]float32, n)
				x[at] = float32(math.NaN())
				var out float32
				p.Rows(1, n, []Row{{Ptr: unsafe.Pointer(&out)}, {Ptr: unsafe.Pointer(&x[0])}}, nil)
				if out == out {
					t.Fatalf("%s of %d elements loses the NaN at %d", op, n, at)
				}
			}
		}
	}
}

// Sums of floats have the same bits for any number of threads.
func TestThreadsDoNotChangeResults(t *testing.T) {
	defer parallel.SetNumThreads(0)
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	b.Reduce(kernel.ReduceSum, b.Exp(b.Mul(x, b.Number(x, 0.01))), tensor.Float32)
	p, _ := NewProgram(b.Kernel())
	data := random(rand.New(rand.NewPCG(9, 9)), tensor.Float32, 300001)
	results := map[string]bool{}
	for _, threads := range []int{1, 2, 3, 8} {
		parallel.SetNumThreads(threads)
		var out float32
		p.ParallelRows(1, data.Numel(), []Row{{Ptr: unsafe.Pointer(&out)}, RowOf(data, data.Numel())}, nil)
		results[fmt.Sprint(math.Float32bits(out))] = true
	}
	if len(results) != 1 {
		t.Errorf("%d different sums", len(results))
	}
}

// Random kernels that reduce give the evaluator's bits: the order of a sum is the same.
func TestReductionsAgreeWithEvaluator(t *testing.T) {
	compiled := 0
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 3))
		g := kernel.Generator{Rand: rng, Instructions: 1 + rng.IntN(8), Reduce: true, Types: []tensor.DType{tensor.Float32},
			Ops: []kernel.Op{kernel.Add, kernel.Mul, kernel.Sub, kernel.Abs, kernel.Neg, kernel.Fma, kernel.Const}}
		switch rng.IntN(3) {
		case 0:
			g.Types, g.Ops = []tensor.DType{tensor.Float32, tensor.Float64}, append(g.Ops, kernel.Convert)
		case 1:
			g.Types, g.Ops = []tensor.DType{tensor.Int64, tensor.Int32, tensor.Bool}, append(g.Ops, kernel.Eq, kernel.Convert)
		}
		k := g.Kernel()
		p, err := NewProgram(k)
		if err != nil {
			t.Fatal(err)
		}
		if p.function(0) == nil {
			continue
		}
		compiled++
		rows, n := 2, 1+rng.IntN(300)
		if rng.IntN(8) == 0 {
			n += kernel.ReduceBlock
		}
		got, want := make([]Row, p.operands), make([]Row, p.operands)
		outputs := make([][2]*tensor.Tensor, p.outputs)
		for i, o := range k.Outputs {
			for j := range 2 {
				outputs[i][j] = zeros(o.DType, rows*n)
			}
			got[i], want[i] = RowOf(outputs[i][0], n), RowOf(outputs[i][1], n)
		}
		for i, d := range k.Inputs {
			x := random(rng, d, rows, n)
			got[p.outputs+i], want[p.outputs+i] = RowOf(x, n), RowOf(x, n)
		}
		params := make([]tensor.Scalar, k.Params)
		for i := range params {
			params[i] = tensor.Float(0.3)
		}
		p.ParallelRows(rows, n, got, params)
		p.evaluateRows(rows, n, want, params)
		for i := range outputs {
			if !sameNumbers(outputs[i][0], outputs[i][1]) {
				t.Fatalf("seed %d, %d elements: output %d is %v, want %v\n%s", seed, n, i, outputs[i][0].At(0), outputs[i][1].At(0), k)
			}
		}
	}
	if asm.Target() == asm.AVX512 && compiled < 300 {
		t.Errorf("only %d kernels are machine code", compiled)
	}
}

func zeros(d tensor.DType, n int) *tensor.Tensor {
	x, err := tensor.Full([]int{n}, tensor.Int(0), d)
	if err != nil {
		panic(err)
	}
	return x
}

// sameNumbers compares elements; one NaN equals another.
func sameNumbers(a, b *tensor.Tensor) bool {
	for i := range a.Numel() {
		if x, y := a.At(i).Float64(), b.At(i).Float64(); x != y && (x == x || y == y) {
			return false
		}
	}
	return true
}

// Angles small and large give the same bits as the whole expansion, in place too.
func TestAnglesOfAllSizes(t *testing.T) {
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	b.Output(b.Add(b.Unary(kernel.Sin, x), b.Mul(b.Unary(kernel.Cos, x), b.Unary(kernel.Tan, b.Mul(x, b.Number(x, 0.5))))), tensor.Float32)
	p, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	for _, largest := range []float64{1, 1000, 1e7, 3e38, math.Inf(1), math.NaN()} {
		n := 3*chunk + 5
		data := make([]float32, n)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range data {
			data[i] = float32(rng.NormFloat64() * min(1000, largest))
		}
		data[chunk+7] = float32(largest)
		x, _ := tensor.FromSlice(data, n)
		got, want := zeros(tensor.Float32, n), zeros(tensor.Float32, n)
		p.Run([]*tensor.Tensor{got, x}, nil)
		e, err := kernel.NewProgram(expand.Expand(b.Kernel()))
		if err != nil {
			t.Fatal(err)
		}
		e.Run([]*tensor.Tensor{want, x}, nil)
		if asm.Target() >= asm.AVX2 && !sameNumbers(got, want) {
			t.Errorf("angles up to %g differ", largest)
		}
		p.Run([]*tensor.Tensor{x, x}, nil)
		if !sameNumbers(got, x) {
			t.Errorf("angles up to %g differ in place", largest)
		}
	}
}

// Remainders of any quotients give the same bits as the whole expansion.
func TestRemaindersOfAllSizes(t *testing.T) {
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 3, -7, 0.1, 1e-3, 1e10, -1e10, 1e30, 1e-30, 1e-45, 16777215, 16777217, 3e38, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	rng := rand.New(rand.NewPCG(4, 4))
	for _, op := range []kernel.Op{kernel.Rem, kernel.Mod, kernel.FloorDiv} {
		b := kernel.NewBuilder()
		b.Output(b.Binary(op, b.Input(tensor.Float32, tensor.Float32), b.Input(tensor.Float32, tensor.Float32)), tensor.Float32)
		p, err := NewProgram(b.Kernel())
		if err != nil {
			t.Fatal(err)
		}
		e, err := kernel.NewProgram(expand.Expand(b.Kernel()))
		if err != nil {
			t.Fatal(err)
		}
		for round := range 400 {
			n := 64
			x, y := make([]float32, n), make([]float32, n)
			for i := range n {
				x[i], y[i] = float32(rng.NormFloat64()*1000), float32(rng.NormFloat64())
				if round%2 == 0 && rng.IntN(40) == 0 {
					x[i], y[i] = values[rng.IntN(len(values))], values[rng.IntN(len(values))]
				}
				if round%4 == 1 {
					x[i] = float32(math.Float32frombits(rng.Uint32N(0x7f000000)))
					y[i] = x[i] * float32(math.Exp2(-26*rng.Float64()))
				}
				if round%4 == 3 { // next to whole quotients
					x[i] = y[i] * float32(math.Floor(math.Exp2(24*rng.Float64())))
					x[i] = math.Float32frombits(math.Float32bits(x[i]) + rng.Uint32N(3) - 1)
				}
			}
			u, _ := tensor.FromSlice(x, n)
			v, _ := tensor.FromSlice(y, n)
			got, want := zeros(tensor.Float32, n), zeros(tensor.Float32, n)
			p.Run([]*tensor.Tensor{got, u, v}, nil)
			e.Run([]*tensor.Tensor{want, u, v}, nil)
			if asm.Target() < asm.AVX2 {
				continue
			}
			for i := range n {
				if a, b := got.At(i).Float64(), want.At(i).Float64(); a != b && (a == a || b == b) {
					t.Fatalf("%s of %g and %g is %g, want %g", op, x[i], y[i], a, b)
				}
			}
		}
	}
}

// A row that all rows share, or a column, is repeated: numbers of elements go on from one group of rows to the next.
func TestRepeatedRowsAreCounted(t *testing.T) {
	b := kernel.NewBuilder()
	x, y := b.Input(tensor.Int64, tensor.Int64), b.Input(tensor.Int64, tensor.Int64)
	b.Output(b.Add(b.Mul(x, b.Iota(tensor.Int64)), y), tensor.Int64)
	p, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range [][]int{{4, 3}, {2001, 17}, {5000, 300}} {
		whole, row := random(rand.New(rand.NewPCG(3, 4)), tensor.Int64, shape...), random(rand.New(rand.NewPCG(5, 6)), tensor.Int64, shape[1])
		column := random(rand.New(rand.NewPCG(7, 8)), tensor.Int64, shape[0], 1)
		for _, operands := range [][2]*tensor.Tensor{{whole, row}, {row, whole}, {whole, column}, {column, row}} {
			got, _ := tensor.Empty(shape, tensor.Int64)
			want, _ := tensor.Empty(shape, tensor.Int64)
			p.Run([]*tensor.Tensor{got, operands[0], operands[1]}, nil)
			p.evaluate([]*tensor.Tensor{want, operands[0], operands[1]}, nil)
			if !equal(got, want) {
				t.Errorf("%v differ", shape)
			}
		}
	}
}

// An integer division by zero panics as the evaluator's does, wherever the zero is, and the next run is not disturbed.
func TestDivisionByZero(t *testing.T) {
	b := kernel.NewBuilder()
	b.Output(b.Binary(kernel.FloorDiv, b.Input(tensor.Int64, tensor.Int64), b.Input(tensor.Int64, tensor.Int64)), tensor.Int64)
	p, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	failure := func(ts ...*tensor.Tensor) (r any) {
		defer func() { r = recover() }()
		p.Run(ts, nil)
		return nil
	}
	for _, n := range []int{3, 1000, 200001} {
		out, _ := tensor.Empty([]int{n}, tensor.Int64)
		x, _ := tensor.Full([]int{n}, tensor.Int(7), tensor.Int64)
		for _, zero := range []int{0, n / 2, n - 1} {
			by := make([]int64, n)
			for i := range by {
				if i != zero {
					by[i] = 2
				}
			}
			y, _ := tensor.FromSlice(by, n)
			if r := failure(out, x, y); r != kernel.DivisionByZero {
				t.Errorf("a zero at %d of %d: %v", zero, n, r)
			}
		}
		if r := failure(out, x, x); r != nil || out.At(n-1).Int64() != 1 {
			t.Errorf("%d divisions after one by zero: %v", n, r)
		}
	}
}

// Outputs that go past the caches have the same elements, wherever they lie.
func TestLargeOutputsStream(t *testing.T) {
	defer func(n int) { streamFrom = n }(streamFrom)
	defer parallel.SetNumThreads(0)
	streamFrom = 1 << 12
	rng := rand.New(rand.NewPCG(9, 9))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Uint8, tensor.BFloat16, tensor.Complex64} {
		b := kernel.NewBuilder()
		c := kernel.ComputeType(d)
		sum := b.Add(b.Input(d, c), b.Input(d, c))
		b.Output(sum, d)
		b.Output(b.Binary(kernel.Eq, sum, b.Number(sum, 3)), tensor.Bool)
		p, err := NewProgram(b.Kernel())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{4096, 70001} {
			for _, offset := range []int{0, 1, 64} {
				part := func(d tensor.DType) *tensor.Tensor {
					x, err := random(rng, d, n+offset).Narrow(0, offset, n)
					if err != nil {
						t.Fatal(err)
					}
					return x
				}
				x, y, out, three := part(d), part(d), part(d), part(tensor.Bool)
				want, _ := tensor.Empty([]int{n}, d)
				wantThree, _ := tensor.Empty([]int{n}, tensor.Bool)
				p.evaluate([]*tensor.Tensor{want, wantThree, x, y}, nil)
				for threads := 1; threads <= 3; threads++ {
					parallel.SetNumThreads(threads)
					p.Run([]*tensor.Tensor{out, three, x, y}, nil)
					if !equal(out, want) || !equal(three, wantThree) {
						t.Fatalf("%s: %d elements from %d on with %d threads differ", d, n, offset, threads)
					}
				}
				p.Run([]*tensor.Tensor{x, three, x, y}, nil)
				if !equal(x, want) {
					t.Fatalf("%s: %d elements in place differ", d, n)
				}
			}
		}
		if Compiles() && p.function(0) != nil && p.function(0).streaming.Load() == nil {
			t.Errorf("%s: nothing was streamed", d)
		}
	}
}

// Integers that a float64 or a float32 does not hold are rounded once, as the evaluator does.
func TestLongIntegersAreRoundedOnce(t *testing.T) {
	var numbers []int64
	for _, bit := range []int{0, 23, 24, 25, 31, 32, 52, 53, 54, 55, 62} {
		for _, add := range []int64{-1025, -1024, -3, -1, 0, 1, 3, 1024, 1025, 1 << 29, 1<<29 + 1, 1<<29 - 1} {
			numbers = append(numbers, 1<<bit+add, -(1<<bit + add), 1<<bit|1<<(max(bit, 24)-24)|add&0xff)
		}
	}
	numbers = append(numbers, math.MinInt64, math.MaxInt64, math.MaxInt64-1023, math.MinInt64+1025)
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		b := kernel.NewBuilder()
		b.Output(b.Convert(b.Input(tensor.Int64, tensor.Int64), d), d)
		p, err := NewProgram(b.Kernel())
		if err != nil {
			t.Fatal(err)
		}
		if asm.Target() >= asm.AVX2 && !p.IsCompiled() {
			t.Errorf("int64 to %s is evaluated", d)
		}
		out, _ := tensor.Empty([]int{len(numbers)}, d)
		in, _ := tensor.FromSlice(numbers, len(numbers))
		p.Run([]*tensor.Tensor{out, in}, nil)
		for i, n := range numbers {
			want := float64(n)
			if d == tensor.Float32 {
				want = float64(float32(n))
			}
			if got := out.At(i).Float64(); got != want {
				t.Errorf("%d is %v as %s, want %v", n, got, d, want)
			}
		}
	}
}
