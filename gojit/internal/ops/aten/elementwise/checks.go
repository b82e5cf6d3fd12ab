package elementwise

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// checkRealAbs fails for complex numbers: their absolute values are real.
func checkRealAbs(c define.Call) {
	source.Check(!c.Tensor(0).DType().IsComplex(), "In-place abs is not supported for complex tensors.")
}

// checkPowerBase fails where the base cannot hold the result of float_power.
func checkPowerBase(c define.Call) {
	base, wide := c.Tensor(0).DType(), powerType(OperandOf(c, 0), OperandOf(c, 1))
	source.Check(base == wide, "the base given to float_power_ has dtype %s but the operation's result requires dtype %s", base.CppName(), wide.CppName())
}
