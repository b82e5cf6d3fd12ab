package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tensors is short for what derivatives compute with.
type tensors = *tensor.Tensor

// gradient is one use of a derivative that needs sizes and numbers: graphs, which do not know them, have no such derivatives.
type gradient struct {
	ops.Gradient
	run ops.Concrete
}

// derivative computes the gradients of a node's inputs from those of its outputs.
type derivative func(c gradient)

// concrete makes a derivative that needs sizes and numbers one of a record.
func concrete(f derivative) func(g ops.Gradient) {
	return func(g ops.Gradient) {
		run := g.Concrete()
		if run == nil {
			source.Raise(source.RuntimeError, "its derivative needs sizes that a graph does not know")
		}
		f(gradient{g, run})
	}
}

func tensorOf(r ops.Ref) tensors {
	t, _ := r.(*tensor.Tensor)
	return t
}

func fail(format string, args ...any) { source.Raise(source.RuntimeError, format, args...) }

func (c gradient) do(name string, args ...any) tensors { return ops.Do(c.run, name, args...) }

// g returns the gradient of the first output.
func (c gradient) g() tensors { return c.gradOf(0) }

// gradOf returns the gradient of an output, zeros where none came.
func (c gradient) gradOf(i int) tensors { return tensorOf(c.Grad(i)) }

// grads returns the gradients of the outputs, nil where none came.
func (c gradient) grads() []tensors { return c.run.Grads() }

// in returns a saved tensor argument, nil for None. It fails where it was written since.
func (c gradient) in(argument int) tensors { return tensorOf(c.In(argument)) }

// out returns a saved output.
func (c gradient) out(i int) tensors { return tensorOf(c.Out(i)) }

// list returns a saved list of tensors, nil for None among them.
func (c gradient) list(argument int) []tensors { return c.run.List(argument) }

func (c gradient) needs(argument int) bool { return c.Needs(argument) }

// args returns the arguments; of tensors only the layout may be used.
func (c gradient) args() []value.Value { return c.run.Arguments() }

// arg returns an argument; of a tensor only the layout may be used.
func (c gradient) arg(i int) value.Value {
	v, _ := value.From(c.Arg(i))
	return v
}

// shape returns the shape of a tensor argument, whatever happened to it since.
func (c gradient) shape(argument int) []int {
	shape, _ := c.run.Geometry(argument, -1)
	return shape
}

// dtype returns the element type of a tensor argument.
func (c gradient) dtype(argument int) tensor.DType {
	_, d := c.run.Geometry(argument, -1)
	return d
}

// elementShape returns the shape of an element of a list of tensors.
func (c gradient) elementShape(argument, element int) []int {
	shape, _ := c.run.Geometry(argument, element)
	return shape
}

func (c gradient) isNone(i int) bool { return c.args()[i].IsNone() }
func (c gradient) int(i int) int     { return int(c.args()[i].Int()) }
func (c gradient) bool(i int) bool   { return c.args()[i].Bool() }

// float returns a number argument.
func (c gradient) float(i int) float64 { return c.Number(i).(value.Value).Float() }

// number returns a number argument as a complex one.
func (c gradient) number(i int) complex128 {
	if v := c.args()[i]; v.Kind() == value.KindComplex {
		return v.Complex()
	}
	return complex(c.float(i), 0)
}

// plain returns a complex number, as a real one where it is one.
func plain(z complex128) value.Value {
	if imag(z) == 0 {
		return value.Float(real(z))
	}
	return value.Complex(z)
}

