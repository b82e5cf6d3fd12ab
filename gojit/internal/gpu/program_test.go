package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var allTypes = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64, tensor.Int8, tensor.Int16, tensor.Uint8, tensor.Bool}

// TestOperations compares every operation on every type that it has with the evaluator.
func TestOperations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range allTypes {
		kernels, inputs := operations(t, rng, d)
		for i, k := range kernels {
			shapes := make([][]int, len(k.Outputs))
			for j := range shapes {
				shapes[j] = []int{400}
			}
			agree(t, fmt.Sprintf("%s %d", d, i), k, inputs, shapes, true)
		}
	}
}

// operations makes kernels with six operations of a type each: the compiler of the system takes as long for one.
func operations(t *testing.T, rng *rand.Rand, d tensor.DType) (all []*kernel.Kernel, inputs []*tensor.Tensor) {
	inputs = []*tensor.Tensor{randomTensor(t, rng, d, 400), randomTensor(t, rng, d, 400)}
	b := kernel.NewBuilder()
	x, y := b.Input(d, d), b.Input(d, d)
	outputs := 0
	add := func(op kernel.Op, v kernel.Value) {
		if b.Type(v) == d || b.Type(v) == tensor.Bool {
			b.Output(v, b.Type(v))
		}
		if outputs++; outputs == 6 {
			all = append(all, b.Kernel())
			b = kernel.NewBuilder()
			x, y, outputs = b.Input(d, d), b.Input(d, d), 0
		}
	}
	for op := kernel.Neg; op < kernel.Fma; op++ {
		if !has(op, d) {
			continue
		}
		if op.Operands() == 1 {
			add(op, b.Unary(op, x))
			continue
		}
		by := y
		if d.IsIntegral() && d != tensor.Bool && (op == kernel.Div || op == kernel.Rem || op == kernel.Mod || op == kernel.FloorDiv) {
			by = b.Binary(kernel.Or, y, b.Number(y, 1))
		}
		add(op, b.Binary(op, x, by))
	}
	if outputs > 0 {
		all = append(all, b.Kernel())
	}
	return all, inputs
}

// has reports whether an operation is defined for a type and its result is stored as it is.
func has(op kernel.Op, d tensor.DType) bool {
	b := kernel.NewBuilder()
	x := b.Input(d, d)
	v := x
	switch op.Operands() {
	case 1:
		v = b.Unary(op, x)
	case 2:
		v = b.Binary(op, x, x)
	default:
		return false
	}
	if op == kernel.Lookup || op == kernel.Scale || op == kernel.MakeComplex || !b.Type(v).Valid() {
		return false
	}
	b.Output(v, b.Type(v))
	return b.Kernel().Verify() == nil
}

// TestConversions compares loads, conversions and stores of every type with every other.
func TestConversions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	memory := append([]tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Complex64, tensor.Complex128}, allTypes...)
	for _, from := range memory {
		x := randomTensor(t, rng, from, 300)
		if from.IsFloating() { // what is not a number of an integer type depends on the machine
			x = randomTensor(t, rng, tensor.Int8, 300)
			var err error
			if x, err = x.To(from); err != nil {
				t.Fatal(err)
			}
		}
		b := kernel.NewBuilder()
		v := b.Input(from, kernel.ComputeType(from))
		var shapes [][]int
		for _, to := range memory {
			if from.IsComplex() && to.IsIntegral() && to != tensor.Bool || len(shapes) == 7 {
				continue
			}
			b.Output(b.Convert(v, kernel.ComputeType(to)), to)
			shapes = append(shapes, []int{300})
		}
		agree(t, fmt.Sprintf("from %s", from), b.Kernel(), []*tensor.Tensor{x}, shapes, true)
	}
}

// TestHalves compares roundings to types of 16 bits of all sizes of numbers.
func TestHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := randomTensor(t, rng, tensor.Float32, 3000)
	b := kernel.NewBuilder()
	v := b.Input(tensor.Float32, tensor.Float32)
	b.Output(v, tensor.Float16)
	b.Output(v, tensor.BFloat16)
	agree(t, "roundings", b.Kernel(), []*tensor.Tensor{x}, [][]int{{3000}, {3000}}, false)
}

// TestRandomKernels compares kernels that a generator makes, of all types together.
func TestRandomKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	types := append([]tensor.DType{tensor.Complex64, tensor.Complex128}, allTypes...)
	made := 0
	for range 40 {
		g := kernel.Generator{Rand: rng, Types: types, Memory: []tensor.DType{tensor.Float16, tensor.BFloat16}, Instructions: 8}
		k := g.Kernel()
		if k.Verify() != nil {
			continue
		}
		s, err := cuda.Print(k)
		if errors.Is(err, cuda.ErrUnsupported) {
			continue
		}
		if _, err := kernel.NewProgram(s.Kernel); err != nil {
			continue // more operands than a walk takes
		}
		if made++; made > 12 {
			break
		}
		var inputs []*tensor.Tensor
		for _, d := range k.Inputs {
			inputs = append(inputs, randomTensor(t, rng, d, 130))
		}
		shapes := make([][]int, len(k.Outputs))
		for i := range shapes {
			shapes[i] = []int{130}
		}
		agree(t, "random", k, inputs, shapes, true)
	}
	if made < 10 {
		t.Errorf("only %d kernels have a text", made)
	}
}

