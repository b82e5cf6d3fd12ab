package quantized

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// packedTable is what quantized::embedding_bag_prepack makes: a table of vectors, each with its own scale and zero point.
type packedTable struct{ weight *tensor.Tensor }

// packedTableKind is the class of the packed form, without the namespace of classes.
const packedTableKind = "quantized.EmbeddingPackedParamsBase"

// What begins the state of a packed table in archives, and what ends it: the bits of its elements.
const (
	packedTableVersion = 1
	packedTableBits    = 8
)

// State is what archives hold of a packed table: a version, the table, no floats, and the bits of its elements.
func (p *packedTable) State() value.Value {
	return value.OfTuple(value.NewTuple(value.Int(packedTableVersion), value.OfList(value.Tensors([]*tensor.Tensor{p.weight})),
		value.OfList(value.NewList(types.Float)), value.OfList(value.NewList(types.Int, value.Int(packedTableBits)))))
}

// packedTableOf reads the state that an archive holds.
func packedTableOf(content any) any {
	state, ok := content.(value.Value)
	if !ok {
		return content
	}
	if state.Kind() != value.KindTuple || len(state.Tuple().Items) != 4 || state.Tuple().Items[1].Kind() != value.KindList {
		return nil
	}
	tensors := state.Tuple().Items[1].List().Items
	if len(tensors) != 1 || tensors[0].Kind() != value.KindTensor {
		return nil
	}
	return newPackedTable(tensors[0].Tensor())
}

// newPackedTable checks a table.
func newPackedTable(weight *tensor.Tensor) *packedTable {
	source.Check(weight.Dim() == 2, "quantized::embedding_bag_prepack expects a weight of 2 dimensions, but got %d", weight.Dim())
	source.Check(weight.DType() == tensor.QUInt8, "quantized::embedding_bag_prepack expects a weight of type QUInt8, but got %s", weight.DType().CppName())
	q := elementwise.QuantizerOf(weight)
	source.Check(q.FloatZeros != nil, "Expect embedding_bag weights to be quantized using kPerChannelAffineFloatQParams")
	source.Check(q.Axis == 0, "Expect embedding_bag weights to be quantized along dimension 0, but got %d", q.Axis)
	return &packedTable{elementwise.Contiguous(weight)}
}

// packedTableIn returns the table in argument i: one made here, or the state that an archive holds of one.
func packedTableIn(c define.Call, i int) *packedTable {
	if c.Args[i].Kind() == value.KindCapsule && c.Args[i].Capsule().Kind == packedTableKind {
		if p, _ := c.Args[i].Capsule().Prepared(packedTableOf).(*packedTable); p != nil {
			return p
		}
	}
	source.Raise(source.RuntimeError, "Expected a value of type '__torch__.torch.classes.%s' but found type '%s'", packedTableKind, c.Args[i].Kind())
	return nil
}

// rowNumbers reads numbers of rows.
func rowNumbers(x *tensor.Tensor) []int64 {
	return tensor.Data[int64](elementwise.Contiguous(elementwise.To(x, tensor.Int64)))
}

// addRow adds a vector of the table, times a factor.
func (p *packedTable) addRow(to []float32, rows []uint8, index int64, factor float32) {
	q := p.weight.Quantizer()
	source.Check(index >= 0 && index < int64(len(q.Scales)), "Invalid indices data: %d is no row of a table of %d", index, len(q.Scales))
	scale := float32(q.Scales[index])
	zero := -q.FloatZeros[index] * scale * factor
	scale *= factor
	for j, v := range rows[int(index)*len(to) : int(index+1)*len(to)] {
		to[j] += float32(v)*scale + zero
	}
}

