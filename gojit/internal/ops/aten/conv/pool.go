package conv

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// window1 is what one output of a pooling reads along one dimension: the inputs from lo to hi, step apart.
type window1 struct {
	lo, hi, step int
	padded       int // inputs counted with the padding
}

// Pooling is a reduction of windows over the last dimensions.
type Pooling struct {
	N       int       // dimensions
	Windows []Windows // for each of the last n dimensions
	// kernel and what follows are empty where windows differ in more than their place
	Kernel, Stride, Padding, Dilation []int
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
		source.Check(false, "max_pool1d: "+batch, n+1, n+2, define.ShapeText(x.Shape()))
	case name == "avg_pool2d":
		define.WrapDim(-3, x)
		source.Check(false, batch, n+1, n+2, define.ShapeText(x.Shape()))
	}
	source.Check(false, "non-empty %dD or %dD (batch mode) tensor expected for input", n+1, n+2)
}

// checkDimensions asks for a row of each channel, or a batch of them.
func checkDimensions(name string, x *tensor.Tensor) {
	source.Check(x.Dim() == 2 || x.Dim() == 3, "Expected 2 to 3 dimensions, but got %d-dimensional tensor for argument #1 'self' (while checking arguments for %s)", x.Dim(), name)
}

func checkAdaptive(name string, x *tensor.Tensor, n int) {
	if n == 1 {
		checkDimensions(name, x)
	}
	colon := ""
	if strings.Contains(name, "max") {
		colon = ":"
	}
	source.Check(x.Dim() == n+1 || x.Dim() == n+2, "%s(): Expected %dD or %dD tensor, but got%s %s", name, n+1, n+2, colon, define.ShapeText(x.Shape()))
}

// poolArgs reads kernel, stride, padding and, where hasDilation, dilation from argument i on.
func poolArgs(name string, c define.Call, i, n int, hasDilation bool, ceilAt int) Pooling {
	x := c.Tensor(0)
	checkPooled(name, x, n)
	kernel := c.IntsOf(i, n, "kernel_size")
	stride := c.Ints(i + 1)
	if len(stride) == 0 {
		stride = kernel
	} else {
		stride = c.IntsOf(i+1, n, "stride")
	}
	padding := c.IntsOf(i+2, n, "padding")
	dilation := slices.Repeat([]int{1}, n)
	if hasDilation {
		dilation = c.IntsOf(i+3, n, "dilation")
	}
	if name == "max_pool1d" {
		checkLine(kernel[0], stride[0], padding[0], dilation[0])
	}
	sizes := [4]int{x.Size(x.Dim() - n - 1)}
	p := Pooling{N: n, Kernel: kernel, Stride: stride, Padding: padding, Dilation: dilation}
	for d := range n {
		source.Check(stride[d] != 0, "stride should not be zero")
		checkAxis(d, "kernel size", "k", kernel)
		checkAxis(d, "stride", "d", stride)
		checkAxis(d, "dilation", "dilation", dilation)
		source.Check(padding[d] >= 0, "pad must be non-negative, but got pad: %d", padding[d])
		source.Check(2*padding[d] <= kernel[d], "pad should be at most half of kernel size, but got pad=%d and kernel_size=%d", padding[d], kernel[d])
	}
	checkNotEmpty(name, x, n)
	for d := range n {
		in := x.Size(x.Dim() - n + d)
		out := PooledSize(in, kernel[d], stride[d], padding[d], dilation[d], c.Bool(ceilAt))
		sizes[d+1] = out
		p.Windows = append(p.Windows, SlidingWindows(in, max(out, 0), kernel[d], stride[d], padding[d], dilation[d]))
	}
	if slices.Min(sizes[1:n+1]) > 0 {
		return p
	}
	switch name {
	case "max_pool1d":
		source.Check(false, "max_pool1d() Invalid computed output size: %d", sizes[1])
	case "max_pool1d_with_indices":
		source.Check(false, "Given input size: (%dx1x%d). Calculated output size: (%dx1x%d). Output size is too small", sizes[0], x.Size(x.Dim()-1), sizes[0], sizes[1])
	}
	source.Check(false, "Given input size: %v. Calculated output size: %v. Output size is too small",
		closeTimes(x.Shape()[x.Dim()-n-1:]), closeTimes(sizes[:n+1]))
	return p
}

// checkNotEmpty asks for rows, columns and, of max_pool, channels with elements.
func checkNotEmpty(name string, x *tensor.Tensor, n int) {
	empty := slices.Contains(x.Shape()[x.Dim()-n:], 0)
	if strings.HasPrefix(name, "max_pool") && (empty || x.Size(x.Dim()-n-1) == 0) {
		source.Check(n == 3, "Expected %dD or %dD (batch mode) tensor with optional 0 dim batch size for input, but got:%s", n+1, n+2, define.ShapeText(x.Shape()))
		source.Check(false, "max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions to have positive length, but input has a shape of %s and non-batch dimension 0 has length zero!", define.ShapeText(x.Shape()))
	}
	source.Check(!empty, "%s(): Expected input to have non-zero size for non-batch dimensions, but got %s", name, define.ShapeText(x.Shape()))
}

// checkLine asks for windows that make sense, in the words that PyTorch has where no gradient is recorded.
func checkLine(kernel, stride, padding, dilation int) {
	source.Check(kernel > 0, "max_pool1d() kernel_size must be greater than zero, but got %d", kernel)
	source.Check(stride > 0, "max_pool1d() stride must be greater than zero, but got %d", stride)
	source.Check(padding >= 0, "max_pool1d() padding must be non-negative, but got %d", padding)
	source.Check(padding <= kernel/2, "max_pool1d() padding should be at most half of kernel size, but got padding=%d and kernel_size=%d", padding, kernel)
	source.Check(dilation > 0, "max_pool1d() dilation must be greater than zero, but got %d", dilation)
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
	source.Raise(source.RuntimeError, "%s should be greater than zero, but got %s", what, strings.Join(parts, " "))
}

