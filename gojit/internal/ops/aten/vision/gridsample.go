package vision

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// checkVolumes fails where volumes cannot be read at the places of a grid.
func checkVolumes(x, grid *tensor.Tensor, mode int) {
	source.Check(x.Dim() == 5 && grid.Dim() == 5 && grid.Size(4) == 3, "grid_sampler(): expected 5D input and grid with a last dimension of size 3, but got input with sizes %s and grid with sizes %s", define.ShapeText(x.Shape()), define.ShapeText(grid.Shape()))
	source.Check(x.Size(0) == grid.Size(0), "grid_sampler(): expected grid and input to have same batch size, but got input with sizes %s and grid with sizes %s", define.ShapeText(x.Shape()), define.ShapeText(grid.Shape()))
	source.Check(mode != gridBicubic, "grid_sampler(): bicubic interpolation only supports 4D input")
}

// checkImages fails where images cannot be read at the places of a grid.
func checkImages(x, grid *tensor.Tensor) {
	source.Check(x.Dim() != 4 || grid.Dim() != 4 || grid.Size(3) == 2, "grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes %s", define.ShapeText(grid.Shape()))
	source.Check(x.Dim() == 4 && grid.Dim() == 4, "grid_sampler(): expected 4D input and grid with a last dimension of size 2, but got input with sizes %s and grid with sizes %s", define.ShapeText(x.Shape()), define.ShapeText(grid.Shape()))
	source.Check(x.Size(0) == grid.Size(0), "grid_sampler(): expected grid and input to have same batch size, but got input with sizes %s and grid with sizes %s", define.ShapeText(x.Shape()), define.ShapeText(grid.Shape()))
}

// gridSampleVolume is gridSample for volumes.
func gridSampleVolume(c define.Call) *tensor.Tensor {
	x, grid, mode, border, corners := c.Tensor(0), c.Tensor(1), c.Int(2), c.Int(3), c.Bool(4)
	checkVolumes(x, grid, mode)
	n, channels, depth, h, w := x.Size(0), x.Size(1), x.Size(2), x.Size(3), x.Size(4)
	out := define.Empty([]int{n, channels, grid.Size(1), grid.Size(2), grid.Size(3)}, x.DType())
	sampled(out, x, grid, gridding{mode: mode, border: border, corners: corners, channels: channels, sizes: [3]int{depth, h, w}, first: 0})
	return out
}

// gridSample reads an image at the places that a grid of coordinates in [-1, 1] names.
func gridSample(c define.Call) *tensor.Tensor {
	x, grid, mode, border, corners := c.Tensor(0), c.Tensor(1), c.Int(2), c.Int(3), c.Bool(4)
	checkImages(x, grid)
	n, channels, h, w := x.Size(0), x.Size(1), x.Size(2), x.Size(3)
	out := define.Empty([]int{n, channels, grid.Size(1), grid.Size(2)}, x.DType())
	sampled(out, x, grid, gridding{mode: mode, border: border, corners: corners, channels: channels, sizes: [3]int{1, h, w}, first: 1})
	return out
}

// gridSampleOf is gridSample of images or of volumes.
func gridSampleOf(c define.Call) *tensor.Tensor {
	if c.Tensor(0).Dim() == 5 {
		return gridSampleVolume(c)
	}
	return gridSample(c)
}

// gridding is the way to read images or volumes at places: sizes are those of depth, height and width, of which the first one counts.
type gridding struct {
	mode, border int
	corners      bool
	channels     int
	sizes        [3]int
	first        int
}

// sampled fills out with x at the places of a grid.
func sampled(out, x, grid *tensor.Tensor, g gridding) {
	if x.DType() == tensor.Float32 {
		sampledAs[float32](out, x, grid, g)
	} else {
		sampledAs[float64](out, x, grid, g)
	}
}

