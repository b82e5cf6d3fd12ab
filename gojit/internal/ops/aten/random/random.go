// Package random has the operators that draw random numbers. A stream of a generator gives the numbers that PyTorch's does.
package random

import (
	"errors"
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// composeDropout draws the same numbers as the operator.
func composeDropout(x define.Composer, a []value.Value) define.Tensors {
	t, p := a[0].Tensor(), define.NumberOfValue(a[1])
	checkProbability(p)
	if !a[2].Bool() || p == 0 || t.Numel() == 0 {
		return t
	}
	if p == 1 {
		return x.Do("mul.Tensor", t, x.Do("zeros", []int{}, int(t.DType()), nil, value.OfDevice(t.Device())))
	}
	noise := x.Do("bernoulli_.float", x.Do("empty_like", t, nil, nil, nil, nil, int(tensor.ContiguousFormat)), 1-p)
	return x.Do("mul.Tensor", t, x.Do("div_.Scalar", noise, 1-p))
}

// nativeDropoutGrad: what was kept was scaled, unless nothing was dropped or everything.
func nativeDropoutGrad(g define.Grad) {
	p := g.Arg(1)
	trained := func() any {
		return g.Choose(g.IsNumber(p, 1), func() any { return 0.0 }, func() any { return g.DivNumbers(1.0, g.SubNumbers(1.0, p)) })
	}
	scale := g.Choose(g.IsNone(2), trained, func() any {
		return g.Choose(g.Arg(2), trained, func() any { return 1.0 })
	})
	g.Give(0, g.Do("native_dropout_backward", g.Grad(0), g.Out(1), scale))
}

// drawing defines an overload that makes a tensor and fills it with random numbers, on the device of the options or on the processor, which copies
// them. The options
// start at argument i; the generator is argument g, -1 for none.
func drawing(name string, i, g int, d tensor.DType, f func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		gen := rng.Default()
		if g >= 0 {
			gen = c.Generator(g)
		}
		none := d
		if !none.Valid() {
			none = tensor.DefaultDType()
		}
		o := views.Options(c, i, none, tensor.Device{})
		return o.Placed(f(c, gen, o))
	})
}

// filling defines an in-place overload that fills its first argument; the generator is the last argument.
func filling(name string, f func(c define.Call, t *tensor.Tensor, gen *rng.Generator)) define.Definition {
	return define.Operator(name, func(c define.Call) {
		t := c.Tensor(0)
		elementwise.CheckInside(t)
		fillDrawn(c, t, f)
		c.GiveSelf()
	})
}

// filled defines the functional form of a filling operator.
func filled(name string, f func(c define.Call, t *tensor.Tensor, gen *rng.Generator)) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		t := source.Must(tensor.EmptyFormatOn(c.Tensor(0).Device(), c.Tensor(0), c.Tensor(0).DType(), tensor.PreserveFormat))
		fillDrawn(c, t, f)
		return t
	})
}

// fillDrawn fills t, which may be a result of the call, by what fills a tensor of the processor.
func fillDrawn(c define.Call, t *tensor.Tensor, fill func(c define.Call, t *tensor.Tensor, gen *rng.Generator)) {
	switch {
	case t.OnDevice():
		fillOnDevice(t, func(t *tensor.Tensor) { fill(c, t, c.Generator(len(c.Args)-1)) })
	case !define.IsMeta(t):
		fill(c, t, c.Generator(len(c.Args)-1))
	}
}

// fillOnDevice draws the numbers of distributions that devices do not draw themselves on the processor, and copies them.
func fillOnDevice(t *tensor.Tensor, fill func(t *tensor.Tensor)) {
	if err := tryFill(fill, t); err != nil {
		var refused *tensor.HostAccessError
		if !errors.As(err, &refused) {
			source.Throw(err)
		}
		drawHere(t, fill)
	}
}

func tryFill(fill func(t *tensor.Tensor), t *tensor.Tensor) (err error) {
	defer source.Catch(&err)
	fill(t)
	return nil
}

// bothFilling defines the in-place and the functional form.
func bothFilling(name string, f func(c define.Call, t *tensor.Tensor, gen *rng.Generator)) []define.Definition {
	base, overload, _ := define.CutOverload(name)
	return []define.Definition{filling(base+"_"+overload, f), filled(name, f).OnZeros()}
}

