package lapack

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
)

// rotated is a matrix of rows that rotations are applied to; rows are completed to whole vectors.
type rotated struct {
	data   []float64
	stride int
	code   *asm.Code // nil where no code is generated
	lanes  int
}

// newRotated returns the unit matrix of n rows.
func newRotated(n int) *rotated {
	r := &rotated{stride: n}
	if isa := asm.Target(); isa >= asm.AVX2 && n >= 8 {
		r.lanes = isa.Width().Bytes() / 8
		unit := r.lanes * tile.RotationVectors
		r.stride = (n + unit - 1) / unit * unit
		r.code = tile.Rotations{ISA: isa}.Code()
	}
	r.data = make([]float64, n*r.stride)
	for i := range n {
		r.data[i*r.stride+i] = 1
	}
	return r
}

func (r *rotated) row(i int) []float64 { return r.data[i*r.stride:][:r.stride] }

// sweep rotates row first with the next one, that with the one behind it and so on, downwards or upwards: with x the first row and y the
// other, c*x + s*y and c*y - s*x take their places.
func (r *rotated) sweep(first int, upwards bool, cs []float64) {
	if r == nil || len(cs) == 0 {
		return
	}
	step := 1
	if upwards {
		step = -1
	}
	if r.code != nil {
		args := tile.RotationsArgs{First: unsafe.Pointer(&r.data[first*r.stride]), Coefficients: unsafe.Pointer(&cs[0]), Step: int64(step * r.stride * 8),
			Count: int64(len(cs) / 2), Vectors: int64(r.stride / r.lanes)}
		r.code.Call(unsafe.Pointer(&args))
		return
	}
	for i := 0; i < len(cs); i += 2 {
		r.pair(first, first+step, cs[i], cs[i+1])
		first += step
	}
}

// pair rotates two rows.
func (r *rotated) pair(i, j int, c, s float64) {
	if r == nil {
		return
	}
	x, y := r.row(i), r.row(j)
	for k, v := range x {
		w := y[k]
		x[k], y[k] = c*v+s*w, c*w-s*v
	}
}

// columnsOf writes the rows of r in an order as the first columns of a matrix.
func columnsOf[T Scalar](r *rotated, order []int, to []T, stride int) {
	for j, from := range order {
		for i, v := range r.row(from)[:len(order)] {
			to[i*stride+j] = number[T](complex(v, 0))
		}
	}
}
