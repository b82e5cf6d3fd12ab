package amd64

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
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
func (l *lowerer) load(v kernel.Value, input int, computed tensor.DType) operand {
	memory := l.kernel.Inputs[input]
	wide := wideType(memory)
	w := l.width(wide)
	if l.isa == Baseline && l.mixed && memory.Size() < 4 {
		l.fail("%s beside lanes of 64 bits", memory)
	}
	read := func(op Op) operand {
		return l.emit(instruction{kind: loadInput, op: op, w: w, d: none, size: uint8(memory.Size()), index: int16(len(l.kernel.Outputs) + input), args: [4]operand{none, none, none, none}})
	}
	var x operand
	switch memory {
	case tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64:
		if l.isa == Baseline && l.mixed && !wide {
			x = read(MOVSD) // two lanes
			break
		}
		x = read(pair(wide, MOVUPS, MOVUPD))
	case tensor.Int16:
		x = read(PMOVSXWD)
	case tensor.Int8:
		x = read(PMOVSXBD)
	case tensor.Uint8:
		x = read(PMOVZXBD)
	case tensor.Bool:
		x = l.two(PSUBD, w, l.number(0, false), read(PMOVZXBD))
	case tensor.Float16:
		if l.isa == Baseline {
			l.fail("%s", memory)
		}
		x = read(CVTPH2PS)
	case tensor.BFloat16:
		x = l.oneImm(PSLLD, w, read(PMOVZXWD), 16)
	default:
		l.fail("%s", memory)
	}
	return l.convertLanes(x, false, registerType(memory), computed, func(wide bool) { l.boolWide[v] = wide })
}

// convert changes the type of a value.
func (l *lowerer) convert(v kernel.Value, x operand, from kernel.Value, t, to tensor.DType) operand {
	return l.convertLanes(x, l.boolWide[from], t, to, func(wide bool) { l.boolWide[v] = wide })
}

