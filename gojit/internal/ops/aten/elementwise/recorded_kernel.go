package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Kernel returns what the recorded operators make of an element, as a kernel over the first inputs of the Recorder whose only output is
// result. Numbers are constants of it. It fails where the operators cannot be one kernel, and where they do not read all these inputs in
// their order.
func (r *Recorder) Kernel(inputs int, result *tensor.Tensor) (*kernel.Kernel, error) {
	f, err := r.Steps(inputs, nil, r, nil)
	if err != nil {
		return nil, err
	}
	at, ok := r.Number(result)
	if !ok || at < inputs {
		return nil, errNotFused
	}
	b := f.builder()
	for i := range f.steps {
		b.step(i, inputs+i == at)
	}
	k := b.b.Kernel()
	for i := range inputs {
		if i >= len(b.part.reads) || b.part.reads[i] != i {
			return nil, errNotFused
		}
	}
	if len(b.part.reads) != inputs || !slices.Equal(b.part.gives, []int{at}) || k.Params > 0 || mayFail(k) {
		return nil, errNotFused
	}
	return k, nil
}
