package launch

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestRowsWithNumbers compares many short rows, which one call walks, with the evaluator: reductions and elements, with a number
// for each row, of the type computed with or another, and with one for all rows.
func TestRowsWithNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	types := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int32, tensor.BFloat16, tensor.Complex64, tensor.Complex128}
	for _, d := range types {
		for _, reduces := range []bool{false, true} {
			if reduces && d.IsComplex() {
				continue
			}
			computed := kernel.ComputeType(d)
			b := kernel.NewBuilder()
			v := b.Mul(b.Sub(b.Input(d, computed), b.Input(d, computed)), b.Add(b.Input(computed, computed), b.Param(computed)))
			if reduces {
				b.Reduce(kernel.ReduceMax, v, d)
				b.Reduce(kernel.ReduceMin, b.Select(b.Binary(kernel.Lt, v, b.Number(v, 0)), b.Iota(tensor.Int64), b.Const(tensor.Int64, tensor.Int(99))), tensor.Int64)
			} else {
				b.Output(v, d)
			}
			p, err := NewProgram(b.Kernel())
			if err != nil {
				t.Fatal(err)
			}
			for range 12 {
				compareRows(t, rng, p, d, 1+rng.IntN(100), rng.IntN(40))
			}
		}
	}
}

// TestLongRows compares reductions of many blocks, several of which one call handles, with the evaluator.
func TestLongRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for i, d := range []tensor.DType{tensor.Float32, tensor.Int64, tensor.BFloat16, tensor.Int64} {
		op := kernel.ReduceSum
		b := kernel.NewBuilder()
		computed := kernel.ComputeType(d)
		v := b.Mul(b.Sub(b.Input(d, computed), b.Input(d, computed)), b.Add(b.Input(computed, computed), b.Param(computed)))
		if i == 3 { // a product of odd numbers is never zero
			op, v = kernel.ReduceProduct, b.Add(b.Add(v, v), b.Number(v, 1))
		}
		b.Reduce(op, v, d)
		p, err := NewProgram(b.Kernel())
		if err != nil {
			t.Fatal(err)
		}
		for _, blocks := range []int{1, 2, blocksTogether, blocksTogether + 3} {
			compareRows(t, rng, p, d, 2, blocks*p.block)
			compareRows(t, rng, p, d, 2, blocks*p.block+77)
		}
	}
}

func compareRows(t *testing.T, rng *rand.Rand, p *Program, d tensor.DType, rows, n int) {
	t.Helper()
	random := func(d tensor.DType, count int) *tensor.Tensor {
		data := make([]float64, count)
		for i := range data {
			data[i] = float64(rng.IntN(200) - 100)
		}
		x, err := tensor.FromSlice(data, count)
		if err != nil {
			t.Fatal(err)
		}
		x, err = x.To(d)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x, single, all := random(d, max(1, rows*n)), random(d, rows), random(kernel.ComputeType(d), 1)
	run := func(f func(rows, n int, operands []Row, params []tensor.Scalar)) [][]byte {
		var outs [][]byte
		var operands []Row
		for i := range p.outputs {
			size, count := p.size[i], rows*max(n, 1)
			o := Row{Step: n * size}
			if len(p.reduces) > 0 {
				count, o.Step, o.Single = rows, size, true
			}
			out := make([]byte, count*size)
			outs, o.Ptr = append(outs, out), unsafe.Pointer(&out[0])
			operands = append(operands, o)
		}
		operands = append(operands, RowOf(x, n), SingleOf(single), Row{Ptr: all.DataPtr(), Single: true})
		f(rows, n, operands, []tensor.Scalar{tensor.Int(1000)})
		return outs
	}
	got, want := run(p.Rows), run(p.evaluateRows)
	for i := range got {
		if string(got[i]) != string(want[i]) {
			t.Fatalf("%s: %d rows of %d: output %d is % x, want % x", d, rows, n, i, got[i], want[i])
		}
	}
}

// TestRunOfRowsWithNumbers compares a walk with the evaluator where an input has a number for each row, for rows of some
// dimension only, or for all.
func TestRunOfRowsWithNumbers(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Int64, tensor.BFloat16, tensor.Complex64} {
		b := kernel.NewBuilder()
		c := kernel.ComputeType(d)
		b.Output(b.Sub(b.Input(d, c), b.Mul(b.Input(d, c), b.Input(d, c))), d)
		p, err := NewProgram(b.Kernel())
		if err != nil {
			t.Fatal(err)
		}
		x := counted(t, d, 3, 2, 5, 80)
		for _, shapes := range [][2][]int{{{3, 2, 5, 1}, {3, 2, 5, 80}}, {{3, 1, 1, 1}, {1, 2, 5, 1}}, {{1, 1, 5, 1}, {1, 1, 1, 1}}, {{3, 2, 1, 1}, {80}}} {
			tensors := []*tensor.Tensor{nil, x, expanded(t, counted(t, d, shapes[0]...), x), expanded(t, counted(t, d, shapes[1]...), x)}
			got, want := counted(t, d, 3, 2, 5, 90), counted(t, d, 3, 2, 5, 90)
			for _, r := range []struct {
				out *tensor.Tensor
				run func([]*tensor.Tensor, []tensor.Scalar)
			}{{got, p.Run}, {want, p.evaluate}} {
				if tensors[0], err = r.out.Slice(3, 0, 80, 1); err != nil { // with gaps between the rows
					t.Fatal(err)
				}
				r.run(tensors, nil)
			}
			if a, b := bytesOf(got), bytesOf(want); string(a) != string(b) {
				t.Errorf("%s: numbers of shapes %v: % x, want % x", d, shapes, a, b)
			}
		}
	}
}

