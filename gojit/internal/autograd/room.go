package autograd

import "github.com/torchjit/torchjit/gojit/tensor"

// room knows which of the gradients that a pass made are still needed, so that their memory is used again at once.
type room struct {
	waiting map[*tensor.Tensor]int  // at nodes, or for the caller
	own     map[*tensor.Tensor]bool // made by the pass; who else may have them is asked when they are let go
}

// makeRoom has a pass, which records nothing, use the memory of its gradients again.
func (p *pass) makeRoom(m *Mode) {
	if p.emitter = m.tracking(); p.emitter.made != nil {
		p.room = &room{waiting: map[*tensor.Tensor]int{}, own: map[*tensor.Tensor]bool{}}
	}
}

// enter says that a gradient waits.
func (r *room) enter(g *tensor.Tensor) {
	if r != nil && g != nil {
		r.waiting[g]++
	}
}

// leave says that it does not any more.
func (r *room) leave(g *tensor.Tensor) {
	if r == nil || g == nil {
		return
	}
	if r.waiting[g]--; r.waiting[g] == 0 {
		delete(r.waiting, g)
	}
}

// isOwn reports whether the pass alone has a gradient, which waits nowhere, and its memory.
func (p *pass) isOwn(g *tensor.Tensor) bool {
	if p.room == nil || p.room.waiting[g] > 0 || !p.room.own[g] && !p.emitter.made[g] {
		return false
	}
	return g.Users() == 1 && g.Base() == nil && isFree(g)
}

// disown says that somebody else has a gradient now.
func (p *pass) disown(g *tensor.Tensor) {
	delete(p.room.own, g)
	delete(p.emitter.made, g)
}

// isFree reports whether nobody is known to have a tensor that an operator of a derivative made.
func isFree(t *tensor.Tensor) bool {
	return t.PyObject() == 0 && t.History() == nil && !t.IsRetained() && t.Keeper() == nil
}

// sweep gives back the memory of what a derivative made and got, but for what waits.
func (p *pass) sweep(got []*tensor.Tensor) {
	if p.room == nil {
		return
	}
	for _, g := range got {
		if g != nil && p.room.own[g] {
			p.emitter.made[g] = true
		}
	}
	for t := range p.emitter.made {
		if p.room.waiting[t] > 0 {
			p.room.own[t] = true
			continue
		}
		if delete(p.room.own, t); isFree(t) {
			t.Release()
		}
	}
	clear(p.emitter.made)
}
