package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The gradients of normalizations read rows: of a sample, or of a channel of a sample. With the sums of a row's gradients and of their
// products with the distances from the center, that of an element is gradient*scale + distance*slope + shift.

var (
	// gradientSums adds up gradients, and their products with the distances of x from the center of the row.
	gradientSums         = &rowKernel{build: func(b builder, in, computed tensor.DType) { buildGradientSums(b, in, computed, false) }}
	weightedGradientSums = &rowKernel{build: func(b builder, in, computed tensor.DType) { buildGradientSums(b, in, computed, true) }}
	// normGradient gives the gradient of x.
	normGradient         = &rowKernel{build: func(b builder, in, computed tensor.DType) { buildNormGradient(b, in, computed, false) }}
	weightedNormGradient = &rowKernel{build: func(b builder, in, computed tensor.DType) { buildNormGradient(b, in, computed, true) }}
	// affineGradients adds a row to the gradients of weight and bias: both results are the first two inputs, too.
	affineGradients = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		weight, bias := b.Input(computed, computed), b.Input(computed, computed)
		g, x := b.Input(in, computed), b.Input(in, computed)
		center, scale := b.Input(computed, computed), b.Input(computed, computed)
		b.Output(b.Fma(b.Mul(b.Sub(x, center), scale), g, weight), computed)
		b.Output(b.Add(bias, g), computed)
	}}
)

// rowGradient reads a row of gradients, times a vector where there is one, and the distances of x from a center.
func rowGradient(b builder, in, computed tensor.DType, weighted bool) (g, distance element) {
	g = b.Input(in, computed)
	distance = b.Sub(b.Input(in, computed), b.Input(computed, computed))
	if weighted {
		g = b.Mul(g, b.Input(computed, computed))
	}
	return g, distance
}

func buildGradientSums(b builder, in, computed tensor.DType, weighted bool) {
	g, distance := rowGradient(b, in, computed, weighted)
	b.Reduce(kernel.ReduceSum, g, computed)
	b.Reduce(kernel.ReduceSum, b.Mul(g, distance), computed)
}

func buildNormGradient(b builder, in, computed tensor.DType, weighted bool) {
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
	plain, distant = empty([]int{r.rows}, d), empty([]int{r.rows}, d)
	k := gradientSums
	if r.weight != nil {
		k = weightedGradientSums
	}
	p := k.program(d, d)
	alongRows(r.rows, r.n, func(from, count int) {
		var space [mostNormRows]launch.Row
		p.Rows(count, r.n, r.operands(append(space[:0], launch.SingleOf(plain).From(from), launch.SingleOf(distant).From(from)), from), nil)
	})
	return plain, distant
}

