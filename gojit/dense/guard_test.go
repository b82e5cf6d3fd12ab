//go:build unix

package dense

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"torchjit/gojit/kernel/amd64"
)

// guarded copies data to memory that ends, or where front begins, at a page that cannot be touched.
func guarded[T Float](t *testing.T, data []T, front bool) []T {
	t.Helper()
	page, size := unix.Getpagesize(), len(data)*int(unsafe.Sizeof(data[0]))
	inner := (size + page - 1) &^ (page - 1)
	m, err := unix.Mmap(-1, 0, inner+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	if unix.Mprotect(m[:page], unix.PROT_NONE) != nil || unix.Mprotect(m[page+inner:], unix.PROT_NONE) != nil {
		t.Fatal("mprotect")
	}
	start := page
	if !front {
		start += inner - size
	}
	moved := unsafe.Slice((*T)(unsafe.Pointer(&m[start])), len(data))
	copy(moved, data)
	return moved
}

// TestNothingOutsideIsTouched runs products and convolutions over buffers between guard pages.
func TestNothingOutsideIsTouched(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, isa := range generatedSets() {
		for i := range 40 {
			front := i%2 == 0
			p := randomProduct[float32](r, 1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(70))
			p.A.Data, p.B.Data, p.C.Data = guarded(t, p.A.Data, front), guarded(t, p.B.Data, front), guarded(t, p.C.Data, front)
			p.Epilogue, p.Residual = nil, nil
			p.generated(isa)
			q := randomProduct[float64](r, 1+r.IntN(40), 1+r.IntN(600), 1+r.IntN(200))
			q.A.Data, q.B.Data, q.C.Data = guarded(t, q.A.Data, front), guarded(t, q.B.Data, front), guarded(t, q.C.Data, front)
			q.Epilogue, q.Residual = nil, nil
			q.generated(isa)
			g := randomConvolution(r)
			if i%3 == 0 {
				g = perChannel(r, g)
			}
			guardConvolution[float32](t, r, isa, g, front)
			guardConvolution[float64](t, r, isa, g, front)
		}
	}
}

func guardConvolution[T Float](t *testing.T, r *rand.Rand, isa amd64.ISA, g Convolution, front bool) {
	t.Helper()
	in, weight := guarded(t, whole[T](r, g.Batch*g.InChannels*volume(g.In)), front), guarded(t, whole[T](r, g.OutChannels*(g.InChannels/g.Groups)*volume(g.Kernel)), front)
	out, bias := guarded(t, make([]T, g.Batch*g.OutChannels*volume(g.Out)), front), guarded(t, make([]T, g.OutChannels), front)
	convolveTiled(isa, g, in, weight, bias, out)
	if g.canDepthwise() {
		convolveDepthwise(isa, g, in, weight, bias, out)
	}
}
