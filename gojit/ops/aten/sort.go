package aten

import (
	"cmp"
	"math"
	"slices"

	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
)

// ranked gives for each row along a dimension the order of its elements, and the rows and their
// shape with that dimension last. Equal elements keep their order and a NaN is greater than any number.
type ranked struct {
	values *tensor.Tensor // rows, contiguous, in a type that can be compared
	order  [][]int        // for each row: indices from the first element in the order
	n      int
	dim    int
	source *tensor.Tensor
}

func rank(name string, t *tensor.Tensor, dim int, descending bool) ranked {
	return rankFirst(name, t, dim, -1, descending)
}

// rankFirst finds at least the first k of each row, all for -1.
func rankFirst(name string, t *tensor.Tensor, dim, k int, descending bool) ranked {
	noComplexOrder(name)(t.DType())
	r := ranked{dim: wrapDim(dim, t), source: t, n: 1}
	work := t
	if t.Dim() > 0 {
		r.n = t.Size(r.dim)
		work = must(t.Transpose(r.dim, t.Dim()-1))
	}
	r.values = contiguous(to(work, accumulator(t.DType())))
	rows := 0
	if r.n > 0 {
		rows = t.Numel() / r.n
	}
	r.order = make([][]int, rows)
	few := k >= 0 && k <= fewFirst && 4*k <= r.n
	switch d := r.values.DType(); {
	case d == tensor.Int64 && few:
		selectRows[int64](&r, k, descending)
	case d == tensor.Int64:
		rankRows[int64](&r, descending)
	case d == tensor.Float32 && few:
		selectRows[float32](&r, k, descending)
	case d == tensor.Float32 && r.n < 1<<32:
		r.rankKeys(descending)
	case d == tensor.Float32:
		rankRows[float32](&r, descending)
	case few:
		selectRows[float64](&r, k, descending)
	default:
		rankRows[float64](&r, descending)
	}
	return r
}

// fewFirst is how many first elements are kept in order while a row is walked, rather than sorting it.
const fewFirst = 64

// selectRows finds the first k elements of each row.
func selectRows[T interface {
	ordered
	tensor.Element
}](r *ranked, k int, descending bool) {
	data := tensor.Data[T](r.values)
	first := make([]int, len(r.order)*k)
	tensor.Parallel(len(r.order), rowGrain/max(r.n, 1)+1, func(lo, hi int) {
		kept := make([]T, k)
		for i := lo; i < hi; i++ {
			r.order[i] = first[i*k : (i+1)*k]
			selectFirst(data[i*r.n:(i+1)*r.n], r.order[i], kept, descending)
		}
	})
}

// selectFirst puts the places of the first elements of a row into order, and the elements into kept.
// The row has at least as many.
func selectFirst[T ordered](row []T, order []int, kept []T, descending bool) {
	k := len(order)
	if k == 0 {
		return
	}
	kept = kept[:k]
	before := func(a, b T) bool {
		if descending {
			a, b = b, a
		}
		return a < b || a == a && b != b
	}
	insert := func(at int, v T, place int) {
		for ; at > 0 && before(v, kept[at-1]); at-- {
			kept[at], order[at] = kept[at-1], order[at-1]
		}
		kept[at], order[at] = v, place
	}
	for j, v := range row[:k] {
		insert(j, v, j)
	}
	for j := k; j < len(row); {
		// A later element that equals the last one kept does not replace it.
		if j += passed(row[j:], kept[k-1], descending); j < len(row) {
			if before(row[j], kept[k-1]) {
				insert(k-1, row[j], j)
			}
			j++
		}
	}
}

// passed counts the elements at the front that are certainly not before a bound.
func passed[T ordered](row []T, bound T, descending bool) int {
	if descending {
		for j, v := range row {
			if !(v <= bound) {
				return j
			}
		}
		return len(row)
	}
	for j, v := range row {
		if !(v >= bound) {
			return j
		}
	}
	return len(row)
}

// rankKeys orders rows of float32 by integers that hold an element's rank above its index.
func (r *ranked) rankKeys(descending bool) {
	data := tensor.Data[float32](r.values)
	tensor.Parallel(len(r.order), rowGrain/(8*max(r.n, 1))+1, func(lo, hi int) {
		keys := make([]uint64, r.n)
		for i := lo; i < hi; i++ {
			for j, v := range data[i*r.n : (i+1)*r.n] {
				key := orderedBits(v)
				if descending {
					key = ^key
				}
				keys[j] = uint64(key)<<32 | uint64(j)
			}
			slices.Sort(keys)
			order := make([]int, len(keys))
			for j, key := range keys {
				order[j] = int(uint32(key))
			}
			r.order[i] = order
		}
	})
}

