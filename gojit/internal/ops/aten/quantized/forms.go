package quantized

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TakingQuantized returns the definition of an operator that takes quantized tensors with that form.
func TakingQuantized(d define.Definition) *define.Definition {
	form := d.Form
	if form == nil && d.Record != nil {
		form = d.Record.Quantized
	}
	if form == nil {
		if d.InParts {
			return throughParts(d)
		}
		return &d
	}
	if plain := d.Into; plain != nil {
		d.Into = func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
			if define.FirstQuantized(c.Args) == nil {
				return plain(c, dst)
			}
			var out [1]value.Value
			onNumbers(define.Call{Args: c.Args, Out: out[:]}, form, func(c define.Call) { c.Out[0] = value.OfTensor(plain(c, nil)) })
			if dst == nil {
				return out[0].Tensor()
			}
			elementwise.CopyElements(dst, out[0].Tensor()) // with the scale of the result
			return dst
		}
		return &d
	}
	plain := d.Body
	d.Body = func(c define.Call) {
		if define.FirstQuantized(c.Args) == nil {
			plain(c)
			return
		}
		onNumbers(c, form, plain)
	}
	return &d
}

// throughParts has an operator run as what it is made of where an argument is quantized.
func throughParts(d define.Definition) *define.Definition {
	plain, operator := d.Body, sync.OnceValue(func() *ops.Operator { return ops.Find(define.Key(d.Name)) })
	d.Body = func(c define.Call) {
		if define.FirstQuantized(c.Args) == nil || !define.RunParts(operator(), c) {
			plain(c)
		}
	}
	return &d
}

// onNumbers runs an operator on the numbers that quantized arguments stand for, and quantizes floating results.
func onNumbers(c define.Call, form define.QuantizedForm, run func(c define.Call)) {
	x := define.FirstQuantized(c.Args)
	if first := c.Args[0]; first.IsTensor() && first.Tensor().Quantizer() == nil && first.Tensor().DType().IsFloating() {
		define.RefuseBackend("aten::qscheme", "CPU") // whose results would have the scale of another argument
	}
	q := form(x)
	source.Check(q == nil || !x.Quantizer().PerChannel(), "Expected quantizer->qscheme() == kPerTensorAffine to be true, but got false.")
	run(define.Call{Args: numbersOf(c.Args), Out: c.Out})
	for i, v := range c.Out {
		if q != nil && v.IsTensor() && v.Tensor().DType() == tensor.Float32 {
			c.Out[i] = value.OfTensor(elementwise.Quantized(v.Tensor(), q, x.DType()))
		}
	}
}

func numbersOf(args []value.Value) []value.Value {
	out := make([]value.Value, len(args))
	for i, a := range args {
		out[i] = a
		switch {
		case a.IsTensor() && a.Tensor().Quantizer() != nil:
			out[i] = value.OfTensor(elementwise.Dequantized(a.Tensor()))
		case a.Kind() == value.KindList && a.List().Elem.Kind() == types.KindTensor:
			out[i] = value.OfList(value.NewList(types.Tensor, numbersOf(a.List().Items)...))
		}
	}
	return out
}

// ThroughNumbers are the quantized forms of the operators of families whose records say that they compute with numbers: arguments
// have the same names, and those that a form does not take are as they are left out.
func ThroughNumbers(families []define.Family) []define.Definition {
	var all []define.Definition
	seen := map[string]bool{}
	for _, family := range families {
		for i := range family.Definitions {
			d := &family.Definitions[i]
			base, _, _ := strings.Cut(d.Name, ".")
			if d.Record == nil || !d.Record.Has(ops.ThroughNumbers) || d.Record.Name != "" && d.Record.Name != d.Name || seen[base] {
				continue // an alias has no form, nor has another overload
			}
			seen[base] = true
			form := sync.OnceValue(func() *numberForm { return formOf("quantized::"+base, define.Key(d.Name)) })
			all = append(all, define.Giving("quantized::"+base, func(c define.Call) *tensor.Tensor { return form().run(c) }))
		}
	}
	return all
}

// numberForm is a quantized operator that is another one on the numbers.
type numberForm struct {
	name  string
	other *ops.Operator
	// arguments gives those of the other, which follow the tensor.
	arguments func(c define.Call) []value.Value
	// scaleAt is where the scale of the result stands, negative where it is that of the first argument.
	scaleAt int
	rectify func(t *tensor.Tensor) *tensor.Tensor // a function on the numbers of the result, nil for none
}

