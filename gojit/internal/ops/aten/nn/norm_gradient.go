package nn

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The gradients of normalizations read rows: of a sample, or of a channel of a sample. With the sums of a row's gradients and of their
// products with the distances from the center, that of an element is gradient*scale + distance*slope + shift.

var (
	// gradientSums adds up gradients, and their products with the distances of x from the center of the row.
	gradientSums         = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { buildGradientSums(b, in, computed, false) }}
	weightedGradientSums = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { buildGradientSums(b, in, computed, true) }}
	// normGradient gives the gradient of x.
	normGradient         = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { buildNormGradient(b, in, computed, false) }}
	weightedNormGradient = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { buildNormGradient(b, in, computed, true) }}
	// affineGradients adds a row to the gradients of weight and bias: both results are the first two inputs, too.
	affineGradients = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		weight, bias := b.Input(computed, computed), b.Input(computed, computed)
		g, x := b.Input(in, computed), b.Input(in, computed)
		center, scale := b.Input(computed, computed), b.Input(computed, computed)
		b.Output(b.Fma(b.Mul(b.Sub(x, center), scale), g, weight), computed)
		b.Output(b.Add(bias, g), computed)
	}}
)

// rowGradient reads a row of gradients, times a vector where there is one, and the distances of x from a center.
func rowGradient(b elementwise.Builder, in, computed tensor.DType, weighted bool) (g, distance elementwise.Element) {
	g = b.Input(in, computed)
	distance = b.Sub(b.Input(in, computed), b.Input(computed, computed))
	if weighted {
		g = b.Mul(g, b.Input(computed, computed))
	}
	return g, distance
}

func buildGradientSums(b elementwise.Builder, in, computed tensor.DType, weighted bool) {
	g, distance := rowGradient(b, in, computed, weighted)
	b.Reduce(kernel.ReduceSum, g, computed)
	b.Reduce(kernel.ReduceSum, b.Mul(g, distance), computed)
}

func buildNormGradient(b elementwise.Builder, in, computed tensor.DType, weighted bool) {
	g, distance := rowGradient(b, in, computed, weighted)
	scale, slope, shift := b.Input(computed, computed), b.Input(computed, computed), b.Input(computed, computed)
	b.Output(b.Fma(g, scale, b.Fma(distance, slope, shift)), in)
}

// normRows are rows of n elements of gradients and of what was normalized, both contiguous and of one type.
type normRows struct {
	g, x    *tensor.Tensor
	n, rows int
	center  *tensor.Tensor // of each row
	weight  *tensor.Tensor // of each element of a row, or nil
}

// mostNormRows is how many rows a kernel has at most.
const mostNormRows = 8

// operands appends what a kernel reads behind its results.
func (r *normRows) operands(rows []launch.Row, from int) []launch.Row {
	rows = append(rows, launch.RowOf(r.g, r.n).From(from), launch.RowOf(r.x, r.n).From(from), launch.SingleOf(r.center).From(from))
	if r.weight != nil {
		rows = append(rows, launch.Row{Ptr: r.weight.DataPtr()})
	}
	return rows
}

// sums returns, for each row, the sums of gradients and of their products with distances.
func (r *normRows) sums() (plain, distant *tensor.Tensor) {
	d := r.x.DType()
	plain, distant = define.Empty([]int{r.rows}, d), define.Empty([]int{r.rows}, d)
	k := gradientSums
	if r.weight != nil {
		k = weightedGradientSums
	}
	p := k.Program(d, d)
	reduce.AlongRows(r.rows, r.n, func(from, count int) {
		var space [mostNormRows]launch.Row
		p.Rows(count, r.n, r.operands(append(space[:0], launch.SingleOf(plain).From(from), launch.SingleOf(distant).From(from)), from), nil)
	})
	return plain, distant
}

