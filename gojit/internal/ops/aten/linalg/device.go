package linalg

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sumOfComplexProducts multiplies matrices of complex numbers on a device, as a reduction: element (i, j) sums row i of a times column j of b.
var complexProductSums launch.Cache

func sumOfComplexProducts(a, b *tensor.Tensor, shape []int) *tensor.Tensor {
	d := a.DType()
	key := launch.Key(0).With(d)
	p := complexProductSums.Get(key)
	if p == nil {
		p = source.Must(complexProductSums.Make(key, func() (*launch.Program, error) {
			k := kernel.NewBuilder()
			k.Reduce(kernel.ReduceSum, k.Mul(k.Input(d, d), k.Input(d, d)), d)
			return launch.ProgramOf(k.Kernel())
		}))
	}
	n := a.Dim()
	out := source.Must(tensor.EmptyOn(a.Device(), shape, d))
	rows, columns := source.Must(a.Unsqueeze(n-1)), source.Must(source.Must(b.Transpose(n-2, n-1)).Unsqueeze(n-2))
	if out.Numel() > 0 {
		elementwise.RunKernel(p, []*tensor.Tensor{source.Must(out.Unsqueeze(n)), rows, columns}, nil)
	}
	return out
}

// productTile is how many rows and columns of a result a block of threads computes.
const productTile = 64

// RunTiles runs a routine of products whose result has rows and columns, for each of a number of batches, and sums over depth.
func RunTiles(entry string, rows, columns, depth, batches int, tensors []*tensor.Tensor, numbers ...int64) {
	tall, wide := (rows+productTile-1)/productTile, (columns+productTile-1)/productTile
	r := kernel.Routine{Text: "product", Entry: entry, Types: []tensor.DType{tensors[0].DType()}, Blocks: tall * wide * batches}
	numbers = append([]int64{int64(rows), int64(columns), int64(depth), int64(tall), int64(wide)}, numbers...)
	source.Throw(elementwise.LaunchRoutine(r, tensors, numbers...))
}

// sumOfProductsOnDevice is sumOfProducts on a device: a library of the device multiplies where it has the type, else a routine.
func sumOfProductsOnDevice(self, a, b *tensor.Tensor, shape []int) *tensor.Tensor {
	n, d := a.Dim(), a.DType()
	out := source.Must(tensor.EmptyOn(a.Device(), shape, d))
	if out.Numel() == 0 {
		return out
	}
	if self != nil {
		self = source.Must(elementwise.To(self, d).Expand(shape...))
	}
	if elementwise.Multiply(&kernel.Product{Out: out, Left: a, Right: b, Added: self}) {
		return out
	}
	if d.IsComplex() {
		out = sumOfComplexProducts(a, b, shape)
		if self != nil {
			out = elementwise.Add.Run(out, []elementwise.Operand{elementwise.OfTensor(out), elementwise.OfTensor(self)})
		}
		return out
	}
	tensors := []*tensor.Tensor{out, a, b}
	if self != nil {
		tensors = append(tensors, self)
	}
	var steps []int64
	for _, t := range tensors {
		s := t.Strides()
		batch := 0
		if n == 3 {
			batch = s[0]
		}
		steps = append(steps, int64(batch), int64(s[n-2]), int64(s[n-1]))
	}
	batches := 1
	if n == 3 {
		batches = shape[0]
	}
	RunTiles("product", shape[n-2], shape[n-1], a.Size(n-1), batches, tensors, steps...)
	return out
}