// convertLanes changes the type of lanes; fromWide tells the lanes of a mask, and made is told those
// of a mask that results.
func (l *lowerer) convertLanes(x operand, fromWide bool, t, to tensor.DType, made func(wide bool)) operand {
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
func (l *lowerer) fromMask(x operand, wide bool, to tensor.DType) operand {
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

func (l *lowerer) toFloat32(x operand, t tensor.DType) operand {
	switch t {
	case tensor.Float64:
		return l.one(CVTPD2PS, l.width(true), x)
	case tensor.Int64:
		if l.isa != AVX512 {
			l.fail("%s to float32", t)
		}
		return l.one(CVTQQ2PS, l.width(true), x)
	}
	return l.one(CVTDQ2PS, l.width(false), x)
}

func (l *lowerer) toFloat64(x operand, t tensor.DType) operand {
	switch t {
	case tensor.Float32:
		return l.one(CVTPS2PD, l.width(true), x)
	case tensor.Int64:
		if l.isa != AVX512 {
			l.fail("%s to float64", t)
		}
		return l.one(CVTQQ2PD, l.width(true), x)
	}
	return l.one(CVTDQ2PD, l.width(true), x)
}

func (l *lowerer) toInt64(x operand, t tensor.DType) operand {
	switch t {
	case tensor.Float32, tensor.Float64:
		if l.isa != AVX512 {
			l.fail("%s to int64", t)
		}
		if t == tensor.Float32 {
			return l.one(CVTTPS2QQ, l.width(true), x)
		}
		return l.one(CVTTPD2QQ, l.width(true), x)
	}
	return l.one(PMOVSXDQ, l.width(true), x)
}

func (l *lowerer) toInt32(x operand, t tensor.DType) operand {
	switch t {
	case tensor.Float32:
		return l.one(CVTTPS2DQ, l.width(false), x)
	case tensor.Float64:
		return l.one(CVTTPD2DQ, l.width(true), x)
	case tensor.Int64:
		return l.narrow(x)
	}
	return x
}

// store writes a value to an output, converted to its type.
func (l *lowerer) store(output int, o kernel.Output) {
	t := l.kernel.TypeOf(o.Value)
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
	if l.isa == Baseline && l.mixed && o.DType.Size() < 4 {
		l.fail("%s beside lanes of 64 bits", o.DType)
	}
	write := func(op Op, imm uint8) {
		if l.isa != AVX512 && o.DType.Size() < 4 && op != CVTPS2PHstore {
			w = W128 // packed
		}
		l.code = append(l.code, instruction{kind: storeOut, op: op, w: w, imm: imm, d: none, size: uint8(o.DType.Size()), index: int16(output), args: [4]operand{x, none, none, none}})
	}
	switch o.DType {
	case tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64:
		if l.isa == Baseline && l.mixed && o.DType.Size() == 4 {
			write(MOVSDstore, 0)
			break
		}
		write(pair(o.DType.Size() == 8, MOVUPSstore, MOVUPDstore), 0)
	case tensor.Int8, tensor.Uint8, tensor.Bool:
		x = l.pack(x, 1)
		write(packedStore(l.isa, 1, w), 0)
	case tensor.Int16:
		x = l.pack(x, 2)
		write(packedStore(l.isa, 2, w), 0)
	case tensor.BFloat16:
		x = l.roundBFloat16(x)
		if l.isa == AVX512 {
			x, w = l.packUpper(x), w-1
			write(MOVDQU16store, 0)
			break
		}
		x = l.pack(l.oneImm(PSRLD, w, x, 16), 2)
		write(packedStore(l.isa, 2, w), 0)
	case tensor.Float16:
		if l.isa == Baseline {
			l.fail("%s", o.DType)
		}
		write(CVTPS2PHstore, 0)
	default:
		l.fail("%s", o.DType)
	}
}

// packedStore returns the instruction that stores lanes of 32 bits as elements of a smaller size;
// without AVX-512, pack has brought them together.
func packedStore(isa ISA, size int, w Width) Op {
	switch {
	case isa == AVX512 && size == 1:
		return PMOVDBstore
	case isa == AVX512:
		return PMOVDWstore
	case w.Bytes()/4*size == 4:
		return MOVSSstore
	case w.Bytes()/4*size == 8:
		return MOVSDstore
	}
	return MOVUPSstore
}

// pack brings the low bytes of 32-bit lanes together at the start of the vector.
func (l *lowerer) pack(x operand, size int) operand {
	if l.isa == AVX512 {
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
	x = l.two(PSHUFB, w, x, l.vector(shuffle))
	switch {
	case w == W128:
		return x
	case size == 1:
		return l.two(PERMD, w, l.vector(int32Bytes(0, 4, 1, 2, 3, 5, 6, 7)), x)
	}
	return l.oneImm(PERMQ, w, x, 0x08)
}

// packUpper brings the upper halves of 32-bit lanes together at the start of the vector.
func (l *lowerer) packUpper(x operand) operand {
	w := l.width(false)
	places := make([]byte, w.Bytes())
	for i := range w.Bytes() / 4 {
		places[2*i] = byte(2*i + 1)
	}
	return l.two(PERMW, w, l.vector(places), x)
}

// roundBFloat16 gives float32 lanes whose upper halves are rounded to even.
func (l *lowerer) roundBFloat16(x operand) operand {
	w := l.width(false)
	odd := l.and(false, l.oneImm(PSRLD, w, x, 16), l.number(1, false))
	sum := l.two(PADDD, w, l.two(PADDD, w, x, l.number(0x7fff, false)), odd)
	nan := l.number(0x7fc00000, false)
	if l.isa == AVX512 {
		return l.emit(instruction{kind: pickWhere, op: CMPPS, w: w, d: none, imm: cmpUnordered, args: [4]operand{x, x, nan, sum}})
	}
	return l.choose(false, l.compareFloats(false, cmpUnordered, x, x), nan, sum)
}

// accumulate combines the elements of an output that reduces in a register that lasts through the loop.
func (l *lowerer) accumulate(output int, o kernel.Output) {
	t := l.kernel.TypeOf(o.Value)
	wide := l.isWide(o.Value)
	x := l.values[o.Value]
	if l.isa == Baseline {
		l.fail("a reduction")
	}
	acc := accumulator{reg: l.fresh(), identity: l.identity(o.Reduce, t, wide), w: l.width(wide), wide: wide, output: output}
	l.accs = append(l.accs, acc)
	// The value passes through a register of its own, in which a tail replaces what lies behind the end.
	x = l.emit(instruction{kind: move, op: MOVAPS, w: acc.w, d: none, index: int16(len(l.accs)), args: [4]operand{x, none, none, none}})
	result := l.combine(o.Reduce, t, wide, acc.reg, x)
	last := &l.code[len(l.code)-1]
	if last.d == result && last.kind == plain && !last.tied {
		last.d = acc.reg
		return
	}
	l.emit(instruction{kind: move, op: MOVAPS, w: acc.w, d: acc.reg, args: [4]operand{result, none, none, none}})
}

// combine is one step of a reduction.
func (l *lowerer) combine(op kernel.ReduceOp, t tensor.DType, wide bool, acc, x operand) operand {
	w := l.width(wide)
	switch {
	case t == tensor.Bool && (op == kernel.ReduceSum || op == kernel.ReduceMax):
		return l.or(wide, acc, x)
	case t == tensor.Bool:
		return l.and(wide, acc, x)
	case t.IsFloating():
		switch op {
		case kernel.ReduceSum:
			return l.two(pair(wide, ADDPS, ADDPD), w, acc, x)
		case kernel.ReduceProduct:
			return l.two(pair(wide, MULPS, MULPD), w, acc, x)
		case kernel.ReduceMin:
			return l.extreme(wide, pair(wide, MINPS, MINPD), x, acc)
		}
		return l.extreme(wide, pair(wide, MAXPS, MAXPD), x, acc)
	}
	switch op {
	case kernel.ReduceSum:
		return l.wrap(t, l.two(pair(wide, PADDD, PADDQ), w, acc, x))
	case kernel.ReduceProduct:
		return l.wrap(t, l.multiply(wide, acc, x))
	}
	return l.integerExtreme(wide, op == kernel.ReduceMax, acc, x)
}

// identity is what a reduction starts with.
func (l *lowerer) identity(op kernel.ReduceOp, t tensor.DType, wide bool) operand {
	bits, _ := kernel.NumberBits(t, op.Identity(t))
	if bits = LaneBits(t, bits); !wide {
		bits &= math.MaxUint32
	}
	return l.number(bits, wide)
}
