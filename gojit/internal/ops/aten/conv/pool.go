package aten

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops"

	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// window1 is what one output of a pooling reads along one dimension: the inputs from lo to hi, step apart.
type window1 struct {
	lo, hi, step int
	padded       int // inputs counted with the padding
}

// pooling is a reduction of windows over the last dimensions.
type pooling struct {
	n       int         // dimensions
	windows [][]window1 // for each of the last n dimensions and each output along it
	// kernel and what follows are empty where windows differ in more than their place
	kernel, stride, padding, dilation []int
}

// checkPooled asks for an input of n dimensions besides its channels, or a batch of them.
func checkPooled(name string, x *tensor.Tensor, n int) {
	isMax := strings.HasPrefix(name, "max_pool")
	if x.Dim() == n+1 || x.Dim() == n+2 {
		if !isMax || n > 1 || !slices.Contains(x.Shape()[x.Dim()-n-1:], 0) {
			return
		}
	}
	const batch = "Expected %dD or %dD (batch mode) tensor with optional 0 dim batch size for input, but got:%s"
	switch {
	case name == "avg_pool1d":
		checkDimensions(name, x)
	case n == 1:
		check(false, "max_pool1d: "+batch, n+1, n+2, shapeText(x.Shape()))
	case name == "avg_pool2d":
		wrapDim(-3, x)
		check(false, batch, n+1, n+2, shapeText(x.Shape()))
	}
	check(false, "non-empty %dD or %dD (batch mode) tensor expected for input", n+1, n+2)
}

// checkDimensions asks for a row of each channel, or a batch of them.
func checkDimensions(name string, x *tensor.Tensor) {
	check(x.Dim() == 2 || x.Dim() == 3, "Expected 2 to 3 dimensions, but got %d-dimensional tensor for argument #1 'self' (while checking arguments for %s)", x.Dim(), name)
}

func checkAdaptive(name string, x *tensor.Tensor, n int) {
	if n == 1 {
		checkDimensions(name, x)
	}
	colon := ""
	if strings.Contains(name, "max") {
		colon = ":"
	}
	check(x.Dim() == n+1 || x.Dim() == n+2, "%s(): Expected %dD or %dD tensor, but got%s %s", name, n+1, n+2, colon, shapeText(x.Shape()))
}

// poolArgs reads kernel, stride, padding and, where hasDilation, dilation from argument i on.
func poolArgs(name string, c call, i, n int, hasDilation bool, ceilAt int) pooling {
	x := c.tensor(0)
	checkPooled(name, x, n)
	kernel := c.intsOf(i, n, "kernel_size")
	stride := c.ints(i + 1)
	if len(stride) == 0 {
		stride = kernel
	} else {
		stride = c.intsOf(i+1, n, "stride")
	}
	padding := c.intsOf(i+2, n, "padding")
	dilation := slices.Repeat([]int{1}, n)
	if hasDilation {
		dilation = c.intsOf(i+3, n, "dilation")
	}
	if name == "max_pool1d" {
		checkLine(kernel[0], stride[0], padding[0], dilation[0])
	}
	sizes := [4]int{x.Size(x.Dim() - n - 1)}
	p := pooling{n: n, kernel: kernel, stride: stride, padding: padding, dilation: dilation}
	for d := range n {
		check(kernel[d] != 0 || len(c.ints(i+1)) > 0, "stride should not be zero")
		checkAxis(d, "kernel size", "k", kernel)
		check(stride[d] != 0, "stride should not be zero")
		checkAxis(d, "stride", "d", stride)
		checkAxis(d, "dilation", "dilation", dilation)
		check(padding[d] >= 0, "pad must be non-negative, but got pad: %d", padding[d])
		check(2*padding[d] <= kernel[d], "pad should be at most half of kernel size, but got pad=%d and kernel_size=%d", padding[d], kernel[d])
	}
	checkNotEmpty(name, x, n)
	for d := range n {
		in := x.Size(x.Dim() - n + d)
		out := pooledSize(in, kernel[d], stride[d], padding[d], dilation[d], c.bool(ceilAt))
		sizes[d+1] = out
		p.windows = append(p.windows, slidingWindows(in, max(out, 0), kernel[d], stride[d], padding[d], dilation[d]))
	}
	if slices.Min(sizes[1:n+1]) > 0 {
		return p
	}
	switch name {
	case "max_pool1d":
		check(false, "max_pool1d() Invalid computed output size: %d", sizes[1])
	case "max_pool1d_with_indices":
		check(false, "Given input size: (%dx1x%d). Calculated output size: (%dx1x%d). Output size is too small", sizes[0], x.Size(x.Dim()-1), sizes[0], sizes[1])
	}
	check(false, "Given input size: %v. Calculated output size: %v. Output size is too small",
		closeTimes(x.Shape()[x.Dim()-n-1:]), closeTimes(sizes[:n+1]))
	return p
}

