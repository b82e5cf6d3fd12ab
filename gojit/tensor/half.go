package tensor

import "math"

// F16 is an IEEE half-precision number as stored.
type F16 uint16

// BF16 is a bfloat16 number as stored: the upper half of a float32.
type BF16 uint16

// Float32 returns the value.
func (h F16) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	exponent := uint32(h>>10) & 0x1f
	fraction := uint32(h) & 0x3ff
	switch exponent {
	case 0:
		f := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// ToF16 rounds to the nearest half-precision number, ties to even.
func ToF16(f float32) F16 {
	bits := math.Float32bits(f)
	sign := uint16(bits>>16) & 0x8000
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000:
		return F16(sign | 0x7e00)
	case bits >= 0x47800000: // 65536 and above
		return F16(sign | 0x7c00)
	case bits < 0x38800000: // below the smallest normal number
		denormal := math.Float32frombits(bits) + 0.5 // aligns the fraction at 2^-24
		return F16(sign | uint16(math.Float32bits(denormal)-0x3f000000))
	}
	odd := (bits >> 13) & 1
	bits += 0xfff + odd
	bits -= 112 << 23
	return F16(sign | uint16(bits>>13))
}

// Float32 returns the value.
func (b BF16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// ToBF16 rounds to the nearest bfloat16 number, ties to even.
func ToBF16(f float32) BF16 {
	bits := math.Float32bits(f)
	if bits&0x7fffffff > 0x7f800000 {
		return 0x7fc0
	}
	return BF16((bits + 0x7fff + (bits>>16)&1) >> 16)
}
