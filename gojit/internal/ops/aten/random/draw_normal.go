package random

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// normalBlock is how many uniform numbers become as many normal ones at once: the first half holds the radii of 8 pairs,
// the second their angles.
const normalBlock = 16

// DrawNormal fills a floating-point tensor with normal numbers. A contiguous tensor of 16 or more is filled in blocks;
// where the last one is not full, the last 16 elements are drawn again.
func DrawNormal(gen *rng.Generator, t *tensor.Tensor, mean, std float64) {
	if !t.DType().IsFloating() && !t.DType().IsComplex() {
		elementwise.NotImplemented("normal_kernel_cpu", t.DType())
	}
	if t.DType().IsComplex() {
		std /= math.Sqrt2
	}
	t = RealParts(t)
	if t.OnDevice() {
		drawOnDevice(gen, t, func(here *tensor.Tensor) { DrawNormal(gen, here, mean, std) }, "normal", mean, std)
		return
	}
	if n := t.Numel(); n > 0 && n < normalBlock && t.IsContiguous() {
		var room [normalBlock]float64
		numbers := room[:n]
		gen.Normals(numbers)
		for i := range numbers {
			numbers[i] = numbers[i]*std + mean
		}
		storeNumbers(t, numbers)
		return
	}
	drawNormals(gen, t, mean, std)
}

// storeNumbers converts numbers to the elements of a contiguous tensor.
func storeNumbers(t *tensor.Tensor, numbers []float64) {
	switch t.DType() {
	case tensor.Float32:
		elements := tensor.Data[float32](t)
		for i, v := range numbers {
			elements[i] = float32(v)
		}
	case tensor.Float64:
		copy(tensor.Data[float64](t), numbers)
	default:
		kept := slices.Clone(numbers)
		tensor.ConverterOf(tensor.Float64, t.DType())(t.DataPtr(), t.DType().Size(), unsafe.Pointer(&kept[0]), 8, len(kept))
	}
}

// drawNormals is DrawNormal of real tensors of the processor with many elements, or with elements apart.
func drawNormals(gen *rng.Generator, t *tensor.Tensor, mean, std float64) {
	if t.Numel() < normalBlock || !t.IsContiguous() {
		drawEach(gen, t, func(d rng.Draws) float64 { return d.Normal()*std + mean })
		return
	}
	room := drawRooms.Get().(*drawRoom)
	defer drawRooms.Put(room)
	make, words := normalMaker(room, t.DType(), mean, std)
	n, size := t.Numel(), t.DType().Size()
	gen.Draw(func(stream rng.Draws) {
		var watch parallel.Watch
		for from := 0; from+normalBlock <= n; from += drawn {
			watch.Did(drawn)
			count := min((n-from)&^(normalBlock-1), drawn)
			stream.Words(room.words[:words*count])
			make(unsafe.Add(t.DataPtr(), from*size), room.words[:words*count])
		}
		if rest := n % normalBlock; rest > 0 {
			stream.Words(room.words[:words*rest])
			stream.Words(room.words[:words*normalBlock])
			make(unsafe.Add(t.DataPtr(), (n-normalBlock)*size), room.words[:words*normalBlock])
		}
	})
}

// normalMaker returns what makes blocks of normal numbers of words, and how many words a number takes. It may use the results of the room.
func normalMaker(room *drawRoom, d tensor.DType, mean, std float64) (make func(dst unsafe.Pointer, words []uint32), words int) {
	switch d {
	case tensor.Float32:
		return normalPairs[float32, uint32](d, 1, mean, std), 1
	case tensor.Float64:
		return normalPairs[float64, uint64](d, 2, mean, std), 2
	}
	return normalHalves(room, d, mean, std), 1
}

var normalPrograms elementwise.TypePrograms

// normalPairs turns pairs of uniform numbers into pairs of normal ones by the method of Box and Muller. W is what one number
// is made of.
func normalPairs[T float32 | float64, W uint32 | uint64](d tensor.DType, wordsEach int, mean, std float64) func(dst unsafe.Pointer, words []uint32) {
	p := normalPrograms.Of(d, func(b *kernel.Builder) {
		number := func(f float64) elementwise.Element { return b.Const(d, tensor.Float(f)) }
		fromZero := b.Sub(number(1), unitInput(b, d)) // (0, 1]: it has a logarithm
		radius := b.Unary(kernel.Sqrt, b.Mul(number(-2), b.Unary(kernel.Log, fromZero)))
		angle := b.Mul(number(2*math.Pi), unitInput(b, d))
		std, mean := b.Param(d), b.Param(d)
		for _, f := range []kernel.Op{kernel.Cos, kernel.Sin} {
			b.Output(b.Fma(b.Mul(radius, b.Unary(f, angle)), std, mean), d)
		}
	})
	integer := tensor.Int32
	if wordsEach == 2 {
		integer = tensor.Int64
	}
	const half = drawn / 2
	radii, angles := define.Empty([]int{half}, integer), define.Empty([]int{half}, integer)
	cosines, sines := define.Empty([]int{half}, d), define.Empty([]int{half}, d)
	numbers := []tensor.Scalar{tensor.Float(std), tensor.Float(mean)}
	return func(dst unsafe.Pointer, words []uint32) {
		n := len(words) / wordsEach
		all := unsafe.Slice((*W)(unsafe.Pointer(&words[0])), n)
		out := unsafe.Slice((*T)(dst), n)
		r, a := unsafe.Slice((*W)(radii.DataPtr()), half), unsafe.Slice((*W)(angles.DataPtr()), half)
		for i := 0; i < n; i += normalBlock {
			copy(r[i/2:i/2+8], all[i:])
			copy(a[i/2:i/2+8], all[i+8:])
		}
		tensors := []*tensor.Tensor{cosines, sines, radii, angles}
		if n < drawn {
			for i, t := range tensors {
				tensors[i] = source.Must(t.Slice(0, 0, n/2, 1))
			}
		}
		p.Run(tensors, numbers)
		x, y := tensor.Data[T](cosines), tensor.Data[T](sines)
		for i := 0; i < n; i += normalBlock {
			copy(out[i:i+8], x[i/2:])
			copy(out[i+8:i+16], y[i/2:])
		}
	}
}

