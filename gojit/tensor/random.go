package tensor

import (
	"math"
	"sync"
	"time"
	"unsafe"
)

// Generator is a stream of random numbers: the Mersenne twister with the draws in the order PyTorch's
// CPU generator makes them, so that equal seeds give equal tensors. The distribution methods lock
// it; each fills a whole tensor, or makes a whole draw, as one step.
type Generator struct {
	mu         sync.Mutex
	seed       uint64
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

// NewGenerator returns a generator started from a seed.
func NewGenerator(seed uint64) *Generator {
	g := &Generator{}
	g.restart(seed)
	return g
}

var defaultGenerator = NewGenerator(DefaultSeed)

// DefaultGenerator returns the generator that operators use where none is given.
func DefaultGenerator() *Generator { return defaultGenerator }

// Seed restarts the stream.
func (g *Generator) Seed(seed uint64) {
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

// InitialSeed returns the seed the stream started from.
func (g *Generator) InitialSeed() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seed
}

func (g *Generator) restart(seed uint64) {
	g.seed, g.at, g.haveNormal = seed, twisterWords, false
	g.state[0] = uint32(seed)
	for i := 1; i < twisterWords; i++ {
		prev := g.state[i-1]
		g.state[i] = 1812433253*(prev^prev>>30) + uint32(i)
	}
}

// refill makes the next words of state. Each half of the loop reads words that it does not write.
func (g *Generator) refill() {
	s := &g.state
	const early = twisterWords - twisterShift
	twistRun(s[:early], s[1:early+1], s[twisterShift:])
	twistRun(s[early:twisterWords-1], s[early+1:], s[:twisterShift-1])
	s[twisterWords-1] = twist(s[twisterWords-1], s[0], s[twisterShift-1])
	g.at = 0
}

// twistRun twists words with their successors and as many others.
func twistRun(words, next, shifted []uint32) {
	next, shifted = next[:len(words)], shifted[:len(words)]
	word := words[0]
	for i := range words {
		following := next[i]
		words[i] = twist(word, following, shifted[i])
		word = following
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
		for i, y := range from[:n] {
			dst[i] = temper(y)
		}
		g.at += n
		dst = dst[n:]
	}
}

func (g *Generator) uint64() uint64 {
	hi := uint64(g.uint32())
	return hi<<32 | uint64(g.uint32())
}

func (g *Generator) uniform32() float32 { return float32(g.uint32()&(1<<24-1)) * (1.0 / (1 << 24)) }
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
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.uint64()
}

// each stores draw() in every element of a tensor, in order of memory and converted to its type.
func each[V float64 | int64](g *Generator, t *Tensor, draw func() V) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := converters[DTypeOf[V]()][t.dtype]
	var l Loop
	l.Init(t.shape, false, t)
	var block [64]V
	for l.Next() {
		for from := 0; from < l.N; from += len(block) {
			drawn := block[:min(l.N-from, len(block))]
			for i := range drawn {
				drawn[i] = draw()
			}
			f(unsafe.Add(l.Ptr[0], from*l.Step[0]), l.Step[0], unsafe.Pointer(&block), 8, len(drawn))
		}
	}
}

// eachBlock is each for elements that take a number of words of the stream, made many at once.
func eachBlock[V float64 | float32 | bool](g *Generator, t *Tensor, words int, draw func(drawn []V, words []uint32)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, size := converters[DTypeOf[V]()][t.dtype], DTypeOf[V]().Size()
	var l Loop
	l.Init(t.shape, false, t)
	var block [128]V
	var stream [256]uint32
	for l.Next() {
		for from := 0; from < l.N; from += len(block) {
			drawn := block[:min(l.N-from, len(block))]
			g.words(stream[:words*len(drawn)])
			draw(drawn, stream[:words*len(drawn)])
			f(unsafe.Add(l.Ptr[0], from*l.Step[0]), l.Step[0], unsafe.Pointer(&block), size, len(drawn))
		}
	}
}

// Uniform fills a floating-point tensor with numbers from [from, to).
func (g *Generator) Uniform(t *Tensor, from, to float64) {
	parts := realParts(t)
	if parts.dtype == Float64 {
		eachBlock(g, parts, 2, func(drawn []float64, words []uint32) {
			for i := range drawn {
				drawn[i] = math.FMA(float64(pairOfWords(words, i)&(1<<53-1))*(1.0/(1<<53)), to-from, from)
			}
		})
		return
	}
	bits := 24
	switch parts.dtype {
	case Float16:
		bits = 11
	case BFloat16:
		bits = 8
	}
	mask, unit := uint32(1)<<bits-1, float32(1)/float32(uint32(1)<<bits)
	low, width := float32(from), float32(to-from)
	eachBlock(g, parts, 1, func(drawn []float32, words []uint32) {
		for i, w := range words[:len(drawn)] {
			// One rounding, as where a processor multiplies and adds at once: the product is exact here.
			drawn[i] = float32(float64(float32(w&mask)*unit)*float64(width) + float64(low))
		}
	})
}

