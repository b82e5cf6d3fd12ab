package launch

import (
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// shortRows is a walk over short rows, of which some inputs have one for all, a bias of the last dimension for
// example, or one element for each. These are written to buffers as often as several rows use them, so that the rows
// can be handled at once.
type shortRows struct {
	tensor.Rows
	program *Program
	base    [maxOperands]unsafe.Pointer
}

// Rows of up to longestShort elements are handled several at once, about elementsTogether.
const (
	longestShort     = 512
	elementsTogether = 2048
)

// shortRows returns the walk where it is of that kind.
func (p *Program) shortRows(l *tensor.Loop) (r shortRows, ok bool) {
	r.program = p
	r.Rows, ok = l.Rows(func(i int) int { return p.size[i] })
	outputs := uint32(1)<<p.outputs - 1
	if !ok || r.Width > longestShort || r.Rows.Rows < 4 || r.Once|r.Single == 0 || (r.Once|r.Single|r.Uniform)&outputs != 0 {
		return r, false
	}
	for i := range p.operands {
		r.base[i] = l.Base(i)
	}
	return r, true
}

// runShortRows runs over a walk of that kind; done is false where it is another.
func (p *Program) runShortRows(l *tensor.Loop, params []tensor.Scalar) (done bool) {
	r, ok := p.shortRows(l)
	if !ok {
		return false
	}
	f := p.function(r.Uniform >> p.outputs)
	if f != nil {
		r.run(f, params)
	}
	return f != nil
}

func (r *shortRows) run(f *function, params []tensor.Scalar) {
	if r.Width*r.Rows.Rows <= chunk || parallel.NumThreads() == 1 {
		r.part(f, params, 0, r.Rows.Rows)
		return
	}
	whole, numbers := *r, slices.Clone(params) // the caller's may be on its stack
	parallel.For(r.Rows.Rows, max(1, chunk/r.Width), func(lo, hi int) { whole.part(f, numbers, lo, hi) })
}

// part handles the rows from lo to hi.
func (r *shortRows) part(f *function, params []tensor.Scalar, lo, hi int) {
	p := r.program
	together := min(max(1, elementsTogether/r.Width), hi-lo)
	s := takeScratch(f.Scratch + p.operands*together*r.Width*maxElement)
	defer s.release()
	args := &s.args
	p.setParams(args, params)
	at := p.numbers
	var buffers [maxOperands]unsafe.Pointer
	room := unsafe.Add(args.Scratch, f.Scratch)
	for i := p.outputs; i < p.operands; i++ {
		switch bit := uint32(1) << i; {
		case r.Uniform&bit != 0:
			at = p.setNumber(args, at, i, r.base[i])
		case (r.Once|r.Single)&bit != 0:
			buffers[i] = room
			room = unsafe.Add(room, together*r.Width*maxElement)
			if r.Once&bit != 0 {
				repeatRow(buffers[i], r.base[i], r.Width*p.size[i], together)
			}
		}
	}
	var watch parallel.Watch
	for row := lo; row < hi; row += together {
		n := min(together, hi-row)
		for i, operand := range f.Pointers {
			bit := uint32(1) << operand
			if (r.Once|r.Single)&bit == 0 {
				args.Ptr[i] = unsafe.Add(r.base[operand], row*r.Width*p.size[operand])
				continue
			}
			args.Ptr[i] = buffers[operand]
			if r.Single&bit != 0 {
				spread(buffers[operand], unsafe.Add(r.base[operand], row*p.size[operand]), p.size[operand], n, r.Width)
			}
		}
		p.call(f, args, row*r.Width, n*r.Width)
		watch.Did(n * r.Width)
	}
}

// repeatRow writes so many bytes several times one behind the other.
func repeatRow(to, from unsafe.Pointer, bytes, times int) {
	all := unsafe.Slice((*byte)(to), bytes*times)
	for done := copy(all, unsafe.Slice((*byte)(from), bytes)); done < len(all); {
		done += copy(all[done:], all[:done])
	}
}

// spread writes each of n elements width times.
func spread(to, from unsafe.Pointer, size, n, width int) {
	switch {
	case size == 16:
		spreadOf(unsafe.Slice((*[2]uint64)(to), n*width), unsafe.Slice((*[2]uint64)(from), n), width)
	case size == 8:
		spreadOf(unsafe.Slice((*uint64)(to), n*width), unsafe.Slice((*uint64)(from), n), width)
	case size == 4 && width%2 == 0: // two at once
		all, elements := unsafe.Slice((*uint64)(to), n*width/2), unsafe.Slice((*uint32)(from), n)
		for i, v := range elements {
			fill(all[i*width/2:][:width/2], uint64(v)|uint64(v)<<32)
		}
	case size == 4:
		spreadOf(unsafe.Slice((*uint32)(to), n*width), unsafe.Slice((*uint32)(from), n), width)
	case size == 2:
		spreadOf(unsafe.Slice((*uint16)(to), n*width), unsafe.Slice((*uint16)(from), n), width)
	default:
		spreadOf(unsafe.Slice((*uint8)(to), n*width), unsafe.Slice((*uint8)(from), n), width)
	}
}

func spreadOf[T any](to, from []T, width int) {
	for i, v := range from {
		fill(to[i*width:][:width], v)
	}
}

func fill[T any](to []T, v T) {
	for len(to) >= 8 {
		eight := (*[8]T)(to)
		eight[0], eight[1], eight[2], eight[3] = v, v, v, v
		eight[4], eight[5], eight[6], eight[7] = v, v, v, v
		to = to[8:]
	}
	for i := range to {
		to[i] = v
	}
}