// counted returns a tensor of the numbers from 0 on, up to 100 and again.
func counted(t *testing.T, d tensor.DType, shape ...int) *tensor.Tensor {
	t.Helper()
	n := 1
	for _, size := range shape {
		n *= size
	}
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i] = float64(i % 101)
	}
	return tensorOf(t, d, numbers, shape)
}

func expanded(t *testing.T, x, like *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	x, err := x.Expand(like.Shape()...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func bytesOf(x *tensor.Tensor) []byte {
	return unsafe.Slice((*byte)(x.DataPtr()), x.Numel()*x.DType().Size())
}

// TestRowsInMiddleOfLines compares rows of which every other one begins in the middle of a cache line with the evaluator, with vectors
// of half a line where the target has longer ones.
func TestRowsInMiddleOfLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 23))
	const rows = 9
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		n := 4000 / d.Size()
		x, row := fractions(t, rng, d, rows, n), fractions(t, rng, d, n)
		for _, reduces := range []bool{false, true} {
			b := kernel.NewBuilder()
			v := b.Mul(b.Add(b.Input(d, d), b.Input(d, d)), b.Param(d))
			shape := []int{rows, n}
			if reduces {
				shape = []int{rows}
				b.Reduce(kernel.ReduceSum, v, d)
			} else {
				b.Output(v, d)
			}
			p, err := NewProgram(b.Kernel())
			if err != nil {
				t.Fatal(err)
			}
			got, want := fractions(t, rng, d, shape...), fractions(t, rng, d, shape...)
			numbers := []tensor.Scalar{tensor.Float(0.7)}
			if reduces {
				operands := []Row{SingleOf(got), RowOf(x, n), {Ptr: row.DataPtr()}}
				p.Rows(rows, n, operands, numbers)
				operands[0] = SingleOf(want)
				p.evaluateRows(rows, n, operands, numbers)
			} else {
				p.Run([]*tensor.Tensor{got, x, row}, numbers)
				p.evaluate([]*tensor.Tensor{want, x, row}, numbers)
			}
			if a, b := bytesOf(got), bytesOf(want); string(a) != string(b) {
				t.Errorf("%s, reduces %v: % x, want % x", d, reduces, a, b)
			}
			if asm.Target() == asm.AVX512 && p.function(0).halfLines.Load() == nil {
				t.Errorf("%s, reduces %v: vectors were whole lines", d, reduces)
			}
		}
	}
}

