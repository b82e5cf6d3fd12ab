package tensor

// A view may show other numbers than those that lie in its memory: their complex conjugates, or their negatives. It says so by bits, as PyTorch's
// views do, and shares its memory with what it is a view of. As a sparse tensor, it is known as a tensor on meta that shows another device: what
// reads it and knows nothing of bits fails, or asks for a resolved copy, and never sees the numbers that lie there.

// Bits say what a view shows of the numbers that lie in its memory.
type Bits uint8

// The bits. A tensor may have both.
const (
	ConjugateBit Bits = 1 << iota // their complex conjugates
	NegativeBit                   // their negatives
)

// BitsInUse reports whether there ever was a tensor with a bit.
func BitsInUse() bool { return awayInUse.Load()&bitsInUse != 0 }

// Bits returns what t shows of the numbers in its memory, 0 where it is those.
func (t *Tensor) Bits() Bits {
	if t.foreign == nil {
		return 0
	}
	return t.foreign.bits
}

// IsConj reports whether t is a view of conjugates.
func (t *Tensor) IsConj() bool { return t.Bits()&ConjugateBit != 0 }

// IsNeg reports whether t is a view of negatives.
func (t *Tensor) IsNeg() bool { return t.Bits()&NegativeBit != 0 }

// WithBits returns a view of t, which lies in the memory of the processor, with these bits.
func (t *Tensor) WithBits(bits Bits) *Tensor {
	v := t.Alias()
	v.setBits(bits)
	return v
}

// setBits gives t, which nobody has seen, other bits. Real numbers are their own conjugates.
func (t *Tensor) setBits(bits Bits) {
	device := t.ShownDevice()
	if !t.dtype.IsComplex() {
		bits &^= ConjugateBit
	}
	if t.device, t.foreign = device, nil; bits == 0 {
		return
	}
	awayInUse.Or(bitsInUse)
	t.device, t.foreign = NewDevice(Meta, -1), &foreign{bits: bits, device: device}
}

// Resolved returns t where it has no bit, and a copy with the numbers that it shows in memory of its own otherwise.
func (t *Tensor) Resolved() (*Tensor, error) {
	bits := t.Bits()
	if bits == 0 {
		return t, nil
	}
	if t.dtype == Bool || t.dtype.IsQuantized() {
		return nil, runtimeError("a view of negatives has numbers as elements, not %s", t.dtype)
	}
	plain := t.WithBits(0)
	defer plain.Release()
	c, err := plain.Clone(PreserveFormat)
	if err != nil {
		return nil, err
	}
	switch n := c.numel; c.dtype {
	case Complex64:
		turn(Data[complex64](c)[:n], bits)
	case Complex128:
		turn(Data[complex128](c)[:n], bits)
	case Float32:
		negate(Data[float32](c)[:n])
	case Float64:
		negate(Data[float64](c)[:n])
	case Int8:
		negate(Data[int8](c)[:n])
	case Uint8:
		negate(Data[uint8](c)[:n])
	case Int16:
		negate(Data[int16](c)[:n])
	case Int32:
		negate(Data[int32](c)[:n])
	case Int64:
		negate(Data[int64](c)[:n])
	default: // half of the size
		wider := Float32
		if c.dtype.IsComplex() {
			wider = Complex64
		}
		w, err := c.To(wider)
		if err != nil {
			return nil, err
		}
		if wider == Float32 {
			negate(Data[float32](w)[:n])
		} else {
			turn(Data[complex64](w)[:n], bits)
		}
		return w.To(c.dtype)
	}
	return c, nil
}

// turn replaces complex numbers by what the bits show of them.
func turn[T complex64 | complex128](data []T, bits Bits) {
	for i, x := range data {
		re, im := real(complex128(x)), imag(complex128(x))
		if bits&ConjugateBit != 0 {
			im = -im
		}
		if bits&NegativeBit != 0 {
			re, im = -re, -im
		}
		data[i] = T(complex(re, im))
	}
}

func negate[T float32 | float64 | int8 | uint8 | int16 | int32 | int64](data []T) {
	for i, x := range data {
		data[i] = -x
	}
}
