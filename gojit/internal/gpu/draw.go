package gpu

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// generator is a device's stream of random numbers: Philox, by a seed and how many numbers each thread has drawn. It begins anew when the default
// stream of the processor does, with its seed.
type generator struct {
	mu           sync.Mutex
	begun        bool
	restarts     uint64 // of the processor's stream, when this one began
	seed, offset uint64
}

// follow has the stream begin anew where the processor's did. The lock is held.
func (s *generator) follow() {
	if g := rng.Default(); !s.begun || s.restarts != g.Restarts() {
		s.begun, s.restarts, s.seed, s.offset = true, g.Restarts(), g.InitialSeed(), 0
	}
}

// Seed has the device's stream of random numbers begin anew.
func (v *Device) Seed(seed uint64) {
	s := &v.random
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow()
	s.seed, s.offset = seed, 0
}

// RandomState returns the seed of the device's stream of random numbers, and how many numbers each thread has drawn.
func (v *Device) RandomState() (seed, offset uint64) {
	s := &v.random
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow()
	return s.seed, s.offset
}

// SetRandomState has the stream go on from a state. Threads draw four numbers at once: other offsets are refused.
func (v *Device) SetRandomState(seed, offset uint64) error {
	if offset%numbersAtOnce != 0 {
		return source.Errorf(source.RuntimeError, source.Range{}, "offset must be a multiple of %d, not %d", numbersAtOnce, offset)
	}
	s := &v.random
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow()
	s.seed, s.offset = seed, offset
	return nil
}

// numbersAtOnce is how many numbers a thread draws at once.
const numbersAtOnce = 4

// Draw returns by how many threads n numbers are drawn, and the seed and the place of the stream, which is moved on. As many threads draw as CUDA's
// programs have drawing.
func (b *Backend) Draw(d tensor.Device, n int) (threads int, seed, offset uint64, err error) {
	v, err := b.Device(d)
	if err != nil {
		return 0, 0, 0, err
	}
	if err := v.Stream().refuse("random numbers are drawn, which would be the same at each replay"); err != nil {
		return 0, 0, 0, err
	}
	s := &v.random
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow()
	blocks := max(1, min(int(v.units)*int(v.threads)/cuda.Width, (n+cuda.Width-1)/cuda.Width))
	threads, seed, offset = blocks*cuda.Width, s.seed, s.offset
	s.offset += uint64((n-1)/(threads*numbersAtOnce)+1) * numbersAtOnce
	return threads, seed, offset, nil
}