// gradient returns that of x from three numbers for each row.
func (r *normRows) gradient(scale, slope, shift *tensor.Tensor) *tensor.Tensor {
	d := r.x.DType()
	out := empty(r.x.Shape(), d)
	k := normGradient
	if r.weight != nil {
		k = weightedNormGradient
	}
	p := k.program(d, d)
	alongRows(r.rows, r.n, func(from, count int) {
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
	weight, bias = must(tensor.Zeros([]int{r.n}, d)), must(tensor.Zeros([]int{r.n}, d))
	p := affineGradients.program(d, d)
	tensor.Parallel(r.n, columnsAtOnce, func(lo, hi int) {
		at := func(t *tensor.Tensor) launch.Row { return sameRow(t, lo) }
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
			forgetMade(given[i], made[i])
		}
	}
}

// cubedTimes returns x*x*x*y times a number.
var cubedTimes = elementwise("cubedTimes", ops.SameType, func(b builder, x ...element) element {
	return b.Mul(b.Mul(b.Mul(b.Mul(x[0], x[0]), x[0]), x[1]), x[2])
})

// slopes returns what centers and distances take from the gradient where the sums of n elements of a group were taken.
func slopes(rstd, plain, distant *tensor.Tensor, n int) (slope, shift *tensor.Tensor) {
	shift = mul.on(rstd, plain)
	mul.into(shift, shift, -1/float64(n))
	return cubedTimes.run(nil, []operand{ofTensor(rstd), ofTensor(distant)}, tensor.Float(-1/float64(n))), shift
}

// layerNormGradient gives the gradients of input, weight and bias.
func layerNormGradient(c call) {
	g, x, shape, mean, rstd := c.tensor(0), c.tensor(1), c.ints(2), c.tensor(3), c.tensor(4)
	weight, d := c.optionalTensor(5), x.DType()
	weightType := d
	if weight != nil {
		weightType = weight.DType()
	}
	checkLayerNorm(x, shape, weight, c.optionalTensor(6))
	checkSameShape("grad_out", g, x)
	rows := numelOf(x.Shape()[:x.Dim()-len(shape)])
	checkCount("mean", mean, rows)
	checkCount("rstd", rstd, rows)
	defer normWork(kernel.ComputeType(d), &g, &x, &mean, &rstd, &weight)()
	r := &normRows{g: g, x: x, n: numelOf(shape), rows: rows, center: mean, weight: weight}
	if x.Numel() == 0 {
		c.giveMasked(7, zeros(x.Shape(), d), zeros(shape, weightType), zeros(shape, weightType))
		return
	}
	var ofInput, ofWeight, ofBias *tensor.Tensor
	if c.masked(7, 0) {
		plain, distant := r.sums()
		rstd := must(rstd.Reshape(r.rows))
		slope, shift := slopes(rstd, plain, distant, r.n)
		ofInput = rounded(r.gradient(rstd, slope, shift), d)
		for _, t := range []*tensor.Tensor{plain, distant, slope, shift} {
			t.Release()
		}
	}
	if c.masked(7, 1) || c.masked(7, 2) {
		ofWeight, ofBias = r.affine(rstd)
		ofWeight, ofBias = to(must(ofWeight.View(shape...)), weightType), to(must(ofBias.View(shape...)), weightType)
	}
	c.giveMasked(7, ofInput, ofWeight, ofBias)
}

// checkSameShape fails where a gradient has another shape or type than what was normalized.
func checkSameShape(name string, g, x *tensor.Tensor) {
	check(tensor.SameShape(g.Shape(), x.Shape()), "Expected %s to have the shape of the input, but got %s of shape %s and input of shape %s", name, name, shapeText(g.Shape()), shapeText(x.Shape()))
	checkType(x, g)
}

// checkCount fails where a tensor, or nil, has not n elements.
func checkCount(name string, t *tensor.Tensor, n int) {
	check(t == nil || t.Numel() == n, "Expected %s to have %d elements, but got %d", name, n, numelOr(t))
	if t != nil {
		checkFloating("normalization", t)
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
func channelsOf(g, x, center *tensor.Tensor, made *scratch) channelGradients {
	samples, channels := x.Size(0), x.Size(1)
	if n := x.Numel() / (samples * channels); n > 1 {
		return &channelRows{normRows{g: g, x: x, n: n, rows: samples * channels, center: made.of(perRow(center, samples))}, samples, made}
	}
	return &channelColumns{g, x, center, made}
}

// channelRows has a row for each channel of each sample.
type channelRows struct {
	normRows
	samples int
	made    *scratch
}

func (c *channelRows) sums() (plain, distant *tensor.Tensor) {
	plain, distant = c.normRows.sums()
	return overSamples(c.made.of(plain), c.samples), overSamples(c.made.of(distant), c.samples)
}

func (c *channelRows) gradient(scale, slope, shift *tensor.Tensor) *tensor.Tensor {
	ofRows := func(t *tensor.Tensor) *tensor.Tensor { return c.made.of(perRow(t, c.samples)) }
	return c.normRows.gradient(ofRows(scale), ofRows(slope), ofRows(shift))
}

// channelColumns has a row for each sample, with one element for each channel.
type channelColumns struct {
	g, x, center *tensor.Tensor
	made         *scratch
}

// samplesAtOnce are added up one after the other; then the sums are, so that little is lost by rounding.
const samplesAtOnce = 128

func (c *channelColumns) sums() (plain, distant *tensor.Tensor) {
	samples, channels, d := c.x.Size(0), c.x.Size(1), c.x.DType()
	parts := (samples + samplesAtOnce - 1) / samplesAtOnce
	plain, distant = c.made.of(zeros([]int{parts, channels}, d)), c.made.of(zeros([]int{parts, channels}, d))
	one := c.made.of(must(tensor.Full([]int{channels}, tensor.Int(1), d)))
	p := affineGradients.program(d, d)
	tensor.Parallel(parts, 1, func(lo, hi int) {
		for part := lo; part < hi; part++ {
			from := part * samplesAtOnce
			products, sums := sameRow(distant, part*channels), sameRow(plain, part*channels)
			p.Rows(min(samplesAtOnce, samples-from), channels, []launch.Row{products, sums, products, sums,
				launch.RowOf(c.g, channels).From(from), launch.RowOf(c.x, channels).From(from), sameRow(c.center, 0), sameRow(one, 0)}, nil)
		}
	})
	return overSamples(plain, parts), overSamples(distant, parts)
}

func (c *channelColumns) gradient(scale, slope, shift *tensor.Tensor) *tensor.Tensor {
	samples, channels, d := c.x.Size(0), c.x.Size(1), c.x.DType()
	out := empty(c.x.Shape(), d)
	p := normGradient.program(d, d)
	alongRows(samples, channels, func(from, count int) {
		row := func(t *tensor.Tensor) launch.Row { return launch.RowOf(t, channels).From(from) }
		p.Rows(count, channels, []launch.Row{row(out), row(c.g), row(c.x), sameRow(c.center, 0), sameRow(scale, 0), sameRow(slope, 0), sameRow(shift, 0)}, nil)
	})
	return out
}

// perRow repeats numbers of channels for each sample.
func perRow(ofChannels *tensor.Tensor, samples int) *tensor.Tensor {
	row := must(ofChannels.View(1, -1))
	defer row.Release()
	rows := must(row.Expand(samples, ofChannels.Numel()))
	repeated := contiguous(rows)
	if repeated != rows {
		rows.Release()
	}
	return shownAs(repeated, -1)
}

// overSamples adds up numbers of the channels of each sample.
func overSamples(ofRows *tensor.Tensor, samples int) *tensor.Tensor {
	bySample := must(ofRows.View(samples, -1))
	defer bySample.Release()
	return sum(bySample, []int{0}, false, ofRows.DType())
}

// batchNormGradient gives the gradients of input, weight and bias.
func batchNormGradient(c call) {
	g, x, weight := c.tensor(0), c.tensor(1), c.optionalTensor(2)
	training, d, weightType := c.bool(7), x.DType(), kernel.ComputeType(x.DType())
	if weight != nil {
		weightType = weight.DType()
	}
	check(x.Dim() >= 2, "native_batch_norm_backward: expected at least 2D input (got %dD input)", x.Dim())
	checkFloating("batch_norm_backward", x)
	checkSameShape("grad_out", g, x)
	channels := x.Size(1)
	checkCount("weight", weight, channels)
	if x.Numel() == 0 {
		c.giveMasked(9, zeros(x.Shape(), d), zeros([]int{channels}, weightType), zeros([]int{channels}, weightType))
		return
	}
	mean, rstd := c.optionalTensor(5), c.optionalTensor(6)
	if !training {
		variance := c.tensor(4)
		checkCount("running_var", variance, channels)
		mean, rstd = c.tensor(3), inverseDeviation(to(variance, kernel.ComputeType(variance.DType())), c.float(8))
	}
	check(mean != nil && rstd != nil, "native_batch_norm_backward: save_mean and save_invstd must be given where train is true")
	checkCount("the mean", mean, channels)
	checkCount("the inverse deviation", rstd, channels)
	defer normWork(kernel.ComputeType(d), &g, &x, &weight, &mean, &rstd)()
	var made scratch
	defer made.release()
	all := channelsOf(g, x, mean, &made)
	var plain, distant, ofInput, ofWeight, ofBias *tensor.Tensor
	if training || c.masked(9, 1) || c.masked(9, 2) {
		plain, distant = all.sums()
		made.of(distant)
		ofWeight, ofBias = rounded(mul.on(distant, rstd), weightType), to(plain, weightType)
		made.copied(plain, ofBias)
	}
	if c.masked(9, 0) {
		var slope, shift *tensor.Tensor
		if training {
			slope, shift = slopes(rstd, plain, distant, x.Numel()/channels)
		} else {
			slope, shift = zeros([]int{channels}, x.DType()), zeros([]int{channels}, x.DType())
		}
		made.of(slope)
		made.of(shift)
		weighted := func(t *tensor.Tensor) *tensor.Tensor {
			if weight == nil {
				return t
			}
			return made.of(mul.on(t, weight))
		}
		ofInput = rounded(all.gradient(weighted(rstd), weighted(slope), weighted(shift)), d)
	}
	c.giveMasked(9, ofInput, ofWeight, ofBias)
}

// groupNormGradient gives the gradients of input, weight and bias.
func groupNormGradient(c call) {
	g, x, mean, rstd, weight := c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(3), c.optionalTensor(4)
	samples, channels, groups, d := c.int(5), c.int(6), c.int(8), x.DType()
	checkGroups(x, weight, nil, samples, channels, c.int(7), groups)
	check(g.Numel() == x.Numel() && g.DType() == d, "Expected dY.numel() == N * C * HxW to be true, but got false.")
	check(mean.Numel() == samples*groups, "Expected mean.numel() == N * group to be true, but got false.")
	check(rstd.Numel() == samples*groups, "Expected rstd.numel() == N * group to be true, but got false.")
	g = must(g.Reshape(x.Shape()...))
	weightType := d
	if weight != nil {
		weightType = weight.DType()
	}
	if x.Numel() == 0 {
		c.giveMasked(9, zeros(x.Shape(), d), zeros([]int{channels}, weightType), zeros([]int{channels}, weightType))
		return
	}
	defer normWork(kernel.ComputeType(d), &g, &x, &mean, &rstd, &weight)()
	grouped := []int{samples, groups, channels / groups}
	ofChannels := func(t *tensor.Tensor) *tensor.Tensor { // from numbers of groups
		return must(contiguous(must(must(t.Reshape(samples, groups, 1)).Expand(grouped...))).View(-1))
	}
	scale := ofChannels(rstd)
	r := &normRows{g: g, x: x, n: c.int(7), rows: samples * channels, center: ofChannels(mean)}
	plain, distant := r.sums()
	var ofInput *tensor.Tensor
	if c.masked(9, 0) {
		weighted := func(t *tensor.Tensor) *tensor.Tensor {
			if weight == nil {
				return t
			}
			return mul.on(t, perRow(weight, samples))
		}
		ofGroups := func(t *tensor.Tensor) *tensor.Tensor {
			return sum(must(weighted(t).View(grouped...)), []int{2}, false, t.DType())
		}
		slope, shift := slopes(must(rstd.Reshape(samples, groups)), ofGroups(plain), ofGroups(distant), channels/groups*r.n)
		ofInput = to(must(r.gradient(weighted(scale), ofChannels(slope), ofChannels(shift)).View(x.Shape()...)), d)
	}
	c.giveMasked(9, ofInput, to(overSamples(mul.on(distant, scale), samples), weightType), to(overSamples(plain, samples), weightType))
}

// masked reports whether result j is asked for.
func (c call) masked(i, j int) bool {
	items := c.args[i].List().Items
	check(len(items) == len(c.out), "Tried to convert a List with %d elements to a fixed-size array of size %d", len(items), len(c.out))
	return items[j].Bool()
}

// giveMasked returns the results that are asked for by argument i.
func (c call) giveMasked(i int, ts ...*tensor.Tensor) {
	for j, t := range ts {
		if c.out[j] = value.None; c.masked(i, j) {
			c.out[j] = value.OfTensor(t)
		}
	}
}

var normGradientFamily = []definition{
	define("native_layer_norm_backward", layerNormGradient),
	define("native_batch_norm_backward", batchNormGradient),
	define("native_group_norm_backward", groupNormGradient),
}
