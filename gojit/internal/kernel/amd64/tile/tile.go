package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Tile describes a kernel that computes a block of a matrix product in registers:
//
//	C[r][j] = sum over k of A[r][k]*B[k][j], and C[r][j] as it was where Add
//
// for all rows r and the elements j of Vectors vectors. What it depends on is code; sizes, strides
// and addresses are arguments, so a few kernels serve all products. The order of additions depends
// on Rows and Vectors alone, whatever the layout of A and B.
type Tile struct {
	ISA      asm.ISA
	Double   bool  // float64; else float32
	Pairs    bool  // A and B hold pairs of bfloat16 that follow each other in k, K counts them; needs AVX512 and HasBF16
	Rows     uint8 // of A and C
	Vectors  uint8 // of a row of B and C
	Tail     bool  // the last vector of C is partial, as TileArgs.Mask says
	Columns  bool  // A lies transposed: element (r, k) is at k*ARow + r
	KeepA    bool  // A is also written to PackA, as PackedA reads it; not with Columns or several runs
	PackedA  bool  // A lies as KeepA writes it: of PackedSteps steps those of row 0, row 1 and so on follow each other
	InPlace  bool  // rows of B are BRow apart and as partial as those of C; else they follow each other, whole
	Keep     bool  // rows of B, completed with zeros, are also written to Pack
	Prefetch bool  // rows of B are fetched ahead into the cache
	FetchC   bool  // C is fetched into the cache at the start
	Stream   bool  // whole vectors of C go past the caches; it lies, as CRow and CBlock do, at multiples of StreamAlignment
	Fetch    bool  // what is to be read later is fetched into the second cache, as TileArgs says; not with Keep
	Walk     bool  // several blocks one after the other, whose sums have several runs, as TileArgs says
	Halves   bool  // the last vector, of half as many columns, is for two steps at once, whose number is even: see stepHalves. Of float32 with AVX512
	Add      bool  // C is added to
	Bias     Bias
	Residual bool      // the elements of Residual, which lies as C does, are added
	Relu     bool      // negative results are zero; NaN stays
	Epilogue *Epilogue // in place of Bias, Residual and Relu, or nil
}

// ElementSize returns the bytes of an element of C.
func (t *Tile) ElementSize() int {
	if t.Double {
		return 8
	}
	return 4
}

// Lanes returns the elements of a vector of C.
func (t *Tile) Lanes() int { return t.ISA.Width().Bytes() / t.ElementSize() }

// Bias says what is added to the results of a tile.
type Bias uint8

// The biases: none, one element for every column, one for every row.
const (
	NoBias Bias = iota
	ColumnBias
	RowBias
)

// TileArgs is what a kernel of a Tile receives. Strides are in bytes.
type TileArgs struct {
	A, B, C          unsafe.Pointer
	Pack, PackA      unsafe.Pointer
	Bias, Residual   unsafe.Pointer
	Mask             unsafe.Pointer // TailMask of the elements of the last vector
	ARow, BRow, CRow int64
	K                int64          // length of the sums, at least 1
	Scratch          unsafe.Pointer // with an epilogue: EpilogueScratch bytes, aligned to 64

	// With Walk, K is the length of each of Runs runs; after one of them A and B go on ANext and BNext
	// further. After each of Blocks blocks A goes on by ABlock, C and Residual by CBlock, a bias of rows by those of
	// the block: they are left where the last block has them, Blocks is left 0.
	Runs, ANext, BNext     int64
	Blocks, ABlock, CBlock int64
	PackABlock             int64 // what PackA goes on by

	// With Fetch, a row of B's size is fetched from there for every four steps of the sums or, where a tile is small, for every
	// eight, the next one FetchStep further, from block to block. The rows may end anywhere; Fetch is left behind the last one.
	Fetch     uintptr
	FetchStep int64
}

const (
	argA = 8 * iota
	argB
	argC
	argPack
	argPackA
	argBias
	argResidual
	argMask
	argARow
	argBRow
	argCRow
	argK
	argScratch
	argRuns
	argANext
	argBNext
	argBlocks
	argABlock
	argCBlock
	argPackABlock
	argFetch
	argFetchStep
)

// Registers of a tile. The bases address every third row of A.
const (
	tileArgs = asm.RDI
	tileB    = asm.R9
	tileBRow = asm.R8
	tileC    = asm.R10
	tileK    = asm.RDX
	tileARow = asm.R12
	tilePack = asm.R13
	tileMask = asm.R15
	tileRuns = tileC // until the sums are complete
	tileNext = tilePack
)

