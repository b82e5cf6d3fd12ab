package amd64

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// value selects the instructions of one kernel value.
func (l *Lowerer) value(v kernel.Value, in *kernel.Instr) operand {
	arg := func(i int) operand { return l.values[in.Args[i]] }
	var first tensor.DType
	if in.Op.Operands() > 0 {
		first = l.Kernel.TypeOf(in.Args[0])
	}
	switch in.Op {
	case kernel.Real, kernel.Imag:
		if first.IsComplex() {
			return l.part(in.Args[0], int(in.Op-kernel.Real))
		}
	case kernel.Load:
		return l.load(v, int(in.Imm), in.Type)
	case kernel.Const:
		return l.number(constantBits(in), wideType(in.Type))
	case kernel.Iota:
		return l.iota(in.Type)
	case kernel.Convert:
		return l.convert(v, arg(0), in.Args[0], first, in.Type)
	case kernel.Bits:
		return arg(0)
	case kernel.Lookup:
		return l.lookup(arg(0), l.Kernel.Tables[in.Imm])
	case kernel.Select:
		return l.selectValue(v, in)
	case kernel.Fma:
		return l.fma(wideType(in.Type), arg(0), arg(1), arg(2))
	case kernel.Eq, kernel.Ne, kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge:
		return l.compare(v, in, first)
	case kernel.IsNaN:
		if !first.IsFloating() {
			return l.number(0, false)
		}
		l.boolWide[v] = wideType(first)
		return l.compareFloats(wideType(first), cmpUnordered, arg(0), arg(0))
	}
	switch {
	case first.IsComplex():
		l.Fail("%s of %s", in.Op, first)
	case in.Type == tensor.Bool:
		return l.logic(v, in)
	case in.Type.IsFloating():
		return l.floating(in)
	}
	return l.integral(in)
}

// constantBits returns a constant as a lane holds it.
func constantBits(in *kernel.Instr) uint64 {
	bits := LaneBits(in.Type, in.Imm)
	if wideType(in.Type) {
		return bits
	}
	return bits & math.MaxUint32
}

func (l *Lowerer) iota(t tensor.DType) operand {
	wide := wideType(t)
	w := l.width(wide)
	start := l.emit(instruction{kind: index, op: pair(wide, asm.PBROADCASTD, asm.PBROADCASTQ), w: w, d: none, args: [4]operand{none, none, none, none}})
	var steps []byte
	for i := range l.Lanes {
		steps = append(steps, int32Bytes(int32(i))...)
		if wide {
			steps = append(steps, 0, 0, 0, 0)
		}
	}
	for len(steps) < w.Bytes() {
		steps = append(steps, 0)
	}
	return l.two(pair(wide, asm.PADDD, asm.PADDQ), w, start, l.vector(steps))
}

// lookup permutes a table, or both halves of it where a vector does not hold it whole.
func (l *Lowerer) lookup(index operand, table kernel.Table) operand {
	w := l.width(false)
	if w == asm.W128 {
		return l.lookupBytes(index, table)
	}
	var bits []byte
	for _, v := range table {
		bits = append(bits, int32Bytes(int32(math.Float32bits(v)))...)
	}
	if w == asm.W512 {
		return l.two(asm.PERMPS, w, index, l.vector(bits))
	}
	upper := l.ofIndex(index, func() []operand {
		return []operand{l.oneImm(asm.PSRAD, w, l.oneImm(asm.PSLLD, w, index, 28), 31)} // ones where bit 3 is set
	})[0]
	return l.choose(false, upper, l.two(asm.PERMPS, w, index, l.vector(bits[32:])), l.two(asm.PERMPS, w, index, l.vector(bits[:32])))
}

