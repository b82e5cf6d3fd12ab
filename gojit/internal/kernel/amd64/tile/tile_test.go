//go:build unix

package tile

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm/asmtest"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// vectorSets are the instruction sets that tiles are made for and this machine has.
func vectorSets() (sets []asm.ISA) {
	for isa := asm.AVX2; isa <= asm.Host(); isa++ {
		sets = append(sets, isa)
	}
	return sets
}

func fill[T float32 | float64](r *rand.Rand, x []T) {
	for i := range x {
		x[i] = T(r.IntN(17) - 8)
	}
}

// TestTilesAgreeWithDefinition runs every shape of a tile over buffers that end at guard pages.
func TestTilesAgreeWithDefinition(t *testing.T) {
	for _, isa := range vectorSets() {
		for vectors := 1; vectors <= 24 && vectors+4 <= isa.Registers(); vectors++ {
			for rows := 1; rows <= MaxRows(isa, vectors); rows++ {
				r := rand.New(rand.NewPCG(uint64(vectors), uint64(rows)))
				for range 4 {
					tile := Tile{ISA: isa, Rows: uint8(rows), Vectors: uint8(vectors), Tail: r.IntN(2) == 0, Columns: r.IntN(2) == 0,
						InPlace: r.IntN(2) == 0, Keep: r.IntN(2) == 0, Prefetch: r.IntN(2) == 0, FetchC: r.IntN(2) == 0, Add: r.IntN(2) == 0, Bias: Bias(r.IntN(3)),
						Residual: r.IntN(2) == 0, Relu: r.IntN(2) == 0, Stream: r.IntN(4) == 0}
					if rows == 1 && vectors+3 > isa.Registers()-3 {
						tile.Keep = false
					}
					switch {
					case tile.Columns:
					case r.IntN(2) == 0:
						tile.KeepA = true
					default:
						tile.PackedA = r.IntN(2) == 0
					}
					checkTile[float32](t, tile, r)
					tile.Double = true
					checkTile[float64](t, tile, r)
				}
			}
		}
	}
}

