package vision

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// gridGrad is the derivative of reading images or volumes at places: the gradient operator of that name gives those of both.
func gridGrad(name string) define.Derivative {
	return func(c define.Gradient) {
		define.GiveMasked(c.Gradient, []int{0, 1}, name, c.G(), c.In(0), c.In(1), c.Arg(2), c.Arg(3), c.Arg(4))
	}
}

// gridSampleBackward gives the gradients of images or volumes and of the places at which they were read.
func gridSampleBackward(c define.Call) {
	g, x, grid := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	how := gridding{mode: c.Int(3), border: c.Int(4), corners: c.Bool(5), first: 5 - x.Dim(), sizes: [3]int{1, 1, 1}}
	if x.Dim() == 5 {
		checkVolumes(x, grid, how.mode)
	} else {
		checkImages(x, grid)
	}
	how.channels = x.Size(1)
	copy(how.sizes[how.first:], x.Shape()[2:])
	for d := range x.Dim() {
		size := grid.Size(max(d-1, 0))
		if d == 1 {
			size = how.channels
		}
		source.Check(g.Dim() == x.Dim() && g.Size(d) == size, "grid_sampler_backward(): expected grad_output with the sizes of the result, but got grad_output with sizes %s", define.ShapeText(g.Shape()))
	}
	d, wanted := tensor.Float64, [2]bool{c.Masked(6, 0), c.Masked(6, 1)}
	if x.DType() == tensor.Float32 {
		d = tensor.Float32
	}
	made := [2]*tensor.Tensor{}
	for i, like := range []*tensor.Tensor{x, grid} {
		if c.Out[i] = value.None; wanted[i] {
			made[i] = define.Zeros(like.Shape(), d)
		}
	}
	if d == tensor.Float32 {
		sampledBack[float32](made, g, x, grid, &how)
	} else {
		sampledBack[float64](made, g, x, grid, &how)
	}
	for i, like := range []*tensor.Tensor{x, grid} {
		if wanted[i] {
			c.Out[i] = value.OfTensor(elementwise.To(made[i], like.DType()))
		}
	}
}

// sampledBack fills the gradients that are wanted, which are zero.
func sampledBack[T float32 | float64](made [2]*tensor.Tensor, g, x, grid *tensor.Tensor, how *gridding) {
	d := tensor.DTypeOf[T]()
	data := func(t *tensor.Tensor) []T { return tensor.Data[T](elementwise.Contiguous(elementwise.To(t, d))) }
	from, images, at := data(g), data(x), data(grid)
	places, image, parts := define.NumelOf(grid.Shape()[1:grid.Dim()-1]), how.sizes[0]*how.sizes[1]*how.sizes[2], 3-how.first
	work := places*how.channels*16 + 1
	parallel.For(x.Size(0), define.RowGrain/work+1, func(lo, hi int) {
		var watch parallel.Watch
		block := backBlock[T]{gridding: how}
		for b := lo; b < hi; b++ {
			for p := 0; p < places; p += blockPlaces {
				n := min(blockPlaces, places-p)
				watch.Did(16 * n * (how.channels + 1))
				first := (b*places + p) * parts
				block.find(at[first:first+n*parts], n, made[1] != nil)
				for channel := range how.channels {
					plane := (b*how.channels + channel) * image
					block.grads = from[(b*how.channels+channel)*places+p:][:n]
					if made[0] != nil {
						block.addTo(tensor.Data[T](made[0])[plane : plane+image])
					}
					if made[1] != nil {
						block.along(images[plane : plane+image])
					}
				}
				if made[1] != nil {
					block.put(tensor.Data[T](made[1])[first : first+n*parts])
				}
			}
		}
	})
}

// backBlock has the inputs of some places, by what they are multiplied, and the derivatives of that by each coordinate.
type backBlock[T float32 | float64] struct {
	*gridding
	inputs  []int
	weights []T
	slopes  [3][]T
	ends    [blockPlaces]int
	sums    [3][blockPlaces]float64 // of the products of slopes, inputs and gradients
	grads   []T
}