// checkNotEmpty asks for rows, columns and, of max_pool, channels with elements.
func checkNotEmpty(name string, x *tensor.Tensor, n int) {
	empty := slices.Contains(x.Shape()[x.Dim()-n:], 0)
	if strings.HasPrefix(name, "max_pool") && (empty || x.Size(x.Dim()-n-1) == 0) {
		check(n == 3, "Expected %dD or %dD (batch mode) tensor with optional 0 dim batch size for input, but got:%s", n+1, n+2, shapeText(x.Shape()))
		check(false, "max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions to have positive length, but input has a shape of %s and non-batch dimension 0 has length zero!", shapeText(x.Shape()))
	}
	check(!empty, "%s(): Expected input to have non-zero size for non-batch dimensions, but got %s", name, shapeText(x.Shape()))
}

// checkLine asks for windows that make sense, in the words that PyTorch has where no gradient is recorded.
func checkLine(kernel, stride, padding, dilation int) {
	check(kernel > 0, "max_pool1d() kernel_size must be greater than zero, but got %d", kernel)
	check(stride > 0, "max_pool1d() stride must be greater than zero, but got %d", stride)
	check(padding >= 0, "max_pool1d() padding must be non-negative, but got %d", padding)
	check(padding <= kernel/2, "max_pool1d() padding should be at most half of kernel size, but got padding=%d and kernel_size=%d", padding, kernel)
	check(dilation > 0, "max_pool1d() dilation must be greater than zero, but got %d", dilation)
}

// checkAxis fails where number d of the dimensions of an image is not positive, and names them all, a line having a height of 1.
func checkAxis(d int, what, name string, sizes []int) {
	if sizes[d] > 0 {
		return
	}
	if len(sizes) == 1 {
		sizes = []int{1, sizes[0]}
	}
	parts := make([]string, len(sizes))
	for i, n := range sizes {
		parts[i] = fmt.Sprintf("%s%c: %d", name, "THW"[3-len(sizes)+i], n)
	}
	raise(source.RuntimeError, "%s should be greater than zero, but got %s", what, strings.Join(parts, " "))
}

