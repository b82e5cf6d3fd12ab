package linalg

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// neighbours gives the elements along a dimension without the first and without the last: none where there is at most one.
func neighbours(t *tensor.Tensor, dim int) (later, earlier *tensor.Tensor) {
	return source.Must(t.Slice(dim, 1, math.MaxInt, 1)), source.Must(t.Slice(dim, 0, -1, 1))
}

// trapezoids gives the products of spacing and the sum of neighbours along a dimension; without x, of half the spacing.
func trapezoids(y *tensor.Tensor, dim int, x *tensor.Tensor, dx float64) *tensor.Tensor {
	pairs := elementwise.Add.On(neighbours(y, dim))
	if x == nil {
		return elementwise.ScaleBy(pairs, dx/2)
	}
	if x.Dim() == 1 {
		x = source.Must(x.View(withOneAt(y.Dim(), dim, x.Size(0))...))
	} else if x.Dim() < y.Dim() {
		x = source.Must(x.View(slices.Concat(slices.Repeat([]int{1}, y.Dim()-x.Dim()), x.Shape())...))
	}
	return elementwise.Mul.On(pairs, elementwise.Sub.On(neighbours(x, dim))) // along dim of x too, of however many dimensions
}

// withOneAt returns a shape of ones with n at one dimension.
func withOneAt(rank, dim, n int) []int {
	shape := slices.Repeat([]int{1}, rank)
	shape[dim] = n
	return shape
}

// trapezoid defines the forms with places and with a spacing; finish adds up the parts, all of them where total.
func trapezoid(name string, total bool, finish func(parts *tensor.Tensor, dim int) *tensor.Tensor) []define.Definition {
	integral := strings.Replace(name, "trapz", "trapezoid", 1)
	dimOf := func(c define.Call) int { // counted from the first dimension; where y has none, only places are counted
		if y := c.Tensor(0); c.Args[1].IsTensor() || y.Dim() > 0 {
			return define.WrapDim(c.Int(2), y)
		}
		return c.Int(2)
	}
	isEmpty := func(c define.Call) bool { return total && c.Tensor(0).Size(dimOf(c)) == 0 }
	nothing := func(c define.Call) *tensor.Tensor { // zeros of the type of what is not there
		return define.Zeros(withoutDim(c.Tensor(0).Shape(), define.WrapDim(c.Int(2), c.Tensor(0))), c.Tensor(0).DType())
	}
	check := func(c define.Call) {
		x, which := c.Args[1], "`y`"
		if x.IsTensor() {
			which = "`x` or `y`"
		}
		if isEmpty(c) {
			return
		}
		y := c.Tensor(0)
		isBool := y.DType() == tensor.Bool || x.IsTensor() && x.Tensor().DType() == tensor.Bool
		source.Check(!isBool, "%s: received a bool input for %s, but bool is not supported", integral, which)
		if x.IsTensor() && x.Tensor().Dim() == 1 {
			source.Check(x.Tensor().Size(0) == y.Size(dimOf(c)), "%s: There must be one `x` value for each sample point", integral)
		}
	}
	return []define.Definition{
		define.Giving(name+".x", func(c define.Call) *tensor.Tensor {
			if isEmpty(c) {
				return nothing(c)
			}
			dim := dimOf(c)
			return elementwise.ScaleBy(finish(trapezoids(c.Tensor(0), dim, c.Tensor(1), 0), dim), 0.5)
		}).Checked(check),
		define.Giving(name+".dx", func(c define.Call) *tensor.Tensor {
			if isEmpty(c) {
				return nothing(c)
			}
			if y, dim := c.Tensor(0), c.Int(2); total && y.Size(dimOf(c)) > 1 { // every element, and the ends half
				ends := elementwise.Add.On(source.Must(y.Select(dim, 0)), source.Must(y.Select(dim, -1)))
				return elementwise.ScaleBy(elementwise.Sub.On(finish(y, dim), elementwise.ScaleBy(ends, 0.5)), c.Scalar(1).Float64())
			}
			return finish(trapezoids(c.Tensor(0), c.Int(2), nil, c.Scalar(1).Float64()), c.Int(2))
		}).Checked(check),
	}
}

