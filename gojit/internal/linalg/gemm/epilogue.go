package gemm

import (
	"fmt"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Epilogue is a pointwise kernel that is applied to results before they are stored: to the sum of
// products, input 0, to a row that all rows of the result share, input 1, and to a tensor like the
// result, input 2. Kernels may leave out the last inputs.
type Epilogue struct {
	program *kernel.Program
	Inputs  int
	Tile    *tile.Epilogue // nil where tiles cannot apply it
	Pass    *Pass          // what is left of it behind the bias, nil where the bias is used otherwise
}

// NewEpilogue makes an epilogue of a kernel for results of type t, float32 or float64. It fails where
// the kernel is not valid, has parameters, or is of another type.
func NewEpilogue(k *kernel.Kernel, t tensor.DType) (*Epilogue, error) {
	ok := (t == tensor.Float32 || t == tensor.Float64) && len(k.Inputs) >= 1 && len(k.Inputs) <= tile.EpilogueInputs && len(k.Outputs) == 1 && k.Outputs[0].DType == t && k.Params == 0
	for _, in := range k.Inputs {
		ok = ok && in == t
	}
	if !ok {
		return nil, fmt.Errorf("gemm: a kernel of %d inputs, %d outputs and %d parameters is no epilogue of %s", len(k.Inputs), len(k.Outputs), k.Params, t)
	}
	program, err := kernel.NewProgram(k)
	if err != nil {
		return nil, err
	}
	e := &Epilogue{program: program, Inputs: len(k.Inputs)}
	generated, err := tile.NewEpilogue(k, t, asm.Target())
	switch {
	case err == nil:
		e.Tile = generated
		e.Pass = newPass(k)
	case !amd64.IsUnsupported(err):
		return nil, err
	}
	return e, nil
}

// Generated reports whether tiles apply the epilogue; else it is a pass of its own over the result.
func (e *Epilogue) Generated() bool { return e.Tile != nil }

// Pass is what is left of an epilogue for sums to which the bias is added, as a loop over them.
type Pass struct {
	function *amd64.Function
	inputs   int
	isLong   bool
}

// LongPass returns the pass that is to be used in place of the epilogue where sums lie in a near cache, or nil: a tile that applies a long epilogue waits
// for the last of its results before it begins with the next sums, a loop does so once.
func (e *Epilogue) LongPass() *Pass {
	if e == nil || e.Pass == nil || !e.Pass.isLong {
		return nil
	}
	return e.Pass
}

// passInstructions is how many instructions an epilogue has at least that tiles leave to a pass.
const passInstructions = 16

// newPass returns the pass of an epilogue; nil where that begins with something else than the sum with the bias.
func newPass(k *kernel.Kernel) *Pass {
	isa := asm.Target()
	if k = behindBias(k); k == nil {
		return nil
	}
	expanded := expand.For(k, amd64.PrimitivesOf(isa))
	count := 0
	for i := range expanded.Instrs {
		if expanded.Instrs[i].Op.Operands() > 0 {
			count++
		}
	}
	f, err := amd64.Compile(expanded, 0, isa)
	if err != nil || f.Scratch > tile.EpilogueScratch {
		return nil
	}
	return &Pass{function: f, inputs: len(k.Inputs), isLong: count >= passInstructions}
}

// behindBias returns the kernel of the sum of the first two inputs, in place of them; nil where they are used otherwise.
func behindBias(k *kernel.Kernel) *kernel.Kernel {
	if len(k.Inputs) == 1 {
		return k
	}
	isPart := func(v kernel.Value) bool { return k.Instrs[v].Op == kernel.Load && k.Instrs[v].Imm < 2 }
	b, values, sums := kernel.NewBuilder(), make([]kernel.Value, len(k.Instrs)), 0
	sum := b.Input(k.Inputs[0], k.Inputs[0])
	for i, in := range k.Instrs {
		switch {
		case isPart(kernel.Value(i)):
			continue
		case in.Op == kernel.Load:
			values[i] = b.Input(k.Inputs[in.Imm], in.Type)
			continue
		}
		parts := 0
		for j := range in.Op.Operands() {
			if isPart(in.Args[j]) {
				parts++
			}
			in.Args[j] = values[in.Args[j]]
		}
		switch {
		case parts == 0:
			values[i] = b.Emit(in)
		case in.Op == kernel.Add && parts == 2 && k.Instrs[i].Args[0] != k.Instrs[i].Args[1]:
			values[i] = sum
			sums++
		default:
			return nil
		}
	}
	if sums != 1 || isPart(k.Outputs[0].Value) {
		return nil
	}
	b.Output(values[k.Outputs[0].Value], k.Outputs[0].DType)
	return b.Kernel()
}

// Run applies the pass to rows of sums, stride bytes apart. residual, which lies as they do, is read where the epilogue has three
// inputs; scratch has tile.EpilogueScratch bytes, aligned to 64.
func (p *Pass) Run(sums, residual, scratch unsafe.Pointer, rows, columns, stride int) {
	args := amd64.Args{Count: int64(columns), Rows: int64(rows), Scratch: scratch}
	args.Ptr[0], args.Skip[0] = sums, int64(stride)
	args.Ptr[1], args.Skip[1] = sums, int64(stride)
	if p.inputs > 1 {
		args.Ptr[2], args.Skip[2] = residual, int64(stride)
	}
	p.function.Code.Call(unsafe.Pointer(&args))
}

// passChunk is how many sums one call of a pass goes over where all follow each other.
const passChunk = 32 << 10

// RunAll applies the pass to n sums of size bytes each, which follow each other, by several threads where they are many.
func (p *Pass) RunAll(sums, residual unsafe.Pointer, n, size int) {
	if n <= passChunk || parallel.NumThreads() == 1 {
		p.runPart(sums, residual, 0, n, size)
		return
	}
	parallel.For(n, passChunk, func(lo, hi int) { p.runPart(sums, residual, lo, hi, size) })
}

// runPart applies the pass to the sums from lo to hi.
func (p *Pass) runPart(sums, residual unsafe.Pointer, lo, hi, size int) {
	memory := TakeBuffers()
	defer memory.Recycle()
	scratch := Grow(&memory.Scratch, tile.EpilogueScratch)
	var watch parallel.Watch
	for lo < hi {
		watch.Look()
		n := min(passChunk, hi-lo)
		like := residual
		if p.inputs > 1 {
			like = unsafe.Add(residual, lo*size)
		}
		p.Run(unsafe.Add(sums, lo*size), like, scratch, 1, n, 0)
		lo += n
	}
}

// matrix is the view of rows that a pass of its own works on.
func matrix[T Float](data []T, rows, columns, stride int) *tensor.Tensor {
	var zero T
	size := int(unsafe.Sizeof(zero))
	t := tensor.Float32
	if size == 8 {
		t = tensor.Float64
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*size)
	view, err := tensor.FromStorage(tensor.ForeignStorage(bytes, nil), 0, []int{rows, columns}, []int{stride, 1}, t)
	if err != nil {
		panic(err)
	}
	return view
}

// apply applies the epilogue in place to a matrix of sums; row and like are read where it has these inputs.
func ApplyEpilogue[T Float](e *Epilogue, sums []T, rows, columns, stride int, row, like []T) {
	out := matrix(sums, rows, columns, stride)
	tensors := []*tensor.Tensor{out, out}
	if e.Inputs > 1 {
		tensors = append(tensors, matrix(row, 1, columns, columns))
	}
	if e.Inputs > 2 {
		tensors = append(tensors, matrix(like, rows, columns, stride))
	}
	e.program.Run(tensors, nil)
}
