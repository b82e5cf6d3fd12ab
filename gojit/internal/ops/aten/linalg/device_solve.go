package linalg

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// What a library of a device computes with matrices. Functions that end in Library return nil, or false, where there is none that takes them: what follows
// them reads elements then, which is refused, and the operator runs as what it is made of on devices.

// infos say of each matrix what failed, zero for nothing. Those of a device stay there until somebody reads them.
type infos struct {
	here  []int32
	there *tensor.Tensor
}

func (i infos) read() []int32 {
	if i.there == nil {
		return i.here
	}
	return readInfos(i.there)
}

// tensor returns them for a batch of a shape.
func (i infos) tensor(shape []int) *tensor.Tensor {
	if i.there != nil {
		return i.there
	}
	return source.Must(tensor.FromSlice(i.here, shape...))
}

// readInfos copies numbers of a device to the processor.
func readInfos(t *tensor.Tensor) []int32 {
	return tensor.Data[int32](source.Must(t.ToDevice(tensor.Device{})))
}

// columnsOf returns a copy of matrices whose last dimension goes down a column: it is the transposed.
func columnsOf(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	return writable(source.Must(t.MatrixTranspose()), d)
}

// fromColumns shows matrices that lie by columns.
func fromColumns(t *tensor.Tensor) *tensor.Tensor { return source.Must(t.MatrixTranspose()) }

// room returns a tensor beside a with its batch, of other sizes.
func room(a *tensor.Tensor, d tensor.DType, tail ...int) *tensor.Tensor {
	return define.EmptyBeside(a, lead(a, tail...), d)
}

// luLibrary factorizes matrices; nil where no library of a device does.
func luLibrary(name string, a *tensor.Tensor) *luFactors {
	if !a.OnDevice() {
		return nil
	}
	factorable(name, a)
	rows, columns := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	w := &kernel.MatrixWork{Of: kernel.LU, A: columnsOf(a, a.DType()), Pivots: room(a, tensor.Int32, min(rows, columns)), Info: room(a, tensor.Int32)}
	if !elementwise.Solve(w) {
		return nil
	}
	return &luFactors{packed: fromColumns(w.A), shape: lead(a), rows: rows, columns: columns, swapsThere: w.Pivots, info: infos{there: w.Info}}
}

// solveLibrary solves with factors of a device; b, of their batch, stays. nil where no library does.
func (f *luFactors) solveLibrary(b *tensor.Tensor, form kernel.MatrixForm) *tensor.Tensor {
	if f.swapsThere == nil {
		return nil
	}
	w := &kernel.MatrixWork{Of: kernel.LUSolution, A: elementwise.Contiguous(fromColumns(f.packed)), Pivots: f.swapsThere, B: columnsOf(b, b.DType()), Info: room(b, tensor.Int32), Form: form}
	if !elementwise.Solve(w) {
		return nil
	}
	return fromColumns(w.B)
}

// luSolveLibrary is luSolveAs by a library, for checked shapes; nil where none does.
func luSolveLibrary(packed, pivots, b *tensor.Tensor, left, adjoint bool) *tensor.Tensor {
	n := packed.Size(packed.Dim() - 1)
	batch := source.Must(tensor.Broadcast(lead(packed), lead(b)))
	d := tensor.Promote(packed.DType(), b.DType())
	wide := func(t *tensor.Tensor, d tensor.DType, tail ...int) *tensor.Tensor {
		return elementwise.To(source.Must(t.Expand(append(slices.Clone(batch), tail...)...)), d)
	}
	form, turned := kernel.AsIs, func(t *tensor.Tensor) *tensor.Tensor { return t }
	switch {
	case left && adjoint:
		form = kernel.Adjoint
	case !left && adjoint: // X A* = B is A X* = B*
		turned = func(t *tensor.Tensor) *tensor.Tensor { return elementwise.Conjugate(fromColumns(t)) }
	case !left: // X A = B is A' X' = B'
		form, turned = kernel.Transposed, fromColumns
	}
	right := turned(wide(b, d, b.Size(b.Dim()-2), b.Size(b.Dim()-1)))
	there := elementwise.Contiguous(wide(pivots, tensor.Int32, n))
	for _, with := range readInfos(there) { // a library would touch rows that are not there
		source.Check(with >= 1 && int(with) <= n, "pivots must lie in [1, %d], but got %d", n, with)
	}
	f := &luFactors{packed: wide(packed, d, n, n), swapsThere: there}
	x := f.solveLibrary(right, form)
	if x == nil {
		return nil
	}
	return turned(x)
}

