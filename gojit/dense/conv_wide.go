package dense

import (
	"unsafe"

	"torchjit/gojit/kernel/amd64"
	"torchjit/gojit/tensor"
)

// A wide convolution has filters of many taps and few places of the output: it is how the derivative
// of a convolution by its weights is stated. Its sums run along the taps, which for a place of the
// output follow each other in the input; so the roles of places and taps are exchanged, and with them
// those of images and channels: for each channel a matrix of (image, place) by tap is multiplied with
// the transposed weights.

// isWide reports whether the exchange pays.
func (g *Convolution) isWide() bool {
	return g.Groups == 1 && volume(g.Kernel) >= 32 && volume(g.Kernel) >= 2*volume(g.Out)
}

// wideTaps is how many taps are packed at a time.
const wideTaps = 256

// wideWriter is the computation of some images.
type wideWriter[T Float] struct {
	packedWriter
	patches       patches
	in, weight    []T
	first, images int
	rows          int // places of all images
	sums          []T // places by out channels
	packed        unsafe.Pointer
	row           int // bytes of a packed row of taps
}

func convolveWide[T Float](isa amd64.ISA, g Convolution, in, weight, bias, out []T) {
	size := int(unsafe.Sizeof(in[0]))
	taps, places := volume(g.Kernel), volume(g.Out)
	row := (min(wideTaps, taps)+15)/16*16*size + 64 // rows do not collide in a set of the cache
	together := min(max(1, nearBytes/(row*places)), (g.Batch+3)/4)
	chunks := (g.Batch + together - 1) / together
	tensor.Parallel(chunks, 1, func(lo, hi int) {
		for chunk := lo; chunk < hi; chunk++ {
			m := newGemm(isa, size)
			memory := bufferPool.Get().(*buffers)
			w := wideWriter[T]{packedWriter: packedWriter{packing: &packing{gemm: &m}, memory: memory}, in: in, weight: weight, row: row}
			w.first, w.images = chunk*together, min(together, g.Batch-chunk*together)
			w.rows = w.images * places
			w.patches = patches{geometry: g, taps: places, plane: g.InChannels * volume(g.In)}
			w.patches.geometry.Batch = 1
			w.patches.geometry.Out, w.patches.geometry.Kernel = g.Kernel, g.Out
			w.patches.geometry.Stride, w.patches.geometry.Dilation = g.Dilation, g.Stride
			w.run(&g)
			w.store(&g, bias, out)
			bufferPool.Put(memory)
		}
	})
}

// run adds up the products of all channels and taps.
func (w *wideWriter[T]) run(g *Convolution) {
	taps := volume(g.Kernel)
	w.sums = aligned[T](w.rows * g.OutChannels)
	w.packed = grow(&w.memory.a, w.rows*w.row)
	w.b = grow(&w.memory.b, wideTaps*panelVectors*w.lanes*w.size)
	for c := range g.InChannels {
		for t0 := 0; t0 < taps; t0 += wideTaps {
			t1 := min(t0+wideTaps, taps)
			from := unsafe.Pointer(&w.in[(w.first*g.InChannels+c)*volume(g.In)])
			for at := t0; at < t1; at += panelVectors * w.lanes {
				to := unsafe.Add(w.packed, (at-t0)*w.size)
				w.patches.fill(&w.packedWriter, to, from, at, min(at+panelVectors*w.lanes, t1), 0, w.images, w.row)
			}
			w.multiply(g, c, t0, t1)
		}
	}
}

// multiply adds the products with the weights of a channel for taps t0 to t1.
func (w *wideWriter[T]) multiply(g *Convolution, channel, t0, t1 int) {
	taps, panelColumns := volume(g.Kernel), panelVectors*w.lanes
	maximum := amd64.MaxRows(w.isa, panelVectors)
	rowTiles := (w.rows + maximum - 1) / maximum
	w.args.K, w.args.ARow, w.args.CRow = int64(t1-t0), int64(w.row), int64(g.OutChannels*w.size)
	w.args.B = w.b
	w.ldb = g.InChannels * taps
	for first := 0; first < g.OutChannels; first += panelColumns {
		columns := min(panelColumns, g.OutChannels-first)
		t := w.tile()
		t.Prefetch, t.Add = true, channel > 0 || t0 > 0
		w.tail(&t, &w.args, columns)
		w.transposeB(w.b, unsafe.Pointer(&w.weight[channel*taps]), first, first+columns, t0, int(t.Vectors))
		for i := range rowTiles {
			r := cut(w.rows, rowTiles, i)
			w.args.A, w.args.C = unsafe.Add(w.packed, r*w.row), unsafe.Pointer(&w.sums[r*g.OutChannels+first])
			t.Rows = uint8(cut(w.rows, rowTiles, i+1) - r)
			t.Code().Call(unsafe.Pointer(&w.args))
		}
	}
}

// store writes the sums to where they belong, with the bias added.
func (w *wideWriter[T]) store(g *Convolution, bias, out []T) {
	places := volume(g.Out)
	for i := range w.images {
		for o := range g.OutChannels {
			to := out[((w.first+i)*g.OutChannels+o)*places:][:places]
			for p := range to {
				to[p] = w.sums[(i*places+p)*g.OutChannels+o]
				if bias != nil {
					to[p] += bias[o]
				}
			}
		}
	}
}
