package define

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Room returns the product of sizes, of which none is negative, for a result or a table with an entry of some bytes for each
// element. It fails where that does not fit the memory: before anything is made, and before the sizes are computed with.
func Room(entry int, sizes ...int) int {
	n := source.Must(tensor.CheckedProduct(sizes...))
	if n >= RowGrain {
		parallel.Look()
	}
	source.Check(n <= tensor.MemoryLimit()/entry, "[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate memory: you tried to allocate %d elements of %d bytes. Error code 12 (Cannot allocate memory)", n, entry)
	return n
}

// Table makes a table of n entries. It fails where that does not fit the memory, and for less than none.
func Table[T any](n int) []T { return make([]T, Room(max(1, int(unsafe.Sizeof(*new(T)))), n)) }

// CheckedSum adds up numbers none of which is negative, and fails where the sum does not fit.
func CheckedSum(numbers []int64) int {
	total := uint64(0)
	for _, n := range numbers {
		total += uint64(n)
		source.Check(total < 1<<62, "Storage size calculation overflowed with sizes=[%d]", n)
	}
	return int(total)
}

// SmallInts checks that numbers can be computed with without overflow, as PyTorch's kernels do with 32 bits.
func SmallInts(numbers []int) []int {
	for _, n := range numbers {
		if n != int(int32(n)) {
			source.Raise(source.RuntimeError, "integer out of range")
		}
	}
	return numbers
}
