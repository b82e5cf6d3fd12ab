package kernel

import (
	"math"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Random numbers of kernels are those of Philox4x32-10, a generator without a state: ten rounds of
// multiplications turn a counter and a key into four words. The counter is the number of the element
// and the key the seed, so any partition of a run gives the same numbers.

const (
	philoxRounds = 10
	philoxMulA   = 0xd2511f53
	philoxMulB   = 0xcd9e8d57
	philoxKeyA   = 0x9e3779b9 // added to the key after each round
	philoxKeyB   = 0xbb67ae85
	lowWord      = 1<<32 - 1
)

// int64Number makes a constant.
func (b *Builder) int64Number(i int64) Value { return b.Const(tensor.Int64, tensor.Int(i)) }

// lowHalf and highHalf are the words of an Int64, as Int64.
func (b *Builder) lowHalf(x Value) Value { return b.Binary(And, x, b.int64Number(lowWord)) }

func (b *Builder) highHalf(x Value) Value {
	return b.lowHalf(b.Binary(Shr, x, b.int64Number(32)))
}

// Philox makes four random words of four words of counter and two of key. A word is an Int64 from 0 to
// 2**32-1.
func (b *Builder) Philox(counter [4]Value, key [2]Value) [4]Value {
	c, k := counter, key
	for round := range philoxRounds {
		if round > 0 {
			k[0] = b.lowHalf(b.Add(k[0], b.int64Number(philoxKeyA)))
			k[1] = b.lowHalf(b.Add(k[1], b.int64Number(philoxKeyB)))
		}
		p, q := b.Mul(c[0], b.int64Number(philoxMulA)), b.Mul(c[2], b.int64Number(philoxMulB))
		c = [4]Value{
			b.Binary(Xor, b.Binary(Xor, b.highHalf(q), c[1]), k[0]), b.lowHalf(q),
			b.Binary(Xor, b.Binary(Xor, b.highHalf(p), c[3]), k[1]), b.lowHalf(p),
		}
	}
	return c
}

// randomWords are those of the element: its number and the offset, both Int64, are the counter, and the
// seed, an Int64, is the key. Calls with the same operands give the same words; draws of one program
// take different offsets.
func (b *Builder) randomWords(seed, offset Value) [4]Value {
	i := b.Iota(tensor.Int64)
	return b.Philox([4]Value{b.lowHalf(i), b.highHalf(i), b.lowHalf(offset), b.highHalf(offset)}, [2]Value{b.lowHalf(seed), b.highHalf(seed)})
}

// Uniform makes a Float32 or Float64 from [0, 1) with 24 or 52 random bits.
func (b *Builder) Uniform(t tensor.DType, seed, offset Value) Value {
	w := b.randomWords(seed, offset)
	return b.uniform(t, w[0], w[1])
}

func (b *Builder) uniform(t tensor.DType, high, low Value) Value {
	if t == tensor.Float32 {
		bits := b.Convert(b.Binary(Shr, high, b.int64Number(8)), tensor.Int32)
		return b.Mul(b.Convert(bits, t), b.Const(t, tensor.Float(0x1p-24)))
	}
	// The bits are the fraction of a number from [1, 2).
	one := b.int64Number(int64(math.Float64bits(1)))
	bits := b.Binary(Or, b.Binary(Shl, high, b.int64Number(20)), b.Binary(Shr, low, b.int64Number(12)))
	return b.Sub(b.Bits(b.Binary(Or, bits, one)), b.Const(t, tensor.Int(1)))
}

// Normal makes a normal Float32 or Float64: the radius and the cosine of Box and Muller.
func (b *Builder) Normal(t tensor.DType, seed, offset Value) Value {
	w := b.randomWords(seed, offset)
	number := func(f float64) Value { return b.Const(t, tensor.Float(f)) }
	fromZero := b.Sub(number(1), b.uniform(t, w[0], w[1])) // (0, 1]: it has a logarithm
	radius := b.Unary(Sqrt, b.Mul(number(-2), b.Unary(Log, fromZero)))
	return b.Mul(radius, b.Unary(Cos, b.Mul(number(2*math.Pi), b.uniform(t, w[2], w[3]))))
}
