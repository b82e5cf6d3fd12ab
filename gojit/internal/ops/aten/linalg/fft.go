package linalg

import (
	"math"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/linalg/fft"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// spectral describes one transform: forwards or backwards and its scaling.
type spectral struct {
	backwards bool
	norm      string
}

func (f spectral) scale(n int) float64 {
	switch {
	case f.norm == "ortho":
		return 1 / math.Sqrt(float64(n))
	case f.norm == "backward" && f.backwards, f.norm == "forward" && !f.backwards:
		return 1 / float64(n)
	}
	return 1
}

// normOf reads how a transform is scaled.
func normOf(c define.Call) string {
	norm := c.StrOr(3, "backward")
	source.Check(norm == "backward" || norm == "ortho" || norm == "forward", "Invalid normalization mode: \"%s\"", norm)
	return norm
}

// along transforms one dimension of a tensor of real or complex numbers.
func (f spectral) along(t *tensor.Tensor, dim int) *tensor.Tensor {
	n := t.Size(dim)
	return f.rows(t, dim, n, n, t.DType().ToComplex(), false)
}

// realAlong gives the first half of the transform of one dimension of a tensor of real numbers, which determines the rest.
func (f spectral) realAlong(t *tensor.Tensor, dim int) *tensor.Tensor {
	n := t.Size(dim)
	return f.rows(t, dim, n, n/2+1, t.DType().ToComplex(), false)
}

// halfAlong gives the real numbers whose transform has its first half in one dimension of a complex tensor.
func (f spectral) halfAlong(t *tensor.Tensor, dim, n int) *tensor.Tensor {
	return f.rows(resizeDim(t, dim, n/2+1), dim, n, n, t.DType().ToReal(), true)
}

// rows transforms a dimension, of which the first keep of n results are kept. half: it holds half a spectrum.
func (f spectral) rows(t *tensor.Tensor, dim, n, keep int, d tensor.DType, half bool) *tensor.Tensor {
	source.Check(n > 0, "Invalid number of data points (%d) specified", n)
	from := elementwise.Contiguous(source.Must(t.Transpose(dim, -1)))
	shape := slices.Clone(from.Shape())
	shape[len(shape)-1] = keep
	out := define.EmptyBeside(t, shape, d)
	if t.OnDevice() {
		f.onDevice(from, out, n, half)
		return source.Must(out.Transpose(dim, -1))
	}
	switch d.ToReal() {
	case tensor.Float32:
		transformRows[float32](f, from, out, n, half)
	default:
		transformRows[float64](f, from, out, n, half)
	}
	return source.Must(out.Transpose(dim, -1))
}

func transformRows[T fft.Float](f spectral, from, out *tensor.Tensor, n int, half bool) {
	last := out.Dim() - 1
	r := fft.Rows[T]{Count: define.NumelOf(out.Shape()[:last]), In: partsOf[T](from), Out: partsOf[T](out), Keep: out.Size(last), Half: half, Real: !from.DType().IsComplex(), RealParts: !out.DType().IsComplex()}
	scale := f.scale(n)
	if r.Count == 0 {
		return // a plan of any length costs memory
	}
	r.InStep, r.OutStep = len(r.In)/r.Count, len(r.Out)/r.Count
	fft.PlanOf[T](n, f.backwards, scale).Transform(r)
}

// partsOf shows the elements of a contiguous tensor as their real and imaginary parts in turn, or as they are.
func partsOf[T fft.Float](t *tensor.Tensor) []T {
	switch t.DType() {
	case tensor.Complex64:
		x := tensor.Data[complex64](t)
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
	case tensor.Complex128:
		x := tensor.Data[complex128](t)
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
	case tensor.Float32:
		x := tensor.Data[float32](t)
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
	}
	x := tensor.Data[float64](t)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// spectrumTypes returns the type that a transform of a tensor has and the one that it is computed in.
func spectrumTypes(t *tensor.Tensor) (result, work tensor.DType) {
	result = reduce.FloatOrDefault(t.DType()).ToComplex()
	work = result
	if work != tensor.Complex128 {
		work = tensor.Complex64
	}
	return result, work
}

// asComplex gives a tensor in the complex type that transforms of it are computed in, and the type that they have.
func asComplex(t *tensor.Tensor) (*tensor.Tensor, tensor.DType) {
	result, work := spectrumTypes(t)
	return elementwise.To(t, work), result
}

// asNumbers is asComplex for transforms of complex numbers and of real ones, which stay real.
func asNumbers(t *tensor.Tensor) (*tensor.Tensor, tensor.DType) {
	if t.DType().IsComplex() {
		return asComplex(t)
	}
	return asReal(t)
}

// asReal is asComplex for transforms of real numbers.
func asReal(t *tensor.Tensor) (*tensor.Tensor, tensor.DType) {
	result, work := spectrumTypes(t)
	return elementwise.To(t, work.ToReal()), result
}

// transformedDim returns the dimension to transform. It fails on tensors without dimensions.
func transformedDim(t *tensor.Tensor, dim int) int {
	if t.Dim() == 0 {
		source.Raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", dim)
	}
	return define.WrapDim(dim, t)
}

// resizeDim cuts a dimension or pads it with zeros.
func resizeDim(t *tensor.Tensor, dim, n int) *tensor.Tensor {
	source.Check(n >= 1, "Invalid number of data points (%d) specified", n)
	size := t.Size(dim)
	switch {
	case n < size:
		return source.Must(t.Slice(dim, 0, n, 1))
	case n > size:
		amounts := make([]int, 2*(t.Dim()-dim))
		amounts[len(amounts)-1] = n - size
		return views.ConstantPad(t, amounts, tensor.Int(0))
	}
	return t
}

func fftOne(backwards bool) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		t, result := asNumbers(c.Tensor(0))
		dim := transformedDim(t, c.Int(2))
		t = resizeDim(t, dim, c.IntOr(1, t.Size(dim)))
		return elementwise.To(spectral{backwards, normOf(c)}.along(t, dim), result)
	}
}

