package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
)

// patches packs panels of the matrix whose columns are places of a convolution's output and whose
// rows are, for each channel and each tap of the filter, the inputs that they read. The matrix is
// never made as a whole.
type patches struct {
	geometry Convolution
	taps     int
	plane    int // elements of a channel of the input
	image    int // elements of an image, where the columns go on from one image to the next
}

// run is a stretch of one row of the output: lanes from first to last of a vector, beginning at a
// place of the output.
type run struct {
	first, last    int
	image, z, y, x int
}

// Unit implements gemm.Columns.
func (p *patches) Unit() int { return p.taps }

// runsOf cuts the places from n0 to n1 at the ends of rows of the output.
func (p *patches) runsOf(n0, n1 int, runs []run) []run {
	depth, height, width := p.geometry.Out[0], p.geometry.Out[1], p.geometry.Out[2]
	for n := n0; n < n1; {
		row := n / width
		end := min(n1, (row+1)*width)
		plane := row / height
		runs = append(runs, run{n - n0, end - n0, plane / depth, plane % depth, row % height, n % width})
		n = end
	}
	return runs
}

// Fill packs columns n0 to n1 of the rows, row bytes apart, that belong to channels c0 to c1 of an
// image at from.
func (p *patches) Fill(by *gemm.Filling, panel, from unsafe.Pointer, n0, n1, c0, c1, row int) {
	var space [2][16]run
	runs := [2][]run{space[0][:0], space[1][:0]}
	segments, vectors := 1, (n1-n0+by.Lanes-1)/by.Lanes
	for v := range vectors {
		first := n0 + v*by.Lanes
		runs[v] = p.runsOf(first, min(first+by.Lanes, n1), runs[v])
		segments = max(segments, len(runs[v]))
	}
	step := p.geometry.Stride[2]
	from = unsafe.Add(from, c0*p.plane*by.Size)
	if segments > tile.MaxSegments || step > 2 {
		p.fillByElement(by, panel, from, runs[:vectors], c1-c0, row)
		return
	}
	kernel := tile.Patches{ISA: by.ISA, Double: by.Double, Vectors: uint8(vectors), Segments: uint8(segments), Step: uint8(step),
		Taps: int32(p.geometry.Kernel[2]), Dilation: int32(p.geometry.Dilation[2]), Row: int32(row)}
	args := tile.PatchesArgs{From: from, To: panel, Table: p.tabulate(by, &kernel, from, runs[:vectors]), Rows: int64(p.geometry.Kernel[0] * p.geometry.Kernel[1]),
		Channels: int64(c1 - c0), ToChannel: int64(p.taps * row)}
	kernel.Code().Call(unsafe.Pointer(&args))
}

// tabulate writes the table of a kernel. Behind it lie zeros, which rows in the padding read.
func (p *patches) tabulate(by *gemm.Filling, kernel *tile.Patches, from unsafe.Pointer, runs [][]run) unsafe.Pointer {
	g := &p.geometry
	segments, step, mask := int(kernel.Segments), int(kernel.Step), tile.MaskBytes(by.ISA)
	entries := len(runs) * (kernel.MasksBytes() + 16*segments*g.Kernel[0]*g.Kernel[1])
	blank := (by.Lanes*step + g.Kernel[2]*g.Dilation[2] + by.Lanes) * by.Size
	table := gemm.Grow(by.Table, entries+blank)
	zeros := unsafe.Add(table, entries)
	clear(unsafe.Slice((*byte)(zeros), blank))
	absent := int64(uintptr(zeros)) - int64(uintptr(from))
	to := table
	for v := range runs {
		for load := range kernel.Loads() {
			tap, reads := load, 1
			if kernel.InPairs() {
				tap, reads = 2*load, min(2, g.Kernel[2]-2*load)
			}
			for s := range segments {
				lanes := uint64(0)
				if s < len(runs[v]) {
					lanes = p.reach(&runs[v][s], tap, reads, by.Size/4)
				}
				for range step {
					tile.PutMask(by.ISA, to, uint32(lanes))
					to, lanes = unsafe.Add(to, mask), lanes>>(by.Lanes*by.Size/4)
				}
			}
		}
		for kz := range g.Kernel[0] {
			for ky := range g.Kernel[1] {
				for s := range segments {
					where := [2]int64{absent, 0}
					if s < len(runs[v]) {
						if at, ok := p.rowAt(&runs[v][s], kz, ky); ok {
							where = [2]int64{int64(at * by.Size), int64(p.plane * by.Size)}
						}
					}
					*(*[2]int64)(to) = where
					to = unsafe.Add(to, 16)
				}
			}
		}
	}
	return table
}

