package kernel

import (
	"math"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// ReduceOp combines the elements of a run into one value.
//
// The order is part of the meaning, so that every target gives the same bits. A run is cut into
// blocks, see Kernel.ReduceBlock. In a block, lane j of ReduceLanes starts with the identity and
// takes the elements j, j+lanes, j+2*lanes, ... in this order; then the upper half of the lanes is
// added to the lower half until one is left. The results of the blocks are combined from the
// first to the last, each as the right operand.
type ReduceOp uint8

// The reductions. An empty run gives the identity.
const (
	NoReduce      ReduceOp = iota // the output has all elements
	ReduceSum                     // or, for Bool; identity 0
	ReduceProduct                 // and, for Bool; identity 1
	ReduceMin                     // a NaN wins; identity: the largest value, infinite for floats
	ReduceMax                     // a NaN wins; identity: the smallest value, infinite for floats
)

// ReduceBlock is the number of elements after which a reduction joins its lanes, and ProductBlock that of a kernel which only
// multiplies: a product is no more exact for being cut, and passes through denormal numbers, which are slow, in each block.
const (
	ReduceBlock  = 1 << 14
	ProductBlock = 1 << 16
)

// ReduceBlock returns the number of elements after which the reductions of k join their lanes.
func (k *Kernel) ReduceBlock() int {
	for _, o := range k.Outputs {
		if o.Reduce != ReduceProduct {
			return ReduceBlock
		}
	}
	return ProductBlock
}

// reduceBytes is the size of the lanes of a reduction together: four AVX-512 registers.
const reduceBytes = 256

// ReduceLanes returns how many partial results a reduction over values of a type keeps.
func ReduceLanes(t tensor.DType) int { return reduceBytes / t.Size() }

var reduceNames = [...]string{NoReduce: "", ReduceSum: "sum", ReduceProduct: "product", ReduceMin: "min", ReduceMax: "max"}

// String returns the name of the reduction in the text form; NoReduce has none.
func (r ReduceOp) String() string { return reduceNames[r] }

var reduceOps = [...]Op{ReduceSum: Add, ReduceProduct: Mul, ReduceMin: Min, ReduceMax: Max}

// Op returns the operation that combines two values; r is not NoReduce.
func (r ReduceOp) Op() Op { return reduceOps[r] }

// Identity returns what a reduction of values of a type starts with.
func (r ReduceOp) Identity(t tensor.DType) tensor.Scalar {
	switch r {
	case ReduceProduct:
		return tensor.Int(1)
	case ReduceMin:
		return largest(t)
	case ReduceMax:
		return smallest(t)
	}
	return tensor.Int(0)
}

// largest and smallest return what no element of a type exceeds.
func largest(t tensor.DType) tensor.Scalar {
	switch {
	case t.IsFloating():
		return tensor.Float(math.Inf(1))
	case t == tensor.Bool:
		return tensor.Int(1)
	case t == tensor.Uint8:
		return tensor.Int(math.MaxUint8)
	}
	return tensor.Int(1<<(8*t.Size()-1) - 1)
}

func smallest(t tensor.DType) tensor.Scalar {
	switch {
	case t.IsFloating():
		return tensor.Float(math.Inf(-1))
	case t == tensor.Bool, t == tensor.Uint8:
		return tensor.Int(0)
	}
	return tensor.Int(-1 << (8*t.Size() - 1))
}
