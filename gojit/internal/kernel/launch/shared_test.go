package launch

import (
	"runtime"
	"sync"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// addNumber is x + n.
func addNumber(n float64) *kernel.Kernel {
	return unaryKernel(func(b *kernel.Builder, x kernel.Value) kernel.Value { return b.Add(x, b.Number(x, n)) })
}

func TestEqualKernelsShareAProgram(t *testing.T) {
	var group sync.WaitGroup
	var got [8]*Program
	for i := range got {
		group.Go(func() {
			p, err := ProgramOf(addNumber(float64(i % 2)))
			if err != nil {
				t.Error(err)
			}
			got[i] = p
		})
	}
	group.Wait()
	for i, p := range got {
		if p != got[i%2] {
			t.Errorf("the program of kernel %d is not shared", i)
		}
	}
	if got[0] == got[1] {
		t.Error("different kernels share a program")
	}
	if _, err := ProgramOf(&kernel.Kernel{}); err == nil {
		t.Error("a kernel without output has a program")
	}
}

// A full table drops what was not used for longest, and the code of what it drops is freed.
func TestSharedProgramsAreBounded(t *testing.T) {
	table := programs{limit: 4}
	x, err := tensor.Empty([]int{8}, tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	kept := func(n float64) *Program {
		p, err := table.of(addNumber(n))
		if err != nil {
			t.Fatal(err)
		}
		p.Run([]*tensor.Tensor{x, x}, nil)
		return p
	}
	first := kept(0)
	before := settledCode()
	for n := range 100 {
		kept(float64(n + 1))
		if kept(0) != first {
			t.Fatal("a program that is in use was dropped")
		}
	}
	if n := len(table.known); n != 4 || table.order.Len() != 4 {
		t.Errorf("%d and %d programs are kept", n, table.order.Len())
	}
	if after := settledCode(); asm.Target() != asm.None && after > before+16<<10 {
		t.Errorf("%d bytes of code, %d before", after, before)
	}
	runtime.KeepAlive(&table)
}

// settledCode returns the bytes of code once what nobody holds is freed.
func settledCode() int {
	last := -1
	for range 50 {
		runtime.GC()
		n := asm.CodeBytes()
		if n == last {
			break
		}
		last = n
	}
	return last
}
