// Package define has what operators are written with: Call, the arguments and results of one run; Definition, an overload and its facts;
// the short forms of derivatives (Gradient) and of decompositions (Composer).
//
// Invariant: bad arguments leave a body as source.Raise does, which whoever runs it turns into an error.
package define

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Call is one run of an operator.
type Call struct {
	Args, Out []value.Value
}

// IsFresh reports whether t has none of the memory of the arguments.
func IsFresh(t *tensor.Tensor, args []value.Value) bool {
	for _, a := range args {
		switch a.Kind() {
		case value.KindTensor:
			if a.Tensor().SharesStorage(t) {
				return false
			}
		case value.KindList:
			if !IsFresh(t, a.List().Items) {
				return false
			}
		case value.KindNone, value.KindBool, value.KindInt, value.KindFloat, value.KindComplex, value.KindString,
			value.KindEmptyString, value.KindDevice, value.KindGenerator:
		default:
			return false
		}
	}
	return true
}

// IsAmong reports whether t itself is one of some values, or in a list of them.
func IsAmong(t *tensor.Tensor, values []value.Value) bool {
	return slices.ContainsFunc(values, func(v value.Value) bool {
		return v.IsTensor() && v.Tensor() == t || v.Kind() == value.KindList && IsAmong(t, v.List().Items)
	})
}

// ShapeText prints a shape when a message is made, not before.
type ShapeText []int

func (s ShapeText) String() string { return tensor.FormatShape(s) }

// Tensor returns argument i, which must be a tensor.
func (c Call) Tensor(i int) *tensor.Tensor {
	v := c.Args[i]
	if !v.IsTensor() {
		source.Raise(source.RuntimeError, "Expected a proper Tensor but got %s for argument #%d", whatIs(v), i)
	}
	return v.Tensor()
}

// whatIs names what stands where a tensor should; programs meet None there as the gradient of a tensor that has none.
func whatIs(v value.Value) string {
	if v.IsNone() {
		return "None"
	}
	return "a value of type '" + v.Kind().String() + "'"
}

// OptionalTensor returns nil for None.
func (c Call) OptionalTensor(i int) *tensor.Tensor {
	if c.Args[i].IsNone() {
		return nil
	}
	return c.Tensor(i)
}

// Tensors returns the tensors of the list that argument i is, none of which may be None.
func (c Call) Tensors(i int) []*tensor.Tensor {
	ts := c.OptionalTensors(i)
	if slices.Contains(ts, nil) {
		source.Raise(source.RuntimeError, "Expected proper Tensors but got None in the list for argument #%d", i)
	}
	return ts
}

// OptionalTensors returns the tensors of a list, nil for None.
func (c Call) OptionalTensors(i int) []*tensor.Tensor {
	items := c.Args[i].List().Items
	ts := make([]*tensor.Tensor, len(items))
	for j, v := range items {
		if !v.IsNone() {
			ts[j] = v.Tensor()
		}
	}
	return ts
}

// IsNone reports whether argument i is None; Int, Bool and Str return it as what it is.
func (c Call) IsNone(i int) bool { return c.Args[i].IsNone() }
func (c Call) Int(i int) int     { return int(intOf(c.Args[i])) }
func (c Call) Bool(i int) bool   { return c.Args[i].Bool() }
func (c Call) Str(i int) string  { return c.Args[i].Str() }

// IntOr returns the integer or, for None, another.
func (c Call) IntOr(i, none int) int {
	if c.IsNone(i) {
		return none
	}
	return c.Int(i)
}

// StrOr returns the string or, for None, another.
func (c Call) StrOr(i int, none string) string {
	if c.IsNone(i) {
		return none
	}
	return c.Str(i)
}

func intOf(v value.Value) int64 {
	switch v.Kind() {
	case value.KindFloat:
		return int64(v.Float())
	case value.KindTensor:
		return source.Must(v.Tensor().Item()).Int64()
	}
	return v.Int()
}

