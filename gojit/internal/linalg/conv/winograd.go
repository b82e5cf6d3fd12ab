package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// winograd is a plan of a convolution of 3 by 3 by the algorithm F(4x4, 3x3): patches of 6 by 6 inputs
// are transformed, their 36 elements multiplied with those of the transformed weights, a matrix
// product over the channels for each, and the products transformed to 4 by 4 outputs.
type winograd[T gemm.Float] struct {
	geometry        Convolution
	options         PlanOptions
	isa             asm.ISA
	weight          []T // 36 matrices in panels
	bias            []T
	down, across    int // patches of an image
	groups          int // of patches whose products are computed together
	group           int // the most patches of one
	inStep, outStep int // bytes from one of the 36 matrices of transformed inputs, and of products, to the next
	input           []patchKernel
	output          []patchKernel
}

// patchKernel transforms the patch at one place of an image.
type patchKernel struct {
	code    *asm.Code
	in, out int // elements of the first pixel, which for the input may lie in the padding
}

const transformed = 36

// savedPerLane is how many products for each channel and filter, and lane of a vector, the algorithm is to save: its weights are four times as large, and
// where they come from memory, three bytes a cycle, that takes as long as these products.
const savedPerLane = 72

// suitsWinograd reports whether the algorithm applies, and saves more than its larger weights cost.
func suitsWinograd[T gemm.Float](g *Convolution, lanes int) bool {
	three, one := [3]int{1, 3, 3}, [3]int{1, 1, 1}
	if unsafe.Sizeof(*new(T)) != 4 || g.Kernel != three || g.Stride != one || g.Dilation != one || g.Groups != 1 || g.Padding[1] > 1 || g.Padding[2] > 1 ||
		g.InChannels%lanes != 0 || g.OutChannels%lanes != 0 {
		return false
	}
	return g.Batch*(9*Volume(g.Out)-transformed*((g.Out[1]+3)/4)*((g.Out[2]+3)/4)) >= savedPerLane*lanes
}

func newWinograd[T gemm.Float](isa asm.ISA, g Convolution, weight, bias []T, options PlanOptions) *winograd[T] {
	p := &winograd[T]{geometry: g, isa: isa}
	p.transformWeights(weight)
	return cutWinograd(isa, g, p.weight, bias, options)
}

// cutWinograd returns a plan with transformed weights.
func cutWinograd[T gemm.Float](isa asm.ISA, g Convolution, transformedWeight, bias []T, options PlanOptions) *winograd[T] {
	p := &winograd[T]{geometry: g, options: options, isa: isa, weight: transformedWeight, bias: bias, down: (g.Out[1] + 3) / 4, across: (g.Out[2] + 3) / 4}
	size := int(unsafe.Sizeof(bias[0]))
	memory := 512 << 10             // of a group
	if len(p.weight)*size > 4<<20 { // the weights are read again for each
		memory = 8 << 20
	}
	total, rows := g.Batch*p.down*p.across, tile.MaxRows(isa, gemm.PanelVectors)
	p.groups = winogradGroups(total, max(memory/(transformed*(g.InChannels+g.OutChannels)*size), 2*rows)/rows*rows)
	p.group = (total + p.groups - 1) / p.groups
	p.inStep, p.outStep = matrixStep(p.group*g.InChannels*size), matrixStep(p.group*g.OutChannels*size)
	in := tile.Winograd{ISA: isa, Row: int32(g.In[2] * g.InChannels * size), Pixel: int32(g.InChannels * size), Plane: int32(p.inStep)}
	out := tile.Winograd{ISA: isa, Output: true, Row: int32(g.Out[2] * g.OutChannels * size), Pixel: int32(g.OutChannels * size), Plane: int32(p.outStep),
		Relu: options.Relu && options.Epilogue == nil, Residual: options.Residual && options.Epilogue == nil}
	for ty := range p.down {
		for tx := range p.across {
			y, x := 4*ty-g.Padding[1], 4*tx-g.Padding[2]
			in.Y0, in.Y1 = uint8(max(0, -y)), uint8(min(6, g.In[1]-y))
			in.X0, in.X1 = uint8(max(0, -x)), uint8(min(6, g.In[2]-x))
			out.Y1, out.X1 = uint8(min(4, g.Out[1]-4*ty)), uint8(min(4, g.Out[2]-4*tx))
			p.input = append(p.input, patchKernel{code: in.Code(), in: (y*g.In[2] + x) * g.InChannels})
			p.output = append(p.output, patchKernel{code: out.Code(), out: (4*ty*g.Out[2] + 4*tx) * g.OutChannels})
		}
	}
	return p
}