func pooledSize(in, kernel, stride, padding, dilation int, ceil bool) int {
	span := in + 2*padding - dilation*(kernel-1) - 1
	if !ceil {
		return floorDiv(span, stride) + 1
	}
	out := floorDiv(span+stride-1, stride) + 1
	if (out-1)*stride >= in+padding {
		out--
	}
	return out
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

func slidingWindows(in, out, kernel, stride, padding, dilation int) []window1 {
	windows := table[window1](out)
	for i := range windows {
		lo := i*stride - padding
		end := lo + dilation*(kernel-1) + 1
		padded := min(lo+kernel, in+padding) - lo
		if lo < 0 {
			lo += (-lo + dilation - 1) / dilation * dilation
		}
		windows[i] = window1{lo, min(end, in), dilation, padded}
	}
	return windows
}

// adaptiveWindows divides a dimension into out windows of nearly equal size.
func adaptiveWindows(in, out int) []window1 {
	windows := table[window1](out)
	for i := range windows {
		lo, hi := adaptiveStart(i, in, out), adaptiveEnd(i, in, out)
		windows[i] = window1{lo, hi, 1, hi - lo}
	}
	return windows
}

// adaptiveStart returns i*in/out, which does not overflow.
func adaptiveStart(i, in, out int) int { return i/out*in + i%out*in/out }

// adaptiveEnd is where window i ends: where the next begins, rounded up.
func adaptiveEnd(i, in, out int) int { return ((i+1)*in + out - 1) / out }

// adaptive reads the output size, an entry of which may be None, from argument 1.
func adaptive(name string, c call, n int) pooling {
	x := c.tensor(0)
	checkAdaptive(name, x, n)
	size := c.intsOf(1, n, "output_size")
	p, regular := pooling{n: n}, true
	for d := range n {
		in := x.Size(x.Dim() - n + d)
		check(in > 0 || size[d] == 0, "%s(): Expected input to have non-zero size for non-batch dimensions, but input has sizes %s with dimension %d being empty", name, shapeText(x.Shape()), x.Dim()-n+d)
		check(size[d] >= 0, "%s(): elements of output_size must be greater than or equal to 0 but received {%d}", name, size[d])
		p.windows = append(p.windows, adaptiveWindows(in, size[d]))
		if size[d] == 0 || in%size[d] != 0 {
			regular = false
			continue
		}
		p.kernel, p.padding, p.dilation = append(p.kernel, in/size[d]), append(p.padding, 0), append(p.dilation, 1)
	}
	p.stride = p.kernel
	if !regular {
		p.kernel = nil
	}
	return p
}

// geometry describes the windows to package dense, which pools with generated kernels where it reports true.
func (p *pooling) geometry(x *tensor.Tensor) (dense.Convolution, bool) {
	if p.kernel == nil || p.n > 2 {
		return dense.Convolution{}, false
	}
	one := [3]int{1, 1, 1}
	planes := numelOf(x.Shape()[:x.Dim()-p.n])
	g := dense.Convolution{Batch: 1, Groups: planes, InChannels: planes, OutChannels: planes, In: one, Out: one, Kernel: one, Stride: one, Dilation: one}
	for d := range p.n {
		at := 3 - p.n + d
		g.In[at], g.Out[at], g.Kernel[at] = x.Size(x.Dim()-p.n+d), len(p.windows[d]), p.kernel[d]
		g.Stride[at], g.Padding[at], g.Dilation[at] = p.stride[d], p.padding[d], p.dilation[d]
		if g.Out[at] == 1 {
			g.Stride[at] = 1 // nothing depends on it
		}
	}
	return g, planes > 0 && g.CanPool()
}

func (p *pooling) shape(x *tensor.Tensor) []int {
	shape := slices.Clone(x.Shape()[:x.Dim()-p.n])
	for _, w := range p.windows {
		shape = append(shape, len(w))
	}
	return shape
}

// volume is a plane with its windows, as one of three dimensions.
type volume struct {
	sizes   [3]int
	windows [3][]window1
}

func (p *pooling) volume(x *tensor.Tensor) *volume {
	v := &volume{sizes: [3]int{1, 1, 1}}
	for d := range 3 {
		v.windows[d] = []window1{{0, 1, 1, 1}}
	}
	for d := range p.n {
		v.sizes[3-p.n+d], v.windows[3-p.n+d] = x.Size(x.Dim()-p.n+d), p.windows[d]
	}
	return v
}

// at is where an element of the plane lies.
func (v *volume) at(i, j, k int) int { return (i*v.sizes[1]+j)*v.sizes[2] + k }

// longRow is how much of a row a window reads that counts as work of its own.
const longRow = 1 << 12

// work is how many elements the windows of a row of outputs read.
func (v *volume) work(a, b window1) int {
	c := v.windows[2]
	return a.count() * b.count() * (c[0].count() + c[len(c)-1].count() + 2) / 2 * len(c)
}

// reads lists what every output of a plane is made of: those of output i are inputs[starts[i]:starts[i+1]].
type reads struct {
	starts, inputs []int32
	firsts         []int32 // where a window that has no inputs would begin
}

// table lists the reads of a plane, nil where they are so many that the list would be larger than the plane is worth, or too large for its numbers.
// forget gives the memory of the lists back.
func (v *volume) table() (r *reads, forget func()) {
	const most = 1 << 22
	windows, inputs := 1, 1.0
	for _, along := range v.windows {
		count := 0
		for _, w := range along {
			count += w.count()
		}
		windows *= len(along)
		inputs *= float64(count)
	}
	if v.at(v.sizes[0], 0, 0) > math.MaxInt32 || float64(windows)+inputs > most {
		return nil, func() {}
	}
	room := empty([]int{2*windows + 1 + int(inputs)}, tensor.Int32)
	numbers := tensor.Data[int32](room)
	r = &reads{starts: append(numbers[:0:windows+1], 0), firsts: numbers[windows+1 : windows+1 : 2*windows+1], inputs: numbers[2*windows+1:][:0]}
	for _, a := range v.windows[0] {
		for _, b := range v.windows[1] {
			for _, c := range v.windows[2] {
				for i := a.lo; i < a.hi; i += a.step {
					for j := b.lo; j < b.hi; j += b.step {
						for k := c.lo; k < c.hi; k += c.step {
							r.inputs = append(r.inputs, int32(v.at(i, j, k)))
						}
					}
				}
				r.starts = append(r.starts, int32(len(r.inputs)))
				r.firsts = append(r.firsts, int32(v.at(a.lo, b.lo, c.lo)))
			}
		}
	}
	return r, room.Release
}

func (w window1) count() int { return max(0, (w.hi-w.lo+w.step-1)/w.step) }

// poolPlanes runs f over every plane of x and the result.
func poolPlanes[T tensor.Element](p *pooling, x, out *tensor.Tensor, f func(plane, result []T, base int)) {
	in, size := numelOf(x.Shape()[x.Dim()-p.n:]), numelOf(out.Shape()[out.Dim()-p.n:])
	src, dst := tensor.Data[T](x), tensor.Data[T](out)
	if size == 0 {
		return
	}
	tensor.Parallel(len(dst)/size, rowGrain/(8*size)+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(src[i*in:(i+1)*in], dst[i*size:(i+1)*size], i*size)
		}
	})
}