func checkTile[T float32 | float64](t *testing.T, tile Tile, r *rand.Rand) {
	t.Helper()
	var zero T
	size := int(unsafe.Sizeof(zero))
	lanes := tile.ISA.Width().Bytes() / size
	rows, k, front := int(tile.Rows), 1+r.IntN(19), r.IntN(2) == 0
	n := int(tile.Vectors) * lanes
	columns := n
	if tile.Tail {
		columns -= r.IntN(lanes)
	}
	widthB := n // of a row of B
	if tile.InPlace {
		widthB = columns
	}
	gap := r.IntN(3)
	lda, ldb, ldc := k+gap, widthB, columns+gap
	lenA := (rows-1)*lda + k
	if tile.Columns {
		lda = rows + gap
		lenA = (k-1)*lda + rows
	}
	if tile.InPlace {
		ldb += gap
	}
	packedRow := tile.PackedRow(k) / size
	elementA := func(i, p int) int { return i*lda + p }
	switch {
	case tile.Columns:
		elementA = func(i, p int) int { return p*lda + i }
	case tile.PackedA:
		lenA, elementA = rows*packedRow, func(i, p int) int { return packedElement(rows, i, p) }
	}
	if tile.Stream {
		front, ldc = true, n
	}
	lenC := (rows-1)*ldc + columns
	a, b := asmtest.Guarded[T](t, lenA, front), asmtest.Guarded[T](t, (k-1)*ldb+widthB, front)
	c, residual := asmtest.Guarded[T](t, lenC, front), asmtest.Guarded[T](t, lenC, front)
	bias := asmtest.Guarded[T](t, map[Bias]int{NoBias: 0, ColumnBias: columns, RowBias: rows}[tile.Bias]+1, front)[1:]
	pack, packA := asmtest.Guarded[T](t, k*n, front), asmtest.Guarded[T](t, rows*packedRow, front)
	for _, x := range [][]T{a, b, c, residual, bias} {
		fill(r, x)
	}
	want := make([]T, lenC)
	copy(want, c)
	for i := range rows {
		for j := range columns {
			var sum T
			for p := range k {
				sum += a[elementA(i, p)] * b[p*ldb+j]
			}
			if tile.Add {
				sum += c[i*ldc+j]
			}
			switch tile.Bias {
			case ColumnBias:
				sum += bias[j]
			case RowBias:
				sum += bias[i]
			}
			if tile.Residual {
				sum += residual[i*ldc+j]
			}
			if tile.Relu {
				sum = max(sum, 0)
			}
			want[i*ldc+j] = sum
		}
	}
	at := func(x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
	args := TileArgs{A: at(a), B: at(b), C: at(c), Pack: at(pack), PackA: at(packA), Bias: at(bias), Residual: at(residual), ARow: int64(lda * size), BRow: int64(ldb * size), CRow: int64(ldc * size), K: int64(k)}
	args.Mask = TailMask(tile.ISA, (columns-(n-lanes))*size/4)
	tile.Code().Call(unsafe.Pointer(&args))
	for i := range want {
		if c[i] != want[i] {
			t.Fatalf("%+v k=%d: element %d of C is %v, want %v", tile, k, i, c[i], want[i])
		}
	}
	for i := range rows {
		for p := range k {
			if at := packedElement(rows, i, p); tile.KeepA && packA[at] != a[elementA(i, p)] {
				t.Fatalf("%+v k=%d: element (%d, %d) of A is kept as %v, want %v", tile, k, i, p, packA[at], a[elementA(i, p)])
			}
		}
	}
	for p := 0; tile.Keep && p < k*n; p++ {
		var kept T
		if j := p % n; j < widthB {
			kept = b[p/n*ldb+j]
		}
		if pack[p] != kept {
			t.Fatalf("%+v k=%d: element %d kept is %v, want %v", tile, k, p, pack[p], kept)
		}
	}
}

// packedElement returns where in packed A element (i, p) is.
func packedElement(rows, i, p int) int { return (p/PackedSteps*rows+i)*PackedSteps + p%PackedSteps }

func TestCopying(t *testing.T) {
	for _, isa := range vectorSets() {
		lanes := isa.Width().Bytes() / 4
		for n := 1; n <= 4*lanes; n++ {
			r := rand.New(rand.NewPCG(7, uint64(n)))
			count, vectors := 1+r.IntN(5), (n+lanes-1)/lanes
			from, to := asmtest.Guarded[float32](t, (count-1)*(n+2)+n, n%2 == 0), asmtest.Guarded[float32](t, count*vectors*lanes, n%2 == 0)
			fill(r, from)
			args := CopyArgs{From: unsafe.Pointer(&from[0]), To: unsafe.Pointer(&to[0]), FromRow: int64(n+2) * 4, ToRow: int64(vectors*lanes) * 4, Count: int64(count), Mask: TailMask(isa, n-(vectors-1)*lanes)}
			Copying{ISA: isa, Vectors: uint8(vectors), Tail: n%lanes != 0}.Code().Call(unsafe.Pointer(&args))
			for i, v := range to {
				want := float32(0)
				if j := i % (vectors * lanes); j < n {
					want = from[i/(vectors*lanes)*(n+2)+j]
				}
				if v != want {
					t.Fatalf("%v, %d elements: element %d is %v, want %v", isa, n, i, v, want)
				}
			}
		}
	}
}

func TestTransposition(t *testing.T) {
	for _, isa := range vectorSets() {
		for rows := 1; rows <= 16; rows++ {
			for _, count := range []int{1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33} {
				checkTransposition[float32](t, isa, rows, count)
				checkTransposition[float64](t, isa, rows, count)
			}
		}
	}
}

func checkTransposition[T float32 | float64](t *testing.T, isa asm.ISA, rows, count int) {
	t.Helper()
	var zero T
	size := int(unsafe.Sizeof(zero))
	lanes := isa.Width().Bytes() / size
	if rows > lanes {
		return
	}
	stride, wide := count+1, lanes+3
	from, to := asmtest.Guarded[T](t, (rows-1)*stride+count, rows%2 == 0), asmtest.Guarded[T](t, (count-1)*wide+lanes, rows%2 == 0)
	for i := range from {
		from[i] = T(i + 1)
	}
	args := CopyArgs{From: unsafe.Pointer(&from[0]), To: unsafe.Pointer(&to[0]), FromRow: int64(stride * size), ToRow: int64(wide * size), Count: int64(count), Mask: TailMask(isa, count%lanes*size/4)}
	Transposition{ISA: isa, Double: size == 8, Rows: uint8(rows)}.Code().Call(unsafe.Pointer(&args))
	for c := range count {
		for r := range lanes {
			want := T(0)
			if r < rows {
				want = from[r*stride+c]
			}
			if got := to[c*wide+r]; got != want {
				t.Fatalf("%v, %d by %d of %d bytes: (%d, %d) is %v, want %v", isa, rows, count, size, r, c, got, want)
			}
		}
	}
}

func BenchmarkTile(b *testing.B) {
	for _, isa := range vectorSets() {
		lanes := isa.Width().Bytes() / 4
		for _, shape := range [][2]int{{1, 20}, {2, 2}, {4, 2}, {8, 2}, {14, 2}, {8, 3}, {4, 6}, {14, 1}} {
			rows, vectors := shape[0], shape[1]
			if rows > MaxRows(isa, vectors) || isa == asm.AVX2 && vectors > 10 {
				rows, vectors = MaxRows(isa, 2), 2
			}
			const k = 256
			x, y, z := make([]float32, rows*k+16), make([]float32, k*vectors*lanes+512), make([]float32, rows*vectors*lanes)
			args := TileArgs{A: unsafe.Pointer(&x[0]), B: unsafe.Pointer(&y[0]), C: unsafe.Pointer(&z[0]), ARow: k*4 + 64, BRow: int64(vectors * lanes * 4), CRow: int64(vectors * lanes * 4), K: k}
			args.ARow = k * 4
			tile := Tile{ISA: isa, Rows: uint8(rows), Vectors: uint8(vectors), Prefetch: true}
			code := tile.Code()
			b.Run(fmt.Sprintf("%v/%dx%d", isa, rows, vectors), func(b *testing.B) {
				for b.Loop() {
					code.Call(unsafe.Pointer(&args))
				}
				b.ReportMetric(float64(2*k*rows*vectors*lanes)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
			})
		}
	}
}

func BenchmarkEncodeTile(b *testing.B) {
	a := &asm.Assembler{}
	tile := Tile{ISA: asm.AVX512, Rows: 14, Vectors: 2, Tail: true, InPlace: true, Keep: true, Prefetch: true, Bias: ColumnBias, Relu: true}
	for b.Loop() {
		a.Reset(asm.AVX512)
		tile.Encode(a)
		code, err := asm.Place(a.Code)
		if err != nil {
			b.Fatal(err)
		}
		code.Free()
	}
}

func TestDots(t *testing.T) {
	for _, isa := range vectorSets() {
		for _, shape := range DotsShapes(isa) {
			for _, k := range []int{1, 2, 3, 5, 8, 15, 16, 17, 33, 64, 70, 128, 131} {
				d := Dots{ISA: isa, Rows: shape[0], Groups: shape[1], Add: k%3 == 0, Bias: k%4 > 1}
				checkDots[float32](t, d, k)
				d.Double = true
				checkDots[float64](t, d, k)
			}
		}
	}
}

func checkDots[T float32 | float64](t *testing.T, d Dots, k int) {
	t.Helper()
	var zero T
	size := int(unsafe.Sizeof(zero))
	r := rand.New(rand.NewPCG(uint64(k), uint64(d.Rows)))
	lanes := d.ISA.Width().Bytes() / size
	rows, columns := int(d.Rows), int(d.Groups)*DotsGroup(d.Double)
	a, b, c := asmtest.Guarded[T](t, (rows-1)*(k+1)+k, k%2 == 0), asmtest.Guarded[T](t, (columns-1)*(k+2)+k, k%2 == 0), asmtest.Guarded[T](t, rows*columns, k%2 == 0)
	bias := asmtest.Guarded[T](t, columns, k%2 == 0)
	for _, x := range [][]T{a, b, c, bias} {
		fill(r, x)
	}
	before := append([]T(nil), c...)
	args := DotsArgs{A: unsafe.Pointer(&a[0]), B: unsafe.Pointer(&b[0]), C: unsafe.Pointer(&c[0]), Mask: TailMask(d.ISA, k%lanes*size/4), ARow: int64((k + 1) * size), BRow: int64((k + 2) * size), CRow: int64(columns * size), K: int64(k), Bias: unsafe.Pointer(&bias[0])}
	d.Code().Call(unsafe.Pointer(&args))
	for i := range rows {
		for j := range columns {
			var want T
			for p := range k {
				want += a[i*(k+1)+p] * b[j*(k+2)+p]
			}
			if d.Add {
				want += before[i*columns+j]
			}
			if d.Bias {
				want += bias[j]
			}
			if c[i*columns+j] != want {
				t.Fatalf("%+v k=%d: (%d, %d) is %v, want %v", d, k, i, j, c[i*columns+j], want)
			}
		}
	}
}

func TestInterleaving(t *testing.T) {
	if asm.Host() < asm.AVX512 {
		t.Skip("the processor has no AVX-512")
	}
	for columns := MinInterleaved; columns <= MaxInterleaved; columns++ {
		for vectors := 1; vectors <= 3; vectors++ {
			checkInterleaving[float32](t, columns, vectors)
			checkInterleaving[float64](t, columns, vectors)
		}
	}
}

func checkInterleaving[T float32 | float64](t *testing.T, columns, vectors int) {
	t.Helper()
	size := int(unsafe.Sizeof(T(0)))
	rows := vectors * 64 / size
	stride := rows + 3
	from, to := asmtest.Guarded[T](t, (columns-1)*stride+rows, vectors%2 == 0), asmtest.Guarded[T](t, rows*columns, vectors%2 == 0)
	for i := range from {
		from[i] = T(i + 1)
	}
	kernel := Interleaving{ISA: asm.AVX512, Double: size == 8, Columns: uint8(columns)}
	args := CopyArgs{From: unsafe.Pointer(&from[0]), To: unsafe.Pointer(&to[0]), FromRow: int64(stride * size), Count: int64(vectors), Mask: kernel.Places()}
	kernel.Code().Call(unsafe.Pointer(&args))
	for i, got := range to {
		if want := from[i%columns*stride+i/columns]; got != want {
			t.Fatalf("%d columns of %d bytes: element %d is %v, want %v", columns, size, i, got, want)
		}
	}
}

// BenchmarkPeak adds products in independent registers: the most that the machine does of them.
func BenchmarkPeak(b *testing.B) {
	for _, isa := range []asm.ISA{asm.AVX2, asm.AVX512} {
		if isa > asm.Host() {
			continue
		}
		b.Run(isa.String(), func(b *testing.B) {
			const sums, rounds = 12, 4096
			a := &asm.Assembler{ISA: isa}
			a.MoveImm(asm.RAX, rounds)
			for i := range asm.Reg(sums + 1) {
				a.V(asm.PXOR, isa.Width(), i, i, asm.R(i))
			}
			a.Align(32)
			loop := a.Here()
			for i := range asm.Reg(sums) {
				a.V(asm.FMADD231PS, isa.Width(), i, sums, asm.R(sums))
			}
			a.Dec(asm.RAX)
			a.JumpIf(asm.NotEqual, loop)
			a.ZeroUpper()
			a.Ret()
			code, err := asm.Place(a.Code)
			if err != nil {
				b.Fatal(err)
			}
			defer code.Free()
			for b.Loop() {
				code.Call(nil)
			}
			flops := 2 * sums * rounds * isa.Width().Bytes() / 4
			b.ReportMetric(float64(flops)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
		})
	}
}
