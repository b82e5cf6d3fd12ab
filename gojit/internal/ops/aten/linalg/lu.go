package linalg

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func checkPivoting(pivot bool) {
	source.Check(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU")
}

// factorsOf factorizes matrices of the processor, or of a device whose library does.
func factorsOf(name string, a *tensor.Tensor) *luFactors {
	if f := luLibrary(name, a); f != nil {
		return f
	}
	return factorizeLU(name, a)
}

var LuFamily = []define.Definition{
	define.Operator("linalg_lu_factor", func(c define.Call) {
		checkPivoting(c.Bool(1))
		f := factorsOf("torch.linalg.lu_factor", c.Tensor(0))
		f.mustBeRegular("torch.linalg.lu_factor")
		c.Give(f.packed, f.pivots())
	}).ByColumns(0),
	define.Operator("linalg_lu_factor_ex", func(c define.Call) {
		checkPivoting(c.Bool(1))
		f := factorsOf("torch.linalg.lu_factor_ex", c.Tensor(0))
		if c.Bool(2) {
			f.mustBeRegular("torch.linalg.lu_factor_ex")
		}
		c.Give(f.packed, f.pivots(), f.infos())
	}).ByColumns(0),
	define.Deprecated(luDeprecated, define.Operator("_lu_with_info", func(c define.Call) {
		checkPivoting(c.Bool(1))
		f := factorsOf("lu", c.Tensor(0))
		if c.Bool(2) {
			f.mustBeRegular("lu")
		}
		c.Give(f.packed, f.pivots(), f.infos())
	}).ByColumns(0)),
	define.Operator("_linalg_check_errors", func(c define.Call) {
		if c.Tensor(0).IsHollow() {
			return // nothing is known of it
		}
		info := source.Must(elementwise.To(c.Tensor(0), tensor.Int32).ToDevice(tensor.Device{}))
		checkFactored(c.Str(1), c.Tensor(0).Shape(), infos{here: tensor.Data[int32](elementwise.Contiguous(info))})
	}),
	define.Operator("linalg_lu", func(c define.Call) {
		checkPivoting(c.Bool(1))
		f := factorsOf("linalg.lu", c.Tensor(0))
		if f.swapsThere != nil {
			unpacked := define.ApplyAll("lu_unpack", f.packed, f.swapsThere)
			c.Give(unpacked[0].Tensor(), unpacked[1].Tensor(), unpacked[2].Tensor())
			return
		}
		p, l, u := f.parts()
		c.Give(p, l, u)
	}).With(ops.Def{Grad: define.Concrete(luGrad), WithoutGrad: []int{0}, Tags: ops.AsWritten}),
}

// checkFactored fails as the operator name does where the info of a matrix says that it was not factorized.
func checkFactored(name string, shape []int, info infos) {
	switch {
	case strings.Contains(name, "cholesky"):
		mustBePositive(name, shape, info)
	case strings.Contains(name, "inv") || strings.Contains(name, "solve"):
		mustSolve(name, shape, info)
	default:
		(&luFactors{info: info, shape: shape}).mustBeRegular(name)
	}
}
