package tile

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// ByteTile describes a kernel that computes a block of a product of unsigned bytes with signed ones in registers, with sums of 32
// bits that wrap around:
//
//	sum[r][j] = Start[j] + sum over the runs, and over k of each, of A[r][run+k]*B[k][j]
//
// and makes results of the sums, column by column: where Real, the float32 (sum + Bias)*Scale; else the byte that ByteLimits.Apply
// makes of it.
//
// B is packed by fours of k: of each four, Vectors vectors follow each other, whose lanes hold the four numbers of a column. Without
// Dot these are numbers of 16 bits, in two vectors: of the even k and of the odd ones.
type ByteTile struct {
	ISA     asm.ISA
	Dot     bool  // by the instruction that HasByteDots tells of; else by products of 16 bits
	Real    bool  // C is float32, else bytes
	Rows    uint8 // of A and C
	Split   uint8 // rows from this one on lie where ByteTileArgs.ASplit says, 0: all lie ARow apart
	Vectors uint8 // of 32-bit sums in a row
	Tail    bool  // the last vector of C is partial
}

// ByteTileArgs is what a kernel of a ByteTile receives. Strides are in bytes. The vectors of Start, Scale and Bias are whole.
type ByteTileArgs struct {
	A, B, C            unsafe.Pointer
	Offsets            unsafe.Pointer // of the runs: how far behind A they begin, 8 bytes each
	Runs, K            int64          // how many runs, and fours of k in each; at least 1
	ARow, ASplit, CRow int64
	Start              unsafe.Pointer // int32 for each column
	Scale, Bias        unsafe.Pointer // float32 for each column
	Limits             *ByteLimits
	Mask               unsafe.Pointer // TailMask of the elements of the last vector
	Tail               int64          // their number
	Blocks             int64          // of rows, one after the other; left 0
	ABlock, CBlock     int64          // what A and C, which are left at the last block, go on by
}

const (
	byteA = 8 * iota
	byteB
	byteC
	byteOffsets
	byteRuns
	byteK
	byteARow
	byteASplit
	byteCRow
	byteStart
	byteScale
	byteBias
	byteLimits
	byteMask
	byteTail
	byteBlocks
	byteABlock
	byteCBlock
)

// ByteLimits says what bytes results become, as vectors.
type ByteLimits struct {
	zero, low, high [16]float32
	shift           [16]int32
	gather          [64]byte // moves the low bytes of four lanes together
}

const (
	limitZero   = 0
	limitLow    = 64
	limitHigh   = 128
	limitShift  = 192
	limitGather = 256
)

// NewByteLimits returns the limits of results from low to high, both bytes. Zero is added to a number before it is rounded, shift to
// the integer that it becomes.
func NewByteLimits(low, high, zero, shift int) *ByteLimits {
	l := new(ByteLimits)
	for i := range l.low {
		l.zero[i], l.low[i], l.high[i], l.shift[i] = float32(zero), float32(low-shift), float32(high-shift), int32(shift)
	}
	for i := range l.gather {
		l.gather[i] = 0x80
		if i%16 < 4 {
			l.gather[i] = byte(i % 4 * 4)
		}
	}
	return l
}

// Apply gives the byte that a number becomes: with the zero, rounded to float32, limited, rounded to an integer, a half to the even
// one, and shifted. It is what the kernels do.
func (l *ByteLimits) Apply(v float32) uint8 {
	v += l.zero[0]
	if !(v < l.high[0]) { // NaN too
		v = l.high[0]
	}
	if !(v > l.low[0]) {
		v = l.low[0]
	}
	return uint8(int32(math.RoundToEven(float64(v))) + l.shift[0])
}

// byteBases address every third row of A.
var byteBases = [...]asm.Reg{asm.RAX, asm.RBX, asm.RCX, asm.RSI, asm.R11, asm.R14}

const (
	byteRun  = asm.R10
	byteLeft = asm.R13 // runs
	byteRowC = asm.R8
)

// MaxByteRows returns how many rows a tile of so many vectors may have.
func MaxByteRows(isa asm.ISA, vectors int) int {
	const beside = 4 // vectors of B and elements of A, or what products of 16 bits take
	return min(3*(len(byteBases)-1), (isa.Registers()-max(beside, vectors+2))/vectors)
}