// maxPool gives the largest element of each window and its index in the plane.
func maxPool(x *tensor.Tensor, p pooling) (out, indices *tensor.Tensor) {
	noComplexOrder("max_pool")(x.DType())
	if x.IsHollow() {
		return emptyBeside(x, p.shape(x), x.DType()), emptyBeside(x, p.shape(x), tensor.Int64)
	}
	if x.OnDevice() {
		return maxPoolOnDevice(x, p)
	}
	work := accumulator(x.DType())
	in := asWork(x, work)
	defer forgetMade(x, in)
	out, indices = empty(p.shape(x), work), empty(p.shape(x), tensor.Int64)
	at := tensor.Data[int64](indices)
	v := p.volume(x)
	switch work {
	case tensor.Int64:
		poolPlanes(&p, in, out, func(plane, result []int64, base int) { maxPlane(v, plane, result, at[base:]) })
	case tensor.Float32:
		r, forget := v.table()
		defer forget()
		poolPlanes(&p, in, out, func(plane, result []float32, base int) {
			if r != nil {
				maxPlane32(r, plane, result, at[base:])
			} else {
				maxPlane(v, plane, result, at[base:])
			}
		})
	default:
		poolPlanes(&p, in, out, func(plane, result []float64, base int) { maxPlane(v, plane, result, at[base:]) })
	}
	return ownTo(out, x.DType()), indices
}

// leastNumber returns the number below all others of a type.
func leastNumber[T ordered]() (x T) {
	switch p := any(&x).(type) {
	case *int64:
		*p = math.MinInt64
	case *float32:
		*p = float32(math.Inf(-1))
	case *float64:
		*p = math.Inf(-1)
	}
	return x
}

func maxPlane[T ordered](v *volume, plane, result []T, at []int64) {
	var watch tensor.Watch
	next := 0
	for _, a := range v.windows[0] {
		for _, b := range v.windows[1] {
			watch.Did(v.work(a, b))
			for _, c := range v.windows[2] {
				best, highest := v.at(a.lo, b.lo, c.lo), leastNumber[T]()
				for i, isFirst := a.lo, true; i < a.hi; i += a.step {
					for j := b.lo; j < b.hi; j += b.step {
						row := v.at(i, j, 0)
						if c.hi-c.lo > longRow {
							watch.Did(c.hi - c.lo)
						}
						for k := c.lo; k < c.hi; k += c.step {
							if x := plane[row+k]; isFirst || x > highest || x != x {
								best, highest, isFirst = row+k, x, false
							}
						}
					}
				}
				result[next], at[next] = highest, int64(best)
				next++
			}
		}
	}
}

// maxPlane32 is maxPlane for float32 by a table. Elements are compared as integers that lie in the same order, and masks made of differences keep
// one or the other: a branch could not be foreseen.
func maxPlane32(r *reads, plane, result []float32, at []int64) {
	bits := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(plane))), len(plane))
	var watch tensor.Watch
	for i := range result {
		inputs := r.inputs[r.starts[i]:r.starts[i+1]]
		watch.Did(len(inputs))
		if len(inputs) == 0 {
			result[i], at[i] = leastNumber[float32](), int64(r.firsts[i])
			continue
		}
		best, highest := int64(inputs[0]), ordered32(bits[inputs[0]])
		for _, input := range inputs[1:] {
			j, n := int64(input), ordered32(bits[input])
			if n == lastNaN {
				best, highest = j, n
				continue
			}
			isHigher := (highest - n) >> 63
			best += (j - best) & isHigher
			highest += (n - highest) & isHigher
		}
		result[i], at[i] = plane[best], best
	}
}

// lastNaN exceeds what stands for numbers; of several NaN the last one is kept.
const lastNaN = math.MaxInt32

// ordered32 returns an integer that exceeds that of another number where the number is larger, made of its bits.
func ordered32(bits int32) int64 {
	magnitude, sign := bits&math.MaxInt32, bits>>31
	if magnitude > 0x7f800000 {
		return lastNaN
	}
	return int64(magnitude^sign) - int64(sign)
}

