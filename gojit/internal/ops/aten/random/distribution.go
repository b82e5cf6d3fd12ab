package random

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/special"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Random numbers of distributions with parameters for every element. The numbers that are drawn from the stream, and in which
// order, are those of PyTorch's CPU generator.

// poissonNumber draws from the Poisson distribution: by multiplying uniform numbers for small rates, else by transformed
// rejection (Hormann, "The transformed rejection method for generating Poisson random variables").
func poissonNumber(d rng.Draws, rate float64) float64 {
	switch {
	case !(rate >= 0):
		return math.NaN()
	case rate == 0:
		return 0
	case rate < 10:
		limit, product := math.Exp(-rate), 1.0
		for n := 0.0; ; n++ {
			product *= d.Uniform()
			if product <= limit {
				return n
			}
		}
	}
	root, logRate := math.Sqrt(rate), math.Log(rate)
	b := 0.931 + 2.53*root
	a := -0.059 + 0.02483*b
	inverseAlpha := 1.1239 + 1.1328/(b-3.4)
	bound := 0.9277 - 3.6224/(b-2)
	for {
		u := d.Uniform() - 0.5
		v := d.Uniform()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + rate + 0.43)
		if us >= 0.07 && v <= bound {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		g, _ := math.Lgamma(k + 1)
		if math.Log(v)+math.Log(inverseAlpha)-math.Log(a/(us*us)+b) <= -rate+k*logRate-g {
			return k
		}
	}
}

// binomialNumber draws the number of successes in count trials.
func binomialNumber(d rng.Draws, count, p float64) float64 {
	switch {
	case math.IsNaN(count) || math.IsInf(count, 1):
		return math.NaN()
	case count <= 0 || p <= 0:
		return 0
	case p >= 1:
		return count
	case p <= 0.5 && count*p >= 10:
		return binomialRejection(d, count, p)
	case p <= 0.5:
		return binomialInversion(d, count, p)
	case p > 0.5 && count*(1-p) >= 10:
		return count - binomialRejection(d, count, 1-p)
	case p > 0.5:
		return count - binomialInversion(d, count, 1-p)
	}
	return math.NaN()
}

// binomialInversion adds up the gaps between successes.
func binomialInversion(d rng.Draws, count, p float64) float64 {
	sum, n, logFailure := 0.0, 0.0, math.Log1p(-p)
	for {
		sum += math.Ceil(math.Log(d.Uniform()) / logFailure)
		if sum > count {
			return n
		}
		n++
	}
}

// binomialRejection is transformed rejection (Hormann, "The generation of binomial random variates").
func binomialRejection(d rng.Draws, count, p float64) float64 {
	deviation := math.Sqrt(count * p * (1 - p))
	b := 1.15 + 2.53*deviation
	a := -0.0873 + 0.0248*b + 0.01*p
	center := count*p + 0.5
	bound := 0.92 - 4.2/b
	odds := p / (1 - p)
	alpha := (2.83 + 5.1/b) * deviation
	m := math.Floor((count + 1) * p)
	for {
		u := d.Uniform() - 0.5
		v := d.Uniform()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + center)
		if us >= 0.07 && v <= bound {
			return k
		}
		if k < 0 || k > count {
			continue
		}
		v = math.Log(v * alpha / (a/(us*us) + b))
		limit := (m+0.5)*math.Log((m+1)/(odds*(count-m+1))) + (count+1)*math.Log((count-m+1)/(count-k+1)) +
			(k+0.5)*math.Log(odds*(count-k+1)/(k+1)) + stirling(m) + stirling(count-m) - stirling(k) - stirling(count-k)
		if v <= limit {
			return k
		}
	}
}

// stirling is what Stirling's approximation of log(k!) lacks.
func stirling(k float64) float64 {
	table := [...]float64{
		0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
		0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
	}
	if k <= 9 {
		return table[int(k)]
	}
	square := (k + 1) * (k + 1)
	return (1.0/12 - (1.0/360-1.0/1260/square)/square) / (k + 1)
}