// realFFT transforms real numbers; the Hermitian form goes backwards, which gives the conjugates.
func realFFT(hermitian bool) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		name := "rfft"
		if hermitian {
			name = "ihfft"
		}
		source.Check(!c.Tensor(0).DType().IsComplex(), "%s expects a real input tensor, but got %s", name, c.Tensor(0).DType().CppName())
		t, result := asReal(c.Tensor(0))
		dim := transformedDim(t, c.Int(2))
		t = resizeDim(t, dim, c.IntOr(1, t.Size(dim)))
		f := spectral{false, normOf(c)}
		if !hermitian {
			return elementwise.To(f.realAlong(t, dim), result)
		}
		f.norm = otherWay(f.norm) // forwards, and conjugated: zeros among the imaginary parts are negative, as PyTorch's
		return elementwise.To(elementwise.Conjugate(f.realAlong(t, dim)), result)
	}
}

// otherWay returns the scaling of transforms the other way.
func otherWay(norm string) string {
	switch norm {
	case "forward":
		return "backward"
	case "backward":
		return "forward"
	}
	return norm
}

// inverseRealFFT gives real numbers from half a spectrum; the Hermitian form goes forwards.
func inverseRealFFT(hermitian bool) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		t, result := asComplex(c.Tensor(0))
		dim := transformedDim(t, c.Int(2))
		n := c.IntOr(1, 2*(t.Size(dim)-1))
		source.Check(n >= 1, "Invalid number of data points (%d) specified", n)
		return elementwise.To(spectral{!hermitian, normOf(c)}.halfAlong(t, dim, n), result.ToReal())
	}
}

// manyDims returns the dimensions of an n-dimensional transform and their sizes, -1 for unchanged.
func manyDims(c define.Call, t *tensor.Tensor) (dims, sizes []int) {
	sizes = c.Ints(1)
	switch {
	case !c.IsNone(2):
		dims = c.Ints(2)
	case sizes != nil:
		source.Check(len(sizes) <= t.Dim(), "Got shape with %d values but input tensor only has %d dimensions.", len(sizes), t.Dim())
		for i := range sizes {
			dims = append(dims, t.Dim()-len(sizes)+i)
		}
	default:
		for d := range t.Dim() {
			dims = append(dims, d)
		}
	}
	for i := range dims {
		dims[i] = transformedDim(t, dims[i])
		source.Check(!slices.Contains(dims[:i], dims[i]), "FFT dims must be unique")
	}
	if sizes == nil {
		sizes = slices.Repeat([]int{-1}, len(dims))
	}
	source.Check(len(sizes) == len(dims), "When given, dim and shape arguments must have the same length")
	return dims, sizes
}

// checkManyDims fails where the dimensions of a transform repeat, or have another number than the sizes.
func checkManyDims(c define.Call) { manyDims(c, c.Tensor(0)) }

func fftMany(backwards bool) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		t, result := asNumbers(c.Tensor(0))
		dims, sizes := manyDims(c, t)
		for i, d := range dims {
			if sizes[i] >= 0 {
				t = resizeDim(t, d, sizes[i])
			}
			t = spectral{backwards, normOf(c)}.along(t, d)
		}
		return elementwise.Contiguous(elementwise.To(t, result))
	}
}