// Code returns the kernel's code, made once.
func (t ByteTile) Code() *asm.Code { return byteTiles.Get(t, t.ISA) }

var byteTiles Kernels[ByteTile]

// byteWriter encodes one tile of bytes; it loads and stores as other tiles do.
type byteWriter struct {
	tileWriter
	t     ByteTile
	free  asm.Reg // the first register beside the sums
	ones  asm.Reg // selects the even bytes
	evens asm.Label
}

// Encode appends the kernel's code.
func (t ByteTile) Encode(a *asm.Assembler) {
	w := &byteWriter{t: t, tileWriter: tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: t.ISA, Tail: t.Tail && (t.Real || t.ISA == asm.AVX512)}, width: t.ISA.Width(),
		bytes: int32(t.ISA.Width().Bytes()), element: 4, add: asm.PADDD, rows: int(t.Rows), vectors: int(t.Vectors)}}
	w.plan()
	w.evens = a.NewLabel()
	w.start = a.Here()
	a.Load(tileB, asm.At(tileArgs, byteB))
	a.Load(tileARow, asm.At(tileArgs, byteARow))
	a.Load(byteRun, asm.At(tileArgs, byteOffsets))
	a.Load(byteLeft, asm.At(tileArgs, byteRuns))
	w.begin()
	run := a.Here()
	w.addressRows()
	a.Load(tileK, asm.At(tileArgs, byteK))
	w.addRun()
	a.AddImm(byteRun, 8)
	a.Dec(byteLeft)
	a.JumpIf(asm.NotEqual, run)
	w.combine()
	w.finish()
	w.leave()
	a.Bind(w.evens)
	a.Code = binary.LittleEndian.AppendUint32(a.Code, 0x00ff00ff)
}

// plan assigns registers.
func (w *byteWriter) plan() {
	sums, beside := w.rows*w.vectors, 4
	if w.t.Dot {
		beside = w.vectors + 2
	}
	w.sets = 1
	for sums*w.sets < 8 && 2*sums*w.sets+beside <= w.t.ISA.Registers() {
		w.sets *= 2
	}
	w.free = asm.Reg(w.sets * sums)
	w.ones = w.free + 3
	w.unroll = 4
}

// begin sets the sums to what they start with.
func (w *byteWriter) begin() {
	w.Load(tileK, asm.At(tileArgs, byteStart))
	for r := range w.rows {
		for j := range w.vectors {
			w.V(asm.MOVUPS, w.width, w.accumulator(0, r, j), 0, asm.M(asm.At(tileK, int32(j)*w.bytes)))
		}
	}
	for i := w.rows * w.vectors; i < w.sets*w.rows*w.vectors; i++ {
		w.clear(asm.Reg(i))
	}
	if !w.t.Dot {
		w.LeaLabel(tileK, w.evens)
		w.V(asm.PBROADCASTD, w.width, w.ones, 0, asm.M(asm.At(tileK, 0)))
	}
}

// base returns the register that addresses a row, and how many rows the row lies behind that.
func (w *byteWriter) base(row int) (asm.Reg, int) {
	if split := int(w.t.Split); split > 0 && row >= split {
		return byteBases[(split+2)/3+(row-split)/3], (row - split) % 3
	}
	return byteBases[row/3], row % 3
}

// addressRows sets the addresses of the rows for a run.
func (w *byteWriter) addressRows() {
	for r := range w.rows {
		base, behind := w.base(r)
		switch {
		case r == 0 || r == int(w.t.Split):
			w.Load(base, asm.At(tileArgs, byteA))
			w.AddMem(base, asm.At(byteRun, 0))
			if r > 0 {
				w.AddMem(base, asm.At(tileArgs, byteASplit))
			}
		case behind == 0:
			before, _ := w.base(r - 1)
			w.Lea(base, asm.Indexed(before, tileARow, 2, 0))
			w.Add(base, tileARow)
		}
	}
}

