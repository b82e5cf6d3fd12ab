package vision

import (
	"slices"
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
	define.Room(x.DType().Size(), slices.Concat(x.Shape()[:2], sizes)...)
	taps, order := make([][][]tap, n), make([][]int, n+2)
	single := true
	for i, out := range sizes {
		in := x.Size(i + 2)
		taps[i] = how.taps(in, out, pixelScale(in, out, factorOf(scales, i), alignCorners))
		order[i+2] = singleTaps(taps[i])
		single = single && order[i+2] != nil
	}
	if single && !x.OnDevice() {
		out := define.EmptyBeside(x, slices.Concat(x.Shape()[:2], sizes), x.DType())
		if !x.IsHollow() {
			indexing.PickAlong(out, x, order)
		}
		return how.inFormatOf(out, x)
	}
	d := tensor.Float64 // whole numbers are exact in it
	if x.DType().IsFloating() {
		d = reduce.Accumulator(x.DType())
	}
	w := mixed{elementwise.To(x, d), x}
	for i := n - 1; i >= 0; i-- {
		w.mix(i+2, taps[i])
	}
	return how.inFormatOf(elementwise.To(w.work, x.DType()), x)
}

// checkResized asks for sizes with elements.
func checkResized(in, out []int) {
	isEmpty := func(n int) bool { return n <= 0 }
	source.Check(!slices.ContainsFunc(in, isEmpty) && !slices.ContainsFunc(out, isEmpty), "Input and output sizes should be greater than 0, but got input (%s) output (%s)", define.ShapeText(in), define.ShapeText(out))
}

// resampleGradient gives the gradient of an input of resample from that of its output: each dimension is made by the transposed taps.
func resampleGradient(g *tensor.Tensor, shape []int, scales []float64, alignCorners bool, how scheme) *tensor.Tensor {
	w := mixed{elementwise.To(g, reduce.Accumulator(g.DType())), g}
	for i, in := range shape[2:] {
		out := g.Size(i + 2)
		w.mix(i+2, transposed(how.taps(in, out, pixelScale(in, out, factorOf(scales, i), alignCorners)), in))
	}
	return how.inFormatOf(elementwise.To(w.work, g.DType()), g)
}

// inFormatOf lays out a result as its input, but for schemes that give contiguous results.
func (s *scheme) inFormatOf(out, like *tensor.Tensor) *tensor.Tensor {
	if s.contiguous {
		return out
	}
	return conv.KeepFormat(out, like)
}

// factorOf returns the factor that the caller gave for a dimension, 0 for none.
func factorOf(scales []float64, d int) float64 {
	if d < len(scales) {
		return scales[d]
	}
	return 0
}

// transposed returns, for each of n inputs, the outputs that it is a part of.
func transposed(taps [][]tap, n int) [][]tap {
	inputs := make([][]tap, n)
	var watch parallel.Watch
	for out, list := range taps {
		watch.Did(tapsWork)
		for _, t := range list {
			inputs[t.index] = append(inputs[t.index], tap{out, t.weight})
		}
	}
	return inputs
}

// mixed is a tensor on the way from given, which is not released, to a result.
type mixed struct{ work, given *tensor.Tensor }

// mix makes each element along a dimension of some.
func (m *mixed) mix(dim int, taps [][]tap) {
	if m.work.OnDevice() {
		m.work = mixOnDevice(m.work, dim, taps)
		return
	}
	next := mixAlong(m.work, dim, taps)
	if m.work != m.given {
		m.work.Release()
	}
	m.work = next
}

