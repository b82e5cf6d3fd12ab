package amd64

import "github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"

// atBranch is where values were when a branch was taken or not: where its ways join, they are there again.
type atBranch struct {
	owner  [32]operand
	free   uint32
	slots  int     // how many values had places in scratch memory
	result asm.Reg // was free, and has the result of the side in the end
}

// enterSide emits a branch. The register of the side's result is cleared before it: where the side is skipped, nothing waits
// for what the register held.
func (a *allocator) enterSide(in *instruction, m machine) {
	m.V = a.reg(in.args[0])
	if in.args[1] != none {
		m.s = a.source(in.args[1], in.op)
	}
	result := a.take() // while what is compared is pinned
	a.free |= 1 << result
	a.finish(in)
	a.out = append(a.out, machine{op: asm.XORPS, w: a.l.ISA.Width(), D: result, V: result, s: asm.R(result)}, m)
	a.entered = append(a.entered, atBranch{a.owner, a.free, len(a.slots), result})
}

// leaveSide ends what a branch goes around.
func (a *allocator) leaveSide(in *instruction) {
	from := a.reg(in.args[0])
	a.finish(in)
	last := len(a.entered) - 1
	before := a.entered[last]
	a.entered = a.entered[:last]
	if from != before.result {
		a.out = append(a.out, machine{Kind: move, op: asm.MOVAPS, w: a.l.ISA.Width(), D: before.result, s: asm.R(from)})
	}
	a.rejoin(&before)
	for _, o := range a.slots[before.slots:] {
		a.spilled[o] = -1 // what is written there may have been skipped
	}
	a.slots = a.slots[:before.slots]
	a.bind(in.d, operand(before.result))
	a.free &^= 1 << before.result
	a.out = append(a.out, machine{Kind: endSide})
}

// rejoin brings the values that live on to where they were at the branch.
func (a *allocator) rejoin(before *atBranch) {
	free, kept := before.free, uint32(0)
	for r, o := range before.owner {
		switch {
		case o == none || before.free>>r&1 != 0:
		case a.last[o] > int32(a.at):
			kept |= 1 << r
		default:
			free |= 1 << r
		}
	}
	now := a.owner
	for r, o := range now {
		a.owner[r] = none
		if o != none && a.where[o] == int16(r) && kept>>r&1 == 0 {
			a.where[o] = -1
		}
	}
	for r, o := range before.owner {
		if kept>>r&1 == 0 {
			continue
		}
		if now[r] != o || a.where[o] != int16(r) {
			a.out = append(a.out, machine{op: asm.MOVUPS, w: a.l.ISA.Width(), D: asm.Reg(r), s: asm.M(a.slot(o))})
		}
		if other := now[r]; other != none && other != o && a.where[other] == int16(r) {
			a.where[other] = -1
		}
		a.where[o], a.owner[r] = int16(r), o
	}
	a.free = free
}