// pooledMaxima gives the largest element of each window, without its index.
func pooledMaxima(x *tensor.Tensor, p pooling) *tensor.Tensor {
	if x.OnDevice() {
		out, _ := maxPoolOnDevice(x, p)
		return out
	}
	g, ok := p.geometry(x)
	work := accumulator(x.DType())
	if !ok || work != tensor.Float32 && work != tensor.Float64 {
		out, _ := maxPool(x, p)
		return out
	}
	last, isLast := p.lastGeometry(x, work)
	switch {
	case x.IsHollow():
		return laidOut(emptyBeside(x, p.shape(x), x.DType()), isLast, false)
	case isLast:
		if work == tensor.Float32 {
			return poolLast(dense.NewMaxPoolPlan[float32](last), last, x)
		}
		return poolLast(dense.NewMaxPoolPlan[float64](last), last, x)
	}
	in := asWork(x, work)
	defer forgetMade(x, in)
	out := empty(p.shape(x), work)
	if work == tensor.Float32 {
		dense.MaxPool(g, tensor.Data[float32](in), tensor.Data[float32](out))
	} else {
		dense.MaxPool(g, tensor.Data[float64](in), tensor.Data[float64](out))
	}
	return ownTo(out, x.DType())
}

// averagePool gives the mean of each window. The divisor is the number of inputs, with padding
// where includePad, unless override is not 0.
func averagePool(x *tensor.Tensor, p pooling, includePad bool, override int) *tensor.Tensor {
	name := "avg_pool2d"
	if p.n == 3 {
		name = "avg_pool3d_out_frame"
	}
	if x.OnDevice() && (x.DType() == tensor.Int64 || x.DType().IsFloating()) {
		return averagePoolOnDevice(x, p, includePad, override)
	}
	if x.DType() == tensor.Int64 {
		return averageIntegers(x, &p, divisors[float64](&p, includePad, override))
	}
	if !x.DType().IsFloating() {
		notImplemented(name, x.DType())
	}
	work := accumulator(x.DType())
	last, isLast := p.lastGeometry(x, work)
	switch {
	case x.IsHollow():
		return laidOut(emptyBeside(x, p.shape(x), x.DType()), isLast, false)
	case isLast:
		if work == tensor.Float32 {
			return poolLast(dense.NewAveragePoolPlan(last, divisors[float32](&p, includePad, override)), last, x)
		}
		return poolLast(dense.NewAveragePoolPlan(last, divisors[float64](&p, includePad, override)), last, x)
	}
	in := asWork(x, work)
	defer forgetMade(x, in)
	out := empty(p.shape(x), work)
	if work == tensor.Float32 {
		averagePlanes[float32](&p, in, out, includePad, override)
	} else {
		averagePlanes[float64](&p, in, out, includePad, override)
	}
	return ownTo(out, x.DType())
}

// averageIntegers divides sums of integers towards zero.
func averageIntegers(x *tensor.Tensor, p *pooling, by []float64) *tensor.Tensor {
	out, v := empty(p.shape(x), tensor.Int64), p.volume(x)
	poolPlanes(p, contiguous(x), out, func(plane, result []int64, _ int) {
		sumPlane[int64](v, plane, func(i int, sum int64) { result[i] = sum / int64(by[i]) })
	})
	return out
}

func averagePlanes[T interface {
	dense.Float
	tensor.Element
}](p *pooling, in, out *tensor.Tensor, includePad bool, override int) {
	room := empty([]int{p.outputs()}, out.DType())
	defer room.Release()
	by := tensor.Data[T](room)
	divisorsInto(by, p, includePad, override)
	if g, ok := p.geometry(in); ok {
		dense.AveragePool(g, tensor.Data[T](in), by, tensor.Data[T](out))
		return
	}
	v := p.volume(in)
	poolPlanes(p, in, out, func(plane, result []T, _ int) {
		sumPlane[float64](v, plane, func(i int, sum float64) { result[i] = T(sum / float64(by[i])) })
	})
}

// sumPlane calls take with the sum of each window of a plane.
func sumPlane[S int64 | float64, T int64 | float32 | float64](v *volume, plane []T, take func(i int, sum S)) {
	var watch tensor.Watch
	next := 0
	for _, a := range v.windows[0] {
		for _, b := range v.windows[1] {
			watch.Did(v.work(a, b))
			for _, c := range v.windows[2] {
				var sum S
				for i := a.lo; i < a.hi; i += a.step {
					for j := b.lo; j < b.hi; j += b.step {
						row := v.at(i, j, 0)
						if c.hi-c.lo > longRow {
							watch.Did(c.hi - c.lo)
						}
						for k := row + c.lo; k < row+c.hi; k += c.step {
							sum += S(plane[k])
						}
					}
				}
				take(next, sum)
				next++
			}
		}
	}
}

// lastGeometry describes the windows over images whose channels lie together, where there is generated code
// for them.
func (p *pooling) lastGeometry(x *tensor.Tensor, work tensor.DType) (dense.Convolution, bool) {
	g, ok := p.geometry(x)
	if !ok || p.n != 2 || !isChannelsLast(x) || x.DType() != work {
		return g, false
	}
	g.Batch = x.Size(0)
	g.Groups, g.InChannels, g.OutChannels = x.Size(1), x.Size(1), x.Size(1)
	return g, g.PoolsLast()
}

