package autograd

import (
	"strings"
	"unicode"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// nodeName returns what PyTorch calls the node of a call of the operator.
func (p *plan) nodeName(args []value.Value) string {
	if p.nodeOf != nil {
		return p.nodeOf(args)
	}
	return p.node
}

// nameNodes says what the nodes of an operator are called: node, nodeOf where it depends on the arguments, or wrapped where Python's arithmetic
// has given a number.
func (p *plan) nameNodes(op *ops.Operator) {
	name := functionalName(op)
	base, _, _ := strings.Cut(name, ".")
	if p.node = op.Node(); p.node == "" {
		p.node = camelCase(base) + "Backward0"
	}
	switch name {
	case "_sparse_mm":
		plain := p.node
		p.nodeOf = func(args []value.Value) string {
			if args[0].Tensor().IsSparse() && args[1].Tensor().IsSparse() {
				return "SparseSparseMatmulBackward0"
			}
			return plain
		}
	case "fft_fft":
		plain := p.node
		p.nodeOf = func(args []value.Value) string {
			if !args[0].Tensor().DType().IsComplex() {
				return "FftR2CBackward0"
			}
			return plain
		}
	case "linear", "matmul":
		p.nodeOf = func(args []value.Value) string { return productName(name, args) }
	}
	if op.Has(ops.WrapsNumbers) && strings.HasPrefix(op.Schema().Overload, "Scalar") {
		p.wrapped = p.node
		last := len(p.node) - 1
		p.node = p.node[:last] + string(p.node[last]+1) // PyTorch counts the overload for numbers behind that for tensors
	}
}

// camelCase writes upsample_nearest2d as UpsampleNearest2D.
func camelCase(name string) string {
	var b strings.Builder
	start := true
	for _, c := range name {
		switch {
		case c == '_':
		case start:
			b.WriteRune(unicode.ToUpper(c))
		default:
			b.WriteRune(c)
		}
		start = c == '_' || unicode.IsDigit(c)
	}
	return b.String()
}

// productName names a product by the kernel that PyTorch uses for it.
func productName(name string, args []value.Value) string {
	a, b := args[0].Tensor().Dim(), args[1].Tensor().Dim()
	switch {
	case name == "linear" && a == 2 && !args[2].IsNone():
		return "AddmmBackward0"
	case name == "linear" && a == 1 && !args[2].IsNone():
		return "AddBackward0"
	case name == "linear" && a > 2:
		return "ViewBackward0"
	case a == 1 && b == 1:
		return "DotBackward0"
	case a == 2 && b == 1:
		return "MvBackward0"
	case a == 2 && b == 2:
		return "MmBackward0"
	case a == 1 && b == 2:
		return "SqueezeBackward3"
	}
	return "UnsafeViewBackward0"
}