// lookupBytes looks up each byte of the numbers by itself: a vector holds the sixteen that a table has of it.
func (l *Lowerer) lookupBytes(index operand, table kernel.Table) operand {
	const w, noByte = asm.W128, 0x80808080
	places := l.ofIndex(index, func() (places []operand) { // in byte i of each lane the index, in the others what gives zero
		at := l.two(asm.ANDPS, w, index, l.number(15, false))
		for i := range 4 {
			moved := at
			if i > 0 {
				moved = l.oneImm(asm.PSLLD, w, at, uint8(8*i))
			}
			places = append(places, l.two(asm.POR, w, moved, l.number(noByte&^(0xff<<(8*i)), false)))
		}
		return places
	})
	var found operand
	for i, place := range places {
		var bytes []byte
		for _, v := range table {
			bytes = append(bytes, byte(math.Float32bits(v)>>(8*i)))
		}
		if part := l.two(asm.PSHUFB, w, l.vector(bytes), place); i == 0 {
			found = part
		} else {
			found = l.two(asm.POR, w, found, part)
		}
	}
	return found
}

// ofIndex returns what lookups with an index have in common, which the first one makes.
func (l *Lowerer) ofIndex(index operand, make func() []operand) []operand {
	made, ok := l.indices[index]
	if !ok {
		if made = make(); l.indices == nil {
			l.indices = map[operand][]operand{}
		}
		l.indices[index] = made
	}
	return made
}

func (l *Lowerer) fma(wide bool, x, y, z operand) operand {
	w := l.width(wide)
	if l.ISA == asm.Baseline {
		return l.fmaByDoubles(wide, x, y, z)
	}
	return l.emit(instruction{kind: fusedMul, op: pair(wide, asm.FMADD231PS, asm.FMADD231PD), w: w, d: none, args: [4]operand{x, y, z, none}})
}

// fmaByDoubles computes x*y + z of float32 in float64, where the product is exact. The sum is rounded
// twice: that it differs from one rounding is rare, and then by one unit in the last place.
func (l *Lowerer) fmaByDoubles(wide bool, x, y, z operand) operand {
	if wide {
		l.Fail("fma of float64")
	}
	const upperHalf = 0x0e // of the lanes, in place of the lower
	half := func(part func(operand) operand) operand {
		double := func(v operand) operand { return l.one(asm.CVTPS2PD, asm.W128, part(v)) }
		product := l.two(asm.MULPD, asm.W128, double(x), double(y))
		return l.one(asm.CVTPD2PS, asm.W128, l.two(asm.ADDPD, asm.W128, product, double(z)))
	}
	low := half(func(v operand) operand { return v })
	if l.mixed {
		return low // there are two lanes
	}
	high := half(func(v operand) operand { return l.oneImm(asm.PSHUFD, asm.W128, v, upperHalf) })
	return l.two(asm.UNPCKLPD, asm.W128, low, high)
}

// selectValue is a choice by a mask. A comparison of the lanes' own size keeps its mask in a mask
// register where there are any.
func (l *Lowerer) selectValue(v kernel.Value, in *kernel.Instr) operand {
	c := in.Args[0]
	l.chooseSides(v, c)
	x, y := l.values[in.Args[1]], l.values[in.Args[2]]
	wide := wideType(in.Type)
	if in.Type == tensor.Bool {
		wide = l.boolWide[c] || l.boolWide[in.Args[1]] || l.boolWide[in.Args[2]]
		l.boolWide[v] = wide
		x = l.maskAs(x, l.boolWide[in.Args[1]], wide)
		y = l.maskAs(y, l.boolWide[in.Args[2]], wide)
	}
	if op, ok := l.extremeOf(in); ok {
		return l.two(op, l.width(wide), x, y)
	}
	if l.ISA == asm.AVX512 && l.boolWide[c] == wide {
		if a, b, op, predicate, ok := l.comparison(c); ok {
			return l.emit(instruction{kind: pickWhere, op: op, w: l.width(wide), d: none, imm: predicate, args: [4]operand{a, b, x, y}})
		}
	}
	return l.choose(wide, l.maskAs(l.values[c], l.boolWide[c], wide), x, y)
}

