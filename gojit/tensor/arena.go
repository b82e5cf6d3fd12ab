package tensor

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/memory"
)

// Arena is a block of memory that tensors view and that is there between Open and Close only: what a sequence of operators needs beside its
// arguments and results. Blocks come from the cache that storages use. The zero Arena is closed.
type Arena struct{ storage Storage }

// Open gets n bytes, which may hold anything. It fails where there is no room for them.
func (a *Arena) Open(n int) error {
	if err := CheckRoom(n); err != nil || n == 0 {
		return err
	}
	if n > memory.Limit() {
		return memory.OutOfMemory(n)
	}
	block, _ := memory.Take(n)
	if block == nil {
		return memory.OutOfMemory(n)
	}
	a.storage.data = block[:n]
	return nil
}

// Close gives the memory back. Nobody may use it any more.
func (a *Arena) Close() {
	if a.storage.data != nil {
		memory.Give(a.storage.data)
		a.storage.data = nil
	}
}

// Tensor returns a tensor whose first element lies a number of elements of its type behind the start of the arena. Its elements may be looked
// at while the arena is open, where that is large enough; releasing it does nothing.
func (a *Arena) Tensor(offset int, shape, strides []int, dtype DType) *Tensor {
	t := &Tensor{storage: &a.storage, offset: offset, dtype: dtype, borrowed: true}
	t.released.Store(true)
	t.setShape(shape)
	copy(t.strides, strides)
	t.fixNumel()
	return t
}

// Target has t, which Arena.Tensor made, lie in the memory of u, from a number of elements behind its first one on. u must outlive that use.
func (t *Tensor) Target(u *Tensor, offset int) { t.storage, t.offset = u.storage, u.offset+offset }

// Untarget forgets what Target said.
func (t *Tensor) Untarget() { t.storage = &noStorage }

var noStorage Storage

// At returns the address of a byte of the open arena.
func (a *Arena) At(offset int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.storage.data)), offset)
}
