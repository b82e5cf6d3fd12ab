package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// A wide convolution has filters of many taps and few places of the output, as the derivative of a convolution by its weights has. Its
// sums run along the taps, which for a place of the output follow each other in the input; so the roles of places and taps are exchanged,
// and with them those of images and channels: a matrix of (image, place) by (channel, tap) is multiplied with the transposed weights.

// isWide reports whether the exchange pays.
func (g *Convolution) isWide() bool {
	return g.Groups == 1 && Volume(g.Kernel) >= 32 && Volume(g.Kernel) >= 2*Volume(g.Out)
}

// wideTaps is how many taps are packed at a time, of one channel or of several.
const wideTaps = 256

// wideProduct is a wide convolution. Steps are in elements.
type wideProduct[T gemm.Float] struct {
	geometry                  Convolution // of one image, with places for taps and taps for places
	taps, places              int
	images, channels, filters int
	imageStep, channelStep    int // of what is read
	filterStep, weightStep    int // from one filter to the next, and from a filter's taps for one channel to those for the next
	in, weight                []T
	store                     func(w *wideWriter[T])
}

// exchanged returns the geometry of one image whose places are the taps of g, and the reverse.
func (g Convolution) exchanged() Convolution {
	g.Batch, g.Out, g.Kernel, g.Stride, g.Dilation = 1, g.Kernel, g.Out, g.Dilation, g.Stride
	return g
}

func convolveWide[T gemm.Float](isa asm.ISA, g Convolution, in, weight, bias, out []T) {
	taps, places := Volume(g.Kernel), Volume(g.Out)
	w := wideProduct[T]{geometry: g.exchanged(), taps: taps, places: places, images: g.Batch, channels: g.InChannels, filters: g.OutChannels,
		imageStep: g.InChannels * Volume(g.In), channelStep: Volume(g.In), filterStep: g.InChannels * taps, weightStep: taps, in: in, weight: weight}
	w.store = func(w *wideWriter[T]) {
		for i := range w.count {
			to := out[(w.first+i)*g.OutChannels*places:]
			w.transpose(i*places, places, to, places)
			if bias != nil {
				for o, b := range bias[:g.OutChannels] {
					for p := range to[o*places:][:places] {
						to[o*places+p] += b
					}
				}
			}
		}
	}
	w.run(isa)
}

// wideWriter is the computation of some images.
type wideWriter[T gemm.Float] struct {
	gemm.Writer
	wide         *wideProduct[T]
	patches      patches
	first, count int
	rows         int // places of all images
	sums         []T // places by filters
	packed       unsafe.Pointer
	row          int // bytes of a packed row of taps
}

// run shares the images out. A sum is the same however that is done.
func (p *wideProduct[T]) run(isa asm.ISA) {
	size := int(unsafe.Sizeof(*new(T)))
	row := (p.together()*min(wideTaps, p.taps)+15)/16*16*size + 64 // rows do not collide in a set of the cache
	together := min(max(1, gemm.NearBytes/(row*p.places)), (p.images+parallel.NumThreads()-1)/parallel.NumThreads())
	chunks := (p.images + together - 1) / together
	parallel.For(chunks, 1, func(lo, hi int) {
		for chunk := lo; chunk < hi; chunk++ {
			m := gemm.NewTiled(isa, size)
			memory := gemm.TakeBuffers()
			w := wideWriter[T]{Writer: gemm.NewWriter(&m, memory), wide: p, row: row}
			w.first, w.count = chunk*together, min(together, p.images-chunk*together)
			w.rows = w.count * p.places
			w.patches = patches{geometry: p.geometry, taps: p.places, plane: p.imageStep}
			w.run()
			p.store(&w)
			memory.Recycle()
		}
	})
}

// together returns how many channels' taps are packed beside each other.
func (p *wideProduct[T]) together() int { return max(1, min(wideTaps/p.taps, p.channels)) }

