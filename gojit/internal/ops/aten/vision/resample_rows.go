package vision

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/conv"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// resample changes the sizes of the last dimensions, each by itself, the last one first.
func resample(x *tensor.Tensor, sizes []int, scales []float64, alignCorners bool, how scheme) *tensor.Tensor {
	n := len(sizes)
	source.Check(x.Dim() == n+2, "Expected a %dD tensor as input, but got a %dD tensor", n+2, x.Dim())
	checkResized(x.Shape()[2:], sizes)
	if x.Size(1) == 0 {
		source.Raise(source.RuntimeError, "Non-empty %dD data tensor expected but got a tensor with sizes %s", n+2, define.ShapeText(x.Shape()))
	}
	define.Room(x.DType().Size(), slices.Concat(x.Shape()[:2], sizes)...)
	axes := make([]axis, n)
	for i, out := range sizes {
		axes[i] = newAxis(how, x.Size(i+2), out, factorOf(scales, i), alignCorners)
	}
	laid := how.layoutOf(x)
	given := laid.of(x)
	if how.picks != nil && !x.OnDevice() {
		shape, order := slices.Clone(given.Shape()), make([][]int, n+2)
		for i := range axes {
			a := &axes[i]
			places := how.picks(a.in, a.out, a.scale)
			defer places.Release()
			shape[laid.dim(i)], order[laid.dim(i)] = a.out, indexing.ShownAsInts(places)
		}
		out := define.EmptyBeside(x, shape, x.DType())
		if !x.IsHollow() {
			indexing.PickAlong(out, given, order)
		}
		return laid.back(out)
	}
	d := tensor.Float64 // whole numbers are exact in it
	if x.DType().IsFloating() {
		d = reduce.Accumulator(x.DType())
	}
	w := mixed{elementwise.To(given, d), given}
	for i := n - 1; i >= 0; i-- {
		w.mix(laid.dim(i), &axes[i])
	}
	return laid.back(elementwise.To(w.work, x.DType()))
}

// checkResized asks for sizes with elements.
func checkResized(in, out []int) {
	if slices.Min(in) > 0 && slices.Min(out) > 0 {
		return
	}
	named := func(sizes []int) string {
		var texts []string
		for i, n := range sizes {
			texts = append(texts, fmt.Sprintf("%c: %d", "DHW"[3-len(sizes)+i], n))
		}
		return strings.Join(texts, ", ")
	}
	and := ""
	if len(in) == 1 { // PyTorch's messages
		and = "and "
	}
	source.Raise(source.RuntimeError, "Input and output sizes should be greater than 0, but got input (%s) %soutput (%s)", named(in), and, named(out))
}

// resampleGradient gives the gradient of an input of resample from that of its output: each dimension is made by the transposed taps.
func resampleGradient(g *tensor.Tensor, shape []int, scales []float64, alignCorners bool, how scheme) *tensor.Tensor {
	laid := how.layoutOf(g)
	given := laid.of(g)
	w := mixed{elementwise.To(given, reduce.Accumulator(g.DType())), given}
	for i, in := range shape[2:] {
		a := newAxis(how, in, g.Size(i+2), factorOf(scales, i), alignCorners)
		a.back = true
		w.mix(laid.dim(i), &a)
	}
	return laid.back(elementwise.To(w.work, g.DType()))
}

// layout is the order of dimensions in which a tensor is resampled, and so its result laid out.
type layout struct{ channelsLast bool }

// layoutOf returns that of x where its channels are the last in memory, but for schemes that give contiguous results.
func (s *scheme) layoutOf(x *tensor.Tensor) layout {
	return layout{!s.contiguous && conv.IsChannelsLast(x)}
}

// dim is where the resized dimension i is.
func (l layout) dim(i int) int {
	if l.channelsLast {
		return i + 1
	}
	return i + 2
}

func (l layout) of(x *tensor.Tensor) *tensor.Tensor {
	if l.channelsLast {
		return source.Must(x.Permute(0, 2, 3, 1))
	}
	return x
}

func (l layout) back(x *tensor.Tensor) *tensor.Tensor {
	if l.channelsLast {
		return source.Must(x.Permute(0, 3, 1, 2))
	}
	return x
}

// factorOf returns the factor that the caller gave for a dimension, 0 for none.
func factorOf(scales []float64, d int) float64 {
	if d < len(scales) {
		return scales[d]
	}
	return 0
}

