package kernel

import (
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// reduction evaluates a ReduceOp over values of a type.
type reduction struct {
	loop     tileLoop
	dtype    tensor.DType
	lanes    int
	identity uint64 // bits of the real part
}

func newReduction(op ReduceOp, t tensor.DType) *reduction {
	bits, _ := NumberBits(t, op.Identity(t))
	return &reduction{loop: Loops[op.Op()][t], dtype: t, lanes: ReduceLanes(t), identity: bits}
}

// start gives the first n lanes the identity.
func (r *reduction) start(lanes unsafe.Pointer, n int) {
	fillRegister(lanes, r.dtype, r.identity, 0, n)
}

// add takes n values, of which the first belongs to lane 0.
func (r *reduction) add(lanes, values unsafe.Pointer, n int) {
	for {
		m := min(n, r.lanes)
		r.loop(lanes, lanes, values, lanes, m)
		if n -= m; n == 0 {
			return
		}
		values = unsafe.Add(values, m*r.dtype.Size())
	}
}

// fold combines the lanes in the first one.
func (r *reduction) fold(lanes unsafe.Pointer) {
	for n := r.lanes / 2; n > 0; n /= 2 {
		r.loop(lanes, lanes, unsafe.Add(lanes, n*r.dtype.Size()), lanes, n)
	}
}

// RunRow computes a run of n elements, for each output that reduces one element. at holds the address
// of the first element of each operand, outputs first, and steps the bytes from one element to the
// next: 0 for an input that has one for all.
func (p *Program) RunRow(at []unsafe.Pointer, steps []int, n int, params []tensor.Scalar) {
	s := p.takeScratch()
	defer scratches.Put(s)
	p.prepare(s, params, min(n, tileSize))
	p.runRow(s, at, steps, n)
}

func (p *Program) runRow(s *scratch, at []unsafe.Pointer, steps []int, n int) {
	var results [maxOperands][2]uint64 // of the blocks so far
	clear(s.filled[:])
	var stride [maxOperands]int
	copy(stride[:], steps)
	for first := 0; first == 0 || first < n; first += p.block {
		var block [maxOperands]unsafe.Pointer
		for i := range p.operands {
			block[i] = unsafe.Add(at[i], stride[i]*first)
			if r := p.reduce[i]; r != nil {
				r.start(unsafe.Pointer(&s.lanes[i]), r.lanes)
				block[i], stride[i] = at[i], 0
			}
		}
		p.runTiles(s, &block, &stride, first, min(n-first, p.block))
		for i, r := range p.reduce[:p.outputs] {
			if r == nil {
				continue
			}
			lanes, result := unsafe.Pointer(&s.lanes[i]), unsafe.Pointer(&results[i])
			r.fold(lanes)
			if first == 0 {
				copy(results[i][:], s.lanes[i][:])
			} else {
				r.loop(result, result, lanes, result, 1)
			}
		}
	}
	for i, r := range p.reduce[:p.outputs] {
		if r != nil {
			p.broadcast[i](at[i], 0, unsafe.Pointer(&results[i]), 0, 1)
		}
	}
}

// runRows runs over the last dimension, several rows at once.
func (p *Program) runRows(tensors []*tensor.Tensor, params []tensor.Scalar) {
	shape := slices.Clone(tensors[0].Shape())
	if len(shape) == 0 {
		shape = []int{1}
	}
	last := len(shape) - 1
	for _, t := range tensors {
		if s := t.Shape(); len(s) > 0 && s[len(s)-1] != 1 {
			shape[last] = s[len(s)-1]
		}
	}
	n := shape[last]
	rows, _ := tensor.Numel(shape[:last]) // no more than a tensor has
	ts, ps := slices.Clone(tensors), slices.Clone(params)
	parallel.For(rows, max(1, parallelGrain/max(n, 1)), func(lo, hi int) {
		s := p.takeScratch()
		defer scratches.Put(s)
		p.prepare(s, ps, min(n, tileSize))
		at, steps := make([]unsafe.Pointer, len(ts)), make([]int, len(ts))
		for row := lo; row < hi; row++ {
			for i, t := range ts {
				at[i], steps[i] = rowOf(t, shape, row)
			}
			p.runRow(s, at, steps, n)
		}
	})
}

// rowOf returns the first element of a row of a tensor that is broadcast to a shape, and the bytes
// between its elements.
func rowOf(t *tensor.Tensor, shape []int, row int) (at unsafe.Pointer, step int) {
	if t.Numel() == 0 {
		return t.DataPtr(), 0 // there is nothing to point at
	}
	offset, own, strides := 0, t.Shape(), t.Strides()
	missing := len(shape) - len(own)
	if n := len(own); n > 0 && own[n-1] != 1 {
		step = strides[n-1] * t.DType().Size()
	}
	for d := len(shape) - 2; d >= missing && d >= 0; d-- {
		if own[d-missing] != 1 {
			offset += row % shape[d] * strides[d-missing]
		}
		row /= shape[d]
	}
	return unsafe.Add(t.DataPtr(), offset*t.DType().Size()), step
}