// orderedBits maps floats to integers of the same order, zeros to one integer and every NaN to the largest.
func orderedBits(v float32) uint32 {
	if v != v {
		return math.MaxUint32
	}
	b := math.Float32bits(v + 0) // -0 + 0 is 0
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

func rankRows[T interface {
	ordered
	tensor.Element
}](r *ranked, descending bool) {
	data := tensor.Data[T](r.values)
	tensor.Parallel(len(r.order), rowGrain/(8*max(r.n, 1))+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := data[i*r.n : (i+1)*r.n]
			order := make([]int, r.n)
			for j := range order {
				order[j] = j
			}
			slices.SortStableFunc(order, func(a, b int) int {
				c := compareNaNLast(row[a], row[b])
				if descending {
					return -c
				}
				return c
			})
			r.order[i] = order
		}
	})
}

func compareNaNLast[T ordered](a, b T) int {
	aNaN, bNaN := a != a, b != b
	switch {
	case aNaN && bNaN:
		return 0
	case aNaN:
		return 1
	case bNaN:
		return -1
	}
	return cmp.Compare(a, b)
}

// take gives the elements at k places of each row's order and their indices.
func (r *ranked) take(places []int) (values, indices *tensor.Tensor) {
	k := len(places)
	shape := slices.Clone(r.source.Shape())
	last := len(shape) - 1
	if last >= 0 {
		shape[r.dim], shape[last] = shape[last], shape[r.dim]
		shape[last] = k
	}
	values, indices = empty(shape, r.values.DType()), empty(shape, tensor.Int64)
	at := tensor.Data[int64](indices)
	offsets := make([]int, len(r.order)*k)
	for i, order := range r.order {
		for j, p := range places {
			at[i*k+j] = int64(order[p])
			offsets[i*k+j] = i*r.n + order[p]
		}
	}
	if len(offsets) > 0 {
		moveFrom(values, r.values, offsets, oneOffset)
	}
	if last >= 0 && r.dim != last {
		values = contiguous(must(values.Transpose(r.dim, last)))
		indices = contiguous(must(indices.Transpose(r.dim, last)))
	}
	return to(values, r.source.DType()), indices
}

func firstPlaces(k int) []int {
	places := make([]int, k)
	for i := range places {
		places[i] = i
	}
	return places
}

func sortAlong(t *tensor.Tensor, dim int, descending bool) (values, indices *tensor.Tensor) {
	r := rank("sort", t, dim, descending)
	return r.take(firstPlaces(r.n))
}

func topK(t *tensor.Tensor, k, dim int, largest bool) (values, indices *tensor.Tensor) {
	d := wrapDim(dim, t)
	n := 1
	if t.Dim() > 0 {
		n = t.Size(d)
	}
	check(k >= 0 && k <= n, "selected index k out of range")
	r := rankFirst("topk", t, dim, k, largest)
	return r.take(firstPlaces(k))
}

// pick gives one element of each row in the sorted order, with or without the dimension.
func pick(name string, t *tensor.Tensor, dim int, keepdim bool, place func(n int) int) (values, indices *tensor.Tensor) {
	r := rank(name, t, dim, false)
	check(r.n > 0, "%s(): Expected reduction dim %d to have non-zero size.", name, r.dim)
	values, indices = r.take([]int{place(r.n)})
	if !keepdim && t.Dim() > 0 {
		values, indices = must(values.SqueezeDim(r.dim)), must(indices.SqueezeDim(r.dim))
	}
	return values, indices
}

func medianAlong(t *tensor.Tensor, dim int, keepdim bool) (values, indices *tensor.Tensor) {
	values, indices = pick("median", t, dim, keepdim, func(n int) int { return (n - 1) / 2 })
	if t.DType().IsFloating() {
		bad := isNaN.on(t)
		if truth(bad, nil, false, false).At().Bool() {
			any := truth(bad, []int{dim}, keepdim, false)
			_, first := extremes("max", to(bad, tensor.Uint8), []int{dim}, keepdim, false)
			values = choose(any, ofScalar(tensor.Float(math.NaN())), ofTensor(values))
			indices = choose(any, ofTensor(first), ofTensor(indices))
		}
	}
	return values, indices
}

// nanMedian gives the median of the elements that are numbers.
func nanMedian(t *tensor.Tensor, dim int, keepdim bool) (values, indices *tensor.Tensor) {
	r := rank("nanmedian", t, dim, false)
	good := make([]int, len(r.order))
	counts := contiguous(to(must(not.on(isNaN.on(t)).Transpose(r.dim, max(t.Dim()-1, 0))), tensor.Bool))
	mask := tensor.Data[bool](counts)
	for i := range r.order {
		for _, v := range mask[i*r.n : (i+1)*r.n] {
			if v {
				good[i]++
			}
		}
		r.order[i] = []int{r.order[i][max(good[i]-1, 0)/2]}
	}
	values, indices = r.take([]int{0})
	if !keepdim && t.Dim() > 0 {
		values, indices = must(values.SqueezeDim(r.dim)), must(indices.SqueezeDim(r.dim))
	}
	return values, indices
}

