package aten

import (
	"errors"
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// drawing defines an overload that makes a tensor and fills it with random numbers, on the device of the options or on the processor, which copies
// them. The options
// start at argument i; the generator is argument g, -1 for none.
func drawing(name string, i, g int, d tensor.DType, f func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor) definition {
	return giving(name, func(c call) *tensor.Tensor {
		gen := tensor.DefaultGenerator()
		if g >= 0 {
			gen = c.generator(g)
		}
		none := d
		if !none.Valid() {
			none = tensor.DefaultDType()
		}
		o := c.options(i, none, tensor.Device{})
		return o.placed(f(c, gen, o))
	})
}

// filling defines an in-place overload that fills its first argument; the generator is the last argument.
func filling(name string, f func(c call, t *tensor.Tensor, gen *tensor.Generator)) definition {
	return define(name, func(c call) {
		checkInside(c.tensor(0))
		fillDrawn(c.tensor(0), func(t *tensor.Tensor) { f(c, t, c.generator(len(c.args)-1)) })
		c.giveSelf()
	})
}

// filled defines the functional form of a filling operator.
func filled(name string, f func(c call, t *tensor.Tensor, gen *tensor.Generator)) definition {
	return giving(name, func(c call) *tensor.Tensor {
		t := must(tensor.EmptyFormatOn(c.tensor(0).Device(), c.tensor(0), c.tensor(0).DType(), tensor.PreserveFormat))
		fillDrawn(t, func(t *tensor.Tensor) { f(c, t, c.generator(len(c.args)-1)) })
		return t
	})
}

// fillDrawn fills t by what fills a tensor of the processor. It draws the numbers of distributions that devices do not draw themselves, and copies them.
func fillDrawn(t *tensor.Tensor, fill func(t *tensor.Tensor)) {
	switch {
	case t.OnDevice():
		if err := tryFill(fill, t); err != nil {
			var refused *tensor.HostAccessError
			if !errors.As(err, &refused) {
				succeed(err)
			}
			drawHere(t, fill)
		}
	case !isMeta(t):
		fill(t)
	}
}

func tryFill(fill func(t *tensor.Tensor), t *tensor.Tensor) (err error) {
	defer source.Catch(&err)
	fill(t)
	return nil
}

// bothFilling defines the in-place and the functional form.
func bothFilling(name string, f func(c call, t *tensor.Tensor, gen *tensor.Generator)) []definition {
	base, overload, _ := cutOverload(name)
	return []definition{filling(base+"_"+overload, f), filled(name, f).onZeros()}
}

// cutOverload splits "name.overload" before the dot.
func cutOverload(name string) (base, overload string, ok bool) {
	for i := range name {
		if name[i] == '.' {
			return name[:i], name[i:], true
		}
	}
	return name, "", false
}

func uniformFill(c call, t *tensor.Tensor, gen *tensor.Generator) {
	from, to := c.float(1), c.float(2)
	if !(from <= to) {
		raise(source.RuntimeError, "uniform_ expects to return a [from, to) range, but found from=%v > to=%v", from, to)
	}
	drawUniform(gen, t, from, to)
}

func normalFill(c call, t *tensor.Tensor, gen *tensor.Generator) {
	if std := c.float(2); !(std >= 0) {
		raise(source.RuntimeError, "normal expects std >= 0.0, but found std %v", std)
	}
	drawNormal(gen, t, c.float(1), c.float(2))
}

func bernoulliFill(t *tensor.Tensor, p float64, gen *tensor.Generator) {
	check(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=%v", p)
	drawBernoulli(gen, t, p)
}

func randomRange(t *tensor.Tensor, from, to int64, gen *tensor.Generator) {
	check(from < to, "random_ expects 'from' to be less than 'to', but got from=%d >= to=%d", from, to)
	if !isMeta(t) {
		drawIntegers(gen, t, from, to)
	}
}

func randint(c call, gen *tensor.Generator, o makeLike, low, high int, shape []int) *tensor.Tensor {
	t := o.onHost().empty(shape)
	if t.Numel() > 0 || high <= low {
		randomRange(t, int64(low), int64(high), gen)
	}
	return t
}

// dropout zeroes elements with probability p and scales the rest up.
func dropout(t *tensor.Tensor, p float64, train bool) *tensor.Tensor {
	check(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got %v", p)
	if p == 0 || !train || t.Numel() == 0 {
		return t
	}
	if isMeta(t) {
		return must(tensor.EmptyMeta(t.Shape(), t.DType()))
	}
	if p == 1 {
		return mul.on(t, zerosBeside(t, nil, t.DType()))
	}
	if d := t.DType(); kernel.ComputeType(d) == d && d.IsFloating() {
		kept := emptyBeside(t, t.Shape(), tensor.Bool)
		defer kept.Release()
		drawBernoulli(tensor.DefaultGenerator(), kept, 1-p)
		return keptScaled.run(nil, []operand{ofTensor(t), ofTensor(kept)}, tensor.Float(1-p))
	}
	return mul.on(t, dropoutNoise(t, t.Shape(), p))
}

// keptScaled multiplies an element by one or zero, divided by a number.
var keptScaled = elementwise("dropout", ops.SameType, func(b builder, x ...element) element { return b.Mul(x[0], b.Div(x[1], x[2])) })

func dropoutNoise(t *tensor.Tensor, shape []int, p float64) *tensor.Tensor {
	noise := emptyBeside(t, shape, t.DType())
	drawBernoulli(tensor.DefaultGenerator(), noise, 1-p)
	return div.withNumber(noise, 1-p)
}

// featureDropout zeroes whole channels.
func featureDropout(t *tensor.Tensor, p float64, train bool) *tensor.Tensor {
	check(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got %v", p)
	if p == 0 || !train || t.Numel() == 0 {
		return t
	}
	check(t.Dim() >= 2, "Feature dropout requires at least 2 dimensions in the input")
	shape := slices.Repeat([]int{1}, t.Dim())
	shape[0], shape[1] = t.Size(0), t.Size(1)
	if p == 1 {
		return mul.on(t, zerosBeside(t, nil, t.DType()))
	}
	return mul.on(t, dropoutNoise(t, shape, p))
}

// alphaDropout keeps mean and variance of what selu gives.
func alphaDropout(t *tensor.Tensor, p float64, train, feature bool) *tensor.Tensor {
	check(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got %v", p)
	if p == 0 || !train || t.Numel() == 0 {
		return t
	}
	if p == 1 {
		return mul.on(t, zerosBeside(t, nil, t.DType()))
	}
	shape := slices.Clone(t.Shape())
	if feature {
		check(t.Dim() >= 2, "Feature dropout requires at least 2 dimensions in the input")
		shape = slices.Repeat([]int{1}, t.Dim())
		shape[0], shape[1] = t.Size(0), t.Size(1)
	}
	noise := emptyBeside(t, shape, t.DType())
	drawBernoulli(tensor.DefaultGenerator(), noise, 1-p)
	const alpha = 1.7580993408473766
	a := 1 / math.Sqrt((alpha*alpha*p+1)*(1-p))
	shift := addNumber(noise, -1)
	defer shift.Release()
	mul.into(shift, shift, alpha*a)
	add.into(shift, shift, alpha*a*p)
	mul.into(noise, noise, a)
	defer noise.Release()
	out := mul.on(t, noise)
	return add.run(out, []operand{ofTensor(out), ofTensor(shift)})
}

// dropping defines a dropout operator and its in-place form.
func dropping(name string, f func(t *tensor.Tensor, p float64, train bool) *tensor.Tensor) []definition {
	return []definition{
		giving(name, func(c call) *tensor.Tensor { return f(c.tensor(0), c.float(1), c.bool(2)) }),
		define(name+"_", func(c call) {
			store(c.tensor(0), f(c.tensor(0), c.float(1), c.bool(2)))
			c.giveSelf()
		}),
	}
}

// onZeros has the functional overloads run on zeros where tensors have no elements.
func onZeros(definitions []definition) []definition {
	definitions[0].meta = runsOnZero
	return definitions
}

// multinomial draws indices with the probabilities in the last dimension.
func multinomial(t *tensor.Tensor, n int, replacement bool, gen *tensor.Generator) *tensor.Tensor {
	check(t.Dim() == 1 || t.Dim() == 2, "prob_dist must be 1 or 2 dim")
	check(t.DType().IsFloating(), "multinomial only supports floating-point dtypes for input, got: %s", t.DType().CppName())
	check(n > 0, "cannot sample n_sample <= 0 samples")
	categories := t.Size(t.Dim() - 1)
	check(categories <= 1<<24, "number of categories cannot exceed 2^24")
	check(replacement || n <= categories, "cannot sample n_sample > prob_dist.size(-1) samples without replacement")
	if t.Numel() == 0 {
		check(categories > 0 || t.Dim() == 2 && t.Size(0) == 0, "invalid multinomial distribution (sum of probabilities <= 0)")
		return empty(append(slices.Clone(t.Shape()[:t.Dim()-1]), n), tensor.Int64)
	}
	work := contiguous(to(t, tensor.Float64))
	rows := tensor.Data[float64](work)
	for _, p := range rows {
		if p >= 0 && p <= math.MaxFloat64 {
			continue
		}
		check(replacement, "probability tensor contains either `inf`, `nan` or element < 0")
		check(p >= 0, "invalid multinomial distribution (encountering probability entry < 0)")
		check(false, "invalid multinomial distribution (encountering probability entry = infinity or NaN)")
	}
	if !replacement {
		for r := range len(rows) / categories {
			check(slices.Max(rows[r*categories:(r+1)*categories]) > 0, "invalid multinomial distribution (sum of probabilities <= 0)")
		}
		q := empty(t.Shape(), t.DType())
		drawExponential(gen, q, 1)
		_, at := topK(div.on(t, q), n, -1, true)
		return at
	}
	shape := slices.Clone(t.Shape())
	shape[len(shape)-1] = n
	out := empty(shape, tensor.Int64)
	data := tensor.Data[int64](out)
	draws := table[float64](len(data))
	gen.Draw(func(d tensor.Draws) {
		for i := range draws {
			if i%lookEvery == lookEvery-1 {
				tensor.Look()
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
		check(total > 0, "invalid multinomial distribution (sum of probabilities <= 0)")
		tensor.Parallel(n, rowGrain, func(lo, hi int) {
			var watch tensor.Watch
			for i := lo; i < hi; i++ {
				if i%rowGrain == 0 {
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
func normalOf(c call) *tensor.Tensor {
	mean, std := c.operand(0), c.operand(1)
	gen := c.generator(2)
	shape := []int(nil)
	d := tensor.DefaultDType()
	for _, o := range [2]operand{mean, std} {
		if o.tensor != nil {
			shape = must(tensor.Broadcast(shape, o.tensor.Shape()))
			d = o.tensor.DType()
		}
	}
	noise := empty(shape, d)
	drawNormal(gen, noise, 0, 1)
	return add.run(nil, []operand{ofTensor(mul.run(nil, []operand{ofTensor(noise), std})), mean})
}

var randomFamily = slices.Concat([]definition{
	giving("bernoulli.Tensor", func(c call) *tensor.Tensor {
		t := must(tensor.EmptyLike(c.tensor(0), c.tensor(0).DType()))
		drawBernoulliFrom(c.generator(2), t, must(c.tensor(1).Expand(t.Shape()...)))
		return t
	}).with(ops.Def{Grad: constantGrad, Tags: ops.Constant}).outApart(),
	drawing("rand", 1, -1, tensor.NoDType, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor { return uniformOf(gen, o, c.ints(0)) }),
	drawing("rand.generator", 2, 1, tensor.NoDType, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor {
		return uniformOf(gen, o, c.ints(0))
	}),
	drawing("randn", 1, -1, tensor.NoDType, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor { return gaussOf(gen, o, c.ints(0)) }),
	drawing("randn.generator", 2, 1, tensor.NoDType, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor {
		return gaussOf(gen, o, c.ints(0))
	}),
	drawing("randint", 2, -1, tensor.Int64, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor {
		return randint(c, gen, o, 0, c.int(0), c.ints(1))
	}),
	drawing("randint.generator", 3, 2, tensor.Int64, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor {
		return randint(c, gen, o, 0, c.int(0), c.ints(1))
	}),
	drawing("randint.low", 3, -1, tensor.Int64, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor {
		return randint(c, gen, o, c.int(0), c.int(1), c.ints(2))
	}),
	drawing("randint.low_generator", 4, 3, tensor.Int64, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor {
		return randint(c, gen, o, c.int(0), c.int(1), c.ints(2))
	}),
	drawing("randperm", 1, -1, tensor.Int64, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor { return permutation(gen, o, c.int(0)) }),
	drawing("randperm.generator", 2, 1, tensor.Int64, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor {
		return permutation(gen, o, c.int(0))
	}),
	creatingLike("rand_like", 1, func(c call, o makeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.onHost().emptyLike(c, 5, like)
		if !isMeta(t) {
			drawUniform(tensor.DefaultGenerator(), t, 0, 1)
		}
		return t
	}),
	creatingLike("randn_like", 1, func(c call, o makeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.onHost().emptyLike(c, 5, like)
		if !isMeta(t) {
			drawNormal(tensor.DefaultGenerator(), t, 0, 1)
		}
		return t
	}),
	creatingLike("randint_like", 2, func(c call, o makeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.onHost().emptyLike(c, 6, like)
		randomRange(t, 0, int64(c.int(1)), tensor.DefaultGenerator())
		return t
	}),
	creatingLike("randint_like.low_dtype", 3, func(c call, o makeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.onHost().emptyLike(c, 7, like)
		randomRange(t, int64(c.int(1)), int64(c.int(2)), tensor.DefaultGenerator())
		return t
	}),
	giving("normal.Tensor_float", normalOf).with(ops.Def{Reads: ops.ReadsNothing, Grad: zeroOfSelf}).onZeros(),
	giving("normal.float_Tensor", normalOf).with(ops.Def{Grad: concrete(func(c gradient) { c.give(1, c.zeros(c.in(1))) })}).onZeros(),
	giving("normal.Tensor_Tensor", normalOf).with(ops.Def{Grad: concrete(func(c gradient) {
		c.give(0, c.zeros(c.in(0)))
		c.give(1, c.zeros(c.in(1)))
	})}).onZeros(),
	drawing("normal.float_float", 4, 3, tensor.NoDType, func(c call, gen *tensor.Generator, o makeLike) *tensor.Tensor {
		check(c.float(1) >= 0, "normal expects std >= 0.0, but found std %v", c.float(1))
		t := o.empty(c.ints(2))
		if !isMeta(t) {
			drawNormal(gen, t, c.float(0), c.float(1))
		}
		return t
	}),
	giving("bernoulli", func(c call) *tensor.Tensor {
		p := c.tensor(0)
		t := must(tensor.EmptyLike(p, p.DType()))
		drawBernoulliFrom(c.generator(1), t, p)
		return t
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: zeroOfSelf}).onZeros().outApart(),
	filled("bernoulli.p", func(c call, t *tensor.Tensor, gen *tensor.Generator) { bernoulliFill(t, c.float(1), gen) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: zeroOfSelf}).onZeros().outApart(),
	filling("bernoulli_.float", func(c call, t *tensor.Tensor, gen *tensor.Generator) { bernoulliFill(t, c.float(1), gen) }),
	filling("bernoulli_.Tensor", func(c call, t *tensor.Tensor, gen *tensor.Generator) {
		drawBernoulliFrom(gen, t, must(c.tensor(1).Expand(t.Shape()...)))
	}).onZeros(),
	filling("random_", func(c call, t *tensor.Tensor, gen *tensor.Generator) { drawBits(gen, t) }),
	filling("random_.to", func(c call, t *tensor.Tensor, gen *tensor.Generator) { randomRange(t, 0, int64(c.int(1)), gen) }),
	filling("random_.from", func(c call, t *tensor.Tensor, gen *tensor.Generator) {
		randomRange(t, int64(c.int(1)), int64(c.intOr(2, math.MaxInt64)), gen)
	}),
	giving("multinomial", func(c call) *tensor.Tensor { return multinomial(c.tensor(0), c.int(1), c.bool(2), c.generator(3)) }).with(ops.Def{Out: ops.OutInt64}).onZeros(),
	define("native_dropout", func(c call) {
		t, p := c.tensor(0), c.float(1)
		if !c.isNone(2) && !c.bool(2) {
			c.give(t, must(tensor.Full(t.Shape(), tensor.Int(1), tensor.Bool)))
			return
		}
		mask := empty(t.Shape(), tensor.Bool)
		drawBernoulli(tensor.DefaultGenerator(), mask, 1-p)
		scale := 0.0
		if p < 1 {
			scale = 1 / (1 - p)
		}
		c.give(scaleBy(mul.on(t, mask), scale), mask)
	}).with(ops.Def{Reads: ops.ReadsNothing.AndResult(1), Grad: nativeDropoutGrad, Tags: ops.Symbolic}).onZeros(),
},
	dropping("dropout", dropout), onZeros(dropping("feature_dropout", featureDropout)),
	onZeros(dropping("alpha_dropout", func(t *tensor.Tensor, p float64, train bool) *tensor.Tensor { return alphaDropout(t, p, train, false) })),
	onZeros(dropping("feature_alpha_dropout", func(t *tensor.Tensor, p float64, train bool) *tensor.Tensor {
		return alphaDropout(t, p, train, true)
	})),
	bothFilling("uniform", uniformFill),
	[]definition{filling("normal_", normalFill), filled("normal_functional", normalFill).onZeros()},
	bothFilling("exponential", func(c call, t *tensor.Tensor, gen *tensor.Generator) { drawExponential(gen, t, c.float(1)) }),
	bothFilling("cauchy", func(c call, t *tensor.Tensor, gen *tensor.Generator) { drawCauchy(gen, t, c.float(1), c.float(2)) }),
	bothFilling("log_normal", func(c call, t *tensor.Tensor, gen *tensor.Generator) { drawLogNormal(gen, t, c.float(1), c.float(2)) }),
	bothFilling("geometric", func(c call, t *tensor.Tensor, gen *tensor.Generator) { drawGeometric(gen, t, c.float(1)) }),
)

func uniformOf(gen *tensor.Generator, o makeLike, shape []int) *tensor.Tensor {
	t := o.empty(shape)
	if !isMeta(t) {
		drawUniform(gen, t, 0, 1)
	}
	return t
}

func gaussOf(gen *tensor.Generator, o makeLike, shape []int) *tensor.Tensor {
	t := o.empty(shape)
	if !isMeta(t) {
		drawNormal(gen, t, 0, 1)
	}
	return t
}

func permutation(gen *tensor.Generator, o makeLike, n int) *tensor.Tensor {
	check(n >= 0, "Trying to create tensor with negative dimension %d: [%d]", n, n)
	t := empty([]int{n}, tensor.Int64)
	drawPermutation(gen, t)
	return to(t, o.dtype)
}

// randomFurther are the records of operators of random numbers that are implemented elsewhere.
var randomFurther = []ops.Def{
	{Name: "bernoulli_.float", Grad: constantGrad, Tags: ops.Constant},
	{Name: "cauchy", Grad: constantGrad, Tags: ops.Constant},
	{Name: "dropout", Decomp: composing(composeDropout), Saving: "native_dropout", Tags: ops.Grouped},
	{Name: "exponential", Grad: constantGrad, Tags: ops.Constant},
	{Name: "geometric", Grad: constantGrad, Tags: ops.Constant},
	{Name: "log_normal", Grad: constantGrad, Tags: ops.Constant},
	{Name: "normal_", Grad: constantGrad, Tags: ops.Constant},
	{Name: "random", Grad: constantGrad, Tags: ops.Constant},
	{Name: "random.from", Grad: constantGrad, Tags: ops.Constant},
	{Name: "random.to", Grad: constantGrad, Tags: ops.Constant},
	{Name: "uniform", Grad: constantGrad, Tags: ops.Constant},
}