// poolLast runs a plan over images whose channels lie together, and so do those of the result.
func poolLast[T interface {
	dense.Float
	tensor.Element
}](plan *dense.ChannelsPlan[T], g dense.Convolution, x *tensor.Tensor) *tensor.Tensor {
	out := empty([]int{g.Batch, g.Out[1], g.Out[2], g.OutChannels}, x.DType())
	plan.Run(tensor.Data[T](must(x.Permute(0, 2, 3, 1))), tensor.Data[T](out))
	return must(out.Permute(0, 3, 1, 2))
}

// divisors returns what the sum of each window of a plane is divided by.
func divisors[T dense.Float](p *pooling, includePad bool, override int) []T {
	by := make([]T, p.outputs())
	divisorsInto(by, p, includePad, override)
	return by
}

// divisorsInto writes them, as many as a plane has outputs.
func divisorsInto[T dense.Float](by []T, p *pooling, includePad bool, override int) {
	if len(by) == 0 {
		return
	}
	if override != 0 {
		for i := range by {
			by[i] = T(override)
		}
		return
	}
	by[0] = 1
	rows := 1
	for _, windows := range p.windows {
		for i := rows - 1; i >= 0; i-- { // the last first: by[i] is read before its place is written
			c := by[i]
			for j := len(windows) - 1; j >= 0; j-- {
				w := windows[j]
				n := (w.hi - w.lo + w.step - 1) / w.step
				if includePad {
					n = w.padded
				}
				by[i*len(windows)+j] = c * T(n)
			}
		}
		rows *= len(windows)
	}
}

// outputs returns how many windows a plane has.
func (p *pooling) outputs() int {
	n := 1
	for _, windows := range p.windows {
		n *= len(windows)
	}
	return n
}

func maxPoolNd(name string, n int) []definition {
	pools := new(bytePools)
	maxima := onCentered(func(c call) *tensor.Tensor {
		noComplexOrder("max_pool")(c.tensor(0).DType())
		return keepFormat(pooledMaxima(c.tensor(0), poolArgs(name, c, 1, n, true, 5)), c.tensor(0))
	})
	return []definition{
		giving(name, func(c call) *tensor.Tensor {
			if c.tensor(0).Quantizer() != nil {
				p := poolArgs(name, c, 1, n, true, 5)
				if out, ok := pools.largest(&p, c.tensor(0)); ok {
					return out
				}
			}
			return maxima(c)
		}),
		define(name+"_with_indices", func(c call) {
			c.give(pair(maxPool(c.tensor(0), poolArgs(name+"_with_indices", c, 1, n, true, 5)))...)
		}),
	}
}

// keepFormat lays out a result as its input where that has its channels last.
func keepFormat(out, like *tensor.Tensor) *tensor.Tensor {
	if isChannelsLast(like) && !isChannelsLast(out) {
		return must(out.Clone(tensor.ChannelsLast))
	}
	return out
}

func isChannelsLast(t *tensor.Tensor) bool {
	return t.Dim() == 4 && !t.IsContiguous() && t.IsContiguousFormat(tensor.ChannelsLast)
}

func avgPoolNd(name string, n int) definition {
	pools := new(bytePools)
	means := onMeans(func(c call) *tensor.Tensor {
		override := 0
		if len(c.args) > 6 && !c.isNone(6) {
			override = c.int(6)
			check(override != 0, "divisor must be not zero")
		}
		return keepFormat(averagePool(c.tensor(0), poolArgs(name, c, 1, n, false, 4), c.bool(5), override), c.tensor(0))
	})
	return giving(name, func(c call) *tensor.Tensor {
		if c.tensor(0).Quantizer() != nil && len(c.args) > 6 && c.isNone(6) {
			p := poolArgs(name, c, 1, n, false, 4)
			if size, ok := p.oneSize(c.bool(5)); ok {
				if out, ok := pools.mean(&p, c.tensor(0), size); ok {
					return out
				}
			}
		}
		return means(c)
	})
}

// oneSize returns the elements of a window where all windows have as many, counted with the padding or without.
func (p *pooling) oneSize(includePad bool) (size int, ok bool) {
	by := divisors[float64](p, includePad, 0)
	if len(by) == 0 {
		return 0, false
	}
	for _, n := range by {
		if n != by[0] {
			return 0, false
		}
	}
	return int(by[0]), true
}

