package lapack

import "math"

// hessenberg takes the n by n matrix a to zeros below the first subdiagonal by reflections from both sides; their product is q, where that is wanted.
func hessenberg(n int, a []float64, want bool) (q *Reflections[float64]) {
	q = &Reflections[float64]{m: n}
	reflections := collector[float64]{to: q, first: 1, count: n - 1, high: n - 1}
	for k := range max(n-1, 0) {
		look(n)
		high := n - k - 1
		v := make([]float64, high)
		for i := range v {
			v[i] = a[(k+1+i)*n+k]
			a[(k+1+i)*n+k] = 0
		}
		beta, tau := reflection(v)
		a[(k+1)*n+k] = beta
		if tau != 0 {
			reflectSides(n, k+1, a, v, tau)
		}
		if want {
			reflections.add(k, v, tau)
		}
	}
	return q
}

// reflectSides applies the reflection of v to the columns of a from first on, and to the rows from first on of these.
func reflectSides(n, first int, a, v []float64, tau float64) {
	high := len(v)
	right := a[first:] // columns from first on
	across := make([]float64, 2*high)
	w := across[:high]
	addOrLoop(1, high, high, v, high, a[first*n+first:], n, w, high)
	copy(across[high:], v)
	y := times(n, high, right, n, v)
	inner := 0.0
	for i, e := range v {
		inner += e * w[i]
	}
	down := make([]float64, 2*n)
	for i := range n {
		if i >= first {
			e := v[i-first]
			down[2*i] = -tau * e
			y[i] -= tau * inner * e
		}
		down[2*i+1] = -tau * y[i]
	}
	addOrLoop(n, high, 2, down, 2, across, high, right, n)
}

// addOrLoop adds a (m by k) times b (k by n) to c, small ones without the preparations of a product.
func addOrLoop(m, n, k int, a []float64, aStride int, b []float64, bStride int, c []float64, stride int) {
	if m*n*k > 4*smallProduct {
		addProduct(m, n, k, rows(a, aStride), rows(b, bStride), c, stride)
		return
	}
	for i := range m {
		row := c[i*stride:][:n]
		for l, f := range a[i*aStride:][:k] {
			for j, e := range b[l*bStride:][:n] {
				row[j] += f * e
			}
		}
	}
}

const (
	roundoff = 0x1p-52
	tiny     = 0x1p-1022 / roundoff
)

// realSchur is a Hessenberg matrix h on its way to its real Schur form, which has blocks of one or two rows on the diagonal, by Francis' steps with two shifts.
// The rows of z, where it is not nil, take part.
type realSchur struct {
	n      int
	h, z   []float64
	values []complex128
}

// run reports whether it came to an end. Without z only the values are right.
func (s *realSchur) run() bool {
	budget := 30 * max(10, s.n)
	for last := s.n - 1; last >= 0; {
		first, steps := 0, 0
		for ; ; steps++ {
			look(s.n)
			if first = s.split(last); first >= last-1 {
				break
			}
			if budget--; budget < 0 {
				return false
			}
			s.step(first, last, steps)
		}
		if first == last {
			s.values[last] = complex(s.h[last*s.n+last], 0)
		} else {
			s.finishPair(last)
		}
		last = first - 1
	}
	return true
}

// split returns the first row of the part that ends with a row, above which the subdiagonal is negligible.
func (s *realSchur) split(last int) int {
	for k := last; k > 0; k-- {
		if s.negligible(k) {
			s.h[k*s.n+k-1] = 0
			return k
		}
	}
	return 0
}

// negligible reports whether the element to the left of a diagonal element is as small as rounding, and its product with the opposite one too.
func (s *realSchur) negligible(k int) bool {
	n, h := s.n, s.h
	below, above := math.Abs(h[k*n+k-1]), math.Abs(h[(k-1)*n+k])
	if below <= tiny {
		return true
	}
	d, e := math.Abs(h[k*n+k]), h[(k-1)*n+k-1]-h[k*n+k]
	size := d + math.Abs(h[(k-1)*n+k-1])
	if size == 0 {
		if k >= 2 {
			size += math.Abs(h[(k-1)*n+k-2])
		}
		if k+1 < n {
			size += math.Abs(h[(k+1)*n+k])
		}
	}
	if below > roundoff*size {
		return false
	}
	large, small := max(below, above), min(below, above)
	most, least := max(d, math.Abs(e)), min(d, math.Abs(e))
	sum := large + most
	return small*(large/sum) <= max(tiny, roundoff*(least*(most/sum)))
}

