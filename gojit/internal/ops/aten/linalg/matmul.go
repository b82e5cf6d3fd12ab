package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"

	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// productType returns the type that products of a type are computed in.
func productType(d tensor.DType) tensor.DType {
	switch d {
	case tensor.Float16, tensor.BFloat16:
		return tensor.Float32
	case tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128:
		return d
	}
	return tensor.Int64
}

// sameAddedTypes fails where a product and what is added to it have not one type.
func sameAddedTypes(self, a, b *tensor.Tensor) {
	check(self.DType() == b.DType(), "self and mat2 must have the same dtype")
	check(a.DType() == b.DType(), "mat1 and mat2 must have the same dtype")
}

func sameTypes(name string, a, b *tensor.Tensor) {
	if a.DType() != b.DType() {
		raise(source.RuntimeError, "expected scalar type %s but found %s", a.DType().CppName(), b.DType().CppName())
	}
	if a.DType() == tensor.Bool {
		raise(source.RuntimeError, "\"%s\" not implemented for 'Bool'", name)
	}
}

// products multiplies matrices (m by k) and (k by n), or batches of them (batch by m by k and batch by k by n).
func products(a, b *tensor.Tensor) *tensor.Tensor { return sumOfProducts(nil, a, b) }

// sumOfProducts multiplies matrices, or batches of them, and adds a tensor that expands to the shape
// of the result, nil for none.
func sumOfProducts(self, a, b *tensor.Tensor) *tensor.Tensor {
	d := a.DType()
	work := productType(d)
	half := d == tensor.BFloat16 || d == tensor.Float16
	dims := [3]int{a.Size(0), a.Size(a.Dim() - 2), b.Size(b.Dim() - 1)}
	shape := dims[3-a.Dim():]
	switch {
	case a.IsHollow():
		return emptyBeside(a, shape, d)
	case a.OnDevice():
		return sumOfProductsOnDevice(self, a, b, shape)
	}
	if work == tensor.Int64 && integersPay(a, b) {
		return productsOfIntegers(self, a, b)
	}
	if !half {
		a, b = to(a, work), to(b, work)
	}
	out := empty(shape, work)
	if self != nil && (self.Dim() == 1 || half) {
		self = to(self, work)
	}
	added := alreadyThere
	switch {
	case self == nil:
		added = nothing
	case self.DType() != work || !self.IsContiguous():
		succeed(tensor.Copy(out, self))
	case self.Dim() == 1 && self.Size(0) == shape[len(shape)-1]:
		added = oneRow
	case tensor.SameShape(self.Shape(), shape):
		added = allRows
	default:
		succeed(tensor.Copy(out, self))
	}
	switch {
	case d == tensor.BFloat16:
		runHalfProduct[tensor.BF16](self, added, a, b, out)
	case d == tensor.Float16:
		runHalfProduct[tensor.F16](self, added, a, b, out)
	case work == tensor.Float32:
		runProduct[float32](self, added, a, b, out)
	case work == tensor.Float64:
		runProduct[float64](self, added, a, b, out)
	case work == tensor.Complex64:
		runProduct[complex64](self, added, a, b, out)
	case work == tensor.Complex128:
		runProduct[complex128](self, added, a, b, out)
	default:
		runProduct[int64](self, added, a, b, out)
	}
	if d != work && !half {
		a.Release()
		b.Release()
	}
	return rounded(out, d)
}

// integersPay reports whether products of integers are large enough to be computed in float64.
func integersPay(a, b *tensor.Tensor) bool {
	m, k, n := a.Size(a.Dim()-2), a.Size(a.Dim()-1), b.Size(b.Dim()-1)
	return m >= 4 && n >= 4 && m*n*k >= 8192
}

// productsOfIntegers is sumOfProducts for integers.
func productsOfIntegers(self, a, b *tensor.Tensor) *tensor.Tensor {
	out := byDoubles(a, b, a.Size(a.Dim()-1), products)
	if self != nil {
		out = add.on(out, self)
	}
	return to(out, a.DType())
}

// rounded returns what nobody else has as a tensor of type d, and gives the memory up where it is another's.
func rounded(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	out := to(t, d)
	if out != t {
		t.Release()
	}
	return out
}

// addend says what products are added to.
type addend uint8

const (
	nothing      addend = iota
	oneRow              // a row for each row of the result
	allRows             // a tensor like the result
	alreadyThere        // what the result holds
)