// choleskyLibrary is choleskyOf by a library of the device; nil where none does.
func choleskyLibrary(a *tensor.Tensor, upper bool) (*tensor.Tensor, infos) {
	w := &kernel.MatrixWork{Of: kernel.Cholesky, A: columnsOf(a, a.DType()), Info: room(a, tensor.Int32), Upper: upper}
	if !elementwise.Solve(w) {
		return nil, infos{}
	}
	return fromColumns(views.Triangle(w.A, 0, !upper)), infos{there: w.Info}
}

// trianglesLibrary solves with triangles of contiguous matrices by rows, which are transposed by columns; b, of their batch, stays. nil where no library does.
func trianglesLibrary(a, b *tensor.Tensor, upper, unit bool) *tensor.Tensor {
	if !a.OnDevice() {
		return nil
	}
	w := &kernel.MatrixWork{Of: kernel.TriangleSolution, A: a, B: columnsOf(b, b.DType()), Form: kernel.Transposed, Upper: !upper, Unit: unit}
	if !elementwise.Solve(w) {
		return nil
	}
	return fromColumns(w.B)
}

// reflectionsLibrary factorizes for geqrf; nil where no library of a device does. The matrices are by columns.
func reflectionsLibrary(a *tensor.Tensor) (packed, factors *tensor.Tensor) {
	w := &kernel.MatrixWork{Of: kernel.Reflections, A: columnsOf(a, a.DType()), Info: room(a, tensor.Int32)}
	w.Numbers = room(a, a.DType(), min(a.Size(a.Dim()-2), a.Size(a.Dim()-1)))
	if !elementwise.Solve(w) {
		return nil, nil
	}
	return w.A, w.Numbers
}

// qrLibrary is qr with Q, which has width columns, by a library; nil where none does.
func qrLibrary(a *tensor.Tensor, width int, wantQ bool) (q, r *tensor.Tensor) {
	packed, factors := reflectionsLibrary(a)
	if packed == nil {
		return nil, nil
	}
	rows, k := packed.Size(packed.Dim()-1), factors.Size(factors.Dim()-1)
	r = views.Triangle(source.Must(fromColumns(packed).Narrow(-2, 0, width)), 0, true)
	if !wantQ {
		return define.EmptyBeside(a, []int{0}, a.DType()), r
	}
	w := &kernel.MatrixWork{Of: kernel.ReflectionsProduct, A: room(a, a.DType(), width, rows), Numbers: factors, Info: room(a, tensor.Int32)}
	source.Throw(tensor.Copy(source.Must(w.A.Narrow(-2, 0, k)), source.Must(packed.Narrow(-2, 0, k))))
	if !elementwise.Solve(w) {
		return nil, nil
	}
	return fromColumns(w.A), r
}

// productLibrary is productOfReflections by a library; nil where none does.
func productLibrary(packed, factors *tensor.Tensor) *tensor.Tensor {
	if !packed.OnDevice() || factors.Numel() == 0 {
		return nil
	}
	w := &kernel.MatrixWork{Of: kernel.ReflectionsProduct, A: columnsOf(packed, packed.DType()), Numbers: elementwise.Contiguous(factors), Info: room(packed, tensor.Int32)}
	if !elementwise.Solve(w) {
		return nil
	}
	return fromColumns(w.A)
}

