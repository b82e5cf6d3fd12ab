package launch

import (
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// gathered is how many elements that do not lie side by side are gathered at once.
const gathered = 512

// runStrided walks operands that do not lie in memory in one way.
func (p *Program) runStrided(tensors []*tensor.Tensor, params []tensor.Scalar, n int) {
	if n >= turnedFrom && p.runTurned(tensors, params) {
		return
	}
	var l tensor.Loop
	l.Init(tensors[0].Shape(), p.ordered, tensors...)
	if width, _ := l.Dim(0); width < shortestGapRow && p.runShortRows(&l, params) {
		return
	}
	uniform := uint32(0)
	for i := p.outputs; i < p.operands; i++ {
		if l.Step[i] == 0 {
			uniform |= 1 << (i - p.outputs)
		}
	}
	f := p.function(uniform)
	if f == nil {
		p.evaluate(tensors, params)
		return
	}
	if r, ok := p.gapRows(f, uniform, &l); ok {
		r.run(params)
		return
	}
	if p.runShortRows(&l, params) {
		return
	}
	if n <= chunk || parallel.NumThreads() == 1 {
		p.stridedRange(f, tensors, params, 0, n)
		return
	}
	p.parallelStrided(f, slices.Clone(tensors), slices.Clone(params), n) // the caller's may be on its stack
}

// turnedFrom is the number of elements from which an input that lies across the first output is transposed first: to gather each
// row from as many places as it has elements takes several times as long.
const turnedFrom = 1 << 14

// runTurned runs with copies of the inputs that lie across the first output; done is false where there are none.
func (p *Program) runTurned(tensors []*tensor.Tensor, params []tensor.Scalar) (done bool) {
	var room [maxOperands]*tensor.Tensor
	turned := room[:copy(room[:], tensors)]
	out := tensors[0]
	for i := p.outputs; i < p.operands; i++ {
		if !liesAcross(tensors[i], out) {
			continue
		}
		made, err := tensor.EmptyStrided(out.Shape(), out.Strides(), tensors[i].DType())
		if err != nil || tensor.Copy(made, tensors[i]) != nil {
			continue // where there is no room for a copy, it is read where it lies
		}
		turned[i], done = made, true
	}
	if done {
		p.Run(turned, params)
	}
	for i := p.outputs; i < p.operands; i++ {
		if turned[i] != tensors[i] {
			turned[i].Release()
		}
	}
	return done
}

// liesAcross reports whether t has the elements of a row of out, dense tensors of one shape, apart from each other.
func liesAcross(t, out *tensor.Tensor) bool {
	if t.IsContiguous() && out.IsContiguous() || !tensor.SameShape(t.Shape(), out.Shape()) || t.DType().Size() > 8 {
		return false
	}
	for d, n := range out.Shape() {
		if n > 1 && out.Strides()[d] == 1 {
			return t.Strides()[d] > 1 && t.IsNonOverlappingAndDense() && out.IsNonOverlappingAndDense()
		}
	}
	return false
}

func (p *Program) parallelStrided(f *function, tensors []*tensor.Tensor, params []tensor.Scalar, n int) {
	parallel.For(n, chunk, func(lo, hi int) { p.stridedRange(f, tensors, params, lo, hi) })
}

// stridedRange runs over the elements from lo to hi in the order of the walk.
func (p *Program) stridedRange(f *function, tensors []*tensor.Tensor, params []tensor.Scalar, lo, hi int) {
	var l tensor.Loop
	l.Init(tensors[0].Shape(), p.ordered, tensors...)
	l.Seek(lo, hi)
	staged := 0 // operands whose elements lie apart
	for _, operand := range f.Pointers {
		if l.Step[operand] != p.size[operand] {
			staged++
		}
	}
	s := takeScratch(f.Scratch + staged*gathered*maxElement)
	defer s.release()
	args := &s.args
	p.setParams(args, params)
	var watch parallel.Watch
	for l.Next() {
		at := p.numbers
		for i := p.outputs; i < p.operands; i++ {
			if l.Step[i] == 0 {
				at = p.setNumber(args, at, i, l.Ptr[i])
			}
		}
		if staged == 0 {
			for i, operand := range f.Pointers {
				args.Ptr[i] = l.Ptr[operand]
			}
			p.call(f, args, lo, l.N)
			watch.Did(l.N)
		} else {
			p.callStaged(f, args, &l, &watch, lo)
		}
		lo += l.N
	}
}

// maxElement is the size of the largest element that machine code handles.
const maxElement = 16

// callStaged runs over a run of elements of which some operands' lie apart: they pass through tiles.
func (p *Program) callStaged(f *function, args *amd64.Args, l *tensor.Loop, watch *parallel.Watch, first int) {
	for done := 0; done < l.N; done += gathered {
		m := min(gathered, l.N-done)
		room := unsafe.Add(args.Scratch, f.Scratch)
		for i, operand := range f.Pointers {
			at := unsafe.Add(l.Ptr[operand], done*l.Step[operand])
			if l.Step[operand] == p.size[operand] {
				args.Ptr[i] = at
				continue
			}
			if operand >= p.outputs {
				d := p.memory[operand]
				tensor.ConverterOf(d, d)(room, p.size[operand], at, l.Step[operand], m)
			}
			args.Ptr[i] = room
			room = unsafe.Add(room, gathered*maxElement)
		}
		args.Count, args.First = int64(m), int64(first+done)
		run(f.Function, args)
		for i, operand := range f.Pointers[:p.outputs] {
			if l.Step[operand] != p.size[operand] {
				d := p.memory[operand]
				tensor.ConverterOf(d, d)(unsafe.Add(l.Ptr[operand], done*l.Step[operand]), l.Step[operand], args.Ptr[i], p.size[operand], m)
			}
		}
		watch.Did(m)
	}
}
