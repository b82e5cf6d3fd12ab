package aten

import (
	"math"

	"torchjit/gojit/tensor"
)

// scanAlong gives a tensor of t's shape made of running results along a dimension.
func scanAlong(t *tensor.Tensor, dim int, result tensor.DType, ints func(dst, src []int64), floats func(dst, src []float64), complexes func(dst, src []complex128)) *tensor.Tensor {
	dim = wrapDim(dim, t)
	acc := accumulator(result)
	if acc == tensor.Float32 {
		acc = tensor.Float64
	}
	work := to(t, result)
	if t.Dim() > 0 {
		work = must(work.Transpose(dim, t.Dim()-1))
	}
	work = contiguous(to(work, acc))
	out := empty(work.Shape(), acc)
	if out.Numel() > 0 {
		n := 1
		if t.Dim() > 0 {
			n = t.Size(dim)
		}
		switch acc {
		case tensor.Int64:
			mapRows(tensor.Data[int64](out), tensor.Data[int64](work), n, ints)
		case tensor.Float64:
			mapRows(tensor.Data[float64](out), tensor.Data[float64](work), n, floats)
		default:
			mapRows(tensor.Data[complex128](out), tensor.Data[complex128](work), n, complexes)
		}
	}
	if t.Dim() > 0 {
		out = contiguous(must(out.Transpose(dim, t.Dim()-1)))
	}
	return to(out, result)
}

type scannable interface {
	int64 | float64 | complex128
}

func runningSum[T scannable](dst, src []T) {
	var s T
	for i, v := range src {
		s += v
		dst[i] = s
	}
}

func runningProduct[T scannable](dst, src []T) {
	p := T(1)
	for i, v := range src {
		p *= v
		dst[i] = p
	}
}

func runningLogSum(dst, src []float64) {
	s := math.Inf(-1)
	for i, v := range src {
		high := max(s, v)
		if !math.IsInf(high, 0) {
			s = high + math.Log(math.Exp(s-high)+math.Exp(v-high))
		} else {
			s = high
		}
		dst[i] = s
	}
}

func cumulativeSum(t *tensor.Tensor, dim int, d tensor.DType) *tensor.Tensor {
	return scanAlong(t, dim, d, runningSum[int64], runningSum[float64], runningSum[complex128])
}

func cumulativeProduct(t *tensor.Tensor, dim int, d tensor.DType) *tensor.Tensor {
	return scanAlong(t, dim, d, runningProduct[int64], runningProduct[float64], runningProduct[complex128])
}

// cumulativeExtreme gives the largest or smallest element so far and its last index.
func cumulativeExtreme(t *tensor.Tensor, dim int, smallest bool) (values, indices *tensor.Tensor) {
	noComplexOrder("cummax")(t.DType())
	index := func(n int, better func(i, j int) bool, dst []int64) {
		best := 0
		for i := range n {
			if better(i, best) {
				best = i
			}
			dst[i] = int64(best)
		}
	}
	dim = wrapDim(dim, t)
	work := t
	if t.Dim() > 0 {
		work = must(t.Transpose(dim, t.Dim()-1))
	}
	work = contiguous(to(work, map[bool]tensor.DType{true: tensor.Float64, false: tensor.Int64}[t.DType().IsFloating()]))
	at := empty(work.Shape(), tensor.Int64)
	n := 1
	if t.Dim() > 0 {
		n = t.Size(dim)
	}
	dst := tensor.Data[int64](at)
	for i := 0; n > 0 && i < len(dst)/n; i++ {
		if work.DType() == tensor.Float64 {
			index(n, notWorse(tensor.Data[float64](work)[i*n:(i+1)*n], smallest), dst[i*n:(i+1)*n])
		} else {
			index(n, notWorse(tensor.Data[int64](work)[i*n:(i+1)*n], smallest), dst[i*n:(i+1)*n])
		}
	}
	if t.Dim() > 0 {
		at = contiguous(must(at.Transpose(dim, t.Dim()-1)))
	}
	return gather(t, dim, at), at
}

func notWorse[T ordered](row []T, smallest bool) func(i, j int) bool {
	return func(i, j int) bool {
		a, b := row[i], row[j]
		switch {
		case a != a:
			return true
		case b != b:
			return false
		case smallest:
			return a <= b
		}
		return a >= b
	}
}

// difference gives the n-th differences along a dimension.
func difference(c call) *tensor.Tensor {
	t, n := c.tensor(0), c.int(1)
	check(t.Dim() >= 1, "diff expects input to be at least one-dimensional")
	check(n >= 0, "order must be non-negative but got %d", n)
	dim := wrapDim(c.int(2), t)
	parts := []*tensor.Tensor{t}
	if p := c.optionalTensor(3); p != nil {
		parts = append([]*tensor.Tensor{p}, parts...)
	}
	if p := c.optionalTensor(4); p != nil {
		parts = append(parts, p)
	}
	if len(parts) > 1 {
		t = concat(parts, dim)
	}
	for range n {
		size := t.Size(dim)
		if size == 0 {
			break
		}
		later, earlier := must(t.Narrow(dim, 1, size-1)), must(t.Narrow(dim, 0, size-1))
		if t.DType() == tensor.Bool {
			t = ne.on(later, earlier)
		} else {
			t = sub.on(later, earlier)
		}
	}
	return t
}

var scanFamily = []definition{
	giving("cumsum", func(c call) *tensor.Tensor {
		return cumulativeSum(c.tensor(0), c.int(1), c.dtypeOr(2, sumType(c.tensor(0).DType())))
	}),
	giving("cumprod", func(c call) *tensor.Tensor {
		return cumulativeProduct(c.tensor(0), c.int(1), c.dtypeOr(2, sumType(c.tensor(0).DType())))
	}),
	giving("logcumsumexp", func(c call) *tensor.Tensor {
		check(c.tensor(0).DType().IsFloating(), "\"logcumsumexp_out_cpu\" not implemented for '%s'", c.tensor(0).DType().CppName())
		return scanAlong(c.tensor(0), c.int(1), c.tensor(0).DType(), nil, runningLogSum, nil)
	}),
	define("cummax", func(c call) { c.give(pair(cumulativeExtreme(c.tensor(0), c.int(1), false))...) }),
	define("cummin", func(c call) { c.give(pair(cumulativeExtreme(c.tensor(0), c.int(1), true))...) }),
	giving("diff", difference),
}

// mapRows calls f for rows of n elements, several at once.
func mapRows[T any](dst, src []T, n int, f func(dst, src []T)) {
	tensor.Parallel(len(src)/n, rowGrain/n+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(dst[i*n:(i+1)*n], src[i*n:(i+1)*n])
		}
	})
}
