package tensor

import "unsafe"

// MaxOperands is the most tensors a Loop walks at once.
const MaxOperands = 8

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
	count    int              // dimensions
	inline   [6]loopDim       // innermost first
	more     []loopDim        // all of them where they are too many for inline
	next     int              // linear position of the next run
	limit    int              // where the walk ends
	offset   [MaxOperands]int // bytes from base to the first element of the current run
	walking  bool             // offset and the positions are those of the run before next
}

type loopDim struct {
	size int
	at   int // position of the current run
	step [MaxOperands]int
}

// Init prepares a walk over the operands, each of which must broadcast to shape. ordered keeps the
// row-major order of elements; otherwise any order that is the same for all operands may be used.
func (l *Loop) Init(shape []int, ordered bool, operands ...*Tensor) {
	for i, t := range operands {
		l.base[i] = t.DataPtr()
	}
	l.InitSteps(shape, ordered, operands...)
}

// InitSteps is Init without the addresses of the operands, for walks that others do: Base and Ptr are not set.
func (l *Loop) InitSteps(shape []int, ordered bool, operands ...*Tensor) {
	l.operands = len(operands)
	l.count, l.more = 0, nil
	if len(shape) > len(l.inline) {
		l.more = make([]loopDim, len(shape))
	}
	dims := l.room()
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
		dims[l.count] = dim
		l.count++
	}
	if !ordered {
		l.sortDims()
	}
	l.joinDims()
	if l.count == 0 {
		dims[0], l.count = loopDim{size: 1}, 1
	}
	l.Step = dims[0].step
	l.next, l.limit, l.walking = 0, total, false
}

// room returns the memory of the dimensions.
func (l *Loop) room() []loopDim {
	if l.more != nil {
		return l.more
	}
	return l.inline[:]
}

// sortDims puts dimensions with smaller steps first. Operands decide in their order; a step of zero does not vote.
func (l *Loop) sortDims() {
	dims := l.room()[:l.count]
	for i := 1; i < len(dims); i++ {
		for j := i; j > 0 && l.fartherThan(&dims[j-1], &dims[j]); j-- {
			dims[j-1], dims[j] = dims[j], dims[j-1]
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
	if l.count < 2 {
		return
	}
	dims := l.room()[:l.count]
	last := 0
	for d := 1; d < len(dims); d++ {
		if l.joinable(&dims[last], &dims[d]) {
			dims[last].size *= dims[d].size
			continue
		}
		last++
		dims[last] = dims[d]
	}
	l.count = last + 1
}

func (l *Loop) joinable(inner, outer *loopDim) bool {
	for i := range l.operands {
		if outer.step[i] != inner.step[i]*inner.size {
			return false
		}
	}
	return true
}

// Rows is a walk over rows of elements side by side.
type Rows struct {
	Width, Rows int
	Once        uint32 // the operands that have one row for all
	Single      uint32 // the operands that have one element for each row
	Uniform     uint32 // the operands that have one element for all
}

// Rows reports whether the walk is one over rows, which the other operands have one behind the other.
func (l *Loop) Rows(size func(operand int) int) (r Rows, ok bool) {
	if l.count != 2 {
		return r, false
	}
	dims := l.room()
	inner, outer := &dims[0], &dims[1]
	r.Width, r.Rows = inner.size, outer.size
	for i := range l.operands {
		switch {
		case inner.step[i] == 0 && outer.step[i] == 0:
			r.Uniform |= 1 << i
		case inner.step[i] == 0 && outer.step[i] == size(i):
			r.Single |= 1 << i
		case inner.step[i] != size(i):
			return r, false
		case outer.step[i] == 0:
			r.Once |= 1 << i
		case outer.step[i] != inner.step[i]*inner.size:
			return r, false
		}
	}
	return r, true
}

// Dims returns how many dimensions are walked, innermost first.
func (l *Loop) Dims() int { return l.count }

// Dim returns the size of a dimension and the bytes between its elements, by operand.
func (l *Loop) Dim(d int) (size int, step *[MaxOperands]int) {
	dim := &l.room()[d]
	return dim.size, &dim.step
}

// Base returns where an operand begins.
func (l *Loop) Base(operand int) unsafe.Pointer { return l.base[operand] }

// Seek restricts the walk to the elements from start to end of its order.
func (l *Loop) Seek(start, end int) { l.next, l.limit, l.walking = start, end, false }

// Len returns the number of elements from the current position to the end.
func (l *Loop) Len() int { return l.limit - l.next }

// Next moves to the next run and reports whether there is one.
func (l *Loop) Next() bool {
	if l.next >= l.limit {
		return false
	}
	if l.walking {
		l.advance()
	} else {
		l.locate()
	}
	dim := &l.room()[0]
	l.N = min(dim.size-dim.at, l.limit-l.next)
	l.next += l.N
	for i := range l.operands {
		l.Ptr[i] = unsafe.Add(l.base[i], l.offset[i])
	}
	return true
}

// locate finds the run that contains position next.
func (l *Loop) locate() {
	l.walking = true
	l.offset = [MaxOperands]int{}
	rest := l.next
	dims := l.room()[:l.count]
	for d := range dims {
		dim := &dims[d]
		dim.at = rest
		if d+1 < len(dims) {
			rest, dim.at = rest/dim.size, rest%dim.size
		}
		for i := range l.operands {
			l.offset[i] += dim.at * dim.step[i]
		}
	}
}

// advance goes to the start of the run behind the current one.
func (l *Loop) advance() {
	dims := l.room()[:l.count]
	if first := &dims[0]; first.at != 0 {
		for i := range l.operands {
			l.offset[i] -= first.at * first.step[i]
		}
		first.at = 0
	}
	for d := 1; d < len(dims); d++ {
		dim := &dims[d]
		if dim.at++; dim.at < dim.size {
			for i := range l.operands {
				l.offset[i] += dim.step[i]
			}
			return
		}
		dim.at = 0
		for i := range l.operands {
			l.offset[i] -= (dim.size - 1) * dim.step[i]
		}
	}
}