// mode gives the commonest element of each row, the smallest of several, and its last index.
func mode(t *tensor.Tensor, dim int, keepdim bool) (values, indices *tensor.Tensor) {
	r := rank("mode", t, dim, false)
	check(r.n > 0, "mode(): Expected reduction dim %d to have non-zero size.", r.dim)
	wide := to(r.values, tensor.Float64)
	if r.values.DType() == tensor.Int64 {
		wide = r.values
	}
	same := func(i, j int) bool {
		if wide.DType() == tensor.Int64 {
			d := tensor.Data[int64](wide)
			return d[i] == d[j]
		}
		d := tensor.Data[float64](wide)
		return d[i] == d[j] || d[i] != d[i] && d[j] != d[j]
	}
	for row, order := range r.order {
		best, bestCount := 0, 0
		for i := 0; i < r.n; {
			j := i
			for j < r.n && same(row*r.n+order[i], row*r.n+order[j]) {
				j++
			}
			if j-i > bestCount {
				best, bestCount = j-1, j-i
			}
			i = j
		}
		r.order[row] = []int{order[best]}
	}
	values, indices = r.take([]int{0})
	if !keepdim && t.Dim() > 0 {
		values, indices = must(values.SqueezeDim(r.dim)), must(indices.SqueezeDim(r.dim))
	}
	return values, indices
}

// quantile interpolates between the sorted elements of each row.
func quantile(t, q *tensor.Tensor, dim []int, keepdim bool, interpolation string) *tensor.Tensor {
	check(t.DType() == tensor.Float32 || t.DType() == tensor.Float64, "quantile() input tensor must be either float or double dtype")
	check(q.DType() == t.DType(), "quantile() q tensor must be same dtype as the input tensor")
	check(q.Dim() <= 1, "quantile() q must be a scalar or 1D tensor")
	check(t.Numel() > 0, "quantile() input tensor must be non-empty")
	at := 0
	full := slices.Repeat([]int{1}, t.Dim())
	if len(dim) == 0 {
		t = must(t.Reshape(-1))
	} else {
		at = wrapDim(dim[0], t)
		full = slices.Clone(t.Shape())
		if len(full) > 0 {
			full[at] = 1
		}
	}
	sorted, _ := sortAlong(t, at, false)
	if t.Dim() > 0 {
		sorted = must(sorted.Transpose(at, t.Dim()-1))
	}
	rows := contiguous(to(sorted, tensor.Float64))
	n := 1
	if t.Dim() > 0 {
		n = t.Size(at)
	}
	data := tensor.Data[float64](rows)
	outer := len(data) / n
	qs := tensor.Data[float64](contiguous(to(q, tensor.Float64)))
	out := empty([]int{len(qs), outer}, tensor.Float64)
	result := tensor.Data[float64](out)
	for k, p := range qs {
		check(p >= 0 && p <= 1, "quantile() q values must be in the range [0, 1]")
		for r := range outer {
			result[k*outer+r] = interpolate(data[r*n:(r+1)*n], p, interpolation)
		}
	}
	kept := slices.Clone(full)
	if len(dim) > 0 && t.Dim() > 0 {
		last := len(kept) - 1
		kept[at], kept[last] = kept[last], kept[at]
		kept[last] = 1
		out = must(out.Reshape(append([]int{len(qs)}, kept...)...))
		out = contiguous(must(out.Transpose(at+1, last+1)))
	} else {
		out = must(out.Reshape(append([]int{len(qs)}, full...)...))
	}
	switch {
	case keepdim:
	case len(dim) == 0:
		out = must(out.Reshape(len(qs)))
	case t.Dim() > 0:
		out = must(out.SqueezeDim(at + 1))
	}
	if q.Dim() == 0 {
		out = must(out.Select(0, 0))
	}
	return to(out, t.DType())
}

func interpolate(row []float64, p float64, how string) float64 {
	if last := row[len(row)-1]; last != last {
		return last
	}
	place := p * float64(len(row)-1)
	low, high := int(math.Floor(place)), int(math.Ceil(place))
	switch how {
	case "lower":
		return row[low]
	case "higher":
		return row[high]
	case "nearest":
		return row[int(math.RoundToEven(place))]
	case "midpoint":
		return (row[low] + row[high]) / 2
	case "linear":
		return row[low] + (row[high]-row[low])*(place-float64(low))
	}
	raise(source.RuntimeError, "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got %s", how)
	return 0
}

