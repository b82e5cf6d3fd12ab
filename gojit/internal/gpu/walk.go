package gpu

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// walk is the argument of a kernel: where its operands lie, and how threads divide them.
type walk struct {
	n       int64 // elements, or those of a row
	rows    int64
	parts   int64 // of a row, which have part elements each
	part    int64
	lanes   int64 // threads of a row
	across  bool  // threads that follow each other are of rows beside each other
	vectors int64 // that are taken at once, of the first elements

	loop    tensor.Loop
	run     [tensor.MaxOperands]int64 // bytes from one element of a row to the next, by operand
	at      [tensor.MaxOperands]pointer
	partial []pointer
	failed  pointer
	number  []uint64
	words   []uint64
}

// walks are those that are not in use.
var walks = sync.Pool{New: func() any { return new(walk) }}

// walk looks at the operands.
func (p *Program) walk(tensors []*tensor.Tensor) (*walk, error) {
	s := p.source
	if len(tensors) != s.Operands {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "a kernel of %d operands was given %d", s.Operands, len(tensors))
	}
	w := walks.Get().(*walk)
	*w = walk{rows: 1, parts: 1, lanes: 1, partial: w.partial[:0], number: w.number[:0], words: w.words[:0]}
	shape, walked := tensors[0].Shape(), tensors
	if s.IsReduction() {
		var err error
		if shape, walked, err = w.takeRun(tensors); err != nil {
			return nil, err
		}
	}
	numel, err := tensor.Numel(shape)
	if err != nil {
		return nil, err
	}
	w.loop.InitSteps(shape, s.Ordered || s.IsReduction(), walked...)
	if w.loop.Dims() > cuda.MaxDims {
		return nil, source.Errorf(source.NotImplementedError, source.Range{}, "a walk over %d dimensions on a GPU: at most %d that do not lie end to end", w.loop.Dims(), cuda.MaxDims)
	}
	for i, t := range walked {
		w.at[i] = pointer(t.Address())
	}
	if s.IsReduction() {
		w.rows = int64(numel)
		w.divideRows(p, tensors)
	} else {
		w.n = int64(numel)
		w.findVectors(s, tensors)
	}
	return w, nil
}

// takeRun takes the last dimension off the operands, along which outputs reduce, and returns the shape of the rows that are left.
func (w *walk) takeRun(tensors []*tensor.Tensor) ([]int, []*tensor.Tensor, error) {
	shape := slices.Clone(tensors[0].Shape())
	if len(shape) == 0 {
		shape = []int{1}
	}
	last := len(shape) - 1
	for _, t := range tensors {
		if own := t.Shape(); len(own) > 0 && own[len(own)-1] != 1 {
			shape[last] = own[len(own)-1]
		}
	}
	w.n = int64(shape[last])
	rows := make([]*tensor.Tensor, len(tensors))
	for i, t := range tensors {
		rows[i] = t
		own := len(t.Shape()) - 1
		if own < 0 {
			continue
		}
		if t.Shape()[own] != 1 {
			w.run[i] = int64(t.Strides()[own] * t.DType().Size())
		}
		if t.Shape()[own] == 0 {
			rows[i] = tensors[0] // nothing of t is read
			continue
		}
		var err error
		if rows[i], err = t.Select(own, 0); err != nil {
			return nil, nil, err
		}
	}
	for i := range rows {
		if rows[i] == tensors[0] && len(tensors[0].Shape()) > 0 {
			rows[i] = rows[0]
		}
	}
	return shape[:last], rows, nil
}

// Rows are divided so that every thread has some elements, and that there are blocks for all multiprocessors.
const (
	elementsOfLane = 8 // at least, where there are so many
	lanesBeside    = 8 // of rows beside each other
	blocksOfRows   = 8 // for each multiprocessor
)