func sampledAs[T float32 | float64](out, x, grid *tensor.Tensor, g gridding) {
	d := tensor.DTypeOf[T]()
	made := out
	if out.DType() != d {
		made = define.Empty(out.Shape(), d)
	}
	src, at := tensor.Data[T](elementwise.Contiguous(elementwise.To(x, d))), tensor.Data[T](elementwise.Contiguous(elementwise.To(grid, d)))
	dst, image := tensor.Data[T](made), g.sizes[0]*g.sizes[1]*g.sizes[2]
	places, parts := define.NumelOf(grid.Shape()[1:grid.Dim()-1]), 3-g.first
	parallel.For(x.Size(0)*places, (define.RowGrain/(g.channels+4)/blockPlaces+1)*blockPlaces, func(lo, hi int) {
		var watch parallel.Watch
		block := gridBlock{corners: make([]int, 0, blockPlaces), shares: make([][4]float64, blockPlaces), others: make([]gridOther, 0, blockPlaces)}
		for k := lo; k < hi; {
			b, p := k/places, k%places
			n := min(blockPlaces, hi-k, places-p)
			watch.Did(16 * n * (g.channels + 1))
			block.clear()
			findPlaces(&block, at[k*parts:(k+n)*parts], &g)
			for c := range g.channels {
				combineBlock(&block, dst[(b*g.channels+c)*places+p:][:n], src[(b*g.channels+c)*image:][:image], g.sizes[2])
			}
			k += n
		}
	})
	if made != out {
		source.Throw(tensor.Copy(out, made))
		made.Release()
	}
}

// blockPlaces is for how many places of a grid the inputs are found before they are read, channel by channel.
const blockPlaces = 128

// gridBlock has the inputs of some places, and by what they are multiplied. Places of images between four inputs stand apart from the others.
type gridBlock struct {
	corners []int        // the inputs above and to the left of all places, or none where none is inside; those of others mean nothing
	shares  [][4]float64 // by which the four inputs of each place are multiplied
	others  []gridOther
	inputs  []int // those of an other place begin where those of the last one end
	weights []float64
	nearest bool // each place is an input, or zero where that is -1
	single  bool // each of the others has one input
}

// gridOther is any other place, and where its inputs end.
type gridOther struct{ place, end int }

func (b *gridBlock) clear() {
	b.corners, b.others, b.inputs, b.weights, b.nearest, b.single = b.corners[:0], b.others[:0], b.inputs[:0], b.weights[:0], false, true
}

// findPlaces adds the places of coordinates.
func findPlaces[T float32 | float64](b *gridBlock, at []T, g *gridding) {
	if g.mode == gridBilinear && g.first == 1 {
		findSquares(b, at, g)
		return
	}
	if g.mode == gridNearest && g.first == 1 {
		findNearest(b, at, g)
		return
	}
	parts := 3 - g.first
	for i := range len(at) / parts {
		var v [3]float64
		for d := g.first; d < 3; d++ {
			v[d] = float64(at[i*parts+2-d])
		}
		b.add(i, &v, g)
	}
}

// findNearest is findPlaces for the inputs of images that are nearest.
func findNearest[T float32 | float64](b *gridBlock, at []T, g *gridding) {
	n := len(at) / 2
	b.inputs = slices.Grow(b.inputs, n)[:n]
	h, w := float64(g.sizes[1]), float64(g.sizes[2])
	for i := range n {
		x, y := g.placeOf(float64(at[2*i]), g.sizes[2]), g.placeOf(float64(at[2*i+1]), g.sizes[1])
		if g.border != gridZeros {
			x, y = g.fix(x, g.sizes[2]), g.fix(y, g.sizes[1])
		}
		x, y = math.RoundToEven(x), math.RoundToEven(y)
		b.inputs[i] = -1
		if x >= 0 && y >= 0 && x < w && y < h {
			b.inputs[i] = int(y)*g.sizes[2] + int(x)
		}
	}
	b.nearest = true
}

// findSquares is findPlaces for places of images that are between inputs.
func findSquares[T float32 | float64](b *gridBlock, at []T, g *gridding) {
	h, w, corners, shares := float64(g.sizes[1]), float64(g.sizes[2]), b.corners[:len(at)/2], b.shares[:len(at)/2]
	for i := range corners {
		vx, vy := float64(at[2*i]), float64(at[2*i+1])
		x, y := ((vx+1)*w-1)/2, ((vy+1)*h-1)/2
		if g.corners {
			x, y = (vx+1)/2*(w-1), (vy+1)/2*(h-1)
		}
		if g.border != gridZeros {
			x, y = g.fix(x, g.sizes[2]), g.fix(y, g.sizes[1])
		}
		if !(y >= 0 && x >= 0 && y < h-1 && x < w-1) {
			corners[i] = 0
			b.add(i, &[3]float64{0, vy, vx}, g)
			continue
		}
		above, left := int(y), int(x)
		top, start := float64(above), float64(left)
		up, down, near, far := top+1-y, y-top, start+1-x, x-start
		corners[i] = above*g.sizes[2] + left
		s := &shares[i]
		s[0], s[1], s[2], s[3] = up*near, up*far, down*near, down*far
	}
	if len(b.others) < len(corners) {
		b.corners = corners
	}
}