func uniformFill(c define.Call, t *tensor.Tensor, gen *rng.Generator) {
	from, to := c.Float(1), c.Float(2)
	if !(from <= to) {
		source.Raise(source.RuntimeError, "uniform_ expects to return a [from, to) range, but found from=%v > to=%v", from, to)
	}
	DrawUniform(gen, t, from, to)
}

func normalFill(c define.Call, t *tensor.Tensor, gen *rng.Generator) {
	if std := c.Float(2); !(std >= 0) {
		source.Raise(source.RuntimeError, "normal expects std >= 0.0, but found std %v", std)
	}
	DrawNormal(gen, t, c.Float(1), c.Float(2))
}

func bernoulliFill(t *tensor.Tensor, p float64, gen *rng.Generator) {
	source.Check(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=%v", p)
	DrawBernoulli(gen, t, p)
}

func randomRange(t *tensor.Tensor, from, to int64, gen *rng.Generator) {
	source.Check(from < to, "random_ expects 'from' to be less than 'to', but got from=%d >= to=%d", from, to)
	if least, most, bounded := limitsOf(t.DType()); bounded {
		source.Check(from >= least && from <= most, "from is out of bounds for %s", define.LowerNames[t.DType()])
		source.Check(to-1 >= least && to-1 <= most, "to - 1 is out of bounds for %s", define.LowerNames[t.DType()])
	}
	if !define.IsMeta(t) {
		DrawIntegers(gen, t, from, to)
	}
}

// fixedNames are the names of C++'s types of fixed sizes.
var fixedNames = map[tensor.DType]string{tensor.Bool: "bool", tensor.Uint8: "uint8_t", tensor.Int8: "int8_t", tensor.Int16: "int16_t", tensor.Int32: "int", tensor.Float16: "at::Half"}

// limitsOf returns the least and the largest number of a type that random_ looks after.
func limitsOf(d tensor.DType) (least, most int64, bounded bool) {
	switch d {
	case tensor.Bool:
		return 0, 1, true
	case tensor.Uint8:
		return 0, math.MaxUint8, true
	case tensor.Int8:
		return math.MinInt8, math.MaxInt8, true
	case tensor.Int16:
		return math.MinInt16, math.MaxInt16, true
	case tensor.Int32:
		return math.MinInt32, math.MaxInt32, true
	case tensor.Float16:
		return -65504, 65504, true
	}
	return 0, 0, false
}

func randint(c define.Call, gen *rng.Generator, o views.MakeLike, low, high int, shape []int) *tensor.Tensor {
	t := o.Empty(shape)
	if t.Numel() > 0 || high <= low {
		randomRange(t, int64(low), int64(high), gen)
	}
	return t
}

func checkProbability(p float64) {
	if !(p >= 0 && p <= 1) {
		source.Raise(source.RuntimeError, "dropout probability has to be between 0 and 1, but got %v", p)
	}
}

// Dropout zeroes elements with probability p and scales the rest up.
func Dropout(t *tensor.Tensor, p float64, train bool) *tensor.Tensor {
	checkProbability(p)
	if p == 0 || !train || t.Numel() == 0 {
		return t
	}
	if define.IsMeta(t) {
		return source.Must(tensor.EmptyMeta(t.Shape(), t.DType()))
	}
	if p == 1 {
		return elementwise.Mul.On(t, define.ZerosBeside(t, nil, t.DType()))
	}
	if d := t.DType(); kernel.ComputeType(d) == d && d.IsFloating() {
		kept := define.EmptyBeside(t, t.Shape(), tensor.Bool)
		defer kept.Release()
		DrawBernoulli(rng.Default(), kept, 1-p)
		return keptScaled.Run(nil, []elementwise.Operand{elementwise.OfTensor(t), elementwise.OfTensor(kept)}, tensor.Float(1-p))
	}
	return elementwise.Mul.On(t, dropoutNoise(t, t.Shape(), p))
}

// keptScaled multiplies an element by one or zero, divided by a number.
var keptScaled = elementwise.New("dropout", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	return b.Mul(x[0], b.Div(x[1], x[2]))
})

func dropoutNoise(t *tensor.Tensor, shape []int, p float64) *tensor.Tensor {
	noise := define.EmptyBeside(t, shape, t.DType())
	DrawBernoulli(rng.Default(), noise, 1-p)
	return elementwise.Div.WithNumber(noise, 1-p)
}

