package define

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Composer is an emitter with the short forms that decompositions use.
type Composer struct{ ops.Emitter }

// Do emits an operator with arguments of Go and returns its first result.
func (x Composer) Do(name string, args ...any) Tensors { return ops.Do(x.Emitter, name, args...) }

// one makes a ops.Decomposition of a function with one result.
func Composing(f func(x Composer, a []value.Value) Tensors) ops.Decomposition {
	return func(e ops.Emitter, a []value.Value) []value.Value {
		return []value.Value{value.OfTensor(f(Composer{e}, a))}
	}
}

// NumberOfValue returns a number that a composition needs to know.
func NumberOfValue(v value.Value) float64 {
	if v.IsFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// NumbersOfValue returns a list of integers that a composition needs to know; one alone stands for n of them.
func NumbersOfValue(v value.Value, n int) []int {
	if v.IsInt() {
		v = value.OfList(value.Ints([]int{int(v.Int())}))
	}
	xs := v.List().AppendInts(nil)
	for len(xs) > 0 && len(xs) < n {
		xs = append(xs, xs[0])
	}
	return xs
}

// Reduce applies the reduction of a loss: 0 none, 1 mean, 2 sum.
func (x Composer) Reduce(t Tensors, how value.Value) Tensors {
	switch how.Int() {
	case 1:
		return x.Do("mean", t)
	case 2:
		return x.Do("sum", t)
	}
	return t
}

// Emitting is an operator as another one that takes the same arguments, in their order, and more where these have defaults.
func Emitting(name string) ops.Decomposition {
	return func(e ops.Emitter, a []value.Value) []value.Value { return e.Emit(name, a...) }
}

// FirstOf is an operator as the first result of another one, which takes the same arguments or the first of them.
func FirstOf(name string) ops.Decomposition {
	return func(e ops.Emitter, a []value.Value) []value.Value {
		return e.Emit(name, a[:min(len(a), len(ops.Find("aten::"+name).Schema().Arguments))]...)[:1]
	}
}

// Size is a size of a tensor: an integer, or the tensor that stands for it in a program for any sizes.
func (x Composer) Size(t Tensors, d int) value.Value {
	if e, ok := x.Emitter.(ops.Sizer); ok {
		return e.Size(t, d)
	}
	return value.Int(int64(t.Size(d)))
}

// FixedSize is a size that a program is for: with another one it is another program.
func (x Composer) FixedSize(t Tensors, d int) int {
	if e, ok := x.Emitter.(ops.Sizer); ok {
		return e.FixedSize(t, d)
	}
	return t.Size(d)
}

// Product multiplies sizes.
func (x Composer) Product(a, b value.Value) value.Value {
	switch {
	case a.IsInt() && b.IsInt():
		return value.Int(a.Int() * b.Int())
	case a.IsInt() && a.Int() == 1:
		return b
	case a.IsInt():
		a, b = b, a
	}
	if b.IsInt() {
		return value.OfTensor(x.Do("mul.Scalar", a, b))
	}
	return value.OfTensor(x.Do("mul.Tensor", a, b))
}

// Sum adds sizes and numbers.
func (x Composer) Sum(a, b value.Value) value.Value {
	switch {
	case a.IsInt() && b.IsInt():
		return value.Int(a.Int() + b.Int())
	case a.IsInt():
		a, b = b, a
	}
	if b.IsInt() {
		return value.OfTensor(x.Do("add.Scalar", a, b))
	}
	return value.OfTensor(x.Do("add.Tensor", a, b))
}

// Sizes are all sizes of a tensor.
func (x Composer) Sizes(t Tensors) value.Value {
	sizes := make([]value.Value, t.Dim())
	for d := range sizes {
		sizes[d] = x.Size(t, d)
	}
	return SizesOf(sizes...)
}

// SizesOf is a list of sizes, which may be symbols.
func SizesOf(sizes ...value.Value) value.Value {
	return value.OfList(value.NewList(types.Int, sizes...))
}

// Number makes a tensor of one number with the type and on the device of another one.
func (x Composer) Number(like Tensors, v any) Tensors {
	return x.Do("scalar_tensor", v, like.DType(), nil, value.OfDevice(like.Device()))
}

// TimesNumber is a product with a number that is one in most calls. Numbers take the places of tensors, as they do in ATen's core.
func (x Composer) TimesNumber(t Tensors, number value.Value) Tensors {
	if (number.IsInt() || number.IsFloat()) && NumberOfValue(number) == 1 {
		return t
	}
	return x.Do("mul.Tensor", t, number)
}

// Along shows a vector of channels so that it broadcasts over dimension 1 of n.
func (x Composer) Along(v value.Value, n int) Tensors {
	shape := make([]int, n)
	for i := range shape {
		shape[i] = 1
	}
	shape[1] = -1
	return x.Do("reshape", v, shape)
}

// Moments emits mean and biased variance over dimensions, which stay with size 1.
func (x Composer) Moments(t Tensors, dims []int) (mean, variance Tensors) {
	return x.Do("mean.dim", t, dims, true), x.Do("var.dim", t, dims, false, true)
}

// NormOfNothing has no elements and is linked to what it comes from.
func (x Composer) NormOfNothing(t Tensors, weight, bias value.Value) Tensors {
	y := x.Do("clone", t)
	for i, name := range []string{"mul.Tensor", "add.Tensor"} {
		if v := []value.Value{weight, bias}[i]; !v.IsNone() && v.Tensor().Numel() > 0 {
			y = x.Do(name, y, x.Do("select.int", v, 0, 0))
		}
	}
	return y
}

// Affine emits the product with a weight and the sum with a bias, as far as they are not None.
func (x Composer) Affine(y Tensors, weight, bias value.Value) Tensors {
	if !weight.IsNone() {
		y = x.Do("mul.Tensor", y, x.Along(weight, y.Dim()))
	}
	if !bias.IsNone() {
		y = x.Do("add.Tensor", y, x.Along(bias, y.Dim()))
	}
	return y
}

// Negate emits -t.
func (x Composer) Negate(t Tensors) Tensors { return x.Do("neg", t) }

// OneMinus gives 1 - t.
func (x Composer) OneMinus(t any) Tensors { return x.Do("rsub.Scalar", t, 1.0) }

// Plainly runs operators below autograd.
type Plainly struct {
	At   tensor.Device    // where operators that take no tensors make theirs
	made []*tensor.Tensor // by operators
}

// PlainlyBeside is Plainly on the device of arguments.
func PlainlyBeside(args []value.Value) *Plainly {
	p := &Plainly{}
	if tensor.DevicesInUse() {
		p.At, _ = DeviceAmong(args)
	}
	return p
}

// Emit implements ops.Emitter.
func (p *Plainly) Emit(name string, args ...value.Value) []value.Value {
	o := ops.Find("aten::" + name)
	if o.Run == nil {
		source.Raise(source.NotImplementedError, "an operator is made of %s, which is not implemented", o.Name)
	}
	s := o.Schema()
	if p.At.Type != tensor.CPU {
		args = ops.Placed(o, args, p.At)
	}
	for i := len(args); i < len(s.Arguments); i++ {
		args = append(args, s.Arguments[i].Default)
	}
	out := make([]value.Value, len(s.Returns))
	source.Throw(o.Run(args, out))
	for _, v := range out {
		if v.IsTensor() && !IsAmong(v.Tensor(), args) {
			p.made = append(p.made, v.Tensor())
		}
	}
	return out
}

// Unrecorded is for decompositions, which have the operator itself check its arguments.
func (p *Plainly) Unrecorded() ops.Emitter { return p }

// GiveUp gives up what operators made and is not among the results.
func (p *Plainly) GiveUp(results []value.Value) {
	for _, t := range p.made {
		if !IsAmong(t, results) {
			t.GiveUp()
		}
	}
}

// RunParts runs a composite operator as the operators that it is made of, below autograd. It reports whether it knows these.
func RunParts(o *ops.Operator, c Call) bool {
	switch {
	case !o.Has(ops.Composite):
		return false
	case o.Parts != nil && !o.CallsItself():
		source.Throw(o.Parts(c.Args, c.Out))
	case o.IsFunctional() && o.Def().Decomp != nil:
		run := &partsOf{operator: o.Name}
		copy(c.Out, o.Def().Decomp(run, c.Args))
		run.GiveUp(c.Out)
	default:
		return false
	}
	return true
}

// partsOf runs what an operator is made of because the operator does not know the arguments.
type partsOf struct {
	Plainly
	operator string
}

// Emit implements ops.Emitter.
func (p *partsOf) Emit(name string, args ...value.Value) []value.Value {
	if Key(name) == p.operator { // a decomposition has the operator check its arguments
		RefuseBackend(p.operator, backendOf(args))
	}
	return p.Plainly.Emit(name, args...)
}

// Unrecorded is for those.
func (p *partsOf) Unrecorded() ops.Emitter { return p }

// backendOf names the kind of the first tensor among arguments that is not a plain one.
func backendOf(args []value.Value) string {
	backend := "CPU"
	EachTensorIn(args, func(t *tensor.Tensor) bool {
		switch {
		case t.IsSparse() && t.Layout().Compressed():
			backend = "SparseCsrCPU"
		case t.IsSparse():
			backend = "SparseCPU"
		case t.DType().IsQuantized():
			backend = "QuantizedCPU"
		}
		return backend == "CPU"
	})
	return backend
}

// Decomposed defines an overload that has no implementation but what it is made of.
func Decomposed(name string, as ops.Decomposition) Definition {
	return Operator(name, func(c Call) {
		run := PlainlyBeside(c.Args)
		copy(c.Out, as(run, c.Args))
		run.GiveUp(c.Out)
	}).OnMeta()
}

// SameAs defines an overload that is another one.
func SameAs(name, other string) Definition {
	return Decomposed(name, Emitting(other)).With(ops.Def{Decomp: Emitting(other)})
}
