package amd64

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestAlignedStores runs rows that begin at every place of a cache line: the elements before the first whole vector and behind the last
// are written under a mask, and nothing beside the rows is.
func TestAlignedStores(t *testing.T) {
	const most, gap = 3*128 + 5, 7
	for _, d := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.BFloat16, tensor.Uint8} {
		b := kernel.NewBuilder()
		x := b.Input(tensor.Float32, tensor.Float32)
		b.Output(b.Convert(b.Add(x, b.Number(x, 1)), tensor.Int32), d)
		k := expand.Expand(b.Kernel())
		size := d.Size()
		for _, isa := range targets(t) {
			f, err := Compile(k, 0, isa)
			if err != nil {
				t.Fatal(err)
			}
			for first := range 64 / size {
				for _, n := range []int{1, 127, 128, 129, 200, most} {
					t.Run(fmt.Sprint(d, isa, first, n), func(t *testing.T) {
						const rows = 3
						in, step := make([]float32, rows*(n+gap)), n+gap
						for i := range in {
							in[i] = float32(i % 100)
						}
						out := must1(tensor.Full([]int{64 + rows*step}, tensor.Int(0), d))
						var args Args
						args.Scratch = unsafe.Pointer(unsafe.SliceData(make([]float64, f.Scratch/8+16)))
						args.Scratch = unsafe.Add(args.Scratch, int(-uintptr(args.Scratch)&63))
						args.Count, args.Rows = int64(n), rows
						args.Ptr[0], args.Ptr[1] = unsafe.Add(out.DataPtr(), first*size), unsafe.Pointer(&in[0])
						args.Skip[0], args.Skip[1] = int64(step*size), int64(step*4)
						args.StartRows()
						f.Code.Call(unsafe.Pointer(&args))
						for i := range out.Numel() {
							want, at := 0, i-first
							if at >= 0 && at < rows*step && at%step < n {
								want = at%100 + 1
							}
							if got := out.At(i).Float64(); got != float64(want) {
								t.Fatalf("element %d is %v, want %d", i, got, want)
							}
						}
					})
				}
			}
		}
	}
}