// sums gives the sum of vectors of each bag: those of indices from its offset to that of the next.
func (p *packedTable) sums(indices, ends []int64, factors []float32) *tensor.Tensor {
	width := p.weight.Size(1)
	out := define.Zeros([]int{len(ends), width}, tensor.Float32)
	view := p.weight.IntegersView()
	defer view.Release()
	rows, to := tensor.Data[uint8](view), tensor.Data[float32](out)
	start := int64(0)
	var watch parallel.Watch
	for bag, end := range ends {
		watch.Did(1)
		for i := start; i < end; i++ {
			factor := float32(1)
			if factors != nil {
				factor = factors[i]
			}
			watch.Did(width)
			p.addRow(to[bag*width:(bag+1)*width], rows, indices[i], factor)
		}
		start = max(start, end)
	}
	return out
}

// quantizedEmbedding gives the vectors of indices.
func quantizedEmbedding(c define.Call) *tensor.Tensor {
	p, x := packedTableIn(c, 0), c.Tensor(1)
	source.Check(x.Dim() == 1 || x.Dim() == 2, "qembedding/qembedding_bag operator supports 1 or 2d indices, got %d", x.Dim())
	source.Check(!c.Bool(2), "quantized::embedding_byte: tables without some of their rows are not supported")
	indices := rowNumbers(x)
	ends := make([]int64, len(indices))
	for i := range ends {
		ends[i] = int64(i + 1)
	}
	return source.Must(p.sums(indices, ends, nil).View(append(slices.Clone(x.Shape()), p.weight.Size(1))...))
}

// quantizedBags gives the sums of the vectors of bags of indices.
func quantizedBags(c define.Call) *tensor.Tensor {
	p, x, offsets, factors := packedTableIn(c, 0), c.Tensor(1), c.OptionalTensor(2), c.OptionalTensor(6)
	source.Check(x.Dim() == 1 || x.Dim() == 2, "qembedding/qembedding_bag operator supports 1 or 2d indices, got %d", x.Dim())
	source.Check(!c.Bool(5), "quantized::embedding_bag_byte: tables without some of their rows are not supported")
	indices := rowNumbers(x)
	var ends []int64
	if x.Dim() == 2 {
		source.Check(offsets == nil, "embedding_bag_byte operator: input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences.")
		for i := range x.Size(0) {
			ends = append(ends, int64((i+1)*x.Size(1)))
		}
	} else {
		source.Check(offsets != nil, "embedding_bag_byte expects offsets to be set for 1D indices.")
		ends = bagEnds(rowNumbers(offsets), len(indices), c.Bool(8))
	}
	if factors == nil {
		return p.sums(indices, ends, nil)
	}
	source.Check(factors.Numel() == len(indices), "expected a weight for each of %d indices, but got %d", len(indices), factors.Numel())
	return p.sums(indices, ends, tensor.Data[float32](elementwise.Contiguous(elementwise.To(factors, tensor.Float32))))
}

// bagEnds gives where each bag ends: the last at the end of all, unless that is among the offsets.
func bagEnds(offsets []int64, n int, includeLast bool) []int64 {
	for i, o := range offsets {
		source.Check(o >= 0 && o <= int64(n) && (i > 0 || o == 0) && (i == 0 || o >= offsets[i-1]), "Expect the lengths data to be non-negative, and offsets within %d indices, but got %d", n, o)
	}
	if len(offsets) == 0 {
		return nil
	}
	if includeLast {
		return offsets[1:]
	}
	return append(slices.Clone(offsets[1:]), int64(n))
}

var quantizedEmbeddingFamily = []define.Definition{
	views.Answering("quantized::embedding_bag_prepack", func(c define.Call) value.Value {
		return value.OfCapsule(&value.Capsule{Kind: packedTableKind, Native: true, Content: newPackedTable(c.Tensor(0))})
	}),
	define.Giving("quantized::embedding_bag_unpack", func(c define.Call) *tensor.Tensor { return packedTableIn(c, 0).weight }),
	define.Giving("quantized::embedding_byte", quantizedEmbedding),
	define.Giving("quantized::embedding_bag_byte", quantizedBags),
}
