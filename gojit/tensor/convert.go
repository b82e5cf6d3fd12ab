package tensor

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/memory"
)

// Converter copies n elements and changes their type. Steps are in bytes.
type Converter func(dst unsafe.Pointer, dstStep int, src unsafe.Pointer, srcStep int, n int)

// ConverterOf returns the function that turns elements of one type into another. Floats become
// integers by truncation, anything becomes bool by comparison with zero, complex numbers lose their
// imaginary part where the target has none. Quantized types convert as their integers.
func ConverterOf(from, to DType) Converter { return converters[from][to] }

var converters = makeConverters()

// storedAs maps types that convert like another.
func storedAs(d DType) DType {
	switch d {
	case QInt8:
		return Int8
	case QUInt8:
		return Uint8
	case QInt32:
		return Int32
	}
	return d
}

func makeConverters() (table [NumDTypes][NumDTypes]Converter) {
	for from := DType(0); from < NumDTypes; from++ {
		for to := DType(0); to < NumDTypes; to++ {
			table[from][to] = makeConverter(storedAs(from), storedAs(to))
		}
	}
	return table
}

func makeConverter(from, to DType) Converter {
	switch {
	case from == to:
		return sameSize(from.Size())
	case from == Bool:
		return fromReal[uint8](to)
	case from == Float16:
		return half[F16, float32](to, Float32, unpackF16)
	case from == BFloat16:
		return half[BF16, float32](to, Float32, unpackBF16)
	case from == Complex32:
		return half[[2]F16, complex64](to, Complex64, func(h [2]F16) complex64 { return complex(h[0].Float32(), h[1].Float32()) })
	case from == Complex64:
		return fromComplex64(to)
	case from == Complex128:
		return fromComplex128(to)
	case from == Uint8:
		return fromReal[uint8](to)
	case from == Int8:
		return fromReal[int8](to)
	case from == Int16:
		return fromReal[int16](to)
	case from == Int32:
		return fromReal[int32](to)
	case from == Int64:
		return fromReal[int64](to)
	case from == Float32:
		return fromReal[float32](to)
	default:
		return fromReal[float64](to)
	}
}

func unpackF16(h F16) float32   { return h.Float32() }
func unpackBF16(h BF16) float32 { return h.Float32() }

type realElement interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64
}

// at returns the address of element i. Loops compute each address from the first: a pointer that
// has been moved past the last element would name another object to the collector.
func at[T any](p unsafe.Pointer, step, i int) *T { return (*T)(unsafe.Add(p, step*i)) }

func sameSize(size int) Converter {
	switch size {
	case 1:
		return move[uint8]
	case 2:
		return move[uint16]
	case 4:
		return move[uint32]
	case 8:
		return move[uint64]
	}
	return move[[2]uint64]
}

func move[T any](dst unsafe.Pointer, dstStep int, src unsafe.Pointer, srcStep int, n int) {
	size := int(unsafe.Sizeof(*new(T)))
	if dstStep == size {
		d := unsafe.Slice((*T)(dst), n)
		switch srcStep {
		case size:
			memory.Move(unsafe.Slice((*byte)(dst), n*size), unsafe.Slice((*byte)(src), n*size))
		case 0:
			repeat(d, *(*T)(src))
		default:
			done := 0
			if srcStep == 2*size {
				done = memory.FirstsOfPairs(dst, src, size, n)
			}
			gatherApart(d[done:], unsafe.Add(src, done*srcStep), srcStep)
		}
		return
	}
	for i := range n {
		*at[T](dst, dstStep, i) = *at[T](src, srcStep, i)
	}
}

// gatherApart fills d with elements that are so many bytes apart.
func gatherApart[T any](d []T, src unsafe.Pointer, step int) {
	for ; len(d) >= 4; d = d[4:] {
		four := (*[4]T)(d)
		four[0], four[1], four[2], four[3] = *(*T)(src), *at[T](src, step, 1), *at[T](src, step, 2), *at[T](src, step, 3)
		if len(d) == 4 { // src must not go past the last element
			return
		}
		src = unsafe.Add(src, 4*step)
	}
	for i := range d {
		d[i] = *at[T](src, step, i)
	}
}

