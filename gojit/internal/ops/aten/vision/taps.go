package vision

import (
	"iter"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// taps are the inputs that a stretch of the outputs along one dimension are made of, those of one output behind those of another.
type taps struct {
	first   int   // the number of the first output
	ends    []int // behind the inputs of each output, where they may differ in number
	inputs  []int
	weights []float64
	each    int // inputs that every output has, 0 where they may differ
}

// span is a part of a list.
type span struct{ lo, hi int }

// begin empties the list for outputs from one on.
func (t *taps) begin(first int) {
	*t = taps{first, t.ends[:0], t.inputs[:0], t.weights[:0], 0}
}

// add gives the output that is being listed one more input.
func (t *taps) add(input int, weight float64) {
	t.inputs, t.weights = append(t.inputs, input), append(t.weights, weight)
}

// fixed makes room for the outputs from lo to hi of each inputs, which the caller sets.
func (t *taps) fixed(lo, hi, each int) (inputs []int, weights []float64) {
	n := (hi - lo) * each
	t.inputs, t.weights, t.each = slices.Grow(t.inputs, n)[:n], slices.Grow(t.weights, n)[:n], each
	return t.inputs, t.weights
}

// end is called behind the inputs of each output.
func (t *taps) end() { t.ends = append(t.ends, len(t.inputs)) }

// len is the number of outputs.
func (t *taps) len() int {
	if t.each > 0 {
		return len(t.inputs) / t.each
	}
	return len(t.ends)
}

// of tells where the inputs of an output are, counted from the first one.
func (t *taps) of(i int) span {
	switch {
	case t.each > 0:
		return span{i * t.each, (i + 1) * t.each}
	case i == 0:
		return span{0, t.ends[0]}
	}
	return span{t.ends[i-1], t.ends[i]}
}

func (t *taps) inputsOf(i int) []int {
	own := t.of(i)
	return t.inputs[own.lo:own.hi]
}

// part is the outputs from lo to hi alone.
func (t *taps) part(lo, hi int) *taps {
	from, to := t.of(lo).lo, t.of(hi-1).hi
	p := &taps{t.first + lo, nil, t.inputs[from:to], t.weights[from:to], t.each}
	if t.each > 0 {
		return p
	}
	p.ends = make([]int, hi-lo)
	for i := range p.ends {
		p.ends[i] = t.ends[lo+i] - from
	}
	return p
}

// transposed lists, for each of n inputs, the outputs that it is a part of.
func (t *taps) transposed(n int) *taps {
	back := &taps{ends: define.Table[int](n), inputs: define.Table[int](len(t.inputs)), weights: define.Table[float64](len(t.inputs))}
	for _, input := range t.inputs {
		back.ends[input]++
	}
	begin := 0
	for input, count := range back.ends {
		back.ends[input] = begin
		begin += count
	}
	var watch parallel.Watch
	for i := range t.len() {
		own := t.of(i)
		watch.Did(own.hi - own.lo)
		for k := own.lo; k < own.hi; k++ {
			at := &back.ends[t.inputs[k]]
			back.inputs[*at], back.weights[*at] = i, t.weights[k]
			*at++
		}
	}
	return back
}

// axis is a dimension that is resampled, or the gradient of whose outputs goes back to its inputs.
type axis struct {
	scheme
	in, out int
	scale   float64
	back    bool
}

func newAxis(how scheme, in, out int, given float64, alignCorners bool) axis {
	return axis{scheme: how, in: in, out: out, scale: pixelScale(in, out, given, alignCorners)}
}

// made is how many elements are made.
func (a *axis) made() int {
	if a.back {
		return a.in
	}
	return a.out
}

// list fills t with the outputs from lo to hi.
func (a *axis) list(t *taps, lo, hi int) {
	t.begin(lo)
	a.taps(t, lo, hi, a.in, a.scale)
}

// all is one list of all that is made.
func (a *axis) all() *taps {
	t := new(taps)
	define.Room(40, a.out)
	a.list(t, 0, a.out)
	if a.back {
		return t.transposed(a.in)
	}
	return t
}

// stretches lists what is made, some elements at a time. A list is good until the next.
func (a *axis) stretches(size int) iter.Seq[*taps] {
	return func(yield func(*taps) bool) {
		if a.back {
			all := a.all()
			for lo := 0; lo < a.in; lo += size {
				if !yield(all.part(lo, min(lo+size, a.in))) {
					return
				}
			}
			return
		}
		t := new(taps)
		var watch parallel.Watch
		for lo := 0; lo < a.out; lo += size {
			watch.Did(size)
			if a.list(t, lo, min(lo+size, a.out)); !yield(t) {
				return
			}
		}
	}
}

// lineStretch is how many elements along lines are listed at a time.
const lineStretch = 1 << 9

// mixLines makes lines whose elements lie side by side.
func mixLines[T float32 | float64](out, x *tensor.Tensor, a *axis, lines int) {
	to, from, in, made := tensor.Data[T](out), tensor.Data[T](x), x.Numel()/lines, a.made()
	if a.between != nil {
		mixBetween(to, from, a, lines)
		return
	}
	if a.back && a.picks != nil {
		picked := a.picks(a.in, a.out, a.scale)
		defer picked.Release()
		places := indexing.ShownAsInts(picked)
		parallel.For(lines, define.RowGrain/(a.out+a.in)+1, func(lo, hi int) {
			clear(to[lo*made : hi*made])
			for line := lo; line < hi; line++ {
				line, g := to[line*made:(line+1)*made], from[line*in:(line+1)*in]
				for begin, end := range parallel.Stretches(len(g)) {
					for i, place := range places[begin:end] {
						line[place] += g[begin+i]
					}
				}
			}
		})
		return
	}
	if a.back {
		parallel.For(lines, define.RowGrain/(a.out+a.in)+1, func(lo, hi int) {
			clear(to[lo*made : hi*made])
			w := lineWork[T]{axis: a}
			for at := 0; at < a.out; at += lineStretch {
				w.list(&w.listed, at, min(at+lineStretch, a.out))
				w.setWeights()
				for line := lo; line < hi; line++ {
					w.addBack(to[line*made:(line+1)*made], from[line*in+at:])
				}
			}
		})
		return
	}
	parallel.For((made+lineStretch-1)/lineStretch, define.RowGrain/(lineStretch*lines)+1, func(lo, hi int) {
		w := lineWork[T]{axis: a}
		for at := lo * lineStretch; at < min(hi*lineStretch, made); at += lineStretch {
			end := min(at+lineStretch, made)
			w.list(&w.listed, at, end)
			w.setWeights()
			for line := range lines {
				w.watch.Did(len(w.listed.inputs))
				w.mix(to[line*made+at:line*made+end], from[line*in:(line+1)*in])
			}
		}
	})
}

// mixBetween is mixLines of outputs that lie between two inputs.
func mixBetween[T float32 | float64](to, from []T, a *axis, lines int) {
	places := a.between(a.in, a.out, a.scale, tensor.DTypeOf[T]())
	defer places.release()
	low, own, next := indexing.ShownAsInts(places.low), tensor.Data[T](places.ownShare), tensor.Data[T](places.nextShare)
	if a.back {
		parallel.For(lines, define.RowGrain/(a.out+a.in)+1, func(lo, hi int) {
			clear(to[lo*a.in : hi*a.in])
			for line := lo; line < hi; line++ {
				line, g := to[line*a.in:(line+1)*a.in], from[line*a.out:(line+1)*a.out]
				for begin, end := range parallel.Stretches(a.out) {
					for i := begin; i < end; i++ {
						k, v := low[i], g[i]
						line[k] += v * own[i]
						line[min(k+1, a.in-1)] += v * next[i]
					}
				}
			}
		})
		return
	}
	parallel.For(a.out, define.RowGrain/lines+1, func(lo, hi int) {
		var watch parallel.Watch
		for line := range lines {
			watch.Did(hi - lo)
			line, x := to[line*a.out:(line+1)*a.out], from[line*a.in:(line+1)*a.in]
			last, _ := slices.BinarySearch(low[lo:hi], a.in-1) // these have no next input
			mixPairs(line[lo:lo+last], x, low[lo:], own[lo:], next[lo:])
			for i := lo + last; i < hi; i++ {
				line[i] = x[a.in-1]*own[i] + x[a.in-1]*next[i]
			}
		}
	})
}

// mixPairs makes outputs of the inputs at low, which are not the last, and those behind them.
func mixPairs[T float32 | float64](to, x []T, low []int, own, next []T) {
	low, own, next = low[:len(to)], own[:len(to)], next[:len(to)]
	base, size := unsafe.Pointer(unsafe.SliceData(x)), int(unsafe.Sizeof(x[0]))
	for i := range to {
		pair := (*[2]T)(unsafe.Add(base, low[i]*size))
		to[i] = pair[0]*own[i] + pair[1]*next[i]
	}
}

// lineWork is the work of a thread on lines.
type lineWork[T float32 | float64] struct {
	*axis
	listed  taps
	weights []T
	watch   parallel.Watch
}

func (w *lineWork[T]) setWeights() {
	if weights, same := any(w.listed.weights).([]T); same {
		w.weights = weights
		return
	}
	w.weights = slices.Grow(w.weights[:0], len(w.listed.weights))[:len(w.listed.weights)]
	for i, weight := range w.listed.weights {
		w.weights[i] = T(weight)
	}
}

// mix makes the listed elements of a line.
func (w *lineWork[T]) mix(to, from []T) {
	switch w.listed.each {
	case 1:
		for i, input := range w.listed.inputs[:len(to)] {
			to[i] = from[input] * w.weights[i]
		}
	case 2:
		inputs, weights := grouped[[2]int](w.listed.inputs, len(to)), grouped[[2]T](w.weights, len(to))
		for i := range to {
			k, f := &inputs[i], &weights[i]
			to[i] = from[k[0]]*f[0] + from[k[1]]*f[1]
		}
	case 4:
		inputs, weights := grouped[[4]int](w.listed.inputs, len(to)), grouped[[4]T](w.weights, len(to))
		for i := range to {
			k, f := &inputs[i], &weights[i]
			to[i] = from[k[0]]*f[0] + from[k[1]]*f[1] + (from[k[2]]*f[2] + from[k[3]]*f[3])
		}
	default:
		at := 0
		for i, end := range w.listed.ends {
			inputs, weights := w.listed.inputs[at:end], w.weights[at:end]
			weights = weights[:len(inputs)]
			var total T
			k := 0
			if len(inputs)%2 != 0 {
				total, k = from[inputs[0]]*weights[0], 1
			}
			for ; k+1 < len(inputs); k += 2 {
				total += from[inputs[k]]*weights[k] + from[inputs[k+1]]*weights[k+1]
			}
			to[i], at = total, end
		}
	}
}

// addBack adds the gradients of the listed outputs, the first of g, to those of their inputs.
func (w *lineWork[T]) addBack(to, g []T) {
	w.watch.Did(len(w.listed.inputs))
	if each := w.listed.each; each > 0 {
		for i, v := range g[:w.listed.len()] {
			for k, input := range w.listed.inputs[i*each : (i+1)*each] {
				to[input] += v * w.weights[i*each+k]
			}
		}
		return
	}
	at := 0
	for i, end := range w.listed.ends {
		v := g[i]
		for k := at; k < end; k++ {
			to[w.listed.inputs[k]] += v * w.weights[k]
		}
		at = end
	}
}

// grouped is a list as n arrays of the elements that lie side by side.
func grouped[G, T any](list []T, n int) []G {
	return unsafe.Slice((*G)(unsafe.Pointer(unsafe.SliceData(list))), n)
}
