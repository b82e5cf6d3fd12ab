package integer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// byteWay is one of the ways that convolutions of bytes are computed in.
type byteWay struct {
	isa asm.ISA
	dot bool
}

// byteWays returns the ways that this machine has beside that in Go.
func byteWays() (ways []byteWay) {
	for _, isa := range linalgtest.Sets() {
		ways = append(ways, byteWay{isa, false})
		if asm.HasByteDots(isa) {
			ways = append(ways, byteWay{isa, true})
		}
	}
	return ways
}

// byteCase is a convolution of bytes with its data.
type byteCase struct {
	g       conv.Convolution
	weight  []int8
	zeros   []int
	in      []uint8
	options ByteOptions
}

func (c byteCase) String() string {
	return fmt.Sprintf("%+v, %d zero points of the weights, zero %d, planes %v", c.g, len(c.zeros), c.options.Zero, c.options.Planes)
}

// randomBytes makes a case whose numbers are often the largest and smallest ones.
func randomBytes(r *rand.Rand, g conv.Convolution) byteCase {
	extreme := func() int { return []int{0, 255, r.IntN(256), r.IntN(256)}[r.IntN(4)] }
	c := byteCase{g: g, weight: make([]int8, g.OutChannels*(g.InChannels/g.Groups)*conv.Volume(g.Kernel)), in: make([]uint8, g.Batch*g.InChannels*conv.Volume(g.In)),
		options: ByteOptions{Zero: uint8(extreme()), Planes: r.IntN(2) == 0, Scale: make([]float32, g.OutChannels)}}
	for i := range c.weight {
		c.weight[i] = int8(extreme() - 128)
	}
	for i := range c.in {
		c.in[i] = uint8(extreme())
	}
	c.zeros = []int{0}
	if r.IntN(3) == 0 {
		c.zeros = make([]int, g.OutChannels)
		for i := range c.zeros {
			c.zeros[i] = extreme() - 128
		}
	}
	for i := range c.options.Scale {
		c.options.Scale[i] = float32(math.Exp2(-float64(r.IntN(17)))) * (1 + r.Float32())
	}
	if r.IntN(2) == 0 {
		c.options.Bias = make([]float32, g.OutChannels)
		for i := range c.options.Bias {
			c.options.Bias[i] = float32(r.IntN(20000)-10000) / 8
		}
	}
	zero := extreme()
	c.options.Limits = tile.NewByteLimits([]int{0, zero}[r.IntN(2)], 255, zero, []int{0, zero}[r.IntN(2)])
	return c
}

// sums computes the integers of a convolution by its definition.
func (c byteCase) sums() []int32 {
	g := c.g
	channels, filters, size, taps := g.InChannels/g.Groups, g.OutChannels/g.Groups, conv.Volume(g.In), conv.Volume(g.Kernel)
	var sums []int32
	for b := range g.Batch {
		for place := range conv.Volume(g.Out) {
			z, y, x := place/(g.Out[1]*g.Out[2])*g.Stride[0], place/g.Out[2]%g.Out[1]*g.Stride[1], place%g.Out[2]*g.Stride[2]
			for o := range g.OutChannels {
				sum := int32(0)
				g.Taps(func(tap int, at [3]int) {
					z, y, x := z+at[0], y+at[1], x+at[2]
					if z < 0 || z >= g.In[0] || y < 0 || y >= g.In[1] || x < 0 || x >= g.In[2] {
						return
					}
					for k := range channels {
						channel, pixel := o/filters*channels+k, (z*g.In[1]+y)*g.In[2]+x
						at := (b*size+pixel)*g.InChannels + channel
						if c.options.Planes {
							at = (b*g.InChannels+channel)*size + pixel
						}
						sum += (int32(c.in[at]) - int32(c.options.Zero)) * (int32(c.weight[(o*channels+k)*taps+tap]) - int32(c.zeros[o%len(c.zeros)]))
					}
				})
				sums = append(sums, sum)
			}
		}
	}
	return sums
}

