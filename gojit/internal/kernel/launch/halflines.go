package launch

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// halfLine is what a vector of AVX2 holds. Vectors of AVX512 are whole cache lines: in a row that begins in the middle of one, each of
// them lies in two.
const halfLine = tensor.Alignment / 2

// streamsFrom is the number of bytes from which operands do not come from the nearest caches. Then several streams of them come
// sooner by halves of lines (two sums of a million float32 in 134 us, not 144), one that is only read, too (by 1 to 3 %); one that is
// read and one that is written do not.
const streamsFrom = 1 << 21

// forRows returns the function for n elements in each of some rows. It is the one with shorter vectors where f waits for memory, and
// rows begin in the middle of cache lines or there are large streams.
func (p *Program) forRows(f *function, uniform uint32, operands []Row, rows, n int) *function {
	if f.most > chunk && (rows > 1 && p.inMiddleOfLines(operands) || p.hasLargeStreams(f, rows*n)) {
		return p.halfLines(f, uniform)
	}
	return f
}

// forStreams returns the function for n elements of contiguous operands, in the same way.
func (p *Program) forStreams(f *function, uniform uint32, n int) *function {
	if f.most > chunk && p.hasLargeStreams(f, n) {
		return p.halfLines(f, uniform)
	}
	return f
}

// hasLargeStreams reports whether the operands are streams for which shorter vectors are worth it.
func (p *Program) hasLargeStreams(f *function, n int) bool {
	if n < streamsFrom/maxElement || len(p.reduces) == 0 && len(f.Pointers) < 3 {
		return false
	}
	bytes := 0
	for _, operand := range f.Pointers {
		bytes += n * p.size[operand]
	}
	return bytes >= streamsFrom
}

// halfLines returns the function with vectors of half a line, or f: where there are too few registers for shorter vectors, they cost more than they save.
func (p *Program) halfLines(f *function, uniform uint32) *function {
	if asm.Target() != asm.AVX512 || !p.isSameForHalfLines() {
		return f
	}
	return p.variant(f, &f.halfLines, func() (*amd64.Function, error) {
		short, err := amd64.Compile(p.expanded, uniform, asm.AVX2)
		if err == nil && short.Scratch > f.Scratch {
			short = f.Function
		}
		return short, err
	})
}

// variant returns the function that is kept at a place, compiled the first time. Where it cannot be, f serves as well.
func (p *Program) variant(f *function, place *atomic.Pointer[function], compile func() (*amd64.Function, error)) *function {
	made := place.Load()
	if made == nil {
		made = &function{most: f.most}
		code, err := compile()
		if made.Function = code; err != nil {
			logCompiled(p.kernel, nil, err)
			made.Function = f.Function
		}
		place.Store(made)
	}
	return made
}

// inMiddleOfLines reports whether rows begin at halves of cache lines, and not all at whole ones.
func (p *Program) inMiddleOfLines(operands []Row) bool {
	places := uintptr(0)
	for i := range operands {
		reduces := i < p.outputs && p.kernel.Outputs[i].Reduce != kernel.NoReduce
		if o := &operands[i]; !o.Single && !reduces {
			places |= uintptr(o.Ptr) | uintptr(o.Step)
		}
	}
	return places%tensor.Alignment == halfLine
}

// isSameForHalfLines reports whether the kernel's instructions give the same bits with any vectors, and shorter ones are no dearer.
func (p *Program) isSameForHalfLines() bool {
	for i := range p.operands {
		if t := p.memory[i]; t != tensor.Float32 && t != tensor.Float64 {
			return false
		}
	}
	for i := range p.expanded.Instrs {
		switch p.expanded.Instrs[i].Op {
		case kernel.Load, kernel.Param, kernel.Const, kernel.Neg, kernel.Abs, kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Sqrt, kernel.Min, kernel.Max:
		default:
			return false
		}
	}
	for _, o := range p.kernel.Outputs {
		if o.Reduce != kernel.NoReduce && o.Reduce != kernel.ReduceSum && o.Reduce != kernel.ReduceProduct {
			return false
		}
	}
	return true
}