// FloatOf returns a number, a truth value or a tensor of one element as a float.
func FloatOf(v value.Value) float64 {
	switch v.Kind() {
	case value.KindInt, value.KindBool:
		return float64(v.Int())
	case value.KindTensor:
		return source.Must(v.Tensor().Item()).Float64()
	}
	return v.Float()
}

// Float returns argument i as FloatOf does.
func (c Call) Float(i int) float64 { return FloatOf(c.Args[i]) }

// FloatOr returns the float or, for None, another.
func (c Call) FloatOr(i int, none float64) float64 {
	if c.IsNone(i) {
		return none
	}
	return c.Float(i)
}

// Ints returns a list of integers; a single integer is a list of one, None is nil.
func (c Call) Ints(i int) []int {
	switch v := c.Args[i]; v.Kind() {
	case value.KindNone:
		return nil
	case value.KindList:
		items := v.List().Items
		out := make([]int, len(items))
		for j := range items {
			out[j] = int(intOf(items[j]))
		}
		return out
	default:
		return []int{int(intOf(v))}
	}
}

// IntsOf returns n integers; a single one is repeated.
func (c Call) IntsOf(i, n int, name string) []int {
	xs := SmallInts(c.Ints(i))
	if len(xs) == n {
		return xs
	}
	source.Check(len(xs) == 1, "expected %s to be a single integer value or a list of %d values to match the convolution dimensions, but got %s=%s", name, n, name, ShapeText(xs))
	out := make([]int, n)
	for j := range out {
		out[j] = xs[0]
	}
	return out
}

// Floats returns a list of floats, nil for None.
func (c Call) Floats(i int) []float64 {
	if c.IsNone(i) {
		return nil
	}
	items := c.Args[i].List().Items
	out := make([]float64, len(items))
	for j := range items {
		out[j] = FloatOf(items[j])
	}
	return out
}

// Scalar returns argument i as ScalarOf does.
func (c Call) Scalar(i int) tensor.Scalar { return ScalarOf(c.Args[i]) }

// ScalarOf returns a number, or the one of a tensor of one element, as what it is.
func ScalarOf(v value.Value) tensor.Scalar {
	if s, ok := v.Scalar(); ok {
		return s
	}
	if v.IsTensor() {
		return source.Must(v.Tensor().Item())
	}
	source.Raise(source.RuntimeError, "Expected a proper Tensor or a number but got %s", whatIs(v))
	return tensor.Scalar{}
}

// DtypeOr returns the element type or, for None, another.
func (c Call) DtypeOr(i int, none tensor.DType) tensor.DType {
	if c.IsNone(i) {
		return none
	}
	d := tensor.DType(c.Args[i].Int())
	source.Check(d.Valid(), "Unrecognized ScalarType %d", c.Args[i].Int())
	return d
}

// DeviceOr returns the device or, for None, another.
func (c Call) DeviceOr(i int, none tensor.Device) tensor.Device {
	switch v := c.Args[i]; v.Kind() {
	case value.KindDevice:
		return v.Device()
	case value.KindString:
		return source.Must(tensor.ParseDevice(v.Str()))
	}
	return none
}

// FormatOr returns the memory format or, for None, another.
func (c Call) FormatOr(i int, none tensor.MemoryFormat) tensor.MemoryFormat {
	if c.IsNone(i) {
		return none
	}
	return tensor.MemoryFormat(c.Args[i].Int())
}

// Generator returns the generator of random numbers or, for None, that of the process.
func (c Call) Generator(i int) *rng.Generator {
	if c.IsNone(i) {
		return rng.Default()
	}
	return c.Args[i].Generator()
}

// Give stores tensors as the results.
func (c Call) Give(ts ...*tensor.Tensor) {
	for i, t := range ts {
		c.Out[i] = value.OfTensor(t)
	}
}

// GiveList stores a list of tensors as the result.
func (c Call) GiveList(ts []*tensor.Tensor) { c.Out[0] = value.OfList(value.Tensors(ts)) }

// GiveSelf returns the first argument, which the operator has written.
func (c Call) GiveSelf() {
	c.Tensor(0).Bump()
	c.Out[0] = c.Args[0]
}

