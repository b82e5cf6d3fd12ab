package indexing

import (
	"math"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Elements are ordered by integers, their keys: equal elements have equal keys, zeros of both signs too, and every NaN
// has the greatest. Rows of keys are sorted digit by digit, which keeps equal ones in their order.

// nanKey returns the key of a NaN, which no number has; ok is false for types without NaN.
func nanKey(d tensor.DType) (key uint64, ok bool) {
	return math.MaxUint64 >> (64 - 8*keyWidth(d)), d.IsFloating()
}

// keyWidth returns how many of a key's lowest bytes the elements of a type use.
func keyWidth(d tensor.DType) int { return min(d.Size(), 8) }

// keysOf writes the keys of a row of elements that lie side by side. reversed gives those of the opposite order.
func keysOf(keys []uint64, row unsafe.Pointer, d tensor.DType, reversed bool) {
	for ; len(keys) > define.LookEvery; keys, row = keys[define.LookEvery:], unsafe.Add(row, define.LookEvery*d.Size()) {
		keysOf(keys[:define.LookEvery], row, d, reversed)
		parallel.Look()
	}
	switch d {
	case tensor.Bool, tensor.Uint8:
		integerKeys(keys, unsafe.Slice((*uint8)(row), len(keys)))
	case tensor.Int8:
		integerKeys(keys, unsafe.Slice((*int8)(row), len(keys)))
	case tensor.Int16:
		integerKeys(keys, unsafe.Slice((*int16)(row), len(keys)))
	case tensor.Int32:
		integerKeys(keys, unsafe.Slice((*int32)(row), len(keys)))
	case tensor.Int64:
		integerKeys(keys, unsafe.Slice((*int64)(row), len(keys)))
	case tensor.Float16:
		smallFloatKeys(keys, unsafe.Slice((*uint16)(row), len(keys)), 0x7c00)
	case tensor.BFloat16:
		smallFloatKeys(keys, unsafe.Slice((*uint16)(row), len(keys)), 0x7f80)
	case tensor.Float32:
		for i, v := range unsafe.Slice((*float32)(row), len(keys)) {
			b := math.Float32bits(v + 0) // -0 + 0 is 0
			key := b ^ (uint32(int32(b)>>31) | 1<<31)
			if v != v {
				key = math.MaxUint32
			}
			keys[i] = uint64(key)
		}
	case tensor.Float64:
		for i, v := range unsafe.Slice((*float64)(row), len(keys)) {
			b := math.Float64bits(v + 0)
			key := b ^ (uint64(int64(b)>>63) | 1<<63)
			if v != v {
				key = math.MaxUint64
			}
			keys[i] = key
		}
	default:
		source.Raise(source.RuntimeError, "\"sort\" not implemented for '%s'", d.CppName())
	}
	if reversed {
		mask := uint64(math.MaxUint64) >> (64 - 8*keyWidth(d))
		for i := range keys {
			keys[i] ^= mask
		}
	}
}

type plainInteger interface {
	uint8 | int8 | int16 | int32 | int64
}

// signBit is that of a type, 0 where there is none.
func signBit[T plainInteger]() uint64 {
	if ^T(0) > 0 {
		return 0
	}
	return 1 << (8*unsafe.Sizeof(*new(T)) - 1)
}

func integerKeys[T plainInteger](keys []uint64, row []T) {
	row = row[:len(keys)]
	mask, signBit := uint64(math.MaxUint64)>>(64-8*unsafe.Sizeof(*new(T))), signBit[T]()
	for i, v := range row {
		keys[i] = (uint64(v) ^ signBit) & mask
	}
}

// smallFloatKeys are those of 16-bit floats, whose infinity has the given bits.
func smallFloatKeys(keys []uint64, row []uint16, infinity uint16) {
	for i, b := range row[:len(keys)] {
		switch {
		case b&0x7fff > infinity:
			b = math.MaxUint16
		case b == 1<<15 || b == 0:
			b = 1 << 15
		default:
			b ^= uint16(int16(b)>>15) | 1<<15
		}
		keys[i] = uint64(b)
	}
}

// elementsOf writes elements that have the keys; zeros are positive.
func elementsOf(t *tensor.Tensor, keys []uint64) {
	switch t.DType() {
	case tensor.Bool, tensor.Uint8:
		integersOfKeys(unsafe.Slice((*uint8)(t.DataPtr()), len(keys)), keys)
	case tensor.Int8:
		integersOfKeys(tensor.Data[int8](t), keys)
	case tensor.Int16:
		integersOfKeys(tensor.Data[int16](t), keys)
	case tensor.Int32:
		integersOfKeys(tensor.Data[int32](t), keys)
	case tensor.Int64:
		integersOfKeys(tensor.Data[int64](t), keys)
	case tensor.Float16, tensor.BFloat16:
		for i, key := range keys {
			unsafe.Slice((*uint16)(t.DataPtr()), len(keys))[i] = uint16(key) ^ (uint16(int16(^uint16(key))>>15) | 1<<15)
		}
	case tensor.Float32:
		for i, key := range keys {
			tensor.Data[float32](t)[i] = floatOfKey[float32](key)
		}
	case tensor.Float64:
		for i, key := range keys {
			tensor.Data[float64](t)[i] = floatOfKey[float64](key)
		}
	}
}

func floatOfKey[T float32 | float64](key uint64) T {
	if unsafe.Sizeof(T(0)) == 4 {
		return T(math.Float32frombits(uint32(key) ^ (uint32(int32(^uint32(key))>>31) | 1<<31)))
	}
	return T(math.Float64frombits(key ^ (uint64(int64(^key)>>63) | 1<<63)))
}

func integersOfKeys[T plainInteger](dst []T, keys []uint64) {
	bit := signBit[T]()
	for i, key := range keys {
		dst[i] = T(key ^ bit)
	}
}

// orderer sorts rows of up to n elements of a type; its memory serves one row after the other.
type orderer struct {
	dtype       tensor.DType
	reversed    bool
	room        *tensor.Tensor
	keys, spare []uint64
	wide        *tensor.Tensor
	n           int
}

// widePair is a key of 64 bits with the index of its element.
type widePair struct{ key, index uint64 }

// words returns n words of arbitrary content in memory that can be released.
func words(n int) (*tensor.Tensor, []uint64) {
	t := define.Empty([]int{n}, tensor.Int64)
	return t, unsafe.Slice((*uint64)(t.DataPtr()), n)
}

// newOrderer fails for rows that are too long for indices of 32 bits.
func newOrderer(n int, d tensor.DType, reversed bool) *orderer {
	source.Check(n <= math.MaxUint32, "sort(): a dimension of %d elements is too large", n)
	room, both := words(2 * n)
	return &orderer{dtype: d, reversed: reversed, room: room, keys: both[:n], spare: both[n:], n: n}
}

// release gives the memory back.
func (o *orderer) release() {
	o.room.Release()
	if o.wide != nil {
		o.wide.Release()
	}
}

// shortRow is the length up to which a row is sorted by insertion.
const shortRow = 24

// order writes a row's indices from the first element in the order on.
func (o *orderer) order(index []int64, row unsafe.Pointer) {
	keys := o.keys
	keysOf(keys, row, o.dtype, o.reversed)
	if !narrow(keys, o.dtype) {
		for i, pair := range o.orderWide(keys)[:len(index)] {
			index[i] = int64(pair.index)
		}
		return
	}
	if len(keys) <= shortRow {
		for i, key := range keys {
			keys[i] = key<<32 | uint64(i)
		}
		insertionSort(keys)
		keyNumbers(index, keys)
		return
	}
	o.orderNarrow(index, keys)
}

// orderNarrow is order for more than a few keys of 32 bits. They move with their numbers below them; the last move of all leaves the numbers alone.
func (o *orderer) orderNarrow(index []int64, keys []uint64) {
	var counts [4][256]uint32
	for lo := 0; lo < len(keys); lo += define.LookEvery {
		numberKeys(&counts, keys[lo:define.BlockEnd(lo, len(keys))], lo)
	}
	var digits [4]int
	moves := 0
	for digit := range counts {
		if startsOf(&counts[digit], len(keys)) {
			digits[moves] = digit
			moves++
		}
	}
	spare := o.spare[:len(keys)]
	for i, digit := range digits[:moves] {
		LookBetween(len(keys))
		starts, shift := &counts[digit], uint(32+8*digit)
		isLast := i == moves-1 && len(index) == len(keys)
		for lo := 0; lo < len(keys); lo += define.LookEvery {
			if part := keys[lo:define.BlockEnd(lo, len(keys))]; isLast {
				scatterNumbers(index, part, starts, shift)
			} else {
				scatterKeys(spare, part, starts, shift)
			}
		}
		if isLast {
			return
		}
		keys, spare = spare, keys
	}
	for lo := 0; lo < len(index); lo += define.LookEvery {
		keyNumbers(index[lo:define.BlockEnd(lo, len(index))], keys[lo:])
	}
}

// numberKeys puts each key of 32 bits above its number, the first of which is given, and counts the keys by each of their digits.
//
//go:noinline
func numberKeys(counts *[4][256]uint32, keys []uint64, first int) {
	for i, key := range keys {
		counts[0][uint8(key)]++
		counts[1][uint8(key>>8)]++
		counts[2][uint8(key>>16)]++
		counts[3][uint8(key>>24)]++
		keys[i] = key<<32 | uint64(first+i)
	}
}

// keyNumbers writes the numbers below keys.
func keyNumbers(index []int64, keys []uint64) {
	keys = keys[:len(index)]
	for i, key := range keys {
		index[i] = int64(uint32(key))
	}
}

// narrow makes the keys fit into 32 bits and reports whether they do. Their order stays.
func narrow(keys []uint64, d tensor.DType) bool {
	if keyWidth(d) <= 4 {
		return true
	}
	least, greatest := uint64(math.MaxUint64), uint64(0)
	for _, key := range keys {
		least, greatest = min(least, key), max(greatest, key)
	}
	if len(keys) > 0 && greatest-least > math.MaxUint32 {
		return false
	}
	for i := range keys {
		keys[i] -= least
	}
	return true
}

func insertionSort(keys []uint64) {
	for i := 1; i < len(keys); i++ {
		key, j := keys[i], i
		for ; j > 0 && keys[j-1] > key; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = key
	}
}

// LookBetween is where walks over n elements end that are to end.
func LookBetween(n int) {
	if n >= 1<<16 {
		parallel.Look()
	}
}

// radixSort sorts keys by their bytes, and returns them in either of the two slices.
func radixSort(keys, spare []uint64) []uint64 {
	var counts [8][256]uint32
	countDigits((*[4][256]uint32)(counts[:4]), keys, 0)
	countDigits((*[4][256]uint32)(counts[4:]), keys, 32)
	spare = spare[:len(keys)]
	for digit := range counts {
		if !startsOf(&counts[digit], len(keys)) {
			continue
		}
		LookBetween(len(keys))
		starts, shift := &counts[digit], uint(8*digit)
		for lo := 0; lo < len(keys); lo += define.LookEvery {
			scatterKeys(spare, keys[lo:define.BlockEnd(lo, len(keys))], starts, shift)
		}
		keys, spare = spare, keys
	}
	return keys
}

// scatterKeys puts each key where the next one with its digit belongs. Like the other loops over blocks of a row it is a function of its own: the calls
// between the blocks would leave it no registers. A round is four keys: how long shorter rounds take depends on where the code lies.
//
//go:noinline
func scatterKeys(to, keys []uint64, starts *[256]uint32, shift uint) {
	shift &= 63
	for ; len(keys) >= 4; keys = keys[4:] {
		a, b, c, d := keys[0], keys[1], keys[2], keys[3]
		first, second, third, fourth := uint8(a>>shift), uint8(b>>shift), uint8(c>>shift), uint8(d>>shift)
		at := starts[first]
		starts[first] = at + 1
		to[at] = a
		at = starts[second]
		starts[second] = at + 1
		to[at] = b
		at = starts[third]
		starts[third] = at + 1
		to[at] = c
		at = starts[fourth]
		starts[fourth] = at + 1
		to[at] = d
	}
	for _, key := range keys {
		digit := uint8(key >> shift)
		at := starts[digit]
		starts[digit] = at + 1
		to[at] = key
	}
}

// scatterNumbers is scatterKeys for the numbers below the keys.
//
//go:noinline
func scatterNumbers(to []int64, keys []uint64, starts *[256]uint32, shift uint) {
	shift &= 63
	for ; len(keys) >= 4; keys = keys[4:] {
		a, b, c, d := keys[0], keys[1], keys[2], keys[3]
		first, second, third, fourth := uint8(a>>shift), uint8(b>>shift), uint8(c>>shift), uint8(d>>shift)
		at := starts[first]
		starts[first] = at + 1
		to[at] = int64(uint32(a))
		at = starts[second]
		starts[second] = at + 1
		to[at] = int64(uint32(b))
		at = starts[third]
		starts[third] = at + 1
		to[at] = int64(uint32(c))
		at = starts[fourth]
		starts[fourth] = at + 1
		to[at] = int64(uint32(d))
	}
	for _, key := range keys {
		digit := uint8(key >> shift)
		at := starts[digit]
		starts[digit] = at + 1
		to[at] = int64(uint32(key))
	}
}

// scatterPairs is scatterKeys for keys of 64 bits.
//
//go:noinline
func scatterPairs(to, pairs []widePair, starts *[256]uint32, shift uint) {
	for _, pair := range pairs {
		digit := uint8(pair.key >> (shift & 63))
		at := starts[digit]
		starts[digit] = at + 1
		to[at] = pair
	}
}

// countDigits counts the keys by each of four of their digits, from a shift on.
//
//go:noinline
func countDigits(counts *[4][256]uint32, keys []uint64, shift uint) {
	for _, key := range keys {
		key >>= shift & 63
		counts[0][uint8(key)]++
		counts[1][uint8(key>>8)]++
		counts[2][uint8(key>>16)]++
		counts[3][uint8(key>>24)]++
	}
}

// startsOf turns counts of digits into the places where the keys with each digit begin. It is false where all of n keys have one digit.
func startsOf(counts *[256]uint32, n int) bool {
	sum := uint32(0)
	for i, count := range counts {
		if int(count) == n {
			return false
		}
		counts[i] = sum
		sum += count
	}
	return true
}

// orderWide sorts keys of 64 bits with their indices.
func (o *orderer) orderWide(keys []uint64) []widePair {
	if o.wide == nil {
		o.wide = define.Empty([]int{4 * o.n}, tensor.Int64)
	}
	both := unsafe.Slice((*widePair)(o.wide.DataPtr()), 2*o.n)
	pairs, spare := both[:o.n], both[o.n:]
	if len(keys) <= shortRow {
		return insertPairs(pairs, keys)
	}
	var counts [8][256]uint32
	for i, key := range keys {
		pairs[i] = widePair{key, uint64(i)}
		counts[0][uint8(key)]++
		counts[1][uint8(key>>8)]++
		counts[2][uint8(key>>16)]++
		counts[3][uint8(key>>24)]++
		counts[4][uint8(key>>32)]++
		counts[5][uint8(key>>40)]++
		counts[6][uint8(key>>48)]++
		counts[7][uint8(key>>56)]++
	}
	for digit := range 8 {
		if !startsOf(&counts[digit], len(keys)) {
			continue
		}
		LookBetween(len(keys))
		starts, shift := &counts[digit], uint(8*digit)
		for lo := 0; lo < len(pairs); lo += define.LookEvery {
			scatterPairs(spare, pairs[lo:define.BlockEnd(lo, len(pairs))], starts, shift)
		}
		pairs, spare = spare, pairs
	}
	return pairs
}

// insertPairs is orderWide for a few keys.
func insertPairs(pairs []widePair, keys []uint64) []widePair {
	for i, key := range keys {
		j := i
		for ; j > 0 && pairs[j-1].key > key; j-- {
			pairs[j] = pairs[j-1]
		}
		pairs[j] = widePair{key, uint64(i)}
	}
	return pairs[:len(keys)]
}

// selectKey returns the key at a place of the order, and how many keys come before the first such key. The keys are
// those of the lowest width bytes; they are moved.
func selectKey(keys []uint64, place, width int) (key uint64, before int) {
	for digit := width - 1; digit >= 0; digit-- {
		if len(keys) <= shortRow {
			insertionSort(keys)
			key = keys[place-before]
			return key, before + slices.Index(keys, key)
		}
		LookBetween(len(keys))
		shift := uint(8 * digit)
		var counts [256]uint32
		for lo := 0; lo < len(keys); lo += define.LookEvery {
			countKeys(&counts, keys[lo:define.BlockEnd(lo, len(keys))], shift)
		}
		wanted, rest := 0, place-before
		for ; rest >= int(counts[wanted]); wanted++ {
			rest -= int(counts[wanted])
		}
		before = place - rest
		if int(counts[wanted]) == len(keys) {
			continue
		}
		kept := 0
		for lo := 0; lo < len(keys); lo += define.LookEvery {
			kept += keepKeys(keys[kept:], keys[lo:define.BlockEnd(lo, len(keys))], uint8(wanted), shift)
		}
		keys = keys[:kept]
	}
	return keys[0], before
}

// countKeys counts the keys with each digit.
//
//go:noinline
func countKeys(counts *[256]uint32, keys []uint64, shift uint) {
	for _, key := range keys {
		counts[uint8(key>>(shift&63))]++
	}
}

// keepKeys writes those of the keys that have a digit, and whatever behind them, and returns how many they are. to begins at the keys or before them.
//
//go:noinline
func keepKeys(to, keys []uint64, digit uint8, shift uint) (kept int) {
	to = to[:len(keys)]
	for _, key := range keys {
		to[kept] = key
		if uint8(key>>(shift&63)) == digit {
			kept++
		}
	}
	return kept
}
