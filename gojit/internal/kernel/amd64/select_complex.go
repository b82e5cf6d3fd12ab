package amd64

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Complex elements lie in memory as pairs of real and imaginary parts. As many of them as a vector has lanes fill two
// vectors, whose even and odd lanes are brought together when they are read, and the reverse when they are written.

// half names one of the two vectors that complex elements fill.
type half uint8

const (
	whole half = iota // elements are not complex
	lower
	upper
)

// pairedParts are the two vectors of an input, and what has been made of them.
type pairedParts struct {
	loaded   bool
	vectors  [2]operand
	parts    [2]operand // real and imaginary, or none
	isNumber bool       // the parts are given
}

// wideType reports whether the parts of values of a type, or the values, have 64 bits.
func wideType(t tensor.DType) bool {
	return t == tensor.Float64 || t == tensor.Int64 || t == tensor.Complex128
}

// Slots returns how many numbers among the arguments a number of a type takes: complex ones have two, real and imaginary part.
func Slots(t tensor.DType) int {
	if t.IsComplex() {
		return 2
	}
	return 1
}

// complexValue notes where the parts of a complex value are. It fails on what expand.Expand replaces.
func (l *Lowerer) complexValue(v kernel.Value, in *kernel.Instr, slot int, uniform bool) {
	p := pairedParts{parts: [2]operand{none, none}}
	switch {
	case in.Op == kernel.Param || in.Op == kernel.Load && uniform:
		part := in.Type.ToReal()
		p = pairedParts{isNumber: true, parts: [2]operand{l.slot(part, slot), l.slot(part, slot+1)}}
	case in.Op == kernel.MakeComplex:
		p = pairedParts{isNumber: true, parts: [2]operand{l.values[in.Args[0]], l.values[in.Args[1]]}}
	case in.Op != kernel.Load || l.Kernel.Inputs[in.Imm] != in.Type || l.ISA == asm.Baseline && l.mixed && in.Type == tensor.Complex64:
		l.Fail("%s of %s", in.Op, in.Type)
	}
	if l.pairs == nil {
		l.pairs = map[kernel.Value]*pairedParts{}
	}
	l.pairs[v] = &p
}

// part returns the real part, 0, or the imaginary part, 1, of a complex value.
func (l *Lowerer) part(v kernel.Value, which int) operand {
	p := l.pairs[v]
	if p.parts[which] != none {
		return p.parts[which]
	}
	in := &l.Kernel.Instrs[v]
	wide := wideType(in.Type)
	if !p.loaded {
		p.loaded = true
		for i := range p.vectors {
			p.vectors[i] = l.emit(instruction{kind: LoadInput, op: pair(wide, asm.MOVUPS, asm.MOVUPD), w: l.width(wide), d: none, half: lower + half(i),
				size: uint8(in.Type.Size()), index: int16(len(l.Kernel.Outputs) + int(in.Imm)), args: [4]operand{none, none, none, none}})
		}
	}
	p.parts[which] = l.separate(wide, p.vectors[0], p.vectors[1], which)
	return p.parts[which]
}

// swapMiddle orders the quarters of a vector of 256 bits as an interleaving within halves needs them, or back.
const swapMiddle = 0xd8

// separate brings the even lanes of two vectors together, or the odd ones.
func (l *Lowerer) separate(wide bool, x, y operand, which int) operand {
	w := l.width(wide)
	if l.ISA == asm.AVX512 {
		return l.permute(wide, x, y, func(lane, lanes int) int { return 2*lane + which })
	}
	shuffle, imm := asm.SHUFPS, []uint8{0x88, 0xdd}[which]
	if wide {
		shuffle, imm = asm.SHUFPD, []uint8{0, 0xf}[which]
	}
	if w == asm.W128 && wide {
		imm &= 3
	}
	z := l.twoImm(shuffle, w, x, y, imm)
	if w == asm.W256 {
		z = l.oneImm(asm.PERMQ, w, z, swapMiddle)
	}
	return z
}

// interleave makes the two vectors of real and imaginary parts.
func (l *Lowerer) interleave(wide bool, re, im operand) (low, high operand) {
	w := l.width(wide)
	if l.ISA == asm.AVX512 {
		from := func(first int) func(lane, lanes int) int {
			return func(lane, lanes int) int { return (first*lanes+lane)/2 + lane%2*lanes }
		}
		return l.permute(wide, re, im, from(0)), l.permute(wide, re, im, from(1))
	}
	if w == asm.W256 {
		re, im = l.oneImm(asm.PERMQ, w, re, swapMiddle), l.oneImm(asm.PERMQ, w, im, swapMiddle)
	}
	return l.two(pair(wide, asm.UNPCKLPS, asm.UNPCKLPD), w, re, im), l.two(pair(wide, asm.UNPCKHPS, asm.UNPCKHPD), w, re, im)
}