// rowAt returns where in a channel lane 0 of a run's vector would be for the first tap of a row of
// the filter, and whether that row is inside the input.
func (p *patches) rowAt(r *run, kz, ky int) (int, bool) {
	g := &p.geometry
	z, y := r.z*g.Stride[0]+kz*g.Dilation[0]-g.Padding[0], r.y*g.Stride[1]+ky*g.Dilation[1]-g.Padding[1]
	return r.image*p.image + (z*g.In[1]+y)*g.In[2] + (r.x-r.first)*g.Stride[2] - g.Padding[2], z >= 0 && z < g.In[0] && y >= 0 && y < g.In[1]
}

// reach returns the elements of memory, from lane 0 on, that a run reads inside the input for a
// number of taps along x, as bits of four bytes.
func (p *patches) reach(r *run, tap, reads, words int) (lanes uint64) {
	g := &p.geometry
	step := g.Stride[2]
	every := uint64(0x5555555555555555) // other element
	if words == 2 {
		every = 0x3333333333333333
	}
	for read := range reads {
		x := r.x*step + (tap+read)*g.Dilation[2] - g.Padding[2]
		lo, hi := 0, r.last-r.first
		if x < 0 {
			lo = (-x + step - 1) / step
		}
		if over := x + (hi-1)*step - (g.In[2] - 1); over > 0 {
			hi -= (over + step - 1) / step
		}
		if lo >= hi {
			continue
		}
		lo, hi = lo+r.first, hi+r.first
		if step == 1 {
			lanes |= 1<<(hi*words) - 1<<(lo*words)
			continue
		}
		lanes |= every & (1<<(2*hi*words) - 1<<(2*lo*words)) << (read * words)
	}
	return lanes
}

// fillByElement packs where steps or rows of the output are such that vectors do not help.
func (p *patches) fillByElement(by *gemm.Filling, panel, from unsafe.Pointer, runs [][]run, channels, row int) {
	if by.Double {
		fillPatches[float64](p, by.Lanes, panel, from, runs, channels, row/8)
	} else {
		fillPatches[float32](p, by.Lanes, panel, from, runs, channels, row/4)
	}
}

func fillPatches[T gemm.Float](p *patches, lanes int, panel, from unsafe.Pointer, runs [][]run, channels, row int) {
	g, width := &p.geometry, len(runs)*lanes
	to := unsafe.Slice((*T)(panel), (channels*p.taps-1)*row+width)
	for i := range channels * p.taps {
		clear(to[i*row:][:width])
	}
	in := unsafe.Slice((*T)(from), (channels-1)*p.plane+Volume(g.In)+(g.Batch-1)*p.image)
	g.Taps(func(tap int, at [3]int) {
		for v := range runs {
			for i := range runs[v] {
				r := &runs[v][i]
				z, y := r.z*g.Stride[0]+at[0], r.y*g.Stride[1]+at[1]
				if z < 0 || z >= g.In[0] || y < 0 || y >= g.In[1] {
					continue
				}
				source := r.image*p.image + (z*g.In[1]+y)*g.In[2]
				for l := r.first; l < r.last; l++ {
					x := (r.x+l-r.first)*g.Stride[2] + at[2]
					if x < 0 || x >= g.In[2] {
						continue
					}
					for c := range channels {
						to[(c*p.taps+tap)*row+v*lanes+l] = in[c*p.plane+source+x]
					}
				}
			}
		}
	})
}
