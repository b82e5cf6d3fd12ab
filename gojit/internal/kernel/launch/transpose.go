package launch

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func init() { tensor.SetTransposer(transpose) }

// transpose is a tensor.Transposer for elements of 4 and 8 bytes and whole vectors of columns.
func transpose(dst, src unsafe.Pointer, dstStep, srcStep, rows, columns, size int) int {
	isa := asm.Target()
	if isa < asm.AVX2 || size != 4 && size != 8 {
		return 0
	}
	lanes := isa.Width().Bytes() / size
	args := tile.CopyArgs{FromRow: int64(srcStep), ToRow: int64(dstStep), Count: int64(rows), Mask: tile.TailMask(isa, rows%lanes*size/4)}
	code := tile.Transposition{ISA: isa, Double: size == 8, Rows: uint8(lanes)}.Code()
	whole := columns / lanes * lanes
	for column := 0; column < whole; column += lanes {
		args.From, args.To = unsafe.Add(src, column*srcStep), unsafe.Add(dst, column*size)
		code.Call(unsafe.Pointer(&args))
	}
	return whole
}