// find lists the inputs of n places.
func (b *backBlock[T]) find(at []T, n int, slopes bool) {
	b.inputs, b.weights = b.inputs[:0], b.weights[:0]
	for d := range b.slopes {
		b.slopes[d] = b.slopes[d][:0]
	}
	parts := 3 - b.first
	for i := range n {
		var along [3]backTaps
		along[0].put(0, 1, 0, 1)
		for d := b.first; d < 3; d++ {
			along[d].at(float64(at[i*parts+2-d]), b.sizes[d], b.gridding)
		}
		for _, z := range along[0].listed() {
			for _, y := range along[1].listed() {
				row, wzy := (z.index*b.sizes[1]+y.index)*b.sizes[2], z.weight*y.weight
				for _, x := range along[2].listed() {
					b.inputs, b.weights = append(b.inputs, row+x.index), append(b.weights, T(wzy*x.weight))
					if slopes {
						b.slopes[0] = append(b.slopes[0], T(z.slope*y.weight*x.weight))
						b.slopes[1] = append(b.slopes[1], T(z.weight*y.slope*x.weight))
						b.slopes[2] = append(b.slopes[2], T(wzy*x.slope))
					}
				}
			}
		}
		b.ends[i] = len(b.inputs)
		for d := range b.sums {
			b.sums[d][i] = 0
		}
	}
}

// addTo adds what a plane of gradients is to that of the inputs.
func (b *backBlock[T]) addTo(plane []T) {
	at := 0
	for i, g := range b.grads {
		end := b.ends[i]
		inputs, weights := b.inputs[at:end], b.weights[at:end]
		for k, input := range inputs {
			plane[input] += weights[k] * g
		}
		at = end
	}
}

// along adds the slopes of what is read of a plane, times the gradients.
func (b *backBlock[T]) along(plane []T) {
	at, volumes := 0, b.first == 0
	for i, g := range b.grads {
		end := b.ends[i]
		inputs, dy, dx := b.inputs[at:end], b.slopes[1][at:end], b.slopes[2][at:end]
		var y, x T
		for k, input := range inputs {
			v := plane[input]
			y, x = y+v*dy[k], x+v*dx[k]
		}
		b.sums[1][i] += float64(y * g)
		b.sums[2][i] += float64(x * g)
		if volumes {
			var z T
			for k, dz := range b.slopes[0][at:end] {
				z += plane[inputs[k]] * dz
			}
			b.sums[0][i] += float64(z * g)
		}
		at = end
	}
}

// put writes the gradients of the places.
func (b *backBlock[T]) put(to []T) {
	parts := 3 - b.first
	for i := range len(to) / parts {
		for d := b.first; d < 3; d++ {
			to[i*parts+2-d] = T(b.sums[d][i])
		}
	}
}

// backTaps are gridTaps with the slopes of the weights.
type backTaps struct {
	taps [4]backTap
	n    int
}

type backTap struct {
	index         int
	weight, slope float64
}

func (t *backTaps) listed() []backTap { return t.taps[:t.n] }

// put adds input i of n, where there is one.
func (t *backTaps) put(i int, w, slope float64, n int) {
	if i >= 0 && i < n {
		t.taps[t.n] = backTap{i, w, slope}
		t.n++
	}
}

// at lists the inputs for the coordinate v among n places. A place that is moved to the border has no slope.
func (t *backTaps) at(v float64, n int, g *gridding) {
	t.n = 0
	place, step := g.placeOf(v, n), float64(n)/2
	if g.corners {
		step = float64(n-1) / 2
	}
	switch g.mode {
	case gridNearest:
		t.put(int(math.RoundToEven(g.fix(place, n))), 1, 0, n)
	case gridBicubic:
		base := math.Floor(place)
		for j := -1.0; j <= 2; j++ {
			away := place - base - j
			t.put(int(g.fix(base+j, n)), cubic(math.Abs(away), -0.75), cubicSlope(away, -0.75)*step, n)
		}
	default:
		moved := g.fix(place, n)
		step *= g.slope(place, moved, n)
		low := math.Floor(moved)
		t.put(int(low), low+1-moved, -step, n)
		t.put(int(low)+1, moved-low, step, n)
	}
}

// slope is the derivative of fix at a place, which it moves.
func (g *gridding) slope(place, moved float64, n int) float64 {
	switch {
	case g.border == gridZeros:
		return 1
	case moved <= 0 || moved >= float64(n-1):
		return 0
	case g.border == gridBorder:
		return 1
	}
	low, high := -0.5, float64(n)-0.5
	if g.corners {
		low, high = 0, float64(n-1)
	}
	sign := 1.0
	if place < low {
		sign = -1
	}
	if math.Mod(math.Floor(math.Abs(place-low)/(high-low)), 2) != 0 {
		sign = -sign
	}
	return sign
}

// cubicSlope is the derivative of cubic of |x| by x.
func cubicSlope(x, a float64) float64 {
	sign := 1.0
	if x < 0 {
		x, sign = -x, -1
	}
	switch {
	case x < 1:
		return sign * (3*(a+2)*x - 2*(a+3)) * x
	case x < 2:
		return sign * ((3*x-10)*x + 8) * a
	}
	return 0
}