// addRun adds the products of a run, several fours at a time first.
func (w *byteWriter) addRun() {
	rest, done := w.NewLabel(), w.NewLabel()
	w.SubImm(tileK, int32(w.unroll))
	w.JumpIf(asm.Less, rest)
	w.Align(32)
	loop := w.Here()
	for u := range w.unroll {
		w.four(u)
	}
	w.advanceBytes(w.unroll)
	w.SubImm(tileK, int32(w.unroll))
	w.JumpIf(asm.GreaterEqual, loop)
	w.Bind(rest)
	w.AddImm(tileK, int32(w.unroll))
	w.JumpIf(asm.Equal, done)
	single := w.Here()
	w.four(0)
	w.advanceBytes(1)
	w.Dec(tileK)
	w.JumpIf(asm.NotEqual, single)
	w.Bind(done)
}

// advanceBytes moves n fours on.
func (w *byteWriter) advanceBytes(n int) {
	for r := range w.rows {
		if base, behind := w.base(r); behind == 0 {
			w.AddImm(base, int32(4*n))
		}
	}
	w.AddImm(tileB, int32(n)*w.fourBytes())
}

// fourBytes returns the size of a four of B.
func (w *byteWriter) fourBytes() int32 {
	if w.t.Dot {
		return int32(w.vectors) * w.bytes
	}
	return 2 * int32(w.vectors) * w.bytes
}

// four adds the products of four k, u fours after the addresses.
func (w *byteWriter) four(u int) {
	at := int32(u) * w.fourBytes()
	for i := int32(0); i < w.fourBytes(); i += 64 {
		w.Assembler.Prefetch(asm.PrefetchNearest, asm.At(tileB, at+i+ahead))
	}
	if !w.t.Dot {
		for r := range w.rows {
			w.fourWords(u, r, at)
		}
		return
	}
	x := w.free + asm.Reg(w.vectors)
	for j := range w.vectors {
		if w.rows > 1 {
			w.V(asm.MOVUPS, w.width, w.free+asm.Reg(j), 0, asm.M(asm.At(tileB, at+int32(j)*w.bytes)))
		}
	}
	for r := range w.rows {
		a := x + asm.Reg(r%2)
		w.V(asm.PBROADCASTD, w.width, a, 0, asm.M(w.ofRow(u, r)))
		for j := range w.vectors {
			b := asm.R(w.free + asm.Reg(j))
			if w.rows == 1 {
				b = asm.M(asm.At(tileB, at+int32(j)*w.bytes))
			}
			w.V(asm.PDPBUSD, w.width, w.accumulator(u%w.sets, r, j), a, b)
		}
	}
}

// fourWords adds the products of four k of a row as those of two pairs of 16 bits each.
func (w *byteWriter) fourWords(u, r int, at int32) {
	even, odd, product := w.free, w.free+1, w.free+2
	w.V(asm.PBROADCASTD, w.width, odd, 0, asm.M(w.ofRow(u, r)))
	w.V(asm.ANDPS, w.width, even, odd, asm.R(w.ones))
	w.VImm(asm.PSRLW, w.width, odd, 0, asm.R(odd), 8)
	for j := range w.vectors {
		sum := w.accumulator(u%w.sets, r, j)
		for i, a := range [...]asm.Reg{even, odd} {
			w.V(asm.PMADDWD, w.width, product, a, asm.M(asm.At(tileB, at+int32(2*j+i)*w.bytes)))
			w.V(asm.PADDD, w.width, sum, sum, asm.R(product))
		}
	}
}

// ofRow returns where the four of a row is.
func (w *byteWriter) ofRow(u, r int) asm.Mem {
	base, behind := w.base(r)
	m := asm.At(base, int32(4*u))
	if behind > 0 {
		m.Index, m.Scale = tileARow, uint8(behind)
	}
	return m
}

