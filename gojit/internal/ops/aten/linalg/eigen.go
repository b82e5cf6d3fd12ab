package linalg

import (
	"math"
	"math/cmplx"

	"github.com/torchjit/torchjit/gojit/internal/linalg/lapack"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// eigenGeneral gives the eigenvalues and, with vectors, the eigenvectors of square matrices, as complex numbers. A vector has
// length one; a complex one has a largest element that is real.
func eigenGeneral(name string, a *tensor.Tensor, wantVectors bool) (values, vectors *tensor.Tensor) {
	n, count := squareMatrices(name, a)
	if a.OnDevice() {
		return eigenGeneralThere(name, a, n, wantVectors)
	}
	ws := make([]complex128, count*n)
	var vs []complex128
	if wantVectors {
		vs = make([]complex128, count*n*n)
	}
	solve := eigenOfComplex
	if !a.DType().IsComplex() {
		solve = eigenOfReal
	}
	solve(name, a, n, ws, vs)
	d := a.DType().ToComplex()
	values = elementwise.To(source.Must(tensor.FromSlice(ws, a.Shape()[:a.Dim()-1]...)), d)
	if wantVectors {
		vectors = elementwise.To(source.Must(tensor.FromSlice(vs, a.Shape()...)), d)
	}
	return values, vectors
}

func eigenOfReal(name string, a *tensor.Tensor, n int, values, vectors []complex128) {
	data := tensor.Data[float64](writable(a, tensor.Float64))
	for _, v := range data {
		if v-v != 0 {
			source.Raise(source.RuntimeError, "torch.%s: input tensor should not contain infs or NaNs.", name)
		}
	}
	for ; len(values) > 0; values, data = values[n:], data[n*n:] {
		var part []complex128
		if vectors != nil {
			part, vectors = vectors[:n*n], vectors[n*n:]
		}
		if !lapack.EigenGeneral(n, data[:n*n], values[:n], part) {
			source.Raise(linalgError, "torch.%s: the algorithm failed to converge", name)
		}
	}
}

func eigenOfComplex(name string, a *tensor.Tensor, n int, values, vectors []complex128) {
	data := tensor.Data[complex128](writable(a, tensor.Complex128))
	for _, v := range data {
		if cmplx.IsNaN(v) || cmplx.IsInf(v) {
			source.Raise(source.RuntimeError, "torch.%s: input tensor should not contain infs or NaNs.", name)
		}
	}
	for ; len(values) > 0; values, data = values[n:], data[n*n:] {
		t, q := data[:n*n], []complex128(nil)
		if vectors != nil {
			q = unitMatrix(n)
		}
		toHessenberg(t, q, n)
		if !schur(t, q, n) {
			source.Raise(linalgError, "torch.%s: the algorithm failed to converge", name)
		}
		for i := range n {
			values[i] = t[i*n+i]
		}
		if vectors != nil {
			copy(vectors, schurVectors(t, q, n))
			vectors = vectors[n*n:]
		}
	}
}

// toHessenberg clears a below the first subdiagonal by reflections, which q collects.
func toHessenberg(a, q []complex128, n int) {
	for k := 0; k+2 < n; k++ {
		v := make([]complex128, n)
		length := 0.0
		for i := k + 1; i < n; i++ {
			v[i] = a[i*n+k]
			length = math.Hypot(length, cmplx.Abs(v[i]))
		}
		if length == 0 {
			continue
		}
		phase := complex(1, 0)
		if v[k+1] != 0 {
			phase = v[k+1] / complex(cmplx.Abs(v[k+1]), 0)
		}
		v[k+1] += phase * complex(length, 0)
		norm := 0.0
		for i := k + 1; i < n; i++ {
			norm += real(v[i])*real(v[i]) + imag(v[i])*imag(v[i])
		}
		reflectBoth(a, q, v, complex(2/norm, 0), n)
	}
}

// reflectBoth applies the reflection I - tau v v* from both sides to a and from the right to q.
func reflectBoth(a, q, v []complex128, tau complex128, n int) {
	for j := range n {
		d := complex(0, 0)
		for i := range n {
			d += cmplx.Conj(v[i]) * a[i*n+j]
		}
		for i := range n {
			a[i*n+j] -= tau * v[i] * d
		}
	}
	for _, m := range [][]complex128{a, q} {
		for ; len(m) > 0; m = m[n:] {
			row, d := m[:n], complex(0, 0)
			for j, e := range v {
				d += row[j] * e
			}
			for j, e := range v {
				row[j] -= tau * d * cmplx.Conj(e)
			}
		}
	}
}

// schur makes a Hessenberg matrix upper triangular by shifted QR steps of rotations, which q collects. It reports whether that
// came to an end.
func schur(t, q []complex128, n int) bool {
	end := n - 1
	for steps := 0; end > 0; steps++ {
		if steps > 100*n {
			return false
		}
		start := end
		for start > 0 && !negligible(t, n, start) {
			start--
		}
		if start > 0 {
			t[start*n+start-1] = 0
		}
		if start == end {
			end--
			continue
		}
		shift := wilkinson(t, n, end)
		if steps%11 == 10 { // out of a cycle
			shift = complex(cmplx.Abs(t[end*n+end-1])+cmplx.Abs(t[end*n+end]), 0)
		}
		qrStep(t, q, n, start, end, shift)
	}
	return true
}

func negligible(t []complex128, n, i int) bool {
	scale := cmplx.Abs(t[i*n+i]) + cmplx.Abs(t[(i-1)*n+i-1])
	if scale == 0 {
		scale = 1
	}
	return cmplx.Abs(t[i*n+i-1]) <= 1e-16*scale
}

// wilkinson is the eigenvalue of the last two rows that is nearest to the last element.
func wilkinson(t []complex128, n, end int) complex128 {
	a, b := t[(end-1)*n+end-1], t[(end-1)*n+end]
	c, d := t[end*n+end-1], t[end*n+end]
	half := (a + d) / 2
	root := cmplx.Sqrt((a-d)*(a-d)/4 + b*c)
	first, second := half+root, half-root
	if cmplx.Abs(first-d) < cmplx.Abs(second-d) {
		return first
	}
	return second
}

// qrStep factorizes rows start to end of t minus the shift by rotations, and multiplies them in the other order.
func qrStep(t, q []complex128, n, start, end int, shift complex128) {
	for i := start; i <= end; i++ {
		t[i*n+i] -= shift
	}
	top, right := 0, n
	if q == nil { // values alone: only the part itself matters
		top, right = start, end+1
	}
	cs, ss := make([]float64, end), make([]complex128, end)
	for k := start; k < end; k++ {
		c, s := rotation(t[k*n+k], t[(k+1)*n+k])
		cs[k], ss[k] = c, s
		for j := k; j < right; j++ {
			x, y := t[k*n+j], t[(k+1)*n+j]
			t[k*n+j] = complex(c, 0)*x + s*y
			t[(k+1)*n+j] = -cmplx.Conj(s)*x + complex(c, 0)*y
		}
	}
	for k := start; k < end; k++ {
		c, s := complex(cs[k], 0), ss[k]
		for i := top; i <= min(k+1, end); i++ {
			x, y := t[i*n+k], t[i*n+k+1]
			t[i*n+k] = c*x + cmplx.Conj(s)*y
			t[i*n+k+1] = -s*x + c*y
		}
		for i := 0; i < len(q)/n; i++ {
			x, y := q[i*n+k], q[i*n+k+1]
			q[i*n+k] = c*x + cmplx.Conj(s)*y
			q[i*n+k+1] = -s*x + c*y
		}
	}
	for i := start; i <= end; i++ {
		t[i*n+i] += shift
	}
}

// rotation is the one that turns (x, y) into (r, 0).
func rotation(x, y complex128) (c float64, s complex128) {
	if y == 0 {
		return 1, 0
	}
	if x == 0 {
		return 0, cmplx.Conj(y) / complex(cmplx.Abs(y), 0)
	}
	r := math.Hypot(cmplx.Abs(x), cmplx.Abs(y))
	phase := x / complex(cmplx.Abs(x), 0)
	return cmplx.Abs(x) / r, phase * cmplx.Conj(y) / complex(r, 0)
}

// schurVectors are the eigenvectors of q t q*, as the columns of a matrix.
func schurVectors(t, q []complex128, n int) []complex128 {
	out := make([]complex128, n*n)
	scale := 0.0
	for _, v := range t {
		scale = max(scale, cmplx.Abs(v))
	}
	x := make([]complex128, n)
	for k := range n {
		clear(x)
		x[k] = 1
		for i := k - 1; i >= 0; i-- {
			s := -t[i*n+k]
			for j := i + 1; j < k; j++ {
				s -= t[i*n+j] * x[j]
			}
			d := t[i*n+i] - t[k*n+k]
			if cmplx.Abs(d) < 1e-16*scale {
				d = complex(1e-16*scale, 0)
			}
			if d == 0 {
				d = 1e-300
			}
			x[i] = s / d
		}
		v := make([]complex128, n)
		for i := range n {
			for j := 0; j <= k; j++ {
				v[i] += q[i*n+j] * x[j]
			}
		}
		for i, e := range normalizedVector(v) {
			out[i*n+k] = e
		}
	}
	return out
}

// normalizedVector has length one and a largest element that is real and, in it, the sign that it had.
func normalizedVector(v []complex128) []complex128 {
	length, largest := 0.0, 0
	for i, e := range v {
		length = math.Hypot(length, cmplx.Abs(e))
		if cmplx.Abs(e) > cmplx.Abs(v[largest])*(1+1e-12) {
			largest = i
		}
	}
	if length == 0 {
		return v
	}
	phase := v[largest] / complex(cmplx.Abs(v[largest]), 0)
	for i := range v {
		v[i] /= phase * complex(length, 0)
		if math.Abs(imag(v[i])) < 1e-14 {
			v[i] = complex(real(v[i]), 0)
		}
	}
	return v
}

var EigenFamily = []define.Definition{
	define.Operator("linalg_eig", func(c define.Call) { c.Give(define.Pair(eigenGeneral("linalg.eig", c.Tensor(0), true))...) }).With(ops.Def{Grad: define.Concrete(eigGrad), Tags: ops.AsWritten}).ByColumns(1),
	define.Giving("linalg_eigvals", func(c define.Call) *tensor.Tensor {
		values, _ := eigenGeneral("linalg.eigvals", c.Tensor(0), false)
		return values
	}),
}
