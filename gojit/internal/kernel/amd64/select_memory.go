package amd64

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// registerType returns the type that elements of a memory type are loaded as.
func registerType(memory tensor.DType) tensor.DType {
	switch memory {
	case tensor.Float16, tensor.BFloat16:
		return tensor.Float32
	}
	return memory
}

// load reads the elements of an input and converts them to the type computed with.
func (l *Lowerer) load(v kernel.Value, input int, computed tensor.DType) operand {
	memory := l.Kernel.Inputs[input]
	wide := wideType(memory)
	w := l.width(wide)
	if l.ISA == asm.Baseline && l.mixed && memory.Size() < 4 {
		l.Fail("%s beside lanes of 64 bits", memory)
	}
	read := func(op asm.Op) operand {
		return l.emit(instruction{kind: LoadInput, op: op, w: w, d: none, size: uint8(memory.Size()), index: int16(len(l.Kernel.Outputs) + input), args: [4]operand{none, none, none, none}})
	}
	var x operand
	switch memory {
	case tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64:
		if l.ISA == asm.Baseline && l.mixed && !wide {
			x = read(asm.MOVSD) // two lanes
			break
		}
		x = read(pair(wide, asm.MOVUPS, asm.MOVUPD))
	case tensor.Int16:
		x = read(asm.PMOVSXWD)
	case tensor.Int8:
		x = read(asm.PMOVSXBD)
	case tensor.Uint8:
		x = read(asm.PMOVZXBD)
	case tensor.Bool:
		x = l.two(asm.PSUBD, w, l.number(0, false), read(asm.PMOVZXBD))
	case tensor.Float16:
		if l.ISA == asm.Baseline {
			l.Fail("%s", memory)
		}
		x = read(asm.CVTPH2PS)
	case tensor.BFloat16:
		x = l.oneImm(asm.PSLLD, w, read(asm.PMOVZXWD), 16)
	default:
		l.Fail("%s", memory)
	}
	return l.convertLanes(x, false, registerType(memory), computed, func(wide bool) { l.boolWide[v] = wide })
}

// convert changes the type of a value.
func (l *Lowerer) convert(v kernel.Value, x operand, from kernel.Value, t, to tensor.DType) operand {
	return l.convertLanes(x, l.boolWide[from], t, to, func(wide bool) { l.boolWide[v] = wide })
}

// convertLanes changes the type of lanes; fromWide tells the lanes of a mask, and made is told those
// of a mask that results.
func (l *Lowerer) convertLanes(x operand, fromWide bool, t, to tensor.DType, made func(wide bool)) operand {
	t, to = registerType(t), to.ToReal()
	switch {
	case t == to:
		made(fromWide)
		return x
	case to == tensor.Bool:
		wide := wideType(t)
		made(wide)
		zero := l.number(0, wide)
		if t.IsFloating() {
			return l.compareFloats(wide, cmpNotEqual, x, zero)
		}
		return l.compareIntegers(wide, cmpNotEqual, x, zero)
	case t == tensor.Bool:
		return l.fromMask(x, fromWide, to)
	}
	switch to {
	case tensor.Float32:
		return l.toFloat32(x, t)
	case tensor.Float64:
		return l.toFloat64(x, t)
	case tensor.Int64:
		return l.toInt64(x, t)
	}
	return l.wrap(to, l.toInt32(x, t))
}

// fromMask gives one in a number type where the mask is set.
func (l *Lowerer) fromMask(x operand, wide bool, to tensor.DType) operand {
	double := wideType(to)
	x = l.maskAs(x, wide, double)
	one := uint64(1)
	switch to {
	case tensor.Float32, tensor.Float16, tensor.BFloat16:
		one = uint64(math.Float32bits(1))
	case tensor.Float64:
		one = math.Float64bits(1)
	}
	return l.and(double, x, l.number(one, double))
}

func (l *Lowerer) toFloat32(x operand, t tensor.DType) operand {
	switch t {
	case tensor.Float64:
		return l.one(asm.CVTPD2PS, l.width(true), x)
	case tensor.Int64:
		if l.ISA != asm.AVX512 {
			return l.one(asm.CVTPD2PS, l.width(true), l.longToDouble(l.oddBeyondDouble(x)))
		}
		return l.one(asm.CVTQQ2PS, l.width(true), x)
	}
	return l.one(asm.CVTDQ2PS, l.width(false), x)
}

func (l *Lowerer) toFloat64(x operand, t tensor.DType) operand {
	switch t {
	case tensor.Float32:
		return l.one(asm.CVTPS2PD, l.width(true), x)
	case tensor.Int64:
		if l.ISA != asm.AVX512 {
			return l.longToDouble(x)
		}
		return l.one(asm.CVTQQ2PD, l.width(true), x)
	}
	return l.one(asm.CVTDQ2PD, l.width(true), x)
}

