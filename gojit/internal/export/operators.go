package export

import (
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
)

// Operators are those that programs need and that the table of schemas does not have. Package composite says what they are made of.
var Operators = []ops.Operator{
	{Name: "aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)"},
	{Name: "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)"},
	{Name: "aten::_assert_scalar(Scalar self, str assert_msg) -> ()", Run: runAssertScalar, Record: &ops.Def{Tags: ops.Effectful}},
}

// functionalBatchNorm is native_batch_norm with new statistics as further results.
const functionalBatchNorm = aten.NativeBatchNormLegitFunctional
