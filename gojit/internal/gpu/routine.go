package gpu

import (
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// RunRoutine runs a routine over tensors of one device.
func (b *Backend) RunRoutine(r *kernel.Routine, tensors []*tensor.Tensor, numbers []int64) error {
	v, err := b.Device(tensors[0].Device())
	if err != nil {
		return err
	}
	m, err := v.routine(r)
	if err != nil {
		return err
	}
	if r.Threads == 0 && r.Blocks == 0 {
		return nil
	}
	words, err := routineWords(r, tensors, numbers)
	if err != nil {
		return err
	}
	err = v.runRoutine(m, r, words)
	runtime.KeepAlive(tensors)
	runtime.KeepAlive(m)
	return err
}

// routine returns the text of a routine, compiled.
func (v *Device) routine(r *kernel.Routine) (*module, error) {
	return v.routines.get(cuda.RoutineKey(r), func() (*module, error) {
		text, err := cuda.RoutineText(r)
		if err != nil {
			return nil, err
		}
		return v.compileModule(text, r.Entry)
	})
}

// runRoutine launches a routine, and looks for what it met where it is checked.
func (v *Device) runRoutine(m *module, r *kernel.Routine, words []uint64) error {
	var failed [3]int64
	stream := v.Stream()
	if r.Checked {
		if err := stream.refuse("what indices are is looked at"); err != nil {
			return err
		}
		flag, err := v.Allocate(len(failed) * 8)
		if err != nil {
			return err
		}
		defer func() { _ = flag.Free() }()
		words[2+cuda.MaxTensors] = uint64(flag.at)
		if err := v.do(func() error { return v.clear(stream, flag.at, uint64(len(failed)*8)) }); err != nil {
			return err
		}
	}
	blocks := int64(r.Blocks)
	if blocks == 0 {
		blocks = v.blocksFor(int64(r.Threads))
	}
	err := v.do(func() error { return v.launch(m, m.entry[0], blocks, words) })
	if err != nil || !r.Checked {
		return err
	}
	err = v.do(func() error {
		v.counts.downloads.Add(1)
		return v.fetch(stream, unsafe.Pointer(&failed), pointer(words[2+cuda.MaxTensors]), uint64(len(failed)*8))
	})
	if err == nil && failed[0] != 0 {
		err = &kernel.RoutineFailure{Which: failed[1], Value: failed[2]}
	}
	return err
}

// routineWords returns the argument of a routine as its text declares it: for one that walks, the numbers begin with the dimensions of the walk,
// their sizes and the steps of each tensor.
func routineWords(r *kernel.Routine, tensors []*tensor.Tensor, numbers []int64) ([]uint64, error) {
	words := make([]uint64, 3+cuda.MaxTensors+cuda.MaxNumbers)
	words[0], words[1] = uint64(r.Threads), uint64(len(tensors))
	for i, t := range tensors {
		words[2+i] = t.Address()
	}
	at := words[3+cuda.MaxTensors:]
	if r.Walks {
		var l tensor.Loop
		l.InitSteps(tensors[0].Shape(), true, tensors...)
		if l.Dims() > cuda.MaxDims {
			return nil, source.Errorf(source.NotImplementedError, source.Range{}, "a walk over %d dimensions on a GPU: at most %d that do not lie end to end", l.Dims(), cuda.MaxDims)
		}
		at[0] = uint64(l.Dims())
		for d := range l.Dims() {
			size, steps := l.Dim(d)
			at[1+d] = uint64(size)
			for i := range tensors {
				at[1+(1+i)*cuda.MaxDims+d] = uint64(steps[i])
			}
		}
		at = at[1+(1+len(tensors))*cuda.MaxDims:]
	}
	for i, n := range numbers {
		at[i] = uint64(n)
	}
	return words, nil
}
