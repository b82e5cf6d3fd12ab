package elementwise

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Kernel returns what the recorded operators make of an element, as a kernel over the first inputs of the Recorder whose only output is
// result. Numbers are constants of it. It fails where the operators cannot be one kernel, and where they do not read all these inputs in
// their order.
func (r *Recorder) Kernel(inputs int, result *tensor.Tensor) (*kernel.Kernel, error) {
	k, reads, err := r.kernel(inputs, result)
	if err != nil {
		return nil, err
	}
	for i, input := range reads {
		if i != input {
			return nil, ErrNotFused
		}
	}
	if len(reads) != inputs || mayFail(k) {
		return nil, ErrNotFused
	}
	return k, nil
}

// kernel is Kernel for inputs in any order: reads says which ones the kernel's are. Integers may be divided by zero in it.
func (r *Recorder) kernel(inputs int, result *tensor.Tensor) (k *kernel.Kernel, reads []int, err error) {
	f, err := r.Steps(inputs, nil, r, nil)
	if err != nil {
		return nil, nil, err
	}
	at, ok := r.Number(result)
	if !ok || at < inputs {
		return nil, nil, ErrNotFused
	}
	b := f.Builder()
	for i := range f.Steps {
		b.Step(i, inputs+i == at)
	}
	k, reads = b.B.Kernel(), b.Part.Reads
	if !slices.Equal(b.Part.Gives, []int{at}) || k.Params > 0 || slices.ContainsFunc(reads, func(v int) bool { return v >= inputs }) {
		return nil, nil, ErrNotFused
	}
	return k, reads, nil
}

// KernelOf returns what an operator of one result makes of an element of each tensor among its arguments, which have no elements here; its
// other arguments are constants of the kernel. reads says which tensor each input of the kernel is, the first being 0. It fails where the
// operator does, and where its result is no function of single elements in one kernel.
func KernelOf(op *ops.Operator, args []value.Value) (k *kernel.Kernel, reads []int, err error) {
	r := NewRecorder()
	defer r.Close()
	inputs, args := 0, slices.Clone(args)
	for i := range args {
		if !args[i].IsTensor() {
			continue
		}
		in, err := r.Input(args[i].Tensor().DType(), args[i].Tensor().Dim() == 0)
		if err != nil {
			return nil, nil, err
		}
		args[i] = value.OfTensor(in)
		inputs++
	}
	var out [1]value.Value
	if err := op.Run(args, out[:]); err != nil {
		return nil, nil, err
	}
	if !out[0].IsTensor() {
		return nil, nil, ErrNotFused
	}
	return r.kernel(inputs, out[0].Tensor())
}
