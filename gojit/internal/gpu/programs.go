package gpu

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// mostPrograms bounds the programs of a table: then it begins anew, and the collector unloads what nobody runs.
const mostPrograms = 4096

// programs are the programs of a device by what they are for.
type programs[K, P comparable] struct {
	mu   sync.Mutex
	made map[K]P
}

// get returns the program of a key, which make compiles where it is not there yet.
func (t *programs[K, P]) get(key K, make func() (P, error)) (P, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p, ok := t.made[key]; ok {
		return p, nil
	}
	p, err := make()
	if err != nil {
		return p, err
	}
	if t.made == nil || len(t.made) >= mostPrograms {
		t.made = map[K]P{}
	}
	t.made[key] = p
	return p, nil
}

// programOf returns the program of a kernel: that of an equal kernel where there is one.
func (v *Device) programOf(k *kernel.Kernel) (*Program, error) {
	hash := k.Hash()
	for ; ; hash++ { // another kernel may have the hash
		p, err := v.kernels.get(hash, func() (*Program, error) { return NewProgram(v, k) })
		if err != nil || p.made.Equal(k) {
			return p, err
		}
	}
}