// runProduct writes products of matrices to out, added to self or to what out holds.
func runProduct[T interface {
	dense.Number
	tensor.Element
}](self *tensor.Tensor, added addend, a, b, out *tensor.Tensor) {
	if out.Numel() == 0 {
		return
	}
	n := a.Dim()
	left, right := compact(a), compact(b)
	defer forgetMade(a, left)
	defer forgetMade(b, right)
	p := dense.Product[T]{M: a.Size(n - 2), K: a.Size(n - 1), N: b.Size(n - 1)}
	p.StepA = setMatrix(&p.A, left)
	p.StepB = setMatrix(&p.B, right)
	p.C = dense.Matrix[T]{Data: tensor.Data[T](out), Stride: p.N}
	if n == 3 {
		p.Batch, p.StepC = a.Size(0), p.M*p.N
	}
	switch added {
	case oneRow:
		p.Bias = tensor.Data[T](self)
	case allRows:
		p.Residual = tensor.Data[T](self)
	case alreadyThere:
		p.Add = true
	}
	p.Run()
}

// runHalfProduct is runProduct for 16-bit floats; out has float32.
func runHalfProduct[T dense.Half](self *tensor.Tensor, added addend, a, b, out *tensor.Tensor) {
	if out.Numel() == 0 {
		return
	}
	n := a.Dim()
	left, right := compact(a), compact(b)
	defer forgetMade(a, left)
	defer forgetMade(b, right)
	p := dense.HalfProduct[T]{M: a.Size(n - 2), K: a.Size(n - 1), N: b.Size(n - 1), Add: added == alreadyThere}
	p.StepA = setMatrix(&p.A, left)
	p.StepB = setMatrix(&p.B, right)
	p.C = dense.Matrix[float32]{Data: tensor.Data[float32](out), Stride: p.N}
	if n == 3 {
		p.Batch, p.StepC = a.Size(0), p.M*p.N
	}
	switch added {
	case oneRow:
		p.Bias = tensor.Data[float32](self)
	case allRows:
		succeed(tensor.Copy(out, self))
		p.Add = true
	}
	p.Run()
}

// compact returns a matrix, or a batch of them, as package dense reads it: a copy where rows and columns both have gaps.
func compact(t *tensor.Tensor) *tensor.Tensor {
	n, s := t.Dim(), t.Strides()
	if byRows, byColumns := isDense(t.Size(n-2), t.Size(n-1), s[n-2], s[n-1]); byRows || byColumns {
		return t
	}
	return contiguous(t)
}

// isDense reports whether the elements of a row, or of a column, follow each other.
func isDense(rows, columns, rowStride, columnStride int) (byRows, byColumns bool) {
	return (columnStride == 1 || columns == 1) && (rowStride >= columns || rows == 1), (rowStride == 1 || rows == 1) && (columnStride >= rows || columns == 1)
}

// setMatrix describes a compact matrix, or a batch of them and the step between them, to package dense.
func setMatrix[T interface {
	dense.Number | dense.Half
	tensor.Element
}](m *dense.Matrix[T], t *tensor.Tensor) (step int) {
	n := t.Dim()
	s := t.Strides()
	if byRows, _ := isDense(t.Size(n-2), t.Size(n-1), s[n-2], s[n-1]); byRows {
		m.Stride = s[n-2]
	} else {
		m.Stride, m.Transposed = s[n-1], true
	}
	m.Data = tensor.Data[T](t)
	if n == 3 {
		step = s[0]
	}
	return step
}

func mm(a, b *tensor.Tensor) *tensor.Tensor {
	check(a.Dim() == 2, "self must be a matrix")
	check(b.Dim() == 2, "mat2 must be a matrix")
	checkInner(a, b)
	sameTypes("addmm_impl_cpu_", a, b)
	return products(a, b)
}

func checkInner(a, b *tensor.Tensor) {
	if a.Size(1) != b.Size(0) {
		raise(source.RuntimeError, "mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", a.Size(0), a.Size(1), b.Size(0), b.Size(1))
	}
}

func bmm(a, b *tensor.Tensor) *tensor.Tensor {
	check(a.Dim() == 3, "batch1 must be a 3D tensor")
	check(b.Dim() == 3, "batch2 must be a 3D tensor")
	check(a.Size(0) == b.Size(0) && a.Size(2) == b.Size(1), "Expected size for first two dimensions of batch2 tensor to be: [%d, %d] but got: [%d, %d].", a.Size(0), a.Size(2), b.Size(0), b.Size(1))
	sameTypes("bmm", a, b)
	return products(a, b)
}