// halfNormals holds what normal numbers of a 16-bit type are made of: for each uniform number the radius and the sine and
// cosine of the angle. In PyTorch functions of BFloat16 give BFloat16, and so each step is rounded; those of Half give float: radius, angle and
// result are rounded alone.
type halfNormals struct{ radius, cos, sin []float32 }

var halfTables = map[tensor.DType]func() halfNormals{
	tensor.Float16:  sync.OnceValue(func() halfNormals { return halfNormalsOf(tensor.Float16) }),
	tensor.BFloat16: sync.OnceValue(func() halfNormals { return halfNormalsOf(tensor.BFloat16) }),
}

func halfNormalsOf(d tensor.DType) halfNormals {
	count := 1 << fractionBits(d)
	rounded := func(f float64) float64 { return float64(roundedTo(d, f)) }
	step := func(f float64) float64 { return f }
	if d == tensor.BFloat16 {
		step = rounded
	}
	h := halfNormals{make([]float32, count), make([]float32, count), make([]float32, count)}
	for i := range count {
		u := float64(i) / float64(count)
		h.radius[i] = roundedTo(d, math.Sqrt(-2*step(math.Log(1-u))))
		sin, cos := math.Sincos(rounded(2 * math.Pi * u))
		h.sin[i], h.cos[i] = float32(step(sin)), float32(step(cos))
	}
	return h
}

// roundedTo rounds a number to a type.
func roundedTo(d tensor.DType, f float64) (rounded float32) {
	narrow, half := float32(f), [8]byte{}
	tensor.ConverterOf(tensor.Float32, d)(unsafe.Pointer(&half), 0, unsafe.Pointer(&narrow), 0, 1)
	tensor.ConverterOf(d, tensor.Float32)(unsafe.Pointer(&rounded), 0, unsafe.Pointer(&half), 0, 1)
	return rounded
}

var (
	halfNumbers  elementwise.TypePrograms // Float16: all at once
	halfProducts elementwise.TypePrograms // BFloat16: the product of radius and cosine, that scaled, and moved
	halfScaled   elementwise.TypePrograms
	halfMoved    elementwise.TypePrograms
)

func normalHalves(room *drawRoom, d tensor.DType, mean, std float64) func(dst unsafe.Pointer, words []uint32) {
	h, mask := halfTables[d](), uint32(1)<<fractionBits(d)-1
	const single = tensor.Float32
	width, center := tensor.Float(float64(roundedTo(d, std))), tensor.Float(float64(roundedTo(d, mean)))
	radii, turns := (*[drawn]float32)(unsafe.Pointer(&room.results)), (*[drawn]float32)(unsafe.Pointer(&room.results[drawn]))
	finish := func(n int, all, radius, turn launch.Row) { // BFloat16
		product := halfProducts.Of(d, func(b *kernel.Builder) { b.Output(b.Mul(b.Input(single, single), b.Input(single, single)), d) })
		product.Rows(1, n, []launch.Row{all, radius, turn}, nil)
		if std != 1 {
			scaled := halfScaled.Of(d, func(b *kernel.Builder) { b.Output(b.Mul(b.Input(d, single), b.Param(single)), d) })
			scaled.Rows(1, n, []launch.Row{all, all}, []tensor.Scalar{width})
		}
		if mean != 0 {
			moved := halfMoved.Of(d, func(b *kernel.Builder) { b.Output(b.Add(b.Input(d, single), b.Param(single)), d) })
			moved.Rows(1, n, []launch.Row{all, all}, []tensor.Scalar{center})
		}
	}
	if d == tensor.Float16 {
		number := halfNumbers.Of(d, func(b *kernel.Builder) {
			b.Output(b.Add(b.Mul(b.Mul(b.Input(single, single), b.Input(single, single)), b.Param(single)), b.Param(single)), d)
		})
		finish = func(n int, all, radius, turn launch.Row) {
			number.Rows(1, n, []launch.Row{all, radius, turn}, []tensor.Scalar{width, center})
		}
	}
	return func(dst unsafe.Pointer, words []uint32) {
		for i := 0; i < len(words); i += normalBlock {
			r, t, from := (*[normalBlock]float32)(radii[i:]), (*[normalBlock]float32)(turns[i:]), (*[normalBlock]uint32)(words[i:])
			for j := range normalBlock / 2 {
				radius, angle := h.radius[from[j]&mask], from[j+8]&mask
				r[j], t[j], r[j+8], t[j+8] = radius, h.cos[angle], radius, h.sin[angle]
			}
		}
		finish(len(words), launch.Row{Ptr: dst}, launch.Row{Ptr: unsafe.Pointer(radii)}, launch.Row{Ptr: unsafe.Pointer(turns)})
	}
}
