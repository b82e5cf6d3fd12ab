package nn

import (
	"math"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// SoftmaxOfRows makes float32 along rows exponentials over their sum, for those who bring the memory.
type SoftmaxOfRows struct {
	programs reduce.SoftmaxPrograms[float32]
}

// NewSoftmaxOfRows returns one.
func NewSoftmaxOfRows() SoftmaxOfRows {
	return SoftmaxOfRows{reduce.NewSoftmaxPrograms[float32](tensor.Float32, tensor.Float32)}
}

// Times returns one that multiplies elements with a factor above zero before.
func (s SoftmaxOfRows) Times(factor float64) SoftmaxOfRows {
	return SoftmaxOfRows{s.programs.Times(factor, tensor.Float32)}
}

// Run writes the results for rows of n elements to dst, which may be src.
func (s *SoftmaxOfRows) Run(dst, src launch.Row, rows, n int) {
	for from, batch := 0, reduce.RowBatch(n); from < rows; from += batch {
		s.programs.Rows(dst.From(from), src.From(from), min(batch, rows-from), n)
	}
}

// NormalOfRows is the normalization of float32 along rows, for those who bring the memory.
type NormalOfRows struct {
	sum, deviation, result *launch.Program
	hasBias, hasWeight     bool
}

// NewNormalOfRows returns one that multiplies with a weight, and adds a bias, where there is a weight.
func NewNormalOfRows(hasWeight, hasBias bool) NormalOfRows {
	f := tensor.Float32
	result := rowNormal
	switch {
	case hasWeight && hasBias:
		result = rowNormalAffine
	case hasWeight:
		result = rowNormalScaled
	}
	return NormalOfRows{rowSum.Program(f, f), rowDeviation.Program(f, f), result.Program(f, f), hasBias, hasWeight}
}

// normalRoom holds what a batch of rows has beside its elements.
type normalRoom struct {
	center, scale [reduce.MaxRowBatch]float32
	operands      [6]launch.Row
}

var normalRooms = sync.Pool{New: func() any { return new(normalRoom) }}

// Run writes normalized rows of n elements to dst, which may be src.
func (p *NormalOfRows) Run(dst, src launch.Row, weight, bias unsafe.Pointer, rows, n int, eps float64) {
	room := normalRooms.Get().(*normalRoom)
	defer normalRooms.Put(room)
	for from, batch := 0, reduce.RowBatch(n); from < rows; from += batch {
		p.batch(room, dst.From(from), src.From(from), weight, bias, min(batch, rows-from), n, eps)
	}
	clear(room.operands[:])
}

func (p *NormalOfRows) batch(room *normalRoom, dst, src launch.Row, weight, bias unsafe.Pointer, count, n int, eps float64) {
	operands := func(rows ...launch.Row) []launch.Row { return room.operands[:copy(room.operands[:], rows)] }
	p.sum.Rows(count, n, operands(reduce.Numbers(&room.center, false), src), nil)
	for i := range room.center[:count] {
		room.center[i] /= float32(n)
	}
	p.deviation.Rows(count, n, operands(reduce.Numbers(&room.scale, false), src, reduce.Numbers(&room.center, true)), nil)
	for i, s := range room.scale[:count] {
		room.scale[i] = float32(1 / math.Sqrt(float64(s)/float64(n)+eps))
	}
	used := operands(dst, src, reduce.Numbers(&room.center, true), reduce.Numbers(&room.scale, true))
	if p.hasWeight {
		used = append(used, launch.Row{Ptr: weight})
	}
	if p.hasBias {
		used = append(used, launch.Row{Ptr: bias})
	}
	p.result.Rows(count, n, used, nil)
}

// MostRows is how many rows of n elements go through the steps of these operators at once.
func MostRows(n int) int { return reduce.RowBatch(n) }