func withoutDim(shape []int, dim int) []int { return slices.Delete(slices.Clone(shape), dim, dim+1) }

// trapz defines the older names of the forms.
func trapz() []define.Definition {
	forms := trapezoid("trapz", true, totalAlong)
	for i, other := range []string{"trapezoid.x", "trapezoid.dx"} {
		forms[i] = forms[i].With(ops.Def{Decomp: define.Emitting(other)})
	}
	return forms
}

func totalAlong(t *tensor.Tensor, dim int) *tensor.Tensor {
	return reduce.Sum(t, []int{dim}, false, reduce.SumType(t.DType()))
}

func runningAlong(t *tensor.Tensor, dim int) *tensor.Tensor {
	return reduce.SumScanner.Along(t, dim, reduce.SumType(t.DType()))
}

// checkCovariance fails where covariance would.
func checkCovariance(c define.Call) {
	x := c.Tensor(0)
	source.Check(x.Dim() <= 2, "cov(): expected input to have two or fewer dimensions but got an input with %d dimensions", x.Dim())
	source.Check(x.DType() != tensor.Bool, "cov(): bool dtype is not supported for input")
	n := 1
	if x.Dim() > 0 {
		n = x.Size(x.Dim() - 1)
	}
	check := func(name, kind string, w *tensor.Tensor, is func(tensor.DType) bool) {
		if w == nil {
			return
		}
		source.Check(w.Dim() <= 1, "cov(): expected %s to have one or fewer dimensions but got %s with %d dimensions", name, name, w.Dim())
		source.Check(is(w.DType()), "cov(): expected %s to have %s dtype but got %s with %s dtype", name, kind, name, w.DType().CppName())
		source.Check(w.Numel() == n, "cov(): expected %s to have the same numel as there are observations in the input but got %d != %d", name, w.Numel(), n)
		source.Check(n == 0 || reduce.Extreme("min", w, nil, false, true).At().Float64() >= 0, "cov(): %s cannot be negative", name)
	}
	check("fweights", "integral", c.OptionalTensor(2), tensor.DType.IsIntegral)
	check("aweights", "floating point", c.OptionalTensor(3), tensor.DType.IsFloating)
}

