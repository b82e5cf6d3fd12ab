package linalg

import (
	"math"
	"math/cmplx"
	"slices"
	"strconv"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/linalg/lapack"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// linalgError is what failures of a decomposition raise.
const linalgError source.Class = "_LinAlgError"

// factored is what matrices are factorized in.
type factored interface {
	lapack.Scalar
	tensor.Element
}

// onFactored calls the one of four functions that is for elements of a type.
func onFactored(d tensor.DType, f32, f64, c64, c128 func()) {
	switch d {
	case tensor.Float32:
		f32()
	case tensor.Float64:
		f64()
	case tensor.Complex64:
		c64()
	case tensor.Complex128:
		c128()
	}
}

// factorable fails on what is not a batch of matrices of a type that factorizations are defined for.
func factorable(name string, a *tensor.Tensor) {
	source.Check(a.Dim() >= 2, "%s: The input tensor A must have at least 2 dimensions.", name)
	source.Check(a.DType().IsFloating() || a.DType().IsComplex(), "%s: Expected a floating point or complex tensor as input. Got %s", name, a.DType().CppName())
	source.Check(a.DType() != tensor.Float16 && a.DType() != tensor.BFloat16 && a.DType() != tensor.Complex32, "%s: Low precision dtypes not supported. Got %s", name, a.DType().CppName())
}

// squareMatrices is factorable for square matrices, whose size and number it returns.
func squareMatrices(name string, a *tensor.Tensor) (n, count int) {
	source.Check(a.Dim() >= 2, "%s: The input tensor A must have at least 2 dimensions.", name)
	n = a.Size(a.Dim() - 1)
	source.Check(a.Size(a.Dim()-2) == n, "%s: A must be batches of square matrices, but they are %d by %d matrices", name, a.Size(a.Dim()-2), n)
	factorable(name, a)
	return n, define.NumelOf(a.Shape()[:a.Dim()-2])
}

// eachMatrix calls f for all matrices of a batch, several at once where that is worth it; work is for one.
func eachMatrix(count, work int, f func(m int)) {
	parallel.For(count, 1+define.RowGrain/max(work, 1), func(lo, hi int) {
		for m := lo; m < hi; m++ {
			f(m)
		}
	})
}

// writable returns a contiguous copy of a tensor that nobody else has.
func writable(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	out := elementwise.To(t, d)
	if out == t || !out.IsContiguous() {
		return source.Must(out.Clone(tensor.ContiguousFormat))
	}
	return out
}

// luFactors are the factorizations of a batch of matrices, packed: the strictly lower part of L and all of U in one matrix.
type luFactors struct {
	packed        *tensor.Tensor
	swaps         []int32        // of all matrices: the row that each row was exchanged with, counted from one
	swapsThere    *tensor.Tensor // where they are on a device
	info          infos          // the first zero of U's diagonal, counted from one; zero where there is none
	shape         []int          // of the batch
	rows, columns int
}

// factorizeLU factorizes matrices with partial pivoting.
func factorizeLU(name string, a *tensor.Tensor) *luFactors {
	factorable(name, a)
	rows, columns := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	f := &luFactors{packed: writable(a, a.DType()), shape: a.Shape()[:a.Dim()-2], rows: rows, columns: columns}
	count := define.NumelOf(f.shape)
	f.swaps, f.info.here = make([]int32, count*min(rows, columns)), make([]int32, count)
	onFactored(a.DType(), func() { eliminate[float32](f) }, func() { eliminate[float64](f) }, func() { eliminate[complex64](f) }, func() { eliminate[complex128](f) })
	return f
}

func eliminate[T factored](f *luFactors) {
	data := tensor.Data[T](f.packed)
	size, k := f.rows*f.columns, min(f.rows, f.columns)
	eachMatrix(len(f.info.here), size*k, func(m int) {
		f.info.here[m] = int32(lapack.LU(f.rows, f.columns, data[m*size:][:size], f.columns, f.swaps[m*k:][:k]))
	})
}

// infos returns a tensor that says of each matrix where its factor is singular.
func (f *luFactors) infos() *tensor.Tensor { return f.info.tensor(f.shape) }

// pivots returns the exchanges as a tensor.
func (f *luFactors) pivots() *tensor.Tensor {
	if f.swapsThere != nil {
		return f.swapsThere
	}
	return source.Must(tensor.FromSlice(f.swaps, append(slices.Clone(f.shape), min(f.rows, f.columns))...))
}

// firstFailure returns the first matrix whose info is not zero, and that; or zero.
func firstFailure(info []int32) (matrix int, at int32) {
	for i, at := range info {
		if at != 0 {
			return i, at
		}
	}
	return 0, 0
}

// element names one of several matrices in an error.
func batchElement(shape []int, matrix int) string {
	if len(shape) == 0 {
		return ""
	}
	return "(Batch element " + strconv.Itoa(matrix) + "): "
}

// mustBeRegular fails where a factor is singular.
func (f *luFactors) mustBeRegular(name string) {
	if i, at := firstFailure(f.info.read()); at != 0 {
		source.Raise(source.RuntimeError, "%s: %sU[%d,%d] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)", name, batchElement(f.shape, i), at, at)
	}
}

// parts returns the matrices P of P L U, L, with a unit diagonal, and U.
func (f *luFactors) parts() (p, l, u *tensor.Tensor) {
	d, k := f.packed.DType(), min(f.rows, f.columns)
	shaped := func(rows, columns int) *tensor.Tensor {
		return define.Zeros(append(slices.Clone(f.shape), rows, columns), d)
	}
	p, l, u = shaped(f.rows, f.rows), shaped(f.rows, k), shaped(k, f.columns)
	onFactored(d, func() { separate[float32](f, p, l, u) }, func() { separate[float64](f, p, l, u) }, func() { separate[complex64](f, p, l, u) }, func() { separate[complex128](f, p, l, u) })
	return p, l, u
}

func separate[T factored](f *luFactors, p, l, u *tensor.Tensor) {
	rows, columns, k := f.rows, f.columns, min(f.rows, f.columns)
	packed, ps, ls, us := tensor.Data[T](f.packed), tensor.Data[T](p), tensor.Data[T](l), tensor.Data[T](u)
	order := make([]int, rows)
	for m := range f.info.here {
		for i := range order {
			order[i] = i
		}
		for i, with := range f.swaps[m*k : (m+1)*k] {
			order[i], order[with-1] = order[with-1], order[i]
		}
		for i, r := range order {
			ps[m*rows*rows+r*rows+i] = 1
			row, below := packed[(m*rows+i)*columns:][:columns], min(i, k)
			copy(ls[(m*rows+i)*k:][:below], row)
			if i < k {
				ls[(m*rows+i)*k+i] = 1
				copy(us[(m*k+i)*columns+i:][:columns-i], row[i:])
			}
		}
	}
}

// oddExchanges reports whether an odd number of rows of matrix m changed places.
func (f *luFactors) oddExchanges(m int) bool {
	odd := false
	for i, with := range f.swaps[m*f.rows : (m+1)*f.rows] {
		odd = odd != (int(with) != i+1)
	}
	return odd
}

// solveIn solves with the factors of square matrices; b, contiguous and of their batch, becomes the solution.
func (f *luFactors) solveIn(b *tensor.Tensor) {
	onFactored(b.DType(), func() { solveFactored[float32](f, b) }, func() { solveFactored[float64](f, b) }, func() { solveFactored[complex64](f, b) }, func() { solveFactored[complex128](f, b) })
}

func solveFactored[T factored](f *luFactors, b *tensor.Tensor) {
	data, rhs := tensor.Data[T](f.packed), tensor.Data[T](b)
	n, columns := f.rows, b.Size(b.Dim()-1)
	eachMatrix(len(f.info.here), n*n*columns, func(m int) {
		lu, x := data[m*n*n:][:n*n], rhs[m*n*columns:][:n*columns]
		lapack.Exchange(f.swaps[m*n:][:n], x, columns, columns, false)
		lapack.Solve(lapack.Triangle{Unit: true}, n, lu, n, x, columns, columns)
		lapack.Solve(lapack.Triangle{Upper: true}, n, lu, n, x, columns, columns)
	})
}

// determinants gives for each matrix the product of the pivots as sign and logarithm of the modulus.
func determinants(name string, a *tensor.Tensor) (signs []complex128, logs []float64) {
	n, count := squareMatrices(name, a)
	f := factorizeLU(name, a)
	data := tensor.Data[complex128](elementwise.To(elementwise.Contiguous(source.Must(f.packed.Diagonal(0, -2, -1))), tensor.Complex128))
	for m := range count {
		sign, log := complex(1, 0), 0.0
		if f.oddExchanges(m) {
			sign = -1
		}
		for _, p := range data[m*n : (m+1)*n] {
			if p == 0 {
				sign, log = 0, math.Inf(-1)
				break
			}
			sign *= p / complex(cmplx.Abs(p), 0)
			log += math.Log(cmplx.Abs(p))
		}
		signs, logs = append(signs, sign), append(logs, log)
	}
	return signs, logs
}

func determinant(name string, a *tensor.Tensor) *tensor.Tensor {
	squareMatrices(name, a)
	f := factorizeLU(name, a)
	out := define.Empty(a.Shape()[:a.Dim()-2], a.DType())
	onFactored(a.DType(), func() { diagonalProducts[float32](f, out) }, func() { diagonalProducts[float64](f, out) }, func() { diagonalProducts[complex64](f, out) }, func() { diagonalProducts[complex128](f, out) })
	return out
}

func diagonalProducts[T factored](f *luFactors, out *tensor.Tensor) {
	n, data, to := f.rows, tensor.Data[T](f.packed), tensor.Data[T](out)
	for m := range to {
		p := T(1)
		if f.oddExchanges(m) {
			p = -1
		}
		for k := range n {
			p *= data[m*n*n+k*n+k]
		}
		to[m] = p
	}
}

// solveBatch solves a x = b for batches of matrices b, n by columns each. info tells of each matrix where it is singular.
func solveBatch(name string, a, b *tensor.Tensor) (x *tensor.Tensor, info infos) {
	atLeastMatrices(name, a, b)
	lead := source.Must(tensor.Broadcast(a.Shape()[:a.Dim()-2], b.Shape()[:b.Dim()-2]))
	n, columns := a.Size(a.Dim()-1), b.Size(b.Dim()-1)
	source.Check(b.Size(b.Dim()-2) == n, "%s: Incompatible shapes of A and B for the equation AX = B (%dx%d and %dx%d)", name, a.Size(a.Dim()-2), n, b.Size(b.Dim()-2), columns)
	a = source.Must(a.Expand(append(slices.Clone(lead), a.Size(a.Dim()-2), n)...))
	squareMatrices(name, a)
	d := tensor.Promote(a.DType(), b.DType())
	given := elementwise.To(a, d)
	defer define.ForgetMade(a, given)
	if f := luLibrary(name, given); f != nil {
		if x = f.solveLibrary(elementwise.To(source.Must(b.Expand(append(slices.Clone(lead), n, columns)...)), d), kernel.AsIs); x != nil {
			return x, f.info
		}
	}
	f := factorizeLU(name, given)
	defer f.packed.Release()
	x = writable(source.Must(b.Expand(append(slices.Clone(lead), n, columns)...)), d)
	f.solveIn(x)
	return x, f.info
}

// mustSolve fails as the operator name does where a matrix is singular.
func mustSolve(name string, shape []int, info infos) {
	matrix, at := firstFailure(info.read())
	if at == 0 {
		return
	}
	if name == "linalg.inv" || name == "linalg.inv_ex" {
		source.Raise(linalgError, "%s: %sThe diagonal element %d is zero, the inversion could not be completed because the input matrix is singular.", name, batchElement(shape, matrix), at)
	}
	source.Raise(linalgError, "torch.%s: %sThe solver failed because the input matrix is singular.", name, batchElement(shape, matrix))
}

// inverseOf inverts square matrices and tells where they are singular.
func inverseOf(name string, a *tensor.Tensor) (*tensor.Tensor, infos) {
	n, _ := squareMatrices(name, a)
	one := source.Must(views.Eye(n, n, views.MakeLike{Dtype: a.DType()}).ToDevice(a.Device()))
	defer one.Release()
	return solveBatch(name, a, one)
}

func inverse(a *tensor.Tensor) *tensor.Tensor {
	x, info := inverseOf("linalg.inv", a)
	mustSolve("linalg.inv", a.Shape()[:a.Dim()-2], info)
	return x
}

// solve solves a x = b and fails where a is singular.
func solve(a, b *tensor.Tensor, left bool) *tensor.Tensor {
	x, info := solveAs("linalg.solve", a, b, left)
	mustSolve("linalg.solve", a.Shape()[:a.Dim()-2], info)
	return x
}

// solveAs handles vectors: b is one where it has one dimension or the shape of a batch of them.
func solveAs(name string, a, b *tensor.Tensor, left bool) (*tensor.Tensor, infos) {
	atLeastMatrices(name, a)
	vector := b.Dim() == 1 || b.Dim() == a.Dim()-1 && tensor.SameShape(b.Shape(), a.Shape()[:a.Dim()-1])
	if vector {
		source.Check(left, "linalg.solve: Vector broadcasting of the right hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)")
		x, info := solveBatch(name, a, source.Must(b.Unsqueeze(-1)))
		return source.Must(x.SqueezeDim(-1)), info
	}
	if !left {
		x, info := solveBatch(name, source.Must(a.MatrixTranspose()), source.Must(b.MatrixTranspose()))
		return source.Must(x.MatrixTranspose()), info
	}
	return solveBatch(name, a, b)
}

// choleskyOf gives the triangular factor of each positive definite matrix, of which one triangle is read, and the order of
// the first leading minor of each that is not positive.
func choleskyOf(name string, a *tensor.Tensor, upper bool) (*tensor.Tensor, infos) {
	n, count := squareMatrices(name, a)
	if a.OnDevice() {
		if l, info := choleskyLibrary(a, upper); l != nil {
			return l, info
		}
	}
	if upper {
		a = elementwise.Conjugate(source.Must(a.MatrixTranspose()))
	}
	out, info := writable(a, a.DType()), make([]int32, count)
	onFactored(a.DType(), func() { choleskyEach[float32](out, n, info) }, func() { choleskyEach[float64](out, n, info) }, func() { choleskyEach[complex64](out, n, info) }, func() { choleskyEach[complex128](out, n, info) })
	if upper {
		out = elementwise.Contiguous(elementwise.Conjugate(source.Must(out.MatrixTranspose())))
	}
	return out, infos{here: info}
}

func choleskyEach[T factored](t *tensor.Tensor, n int, info []int32) {
	data := tensor.Data[T](t)
	eachMatrix(len(info), n*n*n/2, func(m int) {
		x := data[m*n*n:][:n*n]
		if info[m] = int32(lapack.Cholesky(n, x, n)); info[m] != 0 {
			for i := range n {
				clear(x[i*n+i+1:][:n-i-1])
			}
		}
	})
}

func cholesky(name string, a *tensor.Tensor, upper bool) *tensor.Tensor {
	l, info := choleskyOf(name, a, upper)
	mustBePositive(name, a.Shape()[:a.Dim()-2], info)
	return l
}

func mustBePositive(name string, shape []int, info infos) {
	if matrix, at := firstFailure(info.read()); at != 0 {
		source.Raise(linalgError, "%s: %sThe factorization could not be completed because the input is not positive-definite (the leading minor of order %d is not positive-definite).", name, batchElement(shape, matrix), at)
	}
}

// solveTriangular solves with triangular matrices, of which only that triangle is read.
func solveTriangular(a, b *tensor.Tensor, upper, left, unit bool) *tensor.Tensor {
	if !left {
		return source.Must(solveTriangular(source.Must(a.MatrixTranspose()), source.Must(b.MatrixTranspose()), !upper, true, unit).MatrixTranspose())
	}
	const name = "linalg.solve_triangular"
	atLeastMatrices(name, a, b)
	lead := source.Must(tensor.Broadcast(a.Shape()[:a.Dim()-2], b.Shape()[:b.Dim()-2]))
	n, columns := a.Size(a.Dim()-1), b.Size(b.Dim()-1)
	source.Check(b.Size(b.Dim()-2) == n, "%s: Incompatible shapes of A and B for the equation AX = B (%dx%d and %dx%d)", name, a.Size(a.Dim()-2), n, b.Size(b.Dim()-2), columns)
	squareMatrices(name, a)
	d := tensor.Promote(a.DType(), b.DType())
	wide := elementwise.Contiguous(elementwise.To(source.Must(a.Expand(append(slices.Clone(lead), n, n)...)), d))
	right := elementwise.To(source.Must(b.Expand(append(slices.Clone(lead), n, columns)...)), d)
	if x := trianglesLibrary(wide, right, upper, unit); x != nil {
		return x
	}
	x := writable(right, d)
	t := lapack.Triangle{Upper: upper, Unit: unit}
	onFactored(d, func() { solveTriangles[float32](t, wide, x) }, func() { solveTriangles[float64](t, wide, x) }, func() { solveTriangles[complex64](t, wide, x) }, func() { solveTriangles[complex128](t, wide, x) })
	return x
}

func solveTriangles[T factored](t lapack.Triangle, a, b *tensor.Tensor) {
	n, columns := a.Size(a.Dim()-1), b.Size(b.Dim()-1)
	data, rhs := tensor.Data[T](a), tensor.Data[T](b)
	eachMatrix(define.NumelOf(b.Shape()[:b.Dim()-2]), n*n*columns, func(m int) {
		lapack.Solve(t, n, data[m*n*n:][:n*n], n, rhs[m*n*columns:][:n*columns], columns, columns)
	})
}