// extremeOf returns the instruction for a choice of the larger or the smaller of two real floats, written as a comparison of the two: it
// gives the second one where they are equal or one is NaN, as the choice does.
func (l *Lowerer) extremeOf(in *kernel.Instr) (op asm.Op, ok bool) {
	test := &l.Kernel.Instrs[in.Args[0]]
	if test.Args[0] != in.Args[1] || test.Args[1] != in.Args[2] || in.Type != tensor.Float32 && in.Type != tensor.Float64 {
		return 0, false
	}
	wide := wideType(in.Type)
	switch test.Op {
	case kernel.Gt:
		return pair(wide, asm.MAXPS, asm.MAXPD), true
	case kernel.Lt:
		return pair(wide, asm.MINPS, asm.MINPD), true
	}
	return 0, false
}

// ordered returns the operands of a comparison and its predicate, of which there are none for greater.
func (l *Lowerer) ordered(in *kernel.Instr) (x, y operand, predicate uint8) {
	x, y = l.values[in.Args[0]], l.values[in.Args[1]]
	switch in.Op {
	case kernel.Eq:
		return x, y, cmpEqual
	case kernel.Ne:
		return x, y, cmpNotEqual
	case kernel.Lt:
		return x, y, cmpLess
	case kernel.Le:
		return x, y, cmpLessEqual
	case kernel.Gt:
		return y, x, cmpLess
	}
	return y, x, cmpLessEqual
}

func (l *Lowerer) compare(v kernel.Value, in *kernel.Instr, t tensor.DType) operand {
	if t == tensor.Bool {
		return l.logic(v, in)
	}
	x, y, predicate := l.ordered(in)
	wide := wideType(t)
	l.boolWide[v] = wide
	if t.IsFloating() {
		return l.compareFloats(wide, predicate, x, y)
	}
	return l.compareIntegers(wide, predicate, x, y)
}

// logic is what operates on masks.
func (l *Lowerer) logic(v kernel.Value, in *kernel.Instr) operand {
	a := in.Args[0]
	wide := l.boolWide[a]
	if in.Op.Operands() == 1 {
		l.boolWide[v] = wide
		if in.Op == kernel.Not {
			return l.xor(wide, l.values[a], l.ones(wide))
		}
		return l.values[a]
	}
	b := in.Args[1]
	wide = wide || l.boolWide[b]
	l.boolWide[v] = wide
	x, y := l.maskAs(l.values[a], l.boolWide[a], wide), l.maskAs(l.values[b], l.boolWide[b], wide)
	switch in.Op {
	case kernel.Add, kernel.Or, kernel.Max:
		return l.or(wide, x, y)
	case kernel.Mul, kernel.And, kernel.Min:
		return l.and(wide, x, y)
	case kernel.Xor, kernel.Ne:
		return l.xor(wide, x, y)
	case kernel.Eq:
		return l.xor(wide, l.xor(wide, x, y), l.ones(wide))
	case kernel.Lt:
		return l.andNot(wide, x, y)
	case kernel.Gt:
		return l.andNot(wide, y, x)
	case kernel.Le:
		return l.xor(wide, l.andNot(wide, y, x), l.ones(wide))
	case kernel.Ge, kernel.Pow:
		return l.xor(wide, l.andNot(wide, x, y), l.ones(wide))
	}
	l.Fail("%s of bool", in.Op)
	return none
}

// Rounding modes of the round instructions, which also keep them from raising exceptions.
const (
	roundNearest  = 8
	roundDown     = 9
	roundUp       = 10
	roundTruncate = 11
)

// mantissaInterval asks for mantissas in [3/4, 3/2), and NaN of negative numbers.
const mantissaInterval = 3 | 3<<2