// finish makes results of the sums and stores them.
func (w *byteWriter) finish() {
	const scale, bias = tileB, tileARow
	w.Load(tileC, asm.At(tileArgs, byteC))
	w.Load(byteRowC, asm.At(tileArgs, byteCRow))
	w.Load(scale, asm.At(tileArgs, byteScale))
	w.Load(bias, asm.At(tileArgs, byteBias))
	w.loadTailMask(byteMask)
	if !w.t.Real {
		w.Load(byteLeft, asm.At(tileArgs, byteLimits)) // tileC is byteRun
	}
	size := int32(1)
	if w.t.Real {
		size = 4
	}
	for r := range w.rows {
		for j := range w.vectors {
			at := int32(j) * w.bytes
			w.result(w.accumulator(0, r, j), resultAt{scale: asm.At(scale, at), bias: asm.At(bias, at), limits: byteLeft, to: asm.At(tileC, at/4*size), tail: w.t.Tail && j == w.vectors-1, count: byteTail})
		}
		if r+1 < w.rows {
			w.Add(tileC, byteRowC)
		}
	}
}

// resultAt says where what makes results of a vector of sums is, and where they go.
type resultAt struct {
	scale, bias, to asm.Mem
	limits          asm.Reg
	tail            bool
	count           int32 // the argument that tells the number of elements of a tail
}

// result makes results of a vector of sums and stores them.
func (w *byteWriter) result(sum asm.Reg, at resultAt) {
	w.V(asm.CVTDQ2PS, w.width, sum, 0, asm.R(sum))
	w.V(asm.ADDPS, w.width, sum, sum, asm.M(at.bias))
	w.V(asm.MULPS, w.width, sum, sum, asm.M(at.scale))
	if w.t.Real {
		w.storeVector(sum, at.to, at.tail)
		return
	}
	w.toBytes(sum, at.limits)
	w.storeBytes(sum, at.to, at.tail, at.count)
}

// toBytes makes integers of a vector of numbers, by the limits at an address.
func (w *byteWriter) toBytes(v, limits asm.Reg) {
	w.V(asm.ADDPS, w.width, v, v, asm.M(asm.At(limits, limitZero)))
	w.V(asm.MINPS, w.width, v, v, asm.M(asm.At(limits, limitHigh)))
	w.V(asm.MAXPS, w.width, v, v, asm.M(asm.At(limits, limitLow)))
	w.V(asm.CVTPS2DQ, w.width, v, 0, asm.R(v))
	w.V(asm.PADDD, w.width, v, v, asm.M(asm.At(limits, limitShift)))
	if w.t.ISA != asm.AVX512 {
		w.V(asm.PSHUFB, w.width, v, v, asm.M(asm.At(limits, limitGather)))
		w.VImm(asm.EXTRACTF128store, w.width, v, 0, asm.R(w.free), 1)
		w.V(asm.UNPCKLPS, asm.W128, v, v, asm.R(w.free))
	}
}

// storeBytes stores the low bytes of the lanes, which toBytes has moved together where there is no instruction for it.
func (w *byteWriter) storeBytes(v asm.Reg, m asm.Mem, tail bool, argument int32) {
	switch {
	case w.t.ISA == asm.AVX512 && tail:
		w.VMask(asm.PMOVDBstore, w.width, v, 0, asm.M(m), maskRegister, false)
	case w.t.ISA == asm.AVX512:
		w.V(asm.PMOVDBstore, w.width, v, 0, asm.M(m))
	case !tail:
		w.V(asm.MOVSDstore, asm.W128, v, 0, asm.M(m))
	default:
		const value, count, to = asm.RAX, asm.RCX, asm.RBX
		w.MoveFromVector(value, v, 8)
		w.Load(count, asm.At(tileArgs, argument))
		w.Lea(to, m)
		loop := w.Here()
		w.StoreByte(asm.At(to, 0), value)
		w.ShiftRight(value, 8)
		w.AddImm(to, 1)
		w.Dec(count)
		w.JumpIf(asm.NotEqual, loop)
	}
}

// leave returns, or goes on with the next block.
func (w *byteWriter) leave() {
	const moved = tileARow
	done := w.NewLabel()
	w.Load(moved, asm.At(tileArgs, byteBlocks))
	w.SubImm(moved, 1)
	w.Store(asm.At(tileArgs, byteBlocks), moved)
	w.JumpIf(asm.Equal, done)
	w.moveArg(moved, byteA, byteABlock)
	w.moveArg(moved, byteC, byteCBlock)
	w.Jump(w.start)
	w.Bind(done)
	w.ZeroUpper()
	w.Ret()
}