// adaptiveAverage gives the means of windows that divide the input; of the whole plane where there is one.
func adaptiveAverage(name string, c call, n int) *tensor.Tensor {
	x, p := c.tensor(0), adaptive(name, c, n)
	var dims []int
	for d := range p.windows {
		if len(p.windows[d]) == 1 {
			dims = append(dims, d-n)
		}
	}
	if len(dims) == n {
		checkMean(x.DType())
		return planeMeans(x, dims)
	}
	if blocks, ok := p.evenBlocks(x); ok && x.DType().IsFloating() {
		return blocks
	}
	return averagePool(x, p, false, 0)
}

// smallestMean is how many elements a window has for whose mean a reduction is faster than a loop.
const smallestMean = 64

// evenBlocks gives the means of windows that divide a contiguous input evenly. ok is false where they do not, or are small.
func (p *pooling) evenBlocks(x *tensor.Tensor) (means *tensor.Tensor, ok bool) {
	lead := x.Dim() - p.n
	shape, window := slices.Clone(x.Shape()[:lead]), 1
	var dims []int
	for d, windows := range p.windows {
		in, out := x.Size(lead+d), len(windows)
		if out == 0 || in%out != 0 {
			return nil, false
		}
		dims = append(dims, len(shape)+1)
		shape = append(shape, out, in/out)
		window *= in / out
	}
	if window < smallestMean || !x.IsContiguous() || x.Numel() == 0 {
		return nil, false
	}
	blocks := must(x.View(shape...))
	last := len(dims) - 1
	for d := last; d >= 0; d-- { // one after another: elements of a window lie apart
		kept := tensor.Float32
		if x.DType() == tensor.Float64 {
			kept = tensor.Float64
		}
		blocks = sum(blocks, dims[d:d+1], false, kept)
	}
	return to(divideBy(blocks, tensor.Int(int64(window))), x.DType()), true
}

// planeMeans gives the means over the last dimensions. The sums of many small planes are the product of
// a matrix with ones.
func planeMeans(x *tensor.Tensor, dims []int) *tensor.Tensor {
	size := numelOf(x.Shape()[x.Dim()-len(dims):])
	work := accumulator(x.DType())
	if size > 1024 || x.Numel() == 0 || !x.IsContiguous() {
		return mean(x, dims, true, x.DType())
	}
	ones := fullBeside(x, []int{size, 1}, tensor.Int(1), work)
	sums := products(must(to(x, work).View(x.Numel()/size, size)), ones)
	shape := append(slices.Clone(x.Shape()[:x.Dim()-len(dims)]), slices.Repeat([]int{1}, len(dims))...)
	return to(divideBy(must(sums.View(shape...)), tensor.Int(int64(size))), x.DType())
}

func adaptiveNd(n int, suffix string) []definition {
	pools := new(bytePools)
	means := onMeans(func(c call) *tensor.Tensor {
		return keepFormat(adaptiveAverage("adaptive_avg_pool"+suffix, c, n), c.tensor(0))
	})
	return []definition{
		giving("adaptive_avg_pool"+suffix, func(c call) *tensor.Tensor {
			if c.tensor(0).Quantizer() != nil {
				p := adaptive("adaptive_avg_pool"+suffix, c, n)
				if size, ok := p.oneSize(false); ok {
					if out, ok := pools.mean(&p, c.tensor(0), size); ok {
						return out
					}
				}
			}
			return means(c)
		}),
		define("adaptive_max_pool"+suffix, func(c call) {
			c.give(pair(maxPool(c.tensor(0), adaptive("adaptive_max_pool"+suffix, c, n)))...)
		}),
	}
}

// maxUnpool puts elements back to the places that a pooling found them at.
func maxUnpool(c call) *tensor.Tensor {
	x, at, size := c.tensor(0), c.tensor(1), c.ints(2)
	n := len(size)
	check(x.Dim() == n+1 || x.Dim() == n+2, "Input to max_unpooling%dd should be a %dd or %dd Tensor, but got a tensor with %d dimensions.", n, n+1, n+2, x.Dim())
	check(at.DType() == tensor.Int64, "elements in indices should be type int64 but got: %s", at.DType().CppName())
	check(tensor.SameShape(x.Shape(), at.Shape()), "Expected shape of indices to be: %s but got: %s", shapeText(x.Shape()), shapeText(at.Shape()))
	out := zeros(append(slices.Clone(x.Shape()[:x.Dim()-n]), size...), x.DType())
	plane, room := numelOf(x.Shape()[x.Dim()-n:]), numelOf(size)
	offsets := make([]int, x.Numel())
	var watch tensor.Watch
	for i, v := range tensor.Data[int64](contiguous(at)) {
		watch.Did(1)
		check(v >= 0 && int(v) < room, "Found an invalid max index: %d (output volumes are of size %s)", v, timesText(size))
		offsets[i] = i/plane*room + int(v)
	}
	if len(offsets) > 0 {
		moveTo(out, contiguous(x), offsets, oneOffset)
	}
	return out
}

