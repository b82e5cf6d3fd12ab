package autograd

import (
	"strings"
	"unicode"

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
	if n := nodes[name]; n != "" {
		return n
	}
	base, _, _ := strings.Cut(name, ".")
	return camelCase(base) + "Backward0"
}

// nodes are the names that do not follow from the operator's: PyTorch numbers overloads, and shows the last node of
// operators that it composes. Sums, products and quotients with numbers are called as from Python, where they are those
// with tensors.
var nodes = map[string]string{
	"_convolution":                  "ConvolutionBackward0",
	"adaptive_avg_pool1d":           "SqueezeBackward1",
	"adaptive_max_pool1d":           "SqueezeBackward1",
	"adjoint":                       "TransposeBackward0",
	"atleast_1d":                    "ReshapeAliasBackward0",
	"atleast_2d":                    "UnsqueezeBackward0",
	"atleast_3d":                    "UnsqueezeBackward0",
	"avg_pool1d":                    "SqueezeBackward1",
	"bernoulli.Tensor":              "BernoulliBackward1",
	"bernoulli.float":               "BernoulliBackward2",
	"clamp_max.Tensor":              "ClampMaxBackward1",
	"clamp_min.Tensor":              "ClampMinBackward1",
	"conv1d":                        "ConvolutionBackward0",
	"conv1d.padding":                "ConvolutionBackward0",
	"conv2d":                        "ConvolutionBackward0",
	"conv2d.padding":                "ConvolutionBackward0",
	"conv3d":                        "ConvolutionBackward0",
	"conv3d.padding":                "ConvolutionBackward0",
	"conv_transpose1d":              "ConvolutionBackward0",
	"conv_transpose2d.input":        "ConvolutionBackward0",
	"conv_transpose3d.input":        "ConvolutionBackward0",
	"copysign.Scalar":               "CopysignBackward1",
	"div.Scalar_mode":               "DivBackward2",
	"div.Tensor_mode":               "DivBackward2",
	"expand_as":                     "ExpandBackward0",
	"fft_fft2":                      "FftC2CBackward0",
	"fft_fftn":                      "FftC2CBackward0",
	"fft_irfft":                     "FftC2RBackward0",
	"fft_irfft2":                    "FftC2RBackward0",
	"fft_irfftn":                    "FftC2RBackward0",
	"fft_rfft":                      "FftR2CBackward0",
	"fft_rfft2":                     "FftR2CBackward0",
	"fft_rfftn":                     "FftR2CBackward0",
	"fill.Tensor":                   "FillBackward1",
	"fmod.Tensor":                   "FmodBackward1",
	"imag":                          "SelectBackward0",
	"index_fill.int_Tensor":         "IndexFillBackward1",
	"inverse":                       "LinalgInvExBackward0",
	"lerp.Tensor":                   "LerpBackward1",
	"linalg_cholesky":               "LinalgCholeskyExBackward0",
	"linalg_inv":                    "LinalgInvExBackward0",
	"linalg_solve":                  "LinalgSolveExBackward0",
	"mH":                            "TransposeBackward0",
	"mT":                            "TransposeBackward0",
	"matrix_H":                      "TransposeBackward0",
	"max.other":                     "MaximumBackward0",
	"max_pool1d":                    "SqueezeBackward1",
	"max_pool1d_with_indices":       "SqueezeBackward1",
	"max_pool2d":                    "MaxPool2DWithIndicesBackward0",
	"max_pool3d":                    "MaxPool3DWithIndicesBackward0",
	"median.dim":                    "MedianBackward1",
	"min.other":                     "MinimumBackward0",
	"moveaxis.int":                  "PermuteBackward0",
	"moveaxis.intlist":              "PermuteBackward0",
	"movedim.int":                   "PermuteBackward0",
	"movedim.intlist":               "PermuteBackward0",
	"nanmedian.dim":                 "NanmedianBackward1",
	"narrow":                        "SliceBackward0",
	"norm.ScalarOpt_dim_dtype":      "NormBackward3",
	"norm.ScalarOpt_dtype":          "NormBackward2",
	"normal.Tensor_Tensor":          "NormalBackward3",
	"normal.Tensor_float":           "NormalBackward1",
	"normal.float_Tensor":           "NormalBackward2",
	"numpy_T":                       "PermuteBackward0",
	"outer":                         "MulBackward0",
	"real":                          "SelectBackward0",
	"relu6":                         "HardtanhBackward0",
	"remainder.Tensor":              "RemainderBackward1",
	"repeat_interleave.self_Tensor": "IndexSelectBackward0",
	"repeat_interleave.self_int":    "IndexSelectBackward0",
	"reshape_as":                    "ReshapeAliasBackward0",
	"round.decimals":                "RoundBackward1",
	"rsub.Scalar":                   "RsubBackward1",
	"scatter.value":                 "ScatterBackward1",
	"selu":                          "EluBackward0",
	"sort.stable":                   "SortBackward1",
	"special_xlog1py.other_scalar":  "SpecialXlog1PyBackward2",
	"special_xlog1py.self_scalar":   "SpecialXlog1PyBackward1",
	"special_zeta.other_scalar":     "SpecialZetaBackward2",
	"special_zeta.self_scalar":      "SpecialZetaBackward1",
	"split.sizes":                   "SplitWithSizesBackward0",
	"square":                        "PowBackward0",
	"take_along_dim":                "GatherBackward0",
	"tensor_split.indices":          "SliceBackward0",
	"tensor_split.sections":         "SliceBackward0",
	"tensor_split.tensor_indices_or_sections": "SliceBackward0",
	"tile":                     "RepeatBackward0",
	"type_as":                  "ToCopyBackward0",
	"unflatten.Dimname":        "ViewBackward0",
	"unflatten.int":            "ViewBackward0",
	"upsample_bicubic2d.vec":   "UpsampleBicubic2DBackward1",
	"upsample_bilinear2d.vec":  "UpsampleBilinear2DBackward1",
	"upsample_linear1d.vec":    "UpsampleLinear1DBackward1",
	"upsample_nearest1d.vec":   "UpsampleNearest1DBackward1",
	"upsample_nearest2d.vec":   "UpsampleNearest2DBackward1",
	"upsample_nearest3d.vec":   "UpsampleNearest3DBackward1",
	"upsample_trilinear3d.vec": "UpsampleTrilinear3DBackward1",
	"view_as":                  "ViewBackward0",
	"xlogy.Scalar_Other":       "XlogyBackward2",
	"xlogy.Scalar_Self":        "XlogyBackward1",
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
