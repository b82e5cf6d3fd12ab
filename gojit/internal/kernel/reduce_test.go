package kernel

import (
	"math"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// reduceKernel combines a value of type t computed from its input, and counts elements.
func reduceKernel(op ReduceOp, memory, t tensor.DType) *Kernel {
	b := NewBuilder()
	b.Reduce(op, b.Input(memory, t), memory)
	return b.Kernel()
}

// inStatedOrder is the reduction as ReduceOp documents it, one element after another.
func inStatedOrder(op func(a, b float32) float32, block int, identity float32, x []float32) float32 {
	var result float32
	for first := 0; first == 0 || first < len(x); first += block {
		lanes := make([]float32, ReduceLanes(tensor.Float32))
		for i := range lanes {
			lanes[i] = identity
		}
		for i, v := range x[first:min(len(x), first+block)] {
			lanes[i%len(lanes)] = op(lanes[i%len(lanes)], v)
		}
		for n := len(lanes) / 2; n > 0; n /= 2 {
			for i := range n {
				lanes[i] = op(lanes[i], lanes[i+n])
			}
		}
		if result = lanes[0]; first > 0 {
			result = op(inStatedOrder(op, block, identity, x[:first]), lanes[0])
		}
	}
	return result
}

func TestReductionsFollowTheStatedOrder(t *testing.T) {
	cases := []struct {
		op       ReduceOp
		f        func(a, b float32) float32
		identity float32
	}{
		{ReduceSum, func(a, b float32) float32 { return a + b }, 0},
		{ReduceProduct, func(a, b float32) float32 { return a * b }, 1},
		{ReduceMin, func(a, b float32) float32 { return min(a, b) }, float32(math.Inf(1))},
		{ReduceMax, func(a, b float32) float32 { return max(a, b) }, float32(math.Inf(-1))},
	}
	for _, c := range cases {
		k := reduceKernel(c.op, tensor.Float32, tensor.Float32)
		p, err := NewProgram(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 63, 64, 700, ReduceBlock, 3*ReduceBlock + 77, ProductBlock + 77} {
			x := make([]float32, 3*n)
			for i := range x {
				x[i] = 1 + float32(math.Sin(float64(i)))/1024
			}
			in, err := tensor.FromSlice(x, 3, n)
			if err != nil {
				t.Fatal(err)
			}
			out, _ := tensor.Empty([]int{3, 1}, tensor.Float32)
			p.Run([]*tensor.Tensor{out, in}, nil)
			for row := range 3 {
				got, want := tensor.Data[float32](out)[row], inStatedOrder(c.f, k.ReduceBlock(), c.identity, x[row*n:(row+1)*n])
				if got != want {
					t.Errorf("%s of %d elements: %v, want %v", c.op, n, got, want)
				}
			}
		}
	}
}

// TestArgMaxOfStridedRows reduces numbers of elements over the columns of a matrix, beside an output
// that keeps all elements, with an input that is the same for each row.
func TestArgMaxOfStridedRows(t *testing.T) {
	b := NewBuilder()
	x, best := b.Input(tensor.Float16, tensor.Float32), b.Input(tensor.Float32, tensor.Float32)
	i := b.Iota(tensor.Int64)
	found := b.Binary(Ge, x, best)
	b.Reduce(ReduceMin, b.Select(found, i, b.Const(tensor.Int64, tensor.Int(math.MaxInt64))), tensor.Int64)
	b.Output(found, tensor.Bool)
	p, err := NewProgram(b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	const rows, n = 5, 20000
	data := make([]float32, n*rows)
	for row := range rows {
		data[(700*row+row)*rows+row], data[(n-1)*rows+row] = 2, 2
	}
	in, _ := tensor.FromSlice(data, n, rows)
	in, _ = in.To(tensor.Float16)
	in, _ = in.T()
	limit := vector(t, []float32{2, 2, 1, 1, 3})
	limit, _ = limit.Reshape(rows, 1)
	at, _ := tensor.Empty([]int{rows, 1}, tensor.Int64)
	all, _ := tensor.Empty([]int{rows, n}, tensor.Bool)
	p.Run([]*tensor.Tensor{at, all, in, limit}, nil)
	want := []int64{0, 701, 1402, 2103, math.MaxInt64}
	for row, got := range tensor.Data[int64](at) {
		if got != want[row] {
			t.Errorf("row %d: %d, want %d", row, got, want[row])
		}
		if last := all.At(row, n-1).Bool(); last != (row < 4) {
			t.Errorf("row %d: last element %v", row, last)
		}
	}
}

func TestReduceNaNAndEmptyRuns(t *testing.T) {
	nan := float32(math.NaN())
	for op, empty := range map[ReduceOp]float64{ReduceSum: 0, ReduceProduct: 1, ReduceMin: math.Inf(1), ReduceMax: math.Inf(-1)} {
		p, err := NewProgram(reduceKernel(op, tensor.Float32, tensor.Float32))
		if err != nil {
			t.Fatal(err)
		}
		out, _ := tensor.Empty([]int{1}, tensor.Float32)
		p.Run([]*tensor.Tensor{out, vector(t, []float32{1, nan, 2})}, nil)
		if got := out.At(0).Float64(); got == got {
			t.Errorf("%s with NaN is %v", op, got)
		}
		p.Run([]*tensor.Tensor{out, vector(t, []float32{})}, nil)
		if got := out.At(0).Float64(); got != empty {
			t.Errorf("%s of nothing is %v", op, got)
		}
	}
	for dtype, limits := range map[tensor.DType][2]int64{tensor.Uint8: {255, 0}, tensor.Int8: {127, -128}, tensor.Int64: {math.MaxInt64, math.MinInt64}, tensor.Bool: {1, 0}} {
		for i, op := range []ReduceOp{ReduceMin, ReduceMax} {
			if got := op.Identity(dtype).Int64(); got != limits[i] {
				t.Errorf("%s of no %s is %d", op, dtype, got)
			}
		}
	}
}