// formOf finds the arguments of an operator among those of a quantized one, by their names.
func formOf(name, other string) *numberForm {
	f := &numberForm{name: name, other: ops.Find(other)}
	taken, given := f.other.Schema().Arguments[1:], ops.Find(name).Schema()
	f.scaleAt = given.ArgumentIndex("output_scale")
	f.arguments = func(c define.Call) []value.Value {
		args := make([]value.Value, len(taken))
		for i := range taken {
			if at := given.ArgumentIndex(taken[i].Name); at >= 0 {
				args[i] = c.Args[at]
			} else {
				args[i] = taken[i].NewDefault()
			}
		}
		return args
	}
	return f
}

func (f *numberForm) run(c define.Call) *tensor.Tensor {
	x := c.Tensor(0)
	q := elementwise.QuantizerOf(x)
	source.Check(!q.PerChannel(), "%s expects a tensor that is quantized per tensor", f.name)
	if f.scaleAt >= 0 {
		q = outputQuantizer(c, f.scaleAt)
	}
	var out [1]value.Value
	args := append([]value.Value{value.OfTensor(elementwise.Dequantized(x))}, f.arguments(c)...)
	source.Throw(f.other.Run(args, out[:]))
	real := out[0].Tensor()
	if f.rectify != nil {
		real = f.rectify(real)
	}
	made := elementwise.Quantized(real, q, x.DType())
	if define.IsFresh(real, args) && define.IsFresh(real, c.Args) {
		args[0].Tensor().Release()
		real.Release()
	}
	return made
}

// throughNumbers defines a quantized operator as another one on the numbers, whose arguments have other names.
func throughNumbers(name, other string, scaleAt int, arguments func(c define.Call) []value.Value) define.Definition {
	return throughRectified(name, other, scaleAt, arguments, nil)
}

// throughRectified is throughNumbers with a function on the numbers of the result.
func throughRectified(name, other string, scaleAt int, arguments func(c define.Call) []value.Value, rectify func(t *tensor.Tensor) *tensor.Tensor) define.Definition {
	name = "quantized::" + name
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		f := numberForm{name, ops.Find(define.Key(other)), arguments, scaleAt, rectify}
		return f.run(c)
	})
}

// alias defines an operator on quantized tensors as another one, which takes these too.
func alias(name, other string) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		source.Check(!elementwise.QuantizerOf(c.Tensor(0)).PerChannel(), "%s expects a tensor that is quantized per tensor", name)
		var out [1]value.Value
		source.Throw(ops.Find(define.Key(other)).Run(c.Args, out[:]))
		return out[0].Tensor()
	})
}

func positive(t *tensor.Tensor) *tensor.Tensor { return elementwise.Relu.On(t) }

// rectified gives the quantized tensor without what is below zero.
func rectified(t *tensor.Tensor) *tensor.Tensor {
	return elementwise.Quantized(elementwise.Relu.On(elementwise.Dequantized(t)), t.Quantizer(), t.DType())
}

// quantizedScalar moves the scale instead of the integers where it can: x*b has the integers of x.
func quantizedScalar(c define.Call, product bool) *tensor.Tensor {
	x, b := c.Tensor(0), c.Float(1)
	q := *elementwise.QuantizerOf(x)
	source.Check(!q.PerChannel(), "quantized arithmetic with a number expects a tensor that is quantized per tensor")
	real := elementwise.Dequantized(x)
	low, high := tensor.IntegerRange(x.DType())
	if !product {
		shift := int64(b/q.Scale + 0.5)
		if b < 0 {
			shift = -int64(-b/q.Scale + 0.5)
		}
		b = float64(shift) * q.Scale // whole steps are added
		moved := float64(q.ZeroPoint - shift)
		switch {
		case moved < low:
			q.Scale = q.Scale * (high - moved) / (high - low)
			q.ZeroPoint = int64(low)
		case moved > high:
			q.Scale = q.Scale * (moved - low) / (high - low)
			q.ZeroPoint = int64(high)
		default:
			q.ZeroPoint = int64(moved)
		}
		return elementwise.Quantized(elementwise.Add.Run(nil, []elementwise.Operand{elementwise.OfTensor(real), elementwise.OfScalar(tensor.Float(b))}), &q, x.DType())
	}
	switch {
	case b > 0:
		q.Scale *= b
	case b < 0:
		q.Scale *= -b
		q.ZeroPoint = int64(low+high) - q.ZeroPoint
	default:
		q.Scale, q.ZeroPoint = 1, 0
	}
	return elementwise.Quantized(elementwise.Mul.Run(nil, []elementwise.Operand{elementwise.OfTensor(real), elementwise.OfScalar(tensor.Float(b))}), &q, x.DType())
}

