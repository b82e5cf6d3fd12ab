package linalg

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
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

// A thread of a product computes productEdge by productEdge elements, or fewer where there is not work for productBlocks blocks of threads or an element takes
// eight bytes; a block has productThreads by productThreads of them.
const (
	productEdge, smallEdge = 8, 4
	productThreads         = 16
	productBlocks          = 128
	productPart            = 256 // what is summed at least by each of the parts that long sums are divided into
)

// Tiles are a product that a routine computes by tiles.
type Tiles struct {
	Entry                         string
	Rows, Columns, Depth, Batches int              // of the result, what is summed over, and how often that is done
	Tensors                       []*tensor.Tensor // the result, contiguous, left, right and perhaps what is added, which broadcasts to the result
	Numbers                       []int64          // that the entry takes
	Left, Right                   Lines            // how lines of the factors lie, which are summed along
	Convolution                   bool
}

// Lines says how the lines of a factor are read for tensor cores.
type Lines int

// The ways, by the numbers that the text of the routine knows them by.
const (
	LinesApart      Lines = iota // by elements, which lie anywhere
	LinesAlong                   // by elements that lie side by side along a line
	LinesAtOnce                  // several of them at once
	FourLinesAtOnce              // several elements of neighbours, which lie side by side
)

const (
	cellBytes = 16 // a GPU reads so many at once, from an address that is a multiple
	wordBytes = 4  // of a register; a number is in one or more of them
)

// LinesOf says how lines of a factor of a type are read that begin at an address and lie so many elements apart, where those of a line are side by side.
func LinesOf(t *tensor.Tensor, steps ...int) Lines {
	size := t.DType().Size()
	elements := max(wordBytes/size, 1) * 4
	for _, step := range steps {
		if step%elements != 0 {
			return LinesAlong
		}
	}
	if t.Address()%cellBytes != 0 {
		return LinesAlong
	}
	return LinesAtOnce
}

// linesOfMatrices says how lines of matrices are read, whose elements, lines and matrices are so many elements apart.
func linesOfMatrices(t *tensor.Tensor, along, across, batch int) Lines {
	switch bytes := uint64(min(4*t.DType().Size(), cellBytes)); {
	case along == 1:
		return LinesOf(t, across, batch)
	case across == 1 && along%4 == 0 && batch%4 == 0 && t.Address()%bytes == 0:
		return FourLinesAtOnce
	}
	return LinesApart
}

// Run runs the routine: of a few long sums several parts, which are added afterwards.
func (p *Tiles) Run() {
	source.Check(p.Depth <= math.MaxInt32, "a product that sums over %d elements on a GPU: at most %d", p.Depth, math.MaxInt32)
	out, tensors := p.Tensors[0], p.Tensors
	computed := kernel.ComputeType(out.DType())
	blocks := func(edge int) (tall, wide, all int) {
		tile := edge * productThreads
		tall, wide = (p.Rows+tile-1)/tile, (p.Columns+tile-1)/tile
		return tall, wide, tall * wide * p.Batches
	}
	edge := productEdge
	tall, wide, all := blocks(edge)
	if computed.Size() > 4 || all < productBlocks {
		edge = smallEdge
		tall, wide, all = blocks(edge)
	}
	parts := 1
	if all < productBlocks {
		parts = max(1, min(2*productBlocks/all, p.Depth/productPart))
	}
	r := kernel.Routine{Text: "product_tiles", Entry: p.Entry, Types: []tensor.DType{tensors[1].DType(), out.DType()}, Sizes: []int{edge}, Blocks: all * parts}
	if elementwise.UsesTensorCores(tensors[1], p.Convolution) {
		r.Text, r.Sizes = "product_mma", append(r.Sizes, int(p.Left), int(p.Right))
	}
	numbers := append([]int64{int64(p.Rows), int64(p.Columns), int64(p.Depth), int64(tall), int64(wide), int64(parts), int64(out.Numel())}, p.Numbers...)
	if parts == 1 {
		source.Throw(elementwise.LaunchRoutine(r, tensors, numbers...))
		return
	}
	sums := define.EmptyBeside(out, []int{parts, out.Numel()}, computed)
	defer sums.Release()
	r.Types[1] = computed
	source.Throw(elementwise.LaunchRoutine(r, []*tensor.Tensor{sums, tensors[1], tensors[2]}, numbers...))
	sum := define.ShownAs(reduce.Sum(sums, []int{0}, false, computed), out.Shape()...)
	if len(tensors) < 4 {
		source.Throw(tensor.Copy(out, sum))
		return
	}
	elementwise.Add.Run(out, []elementwise.Operand{elementwise.OfTensor(sum), elementwise.OfTensor(tensors[3])})
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
	(&Tiles{
		Entry: "product", Rows: shape[n-2], Columns: shape[n-1], Depth: a.Size(n - 1), Batches: batches, Tensors: tensors, Numbers: steps,
		Left: linesOfMatrices(a, int(steps[5]), int(steps[4]), int(steps[3])), Right: linesOfMatrices(b, int(steps[7]), int(steps[8]), int(steps[6])),
	}).Run()
	return out
}

// What the routine of Fourier transforms finds in a row.
const (
	rowOfComplex = iota
	rowOfReal
	halfOfSpectrum
)

// fourierRadixes are the radixes of passes, tried one after the other; what is left of a length then has prime factors, which are radixes too.
var fourierRadixes = []int{8, 4, 2, 3, 5, 7}

// radixesOf returns radixes whose product is n.
func radixesOf(n int) (radixes []int) {
	for _, r := range fourierRadixes {
		for n%r == 0 {
			radixes, n = append(radixes, r), n/r
		}
	}
	for r := 11; n > 1; r += 2 {
		if r*r > n {
			r = n
		}
		for n%r == 0 {
			radixes, n = append(radixes, r), n/r
		}
	}
	if len(radixes) == 0 {
		return []int{1}
	}
	return radixes
}

// onDevice transforms rows of n elements, or of half a spectrum of so many, on a device: a library does, or a pass for each of the factors of n.
func (f spectral) onDevice(from, out *tensor.Tensor, n int, half bool) {
	if out.Numel() == 0 {
		return
	}
	last := out.Dim() - 1
	rows := define.NumelOf(out.Shape()[:last])
	if elementwise.Transform(&kernel.Transform{Out: out, In: from, Length: n, Backwards: f.backwards, Scale: f.scale(n)}) {
		return
	}
	work := out.DType().ToComplex()
	kind := rowOfComplex
	switch {
	case half:
		kind = halfOfSpectrum
	case !from.DType().IsComplex():
		kind = rowOfReal
	}
	radixes, before := radixesOf(n), 1
	for i, radix := range radixes {
		to, keep, scale := out, out.Size(last), f.scale(n)
		if i < len(radixes)-1 {
			to, keep, scale = define.EmptyBeside(out, []int{rows, n}, work), n, 1
		}
		r := kernel.Routine{Text: "fourier", Entry: "pass", Types: []tensor.DType{work.ToReal()}, Threads: rows * n}
		source.Throw(elementwise.LaunchRoutine(r, []*tensor.Tensor{to, from}, int64(n), int64(radix), int64(before), int64(define.Btoi(f.backwards)),
			int64(kind), int64(from.Size(from.Dim()-1)), int64(keep), int64(define.Btoi(!to.DType().IsComplex())), int64(math.Float64bits(scale))))
		if i > 0 {
			from.Release()
		}
		from, kind, before = to, rowOfComplex, before*radix
	}
}
