package launch

import (
	"sync/atomic"

	"torchjit/gojit/kernel"
	"torchjit/gojit/kernel/amd64"
	"torchjit/gojit/tensor"
)

// halfLine is what a vector of AVX2 holds. Vectors of AVX512 are whole cache lines: in a row that begins in the middle of one, each of
// them lies in two.
const halfLine = tensor.Alignment / 2

// forRows returns the function for rows that begin where given. It is the one with shorter vectors where f waits for memory and some
// rows begin in the middle of a cache line.
func (p *Program) forRows(f *function, uniform uint32, operands []Row) *function {
	if f.most == chunk || amd64.Target() != amd64.AVX512 || !p.inMiddleOfLines(operands) || !p.isSameForHalfLines() {
		return f
	}
	return p.variant(f, &f.halfLines, func() (*amd64.Function, error) { return amd64.Compile(p.expanded, uniform, amd64.AVX2) })
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
		case kernel.Load, kernel.Param, kernel.Const, kernel.Neg, kernel.Abs, kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Sqrt:
		default:
			return false
		}
	}
	for _, o := range p.kernel.Outputs {
		if o.Reduce != kernel.NoReduce && o.Reduce != kernel.ReduceSum {
			return false
		}
	}
	return true
}