// run adds up the products of all channels and taps.
func (w *wideWriter[T]) run() {
	p := w.wide
	w.sums = unsafe.Slice((*T)(gemm.Grow(&w.Memory.Scratch, w.rows*p.filters*w.Size)), w.rows*p.filters)
	w.packed = gemm.Grow(&w.Memory.A, w.rows*w.row)
	w.B = gemm.Grow(&w.Memory.B, wideTaps*gemm.PanelVectors*w.Lanes*w.Size)
	together := p.together()
	for c := 0; c < p.channels; c += together {
		for t0 := 0; t0 < p.taps; t0 += wideTaps {
			w.multiply(c, min(c+together, p.channels), t0, min(t0+wideTaps, p.taps))
		}
	}
}

// fill packs the taps from t0 to t1 of some channels.
func (w *wideWriter[T]) fill(c0, c1, t0, t1 int) {
	for c := c0; c < c1; c++ {
		from := unsafe.Pointer(&w.wide.in[w.first*w.wide.imageStep+c*w.wide.channelStep])
		for at := t0; at < t1; at += gemm.PanelVectors * w.Lanes {
			to := unsafe.Add(w.packed, ((c-c0)*(t1-t0)+at-t0)*w.Size)
			w.patches.Fill(w.Filling(), to, from, at, min(at+gemm.PanelVectors*w.Lanes, t1), 0, w.count, w.row)
		}
	}
}

// multiply adds the products with the weights of channels c0 to c1 for taps t0 to t1.
func (w *wideWriter[T]) multiply(c0, c1, t0, t1 int) {
	p, panelColumns := w.wide, gemm.PanelVectors*w.Lanes
	w.fill(c0, c1, t0, t1)
	maximum := tile.MaxRows(w.ISA, gemm.PanelVectors)
	rowTiles := (w.rows + maximum - 1) / maximum
	w.Args.K, w.Args.ARow, w.Args.CRow = int64((c1-c0)*(t1-t0)), int64(w.row), int64(p.filters*w.Size)
	w.Args.B = w.B
	w.Ldb = p.filterStep
	for first := 0; first < p.filters; first += panelColumns {
		columns := min(panelColumns, p.filters-first)
		t := w.Tile()
		t.Prefetch, t.Add = true, c0 > 0 || t0 > 0
		w.Tail(&t, &w.Args, columns)
		for c := c0; c < c1; c++ {
			to := unsafe.Add(w.B, (c-c0)*(t1-t0)*int(t.Vectors)*w.Lanes*w.Size)
			w.TransposePanel(to, unsafe.Pointer(&p.weight[c*p.weightStep]), first, first+columns, t0, t1, int(t.Vectors))
		}
		for i := range rowTiles {
			r := gemm.Cut(w.rows, rowTiles, i)
			w.Args.A, w.Args.C = unsafe.Add(w.packed, r*w.row), unsafe.Pointer(&w.sums[r*p.filters+first])
			t.Rows = uint8(gemm.Cut(w.rows, rowTiles, i+1) - r)
			t.Code().Call(unsafe.Pointer(&w.Args))
		}
	}
}

// transpose writes n rows of the sums from one on as columns of a matrix.
func (w *wideWriter[T]) transpose(row, n int, to []T, stride int) {
	filters := w.wide.filters
	sums := w.sums[row*filters:][:n*filters]
	whole := n / w.Lanes * w.Lanes
	args := tile.CopyArgs{FromRow: int64(filters * w.Size), ToRow: int64(stride * w.Size), Count: int64(filters), Mask: tile.TailMask(w.ISA, filters%w.Lanes*w.Size/4)}
	for r := 0; r < whole; r += w.Lanes {
		args.From, args.To = unsafe.Pointer(&sums[r*filters]), unsafe.Pointer(&to[r])
		tile.Transposition{ISA: w.ISA, Double: w.Double, Rows: uint8(w.Lanes)}.Code().Call(unsafe.Pointer(&args))
	}
	for r := whole; r < n; r++ {
		for o, v := range sums[r*filters:][:filters] {
			to[o*stride+r] = v
		}
	}
}
