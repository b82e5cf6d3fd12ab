package tensor

import (
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// tileSide is the side of the blocks in which elements are transposed: a block of rows of the source
// is read whole, and rows of the result are written whole, whatever the distance between rows.
const tileSide = 16

// Transposer copies elements of size bytes with rows and columns exchanged: element i of column j, which begins
// j*srcStep after src and whose elements lie side by side, to place j of row i, which begins i*dstStep after dst. It
// returns how many columns it has copied, from the first one on.
type Transposer func(dst, src unsafe.Pointer, dstStep, srcStep, rows, columns, size int) int

var transposer atomic.Pointer[Transposer]

// SetTransposer makes copies use machine code that this package does not know.
func SetTransposer(f Transposer) { transposer.Store(&f) }

// vectorRows is how many rows a Transposer gets at once: their part of the target stays near.
const vectorRows = 128

// transposition is a copy whose source and target vary fastest along different dimensions.
type transposition struct {
	columns, rows      int // columns are dense in the target, rows in the source
	dstStep, srcStep   int // bytes from row to row of the target, from column to column of the source
	size               int // of an element
	outer              []loopDim
	dstStart, srcStart unsafe.Pointer
}

// transposition finds how a walk over a target and a source of one type transposes, and fails where
// it does not, the rows are few, or long rows of the target are filled with one element. Few columns are interleaved: rows of the target follow each other.
func (l *Loop) transposition(size int) (p transposition, ok bool) {
	dims := l.room()[:l.count]
	if l.count < 2 || dims[0].step[0] != size || dims[0].step[1] == size || dims[0].step[1] == 0 && dims[0].size >= shortestRow {
		return p, false
	}
	isFew := dims[0].size < tileSide
	for d := 1; d < len(dims); d++ {
		if dims[d].step[1] != size || dims[d].size < tileSide || isFew && dims[d].step[0] != dims[0].size*size {
			continue
		}
		p = transposition{columns: dims[0].size, rows: dims[d].size, dstStep: dims[d].step[0], srcStep: dims[0].step[1],
			size: size, dstStart: l.base[0], srcStart: l.base[1]}
		p.outer = append(append(p.outer, dims[1:d]...), dims[d+1:]...)
		return p, true
	}
	return p, false
}

// run copies all planes, strips of rows at once.
func (p *transposition) run() {
	side, vectors := tileSide, transposer.Load()
	switch {
	case p.columns < tileSide:
		side = interleavedRows
	case vectors != nil:
		side = vectorRows
	}
	strips := (p.rows + side - 1) / side
	planes := 1
	for i := range p.outer {
		planes *= p.outer[i].size
	}
	grain := 1 + parallelCopyGrain/(side*p.columns)
	parallel.For(planes*strips, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst, src := p.plane(i / strips)
			row := i % strips * side
			dst, src = unsafe.Add(dst, row*p.dstStep), unsafe.Add(src, row*p.size)
			n, done := min(side, p.rows-row), 0
			if vectors != nil {
				done = (*vectors)(dst, src, p.dstStep, p.srcStep, n, p.columns, p.size)
			}
			if done == 0 && p.columns < tileSide {
				p.interleave(dst, src, n)
				continue
			}
			p.strips(dst, src, n, done)
		}
	})
}

// interleavedRows is how many rows of few columns are copied at once.
const interleavedRows = 4096

// interleave copies rows of a plane of few columns, as images of few channels into channels last.
func (p *transposition) interleave(dst, src unsafe.Pointer, rows int) {
	switch p.size {
	case 1:
		interleave[uint8](dst, src, p.srcStep, rows, p.columns)
	case 2:
		interleave[uint16](dst, src, p.srcStep, rows, p.columns)
	case 4:
		interleave[uint32](dst, src, p.srcStep, rows, p.columns)
	case 8:
		interleave[uint64](dst, src, p.srcStep, rows, p.columns)
	default:
		interleave[[2]uint64](dst, src, p.srcStep, rows, p.columns)
	}
}

func interleave[T any](dst, src unsafe.Pointer, srcStep, rows, columns int) {
	column := func(j int) []T { return unsafe.Slice((*T)(unsafe.Add(src, j*srcStep)), rows) }
	to := unsafe.Slice((*T)(dst), rows*columns)
	switch columns {
	case 3:
		a, b, c := column(0), column(1), column(2)
		b, c = b[:len(a)], c[:len(a)]
		for i, v := range a {
			t := (*[3]T)(to)
			t[0], t[1], t[2] = v, b[i], c[i]
			to = to[3:]
		}
		return
	case 4:
		a, b, c, d := column(0), column(1), column(2), column(3)
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		for i, v := range a {
			t := (*[4]T)(to)
			t[0], t[1], t[2], t[3] = v, b[i], c[i], d[i]
			to = to[4:]
		}
		return
	}
	const block = 64 // whose part of the target stays near
	for from := 0; from < rows; from += block {
		part := to[from*columns : min(from+block, rows)*columns]
		for j := range columns {
			for i, v := range column(j)[from : from+len(part)/columns] {
				part[i*columns+j] = v
			}
		}
	}
}