// covariance gives the covariances of the rows of a matrix of observations, with weights.
func covariance(c define.Call) *tensor.Tensor {
	x := c.Tensor(0)
	rows := elementwise.To(x, reduce.FloatOrDefault(x.DType()))
	if a := c.OptionalTensor(3); a != nil {
		rows = elementwise.To(rows, tensor.Promote(rows.DType(), a.DType()))
	}
	if x.Dim() < 2 {
		rows = source.Must(rows.Reshape(1, -1))
	}
	n := rows.Size(1)
	var weights *tensor.Tensor
	if f := c.OptionalTensor(2); f != nil {
		weights = elementwise.To(f, tensor.Float64)
	}
	total := float64(n)
	norm := float64(int64(n) - int64(c.Int(1))) // as integers
	if a := c.OptionalTensor(3); a != nil {
		frequencies := weights
		weights = elementwise.To(a, tensor.Float64)
		if frequencies != nil {
			weights = elementwise.Mul.On(weights, frequencies)
		}
		total = reduce.Sum(weights, nil, false, tensor.Float64).At().Float64()
		squares := reduce.Sum(elementwise.Mul.On(weights, elementwise.To(a, tensor.Float64)), nil, false, tensor.Float64).At().Float64()
		norm = total - float64(c.Int(1))*squares/total
	} else if weights != nil {
		total = reduce.Sum(weights, nil, false, tensor.Float64).At().Float64()
		norm = total - float64(c.Int(1))
	}
	var center, scaled *tensor.Tensor
	if weights == nil {
		center = reduce.Mean(rows, []int{1}, true, rows.DType())
		rows = elementwise.Sub.On(rows, center)
		scaled = rows
	} else {
		w := elementwise.To(weights, rows.DType())
		center = elementwise.ScaleBy(reduce.Sum(elementwise.Mul.On(rows, w), []int{1}, true, rows.DType()), 1/total)
		rows = elementwise.Sub.On(rows, center)
		scaled = elementwise.Mul.On(rows, w)
	}
	return source.Must(squeezeSquare(elementwise.ScaleBy(Mm(scaled, elementwise.Contiguous(elementwise.Conjugate(source.Must(rows.T())))), 1/math.Max(norm, 0))))
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
	c := covariance(define.Call{Args: []value.Value{v, value.Int(1), value.None, value.None}})
	if c.Dim() == 0 {
		return elementwise.Div.On(c, c)
	}
	d := elementwise.SquareRoot.On(source.Must(c.RealPart().Diagonal(0, 0, 1)))
	r := elementwise.Div.On(elementwise.Div.On(c, source.Must(d.Unsqueeze(1))), d)
	unit := func(t *tensor.Tensor) *tensor.Tensor {
		return elementwise.ClampBoth.Run(nil, []elementwise.Operand{elementwise.OfTensor(t), elementwise.OfScalar(tensor.Int(-1)), elementwise.OfScalar(tensor.Int(1))})
	}
	if r.DType().IsComplex() {
		re, im := unit(r.RealPart()), unit(source.Must(r.ImagPart()))
		return elementwise.MakeComplex.Run(define.Empty(r.Shape(), r.DType()), []elementwise.Operand{elementwise.OfTensor(re), elementwise.OfTensor(im)})
	}
	return unit(r)
}

// differenceSlopes estimates derivatives along dimensions by differences of second order.
func differenceSlopes(t *tensor.Tensor, dims []int, spacing []float64, coordinates []*tensor.Tensor, order int) []*tensor.Tensor {
	source.Check(order == 1 || order == 2, "torch.gradient only supports edge_order=1 and edge_order=2.")
	t = elementwise.To(t, reduce.FloatOrDefault(t.DType()))
	out := make([]*tensor.Tensor, len(dims))
	for i, d := range dims {
		d = define.WrapDim(d, t)
		n := t.Size(d)
		source.Check(n >= order+1, "torch.gradient expected each dimension size to be at least edge_order+1")
		if coordinates == nil {
			out[i] = evenSlopes(t, d, spacing[i], order)
			continue
		}
		if coordinates != nil {
			source.Check(coordinates[i].Numel() >= n, "torch.gradient expected a coordinate for each of %d elements of dimension %d, but got %d", n, d, coordinates[i].Numel())
		}
		at := make([]float64, n)
		here := source.Must(coordinates[i].ToDevice(tensor.Device{}))
		for j := range at {
			at[j] = here.At(j).Float64()
		}
		out[i] = gradientAlong(t, d, at, order)
	}
	return out
}

// evenSlopes is gradientAlong for places that are a spacing apart.
func evenSlopes(t *tensor.Tensor, dim int, spacing float64, order int) *tensor.Tensor {
	n := t.Size(dim)
	out := define.EmptyBeside(t, t.Shape(), t.DType())
	quotient := func(at, from, to, width int, spacing float64) {
		part := func(t *tensor.Tensor, at int) *tensor.Tensor { return source.Must(t.Narrow(dim, at, width)) }
		dst, behind, before := part(out, at), part(t, to), part(t, from)
		for _, view := range []*tensor.Tensor{dst, behind, before} {
			defer view.Release() // else the collector had the result's memory
		}
		elementwise.Sub.Run(dst, []elementwise.Operand{elementwise.OfTensor(behind), elementwise.OfTensor(before)})
		if spacing != 1 {
			elementwise.Div.Run(dst, []elementwise.Operand{elementwise.OfTensor(dst), elementwise.OfScalar(tensor.Float(spacing))})
		}
	}
	if n > 2 {
		quotient(1, 0, 2, n-2, 2*spacing)
	}
	if order == 1 {
		quotient(0, 0, 1, 1, spacing)
		quotient(n-1, n-2, n-1, 1, spacing)
		return out
	}
	first, last := edgeSlopes(t, dim, []float64{0, spacing, 2 * spacing}, order)
	source.Throw(tensor.Copy(source.Must(out.Narrow(dim, 0, 1)), first))
	source.Throw(tensor.Copy(source.Must(out.Narrow(dim, n-1, 1)), last))
	return out
}