// gammaNumber draws from the gamma distribution of scale one (Marsaglia and Tsang, "A simple method for generating gamma variables").
func gammaNumber(d rng.Draws, alpha float64) float64 {
	scale := 1.0
	if alpha < 1 {
		if alpha == 0 {
			return 0
		}
		scale = math.Pow(1-d.Uniform(), 1/alpha)
		alpha++
	}
	shift := alpha - 1.0/3
	c := 1 / math.Sqrt(9*shift)
	for {
		x := d.Normal()
		y := 1 + c*x
		for y <= 0 {
			x = d.Normal()
			y = 1 + c*x
		}
		v := y * y * y
		u := 1 - d.Uniform()
		square := x * x
		if u < 1-0.0331*square*square || math.Log(u) < 0.5*square+shift*(1-v+math.Log(v)) {
			return scale * shift * v
		}
	}
}

// distribution draws a number for each element of its parameters. entry is what the text "random_parameters" of routines calls it.
type distribution struct {
	entry  string
	number func(d rng.Draws, at []float64) float64
}

var (
	poissonNumbers  = distribution{"poisson_numbers", func(d rng.Draws, at []float64) float64 { return poissonNumber(d, at[0]) }}
	binomialNumbers = distribution{"binomial_numbers", func(d rng.Draws, at []float64) float64 { return binomialNumber(d, at[0], at[1]) }}
	gammaNumbers    = distribution{"gamma_numbers", func(d rng.Draws, at []float64) float64 { return gammaNumber(d, at[0]) }}
)

// draw gives a number for each element of the parameters, which are broadcast. Those of a device are drawn there, but by a generator that a program has made.
func (f distribution) draw(gen *rng.Generator, result tensor.DType, parameters ...*tensor.Tensor) *tensor.Tensor {
	if onDevice(parameters) && gen == rng.Default() {
		return drawWithParametersOnDevice(result, f.entry, parameters...)
	}
	both := elementwise.BroadcastTensors(parameters)
	data := make([][]float64, len(both))
	for i, p := range both {
		data[i] = tensor.Data[float64](elementwise.Contiguous(source.Must(elementwise.To(p, tensor.Float64).ToDevice(tensor.Device{}))))
	}
	out := define.Empty(both[0].Shape(), tensor.Float64)
	dst := tensor.Data[float64](out)
	gen.Draw(func(d rng.Draws) {
		at := make([]float64, len(data))
		for i := range dst {
			if i%define.RowGrain == define.RowGrain-1 {
				parallel.Look()
			}
			for j := range data {
				at[j] = data[j][i]
			}
			dst[i] = f.number(d, at)
		}
	})
	return source.Must(elementwise.To(out, result).ToDevice(parameters[0].Device()))
}

func onDevice(ts []*tensor.Tensor) bool {
	return slices.ContainsFunc(ts, func(t *tensor.Tensor) bool { return t.OnDevice() })
}

// poissonOf draws counts with the rates in a tensor. On a device nobody looks at the rates before: a negative one gives no number.
func poissonOf(c define.Call) *tensor.Tensor {
	rates := c.Tensor(0)
	define.CheckFloating("poisson_cpu", rates)
	if !rates.OnDevice() {
		for _, v := range tensor.Data[float64](elementwise.Contiguous(elementwise.To(rates, tensor.Float64))) {
			source.Check(v >= 0, "invalid Poisson rate, expected rate to be non-negative")
		}
	}
	return poissonNumbers.draw(c.Generator(1), rates.DType(), rates)
}

func binomialOf(c define.Call) *tensor.Tensor {
	source.Check(c.Tensor(0).DType().IsFloating(), "binomial only supports floating-point dtypes for count, got: %s", c.Tensor(0).DType().CppName())
	source.Check(c.Tensor(1).DType().IsFloating(), "binomial only supports floating-point dtypes for prob, got: %s", c.Tensor(1).DType().CppName())
	return binomialNumbers.draw(c.Generator(2), c.Tensor(0).DType(), c.Tensor(0), c.Tensor(1))
}

