package tensor

import "sync/atomic"

// Version returns how many times t has been written in place: all tensors over the storage count together, but for those that count apart.
func (t *Tensor) Version() int {
	if t.versions != nil {
		return int(t.versions.Load())
	}
	return t.storage.Version()
}

// Bump records a write in place.
func (t *Tensor) Bump() {
	if t.versions != nil {
		t.versions.Add(1)
		t.storage.apart.Add(1)
		return
	}
	t.storage.version.Add(1)
}

// Apart returns another tensor over the same elements that the tape does not connect with t, and whose writes in place do not count as writes of t.
func (t *Tensor) Apart() *Tensor {
	v := t.Detach()
	v.CountApart()
	return v
}

// CountApart makes t, which nobody has seen, no view of what it shares its memory with: its writes, and those of views that are made of it, count
// as those of no other tensor over the storage.
func (t *Tensor) CountApart() {
	t.base, t.generation = nil, 0
	t.countApart(0)
}

// CountsWith reports whether the tensors view one storage and a write through one is seen as a write of the other.
func (t *Tensor) CountsWith(u *Tensor) bool {
	return t.storage == u.storage && t.versions == u.versions
}

func (t *Tensor) countApart(from int) {
	t.versions = new(atomic.Uint32)
	t.versions.Store(uint32(from))
}

// Writes counts the writes in place of the storage, through whatever tensor. ok is false where others may write it unseen: they have its
// address, or lent it.
func (s *Storage) Writes() (count uint32, ok bool) {
	return s.version.Load() + s.apart.Load(), !s.lent && s.hollow == nil && (s.foreign == nil || s.foreign.release == nil)
}