// divideRows chooses how many threads a row has, and into how many parts it is divided.
func (w *walk) divideRows(p *Program, tensors []*tensor.Tensor) {
	w.across = w.liesAcross(len(p.source.Kernel.Outputs), tensors)
	switch {
	case w.across:
		w.lanes = max(lanesBeside, cuda.Width/powerFrom(w.rows))
	case w.n <= int64(4*p.source.Lanes):
		w.lanes = int64(p.source.Lanes)
	default:
		w.lanes = min(cuda.Width, max(int64(p.source.Lanes), powerFrom((w.n+elementsOfLane-1)/elementsOfLane)))
	}
	w.part = max(w.n, 1)
	wanted := int64(p.device.units) * blocksOfRows
	if blocks := w.rowBlocks(); blocks > 0 && blocks < wanted {
		w.parts = max(1, min(wanted/blocks, (w.n+w.lanes*elementsOfLane-1)/(w.lanes*elementsOfLane)))
		w.part = max(1, (w.n+w.parts-1)/w.parts)
		w.parts = max(1, (w.n+w.part-1)/w.part)
	}
}

// powerFrom returns the least power of two that is not less than n.
func powerFrom(n int64) int64 { return 1 << bits.Len64(uint64(max(n, 1)-1)) }

// rowBlocks returns how many blocks of threads have all rows.
func (w *walk) rowBlocks() int64 {
	together := cuda.Width / w.lanes
	return (w.rows + together - 1) / together
}

// liesAcross reports whether elements of rows beside each other lie side by side in inputs, and those of a row in none.
func (w *walk) liesAcross(outputs int, tensors []*tensor.Tensor) bool {
	size, step := w.loop.Dim(0)
	found := false
	for i, t := range tensors[outputs:] {
		own := int64(t.DType().Size())
		if w.run[outputs+i] == own {
			return false
		}
		found = found || size >= lanesBeside && int64(step[outputs+i]) == own
	}
	return found
}

// findVectors finds out whether threads can take vectors: the innermost elements lie side by side or are one, and vectors begin at multiples of their size.
func (w *walk) findVectors(s *cuda.Source, tensors []*tensor.Tensor) {
	v := s.Vector
	inner, step := w.loop.Dim(0)
	if v == 1 || w.loop.Dims() > 1 && inner%v != 0 {
		return
	}
	for i, t := range tensors {
		own := t.DType().Size()
		if step[i] == 0 && i >= len(s.Kernel.Outputs) {
			continue
		}
		if step[i] != own || uint64(w.at[i])%uint64(v*own) != 0 {
			return
		}
		for d := 1; d < w.loop.Dims(); d++ {
			if _, outer := w.loop.Dim(d); outer[i]%(v*own) != 0 {
				return
			}
		}
	}
	w.vectors = w.n / int64(v)
}

// threads returns how many threads there is work for.
func (w *walk) threads() int64 {
	if w.vectors > 0 {
		return w.vectors
	}
	return w.n
}

// setNumbers puts the parameters among the arguments.
func (w *walk) setNumbers(p *Program, params []tensor.Scalar) {
	for i, t := range p.params {
		re, im := kernel.NumberBits(t, params[i])
		w.number = append(w.number, re)
		if t.IsComplex() {
			w.number = append(w.number, im)
		}
	}
}

// argument returns the argument as the text declares it. It is overwritten by the next call.
func (w *walk) argument(s *cuda.Source) []uint64 {
	across := uint64(0)
	if w.across {
		across = 1
	}
	words := append(w.words[:0], uint64(w.n), uint64(w.rows), uint64(w.parts), uint64(w.part), uint64(w.lanes), across, uint64(w.vectors), uint64(w.loop.Dims()))
	dims := len(words)
	words = append(words, make([]uint64, cuda.MaxDims*(1+s.Operands))...)
	for d := range w.loop.Dims() {
		size, steps := w.loop.Dim(d)
		words[dims+d] = uint64(size)
		for i := range s.Operands {
			words[dims+(1+i)*cuda.MaxDims+d] = uint64(steps[i])
		}
	}
	for _, run := range w.run[:s.Operands] {
		words = append(words, uint64(run))
	}
	for _, at := range w.at[:s.Operands] {
		words = append(words, uint64(at))
	}
	for i := range max(1, len(s.Reduces)) {
		at := pointer(0)
		if i < len(w.partial) {
			at = w.partial[i]
		}
		words = append(words, uint64(at))
	}
	words = append(words, uint64(w.failed))
	words = append(words, w.number...)
	if len(w.number) == 0 {
		words = append(words, 0)
	}
	w.words = words
	return words
}
