package linalg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// einsum contracts tensors as an equation of labels says.
func einsum(equation string, ts []*tensor.Tensor) *tensor.Tensor {
	left, right, explicit := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	terms := strings.Split(left, ",")
	source.Check(len(ts) > 0, "einsum(): must provide at least one operand")
	source.Check(len(terms) == len(ts), "einsum(): %s operands were provided than specified in the equation", map[bool]string{true: "fewer", false: "more"}[len(terms) > len(ts)])
	ellipsis := 0
	for i, term := range terms {
		if strings.Contains(term, "...") {
			ellipsis = max(ellipsis, ts[i].Dim()-(len(term)-3))
		}
	}
	labels := make([][]int, len(ts))
	counts := map[int]int{}
	for i, term := range terms {
		labels[i] = einsumLabels(term, ts[i].Dim(), ellipsis, i)
		for _, l := range labels[i] {
			counts[l]++
		}
	}
	var result []int
	if explicit {
		result = einsumLabels(right, -1, ellipsis, -1)
		for i, l := range result {
			source.Check(!slices.Contains(result[:i], l), "einsum(): output subscript %c appears more than once in the output", rune(l))
			source.Check(counts[l] > 0, "einsum(): output subscript %c does not appear in the equation for any input operand", rune(l))
		}
	} else {
		result = implicitResult(counts, ellipsis)
	}
	acc, accLabels := takeDiagonals(0, ts[0], labels[0])
	for i := 1; i < len(ts); i++ {
		t, l := takeDiagonals(i, ts[i], labels[i])
		needed := map[int]bool{}
		for _, r := range result {
			needed[r] = true
		}
		for _, later := range labels[i+1:] {
			for _, r := range later {
				needed[r] = true
			}
		}
		before := acc
		acc, accLabels = contractPair(before, accLabels, t, l, needed)
		if i > 1 { // else it is what was given
			before.Release()
		}
	}
	return arrangeLabels(acc, accLabels, result)
}

// ellipsisLabel stands for the i-th broadcast dimension, counted from the last.
func ellipsisLabel(i int) int { return 1000 + i }

func einsumLabels(term string, dims, ellipsis, operand int) []int {
	var labels []int
	for i := 0; i < len(term); i++ {
		switch ch := term[i]; {
		case ch == '.':
			source.Check(strings.HasPrefix(term[i:], "..."), "einsum(): found '.' for operand %d that is not part of any ellipsis", operand)
			n := ellipsis
			if dims >= 0 {
				n = dims - (len(term) - 3)
			}
			for j := n - 1; j >= 0; j-- {
				labels = append(labels, ellipsisLabel(j))
			}
			i += 2
		case ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z':
			labels = append(labels, int(ch))
		default:
			source.Raise(source.RuntimeError, "einsum(): invalid subscript given at index %d in the equation string, subscripts must be in [a-zA-Z]", i)
		}
	}
	source.Check(dims < 0 || len(labels) == dims, "einsum(): the number of subscripts in the equation (%d) does not match the number of dimensions (%d) for operand %d and no ellipsis was given", len(labels), dims, operand)
	return labels
}

func implicitResult(counts map[int]int, ellipsis int) []int {
	var result []int
	for j := ellipsis - 1; j >= 0; j-- {
		result = append(result, ellipsisLabel(j))
	}
	for ch := 'A'; ch <= 'z'; ch++ {
		if counts[int(ch)] == 1 {
			result = append(result, int(ch))
		}
	}
	return result
}

// takeDiagonals makes repeated labels of an operand one dimension.
func takeDiagonals(operand int, t *tensor.Tensor, labels []int) (*tensor.Tensor, []int) {
	labels = slices.Clone(labels)
	for i := 0; i < len(labels); i++ {
		for j := i + 1; j < len(labels); j++ {
			if labels[i] != labels[j] {
				continue
			}
			source.Check(t.Size(i) == t.Size(j), "einsum(): subscript %c is repeated for operand %d but the sizes don't match, %d != %d",
				rune(labels[i]), operand, t.Size(j), t.Size(i))
			l := labels[i]
			t = source.Must(t.Diagonal(0, i, j))
			labels = append(slices.Delete(slices.Delete(labels, j, j+1), i, i+1), l)
			i = -1
			break
		}
	}
	return t, labels
}

// contractPair multiplies two labelled tensors and sums over labels that are not needed any more.
func contractPair(a *tensor.Tensor, la []int, b *tensor.Tensor, lb []int, needed map[int]bool) (*tensor.Tensor, []int) {
	var batch, onlyA, onlyB, summed []int
	sizes := map[int]int{}
	for i, l := range la {
		sizes[l] = a.Size(i)
	}
	for i, l := range lb {
		n, both := sizes[l]
		source.Check(!both || n == b.Size(i) || n == 1 || b.Size(i) == 1, "einsum(): subscript %s has size %d for operand 1 which does not broadcast with previously seen size %d", labelText(l), b.Size(i), n)
		sizes[l] = max(n, b.Size(i))
	}
	for _, l := range la {
		switch inB := slices.Contains(lb, l); {
		case inB && needed[l]:
			batch = append(batch, l)
		case inB:
			summed = append(summed, l)
		case needed[l]:
			onlyA = append(onlyA, l)
		}
	}
	for _, l := range lb {
		if !slices.Contains(la, l) && needed[l] {
			onlyB = append(onlyB, l)
		}
	}
	givenA, givenB := a, b
	a, la = sumOut(a, la, slices.Concat(batch, onlyA, summed))
	b, lb = sumOut(b, lb, slices.Concat(batch, onlyB, summed))
	defer define.ForgetMade(givenA, a)
	defer define.ForgetMade(givenB, b)
	size := func(labels []int) int {
		n := 1
		for _, l := range labels {
			n *= sizes[l]
		}
		return n
	}
	shape := func(labels []int) []int {
		var s []int
		for _, l := range labels {
			s = append(s, sizes[l])
		}
		return s
	}
	left, right := slices.Concat(batch, onlyA, summed), slices.Concat(batch, summed, onlyB)
	inOrderA, inOrderB := order(a, la, left), order(b, lb, right)
	defer define.ForgetMade(a, inOrderA)
	defer define.ForgetMade(b, inOrderB)
	x := asMatrices(inOrderA, shape(left), size(batch), size(onlyA), size(summed))
	defer x.Release()
	y := asMatrices(inOrderB, shape(right), size(batch), size(summed), size(onlyB))
	defer y.Release()
	labels := slices.Concat(batch, onlyA, onlyB)
	return define.ShownAs(Bmm(x, y), shape(labels)...), labels
}

func labelText(l int) string {
	if l >= 1000 {
		return "..."
	}
	return fmt.Sprintf("%c", rune(l))
}

// sumOut adds up the dimensions whose labels are not kept.
func sumOut(t *tensor.Tensor, labels, keep []int) (*tensor.Tensor, []int) {
	var dims, rest []int
	for i, l := range labels {
		if slices.Contains(keep, l) {
			rest = append(rest, l)
		} else {
			dims = append(dims, i)
		}
	}
	if len(dims) == 0 {
		return t, labels
	}
	return reduce.Sum(t, dims, false, t.DType()), rest
}

// order permutes the dimensions of t to the order of labels.
func order(t *tensor.Tensor, have, want []int) *tensor.Tensor {
	dims := make([]int, len(want))
	for i, l := range want {
		dims[i] = slices.Index(have, l)
	}
	return source.Must(t.Permute(dims...))
}

func arrangeLabels(t *tensor.Tensor, have, want []int) *tensor.Tensor {
	t, have = sumOut(t, have, want)
	return order(t, have, want)
}