// gradient returns that of x from three numbers for each row.
func (r *normRows) gradient(scale, slope, shift *tensor.Tensor) *tensor.Tensor {
	d := r.x.DType()
	out := define.Empty(r.x.Shape(), d)
	k := normGradient
	if r.weight != nil {
		k = weightedNormGradient
	}
	p := k.Program(d, d)
	reduce.AlongRows(r.rows, r.n, func(from, count int) {
		var space [mostNormRows]launch.Row
		operands := r.operands(append(space[:0], launch.RowOf(out, r.n).From(from)), from)
		operands = append(operands, launch.SingleOf(scale).From(from), launch.SingleOf(slope).From(from), launch.SingleOf(shift).From(from))
		p.Rows(count, r.n, operands, nil)
	})
	return out
}

// affine returns the gradients of weight and bias, which are vectors along a row.
func (r *normRows) affine(scale *tensor.Tensor) (weight, bias *tensor.Tensor) {
	d := r.x.DType()
	weight, bias = source.Must(tensor.Zeros([]int{r.n}, d)), source.Must(tensor.Zeros([]int{r.n}, d))
	p := affineGradients.Program(d, d)
	parallel.For(r.n, reduce.ColumnsAtOnce, func(lo, hi int) {
		at := func(t *tensor.Tensor) launch.Row { return reduce.SameRow(t, lo) }
		part := func(t *tensor.Tensor) launch.Row {
			row := launch.RowOf(t, r.n)
			return launch.Row{Ptr: at(t).Ptr, Step: row.Step}
		}
		p.Rows(r.rows, hi-lo, []launch.Row{at(weight), at(bias), at(weight), at(bias), part(r.g), part(r.x),
			launch.SingleOf(r.center), launch.SingleOf(scale)}, nil)
	})
	return weight, bias
}

// normWork makes tensors what gradients of normalizations read: contiguous, of the type that is computed with. What it returns gives
// back the memory of copies.
func normWork(work tensor.DType, ts ...**tensor.Tensor) (forget func()) {
	var given, made []*tensor.Tensor
	for _, t := range ts {
		if *t != nil {
			given, made = append(given, *t), append(made, vectorOf(*t, work))
			*t = made[len(made)-1]
		}
	}
	return func() {
		for i := range given {
			define.ForgetMade(given[i], made[i])
		}
	}
}

// cubedTimes returns x*x*x*y times a number.
var cubedTimes = elementwise.New("cubedTimes", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	return b.Mul(b.Mul(b.Mul(b.Mul(x[0], x[0]), x[0]), x[1]), x[2])
})

// slopes returns what centers and distances take from the gradient where the sums of n elements of a group were taken.
func slopes(rstd, plain, distant *tensor.Tensor, n int) (slope, shift *tensor.Tensor) {
	shift = elementwise.Mul.On(rstd, plain)
	elementwise.Mul.Into(shift, shift, -1/float64(n))
	return cubedTimes.Run(nil, []elementwise.Operand{elementwise.OfTensor(rstd), elementwise.OfTensor(distant)}, tensor.Float(-1/float64(n))), shift
}

