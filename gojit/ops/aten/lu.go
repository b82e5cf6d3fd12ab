package aten

import (
	"math"
	"math/cmplx"
	"strconv"

	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
)

// luFactors are the factorizations of a batch of matrices, packed: the strictly lower part of L and all of U in one matrix.
type luFactors struct {
	packed  *tensor.Tensor
	pivots  *tensor.Tensor // int32: the row that each row was exchanged with, counted from one
	info    []int          // the first zero of U's diagonal, counted from one; zero where there is none
	shape   []int          // of the batch
	n       [2]int         // rows and columns
	swapped [][]int32
}

// factorizeLU factorizes matrices with partial pivoting.
func factorizeLU(name string, a *tensor.Tensor) *luFactors {
	check(a.Dim() >= 2, "%s: The input tensor A must have at least 2 dimensions.", name)
	check(a.DType().IsFloating() || a.DType().IsComplex(), "%s: Expected a floating point or complex tensor as input. Got %s", name, a.DType().CppName())
	check(a.DType() != tensor.Float16 && a.DType() != tensor.BFloat16, "%s: Low precision dtypes not supported. Got %s", name, a.DType().CppName())
	rows, columns := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	f := &luFactors{shape: a.Shape()[:a.Dim()-2], n: [2]int{rows, columns}}
	data := tensor.Data[complex128](must(to(a, tensor.Complex128).Clone(tensor.ContiguousFormat)))
	var all []int32
	for m := range numelOf(f.shape) {
		swaps, info := eliminate(data[m*rows*columns:(m+1)*rows*columns], rows, columns)
		all = append(all, swaps...)
		f.swapped, f.info = append(f.swapped, swaps), append(f.info, info)
	}
	f.packed = to(must(tensor.FromSlice(data, a.Shape()...)), a.DType())
	f.pivots = must(tensor.FromSlice(all, append(append([]int(nil), f.shape...), min(rows, columns))...))
	return f
}

// eliminate factorizes one matrix in place. It gives the exchanges of rows and the first zero pivot, both counted from one.
func eliminate(a []complex128, rows, columns int) (swaps []int32, zero int) {
	for k := range min(rows, columns) {
		best := k
		for i := k + 1; i < rows; i++ {
			if cmplx.Abs(a[i*columns+k]) > cmplx.Abs(a[best*columns+k]) {
				best = i
			}
		}
		swaps = append(swaps, int32(best+1))
		if a[best*columns+k] == 0 {
			if zero == 0 {
				zero = k + 1
			}
			continue
		}
		if best != k {
			for j := range columns {
				a[k*columns+j], a[best*columns+j] = a[best*columns+j], a[k*columns+j]
			}
		}
		for i := k + 1; i < rows; i++ {
			factor := a[i*columns+k] / a[k*columns+k]
			a[i*columns+k] = factor
			for j := k + 1; j < columns; j++ {
				a[i*columns+j] -= factor * a[k*columns+j]
			}
		}
	}
	return swaps, zero
}

// infos returns a tensor that says of each matrix where its factor is singular.
func (f *luFactors) infos() *tensor.Tensor {
	info := make([]int32, len(f.info))
	for i, at := range f.info {
		info[i] = int32(at)
	}
	return must(tensor.FromSlice(info, f.shape...))
}

// mustBeRegular fails where a factor is singular.
func (f *luFactors) mustBeRegular(name string) {
	for i, at := range f.info {
		if at > 0 {
			batch := ""
			if len(f.shape) > 0 {
				batch = "(Batch element " + strconv.Itoa(i) + "): "
			}
			raise(source.RuntimeError, "%s: %sU[%d,%d] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)", name, batch, at, at)
		}
	}
}

// permutation returns the matrices P of P L U.
func (f *luFactors) permutation(d tensor.DType) *tensor.Tensor {
	n := f.n[0]
	p := zeros(append(append([]int(nil), f.shape...), n, n), tensor.Float64)
	data := tensor.Data[float64](p)
	for m, swaps := range f.swapped {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		for k, with := range swaps {
			order[k], order[with-1] = order[with-1], order[k]
		}
		for i, r := range order {
			data[m*n*n+r*n+i] = 1
		}
	}
	return to(p, d)
}

// triangles returns the factors L, with a unit diagonal, and U.
func (f *luFactors) triangles() (l, u *tensor.Tensor) {
	k := min(f.n[0], f.n[1])
	l = triangle(must(f.packed.Narrow(-1, 0, k)), -1, false)
	tensor.Fill(must(l.Diagonal(0, -2, -1)), tensor.Int(1))
	return l, triangle(must(f.packed.Narrow(-2, 0, k)), 0, true)
}

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
		c.give(f.packed, f.pivots)
	}),
	define("linalg_lu_factor_ex", func(c call) {
		withPivoting("linalg.lu_factor_ex", c.bool(1))
		f := factorizeLU("torch.linalg.lu_factor_ex", c.tensor(0))
		if c.bool(2) {
			f.mustBeRegular("torch.linalg.lu_factor_ex")
		}
		c.give(f.packed, f.pivots, f.infos())
	}),
	define("_lu_with_info", func(c call) {
		withPivoting("lu_factor", c.bool(1))
		f := factorizeLU("lu", c.tensor(0))
		if c.bool(2) {
			f.mustBeRegular("lu")
		}
		c.give(f.packed, f.pivots, f.infos())
	}),
	define("linalg_lu", func(c call) {
		withPivoting("linalg.lu", c.bool(1))
		f := factorizeLU("linalg.lu", c.tensor(0))
		l, u := f.triangles()
		c.give(f.permutation(c.tensor(0).DType()), l, u)
	}),
	define("geqrf", func(c call) { c.give(pair(householder(c.tensor(0)))...) }),
}
