package launch

import (
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// gapRows is a walk over rows of elements side by side, with gaps between the rows. One call of machine code handles
// those along the second dimension.
type gapRows struct {
	program *Program
	f       *function
	loop    tensor.Loop
	width   int // elements in a row
	inner   int // rows along the second dimension
	rows    int // all rows
}

// longestGapRow is the most elements of such rows: the call is nothing beside longer ones.
const longestGapRow = 1 << 14

// shortestGapRow is the number of elements below which rows are rather brought together, where that is possible.
const shortestGapRow = 64

// gapRows returns the walk where it is of that kind.
func (p *Program) gapRows(f *function, uniform uint32, l *tensor.Loop) (r gapRows, ok bool) {
	if l.Dims() < 2 || len(p.reduces) > 0 {
		return r, false
	}
	width, step := l.Dim(0)
	if width > longestGapRow {
		return r, false
	}
	r = gapRows{program: p, loop: *l, width: width, rows: 1}
	var operands [maxOperands]Row
	inner, skip := l.Dim(1)
	r.inner = inner
	for i := range p.operands {
		operands[i] = Row{Ptr: l.Base(i), Step: skip[i], Single: step[i] == 0}
	}
	for d := 1; d < l.Dims(); d++ {
		size, outer := l.Dim(d)
		r.rows *= size
		for i := p.outputs; i < p.operands; i++ {
			if step[i] == 0 && outer[i] != 0 && !p.readsAsItLies(i) {
				return r, false
			}
		}
	}
	for _, operand := range f.Pointers {
		if step[operand] != p.size[operand] {
			return r, false
		}
	}
	r.f = p.forRows(f, uniform, operands[:p.operands], r.rows, width)
	return r, true
}

func (r *gapRows) run(params []tensor.Scalar) {
	if r.width*r.rows <= chunk || parallel.NumThreads() == 1 {
		r.part(params, 0, r.rows)
		return
	}
	whole, numbers := *r, slices.Clone(params) // the caller's may be on its stack
	parallel.For(r.rows, max(1, chunk/r.width), func(lo, hi int) { whole.part(numbers, lo, hi) })
}

// part handles the rows from lo to hi.
func (r *gapRows) part(params []tensor.Scalar, lo, hi int) {
	p := r.program
	s := takeScratch(r.f.Scratch)
	defer s.release()
	args := &s.args
	p.setParams(args, params)
	_, step := r.loop.Dim(0)
	_, skip := r.loop.Dim(1)
	var operands [maxOperands]Row
	most := max(1, r.f.most/r.width)
	var watch parallel.Watch
	for row := lo; row < hi; {
		n := min(hi-row, r.inner-row%r.inner, most)
		for i, operand := range r.f.Pointers {
			args.Ptr[i] = r.start(operand, row)
			args.Skip[i] = int64(skip[operand])
		}
		for i := p.outputs; i < p.operands; i++ {
			operands[i] = Row{Ptr: r.start(i, row), Step: skip[i], Single: step[i] == 0}
		}
		p.setSingles(args, operands[:], 0)
		args.Count, args.First, args.Rows = int64(r.width), int64(row*r.width), int64(n)
		run(r.f.Function, args)
		watch.Did(n * r.width)
		row += n
	}
	args.Rows, args.Single = 0, [amd64.MaxPointers]unsafe.Pointer{}
}

// start returns where a row of an operand begins.
func (r *gapRows) start(operand, row int) unsafe.Pointer {
	at := r.loop.Base(operand)
	for d := 1; d < r.loop.Dims(); d++ {
		size, step := r.loop.Dim(d)
		at = unsafe.Add(at, row%size*step[operand])
		row /= size
	}
	return at
}
