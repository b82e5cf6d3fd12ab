package aten

import (
	"math"
	"slices"

	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// steps gives the products of spacing and mean of neighbours along a dimension.
func trapezoids(y *tensor.Tensor, dim int, x *tensor.Tensor, dx float64) *tensor.Tensor {
	check(y.Dim() > 0, "trapezoid: expected a tensor with at least one dimension")
	dim = wrapDim(dim, y)
	n := y.Size(dim)
	if n < 2 {
		shape := slices.Clone(y.Shape())
		shape[dim] = 0
		return zeros(shape, floatOrDefault(y.DType()))
	}
	pairs := scaleBy(add.on(must(y.Narrow(dim, 1, n-1)), must(y.Narrow(dim, 0, n-1))), 0.5)
	if x == nil {
		return scaleBy(pairs, dx)
	}
	at := 0
	if x.Dim() > 1 {
		at = dim - (y.Dim() - x.Dim())
	}
	gaps := sub.on(must(x.Narrow(at, 1, n-1)), must(x.Narrow(at, 0, n-1)))
	if x.Dim() == 1 {
		shape := slices.Repeat([]int{1}, y.Dim())
		shape[dim] = n - 1
		gaps = must(gaps.View(shape...))
	}
	return mul.on(pairs, gaps)
}

// trapezoid defines the forms with places and with a spacing; finish adds up the parts.
func trapezoid(name string, finish func(parts *tensor.Tensor, dim int) *tensor.Tensor) []definition {
	return []definition{
		giving(name+".x", func(c call) *tensor.Tensor {
			return finish(trapezoids(c.tensor(0), c.int(2), c.tensor(1), 0), c.int(2))
		}),
		giving(name+".dx", func(c call) *tensor.Tensor {
			return finish(trapezoids(c.tensor(0), c.int(2), nil, c.scalar(1).Float64()), c.int(2))
		}),
	}
}

func totalAlong(t *tensor.Tensor, dim int) *tensor.Tensor {
	return sum(t, []int{dim}, false, t.DType())
}

func runningAlong(t *tensor.Tensor, dim int) *tensor.Tensor { return cumulativeSum(t, dim, t.DType()) }

// covariance gives the covariances of the rows of a matrix of observations, with weights.
func covariance(c call) *tensor.Tensor {
	x := c.tensor(0)
	check(x.Dim() <= 2, "cov(): expected input to have two or fewer dimensions but got an input with %d dimensions", x.Dim())
	check(x.DType() != tensor.Bool, "cov(): bool dtype is not supported for input")
	rows := to(x, floatOrDefault(x.DType()))
	if x.Dim() < 2 {
		rows = must(rows.Reshape(1, -1))
	}
	n := rows.Size(1)
	var weights *tensor.Tensor
	if f := c.optionalTensor(2); f != nil {
		weights = to(f, tensor.Float64)
	}
	total := float64(n)
	norm := total - float64(c.int(1))
	if a := c.optionalTensor(3); a != nil {
		frequencies := weights
		weights = to(a, tensor.Float64)
		if frequencies != nil {
			weights = mul.on(weights, frequencies)
		}
		total = sum(weights, nil, false, tensor.Float64).At().Float64()
		squares := sum(mul.on(weights, to(a, tensor.Float64)), nil, false, tensor.Float64).At().Float64()
		norm = total - float64(c.int(1))*squares/total
	} else if weights != nil {
		total = sum(weights, nil, false, tensor.Float64).At().Float64()
		norm = total - float64(c.int(1))
	}
	var center, scaled *tensor.Tensor
	if weights == nil {
		center = mean(rows, []int{1}, true, rows.DType())
		rows = sub.on(rows, center)
		scaled = rows
	} else {
		w := to(weights, rows.DType())
		center = scaleBy(sum(mul.on(rows, w), []int{1}, true, rows.DType()), 1/total)
		rows = sub.on(rows, center)
		scaled = mul.on(rows, w)
	}
	return must(squeezeSquare(scaleBy(mm(scaled, contiguous(conjugate(must(rows.T())))), 1/math.Max(norm, 0))))
}

// squeezeSquare gives the only element of a 1 by 1 matrix without dimensions, and others as they are.
func squeezeSquare(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.Numel() == 1 {
		return t.Reshape()
	}
	return t, nil
}

func correlation(x *tensor.Tensor) *tensor.Tensor {
	v := value.OfTensor(x)
	c := covariance(call{args: []value.Value{v, value.Int(1), value.None, value.None}})
	if c.Dim() == 0 {
		return div.on(c, c)
	}
	d := squareRoot.on(must(c.Diagonal(0, 0, 1)))
	return clampBoth.run(nil, []operand{ofTensor(div.on(div.on(c, must(d.Unsqueeze(1))), d)), ofScalar(tensor.Int(-1)), ofScalar(tensor.Int(1))})
}

// gradient estimates derivatives along dimensions by differences of second order.
func gradient(t *tensor.Tensor, dims []int, spacing []float64, coordinates []*tensor.Tensor, order int) []*tensor.Tensor {
	check(order == 1 || order == 2, "torch.gradient only supports edge_order=1 and edge_order=2.")
	t = to(t, floatOrDefault(t.DType()))
	out := make([]*tensor.Tensor, len(dims))
	for i, d := range dims {
		d = wrapDim(d, t)
		n := t.Size(d)
		check(n >= order+1, "torch.gradient expected each dimension size to be at least edge_order+1")
		at := make([]float64, n)
		for j := range at {
			if coordinates != nil {
				at[j] = coordinates[i].At(j).Float64()
			} else {
				at[j] = float64(j) * spacing[i]
			}
		}
		out[i] = gradientAlong(t, d, at, order)
	}
	return out
}

func gradientAlong(t *tensor.Tensor, dim int, at []float64, order int) *tensor.Tensor {
	n := len(at)
	part := func(i int) *tensor.Tensor { return must(t.Select(dim, i)) }
	combine := func(terms ...any) *tensor.Tensor {
		var s *tensor.Tensor
		for i := 0; i < len(terms); i += 2 {
			p := scaleBy(part(terms[i].(int)), terms[i+1].(float64))
			if s == nil {
				s = p
			} else {
				s = add.on(s, p)
			}
		}
		return s
	}
	parts := make([]*tensor.Tensor, n)
	for i := 1; i+1 < n; i++ {
		a, b := at[i]-at[i-1], at[i+1]-at[i]
		parts[i] = combine(i-1, -b/(a*(a+b)), i, (b-a)/(a*b), i+1, a/(b*(a+b)))
	}
	if order == 1 {
		parts[0] = combine(0, -1/(at[1]-at[0]), 1, 1/(at[1]-at[0]))
		parts[n-1] = combine(n-2, -1/(at[n-1]-at[n-2]), n-1, 1/(at[n-1]-at[n-2]))
	} else {
		a, b := at[1]-at[0], at[2]-at[1]
		parts[0] = combine(0, -(2*a+b)/(a*(a+b)), 1, (a+b)/(a*b), 2, -a/(b*(a+b)))
		a, b = at[n-2]-at[n-3], at[n-1]-at[n-2]
		parts[n-1] = combine(n-3, b/(a*(a+b)), n-2, -(a+b)/(a*b), n-1, (a+2*b)/(b*(a+b)))
	}
	return stack(parts, dim)
}

// gradientOf defines an overload: dimensions come from argument dimAt, spacings from 1 where given.
func gradientOf(name string, dimAt int, readSpacing func(c call, n int) ([]float64, []*tensor.Tensor)) definition {
	return define(name, func(c call) {
		t := c.tensor(0)
		dims := c.ints(dimAt)
		if c.isNone(dimAt) {
			for d := range t.Dim() {
				dims = append(dims, d)
			}
		}
		spacing, coordinates := readSpacing(c, len(dims))
		check(len(spacing) == len(dims) || len(coordinates) == len(dims), "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = %d'", t.Dim())
		c.giveList(gradient(t, dims, spacing, coordinates, c.int(dimAt+1)))
	})
}

func oneSpacing(c call, n int) ([]float64, []*tensor.Tensor) {
	h := 1.0
	if !c.isNone(1) {
		h = c.scalar(1).Float64()
	}
	return slices.Repeat([]float64{h}, n), nil
}

// isIn tells which elements are among the test elements.
func isIn(elements, among operand, invert bool) *tensor.Tensor {
	for _, o := range []*operand{&elements, &among} {
		if o.tensor == nil {
			o.tensor = tensor.FromScalar(o.number, o.number.ResultDType())
		}
	}
	known := map[float64]bool{}
	for _, v := range tensor.Data[float64](contiguous(to(among.tensor, tensor.Float64))) {
		known[v] = true
	}
	out := empty(elements.tensor.Shape(), tensor.Bool)
	for i, v := range tensor.Data[float64](contiguous(to(elements.tensor, tensor.Float64))) {
		tensor.Data[bool](out)[i] = known[v] != invert
	}
	return out
}

func isInOf(name string) definition {
	return giving(name, func(c call) *tensor.Tensor { return isIn(c.operand(0), c.operand(1), c.bool(3)) })
}

// frexp splits elements into a fraction and a power of two.
func frexp(t *tensor.Tensor) (mantissa, exponent *tensor.Tensor) {
	noIntegers("frexp")(t.DType())
	src := tensor.Data[float64](contiguous(to(t, tensor.Float64)))
	m, e := empty(t.Shape(), tensor.Float64), empty(t.Shape(), tensor.Int32)
	for i, v := range src {
		f, p := math.Frexp(v)
		tensor.Data[float64](m)[i], tensor.Data[int32](e)[i] = f, int32(p)
	}
	return to(m, t.DType()), e
}

func vandermonde(x *tensor.Tensor, n int, increasing bool) *tensor.Tensor {
	columns := make([]*tensor.Tensor, n)
	power := must(tensor.Full(x.Shape(), tensor.Int(1), x.DType()))
	for i := range columns {
		at := i
		if !increasing {
			at = n - 1 - i
		}
		columns[at] = power
		power = mul.on(power, x)
	}
	if n == 0 {
		return empty(append(slices.Clone(x.Shape()), 0), x.DType())
	}
	return stack(columns, -1)
}

// choices lists the index tuples of combinations.
func choices(n, r int, repeat bool) [][]int64 {
	columns := make([][]int64, r)
	pick := make([]int, r)
	var walk func(depth, from int)
	walk = func(depth, from int) {
		if depth == r {
			for i, p := range pick {
				columns[i] = append(columns[i], int64(p))
			}
			return
		}
		for i := from; i < n; i++ {
			pick[depth] = i
			next := i + 1
			if repeat {
				next = i
			}
			walk(depth+1, next)
		}
	}
	walk(0, 0)
	return columns
}

func combinations(c call) *tensor.Tensor {
	t, r := c.tensor(0), c.int(1)
	check(t.Dim() == 1, "Expect a 1D vector, but got shape %s", shapeText(t.Shape()))
	check(r >= 0, "Expect a non-negative number, but got %d", r)
	if r == 0 {
		return empty([]int{0}, t.DType())
	}
	var parts []*tensor.Tensor
	for _, column := range choices(t.Size(0), r, c.bool(2)) {
		parts = append(parts, indexSelect(t, 0, must(tensor.FromSlice(column, len(column)))))
	}
	return stack(parts, 1)
}

// padSequences stacks sequences of different lengths.
func padSequences(c call) *tensor.Tensor {
	ts, batchFirst := c.tensors(0), c.bool(1)
	check(len(ts) > 0, "received an empty list of sequences")
	longest := 0
	for _, t := range ts {
		longest = max(longest, t.Size(0))
	}
	shape := append([]int{len(ts), longest}, ts[0].Shape()[1:]...)
	at := 0
	if !batchFirst {
		shape[0], shape[1] = longest, len(ts)
		at = 1
	}
	out := must(tensor.Full(shape, tensor.Float(c.float(2)), ts[0].DType()))
	for i, t := range ts {
		succeed(tensor.Copy(must(must(out.Select(at, i)).Slice(0, 0, t.Size(0), 1)), t))
	}
	return out
}

func dtypeValue(d tensor.DType) value.Value { return value.Int(int64(d)) }

func resultTypeOf(c call) value.Value {
	r := tensor.NewResultType()
	for i := range 2 {
		if o := c.operand(i); o.tensor != nil {
			r.Tensor(o.tensor)
		} else {
			r.Scalar(o.number)
		}
	}
	return dtypeValue(r.DType())
}

// scattered defines an operator that gives a copy of self with src written into a view of it.
func scattered(name string, view func(c call, t *tensor.Tensor) (*tensor.Tensor, error)) definition {
	return giving(name, func(c call) *tensor.Tensor {
		out := must(c.tensor(0).Clone(tensor.ContiguousFormat))
		v := must(view(call{args: append([]value.Value{value.OfTensor(out)}, c.args[2:]...)}, out))
		src := c.tensor(1)
		check(tensor.SameShape(v.Shape(), src.Shape()), "expected src to have a size equal to the slice of self. src size = %s, slice size = %s", shapeText(src.Shape()), shapeText(v.Shape()))
		succeed(tensor.Copy(v, src))
		return out
	})
}

// casts defines _cast_Byte and its kin.
func casts() []definition {
	var defs []definition
	for d := tensor.Uint8; d <= tensor.Float64; d++ {
		defs = append(defs, giving("_cast_"+d.CppName(), func(c call) *tensor.Tensor { return to(c.tensor(0), d) }))
	}
	return defs
}

// dunders defines __iand__ and its kin, which write their first argument.
func dunders() []definition {
	var defs []definition
	for _, e := range binaryExpressions {
		for _, name := range e.overloads {
			if len(name) > 4 && name[:2] == "__" {
				into := twoOperands(e.op)
				defs = append(defs, define("__i"+name[2:], func(c call) {
					into(c, c.tensor(0))
					c.giveSelf()
				}))
			}
		}
	}
	return defs
}

var calculusFamily = slices.Concat(
	trapezoid("trapz", totalAlong), trapezoid("trapezoid", totalAlong), trapezoid("cumulative_trapezoid", runningAlong), casts(), dunders(),
	[]definition{
		giving("cov", covariance),
		giving("corrcoef", func(c call) *tensor.Tensor { return correlation(c.tensor(0)) }),
		gradientOf("gradient.scalarint", 2, oneSpacing),
		gradientOf("gradient.scalararray", 2, oneSpacing),
		gradientOf("gradient.array", 1, func(_ call, n int) ([]float64, []*tensor.Tensor) { return slices.Repeat([]float64{1}, n), nil }),
		gradientOf("gradient.scalarrayint", 2, func(c call, n int) ([]float64, []*tensor.Tensor) { return c.floats(1), nil }),
		gradientOf("gradient.scalarrayarray", 2, func(c call, n int) ([]float64, []*tensor.Tensor) { return c.floats(1), nil }),
		gradientOf("gradient.tensorarrayint", 2, func(c call, n int) ([]float64, []*tensor.Tensor) { return nil, c.tensors(1) }),
		gradientOf("gradient.tensorarray", 2, func(c call, n int) ([]float64, []*tensor.Tensor) { return nil, c.tensors(1) }),
		isInOf("isin.Tensor_Tensor"), isInOf("isin.Tensor_Scalar"), isInOf("isin.Scalar_Tensor"),
		define("frexp.Tensor", func(c call) { c.give(pair(frexp(c.tensor(0)))...) }),
		giving("vander", func(c call) *tensor.Tensor {
			return vandermonde(c.tensor(0), c.intOr(1, c.tensor(0).Numel()), c.bool(2))
		}),
		giving("linalg_vander", func(c call) *tensor.Tensor {
			x := c.tensor(0)
			return vandermonde(x, c.intOr(1, x.Size(x.Dim()-1)), true)
		}),
		giving("combinations", combinations),
		giving("cartesian_prod", func(c call) *tensor.Tensor {
			ts := c.tensors(0)
			check(len(ts) > 0, "cartesian_prod: expected a non-empty list of Tensors")
			if len(ts) == 1 {
				return ts[0]
			}
			grids := meshgrid(ts, false)
			for i := range grids {
				grids[i] = must(grids[i].Reshape(-1))
			}
			return stack(grids, 1)
		}),
		giving("pad_sequence", padSequences),
		answering("can_cast", func(c call) value.Value {
			return value.Bool(tensor.CanCast(c.dtypeOr(0, tensor.NoDType), c.dtypeOr(1, tensor.NoDType)))
		}),
		answering("promote_types", func(c call) value.Value {
			return dtypeValue(tensor.Promote(c.dtypeOr(0, tensor.NoDType), c.dtypeOr(1, tensor.NoDType)))
		}),
		answering("result_type.Tensor", resultTypeOf),
		answering("result_type.Scalar", resultTypeOf),
		answering("result_type.Scalar_Tensor", resultTypeOf),
		answering("result_type.Scalar_Scalar", resultTypeOf),
		scattered("select_scatter", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Select(c.int(1), c.int(2)) }),
		scattered("slice_scatter", sliceView),
		scattered("diagonal_scatter", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
			return t.Diagonal(c.int(1), c.int(2), c.int(3))
		}),
		scattered("as_strided_scatter", asStrided),
		define("fill_diagonal_", func(c call) {
			t := c.tensor(0)
			check(t.Dim() >= 2, "dimensions must larger than 1")
			step, n := 0, t.Size(0)
			for d := range t.Dim() {
				step += t.Strides()[d]
				n = min(n, t.Size(d))
			}
			if t.Dim() == 2 && c.bool(2) && t.Size(0) > t.Size(1) {
				check(t.IsContiguous(), "fill_diagonal_ with wrap needs a contiguous matrix")
				n = (t.Numel() + step - 1) / step
			}
			tensor.Fill(must(t.AsStrided([]int{n}, []int{step}, t.Offset())), c.scalar(1))
			c.giveSelf()
		}),
		giving("fill.Scalar", func(c call) *tensor.Tensor {
			t := must(tensor.EmptyFormat(c.tensor(0), c.tensor(0).DType(), tensor.PreserveFormat))
			tensor.Fill(t, c.scalar(1))
			return t
		}),
		giving("fill.Tensor", func(c call) *tensor.Tensor {
			t := must(tensor.EmptyFormat(c.tensor(0), c.tensor(0).DType(), tensor.PreserveFormat))
			succeed(tensor.Copy(t, c.tensor(1)))
			return t
		}),
		giving("zero", func(c call) *tensor.Tensor {
			t := must(tensor.EmptyFormat(c.tensor(0), c.tensor(0).DType(), tensor.PreserveFormat))
			tensor.Fill(t, tensor.Int(0))
			return t
		}),
		giving("prim::abs", func(c call) *tensor.Tensor { return absolute.on(c.tensor(0)) }),
		define("unique_dim_consecutive", func(c call) { giveUnique(c, true, c.ints(1)) }),
		giving("bernoulli.Tensor", func(c call) *tensor.Tensor {
			t := must(tensor.EmptyLike(c.tensor(0), c.tensor(0).DType()))
			c.generator(2).BernoulliFrom(t, must(c.tensor(1).Expand(t.Shape()...)))
			return t
		}),
		giving("special_round", func(c call) *tensor.Tensor {
			scale := math.Pow10(c.int(1))
			return roundTo.with(c.tensor(0), tensor.Float(scale))
		}),
		giving("_weight_norm", func(c call) *tensor.Tensor {
			v, g := c.tensor(0), c.tensor(1)
			return mul.on(v, div.on(g, normExcept(v, 2, c.int(2))))
		}),
		giving("norm_except_dim", func(c call) *tensor.Tensor { return normExcept(c.tensor(0), float64(c.int(1)), c.int(2)) }),
		giving("rrelu", func(c call) *tensor.Tensor { return randomLeaky(c, c.generator(4)) }),
		define("log_sigmoid_forward", func(c call) {
			c.give(logSigmoid.on(c.tensor(0)), empty([]int{0}, c.tensor(0).DType()))
		}),
		giving("linalg_vecdot", func(c call) *tensor.Tensor {
			p := mul.on(conjugate(c.tensor(0)), c.tensor(1))
			return sum(p, []int{c.int(2)}, false, p.DType())
		}),
	})

