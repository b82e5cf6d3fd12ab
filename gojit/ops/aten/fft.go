package aten

import (
	"math"
	"math/bits"
	"math/cmplx"
	"slices"

	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
)

// transform computes the discrete Fourier transform in place; sign is -1 forwards and 1 backwards.
// Nothing is scaled.
func transform(x []complex128, sign float64) {
	n := len(x)
	switch {
	case n <= 1:
	case n&(n-1) == 0:
		radix2(x, sign)
	default:
		bluestein(x, sign)
	}
}

func radix2(x []complex128, sign float64) {
	n := len(x)
	shift := 64 - bits.Len(uint(n-1))
	for i := range x {
		if j := int(bits.Reverse64(uint64(i)) >> shift); j > i {
			x[i], x[j] = x[j], x[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		roots := make([]complex128, size/2)
		for k := range roots {
			roots[k] = unitRoot(sign*float64(k), size)
		}
		for start := 0; start < n; start += size {
			for k, w := range roots {
				a, b := x[start+k], w*x[start+k+size/2]
				x[start+k], x[start+k+size/2] = a+b, a-b
			}
		}
	}
}

// unitRoot returns e to the power 2πi k/n.
func unitRoot(k float64, n int) complex128 {
	s, c := math.Sincos(2 * math.Pi * k / float64(n))
	return complex(c, s)
}

// bluestein writes a transform of any length as a convolution of a power of two.
func bluestein(x []complex128, sign float64) {
	n := len(x)
	size := 1 << bits.Len(uint(2*n-1))
	chirp := make([]complex128, n)
	for k := range chirp {
		chirp[k] = unitRoot(sign*float64(k*k%(2*n)), 2*n)
	}
	a, b := make([]complex128, size), make([]complex128, size)
	for k := range x {
		a[k] = x[k] * chirp[k]
		b[k] = cmplx.Conj(chirp[k])
		if k > 0 {
			b[size-k] = b[k]
		}
	}
	radix2(a, -1)
	radix2(b, -1)
	for i := range a {
		a[i] *= b[i]
	}
	radix2(a, 1)
	for k := range x {
		x[k] = a[k] * chirp[k] / complex(float64(size), 0)
	}
}

// fourier describes one transform: forwards or backwards and its scaling.
type fourier struct {
	backwards bool
	norm      string
}

func (f fourier) scale(n int) float64 {
	switch {
	case f.norm == "ortho":
		return 1 / math.Sqrt(float64(n))
	case (f.norm == "backward" || f.norm == "") && f.backwards, f.norm == "forward" && !f.backwards:
		return 1 / float64(n)
	}
	check(f.norm == "" || f.norm == "backward" || f.norm == "forward", "Invalid normalization mode: \"%s\"", f.norm)
	return 1
}

// along transforms one dimension of a complex128 tensor.
func (f fourier) along(t *tensor.Tensor, dim int) *tensor.Tensor {
	work := must(must(t.Transpose(dim, -1)).Clone(tensor.ContiguousFormat))
	n := work.Size(work.Dim() - 1)
	check(n > 0, "Invalid number of data points (%d) specified", n)
	data := tensor.Data[complex128](work)
	sign, scale := -1.0, complex(f.scale(n), 0)
	if f.backwards {
		sign = 1
	}
	tensor.Parallel(len(data)/n, rowGrain/n+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := data[i*n : (i+1)*n]
			transform(row, sign)
			for j := range row {
				row[j] *= scale
			}
		}
	})
	return must(work.Transpose(dim, -1))
}

// wideComplex gives a tensor in complex128 and the complex type that a transform of it has.
func wideComplex(t *tensor.Tensor) (*tensor.Tensor, tensor.DType) {
	return to(t, tensor.Complex128), floatOrDefault(t.DType()).ToComplex()
}

// transformedDim returns the dimension to transform. It fails on tensors without dimensions.
func transformedDim(t *tensor.Tensor, dim int) int {
	if t.Dim() == 0 {
		raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", dim)
	}
	return wrapDim(dim, t)
}

// resizeDim cuts a dimension or pads it with zeros.
func resizeDim(t *tensor.Tensor, dim, n int) *tensor.Tensor {
	check(n >= 1, "Invalid number of data points (%d) specified", n)
	size := t.Size(dim)
	switch {
	case n < size:
		return must(t.Slice(dim, 0, n, 1))
	case n > size:
		amounts := make([]int, 2*(t.Dim()-dim))
		amounts[len(amounts)-1] = n - size
		return constantPad(t, amounts, tensor.Int(0))
	}
	return t
}

