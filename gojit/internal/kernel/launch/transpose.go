package launch

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func init() { tensor.SetTransposer(transpose) }

// transpose is a tensor.Transposer for elements of 4 and 8 bytes and whole vectors of columns, and for few columns where the rows of the target follow each other.
func transpose(dst, src unsafe.Pointer, dstStep, srcStep, rows, columns, size int) int {
	isa := asm.Target()
	if isa < asm.AVX2 || size != 4 && size != 8 {
		return 0
	}
	lanes := isa.Width().Bytes() / size
	if columns < lanes {
		return interleave(isa, dst, src, dstStep, srcStep, rows, columns, size)
	}
	args := tile.CopyArgs{FromRow: int64(srcStep), ToRow: int64(dstStep), Count: int64(rows), Mask: tile.TailMask(isa, rows%lanes*size/4)}
	code := tile.Transposition{ISA: isa, Double: size == 8, Rows: uint8(lanes)}.Code()
	whole := columns / lanes * lanes
	for column := 0; column < whole; column += lanes {
		args.From, args.To = unsafe.Add(src, column*srcStep), unsafe.Add(dst, column*size)
		code.Call(unsafe.Pointer(&args))
	}
	return whole
}

// interleave copies all of a few columns, or none.
func interleave(isa asm.ISA, dst, src unsafe.Pointer, dstStep, srcStep, rows, columns, size int) int {
	if isa < asm.AVX512 || columns < tile.MinInterleaved || columns > tile.MaxInterleaved || dstStep != columns*size {
		return 0
	}
	lanes := isa.Width().Bytes() / size
	kernel := tile.Interleaving{ISA: isa, Double: size == 8, Columns: uint8(columns)}
	if vectors := rows / lanes; vectors > 0 {
		args := tile.CopyArgs{From: src, To: dst, FromRow: int64(srcStep), Count: int64(vectors), Mask: kernel.Places()}
		kernel.Code().Call(unsafe.Pointer(&args))
	}
	for i := rows / lanes * lanes; i < rows; i++ {
		for j := range columns {
			from, to := unsafe.Add(src, j*srcStep+i*size), unsafe.Add(dst, i*dstStep+j*size)
			if size == 4 {
				*(*uint32)(to) = *(*uint32)(from)
			} else {
				*(*uint64)(to) = *(*uint64)(from)
			}
		}
	}
	return columns
}