// TestLayouts compares operands that are broadcast, transposed, with steps and without elements.
func TestLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	b := kernel.NewBuilder()
	b.Output(b.Add(b.Mul(b.Input(tensor.Float32, tensor.Float32), b.Input(tensor.Float32, tensor.Float32)), b.Convert(b.Iota(tensor.Int64), tensor.Float32)), tensor.Float32)
	k := b.Kernel()
	whole := randomTensor(t, rng, tensor.Float32, 4, 6, 10)
	turned := must(whole.Transpose(0, 2))
	stepped := must(whole.Slice(2, 1, 10, 3))
	for _, c := range []struct{ x, y *tensor.Tensor }{
		{whole, whole}, {turned, randomTensor(t, rng, tensor.Float32, 10, 6, 4)}, {stepped, must(whole.Select(2, 0))}, {whole, randomTensor(t, rng, tensor.Float32)},
		{must(whole.Narrow(1, 0, 0)), must(whole.Narrow(1, 0, 0))},
	} {
		x, y := c.x, c.y
		if len(y.Shape()) == 2 {
			y = must(y.Unsqueeze(2))
		}
		agree(t, fmt.Sprint(x.Shape(), x.Strides()), k, []*tensor.Tensor{x, y}, [][]int{x.Shape()}, false)
	}
}

// TestReductions compares reductions along short rows, of less than a set of lanes and of several, with the bits of the evaluator.
func TestReductions(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int16, tensor.Bool} {
		c := kernel.ComputeType(d)
		b := kernel.NewBuilder()
		v := b.Input(d, c)
		b.Reduce(kernel.ReduceSum, v, d)
		b.Reduce(kernel.ReduceMax, v, d)
		b.Reduce(kernel.ReduceMin, b.Iota(tensor.Int64), tensor.Int64)
		for _, n := range []int{0, 1, 50, 120} {
			rows := 3
			x := randomTensor(t, rng, d, rows, n)
			agree(t, fmt.Sprint(d, n), b.Kernel(), []*tensor.Tensor{x}, [][]int{{rows, 1}, {rows, 1}, {rows, 1}}, true)
		}
	}
	b := kernel.NewBuilder()
	b.Reduce(kernel.ReduceSum, b.Input(tensor.Complex64, tensor.Complex64), tensor.Complex64)
	agree(t, "complex", b.Kernel(), []*tensor.Tensor{randomTensor(t, rng, tensor.Complex64, 2, 120)}, [][]int{{2, 1}}, true)
	b = kernel.NewBuilder()
	v := b.Mul(b.Input(tensor.Float32, tensor.Float32), b.Input(tensor.Float32, tensor.Float32))
	b.Output(v, tensor.Float32)
	b.Reduce(kernel.ReduceProduct, v, tensor.Float32)
	x, y := randomTensor(t, rng, tensor.Float32, 2, 5, 70), randomTensor(t, rng, tensor.Float32, 5, 1)
	agree(t, "elements and a product", b.Kernel(), []*tensor.Tensor{x, y}, [][]int{{2, 5, 70}, {2, 5, 1}}, true)
}

// TestLongReductions compares sums of rows that have several threads and several parts, and of rows that lie beside each other, and the places of their
// largest elements.
func TestLongReductions(t *testing.T) {
	v, rng := testDevice(t), rand.New(rand.NewPCG(17, 18))
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	b.Reduce(kernel.ReduceSum, x, tensor.Float32)
	b.Reduce(kernel.ReduceMax, x, tensor.Float32)
	p, err := NewProgram(v, b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rows, n int
		across  bool
	}{{1, 100000, false}, {3, 5000, false}, {5000, 300, false}, {3, 5000, true}, {40, 777, true}, {1000, 7, true}, {9, 1, true}} {
		data := make([]float32, c.rows*c.n)
		for i := range data {
			data[i] = rng.Float32() - 0.25
		}
		shape := []int{c.rows, c.n}
		if c.across {
			shape = []int{c.n, c.rows}
		}
		x := must(v.Upload(must(tensor.FromSlice(data, shape...))))
		if c.across {
			x = must(x.Transpose(0, 1))
		}
		sums, most := must(v.Empty([]int{c.rows, 1}, tensor.Float32)), must(v.Empty([]int{c.rows, 1}, tensor.Float32))
		if err := p.Run([]*tensor.Tensor{sums, most, x}, nil); err != nil {
			t.Fatal(err)
		}
		gotSums, gotMost := tensor.Data[float32](must(v.Download(sums))), tensor.Data[float32](must(v.Download(most)))
		for row := range c.rows {
			sum, largest := 0.0, float32(-1)
			for i := range c.n {
				at := row*c.n + i
				if c.across {
					at = i*c.rows + row
				}
				sum += float64(data[at])
				largest = max(largest, data[at])
			}
			if math.Abs(float64(gotSums[row])-sum) > 1e-5*float64(c.n) || gotMost[row] != largest {
				t.Fatalf("%+v: row %d is %v, %v, want %v, %v", c, row, gotSums[row], gotMost[row], sum, largest)
			}
		}
	}
}

