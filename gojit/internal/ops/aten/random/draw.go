package random

import (
	"math"
	"math/bits"
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

// Numbers are drawn from a generator in the order of a tensor's memory, those of one tensor as one step. Which words of the
// stream an element takes, and what becomes of them, is as PyTorch's generator on the CPU has it.

// drawn is how many elements are made of words of the stream at once.
const drawn = 2048

// drawRoom is what is needed for that.
type drawRoom struct {
	words   [2 * drawn]uint32
	results [2 * drawn]uint64 // elements that do not lie side by side in their tensor
}

var drawRooms = sync.Pool{New: func() any { return new(drawRoom) }}

// drawInto fills t. make makes n elements of type d, side by side, of a number of words for each.
func drawInto(gen *rng.Generator, t *tensor.Tensor, d tensor.DType, words int, make func(dst unsafe.Pointer, n int, words []uint32)) {
	room := drawRooms.Get().(*drawRoom)
	defer drawRooms.Put(room)
	store, size := tensor.ConverterOf(d, t.DType()), t.DType().Size()
	if n := t.Numel(); n > 0 && n <= drawn && t.IsContiguous() {
		gen.Words(room.words[:words*n])
		if d == t.DType() {
			make(t.DataPtr(), n, room.words[:words*n])
			return
		}
		make(unsafe.Pointer(&room.results), n, room.words[:words*n])
		store(t.DataPtr(), size, unsafe.Pointer(&room.results), d.Size(), n)
		return
	}
	gen.Draw(func(stream rng.Draws) {
		var l tensor.Loop
		l.Init(t.Shape(), false, t)
		var watch parallel.Watch
		for l.Next() {
			for from := 0; from < l.N; from += drawn {
				n := min(l.N-from, drawn)
				watch.Did(n)
				stream.Words(room.words[:words*n])
				at := unsafe.Add(l.Ptr[0], from*l.Step[0])
				if d == t.DType() && l.Step[0] == size {
					make(at, n, room.words[:words*n])
					continue
				}
				make(unsafe.Pointer(&room.results), n, room.words[:words*n])
				store(at, l.Step[0], unsafe.Pointer(&room.results), d.Size(), n)
			}
		}
	})
}

func onlyFloating(name string, t *tensor.Tensor) {
	if !t.DType().IsFloating() {
		elementwise.NotImplemented(name, t.DType())
	}
}

// drawEach fills t with numbers of which each takes what it needs from the stream.
func drawEach(gen *rng.Generator, t *tensor.Tensor, draw func(d rng.Draws) float64) {
	store := tensor.ConverterOf(tensor.Float64, t.DType())
	gen.Draw(func(stream rng.Draws) {
		var l tensor.Loop
		l.Init(t.Shape(), false, t)
		var block [64]float64
		for l.Next() {
			for from := 0; from < l.N; from += len(block) {
				if from%define.LookEvery == define.LookEvery-len(block) {
					parallel.Look()
				}
				part := block[:min(l.N-from, len(block))]
				for i := range part {
					part[i] = draw(stream)
				}
				store(unsafe.Add(l.Ptr[0], from*l.Step[0]), l.Step[0], unsafe.Pointer(&block), 8, len(part))
			}
		}
	})
}

// runWords makes n elements of words.
func runWords(p *launch.Program, dst unsafe.Pointer, n int, words []uint32, numbers ...tensor.Scalar) {
	p.Rows(1, n, []launch.Row{{Ptr: dst}, {Ptr: unsafe.Pointer(&words[0])}}, numbers)
}

// fractionBits is how many random bits a uniform number of a type has.
func fractionBits(d tensor.DType) int {
	switch d {
	case tensor.Float16:
		return 11
	case tensor.BFloat16:
		return 8
	case tensor.Float64:
		return 53
	}
	return 24
}

// unitInput is a uniform number from [0, 1) made of the next input: of a word, or of two for Float64.
func unitInput(b *kernel.Builder, d tensor.DType) elementwise.Element {
	n := fractionBits(d)
	unit := tensor.Float(math.Ldexp(1, -n))
	if d != tensor.Float64 {
		word := b.Binary(kernel.And, b.Input(tensor.Int32, tensor.Int32), b.Const(tensor.Int32, tensor.Int(1<<n-1)))
		return b.Mul(b.Convert(word, tensor.Float32), b.Const(tensor.Float32, unit))
	}
	number := func(i int64) elementwise.Element { return b.Const(tensor.Int64, tensor.Int(i)) }
	words := b.Input(tensor.Int64, tensor.Int64) // the first one, the higher half, is the lower half in memory
	low := b.Binary(kernel.And, b.Binary(kernel.Shr, words, number(32)), number(1<<32-1))
	bits := b.Binary(kernel.And, b.Binary(kernel.Or, b.Binary(kernel.Shl, words, number(32)), low), number(1<<n-1))
	return b.Mul(b.Convert(bits, tensor.Float64), b.Const(tensor.Float64, unit))
}

// RealParts shows a complex tensor as its real and imaginary parts.
func RealParts(t *tensor.Tensor) *tensor.Tensor {
	if t.DType().IsComplex() {
		return source.Must(t.ViewAsReal())
	}
	return t
}

var uniformPrograms elementwise.TypePrograms

// DrawUniform fills a floating-point tensor with numbers from [from, to).
func DrawUniform(gen *rng.Generator, t *tensor.Tensor, from, to float64) {
	if !t.DType().IsFloating() && !t.DType().IsComplex() {
		elementwise.NotImplemented("check_uniform_bounds", t.DType())
	}
	t = RealParts(t)
	if t.OnDevice() {
		drawOnDevice(gen, t, func(here *tensor.Tensor) { DrawUniform(gen, here, from, to) }, "uniform", from, to)
		return
	}
	d := t.DType()
	p := uniformPrograms.Of(d, func(b *kernel.Builder) {
		unit := unitInput(b, d)
		width := b.Param(b.Type(unit))
		// One rounding, as where a processor multiplies and adds at once: the first product is exact.
		b.Output(b.Fma(unit, width, b.Param(b.Type(unit))), d)
	})
	words := 1
	if d == tensor.Float64 {
		words = 2
	}
	drawInto(gen, t, d, words, func(dst unsafe.Pointer, n int, words []uint32) {
		runWords(p, dst, n, words, tensor.Float(to-from), tensor.Float(from))
	})
}

var exponentialPrograms elementwise.TypePrograms

// DrawExponential fills a tensor with exponentially distributed numbers.
func DrawExponential(gen *rng.Generator, t *tensor.Tensor, rate float64) {
	onlyFloating("exponential_cpu", t)
	if !(rate >= 0) {
		source.Raise(source.RuntimeError, "exponential_ expects lambda >= 0.0, but found lambda=%v", rate)
	}
	if t.OnDevice() {
		drawOnDevice(gen, t, func(here *tensor.Tensor) { DrawExponential(gen, here, rate) }, "exponential", rate)
		return
	}
	p := exponentialPrograms.Of(tensor.Float64, func(b *kernel.Builder) {
		unit := unitInput(b, tensor.Float64)
		b.Output(b.Mul(b.Param(tensor.Float64), b.Unary(kernel.Log1p, b.Neg(unit))), tensor.Float64)
	})
	drawInto(gen, t, tensor.Float64, 2, func(dst unsafe.Pointer, n int, words []uint32) {
		runWords(p, dst, n, words, tensor.Float(-1/rate))
	})
}

// DrawIntegers fills a tensor with integers from [from, to). The range must not be empty.
func DrawIntegers(gen *rng.Generator, t *tensor.Tensor, from, to int64) {
	n := uint64(to) - uint64(from)
	if t.OnDevice() {
		drawIntegersOnDevice(gen, t, func(here *tensor.Tensor) { DrawIntegers(gen, here, from, to) }, n, from)
		return
	}
	if n >= 1<<32 {
		drawInto(gen, t, tensor.Int64, 2, func(dst unsafe.Pointer, count int, words []uint32) {
			for i := range unsafe.Slice((*int64)(dst), count) {
				unsafe.Slice((*int64)(dst), count)[i] = int64(pairOfWords(words, i)%n) + from
			}
		})
		return
	}
	// The remainder of a word by n is the whole part of n times the fraction of word / n (Lemire, Kaser, Kurz, "Faster remainder
	// by direct computation").
	inverse := ^uint64(0)/n + 1
	drawInto(gen, t, tensor.Int64, 1, func(dst unsafe.Pointer, count int, words []uint32) {
		result := unsafe.Slice((*int64)(dst), count)
		for i, w := range words[:len(result)] {
			rest, _ := bits.Mul64(inverse*uint64(w), n)
			result[i] = int64(rest) + from
		}
	})
}

// pairOfWords returns the i-th 64 bits of a stream.
func pairOfWords(words []uint32, i int) uint64 {
	pair := words[2*i:][:2]
	return uint64(pair[0])<<32 | uint64(pair[1])
}

// DrawBits fills a tensor with integers from 0 to the largest that its type holds exactly.
func DrawBits(gen *rng.Generator, t *tensor.Tensor) {
	wide := func(f func(bits uint64) int64) {
		drawInto(gen, t, tensor.Int64, 2, func(dst unsafe.Pointer, n int, words []uint32) {
			for i := range n {
				unsafe.Slice((*int64)(dst), n)[i] = f(pairOfWords(words, i))
			}
		})
	}
	switch d := t.DType(); {
	case t.OnDevice() && d == tensor.Float64:
		drawIntegersOnDevice(gen, t, func(here *tensor.Tensor) { DrawBits(gen, here) }, 1<<53+1, 0)
	case t.OnDevice() && d == tensor.Int64:
		drawIntegersOnDevice(gen, t, func(here *tensor.Tensor) { DrawBits(gen, here) }, 1<<63, 0)
	case d == tensor.Float64:
		wide(func(bits uint64) int64 { return int64(bits % (1<<53 + 1)) })
	case d == tensor.Int64:
		wide(func(bits uint64) int64 { return int64(bits & math.MaxInt64) })
	case d == tensor.Bool:
		DrawIntegers(gen, t, 0, 2)
	default:
		DrawIntegers(gen, t, 0, 1+map[tensor.DType]int64{tensor.Uint8: 255, tensor.Int8: 127, tensor.Int16: 1<<15 - 1, tensor.Int32: 1<<31 - 1,
			tensor.Float16: 1 << 11, tensor.BFloat16: 1 << 8, tensor.Float32: 1 << 24}[t.DType()])
	}
}

// DrawBernoulli fills a tensor with ones, each with probability p from 0 to 1, and zeros.
func DrawBernoulli(gen *rng.Generator, t *tensor.Tensor, p float64) {
	if t.OnDevice() {
		drawOnDevice(gen, t, func(here *tensor.Tensor) { DrawBernoulli(gen, here, p) }, "bernoulli", p)
		return
	}
	limit := uint64(math.Ceil(p * (1 << 53))) // a uniform number of 53 bits is less than p
	d := tensor.Uint8
	if t.DType() == tensor.Bool {
		d = tensor.Bool
	}
	drawInto(gen, t, d, 2, func(dst unsafe.Pointer, n int, words []uint32) {
		// The first word of a pair is its higher half, and the lower half in memory.
		ones, pairs := unsafe.Slice((*uint8)(dst), n), unsafe.Slice((*uint64)(unsafe.Pointer(&words[0])), n)
		for i, pair := range pairs[:len(ones)] {
			ones[i] = uint8((bits.RotateLeft64(pair, 32)&(1<<53-1) - limit) >> 63)
		}
	})
}

// DrawBernoulliFrom fills t with ones, each with the probability in p at its place, and zeros. p has the shape of t.
func DrawBernoulliFrom(gen *rng.Generator, t, p *tensor.Tensor) {
	onlyFloating("bernoulli_tensor_cpu_p_", p)
	if p.DType().Size() == 2 || t.DType().Size() == 2 { // numbers of 16 bits are converted by kernels, all at once
		ones := define.Empty(t.Shape(), tensor.Uint8)
		defer ones.Release()
		chances := p
		if p.DType().Size() == 2 {
			chances = elementwise.To(p, tensor.Float32)
			defer chances.Release()
		}
		DrawBernoulliFrom(gen, ones, chances)
		elementwise.Assign(t, ones)
		return
	}
	wide := p.DType() == tensor.Float64
	chances := tensor.Float32
	if wide {
		chances = tensor.Float64
	}
	read, write := tensor.ConverterOf(p.DType(), chances), tensor.ConverterOf(tensor.Uint8, t.DType())
	var words [256]uint32
	var narrow [128]float32
	var exact [128]float64
	var ones [128]uint8
	gen.Draw(func(stream rng.Draws) {
		var l tensor.Loop
		l.Init(t.Shape(), false, t, p)
		var watch parallel.Watch
		for l.Next() {
			for from := 0; from < l.N; from += len(ones) {
				n := min(l.N-from, len(ones))
				watch.Did(n)
				areChances := true
				given := unsafe.Add(l.Ptr[1], from*l.Step[1])
				if wide {
					read(unsafe.Pointer(&exact), 8, given, l.Step[1], n)
					stream.Words(words[:2*n])
					for i, chance := range exact[:n] {
						areChances = areChances && chance >= 0 && chance <= 1
						ones[i] = isLess(float64(pairOfWords(words[:], i)&(1<<53-1))*(1.0/(1<<53)), chance)
					}
				} else {
					read(unsafe.Pointer(&narrow), 4, given, l.Step[1], n)
					stream.Words(words[:n])
					for i, chance := range narrow[:n] {
						areChances = areChances && chance >= 0 && chance <= 1
						ones[i] = isLess(float32(words[i]&(1<<24-1))*(1.0/(1<<24)), chance)
					}
				}
				source.Check(areChances, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
				write(unsafe.Add(l.Ptr[0], from*l.Step[0]), l.Step[0], unsafe.Pointer(&ones), 1, n)
			}
		}
	})
}

func isLess[T float32 | float64](a, b T) uint8 {
	if a < b {
		return 1
	}
	return 0
}

// DrawPermutation fills a contiguous int64 vector with the integers from 0 in random order.
func DrawPermutation(gen *rng.Generator, t *tensor.Tensor) {
	order := tensor.Data[int64](t)
	if len(order) < narrowOrder || len(order) > math.MaxInt32 {
		for lo := 0; lo < len(order); lo += define.LookEvery {
			for i := range order[lo:define.BlockEnd(lo, len(order))] {
				order[lo+i] = int64(lo + i)
			}
		}
		shuffle(gen, order)
		return
	}
	half := elementwise.IntegerSteps.Fill(len(order), tensor.Int32, tensor.Int(0), tensor.Int(1))
	shuffle(gen, tensor.Data[int32](half))
	elementwise.Assign(t, half)
	half.Release()
}

// narrowOrder is from how many elements on a permutation is made in half the memory, as exchanges all over it wait for memory.
const narrowOrder = 1 << 16

// shuffle brings a vector into random order, by a word for each element but the last.
func shuffle[T int32 | int64](gen *rng.Generator, order []T) {
	gen.Draw(func(stream rng.Draws) {
		var words [512]uint32
		for from := 0; from < len(order)-1; from += len(words) {
			if from > 0 && from%define.LookEvery == 0 {
				parallel.Look()
			}
			part := words[:min(len(order)-1-from, len(words))]
			stream.Words(part)
			exchange(order[from:], part)
		}
	})
}

// exchange exchanges each of the first elements with one from its place on, which a word tells.
//
//go:noinline
func exchange[T int32 | int64](order []T, words []uint32) {
	for i, w := range words {
		j := i + int(w%uint32(len(order)-i))
		order[i], order[j] = order[j], order[i]
	}
}

// DrawCauchy fills a tensor with Cauchy distributed numbers.
func DrawCauchy(gen *rng.Generator, t *tensor.Tensor, median, sigma float64) {
	onlyFloating("cauchy_cpu", t)
	if t.OnDevice() {
		drawOnDevice(gen, t, func(here *tensor.Tensor) { DrawCauchy(gen, here, median, sigma) }, "cauchy", median, sigma)
		return
	}
	drawEach(gen, t, func(d rng.Draws) float64 { return median + sigma*math.Tan(math.Pi*(d.Uniform()-0.5)) })
}

// DrawLogNormal fills a tensor with numbers whose logarithms are normal.
func DrawLogNormal(gen *rng.Generator, t *tensor.Tensor, mean, std float64) {
	onlyFloating("log_normal_cpu", t)
	source.Check(std > 0, "log_normal_ expects std > 0.0, but found std=%v", std)
	if t.OnDevice() {
		drawOnDevice(gen, t, func(here *tensor.Tensor) { DrawLogNormal(gen, here, mean, std) }, "log_normal", mean, std)
		return
	}
	drawEach(gen, t, func(d rng.Draws) float64 { return math.Exp(d.Normal()*std + mean) })
}

// DrawGeometric fills a tensor with the numbers of trials up to a success of probability p.
func DrawGeometric(gen *rng.Generator, t *tensor.Tensor, p float64) {
	source.Check(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=%v", p)
	if t.OnDevice() {
		drawOnDevice(gen, t, func(here *tensor.Tensor) { DrawGeometric(gen, here, p) }, "geometric", p)
		return
	}
	drawEach(gen, t, func(d rng.Draws) float64 { return math.Ceil(math.Log(d.Uniform()) / math.Log(1-p)) })
}