var logSigmoid = elementwise("log_sigmoid", sameType, activationExpressions[slices.IndexFunc(activationExpressions, func(a activationExpression) bool { return a.name == "log_sigmoid" })].expr)

// normExcept gives the norms over all dimensions but one.
func normExcept(v *tensor.Tensor, p float64, dim int) *tensor.Tensor {
	if dim == -1 {
		return vectorNorm(v, p, nil, false, v.DType())
	}
	var dims []int
	for d := range v.Dim() {
		if d != dim {
			dims = append(dims, d)
		}
	}
	return vectorNorm(v, p, dims, true, v.DType())
}

// randomLeaky multiplies negative elements by random slopes in training and their mean otherwise.
func randomLeaky(c call, gen *tensor.Generator) *tensor.Tensor {
	x, low, high := c.tensor(0), c.scalar(1).Float64(), c.scalar(2).Float64()
	if low > high {
		raise(source.RuntimeError, "Lower bound should be less than or equal to the upper bound")
	}
	if !c.bool(3) {
		return choose(gt.withNumber(x, 0), ofTensor(x), ofTensor(scaleBy(x, (low+high)/2)))
	}
	slopes := empty(x.Shape(), x.DType())
	gen.Uniform(slopes, low, high)
	return choose(gt.withNumber(x, 0), ofTensor(x), ofTensor(mul.on(x, slopes)))
}
