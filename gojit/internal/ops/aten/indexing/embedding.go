package indexing

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// checkPlaces fails where a tensor of places of rows, which an operator takes, has other elements than integers.
func checkPlaces(places *tensor.Tensor, operator string) {
	source.Check(places.DType() == tensor.Int64 || places.DType() == tensor.Int32,
		"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.%s instead (while checking arguments for %s)", places.DType().TensorClass(), operator)
}

// embedding looks up rows of a table.
func embedding(weight, indices *tensor.Tensor) *tensor.Tensor {
	source.Check(weight.Dim() == 2, "'weight' must be 2-D")
	checkPlaces(indices, "embedding")
	if weight.OnDevice() {
		rows := SelectAlong(weight, 0, source.Must(indices.Reshape(-1)), []int{indices.Numel(), weight.Size(1)}, func(int64) {
			source.Raise(source.IndexError, "index out of range in self")
		})
		return source.Must(rows.View(append(slices.Clone(indices.Shape()), weight.Size(1))...))
	}
	list := indicesOf(indices)
	out := define.Empty(append(slices.Clone(indices.Shape()), weight.Size(1)), weight.DType())
	if pickSlices(out, elementwise.Contiguous(weight), 0, list, 0) >= 0 {
		source.Raise(source.IndexError, "index out of range in self")
	}
	return out
}

func rowList(indices *tensor.Tensor, n int) []int {
	list := elementwise.IntegersOf(indices)
	for _, i := range list {
		if i < 0 || i >= n {
			source.Raise(source.IndexError, "index out of range in self")
		}
	}
	return list
}

// Bag modes.
const (
	bagSum  = 0
	bagMean = 1
	bagMax  = 2
)

// embeddingBag combines the rows of each bag of indices.
func embeddingBag(weight, indices, offsets *tensor.Tensor, mode int, perSample *tensor.Tensor, includeLast bool, padding int) (out, offset2bag, bagSize, maxIndices *tensor.Tensor) {
	source.Check(weight.Dim() == 2, "'weight' must be 2-D")
	source.Check(indices.Dim() == 1 || indices.Dim() == 2, "input has to be a 1D or 2D Tensor, but got Tensor of dimension %d", indices.Dim())
	checkPlaces(indices, "embedding_bag")
	checkPlaces(offsets, "embedding_bag")
	starts := elementwise.IntegersOf(offsets)
	if indices.Dim() == 2 {
		starts = nil
		for i := range indices.Size(0) {
			starts = append(starts, i*indices.Size(1))
		}
		indices = source.Must(indices.Reshape(-1))
		if perSample != nil {
			perSample = source.Must(perSample.Reshape(-1))
		}
	}
	source.Check(mode >= bagSum && mode <= bagMax, "embedding_bag: expected mode 0 (sum), 1 (mean) or 2 (max), but got %d", mode)
	if mode != bagSum && perSample != nil {
		name := "mean"
		if mode == bagMax {
			name = "max"
		}
		source.Raise(source.RuntimeError, "embedding_bag: per_sample_weights was not None, per_sample_weights is only supported for mode='sum' (got mode='%s'). Please open a feature request on GitHub.", name)
	}
	list := rowList(indices, weight.Size(0))
	bags := len(starts)
	if includeLast {
		source.Check(bags >= 1, "include_last_offset: number of offset should be at least 1")
		bags--
	}
	if len(starts) > 0 {
		source.Check(starts[0] == 0, "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got %d", starts[0])
		source.Check(starts[len(starts)-1] <= len(list), "offsets[-1] can not be greater than input's length %d but got offsets[-1] of %d", len(list), starts[len(starts)-1])
		for b, start := range starts {
			if start < 0 || start > len(list) {
				source.Raise(source.RuntimeError, "embedding_bag: expected offsets between 0 and input's length %d, but got offsets[%d] of %d", len(list), b, start)
			}
		}
	}
	width := weight.Size(1)
	w := bagWork{starts: starts, list: list, mode: mode, padding: padding, width: width}
	if perSample != nil {
		source.Check(perSample.Numel() == len(list), "embedding_bag: expected as many per_sample_weights as indices, %d, but got %d", len(list), perSample.Numel())
		w.factors = tensor.Data[float64](elementwise.Contiguous(elementwise.To(perSample, tensor.Float64)))
	}
	offset2bag, bagSize, maxIndices = define.Zeros([]int{len(list)}, tensor.Int64), define.Zeros([]int{bags}, tensor.Int64), define.Zeros([]int{bags}, tensor.Int64)
	w.bagOf, w.sizes = tensor.Data[int64](offset2bag), tensor.Data[int64](bagSize)
	if mode == bagMax {
		maxIndices = define.Zeros([]int{bags, width}, tensor.Int64)
		w.best = tensor.Data[int64](maxIndices)
	}
	switch weight.DType() {
	case tensor.Float32:
		out = define.Zeros([]int{bags, width}, tensor.Float32)
		combineBags(&w, tensor.Data[float32](elementwise.Contiguous(weight)), list, tensor.Data[float32](out))
	case tensor.Float64:
		out = define.Zeros([]int{bags, width}, tensor.Float64)
		combineBags(&w, tensor.Data[float64](elementwise.Contiguous(weight)), list, tensor.Data[float64](out))
	default:
		wide := define.Zeros([]int{bags, width}, tensor.Float64)
		if len(list) < weight.Size(0) {
			used := tensor.Data[float64](elementwise.To(usedRows(weight, list), tensor.Float64))
			combineBags(&w, used, CountTo(len(list)), tensor.Data[float64](wide))
		} else {
			combineBags(&w, tensor.Data[float64](elementwise.Contiguous(elementwise.To(weight, tensor.Float64))), list, tensor.Data[float64](wide))
		}
		out = elementwise.To(wide, weight.DType())
	}
	if mode != bagMax {
		if mode == bagSum && padding < 0 { // what PyTorch's shortcut leaves out
			offset2bag, bagSize = define.Empty([]int{0}, tensor.Int64), define.Zeros([]int{bags}, tensor.Int64)
		} else {
			source.Throw(tensor.Copy(maxIndices, bagSize))
		}
	}
	return out, offset2bag, bagSize, maxIndices
}

