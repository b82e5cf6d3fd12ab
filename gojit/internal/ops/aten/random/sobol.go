package random

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/quasirandom"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A Sobol' sequence is its direction numbers (the state, a row for each dimension) and the coordinates of the last point as
// integers (quasi).

// checkSobol fails unless integers named so are of 64 bits.
func checkSobol(t *tensor.Tensor, name string) {
	source.Check(t.DType() == tensor.Int64, "%s needs to be of type %s", name, tensor.Int64.CppName())
}

// sobolRows returns the first rows of a state, each of as many direction numbers as a coordinate has bits.
func sobolRows(state *tensor.Tensor, dimension int) []int64 {
	checkSobolState(state, dimension)
	return tensor.Data[int64](elementwise.Contiguous(state))
}

// checkSobolState fails where a state has no direction numbers for the first dimensions.
func checkSobolState(state *tensor.Tensor, dimension int) {
	checkSobol(state, "sobolstate")
	source.Check(state.Dim() == 2, "TensorAccessor expected 2 dims but tensor has %d", state.Dim())
	source.Check(state.Size(0) >= dimension && state.Size(1) == quasirandom.Bits,
		"sobolstate has the shape %s, expected [%d, %d]", define.ShapeText(state.Shape()), dimension, quasirandom.Bits)
}

// sobolThere runs a routine of the text "sobol" on the device of the tensors.
func sobolThere(entry string, points tensor.DType, threads int, tensors []*tensor.Tensor, numbers ...int64) {
	if threads > 0 {
		r := kernel.Routine{Text: "sobol", Entry: entry, Types: []tensor.DType{points}, Sizes: []int{quasirandom.Bits}, Threads: threads}
		source.Throw(elementwise.LaunchRoutine(r, tensors, numbers...))
	}
}

// sobolPoint returns a copy of the coordinates of the last point; n more points must exist.
func sobolPoint(quasi *tensor.Tensor, dimension, generated, n int) *tensor.Tensor {
	checkSobol(quasi, "quasi")
	source.Check(quasi.Numel() == dimension, "quasi has the shape %s, expected [%d]", define.ShapeText(quasi.Shape()), dimension)
	const last = 1<<quasirandom.Bits - 1
	source.Check(generated >= 0 && generated <= last && n <= last-generated,
		"a Sobol' sequence has 2^%d points: there are no %d behind point %d", quasirandom.Bits, n, generated)
	return source.Must(quasi.Clone(tensor.ContiguousFormat))
}

// sobolDraw computes the coordinates of the next n points, and the integers that the last of them is.
func sobolDraw(quasi *tensor.Tensor, n int, state *tensor.Tensor, dimension, generated int, d tensor.DType) (points, last *tensor.Tensor) {
	checkSobol(quasi, "quasi")
	checkSobolState(state, dimension)
	source.Check(d.IsFloating() && d != tensor.BFloat16 && d != tensor.Float16, "\"_sobol_engine_draw\" not implemented for '%s'", d.CppName())
	source.Check(n >= 0, "Trying to create tensor with negative dimension %d: [%d, %d]", n, n, dimension)
	last = sobolPoint(quasi, dimension, generated, n)
	points = define.EmptyBeside(quasi, []int{n, dimension}, d)
	if quasi.OnDevice() {
		before, state := last, elementwise.Contiguous(state)
		last = source.Must(last.Clone(tensor.ContiguousFormat))
		sobolThere("draw", d, n*dimension, []*tensor.Tensor{points, last, before, state}, int64(n), int64(dimension), int64(generated))
		return points, last
	}
	rows := sobolRows(state, dimension)
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
	checkSobolState(state, dimension)
	moved := sobolPoint(quasi, dimension, generated, n)
	if n <= 0 {
		return
	}
	if quasi.OnDevice() {
		none := define.EmptyBeside(quasi, []int{0}, tensor.Float64)
		before, state := source.Must(moved.Clone(tensor.ContiguousFormat)), elementwise.Contiguous(state)
		sobolThere("draw", tensor.Float64, dimension, []*tensor.Tensor{none, moved, before, state}, int64(n), int64(dimension), int64(generated))
		elementwise.Store(quasi, source.Must(moved.View(quasi.Shape()...)))
		return
	}
	rows := sobolRows(state, dimension)
	at := tensor.Data[int64](moved)
	steps := quasirandom.Gray(uint64(generated)) ^ quasirandom.Gray(uint64(generated+n))
	for k := range quasirandom.Bits {
		for j := 0; steps>>k&1 == 1 && j < len(at); j++ {
			at[j] ^= rows[j*quasirandom.Bits+k]
		}
	}
	elementwise.Store(quasi, source.Must(moved.View(quasi.Shape()...)))
}

// sobolInitialize writes the direction numbers of the first dimensions to the rows of state.
func sobolInitialize(state *tensor.Tensor, dimension int) {
	checkSobol(state, "sobolstate")
	source.Check(dimension <= quasirandom.Dimensions, "there are direction numbers of %d dimensions, not of %d", quasirandom.Dimensions, dimension)
	whole := source.Must(source.Must(state.ToDevice(tensor.Device{})).Clone(tensor.ContiguousFormat))
	rows := sobolRows(whole, dimension)
	quasirandom.Directions(dimension, func(d int, numbers [quasirandom.Bits]int64) { copy(rows[d*quasirandom.Bits:], numbers[:]) })
	elementwise.Store(state, whole)
}

// sobolScramble multiplies the direction numbers of each dimension, as columns of bits, by the lower triangular matrix of bits that matrices
// has for it; what lies on its diagonal counts as ones.
func sobolScramble(state, matrices *tensor.Tensor, dimension int) {
	whole := source.Must(state.Clone(tensor.ContiguousFormat))
	checkSobolState(whole, dimension)
	source.Check(matrices.DType() == tensor.Int64, "expected scalar type Long but found %s", matrices.DType().CppName())
	const n = quasirandom.Bits
	source.Check(matrices.Dim() == 3 && matrices.Size(0) >= dimension && matrices.Size(1) == n && matrices.Size(2) == n,
		"ltm has the shape %s, expected [%d, %d, %d]", define.ShapeText(matrices.Shape()), dimension, n, n)
	if state.OnDevice() {
		before := source.Must(whole.Clone(tensor.ContiguousFormat))
		sobolThere("scramble", tensor.Int64, dimension*n, []*tensor.Tensor{whole, before, elementwise.Contiguous(matrices)})
		elementwise.Store(state, whole)
		return
	}
	rows, elements := sobolRows(whole, dimension), tensor.Data[int64](elementwise.Contiguous(matrices))
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
	elementwise.Store(state, whole)
}

var SobolFamily = []define.Definition{
	define.Operator("_sobol_engine_initialize_state_", func(c define.Call) {
		sobolInitialize(c.Tensor(0), c.Int(1))
		c.GiveSelf()
	}),
	define.Operator("_sobol_engine_scramble_", func(c define.Call) {
		sobolScramble(c.Tensor(0), c.Tensor(1), c.Int(2))
		c.GiveSelf()
	}),
	define.Operator("_sobol_engine_ff_", func(c define.Call) {
		sobolForward(c.Tensor(0), c.Int(1), c.Tensor(2), c.Int(3), c.Int(4))
		c.GiveSelf()
	}),
	define.Operator("_sobol_engine_draw", func(c define.Call) {
		points, last := sobolDraw(c.Tensor(0), c.Int(1), c.Tensor(2), c.Int(3), c.Int(4), c.DtypeOr(5, tensor.Float32))
		c.Give(points, last)
	}),
}
