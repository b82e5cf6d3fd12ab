package elementwise

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Counting is an expression of the number of each element. Its programs are kept by the type they give.
type Counting struct {
	Computed tensor.DType // of the number and the parameters
	Params   int
	Expr     Expression
	narrow   TypePrograms // for numbers of 32 bits
	wide     TypePrograms
}

var IntegerSteps = &Counting{Computed: tensor.Int64, Params: 2, Expr: StepsFrom}

// StepsFrom is a + i * step.
func StepsFrom(b Builder, x ...Element) Element { return b.Add(x[1], b.Mul(x[0], x[2])) }

// Fill makes n elements of a type.
func (q *Counting) Fill(n int, d tensor.DType, params ...tensor.Scalar) *tensor.Tensor {
	out := define.Empty([]int{n}, d)
	number, programs := tensor.Int64, &q.wide
	if n <= math.MaxInt32 {
		number, programs = tensor.Int32, &q.narrow
	}
	p := programs.Of(d, func(b *kernel.Builder) {
		x := []Element{b.Convert(b.Iota(number), q.Computed)}
		for range q.Params {
			x = append(x, b.Param(q.Computed))
		}
		b.Output(b.Convert(q.Expr(b, x...), kernel.ComputeType(d)), d)
	})
	p.Run([]*tensor.Tensor{out}, params)
	return out
}

// Sequence counts from 0 to n-1.
func Sequence(n int) *tensor.Tensor {
	return IntegerSteps.Fill(n, tensor.Int64, tensor.Int(0), tensor.Int(1))
}