var tileBases = [...]asm.Reg{asm.RAX, asm.RBX, asm.RCX, asm.RSI, asm.R11}

// PackedSteps is how many steps of a row of A that is packed follow each other.
const PackedSteps = 4

// PackedRow returns the bytes of memory that a row of packed A takes for sums of length k.
func (t *Tile) PackedRow(k int) int {
	return (k + PackedSteps - 1) / PackedSteps * PackedSteps * t.ElementSize()
}

// maskRegister holds the opmask of the last vector.
const maskRegister = asm.Reg(1)

// MaxRows returns how many rows a tile of so many vectors may have.
func MaxRows(isa asm.ISA, vectors int) int { return int(maxRows[isa][vectors]) }

var maxRows = func() (table [asm.AVX512 + 1][32]uint8) {
	for isa := asm.AVX2; isa <= asm.AVX512; isa++ {
		for vectors := 1; vectors < len(table[isa]); vectors++ {
			rows := 3 * len(tileBases)
			for ; rows > 1; rows-- {
				w := tileWriter{tile: Tile{ISA: isa, Rows: uint8(rows), Vectors: uint8(vectors)}}
				if w.plan() <= isa.Registers() {
					break
				}
			}
			table[isa][vectors] = uint8(rows)
		}
	}
	return table
}()

// tileWriter encodes one tile.
type tileWriter struct {
	*asm.Assembler
	tile             Tile
	width            asm.Width
	bytes, element   int32 // of a vector, of an element
	rows, vectors    int
	sets             int // of accumulators, which take turns to hide the latency of small tiles
	unroll           int
	holdA            bool // the elements of A are held while B goes by; else the other way round
	direct           bool // B goes from memory into the products
	firstB, countB   int  // registers for B
	firstA, countA   int  // registers for elements of A
	multiplyAdd, add asm.Op
	splat            asm.Op
	maximum, minimum asm.Op
	mask             asm.Reg // with AVX2 the address of the mask of the last vector
	start            asm.Label
}

// plan assigns registers and returns how many there are.
func (w *tileWriter) plan() int {
	t := &w.tile
	w.rows, w.vectors = int(t.Rows), int(t.Vectors)
	accumulators := w.rows * w.vectors
	w.holdA = w.rows < w.vectors
	w.direct = w.rows == 1 && !t.Keep
	w.countB, w.countA = w.vectors, 2
	if w.holdA {
		w.countB, w.countA = 2, w.rows
		if t.ISA == asm.AVX2 {
			w.countA++ // the last register is scratch
		}
	}
	w.unroll = PackedSteps
	if accumulators <= 8 && !t.KeepA && !t.PackedA {
		w.unroll = 8
	}
	w.sets = 1
	for accumulators*w.sets < 8 && 2*accumulators*w.sets+w.countB+w.countA <= t.ISA.Registers() {
		w.sets *= 2
	}
	w.firstB = w.sets * accumulators
	w.firstA = w.firstB + w.countB
	const finishing = 4 // registers that finish takes beside the sums
	return max(w.firstA+w.countA, accumulators+finishing)
}

// Encode appends the kernel's code.
func (t Tile) Encode(a *asm.Assembler) {
	w := &tileWriter{Assembler: a, tile: t, width: t.ISA.Width(), bytes: int32(t.ISA.Width().Bytes()), element: 4, mask: tileMask}
	w.multiplyAdd, w.add, w.splat, w.maximum, w.minimum = asm.FMADD231PS, asm.ADDPS, asm.BROADCASTSS, asm.MAXPS, asm.MINPS
	if t.Double {
		w.element = 8
		w.multiplyAdd, w.add, w.splat, w.maximum, w.minimum = asm.FMADD231PD, asm.ADDPD, asm.BROADCASTSD, asm.MAXPD, asm.MINPD
	}
	if t.Pairs {
		w.multiplyAdd = asm.DPBF16PS
	}
	w.plan()
	w.start = a.Here()
	if t.Fetch {
		w.Load(tileNext, asm.At(tileArgs, argFetch))
	}
	w.enter()
	w.reduce()
	if t.Fetch { // an epilogue has another use for the register
		w.Store(asm.At(tileArgs, argFetch), tileNext)
	}
	w.combine()
	w.foldHalves()
	switch e := t.Epilogue; {
	case e == nil:
		w.finish(nil)
		w.leave()
	case e.limits != nil:
		w.finishLimited(e.limits)
	default:
		w.finishWith(e)
	}
}

