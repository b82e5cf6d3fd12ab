package lapack

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// random returns numbers whose parts lie between -1 and 1.
func random[T Scalar](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = number[T](complex(2*r.Float64()-1, 2*r.Float64()-1))
	}
	return x
}

// multiplied returns the product of two matrices by its definition.
func multiplied[T Scalar](m, n, k int, a, b []T) []T {
	c := make([]T, m*n)
	for i := range m {
		for p := range k {
			for j := range n {
				c[i*n+j] += a[i*k+p] * b[p*n+j]
			}
		}
	}
	return c
}

// adjoint returns the conjugate transpose of m rows of n elements.
func adjoint[T Scalar](m, n int, a []T) []T {
	to := make([]T, m*n)
	turn(to, m, a, n, m, n)
	conjugate(to)
	return to
}

// apart returns the largest difference between two slices.
func apart[T Scalar](x, y []T) (most float64) {
	for i, v := range x {
		d := v - y[i]
		size := math.Hypot(realPart(d), imaginaryPart(d))
		if !(size <= most) {
			most = size
		}
	}
	return most
}

// tolerance is for sums of n products of numbers of size one.
func tolerance[T Scalar](n int) float64 {
	var t T
	switch any(t).(type) {
	case float32, complex64:
		return 3e-6 * float64(n+4)
	}
	return 6e-15 * float64(n+4)
}

var sizes = [][2]int{{1, 1}, {2, 2}, {3, 5}, {5, 3}, {24, 24}, {25, 25}, {33, 40}, {64, 64}, {70, 50}, {100, 100}}

func testLU[T Scalar](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range sizes {
		m, n := size[0], size[1]
		k := min(m, n)
		a := random[T](r, m*n)
		lu, pivots := append([]T(nil), a...), make([]int32, k)
		if zero := LU(m, n, lu, n, pivots); zero != 0 {
			t.Fatalf("%v: zero pivot %d", size, zero)
		}
		l, u := make([]T, m*k), make([]T, k*n)
		for i := range m {
			for j := range n {
				switch {
				case j < i && j < k:
					l[i*k+j] = lu[i*n+j]
				case i < k:
					u[i*n+j] = lu[i*n+j]
				}
			}
			if i < k {
				l[i*k+i] = 1
			}
		}
		back := multiplied(m, n, k, l, u)
		Exchange(pivots, back, n, n, true)
		if d := apart(back, a); !(d < tolerance[T](k)) {
			t.Errorf("%v: L U is %g off", size, d)
		}
	}
}

func testCholesky[T Scalar](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 5, 16, 24, 25, 40, 64, 100, 150} {
		x := random[T](r, n*n)
		a := multiplied(n, n, n, x, adjoint(n, n, x))
		for i := range n {
			a[i*n+i] += 1
		}
		l := append([]T(nil), a...)
		for i := range n { // the upper triangle is not read
			for j := i + 1; j < n; j++ {
				l[i*n+j] = number[T](complex(math.NaN(), 0))
			}
		}
		if at := Cholesky(n, l, n); at != 0 {
			t.Fatalf("%d: minor %d", n, at)
		}
		if d := apart(multiplied(n, n, n, l, adjoint(n, n, l)), a); !(d < tolerance[T](n)*float64(n)/4) {
			t.Errorf("%d: L L' is %g off", n, d)
		}
		a[(n-1)*n+n-1] = -1
		if at := Cholesky(n, a, n); at != n {
			t.Errorf("%d: minor %d is the first that is not positive", n, at)
		}
	}
}

func testSolve[T Scalar](t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 3, 16, 17, 40, 64, 100} {
		for _, count := range []int{1, 3, 20} {
			for kind := range 4 {
				triangle := Triangle{Upper: kind&1 != 0, Unit: kind&2 != 0}
				a, b := random[T](r, n*n), random[T](r, n*count)
				clean := make([]T, n*n)
				for i := range n {
					for j := range n {
						a[i*n+j] /= number[T](complex(float64(n), 0))
						if j != i && j > i == triangle.Upper {
							clean[i*n+j] = a[i*n+j]
						}
					}
					a[i*n+i] += 1
					clean[i*n+i] = a[i*n+i]
					if triangle.Unit {
						clean[i*n+i] = 1
					}
				}
				x := append([]T(nil), b...)
				Solve(triangle, n, a, n, x, count, count)
				if d := apart(multiplied(n, count, n, clean, x), b); !(d < tolerance[T](n)) {
					t.Errorf("%d by %d, %+v: the product with the solution is %g off", n, count, triangle, d)
				}
			}
		}
	}
}