// productInto is the out= form of mm and bmm. Where the result has its place already it is written there at once.
func productInto(product func(a, b *tensor.Tensor) *tensor.Tensor) func(c call) {
	return func(c call) {
		a, b, dst := c.tensor(0), c.tensor(1), c.tensor(2)
		if a.Dim() == 2 && b.Dim() == 2 && dst.Dim() == 2 && dst.Size(0) == a.Size(0) && dst.Size(1) == b.Size(1) {
			checkInside(dst)
		}
		if isProduct(dst, a, b) {
			if a.DType() == tensor.Float32 {
				runProduct[float32](nil, nothing, a, b, dst)
			} else {
				runProduct[float64](nil, nothing, a, b, dst)
			}
		} else {
			made := product(a, b)
			storeOut(dst, made)
			release(made, c.args)
		}
		c.giveOut(0)
	}
}

// isProduct reports whether dst is as the product of a and b would be made, in memory of its own.
func isProduct(dst, a, b *tensor.Tensor) bool {
	d, n := a.DType(), a.Dim()
	return (d == tensor.Float32 || d == tensor.Float64) && b.DType() == d && dst.DType() == d && (n == 2 || n == 3) && b.Dim() == n && dst.Dim() == n &&
		a.Size(n-1) == b.Size(n-2) && dst.Size(n-2) == a.Size(n-2) && dst.Size(n-1) == b.Size(n-1) && a.Size(0) == dst.Size(0) &&
		(n == 2 || b.Size(0) == a.Size(0)) && dst.IsContiguous() && !dst.SharesStorage(a) && !dst.SharesStorage(b)
}

func mv(a, x *tensor.Tensor) *tensor.Tensor {
	check(a.Dim() == 2 && x.Dim() == 1, "vector + matrix @ vector expected, got %d, %d, %d", 1, a.Dim(), x.Dim())
	check(a.Size(1) == x.Size(0), "size mismatch, got %d, %dx%d,%d", a.Size(0), a.Size(0), a.Size(1), x.Size(0))
	sameTypes("addmv_impl_cpu", a, x)
	if isWhole(a.DType()) && a.IsContiguous() && x.IsContiguous() && a.Numel() > 0 && !a.OnDevice() {
		return dotsOfIntegers(a, x, a.Shape()[:1])
	}
	return shownAs(products(a, must(x.Unsqueeze(1))), a.Size(0))
}

// matmul is the product of vectors, matrices and batches of them.
func matmul(a, b *tensor.Tensor) *tensor.Tensor {
	check(a.Dim() > 0 && b.Dim() > 0, "both arguments to matmul need to be at least 1D, but they are %dD and %dD", a.Dim(), b.Dim())
	switch {
	case a.Dim() == 1 && b.Dim() == 1:
		return dot(a, b)
	case a.Dim() == 2 && b.Dim() == 1:
		return mv(a, b)
	case a.Dim() == 1 && b.Dim() == 2:
		return shownAs(mm(must(a.Unsqueeze(0)), b), b.Size(1))
	case a.Dim() == 2 && b.Dim() == 2:
		return mm(a, b)
	}
	return batchedMatmul(a, b)
}

func batchedMatmul(a, b *tensor.Tensor) *tensor.Tensor {
	dropRow, dropColumn := a.Dim() == 1, b.Dim() == 1
	if dropRow {
		a = must(a.Unsqueeze(0))
	}
	if dropColumn {
		b = must(b.Unsqueeze(1))
	}
	m, k := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	n := b.Size(b.Dim() - 1)
	leadA, leadB := a.Shape()[:a.Dim()-2], b.Shape()[:b.Dim()-2]
	var out *tensor.Tensor
	var shape []int
	if b.Dim() == 2 && !dropRow { // one matrix for all: fold the batch into the rows
		flat := must(a.Reshape(numelOf(leadA)*m, k))
		out = mm(flat, b)
		forgetMade(a, flat)
		shape = append(slices.Clone(leadA), m, n)
	} else {
		batch := must(tensor.Broadcast(leadA, leadB))
		x := asMatrices(a, append(slices.Clone(batch), m, k), numelOf(batch), m, k)
		y := asMatrices(b, append(slices.Clone(batch), b.Size(b.Dim()-2), n), numelOf(batch), b.Size(b.Dim()-2), n)
		out = bmm(x, y)
		forgetMade(a, x)
		forgetMade(b, y)
		shape = append(slices.Clone(batch), m, n)
	}
	if dropColumn {
		shape = shape[:len(shape)-1]
	}
	if dropRow {
		shape = slices.Delete(shape, len(shape)-1-btoi(!dropColumn), len(shape)-btoi(!dropColumn))
	}
	return shownAs(out, shape...)
}