func (l *Lowerer) floating(in *kernel.Instr) operand {
	wide := wideType(in.Type)
	w := l.width(wide)
	x := l.values[in.Args[0]]
	sign := uint64(1 << 31)
	if wide {
		sign = 1 << 63
	}
	switch in.Op {
	case kernel.Neg:
		return l.xor(wide, x, l.number(sign, wide))
	case kernel.Abs:
		return l.and(wide, x, l.number(sign-1, wide))
	case kernel.Conj, kernel.Real:
		return x
	case kernel.Sqrt:
		return l.one(pair(wide, asm.SQRTPS, asm.SQRTPD), w, x)
	case kernel.Round:
		return l.oneImm(pair(wide, asm.ROUNDPS, asm.ROUNDPD), w, x, roundNearest)
	case kernel.Floor:
		return l.oneImm(pair(wide, asm.ROUNDPS, asm.ROUNDPD), w, x, roundDown)
	case kernel.Ceil:
		return l.oneImm(pair(wide, asm.ROUNDPS, asm.ROUNDPD), w, x, roundUp)
	case kernel.Trunc:
		return l.oneImm(pair(wide, asm.ROUNDPS, asm.ROUNDPD), w, x, roundTruncate)
	case kernel.Exponent, kernel.Mantissa:
		if l.ISA != asm.AVX512 {
			l.Fail("%s of %s", in.Op, in.Type)
		}
		if in.Op == kernel.Exponent {
			return l.one(pair(wide, asm.GETEXPPS, asm.GETEXPPD), w, x)
		}
		return l.oneImm(pair(wide, asm.GETMANTPS, asm.GETMANTPD), w, x, mantissaInterval)
	}
	if in.Op.Operands() != 2 {
		l.Fail("%s of %s", in.Op, in.Type)
	}
	y := l.values[in.Args[1]]
	switch in.Op {
	case kernel.Add:
		return l.two(pair(wide, asm.ADDPS, asm.ADDPD), w, x, y)
	case kernel.Sub:
		return l.two(pair(wide, asm.SUBPS, asm.SUBPD), w, x, y)
	case kernel.Mul:
		return l.two(pair(wide, asm.MULPS, asm.MULPD), w, x, y)
	case kernel.Div:
		return l.two(pair(wide, asm.DIVPS, asm.DIVPD), w, x, y)
	case kernel.Min:
		return l.extreme(wide, pair(wide, asm.MINPS, asm.MINPD), x, y)
	case kernel.Max:
		return l.extreme(wide, pair(wide, asm.MAXPS, asm.MAXPD), x, y)
	case kernel.CopySign:
		if l.ISA == asm.AVX512 { // bits of y where the mask is set
			return l.emit(instruction{op: pair(wide, asm.PTERNLOGD, asm.PTERNLOGQ), w: w, d: none, imm: 0xd8, tied: true, args: [4]operand{x, y, l.number(sign, wide), none}})
		}
		return l.or(wide, l.and(wide, x, l.number(sign-1, wide)), l.and(wide, y, l.number(sign, wide)))
	case kernel.Scale:
		return l.scale(wide, x, y)
	}
	l.Fail("%s of %s", in.Op, in.Type)
	return none
}

// isNumber reports whether an operand is a constant other than NaN.
func (l *Lowerer) isNumber(x operand, wide bool) bool {
	if !x.isUniform() || l.uniforms[^x].slot >= 0 {
		return false
	}
	bits := l.uniforms[^x].bits
	if wide {
		return !math.IsNaN(math.Float64frombits(bits))
	}
	return !math.IsNaN(float64(math.Float32frombits(uint32(bits))))
}

// extreme is the minimum or maximum in which a NaN wins. The instruction gives its second operand
// where one is NaN, and where both are zero.
func (l *Lowerer) extreme(wide bool, op asm.Op, x, y operand) operand {
	w := l.width(wide)
	if l.isNumber(x, wide) {
		return l.two(op, w, x, y)
	}
	if l.isNumber(y, wide) {
		return l.two(op, w, y, x)
	}
	if l.ISA == asm.AVX512 {
		least := l.two(op, w, x, y)
		return l.emit(instruction{kind: keepNaN, op: pair(wide, asm.CMPPS, asm.CMPPD), w: w, d: none, tied: true, imm: cmpUnordered, args: [4]operand{least, x, none, none}})
	}
	unordered := l.compareFloats(wide, cmpUnordered, x, x)
	return l.choose(wide, unordered, x, l.two(op, w, x, y)) // a NaN of y comes through, one of x is kept to the bit
}