func realFFTMany(c define.Call) *tensor.Tensor {
	source.Check(!c.Tensor(0).DType().IsComplex(), "rfftn expects a real-valued input tensor, but got %s", c.Tensor(0).DType().CppName())
	t, result := asReal(c.Tensor(0))
	dims, sizes := manyDims(c, t)
	source.Check(len(dims) > 0, "rfftn must transform at least one axis")
	f := spectral{false, normOf(c)}
	for i := len(dims) - 1; i >= 0; i-- {
		if sizes[i] >= 0 {
			t = resizeDim(t, dims[i], sizes[i])
		}
		if i == len(dims)-1 {
			t = f.realAlong(t, dims[i])
		} else {
			t = f.along(t, dims[i])
		}
	}
	return elementwise.To(elementwise.Contiguous(t), result)
}

func inverseRealFFTMany(c define.Call) *tensor.Tensor {
	t, result := asComplex(c.Tensor(0))
	dims, sizes := manyDims(c, t)
	source.Check(len(dims) > 0, "irfftn must transform at least one axis")
	f := spectral{true, normOf(c)}
	last := len(dims) - 1
	for i, d := range dims[:last] {
		if sizes[i] >= 0 {
			t = resizeDim(t, d, sizes[i])
		}
		t = f.along(t, d)
	}
	n := sizes[last]
	if n < 0 {
		n = 2 * (t.Size(dims[last]) - 1)
	}
	source.Check(n >= 1, "Invalid number of data points (%d) specified", n)
	return elementwise.To(elementwise.Contiguous(f.halfAlong(t, dims[last], n)), result.ToReal())
}

// shiftSpectrum moves the zero frequency to, or from, the middle.
func shiftSpectrum(back bool) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		dims := c.Ints(1)
		if c.IsNone(1) {
			for d := range t.Dim() {
				dims = append(dims, d)
			}
		}
		shifts := make([]int, len(dims))
		for i, d := range dims {
			n := t.Size(define.WrapDim(d, t))
			shifts[i] = n / 2
			if back {
				shifts[i] = (n + 1) / 2
			}
		}
		if len(dims) == 0 {
			return t
		}
		return views.Roll(t, shifts, dims)
	}
}

func frequencies(c define.Call, o views.MakeLike, half bool) *tensor.Tensor {
	n, d := c.Int(0), c.Float(1)
	kind := "fftfreq"
	if half {
		kind = "rfftfreq"
	}
	source.Check(o.Dtype.IsFloating() || o.Dtype.IsComplex(), "%s requires a floating point or complex dtype", kind)
	count := n
	if half {
		count = n/2 + 1
	}
	least := count // the first negative frequency
	if !half {
		least = (n + 1) / 2
	}
	t := frequencySteps.Fill(count, tensor.Float64, tensor.Int(int64(least)), tensor.Int(int64(n)), tensor.Float(float64(n)*d))
	return elementwise.OwnTo(t, o.Dtype)
}

// frequencySteps counts from 0, from a number on less a period, and divides.
var frequencySteps = &elementwise.Counting{Computed: tensor.Float64, Params: 3, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	k := b.Select(b.Binary(kernel.Lt, x[0], x[1]), x[0], b.Sub(x[0], x[2]))
	return b.Div(k, x[3])
}}

// checkShortTime fails where shortTime would. A signal that frames are centered in is padded at both ends.
func checkShortTime(c define.Call, centered bool) {
	x, n := c.Tensor(0), c.Int(1)
	hop, width, window := c.IntOr(2, n/4), c.IntOr(3, n), c.OptionalTensor(4)
	source.Check(x.Dim() == 1 || x.Dim() == 2, "stft(%s): expected a 1D or 2D tensor", define.ShapeText(x.Shape()))
	length := x.Size(x.Dim() - 1)
	if centered {
		length += n / 2 * 2
	}
	source.Check(n > 0 && n <= length, "stft: expected 0 < n_fft <= %d, but got n_fft=%d", length, n)
	source.Check(hop > 0, "stft: expected hop_length > 0, but got hop_length=%d", hop)
	source.Check(width > 0 && width <= n, "stft: expected 0 < win_length <= n_fft, but got win_length=%d", width)
	source.Check(window == nil || window.Dim() == 1 && window.Size(0) == width, "stft: expected a 1D window tensor of size equal to win_length=%d, but got window with size %s", width, define.OptionalShape(window))
}