// edgeSlopes estimates the derivatives at the first and the last place; at may be only the first places, if the last are as far apart.
func edgeSlopes(t *tensor.Tensor, dim int, at []float64, order int) (first, last *tensor.Tensor) {
	n := t.Size(dim)
	combine := func(terms ...any) *tensor.Tensor {
		var s *tensor.Tensor
		for i := 0; i < len(terms); i += 2 {
			p := elementwise.ScaleBy(source.Must(t.Narrow(dim, terms[i].(int), 1)), terms[i+1].(float64))
			if s == nil {
				s = p
			} else {
				s = elementwise.Add.On(s, p)
			}
		}
		return s
	}
	end := len(at) - 1
	if order == 1 {
		first = combine(0, -1/(at[1]-at[0]), 1, 1/(at[1]-at[0]))
		last = combine(n-2, -1/(at[end]-at[end-1]), n-1, 1/(at[end]-at[end-1]))
		return first, last
	}
	a, b := at[1]-at[0], at[2]-at[1]
	first = combine(0, -(2*a+b)/(a*(a+b)), 1, (a+b)/(a*b), 2, -a/(b*(a+b)))
	a, b = at[end-1]-at[end-2], at[end]-at[end-1]
	last = combine(n-3, b/(a*(a+b)), n-2, -(a+b)/(a*b), n-1, (a+2*b)/(b*(a+b)))
	return first, last
}

// gradientAlong estimates the derivatives along a dimension whose elements are at these places.
func gradientAlong(t *tensor.Tensor, dim int, at []float64, order int) *tensor.Tensor {
	n := len(at)
	first, last := edgeSlopes(t, dim, at, order)
	parts := []*tensor.Tensor{first, last}
	if n > 2 {
		parts = []*tensor.Tensor{first, slopesWithin(t, dim, at), last}
	}
	out := define.EmptyBeside(t, t.Shape(), t.DType())
	begin := 0
	for _, part := range parts {
		source.Throw(tensor.Copy(source.Must(out.Narrow(dim, begin, part.Size(dim))), part))
		begin += part.Size(dim)
	}
	return out
}

// slopesWithin estimates the derivatives at all places but the first and the last.
func slopesWithin(t *tensor.Tensor, dim int, at []float64) *tensor.Tensor {
	n := len(at) - 2
	factors := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		a, b := at[i+1]-at[i], at[i+2]-at[i+1]
		factors[0][i], factors[1][i], factors[2][i] = -b/(a*(a+b)), (b-a)/(a*b), a/(b*(a+b))
	}
	across := withOneAt(t.Dim(), dim, n)
	work := reduce.Accumulator(t.DType()) // what a number is multiplied in
	if t.DType().IsComplex() {
		work = t.DType()
	}
	var sum *tensor.Tensor
	for k := range factors {
		factor := elementwise.To(source.Must(tensor.FromSlice(factors[k], across...)), work.ToReal())
		if t.OnDevice() {
			factor = source.Must(factor.ToDevice(t.Device()))
		}
		term := elementwise.To(elementwise.Mul.On(elementwise.To(source.Must(t.Narrow(dim, k, n)), work), factor), t.DType())
		if sum == nil {
			sum = term
		} else {
			sum = elementwise.Add.On(sum, term)
		}
	}
	return sum
}

