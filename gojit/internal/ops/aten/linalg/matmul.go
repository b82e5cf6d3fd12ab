package linalg

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ProductType returns the type that products of a type are computed in.
func ProductType(d tensor.DType) tensor.DType {
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
	source.Check(self.DType() == b.DType(), "self and mat2 must have the same dtype")
	source.Check(a.DType() == b.DType(), "mat1 and mat2 must have the same dtype")
}

func sameTypes(name string, a, b *tensor.Tensor) {
	if a.DType() != b.DType() {
		source.Raise(source.RuntimeError, "expected scalar type %s but found %s", a.DType().CppName(), b.DType().CppName())
	}
	if a.DType() == tensor.Bool {
		source.Raise(source.RuntimeError, "\"%s\" not implemented for 'Bool'", name)
	}
}

// Products multiplies matrices (m by k) and (k by n), or batches of them (batch by m by k and batch by k by n).
func Products(a, b *tensor.Tensor) *tensor.Tensor { return sumOfProducts(nil, a, b) }

// sumOfProducts multiplies matrices, or batches of them, and adds a tensor that expands to the shape
// of the result, nil for none.
func sumOfProducts(self, a, b *tensor.Tensor) *tensor.Tensor {
	d := a.DType()
	work := ProductType(d)
	half := d == tensor.BFloat16 || d == tensor.Float16
	dims := [3]int{a.Size(0), a.Size(a.Dim() - 2), b.Size(b.Dim() - 1)}
	shape := dims[3-a.Dim():]
	switch {
	case a.IsHollow():
		return define.EmptyBeside(a, shape, d)
	case a.OnDevice():
		return sumOfProductsOnDevice(self, a, b, shape)
	}
	if work == tensor.Int64 && integersPay(a, b) {
		return productsOfIntegers(self, a, b)
	}
	if !half {
		a, b = elementwise.To(a, work), elementwise.To(b, work)
	}
	out := define.Empty(shape, work)
	if self != nil && (self.Dim() == 1 || half) {
		self = elementwise.To(self, work)
	}
	added := alreadyThere
	switch {
	case self == nil:
		added = nothing
	case self.DType() != work || !self.IsContiguous():
		source.Throw(tensor.Copy(out, self))
	case self.Dim() == 1 && self.Size(0) == shape[len(shape)-1]:
		added = oneRow
	case tensor.SameShape(self.Shape(), shape):
		added = allRows
	default:
		source.Throw(tensor.Copy(out, self))
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
	return elementwise.OwnTo(out, d)
}

// integersPay reports whether products of integers are large enough to be computed in float64.
func integersPay(a, b *tensor.Tensor) bool {
	m, k, n := a.Size(a.Dim()-2), a.Size(a.Dim()-1), b.Size(b.Dim()-1)
	return m >= 4 && n >= 4 && m*n*k >= 8192
}

// productsOfIntegers is sumOfProducts for integers.
func productsOfIntegers(self, a, b *tensor.Tensor) *tensor.Tensor {
	out := ByDoubles(a, b, a.Size(a.Dim()-1), Products)
	if self != nil {
		out = elementwise.Add.On(out, self)
	}
	return elementwise.To(out, a.DType())
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
	gemm.Number
	tensor.Element
}](self *tensor.Tensor, added addend, a, b, out *tensor.Tensor) {
	if out.Numel() == 0 {
		return
	}
	n := a.Dim()
	left, right := Compact(a), Compact(b)
	defer define.ForgetMade(a, left)
	defer define.ForgetMade(b, right)
	p := gemm.Product[T]{M: a.Size(n - 2), K: a.Size(n - 1), N: b.Size(n - 1)}
	p.StepA = SetMatrix(&p.A, left)
	p.StepB = SetMatrix(&p.B, right)
	p.C = gemm.Matrix[T]{Data: tensor.Data[T](out), Stride: p.N}
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
func runHalfProduct[T gemm.Half](self *tensor.Tensor, added addend, a, b, out *tensor.Tensor) {
	if out.Numel() == 0 {
		return
	}
	n := a.Dim()
	left, right := Compact(a), Compact(b)
	defer define.ForgetMade(a, left)
	defer define.ForgetMade(b, right)
	p := gemm.HalfProduct[T]{M: a.Size(n - 2), K: a.Size(n - 1), N: b.Size(n - 1), Add: added == alreadyThere}
	p.StepA = SetMatrix(&p.A, left)
	p.StepB = SetMatrix(&p.B, right)
	p.C = gemm.Matrix[float32]{Data: tensor.Data[float32](out), Stride: p.N}
	if n == 3 {
		p.Batch, p.StepC = a.Size(0), p.M*p.N
	}
	switch added {
	case oneRow:
		p.Bias = tensor.Data[float32](self)
	case allRows:
		source.Throw(tensor.Copy(out, self))
		p.Add = true
	}
	p.Run()
}

// Compact returns a matrix, or a batch of them, as package dense reads it: a copy where rows and columns both have gaps.
func Compact(t *tensor.Tensor) *tensor.Tensor {
	n, s := t.Dim(), t.Strides()
	if byRows, byColumns := isDense(t.Size(n-2), t.Size(n-1), s[n-2], s[n-1]); byRows || byColumns {
		return t
	}
	return elementwise.Contiguous(t)
}

// isDense reports whether the elements of a row, or of a column, follow each other.
func isDense(rows, columns, rowStride, columnStride int) (byRows, byColumns bool) {
	return (columnStride == 1 || columns == 1) && (rowStride >= columns || rows == 1), (rowStride == 1 || rows == 1) && (columnStride >= rows || columns == 1)
}

// SetMatrix describes a compact matrix, or a batch of them and the step between them, to package dense.
func SetMatrix[T interface {
	gemm.Number | gemm.Half
	tensor.Element
}](m *gemm.Matrix[T], t *tensor.Tensor) (step int) {
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

// Mm is mm.
func Mm(a, b *tensor.Tensor) *tensor.Tensor {
	source.Check(a.Dim() == 2, "self must be a matrix")
	source.Check(b.Dim() == 2, "mat2 must be a matrix")
	checkInner(a, b)
	sameTypes("addmm_impl_cpu_", a, b)
	return Products(a, b)
}

func checkInner(a, b *tensor.Tensor) {
	if a.Size(1) != b.Size(0) {
		source.Raise(source.RuntimeError, "mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", a.Size(0), a.Size(1), b.Size(0), b.Size(1))
	}
}

// Bmm is bmm.
func Bmm(a, b *tensor.Tensor) *tensor.Tensor {
	source.Check(a.Dim() == 3, "batch1 must be a 3D tensor")
	source.Check(b.Dim() == 3, "batch2 must be a 3D tensor")
	source.Check(a.Size(0) == b.Size(0) && a.Size(2) == b.Size(1), "Expected size for first two dimensions of batch2 tensor to be: [%d, %d] but got: [%d, %d].", a.Size(0), a.Size(2), b.Size(0), b.Size(1))
	sameTypes("bmm", a, b)
	return Products(a, b)
}

// ProductInto is the out= form of mm and bmm. Where the result has its place already it is written there at once.
func ProductInto(product func(a, b *tensor.Tensor) *tensor.Tensor) func(c define.Call) {
	return func(c define.Call) {
		a, b, dst := c.Tensor(0), c.Tensor(1), c.Tensor(2)
		if a.Dim() == 2 && b.Dim() == 2 && dst.Dim() == 2 && dst.Size(0) == a.Size(0) && dst.Size(1) == b.Size(1) {
			elementwise.CheckInside(dst)
		}
		define.CheckOutType(a.DType(), dst.DType())
		if isProduct(dst, a, b) {
			if a.DType() == tensor.Float32 {
				runProduct[float32](nil, nothing, a, b, dst)
			} else {
				runProduct[float64](nil, nothing, a, b, dst)
			}
		} else {
			made := product(a, b)
			elementwise.StoreOut(dst, made)
			define.Release(made, c.Args)
		}
		c.GiveOut(0)
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
	source.Check(a.Dim() == 2 && x.Dim() == 1, "vector + matrix @ vector expected, got %d, %d, %d", 1, a.Dim(), x.Dim())
	source.Check(a.Size(1) == x.Size(0), "size mismatch, got %d, %dx%d,%d", a.Size(0), a.Size(0), a.Size(1), x.Size(0))
	sameTypes("addmv_impl_cpu", a, x)
	if isWhole(a.DType()) && a.IsContiguous() && x.IsContiguous() && a.Numel() > 0 && !a.OnDevice() {
		return dotsOfIntegers(a, x, a.Shape()[:1])
	}
	return define.ShownAs(Products(a, source.Must(x.Unsqueeze(1))), a.Size(0))
}

// Matmul is the product of vectors, matrices and batches of them.
func Matmul(a, b *tensor.Tensor) *tensor.Tensor {
	source.Check(a.Dim() > 0 && b.Dim() > 0, "both arguments to matmul need to be at least 1D, but they are %dD and %dD", a.Dim(), b.Dim())
	switch {
	case a.Dim() == 1 && b.Dim() == 1:
		return dot(a, b)
	case a.Dim() == 2 && b.Dim() == 1:
		return mv(a, b)
	case a.Dim() == 1 && b.Dim() == 2:
		return define.ShownAs(Mm(source.Must(a.Unsqueeze(0)), b), b.Size(1))
	case a.Dim() == 2 && b.Dim() == 2:
		return Mm(a, b)
	}
	return batchedMatmul(a, b)
}

func batchedMatmul(a, b *tensor.Tensor) *tensor.Tensor {
	dropRow, dropColumn := a.Dim() == 1, b.Dim() == 1
	if dropRow {
		a = source.Must(a.Unsqueeze(0))
	}
	if dropColumn {
		b = source.Must(b.Unsqueeze(1))
	}
	m, k := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	n := b.Size(b.Dim() - 1)
	leadA, leadB := a.Shape()[:a.Dim()-2], b.Shape()[:b.Dim()-2]
	var out *tensor.Tensor
	var shape []int
	if b.Dim() == 2 && !dropRow { // one matrix for all: fold the batch into the rows
		flat := source.Must(a.Reshape(define.NumelOf(leadA)*m, k))
		out = Mm(flat, b)
		define.ForgetMade(a, flat)
		shape = append(slices.Clone(leadA), m, n)
	} else {
		batch := source.Must(tensor.Broadcast(leadA, leadB))
		x := asMatrices(a, append(slices.Clone(batch), m, k), define.NumelOf(batch), m, k)
		y := asMatrices(b, append(slices.Clone(batch), b.Size(b.Dim()-2), n), define.NumelOf(batch), b.Size(b.Dim()-2), n)
		out = Bmm(x, y)
		define.ForgetMade(a, x)
		define.ForgetMade(b, y)
		shape = append(slices.Clone(batch), m, n)
	}
	if dropColumn {
		shape = shape[:len(shape)-1]
	}
	if dropRow {
		shape = slices.Delete(shape, len(shape)-1-define.Btoi(!dropColumn), len(shape)-define.Btoi(!dropColumn))
	}
	return define.ShownAs(out, shape...)
}

// asMatrices expands t to a shape and shows that, or a copy, as one of three dimensions.
func asMatrices(t *tensor.Tensor, shape []int, batch, rows, columns int) *tensor.Tensor {
	expanded := source.Must(t.Expand(shape...))
	defer expanded.Release()
	return source.Must(expanded.Reshape(batch, rows, columns))
}

// Linear multiplies the last dimension with the transposed weight and adds the bias.
func Linear(x, weight, bias *tensor.Tensor) *tensor.Tensor {
	if weight.Dim() != 2 || x.Dim() == 0 {
		out := Matmul(x, source.Must(weight.T()))
		if bias != nil {
			out = elementwise.Add.On(out, bias)
		}
		return out
	}
	rows := x
	if x.Dim() != 2 {
		k := x.Size(x.Dim() - 1)
		rows = source.Must(x.Reshape(define.NumelOf(x.Shape()[:x.Dim()-1]), k))
	}
	transposed := source.Must(weight.T())
	checkInner(rows, transposed)
	switch {
	case bias == nil:
	case x.Dim() == 1:
		bias = elementwise.To(bias, rows.DType())
	default:
		sameAddedTypes(bias, rows, transposed)
	}
	sameTypes("addmm_impl_cpu_", rows, transposed)
	out := sumOfProducts(bias, rows, transposed)
	transposed.Release()
	if x.Dim() == 2 {
		return out
	}
	define.ForgetMade(x, rows)
	return define.ShownAs(out, append(slices.Clone(x.Shape()[:x.Dim()-1]), weight.Size(0))...)
}

// scaledSum gives beta*self + alpha*p; where beta is zero self is not read.
func scaledSum(self, p *tensor.Tensor, beta, alpha tensor.Scalar) *tensor.Tensor {
	if p.DType().IsIntegral() {
		beta, alpha = tensor.Int(beta.Int64()), tensor.Int(alpha.Int64())
	}
	if !isOne(alpha) {
		p = elementwise.TimesOwn(p, alpha)
	}
	expanded, err := self.Expand(p.Shape()...)
	source.Throw(err)
	if !beta.Bool() {
		return p
	}
	if !isOne(beta) {
		expanded = elementwise.To(elementwise.TimesOwn(expanded, beta), p.DType())
	}
	return elementwise.Add.On(expanded, p)
}

// addrType is the type in which addr computes: the common one.
func addrType(c define.Call) tensor.DType {
	return tensor.Promote(c.Tensor(0).DType(), tensor.Promote(c.Tensor(1).DType(), c.Tensor(2).DType()))
}

func isOne(s tensor.Scalar) bool { return s.IsIntegral() && s.Int64() == 1 }

var MatmulFamily = []define.Definition{
	define.Giving("linalg_vecdot", func(c define.Call) *tensor.Tensor {
		p := elementwise.Mul.On(elementwise.Conjugate(c.Tensor(0)), c.Tensor(1))
		return reduce.Sum(p, []int{c.Int(2)}, false, p.DType())
	}),
	define.Giving("prim::MMTreeReduce", func(c define.Call) *tensor.Tensor {
		half := len(c.Args) / 2
		source.Check(half > 0 && 2*half == len(c.Args), "prim::MMTreeReduce expects the left operands of products and as many right ones")
		sum := Mm(c.Tensor(0), c.Tensor(half))
		for i := 1; i < half; i++ {
			sum = elementwise.Add.On(sum, Mm(c.Tensor(i), c.Tensor(half+i)))
		}
		return sum
	}),
	define.Giving("mm", func(c define.Call) *tensor.Tensor { return Mm(c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Reads: ops.ReadsOperands, Grad: mmGrad, Tags: ops.Grouped | ops.SavesOperand}),
	define.Giving("bmm", func(c define.Call) *tensor.Tensor { return Bmm(c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Reads: ops.ReadsOperands, Grad: bmmGrad, Tags: ops.Grouped | ops.SavesOperand}).OutOverlapping(),
	define.Operator("mm.out", ProductInto(Mm)),
	define.Operator("bmm.out", ProductInto(Bmm)).OutOverlapping(),
	define.Giving("mv", func(c define.Call) *tensor.Tensor { return mv(c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("sum.dim_IntList", x.Do("mul.Tensor", a[0], a[1]), []int{1})
	}), Reads: ops.ReadsOperands, Grad: mvGrad, Tags: ops.Grouped | ops.SavesOperand}),
	define.Giving("dot", func(c define.Call) *tensor.Tensor { return dot(c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("sum", x.Do("mul.Tensor", a[0], a[1]))
	}), Reads: ops.ReadsOperands, Grad: dotGrad, Tags: ops.Grouped | ops.SavesOperand}),
	define.Giving("vdot", func(c define.Call) *tensor.Tensor { return dot(elementwise.Conjugate(c.Tensor(0)), c.Tensor(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Mul(c.Conj(c.G()), c.In(1)))
		c.Give(1, c.Mul(c.G(), c.In(0)))
	}), Tags: ops.AsWritten}),
	define.Giving("matmul", func(c define.Call) *tensor.Tensor { return Matmul(c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Groups: ops.Groups, Aliases: []string{"linalg_matmul"}, Reads: ops.ReadsOperands, Grad: matmulGrad, Tags: ops.Grouped | ops.SavesOperand}),
	define.Giving("linear", func(c define.Call) *tensor.Tensor { return Linear(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2)) }).With(ops.Def{Reads: ops.ReadsOperands, Grad: linearGrad, Tags: ops.Grouped | ops.SavesOperand}),
	define.Giving("addmm", func(c define.Call) *tensor.Tensor {
		a, b := c.Tensor(1), c.Tensor(2)
		source.Check(a.Dim() == 2, "mat1 must be a matrix, got %d-D tensor", a.Dim())
		source.Check(b.Dim() == 2, "mat2 must be a matrix, got %d-D tensor", b.Dim())
		checkInner(a, b)
		sameAddedTypes(c.Tensor(0), a, b)
		if self := c.Tensor(0); self.DType() == a.DType() && (a.DType().IsFloating() || ProductType(a.DType()) == a.DType()) && isOne(c.Scalar(3)) && isOne(c.Scalar(4)) {
			sameTypes("addmm_impl_cpu_", a, b)
			source.Must(self.Expand(a.Size(0), b.Size(1)))
			return sumOfProducts(self, a, b)
		}
		return scaledSum(c.Tensor(0), Mm(a, b), c.Scalar(3), c.Scalar(4))
	}).With(ops.Def{Reads: ops.ReadsNothing.And(1).And(2), Grad: scaledSumGrad(func(g define.Grad, dy define.Ref) { gradsOfMatrices(g, 1, 2, dy) }), Tags: ops.Broadcasts | ops.Grouped | ops.SavesOperand}),
	define.Giving("addmv", func(c define.Call) *tensor.Tensor {
		return scaledSum(c.Tensor(0), mv(c.Tensor(1), c.Tensor(2)), c.Scalar(3), c.Scalar(4))
	}).With(ops.Def{Reads: ops.ReadsNothing.And(1).And(2), Grad: scaledSumGrad(func(g define.Grad, dy define.Ref) {
		g.Give(1, g.Mul(g.Do("unsqueeze", dy, -1), g.In(2)))
		g.Give(2, g.Do("matmul", g.Do("t", g.In(1)), dy))
	})}),
	define.Giving("addr", func(c define.Call) *tensor.Tensor {
		d := addrType(c)
		return scaledSum(elementwise.To(c.Tensor(0), d), elementwise.To(outer(c.Tensor(1), c.Tensor(2)), d), c.Scalar(3), c.Scalar(4))
	}).Checked(func(c define.Call) {
		integral := addrType(c).IsIntegral()
		source.Check(!integral || c.Scalar(3).IsIntegral(), "For integral input tensors, argument beta must not be a floating point number.")
		source.Check(!integral || c.Scalar(4).IsIntegral(), "For integral input tensors, argument alpha must not be a floating point number.")
	}).With(ops.Def{Reads: ops.ReadsNothing.And(1).And(2), Grad: scaledSumGrad(func(g define.Grad, dy define.Ref) {
		g.Give(1, g.Do("matmul", dy, g.In(2)))
		g.Give(2, g.Do("matmul", g.In(1), dy))
	})}),
	define.Giving("baddbmm", func(c define.Call) *tensor.Tensor {
		return scaledSum(c.Tensor(0), Bmm(c.Tensor(1), c.Tensor(2)), c.Scalar(3), c.Scalar(4))
	}).With(ops.Def{Reads: ops.ReadsNothing.And(1).And(2), Grad: scaledSumGrad(func(g define.Grad, dy define.Ref) { gradsOfBatches(g, 1, 2, dy) }), Tags: ops.SavesOperand}),
	define.Giving("addbmm", func(c define.Call) *tensor.Tensor {
		sameAddedTypes(c.Tensor(0), c.Tensor(1), c.Tensor(2))
		p := Bmm(c.Tensor(1), c.Tensor(2))
		return scaledSum(c.Tensor(0), reduce.Sum(p, []int{0}, false, p.DType()), c.Scalar(3), c.Scalar(4))
	}),
	define.Giving("outer", func(c define.Call) *tensor.Tensor { return outer(c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("mul.Tensor", x.Do("reshape", a[0], define.SizesOf(x.Size(a[0].Tensor(), 0), value.Int(1))), a[1])
	}), Aliases: []string{"ger"}, Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Matmul(c.G(), c.In(1)))
		c.Give(1, c.Matmul(c.In(0), c.G()))
	})}).OutApart(),
	define.Giving("kron", func(c define.Call) *tensor.Tensor { return kron(c.Tensor(0), c.Tensor(1)) }),
	define.Giving("inner", func(c define.Call) *tensor.Tensor {
		a, b := c.Tensor(0), c.Tensor(1)
		if a.Dim() == 0 || b.Dim() == 0 {
			return elementwise.Mul.On(a, b)
		}
		return tensorDot(a, b, []int{-1}, []int{-1})
	}).Checked(func(c define.Call) {
		a, b := c.Tensor(0), c.Tensor(1)
		source.Check(a.Dim() == 0 || b.Dim() == 0 || a.Size(a.Dim()-1) == b.Size(b.Dim()-1),
			"inner() the last dimension must match on both input tensors but got shapes %s and %s", define.ShapeText(a.Shape()), define.ShapeText(b.Shape()))
	}),
	define.Giving("cross", func(c define.Call) *tensor.Tensor {
		if !c.IsNone(2) {
			return cross(c.Tensor(0), c.Tensor(1), c.Int(2))
		}
		for d, n := range c.Tensor(0).Shape() {
			if n == 3 {
				return cross(c.Tensor(0), c.Tensor(1), d)
			}
		}
		source.Check(false, "no dimension of size 3 in input")
		return nil
	}).OutOverlapping(),
	define.Giving("linalg_cross", func(c define.Call) *tensor.Tensor {
		a, b, dim := c.Tensor(0), c.Tensor(1), c.Int(2)
		source.Check(a.Dim() == b.Dim(), "linalg.cross: inputs must have the same number of dimensions.")
		if d := define.WrapDim(dim, a); a.Dim() > 0 {
			source.Check(a.Size(d) == 3 && b.Size(d) == 3, "linalg.cross: inputs dimension %d must have length 3. Got %d and %d", dim, a.Size(d), b.Size(d))
		}
		return cross(a, b, dim)
	}).OutOverlapping(),
	define.Giving("tensordot", func(c define.Call) *tensor.Tensor { return tensorDot(c.Tensor(0), c.Tensor(1), c.Ints(2), c.Ints(3)) }).Checked(func(c define.Call) {
		checkContracted(c.Tensor(0), c.Tensor(1), c.Ints(2), c.Ints(3))
	}),
	define.Giving("einsum", func(c define.Call) *tensor.Tensor { return einsum(c.Str(0), c.Tensors(1)) }).With(ops.Def{Grad: define.Concrete(einsumGrad)}),
	define.Giving("bilinear", func(c define.Call) *tensor.Tensor {
		return bilinear(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.OptionalTensor(3))
	}).Checked(checkBilinear),
	define.Deprecated("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than multiple parameters.",
		define.Giving("chain_matmul", func(c define.Call) *tensor.Tensor {
			if ts := c.Tensors(0); len(ts) == 1 {
				return ts[0]
			}
			return multiDot(c.Tensors(0))
		}).With(ops.Def{Decomp: func(e ops.Emitter, a []value.Value) []value.Value {
			if a[0].Kind() == value.KindList && len(a[0].List().Items) == 1 {
				return a[0].List().Items
			}
			return define.Emitting("linalg_multi_dot")(e, a)
		}}).Checked(func(c define.Call) {
			for _, t := range c.Tensors(0) {
				source.Check(t.Dim() == 2, "Tensor dimension is %d, expected 2 instead.", t.Dim())
			}
			if len(c.Tensors(0)) != 1 {
				checkMultiDot(c.Tensors(0))
			}
		})),
	define.Giving("linalg_multi_dot", func(c define.Call) *tensor.Tensor { return multiDot(c.Tensors(0)) }).Checked(func(c define.Call) { checkMultiDot(c.Tensors(0)) }),
	define.Giving("cdist", func(c define.Call) *tensor.Tensor { return Cdist(c.Tensor(0), c.Tensor(1), c.Float(2), c.IntOr(3, 0)) }).With(ops.Def{Decomp: define.Emitting("_cdist_forward")}).Checked(func(c define.Call) {
		for i, t := range []*tensor.Tensor{c.Tensor(0), c.Tensor(1)} {
			source.Check(t.DType().IsFloating(), "cdist only supports floating-point dtypes, X%d got: %s", i+1, t.DType().CppName())
		}
		define.CheckType(c.Tensor(0), c.Tensor(1))
		source.Check(c.Float(2) >= 0, "cdist only supports non-negative p values")
		checkRows(c.Tensor(0), c.Tensor(1))
	}),
}
