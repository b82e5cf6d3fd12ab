package define

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Turn transposes matrices.
func (c Gradient) Turn(a Tensors) Tensors { return c.Do("transpose.int", a, -2, -1) }

// Matmul emits a product of matrices.
func (c Gradient) Matmul(a, b Tensors) Tensors { return c.Do("matmul", a, b) }

// Moved is MovedWith the arguments of the operator.
func (c Gradient) Moved(name string) { c.MovedWith(name, slices.Clone(c.Args())) }

// MovedWith runs the operator on the numbers of the elements, counted from 1, to learn where each one went.
func (c Gradient) MovedWith(name string, args []value.Value) {
	c.Tape.Reading()
	n := Numel(c.Shape(0))
	args[0] = value.OfTensor(c.Do("reshape", c.Do("to.dtype", c.Do("arange.start", 1, n+1), tensor.Float64), c.Shape(0)))
	from := c.Do("to.dtype", c.Tape.Emit(name, args...)[0].Tensor(), tensor.Int64)
	g := c.G()
	sums := c.Into("index_add", c.ZerosAs([]int{n + 1}, g.DType()), 0, c.Do("reshape", from, []int{-1}), c.Do("reshape", g, []int{-1}))
	c.Give(0, c.Do("reshape", c.Do("slice.Tensor", sums, 0, 1, n+1), c.Shape(0)))
}

// Each returns an argument for n dimensions, of which one number stands for all.
func (c Gradient) Each(i, n int) []int {
	xs := c.Ints(i)
	for len(xs) < n {
		xs = append(xs, xs[0])
	}
	return xs
}

// GiveMasked gives the gradients of arguments that an operator computes when its last argument asks for them.
func GiveMasked(g Grad, arguments []int, name string, args ...any) {
	mask := make([]any, len(arguments))
	for j, i := range arguments {
		if mask[j] = false; g.Needs(i) {
			mask[j] = g.Not(g.IsNone(i))
		}
	}
	for j, d := range g.DoAll(name, append(args, g.ListOf(mask...))...) {
		if g.Needs(arguments[j]) {
			g.Give(arguments[j], d)
		}
	}
}

// SparseRows is a gradient of a table: rows at indices, those at padding left out.
func (c Gradient) SparseRows(indices, rows Tensors, padding int) Tensors {
	if padding >= 0 {
		kept := c.Do("reshape", c.Do("nonzero", c.Do("ne.Scalar", indices, padding)), []int{-1})
		indices, rows = c.Do("index_select", indices, 0, kept), c.Do("index_select", rows, 0, kept)
	}
	at := c.Do("unsqueeze", c.Do("to.dtype", indices, tensor.Int64), 0)
	return c.Do("_sparse_coo_tensor_unsafe", at, rows, c.Shape(0))
}

// Wrap returns a dimension of n that may be counted from the last one.
func Wrap(dim, n int) int {
	if dim < 0 {
		dim += max(n, 1)
	}
	return dim
}