// longToDouble is CVTQQ2PD by numbers that are exact: both halves are put into the fractions of powers of two, whose sum is rounded once.
func (l *Lowerer) longToDouble(x operand) operand {
	if l.ISA != asm.AVX2 {
		l.Fail("int64 to float64")
	}
	const low, high = uint64(1075) << 52, uint64(1107) << 52 // 2^52, and 2^84 whose last bit is 2^32
	w := l.width(true)
	lower := l.or(true, l.and(true, x, l.number(math.MaxUint32, true)), l.number(low, true))
	upper := l.xor(true, l.oneImm(asm.PSRLQ, w, x, 32), l.number(high|1<<31, true)) // the sign counts upwards
	powers := l.number(math.Float64bits(1<<84+1<<63+1<<52), true)
	return l.two(asm.ADDPD, w, l.two(asm.SUBPD, w, upper, powers), lower)
}

// oddBeyondDouble gives integers that a float64 does not hold one that it holds, and that is rounded to a float32 as they are: the bits that
// do not fit leave the last one set.
func (l *Lowerer) oddBeyondDouble(x operand) operand {
	const lost, bound = 1<<11 - 1, 1 << 53
	w := l.width(true)
	if l.ISA != asm.AVX2 {
		l.Fail("int64 to float32")
	}
	carried := l.two(asm.PADDQ, w, l.and(true, x, l.number(lost, true)), l.number(lost, true))
	odd := l.and(true, l.or(true, carried, x), l.number(^uint64(lost), true))
	large := l.or(true, l.two(asm.PCMPGTQ, w, x, l.number(bound, true)), l.two(asm.PCMPGTQ, w, l.number(^uint64(bound)+1, true), x))
	return l.choose(true, large, odd, x)
}

func (l *Lowerer) toInt64(x operand, t tensor.DType) operand {
	switch t {
	case tensor.Float32, tensor.Float64:
		if l.ISA != asm.AVX512 {
			l.Fail("%s to int64", t)
		}
		if t == tensor.Float32 {
			return l.one(asm.CVTTPS2QQ, l.width(true), x)
		}
		return l.one(asm.CVTTPD2QQ, l.width(true), x)
	}
	return l.one(asm.PMOVSXDQ, l.width(true), x)
}

func (l *Lowerer) toInt32(x operand, t tensor.DType) operand {
	switch t {
	case tensor.Float32:
		return l.one(asm.CVTTPS2DQ, l.width(false), x)
	case tensor.Float64:
		return l.one(asm.CVTTPD2DQ, l.width(true), x)
	case tensor.Int64:
		return l.narrow(x)
	}
	return x
}

// store writes a value to an output, converted to its type.
func (l *Lowerer) store(output int, o kernel.Output) {
	t := l.Kernel.TypeOf(o.Value)
	if t.IsComplex() || o.DType.IsComplex() {
		l.storeComplex(output, o)
		return
	}
	x, wide := l.values[o.Value], l.isWide(o.Value)
	x = l.convertLanes(x, wide, t, registerType(o.DType), func(made bool) { wide = made })
	if o.DType == tensor.Bool {
		x = l.and(wide, x, l.number(1, wide))
		if wide {
			x = l.narrow(x)
		}
	}
	w := l.width(wideType(o.DType))
	if l.ISA == asm.Baseline && l.mixed && o.DType.Size() < 4 {
		l.Fail("%s beside lanes of 64 bits", o.DType)
	}
	write := func(op asm.Op, imm uint8) {
		if l.ISA != asm.AVX512 && o.DType.Size() < 4 && op != asm.CVTPS2PHstore {
			w = asm.W128 // packed
		}
		l.code = append(l.code, instruction{kind: StoreOut, op: op, w: w, imm: imm, d: none, size: uint8(o.DType.Size()), index: int16(output), args: [4]operand{x, none, none, none}})
	}
	switch o.DType {
	case tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64:
		if l.ISA == asm.Baseline && l.mixed && o.DType.Size() == 4 {
			write(asm.MOVSDstore, 0)
			break
		}
		write(pair(o.DType.Size() == 8, asm.MOVUPSstore, asm.MOVUPDstore), 0)
	case tensor.Int8, tensor.Uint8, tensor.Bool:
		x = l.pack(x, 1)
		write(packedStore(l.ISA, 1, w), 0)
	case tensor.Int16:
		x = l.pack(x, 2)
		write(packedStore(l.ISA, 2, w), 0)
	case tensor.BFloat16:
		x = l.roundBFloat16(x)
		if l.ISA == asm.AVX512 {
			x, w = l.packUpper(x), w-1
			write(asm.MOVDQU16store, 0)
			break
		}
		x = l.pack(l.oneImm(asm.PSRLD, w, x, 16), 2)
		write(packedStore(l.ISA, 2, w), 0)
	case tensor.Float16:
		if l.ISA == asm.Baseline {
			l.Fail("%s", o.DType)
		}
		write(asm.CVTPS2PHstore, 0)
	default:
		l.Fail("%s", o.DType)
	}
}

// packedStore returns the instruction that stores lanes of 32 bits as elements of a smaller size;
// without AVX-512, pack has brought them together.
func packedStore(isa asm.ISA, size int, w asm.Width) asm.Op {
	switch {
	case isa == asm.AVX512 && size == 1:
		return asm.PMOVDBstore
	case isa == asm.AVX512:
		return asm.PMOVDWstore
	case w.Bytes()/4*size == 4:
		return asm.MOVSSstore
	case w.Bytes()/4*size == 8:
		return asm.MOVSDstore
	}
	return asm.MOVUPSstore
}

