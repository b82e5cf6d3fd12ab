package kernel

import (
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// scratch is the memory of one run.
type scratch struct {
	registers []unsafe.Pointer
	memory    []byte
	lanes     [maxOperands][reduceBytes / 8]uint64 // partial results of each output that reduces
	filled    [maxOperands]int                     // elements of a broadcast operand in its register
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

func (p *Program) takeScratch() *scratch {
	s := scratches.Get().(*scratch)
	if need := p.registers * tileBytes; len(s.memory) < need {
		s.memory = make([]byte, need+tensor.Alignment)
		s.registers = nil
	}
	for len(s.registers) < p.registers {
		base := unsafe.Pointer(&s.memory[0])
		align := int(-uintptr(base) % tensor.Alignment)
		s.registers = append(s.registers, unsafe.Add(base, align+len(s.registers)*tileBytes))
	}
	return s
}

// prepare fills the registers of constants and parameters for tiles of up to n elements.
func (p *Program) prepare(s *scratch, params []tensor.Scalar, n int) {
	clear(s.filled[:])
	for i := range p.constants {
		in := &p.constants[i]
		re, im := in.Imm, in.Imm2
		if in.Op == Param {
			re, im = NumberBits(in.Type, params[in.Imm])
		}
		fillRegister(s.registers[p.constReg[i]], in.Type, re, im, n)
	}
}

func fillRegister(d unsafe.Pointer, t tensor.DType, re, im uint64, n int) {
	switch t.Size() {
	case 1:
		fillTile(d, uint8(re), n)
	case 2:
		fillTile(d, uint16(re), n)
	case 4:
		fillTile(d, uint32(re), n)
	case 8:
		if t == tensor.Complex64 {
			re |= im << 32
		}
		fillTile(d, re, n)
	default:
		fillTile(d, [2]uint64{re, im}, n)
	}
}

func fillTile[T any](d unsafe.Pointer, v T, n int) {
	z := unsafe.Slice((*T)(d), n)
	for i := range z {
		z[i] = v
	}
}

// runTiles computes n elements, of which the first is number first. at and steps give each operand's
// first element and the bytes between elements; at is changed.
func (p *Program) runTiles(s *scratch, at *[maxOperands]unsafe.Pointer, steps *[maxOperands]int, first, n int) {
	var registers [24]unsafe.Pointer
	regs := registers[:0]
	if p.registers > len(registers) {
		regs = make([]unsafe.Pointer, 0, p.registers)
	}
	regs = append(regs, s.registers[:p.registers]...)
	var watch parallel.Watch
	for n > 0 {
		m := min(n, tileSize)
		p.loadTile(s, regs, at, steps, m)
		direct := p.direct
		if direct >= 0 && steps[direct] != p.size[direct] {
			direct = -1
		}
		for i := range p.steps {
			st := &p.steps[i]
			d := regs[st.d]
			if direct >= 0 && i == len(p.steps)-1 {
				d = at[direct]
			}
			st.run(d, regs, first, m)
		}
		for i := range p.outputs {
			if i != direct {
				from := regs[p.load[i]]
				if direct >= 0 && p.load[i] == p.load[direct] {
					from = at[direct]
				}
				if r := p.reduce[i]; r != nil {
					r.add(unsafe.Pointer(&s.lanes[i]), from, m)
				} else {
					p.broadcast[i](at[i], steps[i], from, p.loadSize[i], m)
				}
			}
		}
		if n -= m; n == 0 {
			return // a pointer past the last element would name another object to the collector
		}
		watch.Did(m)
		first += m
		for i := range p.operands {
			at[i] = unsafe.Add(at[i], steps[i]*m)
		}
	}
}

// run applies the step to n elements, of which the first is number first, and writes them to d.
func (st *step) run(d unsafe.Pointer, regs []unsafe.Pointer, first, n int) {
	switch {
	case st.loop != nil:
		st.loop(d, regs[st.a], regs[st.b], regs[st.c], n)
	case st.convert != nil:
		st.convert(d, st.to, regs[st.a], st.from, n)
	case st.iota == tensor.Int32:
		fillIota(unsafe.Slice((*int32)(d), n), first)
	default:
		fillIota(unsafe.Slice((*int64)(d), n), first)
	}
}

// loadTile makes the register of every input hold or point to its next m elements.
func (p *Program) loadTile(s *scratch, regs []unsafe.Pointer, at *[maxOperands]unsafe.Pointer, steps *[maxOperands]int, m int) {
	for i := p.outputs; i < p.operands; i++ {
		r := p.load[i]
		switch {
		case r < 0:
		case steps[i] == p.size[i] && p.convert[i] == nil:
			regs[r] = at[i]
		case steps[i] == 0:
			if s.filled[i] < m {
				p.broadcast[i](s.registers[r], p.loadSize[i], at[i], 0, m)
				s.filled[i] = m
			}
		default:
			p.broadcast[i](s.registers[r], p.loadSize[i], at[i], steps[i], m)
		}
	}
}
