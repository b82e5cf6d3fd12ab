// Package aten holds the operators on tensors: one family to a file, one entry to an overload.
//
// Central types: call, the arguments and results of one run; pointwise, an elementwise operator
// stated as a kernel expression. In-place and out= overloads are derived from the functional ones
// by variants.go and not written here, except where writing in place is the definition.
//
// Invariant: an operator leaves its arguments alone unless its schema says that it writes them, and
// bad arguments give a *source.Error. Inside the package failures travel as panics of that type; run
// turns them back into errors.
package aten

import (
	"fmt"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// call is one run of an operator.
type call struct {
	args, out []value.Value
}

// entry makes an operator of a schema's name and a body. takesMeta says that the body knows tensors without elements.
func entry(name string, takesMeta bool, body func(c call)) ops.Operator {
	return entryOf(name, nil, takesMeta, body)
}

// entryOf is entry with the operator's record. The text may be a whole schema.
func entryOf(text string, record *ops.Def, takesMeta bool, body func(c call)) ops.Operator {
	name, _, _ := strings.Cut(text, "(")
	l := &loan{name: name}
	return ops.Operator{Name: text, Record: record, Run: func(args, out []value.Value) (err error) {
		defer source.Catch(&err)
		if (!takesMeta || tensor.AwayInUse()) && hasAway(args) {
			if hasSparse(args) {
				runSparse(name, body, call{args, out})
				return nil
			}
			if device, ok := deviceAmong(args); ok {
				runOnDevice(name, record, body, device, args, out)
				settle(args, out)
				return nil
			}
			if !takesMeta {
				runOnZeros(name, body, args, out)
				return nil
			}
		}
		if given := l.of(args); given != nil {
			body(call{given, out})
			giveBack(args, given, out)
		} else {
			body(call{args, out})
		}
		settle(args, out)
		return nil
	}}
}

// settle says of results over fresh memory that they alone use it, and are no views of what the operator has forgotten. The
// views by which an operator filled them would otherwise keep the memory from being reused when the results are released.
func settle(args, out []value.Value) {
	for _, v := range out {
		if !v.IsTensor() || v.Tensor().Users() <= 1 {
			continue
		}
		t, users := v.Tensor(), 0
		if !isFresh(t, args) {
			continue
		}
		t.SetBase(nil)
		for _, other := range out {
			switch {
			case other.IsTensor() && other.Tensor().SharesStorage(t):
				users++
			case other.Kind() == value.KindList:
				return
			}
		}
		t.SetUsers(users)
	}
}

// isFresh reports whether t has none of the memory of the arguments.
func isFresh(t *tensor.Tensor, args []value.Value) bool {
	for _, a := range args {
		switch a.Kind() {
		case value.KindTensor:
			if a.Tensor().SharesStorage(t) {
				return false
			}
		case value.KindList:
			if !isFresh(t, a.List().Items) {
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

// isAmong reports whether t itself is one of some values, or in a list of them.
func isAmong(t *tensor.Tensor, values []value.Value) bool {
	return slices.ContainsFunc(values, func(v value.Value) bool {
		return v.IsTensor() && v.Tensor() == t || v.Kind() == value.KindList && isAmong(t, v.List().Items)
	})
}

// raise fails with a class of Python exception.
func raise(class source.Class, format string, args ...any) {
	source.Raise(class, format, args...)
}

// shapeText prints a shape when a message is made, not before.
type shapeText []int

func (s shapeText) String() string { return tensor.FormatShape(s) }

// check fails with a RuntimeError unless ok.
func check(ok bool, format string, args ...any) {
	if !ok {
		raise(source.RuntimeError, format, args...)
	}
}

// must returns v or fails with err.
func must[T any](v T, err error) T {
	source.Throw(err)
	return v
}

// succeed fails with err where it is one.
func succeed(err error) { source.Throw(err) }

func (c call) tensor(i int) *tensor.Tensor {
	v := c.args[i]
	if !v.IsTensor() {
		raise(source.RuntimeError, "Expected a proper Tensor but got %s for argument #%d", whatIs(v), i)
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

// optionalTensor returns nil for None.
func (c call) optionalTensor(i int) *tensor.Tensor {
	if c.args[i].IsNone() {
		return nil
	}
	return c.tensor(i)
}

func (c call) tensors(i int) []*tensor.Tensor {
	ts := c.optionalTensors(i)
	if slices.Contains(ts, nil) {
		raise(source.RuntimeError, "Expected proper Tensors but got None in the list for argument #%d", i)
	}
	return ts
}

// optionalTensors returns the tensors of a list, nil for None.
func (c call) optionalTensors(i int) []*tensor.Tensor {
	items := c.args[i].List().Items
	ts := make([]*tensor.Tensor, len(items))
	for j, v := range items {
		if !v.IsNone() {
			ts[j] = v.Tensor()
		}
	}
	return ts
}

func (c call) isNone(i int) bool { return c.args[i].IsNone() }
func (c call) int(i int) int     { return int(intOf(c.args[i])) }
func (c call) bool(i int) bool   { return c.args[i].Bool() }
func (c call) str(i int) string  { return c.args[i].Str() }

// intOr returns the integer or, for None, another.
func (c call) intOr(i, none int) int {
	if c.isNone(i) {
		return none
	}
	return c.int(i)
}

func (c call) strOr(i int, none string) string {
	if c.isNone(i) {
		return none
	}
	return c.str(i)
}

func intOf(v value.Value) int64 {
	switch v.Kind() {
	case value.KindFloat:
		return int64(v.Float())
	case value.KindTensor:
		return must(v.Tensor().Item()).Int64()
	}
	return v.Int()
}

func floatOf(v value.Value) float64 {
	switch v.Kind() {
	case value.KindInt, value.KindBool:
		return float64(v.Int())
	case value.KindTensor:
		return must(v.Tensor().Item()).Float64()
	}
	return v.Float()
}

func (c call) float(i int) float64 { return floatOf(c.args[i]) }

func (c call) floatOr(i int, none float64) float64 {
	if c.isNone(i) {
		return none
	}
	return c.float(i)
}

// ints returns a list of integers; a single integer is a list of one, None is nil.
func (c call) ints(i int) []int {
	switch v := c.args[i]; v.Kind() {
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

// intsOf returns n integers; a single one is repeated.
func (c call) intsOf(i, n int, name string) []int {
	xs := smallInts(c.ints(i))
	if len(xs) == n {
		return xs
	}
	check(len(xs) == 1, "expected %s to be a single integer value or a list of %d values to match the convolution dimensions, but got %s=%s", name, n, name, shapeText(xs))
	out := make([]int, n)
	for j := range out {
		out[j] = xs[0]
	}
	return out
}

func (c call) floats(i int) []float64 {
	if c.isNone(i) {
		return nil
	}
	items := c.args[i].List().Items
	out := make([]float64, len(items))
	for j := range items {
		out[j] = floatOf(items[j])
	}
	return out
}

func (c call) scalar(i int) tensor.Scalar { return scalarOf(c.args[i]) }

func scalarOf(v value.Value) tensor.Scalar {
	if s, ok := v.Scalar(); ok {
		return s
	}
	if v.IsTensor() {
		return must(v.Tensor().Item())
	}
	raise(source.RuntimeError, "Expected a proper Tensor or a number but got %s", whatIs(v))
	return tensor.Scalar{}
}

// dtypeOr returns the element type or, for None, another.
func (c call) dtypeOr(i int, none tensor.DType) tensor.DType {
	if c.isNone(i) {
		return none
	}
	d := tensor.DType(c.args[i].Int())
	check(d.Valid(), "Unrecognized ScalarType %d", c.args[i].Int())
	return d
}

// deviceOr returns the device or, for None, another.
func (c call) deviceOr(i int, none tensor.Device) tensor.Device {
	switch v := c.args[i]; v.Kind() {
	case value.KindDevice:
		return v.Device()
	case value.KindString:
		return must(tensor.ParseDevice(v.Str()))
	}
	return none
}

// formatOr returns the memory format or, for None, another.
func (c call) formatOr(i int, none tensor.MemoryFormat) tensor.MemoryFormat {
	if c.isNone(i) {
		return none
	}
	return tensor.MemoryFormat(c.args[i].Int())
}

func (c call) generator(i int) *tensor.Generator {
	if c.isNone(i) {
		return tensor.DefaultGenerator()
	}
	return c.args[i].Generator()
}

// give stores tensors as the results.
func (c call) give(ts ...*tensor.Tensor) {
	for i, t := range ts {
		c.out[i] = value.OfTensor(t)
	}
}

// giveList stores a list of tensors as the result.
func (c call) giveList(ts []*tensor.Tensor) { c.out[0] = value.OfList(value.Tensors(ts)) }

// giveSelf returns the first argument, which the operator has written.
func (c call) giveSelf() {
	c.tensor(0).Bump()
	c.out[0] = c.args[0]
}

// Short forms of what most operators do.

func empty(shape []int, d tensor.DType) *tensor.Tensor { return looked(must(tensor.Empty(shape, d))) }
func zeros(shape []int, d tensor.DType) *tensor.Tensor { return looked(must(tensor.Zeros(shape, d))) }

// looked looks for interrupts where a tensor is large: operators of several steps make one for each.
func looked(t *tensor.Tensor) *tensor.Tensor {
	if t.Numel() >= rowGrain {
		tensor.Look()
	}
	return t
}

func contiguous(t *tensor.Tensor) *tensor.Tensor {
	if t.IsContiguous() || t.IsHollow() || !hasShortRows(t) {
		return must(t.Contiguous())
	}
	out := empty(t.Shape(), t.DType())
	assign(out, t)
	return out
}

// asWork returns t contiguous and of a type: t itself or something that nobody else has (see forgetMade).
func asWork(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	typed := to(t, d)
	out := contiguous(typed)
	if out != typed {
		forgetMade(t, typed)
	}
	return out
}

func to(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if t.DType() == d || isAway(t) || t.IsHollow() || !isElement(t.DType()) || !isElement(d) {
		return must(t.To(d))
	}
	out := must(tensor.EmptyFormat(t, d, tensor.PreserveFormat))
	assign(out, t)
	return out
}

// scratch are tensors that an operator makes on its way and nobody else knows.
type scratch []*tensor.Tensor

// of says that t is one of them.
func (s *scratch) of(t *tensor.Tensor) *tensor.Tensor {
	*s = append(*s, t)
	return t
}

// copied says that t is one of them unless it is the other tensor, which is its copy or its origin.
func (s *scratch) copied(t, other *tensor.Tensor) *tensor.Tensor {
	if t != other {
		*s = append(*s, t)
	}
	return t
}

// release gives their memory back.
func (s *scratch) release() {
	for _, t := range *s {
		t.Release()
	}
}

// warn warns of how an operator is used.
func warn(format string, args ...any) {
	succeed(source.Warn(fmt.Sprintf(format, args...), source.Range{}))
}

// warnOnce is warn for what is said once in a process.
func warnOnce(message string) { succeed(source.WarnOnce(message)) }

// warnOfBytes warns of a mask that is not of truth values.
func warnOfBytes(operator string, mask *tensor.Tensor) {
	if mask.DType() == tensor.Uint8 {
		warn("%s received a mask with dtype torch.uint8, this behavior is now deprecated,please use a mask with dtype torch.bool instead.", operator)
	}
}

// warnOfReal warns of a conversion that loses the imaginary part.
func warnOfReal(from, into tensor.DType) {
	if from.IsComplex() && !into.IsComplex() {
		warnOnce("Casting complex values to real discards the imaginary part")
	}
}

// deprecated is a definition that says what to use in its place.
func deprecated(message string, d definition) definition {
	body := d.body
	d.body = func(c call) {
		warnOnce(message)
		body(c)
	}
	return d
}

func wrapDim(dim int, t *tensor.Tensor) int { return must(tensor.WrapDim(dim, t.Dim())) }

func isMeta(t *tensor.Tensor) bool { return t.Device().Type == tensor.Meta }

// emptyResult returns a result that stands for one that was not asked for.
func (c call) emptyResult() value.Value { return value.OfTensor(empty([]int{0}, tensor.Int64)) }