// halfSpectrum keeps the part of a transform of real numbers that determines the rest.
func halfSpectrum(t *tensor.Tensor, dim int) *tensor.Tensor {
	return must(t.Slice(dim, 0, t.Size(dim)/2+1, 1))
}

// fullSpectrum completes half a spectrum to n points by conjugate symmetry.
func fullSpectrum(t *tensor.Tensor, dim, n int) *tensor.Tensor {
	t = resizeDim(t, dim, n/2+1)
	m := (n - 1) / 2
	if m == 0 {
		return must(t.Slice(dim, 0, n, 1))
	}
	tail := conjugate(flip(must(t.Slice(dim, 1, m+1, 1)), []int{dim}))
	return concat([]*tensor.Tensor{t, tail}, dim)
}

func fftOne(backwards bool) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		t, result := wideComplex(c.tensor(0))
		dim := transformedDim(t, c.int(2))
		t = resizeDim(t, dim, c.intOr(1, t.Size(dim)))
		return to(fourier{backwards, c.strOr(3, "")}.along(t, dim), result)
	}
}

// realFFT transforms real numbers; the Hermitian form goes backwards.
func realFFT(hermitian bool) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		check(!c.tensor(0).DType().IsComplex(), "rfft expects a real input tensor, but got %s", c.tensor(0).DType().CppName())
		t, result := wideComplex(c.tensor(0))
		dim := transformedDim(t, c.int(2))
		t = resizeDim(t, dim, c.intOr(1, t.Size(dim)))
		return to(halfSpectrum(fourier{hermitian, c.strOr(3, "")}.along(t, dim), dim), result)
	}
}

// inverseRealFFT gives real numbers from half a spectrum; the Hermitian form goes forwards.
func inverseRealFFT(hermitian bool) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		t, result := wideComplex(c.tensor(0))
		dim := transformedDim(t, c.int(2))
		n := c.intOr(1, 2*(t.Size(dim)-1))
		check(n >= 1, "Invalid number of data points (%d) specified", n)
		full := fullSpectrum(t, dim, n)
		out := fourier{!hermitian, c.strOr(3, "")}.along(full, dim)
		return to(contiguous(out.RealPart()), result.ToReal())
	}
}

// manyDims returns the dimensions of an n-dimensional transform and their sizes, -1 for unchanged.
func manyDims(c call, t *tensor.Tensor) (dims, sizes []int) {
	sizes = c.ints(1)
	switch {
	case !c.isNone(2):
		dims = c.ints(2)
	case sizes != nil:
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
	}
	if sizes == nil {
		sizes = slices.Repeat([]int{-1}, len(dims))
	}
	check(len(sizes) == len(dims), "When given, dim and shape arguments must have the same length")
	return dims, sizes
}

func fftMany(backwards bool) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		t, result := wideComplex(c.tensor(0))
		dims, sizes := manyDims(c, t)
		for i, d := range dims {
			if sizes[i] >= 0 {
				t = resizeDim(t, d, sizes[i])
			}
			t = fourier{backwards, c.strOr(3, "")}.along(t, d)
		}
		return to(contiguous(t), result)
	}
}

func realFFTMany(c call) *tensor.Tensor {
	check(!c.tensor(0).DType().IsComplex(), "rfftn expects a real-valued input tensor, but got %s", c.tensor(0).DType().CppName())
	t, result := wideComplex(c.tensor(0))
	dims, sizes := manyDims(c, t)
	check(len(dims) > 0, "rfftn must transform at least one axis")
	for i := len(dims) - 1; i >= 0; i-- {
		if sizes[i] >= 0 {
			t = resizeDim(t, dims[i], sizes[i])
		}
		t = fourier{false, c.strOr(3, "")}.along(t, dims[i])
		if i == len(dims)-1 {
			t = halfSpectrum(t, dims[i])
		}
	}
	return to(contiguous(t), result)
}

func inverseRealFFTMany(c call) *tensor.Tensor {
	t, result := wideComplex(c.tensor(0))
	dims, sizes := manyDims(c, t)
	check(len(dims) > 0, "irfftn must transform at least one axis")
	last := len(dims) - 1
	for i, d := range dims {
		n := sizes[i]
		if i == last {
			if n < 0 {
				n = 2 * (t.Size(d) - 1)
			}
			t = fullSpectrum(t, d, n)
		} else if n >= 0 {
			t = resizeDim(t, d, n)
		}
		t = fourier{true, c.strOr(3, "")}.along(t, d)
	}
	return to(contiguous(t.RealPart()), result.ToReal())
}