// Numel returns how many elements a shape has.
func Numel(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// Tensors is short for what derivatives compute with.
type Tensors = *tensor.Tensor

// Gradient is one use of a derivative that needs sizes and numbers: graphs, which do not know them, have no such derivatives.
type Gradient struct {
	ops.Gradient
	Tape ops.Concrete
}

// Derivative computes the gradients of a node's inputs from those of its outputs.
type Derivative func(c Gradient)

// Concrete makes a derivative that needs sizes and numbers one of a record.
func Concrete(f Derivative) func(g ops.Gradient) {
	return func(g ops.Gradient) {
		run := g.Concrete()
		if run == nil {
			source.Raise(source.RuntimeError, "its derivative needs sizes that a graph does not know")
		}
		f(Gradient{g, run})
	}
}

// TensorOf returns the tensor that is referred to, nil where there is none.
func TensorOf(r ops.Ref) Tensors {
	t, _ := r.(*tensor.Tensor)
	return t
}

// Fail fails with a RuntimeError.
func Fail(format string, args ...any) { source.Raise(source.RuntimeError, format, args...) }

// Do runs an operator on the tape with arguments of Go and returns its first result.
func (c Gradient) Do(name string, args ...any) Tensors { return ops.Do(c.Tape, name, args...) }

// G returns the gradient of the first output.
func (c Gradient) G() Tensors { return c.GradOf(0) }

// GradOf returns the gradient of an output, zeros where none came.
func (c Gradient) GradOf(i int) Tensors { return TensorOf(c.Grad(i)) }

// Grads returns the gradients of the outputs, nil where none came.
func (c Gradient) Grads() []Tensors { return c.Tape.Grads() }

// In returns a saved tensor argument, nil for None. It fails where it was written since.
func (c Gradient) In(argument int) Tensors { return TensorOf(c.Gradient.In(argument)) }

// Out returns a saved output.
func (c Gradient) Out(i int) Tensors { return TensorOf(c.Gradient.Out(i)) }

// List returns a saved list of tensors, nil for None among them.
func (c Gradient) List(argument int) []Tensors { return c.Tape.List(argument) }

// Needs reports whether the gradient of an argument is wanted.
func (c Gradient) Needs(argument int) bool { return c.Gradient.Needs(argument) }

// Args returns the arguments; of tensors only the layout may be used.
func (c Gradient) Args() []value.Value { return c.Tape.Arguments() }

// Arg returns an argument; of a tensor only the layout may be used.
func (c Gradient) Arg(i int) value.Value {
	v, _ := value.From(c.Gradient.Arg(i))
	return v
}

// Shape returns the shape of a tensor argument, whatever happened to it since.
func (c Gradient) Shape(argument int) []int {
	shape, _ := c.Tape.Geometry(argument, -1)
	return shape
}

// Dtype returns the element type of a tensor argument.
func (c Gradient) Dtype(argument int) tensor.DType {
	_, d := c.Tape.Geometry(argument, -1)
	return d
}

// ElementShape returns the shape of an element of a list of tensors.
func (c Gradient) ElementShape(argument, element int) []int {
	shape, _ := c.Tape.Geometry(argument, element)
	return shape
}

// IsNone reports whether argument i is None; Int and Bool return it as what it is.
func (c Gradient) IsNone(i int) bool { return c.Args()[i].IsNone() }
func (c Gradient) Int(i int) int     { return int(c.Args()[i].Int()) }
func (c Gradient) Bool(i int) bool   { return c.Args()[i].Bool() }

// Float returns a number argument.
func (c Gradient) Float(i int) float64 { return c.Gradient.Number(i).(value.Value).Float() }

// Number returns a number argument as a complex one.
func (c Gradient) Number(i int) complex128 {
	if v := c.Args()[i]; v.Kind() == value.KindComplex {
		return v.Complex()
	}
	return complex(c.Float(i), 0)
}

// Plain returns a complex number, as a real one where it is one.
func Plain(z complex128) value.Value {
	if imag(z) == 0 {
		return value.Float(real(z))
	}
	return value.Complex(z)
}

// Ints returns argument i as a list of integers.
func (c Gradient) Ints(i int) []int {
	v := c.Args()[i]
	switch v.Kind() {
	case value.KindInt:
		return []int{int(v.Int())}
	case value.KindList:
		xs := make([]int, len(v.List().Items))
		for j, x := range v.List().Items {
			xs[j] = int(x.Int())
		}
		return xs
	}
	return nil
}

// Give sets the gradient of an argument; a broadcast is undone later.
func (c Gradient) Give(argument int, g Tensors) {
	if g == nil {
		c.Gradient.Give(argument, nil)
		return
	}
	c.Gradient.Give(argument, g)
}

// GiveAt gives an element of a list that is an argument its gradient.
func (c Gradient) GiveAt(argument, element int, g Tensors) { c.Tape.GiveElement(argument, element, g) }

// SumTo sums a gradient over what was broadcast from a shape.
func (c Gradient) SumTo(g Tensors, shape []int) Tensors { return c.Tape.SumTo(g, shape) }

// Mul and what follows are the operators that most derivatives are made of.
func (c Gradient) Mul(a, b Tensors) Tensors           { return c.Do("mul.Tensor", a, b) }
func (c Gradient) Div(a, b Tensors) Tensors           { return c.Do("div.Tensor", a, b) }
func (c Gradient) Add(a, b Tensors) Tensors           { return c.Do("add.Tensor", a, b) }
func (c Gradient) Sub(a, b Tensors) Tensors           { return c.Do("sub.Tensor", a, b) }
func (c Gradient) Neg(a Tensors) Tensors              { return c.Do("neg", a) }
func (c Gradient) Scale(a Tensors, k float64) Tensors { return c.Do("mul.Scalar", a, k) }
func (c Gradient) Plus(a Tensors, k float64) Tensors  { return c.Do("add.Scalar", a, k) }
func (c Gradient) Square(a Tensors) Tensors           { return c.Mul(a, a) }
func (c Gradient) Zeros(a Tensors) Tensors            { return c.Do("zeros_like", a) }

// Where gives a where the condition holds, else zero.
func (c Gradient) Where(condition, a Tensors) Tensors {
	return c.Do("where.self", condition, a, c.Zeros(a))
}

// ZerosAs returns zeros that nobody but the derivative has.
func (c Gradient) ZerosAs(shape []int, d tensor.DType) Tensors { return c.Tape.Zeros(shape, d) }

// ZerosOf returns zeros for the gradient of an argument.
func (c Gradient) ZerosOf(argument int) Tensors {
	return c.ZerosAs(c.Tape.Geometry(argument, -1))
}

// Into runs an operator on zeros that nobody else has, in place where that can be.
func (c Gradient) Into(name string, zeros Tensors, args ...any) Tensors {
	return ops.Into(c.Tape, name, zeros, args...)
}

// placed is the view of root that the arguments of as_strided from number first on describe.
func (c Gradient) placed(root Tensors, first int) ops.Placement {
	offset := 0
	if !c.IsNone(first + 2) {
		offset = c.Int(first+2) - root.Offset()
	}
	return ops.NewPlacement(root, c.Ints(first), c.Ints(first+1), offset)
}

// AsStridedGrad is the derivative of as_strided.
func AsStridedGrad(c Gradient) { c.Give(0, c.placed(c.Arg(0).Tensor(), 1).Scatter(c.Tape, c.G())) }

// AsStridedScatterGrad: the strides are those of the result's memory.
func AsStridedScatterGrad(c Gradient) {
	part, rest := c.placed(c.Tape.Results()[0].Tensor(), 2).Split(c.Tape, c.G())
	c.Give(0, rest)
	c.Give(1, part)
}

// Conj conjugates complex numbers and gives others as they are.
func (c Gradient) Conj(t Tensors) Tensors {
	if t == nil || !t.DType().IsComplex() {
		return t
	}
	return c.Do("conj_physical", t)
}

// Real returns the real part.
func (c Gradient) Real(t Tensors) Tensors {
	if !t.DType().IsComplex() {
		return t
	}
	return c.Do("real", t)
}

// Unrecorded returns an emitter beside another one that records nothing.
func Unrecorded(e ops.Emitter) ops.Emitter {
	if x, ok := e.(Composer); ok {
		e = x.Emitter
	}
	return e.(interface{ Unrecorded() ops.Emitter }).Unrecorded()
}

// IsCast reports whether an autocast casts what is emitted.
func IsCast(e ops.Emitter) bool {
	if x, ok := e.(Composer); ok {
		e = x.Emitter
	}
	casts, ok := e.(interface{ Casts() bool })
	return ok && casts.Casts()
}

// grad is one use of a derivative that needs no sizes or numbers, so that graphs have it too. It computes with refs.
type (
	Grad = ops.Gradient
	Ref  = ops.Ref
)

// OfSelf makes a derivative of a function of one tensor from the gradient of the result and the argument.
func OfSelf(f func(g Grad, dy, x Ref) Ref) func(g Grad) {
	return func(g Grad) { g.Give(0, f(g, g.Grad(0), g.In(0))) }
}

// OfResult is OfSelf with the result instead of the argument.
func OfResult(f func(g Grad, dy, y Ref) Ref) func(g Grad) {
	return func(g Grad) { g.Give(0, f(g, g.Grad(0), g.Out(0))) }
}

// OverGradient runs an operator of a gradient and a tensor like it that goes from element to element. Where nobody else has the gradient the result
// takes its place.
func OverGradient(g Grad, name string, dy, y Ref, numbers ...any) Ref {
	args := append([]any{dy, y}, numbers...)
	if c := g.Concrete(); c != nil {
		over, like := dy.(*tensor.Tensor), y.(*tensor.Tensor)
		if c.WritesAlone(over) && over.IsContiguous() && like.IsContiguous() && over.DType() == like.DType() && tensor.SameShape(over.Shape(), like.Shape()) && c.IsOwn(over) {
			return ops.Do(c, name+".grad_input", append(args, over)...)
		}
	}
	return g.Do(name, args...)
}

// PassedOn gives the gradient to the first argument as it is.
func PassedOn(g Grad) { g.Give(0, g.Grad(0)) }

// ZeroOfSelf is the derivative of what does not depend on its first argument.
func ZeroOfSelf(g Grad) { g.Give(0, g.Zeros(g.Grad(0))) }

// ConstantGrad gives zeros to all tensors.
func ConstantGrad(g Grad) { Concrete(constantOf)(g) }

func constantOf(c Gradient) {
	for i, v := range c.Args() {
		if v.IsTensor() && c.Dtype(i).IsDifferentiable() {
			c.Give(i, c.ZerosOf(i))
		}
	}
}

// TensorsIn returns the tensors of a list, of one tensor or of None.
func TensorsIn(v value.Value) []Tensors {
	if v.IsTensor() {
		return []Tensors{v.Tensor()}
	}
	if v.IsNone() {
		return nil
	}
	items := v.List().Items
	ts := make([]Tensors, len(items))
	for i, x := range items {
		if x.IsTensor() {
			ts[i] = x.Tensor()
		}
	}
	return ts
}
