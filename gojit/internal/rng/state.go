package rng

import (
	"encoding/binary"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// stateSize is the size in bytes of a generator's state: that of PyTorch's generators on the CPU, whose
// layout it has.
const stateSize = 5056

// Places in the state.
const (
	stateLeft   = 8  // words of the twister that are left, plus one: int32
	stateSeeded = 12 // int32
	stateNext   = 16 // words that are used: uint64
	stateWords  = 24 // one in eight bytes each
	stateNormal = stateWords + 8*twisterWords + 8
	stateValid  = stateNormal + 16 // whether there is a normal: int32
)

// State returns what SetState takes to go on from here.
func (g *Generator) State() []byte {
	g = g.current()
	g.mu.Lock()
	defer g.mu.Unlock()
	b := make([]byte, stateSize)
	binary.LittleEndian.PutUint64(b, g.seed)
	binary.LittleEndian.PutUint32(b[stateLeft:], uint32(twisterWords+1-g.at))
	binary.LittleEndian.PutUint32(b[stateSeeded:], 1)
	if g.at < twisterWords {
		binary.LittleEndian.PutUint64(b[stateNext:], uint64(g.at))
	}
	for i, w := range g.state {
		binary.LittleEndian.PutUint64(b[stateWords+8*i:], uint64(w))
	}
	if g.haveNormal {
		binary.LittleEndian.PutUint64(b[stateNormal:], math.Float64bits(g.normal))
		binary.LittleEndian.PutUint32(b[stateValid:], 1)
	}
	return b
}

// SetState continues from what State, or a generator of PyTorch's, gave. It fails on anything else.
func (g *Generator) SetState(b []byte) error {
	if len(b) != stateSize {
		return source.Errorf(source.RuntimeError, source.Range{}, "RNG state is wrong size: expected %d bytes, got %d", stateSize, len(b))
	}
	left := int(int32(binary.LittleEndian.Uint32(b[stateLeft:])))
	if left < 1 || left > twisterWords+1 {
		return source.Errorf(source.RuntimeError, source.Range{}, "Invalid mt19937 state")
	}
	g = g.current()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seed = binary.LittleEndian.Uint64(b)
	g.at = twisterWords + 1 - left
	for i := range g.state {
		g.state[i] = uint32(binary.LittleEndian.Uint64(b[stateWords+8*i:]))
	}
	g.haveNormal = binary.LittleEndian.Uint32(b[stateValid:]) != 0
	g.normal = math.Float64frombits(binary.LittleEndian.Uint64(b[stateNormal:]))
	return nil
}