// pack brings the low bytes of 32-bit lanes together at the start of the vector.
func (l *Lowerer) pack(x operand, size int) operand {
	if l.ISA == asm.AVX512 {
		return x
	}
	w := l.width(false)
	shuffle := make([]byte, w.Bytes())
	for i := range shuffle {
		shuffle[i] = 0x80
		if at := i % 16; at < 4*size {
			shuffle[i] = byte(at/size*4 + at%size)
		}
	}
	x = l.two(asm.PSHUFB, w, x, l.vector(shuffle))
	switch {
	case w == asm.W128:
		return x
	case size == 1:
		return l.two(asm.PERMD, w, l.vector(int32Bytes(0, 4, 1, 2, 3, 5, 6, 7)), x)
	}
	return l.oneImm(asm.PERMQ, w, x, 0x08)
}

// packUpper brings the upper halves of 32-bit lanes together at the start of the vector.
func (l *Lowerer) packUpper(x operand) operand {
	w := l.width(false)
	places := make([]byte, w.Bytes())
	for i := range w.Bytes() / 4 {
		places[2*i] = byte(2*i + 1)
	}
	return l.two(asm.PERMW, w, l.vector(places), x)
}

// roundBFloat16 gives float32 lanes whose upper halves are rounded to even.
func (l *Lowerer) roundBFloat16(x operand) operand {
	w := l.width(false)
	odd := l.and(false, l.oneImm(asm.PSRLD, w, x, 16), l.number(1, false))
	sum := l.two(asm.PADDD, w, l.two(asm.PADDD, w, x, l.number(0x7fff, false)), odd)
	nan := l.number(0x7fc00000, false)
	if l.ISA == asm.AVX512 {
		return l.emit(instruction{kind: pickWhere, op: asm.CMPPS, w: w, d: none, imm: cmpUnordered, args: [4]operand{x, x, nan, sum}})
	}
	return l.choose(false, l.compareFloats(false, cmpUnordered, x, x), nan, sum)
}

// accumulate combines the elements of an output that reduces in a register that lasts through the loop.
func (l *Lowerer) accumulate(output int, o kernel.Output) {
	t := l.Kernel.TypeOf(o.Value)
	wide := l.isWide(o.Value)
	x := l.values[o.Value]
	if l.ISA == asm.Baseline {
		l.Fail("a reduction")
	}
	acc := accumulator{reg: l.fresh(), identity: l.identity(o.Reduce, t, wide), w: l.width(wide), wide: wide, output: output}
	l.accs = append(l.accs, acc)
	// The value passes through a register of its own, in which a tail replaces what lies behind the end.
	x = l.emit(instruction{kind: move, op: asm.MOVAPS, w: acc.w, d: none, index: int16(len(l.accs)), args: [4]operand{x, none, none, none}})
	result := l.combine(o.Reduce, t, wide, acc.reg, x)
	last := &l.code[len(l.code)-1]
	if last.d == result && last.kind == plain && !last.tied {
		last.d = acc.reg
		return
	}
	l.emit(instruction{kind: move, op: asm.MOVAPS, w: acc.w, d: acc.reg, args: [4]operand{result, none, none, none}})
}

// combine is one step of a reduction.
func (l *Lowerer) combine(op kernel.ReduceOp, t tensor.DType, wide bool, acc, x operand) operand {
	w := l.width(wide)
	switch {
	case t == tensor.Bool && (op == kernel.ReduceSum || op == kernel.ReduceMax):
		return l.or(wide, acc, x)
	case t == tensor.Bool:
		return l.and(wide, acc, x)
	case t.IsFloating():
		switch op {
		case kernel.ReduceSum:
			return l.two(pair(wide, asm.ADDPS, asm.ADDPD), w, acc, x)
		case kernel.ReduceProduct:
			return l.two(pair(wide, asm.MULPS, asm.MULPD), w, acc, x)
		case kernel.ReduceMin:
			return l.extreme(wide, pair(wide, asm.MINPS, asm.MINPD), x, acc)
		}
		return l.extreme(wide, pair(wide, asm.MAXPS, asm.MAXPD), x, acc)
	}
	switch op {
	case kernel.ReduceSum:
		return l.wrap(t, l.two(pair(wide, asm.PADDD, asm.PADDQ), w, acc, x))
	case kernel.ReduceProduct:
		return l.wrap(t, l.multiply(wide, acc, x))
	}
	return l.integerExtreme(wide, op == kernel.ReduceMax, acc, x)
}

// identity is what a reduction starts with.
func (l *Lowerer) identity(op kernel.ReduceOp, t tensor.DType, wide bool) operand {
	bits, _ := kernel.NumberBits(t, op.Identity(t))
	if bits = LaneBits(t, bits); !wide {
		bits &= math.MaxUint32
	}
	return l.number(bits, wide)
}