// layerNormGradient gives the gradients of input, weight and bias.
func layerNormGradient(c define.Call) {
	g, x, shape, mean, rstd := c.Tensor(0), c.Tensor(1), c.Ints(2), c.Tensor(3), c.Tensor(4)
	weight, d := c.OptionalTensor(5), x.DType()
	weightType := d
	if weight != nil {
		weightType = weight.DType()
	}
	checkLayerNorm(x, shape, weight, c.OptionalTensor(6))
	checkSameShape("grad_out", g, x)
	rows := define.NumelOf(x.Shape()[:x.Dim()-len(shape)])
	checkCount("mean", mean, rows)
	checkCount("rstd", rstd, rows)
	defer normWork(kernel.ComputeType(d), &g, &x, &mean, &rstd, &weight)()
	r := &normRows{g: g, x: x, n: define.NumelOf(shape), rows: rows, center: mean, weight: weight}
	if x.Numel() == 0 {
		giveMasked(c, 7, define.Zeros(x.Shape(), d), define.Zeros(shape, weightType), define.Zeros(shape, weightType))
		return
	}
	var ofInput, ofWeight, ofBias *tensor.Tensor
	if c.Masked(7, 0) {
		plain, distant := r.sums()
		rstd := source.Must(rstd.Reshape(r.rows))
		slope, shift := slopes(rstd, plain, distant, r.n)
		ofInput = elementwise.OwnTo(r.gradient(rstd, slope, shift), d)
		for _, t := range []*tensor.Tensor{plain, distant, slope, shift} {
			t.Release()
		}
	}
	if c.Masked(7, 1) || c.Masked(7, 2) {
		ofWeight, ofBias = r.affine(rstd)
		ofWeight, ofBias = elementwise.To(source.Must(ofWeight.View(shape...)), weightType), elementwise.To(source.Must(ofBias.View(shape...)), weightType)
	}
	giveMasked(c, 7, ofInput, ofWeight, ofBias)
}

// checkSameShape fails where a gradient has another shape or type than what was normalized.
func checkSameShape(name string, g, x *tensor.Tensor) {
	source.Check(tensor.SameShape(g.Shape(), x.Shape()), "Expected %s to have the shape of the input, but got %s of shape %s and input of shape %s", name, name, define.ShapeText(g.Shape()), define.ShapeText(x.Shape()))
	define.CheckType(x, g)
}

// checkCount fails where a tensor, or nil, has not n elements.
func checkCount(name string, t *tensor.Tensor, n int) {
	source.Check(t == nil || t.Numel() == n, "Expected %s to have %d elements, but got %d", name, n, numelOr(t))
	if t != nil {
		define.CheckFloating("normalization", t)
	}
}

// channelGradients are gradients and an input whose channels were normalized.
type channelGradients interface {
	// sums returns those of each channel's gradients and of their products with the distances from the channel's center.
	sums() (plain, distant *tensor.Tensor)
	// gradient returns that of the input from three numbers for each channel.
	gradient(scale, slope, shift *tensor.Tensor) *tensor.Tensor
}

// channelsOf shows the gradients and the input of a batch norm, both contiguous, with the center of each channel. The tensors that are made on the
// way are given to made.
func channelsOf(g, x, center *tensor.Tensor, made *define.Scratch) channelGradients {
	samples, channels := x.Size(0), x.Size(1)
	if n := x.Numel() / (samples * channels); n > 1 {
		return &channelRows{normRows{g: g, x: x, n: n, rows: samples * channels, center: made.Of(reduce.PerRow(center, samples))}, samples, made}
	}
	return &channelColumns{g, x, center, made}
}

// channelRows has a row for each channel of each sample.
type channelRows struct {
	normRows
	samples int
	made    *define.Scratch
}

func (c *channelRows) sums() (plain, distant *tensor.Tensor) {
	plain, distant = c.normRows.sums()
	return reduce.OverSamples(c.made.Of(plain), c.samples), reduce.OverSamples(c.made.Of(distant), c.samples)
}

func (c *channelRows) gradient(scale, slope, shift *tensor.Tensor) *tensor.Tensor {
	ofRows := func(t *tensor.Tensor) *tensor.Tensor { return c.made.Of(reduce.PerRow(t, c.samples)) }
	return c.normRows.gradient(ofRows(scale), ofRows(slope), ofRows(shift))
}

// channelColumns has a row for each sample, with one element for each channel.
type channelColumns struct {
	g, x, center *tensor.Tensor
	made         *define.Scratch
}

// samplesAtOnce are added up one after the other; then the sums are, so that little is lost by rounding.
const samplesAtOnce = 128