func (c gradient) ints(i int) []int {
	v := c.args()[i]
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

// give sets the gradient of an argument; a broadcast is undone later.
func (c gradient) give(argument int, g tensors) {
	if g == nil {
		c.Give(argument, nil)
		return
	}
	c.Give(argument, g)
}

func (c gradient) giveAt(argument, element int, g tensors) { c.run.GiveElement(argument, element, g) }

func (c gradient) sumTo(g tensors, shape []int) tensors { return c.run.SumTo(g, shape) }

func (c gradient) mul(a, b tensors) tensors           { return c.do("mul.Tensor", a, b) }
func (c gradient) div(a, b tensors) tensors           { return c.do("div.Tensor", a, b) }
func (c gradient) add(a, b tensors) tensors           { return c.do("add.Tensor", a, b) }
func (c gradient) sub(a, b tensors) tensors           { return c.do("sub.Tensor", a, b) }
func (c gradient) neg(a tensors) tensors              { return c.do("neg", a) }
func (c gradient) scale(a tensors, k float64) tensors { return c.do("mul.Scalar", a, k) }
func (c gradient) plus(a tensors, k float64) tensors  { return c.do("add.Scalar", a, k) }
func (c gradient) square(a tensors) tensors           { return c.mul(a, a) }
func (c gradient) zeros(a tensors) tensors            { return c.do("zeros_like", a) }

// where gives a where the condition holds, else zero.
func (c gradient) where(condition, a tensors) tensors {
	return c.do("where.self", condition, a, c.zeros(a))
}

// zerosAs returns zeros that nobody but the derivative has.
func (c gradient) zerosAs(shape []int, d tensor.DType) tensors { return c.run.Zeros(shape, d) }

// zerosOf returns zeros for the gradient of an argument.
func (c gradient) zerosOf(argument int) tensors {
	return c.zerosAs(c.run.Geometry(argument, -1))
}

// into runs an operator on zeros that nobody else has, in place where that can be.
func (c gradient) into(name string, zeros tensors, args ...any) tensors {
	return ops.Into(c.run, name, zeros, args...)
}

// placed is the view of root that the arguments of as_strided from number first on describe.
func (c gradient) placed(root tensors, first int) ops.Placement {
	offset := 0
	if !c.isNone(first + 2) {
		offset = c.int(first+2) - root.Offset()
	}
	return ops.NewPlacement(root, c.ints(first), c.ints(first+1), offset)
}

func asStridedGrad(c gradient) { c.give(0, c.placed(c.arg(0).Tensor(), 1).Scatter(c.run, c.g())) }

// asStridedScatterGrad: the strides are those of the result's memory.
func asStridedScatterGrad(c gradient) {
	part, rest := c.placed(c.run.Results()[0].Tensor(), 2).Split(c.run, c.g())
	c.give(0, rest)
	c.give(1, part)
}

// conj conjugates complex numbers and gives others as they are.
func (c gradient) conj(t tensors) tensors {
	if t == nil || !t.DType().IsComplex() {
		return t
	}
	return c.do("conj_physical", t)
}

// real returns the real part.
func (c gradient) real(t tensors) tensors {
	if !t.DType().IsComplex() {
		return t
	}
	return c.do("real", t)
}

// unrecorded returns an emitter beside another one that records nothing.
func unrecorded(e ops.Emitter) ops.Emitter {
	if x, ok := e.(composer); ok {
		e = x.Emitter
	}
	return e.(interface{ Unrecorded() ops.Emitter }).Unrecorded()
}

// isCast reports whether an autocast casts what is emitted.
func isCast(e ops.Emitter) bool {
	if x, ok := e.(composer); ok {
		e = x.Emitter
	}
	casts, ok := e.(interface{ Casts() bool })
	return ok && casts.Casts()
}

// grad is one use of a derivative that needs no sizes or numbers, so that graphs have it too. It computes with refs.
type (
	grad = ops.Gradient
	ref  = ops.Ref
)

// ofSelf makes a derivative of a function of one tensor from the gradient of the result and the argument.
func ofSelf(f func(g grad, dy, x ref) ref) func(g grad) {
	return func(g grad) { g.Give(0, f(g, g.Grad(0), g.In(0))) }
}

// ofResult is ofSelf with the result instead of the argument.
func ofResult(f func(g grad, dy, y ref) ref) func(g grad) {
	return func(g grad) { g.Give(0, f(g, g.Grad(0), g.Out(0))) }
}

// overGradient runs an operator of a gradient and a tensor like it that goes from element to element. Where nobody else has the gradient the result
// takes its place.
func overGradient(g grad, name string, dy, y ref, numbers ...any) ref {
	args := append([]any{dy, y}, numbers...)
	if c := g.Concrete(); c != nil {
		over, like := dy.(*tensor.Tensor), y.(*tensor.Tensor)
		if c.WritesAlone(over) && over.IsContiguous() && like.IsContiguous() && over.DType() == like.DType() && tensor.SameShape(over.Shape(), like.Shape()) && c.IsOwn(over) {
			return ops.Do(c, name+".grad_input", append(args, over)...)
		}
	}
	return g.Do(name, args...)
}

// passedOn gives the gradient to the first argument as it is.
func passedOn(g grad) { g.Give(0, g.Grad(0)) }

func zeroOfSelf(g grad) { g.Give(0, g.Zeros(g.Grad(0))) }

// constantGrad gives zeros to all tensors.
func constantGrad(g grad) { concrete(constantOf)(g) }

func constantOf(c gradient) {
	for i, v := range c.args() {
		if v.IsTensor() && c.dtype(i).IsDifferentiable() {
			c.give(i, c.zerosOf(i))
		}
	}
}

// tensorsIn returns the tensors of a list, of one tensor or of None.
func tensorsIn(v value.Value) []tensors {
	if v.IsTensor() {
		return []tensors{v.Tensor()}
	}
	if v.IsNone() {
		return nil
	}
	items := v.List().Items
	ts := make([]tensors, len(items))
	for i, x := range items {
		if x.IsTensor() {
			ts[i] = x.Tensor()
		}
	}
	return ts
}