var quantizedFormFamily = []define.Definition{
	alias("quantized::max_pool2d", "max_pool2d"),
	alias("quantized_max_pool1d", "max_pool1d"),
	alias("quantized_max_pool2d", "max_pool2d"),
	throughNumbers("instance_norm", "instance_norm", 4, func(c define.Call) []value.Value {
		return []value.Value{c.Args[1], c.Args[2], value.None, value.None, value.Bool(true), value.Float(0), c.Args[3], value.Bool(false)}
	}),
	throughNumbers("batch_norm", "batch_norm", 6, normalizing("quantized::batch_norm only support 2d, 3d, 4d or 5d inputs.", 2, 3, 4, 5)),
	alias("quantized_batch_norm", "quantized::batch_norm2d"),
	throughNumbers("batch_norm1d", "batch_norm", 6, normalizing("Expecting the input tensor of rank 2 or 3.", 2, 3)),
	throughNumbers("batch_norm2d", "batch_norm", 6, normalizing("Expecting the input tensor of rank 4.", 4)),
	throughNumbers("batch_norm3d", "batch_norm", 6, normalizing("Expecting the input tensor of rank 5.", 5)),
	throughRectified("batch_norm_relu", "batch_norm", 6, normalizing("quantized::batch_norm only support 2d, 3d, 4d or 5d inputs.", 2, 3, 4, 5), positive),
	throughRectified("batch_norm1d_relu", "batch_norm", 6, normalizing("Expecting the input tensor of rank 2 or 3.", 2, 3), positive),
	throughRectified("batch_norm2d_relu", "batch_norm", 6, normalizing("Expecting the input tensor of rank 4.", 4), positive),
	throughRectified("batch_norm3d_relu", "batch_norm", 6, normalizing("Expecting the input tensor of rank 5.", 5), positive),
	alias("quantized::max_pool1d", "max_pool1d"),
	define.Giving("quantized::dropout", func(c define.Call) *tensor.Tensor { return c.Tensor(0) }),
	define.Giving("quantized::add.Scalar", func(c define.Call) *tensor.Tensor { return quantizedScalar(c, false) }),
	define.Giving("quantized::mul.Scalar", func(c define.Call) *tensor.Tensor { return quantizedScalar(c, true) }),
	define.Giving("quantized::add_relu.Scalar", func(c define.Call) *tensor.Tensor { return rectified(quantizedScalar(c, false)) }),
	define.Giving("quantized::mul_relu.Scalar", func(c define.Call) *tensor.Tensor { return rectified(quantizedScalar(c, true)) }),
	define.Giving("quantized::add_scalar", func(c define.Call) *tensor.Tensor { return quantizedScalar(c, false) }),
	define.Giving("quantized::mul_scalar", func(c define.Call) *tensor.Tensor { return quantizedScalar(c, true) }),
	define.Giving("quantized::add_scalar_relu", func(c define.Call) *tensor.Tensor { return rectified(quantizedScalar(c, false)) }),
	define.Giving("quantized::mul_scalar_relu", func(c define.Call) *tensor.Tensor { return rectified(quantizedScalar(c, true)) }),
	quantizedBinary("quantized::matmul", false, nil, linalg.Matmul),
}

// normalizing gives the arguments of batch_norm with running statistics. Inputs of other ranks are refused in the words of ranks.
func normalizing(ranks string, known ...int) func(c define.Call) []value.Value {
	return func(c define.Call) []value.Value {
		x, weight, bias := c.Tensor(0), c.OptionalTensor(1), c.OptionalTensor(2)
		source.Check(weight != nil, "Weight must be provided")
		source.Check(bias != nil, "Bias must be provided")
		source.Check(slices.Contains(known, x.Dim()), "%s", ranks)
		channels := x.Size(1)
		source.Check(weight.Numel() == channels && bias.Numel() == channels, "Expect weight size to match C")
		source.Check(c.Tensor(3).Numel() == channels, "Mean size must match channel dimension")
		source.Check(c.Tensor(4).Numel() == channels, "Variance size must match channel dimension")
		return []value.Value{c.Args[1], c.Args[2], c.Args[3], c.Args[4], value.Bool(false), value.Float(0), c.Args[5], value.Bool(false)}
	}
}