func (w *tileWriter) accumulator(set, row, vector int) asm.Reg {
	return asm.Reg((set*w.rows+row)*w.vectors + vector)
}

// enter loads the arguments and clears the accumulators.
func (w *tileWriter) enter() {
	t := &w.tile
	w.Load(tileBases[0], asm.At(tileArgs, argA))
	if w.rows > 1 && !t.PackedA || t.Columns {
		w.Load(tileARow, asm.At(tileArgs, argARow))
	}
	for r := 3; r < w.rows && w.apart(); r += 3 {
		w.Lea(tileBases[r/3], asm.Indexed(tileBases[r/3-1], tileARow, 2, 0))
		w.Add(tileBases[r/3], tileARow)
	}
	w.Load(tileB, asm.At(tileArgs, argB))
	if t.InPlace {
		w.Load(tileBRow, asm.At(tileArgs, argBRow))
	}
	if t.Keep {
		w.Load(tilePack, asm.At(tileArgs, argPack))
	}
	w.loadTailMask(argMask)
	if t.FetchC {
		w.Load(tileK, asm.At(tileArgs, argCRow))
		w.Load(tileC, asm.At(tileArgs, argC))
		for r := range w.rows {
			for j := int32(0); j < int32(w.vectors)*w.bytes; j += 64 {
				w.Assembler.Prefetch(asm.PrefetchWrite, asm.At(tileC, j))
			}
			if r+1 < w.rows {
				w.Add(tileC, tileK)
			}
		}
	}
	if t.KeepA {
		w.Load(w.packA(), asm.At(tileArgs, argPackA))
	}
	for i := range w.firstB {
		w.clear(asm.Reg(i))
	}
	if t.Walk {
		w.Load(tileRuns, asm.At(tileArgs, argRuns))
	}
}

// apart reports whether rows of A lie apart, and have addresses of their own.
func (w *tileWriter) apart() bool { return !w.tile.Columns && !w.tile.PackedA }

// packA is the register of the address that A is packed to.
func (w *tileWriter) packA() asm.Reg {
	if w.tile.InPlace {
		return tileRuns // there is one run
	}
	return tileBRow
}

// loadTailMask loads the mask of partial vectors from an argument.
func (w *tileWriter) loadTailMask(arg int32) {
	if !w.tile.Tail {
		return
	}
	w.Load(w.mask, asm.At(tileArgs, arg))
	if w.tile.ISA == asm.AVX512 {
		w.KLoad(maskRegister, asm.At(w.mask, 0))
	}
}

func (w *tileWriter) clear(r asm.Reg) { w.V(asm.PXOR, w.width, r, r, asm.R(r)) }

// reduce adds the products of all k, run by run.
func (w *tileWriter) reduce() {
	run := w.Here()
	w.Load(tileK, asm.At(tileArgs, argK))
	w.addRun()
	if !w.tile.Walk {
		return
	}
	done := w.NewLabel()
	w.Dec(tileRuns)
	w.JumpIf(asm.Equal, done)
	for r := 0; r < w.rows && (r == 0 || w.apart()); r += 3 {
		w.AddMem(tileBases[r/3], asm.At(tileArgs, argANext))
	}
	w.AddMem(tileB, asm.At(tileArgs, argBNext))
	w.Jump(run)
	w.Bind(done)
}

// addRun adds the products of a run. Several steps at a time come first, single ones last.
func (w *tileWriter) addRun() {
	rest, done := w.NewLabel(), w.NewLabel()
	w.SubImm(tileK, int32(w.unroll))
	w.JumpIf(asm.Less, rest)
	w.Align(32)
	loop := w.Here()
	for u := 0; u < w.unroll; u += w.stepsAtOnce() {
		w.step(u)
	}
	w.keepA(w.unroll)
	w.fetchNext()
	w.advance(w.unroll)
	w.SubImm(tileK, int32(w.unroll))
	w.JumpIf(asm.GreaterEqual, loop)
	w.Bind(rest)
	w.AddImm(tileK, int32(w.unroll))
	w.JumpIf(asm.Equal, done)
	single := w.Here()
	w.step(0)
	w.keepA(1)
	w.advance(w.stepsAtOnce())
	w.SubImm(tileK, int32(w.stepsAtOnce()))
	w.JumpIf(asm.NotEqual, single)
	w.Bind(done)
}

