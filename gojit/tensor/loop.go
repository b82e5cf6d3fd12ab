package tensor

import "unsafe"

// MaxOperands is the most tensors a Loop walks at once.
const MaxOperands = 6

// Loop walks several tensors of one shape together, in runs along the innermost dimension.
// Dimensions are reordered so that memory is walked in order and joined where they lie end to end.
//
//	var l Loop
//	l.Init(shape, false, out, a, b)
//	for l.Next() {
//		... l.N elements at l.Ptr[i], l.Step[i] bytes apart
//	}
type Loop struct {
	N    int                         // elements in the run
	Ptr  [MaxOperands]unsafe.Pointer // first element of the run, by operand
	Step [MaxOperands]int            // bytes between elements of the run, by operand

	operands int
	base     [MaxOperands]unsafe.Pointer
	dims     []loopDim // innermost first
	inline   [6]loopDim
	next     int // linear position of the next run
	limit    int // where the walk ends
}

type loopDim struct {
	size, at int
	step     [MaxOperands]int
}

// Init prepares a walk over the operands, each of which must broadcast to shape. ordered keeps the
// row-major order of elements; otherwise any order that is the same for all operands may be used.
func (l *Loop) Init(shape []int, ordered bool, operands ...*Tensor) {
	l.operands = len(operands)
	l.dims = l.inline[:0]
	total := 1
	for d := len(shape) - 1; d >= 0; d-- {
		total *= shape[d]
		if shape[d] == 1 {
			continue
		}
		dim := loopDim{size: shape[d]}
		for i, t := range operands {
			if own := d - (len(shape) - len(t.shape)); own >= 0 && t.shape[own] != 1 {
				dim.step[i] = t.strides[own] * t.dtype.Size()
			}
		}
		l.dims = append(l.dims, dim)
	}
	for i, t := range operands {
		l.base[i] = t.DataPtr()
	}
	if !ordered {
		l.sortDims()
	}
	l.joinDims()
	if len(l.dims) == 0 {
		l.dims = append(l.dims, loopDim{size: 1})
	}
	l.Step = l.dims[0].step
	l.next, l.limit = 0, total
}

// sortDims puts dimensions with smaller steps first. Operands decide in their order; a step of zero does not vote.
func (l *Loop) sortDims() {
	for i := 1; i < len(l.dims); i++ {
		for j := i; j > 0 && l.fartherThan(&l.dims[j-1], &l.dims[j]); j-- {
			l.dims[j-1], l.dims[j] = l.dims[j], l.dims[j-1]
		}
	}
}

func (l *Loop) fartherThan(a, b *loopDim) bool {
	for i := range l.operands {
		switch x, y := a.step[i], b.step[i]; {
		case x == 0 || y == 0 || x == y:
			continue
		default:
			return x > y
		}
	}
	return false
}

func (l *Loop) joinDims() {
	if len(l.dims) < 2 {
		return
	}
	last := 0
	for d := 1; d < len(l.dims); d++ {
		if l.joinable(&l.dims[last], &l.dims[d]) {
			l.dims[last].size *= l.dims[d].size
			continue
		}
		last++
		l.dims[last] = l.dims[d]
	}
	l.dims = l.dims[:last+1]
}

func (l *Loop) joinable(inner, outer *loopDim) bool {
	for i := range l.operands {
		if outer.step[i] != inner.step[i]*inner.size {
			return false
		}
	}
	return true
}

// Seek restricts the walk to the elements from start to end of its order.
func (l *Loop) Seek(start, end int) { l.next, l.limit = start, end }

// Len returns the number of elements from the current position to the end.
func (l *Loop) Len() int { return l.limit - l.next }

// Next moves to the next run and reports whether there is one.
func (l *Loop) Next() bool {
	if l.next >= l.limit {
		return false
	}
	rest := l.next
	l.Ptr = l.base
	for d := range l.dims {
		dim := &l.dims[d]
		at := rest
		if d+1 < len(l.dims) {
			rest, at = rest/dim.size, rest%dim.size
		}
		if d == 0 {
			l.N = min(dim.size-at, l.limit-l.next)
		}
		if at == 0 {
			continue
		}
		for i := range l.operands {
			l.Ptr[i] = unsafe.Add(l.Ptr[i], at*dim.step[i])
		}
	}
	l.next += l.N
	return true
}