// TestVectors compares elements that threads take several of, with those left over, in rows, and where they begin in between.
func TestVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Uint8, tensor.Complex128} {
		b := kernel.NewBuilder()
		b.Output(b.Add(b.Input(d, kernel.ComputeType(d)), b.Input(d, kernel.ComputeType(d))), d)
		k := b.Kernel()
		x := randomTensor(t, rng, d, 6, 8)
		behind := must(must(x.Reshape(-1)).Slice(0, 1, 48, 1))
		for _, y := range []*tensor.Tensor{x, randomTensor(t, rng, d, 8), randomTensor(t, rng, d, 6, 1), randomTensor(t, rng, d, 1), must(x.Select(1, 3))} {
			if y.Dim() == 1 && y.Numel() == 6 {
				y = must(y.Unsqueeze(1))
			}
			agree(t, fmt.Sprint(d, y.Shape()), k, []*tensor.Tensor{x, y}, [][]int{{6, 8}}, true)
		}
		agree(t, fmt.Sprint(d, " behind"), k, []*tensor.Tensor{behind, behind}, [][]int{{47}}, true)
		agree(t, fmt.Sprint(d, " 47"), k, []*tensor.Tensor{must(must(x.Reshape(-1)).Slice(0, 0, 47, 1)), randomTensor(t, rng, d, 47)}, [][]int{{47}}, true)
	}
}

// TestDivisionByZero looks for the error of integers, and for the memory that is given back.
func TestDivisionByZero(t *testing.T) {
	v := testDevice(t)
	b := kernel.NewBuilder()
	b.Output(b.Div(b.Input(tensor.Int32, tensor.Int32), b.Input(tensor.Int32, tensor.Int32)), tensor.Int32)
	p, err := NewProgram(v, b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	operands := make([]*tensor.Tensor, 3)
	for i := range operands {
		x, err := tensor.FromSlice([]int32{7, 0, -9}, 3)
		if err != nil {
			t.Fatal(err)
		}
		if operands[i], err = v.Upload(x); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Run(operands, nil); !errors.Is(err, kernel.DivisionByZero) {
		t.Errorf("a division by zero gives %v", err)
	}
	operands[0] = must(tensor.Empty([]int{3}, tensor.Int32))
	if err := p.Run(operands, nil); err == nil {
		t.Error("a tensor of the processor is taken for one of the device")
	}
	if _, err := v.Empty([]int{1 << 41}, tensor.Int32); err == nil {
		t.Error("there is memory for everything")
	}
}

// TestModulesStayWhileTheyRun collects garbage while a program runs that nobody needs afterwards.
func TestModulesStayWhileTheyRun(t *testing.T) {
	v := testDevice(t)
	b := kernel.NewBuilder()
	b.Output(b.Unary(kernel.Tanh, b.Input(tensor.Float64, tensor.Float64)), tensor.Float64)
	p, err := NewProgram(v, b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	out, x := must(v.Empty([]int{1 << 19}, tensor.Float64)), must(v.Upload(must(tensor.Zeros([]int{1 << 19}, tensor.Float64))))
	done := make(chan error)
	go func(p *Program) { done <- p.Run([]*tensor.Tensor{out, x}, nil) }(p)
	p = nil
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			if got := must(v.Download(out)).At(1 << 18).Float64(); got != 0 {
				t.Fatalf("tanh(0) is %v", got)
			}
			return
		default:
			runtime.GC()
		}
	}
}

// TestMemoryIsGivenBack looks for the memory of tensors that nobody holds.
func TestMemoryIsGivenBack(t *testing.T) {
	v := testDevice(t)
	runtime.GC()
	free := func() {
		if err := v.EmptyCache(); err != nil {
			t.Fatal(err)
		}
	}
	free()
	allocated := allocatedOn(t, v)
	before := allocated()
	const size = 64 << 20
	for range 10 {
		if _, err := v.Empty([]int{size / 4}, tensor.Float32); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		runtime.GC()
		if free(); allocated() < before+size {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d bytes are not given back", allocated()-before)
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