var poolFamily = slices.Concat(
	maxPoolNd("max_pool1d", 1), maxPoolNd("max_pool2d", 2), maxPoolNd("max_pool3d", 3),
	adaptiveNd(1, "1d"), adaptiveNd(2, "2d"), adaptiveNd(3, "3d"),
	[]definition{
		avgPoolNd("avg_pool1d", 1).with(ops.Def{Grad: concrete(averageRowsGrad)}),
		avgPoolNd("avg_pool2d", 2).with(ops.Def{Reads: ops.ReadsNothing, Grad: pooledBy("avg_pool2d_backward", 1, 2, 3, 4, 5, 6), Tags: ops.Grouped}),
		avgPoolNd("avg_pool3d", 3).with(ops.Def{Reads: ops.ReadsNothing, Grad: pooledBy("avg_pool3d_backward", 1, 2, 3, 4, 5, 6)}),
		decomposed("avg_pool2d_backward", averagePoolBackward(2)).with(ops.Def{Decomp: averagePoolBackward(2)}),
		decomposed("avg_pool3d_backward", averagePoolBackward(3)).with(ops.Def{Decomp: averagePoolBackward(3)}),
		decomposed("_adaptive_avg_pool2d_backward", adaptivePoolBackward(2)).with(ops.Def{Decomp: adaptivePoolBackward(2)}),
		decomposed("_adaptive_avg_pool3d_backward", adaptivePoolBackward(3)).with(ops.Def{Decomp: adaptivePoolBackward(3)}),
		giving("_adaptive_avg_pool2d", func(c call) *tensor.Tensor {
			return adaptiveAverage("adaptive_avg_pool2d", c, 2)
		}).with(ops.Def{Reads: ops.ReadsNothing, Grad: pooledBy("_adaptive_avg_pool2d_backward")}),
		giving("_adaptive_avg_pool3d", func(c call) *tensor.Tensor {
			return adaptiveAverage("adaptive_avg_pool3d", c, 3)
		}).with(ops.Def{Reads: ops.ReadsNothing, Grad: pooledBy("_adaptive_avg_pool3d_backward")}),
		giving("max_unpool2d", maxUnpool).with(ops.Def{Grad: concrete(func(c gradient) { unpooledGrad(c, 2) })}),
		giving("max_unpool3d", maxUnpool).with(ops.Def{Grad: concrete(func(c gradient) { unpooledGrad(c, 3) })}),
		define("fractional_max_pool2d", func(c call) { c.give(fractionalMaxPool(c, 2)) }),
		define("fractional_max_pool3d", func(c call) { c.give(fractionalMaxPool(c, 3)) }),
	})

// poolFurther are the records of operators of pooling that are implemented elsewhere.
var poolFurther = []ops.Def{
	{Name: "adaptive_avg_pool1d", Grad: adaptiveRowsGrad, Tags: ops.Grouped},
	{Name: "adaptive_avg_pool2d", Reads: ops.ReadsNothing, Grad: pooledBy("_adaptive_avg_pool2d_backward"), Tags: ops.Grouped},
	{Name: "adaptive_avg_pool3d", Reads: ops.ReadsNothing, Grad: pooledBy("_adaptive_avg_pool3d_backward"), Tags: ops.Grouped},
	{Name: "adaptive_max_pool1d", Grad: pooledRows},
	{Name: "adaptive_max_pool2d", Grad: pooledMaximum("adaptive_max_pool2d_backward")},
	{Name: "adaptive_max_pool3d", Grad: pooledMaximum("adaptive_max_pool3d_backward")},
	{Name: "max_pool1d", Decomp: firstOf("max_pool1d_with_indices"), Tags: ops.AnySizes},
	{Name: "max_pool1d_with_indices", Grad: pooledRows},
	{Name: "max_pool2d", Decomp: firstOf("max_pool2d_with_indices"), Saving: "max_pool2d_with_indices", Tags: ops.Grouped | ops.AnySizes},
	{Name: "max_pool2d_with_indices", Reads: ops.ReadsNothing.AndResult(1), Grad: pooledMaximum("max_pool2d_with_indices_backward", 1, 2, 3, 4, 5), Tags: ops.Grouped, Node: "MaxPool2DWithIndicesBackward0"},
	{Name: "max_pool3d", Decomp: firstOf("max_pool3d_with_indices"), Tags: ops.AnySizes},
	{Name: "max_pool3d_with_indices", Grad: pooledMaximum("max_pool3d_with_indices_backward", 1, 2, 3, 4, 5), Node: "MaxPool3DWithIndicesBackward0"},
}