// strips copies rows of a plane, from a column on.
func (p *transposition) strips(dst, src unsafe.Pointer, rows, column int) {
	for from := 0; from < rows && column < p.columns; from += tileSide {
		p.strip(unsafe.Add(dst, from*p.dstStep), unsafe.Add(src, from*p.size), min(tileSide, rows-from), column)
	}
}

// plane returns where the i-th plane begins.
func (p *transposition) plane(i int) (dst, src unsafe.Pointer) {
	dst, src = p.dstStart, p.srcStart
	for d := range p.outer {
		o := &p.outer[d]
		at := i % o.size
		i /= o.size
		dst, src = unsafe.Add(dst, at*o.step[0]), unsafe.Add(src, at*o.step[1])
	}
	return dst, src
}

// strip copies up to tileSide rows of a plane, from a column on.
func (p *transposition) strip(dst, src unsafe.Pointer, rows, column int) {
	switch p.size {
	case 1:
		transposeStrip[uint8](p, dst, src, rows, column, transposeBlock[uint8])
	case 2:
		transposeStrip[uint16](p, dst, src, rows, column, transposeHalves)
	case 4:
		transposeStrip[uint32](p, dst, src, rows, column, transposeWords)
	case 8:
		transposeStrip[uint64](p, dst, src, rows, column, transposeBlock[uint64])
	default:
		transposeStrip[[2]uint64](p, dst, src, rows, column, transposeBlock[[2]uint64])
	}
}

func transposeStrip[T any](p *transposition, dst, src unsafe.Pointer, rows, column int, block func(dst, src unsafe.Pointer, dstStep, srcStep int)) {
	for from := column; from < p.columns; from += tileSide {
		to, at := unsafe.Add(dst, from*p.size), unsafe.Add(src, from*p.srcStep)
		n := min(tileSide, p.columns-from)
		if n == tileSide && rows == tileSide {
			block(to, at, p.dstStep, p.srcStep)
			continue
		}
		for i := range rows {
			row := unsafe.Slice((*T)(unsafe.Add(to, i*p.dstStep)), n)
			for j := range row {
				row[j] = *(*T)(unsafe.Add(at, j*p.srcStep+i*p.size))
			}
		}
	}
}

// transposeBlock copies a whole block.
func transposeBlock[T any](dst, src unsafe.Pointer, dstStep, srcStep int) {
	var tile [tileSide * tileSide]T
	for j := range tileSide {
		column := (*[tileSide]T)(unsafe.Add(src, j*srcStep))
		for i := range column {
			tile[i*tileSide+j] = column[i]
		}
	}
	for i := range tileSide {
		*(*[tileSide]T)(unsafe.Add(dst, i*dstStep)) = [tileSide]T(tile[i*tileSide:])
	}
}

// transposeHalves copies a whole block of elements of two bytes, four by four.
func transposeHalves(dst, src unsafe.Pointer, dstStep, srcStep int) {
	for j := 0; j < tileSide; j += 4 {
		a := (*[tileSide / 4]uint64)(unsafe.Add(src, j*srcStep))
		b := (*[tileSide / 4]uint64)(unsafe.Add(src, (j+1)*srcStep))
		c := (*[tileSide / 4]uint64)(unsafe.Add(src, (j+2)*srcStep))
		d := (*[tileSide / 4]uint64)(unsafe.Add(src, (j+3)*srcStep))
		to := unsafe.Add(dst, j*2)
		for i := range tileSide / 4 {
			const odd, high = 0xffff0000ffff0000, 0xffffffff00000000
			// Halves are exchanged between neighbours, then pairs of them.
			ab, ba := a[i]&^odd|b[i]<<16&odd, a[i]>>16&^odd|b[i]&odd
			cd, dc := c[i]&^odd|d[i]<<16&odd, c[i]>>16&^odd|d[i]&odd
			at := unsafe.Add(to, 4*i*dstStep)
			*(*uint64)(at) = ab&^high | cd<<32
			*(*uint64)(unsafe.Add(at, dstStep)) = ba&^high | dc<<32
			*(*uint64)(unsafe.Add(at, 2*dstStep)) = ab>>32 | cd&high
			*(*uint64)(unsafe.Add(at, 3*dstStep)) = ba>>32 | dc&high
		}
	}
}

// transposeWords copies a whole block of elements of four bytes, two by two on little-endian machines,
// which all targets are.
func transposeWords(dst, src unsafe.Pointer, dstStep, srcStep int) {
	const pairs = tileSide / 2
	var tile [tileSide * pairs]uint64
	for j := range pairs {
		a := (*[tileSide]uint32)(unsafe.Add(src, 2*j*srcStep))
		b := (*[tileSide]uint32)(unsafe.Add(src, (2*j+1)*srcStep))
		for i := range tileSide {
			tile[i*pairs+j] = uint64(a[i]) | uint64(b[i])<<32
		}
	}
	for i := range tileSide {
		*(*[pairs]uint64)(unsafe.Add(dst, i*dstStep)) = [pairs]uint64(tile[i*pairs:])
	}
}