// timesLibrary is timesReflections by a library; nil where none does.
func timesLibrary(packed, factors, other *tensor.Tensor, left, adjoint bool) *tensor.Tensor {
	if !packed.OnDevice() || factors.Numel() == 0 {
		return nil
	}
	w := &kernel.MatrixWork{Of: kernel.ReflectionsTimes, A: elementwise.Contiguous(fromColumns(packed)), B: columnsOf(other, other.DType()), Numbers: elementwise.Contiguous(factors),
		Info: room(packed, tensor.Int32), Right: !left}
	if adjoint {
		w.Form = kernel.Transposed
		if packed.DType().IsComplex() {
			w.Form = kernel.Adjoint
		}
	}
	if !elementwise.Solve(w) {
		return nil
	}
	return fromColumns(w.B)
}

// areFinite returns zero for each matrix whose elements are numbers, and NaN for others, which libraries say nothing of.
func areFinite(a *tensor.Tensor) *tensor.Tensor {
	return reduce.Sum(elementwise.ScaleBy(a, 0), []int{-2, -1}, false, a.DType())
}

// failures reads what failed of each matrix: mark where its elements are no numbers.
func failures(info, finite *tensor.Tensor, mark int32) []int32 {
	failed := slices.Clone(readInfos(info))
	here := elementwise.Contiguous(elementwise.To(source.Must(finite.ToDevice(tensor.Device{})), tensor.Complex128))
	for i, x := range tensor.Data[complex128](here) {
		if x != 0 {
			failed[i] = mark
		}
	}
	return failed
}

// symmetricLibrary is eigenSymmetricThere by a library; ok is false where none does.
func symmetricLibrary(a *tensor.Tensor, n int, upper, wantVectors bool) (values, vectors *tensor.Tensor, failed []int32, ok bool) {
	w := &kernel.MatrixWork{Of: kernel.SymmetricEigenvalues, A: columnsOf(a, a.DType()), Numbers: room(a, a.DType().ToReal(), n), Info: room(a, tensor.Int32), Upper: upper, Vectors: wantVectors}
	if !elementwise.Solve(w) {
		return nil, nil, nil, false
	}
	if wantVectors {
		vectors = fromColumns(w.A)
	}
	return w.Numbers, vectors, failures(w.Info, areFinite(a), 1), true
}

// smallBatch is how many rows the matrices have of which a library decomposes many at once, with all their left vectors.
const smallBatch = 32

// singularLibrary is singularThere by a library; ok is false where none does. What does not come to an end in the way that is tried first is done in another.
func singularLibrary(a *tensor.Tensor, rows, columns, width int, wantVectors bool) (u, s, v *tensor.Tensor, failed []int32, ok bool) {
	if !wantVectors {
		width = 0
	}
	for _, byQR := range []bool{false, true} {
		all := width
		if wantVectors && !byQR && rows <= smallBatch && define.NumelOf(lead(a)) > 1 {
			all = rows
		}
		w := &kernel.MatrixWork{Of: kernel.SingularValues, A: columnsOf(a, a.DType()), Numbers: room(a, a.DType().ToReal(), columns), Info: room(a, tensor.Int32), Vectors: wantVectors, ByQR: byQR}
		if wantVectors {
			w.B, w.V = room(a, a.DType(), all, rows), room(a, a.DType(), columns, columns)
		}
		if !elementwise.Solve(w) {
			return nil, nil, nil, nil, false
		}
		failed = failures(w.Info, areFinite(a), notFinite)
		if at := slices.Index(failed, int32(columns+1)); at >= 0 && !byQR { // rotations came to no end
			continue
		}
		if !wantVectors {
			return nil, w.Numbers, nil, failed, true
		}
		v = fromColumns(w.V)
		if byQR {
			v = elementwise.Conjugate(w.V)
		}
		return fromColumns(source.Must(w.B.Narrow(-2, 0, width))), w.Numbers, v, failed, true
	}
	return nil, nil, nil, nil, false
}