func testQR[T Scalar](t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, size := range append(sizes, [2]int{1, 4}, [2]int{4, 1}, [2]int{60, 140}) {
		m, n := size[0], size[1]
		a := random[T](r, m*n)
		qr := append([]T(nil), a...)
		q := QR(m, n, qr, n, make([]T, min(m, n)))
		for i := range m {
			clear(qr[i*n:][:min(i, n)])
		}
		full := make([]T, m*m)
		for i := range m {
			full[i*m+i] = 1
		}
		unit := append([]T(nil), full...)
		q.Apply(m, full, m, false)
		if d := apart(multiplied(m, n, m, full, qr), a); !(d < tolerance[T](m)) {
			t.Errorf("%v: Q R is %g off", size, d)
		}
		q.Apply(m, full, m, true)
		if d := apart(full, unit); !(d < tolerance[T](m)) {
			t.Errorf("%v: Q' Q is %g off", size, d)
		}
	}
}

func testEigen[T Scalar](t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{1, 2, 3, 4, 10, 33, 34, 65, 100} {
		x := random[T](r, n*n)
		a := append([]T(nil), x...)
		for i, v := range adjoint(n, n, x) {
			a[i] += v
		}
		if n == 10 { // eigenvalues that are equal, and zero
			clear(a)
			a[0], a[11], a[22] = 2, 2, 1
		}
		values, vectors := make([]float64, n), make([]T, n*n)
		if !Eigen(n, append([]T(nil), a...), n, values, vectors) {
			t.Fatalf("%d: no end", n)
		}
		scaled := append([]T(nil), vectors...)
		for i := range n {
			if i > 0 && values[i] < values[i-1] {
				t.Errorf("%d: value %d is less than the one before", n, i)
			}
			for j := range n {
				scaled[i*n+j] *= number[T](complex(values[j], 0))
			}
		}
		if d := apart(multiplied(n, n, n, scaled, adjoint(n, n, vectors)), a); !(d < tolerance[T](n)) {
			t.Errorf("%d: the product is %g off", n, d)
		}
		alone := make([]float64, n)
		if !Eigen(n, append([]T(nil), a...), n, alone, nil) || apart(alone, values) > tolerance[T](n) {
			t.Errorf("%d: without vectors the values are others", n)
		}
	}
}

func testSVD[T Scalar](t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, size := range [][2]int{{1, 1}, {2, 2}, {5, 3}, {4, 1}, {40, 40}, {100, 40}, {70, 65}, {9, 9}, {8, 8}, {7, 7}} {
		m, n := size[0], size[1]
		a := random[T](r, m*n)
		switch m {
		case 9: // of rank one
			for i := range a {
				a[i] = 1
			}
		case 8:
			clear(a)
		case 7: // a block with a zero inside the diagonal
			clear(a)
			for i := range n - 1 {
				a[i*n+i+1] = 1
			}
		}
		for _, width := range []int{n, m} {
			values, u, v := make([]float64, n), make([]T, m*width), make([]T, n*n)
			if !SVD(m, n, append([]T(nil), a...), n, values, u, width, v) {
				t.Fatalf("%v: no end", size)
			}
			left := make([]T, m*n)
			for i := range m {
				for j := range n {
					left[i*n+j] = u[i*width+j] * number[T](complex(values[j], 0))
				}
			}
			if d := apart(multiplied(m, n, n, left, adjoint(n, n, v)), a); !(d < tolerance[T](m)) {
				t.Errorf("%v: the product is %g off", size, d)
			}
			unit := make([]T, width*width)
			for i := range width {
				unit[i*width+i] = 1
			}
			if d := apart(multiplied(width, width, m, adjoint(m, width, u), u), unit); !(d < tolerance[T](m)) {
				t.Errorf("%v: U' U is %g off", size, d)
			}
			if n > 1 && values[n-1] > values[0] || values[n-1] < 0 {
				t.Errorf("%v: values %v", size, values)
			}
		}
	}
}