// repeat stores v in every element of d.
func repeat[T any](d []T, v T) {
	const block = 1 << 10 // stays in the fastest cache
	filled := min(len(d), 16)
	for i := range d[:filled] {
		d[i] = v
	}
	for filled < len(d) {
		filled += copy(d[filled:], d[:min(filled, block)])
	}
}

func fromReal[S realElement](to DType) Converter {
	switch to {
	case Bool:
		return convert(func(s S) bool { return s != 0 })
	case Uint8:
		return castReal[S, uint8]
	case Int8:
		return castReal[S, int8]
	case Int16:
		return castReal[S, int16]
	case Int32:
		return castReal[S, int32]
	case Int64:
		return castReal[S, int64]
	case Float32:
		return castReal[S, float32]
	case Float64:
		return castReal[S, float64]
	case Float16:
		return convert(func(s S) F16 { return ToF16(float32(s)) })
	case BFloat16:
		return convert(func(s S) BF16 { return ToBF16(float32(s)) })
	case Complex32:
		return convert(func(s S) [2]F16 { return [2]F16{ToF16(float32(s)), 0} })
	case Complex64:
		return convert(func(s S) complex64 { return complex(float32(s), 0) })
	default:
		return convert(func(s S) complex128 { return complex(float64(s), 0) })
	}
}

func castReal[S, D realElement](dst unsafe.Pointer, dstStep int, src unsafe.Pointer, srcStep int, n int) {
	if dstStep == int(unsafe.Sizeof(D(0))) && srcStep == int(unsafe.Sizeof(S(0))) {
		d, s := unsafe.Slice((*D)(dst), n), unsafe.Slice((*S)(src), n)
		for i := range d {
			d[i] = D(s[i])
		}
		return
	}
	for i := range n {
		*at[D](dst, dstStep, i) = D(*at[S](src, srcStep, i))
	}
}

// convert builds a Converter from a function of one element.
func convert[S, D any](f func(S) D) Converter {
	return func(dst unsafe.Pointer, dstStep int, src unsafe.Pointer, srcStep int, n int) {
		for i := range n {
			*at[D](dst, dstStep, i) = f(*at[S](src, srcStep, i))
		}
	}
}

func fromComplex64(to DType) Converter {
	switch to {
	case Bool:
		return convert(func(c complex64) bool { return c != 0 })
	case Complex128:
		return convert(func(c complex64) complex128 { return complex128(c) })
	case Complex32:
		return convert(func(c complex64) [2]F16 { return [2]F16{ToF16(real(c)), ToF16(imag(c))} })
	}
	return fromReal[float32](to) // steps skip the imaginary parts
}

func fromComplex128(to DType) Converter {
	switch to {
	case Bool:
		return convert(func(c complex128) bool { return c != 0 })
	case Complex64:
		return convert(func(c complex128) complex64 { return complex64(c) })
	case Complex32:
		return convert(func(c complex128) [2]F16 { return [2]F16{ToF16(float32(real(c))), ToF16(float32(imag(c)))} })
	}
	return fromReal[float64](to)
}

// half unpacks a block of elements into a wider type and converts from there.
func half[S, W any](to, wide DType, unpack func(S) W) Converter {
	if to == wide {
		return convert(unpack)
	}
	onward := makeConverter(wide, to)
	return func(dst unsafe.Pointer, dstStep int, src unsafe.Pointer, srcStep int, n int) {
		var block [128]W
		size := int(unsafe.Sizeof(block[0]))
		for done := 0; done < n; done += len(block) {
			m := min(n-done, len(block))
			for i := range m {
				block[i] = unpack(*at[S](src, srcStep, done+i))
			}
			onward(unsafe.Add(dst, dstStep*done), dstStep, unsafe.Pointer(&block), size, m)
		}
	}
}