// permute takes each lane from one of those of x and y together.
func (l *Lowerer) permute(wide bool, x, y operand, from func(lane, lanes int) int) operand {
	w := l.width(wide)
	size := 4
	if wide {
		size = 8
	}
	var places []byte
	for lane, lanes := 0, w.Bytes()/size; lane < lanes; lane++ {
		places = append(places, int32Bytes(int32(from(lane, lanes)))...)
		if wide {
			places = append(places, 0, 0, 0, 0)
		}
	}
	return l.emit(instruction{op: pair(wide, asm.PERMT2PS, asm.PERMT2PD), w: w, d: none, tied: true, args: [4]operand{x, l.vector(places), y, none}})
}

// storeComplex writes a complex value, which has the type of the output.
func (l *Lowerer) storeComplex(output int, o kernel.Output) {
	if l.Kernel.TypeOf(o.Value) != o.DType || l.ISA == asm.Baseline && l.mixed && o.DType == tensor.Complex64 {
		l.Fail("%s stored as %s", l.Kernel.TypeOf(o.Value), o.DType)
	}
	wide := wideType(o.DType)
	low, high := l.interleave(wide, l.part(o.Value, 0), l.part(o.Value, 1))
	for i, x := range []operand{low, high} {
		l.code = append(l.code, instruction{kind: StoreOut, op: pair(wide, asm.MOVUPSstore, asm.MOVUPDstore), w: l.width(wide), d: none, half: lower + half(i),
			size: uint8(o.DType.Size()), index: int16(output), args: [4]operand{x, none, none, none}})
	}
}

// hasPairs reports whether elements in memory are complex.
func (g *Generator) hasPairs() bool {
	for i := range g.code {
		if g.code[i].half != whole {
			return true
		}
	}
	return false
}

// setPairMasks makes the masks of the two vectors of complex elements from the count of elements that are left.
func (g *Generator) setPairMasks() {
	a := &g.Asm
	a.Add(countReg, countReg)
	a.MoveImm(tempReg, -1)
	a.LowBits(tempReg, tempReg, countReg)
	a.ShiftRight(countReg, 1)
	a.KMove(lowerMask, tempReg)
	a.ShiftRight(tempReg, uint8(g.Lanes))
	a.KMove(upperMask, tempReg)
}

// halfVector returns the memory of one of the two vectors of complex elements that vector u of a round handles. An element of 16
// bytes needs twice the index.
func (g *Generator) halfVector(m *machine, u int) asm.Mem {
	disp := int32(u*g.Lanes*int(m.size)) + int32(m.half-lower)*int32(m.w.Bytes())
	r := g.regOf[int(m.Index)]
	if m.size == 8 {
		return asm.Indexed(r, indexReg, 8, disp)
	}
	g.Asm.Lea(tempReg, asm.Indexed(indexReg, indexReg, 1, 0))
	return asm.Indexed(r, tempReg, 8, disp)
}

// movePairs reads or writes a vector of complex elements.
func (g *Generator) movePairs(m *machine, u int, mode tailMode) {
	a := &g.Asm
	mask := lowerMask
	if m.half == upper {
		mask = upperMask
	}
	at, store := g.halfVector(m, u), m.Kind == StoreOut
	r := m.D
	if store {
		r = m.V
	}
	switch {
	case mode == AllLanes:
		a.V(m.op, m.w, r, 0, asm.M(at))
	case mode == masked && g.ISA == asm.AVX512:
		a.VMask(m.op, m.w, r, 0, asm.M(at), mask, !store)
	case mode == masked:
		// tempReg is part of the address of elements of 16 bytes and of the mask
		g.loadPairMask(m)
		at = g.halfVector(m, u)
		load, write := pair(m.size == 16, asm.MASKMOVPS, asm.MASKMOVPD), pair(m.size == 16, asm.MASKMOVPSstore, asm.MASKMOVPDstore)
		if store {
			load = write
		}
		a.V(load, m.w, r, maskReg, asm.M(at))
	case m.half == upper: // the only element is in the lower one
	case m.size == 16:
		a.V(m.op, asm.W128, r, 0, asm.M(at))
	case store:
		a.V(asm.MOVSDstore, asm.W128, r, 0, asm.M(at))
	default:
		a.V(asm.MOVSD, asm.W128, r, 0, asm.M(at))
	}
}

// loadPairMask reads the mask of a tail for one of the two vectors into maskReg.
func (g *Generator) loadPairMask(m *machine) {
	a := &g.Asm
	a.Xor(tempReg, tempReg)
	a.Sub(tempReg, countReg)
	if m.size == 16 {
		a.Add(tempReg, tempReg)
	}
	a.V(asm.MOVUPS, m.w, maskReg, 0, asm.M(asm.Indexed(PoolReg, tempReg, 8, g.masks+int32(m.half-lower)*int32(m.w.Bytes()))))
}
