package reduce

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// complexSum adds up complex numbers, or what is converted to them. Rows have a kernel that adds real and imaginary parts.
func complexSum(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	if t.OnDevice() {
		return complexSumThere(elementwise.To(t, result), dims, keepdim)
	}
	computed := kernel.ComputeType(result)
	g := group(t, dims, keepdim)
	if g.byColumns {
		return elementwise.To(complexColumnSums(g, computed), result)
	}
	out := define.Empty(g.shape, computed)
	if out.Numel() == 0 {
		return elementwise.To(out, result) // which has no place for an imaginary part either
	}
	re, im := PartRows(out)
	rowPartSums.Program(g.rows.DType(), computed).ParallelRows(g.outer, g.n, []launch.Row{re, im, launch.RowOf(g.rows, g.n)}, nil)
	return elementwise.To(out, result)
}

// complexSumThere sums numbers of a device as pairs of real ones.
func complexSumThere(t *tensor.Tensor, dims []int, keepdim bool) *tensor.Tensor {
	pairs := source.Must(source.Must(t.Resolved()).ViewAsReal())
	var reduced []int
	for d, is := range ReducedDims(t, dims)[:t.Dim()] {
		if is {
			reduced = append(reduced, d)
		}
	}
	if len(reduced) == 0 { // one number
		return convertedCopy(t, t.DType())
	}
	sums := Sum(pairs, reduced, keepdim, pairs.DType())
	return source.Must(elementwise.Contiguous(sums).ViewAsComplex())
}

// PartRows returns the real and the imaginary parts of contiguous complex numbers as one of each for each row.
func PartRows(t *tensor.Tensor) (re, im launch.Row) {
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
	pairs := columns{source.Must(c.tensor.ViewAsReal()), c.blocks, c.rows, 2 * c.n}
	sums := sumReducer.reduceColumns(pairs, real, real)
	return source.Must(source.Must(source.Must(sums.View(-1, 2)).ViewAsComplex()).View(g.shape...))
}

// rowPartSums gives the sums of real and imaginary parts of a row.
var rowPartSums = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
	x := b.Input(in, computed)
	b.Reduce(kernel.ReduceSum, b.Unary(kernel.Real, x), computed.ToReal())
	b.Reduce(kernel.ReduceSum, b.Unary(kernel.Imag, x), computed.ToReal())
}}

// complexProduct multiplies complex numbers. Parts of a row are multiplied with each other until one number is left.
func complexProduct(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	computed := kernel.ComputeType(result)
	g := group(t, dims, keepdim)
	if g.byColumns {
		return elementwise.To(productReducer.over(g, computed, computed), result)
	}
	if g.n == 0 {
		return source.Must(tensor.Full(g.shape, tensor.Int(1), result))
	}
	rows := source.Must(elementwise.To(g.rows, computed).View(g.outer, g.n))
	if g.n == 1 {
		rows = source.Must(rows.Clone(tensor.ContiguousFormat)) // not the argument itself
	}
	for rows.Size(1) > 1 {
		rows = multiplyParts(rows)
	}
	return elementwise.To(source.Must(rows.View(g.shape...)), result)
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
	product := define.Empty([]int{outer, half + 1}, d)
	elementwise.Mul.Run(source.Must(product.Narrow(1, 0, half)), []elementwise.Operand{elementwise.OfTensor(source.Must(rows.Narrow(1, 0, half))), elementwise.OfTensor(source.Must(rows.Narrow(1, half+1, half)))})
	source.Throw(tensor.Copy(source.Must(product.Narrow(1, half, 1)), source.Must(rows.Narrow(1, half, 1))))
	return product
}

// productsOf keeps the programs that multiply so many tensors of a type.
var productsOf launch.Cache

// productOfParts multiplies k parts of each row.
func productOfParts(rows *tensor.Tensor, k int) *tensor.Tensor {
	d, n := rows.DType(), rows.Size(1)/k
	p := source.Must(productsOf.Make(launch.Key(k).With(d), func() (*launch.Program, error) {
		b := kernel.NewBuilder()
		x := make([]elementwise.Element, k)
		for i := range x {
			x[i] = b.Input(d, d)
		}
		b.Output(combined(b, kernel.Mul, x), d)
		return launch.ProgramOf(b.Kernel())
	}))
	operands := []*tensor.Tensor{define.Empty([]int{rows.Size(0), n}, d)}
	for i := range k {
		operands = append(operands, source.Must(rows.Narrow(1, i*n, n)))
	}
	p.Run(operands, nil)
	return operands[0]
}