// featureDropout zeroes whole channels.
func featureDropout(t *tensor.Tensor, p float64, train bool) *tensor.Tensor {
	checkProbability(p)
	if p == 0 || !train || t.Numel() == 0 {
		return t
	}
	source.Check(t.Dim() >= 2, "Feature dropout requires at least 2 dimensions in the input")
	shape := slices.Repeat([]int{1}, t.Dim())
	shape[0], shape[1] = t.Size(0), t.Size(1)
	if p == 1 {
		return elementwise.Mul.On(t, define.ZerosBeside(t, nil, t.DType()))
	}
	return elementwise.Mul.On(t, dropoutNoise(t, shape, p))
}

// alphaDropout keeps mean and variance of what selu gives.
func alphaDropout(t *tensor.Tensor, p float64, train, feature bool) *tensor.Tensor {
	checkProbability(p)
	if p == 0 || !train || t.Numel() == 0 {
		return t
	}
	if p == 1 {
		return elementwise.Mul.On(t, define.ZerosBeside(t, nil, t.DType()))
	}
	shape := slices.Clone(t.Shape())
	if feature {
		source.Check(t.Dim() >= 2, "Feature dropout requires at least 2 dimensions in the input")
		shape = slices.Repeat([]int{1}, t.Dim())
		shape[0], shape[1] = t.Size(0), t.Size(1)
	}
	noise := define.EmptyBeside(t, shape, t.DType())
	DrawBernoulli(rng.Default(), noise, 1-p)
	const alpha = 1.7580993408473766
	a := 1 / math.Sqrt((alpha*alpha*p+1)*(1-p))
	shift := elementwise.AddNumber(noise, -1)
	defer shift.Release()
	elementwise.Mul.Into(shift, shift, alpha*a)
	elementwise.Add.Into(shift, shift, alpha*a*p)
	elementwise.Mul.Into(noise, noise, a)
	defer noise.Release()
	out := elementwise.Mul.On(t, noise)
	return elementwise.Add.Run(out, []elementwise.Operand{elementwise.OfTensor(out), elementwise.OfTensor(shift)})
}

// dropping defines a dropout operator and its in-place form.
func dropping(name string, f func(t *tensor.Tensor, p float64, train bool) *tensor.Tensor) []define.Definition {
	return []define.Definition{
		define.Giving(name, func(c define.Call) *tensor.Tensor { return f(c.Tensor(0), c.Float(1), c.Bool(2)) }),
		define.Operator(name+"_", func(c define.Call) {
			elementwise.Store(c.Tensor(0), f(c.Tensor(0), c.Float(1), c.Bool(2)))
			c.GiveSelf()
		}),
	}
}

// onZeros has the functional overloads run on zeros where tensors have no elements.
func onZeros(definitions []define.Definition) []define.Definition {
	definitions[0].Meta = define.RunsOnZero
	return definitions
}

