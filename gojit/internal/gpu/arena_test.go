package gpu

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// behindEachOther places blocks of memory without any that share a place.
func behindEachOther(blocks []kernel.Life) (offsets []int, size int) {
	for _, b := range blocks {
		offsets = append(offsets, size)
		size += b.Bytes
	}
	return offsets, size
}

// TestArenas captures work, whose memory comes to lie in an arena that works of one stream share, and is given back with them.
func TestArenas(t *testing.T) {
	v := testDevice(t)
	if exact {
		t.Skip("each block is an allocation of its own")
	}
	b := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	p, x := doubling(t, v), filled(t, v, 1000, 3)
	runs := 0
	var y *tensor.Tensor
	doubled := func(times int) func() error {
		runs = 0
		return func() error {
			if runs++; runs == 2 {
				y.Release() // what was made the first time
			}
			from := x
			for range times {
				y = must(v.Empty([]int{1000}, tensor.Float32))
				if err := p.Run([]*tensor.Tensor{y, from}, nil); err != nil {
					return err
				}
				if from != x {
					from.Release()
				}
				from = y
			}
			return nil
		}
	}
	var asked []kernel.Life
	noting := func(blocks []kernel.Life) ([]int, int) {
		asked = blocks
		return behindEachOther(blocks)
	}
	before := v.Statistics().Allocated
	four := must(b.Capture(v.Place(), doubled(4), noting))
	for i, a := range asked {
		if a.Bytes != 4096 || a.From != i || i < 3 && a.Last != i+1 || i == 3 && a.Last < 1<<60 {
			t.Errorf("block %d is needed so: %+v", i, a)
		}
	}
	if n := v.Statistics().Allocated - before; len(asked) != 4 || runs != 2 || four.Arena() != 4*4096 || four.Launches() != 4 || n != 4*4096 {
		t.Errorf("%d blocks by %d runs in an arena of %d bytes, %d are allocated; %d kernels", len(asked), runs, four.Arena(), n, four.Launches())
	}
	of4 := y
	two := must(b.Capture(v.Place(), doubled(2), noting))
	of2 := y
	if n := v.Statistics().Allocated - before; two.Arena() != 2*4096 || n != 4*4096 || of2.Address() != of4.Address()-2*4096 {
		t.Errorf("the second work has its result at %#x of an arena of %d bytes, the first at %#x; %d bytes are allocated", of2.Address(), two.Arena(), of4.Address(), n)
	}
	for _, c := range []struct {
		work kernel.Work
		y    *tensor.Tensor
		want float64
	}{{four, of4, 48}, {two, of2, 12}, {four, of4, 48}} {
		check(t, c.work.Replay())
		if got := first(t, v, c.y); got != c.want {
			t.Errorf("a replay gives %v, want %v", got, c.want)
		}
	}
	turn := 0
	other := must(b.Capture(v.Place(), func() error { turn++; return doubled(turn + 1)() }, noting))
	if other.Arena() != 0 || other.Launches() != 2 {
		t.Errorf("work that asks for other memory the second time has an arena of %d bytes and %d kernels", other.Arena(), other.Launches())
	}
	check(t, other.Replay())
	for _, w := range []kernel.Work{four, two, other} {
		w.Reset()
	}
	of4.Release()
	of2.Release()
	tensor.CollectAll()
	if n := v.Statistics().Allocated - before; n > 4*4096 { // what the runs have made and nobody gave back
		t.Errorf("%d bytes are allocated when the works are gone", n)
	}
}
