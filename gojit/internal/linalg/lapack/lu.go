package lapack

// panelWidth is how many columns are eliminated before the rest of the matrix is brought up to date.
const panelWidth = 32

// smallSize is the size up to which plain loops are faster than blocks.
const smallSize = 24

// LU factorizes the m by n matrix a in place with partial pivoting: L, whose unit diagonal is not stored, below the
// diagonal and U above it. pivots, of min(m, n) elements, gets for each row the one that it was exchanged with, counted from one. It
// returns the first zero of U's diagonal, counted from one, or zero.
func LU[T Scalar](m, n int, a []T, stride int, pivots []int32) (zero int) {
	k := min(m, n)
	if k <= smallSize {
		return eliminate(m, n, a, stride, pivots)
	}
	panel := make([]T, panelWidth*m)
	square := make([]T, panelWidth*panelWidth)
	for k0 := 0; k0 < k; k0 += panelWidth {
		width, high := min(panelWidth, k-k0), m-k0
		turn(panel, high, a[k0*stride+k0:], stride, high, width)
		if at := eliminatePanel(width, high, panel, pivots[k0:]); at > 0 && zero == 0 {
			zero = k0 + at
		}
		for i := range width {
			pivots[k0+i] += int32(k0)
			if with := int(pivots[k0+i]) - 1; with != k0+i {
				swap(a[(k0+i)*stride:][:k0], a[with*stride:][:k0])
				swap(a[(k0+i)*stride+k0+width:][:n-k0-width], a[with*stride+k0+width:][:n-k0-width])
			}
		}
		turn(a[k0*stride+k0:], stride, panel, high, width, high)
		rest := n - k0 - width
		if rest == 0 {
			continue
		}
		right := a[k0*stride+k0+width:]
		for i := range width {
			negate(square[i*width:][:i], a[(k0+i)*stride+k0:][:i])
		}
		for i := 1; i < width; i++ { // rows of U
			addProduct(1, rest, i, rows(square[i*width:], width), rows(right, stride), right[i*stride:], stride)
		}
		if high > width {
			for j := range width {
				negate(panel[j*high+width:][:high-width], panel[j*high+width:][:high-width])
			}
			addProduct(high-width, rest, width, columns(panel[width:], high), rows(right, stride), right[width*stride:], stride)
		}
	}
	return zero
}

func swap[T Scalar](x, y []T) {
	y = y[:len(x)]
	for i, v := range x {
		x[i], y[i] = y[i], v
	}
}

// eliminatePanel factorizes a panel of width columns, which lie as rows of length high.
func eliminatePanel[T Scalar](width, high int, panel []T, pivots []int32) (zero int) {
	factors, below := make([]T, width), make([]T, high)
	for j := range width {
		column := panel[j*high:][:high]
		best := j + largest(column[j:])
		pivots[j] = int32(best + 1)
		if column[best] == 0 {
			if zero == 0 {
				zero = j + 1
			}
			continue
		}
		if best != j {
			for c := range width {
				at := panel[c*high:]
				at[j], at[best] = at[best], at[j]
			}
		}
		divide(column[j+1:], column[j])
		if j+1 == width || j+1 == high {
			continue
		}
		copy(below, column[j+1:])
		for c := j + 1; c < width; c++ {
			factors[c] = -panel[c*high+j]
		}
		addProduct(width-j-1, high-j-1, 1, rows(factors[j+1:], 1), rows(below, high), panel[(j+1)*high+j+1:], high)
	}
	return zero
}

// eliminate is LU for small matrices.
func eliminate[T Scalar](m, n int, a []T, stride int, pivots []int32) (zero int) {
	column := make([]T, m)
	for k := range min(m, n) {
		for i := k; i < m; i++ {
			column[i] = a[i*stride+k]
		}
		best := k + largest(column[k:])
		pivots[k] = int32(best + 1)
		pivot := a[best*stride+k]
		if pivot == 0 {
			if zero == 0 {
				zero = k + 1
			}
			continue
		}
		above := a[k*stride:][:n]
		if best != k {
			swap(above, a[best*stride:][:n])
		}
		above = above[k+1:]
		for i := k + 1; i < m; i++ {
			row := a[i*stride+k:][:n-k]
			factor := row[0] / pivot
			row[0] = factor
			row = row[1:][:len(above)]
			for j, v := range above {
				row[j] -= factor * v
			}
		}
	}
	return zero
}

// Exchange applies exchanges of rows, counted from one, to the rows of b, in their order or backwards.
func Exchange[T Scalar](pivots []int32, b []T, columns, stride int, backwards bool) {
	for i := range pivots {
		if backwards {
			i = len(pivots) - 1 - i
		}
		if with := int(pivots[i]) - 1; with != i {
			swap(b[i*stride:][:columns], b[with*stride:][:columns])
		}
	}
}