// keepA packs the elements of A of n steps, one or as many as there are in the loop.
func (w *tileWriter) keepA(n int) {
	if !w.tile.KeepA {
		return
	}
	load, store, width := asm.MOVUPS, asm.MOVUPSstore, asm.W128
	switch {
	case n == 1 && w.tile.Double:
		load, store = asm.MOVSD, asm.MOVSDstore
	case n == 1:
		load, store = asm.MOVSS, asm.MOVSSstore
	case w.tile.Double:
		width = asm.W256
	}
	for r := range w.rows {
		x := asm.Reg(w.firstA + r%w.countA)
		w.V(load, width, x, 0, asm.M(w.atA(0, r)))
		w.V(store, width, x, 0, asm.M(asm.At(w.packA(), int32(r*PackedSteps)*w.element)))
	}
	w.AddImm(w.packA(), w.packedStep(n))
}

// packedStep returns how far n steps of packed A go. Steps that are less than PackedSteps are the last of the sums.
func (w *tileWriter) packedStep(n int) int32 {
	if n == 1 {
		return w.element
	}
	return int32(n*w.rows) * w.element
}

// fetchNext fetches a row of what is to be read later.
func (w *tileWriter) fetchNext() {
	if !w.tile.Fetch {
		return
	}
	for j := int32(0); j < int32(w.vectors)*w.bytes; j += 64 {
		w.Assembler.Prefetch(asm.PrefetchSecond, asm.At(tileNext, j))
	}
	w.AddMem(tileNext, asm.At(tileArgs, argFetchStep))
}

// advance moves to the elements n steps on, as far as the steps have not done so.
func (w *tileWriter) advance(n int) {
	t := &w.tile
	switch {
	case t.PackedA:
		w.AddImm(tileBases[0], w.packedStep(n))
	case !t.Columns:
		for r := 0; r < w.rows; r += 3 {
			w.AddImm(tileBases[r/3], int32(n)*w.element)
		}
	}
	switch {
	case t.Halves:
		w.AddImm(tileB, int32(n*(2*w.vectors-1)/2)*w.bytes)
	case !t.InPlace:
		w.AddImm(tileB, int32(n*w.vectors)*w.bytes)
	}
	if t.Keep {
		w.AddImm(tilePack, int32(n*w.vectors)*w.bytes)
	}
}

// step adds the products of one k, u steps after the addresses.
func (w *tileWriter) step(u int) {
	t := &w.tile
	switch {
	case t.Halves:
		w.stepHalves(u)
	case w.direct:
		w.V(w.splat, w.width, asm.Reg(w.firstA), 0, asm.M(w.atA(u, 0)))
		for j := range w.vectors {
			w.prefetchB(u, j)
			w.multiplyFromMemory(u, j)
		}
	case w.holdA:
		for r := range w.rows {
			w.V(w.splat, w.width, asm.Reg(w.firstA+r), 0, asm.M(w.atA(u, r)))
		}
		for j := range w.vectors {
			b := asm.Reg(w.firstB + j%w.countB)
			w.loadB(u, j, b)
			for r := range w.rows {
				w.V(w.multiplyAdd, w.width, w.accumulator(u%w.sets, r, j), b, asm.R(asm.Reg(w.firstA+r)))
			}
		}
	default:
		for j := range w.vectors {
			w.loadB(u, j, asm.Reg(w.firstB+j))
		}
		for r := range w.rows {
			if t.ISA == asm.AVX512 && w.vectors == 1 {
				w.V(w.multiplyAdd, w.width, w.accumulator(u%w.sets, r, 0), asm.Reg(w.firstB), asm.Splat(w.atA(u, r)))
				continue
			}
			x := asm.Reg(w.firstA + r%w.countA)
			w.V(w.splat, w.width, x, 0, asm.M(w.atA(u, r)))
			for j := range w.vectors {
				w.V(w.multiplyAdd, w.width, w.accumulator(u%w.sets, r, j), asm.Reg(w.firstB+j), asm.R(x))
			}
		}
	}
	if t.Columns {
		w.Add(tileBases[0], tileARow)
	}
	if t.InPlace {
		w.Add(tileB, tileBRow)
	}
}