// scale multiplies by a power of two. Without an instruction for it three factors do, of which each
// is in range; n is limited to what changes a result.
func (l *Lowerer) scale(wide bool, x, n operand) operand {
	w := l.width(wide)
	if l.ISA == asm.AVX512 {
		return l.two(pair(wide, asm.SCALEFPS, asm.SCALEFPD), w, x, n)
	}
	limit, bias, shift := 300.0, int64(127), uint8(23)
	if wide {
		limit, bias, shift = 2200, 1023, 52
	}
	number := func(f float64) operand {
		if wide {
			return l.number(math.Float64bits(f), true)
		}
		return l.number(uint64(math.Float32bits(float32(f))), false)
	}
	add, sub := pair(wide, asm.PADDD, asm.PADDQ), pair(wide, asm.PSUBD, asm.PSUBQ)
	n = l.oneImm(pair(wide, asm.ROUNDPS, asm.ROUNDPD), w, n, roundDown)
	nan := l.compareFloats(wide, cmpUnordered, n, n)
	n = l.two(pair(wide, asm.MAXPS, asm.MAXPD), w, l.two(pair(wide, asm.MINPS, asm.MINPD), w, n, number(limit)), number(-limit))
	// A number added to 1.5 * 2^mantissa has it as an integer in its low bits.
	magic := number(float64(int64(3) << (shift - 1)))
	whole := l.two(sub, w, l.two(pair(wide, asm.ADDPS, asm.ADDPD), w, n, magic), magic)
	third := l.two(pair(wide, asm.ADDPS, asm.ADDPD), w, l.two(pair(wide, asm.MULPS, asm.MULPD), w, n, number(1.0/3)), magic)
	k1 := l.two(sub, w, third, magic)
	k3 := l.two(sub, w, l.two(sub, w, whole, k1), k1)
	power := func(k operand) operand {
		return l.oneImm(pair(wide, asm.PSLLD, asm.PSLLQ), w, l.two(add, w, k, l.number(uint64(bias), wide)), shift)
	}
	mul := pair(wide, asm.MULPS, asm.MULPD)
	p1 := power(k1)
	result := l.two(mul, w, l.two(mul, w, l.two(mul, w, x, p1), p1), power(k3))
	return l.or(wide, result, nan)
}

func (l *Lowerer) integral(in *kernel.Instr) operand {
	wide := wideType(in.Type)
	w := l.width(wide)
	x := l.values[in.Args[0]]
	zero := func() operand { return l.number(0, wide) }
	switch in.Op {
	case kernel.Neg:
		return l.wrap(in.Type, l.two(pair(wide, asm.PSUBD, asm.PSUBQ), w, zero(), x))
	case kernel.Not:
		return l.wrap(in.Type, l.xor(wide, x, l.ones(wide)))
	case kernel.Abs:
		if wide && l.ISA != asm.AVX512 {
			negative := l.two(asm.PCMPGTQ, w, zero(), x)
			return l.two(asm.PSUBQ, w, l.xor(true, x, negative), negative)
		}
		return l.wrap(in.Type, l.one(pair(wide, asm.PABSD, asm.PABSQ), w, x))
	case kernel.Conj, kernel.Real, kernel.Floor, kernel.Ceil, kernel.Round, kernel.Trunc:
		return x
	case kernel.Sign:
		above := l.compareIntegers(wide, cmpLess, zero(), x)
		below := l.compareIntegers(wide, cmpLess, x, zero())
		return l.two(pair(wide, asm.PSUBD, asm.PSUBQ), w, below, above)
	}
	if in.Op.Operands() != 2 {
		l.Fail("%s of %s", in.Op, in.Type)
	}
	y := l.values[in.Args[1]]
	if IsDivision(in) {
		return l.divide(in, x, y)
	}
	switch in.Op {
	case kernel.Add:
		return l.wrap(in.Type, l.two(pair(wide, asm.PADDD, asm.PADDQ), w, x, y))
	case kernel.Sub:
		return l.wrap(in.Type, l.two(pair(wide, asm.PSUBD, asm.PSUBQ), w, x, y))
	case kernel.Mul:
		return l.wrap(in.Type, l.multiply(wide, x, y))
	case kernel.And:
		return l.and(wide, x, y)
	case kernel.Or:
		return l.or(wide, x, y)
	case kernel.Xor:
		return l.xor(wide, x, y)
	case kernel.Min, kernel.Max:
		return l.integerExtreme(wide, in.Op == kernel.Max, x, y)
	case kernel.Shl, kernel.Shr:
		return l.shift(in, x, y)
	}
	l.Fail("%s of %s", in.Op, in.Type)
	return none
}