// bagWork is what combining bags of rows reads and what it finds beside the combined rows: the bag of each index, the
// number of rows of each bag, and for the mode max the row that each largest element is of.
type bagWork struct {
	starts, list         []int
	factors              []float64
	mode, padding, width int
	bagOf, sizes, best   []int64
}

// combineBags puts the combined rows of every bag into out. The row of index i is number place[i] of rows. Sums are made
// in float64.
func combineBags[T float32 | float64](w *bagWork, rows []T, place []int, out []T) {
	sum := make([]float64, w.width)
	var watch parallel.Watch
	for b := range w.sizes {
		start, end := w.starts[b], len(w.list)
		if b+1 < len(w.starts) {
			end = w.starts[b+1]
		}
		clear(sum)
		n := 0
		for i := start; i < end; i++ {
			w.bagOf[i] = int64(b)
			if w.list[i] == w.padding {
				continue
			}
			watch.Did(w.width)
			row := rows[place[i]*w.width:][:len(sum)]
			switch {
			case w.mode == bagMax:
				best := w.best[b*w.width:][:len(sum)]
				for j, v := range row {
					if n == 0 || float64(v) > sum[j] {
						sum[j], best[j] = float64(v), int64(w.list[i])
					}
				}
			case w.factors != nil:
				for j, v := range row {
					sum[j] += w.factors[i] * float64(v)
				}
			default:
				for j, v := range row {
					sum[j] += float64(v)
				}
			}
			n++
		}
		w.sizes[b] = int64(n)
		divisor := 1.0
		if w.mode == bagMean && n > 0 {
			divisor = float64(n)
		}
		for j, v := range sum {
			out[b*w.width+j] = T(v / divisor)
		}
	}
}

// CountTo returns 0 to n-1.
func CountTo(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	return at
}

// usedRows copies the rows of a table that a list names.
func usedRows(weight *tensor.Tensor, list []int) *tensor.Tensor {
	at := make([]int64, len(list))
	for i, v := range list {
		at[i] = int64(v)
	}
	return IndexSelect(elementwise.Contiguous(weight), 0, source.Must(tensor.FromSlice(at, len(at))))
}

func giveBag(c define.Call, padding int) {
	out, offset2bag, bagSize, maxIndices := embeddingBag(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Int(4), c.OptionalTensor(6), c.Bool(7), padding)
	c.Give(out, offset2bag, bagSize, maxIndices)
}

// renormRows scales the used rows of a table whose norm exceeds a limit.
func renormRows(c define.Call) {
	weight, limit, p := c.Tensor(0), c.Float(2), c.Float(3)
	source.Check(weight.Dim() == 2, "Expected 2-dimensional tensor, but got %d-dimensional tensor for argument #1 'self' (while checking arguments for embedding_renorm_)", weight.Dim())
	for _, i := range rowList(c.Tensor(1), weight.Size(0)) {
		row := source.Must(weight.Select(0, i))
		if n := reduce.VectorNorm(row, p, nil, false, row.DType()).At().Float64(); n > limit {
			source.Throw(tensor.Copy(row, elementwise.ScaleBy(row, limit/(n+1e-7))))
		}
	}
	c.GiveSelf()
}

var EmbeddingFamily = []define.Definition{
	define.Giving("embedding", func(c define.Call) *tensor.Tensor { return embedding(c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Reads: ops.ReadsNothing.And(1), Grad: embeddingGrad, Tags: ops.Grouped}).Quantized(define.SameScale),
	define.Operator("embedding_bag", func(c define.Call) { giveBag(c, -1) }).With(ops.Def{Grad: define.Concrete(sparsely(5, func(c define.Gradient) { embeddingBagSparseGrad(c, -1) }, func(c define.Gradient) { embeddingBagGrad(c, -1) }))}),
	define.Operator("embedding_bag.padding_idx", func(c define.Call) { giveBag(c, c.IntOr(8, -1)) }).With(ops.Def{Grad: define.Concrete(sparsely(5, embeddingBagSparsePadded, embeddingBagPaddedGrad))}),
	define.Operator("_embedding_bag", func(c define.Call) { giveBag(c, c.IntOr(8, -1)) }).With(ops.Def{Grad: define.Concrete(sparsely(5, embeddingBagSparsePadded, embeddingBagPaddedGrad))}),
	define.Operator("embedding_renorm_", renormRows),
}