// shifts are the eigenvalues of the last two rows, the nearer one twice where they are real; now and then others, out of a cycle.
func (s *realSchur) shifts(first, last, steps int) (re1, re2, im float64) {
	n, h := s.n, s.h
	a, b := h[(last-1)*n+last-1], h[(last-1)*n+last]
	c, d := h[last*n+last-1], h[last*n+last]
	switch {
	case steps%20 == 10:
		c = math.Abs(h[(first+1)*n+first]) + math.Abs(h[(first+2)*n+first+1])
		a = 0.75*c + h[first*n+first]
		b, d = -0.4375*c, a
	case steps > 0 && steps%20 == 0:
		c = math.Abs(h[last*n+last-1]) + math.Abs(h[(last-1)*n+last-2])
		a = 0.75*c + h[last*n+last]
		b, d = -0.4375*c, a
	}
	size := math.Abs(a) + math.Abs(b) + math.Abs(c) + math.Abs(d)
	if size == 0 {
		return 0, 0, 0
	}
	a, b, c, d = a/size, b/size, c/size, d/size
	middle := (a + d) / 2
	determinant := (a-middle)*(d-middle) - b*c
	root := math.Sqrt(math.Abs(determinant))
	if determinant >= 0 {
		return middle * size, middle * size, root * size
	}
	near := middle + root
	if math.Abs(middle-root-d) < math.Abs(near-d) {
		near = middle - root
	}
	return near * size, near * size, 0
}

// step is one step over rows first to last.
func (s *realSchur) step(first, last, steps int) {
	n, h := s.n, s.h
	re1, re2, im := s.shifts(first, last, steps)
	var v [3]float64
	m := last - 2
	for ; ; m-- { // where two small elements of the subdiagonal follow each other the step can begin
		v = s.firstColumn(m, re1, re2, im)
		if m == first {
			break
		}
		around := math.Abs(h[(m-1)*n+m-1]) + math.Abs(h[m*n+m]) + math.Abs(h[(m+1)*n+m+1])
		if math.Abs(h[m*n+m-1])*(math.Abs(v[1])+math.Abs(v[2])) <= roundoff*math.Abs(v[0])*around {
			break
		}
	}
	for k := m; k < last; k++ {
		count := min(3, last-k+1)
		if k > m {
			v[2] = 0
			for i := range count {
				v[i] = h[(k+i)*n+k-1]
			}
		}
		beta, tau := shortReflection(v[:count])
		switch {
		case k > m:
			h[k*n+k-1], h[(k+1)*n+k-1] = beta, 0
			if count == 3 {
				h[(k+2)*n+k-1] = 0
			}
		case m > first:
			h[k*n+k-1] *= 1 - tau
		}
		if tau != 0 {
			s.reflect(k, count, first, last, v, tau)
		}
	}
}

// shortReflection is reflection, without scaling where the squares neither overflow nor vanish.
func shortReflection(x []float64) (beta, tau float64) {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	alpha := x[0]
	if rest := sum - alpha*alpha; !(sum < 0x1p1000 && rest > 0x1p-900) {
		return reflection(x)
	}
	beta = -math.Copysign(math.Sqrt(sum), alpha)
	x[0] = 1
	for i := range x[1:] {
		x[1+i] /= alpha - beta
	}
	return beta, (beta - alpha) / beta
}

// firstColumn is that of the product of what the matrix from row m on is less each shift, in proportion.
func (s *realSchur) firstColumn(m int, re1, re2, im float64) (v [3]float64) {
	n, h := s.n, s.h
	d, below := h[m*n+m], h[(m+1)*n+m]
	size := math.Abs(d-re2) + math.Abs(im) + math.Abs(below)
	if size == 0 {
		return v
	}
	below /= size
	v[0] = below*h[m*n+m+1] + (d-re1)*((d-re2)/size) + im*(im/size)
	v[1] = below * (d + h[(m+1)*n+m+1] - re1 - re2)
	v[2] = below * h[(m+2)*n+m+1]
	size = math.Abs(v[0]) + math.Abs(v[1]) + math.Abs(v[2])
	for i := range v {
		v[i] /= size
	}
	return v
}

// reflect applies the reflection of v, of which count elements count, to the rows from k on and to the columns, and to the rows of z.
func (s *realSchur) reflect(k, count, first, last int, v [3]float64, tau float64) {
	n := s.n
	top, right := first, last+1
	if s.z != nil {
		top, right = 0, n
	}
	bottom := min(k+3, last)
	if count == 3 {
		reflectThree(s.h[k*n+k:][:right-k], s.h[(k+1)*n+k:], s.h[(k+2)*n+k:], v[1], v[2], tau)
		for i := top; i <= bottom; i++ {
			row := s.h[i*n+k:][:3]
			sum := tau * (row[0] + v[1]*row[1] + v[2]*row[2])
			row[0], row[1], row[2] = row[0]-sum, row[1]-sum*v[1], row[2]-sum*v[2]
		}
		if s.z != nil {
			reflectThree(s.z[k*n:][:n], s.z[(k+1)*n:], s.z[(k+2)*n:], v[1], v[2], tau)
		}
		return
	}
	reflectTwo(s.h[k*n+k:][:right-k], s.h[(k+1)*n+k:], v[1], tau)
	for i := top; i <= bottom; i++ {
		row := s.h[i*n+k:][:2]
		sum := tau * (row[0] + v[1]*row[1])
		row[0], row[1] = row[0]-sum, row[1]-sum*v[1]
	}
	if s.z != nil {
		reflectTwo(s.z[k*n:][:n], s.z[(k+1)*n:], v[1], tau)
	}
}