func TestQR(t *testing.T) {
	forAll(t, testQR[float32], testQR[float64], testQR[complex64], testQR[complex128])
}

func TestEigen(t *testing.T) {
	forAll(t, testEigen[float32], testEigen[float64], testEigen[complex64], testEigen[complex128])
}

func TestSVD(t *testing.T) {
	forAll(t, testSVD[float32], testSVD[float64], testSVD[complex64], testSVD[complex128])
}

func forAll(t *testing.T, f32, f64, c64, c128 func(t *testing.T)) {
	for name, f := range map[string]func(t *testing.T){"float32": f32, "float64": f64, "complex64": c64, "complex128": c128} {
		t.Run(name, f)
	}
}

func TestLU(t *testing.T) {
	forAll(t, testLU[float32], testLU[float64], testLU[complex64], testLU[complex128])
}

func TestCholesky(t *testing.T) {
	forAll(t, testCholesky[float32], testCholesky[float64], testCholesky[complex64], testCholesky[complex128])
}

func TestSolve(t *testing.T) {
	forAll(t, testSolve[float32], testSolve[float64], testSolve[complex64], testSolve[complex128])
}

// A matrix with a column of zeros is factorized to its end, and the place of the zero is told.
func TestLUOfSingularMatrix(t *testing.T) {
	for _, n := range []int{3, 40} {
		a := random[float64](rand.New(rand.NewPCG(7, 8)), n*n)
		for i := range n {
			a[i*n+1] = 0
		}
		if zero := LU(n, n, a, n, make([]int32, n)); zero != 2 || math.IsNaN(a[n*n-1]) {
			t.Errorf("%d: zero pivot %d, last element %v", n, zero, a[n*n-1])
		}
	}
}

func BenchmarkFactor(b *testing.B) {
	for _, n := range []int{4, 16, 64, 200, 500} {
		a := random[float64](rand.New(rand.NewPCG(9, 10)), n*n)
		for i := range n {
			a[i*n+i] += float64(n)
		}
		work, pivots := make([]float64, n*n), make([]int32, n)
		b.Run(fmt.Sprintf("LU/%d", n), func(b *testing.B) {
			for b.Loop() {
				copy(work, a)
				LU(n, n, work, n, pivots)
			}
		})
		b.Run(fmt.Sprintf("Cholesky/%d", n), func(b *testing.B) {
			for b.Loop() {
				copy(work, a)
				Cholesky(n, work, n)
			}
		})
		b.Run(fmt.Sprintf("QR/%d", n), func(b *testing.B) {
			for b.Loop() {
				copy(work, a)
				QR(n, n, work, n, make([]float64, n))
			}
		})
		b.Run(fmt.Sprintf("Eigen/%d", n), func(b *testing.B) {
			vectors := make([]float64, n*n)
			for b.Loop() {
				for i := range n {
					for j := range n {
						work[i*n+j] = a[i*n+j] + a[j*n+i]
					}
				}
				Eigen(n, work, n, make([]float64, n), vectors)
			}
		})
		b.Run(fmt.Sprintf("SVD/%d", n), func(b *testing.B) {
			u, v := make([]float64, n*n), make([]float64, n*n)
			for b.Loop() {
				copy(work, a)
				SVD(n, n, work, n, make([]float64, n), u, n, v)
			}
		})
		right := random[float64](rand.New(rand.NewPCG(9, 10)), n*n)
		b.Run(fmt.Sprintf("Solve/%d", n), func(b *testing.B) {
			for b.Loop() {
				copy(work, right)
				Solve(Triangle{Upper: true}, n, a, n, work, n, n)
			}
		})
	}
}