// matrixStep returns the bytes from one matrix to the next of those that a patch has elements of: an odd number of cache lines, so that these elements
// lie in different sets of a cache.
func matrixStep(bytes int) int { return (bytes+63)/64*64 | 64 }

// winogradGroups returns the groups of at most so many patches into which all are cut: where there are several, a number that
// two or four threads share out evenly.
func winogradGroups(patches, most int) int {
	groups := (patches + most - 1) / most
	if groups > 2 {
		return (groups + 3) / 4 * 4
	}
	return groups
}

// weightMatrix transforms a column of three weights.
var weightMatrix = [6][3]float64{{1. / 4, 0, 0}, {-1. / 6, -1. / 6, -1. / 6}, {-1. / 6, 1. / 6, -1. / 6}, {1. / 24, 1. / 12, 1. / 6}, {1. / 24, -1. / 12, 1. / 6}, {0, 0, 1}}

// transformWeights makes the 36 matrices, in channel by out channel, in panels.
func (p *winograd[T]) transformWeights(weight []T) {
	g, lanes := &p.geometry, lanesOf[T](p.isa)
	p.weight = gemm.Aligned[T](transformed*g.InChannels*g.OutChannels + 1024)
	for o := range g.OutChannels {
		panel := o / (gemm.PanelVectors * lanes)
		width := PanelWidth(g.OutChannels, panel, lanes)
		for c := range g.InChannels {
			from := weight[(o*g.InChannels+c)*9:][:9]
			var half [6][3]float64
			for a := range 6 {
				for x := range 3 {
					for y := range 3 {
						half[a][x] += weightMatrix[a][y] * float64(from[3*y+x])
					}
				}
			}
			to := p.weight[panel*gemm.PanelVectors*lanes*g.InChannels+c*width+o%(gemm.PanelVectors*lanes):]
			for a := range 6 {
				for b := range 6 {
					sum := 0.0
					for x := range 3 {
						sum += half[a][x] * weightMatrix[b][x]
					}
					to[(6*a+b)*g.InChannels*g.OutChannels] = T(sum)
				}
			}
		}
	}
}

// run computes a batch, one group of patches after the other. Threads take whole groups where there are
// enough of them, so that each finds in its own cache what it has transformed; else they share every step of a group.
func (p *winograd[T]) run(in, residual, out []T) {
	g := &p.geometry
	threads := parallel.NumThreads()
	if threads == 1 || g.Batch*p.down*p.across*g.InChannels*g.OutChannels*transformed < 2*gemm.ParallelFlops {
		p.runGroups(in, residual, out, 0, p.groups, false)
		return
	}
	if p.groups < threads {
		p.runGroups(in, residual, out, 0, p.groups, true)
		return
	}
	parallel.For(p.groups, 1, func(lo, hi int) { p.runGroups(in, residual, out, lo, hi, false) })
}