// pairOfWords returns the i-th 64 bits of a stream.
func pairOfWords(words []uint32, i int) uint64 {
	pair := words[2*i:][:2]
	return uint64(pair[0])<<32 | uint64(pair[1])
}

// realParts shows a complex tensor as its real and imaginary parts.
func realParts(t *Tensor) *Tensor {
	if t.dtype.IsComplex() {
		t, _ = t.ViewAsReal() // t is complex
	}
	return t
}

// Normal fills a floating-point tensor with normal numbers. A contiguous tensor of 16 or more is
// filled in blocks of 16 uniform numbers, each turned into 8 pairs.
func (g *Generator) Normal(t *Tensor, mean, std float64) {
	if t.dtype.IsComplex() {
		std /= math.Sqrt2
	}
	t = realParts(t)
	if t.numel < 16 || !t.IsContiguous() {
		each(g, t, func() float64 { return g.gauss()*std + mean })
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch t.dtype {
	case Float64:
		fillNormal(Data[float64](t), g.uniform64, boxMuller(mean, std))
	case Float32:
		fillNormal(Data[float32](t), g.uniform32, boxMuller(float32(mean), float32(std)))
	case Float16:
		g.normalHalf(t, 11, mean, std, func(f float64) float32 { return ToF16(float32(f)).Float32() })
	default:
		g.normalHalf(t, 8, mean, std, func(f float64) float32 { return ToBF16(float32(f)).Float32() })
	}
}

// normalHalf fills a 16-bit tensor; every step is rounded to its type, whose fraction has the given bits.
func (g *Generator) normalHalf(t *Tensor, bits int, mean, std float64, round func(float64) float32) {
	block := make([]float32, t.numel)
	uniform := func() float32 { return float32(g.uint32()&(1<<bits-1)) / float32(uint32(1)<<bits) }
	fillNormal(block, uniform, func(u1, u2 float32) (float32, float32) {
		radius := round(math.Sqrt(-2 * math.Log(float64(u1))))
		sin, cos := math.Sincos(float64(round(2 * math.Pi * float64(u2))))
		return round(float64(radius)*cos*std + mean), round(float64(radius)*sin*std + mean)
	})
	converters[Float32][t.dtype](t.DataPtr(), t.dtype.Size(), unsafe.Pointer(&block[0]), 4, t.numel)
}

// fillNormal draws uniform numbers in blocks of 16 and turns them into normal ones by pairs.
func fillNormal[T float32 | float64](data []T, uniform func() T, pair func(u1, u2 T) (T, T)) {
	for i := range data {
		data[i] = uniform()
	}
	for i := 0; i+16 <= len(data); i += 16 {
		pairNormals(data[i:i+16], pair)
	}
	if len(data)%16 != 0 {
		tail := data[len(data)-16:]
		for i := range tail {
			tail[i] = uniform()
		}
		pairNormals(tail, pair)
	}
}

func pairNormals[T float32 | float64](block []T, pair func(u1, u2 T) (T, T)) {
	for j := range 8 {
		block[j], block[j+8] = pair(1-block[j], block[j+8])
	}
}

// boxMuller turns two uniform numbers into two normal ones.
func boxMuller[T float32 | float64](mean, std T) func(u1, u2 T) (T, T) {
	return func(u1, u2 T) (T, T) {
		radius := T(math.Sqrt(float64(-2 * T(math.Log(float64(u1))))))
		sin, cos := math.Sincos(float64(T(2*math.Pi) * u2))
		return radius*T(cos)*std + mean, radius*T(sin)*std + mean
	}
}

// Random fills a tensor with integers from [from, to). The range must not be empty.
func (g *Generator) Random(t *Tensor, from, to int64) {
	n := uint64(to) - uint64(from)
	each(g, t, func() int64 {
		if n >= 1<<32 {
			return int64(g.uint64()%n) + from
		}
		return int64(uint64(g.uint32())%n) + from
	})
}

// RandomBits fills a tensor with integers from 0 to the largest that its type holds exactly.
func (g *Generator) RandomBits(t *Tensor) {
	switch t.dtype {
	case Float64:
		each(g, t, func() int64 { return int64(g.uint64() % (1<<53 + 1)) })
	case Int64:
		each(g, t, func() int64 { return int64(g.uint64() & (1<<63 - 1)) })
	case Bool:
		each(g, t, func() int64 { return int64(g.uint32() & 1) })
	default:
		largest := map[DType]uint32{Uint8: 255, Int8: 127, Int16: 1<<15 - 1, Int32: 1<<31 - 1,
			Float16: 1 << 11, BFloat16: 1 << 8, Float32: 1 << 24}[t.dtype]
		each(g, t, func() int64 { return int64(g.uint32() % (largest + 1)) })
	}
}

// Bernoulli fills a tensor with ones, each with probability p from 0 to 1, and zeros.
func (g *Generator) Bernoulli(t *Tensor, p float64) {
	limit := uint64(math.Ceil(p * (1 << 53))) // a uniform number of 53 bits is less than p
	if t.dtype == Bool {
		eachBlock(g, t, 2, func(drawn []bool, words []uint32) {
			for i := range drawn {
				drawn[i] = pairOfWords(words, i)&(1<<53-1) < limit
			}
		})
		return
	}
	eachBlock(g, t, 2, func(drawn []float32, words []uint32) {
		for i := range drawn {
			less := (pairOfWords(words, i)&(1<<53-1) - limit) >> 63
			drawn[i] = math.Float32frombits(uint32(-less) & oneBits)
		}
	})
}

// oneBits are the bits of 1.
const oneBits = 0x3f800000

// BernoulliFrom fills t with ones, each with the probability in p at its place, and zeros. p has the shape of t.
func (g *Generator) BernoulliFrom(t, p *Tensor) {
	g.mu.Lock()
	defer g.mu.Unlock()
	read, write := converters[p.dtype][Float64], converters[Float32][t.dtype]
	var l Loop
	l.Init(t.shape, false, t, p)
	var chances [128]float64
	var ones [128]float32
	for l.Next() {
		for from := 0; from < l.N; from += len(ones) {
			n := min(l.N-from, len(ones))
			read(unsafe.Pointer(&chances), 8, unsafe.Add(l.Ptr[1], from*l.Step[1]), l.Step[1], n)
			if p.dtype == Float64 {
				g.tossWide(ones[:n], chances[:n])
			} else {
				g.toss(ones[:n], chances[:n])
			}
			write(unsafe.Add(l.Ptr[0], from*l.Step[0]), l.Step[0], unsafe.Pointer(&ones), 4, n)
		}
	}
}

// toss draws uniform numbers of 24 bits and tells which are less than the chances; tossWide takes 53 bits.
func (g *Generator) toss(ones []float32, chances []float64) {
	var stream [128]uint32
	g.words(stream[:len(ones)])
	for i := range ones {
		ones[i] = 0
		if float32(stream[i]&(1<<24-1))*(1.0/(1<<24)) < float32(chances[i]) {
			ones[i] = 1
		}
	}
}

func (g *Generator) tossWide(ones []float32, chances []float64) {
	for i := range ones {
		ones[i] = 0
		if g.uniform64() < chances[i] {
			ones[i] = 1
		}
	}
}

// Exponential fills a tensor with exponentially distributed numbers.
func (g *Generator) Exponential(t *Tensor, rate float64) {
	each(g, t, func() float64 { return -1 / rate * math.Log1p(-g.uniform64()) })
}

// Cauchy fills a tensor with Cauchy distributed numbers.
func (g *Generator) Cauchy(t *Tensor, median, sigma float64) {
	each(g, t, func() float64 { return median + sigma*math.Tan(math.Pi*(g.uniform64()-0.5)) })
}

// LogNormal fills a tensor with numbers whose logarithms are normal.
func (g *Generator) LogNormal(t *Tensor, mean, std float64) {
	each(g, t, func() float64 { return math.Exp(g.gauss()*std + mean) })
}

// Geometric fills a tensor with the numbers of trials up to a success of probability p.
func (g *Generator) Geometric(t *Tensor, p float64) {
	each(g, t, func() float64 { return math.Ceil(math.Log(g.uniform64()) / math.Log(1-p)) })
}

// Permutation fills a contiguous int64 vector with the integers from 0 in random order.
func (g *Generator) Permutation(t *Tensor) {
	g.mu.Lock()
	defer g.mu.Unlock()
	order := Data[int64](t)
	for i := range order {
		order[i] = int64(i)
	}
	for i := 0; i+1 < len(order); i++ {
		j := i + int(g.uint32()%uint32(len(order)-i))
		order[i], order[j] = order[j], order[i]
	}
}

// DrawUniform returns n numbers from [0, 1).
func (g *Generator) DrawUniform(n int) []float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]float64, n)
	for i := range out {
		out[i] = g.uniform64()
	}
	return out
}

// Draws are numbers from a stream, one after the other.
type Draws struct{ g *Generator }

// Uniform returns a number from [0, 1).
func (d Draws) Uniform() float64 { return d.g.uniform64() }

// Normal returns a normally distributed number.
func (d Draws) Normal() float64 { return d.g.gauss() }

// Draw calls f with the stream, which nobody else uses meanwhile.
func (g *Generator) Draw(f func(d Draws)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(Draws{g})
}
