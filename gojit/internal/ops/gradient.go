package ops

import (
	"math/cmplx"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Ref stands for a tensor in a derivative: on the tape and for kernels it is the *tensor.Tensor, in a graph the value. Nil is None.
type Ref = any

// Gradient is one use of a derivative. The same derivative runs operators now, on the tape; runs them on tensors without elements, for
// which a kernel is planned; or adds nodes to a graph.
type Gradient struct{ Engine }

// Engine is what a derivative asks and tells whoever uses it. A number, a size or a truth value is a Go value where it is known, and else
// what stands for it.
type Engine interface {
	// In returns a tensor argument, nil for None.
	In(argument int) Ref
	// Out returns a result.
	Out(i int) Ref
	// Grad returns the gradient of a result, zeros where none came.
	Grad(i int) Ref
	// Needs reports whether the gradient of an argument, or of an element of it, is asked for.
	Needs(argument int) bool
	// Arg returns an argument for Do; of a tensor only the layout may be used.
	Arg(i int) any
	// Number returns an argument that is a number.
	Number(i int) any
	// IsNone says whether an argument is None.
	IsNone(i int) any
	// Sizes returns the sizes of a tensor argument, whatever happened to it since.
	Sizes(argument int) any
	// IsComplex reports whether a tensor is known to be complex.
	IsComplex(t Ref) bool
	// Dim returns the number of dimensions of a tensor, if that is known.
	Dim(t Ref) (n int, known bool)
	// Give sets the gradient of an argument. Broadcasting and conversion of that are undone later.
	Give(argument int, g Ref)

	// Calculate applies an operator of numbers and lists, of which one at least is not known. A name without a namespace is one of aten.
	Calculate(operator string, args ...any) any
	// If chooses by a truth value that is not known.
	If(condition any, then, otherwise func() any) any
	// MakeList makes a list of numbers or truth values, of which one at least is not known.
	MakeList(items ...any) any
	// Add adds the node of an operator of which no Concrete knows, and returns its results.
	Add(operator string, args []any) []Ref

	// Concrete returns what only a run knows, nil where there is a graph.
	Concrete() Concrete
}

// Concrete is what derivatives may ask that need more than a graph knows: sizes, numbers, other gradients.
type Concrete interface {
	Emitter
	// Operator returns the name of the operator that is differentiated.
	Operator() string
	// Arguments returns the arguments as they are.
	Arguments() []value.Value
	// Results returns the results as they are.
	Results() []value.Value
	// Grads returns the gradients of the results, nil for zero. The slice must not be changed.
	Grads() []*tensor.Tensor
	// List returns an argument that is a list of tensors, nil for None among them.
	List(argument int) []*tensor.Tensor
	// Geometry returns the shape and the element type of a tensor argument, or of an element of a list of them where element is not -1.
	Geometry(argument, element int) (shape []int, d tensor.DType)
	// GiveProduct sets the gradient of an argument to the product of the transpose of left and right.
	GiveProduct(argument int, left, right Ref)
	// GiveElement sets the gradient of an element of a list.
	GiveElement(argument, element int, g *tensor.Tensor)
	// Reading says that an argument is read otherwise than by In and List.
	Reading()
	// Records reports whether the derivative is recorded itself.
	Records() bool
	// Zeros returns zeros that nobody but the derivative has.
	Zeros(shape []int, d tensor.DType) *tensor.Tensor
	// WritesAlone reports whether the derivative may write a tensor like t that it has made: nothing is recorded, and nobody else runs operators.
	WritesAlone(t *tensor.Tensor) bool
	// IsOwn reports whether nobody else has a gradient.
	IsOwn(t *tensor.Tensor) bool
	// SumTo sums g over the dimensions along which shape was broadcast.
	SumTo(g *tensor.Tensor, shape []int) *tensor.Tensor
	// Unrecorded returns an emitter that records nothing.
	Unrecorded() Emitter
}

// Do runs an operator, named without its namespace, on tensors, numbers and other arguments, and returns its first result. Defaults are
// filled in.
func (g Gradient) Do(name string, args ...any) Ref {
	if c := g.Concrete(); c != nil {
		return Do(c, name, args...)
	}
	return g.Add(name, slices.Clone(args))[0]
}

// DoAll is Do with all results.
func (g Gradient) DoAll(name string, args ...any) []Ref {
	c := g.Concrete()
	if c == nil {
		return g.Add(name, slices.Clone(args))
	}
	results := DoAll(c, name, args...)
	refs := make([]Ref, len(results))
	for i, v := range results {
		if v.IsTensor() {
			refs[i] = v.Tensor()
		}
	}
	return refs
}

// Do emits an operator with Go values for arguments and returns its first result.
func Do(e Emitter, name string, args ...any) *tensor.Tensor {
	return DoAll(e, name, args...)[0].Tensor()
}

// DoAll emits an operator with Go values for arguments.
func DoAll(e Emitter, name string, args ...any) []value.Value {
	values := make([]value.Value, len(args))
	for i, a := range args {
		v, ok := value.From(a)
		if !ok {
			panic("a derivative calls " + name + " with an argument that no operator takes")
		}
		values[i] = v
	}
	return e.Emit(name, values...)
}

// Into runs an operator on zeros that nobody else has. It writes them in place where that is not recorded and no class of tensors runs the
// operator.
func Into(c Concrete, name string, zeros *tensor.Tensor, args ...any) *tensor.Tensor {
	alone := c.WritesAlone(zeros)
	for _, a := range args {
		if t, ok := a.(*tensor.Tensor); ok {
			alone = alone && !t.Dispatches() && t.Device() == zeros.Device()
		}
	}
	if alone {
		name += "_"
	}
	return Do(c, name, append([]any{zeros}, args...)...)
}

// Mul multiplies.
func (g Gradient) Mul(a, b Ref) Ref { return g.Do("mul.Tensor", a, b) }

// Div divides.
func (g Gradient) Div(a, b Ref) Ref { return g.Do("div.Tensor", a, b) }

// Plus adds.
func (g Gradient) Plus(a, b Ref) Ref { return g.Do("add.Tensor", a, b) }

// Minus subtracts.
func (g Gradient) Minus(a, b Ref) Ref { return g.Do("sub.Tensor", a, b) }

// Neg negates.
func (g Gradient) Neg(a Ref) Ref { return g.Do("neg", a) }

// Square multiplies a tensor with itself.
func (g Gradient) Square(a Ref) Ref { return g.Mul(a, a) }

// Scale multiplies with a number.
func (g Gradient) Scale(a Ref, k float64) Ref { return g.Do("mul.Scalar", a, k) }

// Shift adds a number.
func (g Gradient) Shift(a Ref, k float64) Ref { return g.Do("add.Scalar", a, k) }

// Zeros gives zeros like a tensor.
func (g Gradient) Zeros(a Ref) Ref { return g.Do("zeros_like", a) }

// Where gives a where the condition holds, else zero.
func (g Gradient) Where(condition, a Ref) Ref {
	return g.Do("where.self", condition, a, g.Zeros(a))
}

// OneMinusSquare gives 1 - a².
func (g Gradient) OneMinusSquare(a Ref) Ref { return g.Shift(g.Neg(g.Square(a)), 1) }

// Conj conjugates complex numbers and gives others as they are.
func (g Gradient) Conj(a Ref) Ref {
	if a == nil || !g.IsComplex(a) {
		return a
	}
	return g.Do("conj_physical", a)
}

// Real returns the real part.
func (g Gradient) Real(a Ref) Ref {
	if !g.IsComplex(a) {
		return a
	}
	return g.Do("real", a)
}

// ScaledBy multiplies with a number argument, unless that is the integer 1.
func (g Gradient) ScaledBy(a Ref, argument int) Ref {
	k := g.Arg(argument)
	if v, ok := k.(value.Value); ok && v.IsInt() && v.Int() == 1 {
		return a
	}
	return g.Do("mul.Scalar", a, k)
}

// Choose gives one or the other, tensors or numbers, by a truth value.
func (g Gradient) Choose(condition any, then, otherwise func() any) any {
	if is, known := knownTruth(condition); known {
		if is {
			return then()
		}
		return otherwise()
	}
	return g.If(condition, then, otherwise)
}

// plain returns a complex number, as a real one where it is one.
func plain(z complex128) value.Value {
	if imag(z) == 0 {
		return value.Float(real(z))
	}
	return value.Complex(z)
}

// known returns a number that is known.
func known(k any) (complex128, bool) {
	switch k := k.(type) {
	case float64:
		return complex(k, 0), true
	case int:
		return complex(float64(k), 0), true
	case value.Value:
		switch k.Kind() {
		case value.KindInt, value.KindBool:
			return complex(float64(k.Int()), 0), true
		case value.KindFloat:
			return complex(k.Float(), 0), true
		case value.KindComplex:
			return k.Complex(), true
		}
	}
	return 0, false
}

// calculate applies an operator to two numbers.
func (g Gradient) calculate(operator string, a, b any, now func(x, y complex128) complex128) any {
	x, first := known(a)
	y, second := known(b)
	if first && second {
		return plain(now(x, y))
	}
	return g.Calculate(operator, a, b)
}

// ListOf is a list of integers or of truth values.
func (g Gradient) ListOf(items ...any) any {
	l := value.NewList(types.Int)
	for _, item := range items {
		v, ok := value.From(item)
		if !ok {
			return g.MakeList(items...)
		}
		if v.Kind() == value.KindBool {
			l.Elem = types.Bool
		}
		l.Items = append(l.Items, v)
	}
	return value.OfList(l)
}

// SubNumbers subtracts numbers.
func (g Gradient) SubNumbers(a, b any) any {
	return g.calculate("sub", a, b, func(x, y complex128) complex128 { return x - y })
}

// MulNumbers multiplies numbers.
func (g Gradient) MulNumbers(a, b any) any {
	return g.calculate("mul", a, b, func(x, y complex128) complex128 { return x * y })
}

// DivNumbers divides numbers.
func (g Gradient) DivNumbers(a, b any) any {
	return g.calculate("div", a, b, func(x, y complex128) complex128 {
		if imag(x) == 0 && imag(y) == 0 {
			return complex(real(x)/real(y), 0)
		}
		return x / y
	})
}

// LogNumber is the natural logarithm of a number.
func (g Gradient) LogNumber(a any) any {
	x, ok := known(a)
	if !ok {
		return g.Calculate("log", a)
	}
	return plain(cmplx.Log(x))
}

// KnownToBe reports whether a number is known and equal to another one.
func KnownToBe(a any, k float64) bool {
	x, ok := known(a)
	return ok && x == complex(k, 0)
}

// IsNumber says whether a number is equal to one that is known.
func (g Gradient) IsNumber(a any, k float64) any {
	if x, ok := known(a); ok {
		return x == complex(k, 0)
	}
	return g.Calculate("eq", a, k)
}