// multinomial draws indices with the probabilities in the last dimension.
func multinomial(t *tensor.Tensor, n int, replacement bool, gen *rng.Generator) *tensor.Tensor {
	source.Check(t.Dim() == 1 || t.Dim() == 2, "prob_dist must be 1 or 2 dim")
	source.Check(t.DType().IsFloating(), "multinomial only supports floating-point dtypes for input, got: %s", t.DType().CppName())
	source.Check(n > 0, "cannot sample n_sample <= 0 samples")
	categories := t.Size(t.Dim() - 1)
	source.Check(categories <= 1<<24, "number of categories cannot exceed 2^24")
	source.Check(replacement || n <= categories, "cannot sample n_sample > prob_dist.size(-1) samples without replacement")
	if t.Numel() == 0 {
		source.Check(categories > 0 || t.Dim() == 2 && t.Size(0) == 0, "invalid multinomial distribution (sum of probabilities <= 0)")
		return define.Empty(append(slices.Clone(t.Shape()[:t.Dim()-1]), n), tensor.Int64)
	}
	work := elementwise.Contiguous(elementwise.To(t, tensor.Float64))
	rows := tensor.Data[float64](work)
	for _, p := range rows {
		if p >= 0 && p <= math.MaxFloat64 {
			continue
		}
		source.Check(replacement, "probability tensor contains either `inf`, `nan` or element < 0")
		source.Check(p >= 0, "invalid multinomial distribution (encountering probability entry < 0)")
		source.Check(false, "invalid multinomial distribution (encountering probability entry = infinity or NaN)")
	}
	if !replacement {
		for r := range len(rows) / categories {
			source.Check(slices.Max(rows[r*categories:(r+1)*categories]) > 0, "invalid multinomial distribution (sum of probabilities <= 0)")
		}
		q := define.Empty(t.Shape(), t.DType())
		DrawExponential(gen, q, 1)
		_, at := indexing.TopK(elementwise.Div.On(t, q), n, -1, true)
		return at
	}
	shape := slices.Clone(t.Shape())
	shape[len(shape)-1] = n
	out := define.Empty(shape, tensor.Int64)
	data := tensor.Data[int64](out)
	draws := define.Table[float64](len(data))
	gen.Draw(func(d rng.Draws) {
		for i := range draws {
			if i%define.LookEvery == define.LookEvery-1 {
				parallel.Look()
			}
			draws[i] = d.Uniform()
		}
	})
	for r := range len(rows) / categories {
		row := rows[r*categories : (r+1)*categories]
		cumulative := make([]float64, categories)
		total := 0.0
		for i, p := range row {
			total += p
			cumulative[i] = total
		}
		source.Check(total > 0, "invalid multinomial distribution (sum of probabilities <= 0)")
		parallel.For(n, define.RowGrain, func(lo, hi int) {
			var watch parallel.Watch
			for i := lo; i < hi; i++ {
				if i%define.RowGrain == 0 {
					watch.Look()
				}
				u := draws[r*n+i] * total
				at, _ := slices.BinarySearch(cumulative, u)
				for at < categories-1 && cumulative[at] <= u {
					at++
				}
				data[r*n+i] = int64(min(at, categories-1))
			}
		})
	}
	return out
}

// normalOf makes normal numbers with mean and deviation given by tensors or numbers.
// checkDeviations refuses standard deviations below zero.
func checkDeviations(std elementwise.Operand) {
	if std.Tensor == nil {
		if std.Number.Float64() < 0 {
			source.Raise(source.RuntimeError, "normal expects std >= 0.0, but found std %v", std.Number)
		}
		return
	}
	if define.IsMeta(std.Tensor) || std.Tensor.Numel() == 0 {
		return
	}
	source.Check(!std.Tensor.DType().IsComplex(), "normal expects standard deviation to be non-complex")
	least := define.Apply("min", std.Tensor)
	defer least.Release()
	source.Check(!(source.Must(least.Item()).Float64() < 0), "normal expects all elements of std >= 0.0")
}

func normalOf(c define.Call) *tensor.Tensor {
	mean, std := elementwise.OperandOf(c, 0), elementwise.OperandOf(c, 1)
	gen := c.Generator(2)
	shape := []int(nil)
	d := tensor.DefaultDType()
	for _, o := range [2]elementwise.Operand{mean, std} {
		if o.Tensor != nil {
			shape = source.Must(tensor.Broadcast(shape, o.Tensor.Shape()))
			d = o.Tensor.DType()
		}
	}
	checkDeviations(std)
	noise := define.Empty(shape, d)
	DrawNormal(gen, noise, 0, 1)
	return elementwise.Add.Run(nil, []elementwise.Operand{elementwise.OfTensor(elementwise.Mul.Run(nil, []elementwise.Operand{elementwise.OfTensor(noise), std})), mean})
}