// runGroups computes the groups from lo to hi; where shared, by all threads together.
func (p *winograd[T]) runGroups(in, residual, out []T, lo, hi int, shared bool) {
	g := &p.geometry
	memory := gemm.TakeBuffers()
	defer memory.Recycle()
	total := g.Batch * p.down * p.across
	r := winogradRun[T]{winograd: p, in: in, residual: residual, out: out,
		v: gemm.Grow(&memory.A, transformed*p.inStep), m: gemm.Grow(&memory.B, transformed*p.outStep)}
	var watch parallel.Watch
	for i := lo; i < hi; i++ {
		watch.Look()
		r.first = gemm.Cut(total, p.groups, i)
		r.patches = gemm.Cut(total, p.groups, i+1) - r.first
		if !shared {
			r.transformInputs(0, r.patches)
			r.multiply(0, transformed)
			r.transformOutputs(0, r.patches)
			continue
		}
		group := r
		parallel.For(group.patches, 4, group.transformInputs)
		parallel.For(transformed, 2, group.multiply)
		parallel.For(group.patches, 4, group.transformOutputs)
	}
}

// winogradRun is the computation of one group of patches.
type winogradRun[T gemm.Float] struct {
	*winograd[T]
	in, residual, out []T
	v, m              unsafe.Pointer // transformed inputs and products
	first, patches    int
}

func (r *winogradRun[T]) transformInputs(lo, hi int) {
	var scratch [tile.WinogradScratch]byte
	g, size := &r.geometry, int(unsafe.Sizeof(r.in[0]))
	args := tile.WinogradArgs{Scratch: unsafe.Pointer(&scratch), Vectors: int64(g.InChannels / lanesOf[T](r.isa))}
	args.Bias, args.Residual = args.Scratch, args.Scratch
	for i := lo; i < hi; i++ {
		image, patch := (r.first+i)/len(r.input), &r.input[(r.first+i)%len(r.input)]
		args.From, args.Offset = unsafe.Pointer(&r.in[image*g.InChannels*Volume(g.In)]), int64(patch.in*size)
		args.To = unsafe.Add(r.v, i*g.InChannels*size)
		patch.code.Call(unsafe.Pointer(&args))
	}
}

// multiply computes the products of some of the 36 elements.
func (r *winogradRun[T]) multiply(lo, hi int) {
	g, size, lanes := &r.geometry, int(unsafe.Sizeof(r.in[0])), lanesOf[T](r.isa)
	tiles, panelColumns := gemm.CutRows(r.patches, tile.MaxRows(r.isa, gemm.PanelVectors)), gemm.PanelVectors*lanes
	args := tile.TileArgs{ARow: int64(g.InChannels * size), CRow: int64(g.OutChannels * size), K: int64(g.InChannels)}
	for e := lo; e < hi; e++ {
		for first := 0; first < g.OutChannels; first += panelColumns {
			t := tile.Tile{ISA: r.isa, Double: size == 8, Vectors: uint8(PanelWidth(g.OutChannels, first/panelColumns, lanes) / lanes), Prefetch: true, Walk: true}
			args.B = unsafe.Pointer(&r.weight[(e*g.OutChannels+first)*g.InChannels])
			args.A = unsafe.Add(r.v, e*r.inStep)
			args.C = unsafe.Add(r.m, e*r.outStep+first*size)
			tiles.WalkPanel(&t, &args, g.InChannels*size)
		}
	}
}

func (r *winogradRun[T]) transformOutputs(lo, hi int) {
	var scratch [tile.WinogradScratch]byte
	g, size := &r.geometry, int(unsafe.Sizeof(r.in[0]))
	args := tile.WinogradArgs{Scratch: unsafe.Pointer(&scratch), Bias: unsafe.Pointer(&r.bias[0]), Vectors: int64(g.OutChannels / lanesOf[T](r.isa))}
	args.Residual = args.Scratch
	for i := lo; i < hi; i++ {
		image, patch := (r.first+i)/len(r.output), &r.output[(r.first+i)%len(r.output)]
		to := image*g.OutChannels*Volume(g.Out) + patch.out
		args.From, args.To = unsafe.Add(r.m, i*g.OutChannels*size), unsafe.Pointer(&r.out[to])
		if r.options.Residual && r.options.Epilogue == nil {
			args.Residual = unsafe.Pointer(&r.residual[to])
		}
		patch.code.Call(unsafe.Pointer(&args))
	}
}
