package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Interleaving describes a kernel that joins Columns dense columns, such as the planes of an image, to rows that follow each other: element i of column j goes to
// place i*Columns + j. Of CopyArgs it reads From and FromRow, where the columns begin, To, Count, the vectors of each column, and Mask, which is Places.
type Interleaving struct {
	ISA     asm.ISA // AVX512
	Double  bool
	Columns uint8 // MinInterleaved to MaxInterleaved
}

// The columns of an Interleaving: for more of them there are not enough registers.
const (
	MinInterleaved = 2
	MaxInterleaved = 5
)

const (
	interleaveFrom   = asm.RAX
	interleaveFourth = asm.RBX // the fourth column
	interleaveRow    = asm.RDX
	interleaveTo     = asm.RCX
	interleaveCount  = asm.RSI
)

// Encode appends the kernel's code. A vector of the result is two columns at first; each of the others is then put in its places.
func (i Interleaving) Encode(a *asm.Assembler) {
	const width, bytes = asm.W512, 64
	columns, permute := int(i.Columns), asm.PERMT2PS
	if i.Double {
		permute = asm.PERMT2PD
	}
	firstPlaces := asm.Reg(columns + 2) // behind the columns and two results
	a.Load(interleaveFrom, asm.At(asm.RDI, copyFrom))
	a.Load(interleaveRow, asm.At(asm.RDI, copyFromRow))
	a.Load(interleaveTo, asm.At(asm.RDI, copyTo))
	a.Load(interleaveCount, asm.At(asm.RDI, copyMask))
	for k := range columns * (columns - 1) {
		a.V(asm.MOVUPS, width, firstPlaces+asm.Reg(k), 0, asm.M(asm.At(interleaveCount, int32(k)*bytes)))
	}
	a.Load(interleaveCount, asm.At(asm.RDI, copyCount))
	a.Lea(interleaveFourth, asm.Indexed(interleaveFrom, interleaveRow, 2, 0))
	a.Add(interleaveFourth, interleaveRow)
	a.Align(32)
	loop := a.Here()
	for j := range columns {
		m := asm.At(interleaveFrom, 0)
		if j >= 3 {
			m = asm.At(interleaveFourth, 0)
		}
		if j%3 != 0 {
			m.Index, m.Scale = interleaveRow, uint8(j%3)
		}
		a.V(asm.MOVUPS, width, asm.Reg(j), 0, asm.M(m))
	}
	for k := range columns {
		result := asm.Reg(columns + k%2)
		a.V(asm.MOVAPS, width, result, 0, asm.R(0))
		for j := 1; j < columns; j++ {
			a.V(permute, width, result, firstPlaces+asm.Reg(k*(columns-1)+j-1), asm.R(asm.Reg(j)))
		}
		a.V(asm.MOVUPSstore, width, result, 0, asm.M(asm.At(interleaveTo, int32(k)*bytes)))
	}
	a.AddImm(interleaveFrom, bytes)
	a.AddImm(interleaveFourth, bytes)
	a.AddImm(interleaveTo, int32(columns)*bytes)
	a.Dec(interleaveCount)
	a.JumpIf(asm.NotEqual, loop)
	a.ZeroUpper()
	a.Ret()
}

// places are the tables of Interleaving by columns, of float32 and of float64.
var places = func() (tables [MaxInterleaved + 1][2][]uint64) {
	for columns := MinInterleaved; columns <= MaxInterleaved; columns++ {
		for double, lanes := range [2]int{16, 8} {
			tables[columns][double] = placesOf(columns, lanes)
		}
	}
	return tables
}()

// placesOf returns, for each vector of the result and each column but the first, which element of what is there so far or, from lanes on, of the column each lane takes.
func placesOf(columns, lanes int) []uint64 {
	table := make([]uint64, 8*columns*(columns-1))
	for k := range columns {
		for j := 1; j < columns; j++ {
			for lane := range lanes {
				row, column := (k*lanes+lane)/columns, (k*lanes+lane)%columns
				from := uint64(lane)
				switch {
				case column == j:
					from = uint64(lanes + row)
				case j == 1: // what is there is the first column
					from = uint64(row)
				}
				bits := 512 / lanes
				at := (k*(columns-1)+j-1)*512 + lane*bits
				table[at/64] |= from << (at % 64)
			}
		}
	}
	return table
}

// Places returns what the kernel has for Mask.
func (i Interleaving) Places() unsafe.Pointer {
	double := 0
	if i.Double {
		double = 1
	}
	return unsafe.Pointer(unsafe.SliceData(places[i.Columns][double]))
}