// PooledSize returns how many windows there are along a dimension of in elements; with ceil, one that begins within the input or the padding before it may reach over the end.
func PooledSize(in, kernel, stride, padding, dilation int, ceil bool) int {
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

// Windows are those of the outputs along a dimension: of a kernel that moves, or else nearly equal parts of the dimension.
type Windows struct {
	in, out                           int
	kernel, stride, padding, dilation int   // kernel is 0 where the windows are parts
	parts                             []int // the parts that are meant, all of them where it is nil
	divided                           int   // the number of parts that the dimension is divided into, where only some are meant
}

// SlidingWindows returns the windows of a kernel that moves along a dimension of in elements.
func SlidingWindows(in, out, kernel, stride, padding, dilation int) Windows {
	return Windows{in: in, out: out, kernel: kernel, stride: stride, padding: padding, dilation: dilation}
}

// AdaptiveWindows divides a dimension into out windows of nearly equal size.
func AdaptiveWindows(in, out int) Windows { return Windows{in: in, out: out} }

// at returns the window of output i.
func (w *Windows) at(i int) window1 {
	if w.kernel == 0 {
		out := w.out
		if w.parts != nil {
			i, out = w.parts[i], w.divided
		}
		lo, hi := adaptiveStart(i, w.in, out), adaptiveEnd(i, w.in, out)
		return window1{lo, hi, 1, hi - lo}
	}
	lo := i*w.stride - w.padding
	end := lo + w.dilation*(w.kernel-1) + 1
	padded := min(lo+w.kernel, w.in+w.padding) - lo
	if lo < 0 {
		lo += (-lo + w.dilation - 1) / w.dilation * w.dilation
	}
	return window1{lo, min(end, w.in), w.dilation, padded}
}

// adaptiveStart returns i*in/out, which does not overflow.
func adaptiveStart(i, in, out int) int { return i/out*in + i%out*in/out }

// adaptiveEnd is where window i ends: where the next begins, rounded up.
func adaptiveEnd(i, in, out int) int { return ((i+1)*in + out - 1) / out }

// repeat reports whether most windows are equal to the one before them: parts of a dimension that are twice as many as its elements.
func (w *Windows) repeat() bool {
	return w.kernel == 0 && w.parts == nil && w.out > 1 && w.out >= 2*w.in
}

// distinct returns one of each of the windows that are equal, and the first output of each. ok is false where few are equal.
func (w *Windows) distinct() (one Windows, firsts []int, ok bool) {
	if !w.repeat() {
		return *w, nil, false
	}
	for first := 0; first < w.out; {
		firsts = append(firsts, first)
		window := w.at(first)
		first += sort.Search(w.out-first, func(n int) bool { return w.at(first+n) != window })
	}
	return Windows{in: w.in, out: len(firsts), parts: firsts, divided: w.out}, firsts, true
}

// repetition tells how the results of a pooling are those of a smaller one, in which equal windows are one.
type repetition struct {
	pooling Pooling
	firsts  [3][]int // along each of three dimensions, the last of more than one output last: the first output of each window
	sizes   [3]int   // the outputs along each of these
}

// repeated finds equal windows. ok is false where few are.
func (p *Pooling) repeated() (r repetition, ok bool) {
	if !slices.ContainsFunc(p.Windows, func(w Windows) bool { return w.repeat() }) {
		return r, false
	}
	r = repetition{pooling: Pooling{N: p.N}, firsts: [3][]int{{0}, {0}, {0}}, sizes: [3]int{1, 1, 1}}
	for d := range p.Windows {
		along := &p.Windows[d]
		one, firsts, ok := along.distinct()
		r.pooling.Windows = append(r.pooling.Windows, one)
		if along.out == 1 {
			continue
		}
		if !ok {
			firsts = make([]int, along.out)
			for i := range firsts {
				firsts[i] = i
			}
		}
		copy(r.firsts[:], r.firsts[1:])
		copy(r.sizes[:], r.sizes[1:])
		r.firsts[2], r.sizes[2] = firsts, along.out
	}
	return r, true
}

// spread gives the results of a pooling, which has taken those of its equal windows once: t, which is not needed besides.
func (p *Pooling) spread(r *repetition, t *tensor.Tensor) *tensor.Tensor {
	defer t.Release()
	out := define.Empty(slices.Concat(t.Shape()[:t.Dim()-p.N], p.sizes()), t.DType())
	switch {
	case out.Numel() == 0:
	case t.DType().Size() == 2:
		spreadWords[uint16](r, out, t)
	case t.DType().Size() == 4:
		spreadWords[uint32](r, out, t)
	default:
		spreadWords[uint64](r, out, t)
	}
	return out
}

// spreadWords fills out, contiguous as t is: the first plane made of a plane of t is filled, those like it are copies of it.
func spreadWords[W indexing.Word](r *repetition, out, t *tensor.Tensor) {
	to, from := unsafe.Slice((*W)(out.DataPtr()), out.Numel()), unsafe.Slice((*W)(t.DataPtr()), t.Numel())
	planes, plane, size := r.firsts[0], len(r.firsts[1])*len(r.firsts[2]), r.sizes[1]*r.sizes[2]
	parallel.For(len(to)/size, define.RowGrain/size+1, func(lo, hi int) {
		var watch parallel.Watch
		for i := lo; i < hi; {
			volume, depth := i/r.sizes[0], i%r.sizes[0]
			at, isFirst := slices.BinarySearch(planes, depth)
			if !isFirst {
				at--
			}
			count := min(r.end(0, at)-depth, hi-i)
			watch.Did(count * size)
			block := to[i*size : (i+count)*size]
			spreadPlane(r, block, from[(volume*len(planes)+at)*plane:][:plane])
			copyOn(block, size)
			i += count
		}
	})
}

// spreadPlane fills the first plane of a block.
func spreadPlane[W indexing.Word](r *repetition, to, from []W) {
	columns, many := r.sizes[2], len(r.firsts[2])
	for k, first := range r.firsts[1] {
		rows, values := to[first*columns:r.end(1, k)*columns], from[k*many:(k+1)*many]
		for i, begin := range r.firsts[2] {
			run := rows[begin:r.end(2, i)]
			run[0] = values[i]
			copyOn(run, 1)
		}
		copyOn(rows, columns)
	}
}

// end is the output behind those of window i along a dimension.
func (r *repetition) end(d, i int) int {
	if i+1 < len(r.firsts[d]) {
		return r.firsts[d][i+1]
	}
	return r.sizes[d]
}

// copyOn fills list with copies of its first n elements.
func copyOn[W indexing.Word](list []W, n int) {
	const short, near = 16, 1 << 12 // what is copied at a time stays in the cache
	if len(list) <= short {
		for i := n; i < len(list); i++ {
			list[i] = list[i-n]
		}
		return
	}
	for made := n; made < len(list); {
		made += copy(list[made:], list[:min(made, max(n, near/n*n))])
	}
}

// adaptive reads the output size, an entry of which may be None, from argument 1.
func adaptive(name string, c define.Call, n int) Pooling {
	x := c.Tensor(0)
	checkAdaptive(name, x, n)
	if n > 1 && len(c.Ints(1)) != n {
		words := "%s(): output_size.size() must be %d"
		if strings.HasPrefix(name, "adaptive_avg") {
			words = "%s: output_size must be %d"
		}
		source.Raise(source.RuntimeError, words, name, n)
	}
	size := c.IntsOf(1, n, "output_size")
	p, regular := Pooling{N: n}, true
	for d := range n {
		in := x.Size(x.Dim() - n + d)
		source.Check(in > 0 || size[d] == 0, "%s(): Expected input to have non-zero size for non-batch dimensions, but input has sizes %s with dimension %d being empty", name, define.ShapeText(x.Shape()), x.Dim()-n+d)
		source.Check(size[d] >= 0, "%s(): elements of output_size must be greater than or equal to 0 but received {%d}", name, size[d])
		p.Windows = append(p.Windows, AdaptiveWindows(in, size[d]))
		if size[d] == 0 || in%size[d] != 0 {
			regular = false
			continue
		}
		p.Kernel, p.Padding, p.Dilation = append(p.Kernel, in/size[d]), append(p.Padding, 0), append(p.Dilation, 1)
	}
	p.Stride = p.Kernel
	if !regular {
		p.Kernel = nil
	}
	return p
}

// geometry describes the windows to package dense, which pools with generated kernels where it reports true.
func (p *Pooling) geometry(x *tensor.Tensor) (conv.Convolution, bool) {
	if p.Kernel == nil || p.N > 2 {
		return conv.Convolution{}, false
	}
	one := [3]int{1, 1, 1}
	planes := define.NumelOf(x.Shape()[:x.Dim()-p.N])
	g := conv.Convolution{Batch: 1, Groups: planes, InChannels: planes, OutChannels: planes, In: one, Out: one, Kernel: one, Stride: one, Dilation: one}
	for d := range p.N {
		at := 3 - p.N + d
		g.In[at], g.Out[at], g.Kernel[at] = x.Size(x.Dim()-p.N+d), p.Windows[d].out, p.Kernel[d]
		g.Stride[at], g.Padding[at], g.Dilation[at] = p.Stride[d], p.Padding[d], p.Dilation[d]
		if g.Out[at] == 1 {
			g.Stride[at] = 1 // nothing depends on it
		}
	}
	return g, planes > 0 && g.CanPool()
}

// shape returns that of the result for an input.
func (p *Pooling) shape(x *tensor.Tensor) []int {
	return append(slices.Clone(x.Shape()[:x.Dim()-p.N]), p.sizes()...)
}

// volume is a plane with its windows, as one of three dimensions.
type volume struct {
	sizes   [3]int
	windows [3]Windows
	listed  [3][]window1 // the windows along each dimension, where list has listed them
	ofRow   int          // elements that the windows of a row read along it
}

func (p *Pooling) volume(x *tensor.Tensor) *volume {
	v := &volume{sizes: [3]int{1, 1, 1}}
	for d := range 3 {
		v.windows[d] = AdaptiveWindows(1, 1)
	}
	for d := range p.N {
		v.sizes[3-p.N+d], v.windows[3-p.N+d] = x.Size(x.Dim()-p.N+d), p.Windows[d]
	}
	return v
}

// at is where an element of the plane lies.
func (v *volume) at(i, j, k int) int { return (i*v.sizes[1]+j)*v.sizes[2] + k }

// longRow is how much of a row a window reads that counts as work of its own.
const longRow = 1 << 12

// mostListed is how many windows along a dimension are listed at most: to find one takes divisions.
const mostListed = 1 << 16

// list makes ready for walks over all windows.
func (v *volume) list() *volume {
	for d := range v.windows {
		if along := &v.windows[d]; along.out <= mostListed {
			v.listed[d] = make([]window1, along.out)
			for i := range v.listed[d] {
				v.listed[d][i] = along.at(i)
			}
		}
	}
	if c := &v.windows[2]; c.out > 0 {
		first, last := c.at(0), c.at(c.out-1)
		v.ofRow = (first.count() + last.count() + 2) / 2 * c.out
	}
	return v
}

// window is window i along a dimension.
func (v *volume) window(d, i int) window1 {
	if listed := v.listed[d]; listed != nil {
		return listed[i]
	}
	return v.windows[d].at(i)
}

// work is how many elements the windows of a row of outputs read.
func (v *volume) work(a, b window1) int { return a.count() * b.count() * v.ofRow }

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
		for i := range along.out {
			w := along.at(i)
			count += w.count()
		}
		windows *= along.out
		inputs *= float64(count)
	}
	if v.at(v.sizes[0], 0, 0) > math.MaxInt32 || float64(windows)+inputs > most {
		return nil, func() {}
	}
	room := define.Empty([]int{2*windows + 1 + int(inputs)}, tensor.Int32)
	numbers := tensor.Data[int32](room)
	r = &reads{starts: append(numbers[:0:windows+1], 0), firsts: numbers[windows+1 : windows+1 : 2*windows+1], inputs: numbers[2*windows+1:][:0]}
	for i0 := range v.windows[0].out {
		a := v.windows[0].at(i0)
		for i1 := range v.windows[1].out {
			b := v.windows[1].at(i1)
			for i2 := range v.windows[2].out {
				c := v.windows[2].at(i2)
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
func poolPlanes[T tensor.Element](p *Pooling, x, out *tensor.Tensor, f func(plane, result []T, base int)) {
	in, size := define.NumelOf(x.Shape()[x.Dim()-p.N:]), define.NumelOf(out.Shape()[out.Dim()-p.N:])
	src, dst := tensor.Data[T](x), tensor.Data[T](out)
	if size == 0 {
		return
	}
	parallel.For(len(dst)/size, define.RowGrain/(8*size)+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(src[i*in:(i+1)*in], dst[i*size:(i+1)*size], i*size)
		}
	})
}

// maxPool gives the largest element of each window and its index in the plane, laid out as the input.
func maxPool(x *tensor.Tensor, p Pooling) (out, indices *tensor.Tensor) {
	out, indices = maxPlanes(x, p)
	if p.N == 2 && IsChannelsLast(x) {
		out, indices = asLast(out), asLast(indices)
	}
	return out, indices
}

// asLast is a copy of what is not needed besides, its channels last.
func asLast(t *tensor.Tensor) *tensor.Tensor {
	last := source.Must(t.Clone(tensor.ChannelsLast))
	t.Release()
	return last
}

// maxPlanes gives maxPool contiguous.
func maxPlanes(x *tensor.Tensor, p Pooling) (out, indices *tensor.Tensor) {
	elementwise.NoComplexOrder("max_pool")(x.DType())
	if x.IsHollow() {
		return define.EmptyBeside(x, p.shape(x), x.DType()), define.EmptyBeside(x, p.shape(x), tensor.Int64)
	}
	if x.OnDevice() {
		return maxPoolOnDevice(x, p)
	}
	if r, ok := p.repeated(); ok {
		out, indices = maxPlanes(x, r.pooling)
		return p.spread(&r, out), p.spread(&r, indices)
	}
	work := reduce.Accumulator(x.DType())
	in := elementwise.AsWork(x, work)
	defer define.ForgetMade(x, in)
	out, indices = define.Empty(p.shape(x), work), define.Empty(p.shape(x), tensor.Int64)
	at := tensor.Data[int64](indices)
	v := p.volume(x)
	switch work {
	case tensor.Int64:
		v.list()
		poolPlanes(&p, in, out, func(plane, result []int64, base int) { maxPlane(v, plane, result, at[base:]) })
	case tensor.Float32:
		r, forget := v.table()
		defer forget()
		if r == nil {
			v.list()
		}
		poolPlanes(&p, in, out, func(plane, result []float32, base int) {
			if r != nil {
				maxPlane32(r, plane, result, at[base:])
			} else {
				maxPlane(v, plane, result, at[base:])
			}
		})
	default:
		v.list()
		poolPlanes(&p, in, out, func(plane, result []float64, base int) { maxPlane(v, plane, result, at[base:]) })
	}
	return elementwise.OwnTo(out, x.DType()), indices
}

// leastNumber returns the number below all others of a type.
func leastNumber[T reduce.Ordered]() (x T) {
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

func maxPlane[T reduce.Ordered](v *volume, plane, result []T, at []int64) {
	var watch parallel.Watch
	next := 0
	for i0 := range v.windows[0].out {
		a := v.window(0, i0)
		for i1 := range v.windows[1].out {
			b := v.window(1, i1)
			watch.Did(v.work(a, b))
			for i2 := range v.windows[2].out {
				c := v.window(2, i2)
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
	var watch parallel.Watch
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

// PooledMaxima gives the largest element of each window, without its index.
func PooledMaxima(x *tensor.Tensor, p Pooling) *tensor.Tensor {
	if x.OnDevice() {
		out, _ := maxPoolOnDevice(x, p)
		return out
	}
	g, ok := p.geometry(x)
	work := reduce.Accumulator(x.DType())
	if !ok || work != tensor.Float32 && work != tensor.Float64 {
		out, _ := maxPool(x, p)
		return out
	}
	last, isLast := p.lastGeometry(x, work)
	switch {
	case x.IsHollow():
		return laidOut(define.EmptyBeside(x, p.shape(x), x.DType()), isLast, false)
	case isLast:
		if work == tensor.Float32 {
			return poolLast(conv.NewMaxPoolPlan[float32](last), last, x)
		}
		return poolLast(conv.NewMaxPoolPlan[float64](last), last, x)
	}
	in := elementwise.AsWork(x, work)
	defer define.ForgetMade(x, in)
	out := define.Empty(p.shape(x), work)
	if work == tensor.Float32 {
		conv.MaxPool(g, tensor.Data[float32](in), tensor.Data[float32](out))
	} else {
		conv.MaxPool(g, tensor.Data[float64](in), tensor.Data[float64](out))
	}
	return elementwise.OwnTo(out, x.DType())
}

// AveragePool gives the mean of each window. The divisor is the number of inputs, with padding
// where includePad, unless override is not 0.
func AveragePool(x *tensor.Tensor, p Pooling, includePad bool, override int) *tensor.Tensor {
	name := "avg_pool2d"
	if p.N == 3 {
		name = "avg_pool3d_out_frame"
	}
	if x.OnDevice() && (x.DType() == tensor.Int64 || x.DType().IsFloating()) {
		return averagePoolOnDevice(x, p, includePad, override)
	}
	if r, ok := p.repeated(); ok && !x.IsHollow() && !x.OnDevice() && (x.DType() == tensor.Int64 || x.DType().IsFloating()) {
		return p.spread(&r, AveragePool(x, r.pooling, includePad, override))
	}
	if x.DType() == tensor.Int64 {
		return averageIntegers(x, &p, divisors[float64](&p, includePad, override))
	}
	if !x.DType().IsFloating() {
		elementwise.NotImplemented(name, x.DType())
	}
	work := reduce.Accumulator(x.DType())
	last, isLast := p.lastGeometry(x, work)
	switch {
	case x.IsHollow():
		return laidOut(define.EmptyBeside(x, p.shape(x), x.DType()), isLast, false)
	case isLast:
		if work == tensor.Float32 {
			return poolLast(conv.NewAveragePoolPlan(last, divisors[float32](&p, includePad, override)), last, x)
		}
		return poolLast(conv.NewAveragePoolPlan(last, divisors[float64](&p, includePad, override)), last, x)
	}
	in := elementwise.AsWork(x, work)
	defer define.ForgetMade(x, in)
	out := define.Empty(p.shape(x), work)
	if work == tensor.Float32 {
		averagePlanes[float32](&p, in, out, includePad, override)
	} else {
		averagePlanes[float64](&p, in, out, includePad, override)
	}
	return elementwise.OwnTo(out, x.DType())
}

// averageIntegers divides sums of integers towards zero.
func averageIntegers(x *tensor.Tensor, p *Pooling, by []float64) *tensor.Tensor {
	out, v := define.Empty(p.shape(x), tensor.Int64), p.volume(x).list()
	poolPlanes(p, elementwise.Contiguous(x), out, func(plane, result []int64, _ int) {
		meanPlane[int64](v, plane, result, by)
	})
	return out
}

func averagePlanes[T interface {
	gemm.Float
	tensor.Element
}](p *Pooling, in, out *tensor.Tensor, includePad bool, override int) {
	room := define.Empty([]int{p.outputs()}, out.DType())
	defer room.Release()
	by := tensor.Data[T](room)
	divisorsInto(by, p, includePad, override)
	if g, ok := p.geometry(in); ok {
		conv.AveragePool(g, tensor.Data[T](in), by, tensor.Data[T](out))
		return
	}
	v := p.volume(in).list()
	poolPlanes(p, in, out, func(plane, result []T, _ int) {
		meanPlane[float64](v, plane, result, by)
	})
}

// rowStretch is how many outputs of a row are summed at a time.
const rowStretch = 64

// meanPlane gives the sum of each window of a plane, which is of type S, divided by a number.
func meanPlane[S int64 | float64, T int64 | float32 | float64, N float32 | float64](v *volume, plane, result []T, by []N) {
	var watch parallel.Watch
	var room [rowStretch]S
	columns, next := &v.windows[2], 0
	byTaps := columns.kernel > 0 && columns.kernel <= columns.out
	for i0 := range v.windows[0].out {
		a := v.window(0, i0)
		for i1 := range v.windows[1].out {
			b := v.window(1, i1)
			watch.Did(v.work(a, b))
			for lo := 0; lo < columns.out; lo += rowStretch {
				sums := room[:min(rowStretch, columns.out-lo)]
				if byTaps {
					clear(sums)
					for i := a.lo; i < a.hi; i += a.step {
						for j := b.lo; j < b.hi; j += b.step {
							addTaps(sums, plane[v.at(i, j, 0):][:v.sizes[2]], columns, lo)
						}
					}
				} else {
					sumWindows(sums, plane, v, a, b, lo, &watch)
				}
				means, by := result[next:][:len(sums)], by[next:][:len(sums)]
				for i, sum := range sums {
					means[i] = T(sum / S(by[i]))
				}
				next += len(sums)
			}
		}
	}
}

// sumWindows sums the windows from number lo on of a row, one after another.
func sumWindows[S int64 | float64, T int64 | float32 | float64](sums []S, plane []T, v *volume, a, b window1, lo int, watch *parallel.Watch) {
	for n := range sums {
		c := v.window(2, lo+n)
		var sum S
		for i := a.lo; i < a.hi && c.lo < c.hi; i += a.step {
			for j := b.lo; j < b.hi; j += b.step {
				if c.hi-c.lo > longRow {
					watch.Did(c.hi - c.lo)
				}
				row := plane[v.at(i, j, c.lo):][:c.hi-c.lo]
				if c.step == 1 {
					for _, x := range row {
						sum += S(x)
					}
					continue
				}
				for k := 0; k < len(row); k += c.step {
					sum += S(row[k])
				}
			}
		}
		sums[n] = sum
	}
}

// addTaps adds what the windows from number lo on read of a row, one element of each at a time.
func addTaps[S int64 | float64, T int64 | float32 | float64](sums []S, row []T, w *Windows, lo int) {
	for tap := range w.kernel {
		at := lo*w.stride - w.padding + tap*w.dilation // where the first window reads
		from, to := 0, 0                               // the windows that read an element of the row
		if at < 0 {
			from = (-at + w.stride - 1) / w.stride
		}
		if at < len(row) {
			to = min(len(sums), (len(row)-1-at)/w.stride+1)
		}
		if from >= to {
			continue
		}
		some, at := sums[from:to], at+from*w.stride
		if w.stride == 1 {
			for i, x := range row[at:][:len(some)] {
				some[i] += S(x)
			}
			continue
		}
		for i := range some {
			some[i] += S(row[at])
			at += w.stride
		}
	}
}

// lastGeometry describes the windows over images whose channels lie together, where there is generated code
// for them.
func (p *Pooling) lastGeometry(x *tensor.Tensor, work tensor.DType) (conv.Convolution, bool) {
	g, ok := p.geometry(x)
	if !ok || p.N != 2 || !IsChannelsLast(x) || x.DType() != work {
		return g, false
	}
	g.Batch = x.Size(0)
	g.Groups, g.InChannels, g.OutChannels = x.Size(1), x.Size(1), x.Size(1)
	return g, g.PoolsLast()
}

// poolLast runs a plan over images whose channels lie together, and so do those of the result.
func poolLast[T interface {
	gemm.Float
	tensor.Element
}](plan *conv.ChannelsPlan[T], g conv.Convolution, x *tensor.Tensor) *tensor.Tensor {
	out := define.Empty([]int{g.Batch, g.Out[1], g.Out[2], g.OutChannels}, x.DType())
	plan.Run(tensor.Data[T](source.Must(x.Permute(0, 2, 3, 1))), tensor.Data[T](out))
	return source.Must(out.Permute(0, 3, 1, 2))
}

// divisors returns what the sum of each window of a plane is divided by.
func divisors[T gemm.Float](p *Pooling, includePad bool, override int) []T {
	by := make([]T, p.outputs())
	divisorsInto(by, p, includePad, override)
	return by
}

// divisorsInto writes them, as many as a plane has outputs.
func divisorsInto[T gemm.Float](by []T, p *Pooling, includePad bool, override int) {
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
	for _, windows := range p.Windows {
		counts := by[(rows-1)*windows.out:][:windows.out] // those of the last row, in whose place they stay until that is made
		last := by[rows-1]
		for j := range counts {
			w := windows.at(j)
			n := (w.hi - w.lo + w.step - 1) / w.step
			if includePad {
				n = w.padded
			}
			counts[j] = T(n)
		}
		for i := rows - 2; i >= 0; i-- { // the last first: by[i] is read before its place is written
			c, row := by[i], by[i*windows.out:][:windows.out]
			for j, n := range counts {
				row[j] = c * n
			}
		}
		for j := range counts {
			counts[j] *= last
		}
		rows *= windows.out
	}
}

// sizes returns how many windows there are along each dimension.
func (p *Pooling) sizes() []int {
	sizes := make([]int, len(p.Windows))
	for d := range p.Windows {
		sizes[d] = p.Windows[d].out
	}
	return sizes
}

// outputs returns how many windows a plane has.
func (p *Pooling) outputs() int {
	n := 1
	for _, windows := range p.Windows {
		n *= windows.out
	}
	return n
}

// refuseIntegers fails for a type that PyTorch's kernel does not have.
func refuseIntegers(x *tensor.Tensor, kernel string) {
	if x.Quantizer() == nil && define.IsIntegral(x.DType()) {
		elementwise.NotImplemented(kernel, x.DType())
	}
}

func maxPoolNd(name string, n int) []define.Definition {
	pools := new(bytePools)
	kernels := []string{"max_pool1d_impl", "max_pool2d", "max_pool3d_with_indices_cpu"} // PyTorch's
	maxima := elementwise.OnCentered(func(c define.Call) *tensor.Tensor {
		elementwise.NoComplexOrder("max_pool")(c.Tensor(0).DType())
		refuseIntegers(c.Tensor(0), kernels[n-1])
		return KeepFormat(PooledMaxima(c.Tensor(0), poolArgs(name, c, 1, n, true, 5)), c.Tensor(0))
	})
	return []define.Definition{
		define.Giving(name, func(c define.Call) *tensor.Tensor {
			if c.Tensor(0).Quantizer() != nil {
				p := poolArgs(name, c, 1, n, true, 5)
				if out, ok := pools.largest(&p, c.Tensor(0)); ok {
					return out
				}
			}
			return maxima(c)
		}),
		define.Operator(name+"_with_indices", func(c define.Call) {
			refuseIntegers(c.Tensor(0), kernels[n-1])
			c.Give(define.Pair(maxPool(c.Tensor(0), poolArgs(name+"_with_indices", c, 1, n, true, 5)))...)
		}),
	}
}

// KeepFormat lays out a result as its input where that has its channels last.
func KeepFormat(out, like *tensor.Tensor) *tensor.Tensor {
	if IsChannelsLast(like) && !IsChannelsLast(out) {
		return source.Must(out.Clone(tensor.ChannelsLast))
	}
	return out
}

// IsChannelsLast reports whether the channels of images are the last in memory.
func IsChannelsLast(t *tensor.Tensor) bool {
	return t.Dim() == 4 && !t.IsContiguous() && t.IsContiguousFormat(tensor.ChannelsLast)
}

func avgPoolNd(name string, n int) define.Definition {
	pools := new(bytePools)
	means := onMeans(func(c define.Call) *tensor.Tensor {
		override := 0
		if len(c.Args) > 6 && !c.IsNone(6) {
			override = c.Int(6)
			source.Check(override != 0, "divisor must be not zero")
		}
		return KeepFormat(AveragePool(c.Tensor(0), poolArgs(name, c, 1, n, false, 4), c.Bool(5), override), c.Tensor(0))
	})
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		if c.Tensor(0).Quantizer() != nil && len(c.Args) > 6 && c.IsNone(6) {
			p := poolArgs(name, c, 1, n, false, 4)
			if size, ok := p.oneSize(c.Bool(5)); ok {
				if out, ok := pools.mean(&p, c.Tensor(0), size); ok {
					return out
				}
			}
		}
		return means(c)
	})
}

// oneSize returns the elements of a window where all windows have as many, counted with the padding or without.
func (p *Pooling) oneSize(includePad bool) (size int, ok bool) {
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
func adaptiveAverage(name string, c define.Call, n int) *tensor.Tensor {
	x, p := c.Tensor(0), adaptive(name, c, n)
	var dims []int
	for d := range p.Windows {
		if p.Windows[d].out == 1 {
			dims = append(dims, d-n)
		}
	}
	if len(dims) == n {
		reduce.CheckMean(x.DType())
		return planeMeans(x, dims)
	}
	if blocks, ok := p.evenBlocks(x); ok && x.DType().IsFloating() {
		return blocks
	}
	return AveragePool(x, p, false, 0)
}

// smallestMean is how many elements a window has for whose mean a reduction is faster than a loop.
const smallestMean = 64

// evenBlocks gives the means of windows that divide a contiguous input evenly. ok is false where they do not, or are small.
func (p *Pooling) evenBlocks(x *tensor.Tensor) (means *tensor.Tensor, ok bool) {
	lead := x.Dim() - p.N
	shape, window := slices.Clone(x.Shape()[:lead]), 1
	var dims []int
	for d, windows := range p.Windows {
		in, out := x.Size(lead+d), windows.out
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
	blocks := source.Must(x.View(shape...))
	last := len(dims) - 1
	for d := last; d >= 0; d-- { // one after another: elements of a window lie apart
		kept := tensor.Float32
		if x.DType() == tensor.Float64 {
			kept = tensor.Float64
		}
		blocks = reduce.Sum(blocks, dims[d:d+1], false, kept)
	}
	return elementwise.To(reduce.DivideBy(blocks, tensor.Int(int64(window))), x.DType()), true
}

// planeMeans gives the means over the last dimensions. The sums of many small planes are the product of
// a matrix with ones.
func planeMeans(x *tensor.Tensor, dims []int) *tensor.Tensor {
	size := define.NumelOf(x.Shape()[x.Dim()-len(dims):])
	work := reduce.Accumulator(x.DType())
	if size > 1024 || x.Numel() == 0 || !x.IsContiguous() || x.OnDevice() {
		return reduce.Mean(x, dims, true, x.DType())
	}
	ones := define.FullBeside(x, []int{size, 1}, tensor.Int(1), work)
	sums := linalg.Products(source.Must(elementwise.To(x, work).View(x.Numel()/size, size)), ones)
	shape := append(slices.Clone(x.Shape()[:x.Dim()-len(dims)]), slices.Repeat([]int{1}, len(dims))...)
	return elementwise.To(reduce.DivideBy(source.Must(sums.View(shape...)), tensor.Int(int64(size))), x.DType())
}

func adaptiveNd(n int, suffix string) []define.Definition {
	pools := new(bytePools)
	means := onMeans(func(c define.Call) *tensor.Tensor {
		return KeepFormat(adaptiveAverage("adaptive_avg_pool"+suffix, c, n), c.Tensor(0))
	})
	average := func(c define.Call) *tensor.Tensor {
		if c.Tensor(0).Quantizer() != nil {
			p := adaptive("adaptive_avg_pool"+suffix, c, n)
			if size, ok := p.oneSize(false); ok {
				if out, ok := pools.mean(&p, c.Tensor(0), size); ok {
					return out
				}
			}
		}
		return means(c)
	}
	all := []define.Definition{
		define.Giving("adaptive_avg_pool"+suffix, average),
		define.Operator("adaptive_max_pool"+suffix, func(c define.Call) {
			refuseIntegers(c.Tensor(0), "adaptive_max_pool"+suffix)
			c.Give(define.Pair(maxPool(c.Tensor(0), adaptive("adaptive_max_pool"+suffix, c, n)))...)
		}),
	}
	if n > 1 { // what the other one is where gradients are recorded
		all = append(all, define.Giving("_adaptive_avg_pool"+suffix, average).With(ops.Def{Reads: ops.ReadsNothing, Grad: pooledBy("_adaptive_avg_pool" + suffix + "_backward")}))
	}
	return all
}

// maxUnpool puts elements back to the places that a pooling found them at.
func maxUnpool(c define.Call) *tensor.Tensor {
	x, at, size := c.Tensor(0), c.Tensor(1), c.Ints(2)
	n := len(size)
	source.Check(x.Dim() == n+1 || x.Dim() == n+2, "Input to max_unpooling%dd should be a %dd or %dd Tensor, but got a tensor with %d dimensions.", n, n+1, n+2, x.Dim())
	source.Check(at.DType() == tensor.Int64, "elements in indices should be type int64 but got: %s", at.DType().CppName())
	source.Check(tensor.SameShape(x.Shape(), at.Shape()), "Expected shape of indices to be: %s but got: %s", define.ShapeText(x.Shape()), define.ShapeText(at.Shape()))
	out := define.Zeros(append(slices.Clone(x.Shape()[:x.Dim()-n]), size...), x.DType())
	plane, room := define.NumelOf(x.Shape()[x.Dim()-n:]), define.NumelOf(size)
	offsets := make([]int, x.Numel())
	places := tensor.Data[int64](elementwise.Contiguous(at))
	for lo, hi := range parallel.Stretches(len(places)) {
		for i := lo; i < hi; i++ {
			v := places[i]
			if v < 0 || int(v) >= room {
				source.Raise(source.RuntimeError, "Found an invalid max index: %d (output volumes are of size %s)", v, timesText(size))
			}
			offsets[i] = i/plane*room + int(v)
		}
	}
	if len(offsets) > 0 {
		indexing.MoveTo(out, elementwise.Contiguous(x), offsets, indexing.OneOffset)
	}
	return out
}

var PoolFamily = slices.Concat(
	maxPoolNd("max_pool1d", 1), maxPoolNd("max_pool2d", 2), maxPoolNd("max_pool3d", 3),
	adaptiveNd(1, "1d"), adaptiveNd(2, "2d"), adaptiveNd(3, "3d"),
	[]define.Definition{
		avgPoolNd("avg_pool1d", 1).With(ops.Def{Grad: define.Concrete(averageRowsGrad)}),
		avgPoolNd("avg_pool2d", 2).With(ops.Def{Reads: ops.ReadsNothing, Grad: pooledBy("avg_pool2d_backward", 1, 2, 3, 4, 5, 6), Tags: ops.Grouped}),
		avgPoolNd("avg_pool3d", 3).With(ops.Def{Reads: ops.ReadsNothing, Grad: pooledBy("avg_pool3d_backward", 1, 2, 3, 4, 5, 6)}),
		define.Decomposed("avg_pool2d_backward", averagePoolBackward(2)).With(ops.Def{Decomp: averagePoolBackward(2)}),
		define.Decomposed("avg_pool3d_backward", averagePoolBackward(3)).With(ops.Def{Decomp: averagePoolBackward(3)}),
		define.Decomposed("_adaptive_avg_pool2d_backward", adaptivePoolBackward(2)).With(ops.Def{Decomp: adaptivePoolBackward(2)}),
		define.Decomposed("_adaptive_avg_pool3d_backward", adaptivePoolBackward(3)).With(ops.Def{Decomp: adaptivePoolBackward(3)}),
		define.Giving("max_unpool2d", maxUnpool).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { unpooledGrad(c, 2) })}),
		define.Giving("max_unpool3d", maxUnpool).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { unpooledGrad(c, 3) })}),
		define.Operator("fractional_max_pool2d", func(c define.Call) { c.Give(fractionalMaxPool(c, 2)) }),
		define.Operator("fractional_max_pool3d", func(c define.Call) { c.Give(fractionalMaxPool(c, 3)) }),
	})