// reflectThree applies the reflection of (1, v, w) to three rows.
func reflectThree(x, y, z []float64, v, w, tau float64) {
	y, z = y[:len(x)], z[:len(x)]
	tv, tw := tau*v, tau*w
	for i, a := range x {
		b, c := y[i], z[i]
		sum := a + v*b + w*c
		x[i], y[i], z[i] = a-sum*tau, b-sum*tv, c-sum*tw
	}
}

// reflectTwo applies the reflection of (1, v) to two rows.
func reflectTwo(x, y []float64, v, tau float64) {
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		sum := tau * (a + v*b)
		x[i], y[i] = a-sum, b-sum*v
	}
}

// finishPair makes of the last two rows of a part either a triangle or a block with equal diagonal elements, and notes their eigenvalues.
func (s *realSchur) finishPair(last int) {
	n, h, i := s.n, s.h, last-1
	p := pairOf(h[i*n+i], h[i*n+last], h[last*n+i], h[last*n+last])
	if s.z != nil {
		if last+1 < n {
			rotateRows(h[i*n+last+1:(i+1)*n], h[last*n+last+1:(last+1)*n], p.cos, p.sin)
		}
		for k := range i {
			row := h[k*n+i:][:2]
			row[0], row[1] = p.cos*row[0]+p.sin*row[1], p.cos*row[1]-p.sin*row[0]
		}
		rotateRows(s.z[i*n:(i+1)*n], s.z[last*n:(last+1)*n], p.cos, p.sin)
	}
	h[i*n+i], h[i*n+last], h[last*n+i], h[last*n+last] = p.a, p.b, p.c, p.d
	im := math.Sqrt(math.Abs(p.b)) * math.Sqrt(math.Abs(p.c))
	s.values[i], s.values[last] = complex(p.a, im), complex(p.d, -im)
}

func rotateRows(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, v := range x {
		w := y[i]
		x[i], y[i] = c*v+s*w, c*w-s*v
	}
}

// pair is a matrix (a b; c d) after a rotation from both sides: c is zero, or a equals d and b*c is negative.
type pair struct {
	a, b, c, d, cos, sin float64
}

func pairOf(a, b, c, d float64) pair {
	switch {
	case c == 0:
		return pair{a, b, c, d, 1, 0}
	case b == 0:
		return pair{d, -c, 0, a, 0, 1}
	case a == d && math.Signbit(b) != math.Signbit(c):
		return pair{a, b, c, d, 1, 0}
	}
	half := (a - d) / 2
	large := max(math.Abs(b), math.Abs(c))
	small := math.Copysign(1, b) * math.Copysign(1, c) * min(math.Abs(b), math.Abs(c))
	scale := max(math.Abs(half), large)
	if z := half/scale*half + large/scale*small; z >= 4*roundoff {
		z = half + math.Copysign(math.Sqrt(scale)*math.Sqrt(z), half)
		length := math.Hypot(c, z)
		return pair{d + z, b - c, 0, d - large/z*small, z / length, c / length}
	}
	return pairOfEqual(a, b, c, d, half)
}

// pairOfEqual is pairOf where the eigenvalues are complex or nearly equal.
func pairOfEqual(a, b, c, d, half float64) pair {
	sum := b + c
	length := math.Hypot(sum, a-d)
	cos := math.Sqrt((1 + math.Abs(sum)/length) / 2)
	sin := -(half / (length * cos)) * math.Copysign(1, sum)
	a, b, c, d = a*cos+b*sin, b*cos-a*sin, c*cos+d*sin, d*cos-c*sin
	a, b, c, d = a*cos+c*sin, b*cos+d*sin, c*cos-a*sin, d*cos-b*sin
	middle := (a + d) / 2
	p := pair{middle, b, c, middle, cos, sin}
	switch {
	case c == 0:
	case b == 0:
		p.b, p.c, p.cos, p.sin = -c, 0, -sin, cos
	case math.Signbit(b) == math.Signbit(c):
		rootB, rootC, inverse := math.Sqrt(math.Abs(b)), math.Sqrt(math.Abs(c)), 1/math.Sqrt(math.Abs(b+c))
		off := math.Copysign(rootB*rootC, c)
		p.a, p.d, p.b, p.c = middle+off, middle-off, b-c, 0
		turnCos, turnSin := rootB*inverse, rootC*inverse
		p.cos, p.sin = cos*turnCos-sin*turnSin, cos*turnSin+sin*turnCos
	}
	return p
}
