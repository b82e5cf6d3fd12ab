package amd64

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Conversions between integers of 64 bits and floats where the instruction set has none: the halves of an integer are put into the fractions of
// doubles whose exponents give them their places, and read from there.

// Doubles with the exponent that has 32 bits lie in the low half of the fraction, and with the one that has them lie 32 places higher.
const (
	lowPlace  = 1 << 52
	highPlace = 1 << 84
)

// longToDouble rounds once, in the sum of both halves.
func (l *Lowerer) longToDouble(x operand) operand {
	w := l.width(true)
	number := func(f float64) operand { return l.number(math.Float64bits(f), true) }
	low := l.or(true, l.and(true, x, l.number(math.MaxUint32, true)), number(lowPlace))
	// The sign of the upper half is turned over, which adds 2**31 to it: it is never negative.
	high := l.xor(true, l.oneImm(asm.PSRLQ, w, x, 32), number(highPlace+1<<63))
	return l.two(asm.ADDPD, w, l.two(asm.SUBPD, w, high, number(highPlace+1<<63+lowPlace)), low)
}

// oddLong replaces the low 11 bits of integers that doubles do not hold by one that says whether some were set, so that a double holds them, and
// float32 rounds it as it would round the integer.
func (l *Lowerer) oddLong(x operand) operand {
	w := l.width(true)
	const held, rest = 1 << 53, 1<<11 - 1
	number := func(n int64) operand { return l.number(uint64(n), true) }
	some := l.two(asm.PADDQ, w, l.and(true, x, number(rest)), number(rest))
	odd := l.and(true, l.or(true, x, some), number(^rest))
	large := l.or(true, l.compareIntegers(true, cmpLess, number(held), x), l.compareIntegers(true, cmpLess, x, number(-held)))
	return l.choose(true, large, odd, x)
}

// doubleToLong rounds towards zero. What is out of range, and NaN, gives the smallest integer, as the instructions of other sets do.
func (l *Lowerer) doubleToLong(x operand) operand {
	w := l.width(true)
	number := func(f float64) operand { return l.number(math.Float64bits(f), true) }
	round := func(x operand, how uint8) operand { return l.oneImm(asm.ROUNDPD, w, x, how) }
	const signed = 3 << 51 // holds integers of both signs in its low bits
	whole := round(x, roundTruncate)
	upper := round(l.two(asm.MULPD, w, whole, number(1.0/(1<<32))), roundDown)
	lower := l.two(asm.SUBPD, w, whole, l.two(asm.MULPD, w, upper, number(1<<32)))
	high := l.oneImm(asm.PSLLQ, w, l.two(asm.ADDPD, w, upper, number(signed)), 32) // the exponent is shifted out
	low := l.xor(true, l.two(asm.ADDPD, w, lower, number(lowPlace)), number(lowPlace))
	inRange := l.and(true, l.compareFloats(true, cmpLessEqual, number(-1<<63), x), l.compareFloats(true, cmpLess, x, number(1<<63)))
	return l.choose(true, inRange, l.two(asm.PADDQ, w, high, low), l.number(1<<63, true))
}
