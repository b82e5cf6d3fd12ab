package lapack

import "math"

// balanced is how a matrix was balanced: rows and columns were swapped, so that what is isolated lies outside of low to high, then
// scaled by powers of two, so that rows and columns in between have about equal norms.
type balanced struct {
	low, high int
	swapped   []int     // with what a place outside of low to high was swapped
	scale     []float64 // of the rows of what multiplies the matrix
}

// balance balances the n by n matrix a in place.
func balance(n int, a []float64) *balanced {
	b := &balanced{high: n - 1, swapped: make([]int, n), scale: make([]float64, n)}
	for i := range n {
		b.swapped[i], b.scale[i] = i, 1
	}
	for i := b.high; i >= 0; i-- {
		if b.isolated(n, a, i, 1, n) {
			b.swap(n, a, i, b.high)
			b.high--
			i = b.high + 1
		}
	}
	for j := b.low; j <= b.high; j++ {
		if b.isolated(n, a, j, n, 1) {
			b.swap(n, a, j, b.low)
			b.low++
			j = b.low - 1
		}
	}
	b.rescale(n, a)
	return b
}

// isolated reports whether a row (step 1, stride n) or a column (step n, stride 1) has zeros from low to high beside its diagonal element.
func (b *balanced) isolated(n int, a []float64, i, step, stride int) bool {
	for j := b.low; j <= b.high; j++ {
		if j != i && a[i*stride+j*step] != 0 {
			return false
		}
	}
	return true
}

// swap exchanges two rows and the columns of the same numbers.
func (b *balanced) swap(n int, a []float64, i, j int) {
	if b.swapped[j] = i; i == j {
		return
	}
	for k := range n {
		a[k*n+i], a[k*n+j] = a[k*n+j], a[k*n+i]
	}
	for k := range n {
		a[i*n+k], a[j*n+k] = a[j*n+k], a[i*n+k]
	}
}

// rescale multiplies columns by powers of two and divides the rows by them until that makes little difference.
func (b *balanced) rescale(n int, a []float64) {
	for changed := true; changed; {
		changed = false
		for i := b.low; i <= b.high; i++ {
			column, row := 0.0, 0.0
			for j := b.low; j <= b.high; j++ {
				column, row = column+a[j*n+i]*a[j*n+i], row+a[i*n+j]*a[i*n+j]
			}
			f := scaleFor(math.Sqrt(column), math.Sqrt(row))
			if f == 1 || math.IsInf(b.scale[i]*f, 0) || b.scale[i]*f < 0x1p-900 {
				continue
			}
			changed = true
			b.scale[i] *= f
			for j := range n {
				a[i*n+j] /= f
			}
			for j := range n {
				a[j*n+i] *= f
			}
		}
	}
}

// scaleFor is the power of two for a column and a row of these norms, 1 where none makes their sum much smaller.
func scaleFor(column, row float64) float64 {
	if column == 0 || row == 0 || math.IsInf(column+row, 0) {
		return 1
	}
	f, c, r := 1.0, column, row
	for c < r/2 && f < 0x1p900 {
		f, c, r = f*2, c*2, r/2
	}
	for c >= r*2 && f > 0x1p-900 {
		f, c, r = f/2, c/2, r*2
	}
	if c+r >= 0.95*(column+row) {
		return 1
	}
	return f
}

// undo makes, of the columns of the n by n matrix v, eigenvectors of the matrix as it was.
func (b *balanced) undo(n int, v []float64) {
	for i, f := range b.scale {
		if f != 1 {
			for j := range n {
				v[i*n+j] *= f
			}
		}
	}
	for i := b.low - 1; i >= 0; i-- {
		swapRows(n, v, i, b.swapped[i])
	}
	for i := b.high + 1; i < n; i++ {
		swapRows(n, v, i, b.swapped[i])
	}
}

func swapRows(n int, v []float64, i, j int) {
	if i == j {
		return
	}
	for k := range n {
		v[i*n+k], v[j*n+k] = v[j*n+k], v[i*n+k]
	}
}