// wrap brings lanes of a type smaller than 32 bits back into its range.
func (l *Lowerer) wrap(t tensor.DType, x operand) operand {
	w := l.width(false)
	switch t {
	case tensor.Uint8:
		return l.and(false, x, l.number(0xff, false))
	case tensor.Int8:
		return l.oneImm(asm.PSRAD, w, l.oneImm(asm.PSLLD, w, x, 24), 24)
	case tensor.Int16:
		return l.oneImm(asm.PSRAD, w, l.oneImm(asm.PSLLD, w, x, 16), 16)
	}
	return x
}

func (l *Lowerer) multiply(wide bool, x, y operand) operand {
	w := l.width(wide)
	if !wide {
		return l.two(asm.PMULLD, w, x, y)
	}
	if l.ISA == asm.AVX512 {
		return l.two(asm.PMULLQ, w, x, y)
	}
	// low*low + ((high*low + low*high) << 32)
	cross := l.two(asm.PADDQ, w, l.two(asm.PMULUDQ, w, l.oneImm(asm.PSRLQ, w, x, 32), y), l.two(asm.PMULUDQ, w, l.oneImm(asm.PSRLQ, w, y, 32), x))
	return l.two(asm.PADDQ, w, l.two(asm.PMULUDQ, w, x, y), l.oneImm(asm.PSLLQ, w, cross, 32))
}

func (l *Lowerer) integerExtreme(wide, larger bool, x, y operand) operand {
	w := l.width(wide)
	switch {
	case !wide && larger:
		return l.two(asm.PMAXSD, w, x, y)
	case !wide:
		return l.two(asm.PMINSD, w, x, y)
	case l.ISA == asm.AVX512 && larger:
		return l.two(asm.PMAXSQ, w, x, y)
	case l.ISA == asm.AVX512:
		return l.two(asm.PMINSQ, w, x, y)
	}
	above := l.two(asm.PCMPGTQ, w, x, y)
	if larger {
		return l.choose(true, above, x, y)
	}
	return l.choose(true, above, y, x)
}

// shift shifts by a constant in range, or by a vector where there is an instruction whose meaning
// for counts out of range is the kernel's: zero from the left, the sign from the right.
func (l *Lowerer) shift(in *kernel.Instr, x, y operand) operand {
	wide := wideType(in.Type)
	w := l.width(wide)
	bits := uint64(in.Type.Size() * 8)
	left := in.Op == kernel.Shl
	if by := &l.Kernel.Instrs[in.Args[1]]; by.Op == kernel.Const && by.Imm < bits {
		n := uint8(by.Imm)
		switch {
		case left:
			return l.wrap(in.Type, l.oneImm(pair(wide, asm.PSLLD, asm.PSLLQ), w, x, n))
		case !wide:
			return l.oneImm(asm.PSRAD, w, x, n)
		case l.ISA == asm.AVX512:
			return l.oneImm(asm.PSRAQ, w, x, n)
		}
		// the sign of the shifted number comes from its highest bit
		shifted := l.oneImm(asm.PSRLQ, w, x, n)
		sign := l.number(1<<63>>n, true)
		return l.two(asm.PSUBQ, w, l.xor(true, shifted, sign), sign)
	}
	switch {
	case l.ISA == asm.Baseline:
		l.Fail("%s of %s by a variable", in.Op, in.Type)
	case left:
		return l.wrap(in.Type, l.two(pair(wide, asm.PSLLVD, asm.PSLLVQ), w, x, y))
	case wide && l.ISA != asm.AVX512:
		negative := l.negative(true, x) // a negative number is turned over, and back when zeros came from the left
		return l.xor(true, l.two(asm.PSRLVQ, w, l.xor(true, x, negative), y), negative)
	}
	return l.two(pair(wide, asm.PSRAVD, asm.PSRAVQ), w, x, y)
}