// add adds any place.
func (b *gridBlock) add(place int, v *[3]float64, g *gridding) {
	var along [3]gridTaps
	along[0].put(0, 1, 1)
	for d := g.first; d < 3; d++ {
		along[d].at(v[d], g.sizes[d], g)
	}
	before := len(b.inputs)
	for _, z := range along[0].listed() {
		for _, y := range along[1].listed() {
			row, wy := (z.index*g.sizes[1]+y.index)*g.sizes[2], z.weight*y.weight
			for _, x := range along[2].listed() {
				b.inputs, b.weights = append(b.inputs, row+x.index), append(b.weights, wy*x.weight)
			}
		}
	}
	b.others = append(b.others, gridOther{place, len(b.inputs)})
	b.single = b.single && len(b.inputs) == before+1
}

// combineBlock writes what a block makes of a plane, whose rows are so wide.
func combineBlock[T float32 | float64](b *gridBlock, dst, plane []T, width int) {
	if b.nearest {
		for i, input := range b.inputs[:len(dst)] {
			var v T
			if uint(input) < uint(len(plane)) {
				v = 0 + plane[input] // no negative zero
			}
			dst[i] = v
		}
		return
	}
	for i := combineSquares(b, dst, plane, width); i < len(b.corners); i++ {
		k, w := b.corners[i], &b.shares[i]
		above, below := plane[k:k+2], plane[k+width:k+width+2]
		dst[i] = T(0 + w[0]*float64(above[0]) + w[1]*float64(above[1]) + w[2]*float64(below[0]) + w[3]*float64(below[1])) // no negative zero
	}
	if b.single {
		inputs, weights := b.inputs[:len(b.others)], b.weights[:len(b.others)]
		for i := range inputs {
			dst[b.others[i].place] = T(0 + weights[i]*float64(plane[inputs[i]])) // a sum from 0, which has no negative zero
		}
		return
	}
	from := 0
	for i := range b.others {
		sum, end := 0.0, b.others[i].end
		for ; from < end; from++ {
			sum += b.weights[from] * float64(plane[b.inputs[from]])
		}
		dst[b.others[i].place] = T(sum)
	}
}

// Modes of gridSample.
const (
	gridBilinear = 0
	gridNearest  = 1
	gridBicubic  = 2

	gridZeros   = 0
	gridBorder  = 1
	gridReflect = 2
)

// gridTaps are the inputs within bounds for one coordinate.
type gridTaps struct {
	taps [4]gridTap
	n    int
}

type gridTap struct {
	index  int
	weight float64
}

func (t *gridTaps) listed() []gridTap { return t.taps[:t.n] }

// put adds input i of n, where there is one.
func (t *gridTaps) put(i int, w float64, n int) {
	if i >= 0 && i < n {
		t.taps[t.n] = gridTap{i, w}
		t.n++
	}
}

// at lists the inputs for the coordinate v among n places.
func (t *gridTaps) at(v float64, n int, g *gridding) {
	t.n = 0
	place := g.placeOf(v, n)
	switch g.mode {
	case gridNearest:
		t.put(int(math.RoundToEven(g.fix(place, n))), 1, n)
	case gridBicubic:
		base := math.Floor(place)
		for j := -1.0; j <= 2; j++ {
			t.put(int(g.fix(base+j, n)), cubic(math.Abs(place-base-j), -0.75), n)
		}
	default:
		place = g.fix(place, n)
		low := math.Floor(place)
		t.put(int(low), low+1-place, n)
		t.put(int(low)+1, place-low, n)
	}
}

// placeOf is where the coordinate v lies among n places.
func (g *gridding) placeOf(v float64, n int) float64 {
	if g.corners {
		return (v + 1) / 2 * float64(n-1)
	}
	return ((v+1)*float64(n) - 1) / 2
}

// fix moves a place into the borders, where it is not to be outside.
func (g *gridding) fix(p float64, n int) float64 {
	switch g.border {
	case gridBorder:
		return min(max(p, 0), float64(n-1))
	case gridReflect:
		return min(max(reflect(p, n, g.corners), 0), float64(n-1))
	}
	return p
}

// reflect folds a coordinate back between the borders.
func reflect(p float64, n int, corners bool) float64 {
	low, high := -0.5, float64(n)-0.5
	if corners {
		low, high = 0, float64(n-1)
	}
	span := high - low
	if span <= 0 {
		return 0
	}
	d := math.Abs(p - low)
	if d < span {
		return d + low
	}
	flips, rest := math.Floor(d/span), math.Mod(d, span)
	if math.Mod(flips, 2) == 0 {
		return rest + low
	}
	return span - rest + low
}
