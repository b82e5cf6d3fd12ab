package elementwise

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
		return nil, ErrNotFused
	}
	b := f.Builder()
	for i := range f.Steps {
		b.Step(i, inputs+i == at)
	}
	k := b.B.Kernel()
	for i := range inputs {
		if i >= len(b.Part.Reads) || b.Part.Reads[i] != i {
			return nil, ErrNotFused
		}
	}
	if len(b.Part.Reads) != inputs || !slices.Equal(b.Part.Gives, []int{at}) || k.Params > 0 || mayFail(k) {
		return nil, ErrNotFused
	}
	return k, nil
}