// gradientOf defines an overload: dimensions come from argument dimAt, spacings from 1 where given.
func gradientOf(name string, dimAt int, readSpacing func(c define.Call, n int) ([]float64, []*tensor.Tensor)) define.Definition {
	return define.Operator(name, func(c define.Call) {
		t := c.Tensor(0)
		dims := c.Ints(dimAt)
		if c.IsNone(dimAt) {
			for d := range t.Dim() {
				dims = append(dims, d)
			}
		}
		spacing, coordinates := readSpacing(c, len(dims))
		given := len(spacing) + len(coordinates)
		source.Check(given == len(dims) || c.IsNone(dimAt), "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same length, but got a spacing argument of length %d and a dim argument of length %d.", given, len(dims))
		source.Check(given == len(dims), "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = %d'", t.Dim())
		reduce.ReducedDims(t, dims) // which may not name one twice
		for _, x := range coordinates {
			source.Check(x.Dim() == 1, "torch.gradient expected each element of spacing to have one dimension, but got an element with %d dimensions!", x.Dim())
			source.Check(x.Device() == t.Device(), "torch.gradient expected each tensor to be on the same device, but got devices %s and %s!", t.Device(), x.Device())
		}
		c.GiveList(differenceSlopes(t, dims, spacing, coordinates, c.Int(dimAt+1)))
	})
}

func oneSpacing(c define.Call, n int) ([]float64, []*tensor.Tensor) {
	h := 1.0
	if !c.IsNone(1) {
		h = c.Scalar(1).Float64()
	}
	return slices.Repeat([]float64{h}, n), nil
}

var CalculusFamily = slices.Concat(
	trapz(), trapezoid("trapezoid", true, totalAlong), trapezoid("cumulative_trapezoid", false, runningAlong),
	[]define.Definition{
		define.Giving("cov", covariance).Checked(checkCovariance),
		define.Giving("corrcoef", func(c define.Call) *tensor.Tensor { return correlation(c.Tensor(0)) }).Checked(func(c define.Call) {
			source.Check(c.Tensor(0).Dim() <= 2, "corrcoef(): expected input to have two or fewer dimensions but got an input with %d dimensions", c.Tensor(0).Dim())
		}),
		gradientOf("gradient.scalarint", 2, oneSpacing).With(ops.Def{Grad: define.Concrete(reduce.DifferencesGrad(1, 2))}),
		gradientOf("gradient.scalararray", 2, oneSpacing).With(ops.Def{Grad: define.Concrete(reduce.DifferencesGrad(1, 2))}),
		gradientOf("gradient.array", 1, func(_ define.Call, n int) ([]float64, []*tensor.Tensor) { return slices.Repeat([]float64{1}, n), nil }).With(ops.Def{Grad: define.Concrete(reduce.DifferencesGrad(-1, 1))}),
		gradientOf("gradient.scalarrayint", 2, func(c define.Call, n int) ([]float64, []*tensor.Tensor) { return c.Floats(1), nil }).With(ops.Def{Grad: define.Concrete(reduce.DifferencesGrad(1, 2))}),
		gradientOf("gradient.scalarrayarray", 2, func(c define.Call, n int) ([]float64, []*tensor.Tensor) { return c.Floats(1), nil }).With(ops.Def{Grad: define.Concrete(reduce.DifferencesGrad(1, 2))}),
		gradientOf("gradient.tensorarrayint", 2, func(c define.Call, n int) ([]float64, []*tensor.Tensor) { return nil, c.Tensors(1) }).With(ops.Def{Grad: define.Concrete(reduce.DifferencesGrad(1, 2))}),
		gradientOf("gradient.tensorarray", 2, func(c define.Call, n int) ([]float64, []*tensor.Tensor) { return nil, c.Tensors(1) }).With(ops.Def{Grad: define.Concrete(reduce.DifferencesGrad(1, 2))}),
	})
