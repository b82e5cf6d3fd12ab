package aten

import (
	"slices"
	"sort"

	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
)

// unique gives the different elements in order, for each element its place among them, and the counts.
func unique(t *tensor.Tensor, sorted, consecutive bool) (values, inverse, counts *tensor.Tensor) {
	flat := contiguous(must(t.Reshape(-1)))
	rows := must(flat.Reshape(-1, 1))
	list, inverse, counts := uniqueRows(rows, consecutive)
	return must(list.Reshape(-1)), must(inverse.Reshape(t.Shape()...)), counts
}

// uniqueRows does the same for the rows of a contiguous matrix.
func uniqueRows(rows *tensor.Tensor, consecutive bool) (values, inverse, counts *tensor.Tensor) {
	n, width := rows.Size(0), 1
	if rows.Size(0) > 0 {
		width = rows.Numel() / n
	}
	key := contiguous(to(rows, accumulator(rows.DType())))
	compare := rowComparison(key, width)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if !consecutive {
		slices.SortStableFunc(order, compare)
	}
	inverse = empty([]int{n}, tensor.Int64)
	inv := tensor.Data[int64](inverse)
	var first []int
	var count []int64
	for i, r := range order {
		if i == 0 || compare(order[i-1], r) != 0 {
			first = append(first, r*width)
			count = append(count, 0)
		}
		count[len(count)-1]++
		inv[r] = int64(len(first) - 1)
	}
	shape := slices.Clone(rows.Shape())
	shape[0] = len(first)
	values = empty(shape, rows.DType())
	if values.Numel() > 0 {
		inner := make([]int, width)
		for i := range inner {
			inner[i] = i
		}
		moveFrom(values, rows, first, inner)
	}
	return values, inverse, must(tensor.FromSlice(count, len(count)))
}

func rowComparison(key *tensor.Tensor, width int) func(a, b int) int {
	switch key.DType() {
	case tensor.Int64:
		return compareRows(tensor.Data[int64](key), width)
	case tensor.Float32:
		return compareRows(tensor.Data[float32](key), width)
	case tensor.Float64:
		return compareRows(tensor.Data[float64](key), width)
	}
	raise(source.RuntimeError, "\"unique\" not implemented for '%s'", key.DType().CppName())
	return nil
}

func compareRows[T ordered](data []T, width int) func(a, b int) int {
	return func(a, b int) int {
		for j := range width {
			if c := compareNaNLast(data[a*width+j], data[b*width+j]); c != 0 {
				return c
			}
		}
		return 0
	}
}

func uniqueDim(t *tensor.Tensor, dim int, consecutive bool) (values, inverse, counts *tensor.Tensor) {
	dim = wrapDim(dim, t)
	if t.Dim() == 0 {
		return unique(t, true, consecutive)
	}
	rows := contiguous(must(t.MoveDims([]int{dim}, []int{0})))
	values, inverse, counts = uniqueRows(rows, consecutive)
	return contiguous(must(values.MoveDims([]int{0}, []int{dim}))), inverse, counts
}

// searchSorted gives for each value the place in the sorted last dimension where it belongs.
func searchSorted(sorted, values *tensor.Tensor, right, int32s bool) *tensor.Tensor {
	check(sorted.Dim() > 0, "torch.searchsorted(): boundaries tensor should be 1 dimension or more")
	check(sorted.Dim() == 1 || sorted.Dim() == values.Dim() && tensor.SameShape(sorted.Shape()[:sorted.Dim()-1], values.Shape()[:values.Dim()-1]),
		"torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, but we got boundaries tensor %s and input value tensor %s",
		shapeText(sorted.Shape()), shapeText(values.Shape()))
	r := tensor.NewResultType()
	r.Tensor(sorted)
	rows := tensor.Data[float64](contiguous(to(sorted, tensor.Float64)))
	vs := tensor.Data[float64](contiguous(to(values, tensor.Float64)))
	n := sorted.Size(sorted.Dim() - 1)
	perRow := len(vs)
	if sorted.Dim() > 1 && values.Dim() > 0 {
		perRow = values.Size(values.Dim() - 1)
	}
	out := empty(values.Shape(), tensor.Int64)
	data := tensor.Data[int64](out)
	for i, v := range vs {
		row := rows[:n]
		if sorted.Dim() > 1 {
			row = rows[i/perRow*n : (i/perRow+1)*n]
		}
		data[i] = int64(sort.Search(n, func(j int) bool {
			if right {
				return row[j] > v || row[j] != row[j]
			}
			return row[j] >= v || row[j] != row[j]
		}))
	}
	if int32s {
		return to(out, tensor.Int32)
	}
	return out
}

func bincount(t, weights *tensor.Tensor, least int) *tensor.Tensor {
	check(t.Dim() == 1 && !t.DType().IsFloating(), "bincount only supports 1-d non-negative integral inputs.")
	check(least >= 0, "minlength should be >= 0")
	list := integersOf(t)
	n := least
	for _, v := range list {
		check(v >= 0, "bincount only supports 1-d non-negative integral inputs.")
		n = max(n, v+1)
	}
	if weights == nil {
		out := zeros([]int{n}, tensor.Int64)
		for _, v := range list {
			tensor.Data[int64](out)[v]++
		}
		return out
	}
	check(weights.Dim() == 1 && weights.Numel() == len(list), "weights should be 1-d and have the same length as input")
	out := zeros([]int{n}, tensor.Float64)
	w := tensor.Data[float64](contiguous(to(weights, tensor.Float64)))
	for i, v := range list {
		tensor.Data[float64](out)[v] += w[i]
	}
	if weights.DType() == tensor.Float32 {
		return to(out, tensor.Float32)
	}
	return out
}

// histogram counts elements in bins of equal width; equal bounds mean those of the elements.
func histogram(t *tensor.Tensor, bins int, low, high float64) *tensor.Tensor {
	noIntegers("histogram_cpu")(t.DType())
	check(bins > 0, "bins must be > 0")
	data := tensor.Data[float64](contiguous(to(t, tensor.Float64)))
	if low == high && len(data) > 0 {
		low, high = slices.Min(data), slices.Max(data)
	}
	if low == high {
		low, high = low-1, high+1
	}
	check(low < high, "max must be larger than min")
	out := zeros([]int{bins}, tensor.Float64)
	counts := tensor.Data[float64](out)
	for _, v := range data {
		if v >= low && v <= high {
			counts[min(int((v-low)/(high-low)*float64(bins)), bins-1)]++
		}
	}
	return to(out, t.DType())
}

func giveUnique(c call, consecutive bool, dim []int) {
	var values, inverse, counts *tensor.Tensor
	if len(dim) == 0 {
		values, inverse, counts = unique(c.tensor(0), true, consecutive)
	} else {
		values, inverse, counts = uniqueDim(c.tensor(0), dim[0], consecutive)
	}
	c.give(values, inverse, counts)
}

// keepAsked replaces results that were not asked for by empty tensors.
func keepAsked(c call, inverse, counts bool) {
	if !inverse {
		c.out[1] = c.emptyResult()
	}
	if !counts {
		c.out[2] = c.emptyResult()
	}
}
