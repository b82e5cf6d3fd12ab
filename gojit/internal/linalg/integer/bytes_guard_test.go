//go:build unix

package integer

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
)

// TestBytesTouchNothingOutside runs products and convolutions of bytes over buffers between guard pages.
func TestBytesTouchNothingOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for i := range 120 {
		g, front := randomByteGeometry(r), i%2 == 0
		c := randomBytes(r, g)
		in := linalgtest.Guarded(t, c.in, front)
		n := g.Batch * g.OutChannels * conv.Volume(g.Out)
		out, real := linalgtest.Guarded(t, make([]uint8, n), front), linalgtest.Guarded(t, make([]float32, n), front)
		for _, way := range byteWays() {
			p := NewBytePlan(g, packBytes(g, c.weight, c.zeros, way.isa, way.dot), c.options)
			p.Run(in, out)
			p.RunReal(in, real)
			if g.InChannels == g.OutChannels && g.Groups == g.InChannels {
				newBytePool(g, c.options, tile.Largest, way.isa).Run(in, out)
				newBytePool(g, c.options, tile.Averaged, way.isa).RunReal(in, real)
			}
		}
	}
}