var RandomFamily = slices.Concat([]define.Definition{
	define.Giving("bernoulli.Tensor", func(c define.Call) *tensor.Tensor {
		t := source.Must(tensor.EmptyLike(c.Tensor(0), c.Tensor(0).DType()))
		DrawBernoulliFrom(c.Generator(2), t, source.Must(c.Tensor(1).Expand(t.Shape()...)))
		return t
	}).With(ops.Def{Grad: define.ConstantGrad, Tags: ops.Constant}).OutApart(),
	drawing("rand", 1, -1, tensor.NoDType, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return uniformOf(gen, o, c.Ints(0))
	}),
	drawing("rand.generator", 2, 1, tensor.NoDType, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return uniformOf(gen, o, c.Ints(0))
	}),
	drawing("randn", 1, -1, tensor.NoDType, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return gaussOf(gen, o, c.Ints(0))
	}),
	drawing("randn.generator", 2, 1, tensor.NoDType, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return gaussOf(gen, o, c.Ints(0))
	}),
	drawing("randint", 2, -1, tensor.Int64, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return randint(c, gen, o, 0, c.Int(0), c.Ints(1))
	}),
	drawing("randint.generator", 3, 2, tensor.Int64, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return randint(c, gen, o, 0, c.Int(0), c.Ints(1))
	}),
	drawing("randint.low", 3, -1, tensor.Int64, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return randint(c, gen, o, c.Int(0), c.Int(1), c.Ints(2))
	}),
	drawing("randint.low_generator", 4, 3, tensor.Int64, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return randint(c, gen, o, c.Int(0), c.Int(1), c.Ints(2))
	}),
	drawing("randperm", 1, -1, tensor.Int64, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return permutation(gen, o, c.Int(0))
	}),
	drawing("randperm.generator", 2, 1, tensor.Int64, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		return permutation(gen, o, c.Int(0))
	}),
	views.CreatingLike("rand_like", 1, func(c define.Call, o views.MakeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.EmptyLike(c, 5, like)
		if !define.IsMeta(t) {
			DrawUniform(rng.Default(), t, 0, 1)
		}
		return t
	}),
	views.CreatingLike("randn_like", 1, func(c define.Call, o views.MakeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.EmptyLike(c, 5, like)
		if !define.IsMeta(t) {
			DrawNormal(rng.Default(), t, 0, 1)
		}
		return t
	}),
	views.CreatingLike("randint_like", 2, func(c define.Call, o views.MakeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.EmptyLike(c, 6, like)
		randomRange(t, 0, int64(c.Int(1)), rng.Default())
		return t
	}),
	views.CreatingLike("randint_like.low_dtype", 3, func(c define.Call, o views.MakeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.EmptyLike(c, 7, like)
		randomRange(t, int64(c.Int(1)), int64(c.Int(2)), rng.Default())
		return t
	}),
	define.Giving("normal.Tensor_float", normalOf).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf}).OnZeros(),
	define.Giving("normal.float_Tensor", normalOf).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(1, c.Zeros(c.In(1))) })}).OnZeros(),
	define.Giving("normal.Tensor_Tensor", normalOf).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Zeros(c.In(0)))
		c.Give(1, c.Zeros(c.In(1)))
	})}).OnZeros(),
	drawing("normal.float_float", 4, 3, tensor.NoDType, func(c define.Call, gen *rng.Generator, o views.MakeLike) *tensor.Tensor {
		if std := c.Float(1); !(std >= 0) {
			source.Raise(source.RuntimeError, "normal expects std >= 0.0, but found std %v", std)
		}
		t := o.Empty(c.Ints(2))
		if !define.IsMeta(t) {
			DrawNormal(gen, t, c.Float(0), c.Float(1))
		}
		return t
	}),
	define.Giving("bernoulli", func(c define.Call) *tensor.Tensor {
		p := c.Tensor(0)
		t := source.Must(tensor.EmptyLike(p, p.DType()))
		DrawBernoulliFrom(c.Generator(1), t, p)
		return t
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf}).OnZeros().OutApart(),
	filled("bernoulli.p", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) { bernoulliFill(t, c.Float(1), gen) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf}).OnZeros().OutApart(),
	filling("bernoulli_.float", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) { bernoulliFill(t, c.Float(1), gen) }),
	filling("bernoulli_.Tensor", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) {
		DrawBernoulliFrom(gen, t, source.Must(c.Tensor(1).Expand(t.Shape()...)))
	}).OnZeros(),
	filling("random_", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) { DrawBits(gen, t) }),
	filling("random_.to", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) { randomRange(t, 0, int64(c.Int(1)), gen) }),
	filling("random_.from", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) {
		randomRange(t, int64(c.Int(1)), int64(c.IntOr(2, math.MaxInt64)), gen)
	}),
	define.Giving("multinomial", func(c define.Call) *tensor.Tensor {
		return multinomial(c.Tensor(0), c.Int(1), c.Bool(2), c.Generator(3))
	}).With(ops.Def{Out: ops.OutInt64}).OnZeros(),
	define.Operator("native_dropout", func(c define.Call) {
		t, p := c.Tensor(0), c.Float(1)
		if !c.IsNone(2) && !c.Bool(2) {
			c.Give(t, source.Must(tensor.Full(t.Shape(), tensor.Int(1), tensor.Bool)))
			return
		}
		mask := define.Empty(t.Shape(), tensor.Bool)
		DrawBernoulli(rng.Default(), mask, 1-p)
		scale := 0.0
		if p < 1 {
			scale = 1 / (1 - p)
		}
		c.Give(elementwise.ScaleBy(elementwise.Mul.On(t, mask), scale), mask)
	}).With(ops.Def{Reads: ops.ReadsNothing.AndResult(1), Grad: nativeDropoutGrad, Tags: ops.Symbolic}).OnZeros(),
},
	dropping("dropout", Dropout), onZeros(dropping("feature_dropout", featureDropout)),
	onZeros(dropping("alpha_dropout", func(t *tensor.Tensor, p float64, train bool) *tensor.Tensor { return alphaDropout(t, p, train, false) })),
	onZeros(dropping("feature_alpha_dropout", func(t *tensor.Tensor, p float64, train bool) *tensor.Tensor {
		return alphaDropout(t, p, train, true)
	})),
	bothFilling("uniform", uniformFill),
	[]define.Definition{filling("normal_", normalFill), filled("normal_functional", normalFill).OnZeros()},
	bothFilling("exponential", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) { DrawExponential(gen, t, c.Float(1)) }),
	bothFilling("cauchy", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) {
		DrawCauchy(gen, t, c.Float(1), c.Float(2))
	}),
	bothFilling("log_normal", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) {
		DrawLogNormal(gen, t, c.Float(1), c.Float(2))
	}),
	bothFilling("geometric", func(c define.Call, t *tensor.Tensor, gen *rng.Generator) { DrawGeometric(gen, t, c.Float(1)) }),
)

