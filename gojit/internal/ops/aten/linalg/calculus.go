package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// trapezoids gives the products of spacing and the sum of neighbours along a dimension; without x, of half the spacing.
func trapezoids(y *tensor.Tensor, dim int, x *tensor.Tensor, dx float64) *tensor.Tensor {
	check(y.Dim() > 0, "trapezoid: expected a tensor with at least one dimension")
	dim = wrapDim(dim, y)
	n := y.Size(dim)
	if n < 2 {
		shape := slices.Clone(y.Shape())
		shape[dim] = 0
		return zeros(shape, floatOrDefault(y.DType()))
	}
	pairs := add.on(must(y.Narrow(dim, 1, n-1)), must(y.Narrow(dim, 0, n-1)))
	if x == nil {
		return scaleBy(pairs, dx/2)
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

// trapezoid defines the forms with places and with a spacing; finish adds up the parts, all of them where total.
func trapezoid(name string, total bool, finish func(parts *tensor.Tensor, dim int) *tensor.Tensor) []definition {
	return []definition{
		giving(name+".x", func(c call) *tensor.Tensor {
			return scaleBy(finish(trapezoids(c.tensor(0), c.int(2), c.tensor(1), 0), c.int(2)), 0.5)
		}),
		giving(name+".dx", func(c call) *tensor.Tensor {
			if y, dim := c.tensor(0), c.int(2); total && y.Dim() > 0 && y.Size(wrapDim(dim, y)) > 1 { // every element, and the ends half
				ends := add.on(must(y.Select(dim, 0)), must(y.Select(dim, -1)))
				return scaleBy(sub.on(finish(y, dim), scaleBy(ends, 0.5)), c.scalar(1).Float64())
			}
			return finish(trapezoids(c.tensor(0), c.int(2), nil, c.scalar(1).Float64()), c.int(2))
		}),
	}
}

// trapz defines the older names of the forms.
func trapz() []definition {
	forms := trapezoid("trapz", true, totalAlong)
	for i, other := range []string{"trapezoid.x", "trapezoid.dx"} {
		forms[i] = forms[i].with(ops.Def{Decomp: emitting(other)})
	}
	return forms
}

func totalAlong(t *tensor.Tensor, dim int) *tensor.Tensor {
	return sum(t, []int{dim}, false, sumType(t.DType()))
}

func runningAlong(t *tensor.Tensor, dim int) *tensor.Tensor {
	return sumScanner.along(t, dim, sumType(t.DType()))
}

// covariance gives the covariances of the rows of a matrix of observations, with weights.
func covariance(c call) *tensor.Tensor {
	x := c.tensor(0)
	check(x.Dim() <= 2, "cov(): expected input to have two or fewer dimensions but got an input with %d dimensions", x.Dim())
	check(x.DType() != tensor.Bool, "cov(): bool dtype is not supported for input")
	rows := to(x, floatOrDefault(x.DType()))
	if a := c.optionalTensor(3); a != nil {
		rows = to(rows, tensor.Promote(rows.DType(), a.DType()))
	}
	if x.Dim() < 2 {
		rows = must(rows.Reshape(1, -1))
	}
	n := rows.Size(1)
	checkWeights := func(name string, w *tensor.Tensor) {
		check(w.Dim() <= 1, "cov(): expected %s to have one or fewer dimensions but got %s with %d dimensions", name, name, w.Dim())
		if name == "fweights" {
			check(w.DType().IsIntegral(), "cov(): expected fweights to have integral dtype but got fweights with %s dtype", w.DType().CppName())
		} else {
			check(w.DType().IsFloating(), "cov(): expected aweights to have floating point dtype but got aweights with %s dtype", w.DType().CppName())
		}
		check(w.Numel() == n, "cov(): expected %s to have the same numel as there are observations in the input but got %d != %d", name, w.Numel(), n)
		check(n == 0 || extreme("min", w, nil, false, true).At().Float64() >= 0, "cov(): %s cannot be negative", name)
	}
	var weights *tensor.Tensor
	if f := c.optionalTensor(2); f != nil {
		checkWeights("fweights", f)
		weights = to(f, tensor.Float64)
	}
	total := float64(n)
	norm := total - float64(c.int(1))
	if a := c.optionalTensor(3); a != nil {
		checkWeights("aweights", a)
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
	d := squareRoot.on(must(c.RealPart().Diagonal(0, 0, 1)))
	r := div.on(div.on(c, must(d.Unsqueeze(1))), d)
	unit := func(t *tensor.Tensor) *tensor.Tensor {
		return clampBoth.run(nil, []operand{ofTensor(t), ofScalar(tensor.Int(-1)), ofScalar(tensor.Int(1))})
	}
	if r.DType().IsComplex() {
		re, im := unit(r.RealPart()), unit(must(r.ImagPart()))
		return makeComplex.run(empty(r.Shape(), r.DType()), []operand{ofTensor(re), ofTensor(im)})
	}
	return unit(r)
}

// differenceSlopes estimates derivatives along dimensions by differences of second order.
func differenceSlopes(t *tensor.Tensor, dims []int, spacing []float64, coordinates []*tensor.Tensor, order int) []*tensor.Tensor {
	check(order == 1 || order == 2, "torch.gradient only supports edge_order=1 and edge_order=2.")
	t = to(t, floatOrDefault(t.DType()))
	out := make([]*tensor.Tensor, len(dims))
	for i, d := range dims {
		d = wrapDim(d, t)
		n := t.Size(d)
		check(n >= order+1, "torch.gradient expected each dimension size to be at least edge_order+1")
		if coordinates != nil {
			check(coordinates[i].Numel() >= n, "torch.gradient expected a coordinate for each of %d elements of dimension %d, but got %d", n, d, coordinates[i].Numel())
		}
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
		given := len(spacing) + len(coordinates)
		check(given == len(dims) || c.isNone(dimAt), "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same length, but got a spacing argument of length %d and a dim argument of length %d.", given, len(dims))
		check(given == len(dims), "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = %d'", t.Dim())
		reducedDims(t, dims) // which may not name one twice
		for _, x := range coordinates {
			check(x.Dim() == 1, "torch.gradient expected each element of spacing to have one dimension, but got an element with %d dimensions!", x.Dim())
			check(x.Device() == t.Device(), "torch.gradient expected each tensor to be on the same device, but got devices %s and %s!", t.Device(), x.Device())
		}
		c.giveList(differenceSlopes(t, dims, spacing, coordinates, c.int(dimAt+1)))
	})
}

func oneSpacing(c call, n int) ([]float64, []*tensor.Tensor) {
	h := 1.0
	if !c.isNone(1) {
		h = c.scalar(1).Float64()
	}
	return slices.Repeat([]float64{h}, n), nil
}

var calculusFamily = slices.Concat(
	trapz(), trapezoid("trapezoid", true, totalAlong), trapezoid("cumulative_trapezoid", false, runningAlong),
	[]definition{
		giving("cov", covariance),
		giving("corrcoef", func(c call) *tensor.Tensor { return correlation(c.tensor(0)) }),
		gradientOf("gradient.scalarint", 2, oneSpacing).with(ops.Def{Grad: concrete(differencesGrad(1, 2))}),
		gradientOf("gradient.scalararray", 2, oneSpacing).with(ops.Def{Grad: concrete(differencesGrad(1, 2))}),
		gradientOf("gradient.array", 1, func(_ call, n int) ([]float64, []*tensor.Tensor) { return slices.Repeat([]float64{1}, n), nil }).with(ops.Def{Grad: concrete(differencesGrad(-1, 1))}),
		gradientOf("gradient.scalarrayint", 2, func(c call, n int) ([]float64, []*tensor.Tensor) { return c.floats(1), nil }).with(ops.Def{Grad: concrete(differencesGrad(1, 2))}),
		gradientOf("gradient.scalarrayarray", 2, func(c call, n int) ([]float64, []*tensor.Tensor) { return c.floats(1), nil }).with(ops.Def{Grad: concrete(differencesGrad(1, 2))}),
		gradientOf("gradient.tensorarrayint", 2, func(c call, n int) ([]float64, []*tensor.Tensor) { return nil, c.tensors(1) }).with(ops.Def{Grad: concrete(differencesGrad(1, 2))}),
		gradientOf("gradient.tensorarray", 2, func(c call, n int) ([]float64, []*tensor.Tensor) { return nil, c.tensors(1) }).with(ops.Def{Grad: concrete(differencesGrad(1, 2))}),
	})