// atA returns where element (row, k+u) of A is.
func (w *tileWriter) atA(u, row int) asm.Mem {
	switch {
	case w.tile.Columns:
		return asm.At(tileBases[0], int32(row)*w.element)
	case w.tile.PackedA:
		return asm.At(tileBases[0], int32(row*PackedSteps+u)*w.element)
	}
	m := asm.At(tileBases[row/3], int32(u)*w.element)
	if row%3 != 0 {
		m.Index, m.Scale = tileARow, uint8(row%3)
	}
	return m
}

func (w *tileWriter) atB(u, j int) asm.Mem {
	if w.tile.InPlace {
		return asm.At(tileB, int32(j)*w.bytes)
	}
	return asm.At(tileB, int32(u*w.vectors+j)*w.bytes)
}

// ahead is how many bytes of packed B are fetched before their use, and rowsAhead how many rows where it lies: the rows of a wide
// matrix are often a page apart, and the first cache holds only a few such lines.
const (
	ahead     = 4096
	rowsAhead = 2
)

func (w *tileWriter) prefetchB(u, j int) {
	if !w.tile.Prefetch || w.bytes == 32 && j%2 != 0 {
		return
	}
	m := w.atB(u, j)
	if w.tile.InPlace {
		m.Index, m.Scale = tileBRow, rowsAhead
	} else {
		m.Disp += ahead
	}
	w.Assembler.Prefetch(asm.PrefetchNearest, m)
}

// loadB loads a vector of B, and keeps it.
func (w *tileWriter) loadB(u, j int, b asm.Reg) {
	w.loadVector(b, w.atB(u, j), w.tile.InPlace && w.isTail(j))
	w.prefetchB(u, j)
	if w.tile.Keep {
		w.V(asm.MOVUPSstore, w.width, b, 0, asm.M(asm.At(tilePack, int32(u*w.vectors+j)*w.bytes)))
	}
}

func (w *tileWriter) multiplyFromMemory(u, j int) {
	m, x, sum := w.atB(u, j), asm.Reg(w.firstA), w.accumulator(u%w.sets, 0, j)
	switch {
	case !w.tile.InPlace || !w.isTail(j):
		w.V(w.multiplyAdd, w.width, sum, x, asm.M(m))
	case w.tile.ISA == asm.AVX512 && !w.tile.Double: // lanes that are masked are neither read nor changed
		w.VMask(w.multiplyAdd, w.width, sum, x, asm.M(m), maskRegister, false)
	default:
		w.loadVector(asm.Reg(w.firstB), m, true)
		w.V(w.multiplyAdd, w.width, sum, x, asm.R(asm.Reg(w.firstB)))
	}
}

func (w *tileWriter) isTail(j int) bool { return w.tile.Tail && j == w.vectors-1 }

// lastRegister is scratch where AVX2 needs a mask in a vector register: nothing that lasts is in it.
func (w *tileWriter) lastRegister() asm.Reg { return asm.Reg(w.tile.ISA.Registers() - 1) }

// loadVector loads a vector, the tail of one completed with zeros.
func (w *tileWriter) loadVector(d asm.Reg, m asm.Mem, tail bool) {
	switch {
	case !tail:
		w.V(asm.MOVUPS, w.width, d, 0, asm.M(m))
	case w.tile.ISA == asm.AVX512:
		w.VMask(asm.MOVUPS, w.width, d, 0, asm.M(m), maskRegister, true)
	default:
		w.V(asm.MOVUPS, w.width, w.lastRegister(), 0, asm.M(asm.At(w.mask, 0)))
		w.V(asm.MASKMOVPS, w.width, d, w.lastRegister(), asm.M(m))
	}
}

func (w *tileWriter) storeVector(s asm.Reg, m asm.Mem, tail bool) {
	switch {
	case !tail && w.tile.Stream:
		w.V(asm.MOVNTPS, w.width, s, 0, asm.M(m))
	case !tail:
		w.V(asm.MOVUPSstore, w.width, s, 0, asm.M(m))
	case w.tile.ISA == asm.AVX512:
		w.VMask(asm.MOVUPSstore, w.width, s, 0, asm.M(m), maskRegister, false)
	default:
		w.V(asm.MOVUPS, w.width, w.lastRegister(), 0, asm.M(asm.At(w.mask, 0)))
		w.V(asm.MASKMOVPSstore, w.width, s, w.lastRegister(), asm.M(m))
	}
}