// shortTime transforms windows of a signal.
func shortTime(c define.Call, centerAt, normalizedAt int) *tensor.Tensor {
	x, n := c.Tensor(0), c.Int(1)
	if !x.DType().IsComplex() && c.Args[normalizedAt+2].IsNone() {
		define.WarnOnce("stft will soon require the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future PyTorch release.")
	}
	hop, width := c.IntOr(2, n/4), c.IntOr(3, n)
	batched := x.Dim() == 2
	if !batched {
		x = source.Must(x.Unsqueeze(0))
	}
	if centerAt >= 0 && c.Bool(centerAt) {
		x = source.Must(views.Pad(source.Must(x.Unsqueeze(1)), []int{n / 2, n / 2}, c.Str(centerAt+1), tensor.Int(0)).Select(1, 0))
	}
	window := c.OptionalTensor(4)
	frames := source.Must(x.Unfold(1, n, hop))
	if window != nil || width < n {
		if window == nil {
			window = source.Must(tensor.Full([]int{width}, tensor.Int(1), x.DType()))
		}
		left := (n - width) / 2
		frames = elementwise.Mul.On(frames, views.ConstantPad(window, []int{left, n - width - left}, tensor.Int(0)))
	}
	norm := "backward"
	if c.Bool(normalizedAt) {
		norm = "ortho"
	}
	f := spectral{false, norm}
	result, work := spectrumTypes(frames)
	var out *tensor.Tensor
	switch half := !c.IsNone(normalizedAt+1) && c.Bool(normalizedAt+1) || c.IsNone(normalizedAt+1) && !frames.DType().IsComplex(); {
	case half && !frames.DType().IsComplex():
		out = f.realAlong(elementwise.To(frames, work.ToReal()), 2)
	case half:
		out = source.Must(f.along(elementwise.To(frames, work), 2).Slice(2, 0, n/2+1, 1))
	case frames.DType().IsComplex():
		out = f.along(elementwise.To(frames, work), 2)
	default:
		out = f.along(elementwise.To(frames, work.ToReal()), 2)
	}
	out = elementwise.To(source.Must(out.Transpose(1, 2)), result)
	if !batched {
		out = source.Must(out.Select(0, 0))
	}
	if c.IsNone(normalizedAt+2) && x.DType().IsComplex() || !c.IsNone(normalizedAt+2) && c.Bool(normalizedAt+2) {
		return out
	}
	return source.Must(elementwise.Contiguous(out).ViewAsReal())
}

var FftFamily = []define.Definition{
	define.Giving("fft_fft", fftOne(false)).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { elementwise.FourierGrad(c, "fft_fft") })}),
	define.Giving("fft_ifft", fftOne(true)).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { elementwise.FourierGrad(c, "fft_ifft") })}),
	define.Giving("fft_rfft", realFFT(false)).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		g, dim := c.G(), define.Wrap(c.Int(2), len(c.Shape(0)))
		n := c.Shape(0)[dim]
		if !c.IsNone(1) {
			n = c.Int(1)
		}
		full := c.Do("fft_fft", elementwise.Resize(c, g, dim, n), value.None, dim, c.Arg(3))
		c.Give(0, c.Do("real", elementwise.Resize(c, full, dim, c.Shape(0)[dim])))
	})}),
	define.Giving("fft_ihfft", realFFT(true)),
	define.Giving("fft_irfft", inverseRealFFT(false)).With(ops.Def{Grad: define.Concrete(elementwise.InverseRealGrad), Tags: ops.AsWritten}),
	define.Giving("fft_hfft", inverseRealFFT(true)),
	define.Giving("fft_fft2", fftMany(false)).With(ops.Def{Decomp: define.Emitting("fft_fftn")}).Checked(checkManyDims),
	define.Giving("fft_ifft2", fftMany(true)).With(ops.Def{Decomp: define.Emitting("fft_ifftn")}).Checked(checkManyDims),
	define.Giving("fft_fftn", fftMany(false)).Checked(checkManyDims),
	define.Giving("fft_ifftn", fftMany(true)).Checked(checkManyDims),
	define.Giving("fft_rfft2", realFFTMany).With(ops.Def{Decomp: define.Emitting("fft_rfftn")}).Checked(checkManyDims),
	define.Giving("fft_rfftn", realFFTMany).Checked(checkManyDims),
	define.Giving("fft_irfft2", inverseRealFFTMany).With(ops.Def{Decomp: define.Emitting("fft_irfftn")}).Checked(checkManyDims),
	define.SameAs("fft_hfft2", "fft_hfftn"),
	define.SameAs("fft_ihfft2", "fft_ihfftn"),
	define.Giving("fft_irfftn", inverseRealFFTMany).Checked(checkManyDims),
	define.Giving("fft_fftshift", shiftSpectrum(false)),
	define.Giving("fft_ifftshift", shiftSpectrum(true)),
	views.Creating("fft_fftfreq", 2, func(c define.Call, o views.MakeLike) *tensor.Tensor { return frequencies(c, o, false) }),
	views.Creating("fft_rfftfreq", 2, func(c define.Call, o views.MakeLike) *tensor.Tensor { return frequencies(c, o, true) }),
	define.Giving("stft", func(c define.Call) *tensor.Tensor { return shortTime(c, -1, 5) }).Checked(func(c define.Call) { checkShortTime(c, false) }),
	define.Giving("stft.center", func(c define.Call) *tensor.Tensor { return shortTime(c, 5, 7) }).Checked(func(c define.Call) { checkShortTime(c, c.Bool(5)) }),
}
