package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/quasirandom"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A Sobol' sequence is its direction numbers (the state, a row for each dimension) and the coordinates of the last point as
// integers (quasi).

// checkSobol fails unless integers named so are of 64 bits.
func checkSobol(t *tensor.Tensor, name string) {
	check(t.DType() == tensor.Int64, "%s needs to be of type %s", name, tensor.Int64.CppName())
}

// sobolRows returns the first rows of a state, each of as many direction numbers as a coordinate has bits.
func sobolRows(state *tensor.Tensor, dimension int) []int64 {
	checkSobol(state, "sobolstate")
	check(state.Dim() == 2, "TensorAccessor expected 2 dims but tensor has %d", state.Dim())
	check(state.Size(0) >= dimension && state.Size(1) == quasirandom.Bits,
		"sobolstate has the shape %s, expected [%d, %d]", shapeText(state.Shape()), dimension, quasirandom.Bits)
	return tensor.Data[int64](contiguous(state))
}

// sobolPoint returns a copy of the coordinates of the last point; n more points must exist.
func sobolPoint(quasi *tensor.Tensor, dimension, generated, n int) *tensor.Tensor {
	checkSobol(quasi, "quasi")
	check(quasi.Numel() == dimension, "quasi has the shape %s, expected [%d]", shapeText(quasi.Shape()), dimension)
	const last = 1<<quasirandom.Bits - 1
	check(generated >= 0 && generated <= last && n <= last-generated,
		"a Sobol' sequence has 2^%d points: there are no %d behind point %d", quasirandom.Bits, n, generated)
	return must(quasi.Clone(tensor.ContiguousFormat))
}

// sobolDraw computes the coordinates of the next n points, and the integers that the last of them is.
func sobolDraw(quasi *tensor.Tensor, n int, state *tensor.Tensor, dimension, generated int, d tensor.DType) (points, last *tensor.Tensor) {
	checkSobol(quasi, "quasi")
	rows := sobolRows(state, dimension)
	check(d.IsFloating() && d != tensor.BFloat16 && d != tensor.Float16, "\"_sobol_engine_draw\" not implemented for '%s'", d.CppName())
	check(n >= 0, "Trying to create tensor with negative dimension %d: [%d, %d]", n, n, dimension)
	last = sobolPoint(quasi, dimension, generated, n)
	points = empty([]int{n, dimension}, d)
	at := tensor.Data[int64](last)
	if d == tensor.Float32 {
		sobolPoints(tensor.Data[float32](points), at, rows, generated)
	} else {
		sobolPoints(tensor.Data[float64](points), at, rows, generated)
	}
	return points, last
}

func sobolPoints[T float32 | float64](points []T, at, rows []int64, generated int) {
	const unit = 1.0 / (1 << quasirandom.Bits)
	for ; len(points) > 0; points = points[len(at):] {
		k := quasirandom.Changed(uint64(generated))
		for j := range at {
			at[j] ^= rows[j*quasirandom.Bits+k]
			points[j] = T(at[j]) * unit
		}
		generated++
	}
}

// sobolForward moves a sequence n points on.
func sobolForward(quasi *tensor.Tensor, n int, state *tensor.Tensor, dimension, generated int) {
	checkSobol(quasi, "quasi")
	rows := sobolRows(state, dimension)
	moved := sobolPoint(quasi, dimension, generated, n)
	if n <= 0 {
		return
	}
	at := tensor.Data[int64](moved)
	steps := quasirandom.Gray(uint64(generated)) ^ quasirandom.Gray(uint64(generated+n))
	for k := range quasirandom.Bits {
		for j := 0; steps>>k&1 == 1 && j < len(at); j++ {
			at[j] ^= rows[j*quasirandom.Bits+k]
		}
	}
	store(quasi, must(moved.View(quasi.Shape()...)))
}

// sobolInitialize writes the direction numbers of the first dimensions to the rows of state.
func sobolInitialize(state *tensor.Tensor, dimension int) {
	checkSobol(state, "sobolstate")
	check(dimension <= quasirandom.Dimensions, "there are direction numbers of %d dimensions, not of %d", quasirandom.Dimensions, dimension)
	whole := must(state.Clone(tensor.ContiguousFormat))
	rows := sobolRows(whole, dimension)
	quasirandom.Directions(dimension, func(d int, numbers [quasirandom.Bits]int64) { copy(rows[d*quasirandom.Bits:], numbers[:]) })
	store(state, whole)
}

// sobolScramble multiplies the direction numbers of each dimension, as columns of bits, by the lower triangular matrix of bits that matrices
// has for it; what lies on its diagonal counts as ones.
func sobolScramble(state, matrices *tensor.Tensor, dimension int) {
	whole := must(state.Clone(tensor.ContiguousFormat))
	rows := sobolRows(whole, dimension)
	check(matrices.DType() == tensor.Int64, "expected scalar type Long but found %s", matrices.DType().CppName())
	const n = quasirandom.Bits
	check(matrices.Dim() == 3 && matrices.Size(0) >= dimension && matrices.Size(1) == n && matrices.Size(2) == n,
		"ltm has the shape %s, expected [%d, %d, %d]", shapeText(matrices.Shape()), dimension, n, n)
	elements := tensor.Data[int64](contiguous(matrices))
	for d := range dimension {
		matrix := [n]int64{}
		for i := range matrix {
			for k, bit := range elements[(d*n+i)*n : (d*n+i+1)*n] {
				if k == i {
					bit = 1
				}
				matrix[i] += bit << (n - 1 - k)
			}
		}
		for k := d * n; k < (d+1)*n; k++ {
			rows[k] = quasirandom.Scrambled(rows[k], &matrix)
		}
	}
	store(state, whole)
}

var sobolFamily = []definition{
	define("_sobol_engine_initialize_state_", func(c call) {
		sobolInitialize(c.tensor(0), c.int(1))
		c.giveSelf()
	}),
	define("_sobol_engine_scramble_", func(c call) {
		sobolScramble(c.tensor(0), c.tensor(1), c.int(2))
		c.giveSelf()
	}),
	define("_sobol_engine_ff_", func(c call) {
		sobolForward(c.tensor(0), c.int(1), c.tensor(2), c.int(3), c.int(4))
		c.giveSelf()
	}),
	define("_sobol_engine_draw", func(c call) {
		points, last := sobolDraw(c.tensor(0), c.int(1), c.tensor(2), c.int(3), c.int(4), c.dtypeOr(5, tensor.Float32))
		c.give(points, last)
	}),
}
