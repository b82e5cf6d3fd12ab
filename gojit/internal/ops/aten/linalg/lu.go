package aten

import "github.com/torchjit/torchjit/gojit/internal/ops"

func withPivoting(name string, pivot bool) {
	check(pivot, "%s: LU without pivoting is not implemented on the CPU", name)
}

var luFamily = []definition{
	define("linalg_lu_factor", func(c call) {
		withPivoting("linalg.lu_factor", c.bool(1))
		f := factorizeLU("torch.linalg.lu_factor", c.tensor(0))
		f.mustBeRegular("torch.linalg.lu_factor")
		c.give(f.packed, f.pivots())
	}).byColumns(0),
	define("linalg_lu_factor_ex", func(c call) {
		withPivoting("linalg.lu_factor_ex", c.bool(1))
		f := factorizeLU("torch.linalg.lu_factor_ex", c.tensor(0))
		if c.bool(2) {
			f.mustBeRegular("torch.linalg.lu_factor_ex")
		}
		c.give(f.packed, f.pivots(), f.infos())
	}).byColumns(0),
	deprecated(luDeprecated, define("_lu_with_info", func(c call) {
		withPivoting("lu_factor", c.bool(1))
		f := factorizeLU("lu", c.tensor(0))
		if c.bool(2) {
			f.mustBeRegular("lu")
		}
		c.give(f.packed, f.pivots(), f.infos())
	}).byColumns(0)),
	define("linalg_lu", func(c call) {
		withPivoting("linalg.lu", c.bool(1))
		f := factorizeLU("linalg.lu", c.tensor(0))
		p, l, u := f.parts()
		c.give(p, l, u)
	}).with(ops.Def{Grad: concrete(luGrad), WithoutGrad: []int{0}, Tags: ops.AsWritten}),
}
