package special

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// form is what the text "special" of routines calls a function, and the numbers that it asks for besides its operands.
type form struct {
	entry   string
	numbers []int64
}

// of applies the function on the device of the operands, which are broadcast; numbers of the processor may be among them.
func (f form) of(result tensor.DType, operands ...*tensor.Tensor) *tensor.Tensor {
	both := elementwise.BroadcastTensors(operands)
	beside := operands[0]
	if !beside.OnDevice() {
		beside = operands[1]
	}
	out := define.EmptyBeside(beside, both[0].Shape(), result)
	if out.Numel() == 0 {
		return out
	}
	r := kernel.Routine{Text: [...]string{1: "special_one", 2: "special_two"}[len(operands)], Entry: f.entry, Types: []tensor.DType{result}, Threads: out.Numel()}
	tensors, numbers := []*tensor.Tensor{out}, []int64(nil)
	for i, t := range operands {
		step := int64(0)
		if t.Numel() > 1 {
			t, step = elementwise.Contiguous(both[i]), 1
		}
		r.Types, tensors, numbers = append(r.Types, t.DType()), append(tensors, t), append(numbers, step)
	}
	source.Throw(elementwise.LaunchRoutine(r, tensors, append(numbers, f.numbers...)...))
	return out
}