// Short forms of what most operators do.

// Empty returns a contiguous tensor of the processor whose elements are undefined.
func Empty(shape []int, d tensor.DType) *tensor.Tensor {
	return looked(source.Must(tensor.Empty(shape, d)))
}

// Zeros returns a contiguous tensor of the processor full of zeros.
func Zeros(shape []int, d tensor.DType) *tensor.Tensor {
	return looked(source.Must(tensor.Zeros(shape, d)))
}

// looked looks for interrupts where a tensor is large: operators of several steps make one for each.
func looked(t *tensor.Tensor) *tensor.Tensor {
	if t.Numel() >= RowGrain {
		parallel.Look()
	}
	return t
}

// Scratch are tensors that an operator makes on its way and nobody else knows.
type Scratch []*tensor.Tensor

// Of says that t is one of them.
func (s *Scratch) Of(t *tensor.Tensor) *tensor.Tensor {
	*s = append(*s, t)
	return t
}

// Copied says that t is one of them unless it is the other tensor, which is its copy or its origin.
func (s *Scratch) Copied(t, other *tensor.Tensor) *tensor.Tensor {
	if t != other {
		*s = append(*s, t)
	}
	return t
}

// Release gives their memory back.
func (s *Scratch) Release() {
	for _, t := range *s {
		t.Release()
	}
}

// Warn warns of how an operator is used.
func Warn(format string, args ...any) {
	source.Throw(source.Warn(fmt.Sprintf(format, args...), source.Range{}))
}

// WarnOnce is warn for what is said once in a process.
func WarnOnce(message string) { source.Throw(source.WarnOnce(message)) }

// WarnOfBytes warns of a mask that is not of truth values.
func WarnOfBytes(operator string, mask *tensor.Tensor) {
	if mask.DType() == tensor.Uint8 {
		Warn("%s received a mask with dtype torch.uint8, this behavior is now deprecated,please use a mask with dtype torch.bool instead.", operator)
	}
}

// WarnOfReal warns of a conversion that loses the imaginary part.
func WarnOfReal(from, into tensor.DType) {
	if from.IsComplex() && !into.IsComplex() {
		WarnOnce("Casting complex values to real discards the imaginary part")
	}
}

// Deprecated is a definition that says what to use in its place.
func Deprecated(message string, d Definition) Definition {
	body := d.Body
	d.Body = func(c Call) {
		WarnOnce(message)
		body(c)
	}
	return d
}

// WrapDim returns a dimension of t that may be counted from the last one as one counted from the first. It fails where there is no such dimension.
func WrapDim(dim int, t *tensor.Tensor) int { return source.Must(tensor.WrapDim(dim, t.Dim())) }

// IsMeta reports whether t is on the device meta.
func IsMeta(t *tensor.Tensor) bool { return t.Device().Type == tensor.Meta }

// EmptyResult returns a result that stands for one that was not asked for.
func (c Call) EmptyResult() value.Value { return value.OfTensor(Empty([]int{0}, tensor.Int64)) }

// Masked reports whether result j is asked for.
func (c Call) Masked(i, j int) bool {
	items := c.Args[i].List().Items
	source.Check(len(items) == len(c.Out), "Tried to convert a List with %d elements to a fixed-size array of size %d", len(items), len(c.Out))
	return items[j].Bool()
}

// GiveLayers stores a tensor and then others as the results.
func (c Call) GiveLayers(out *tensor.Tensor, last []*tensor.Tensor) {
	c.Give(append([]*tensor.Tensor{out}, last...)...)
}

// OneDim returns the dimension in argument i as a list, none for None.
func (c Call) OneDim(i int) []int {
	if c.IsNone(i) {
		return nil
	}
	return []int{c.Int(i)}
}

// WithFirst is the call with another tensor as first argument.
func (c Call) WithFirst(t *tensor.Tensor) Call {
	args := append([]value.Value{value.OfTensor(t)}, c.Args[1:]...)
	return Call{args, c.Out}
}
