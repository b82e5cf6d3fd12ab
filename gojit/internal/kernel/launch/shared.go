package launch

import (
	"container/list"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// maxShared bounds the programs that are kept for kernels to come.
const maxShared = 1024

// shared keeps the programs of all kernels by their structure, those used last in front. One that is
// dropped lives, with its code, as long as somebody else holds it; then the collector frees both.
var shared = programs{limit: maxShared}

// programs is a bounded table of programs.
type programs struct {
	mu    sync.Mutex
	limit int
	known map[uint64][]*list.Element // by the kernel's hash
	order list.List                  // of *sharedProgram
}

type sharedProgram struct {
	hash    uint64
	program *Program
}

// ProgramOf returns the program of a kernel: the one of an equal kernel where there is one. The kernel
// must not change any more. It fails where NewProgram does.
func ProgramOf(k *kernel.Kernel) (*Program, error) { return shared.of(k) }

func (t *programs) of(k *kernel.Kernel) (*Program, error) {
	hash := k.Hash()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.known[hash] {
		if p := e.Value.(*sharedProgram).program; p.kernel.Equal(k) {
			t.order.MoveToFront(e)
			return p, nil
		}
	}
	p, err := NewProgram(k)
	if err != nil {
		return nil, err
	}
	if t.known == nil {
		t.known = map[uint64][]*list.Element{}
	}
	t.known[hash] = append(t.known[hash], t.order.PushFront(&sharedProgram{hash, p}))
	if t.order.Len() > t.limit {
		t.drop(t.order.Back())
	}
	return p, nil
}

// drop forgets a program. The lock is held.
func (t *programs) drop(e *list.Element) {
	hash := t.order.Remove(e).(*sharedProgram).hash
	kept := t.known[hash][:0]
	for _, other := range t.known[hash] {
		if other != e {
			kept = append(kept, other)
		}
	}
	if len(kept) == 0 {
		delete(t.known, hash)
		return
	}
	clear(t.known[hash][len(kept):])
	t.known[hash] = kept
}

// Kernel returns the kernel that the program runs. It must not be changed.
func (p *Program) Kernel() *kernel.Kernel { return p.kernel }
