// Package quasirandom holds the direction numbers of Sobol' sequences: integers of 30 bits whose exclusive sums, chosen by the bits of a
// point's number, are the point.
//
// directions.bin is the table new-joe-kuo-6.21201 of S. Joe and F. Y. Kuo ("Constructing Sobol sequences with better two-dimensional
// projections", SIAM J. Sci. Comput. 30, 2008), packed by pack.py; LICENSE is theirs. Each dimension has a primitive polynomial over GF(2)
// and as many odd initial numbers as its degree; the others follow by the polynomial's recurrence.
package quasirandom

import (
	_ "embed"
	"math/bits"
)

const (
	// Bits is the number of bits of a coordinate: a sequence has 2^Bits points.
	Bits = 30
	// Dimensions is the number of dimensions that there are direction numbers for.
	Dimensions = 21201
)

//go:embed directions.bin
var packed []byte

// Directions gives the direction numbers of the dimensions from the first on, Bits for each, to set; the number that belongs to a point's
// last bit comes first.
func Directions(dimensions int, set func(dimension int, numbers [Bits]int64)) {
	first := [Bits]int64{}
	for k := range first {
		first[k] = 1 << (Bits - 1 - k)
	}
	if dimensions > 0 {
		set(0, first)
	}
	r := bitReader{data: packed}
	for d := 1; d < min(dimensions, Dimensions); d++ {
		set(d, r.numbers())
	}
}

// numbers reads a dimension's polynomial and initial numbers, and gives all its direction numbers.
func (r *bitReader) numbers() (numbers [Bits]int64) {
	degree := r.read(5)
	a := r.read(degree - 1)
	m := [Bits]int64{}
	for k := range degree {
		m[k] = int64(r.read(k)<<1 | 1)
	}
	for k := degree; k < Bits; k++ {
		m[k] = m[k-degree] ^ m[k-degree]<<degree
		for i := 1; i < degree; i++ {
			if a>>(degree-1-i)&1 == 1 {
				m[k] ^= m[k-i] << i
			}
		}
	}
	for k := range m {
		numbers[k] = m[k] << (Bits - 1 - k)
	}
	return numbers
}

// bitReader reads numbers of any width, highest bits first.
type bitReader struct {
	data []byte
	at   int
}

func (r *bitReader) read(width int) int {
	n := 0
	for ; width > 0; width-- {
		n = n<<1 | int(r.data[r.at/8]>>(7-r.at%8)&1)
		r.at++
	}
	return n
}

// Gray returns the Gray code of a point's number: its set bits choose the direction numbers whose exclusive sum the point is.
func Gray(n uint64) uint64 { return n ^ n>>1 }

// Changed returns which direction number takes the point with number n to the next: the place of n's lowest zero.
func Changed(n uint64) int { return bits.TrailingZeros64(^n) }

// Scrambled applies a matrix of bits, given by its rows from the highest bit of the result on, to a number of Bits bits.
func Scrambled(number int64, rows *[Bits]int64) int64 {
	result := int64(0)
	for _, row := range rows {
		result = result<<1 | int64(bits.OnesCount64(uint64(number&row))&1)
	}
	return result
}