// shownAs is tensor.IntoShape where the shape is known to fit.
func shownAs(t *tensor.Tensor, shape ...int) *tensor.Tensor { return must(t.IntoShape(shape...)) }

// forgetMade gives back what was made of t, a copy or a view that nobody else has, unless it is t itself. A view that stays would keep the memory that it
// shows: that of a copy, of which it is one, too.
func forgetMade(t, made *tensor.Tensor) {
	if made != t {
		made.Release()
	}
}

// asMatrices expands t to a shape and shows that, or a copy, as one of three dimensions.
func asMatrices(t *tensor.Tensor, shape []int, batch, rows, columns int) *tensor.Tensor {
	expanded := must(t.Expand(shape...))
	defer expanded.Release()
	return must(expanded.Reshape(batch, rows, columns))
}

// ownTransposed is the transpose of a tensor that nobody else uses; the result is a view of nothing.
func ownTransposed(t *tensor.Tensor, a, b int) *tensor.Tensor {
	if a == b {
		return t
	}
	defer t.ReleaseMemory()
	out := must(t.Transpose(a, b))
	out.SetBase(nil)
	return out
}

// ownContiguous is contiguous of a tensor that nobody else uses.
func ownContiguous(t *tensor.Tensor) *tensor.Tensor {
	out := contiguous(t)
	if out != t {
		t.Release()
	}
	return out
}