func (c *channelColumns) sums() (plain, distant *tensor.Tensor) {
	samples, channels, d := c.x.Size(0), c.x.Size(1), c.x.DType()
	parts := (samples + samplesAtOnce - 1) / samplesAtOnce
	plain, distant = c.made.Of(define.Zeros([]int{parts, channels}, d)), c.made.Of(define.Zeros([]int{parts, channels}, d))
	one := c.made.Of(source.Must(tensor.Full([]int{channels}, tensor.Int(1), d)))
	p := affineGradients.Program(d, d)
	parallel.For(parts, 1, func(lo, hi int) {
		for part := lo; part < hi; part++ {
			from := part * samplesAtOnce
			products, sums := reduce.SameRow(distant, part*channels), reduce.SameRow(plain, part*channels)
			p.Rows(min(samplesAtOnce, samples-from), channels, []launch.Row{products, sums, products, sums,
				launch.RowOf(c.g, channels).From(from), launch.RowOf(c.x, channels).From(from), reduce.SameRow(c.center, 0), reduce.SameRow(one, 0)}, nil)
		}
	})
	return reduce.OverSamples(plain, parts), reduce.OverSamples(distant, parts)
}

func (c *channelColumns) gradient(scale, slope, shift *tensor.Tensor) *tensor.Tensor {
	samples, channels, d := c.x.Size(0), c.x.Size(1), c.x.DType()
	out := define.Empty(c.x.Shape(), d)
	p := normGradient.Program(d, d)
	reduce.AlongRows(samples, channels, func(from, count int) {
		row := func(t *tensor.Tensor) launch.Row { return launch.RowOf(t, channels).From(from) }
		p.Rows(count, channels, []launch.Row{row(out), row(c.g), row(c.x), reduce.SameRow(c.center, 0), reduce.SameRow(scale, 0), reduce.SameRow(slope, 0), reduce.SameRow(shift, 0)}, nil)
	})
	return out
}

// checkHasChannels asks for a dimension of channels, which the forward pass needs of inputs with elements only.
func checkHasChannels(dims int) {
	source.Check(dims >= 2, "native_batch_norm_backward: expected at least 2D input (got %dD input)", dims)
}

// batchNormGradient gives the gradients of input, weight and bias.
func batchNormGradient(c define.Call) {
	g, x, weight := c.Tensor(0), c.Tensor(1), c.OptionalTensor(2)
	training, d, weightType := c.Bool(7), x.DType(), kernel.ComputeType(x.DType())
	if weight != nil {
		weightType = weight.DType()
	}
	checkHasChannels(x.Dim())
	define.CheckFloating("batch_norm_backward", x)
	checkSameShape("grad_out", g, x)
	channels := x.Size(1)
	checkCount("weight", weight, channels)
	if x.Numel() == 0 {
		giveMasked(c, 9, define.Zeros(x.Shape(), d), define.Zeros([]int{channels}, weightType), define.Zeros([]int{channels}, weightType))
		return
	}
	mean, rstd := c.OptionalTensor(5), c.OptionalTensor(6)
	if !training {
		variance := c.Tensor(4)
		checkCount("running_var", variance, channels)
		mean, rstd = c.Tensor(3), inverseDeviation(elementwise.To(variance, kernel.ComputeType(variance.DType())), c.Float(8))
	}
	source.Check(mean != nil && rstd != nil, "native_batch_norm_backward: save_mean and save_invstd must be given where train is true")
	checkCount("the mean", mean, channels)
	checkCount("the inverse deviation", rstd, channels)
	defer normWork(kernel.ComputeType(d), &g, &x, &weight, &mean, &rstd)()
	var made define.Scratch
	defer made.Release()
	all := channelsOf(g, x, mean, &made)
	var plain, distant, ofInput, ofWeight, ofBias *tensor.Tensor
	if training || c.Masked(9, 1) || c.Masked(9, 2) {
		plain, distant = all.sums()
		made.Of(distant)
		ofWeight, ofBias = elementwise.OwnTo(elementwise.Mul.On(distant, rstd), weightType), elementwise.To(plain, weightType)
		made.Copied(plain, ofBias)
	}
	if c.Masked(9, 0) {
		var slope, shift *tensor.Tensor
		if training {
			slope, shift = slopes(rstd, plain, distant, x.Numel()/channels)
		} else {
			slope, shift = define.Zeros([]int{channels}, x.DType()), define.Zeros([]int{channels}, x.DType())
		}
		made.Of(slope)
		made.Of(shift)
		weighted := func(t *tensor.Tensor) *tensor.Tensor {
			if weight == nil {
				return t
			}
			return made.Of(elementwise.Mul.On(t, weight))
		}
		ofInput = elementwise.OwnTo(all.gradient(weighted(rstd), weighted(slope), weighted(shift)), d)
	}
	giveMasked(c, 9, ofInput, ofWeight, ofBias)
}

