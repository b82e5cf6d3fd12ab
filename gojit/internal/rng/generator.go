package rng

import (
	"math"
	"sync"
	"time"
)

// Generator is a stream of random numbers: the Mersenne twister with the draws in the order PyTorch's
// CPU generator makes them, so that equal seeds give equal tensors. Draw locks it.
type Generator struct {
	mu         sync.Mutex
	seed       uint64
	restarts   uint64
	state      [twisterWords]uint32
	at         int // words of state used
	normal     float64
	haveNormal bool // normal is the unused half of the last pair
}

const (
	twisterWords = 624
	twisterShift = 397
)

// DefaultSeed is the seed of a generator that was given none.
const DefaultSeed = 67280421310721

// New returns a generator started from a seed.
func New(seed uint64) *Generator {
	g := &Generator{}
	g.restart(seed)
	return g
}

var defaultGenerator = New(DefaultSeed)

// Default returns the generator that operators use where none is given.
func Default() *Generator { return defaultGenerator }

// Seed restarts the stream.
func (g *Generator) Seed(seed uint64) {
	g = g.current()
	g.mu.Lock()
	g.restart(seed)
	g.mu.Unlock()
}

// SeedFromTime restarts the stream from the clock and returns the seed.
func (g *Generator) SeedFromTime() uint64 {
	seed := uint64(time.Now().UnixNano()) & (1<<53 - 1)
	g.Seed(seed)
	return seed
}

// Restarts returns how often the stream was begun anew.
func (g *Generator) Restarts() uint64 {
	g = g.current()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.restarts
}

// InitialSeed returns the seed the stream started from.
func (g *Generator) InitialSeed() uint64 {
	g = g.current()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seed
}

func (g *Generator) restart(seed uint64) {
	g.restarts++
	g.seed, g.at, g.haveNormal = seed, twisterWords, false
	g.state[0] = uint32(seed)
	for i := 1; i < twisterWords; i++ {
		prev := g.state[i-1]
		g.state[i] = 1812433253*(prev^prev>>30) + uint32(i)
	}
}

// refill makes the next words of state. Each run of words reads words that it does not write.
func (g *Generator) refill() {
	s := &g.state
	const early = twisterWords - twisterShift
	twistRun(s[:early+1], s[twisterShift:])
	twistRun(s[early:], s[:twisterShift-1])
	s[twisterWords-1] = twist(s[twisterWords-1], s[0], s[twisterShift-1])
	g.at = 0
}

// twistRun twists words but the last, each with its successor and another.
func twistRun(words, shifted []uint32) {
	n := len(words) - 1
	shifted = shifted[:n]
	for i := twistVector(&words[0], &shifted[0], n); i < n; i++ {
		words[i] = twist(words[i], words[i+1], shifted[i])
	}
}

// twist gives the word that replaces word, whose successor is next and which shifted is added to.
func twist(word, next, shifted uint32) uint32 {
	mixed := word&0x80000000 | next&0x7fffffff
	return shifted ^ mixed>>1 ^ -(mixed&1)&0x9908b0df
}

// uint32 returns the next 32 random bits. The caller holds the lock.
func (g *Generator) uint32() uint32 {
	if g.at == twisterWords {
		g.refill()
	}
	g.at++
	return temper(g.state[g.at-1])
}

// temper turns a word of state into one of the stream.
func temper(y uint32) uint32 {
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// words fills dst with the next words of the stream. The caller holds the lock.
func (g *Generator) words(dst []uint32) {
	for len(dst) > 0 {
		if g.at == twisterWords {
			g.refill()
		}
		from := g.state[g.at:]
		n := min(len(from), len(dst))
		for i := temperVector(&dst[0], &from[0], n); i < n; i++ {
			dst[i] = temper(from[i])
		}
		g.at += n
		dst = dst[n:]
	}
}

func (g *Generator) uint64() uint64 {
	hi := uint64(g.uint32())
	return hi<<32 | uint64(g.uint32())
}

func (g *Generator) uniform64() float64 { return float64(g.uint64()&(1<<53-1)) * (1.0 / (1 << 53)) }

// gauss returns one normal number; pairs are made at once and the second is kept.
func (g *Generator) gauss() float64 {
	if g.haveNormal {
		g.haveNormal = false
		return g.normal
	}
	u1 := g.uniform64()
	u2 := g.uniform64()
	r := math.Sqrt(-2 * math.Log1p(-u2))
	sin, cos := math.Sincos(2 * math.Pi * u1)
	g.normal, g.haveNormal = r*sin, true
	return r * cos
}

// Uint64 returns 64 random bits.
func (g *Generator) Uint64() uint64 {
	g = g.current()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.uint64()
}

// Draws are numbers from a stream, one after the other.
type Draws struct{ g *Generator }

// Words fills dst with the next words of the stream.
func (d Draws) Words(dst []uint32) { d.g.words(dst) }

// Uint32 returns 32 random bits.
func (d Draws) Uint32() uint32 { return d.g.uint32() }

// Uniform returns a number from [0, 1).
func (d Draws) Uniform() float64 { return d.g.uniform64() }

// Normal returns a normally distributed number.
func (d Draws) Normal() float64 { return d.g.gauss() }

// Words fills dst with the next words of the stream.
func (g *Generator) Words(dst []uint32) {
	g = g.current()
	g.mu.Lock()
	g.words(dst)
	g.mu.Unlock()
}

// Normals fills dst with normally distributed numbers.
func (g *Generator) Normals(dst []float64) {
	g = g.current()
	g.mu.Lock()
	for i := range dst {
		dst[i] = g.gauss()
	}
	g.mu.Unlock()
}

// Draw calls f with the stream, which nobody else uses meanwhile.
func (g *Generator) Draw(f func(d Draws)) {
	g = g.current()
	g.mu.Lock()
	defer g.mu.Unlock()
	f(Draws{g})
}