// ownTo is to of a tensor that nobody else uses.
func ownTo(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	out := to(t, d)
	if out != t {
		t.Release()
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// linear multiplies the last dimension with the transposed weight and adds the bias.
func linear(x, weight, bias *tensor.Tensor) *tensor.Tensor {
	if weight.Dim() != 2 || x.Dim() == 0 {
		out := matmul(x, must(weight.T()))
		if bias != nil {
			out = add.on(out, bias)
		}
		return out
	}
	rows := x
	if x.Dim() != 2 {
		k := x.Size(x.Dim() - 1)
		rows = must(x.Reshape(numelOf(x.Shape()[:x.Dim()-1]), k))
	}
	transposed := must(weight.T())
	checkInner(rows, transposed)
	switch {
	case bias == nil:
	case x.Dim() == 1:
		bias = to(bias, rows.DType())
	default:
		sameAddedTypes(bias, rows, transposed)
	}
	sameTypes("addmm_impl_cpu_", rows, transposed)
	out := sumOfProducts(bias, rows, transposed)
	if x.Dim() == 2 {
		return out
	}
	forgetMade(x, rows)
	return shownAs(out, append(slices.Clone(x.Shape()[:x.Dim()-1]), weight.Size(0))...)
}

// scaledSum gives beta*self + alpha*p; where beta is zero self is not read.
func scaledSum(self, p *tensor.Tensor, beta, alpha tensor.Scalar) *tensor.Tensor {
	if p.DType().IsIntegral() {
		beta, alpha = tensor.Int(beta.Int64()), tensor.Int(alpha.Int64())
	}
	if !isOne(alpha) {
		p = timesOwn(p, alpha)
	}
	expanded, err := self.Expand(p.Shape()...)
	succeed(err)
	if !beta.Bool() {
		return p
	}
	if !isOne(beta) {
		expanded = to(timesOwn(expanded, beta), p.DType())
	}
	return add.on(expanded, p)
}

func isOne(s tensor.Scalar) bool { return s.IsIntegral() && s.Int64() == 1 }

var matmulFamily = []definition{
	giving("linalg_vecdot", func(c call) *tensor.Tensor {
		p := mul.on(conjugate(c.tensor(0)), c.tensor(1))
		return sum(p, []int{c.int(2)}, false, p.DType())
	}),
	giving("prim::MMTreeReduce", func(c call) *tensor.Tensor {
		half := len(c.args) / 2
		check(half > 0 && 2*half == len(c.args), "prim::MMTreeReduce expects the left operands of products and as many right ones")
		sum := mm(c.tensor(0), c.tensor(half))
		for i := 1; i < half; i++ {
			sum = add.on(sum, mm(c.tensor(i), c.tensor(half+i)))
		}
		return sum
	}),
	giving("mm", func(c call) *tensor.Tensor { return mm(c.tensor(0), c.tensor(1)) }).with(ops.Def{Reads: ops.ReadsOperands, Grad: productGrad, Tags: ops.Grouped | ops.SavesOperand}),
	giving("bmm", func(c call) *tensor.Tensor { return bmm(c.tensor(0), c.tensor(1)) }).with(ops.Def{Reads: ops.ReadsOperands, Grad: productGrad, Tags: ops.Grouped | ops.SavesOperand}).outOverlapping(),
	define("mm.out", productInto(mm)),
	define("bmm.out", productInto(bmm)).outOverlapping(),
	giving("mv", func(c call) *tensor.Tensor { return mv(c.tensor(0), c.tensor(1)) }).with(ops.Def{Reads: ops.ReadsOperands, Grad: mvGrad, Tags: ops.Grouped | ops.SavesOperand}),
	giving("dot", func(c call) *tensor.Tensor { return dot(c.tensor(0), c.tensor(1)) }).with(ops.Def{Reads: ops.ReadsOperands, Grad: dotGrad, Tags: ops.Grouped | ops.SavesOperand}),
	giving("vdot", func(c call) *tensor.Tensor { return dot(conjugate(c.tensor(0)), c.tensor(1)) }).with(ops.Def{Grad: concrete(func(c gradient) {
		c.give(0, c.mul(c.conj(c.g()), c.in(1)))
		c.give(1, c.mul(c.g(), c.in(0)))
	}), Tags: ops.AsWritten}),
	giving("matmul", func(c call) *tensor.Tensor { return matmul(c.tensor(0), c.tensor(1)) }).with(ops.Def{Aliases: []string{"linalg_matmul"}, Reads: ops.ReadsOperands, Grad: matmulGrad, Tags: ops.Grouped | ops.SavesOperand | ops.InGroups}),
	giving("linalg_matmul", func(c call) *tensor.Tensor { return matmul(c.tensor(0), c.tensor(1)) }),
	giving("linear", func(c call) *tensor.Tensor { return linear(c.tensor(0), c.tensor(1), c.optionalTensor(2)) }).with(ops.Def{Reads: ops.ReadsOperands, Grad: linearGrad, Tags: ops.Grouped | ops.SavesOperand}),
	giving("addmm", func(c call) *tensor.Tensor {
		a, b := c.tensor(1), c.tensor(2)
		check(a.Dim() == 2, "mat1 must be a matrix, got %d-D tensor", a.Dim())
		check(b.Dim() == 2, "mat2 must be a matrix, got %d-D tensor", b.Dim())
		checkInner(a, b)
		sameAddedTypes(c.tensor(0), a, b)
		if self := c.tensor(0); self.DType() == a.DType() && (a.DType().IsFloating() || productType(a.DType()) == a.DType()) && isOne(c.scalar(3)) && isOne(c.scalar(4)) {
			sameTypes("addmm_impl_cpu_", a, b)
			must(self.Expand(a.Size(0), b.Size(1)))
			return sumOfProducts(self, a, b)
		}
		return scaledSum(c.tensor(0), mm(a, b), c.scalar(3), c.scalar(4))
	}).with(ops.Def{Reads: ops.ReadsNothing.And(1).And(2), Grad: scaledSumGrad(func(g grad, dy ref) { gradsOfProduct(g, 1, 2, dy) }), Tags: ops.Broadcasts | ops.Grouped | ops.SavesOperand}),
	giving("addmv", func(c call) *tensor.Tensor {
		return scaledSum(c.tensor(0), mv(c.tensor(1), c.tensor(2)), c.scalar(3), c.scalar(4))
	}).with(ops.Def{Reads: ops.ReadsNothing.And(1).And(2), Grad: scaledSumGrad(func(g grad, dy ref) {
		g.Give(1, g.Mul(g.Do("unsqueeze", dy, -1), g.In(2)))
		g.Give(2, g.Do("matmul", g.Do("t", g.In(1)), dy))
	})}),
	giving("addr", func(c call) *tensor.Tensor {
		return scaledSum(c.tensor(0), outer(c.tensor(1), c.tensor(2)), c.scalar(3), c.scalar(4))
	}).with(ops.Def{Reads: ops.ReadsNothing.And(1).And(2), Grad: scaledSumGrad(func(g grad, dy ref) {
		g.Give(1, g.Do("matmul", dy, g.In(2)))
		g.Give(2, g.Do("matmul", g.In(1), dy))
	})}),
	giving("baddbmm", func(c call) *tensor.Tensor {
		return scaledSum(c.tensor(0), bmm(c.tensor(1), c.tensor(2)), c.scalar(3), c.scalar(4))
	}).with(ops.Def{Reads: ops.ReadsNothing.And(1).And(2), Grad: scaledSumGrad(func(g grad, dy ref) { gradsOfProduct(g, 1, 2, dy) }), Tags: ops.SavesOperand}),
	giving("addbmm", func(c call) *tensor.Tensor {
		sameAddedTypes(c.tensor(0), c.tensor(1), c.tensor(2))
		p := bmm(c.tensor(1), c.tensor(2))
		return scaledSum(c.tensor(0), sum(p, []int{0}, false, p.DType()), c.scalar(3), c.scalar(4))
	}),
	giving("outer", func(c call) *tensor.Tensor { return outer(c.tensor(0), c.tensor(1)) }).with(ops.Def{Aliases: []string{"ger"}, Grad: concrete(func(c gradient) {
		c.give(0, c.matmul(c.g(), c.in(1)))
		c.give(1, c.matmul(c.in(0), c.g()))
	})}).outApart(),
	giving("ger", func(c call) *tensor.Tensor { return outer(c.tensor(0), c.tensor(1)) }).outApart(),
	giving("kron", func(c call) *tensor.Tensor { return kron(c.tensor(0), c.tensor(1)) }),
	giving("inner", func(c call) *tensor.Tensor {
		a, b := c.tensor(0), c.tensor(1)
		if a.Dim() == 0 || b.Dim() == 0 {
			return mul.on(a, b)
		}
		check(a.Size(a.Dim()-1) == b.Size(b.Dim()-1), "inner() the last dimension must match on both input tensors but got shapes %s and %s", shapeText(a.Shape()), shapeText(b.Shape()))
		return tensorDot(a, b, []int{-1}, []int{-1})
	}),
	giving("cross", func(c call) *tensor.Tensor {
		if !c.isNone(2) {
			return cross(c.tensor(0), c.tensor(1), c.int(2))
		}
		for d, n := range c.tensor(0).Shape() {
			if n == 3 {
				return cross(c.tensor(0), c.tensor(1), d)
			}
		}
		check(false, "no dimension of size 3 in input")
		return nil
	}).outOverlapping(),
	giving("linalg_cross", func(c call) *tensor.Tensor {
		a, b, dim := c.tensor(0), c.tensor(1), c.int(2)
		check(a.Dim() == b.Dim(), "linalg.cross: inputs must have the same number of dimensions.")
		if d := wrapDim(dim, a); a.Dim() > 0 {
			check(a.Size(d) == 3 && b.Size(d) == 3, "linalg.cross: inputs dimension %d must have length 3. Got %d and %d", dim, a.Size(d), b.Size(d))
		}
		return cross(a, b, dim)
	}).outOverlapping(),
	giving("tensordot", func(c call) *tensor.Tensor { return tensorDot(c.tensor(0), c.tensor(1), c.ints(2), c.ints(3)) }),
	giving("einsum", func(c call) *tensor.Tensor { return einsum(c.str(0), c.tensors(1)) }).with(ops.Def{Grad: concrete(einsumGrad)}),
	giving("bilinear", func(c call) *tensor.Tensor {
		return bilinear(c.tensor(0), c.tensor(1), c.tensor(2), c.optionalTensor(3))
	}).checked(checkBilinear),
	deprecated("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than multiple parameters.",
		giving("chain_matmul", func(c call) *tensor.Tensor { return multiDot(c.tensors(0)) }).with(ops.Def{Decomp: emitting("linalg_multi_dot")})),
	giving("linalg_multi_dot", func(c call) *tensor.Tensor { return multiDot(c.tensors(0)) }),
	giving("cdist", func(c call) *tensor.Tensor { return cdist(c.tensor(0), c.tensor(1), c.float(2), c.intOr(3, 0)) }).checked(func(c call) { checkType(c.tensor(0), c.tensor(1)) }),
}
