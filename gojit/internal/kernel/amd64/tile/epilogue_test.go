//go:build unix

package tile

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm/asmtest"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// epilogues are kernels of growing appetite for registers.
var epilogues = map[string]func(b *kernel.Builder, sum, row, like kernel.Value) kernel.Value{
	"relu(sum+row+like)": func(b *kernel.Builder, sum, row, like kernel.Value) kernel.Value {
		return b.Binary(kernel.Max, b.Add(b.Add(sum, row), like), b.Number(sum, 0))
	},
	"tanh(sum)*like+row": func(b *kernel.Builder, sum, row, like kernel.Value) kernel.Value {
		return b.Add(b.Mul(b.Unary(kernel.Tanh, sum), like), row)
	},
	"gelu(sum+row)*sigmoid(like)": func(b *kernel.Builder, sum, row, like kernel.Value) kernel.Value {
		x := b.Add(sum, row)
		gelu := b.Mul(b.Mul(x, b.Number(x, 0.5)), b.Add(b.Unary(kernel.Erf, b.Mul(x, b.Number(x, 0.7071067811865476))), b.Number(x, 1)))
		one := b.Number(x, 1)
		return b.Mul(gelu, b.Div(one, b.Add(one, b.Exp(b.Neg(like)))))
	},
	"limits": func(b *kernel.Builder, sum, row, like kernel.Value) kernel.Value {
		x := b.Add(b.Add(sum, row), like)
		return b.Binary(kernel.Min, b.Binary(kernel.Max, x, b.Number(x, -0.5)), b.Number(x, 1.5))
	},
	"select": func(b *kernel.Builder, sum, row, like kernel.Value) kernel.Value {
		return b.Select(b.Binary(kernel.Lt, sum, row), b.Mul(sum, b.Number(sum, 0.01)), like)
	},
}

func epilogueKernel(t tensor.DType, f func(b *kernel.Builder, sum, row, like kernel.Value) kernel.Value) *kernel.Kernel {
	b := kernel.NewBuilder()
	sum, row, like := b.Input(t, t), b.Input(t, t), b.Input(t, t)
	b.Output(f(b, sum, row, like), t)
	return b.Kernel()
}

// TestEpiloguesAgreeWithKernels compares tiles that apply a kernel with the kernel applied to the sums.
func TestEpiloguesAgreeWithKernels(t *testing.T) {
	for _, isa := range vectorSets() {
		for name, f := range epilogues {
			r := rand.New(rand.NewPCG(5, 5))
			checkEpilogue[float32](t, isa, name, epilogueKernel(tensor.Float32, f), tensor.Float32, r)
			checkEpilogue[float64](t, isa, name, epilogueKernel(tensor.Float64, f), tensor.Float64, r)
		}
	}
}

func checkEpilogue[T float32 | float64](t *testing.T, isa asm.ISA, name string, k *kernel.Kernel, dtype tensor.DType, r *rand.Rand) {
	t.Helper()
	e, err := NewEpilogue(k, dtype, isa)
	if err != nil {
		t.Fatalf("%s %v: %v", name, isa, err)
	}
	f, err := amd64.Compile(e.kernel, 0, isa)
	if err != nil {
		t.Fatal(err)
	}
	var zero T
	size := int(unsafe.Sizeof(zero))
	lanes := isa.Width().Bytes() / size
	shapes := [][2]int{{1, 1}, {3, 2}, {MaxRows(isa, 2), 2}, {MaxRows(isa, 1), 1}, {1, 8}}
	for i := range 4 * len(shapes) {
		rows, vectors := shapes[i%len(shapes)][0], shapes[i%len(shapes)][1]
		tile := Tile{ISA: isa, Double: size == 8, Rows: uint8(rows), Vectors: uint8(vectors), Tail: i%2 == 0, Add: i/2%2 == 0, Epilogue: e}
		blocks, of := 1, rows
		if i%4 > 1 { // of which all fetch
			tile.Walk, tile.Fetch, blocks = true, true, 2
			rows *= blocks
		}
		columns := vectors * lanes
		if tile.Tail {
			columns -= 1 + r.IntN(lanes-1)
		}
		const k = 9
		front := i%3 == 0
		a, b := asmtest.Guarded[T](t, rows*k, front), asmtest.Guarded[T](t, k*vectors*lanes, front)
		c, like, row := asmtest.Guarded[T](t, rows*columns, front), asmtest.Guarded[T](t, rows*columns, front), asmtest.Guarded[T](t, columns, front)
		for _, x := range [][]T{a, b, c, like, row} {
			for j := range x {
				x[j] = T(r.IntN(9)-4) / 4
			}
		}
		sums, rowOf, want := make([]T, rows*columns+16), make([]T, rows*columns+16), make([]T, rows*columns+16)
		for i := range rows {
			for j := range columns {
				at := i*columns + j
				for p := range k {
					sums[at] += a[i*k+p] * b[p*vectors*lanes+j]
				}
				if tile.Add {
					sums[at] += c[at]
				}
				rowOf[at] = row[j]
			}
		}
		scratch := make([]byte, max(EpilogueScratch, f.Scratch)+64)
		aligned := unsafe.Pointer(&scratch[-uintptr(unsafe.Pointer(&scratch[0]))%64])
		flat := amd64.Args{Count: int64(rows * columns), Scratch: aligned, Ptr: [amd64.MaxPointers]unsafe.Pointer{unsafe.Pointer(&want[0]), unsafe.Pointer(&sums[0]), unsafe.Pointer(&rowOf[0]), unsafe.Pointer(&like[0])}}
		f.Code.Call(unsafe.Pointer(&flat))
		args := TileArgs{A: unsafe.Pointer(&a[0]), B: unsafe.Pointer(&b[0]), C: unsafe.Pointer(&c[0]), Bias: unsafe.Pointer(&row[0]), Residual: unsafe.Pointer(&like[0]), Scratch: aligned,
			ARow: int64(k * size), CRow: int64(columns * size), K: k, Mask: TailMask(isa, (columns-(vectors-1)*lanes)*size/4),
			Runs: 1, Blocks: int64(blocks), ABlock: int64(of * k * size), CBlock: int64(of * columns * size), Fetch: uintptr(unsafe.Pointer(&b[0])), FetchStep: 64}
		tile.Code().Call(unsafe.Pointer(&args))
		w := tileWriter{tile: tile}
		w.plan()
		if fetched := int(args.Fetch-uintptr(unsafe.Pointer(&b[0]))) / 64; tile.Fetch && fetched != blocks*(k/w.unroll) {
			t.Fatalf("%s %+v: %d rows are fetched", name, tile, fetched)
		}
		for at := range c {
			if c[at] != want[at] && (c[at] == c[at] || want[at] == want[at]) {
				t.Fatalf("%s %+v: element %d is %v, want %v", name, tile, at, c[at], want[at])
			}
		}
	}
}

func BenchmarkEncodeEpilogue(b *testing.B) {
	isa := vectorSets()[len(vectorSets())-1]
	e, err := NewEpilogue(epilogueKernel(tensor.Float32, epilogues["gelu(sum+row)*sigmoid(like)"]), tensor.Float32, isa)
	if err != nil {
		b.Fatal(err)
	}
	a := &asm.Assembler{}
	for b.Loop() {
		a.Reset(isa)
		Tile{ISA: isa, Rows: uint8(MaxRows(isa, 2)), Vectors: 2, Epilogue: e}.Encode(a)
	}
}
