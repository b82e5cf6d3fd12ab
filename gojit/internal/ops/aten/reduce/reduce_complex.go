package aten

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// complexSum adds up complex numbers, or what is converted to them. Rows have a kernel that adds real and imaginary parts.
func complexSum(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	computed := kernel.ComputeType(result)
	g := group(t, dims, keepdim)
	if g.byColumns {
		return to(complexColumnSums(g, computed), result)
	}
	out := empty(g.shape, computed)
	if out.Numel() == 0 {
		return to(out, result) // which has no place for an imaginary part either
	}
	re, im := partRows(out)
	rowPartSums.program(g.rows.DType(), computed).ParallelRows(g.outer, g.n, []launch.Row{re, im, launch.RowOf(g.rows, g.n)}, nil)
	return to(out, result)
}

// partRows returns the real and the imaginary parts of contiguous complex numbers as one of each for each row.
func partRows(t *tensor.Tensor) (re, im launch.Row) {
	re = launch.SingleOf(t)
	im = re
	im.Ptr = unsafe.Add(im.Ptr, t.DType().Size()/2)
	return re, im
}

// complexColumnSums adds up columns of pairs of numbers.
func complexColumnSums(g grouped, computed tensor.DType) *tensor.Tensor {
	c := g.columns
	if !c.tensor.DType().IsComplex() {
		return sumReducer.over(g, computed, computed)
	}
	real := computed.ToReal()
	pairs := columns{must(c.tensor.ViewAsReal()), c.blocks, c.rows, 2 * c.n}
	sums := sumReducer.reduceColumns(pairs, real, real)
	return must(must(must(sums.View(-1, 2)).ViewAsComplex()).View(g.shape...))
}

// rowPartSums gives the sums of real and imaginary parts of a row.
var rowPartSums = &rowKernel{build: func(b builder, in, computed tensor.DType) {
	x := b.Input(in, computed)
	b.Reduce(kernel.ReduceSum, b.Unary(kernel.Real, x), computed.ToReal())
	b.Reduce(kernel.ReduceSum, b.Unary(kernel.Imag, x), computed.ToReal())
}}

// complexProduct multiplies complex numbers. Parts of a row are multiplied with each other until one number is left.
func complexProduct(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	computed := kernel.ComputeType(result)
	g := group(t, dims, keepdim)
	if g.byColumns {
		return to(productReducer.over(g, computed, computed), result)
	}
	if g.n == 0 {
		return must(tensor.Full(g.shape, tensor.Int(1), result))
	}
	rows := must(to(g.rows, computed).View(g.outer, g.n))
	if g.n == 1 {
		rows = must(rows.Clone(tensor.ContiguousFormat)) // not the argument itself
	}
	for rows.Size(1) > 1 {
		rows = multiplyParts(rows)
	}
	return to(must(rows.View(g.shape...)), result)
}

// mostParts is how many parts of a row are multiplied at once.
const mostParts = tensor.MaxOperands - 1

// multiplyParts multiplies parts of each row with each other, as many as divide it evenly, or its halves.
func multiplyParts(rows *tensor.Tensor) *tensor.Tensor {
	outer, n, d := rows.Size(0), rows.Size(1), rows.DType()
	for k := mostParts; k > 1; k-- {
		if n%k == 0 {
			return productOfParts(rows, k)
		}
	}
	half := n / 2
	product := empty([]int{outer, half + 1}, d)
	mul.run(must(product.Narrow(1, 0, half)), []operand{ofTensor(must(rows.Narrow(1, 0, half))), ofTensor(must(rows.Narrow(1, half+1, half)))})
	succeed(tensor.Copy(must(product.Narrow(1, half, 1)), must(rows.Narrow(1, half, 1))))
	return product
}

// productsOf keeps the programs that multiply so many tensors of a type.
var productsOf launch.Cache

// productOfParts multiplies k parts of each row.
func productOfParts(rows *tensor.Tensor, k int) *tensor.Tensor {
	d, n := rows.DType(), rows.Size(1)/k
	p := must(productsOf.Make(launch.Key(k).With(d), func() (*launch.Program, error) {
		b := kernel.NewBuilder()
		x := make([]element, k)
		for i := range x {
			x[i] = b.Input(d, d)
		}
		b.Output(combined(b, kernel.Mul, x), d)
		return launch.ProgramOf(b.Kernel())
	}))
	operands := []*tensor.Tensor{empty([]int{rows.Size(0), n}, d)}
	for i := range k {
		operands = append(operands, must(rows.Narrow(1, i*n, n)))
	}
	p.Run(operands, nil)
	return operands[0]
}