var sortFamily = []definition{
	define("unique_dim_consecutive", func(c call) { giveUnique(c, true, c.ints(1)) }),
	define("sort", func(c call) { c.give(pair(sortAlong(c.tensor(0), c.int(1), c.bool(2)))...) }),
	define("sort.stable", func(c call) { c.give(pair(sortAlong(c.tensor(0), c.int(2), c.bool(3)))...) }),
	giving("argsort", func(c call) *tensor.Tensor { return second(sortAlong(c.tensor(0), c.int(1), c.bool(2))) }),
	giving("argsort.stable", func(c call) *tensor.Tensor { return second(sortAlong(c.tensor(0), c.int(2), c.bool(3))) }),
	giving("msort", func(c call) *tensor.Tensor { return pair(sortAlong(c.tensor(0), 0, false))[0] }),
	define("topk", func(c call) { c.give(pair(topK(c.tensor(0), c.int(1), c.int(2), c.bool(3)))...) }),
	define("kthvalue", func(c call) {
		k := c.int(1)
		c.give(pair(pick("kthvalue", c.tensor(0), c.int(2), c.bool(3), func(n int) int {
			check(k >= 1 && k <= n, "kthvalue(): selected number k out of range for dimension %d", wrapDim(c.int(2), c.tensor(0)))
			return k - 1
		}))...)
	}),
	giving("median", func(c call) *tensor.Tensor {
		if c.tensor(0).Numel() == 0 {
			return must(tensor.Full(nil, tensor.Float(math.NaN()), c.tensor(0).DType()))
		}
		return pair(medianAlong(must(c.tensor(0).Reshape(-1)), 0, false))[0]
	}),
	define("median.dim", func(c call) { c.give(pair(medianAlong(c.tensor(0), c.int(1), c.bool(2)))...) }),
	giving("nanmedian", func(c call) *tensor.Tensor { return pair(nanMedian(must(c.tensor(0).Reshape(-1)), 0, false))[0] }),
	define("nanmedian.dim", func(c call) { c.give(pair(nanMedian(c.tensor(0), c.int(1), c.bool(2)))...) }),
	define("mode", func(c call) { c.give(pair(mode(c.tensor(0), c.int(1), c.bool(2)))...) }),
	giving("quantile", func(c call) *tensor.Tensor {
		return quantile(c.tensor(0), c.tensor(1), c.oneDim(2), c.bool(3), c.str(4))
	}),
	giving("quantile.scalar", func(c call) *tensor.Tensor {
		q := tensor.FromScalar(tensor.Float(c.float(1)), c.tensor(0).DType())
		return quantile(c.tensor(0), q, c.oneDim(2), c.bool(3), c.str(4))
	}),
	define("_unique2", func(c call) {
		giveUnique(c, false, nil)
		keepAsked(c, c.bool(2), c.bool(3))
	}),
	define("_unique", func(c call) {
		values, inverse, _ := unique(c.tensor(0), true, false)
		c.give(values, inverse)
	}),
	define("unique_dim", func(c call) {
		giveUnique(c, false, c.ints(1))
	}),
	define("unique_consecutive", func(c call) {
		giveUnique(c, true, c.oneDim(3))
		keepAsked(c, c.bool(1), c.bool(2))
	}),
	giving("searchsorted.Tensor", func(c call) *tensor.Tensor {
		right := c.bool(3) || c.strOr(4, "") == "right"
		sorted := c.tensor(0)
		if order := c.optionalTensor(5); order != nil {
			sorted = gather(sorted, -1, order)
		}
		return searchSorted(sorted, c.tensor(1), right, c.bool(2))
	}),
	giving("searchsorted.Scalar", func(c call) *tensor.Tensor {
		right := c.bool(3) || c.strOr(4, "") == "right"
		return searchSorted(c.tensor(0), tensor.FromScalar(c.scalar(1), tensor.Float64), right, c.bool(2))
	}),
	giving("bucketize.Tensor", func(c call) *tensor.Tensor {
		return searchSorted(c.tensor(1), c.tensor(0), c.bool(3), c.bool(2))
	}),
	giving("bucketize.Scalar", func(c call) *tensor.Tensor {
		return searchSorted(c.tensor(1), tensor.FromScalar(c.scalar(0), tensor.Float64), c.bool(3), c.bool(2))
	}),
	giving("bincount", func(c call) *tensor.Tensor { return bincount(c.tensor(0), c.optionalTensor(1), c.int(2)) }),
	giving("histc", func(c call) *tensor.Tensor {
		return histogram(c.tensor(0), c.int(1), c.scalar(2).Float64(), c.scalar(3).Float64())
	}),
}

func pair(a, b *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{a, b} }
func second(_, b *tensor.Tensor) *tensor.Tensor { return b }
