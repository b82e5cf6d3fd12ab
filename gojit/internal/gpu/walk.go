package gpu

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// walk is the argument of a kernel: where its operands lie. The members have the order of Args in the text.
type walk struct {
	n, first, rows, blocks int64
	size                   []int64
	step                   [][]int64 // by operand and dimension
	run                    []int64
	at                     []pointer
	partial                []pointer
	failed                 pointer
	number                 []uint64
}

// walk looks at the operands.
func (p *Program) walk(tensors []*tensor.Tensor) (*walk, error) {
	s := p.source
	if len(tensors) != s.Operands {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "a kernel of %d operands was given %d", s.Operands, len(tensors))
	}
	w := &walk{rows: 1, blocks: 1, run: make([]int64, s.Operands)}
	shape := slices.Clone(tensors[0].Shape())
	if s.IsReduction() {
		var err error
		if shape, tensors, err = w.takeRun(tensors, s.Block); err != nil {
			return nil, err
		}
	}
	numel, err := tensor.Numel(shape)
	if err != nil {
		return nil, err
	}
	if s.IsReduction() {
		w.rows = int64(numel)
	} else {
		w.n = int64(numel)
	}
	var l tensor.Loop
	l.InitSteps(shape, s.Ordered || s.IsReduction(), tensors...)
	if l.Dims() > cuda.MaxDims {
		return nil, source.Errorf(source.NotImplementedError, source.Range{}, "a walk over %d dimensions on a GPU: at most %d that do not lie end to end", l.Dims(), cuda.MaxDims)
	}
	w.step = make([][]int64, s.Operands)
	for d := range l.Dims() {
		size, steps := l.Dim(d)
		w.size = append(w.size, int64(size))
		for i := range w.step {
			w.step[i] = append(w.step[i], int64(steps[i]))
		}
	}
	for _, t := range tensors {
		w.at = append(w.at, pointer(t.Address()))
	}
	return w, nil
}

// takeRun takes the last dimension off the operands, along which outputs reduce, and returns the shape of the rows that are left.
func (w *walk) takeRun(tensors []*tensor.Tensor, block int) ([]int, []*tensor.Tensor, error) {
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
	w.blocks = max(1, (w.n+int64(block)-1)/int64(block))
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

// words returns the argument as the text declares it.
func (w *walk) words(s *cuda.Source) []uint64 {
	words := []uint64{uint64(w.n), uint64(w.first), uint64(w.rows), uint64(w.blocks), uint64(len(w.size))}
	padded := func(values []int64, n int) {
		for i := range n {
			if i < len(values) {
				words = append(words, uint64(values[i]))
			} else {
				words = append(words, 0)
			}
		}
	}
	padded(w.size, cuda.MaxDims)
	for i := range s.Operands {
		padded(w.step[i], cuda.MaxDims)
	}
	padded(w.run, s.Operands)
	for _, at := range w.at {
		words = append(words, uint64(at))
	}
	for i := range max(1, len(s.Reduces)) {
		if i < len(w.partial) {
			words = append(words, uint64(w.partial[i]))
		} else {
			words = append(words, 0)
		}
	}
	words = append(words, uint64(w.failed))
	words = append(words, w.number...)
	if len(w.number) == 0 {
		words = append(words, 0)
	}
	return words
}