// mixed is a tensor on the way from given, which is not released, to a result.
type mixed struct{ work, given *tensor.Tensor }

// mix makes each element along a dimension of some.
func (m *mixed) mix(dim int, a *axis) {
	if m.work.OnDevice() {
		m.work = mixOnDevice(m.work, dim, a.all())
		return
	}
	next := mixAlong(m.work, dim, a)
	if m.work != m.given {
		m.work.Release()
	}
	m.work = next
}

// mixture tells what a stretch of the outputs along a dimension is made of.
type mixture struct {
	outputs int // along the dimension
	many    int // in the stretch
	runs    []mixRun
	empty   []int // outputs made of nothing
	weights *tensor.Tensor
}

// mixRun is a number of outputs, step apart, each made of as many inputs: those of the next output lie advance behind those of one.
type mixRun struct {
	first, step, count int
	from               []int // the inputs of the first output
	advance            int
	weights            int // where those of the first input are, count for each input
}

// mixtureOf finds runs among the outputs of a stretch that are period apart.
func mixtureOf(t *taps, outputs, period int, d tensor.DType) *mixture {
	m := &mixture{outputs: outputs, many: t.len()}
	weights := make([]float64, 0, len(t.weights))
	var watch parallel.Watch
	for phase := range min(period, t.len()) {
		for i := phase; i < t.len(); {
			own := t.of(i)
			r := mixRun{first: t.first + i, step: period, count: 1, from: t.inputs[own.lo:own.hi], weights: len(weights)}
			for next := i + period; next < t.len() && r.goesOn(t.inputsOf(next)); next += period {
				r.count++
			}
			watch.Did(r.count * (len(r.from) + 1))
			for k := range r.from {
				for j := range r.count {
					weights = append(weights, t.weights[t.of(i+j*period).lo+k])
				}
			}
			if len(r.from) > 0 {
				m.runs = append(m.runs, r)
			} else {
				for j := range r.count {
					m.empty = append(m.empty, t.first+i+j*period)
				}
			}
			i += r.count * period
		}
	}
	m.weights = elementwise.To(source.Must(tensor.FromSlice(weights, len(weights))), d)
	return m
}

// goesOn reports whether an output made of inputs belongs to the run.
func (r *mixRun) goesOn(inputs []int) bool {
	if len(inputs) != len(r.from) {
		return false
	}
	if r.count == 1 && len(inputs) > 0 {
		r.advance = inputs[0] - r.from[0]
	}
	for k, input := range inputs {
		if input != r.from[k]+r.count*r.advance {
			return false
		}
	}
	return true
}

// Kernels of a row: one or two rows, each times a number, and what was there before in those that add.
var (
	scaledRow = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Output(b.Mul(b.Input(in, computed), b.Input(computed, computed)), in)
	}}
	mixedRow = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { b.Output(mixedRows(b, in, computed), in) }}
	addedRow = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		total := b.Input(in, computed)
		b.Output(b.Add(total, mixedRows(b, in, computed)), in)
	}}
)

func mixedRows(b elementwise.Builder, in, computed tensor.DType) elementwise.Element {
	x, y := b.Input(in, computed), b.Input(in, computed)
	return b.Add(b.Mul(x, b.Input(computed, computed)), b.Mul(y, b.Input(computed, computed)))
}

// turnedRows is the number of lines from which those whose elements go on evenly are mixed as rows of the transposed matrix.
const turnedRows = 32

// stretch is how many outputs along a dimension are made at a time: their taps are no large table.
const stretch = 1 << 12

// mixAlong makes the elements along a dimension of x.
func mixAlong(x *tensor.Tensor, dim int, a *axis) *tensor.Tensor {
	shape := slices.Clone(x.Shape())
	shape[dim] = a.made()
	if x.IsHollow() {
		return define.EmptyBeside(x, shape, x.DType())
	}
	given := x
	x = elementwise.Contiguous(given)
	defer define.ForgetMade(given, x)
	out := define.Empty(shape, x.DType())
	outer, in, inner := define.NumelOf(shape[:dim]), x.Size(dim), define.NumelOf(shape[dim+1:])
	if outer*inner == 0 {
		return out
	}
	evenly := a.made()%in == 0 || in%a.made() == 0
	if inner == 1 && (outer < turnedRows || !evenly) {
		if x.DType() == tensor.Float64 {
			mixLines[float64](out, x, a, outer)
		} else {
			mixLines[float32](out, x, a, outer)
		}
		return out
	}
	if inner == 1 {
		rows, turned := define.Empty([]int{a.made(), outer}, x.DType()), define.Empty([]int{in, outer}, x.DType())
		transpose(turned, x, outer, in)
		mixRows(rows, turned, a, 1, in, outer)
		transpose(out, rows, a.made(), outer)
		rows.Release()
		turned.Release()
		return out
	}
	mixRows(out, x, a, outer, in, inner)
	return out
}