// shiftSpectrum moves the zero frequency to, or from, the middle.
func shiftSpectrum(back bool) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		t := c.tensor(0)
		dims := c.ints(1)
		if c.isNone(1) {
			for d := range t.Dim() {
				dims = append(dims, d)
			}
		}
		shifts := make([]int, len(dims))
		for i, d := range dims {
			n := t.Size(wrapDim(d, t))
			shifts[i] = n / 2
			if back {
				shifts[i] = (n + 1) / 2
			}
		}
		if len(dims) == 0 {
			return t
		}
		return roll(t, shifts, dims)
	}
}

func frequencies(c call, o makeLike, half bool) *tensor.Tensor {
	n, d := c.int(0), c.float(1)
	count := n
	if half {
		count = n/2 + 1
	}
	t := empty([]int{count}, tensor.Float64)
	for i := range count {
		k := i
		if !half && i >= (n+1)/2 {
			k = i - n
		}
		tensor.Data[float64](t)[i] = float64(k) / (float64(n) * d)
	}
	return to(t, o.dtype)
}

// shortTime transforms windows of a signal.
func shortTime(c call, centerAt, normalizedAt int) *tensor.Tensor {
	x, n := c.tensor(0), c.int(1)
	hop, width := c.intOr(2, n/4), c.intOr(3, n)
	check(x.Dim() == 1 || x.Dim() == 2, "stft(%s): expected a 1D or 2D tensor", shapeText(x.Shape()))
	batched := x.Dim() == 2
	if !batched {
		x = must(x.Unsqueeze(0))
	}
	if centerAt >= 0 && c.bool(centerAt) {
		x = must(pad(must(x.Unsqueeze(1)), []int{n / 2, n / 2}, c.str(centerAt+1), tensor.Int(0)).Select(1, 0))
	}
	check(n > 0 && n <= x.Size(1), "stft: expected 0 < n_fft <= %d, but got n_fft=%d", x.Size(1), n)
	check(hop > 0, "stft: expected hop_length > 0, but got hop_length=%d", hop)
	check(width > 0 && width <= n, "stft: expected 0 < win_length <= n_fft, but got win_length=%d", width)
	window := c.optionalTensor(4)
	check(window == nil || window.Dim() == 1 && window.Size(0) == width, "stft: expected a 1D window tensor of size equal to win_length=%d, but got window with size %s", width, optionalShape(window))
	frames := must(x.Unfold(1, n, hop))
	if window != nil || width < n {
		if window == nil {
			window = must(tensor.Full([]int{width}, tensor.Int(1), x.DType()))
		}
		left := (n - width) / 2
		frames = mul.on(frames, constantPad(window, []int{left, n - width - left}, tensor.Int(0)))
	}
	wide, result := wideComplex(frames)
	norm := "backward"
	if c.bool(normalizedAt) {
		norm = "ortho"
	}
	out := fourier{false, norm}.along(wide, 2)
	if c.isNone(normalizedAt+1) && !x.DType().IsComplex() || !c.isNone(normalizedAt+1) && c.bool(normalizedAt+1) {
		out = halfSpectrum(out, 2)
	}
	out = to(must(out.Transpose(1, 2)), result)
	if !batched {
		out = must(out.Select(0, 0))
	}
	if c.isNone(normalizedAt+2) && x.DType().IsComplex() || !c.isNone(normalizedAt+2) && c.bool(normalizedAt+2) {
		return out
	}
	return must(contiguous(out).ViewAsReal())
}

var fftFamily = []definition{
	giving("fft_fft", fftOne(false)),
	giving("fft_ifft", fftOne(true)),
	giving("fft_rfft", realFFT(false)),
	giving("fft_ihfft", realFFT(true)),
	giving("fft_irfft", inverseRealFFT(false)),
	giving("fft_hfft", inverseRealFFT(true)),
	giving("fft_fft2", fftMany(false)),
	giving("fft_ifft2", fftMany(true)),
	giving("fft_fftn", fftMany(false)),
	giving("fft_ifftn", fftMany(true)),
	giving("fft_rfft2", realFFTMany),
	giving("fft_rfftn", realFFTMany),
	giving("fft_irfft2", inverseRealFFTMany),
	giving("fft_irfftn", inverseRealFFTMany),
	giving("fft_fftshift", shiftSpectrum(false)),
	giving("fft_ifftshift", shiftSpectrum(true)),
	creating("fft_fftfreq", 2, func(c call, o makeLike) *tensor.Tensor { return frequencies(c, o, false) }),
	creating("fft_rfftfreq", 2, func(c call, o makeLike) *tensor.Tensor { return frequencies(c, o, true) }),
	giving("stft", func(c call) *tensor.Tensor { return shortTime(c, -1, 5) }),
	giving("stft.center", func(c call) *tensor.Tensor { return shortTime(c, 5, 7) }),
}