// leastNormal is the smallest normal number of the type that numbers of a distribution are computed in for results of a type, and epsilon what one is apart
// from the next number.
func leastNormal(d tensor.DType) (least, epsilon float64) {
	if d == tensor.Float64 {
		return math.SmallestNonzeroFloat64 * (1 << 52), 0x1p-52
	}
	return math.SmallestNonzeroFloat32 * (1 << 23), 0x1p-23
}

func standardGamma(c define.Call) *tensor.Tensor {
	x := c.Tensor(0)
	least, _ := leastNormal(x.DType())
	drawn := gammaNumbers.draw(c.Generator(1), tensor.Float64, x)
	return elementwise.To(define.Apply("clamp", drawn, least), x.DType())
}

// dirichlet draws vectors of positive numbers whose sum is one.
func dirichlet(c define.Call) *tensor.Tensor {
	x := c.Tensor(0)
	source.Check(x.DType().IsFloating() && x.Dim() > 0, "dirichlet only supports floating-point dtypes and at least one dimension, got: %s", x.DType().CppName())
	drawn := gammaNumbers.draw(c.Generator(1), tensor.Float64, x)
	if drawn.OnDevice() {
		least, epsilon := leastNormal(x.DType())
		parts := define.Apply("div.Tensor", drawn, define.Apply("sum.dim_IntList", drawn, []int{-1}, true))
		return elementwise.To(define.Apply("clamp", parts, least, 1-epsilon), x.DType())
	}
	data, n := tensor.Data[float64](drawn), x.Size(x.Dim()-1)
	least, epsilon := leastNormal(x.DType())
	for from := 0; from < len(data); from += n {
		row, sum := data[from:from+n], 0.0
		for _, v := range row {
			sum += v
		}
		for i := range row {
			row[i] = min(max(row[i]/sum, least), 1-epsilon)
		}
	}
	return elementwise.To(drawn, x.DType())
}

// gammaSlope is how a sample x of the gamma distribution moves with its shape a while its quantile stays: the derivative of
// the distribution function by a over the density, both with the sign turned. Where x is above a it is taken from the upper tail.
func gammaSlope(a, x float64) float64 {
	if !(a > 0 && x >= 0) || math.IsInf(a, 1) || math.IsInf(x, 1) {
		return math.NaN()
	}
	if x > 1 && x > a {
		h := 1e-4 * max(a, 1e-3)
		at := func(a float64) float64 { return math.Log(special.UpperGamma(a, x)) }
		slope := (8*(at(a+h)-at(a-h)) - (at(a+2*h) - at(a-2*h))) / (12 * h)
		lg, _ := math.Lgamma(a)
		return slope * math.Exp(at(a)-((a-1)*math.Log(x)-x-lg))
	}
	term, psi, logX := x/a, digamma(a+1), math.Log(x)
	sum := term * (psi - logX)
	for n := 1.0; n < 2000; n++ {
		psi += 1 / (a + n)
		term *= x / (a + n)
		part := term * (psi - logX)
		sum += part
		if math.Abs(part) < 1e-17*math.Abs(sum) {
			break
		}
	}
	return sum
}

// digamma is the derivative of the logarithm of the gamma function of a positive number.
func digamma(x float64) float64 {
	shift := 0.0
	for ; x < 10; x++ {
		shift -= 1 / x
	}
	y := 1 / (x * x)
	return shift + math.Log(x) - 0.5/x - y*(1./12-y*(1./120-y*(1./252-y*(1./240-y*(1./132-y*691./32760)))))
}

var DistributionFamily = []define.Definition{
	define.Giving("_standard_gamma_grad", func(c define.Call) *tensor.Tensor {
		return special.MappedPairs(elementwise.OperandOf(c, 0), elementwise.OperandOf(c, 1), gammaSlope, "slope_of_gamma")
	}).OnZeros(),
	define.Giving("poisson", poissonOf).With(ops.Def{Grad: define.ConstantGrad, Tags: ops.Constant}).OnZeros(),
	define.Giving("binomial", binomialOf).OnZeros(),
	define.Giving("_standard_gamma", standardGamma).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Mul(c.G(), c.Do("_standard_gamma_grad", c.In(0), c.Out(0))))
	})}).OnZeros(),
	define.Giving("_sample_dirichlet", dirichlet).OnZeros(),
}