// transpose copies x, which has rows of columns elements, to out with the elements of a column together.
func transpose(out, x *tensor.Tensor, rows, columns int) {
	from, to := source.Must(x.View(rows, columns)), source.Must(out.View(columns, rows))
	turned := source.Must(from.T())
	source.Throw(tensor.Copy(to, turned))
	turned.Release()
	from.Release()
	to.Release()
}

// mixRows makes rows of inner elements.
func mixRows(out, x *tensor.Tensor, a *axis, outer, in, inner int) {
	period := max(1, a.made()/in)
	if period > stretch { // the outputs between two inputs are more than a stretch: neighbours are made of the same
		period = 1
	}
	for t := range a.stretches(stretch / period * period) {
		mixtureOf(t, a.made(), period, x.DType()).mix(out, x, outer, in, inner)
	}
}

// mix makes rows of n elements; outer blocks of rows lie behind each other.
func (m *mixture) mix(out, x *tensor.Tensor, outer, in, n int) {
	size, parts := x.DType().Size(), parallel.NumChunks(n, reduce.ColumnsAtOnce)
	scaled, mixed, added := scaledRow.Program(x.DType(), x.DType()), mixedRow.Program(x.DType(), x.DType()), addedRow.Program(x.DType(), x.DType())
	parallel.For(outer*parts, define.RowGrain/(m.many*min(n, reduce.ColumnsAtOnce))+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			block, from := i/parts, i%parts*reduce.ColumnsAtOnce
			w := mixing{m, scaled, mixed, added, unsafe.Add(out.DataPtr(), (block*m.outputs*n+from)*size), unsafe.Add(x.DataPtr(), (block*in*n+from)*size),
				n * size, min(reduce.ColumnsAtOnce, n-from), size}
			w.run()
		}
	})
}

// mixing is the work of mix on some columns of a block of rows, which lie stride bytes apart.
type mixing struct {
	*mixture
	scaled, mixed, added *launch.Program
	to, from             unsafe.Pointer
	stride, n, size      int
}

func (w *mixing) run() {
	for _, i := range w.empty {
		clear(unsafe.Slice((*byte)(unsafe.Add(w.to, i*w.stride)), w.n*w.size))
	}
	var watch parallel.Watch
	for i := range w.runs {
		r := &w.runs[i]
		watch.Did(len(r.from) * min(r.count*w.n, define.RowGrain))
		to, k := launch.Row{Ptr: unsafe.Add(w.to, r.first*w.stride), Step: r.step * w.stride}, 2
		if len(r.from)%2 != 0 {
			k = 1
			w.scaled.Rows(r.count, w.n, []launch.Row{to, w.row(r, 0), w.weight(r, 0)}, nil)
		} else {
			w.mixed.Rows(r.count, w.n, []launch.Row{to, w.row(r, 0), w.row(r, 1), w.weight(r, 0), w.weight(r, 1)}, nil)
		}
		for ; k < len(r.from); k += 2 {
			w.added.Rows(r.count, w.n, []launch.Row{to, to, w.row(r, k), w.row(r, k+1), w.weight(r, k), w.weight(r, k+1)}, nil)
		}
	}
}

// row returns the inputs that are number k of each output of a run, weight what they are multiplied with.
func (w *mixing) row(r *mixRun, k int) launch.Row {
	return launch.Row{Ptr: unsafe.Add(w.from, r.from[k]*w.stride), Step: r.advance * w.stride}
}

func (w *mixing) weight(r *mixRun, k int) launch.Row {
	return launch.Row{Ptr: unsafe.Add(w.weights.DataPtr(), (r.weights+k*r.count)*w.size), Step: w.size, Single: true}
}
