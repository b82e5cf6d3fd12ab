package dense

import (
	"unsafe"

	"torchjit/gojit/kernel/amd64"
)

// patches packs panels of the matrix whose columns are places of a convolution's output and whose
// rows are, for each channel and each tap of the filter, the inputs that they read. The matrix is
// never made as a whole.
type patches struct {
	geometry Convolution
	taps     int
	plane    int // elements of a channel of the input
}

// run is a stretch of one row of the output: lanes from first to last of a vector, beginning at a
// place of the output.
type run struct {
	first, last int
	z, y, x     int
}

// runsOf cuts the places from n0 to n1 at the ends of rows of the output.
func (p *patches) runsOf(n0, n1 int, runs []run) []run {
	width := p.geometry.Out[2]
	for n := n0; n < n1; {
		row := n / width
		end := min(n1, (row+1)*width)
		runs = append(runs, run{n - n0, end - n0, row / p.geometry.Out[1], row % p.geometry.Out[1], n % width})
		n = end
	}
	return runs
}

// fill packs columns n0 to n1 of the rows that belong to channels c0 to c1 of an image at from.
func (p *patches) fill(w *packedWriter, panel, from unsafe.Pointer, n0, n1, c0, c1, vectors int) {
	var space [2][16]run
	runs := [2][]run{space[0][:0], space[1][:0]}
	segments := 1
	for v := range vectors {
		first := n0 + v*w.lanes
		runs[v] = p.runsOf(first, min(first+w.lanes, n1), runs[v])
		segments = max(segments, len(runs[v]))
	}
	step := p.geometry.Stride[2]
	from = unsafe.Add(from, c0*p.plane*w.size)
	if segments > amd64.MaxSegments || step > 2 {
		p.fillByElement(w, panel, from, runs[:vectors], c1-c0)
		return
	}
	kernel := amd64.Patches{ISA: w.isa, Double: w.double, Vectors: uint8(vectors), Segments: uint8(segments), Step: uint8(step)}
	table := grow(&w.memory.table, p.taps*vectors*kernel.EntryBytes())
	p.tabulate(w, &kernel, table, runs[:vectors])
	row := vectors * w.lanes * w.size
	args := amd64.PatchesArgs{From: from, To: panel, Table: table, Even: amd64.EvenLanes(w.double), Taps: int64(p.taps), Channels: int64(c1 - c0),
		FromChannel: int64(p.plane * w.size), ToChannel: int64(p.taps * row)}
	kernel.Code().Call(unsafe.Pointer(&args))
}

// tabulate writes the table of a kernel.
func (p *patches) tabulate(w *packedWriter, kernel *amd64.Patches, to unsafe.Pointer, runs [][]run) {
	segments, step, mask := int(kernel.Segments), int(kernel.Step), amd64.MaskBytes(w.isa)
	words := w.size / 4 // of an element
	entry := kernel.EntryBytes()
	p.geometry.taps(func(_ int, at [3]int) {
		for v := range runs {
			for s := range segments {
				offset, lanes := 0, uint64(0)
				if s < len(runs[v]) {
					offset, lanes = p.reach(&runs[v][s], at, words)
				}
				*(*int64)(unsafe.Add(to, 8*s)) = int64(offset * w.size)
				for half := range step {
					amd64.PutMask(w.isa, unsafe.Add(to, 8*segments+(s*step+half)*mask), uint32(lanes))
					lanes >>= w.lanes * words
				}
			}
			to = unsafe.Add(to, entry)
		}
	})
}

// reach returns where in a channel lane 0 of a run's vector would be for a tap, and which lanes are
// inside the input, as bits of four bytes of memory.
func (p *patches) reach(r *run, at [3]int, words int) (offset int, lanes uint64) {
	g := &p.geometry
	z, y, step := r.z*g.Stride[0]+at[0], r.y*g.Stride[1]+at[1], g.Stride[2]
	if z < 0 || z >= g.In[0] || y < 0 || y >= g.In[1] {
		return 0, 0
	}
	x := r.x*step + at[2]
	lo, hi := 0, r.last-r.first
	if x < 0 {
		lo = (-x + step - 1) / step
	}
	if over := x + (hi-1)*step - (g.In[2] - 1); over > 0 {
		hi -= (over + step - 1) / step
	}
	if lo >= hi {
		return 0, 0
	}
	lo, hi = lo+r.first, hi+r.first
	if step == 1 {
		lanes = 1<<(hi*words) - 1<<(lo*words)
	} else {
		one := uint64(1)<<words - 1
		for l := lo; l < hi; l++ {
			lanes |= one << (2 * l * words)
		}
	}
	return (z*g.In[1]+y)*g.In[2] + x - r.first*step, lanes
}

// fillByElement packs where steps or rows of the output are such that vectors do not help.
func (p *patches) fillByElement(w *packedWriter, panel, from unsafe.Pointer, runs [][]run, channels int) {
	if w.double {
		fillPatches[float64](p, w, panel, from, runs, channels)
	} else {
		fillPatches[float32](p, w, panel, from, runs, channels)
	}
}

func fillPatches[T Float](p *patches, w *packedWriter, panel, from unsafe.Pointer, runs [][]run, channels int) {
	g, row := &p.geometry, len(runs)*w.lanes
	to, in := unsafe.Slice((*T)(panel), channels*p.taps*row), unsafe.Slice((*T)(from), channels*p.plane)
	clear(to)
	g.taps(func(tap int, at [3]int) {
		for v := range runs {
			for i := range runs[v] {
				r := &runs[v][i]
				z, y := r.z*g.Stride[0]+at[0], r.y*g.Stride[1]+at[1]
				if z < 0 || z >= g.In[0] || y < 0 || y >= g.In[1] {
					continue
				}
				source := (z*g.In[1] + y) * g.In[2]
				for l := r.first; l < r.last; l++ {
					x := (r.x+l-r.first)*g.Stride[2] + at[2]
					if x < 0 || x >= g.In[2] {
						continue
					}
					for c := range channels {
						to[(c*p.taps+tap)*row+v*w.lanes+l] = in[c*p.plane+source+x]
					}
				}
			}
		}
	})
}