// check compares the ways of computing a case with its definition.
func (c byteCase) check(t *testing.T) {
	t.Helper()
	sums := c.sums()
	wantBytes, wantReal := make([]uint8, len(sums)), make([]float32, len(sums))
	for i, sum := range sums {
		o, bias := i%c.g.OutChannels, float32(0)
		if c.options.Bias != nil {
			bias = c.options.Bias[o]
		}
		wantReal[i] = (float32(sum) + bias) * c.options.Scale[o]
		wantBytes[i] = c.options.Limits.Apply(wantReal[i])
	}
	for _, way := range append(byteWays(), byteWay{}) {
		p := NewBytePlan(c.g, packBytes(c.g, c.weight, c.zeros, way.isa, way.dot), c.options)
		gotBytes, gotReal := make([]uint8, len(sums)), make([]float32, len(sums))
		p.Run(c.in, gotBytes)
		p.RunReal(c.in, gotReal)
		for i := range sums {
			if gotBytes[i] != wantBytes[i] || gotReal[i] != wantReal[i] {
				t.Fatalf("%+v %s: element %d (sum %d) is %d and %v, want %d and %v", way, c, i, sums[i], gotBytes[i], gotReal[i], wantBytes[i], wantReal[i])
			}
		}
	}
}

// randomByteGeometry makes convolutions of all kinds: of several groups, of channels by themselves, products of matrices.
func randomByteGeometry(r *rand.Rand) conv.Convolution {
	g := conv.Convolution(linalgtest.Geometry(r))
	switch r.IntN(4) {
	case 0:
		g.Groups = 1 + r.IntN(70)/(1+r.IntN(70))
		g.InChannels, g.OutChannels = g.Groups, g.Groups
	case 1:
		one := [3]int{1, 1, 1}
		g = conv.Convolution{Batch: 1 + r.IntN(40), Groups: 1, InChannels: 1 + r.IntN(130), OutChannels: 1 + r.IntN(100), In: one, Out: one, Kernel: one, Stride: one, Dilation: one}
	case 2:
		g.Groups, g.InChannels, g.OutChannels = 1, 4*(1+r.IntN(10)), 1+r.IntN(70)
	}
	return g
}

func TestByteConvolutions(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for range 150 {
		randomBytes(r, randomByteGeometry(r)).check(t)
	}
}

// TestByteSumsWrapAround: a sum that is too large for 32 bits is what is left of it there, whatever computes it.
func TestByteSumsWrapAround(t *testing.T) {
	one := [3]int{1, 1, 1}
	c := randomBytes(rand.New(rand.NewPCG(1, 1)), conv.Convolution{Batch: 3, Groups: 1, InChannels: 70000, OutChannels: 2, In: one, Out: one, Kernel: one, Stride: one, Dilation: one})
	for i := range c.in {
		c.in[i] = 255
	}
	for i := range c.weight {
		c.weight[i] = -128
	}
	c.options.Zero, c.zeros = 0, []int{0}
	c.check(t)
}

func TestBytePools(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for range 60 {
		g := conv.Convolution(linalgtest.Geometry(r))
		g.Groups = 1 + r.IntN(150)
		g.InChannels, g.OutChannels = g.Groups, g.Groups
		c := randomBytes(r, g)
		var want, means []uint8
		for b := range g.Batch {
			for place := range conv.Volume(g.Out) {
				z, y, x := place/(g.Out[1]*g.Out[2])*g.Stride[0], place/g.Out[2]%g.Out[1]*g.Stride[1], place%g.Out[2]*g.Stride[2]
				for channel := range g.InChannels {
					largest, sum := uint8(0), int32(0)
					g.Taps(func(tap int, at [3]int) {
						z, y, x := z+at[0], y+at[1], x+at[2]
						if z < 0 || z >= g.In[0] || y < 0 || y >= g.In[1] || x < 0 || x >= g.In[2] {
							return
						}
						pixel := (z*g.In[1]+y)*g.In[2] + x
						v := c.in[(b*conv.Volume(g.In)+pixel)*g.InChannels+channel]
						if c.options.Planes {
							v = c.in[(b*g.InChannels+channel)*conv.Volume(g.In)+pixel]
						}
						largest, sum = max(largest, v), sum+int32(v)-int32(c.options.Zero)
					})
					bias := float32(0)
					if c.options.Bias != nil {
						bias = c.options.Bias[channel]
					}
					want, means = append(want, largest), append(means, c.options.Limits.Apply((float32(sum)+bias)*c.options.Scale[channel]))
				}
			}
		}
		for _, isa := range append(linalgtest.Sets(), asm.None) {
			got := make([]uint8, len(want))
			newBytePool(g, c.options, tile.Largest, isa).Run(c.in, got)
			if string(got) != string(want) {
				t.Fatalf("%v %s: the largest are other ones", isa, c)
			}
			newBytePool(g, c.options, tile.Averaged, isa).Run(c.in, got)
			if string(got) != string(means) {
				t.Fatalf("%v %s: the sums are other ones", isa, c)
			}
		}
	}
}