// TestLargeStreams compares operands that the nearest caches do not hold with the evaluator: several, and one that is summed.
func TestLargeStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	const n = streamsFrom/8 + 77
	x, y := fractions(t, rng, tensor.Float64, n), fractions(t, rng, tensor.Float64, n)
	b := kernel.NewBuilder()
	b.Output(b.Sub(b.Input(tensor.Float64, tensor.Float64), b.Input(tensor.Float64, tensor.Float64)), tensor.Float64)
	difference, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	b = kernel.NewBuilder()
	b.Reduce(kernel.ReduceSum, b.Input(tensor.Float64, tensor.Float64), tensor.Float64)
	sum, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	got, want := fractions(t, rng, tensor.Float64, n+2), fractions(t, rng, tensor.Float64, n+2)
	for _, out := range []*tensor.Tensor{got, want} {
		elements, _ := out.Narrow(0, 1, n)
		first, _ := out.Narrow(0, 0, 1)
		last, _ := out.Narrow(0, n+1, 1)
		run, rows := difference.Run, sum.Rows
		if out == want {
			run, rows = difference.evaluate, sum.evaluateRows
		}
		run([]*tensor.Tensor{elements, x, y}, nil)
		rows(1, n, []Row{SingleOf(first), RowOf(x, n)}, nil)
		rows(1, n-1, []Row{SingleOf(last), RowOf(y, n)}, nil)
	}
	if string(bytesOf(got)) != string(bytesOf(want)) {
		t.Error("large operands give other elements")
	}
	if asm.Target() == asm.AVX512 && (difference.function(0).halfLines.Load() == nil || sum.function(0).halfLines.Load() == nil) {
		t.Error("vectors were whole lines")
	}
}

// TestLargeStreamsWithSpills has two sums of a large stream: shorter vectors would have partial sums in memory, so the vectors are whole lines.
func TestLargeStreamsWithSpills(t *testing.T) {
	if asm.Target() != asm.AVX512 {
		t.Skip("vectors are not whole lines here")
	}
	const n = streamsFrom / 4
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float64)
	b.Reduce(kernel.ReduceSum, x, tensor.Float64)
	b.Reduce(kernel.ReduceSum, b.Mul(x, x), tensor.Float64)
	p, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 9))
	out := fractions(t, rng, tensor.Float64, 2)
	total, _ := out.Narrow(0, 0, 1)
	squares, _ := out.Narrow(0, 1, 1)
	p.Rows(1, n, []Row{SingleOf(total), SingleOf(squares), RowOf(fractions(t, rng, tensor.Float32, n), n)}, nil)
	f := p.function(0)
	if short := f.halfLines.Load(); short == nil || short.Function != f.Function {
		t.Error("partial sums are in memory")
	}
}

// fractions returns a tensor of numbers from 0 to 1.
func fractions(t *testing.T, rng *rand.Rand, d tensor.DType, shape ...int) *tensor.Tensor {
	t.Helper()
	count, _ := tensor.Numel(shape)
	numbers := make([]float64, count)
	for i := range numbers {
		numbers[i] = rng.Float64()
	}
	return tensorOf(t, d, numbers, shape)
}

// tensorOf returns a tensor of numbers.
func tensorOf(t *testing.T, d tensor.DType, numbers []float64, shape []int) *tensor.Tensor {
	t.Helper()
	x, err := tensor.FromSlice(numbers, shape...)
	if err == nil {
		x, err = x.To(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestTwoReductions compares two reductions at once, whose partial results lie in memory where there are not enough registers, with the
// evaluator, of elements of all sizes: short ones take tails without masks of memory.
func TestTwoReductions(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int8, tensor.Uint8, tensor.Int16, tensor.BFloat16, tensor.Bool} {
		for _, ops := range [][2]kernel.ReduceOp{{kernel.ReduceMax, kernel.ReduceSum}, {kernel.ReduceProduct, kernel.ReduceMin}} {
			computed := kernel.ComputeType(d)
			b := kernel.NewBuilder()
			x, y, z := b.Input(d, computed), b.Input(d, computed), b.Input(computed, computed)
			b.Reduce(ops[0], b.Select(b.Binary(kernel.Eq, x, z), x, y), computed)
			b.Reduce(ops[1], x, computed)
			p, err := NewProgram(b.Kernel())
			if err != nil {
				t.Fatal(err)
			}
			if asm.Target() >= asm.AVX2 && !p.IsCompiled() {
				t.Errorf("reductions of %s are not compiled", d)
			}
			for range 12 {
				compareRows(t, rng, p, d, 1+rng.IntN(5), rng.IntN(200))
			}
		}
	}
}
