package export

import (
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// scalarOf is the number that an argument is.
func scalarOf(a exportir.Argument) (s tensor.Scalar, ok bool) {
	switch a.Kind {
	case exportir.IntArgument:
		return value.Int(a.Int).Scalar()
	case exportir.FloatArgument:
		return value.Float(a.Float).Scalar()
	case exportir.ComplexArgument:
		return value.Complex(a.Complex).Scalar()
	}
	return s, false
}

// numberTensor is a number that stands for a tensor. It does not decide of which type the result is: it has the type of the other tensors where that
// has such numbers.
func (l *lowerer) numberTensor(n *exportir.Node, s tensor.Scalar) *tensor.Tensor {
	own := map[tensor.ScalarKind]tensor.DType{tensor.IntScalar: tensor.Int64, tensor.FloatScalar: tensor.DefaultDType(), tensor.ComplexScalar: tensor.Complex64}[s.Kind]
	for _, a := range n.Args {
		if a.Kind != exportir.NodeArgument {
			continue
		}
		if v := l.from.Node(a.Text).Meta.Val; v != nil && v.Kind == exportir.TensorValue {
			if d, ok := tensor.ParseDType(v.DType); ok && rankOf(d) >= rankOf(own) {
				return tensor.FromScalar(s, d)
			}
		}
	}
	return tensor.FromScalar(s, own)
}

// rankOf tells which numbers an element type has: truth values, integers, floats, complex numbers, each with those before.
func rankOf(d tensor.DType) int {
	switch {
	case d.IsComplex():
		return 3
	case d.IsFloating():
		return 2
	case d == tensor.Bool:
		return 0
	}
	return 1
}