// TestByteResultsAreTheSameForAnyNumberOfThreads: the cut of the work follows from the sizes alone, and sums of integers from nothing.
func TestByteResultsAreTheSameForAnyNumberOfThreads(t *testing.T) {
	defer parallel.SetNumThreads(0)
	g := conv.Convolution{Batch: 2, Groups: 1, InChannels: 64, OutChannels: 96, In: [3]int{1, 30, 30}, Out: [3]int{1, 30, 30}, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, Padding: [3]int{0, 1, 1}}
	c := randomBytes(rand.New(rand.NewPCG(8, 8)), g)
	p := NewBytePlan(g, PackBytes(g, c.weight, c.zeros), c.options)
	var first []uint8
	for _, n := range []int{1, 2, 5} {
		parallel.SetNumThreads(n)
		out := make([]uint8, g.Batch*g.OutChannels*conv.Volume(g.Out))
		p.Run(c.in, out)
		if first == nil {
			first = out
		} else if string(out) != string(first) {
			t.Errorf("%d threads give another result", n)
		}
	}
}

// FuzzByteConvolution compares the ways through a convolution for sizes that the fuzzer picks.
func FuzzByteConvolution(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		randomBytes(r, randomByteGeometry(r)).check(t)
	})
}

func BenchmarkByteConvolution(b *testing.B) {
	for _, s := range [][5]int{{3, 64, 224, 7, 2}, {64, 64, 56, 3, 1}, {64, 128, 56, 3, 2}, {128, 128, 28, 3, 1}, {256, 256, 14, 3, 1}, {512, 512, 7, 3, 1}, {256, 512, 14, 1, 2}, {256, 256, 14, 1, 1}, {96, 96, 56, -3, 1}} {
		kernel, groups := s[3], 1
		if kernel < 0 {
			kernel, groups = -kernel, s[0]
		}
		out := (s[2]+kernel/2*2-kernel)/s[4] + 1
		g := conv.Convolution{Batch: 1, Groups: groups, InChannels: s[0], OutChannels: s[1], In: [3]int{1, s[2], s[2]}, Out: [3]int{1, out, out}, Kernel: [3]int{1, kernel, kernel},
			Stride: [3]int{1, s[4], s[4]}, Dilation: [3]int{1, 1, 1}, Padding: [3]int{0, kernel / 2, kernel / 2}}
		c := randomBytes(rand.New(rand.NewPCG(1, 2)), g)
		c.zeros, c.options.Planes = []int{0}, s[0] == 3
		for _, way := range byteWays() {
			b.Run(fmt.Sprintf("%v/%v/%v", s, way.isa, way.dot), func(b *testing.B) {
				parallel.SetNumThreads(1)
				defer parallel.SetNumThreads(0)
				p := NewBytePlan(g, packBytes(g, c.weight, c.zeros, way.isa, way.dot), c.options)
				to := make([]uint8, g.Batch*g.OutChannels*conv.Volume(g.Out))
				for b.Loop() {
					p.Run(c.in, to)
				}
				b.ReportMetric(float64(p.work())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "products/ns")
			})
		}
	}
}
