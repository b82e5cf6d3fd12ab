package routine

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// block writes a block, number i of those that follow each other.
func (w *routineWriter) block(i, b int) {
	block := &w.f.Blocks[b]
	w.Bind(w.labels[b])
	for j := range block.Steps {
		if s := &block.Steps[j]; s.Op != kernel.Const && !w.fused[s.Value] {
			w.step(s)
		}
	}
	e := &block.End
	switch e.Kind {
	case kernel.Jump:
		w.leaveTo(i, &e.To[0], w.at[e.To[0].Block] == i+1)
	case kernel.Branch:
		w.branch(i, e)
	case kernel.Return:
		for k, v := range e.Values {
			w.copyTo(w.word(frameValues+k), v)
		}
		w.stop(kernel.Finished, 0)
	case kernel.Trap:
		w.stop(kernel.Trapped, int64(e.Code))
	}
}

// branch writes the end of block i that depends on a condition.
func (w *routineWriter) branch(i int, e *kernel.End) {
	if no := &e.To[1]; w.at[no.Block] > i && len(w.transfers(no)) == 0 {
		w.jumpUnless(e.Cond, w.labels[no.Block])
		w.leaveTo(i, &e.To[0], w.at[e.To[0].Block] == i+1)
		return
	}
	no := w.NewLabel()
	w.jumpUnless(e.Cond, no)
	w.leaveTo(i, &e.To[0], false)
	w.Bind(no)
	w.leaveTo(i, &e.To[1], w.at[e.To[1].Block] == i+1)
}

// leaveTo goes from block i to another one, which may be next, and whose parameters get their values. A
// way back counts the budget down.
func (w *routineWriter) leaveTo(i int, to *kernel.Edge, next bool) {
	w.moveAll(w.transfers(to))
	if w.at[to.Block] <= i {
		p := pause{w.NewLabel(), w.NewLabel()}
		w.pauses = append(w.pauses, p)
		w.Dec(budgetReg)
		w.JumpIf(asm.LessEqual, p.stub)
		w.Bind(p.resume)
	}
	if !next {
		w.Jump(w.labels[to.Block])
	}
}

// transfer is a value that goes to a place.
type transfer struct {
	to   location
	from kernel.Value
	over location // where the value is: its own place, or a scratch register
}

// transfers returns what has to be moved on the way to a block.
func (w *routineWriter) transfers(to *kernel.Edge) (pending []transfer) {
	for k, p := range w.f.Blocks[to.Block].Params {
		if at, from := w.where[p], w.where[to.Args[k]]; at.kind != nowhere && at != from {
			pending = append(pending, transfer{at, to.Args[k], from})
		}
	}
	return pending
}

// moveAll gives places their values, all at once.
func (w *routineWriter) moveAll(pending []transfer) {
	for len(pending) > 0 {
		done := -1
		for k, m := range pending {
			if !isRead(pending, m.to, k) {
				done = k
				break
			}
		}
		if done < 0 { // cycles are left: one value steps aside
			aside := location{inWhole, int32(asm.RDX)}
			from := pending[0].over
			w.transfer(transfer{aside, pending[0].from, from})
			for k := range pending {
				if pending[k].over == from {
					pending[k].over = aside
				}
			}
			continue
		}
		w.transfer(pending[done])
		pending = append(pending[:done], pending[done+1:]...)
	}
}

// isRead reports whether a transfer other than number k has yet to read a place.
func isRead(pending []transfer, l location, k int) bool {
	for j, m := range pending {
		if j != k && m.over == l {
			return true
		}
	}
	return false
}

// transfer moves a value from where it is.
func (w *routineWriter) transfer(m transfer) {
	from, to := m.over, m.to
	switch {
	case from.kind == constant && to.kind == inDouble:
		w.loadDouble(to.reg(), w.makers[m.from].Imm)
	case from.kind == constant && to.kind == inWhole:
		w.MoveImm(to.reg(), int64(w.makers[m.from].Imm))
	case from.kind == constant:
		w.MoveImm(asm.RAX, int64(w.makers[m.from].Imm))
		w.Store(w.slot(to), asm.RAX)
	case from.kind == inWhole && to.kind == inWhole:
		w.Move(to.reg(), from.reg())
	case from.kind == inDouble && to.kind == inDouble:
		w.V(asm.MOVAPS, asm.W128, to.reg(), 0, asm.R(from.reg()))
	case from.kind == inWhole && to.kind == inDouble:
		w.MoveToVector(to.reg(), from.reg(), 8)
	case from.kind == inDouble && to.kind == inWhole:
		w.MoveFromVector(to.reg(), from.reg(), 8)
	case from.kind == inSlot && to.kind == inWhole:
		w.Load(to.reg(), w.slot(from))
	case from.kind == inSlot && to.kind == inDouble:
		w.V(asm.MOVSD, asm.W128, to.reg(), 0, asm.M(w.slot(from)))
	case from.kind == inWhole:
		w.Store(w.slot(to), from.reg())
	case from.kind == inDouble:
		w.V(asm.MOVSDstore, asm.W128, from.reg(), 0, asm.M(w.slot(to)))
	default:
		w.Load(asm.RAX, w.slot(from))
		w.Store(w.slot(to), asm.RAX)
	}
}

// copyTo writes a value to memory.
func (w *routineWriter) copyTo(m asm.Mem, v kernel.Value) {
	if l := w.where[v]; l.kind == inDouble {
		w.V(asm.MOVSDstore, asm.W128, l.reg(), 0, asm.M(m))
		return
	}
	w.Store(m, w.whole(v, asm.RAX))
}

// whole returns a general register with a value, scratch where it is in none.
func (w *routineWriter) whole(v kernel.Value, scratch asm.Reg) asm.Reg {
	switch l := w.where[v]; l.kind {
	case inWhole:
		return l.reg()
	case inDouble:
		w.MoveFromVector(scratch, l.reg(), 8)
	case constant:
		w.MoveImm(scratch, int64(w.makers[v].Imm))
	default:
		w.Load(scratch, w.slot(l))
	}
	return scratch
}

// double returns a vector register with a value, scratch where it is in none.
func (w *routineWriter) double(v kernel.Value, scratch asm.Reg) asm.Reg {
	switch l := w.where[v]; l.kind {
	case inDouble:
		return l.reg()
	case constant:
		w.loadDouble(scratch, w.makers[v].Imm)
	default:
		w.V(asm.MOVSD, asm.W128, scratch, 0, asm.M(w.slot(l)))
	}
	return scratch
}

// target returns the register in which a value is to be made: its own, or scratch.
func (w *routineWriter) target(v kernel.Value, scratch asm.Reg) asm.Reg {
	if l := w.where[v]; l.kind == inWhole || l.kind == inDouble {
		return l.reg()
	}
	return scratch
}

// made puts a value that was made in a register where it belongs.
func (w *routineWriter) made(v kernel.Value, r asm.Reg) {
	switch l := w.where[v]; {
	case l.kind == inSlot && w.isDouble(v):
		w.V(asm.MOVSDstore, asm.W128, r, 0, asm.M(w.slot(l)))
	case l.kind == inSlot:
		w.Store(w.slot(l), r)
	case l.kind == inWhole && l.reg() != r:
		w.Move(l.reg(), r)
	case l.kind == inDouble && l.reg() != r:
		w.V(asm.MOVAPS, asm.W128, l.reg(), 0, asm.R(r))
	}
}