// groupNormGradient gives the gradients of input, weight and bias.
func groupNormGradient(c define.Call) {
	g, x, mean, rstd, weight := c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Tensor(3), c.OptionalTensor(4)
	samples, channels, groups, d := c.Int(5), c.Int(6), c.Int(8), x.DType()
	checkGroups(x, weight, nil, samples, channels, c.Int(7), groups)
	source.Check(g.Numel() == x.Numel() && g.DType() == d, "Expected dY.numel() == N * C * HxW to be true, but got false.")
	source.Check(mean.Numel() == samples*groups, "Expected mean.numel() == N * group to be true, but got false.")
	source.Check(rstd.Numel() == samples*groups, "Expected rstd.numel() == N * group to be true, but got false.")
	g = source.Must(g.Reshape(x.Shape()...))
	weightType := d
	if weight != nil {
		weightType = weight.DType()
	}
	if x.Numel() == 0 {
		giveMasked(c, 9, define.Zeros(x.Shape(), d), define.Zeros([]int{channels}, weightType), define.Zeros([]int{channels}, weightType))
		return
	}
	defer normWork(kernel.ComputeType(d), &g, &x, &mean, &rstd, &weight)()
	grouped := []int{samples, groups, channels / groups}
	ofChannels := func(t *tensor.Tensor) *tensor.Tensor { // from numbers of groups
		return source.Must(elementwise.Contiguous(source.Must(source.Must(t.Reshape(samples, groups, 1)).Expand(grouped...))).View(-1))
	}
	scale := ofChannels(rstd)
	r := &normRows{g: g, x: x, n: c.Int(7), rows: samples * channels, center: ofChannels(mean)}
	plain, distant := r.sums()
	var ofInput *tensor.Tensor
	if c.Masked(9, 0) {
		weighted := func(t *tensor.Tensor) *tensor.Tensor {
			if weight == nil {
				return t
			}
			return elementwise.Mul.On(t, reduce.PerRow(weight, samples))
		}
		ofGroups := func(t *tensor.Tensor) *tensor.Tensor {
			return reduce.Sum(source.Must(weighted(t).View(grouped...)), []int{2}, false, t.DType())
		}
		slope, shift := slopes(source.Must(rstd.Reshape(samples, groups)), ofGroups(plain), ofGroups(distant), channels/groups*r.n)
		ofInput = elementwise.To(source.Must(r.gradient(weighted(scale), ofChannels(slope), ofChannels(shift)).View(x.Shape()...)), d)
	}
	giveMasked(c, 9, ofInput, elementwise.To(reduce.OverSamples(elementwise.Mul.On(distant, scale), samples), weightType), elementwise.To(reduce.OverSamples(plain, samples), weightType))
}

// giveMasked returns the results that are asked for by argument i.
func giveMasked(c define.Call, i int, ts ...*tensor.Tensor) {
	for j, t := range ts {
		if c.Out[j] = value.None; c.Masked(i, j) {
			c.Out[j] = value.OfTensor(t)
		}
	}
}

var NormGradientFamily = []define.Definition{
	define.Operator("native_layer_norm_backward", layerNormGradient),
	define.Operator("native_batch_norm_backward", batchNormGradient),
	define.Operator("native_group_norm_backward", groupNormGradient),
}