// PoolFurther are the records of operators of pooling that are implemented elsewhere.
var PoolFurther = []ops.Def{
	{Name: "adaptive_avg_pool1d", Grad: adaptiveRowsGrad, Tags: ops.Grouped},
	{Name: "adaptive_avg_pool2d", Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		if size := define.NumbersOfValue(a[1], 2); size[0] == 1 && size[1] == 1 {
			return x.Do("mean.dim", a[0], []int{-1, -2}, true)
		}
		return x.Do("_adaptive_avg_pool2d", a[0], a[1])
	}), Reads: ops.ReadsNothing, Grad: pooledBy("_adaptive_avg_pool2d_backward"), Tags: ops.Grouped},
	{Name: "adaptive_avg_pool3d", Reads: ops.ReadsNothing, Grad: pooledBy("_adaptive_avg_pool3d_backward"), Tags: ops.Grouped},
	{Name: "adaptive_max_pool1d", Grad: pooledRows},
	{Name: "adaptive_max_pool2d", Grad: pooledMaximum("adaptive_max_pool2d_backward")},
	{Name: "adaptive_max_pool3d", Grad: pooledMaximum("adaptive_max_pool3d_backward")},
	{Name: "max_pool1d", Decomp: define.FirstOf("max_pool1d_with_indices"), Tags: ops.AnySizes},
	{Name: "max_pool1d_with_indices", Grad: pooledRows},
	{Name: "max_pool2d", Decomp: define.FirstOf("max_pool2d_with_indices"), Saving: "max_pool2d_with_indices", Tags: ops.Grouped | ops.AnySizes},
	{Name: "max_pool2d_with_indices", Reads: ops.ReadsNothing.AndResult(1), Grad: pooledMaximum("max_pool2d_with_indices_backward", 1, 2, 3, 4, 5), Tags: ops.Grouped},
	{Name: "max_pool3d", Decomp: define.FirstOf("max_pool3d_with_indices"), Tags: ops.AnySizes},
	{Name: "max_pool3d_with_indices", Grad: pooledMaximum("max_pool3d_with_indices_backward", 1, 2, 3, 4, 5)},
}
