package aten

import (
	"math"

	"torchjit/gojit/tensor"
)

func withPivoting(name string, pivot bool) {
	check(pivot, "%s: LU without pivoting is not implemented on the CPU", name)
}

// householder factorizes matrices for geqrf: R above, the reflections below the diagonal, and their factors.
func householder(a *tensor.Tensor) (packed, factors *tensor.Tensor) {
	data, rows, columns, count := realBatch("geqrf", a)
	k := min(rows, columns)
	taus := make([]float64, 0, count*k)
	for m := range count {
		x := data[m*rows*columns : (m+1)*rows*columns]
		for j := range k {
			taus = append(taus, reflectPacked(x, rows, columns, j))
		}
	}
	packed = must(tensor.FromSlice(data, a.Shape()...))
	factors = must(tensor.FromSlice(taus, append(append([]int(nil), a.Shape()[:a.Dim()-2]...), k)...))
	return to(packed, a.DType()), to(factors, a.DType())
}

// reflectPacked clears a column below the diagonal, keeps the reflection there, and gives its factor.
func reflectPacked(x []float64, rows, columns, j int) float64 {
	length := 0.0
	for i := j + 1; i < rows; i++ {
		length = math.Hypot(length, x[i*columns+j])
	}
	if length == 0 {
		return 0
	}
	alpha := x[j*columns+j]
	beta := -math.Copysign(math.Hypot(alpha, length), alpha)
	tau := (beta - alpha) / beta
	for i := j + 1; i < rows; i++ {
		x[i*columns+j] /= alpha - beta
	}
	x[j*columns+j] = beta
	for c := j + 1; c < columns; c++ {
		d := x[j*columns+c]
		for i := j + 1; i < rows; i++ {
			d += x[i*columns+j] * x[i*columns+c]
		}
		x[j*columns+c] -= tau * d
		for i := j + 1; i < rows; i++ {
			x[i*columns+c] -= tau * d * x[i*columns+j]
		}
	}
	return tau
}

var luFamily = []definition{
	define("linalg_lu_factor", func(c call) {
		withPivoting("linalg.lu_factor", c.bool(1))
		f := factorizeLU("torch.linalg.lu_factor", c.tensor(0))
		f.mustBeRegular("torch.linalg.lu_factor")
		c.give(f.packed, f.pivots())
	}),
	define("linalg_lu_factor_ex", func(c call) {
		withPivoting("linalg.lu_factor_ex", c.bool(1))
		f := factorizeLU("torch.linalg.lu_factor_ex", c.tensor(0))
		if c.bool(2) {
			f.mustBeRegular("torch.linalg.lu_factor_ex")
		}
		c.give(f.packed, f.pivots(), f.infos())
	}),
	define("_lu_with_info", func(c call) {
		withPivoting("lu_factor", c.bool(1))
		f := factorizeLU("lu", c.tensor(0))
		if c.bool(2) {
			f.mustBeRegular("lu")
		}
		c.give(f.packed, f.pivots(), f.infos())
	}),
	define("linalg_lu", func(c call) {
		withPivoting("linalg.lu", c.bool(1))
		f := factorizeLU("linalg.lu", c.tensor(0))
		l, u := f.triangles()
		c.give(f.permutation(c.tensor(0).DType()), l, u)
	}),
	define("geqrf", func(c call) { c.give(pair(householder(c.tensor(0)))...) }),
}