// mixture tells what the outputs along a dimension are made of.
type mixture struct {
	outputs int
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

// mixtureOf finds runs among outputs that are period apart.
func mixtureOf(taps [][]tap, period int, d tensor.DType) *mixture {
	m := &mixture{outputs: len(taps)}
	var weights []float64
	var watch parallel.Watch
	for phase := range min(period, len(taps)) {
		for i := phase; i < len(taps); {
			r := mixRun{first: i, step: period, count: 1, weights: len(weights)}
			for _, t := range taps[i] {
				r.from = append(r.from, t.index)
			}
			watch.Did(tapsWork)
			for next := i + period; next < len(taps) && r.goesOn(taps[next]); next += period {
				watch.Did(1)
				r.count++
			}
			for k := range r.from {
				watch.Did(r.count)
				for j := range r.count {
					weights = append(weights, taps[i+j*period][k].weight)
				}
			}
			if len(r.from) > 0 {
				m.runs = append(m.runs, r)
			} else {
				for j := range r.count {
					m.empty = append(m.empty, i+j*period)
				}
			}
			i += r.count * period
		}
	}
	m.weights = elementwise.To(source.Must(tensor.FromSlice(weights, len(weights))), d)
	return m
}

// goesOn reports whether an output made of list belongs to the run.
func (r *mixRun) goesOn(list []tap) bool {
	if len(list) != len(r.from) {
		return false
	}
	if r.count == 1 && len(list) > 0 {
		r.advance = list[0].index - r.from[0]
	}
	for k, t := range list {
		if t.index != r.from[k]+r.count*r.advance {
			return false
		}
	}
	return true
}

// singleTaps returns the input of each output where that is all it is made of, else nil.
func singleTaps(taps [][]tap) []int {
	index := make([]int, len(taps))
	for i, list := range taps {
		if len(list) != 1 || list[0].weight != 1 {
			return nil
		}
		index[i] = list[0].index
	}
	return index
}

// Kernels of a row: one or two rows, each times a number, and what was there before in those that add.
var (
	scaledRow = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Output(b.Mul(b.Input(in, computed), b.Input(computed, computed)), in)
	}}
	mixedRow = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { b.Output(mixRows(b, in, computed), in) }}
	addedRow = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		total := b.Input(in, computed)
		b.Output(b.Add(total, mixRows(b, in, computed)), in)
	}}
)

func mixRows(b elementwise.Builder, in, computed tensor.DType) elementwise.Element {
	x, y := b.Input(in, computed), b.Input(in, computed)
	return b.Add(b.Mul(x, b.Input(computed, computed)), b.Mul(y, b.Input(computed, computed)))
}

// turnedRows is the number of rows from which their elements are mixed as rows of the transposed matrix.
const turnedRows = 32

// mixAlong makes the elements along a dimension of x.
func mixAlong(x *tensor.Tensor, dim int, taps [][]tap) *tensor.Tensor {
	shape := slices.Clone(x.Shape())
	shape[dim] = len(taps)
	if x.IsHollow() {
		return define.EmptyBeside(x, shape, x.DType())
	}
	given := x
	x = elementwise.Contiguous(given)
	defer define.ForgetMade(given, x)
	out := define.Empty(shape, x.DType())
	if index := singleTaps(taps); index != nil {
		order := make([][]int, len(shape))
		order[dim] = index
		indexing.PickAlong(out, x, order)
		return out
	}
	in := x.Size(dim)
	m := mixtureOf(taps, max(1, len(taps)/in), x.DType())
	outer, inner := define.NumelOf(shape[:dim]), define.NumelOf(shape[dim+1:])
	if inner == 1 && outer >= turnedRows {
		rows, turned := define.Empty([]int{len(taps), outer}, x.DType()), define.Empty([]int{in, outer}, x.DType())
		transpose(turned, x, outer, in)
		m.mix(rows, turned, 1, in, outer)
		transpose(out, rows, len(taps), outer)
		rows.Release()
		turned.Release()
	} else {
		m.mix(out, x, outer, in, inner)
	}
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

// mix makes rows of n elements; outer blocks of rows lie behind each other.
func (m *mixture) mix(out, x *tensor.Tensor, outer, in, n int) {
	size, parts := x.DType().Size(), parallel.NumChunks(n, reduce.ColumnsAtOnce)
	scaled, mixed, added := scaledRow.Program(x.DType(), x.DType()), mixedRow.Program(x.DType(), x.DType()), addedRow.Program(x.DType(), x.DType())
	parallel.For(outer*parts, define.RowGrain/(m.outputs*min(n, reduce.ColumnsAtOnce))+1, func(lo, hi int) {
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
