package autograd

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// nodeName returns what PyTorch calls the node of an operator.
func nodeName(op *ops.Operator, args []value.Value) string {
	name := functionalName(op)
	switch name {
	case "_sparse_mm":
		if args[0].Tensor().IsSparse() && args[1].Tensor().IsSparse() {
			return "SparseSparseMatmulBackward0"
		}
	case "linear", "matmul":
		return productName(name, args)
	}
	if n := op.Def().Node; n != "" {
		return n
	}
	base, _, _ := strings.Cut(name, ".")
	var b strings.Builder
	for _, part := range strings.Split(base, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String() + "Backward0"
}

// productName names a product by the kernel that PyTorch uses for it.
func productName(name string, args []value.Value) string {
	a, b := args[0].Tensor().Dim(), args[1].Tensor().Dim()
	switch {
	case name == "linear" && a == 2 && !args[2].IsNone():
		return "AddmmBackward0"
	case name == "linear" && a > 2:
		return "ViewBackward0"
	case a == 1 && b == 1:
		return "DotBackward0"
	case a == 2 && b == 1:
		return "MvBackward0"
	case a == 2 && b == 2:
		return "MmBackward0"
	case a == 1 && b == 2:
		return "SqueezeBackward4"
	}
	return "UnsafeViewBackward0"
}
