package autograd

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

const sparseConstructor = "SparseCooTensorWithDimsAndTensorsBackward0"

// nodeNames are the names that do not follow from the operator's.
var nodeNames = map[string]string{
	"sum.dim_IntList": "SumBackward1", "mean.dim": "MeanBackward1", "pow.Tensor_Tensor": "PowBackward1",
	"max": "MaxBackward1", "min": "MinBackward1", "prod.dim_int": "ProdBackward1", "squeeze.dim": "SqueezeBackward1",
	"reshape": "ReshapeAliasBackward0", "flatten.using_ints": "ReshapeAliasBackward0", "masked_fill.Tensor": "MaskedFillBackward1",
	"std.correction": "StdBackward0", "split_with_sizes": "SplitWithSizesBackward0", "copy": "CopyBackwards", "to.dtype": "ToCopyBackward0",
	"softmax.int": "SoftmaxBackward0", "log_softmax.int": "LogSoftmaxBackward0", "_to_copy": "ToCopyBackward0", "contiguous": "CloneBackward0",
	"sparse_coo_tensor.indices": sparseConstructor, "sparse_coo_tensor.indices_size": sparseConstructor, "_sparse_coo_tensor_unsafe": sparseConstructor,
	"_sparse_coo_tensor_with_dims_and_tensors": sparseConstructor, "to_sparse.sparse_dim": "ToSparseBackward1",
	"_sparse_mm": "SparseAddmmBackward0", "_sparse_sum": "SumBackward0", "_sparse_softmax.int": "SparseSoftmaxBackward0",
	"_sparse_log_softmax.int": "SparseLogSoftmaxBackward0",
	"chunk":                   "SplitBackward0", "norm.ScalarOpt_dim": "NormBackward1", "pow.Scalar": "PowBackward2",
}

// nodeName returns what PyTorch calls the node of an operator.
func nodeName(op *ops.Operator, args []value.Value) string {
	s := op.Schema()
	name := functionalName(s, len(s.Arguments) > 0 && s.Arguments[0].Alias != nil && s.Arguments[0].Alias.IsWrite)
	switch name {
	case "_sparse_mm":
		if args[0].Tensor().IsSparse() && args[1].Tensor().IsSparse() {
			return "SparseSparseMatmulBackward0"
		}
	case "linear", "matmul":
		return productName(name, args)
	}
	if n, ok := nodeNames[name]; ok {
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
