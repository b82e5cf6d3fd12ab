package linalg

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

func withPivoting(name string, pivot bool) {
	source.Check(pivot, "%s: LU without pivoting is not implemented on the CPU", name)
}

var LuFamily = []define.Definition{
	define.Operator("linalg_lu_factor", func(c define.Call) {
		withPivoting("linalg.lu_factor", c.Bool(1))
		f := factorizeLU("torch.linalg.lu_factor", c.Tensor(0))
		f.mustBeRegular("torch.linalg.lu_factor")
		c.Give(f.packed, f.pivots())
	}).ByColumns(0),
	define.Operator("linalg_lu_factor_ex", func(c define.Call) {
		withPivoting("linalg.lu_factor_ex", c.Bool(1))
		f := factorizeLU("torch.linalg.lu_factor_ex", c.Tensor(0))
		if c.Bool(2) {
			f.mustBeRegular("torch.linalg.lu_factor_ex")
		}
		c.Give(f.packed, f.pivots(), f.infos())
	}).ByColumns(0),
	define.Deprecated(luDeprecated, define.Operator("_lu_with_info", func(c define.Call) {
		withPivoting("lu_factor", c.Bool(1))
		f := factorizeLU("lu", c.Tensor(0))
		if c.Bool(2) {
			f.mustBeRegular("lu")
		}
		c.Give(f.packed, f.pivots(), f.infos())
	}).ByColumns(0)),
	define.Operator("linalg_lu", func(c define.Call) {
		withPivoting("linalg.lu", c.Bool(1))
		f := factorizeLU("linalg.lu", c.Tensor(0))
		p, l, u := f.parts()
		c.Give(p, l, u)
	}).With(ops.Def{Grad: define.Concrete(luGrad), WithoutGrad: []int{0}, Tags: ops.AsWritten}),
}
