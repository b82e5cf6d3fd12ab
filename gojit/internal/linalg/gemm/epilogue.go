package gemm

import (
	"fmt"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Epilogue is a pointwise kernel that is applied to results before they are stored: to the sum of
// products, input 0, to a row that all rows of the result share, input 1, and to a tensor like the
// result, input 2. Kernels may leave out the last inputs.
type Epilogue struct {
	program *kernel.Program
	Inputs  int
	Tile    *tile.Epilogue // nil where tiles cannot apply it
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
	case !amd64.IsUnsupported(err):
		return nil, err
	}
	return e, nil
}

// Generated reports whether tiles apply the epilogue; else it is a pass of its own over the result.
func (e *Epilogue) Generated() bool { return e.Tile != nil }

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