func testLDL[T Scalar](t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, n := range []int{1, 2, 3, 5, 8, 20, 31} {
		for kind := range 4 {
			hermitian := kind&1 != 0
			a := random[T](r, n*n)
			for i := range n {
				for j := range i {
					a[j*n+i] = a[i*n+j]
					if hermitian {
						a[j*n+i] = conj(a[i*n+j])
					}
				}
				if hermitian {
					a[i*n+i] = number[T](complex(realPart(a[i*n+i]), 0))
				}
				if kind&2 != 0 && n > 1 { // blocks of two
					a[i*n+i] = 0
				}
			}
			lower, b := append([]T(nil), a...), random[T](r, n*2)
			for i := range n { // the upper triangle is not read
				for j := i + 1; j < n; j++ {
					lower[i*n+j] = number[T](complex(math.NaN(), 0))
				}
			}
			pivots, x := make([]int32, n), append([]T(nil), b...)
			if zero := LDL(n, lower, n, hermitian, pivots); zero != 0 {
				t.Fatalf("%d: zero block %d", n, zero)
			}
			SolveLDL(n, lower, n, hermitian, pivots, x, 2, 2)
			largest := 1.0
			for _, v := range x {
				largest = max(largest, math.Abs(realPart(v)))
			}
			if d := apart(multiplied(n, 2, n, a, x), b); !(d < tolerance[T](n)*largest*4) {
				t.Errorf("%d, kind %d: the product with the solution is %g off, pivots %v", n, kind, d, pivots)
			}
		}
	}
}

func TestLDL(t *testing.T) {
	forAll(t, testLDL[float32], testLDL[float64], testLDL[complex64], testLDL[complex128])
}

// Eigenvectors of matrices of every kind are stretched by their values, and values alone are the same.
func TestEigenGeneral(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for n := range 26 {
		for kind := range 8 {
			a := matrixOfKind(rng, n, kind)
			values, alone, vectors := make([]complex128, n), make([]complex128, n), make([]complex128, n*n)
			if !EigenGeneral(n, append([]float64(nil), a...), values, vectors) || !EigenGeneral(n, append([]float64(nil), a...), alone, nil) {
				t.Fatalf("%d, kind %d: no end", n, kind)
			}
			for k, value := range values {
				if d := cmplx.Abs(value - alone[k]); d > 1e-6 {
					t.Errorf("%d, kind %d: values %v and alone %v", n, kind, values, alone)
				}
				if imag(value) > 0 && values[k+1] != cmplx.Conj(value) || imag(value) < 0 && values[k-1] != cmplx.Conj(value) {
					t.Errorf("%d, kind %d: %v has no neighbour that is its conjugate", n, kind, value)
				}
				size := 0.0
				for i := range n {
					sum := -value * vectors[i*n+k]
					for j := range n {
						sum += complex(a[i*n+j], 0) * vectors[j*n+k]
					}
					if !(cmplx.Abs(sum) < 1e-13*float64(n+1)) {
						t.Fatalf("%d, kind %d: vector %d of value %v is %v off", n, kind, k, value, sum)
					}
					size += real(vectors[i*n+k] * cmplx.Conj(vectors[i*n+k]))
				}
				if math.Abs(size-1) > 1e-13 {
					t.Errorf("%d, kind %d: vector %d has length %v", n, kind, k, math.Sqrt(size))
				}
			}
		}
	}
}

// matrixOfKind is random, symmetric, a triangle, few elements, a permutation, one value in a block that is no diagonal, of rank one, or badly scaled.
func matrixOfKind(rng *rand.Rand, n, kind int) []float64 {
	a := random[float64](rng, n*n)
	order := rng.Perm(n)
	for i := range n {
		for j := range n {
			e := &a[i*n+j]
			switch {
			case kind == 1 && i > j:
				*e = a[j*n+i]
			case kind == 2 && i < j, kind == 3 && rng.IntN(4) > 0, kind == 4 || kind == 5:
				*e = 0
			case kind == 6:
				*e = float64(1+i) / float64(n+j)
			case kind == 7:
				*e *= math.Ldexp(1, 2*(i-j)) / (1 + math.Ldexp(1, 2*(i-j)))
			}
			if kind == 4 && order[i] == j || kind == 5 && (i == j || i+1 == j) {
				*e = 1
			}
		}
	}
	return a
}