func uniformOf(gen *rng.Generator, o views.MakeLike, shape []int) *tensor.Tensor {
	t := o.Empty(shape)
	if !define.IsMeta(t) {
		DrawUniform(gen, t, 0, 1)
	}
	return t
}

func gaussOf(gen *rng.Generator, o views.MakeLike, shape []int) *tensor.Tensor {
	t := o.Empty(shape)
	if !define.IsMeta(t) {
		DrawNormal(gen, t, 0, 1)
	}
	return t
}

func permutation(gen *rng.Generator, o views.MakeLike, n int) *tensor.Tensor {
	source.Check(n >= 0, "Trying to create tensor with negative dimension %d: [%d]", n, n)
	if _, most, bounded := limitsOf(o.Dtype); bounded && int64(n) > most {
		source.Raise(source.RuntimeError, "value cannot be converted to type %s without overflow", fixedNames[o.Dtype])
	}
	if t := o.Empty([]int{n}); t.Device().Type == tensor.CUDA && gen == rng.Default() {
		return permutationOnDevice(t)
	}
	t := define.Empty([]int{n}, tensor.Int64)
	DrawPermutation(gen, t)
	return elementwise.To(t, o.Dtype)
}

// RandomFurther are the records of operators of random numbers that are implemented elsewhere.
var RandomFurther = []ops.Def{
	{Name: "bernoulli_.float", Grad: define.ConstantGrad, Tags: ops.Constant},
	{Name: "cauchy", Grad: define.ConstantGrad, Tags: ops.Constant},
	{Name: "dropout", Decomp: define.Composing(composeDropout), Saving: "native_dropout", Tags: ops.Grouped},
	{Name: "exponential", Grad: define.ConstantGrad, Tags: ops.Constant},
	{Name: "geometric", Grad: define.ConstantGrad, Tags: ops.Constant},
	{Name: "log_normal", Grad: define.ConstantGrad, Tags: ops.Constant},
	{Name: "normal_", Grad: define.ConstantGrad, Tags: ops.Constant},
	{Name: "random", Grad: define.ConstantGrad, Tags: ops.Constant},
	{Name: "random.from", Grad: define.ConstantGrad, Tags: ops.Constant},
	{Name: "random.to", Grad: define.ConstantGrad, Tags: ops.Constant},
	{Name: "uniform", Grad: define.ConstantGrad, Tags: ops.Constant},
}
